//! Answers that a model with fields and types would change: written ones, generated ones, and captured ones.

use std::{fmt::Write, fs, path::Path};

use satchel_tests::odd;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use crate::client::Era;

/// A server's response to one request: what is requested, and the result as written.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) method: &'static str,
    /// The name, address or cursor; `None` if the request names nothing.
    pub(crate) key: Option<String>,
    pub(crate) result: String,
}

/// A server with all its responses.
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) era: Era,
    pub(crate) answers: Vec<Answer>,
}

/// The capabilities that a server of each era declares.
const CAPABILITIES: &str = r#"{"tools":{},"prompts":{},"resources":{},"completions":{},"tasks":{"list":{}},"vendor.example/odd":{"z":1,"a":2}}"#;
/// The fields that begin a result of the newer era.
const STATELESS: &str = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;

impl Script {
    fn new(name: &str, mut answers: Vec<Answer>) -> Self {
        // A server without such a list returns an empty one.
        for (method, empty) in [
            ("prompts/list", r#"{"prompts":[]}"#),
            ("resources/list", r#"{"resources":[]}"#),
            ("resources/templates/list", r#"{"resourceTemplates":[]}"#),
        ] {
            if !answers.iter().any(|answer| answer.method == method) {
                answers.push(answer(method, None, empty));
            }
        }
        Self { name: name.to_owned(), era: Era::Legacy, answers }
    }

    /// The same responses from a server of the newer era.
    pub(crate) fn modern(mut self) -> Self {
        self.name.push_str("-modern");
        self.era = Era::Modern;
        for answer in &mut self.answers {
            let comma = if answer.result == "{}" { "" } else { "," };
            answer.result.insert_str(1, &format!("{STATELESS}{comma}"));
        }
        self
    }

    /// The file that the server reads.
    pub(crate) fn text(&self) -> String {
        let one = |answer: &Answer| {
            let (method, key) = (json!(answer.method), json!(answer.key));
            format!(r#"{{"method":{method},"key":{key},"result":{}}}"#, answer.result)
        };
        let opening = match self.era {
            Era::Legacy => format!(
                r#"{{"method":"initialize","key":null,"result":{{"protocolVersion":"2025-11-25","capabilities":{CAPABILITIES},"serverInfo":{{"name":"verbatim","version":"1","own":true}}}}}}"#
            ),
            Era::Modern => format!(
                r#"{{"method":"server/discover","key":null,"result":{{{STATELESS},"supportedVersions":["2026-07-28"],"capabilities":{CAPABILITIES}}}}},
                {{"method":"initialize","key":null,"error":{{"code":-32022,"message":"unsupported","data":{{"supported":["2026-07-28"],"requested":"2025-11-25"}}}}}}"#
            ),
        };
        let answers = self.answers.iter().map(one).collect::<Vec<_>>().join(",\n");
        format!("[{opening},\n{answers}]")
    }
}

pub(crate) fn answer(method: &'static str, key: Option<&str>, result: impl Into<String>) -> Answer {
    Answer { method, key: key.map(str::to_owned), result: result.into() }
}

/// Responses as real servers give them, which follow only their own schema.
pub(crate) fn written() -> Script {
    let mut answers = vec![
        answer("tools/list", None, odd_tools()),
        answer("prompts/list", None, ODD_PROMPTS),
        answer("resources/list", None, ODD_RESOURCES),
        answer("resources/templates/list", None, ODD_TEMPLATES),
        answer("prompts/get", Some("odd"), ODD_PROMPT),
        answer("resources/read", Some("odd://both"), ODD_CONTENTS),
        answer(
            "completion/complete",
            None,
            r#"{"completion":{"values":["b","a"],"total":2.0,"hasMore":null,"own":{}},"own":0}"#,
        ),
    ];
    answers
        .extend(odd::RESULTS.iter().map(|(name, text)| answer("tools/call", Some(&tool_name(name)), *text)));
    Script::new("written", answers)
}

/// The hub offers no tool whose name contains a blank.
fn tool_name(name: &str) -> String {
    name.replace(' ', "-")
}

fn odd_tools() -> String {
    let callable = odd::RESULTS.iter().map(|(name, _)| {
        format!(r#",{{"name":{},"inputSchema":{{"type":"object"}}}}"#, json!(tool_name(name)))
    });
    let callable: String = callable.collect();
    format!(
        r#"{{"tools":[{ODD_TOOLS}{callable}],"own":{{"b":1,"a":2}},"_meta":{{"vendor.example/k":[null]}}}}"#
    )
}

/// Random tools and results, the same for the same seed.
pub(crate) fn generated(seed: u64) -> Script {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tools = Vec::new();
    let mut answers = Vec::new();
    for number in 0..60 {
        let name = format!("tool-{number}");
        // The hub removes invisible characters from definitions.
        let seen = |text: String| text.replace(r"\u2028\u0000", r"\u00ea");
        let mut schema = seen(object(&mut random, 2));
        schema.insert_str(1, if schema == "{}" { r#""type":"object""# } else { r#""type":"object","# });
        // It also corrects what the protocol defines, and `title` is a text there.
        let mut own = seen(object(&mut random, 3)).replace(r#""title":"#, r#""titled":"#);
        own.pop();
        let comma = if own == "{" { "" } else { "," };
        tools.push(format!(r#"{own}{comma}"name":"{name}","inputSchema":{schema}}}"#));
        let mut result = object(&mut random, 4);
        result.insert_str(1, if result == "{}" { r#""content":[]"# } else { r#""content":[],"# });
        answers.push(answer("tools/call", Some(&name), result));
    }
    answers.push(answer("tools/list", None, format!(r#"{{"tools":[{}]}}"#, tools.join(","))));
    Script::new(&format!("generated-{seed}"), answers)
}

/// Captured servers: `{"server": …, "tools": …}` in every file of a directory.
pub(crate) fn captured(directory: &Path) -> Vec<Script> {
    #[derive(Deserialize)]
    struct Captured {
        tools: Box<RawValue>,
    }
    let files = fs::read_dir(directory).expect("the captured answers can be listed").flatten();
    let mut paths: Vec<_> = files.map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let script = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).expect("a captured answer can be read");
        let captured: Captured = serde_json::from_str(&text).expect("a captured answer has tools");
        // Pretty-printed captures are written as they were on the wire.
        let tools = compact(captured.tools.get());
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        Script::new(&name, vec![answer("tools/list", None, format!(r#"{{"tools":{tools}}}"#))])
    };
    paths.iter().map(script).collect()
}

/// JSON without white space between tokens; everything else stays as written.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let keep = |letter: &char| {
        let kept = inside || !letter.is_ascii_whitespace();
        inside = inside != (*letter == '"' && !escaped);
        escaped = inside && *letter == '\\' && !escaped;
        kept
    };
    json.chars().filter(keep).collect()
}

/// An object of up to five fields with random names, some of which occur elsewhere.
fn object(random: &mut fastrand::Rng, depth: usize) -> String {
    let mut names: Vec<String> =
        ["z", "a", "entitled", "own", "é", "1", "a b", "\\n", "_x", "type2", "zz"].map(str::to_owned).into();
    random.shuffle(&mut names);
    names.truncate(random.usize(0..6));
    let fields = names.iter().map(|name| format!(r#""{name}":{}"#, value(random, depth)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn value(random: &mut fastrand::Rng, depth: usize) -> String {
    const SIMPLE: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "-0.0",
        "1.0",
        "1e2",
        "0.10",
        "1E-7",
        "123456789012345678901234567890",
        r#""""#,
        r#""text""#,
        r#""caf\u00e9 é \/ \ud83d\ude00""#,
        r#""\u2028\u0000""#,
        "[]",
        "{}",
    ];
    match random.u8(0..10) {
        0..=1 if depth > 0 => object(random, depth - 1),
        2..=3 if depth > 0 => {
            let mut list = String::from("[");
            for number in 0..random.usize(0..4) {
                let _ = write!(list, "{}{}", if number > 0 { ", " } else { "" }, value(random, depth - 1));
            }
            list + "]"
        }
        _ => SIMPLE[random.usize(0..SIMPLE.len())].to_owned(),
    }
}

const ODD_TOOLS: &str = concat!(
    r#"{"vendorFirst":1,"name":"own-order","inputSchema":{"type":"object","properties":{"zebra":{"type":"string"},"apple":{"type":"integer","default":1.0}},"required":["zebra"]}},"#,
    r#"{"name":"execution","description":"","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"},"outputSchema":{"type":"object","x-own":[1.0,2e3]}},"#,
    r#"{"name":"annotations","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"category":"browser","conditions":[]},"title":"T"},"#,
    r#"{"name":"icons","inputSchema":{"type":"object"},"icons":[{"src":"data:,","sizes":["48x48"],"theme":"dark","own":{}}]},"#,
    r#"{"name":"app","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://panel","visibility":["model","app"]},"ui/resourceUri":"ui://panel"}},"#,
    r#"{"name":"numbers","inputSchema":{"type":"object","properties":{"n":{"type":"number","minimum":-0.0,"maximum":1e400,"multipleOf":0.10,"const":123456789012345678901234567890}}}},"#,
    r#"{"name":"escaped-words","inputSchema":{"type":"object"},"description":"caf\u00e9 \/ \ud83d\ude00 é"}"#,
);
const ODD_PROMPTS: &str = r#"{"prompts":[{"name":"odd","own":1,"arguments":[{"name":"a","required":true,"schema":{"z":1,"a":2}}],"icons":[]}],"own":null}"#;
const ODD_RESOURCES: &str = r#"{"resources":[{"uri":"odd://both","name":"both","size":12345678901234567890,"annotations":{"priority":0.7,"audience":["user"],"own":1},"own":[]}],"own":0}"#;
const ODD_TEMPLATES: &str =
    r#"{"resourceTemplates":[{"uriTemplate":"odd://{+any}","name":"any","own":{"z":0,"a":0}}]}"#;
const ODD_PROMPT: &str = r#"{"messages":[{"role":"system","content":{"type":"hologram","z":1.0},"own":1},{"role":"user","content":{"type":"resource","resource":{"uri":"odd://both","text":"t","annotations":{"priority":0.3}}}}],"description":null,"own":2}"#;
const ODD_CONTENTS: &str = r#"{"contents":[{"uri":"odd://both","text":"t","blob":"dA==","mimeType":null,"own":1.0,"_meta":{"ui":{"csp":{}}}}],"own":{"z":1,"a":2}}"#;
