//! A stdio MCP server for the cases on Windows, and a starter of other programs there. Built for Windows beside the command
//! line by `make windows`.
//!
//! Not the fake server of the other tests: what that one is built with does not exist on Windows.
#![allow(clippy::disallowed_methods)] // it has no runtime, and its helper does nothing but sleep

use std::{
    env,
    fs::OpenOptions,
    io::{BufRead, Write, stdin, stdout},
    path::Path,
    process::{Command, ExitCode, Stdio, exit},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let own = env::current_exe().unwrap_or_default();
    if own.file_stem().is_some_and(|name| name == "podman") {
        return engine(&own.with_extension("log"), &words);
    }
    match words[..] {
        ["sleep", ..] => thread::sleep(Duration::from_secs(600)),
        ["path-alone", path, program, ref args @ ..] => return with_path_alone(path, program, args),
        _ => serve(),
    }
    ExitCode::SUCCESS
}

/// Does what an engine of containers does, without containers: writes its words to `log`, one line for each start, and is
/// itself the server that it should run.
fn engine(log: &Path, words: &[&str]) -> ExitCode {
    let file = OpenOptions::new().create(true).append(true).open(log);
    if file.and_then(|mut file| writeln!(file, "{}", json!(words))).is_err() {
        return ExitCode::FAILURE;
    }
    match words.first() {
        Some(&"info") => println!("true"),
        Some(&"run") => serve(),
        _ => {}
    }
    ExitCode::SUCCESS
}

/// Starts a program like Windows: its search path is called `Path`, and there is no `HOME`.
fn with_path_alone(path: &str, program: &str, args: &[&str]) -> ExitCode {
    let passes = |name: &str| !["PATH", "HOME"].iter().any(|other| name.eq_ignore_ascii_case(other));
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env::vars().filter(|(name, _)| passes(name))).env("Path", path);
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("cannot start {program}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = request.get("id") else { continue };
        let answer = match request["method"].as_str() {
            Some("initialize") => initialized(&request),
            Some("tools/list") => tools(),
            Some("tools/call") => called(&request["params"]),
            _ => {
                let error = json!({"code": -32601, "message": "unknown method"});
                write(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                continue;
            }
        };
        write(&json!({"jsonrpc": "2.0", "id": id, "result": answer}));
    }
}

fn write(message: &Value) {
    // If the parent has exited, our input ends too.
    let _ = writeln!(stdout(), "{message}");
    let _ = stdout().flush();
}

fn initialized(request: &Value) -> Value {
    json!({
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "windows", "version": "1"},
    })
}

fn tools() -> Value {
    let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    json!({"tools": [
        tool("around", "What it was started with: arguments, directory and variables"),
        tool("helper", "Starts a program that goes on for ten minutes"),
        tool("crash", "Ends at once with exit code 3"),
    ]})
}

fn called(params: &Value) -> Value {
    let text = match params["name"].as_str() {
        Some("around") => around().to_string(),
        Some("helper") => helper(),
        Some("crash") => exit(3),
        _ => "there is no such tool".to_owned(),
    };
    json!({"content": [{"type": "text", "text": text}]})
}

fn around() -> Value {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let directory = env::current_dir().map(|dir| dir.display().to_string()).unwrap_or_default();
    let variables: serde_json::Map<String, Value> =
        env::vars().map(|(name, value)| (name, Value::String(value))).collect();
    json!({"arguments": arguments, "directory": directory, "variables": variables})
}

/// Starts a helper that keeps our standard output and error open, like a helper of a real server.
fn helper() -> String {
    let own = env::current_exe().unwrap_or_default();
    match Command::new(own).args(["sleep"]).args(env::args().skip(1)).stdin(Stdio::null()).spawn() {
        Ok(helper) => helper.id().to_string(),
        Err(error) => format!("it does not start: {error}"),
    }
}
