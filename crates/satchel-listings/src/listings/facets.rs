//! Extracts the properties that a list of servers can be filtered by, once per description. Pure.

use serde_json::Value;

use crate::model::listings::{ListedLanguage, ListedPlace, ListingFilter};

/// The searchable properties of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    hosted: bool,
    computer: bool,
    languages: Vec<ListedLanguage>,
    wants_key: bool,
    bundled: bool,
    /// When it was published, as RFC 3339, which sorts as text; empty if unknown.
    pub published: String,
    /// The sort key for names.
    pub title: String,
}

impl Facets {
    /// The properties of a description.
    pub fn of(document: &Value, published: &str, title: &str) -> Self {
        let list =
            |key: &str| document.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let (packages, remotes) = (list("packages"), list("remotes"));
        let kind = |package: &Value| package.get("registryType").and_then(Value::as_str).and_then(language);
        let mut languages: Vec<ListedLanguage> = packages.iter().filter_map(kind).collect();
        languages.dedup();
        // One way without a key is enough.
        let mut ways = packages.iter().chain(remotes).peekable();
        let wants_key = ways.peek().is_some() && ways.all(has_required_secret);
        Self {
            hosted: !remotes.is_empty(),
            computer: !packages.is_empty(),
            languages,
            wants_key,
            bundled: false,
            published: published.to_owned(),
            title: title.to_lowercase(),
        }
    }

    /// The same for the bundled list.
    pub fn bundled(self) -> Self {
        Self { bundled: true, ..self }
    }

    /// Does it match the filter?
    pub fn meets(&self, filter: &ListingFilter) -> bool {
        let there = match filter.place {
            None => true,
            Some(ListedPlace::Hosted) => self.hosted,
            Some(ListedPlace::Computer) => self.computer,
        };
        there
            && filter.language.is_none_or(|language| self.languages.contains(&language))
            && !(filter.without_key && self.wants_key)
            && !(filter.from_registries && self.bundled)
    }
}

/// Whether one of the ways can run here, judging by its kind. A server without one is not recommended.
pub fn may_run(document: &Value) -> bool {
    let list = |key: &str| document.get(key).and_then(Value::as_array).into_iter().flatten();
    let text = |of: &Value, at: &str| of.pointer(at).and_then(Value::as_str).map(ToOwned::to_owned);
    let is_run = |package: &Value| {
        let kind = text(package, "/registryType");
        let talks = text(package, "/transport/type").is_none_or(|kind| kind == "stdio");
        kind.is_some_and(|kind| language(&kind).is_some()) && talks
    };
    list("remotes").next().is_some() || list("packages").any(is_run)
}

fn language(registry: &str) -> Option<ListedLanguage> {
    match registry {
        "npm" => Some(ListedLanguage::Javascript),
        "pypi" => Some(ListedLanguage::Python),
        "nuget" => Some(ListedLanguage::Dotnet),
        "oci" => Some(ListedLanguage::Container),
        "mcpb" => Some(ListedLanguage::Bundle),
        _ => None,
    }
}

/// Is a secret input required? Searches at any depth that descriptions have.
fn has_required_secret(value: &Value) -> bool {
    let is = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
    match value {
        Value::Object(fields) => {
            (is("isSecret") && is("isRequired")) || fields.values().any(has_required_secret)
        }
        Value::Array(items) => items.iter().any(has_required_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_description_says_where_it_runs_in_what_and_whether_a_key_is_needed() {
        let key = json!([{ "name": "KEY", "isSecret": true, "isRequired": true }]);
        let both = json!({
            "packages": [{ "registryType": "pypi", "environmentVariables": key }],
            "remotes": [{ "url": "https://x.example/mcp" }],
        });
        let local = json!({ "packages": [{ "registryType": "npm", "environmentVariables": key }] });
        let place = |place| ListingFilter { place: Some(place), ..ListingFilter::default() };
        let language = |language| ListingFilter { language: Some(language), ..ListingFilter::default() };
        let keyless = ListingFilter { without_key: true, ..ListingFilter::default() };
        for (filter, in_both, in_local) in [
            (ListingFilter::default(), true, true),
            (place(ListedPlace::Hosted), true, false),
            (place(ListedPlace::Computer), true, true),
            (language(ListedLanguage::Python), true, false),
            (language(ListedLanguage::Javascript), false, true),
            (keyless, true, false),
        ] {
            assert_eq!(Facets::of(&both, "", "").meets(&filter), in_both, "{filter:?}");
            assert_eq!(Facets::of(&local, "", "").meets(&filter), in_local, "{filter:?}");
        }
        for (packages, runs) in [
            (json!([{ "registryType": "npm" }]), true),
            (
                json!([{ "registryType": "go" }, { "registryType": "pypi", "transport": { "type": "stdio" } }]),
                true,
            ),
            (json!([{ "registryType": "cargo" }]), false),
            (json!([{ "registryType": "npm", "transport": { "type": "streamable-http" } }]), false),
        ] {
            assert_eq!(may_run(&json!({ "packages": packages })), runs, "{packages}");
        }
        let registries = ListingFilter { from_registries: true, ..ListingFilter::default() };
        assert!(Facets::of(&local, "", "").meets(&registries));
        assert!(!Facets::of(&local, "", "").bundled().meets(&registries));
    }
}
