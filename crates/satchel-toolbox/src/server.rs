//! The protocol loop: one JSON-RPC message per line in, one answer per request out.

use std::{
    io::{self, BufRead, Write},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use parking_lot::Mutex;

use satchel_mcp::{era::Era, errors};
use serde_json::{Map, Value, json};

use crate::{
    era::{self, RequestError},
    lines::{Line, read_line},
    tools,
};

/// Maximum length of a message.
const MESSAGE_LIMIT: usize = 8 * 1024 * 1024;
const ABOUT: &str = "toolbox://about";
const INSTRUCTIONS: &str = "Small exact tools: time zones, hashes, UUIDs, base64, jq queries over JSON, text diffs. \
    All of them run on this computer and change nothing.";

/// Maximum number of slow calls that run concurrently. Beyond that, they wait, and so do the following messages.
const BESIDE: usize = 4;

/// Answers `input` on `output` until the input ends and every call is answered.
pub(crate) fn serve(input: &mut dyn BufRead, output: &mut (dyn Write + Send)) -> io::Result<()> {
    let output = Mutex::new(output);
    let running = AtomicUsize::new(0);
    thread::scope(|scope| {
        loop {
            let message = match read(input)? {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(refusal) => {
                    say(&output, &error(&Value::Null, refusal))?;
                    continue;
                }
            };
            if is_slow(&message) && running.load(Ordering::Acquire) < BESIDE {
                running.fetch_add(1, Ordering::AcqRel);
                scope.spawn(|| {
                    let message = message;
                    let answered = reply(&message).map_or(Ok(()), |answer| say(&output, &answer));
                    running.fetch_sub(1, Ordering::AcqRel);
                    // The reading side notices a disconnected client too.
                    answered
                });
            } else if let Some(answer) = reply(&message) {
                say(&output, &answer)?;
            }
        }
    })
}

/// The next message; blank lines are skipped.
fn read(input: &mut dyn BufRead) -> io::Result<Result<Option<Value>, RequestError>> {
    loop {
        return Ok(match read_line(input, MESSAGE_LIMIT)? {
            Line::End => Ok(None),
            Line::TooLong => {
                Err(RequestError::new(-32600, format!("a message may be at most {MESSAGE_LIMIT} bytes long")))
            }
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => serde_json::from_slice(&line)
                .map(Some)
                .map_err(|wrong| RequestError::new(-32700, format!("this is not JSON: {wrong}"))),
        });
    }
}

/// Writes one line atomically.
fn say(output: &Mutex<&mut (dyn Write + Send)>, answer: &Value) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut output = output.lock();
    output.write_all(&line)?;
    output.flush()
}

/// Is this a call that others should not have to wait for?
fn is_slow(message: &Value) -> bool {
    let name = message["params"]["name"].as_str().unwrap_or_default();
    message["method"] == "tools/call" && tools::find(name).is_some_and(|tool| tool.slow)
}

/// The response to one line: an object, or an array for the batches of revision 2025-03-26.
fn reply(message: &Value) -> Option<Value> {
    match message {
        Value::Array(batch) if !batch.is_empty() => {
            let answers: Vec<_> = batch.iter().filter_map(reply_one).collect();
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
        one => reply_one(one),
    }
}

fn reply_one(message: &Value) -> Option<Value> {
    let id = message.get("id");
    let Some(method) = message["method"].as_str() else {
        // A response to a request this server never made; answering it would start a loop.
        let answers_us = message.get("result").or(message.get("error")).is_some();
        let refusal = || RequestError::new(-32600, "a request needs a \"method\"");
        return (!answers_us).then(|| error(id.unwrap_or(&Value::Null), refusal()));
    };
    let id = id?;
    if !(id.is_string() || id.is_number()) {
        return Some(error(&Value::Null, RequestError::new(-32600, "an id must be a string or a number")));
    }
    let params = message.get("params").unwrap_or(&Value::Null);
    Some(match answer(method, params) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(refusal) => error(id, refusal),
    })
}

fn answer(method: &str, params: &Value) -> Result<Value, RequestError> {
    let era = era::of(params)?;
    let (result, cacheable) = match (method, era.is_stateless()) {
        ("initialize", false) => (initialize(params), false),
        ("ping", false) => (Map::new(), false),
        ("server/discover", true) => (discover(), true),
        ("tools/list", _) => (object(json!({"tools": tools::list()})), true),
        ("tools/call", _) => (call(params)?, false),
        ("resources/list", _) => (object(json!({"resources": [about()]})), true),
        ("resources/templates/list", _) => (object(json!({"resourceTemplates": []})), true),
        ("resources/read", _) => (read_resource(params, era)?, true),
        _ => return Err(RequestError::unknown_method(method)),
    };
    Ok(era::dress(era, result, cacheable))
}

fn initialize(params: &Value) -> Map<String, Value> {
    let requested = params["protocolVersion"].as_str().unwrap_or_default();
    object(json!({
        "protocolVersion": Era::negotiate(requested).revision(),
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": era::server_info(),
        "instructions": INSTRUCTIONS,
    }))
}

fn discover() -> Map<String, Value> {
    object(json!({
        "supportedVersions": Era::stateless_revisions(),
        "capabilities": {"tools": {}, "resources": {}},
        "instructions": INSTRUCTIONS,
    }))
}

fn call(params: &Value) -> Result<Map<String, Value>, RequestError> {
    let name = params["name"]
        .as_str()
        .ok_or_else(|| RequestError::params("tools/call needs the \"name\" of a tool"))?;
    let tool = tools::find(name).ok_or_else(|| {
        let known: Vec<_> = tools::ALL.iter().map(|tool| tool.name).collect();
        RequestError::params(format!("there is no tool \"{name}\"; there are {}", known.join(", ")))
    })?;
    let arguments = params.get("arguments").filter(|arguments| !arguments.is_null()).cloned();
    Ok(match (tool.call)(arguments.unwrap_or_else(|| json!({}))) {
        Ok(answer) => object(json!({
            "content": [{"type": "text", "text": answer.text}],
            "structuredContent": answer.structured,
        })),
        Err(tools::Complaint(text)) => {
            object(json!({"content": [{"type": "text", "text": text}], "isError": true}))
        }
    })
}

fn about() -> Value {
    json!({
        "uri": ABOUT,
        "name": "about",
        "title": "About the toolbox",
        "description": "What each tool is for, with an example.",
        "mimeType": "text/markdown",
    })
}

fn read_resource(params: &Value, era: Era) -> Result<Map<String, Value>, RequestError> {
    let uri = params["uri"].as_str().ok_or_else(|| RequestError::params("resources/read needs a \"uri\""))?;
    if uri != ABOUT {
        let code = match era.is_stateless() {
            true => errors::INVALID_PARAMS,
            false => errors::RESOURCE_NOT_FOUND,
        };
        return Err(RequestError::new(code, format!("there is no resource \"{uri}\"; there is {ABOUT}")));
    }
    Ok(object(json!({"contents": [{"uri": ABOUT, "mimeType": "text/markdown", "text": tools::about()}]})))
}

fn error(id: &Value, refusal: RequestError) -> Value {
    let mut error = object(json!({"code": refusal.code, "message": refusal.message}));
    if let Some(data) = refusal.data {
        error.insert("data".into(), data);
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, pipe};

    /// A server on the other side of two pipes.
    struct Conversation {
        input: Option<io::PipeWriter>,
        output: BufReader<io::PipeReader>,
        server: thread::JoinHandle<io::Result<()>>,
    }

    impl Conversation {
        fn start() -> Self {
            let (their_input, input) = pipe().unwrap();
            let (output, mut their_output) = pipe().unwrap();
            let server = thread::spawn(move || serve(&mut BufReader::new(their_input), &mut their_output));
            Self { input: Some(input), output: BufReader::new(output), server }
        }

        fn say(&mut self, line: &str) {
            writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
        }

        fn hear(&mut self) -> Value {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        }

        fn ask(&mut self, method: &str, params: Value) -> Value {
            self.say(&json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string());
            let answer = self.hear();
            assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("q")));
            answer
        }
    }

    fn modern() -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    }

    #[test]
    fn a_client_opens_lists_calls_reads_and_leaves() {
        let mut talk = Conversation::start();
        let opened = talk.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
        assert_eq!(opened["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(opened["result"]["capabilities"], json!({"tools": {}, "resources": {}}));
        talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(talk.ask("ping", json!({}))["result"], json!({}));

        let listed = talk.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), tools::ALL.len());
        assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));

        let called = talk.ask("tools/call", json!({"name": "encode_base64", "arguments": {"text": "hello"}}));
        let text = json!([{"type": "text", "text": "aGVsbG8="}]);
        assert_eq!(called["result"], json!({"content": text, "structuredContent": {"base64": "aGVsbG8="}}));

        let resources = talk.ask("resources/list", json!({}));
        let uri = &resources["result"]["resources"][0]["uri"];
        let read = talk.ask("resources/read", json!({"uri": uri}));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("## hash_text"));

        talk.input = None;
        talk.server.join().unwrap().unwrap();
        assert_eq!(talk.output.read_line(&mut String::new()).unwrap(), 0);
    }

    #[test]
    fn initialize_agrees_on_a_revision_it_knows() {
        let mut talk = Conversation::start();
        for (requested, agreed) in [
            (json!("2024-11-05"), "2024-11-05"),
            (json!("2025-03-26"), "2025-03-26"),
            (json!("2025-06-18"), "2025-06-18"),
            (json!("2025-11-25"), "2025-11-25"),
            (json!("2026-07-28"), "2025-11-25"),
            (json!("1999-01-01"), "2025-11-25"),
            (json!(7), "2025-11-25"),
            (Value::Null, "2025-11-25"),
        ] {
            let opened = talk.ask("initialize", json!({"protocolVersion": requested}));
            assert_eq!(opened["result"]["protocolVersion"], agreed);
        }
    }

    #[test]
    fn requests_that_describe_themselves_need_no_opening() {
        let mut talk = Conversation::start();
        let discovered = talk.ask("server/discover", json!({"_meta": modern()}));
        assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
        for (method, params, cacheable) in [
            ("tools/list", json!({}), true),
            ("resources/list", json!({}), true),
            ("resources/read", json!({"uri": ABOUT}), true),
            ("tools/call", json!({"name": "generate_uuid"}), false),
        ] {
            let mut params = params;
            params["_meta"] = modern();
            let result = &talk.ask(method, params)["result"];
            assert_eq!(result["resultType"], "complete", "{method}");
            assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "satchel-toolbox");
            assert_eq!(
                result.get("ttlMs").is_some() && result.get("cacheScope").is_some(),
                cacheable,
                "{method}"
            );
        }
        for method in ["initialize", "ping", "tools/nonsense"] {
            assert_eq!(talk.ask(method, json!({"_meta": modern()}))["error"]["code"], -32601, "{method}");
        }
        assert_eq!(talk.ask("server/discover", json!({}))["error"]["code"], -32601);
    }

    #[test]
    fn requests_without_an_answer_are_refused_with_the_right_code() {
        let mut talk = Conversation::start();
        for (method, params, code) in [
            ("prompts/list", json!({}), -32601),
            ("tools/call", json!({"name": "nonsense"}), -32602),
            ("tools/call", json!({}), -32602),
            ("resources/read", json!({"uri": "toolbox://nonsense"}), -32002),
            ("resources/read", json!({"uri": "toolbox://nonsense", "_meta": modern()}), -32602),
        ] {
            assert_eq!(talk.ask(method, params)["error"]["code"], code, "{method}");
        }
        let wrong = talk.ask("tools/call", json!({"name": "hash_text", "arguments": {"text": 1}}));
        assert_eq!(wrong["result"]["isError"], true);
    }

    #[test]
    fn broken_input_is_answered_and_survived() {
        let mut talk = Conversation::start();
        for (line, id, code) in [
            ("{", json!(null), -32700),
            ("\u{feff}x", json!(null), -32700),
            (r#"{"id":1}"#, json!(1), -32600),
            (r#"{"id":null,"method":"ping"}"#, json!(null), -32600),
            (r#"{"id":{},"method":"ping"}"#, json!(null), -32600),
            ("[]", json!(null), -32600),
            ("17", json!(null), -32600),
        ] {
            talk.say(line);
            let answer = talk.hear();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}");
        }
        // Blank lines, responses and notifications get no response.
        talk.say("\n  \n{\"id\":9,\"result\":{}}\n{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
        talk.say(r#"[{"id":1,"method":"ping"},{"method":"notifications/x"},{"id":2,"method":"nope"}]"#);
        let batch = talk.hear();
        assert_eq!((&batch[0]["result"], &batch[1]["error"]["code"]), (&json!({}), &json!(-32601)));
        assert_eq!(talk.ask("ping", json!({}))["result"], json!({}));
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_and_the_next_one_answered() {
        let mut talk = Conversation::start();
        talk.say(&"x".repeat(MESSAGE_LIMIT + 10));
        assert_eq!(talk.hear()["error"]["code"], -32600);
        assert_eq!(talk.ask("ping", json!({}))["result"], json!({}));
    }
}
