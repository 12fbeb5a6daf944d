//! S38: what is checked of a message is what is passed on, and what is passed on is read by other languages as it was
//! checked: method, tool and arguments, in messages made to be read in two ways.

use std::{fmt::Write as _, process::Stdio};

use satchel_mcp::{Message, RawObject};
use satchel_tests::Home;
use serde_json::Value;

use crate::{arena::python, measured, nightly, random};

/// A canonical form of a value, the same in every language: keys in order of their code units, numbers as floats.
const IN_NODE: &str = r#"
const units = (text) => Buffer.from(text, 'utf16le').toString('hex');
const number = (n) => { const b = Buffer.alloc(8); b.writeDoubleBE(n + 0); return b.toString('hex'); };
const form = (v) => v === null ? 'n' : v === true ? 't' : v === false ? 'f'
  : typeof v === 'number' ? '#' + number(v) : typeof v === 'string' ? '"' + units(v)
  : Array.isArray(v) ? '[' + v.map(form).join(',') + ']'
  : '{' + Object.keys(v).map((k) => [units(k), form(v[k])]).sort((a, b) => a[0] < b[0] ? -1 : 1).map(([k, f]) => k + ':' + f).join(',') + '}';
const lines = require('fs').readFileSync(process.argv[1], 'utf8').split('\n').slice(0, -1);
const out = lines.map((line) => { try { return form(JSON.parse(line)); } catch (error) { return 'not read'; } });
process.stdout.write(out.join('\n') + '\n');
"#;
const IN_PYTHON: &str = r#"
import json, struct, sys
sys.setrecursionlimit(10000)
units = lambda text: text.encode('utf-16-le', 'surrogatepass').hex()
def number(n):
    try: n = float(n)
    except OverflowError: n = float('inf') if n > 0 else float('-inf')
    return struct.pack('>d', n + 0.0).hex()
def form(v):
    if v is None: return 'n'
    if v is True: return 't'
    if v is False: return 'f'
    if isinstance(v, (int, float)): return '#' + number(v)
    if isinstance(v, str): return '"' + units(v)
    if isinstance(v, list): return '[' + ','.join(map(form, v)) + ']'
    return '{' + ','.join(k + ':' + f for k, f in sorted((units(k), form(x)) for k, x in v.items())) + '}'
def refuse(name): raise ValueError(name)
if hasattr(sys, 'set_int_max_str_digits'): sys.set_int_max_str_digits(0)
out = []
for line in open(sys.argv[1], encoding='utf-8', newline='\n').read().split('\n')[:-1]:
    try: out.append(form(json.loads(line, parse_constant=refuse)))
    except (ValueError, RecursionError): out.append('not read')
sys.stdout.write('\n'.join(out) + '\n')
"#;

fn form(value: &Value) -> String {
    let units = |text: &str| {
        text.encode_utf16().flat_map(u16::to_le_bytes).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    match value {
        Value::Null => "n".into(),
        Value::Bool(true) => "t".into(),
        Value::Bool(false) => "f".into(),
        Value::Number(number) => {
            let float = number.as_f64().expect("every number is one") + 0.0;
            format!("#{:016x}", float.to_bits())
        }
        Value::String(text) => format!("\"{}", units(text)),
        Value::Array(items) => format!("[{}]", items.iter().map(form).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let mut all: Vec<(String, String)> =
                fields.iter().map(|(key, value)| (units(key), form(value))).collect();
            all.sort();
            let all: Vec<String> = all.into_iter().map(|(key, form)| format!("{key}:{form}")).collect();
            format!("{{{}}}", all.join(","))
        }
    }
}

/// A message that two parsers might read differently.
fn message(random: &mut fastrand::Rng) -> String {
    let keys = [
        "name",
        "Name",
        "NAME",
        "n\\u0061me",
        "arguments",
        "Arguments",
        "argument\u{17f}",
        "param\u{17f}",
        "__proto__",
        "constructor",
        "0",
        "1",
        "-0",
        "",
        " ",
        "\\u0000",
        "\u{feff}a",
        "e\u{301}",
        "\u{e9}",
        "\\ud83d\\ude00",
        "\u{1f600}",
        "a\\/b",
    ];
    let scalars = [
        "1",
        "-0",
        "0",
        "1.0",
        "1e2",
        "1E-7",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1e308",
        "1e309",
        "-1e400",
        "5e-324",
        "1e-400",
        "0.1",
        "0.30000000000000004",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "01",
        "1.",
        ".5",
        "+1",
        "NaN",
        "Infinity",
        "0x10",
        "true",
        "false",
        "null",
        "True",
        "\"\"",
        "\"a\"",
        "\"\\u0061\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\u{2028}\u{2029}\"",
        "\"\\u0000\"",
        "\"\\x41\"",
        "\"\t\"",
        "\"\u{7f}\u{85}\"",
        "'a'",
        "\"rm -rf\"",
        "\"\u{feff}\"",
    ];
    fn value(random: &mut fastrand::Rng, depth: usize, keys: &[&str], scalars: &[&str]) -> String {
        match random.usize(0..if depth > 4 { 4 } else { 8 }) {
            0..4 => (*random.choice(scalars).expect("there are some")).to_owned(),
            4 | 5 => {
                let items: Vec<String> =
                    (0..random.usize(0..4)).map(|_| value(random, depth + 1, keys, scalars)).collect();
                let end = if random.usize(0..40) == 0 { "," } else { "" };
                format!("[{}{end}]", items.join(","))
            }
            6 => {
                let fields: Vec<String> = (0..random.usize(0..5))
                    .map(|_| {
                        let key = random.choice(keys).expect("there are some");
                        let blank = ["", " ", "\t", "\u{c}", "\u{a0}", "/**/"]
                            [if random.usize(0..30) == 0 { random.usize(0..6) } else { 0 }];
                        format!("\"{key}\"{blank}:{}", value(random, depth + 1, keys, scalars))
                    })
                    .collect();
                format!("{{{}}}", fields.join(","))
            }
            _ => {
                let deep = if random.usize(0..20) == 0 { random.usize(1..400) } else { random.usize(1..6) };
                format!("{}1{}", "[".repeat(deep), "]".repeat(deep))
            }
        }
    }
    let pick = |random: &mut fastrand::Rng, usual: &'static str, odd: &[&'static str]| {
        if random.usize(0..12) == 0 { *random.choice(odd).expect("there are some") } else { usual }
    };
    let mut params = vec![
        format!("\"{}\":{}", pick(random, "name", &keys), pick(random, "\"a:b\"", &scalars)),
        format!("\"{}\":{{\"x\":{}}}", pick(random, "arguments", &keys), value(random, 0, &keys, &scalars)),
    ];
    while random.usize(0..6) == 0 {
        params.push(format!(
            "\"{}\":{}",
            random.choice(keys).expect("there are some"),
            value(random, 1, &keys, &scalars)
        ));
    }
    random.shuffle(&mut params);
    let mut fields = vec![
        format!("\"jsonrpc\":{}", pick(random, "\"2.0\"", &["2.0", "\"2\\u002e0\"", "\"1.0\""])),
        format!("\"{}\":{}", pick(random, "id", &["ID", "\\u0069d"]), pick(random, "1", &scalars)),
        format!(
            "\"{}\":{}",
            pick(random, "method", &["Method", "METHOD", "m\\u0065thod"]),
            pick(random, "\"tools/call\"", &["\"tools/list\"", "\"tools\\/call\"", "\"Tools/Call\""])
        ),
        format!(
            "\"{}\":{{{}}}",
            pick(random, "params", &["Params", "param\u{17f}", "p\\u0061rams"]),
            params.join(",")
        ),
    ];
    while random.usize(0..10) == 0 {
        let again = [
            "\"method\":\"tools/list\"",
            "\"Method\":\"x\"",
            "\"params\":{}",
            "\"param\u{17f}\":{\"name\":\"evil\"}",
            "\"result\":{}",
            "\"id\":2",
        ];
        fields.push((*random.choice(again).expect("there are some")).to_owned());
    }
    random.shuffle(&mut fields);
    let mut text = format!("{{{}}}", fields.join(","));
    match random.usize(0..60) {
        0 => text.insert(0, '\u{feff}'),
        1 => text.push_str("{}"),
        2 => text.push('\0'),
        3 => text.truncate(text.len() - 1),
        4 => text = format!("[{text}]"),
        _ => {}
    }
    text
}

/// What the hub checks before it passes a call on.
fn checked(message: &Message) -> Option<(String, Option<String>, Option<Value>)> {
    let Message::Request { method, params, .. } = message else { return None };
    let params = match params {
        Some(raw) => RawObject::parse(raw).ok()?,
        None => RawObject::new(),
    };
    Some((method.clone(), params.text("name"), params.read("arguments")))
}

async fn read_by(program: &str, flag: &str, script: &str, file: &str) -> Vec<String> {
    let mut command = tokio::process::Command::new(program);
    command.args([flag, script, file]).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.expect("it runs; scripts/setup.sh installs it");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it writes digits").lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn node_and_python_read_messages_exactly_as_they_were_checked() {
    let (seed, mut random) = random();
    let home = Home::empty();
    let file = home.file("messages");
    let path = file.to_str().expect("it is plain");
    let (mut made, mut refused, mut unread, mut same) = (0, 0, 0, 0);
    for _ in 0..nightly(1, 10, 100) {
        let (mut lines, mut expected) = (String::new(), Vec::new());
        for _ in 0..10_000 {
            made += 1;
            let text = message(&mut random);
            // As the hub parses a request's body.
            let Ok(message) = Message::parse_bounded(text.trim_start_matches('\u{feff}')) else {
                refused += 1;
                continue;
            };
            let Some((method, name, arguments)) = checked(&message) else {
                refused += 1;
                continue;
            };
            let passed_on = message.to_json();
            assert!(!passed_on.contains('\n'), "{passed_on:?} is one line");
            let whole: Option<Value> = serde_json::from_str(&passed_on).ok();
            if let Some(whole) = &whole {
                let params = &whole["params"];
                let seen = (whole["method"].as_str(), params["name"].as_str(), params.get("arguments"));
                assert_eq!(seen, (Some(method.as_str()), name.as_deref(), arguments.as_ref()), "{text}");
            }
            lines.push_str(&passed_on);
            lines.push('\n');
            expected.push((passed_on, whole.as_ref().map(form)));
        }
        std::fs::write(&file, lines).expect("the home can be written to");
        let (node, python) =
            tokio::join!(read_by("node", "-e", IN_NODE, path), read_by(python(), "-c", IN_PYTHON, path));
        assert_eq!((node.len(), python.len()), (expected.len(), expected.len()), "a line each");
        for ((passed_on, ours), (node, python)) in expected.iter().zip(node.iter().zip(&python)) {
            match ours {
                Some(ours) => {
                    assert_eq!((node, python), (ours, ours), "{passed_on}");
                    same += 1;
                }
                // A number that no float represents, or an unpaired surrogate, is passed on unchanged and unchecked.
                None => {
                    assert_eq!(node, python, "{passed_on}");
                    unread += 1;
                }
            }
        }
    }
    measured!(
        "{made} messages, seed {seed}: {refused} refused, {same} read alike by three, {unread} passed on unread, 0 differences"
    );
    assert!(same > made / 5 && refused > made / 50, "{same}, {refused}");
}

/// Planted: parsers that differ are told apart, one taking the last of two equal keys, one the first.
#[tokio::test]
async fn planted_a_message_that_is_read_in_two_ways_is_seen() {
    let home = Home::empty();
    let file = home.file("messages");
    std::fs::write(&file, "{\"a\":1,\"a\":2}\n{\"a\":1e400}\n{\"a\":\"\\ud800\"}\n{\"a\":01}\n")
        .expect("it can be written");
    let path = file.to_str().expect("it is plain");
    let node = read_by("node", "-e", IN_NODE, path).await;
    let python = read_by(python(), "-c", IN_PYTHON, path).await;
    assert_eq!(node, python);
    assert_eq!(node[0], form(&serde_json::json!({ "a": 2 })));
    assert_ne!(node[0], form(&serde_json::json!({ "a": 1 })));
    assert_eq!(node[3], "not read");
    assert!(
        serde_json::from_str::<Value>("{\"a\":\"\\ud800\"}").is_err(),
        "half of a character is no text to us"
    );
}
