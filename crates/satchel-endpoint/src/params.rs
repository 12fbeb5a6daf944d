//! The parameters of a request, read once at the border; every handler that needs a field or the metadata takes it from here.

use satchel_mcp::{Raw, RawObject, meta as metadata};

/// What a request carries besides its method.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// The fields; none if there are no parameters.
    pub(crate) fields: RawObject,
    /// The fields of `_meta`.
    pub(crate) meta: RawObject,
    /// They are no object, or have a key twice.
    pub(crate) unreadable: bool,
}

impl Params {
    pub(crate) fn of(params: Option<&Raw>) -> Self {
        match params.map(RawObject::parse) {
            None => Self::default(),
            Some(Ok(mut fields)) => {
                without_empty(&mut fields);
                Self { meta: metadata::of(&fields), fields, unreadable: false }
            }
            Some(Err(_)) => Self { unreadable: true, ..Self::default() },
        }
    }

    /// A field that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.fields.text(key)
    }

    /// The progress token.
    pub(crate) fn token(&self) -> Option<Box<Raw>> {
        self.meta.get("progressToken").map(ToOwned::to_owned)
    }
}

/// Some clients write null for what they leave out, and PHP writes a list for an object without fields.
fn without_empty(fields: &mut RawObject) {
    let is_list = |raw: &Raw| raw.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]");
    for key in ["_meta", "arguments"] {
        if fields.get(key).is_some_and(|raw| raw.get() == "null" || is_list(raw)) {
            fields.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_has_no_fields_and_says_so() {
        let of = |json: &str| Params::of(Some(&Raw::from_string(json.to_owned()).unwrap()));
        let read = of(r#"{"name":"t","_meta":{"progressToken":7}}"#);
        assert_eq!((read.text("name").as_deref(), read.unreadable), (Some("t"), false));
        assert_eq!(read.token().unwrap().get(), "7");
        for json in ["[]", "7", r#"{"a":1,"a":2}"#] {
            assert!(of(json).unreadable && of(json).fields.is_empty(), "{json}");
        }
        assert!(!Params::of(None).unreadable);
    }

    #[test]
    fn what_is_null_or_an_empty_list_in_place_of_an_object_is_left_out() {
        let of = |json: &str| Params::of(Some(&Raw::from_string(json.to_owned()).unwrap())).fields.to_raw();
        let written = r#"{"_meta":null,"name":"t","arguments":[ ],"x":null}"#;
        assert_eq!(of(written).get(), r#"{"name":"t","x":null}"#);
        let right = r#"{"name":"t","arguments":[1],"_meta":{}}"#;
        assert_eq!(of(right).get(), right);
    }
}
