//! Describes the client behind one call and what it can be asked. The stateless revisions have no sessions, so every
//! call carries this.

use std::{borrow::Cow, sync::Arc};

use satchel_mcp::{ErrorObject, Raw, RawObject, errors, meta};
use serde_json::json;

/// The severities of `notifications/message`, least first (RFC 5424).
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// How severe a log message is; `None` for a word that is no level.
pub fn severity(level: &str) -> Option<u8> {
    LEVELS.iter().position(|known| *known == level).and_then(|at| u8::try_from(at).ok())
}

/// The word for a severity.
pub fn level(severity: u8) -> &'static str {
    LEVELS.get(usize::from(severity)).copied().unwrap_or(LEVELS[0])
}

/// Who a call is for.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The client's name.
    pub client: Arc<str>,
    /// What it says of itself, where it does.
    pub info: Option<Arc<Raw>>,
    /// What it can do, as it declared it.
    pub capabilities: Arc<RawObject>,
    /// It speaks a stateless revision: a stateless server's questions go to it as they are.
    pub modern: bool,
    /// Log messages from this severity on are for it; `None` for none.
    pub log_from: Option<u8>,
    /// It said so itself: a server that logs less is asked for more.
    pub asks_logs: bool,
}

impl Caller {
    /// Somebody who cannot be asked anything.
    pub fn alone(client: &str) -> Self {
        Self {
            client: client.into(),
            info: None,
            capabilities: Arc::default(),
            modern: false,
            log_from: None,
            asks_logs: false,
        }
    }

    /// Can it be asked this? The names of the capabilities that lack, where it cannot.
    pub fn can_answer(&self, method: &str, params: Option<&Raw>) -> Result<(), serde_json::Value> {
        let has = |name: &str| self.capabilities.get(name).is_some_and(|value| value.get().starts_with('{'));
        let part = |name: &str| {
            self.capabilities.get(name).and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default()
        };
        let params = params.and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
        match method {
            "elicitation/create" => {
                let modes = part("elicitation");
                let mode = params.text("mode").unwrap_or_else(|| "form".to_owned());
                // Before there were modes, the capability was an empty object and meant forms.
                let plain = modes.get("form").is_none() && modes.get("url").is_none();
                if has("elicitation") && (modes.get(&mode).is_some() || plain && mode == "form") {
                    Ok(())
                } else {
                    Err(json!({ "elicitation": { mode: {} } }))
                }
            }
            "sampling/createMessage" if params.get("tools").is_some() => {
                let tools = part("sampling").get("tools").is_some();
                if tools { Ok(()) } else { Err(json!({ "sampling": { "tools": {} } })) }
            }
            "sampling/createMessage" if has("sampling") => Ok(()),
            "sampling/createMessage" => Err(json!({ "sampling": {} })),
            "roots/list" if has("roots") => Ok(()),
            "roots/list" => Err(json!({ "roots": {} })),
            // Something newer than we are; the client knows whether it can.
            _ => Ok(()),
        }
    }

    /// What a stateless server is told that the client can do: tasks of that family it does not know.
    fn stateless_capabilities(&self) -> RawObject {
        let mut capabilities = with_people(&self.capabilities);
        capabilities.remove("tasks");
        let extensions = capabilities.get("extensions").and_then(|raw| RawObject::parse(raw).ok());
        if let Some(mut extensions) = extensions {
            extensions.remove(meta::TASKS);
            capabilities.set("extensions", extensions.to_raw());
        }
        capabilities
    }

    /// Is a log message for it?
    pub fn wants_log(&self, params: Option<&Raw>) -> bool {
        let Some(from) = self.log_from else { return false };
        let level = params.and_then(|raw| RawObject::parse(raw).ok()?.text("level"));
        level.as_deref().and_then(severity).is_none_or(|severity| severity >= from)
    }

    /// The parameters of a request as its server's family has them. `modern` says which family that is.
    pub fn parameters<'a>(&self, params: &'a RawObject, modern: bool) -> Cow<'a, RawObject> {
        // Most have nothing that is between the caller and us.
        if !modern && ["_meta", "inputResponses", "requestState"].iter().all(|key| params.get(key).is_none())
        {
            return Cow::Borrowed(params);
        }
        let mut params = params.clone();
        if !modern {
            meta::strip(&mut params);
            params.remove("inputResponses");
            params.remove("requestState");
        } else if self.modern {
            let mut said = meta::of(&params);
            let own = said.get(meta::CAPABILITIES).and_then(|raw| RawObject::parse(raw).ok());
            said.set(meta::CAPABILITIES, with_people(own.as_ref().unwrap_or(&self.capabilities)).to_raw());
            params.set("_meta", said.to_raw());
        } else {
            // What asks for a task of the older kind says nothing to it.
            params.remove("task");
            let mut said = meta::of(&params);
            said.set(meta::CAPABILITIES, self.stateless_capabilities().to_raw());
            if let Some(info) = &self.info {
                said.set(meta::CLIENT, (**info).to_owned());
            }
            if let Some(from) = self.log_from.filter(|_| self.asks_logs) {
                // A string always serializes.
                let _ = said.put(meta::LOG_LEVEL, &level(from));
            }
            params.set("_meta", said.to_raw());
        }
        Cow::Owned(params)
    }
}

/// What a client can do, and people can be asked in any case: at Satchel's own faces.
fn with_people(capabilities: &RawObject) -> RawObject {
    let mut capabilities = capabilities.clone();
    let mut modes =
        capabilities.get("elicitation").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    for mode in ["form", "url"] {
        if modes.get(mode).is_none() {
            modes.set(mode, RawObject::new().to_raw());
        }
    }
    capabilities.set("elicitation", modes.to_raw());
    capabilities
}

/// What a call comes to whose server needed more of the client than it can do
/// (`2026-07-28/basic/index.mdx#error-codes`).
pub fn lacking(capabilities: &serde_json::Value) -> ErrorObject {
    ErrorObject::new(
        errors::MISSING_CAPABILITY,
        "the server asked for something that the client did not declare",
    )
    .with_data(&json!({ "requiredCapabilities": capabilities }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    fn caller(capabilities: &str, modern: bool) -> Caller {
        let capabilities = Arc::new(RawObject::parse(&raw(capabilities)).unwrap());
        Caller { capabilities, modern, log_from: Some(3), asks_logs: true, ..Caller::alone("c") }
    }

    #[test]
    fn a_client_is_asked_only_what_it_declared() {
        let (form, url) = (r#"{"message":"m"}"#, r#"{"mode":"url","url":"http://x"}"#);
        for (capabilities, method, params, expected) in [
            (r#"{"elicitation":{}}"#, "elicitation/create", form, true),
            (r#"{"elicitation":{}}"#, "elicitation/create", url, false),
            (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", form, false),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, "elicitation/create", url, true),
            ("{}", "elicitation/create", form, false),
            (r#"{"sampling":{}}"#, "sampling/createMessage", "{}", true),
            (r#"{"sampling":{}}"#, "sampling/createMessage", r#"{"tools":[]}"#, false),
            (r#"{"sampling":{"tools":{}}}"#, "sampling/createMessage", r#"{"tools":[]}"#, true),
            (r#"{"roots":null}"#, "roots/list", "{}", false),
            ("{}", "vendor/thing", "{}", true),
        ] {
            let can = caller(capabilities, false).can_answer(method, Some(&raw(params)));
            assert_eq!(can.is_ok(), expected, "{capabilities} {method} {params}");
        }
    }

    #[test]
    fn parameters_change_family_with_their_server() {
        let given = RawObject::parse(&raw(
            r#"{"name":"a","inputResponses":{},"_meta":{"io.modelcontextprotocol/logLevel":"info","x":1}}"#,
        ))
        .unwrap();
        let modern = caller(r#"{"roots":{}}"#, true);
        assert_eq!(modern.parameters(&given, false).to_raw().get(), r#"{"name":"a","_meta":{"x":1}}"#);
        assert_eq!(
            modern.parameters(&given, true).to_raw().get(),
            r#"{"name":"a","inputResponses":{},"_meta":{"io.modelcontextprotocol/logLevel":"info","x":1,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{},"url":{}}}}}"#
        );
        let legacy = caller(r#"{"roots":{}}"#, false).parameters(&RawObject::new(), true).to_raw();
        assert!(legacy.get().contains(
            r#""io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{},"url":{}}}"#
        ));
        assert!(legacy.get().contains(r#""io.modelcontextprotocol/logLevel":"warning""#));
    }

    #[test]
    fn log_messages_are_for_those_who_want_them() {
        let caller = caller("{}", false);
        assert!(caller.wants_log(Some(&raw(r#"{"level":"error"}"#))));
        assert!(!caller.wants_log(Some(&raw(r#"{"level":"info"}"#))));
        assert!(!Caller::alone("c").wants_log(Some(&raw(r#"{"level":"error"}"#))));
    }
}
