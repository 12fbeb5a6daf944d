//! What servers want people to be asked: a page that is opened is of the web and of the host that was shown, no form asks
//! for a secret, and an answer that fits a form still fits once it was checked.

use satchel_core::{
    bridge::form,
    model::asks::{FieldInput, ServerQuestion, Wanted},
    trust::secret,
};
use satchel_mcp::Raw;
use serde_json::{Map, Value, json};
use url::Url;

/// The first line is the question, or the address of a page; the rest is the answer.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (asked, answer) = text.split_once('\n').unwrap_or((&text, ""));
    let page = || json!({ "mode": "url", "message": asked, "url": asked });
    let params: Value = serde_json::from_str(asked).unwrap_or_else(|_| page());
    let Some(question) = read(&params) else { return };
    assert!(!question.message.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    match &question.wants {
        Wanted::Page { url, host } => {
            is_as_shown(url, host);
            let again = read(&json!({ "mode": "url", "url": url })).expect("what is opened may be opened");
            assert_eq!(again.wants, question.wants, "opened and read again, it is the same page");
        }
        Wanted::Form { fields } => {
            for field in fields {
                let open =
                    matches!(field.input, FieldInput::Text { format: None, .. } | FieldInput::Number { .. });
                assert!(!open || !secret::is_labelled(&field.name), "the form asks for {:?}", field.name);
            }
            let content: Map<String, Value> = serde_json::from_str(answer).unwrap_or_default();
            if let Ok(checked) = form::checked(&question.wants, content.clone()) {
                assert!(checked.iter().all(|(name, value)| content.get(name) == Some(value)));
                assert!(checked.keys().all(|name| fields.iter().any(|field| field.name == *name)));
                assert_eq!(form::checked(&question.wants, checked.clone()), Ok(checked));
            }
        }
        Wanted::Secret { fields } => {
            assert!(!fields.is_empty(), "what looks like a secret is named");
            assert!(form::checked(&question.wants, Map::new()).is_err(), "it can only be declined");
        }
        Wanted::Credential { name } => panic!("no server asks for a credential of ours: {name:?}"),
    }
}

fn read(params: &Value) -> Option<ServerQuestion> {
    form::read(Some(&Raw::from_string(params.to_string()).ok()?)).ok()
}

/// Compares the characters alone, as the program that opens it may parse it.
fn is_as_shown(url: &str, host: &str) {
    assert!(url.is_ascii() && !url.contains(|c: char| c.is_ascii_control() || c == ' '), "{url:?}");
    let (scheme, rest) = url.split_once("://").expect("an address has a scheme");
    assert!(matches!(scheme, "http" | "https"), "{url:?}");
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    assert_eq!(&rest[..end], host, "{url:?} leads to another host than was shown");
    assert!(!host.is_empty() && !host.contains('@'), "{url:?}");
    assert_eq!(Url::parse(url).expect("it can be read").as_str(), url);
}
