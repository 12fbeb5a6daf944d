//! Tries a tool for a person in the window: the call goes the way of any client's, and can be followed and cancelled.
//! Answers of people to what a server asks come through the queue of [`crate::prompts`], as for every call.

use satchel_mcp::{Raw, RawObject};
use tokio::time::Instant;

use super::{Hub, Wanted, by_hand, execute, route, search};
use crate::{
    bridge::Caller,
    calls::tries::Try,
    catalog::entry::shorten,
    model::{
        Code,
        control::Refusal,
        request::{TryScript, TryTool},
        trying::{ToolDetails, Tried, TriedScript},
    },
    trust::clean,
};

/// Maximum length of a server's progress message, in characters.
const MESSAGE: usize = 300;

/// All details of one tool.
pub(super) fn tool(hub: &Hub, path: &str) -> Result<ToolDetails, Refusal> {
    let unknown = |why: String| Refusal::new(Code::UnknownPath, why, "Look at the tools of its server.");
    let path = route::read_path(hub, path).map_err(|error| unknown(error.to_string()))?;
    if !hub.servers().contains_key(&path.server) {
        return Err(Refusal::unknown_server(path.server.as_str()));
    }
    let catalog = hub.inner.servers.catalog();
    let Some(tool) = catalog.tool(&path) else {
        hub.refuse_hidden_tool(&path)?;
        return Err(unknown(format!("there is no tool \"{path}\"")));
    };
    let line = search::tool_line(hub, &catalog, &path.server, tool, None);
    Ok(ToolDetails { line, definition: clean::raw(&tool.raw).get().to_owned() })
}

/// Calls a tool under the rules for clients, until it ends or is cancelled.
pub(super) async fn try_tool(hub: &Hub, wanted: TryTool) -> Result<Tried, Refusal> {
    let bad = |why: &str| Refusal::new(Code::BadArguments, why, "");
    let arguments = Raw::from_string(wanted.arguments).map_err(|error| bad(&error.to_string()))?;
    if !arguments.get().starts_with('{') {
        return Err(bad("the arguments must be a JSON object"));
    }
    if let Some(page_of) = &wanted.page_of {
        refuse_other_tools(hub, page_of, &wanted.tool_path)?;
    }
    let too_many = || Refusal::new(Code::TooMany, "too many tools are being tried", "Cancel one first.");
    let one = hub.calls().tries.begin(&wanted.run).ok_or_else(too_many)?;
    let began = Instant::now();
    let result = tokio::select! {
        result = Box::pin(carried_out(hub, &wanted.tool_path, arguments, &one)) => result?,
        () = one.cancelled() => return Err(Refusal::new(Code::Cancelled, "the call was cancelled", "")),
    };
    Ok(Tried {
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        result: result.get().to_owned(),
    })
}

/// The page of a tool calls tools of its own server, and of those only the ones that are for pages.
fn refuse_other_tools(hub: &Hub, page_of: &str, wanted: &str) -> Result<(), Refusal> {
    let refused = |why: String| Refusal::new(Code::NotForWindows, why, "");
    let read = |path: &str| route::read_path(hub, path).map_err(|error| refused(error.to_string()));
    let (own, path) = (read(page_of)?, read(wanted)?);
    if own.server != path.server {
        return Err(refused(format!("a page of \"{}\" may not call \"{path}\"", own.server)));
    }
    let catalog = hub.inner.servers.catalog();
    match catalog.tool(&path) {
        Some(tool) if !tool.for_pages => Err(refused(format!("\"{path}\" is for models only"))),
        // Whether it may be called is decided where every call is.
        Some(_) | None => Ok(()),
    }
}

/// Runs a script under the rules for clients, until it ends or is cancelled.
pub(super) async fn try_script(hub: &Hub, wanted: TryScript) -> Result<TriedScript, Refusal> {
    let bad = |why: String| Refusal::new(Code::BadArguments, why, "");
    let mut arguments = RawObject::new();
    // Strings always serialize.
    arguments.put("script", &wanted.script);
    let input =
        Raw::from_string(wanted.input).map_err(|error| bad(format!("the input is not JSON: {error}")))?;
    arguments.set("input", input);
    let asked = Wanted::of(&arguments).map_err(bad)?;
    let too_many = || Refusal::new(Code::TooMany, "too many tools are being tried", "Cancel one first.");
    let one = hub.calls().tries.begin(&wanted.run).ok_or_else(too_many)?;
    let began = Instant::now();
    let mut script = by_hand::begin_script(hub, asked, &arguments.to_raw())?;
    let result = tokio::select! {
        result = Box::pin(script.finish_hearing(|method, params| hear(&one, method, params))) => result?,
        () = one.cancelled() => return Err(Refusal::new(Code::Cancelled, "the script was cancelled", "")),
    };
    Ok(TriedScript {
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        result: result.get().to_owned(),
        calls: script.calls(),
    })
}

async fn carried_out(hub: &Hub, path: &str, arguments: Box<Raw>, one: &Try) -> Result<Box<Raw>, Refusal> {
    let client = by_hand::face(hub);
    let observed = hub.observed(&by_hand::observe_face(hub, client, path, &arguments));
    let mut params = RawObject::new();
    params.set("arguments", arguments);
    let mut meta = RawObject::new();
    // Numbers always serialize.
    meta.put("progressToken", &0);
    params.set("_meta", meta.to_raw());
    let caller = Caller { log_from: Some(0), ..Caller::alone(client) };
    let running = execute::execute_whole(&observed, &caller, path, params).await?;
    Ok(running.finish_hearing(|method, params| hear(one, method, params)).await?)
}

fn hear(one: &Try, method: &str, params: Option<&Raw>) {
    if method == "notifications/message" {
        one.log(logged(params));
        return;
    }
    if method != "notifications/progress" {
        return;
    }
    let said = params.and_then(|params| RawObject::parse(params).ok()).unwrap_or_default();
    let number = |key: &str| said.read::<f64>(key).filter(|number| number.is_finite());
    let message = said.text("message").map(|message| clean::visible(&shorten(&message, MESSAGE)));
    one.tell(number("progress"), number("total"), message);
}

/// A server's log message as a line: severity, and text or JSON data.
fn logged(params: Option<&Raw>) -> String {
    let said = params.and_then(|params| RawObject::parse(params).ok()).unwrap_or_default();
    let data = said.text("data").unwrap_or_else(|| said.get("data").map_or("", Raw::get).to_owned());
    let level = said.text("level").unwrap_or_default();
    clean::visible(&shorten(&format!("{level} {data}"), MESSAGE)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{calls::tries::Tries, model::trying::TryProgress};

    #[tokio::test]
    async fn progress_is_heard_as_numbers_and_words_without_hidden_signs() {
        let tries = Tries::default();
        let one = tries.begin("a").unwrap();
        let long = "word ".repeat(200);
        for (method, params) in [
            ("notifications/cancelled", r#"{"progress":9}"#.to_owned()),
            ("notifications/message", r#"{"level":"info","data":"half\u200bway"}"#.to_owned()),
            ("notifications/message", r#"{"level":"debug","data":{"rows": 3}}"#.to_owned()),
            (
                "notifications/progress",
                r#"{"progressToken":0,"progress":1,"total":"many","message":"a\u200bb"}"#.to_owned(),
            ),
        ] {
            hear(&one, method, Some(&Raw::from_string(params).unwrap()));
        }
        let heard = tries.follow("a", 0).await;
        let expected = TryProgress {
            seen: 3,
            progress: Some(1.0),
            total: None,
            message: Some("a⟨U+200B⟩b".into()),
            log: vec!["info half⟨U+200B⟩way".into(), r#"debug {"rows": 3}"#.into()],
            over: false,
        };
        assert_eq!(heard, expected);
        let message = format!(r#"{{"message":"{long}"}}"#);
        hear(&one, "notifications/progress", Some(&Raw::from_string(message).unwrap()));
        hear(&one, "notifications/progress", None);
        let words = tries.follow("a", 4).await.message.unwrap();
        assert!(words.chars().count() <= MESSAGE + 1, "{words}");
    }
}
