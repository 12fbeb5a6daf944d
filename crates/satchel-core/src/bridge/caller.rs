//! Describes the client behind one call and what it can be asked. The stateless revisions have no sessions, so every
//! call carries this.

use std::{borrow::Cow, sync::Arc};

use satchel_mcp::{ErrorObject, Raw, RawObject, era::Era, errors, meta};
use serde_json::json;

use crate::clients::seen::Facts;

/// The log levels of `notifications/message`, lowest first (RFC 5424).
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The severity of a log level; `None` if it is unknown.
pub fn severity(level: &str) -> Option<u8> {
    LEVELS.iter().position(|known| *known == level).and_then(|at| u8::try_from(at).ok())
}

/// The log level of a severity.
pub fn level(severity: u8) -> &'static str {
    LEVELS.get(usize::from(severity)).copied().unwrap_or(LEVELS[0])
}

/// The client that a call is made for.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The client's name.
    pub client: Arc<str>,
    /// Its client info, if it sent any.
    pub info: Option<Arc<Raw>>,
    /// Its declared capabilities.
    pub capabilities: Arc<RawObject>,
    /// Its revision. If that is stateless, a stateless server's questions are passed on unchanged.
    pub era: Era,
    /// The lowest severity of log messages it receives; `None` for none.
    pub log_from: Option<u8>,
    /// It requested that level itself: a server that logs less is asked for more.
    pub asks_logs: bool,
}

impl Caller {
    /// A caller that cannot be asked anything.
    pub fn alone(client: &str) -> Self {
        Self {
            client: client.into(),
            info: None,
            capabilities: Arc::default(),
            era: Era::SESSION,
            log_from: None,
            asks_logs: false,
        }
    }

    /// What is known of its client.
    pub fn facts(&self) -> Facts {
        Facts::of(&self.client, || RawObject::parse(self.info.as_deref()?).ok()?.text("name"))
    }

    /// Can it answer this request? Returns the missing capabilities if not.
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
                // Before modes were introduced, the capability was an empty object and meant forms.
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
            // It has no row in the table of methods: nobody has reviewed what it would do.
            _ => Err(json!({})),
        }
    }

    /// The capabilities declared to a stateless server, without the legacy form of tasks.
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

    /// Does it receive this log message?
    pub fn wants_log(&self, params: Option<&Raw>) -> bool {
        let Some(from) = self.log_from else { return false };
        let level = params.and_then(|raw| RawObject::parse(raw).ok()?.text("level"));
        level.as_deref().and_then(severity).is_none_or(|severity| severity >= from)
    }

    /// The parameters in the form of the server's era.
    pub fn parameters<'a>(&self, params: &'a RawObject, server: Era) -> Cow<'a, RawObject> {
        // Most requests carry nothing that is only between the client and the hub.
        if !server.is_stateless()
            && ["_meta", "inputResponses", "requestState"].iter().all(|key| params.get(key).is_none())
        {
            return Cow::Borrowed(params);
        }
        let mut params = params.clone();
        if !server.is_stateless() {
            meta::strip(&mut params);
            params.remove("inputResponses");
            params.remove("requestState");
        } else if self.era.is_stateless() {
            let mut said = meta::of(&params);
            let own = said.get(meta::CAPABILITIES).and_then(|raw| RawObject::parse(raw).ok());
            said.set(meta::CAPABILITIES, with_people(own.as_ref().unwrap_or(&self.capabilities)).to_raw());
            params.set("_meta", said.to_raw());
        } else {
            // Requests a legacy task, which stateless servers do not know.
            params.remove("task");
            let mut said = meta::of(&params);
            said.set(meta::CAPABILITIES, self.stateless_capabilities().to_raw());
            if let Some(info) = &self.info {
                said.set(meta::CLIENT, (**info).to_owned());
            }
            if let Some(from) = self.log_from.filter(|_| self.asks_logs) {
                // Strings always serialize.
                said.put(meta::LOG_LEVEL, &level(from));
            }
            params.set("_meta", said.to_raw());
        }
        Cow::Owned(params)
    }
}

/// The client's capabilities plus elicitation, because Satchel can always ask a person itself.
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

/// The error if a server needs capabilities the client lacks (`2026-07-28/basic/index.mdx#error-codes`).
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

    fn caller(capabilities: &str, era: Era) -> Caller {
        let capabilities = Arc::new(RawObject::parse(&raw(capabilities)).unwrap());
        Caller { capabilities, era, log_from: Some(3), asks_logs: true, ..Caller::alone("c") }
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
            ("{}", "vendor/thing", "{}", false),
        ] {
            let can = caller(capabilities, Era::SESSION).can_answer(method, Some(&raw(params)));
            assert_eq!(can.is_ok(), expected, "{capabilities} {method} {params}");
        }
    }

    #[test]
    fn parameters_change_family_with_their_server() {
        let given = RawObject::parse(&raw(
            r#"{"name":"a","inputResponses":{},"_meta":{"io.modelcontextprotocol/logLevel":"info","x":1}}"#,
        ))
        .unwrap();
        let stateless = caller(r#"{"roots":{}}"#, Era::STATELESS);
        assert_eq!(
            stateless.parameters(&given, Era::SESSION).to_raw().get(),
            r#"{"name":"a","_meta":{"x":1}}"#
        );
        assert_eq!(
            stateless.parameters(&given, Era::STATELESS).to_raw().get(),
            r#"{"name":"a","inputResponses":{},"_meta":{"io.modelcontextprotocol/logLevel":"info","x":1,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{},"url":{}}}}}"#
        );
        let legacy =
            caller(r#"{"roots":{}}"#, Era::SESSION).parameters(&RawObject::new(), Era::STATELESS).to_raw();
        assert!(legacy.get().contains(
            r#""io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{},"url":{}}}"#
        ));
        assert!(legacy.get().contains(r#""io.modelcontextprotocol/logLevel":"warning""#));
    }

    #[test]
    fn log_messages_reach_only_clients_that_asked_for_them() {
        let caller = caller("{}", Era::SESSION);
        assert!(caller.wants_log(Some(&raw(r#"{"level":"error"}"#))));
        assert!(!caller.wants_log(Some(&raw(r#"{"level":"info"}"#))));
        assert!(!Caller::alone("c").wants_log(Some(&raw(r#"{"level":"error"}"#))));
    }
}
