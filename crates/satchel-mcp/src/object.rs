//! A JSON object parsed one level deep: keys in order, values raw. For inspection and splicing without loss.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    fmt,
    marker::PhantomData,
};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// An object with unparsed values. A duplicate key is an error: different parsers could take different values, so that
/// what was checked would not be what is forwarded.
#[derive(Debug, Clone, Default)]
pub struct RawObject {
    fields: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    /// An empty object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one level of `raw`. Fails if it is not an object or has a duplicate key.
    pub fn parse(raw: &RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(raw.get())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// The value of `key` as `T`; `None` if it is missing or of another type.
    pub fn read<'a, T: Deserialize<'a>>(&'a self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The string value of `key`; `None` if it is missing or not a string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.read(key)
    }

    /// Replaces the value of `key` in place, or appends it.
    pub fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.fields.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.fields.push((key.to_owned(), value)),
        }
    }

    /// Like [`Self::set`], for a value to be serialized.
    pub fn put(&mut self, key: &str, value: &(impl Plain + ?Sized)) {
        self.set(key, raw(value));
    }

    /// Like [`Self::put`], before all other fields.
    pub fn put_first(&mut self, key: &str, value: &(impl Plain + ?Sized)) {
        self.fields.retain(|(name, _)| name != key);
        self.fields.insert(0, (key.to_owned(), raw(value)));
    }

    /// Removes and returns the value of `key`.
    pub fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.fields.iter().position(|(name, _)| name == key)?;
        Some(self.fields.remove(at).1)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Serializes the object.
    pub fn to_raw(&self) -> Box<RawValue> {
        raw(self)
    }
}

/// A value that always serializes: text, numbers, JSON, and lists or maps of them.
pub trait Plain: Serialize {}

impl Plain for str {}
impl Plain for String {}
impl Plain for Cow<'_, str> {}
impl Plain for bool {}
impl Plain for i32 {}
impl Plain for u64 {}
impl Plain for Value {}
impl Plain for RawValue {}
impl Plain for RawObject {}
impl<T: Plain + ?Sized> Plain for &T {}
impl<T: Plain + ?Sized> Plain for Box<T> {}
impl<T: Plain> Plain for Vec<T> {}
impl<T: Plain> Plain for [T] {}
impl<T: Plain> Plain for BTreeMap<String, T> {}

fn raw(value: &(impl Plain + ?Sized)) -> Box<RawValue> {
    to_raw_value(value).expect("plain values always serialize")
}

impl Serialize for RawObject {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(RawObject { fields: deserializer.deserialize_map(Fields(PhantomData))? })
    }
}

/// Parses one level of an object without copying its values, so that their position in `json` is known. Fails if it is
/// not an object or has a duplicate key.
pub fn fields(json: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    let fields = all_fields(json)?;
    match twice(&fields) {
        Some(key) => Err(serde_json::Error::custom(format_args!("the key {key:?} occurs twice"))),
        None => Ok(fields),
    }
}

/// A duplicate key.
fn twice<V>(fields: &[(String, V)]) -> Option<&str> {
    // Comparing a few is cheaper than a hash table.
    if fields.len() <= FEW {
        let is_before = |at: usize, key: &str| fields[..at].iter().any(|(before, _)| before == key);
        let found = fields.iter().enumerate().find(|(at, (key, _))| is_before(*at, key));
        return found.map(|(_, (key, _))| key.as_str());
    }
    let mut seen = HashSet::new();
    fields.iter().find(|(key, _)| !seen.insert(key)).map(|(key, _)| key.as_str())
}

/// Most protocol objects have fewer fields.
const FEW: usize = 12;

/// Like [`fields`], but keeps duplicate keys.
pub fn all_fields(json: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let fields = reader.deserialize_map(AllFields)?;
    reader.end()?;
    Ok(fields)
}

struct AllFields;

impl<'de> Visitor<'de> for AllFields {
    type Value = Vec<(String, &'de RawValue)>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

struct Fields<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Fields<V> {
    type Value = Vec<(String, V)>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Vec<(String, V)> = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        match twice(&fields) {
            Some(key) => Err(A::Error::custom(format_args!("the key {key:?} occurs twice"))),
            None => Ok(fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> RawObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn splicing_one_field_leaves_every_other_byte_alone() {
        let mut params = object(r#"{"z":1.0,"name":"a","big":123456789012345678901,"n":{"b":1,"a":[ 2 ]}}"#);
        params.put("name", "b");
        params.remove("z");
        params.put("new", &true);
        assert_eq!(
            params.to_raw().get(),
            r#"{"name":"b","big":123456789012345678901,"n":{"b":1,"a":[ 2 ]},"new":true}"#
        );
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused() {
        let error = serde_json::from_str::<RawObject>(r#"{"a":1,"a":2}"#).unwrap_err();
        assert!(error.to_string().contains("\"a\" occurs twice"), "{error}");
    }

    #[test]
    fn a_key_that_occurs_twice_is_found_among_few_and_many() {
        for many in 2..=3 * FEW {
            let keys: Vec<String> = (0..many).map(|key| format!(r#""k{key}":{key}"#)).collect();
            let once = format!("{{{}}}", keys.join(","));
            assert!(serde_json::from_str::<RawObject>(&once).is_ok() && fields(&once).is_ok(), "{once}");
            for again in [0, many / 2, many - 1] {
                let twice = format!("{{{},{}}}", keys.join(","), keys[again]);
                let refused = [serde_json::from_str::<RawObject>(&twice).err(), fields(&twice).err()];
                let expected = format!("the key \"k{again}\" occurs twice");
                for error in refused {
                    let error = error.map(|error| error.to_string()).unwrap_or_default();
                    assert!(error.starts_with(&expected), "{twice}: {error}");
                }
            }
        }
    }
}
