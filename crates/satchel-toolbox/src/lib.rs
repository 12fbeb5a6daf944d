//! A small MCP server over standard input and output, built into Satchel's own binary.
//!
//! It gives a fresh installation something to call: time zones, hashes, UUIDs, base64, jq and diffs, without
//! Node, Python or the network. It does not use the rest of Satchel: to the hub it is a server like any other.
//!
//! Theory of operation: one thread reads a line, answers it and reads the next one; it ends when its input
//! ends. Tools that can take seconds run beside it, a few at a time. Only `query_json` runs somebody else's program, so that one is evaluated in a child process with
//! bounds on time and memory ([`tools::query`]).
//!
//! A test to copy: `lines.rs::a_line_over_the_limit_is_skipped_and_the_next_one_is_read`.

mod era;
mod lines;
mod server;
mod tools;

use std::{
    io::{self, BufReader},
    process::ExitCode,
};

/// The argument after `toolbox` that makes this process evaluate one query instead of serving.
const QUERY: &str = "query";

/// The main function of `<program> toolbox`: serves MCP on standard input and output until the input ends.
///
/// The host program must call this for the argument `toolbox` before it parses other arguments, because this server
/// starts `<program> toolbox query` itself.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(2).is_some_and(|word| word == QUERY) {
        return tools::query::worker::main();
    }
    let mut input = BufReader::new(io::stdin().lock());
    let mut output = io::stdout();
    match server::serve(&mut input, &mut output) {
        Ok(()) => ExitCode::SUCCESS,
        // The client may disconnect at any time.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolbox: cannot talk to the client: {error}");
            ExitCode::FAILURE
        }
    }
}
