//! What models search for, in what servers write: the same question has the same answer, and the work grows with the
//! length of both and no faster.

use std::sync::{Arc, Once};

use satchel_core::catalog::{Aids, Catalog, Offer, answer::Asked, validate};
use satchel_mcp::Raw;
use serde_json::json;

/// Every text is repeated up to this length: quadratic work takes many times as long by then.
const LENGTH: usize = 16 * 1024;
/// Processor time of this thread per byte, in an unoptimised build, and the fixed cost.
const BYTE_NANOSECONDS: u64 = 10_000;
const ALWAYS_NANOSECONDS: u64 = 100_000_000;

/// The first line is the query, the rest are tools' texts.
pub(crate) fn run(data: &[u8]) {
    // Word lists are loaded at the first search.
    static READ: Once = Once::new();
    READ.call_once(|| drop(found(&catalog("read"), "raed")));
    let text = String::from_utf8_lossy(data);
    let (asked, told) = text.split_once('\n').unwrap_or((&text, ""));
    for (asked, told) in [
        (asked.to_owned(), told.to_owned()),
        (asked.repeat(times(asked)), told.to_owned()),
        (asked.to_owned(), told.repeat(times(told))),
    ] {
        let before = processor_time();
        let catalog = catalog(&told);
        let first = found(&catalog, &asked);
        assert_eq!(first, found(&catalog, &asked), "{asked:?} has two answers");
        let _ = catalog.near(&asked, 3);
        let (Some(before), Some(after)) = (before, processor_time()) else { continue };
        let bytes = (asked.len() + told.len()) as u64;
        assert!(
            after - before <= ALWAYS_NANOSECONDS + bytes * BYTE_NANOSECONDS,
            "{bytes} bytes took {} ms of processor time",
            (after - before) / 1_000_000
        );
    }
}

fn times(text: &str) -> usize {
    LENGTH / text.len().max(1)
}

fn catalog(told: &str) -> Catalog {
    let tools = ["read_file", "send_mail"].map(|name| {
        let schema = json!({ "type": "object", "properties": { told: { "description": told } } });
        let tool = json!({ "name": name, "title": told, "description": told, "inputSchema": schema });
        Raw::from_string(tool.to_string()).expect("what was written as JSON can be read")
    });
    let tools = validate::tools(tools.into()).0;
    let offer = Offer {
        tools,
        title: Some(told.to_owned()),
        instructions: Some(told.to_owned()),
        ..Offer::default()
    };
    Catalog::new([("server".parse().expect("it is a name"), Arc::new(offer))].into())
}

fn found(catalog: &Catalog, query: &str) -> String {
    let asked = Asked { query, server: None, limit: 5, full: false, types: false, aids: Aids::default() };
    serde_json::to_string(&catalog.answer(&asked)).expect("a JSON value always serializes")
}

/// Of this thread, in nanoseconds, so that other load on the machine does not count. `None` if the system does not
/// report it.
fn processor_time() -> Option<u64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok()
}
