//! W3C Trace Context of a call (`traceparent` in `_meta`, reserved by `basic/index.mdx` of 2026-07-28), and the span
//! that a collector receives.

use std::{fmt, time::SystemTime};

use super::event::Split;

/// A call's position in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace id.
    pub trace: [u8; 16],
    /// The call's own span.
    pub span: [u8; 8],
    /// The parent span: the client's, if it sent one.
    pub parent: Option<[u8; 8]>,
}

impl TraceContext {
    /// A new trace; `None` without random numbers.
    pub fn begun() -> Option<Self> {
        Some(Self { trace: random()?, span: random()?, parent: None })
    }

    /// A span in the caller's trace; `None` if `traceparent` is invalid or not sampled.
    pub fn within(traceparent: &str) -> Option<Self> {
        // version "-" trace-id "-" parent-id "-" trace-flags; later versions may add more after these.
        let mut parts = traceparent.trim().split('-');
        let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        if version.len() != 2 || version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let [sampled] = bytes::<1>(flags)?;
        let (trace, parent) = (bytes(trace)?, bytes(parent)?);
        let some = trace != [0; 16] && parent != [0; 8] && sampled & 1 == 1;
        some.then_some(())?;
        Some(Self { trace, span: random()?, parent: Some(parent) })
    }
}

impl fmt::Display for TraceContext {
    /// The `traceparent` for the next hop.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let hex =
            |f: &mut fmt::Formatter, bytes: &[u8]| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        f.write_str("00-")?;
        hex(f, &self.trace)?;
        f.write_str("-")?;
        hex(f, &self.span)?;
        f.write_str("-01")
    }
}

/// Exactly this many lower-case hexadecimal digits.
fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digits = hex.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// A finished call, for a trace collector. Contains no arguments and no results.
#[derive(Debug, Clone)]
pub struct CallSpan {
    /// Its position in the trace.
    pub context: TraceContext,
    /// `call`, `find`, `read`, …
    pub kind: &'static str,
    /// The client.
    pub client: String,
    /// The server; empty if there is none.
    pub server: String,
    /// The tool or resource.
    pub tool: String,
    /// When it arrived, and when its response was sent.
    pub time: (SystemTime, SystemTime),
    /// Its durations.
    pub split: Split,
    /// `ok`, `tool_error`, `not_sent`, …
    pub outcome: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_trace_goes_on_with_a_span_of_its_own() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::within(parent).unwrap();
        let told = context.to_string();
        assert!(told.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && told.ends_with("-01"), "{told}");
        assert_ne!(told, parent);
        assert_eq!(context.parent, Some([0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]));
        assert_eq!(TraceContext::within(&told).unwrap().parent, Some(context.span));
    }

    #[test]
    fn an_invalid_or_unsampled_trace_is_ignored() {
        for other in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c8031-b7ad6b7169203331-01",
            "00-äaf7651916cd43dd8448eb211c8031-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceContext::within(other), None, "{other}");
        }
    }
}
