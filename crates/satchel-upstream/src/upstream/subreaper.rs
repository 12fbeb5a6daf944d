//! Keeps everything a server starts within reach, with a small process between the hub and the server that becomes the
//! parent of all orphans below it.
//!
//! Theory of operation: on Linux the hub starts a small program of its own ([`satchel_reaper`]) as `subreaper PROGRAM`, as the leader of the server's process
//! group, with an environment that holds the hub's mark alone. The server's arguments and environment, in which
//! credentials may be, come as the first line of standard input ([`Orders`]), so that no second process shows them to
//! whoever looks at the list of processes. The subreaper becomes the reaper of everything below itself, starts the server with its own standard
//! streams, lets go of them and waits. A helper that leaves its parent, its group, its session and its environment
//! behind then becomes a child of the subreaper and not of init, so that the hub and its watchdog find it by following
//! parents. When the server has ended, the subreaper ends what is left outside the group (the hub ends the group, which may
//! need time to finish), and ends as the server did. It knows nothing else.

use crate::secrets::clear_text;

pub use satchel_reaper::subreaper::{Orders, Sandboxed, main};

/// Buffer space for orders beyond their texts, in bytes.
const ROOM: usize = 4096;

/// Serializes orders for the pipe, where they precede everything meant for the server.
///
/// # Errors
/// If they cannot be serialized.
pub fn to_line(orders: &Orders) -> serde_json::Result<String> {
    // Allocated at its final size: a growing buffer would leave copies of secrets in memory.
    let texts = orders.args.iter().chain(orders.env.keys()).chain(orders.env.values());
    let room = 2 * texts.map(String::len).sum::<usize>() + 32 * orders.env.len() + ROOM;
    let mut json = Vec::with_capacity(room);
    serde_json::to_writer(&mut json, orders)?;
    // JSON is valid UTF-8.
    let mut json = String::from_utf8(json).unwrap_or_default();
    let mut line = String::with_capacity(json.len() + 32);
    line.push_str(&format!("{} ", json.len()));
    line.push_str(&json);
    line.push('\n');
    clear_text(&mut json);
    Ok(line)
}
