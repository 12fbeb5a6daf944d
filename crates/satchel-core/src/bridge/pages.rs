//! Sends users to a page first: legacy revisions use an error, stateless ones a question, and a client that supports
//! neither gets the address in words (`2025-11-25/client/elicitation.mdx#url-elicitation-required-error`).

use satchel_mcp::{ErrorObject, Raw, errors};
use serde_json::{Value, json, value::to_raw_value};

use crate::{model::ServerName, trust::clean};

/// Converts the error to a result that asks a stateless client for input; `None` for other errors.
pub fn as_question(error: &ErrorObject) -> Option<Box<Raw>> {
    if error.code != errors::URL_ELICITATION_REQUIRED {
        return None;
    }
    let data: Value = serde_json::from_str(error.data.as_deref()?.get()).ok()?;
    let mut requests = serde_json::Map::new();
    for (at, elicitation) in data.get("elicitations")?.as_array()?.iter().enumerate() {
        let mut params = elicitation.as_object()?.clone();
        params.remove("elicitationId");
        params.insert("mode".to_owned(), json!("url"));
        let request = json!({ "method": "elicitation/create", "params": params });
        requests.insert(format!("visit_{}", at + 1), request);
    }
    let asks = !requests.is_empty();
    let result = json!({ "resultType": "input_required", "inputRequests": requests });
    asks.then(|| to_raw_value(&result).ok()).flatten()
}

/// Converts the error to a text result of the tool; `None` for other errors.
pub fn in_words(server: &ServerName, error: &ErrorObject) -> Option<Box<Raw>> {
    let visits: Value = serde_json::from_str(as_question(error)?.get()).ok()?;
    let requests = visits.get("inputRequests")?.as_object()?;
    let mut text = format!("{server} needs the user to open an address first. Then call again.");
    for request in requests.values() {
        let said = |key: &str| request["params"][key].as_str().map(clean::visible).unwrap_or_default();
        text.push_str(&format!("\n{}: {}", said("url"), said("message")));
    }
    to_raw_value(&json!({ "content": [{ "type": "text", "text": text }], "isError": true })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_without_url_elicitation_gets_the_page_as_text() {
        let data = json!({ "elicitations": [
            { "mode": "url", "elicitationId": "1", "url": "https://a.example/x", "message": "Sign\u{202e} in" },
        ] });
        let error = ErrorObject::new(errors::URL_ELICITATION_REQUIRED, "visit").with_data(&data);
        let result = in_words(&"docs".parse().unwrap(), &error).unwrap();
        let result: Value = serde_json::from_str(result.get()).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains("https://a.example/x: Sign"), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(in_words(&"docs".parse().unwrap(), &ErrorObject::new(-32000, "x")).is_none());
    }
}
