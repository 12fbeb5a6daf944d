//! An MCP server that answers from a file, each answer with exactly the bytes that are written there.
//!
//! The file is a list of `{"method", "key", "result"}` or `{"method", "key", "error"}`; `key` is the name, address or
//! cursor that was asked for, and `null` for whatever else. What is not in the file is an unknown method. The file is read for
//! each request.

use std::{
    fs,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Answer<'file> {
    method: String,
    key: Option<String>,
    #[serde(borrow)]
    result: Option<&'file RawValue>,
    #[serde(borrow)]
    error: Option<&'file RawValue>,
}

#[derive(Deserialize)]
struct Request<'line> {
    #[serde(borrow)]
    id: Option<&'line RawValue>,
    method: Option<String>,
    #[serde(default)]
    params: Params,
}

#[derive(Deserialize, Default)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    cursor: Option<String>,
}

impl Params {
    fn key(&self) -> Option<&str> {
        self.name.as_deref().or(self.uri.as_deref()).or(self.cursor.as_deref())
    }
}

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("verbatim-mcp-server FILE");
        return ExitCode::from(2);
    };
    for line in io::stdin().lock().lines() {
        let line = line.expect("standard input is UTF-8");
        let Ok(Request { id: Some(id), method: Some(method), params }) = serde_json::from_str(&line) else {
            continue;
        };
        let text = fs::read_to_string(&file).expect("the answers can be read");
        let answers: Vec<Answer<'_>> = serde_json::from_str(&text).expect("the answers are a list");
        let key = params.key();
        let found = answers.iter().find(|answer| answer.method == method && answer.key.as_deref() == key);
        let answer = match found {
            Some(Answer { result: Some(result), .. }) => format!(r#""result":{result}"#),
            Some(Answer { error: Some(error), .. }) => format!(r#""error":{error}"#),
            _ => r#""error":{"code":-32601,"message":"not in the file"}"#.to_owned(),
        };
        let mut out = io::stdout().lock();
        writeln!(out, r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#).expect("the hub reads");
        out.flush().expect("the hub reads");
    }
    ExitCode::SUCCESS
}
