//! Scripts that try to get out, to go on for ever or to take everything: none does, each is told why. `escapes.txt` has
//! them, each after a line `@@ ` with the beginning of what is told: the value, or `! ` and the words of the failure.

use std::{collections::VecDeque, io, time::Duration};

use satchel_script::{
    Bounds, Host,
    protocol::{CallRequest, Settlement, Task},
    run,
};
use serde_json::value::RawValue;

/// A host that returns what was called; `a:fail` fails, `a:big` returns 8 MiB.
#[derive(Default)]
struct Echo(VecDeque<CallRequest>);

impl Host for Echo {
    fn call(&mut self, call: CallRequest) -> io::Result<()> {
        self.0.push_back(call);
        Ok(())
    }

    fn wait(&mut self) -> io::Result<(u32, Settlement)> {
        let CallRequest { id, path, arguments } = self.0.pop_front().expect("a call is open");
        let value = |text: String| Settlement::Value(RawValue::from_string(text).expect("it is JSON"));
        let end = match path.as_str() {
            "a:fail" => Settlement::Failure("no".to_owned()),
            "a:big" => value(format!("\"{}\"", "x".repeat(8 * 1024 * 1024))),
            _ => value(format!(r#"{{"path":{},"given":{arguments}}}"#, serde_json::json!(path))),
        };
        Ok((id, end))
    }
}

fn told(script: &str, computing: Duration) -> (String, usize) {
    let input = RawValue::from_string("null".to_owned()).expect("it is JSON");
    let task = Task { script: script.to_owned(), input };
    let bounds = Bounds { computing, ..Bounds::default() };
    let end = run(&task, &bounds, &mut Echo::default()).expect("the host is there");
    let told = match end.outcome {
        Ok(value) => value.map_or_else(String::new, |value| value.get().to_owned()),
        Err(wrong) => format!("! {wrong}"),
    };
    (told, end.logs.lines.iter().map(String::len).sum())
}

#[test]
fn no_script_gets_out_and_each_ends_with_its_reason() {
    let corpus = include_str!("escapes.txt");
    let cases: Vec<(&str, &str)> =
        corpus.split("@@ ").skip(1).filter_map(|case| case.split_once('\n')).collect();
    assert!(cases.len() >= 150, "{}", cases.len());
    let mut wrong = Vec::new();
    for (expected, script) in cases {
        // Endless scripts need the full time; everything else has enough time even on a busy machine.
        let endless = expected.starts_with("! the script computed");
        let computing = if endless { Duration::from_millis(200) } else { Duration::from_secs(60) };
        let (told, logged) = told(script.trim_end_matches('\n'), computing);
        // Values are compared completely, failures by their beginning.
        let fits = if expected.starts_with('!') { told.starts_with(expected) } else { told == expected };
        if !fits || told.contains("ESCAPED") || logged > Bounds::default().logs {
            wrong.push(format!(
                "{script}  expected {expected}\n  got {}",
                told.chars().take(200).collect::<String>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
