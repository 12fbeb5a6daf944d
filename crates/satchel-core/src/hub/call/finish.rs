//! Finishes a result: notes what was corrected in its call, and cuts what is too long for its client.

use satchel_mcp::{Raw, RawObject};

use crate::hub::{Hub, failure::Failed};

/// The key in a result's `_meta` that lists corrections.
const CORRECTED: &str = "dev.satchel/corrected";

/// How to post-process a result.
#[derive(Debug)]
pub(in crate::hub) struct Finish {
    /// Corrections made in the call, a sentence each.
    pub(in crate::hub) corrected: Vec<String>,
    /// Whether long results are cut.
    pub(in crate::hub) capped: bool,
}

impl Finish {
    /// Adds corrections to the result's `_meta`. A short result without corrections stays unchanged.
    pub(super) fn applied(
        &self,
        hub: &Hub,
        client: &str,
        end: Result<Box<Raw>, Failed>,
    ) -> Result<Box<Raw>, Failed> {
        match end {
            Ok(result) => Ok(self.with_notes(hub, client, result)),
            Err(Failed::Upstream(error)) if self.capped => {
                let cap = hub.result_cap(client);
                Err(Failed::Upstream(hub.calls().results.capped_error(client, cap, error)))
            }
            Err(failed) => Err(failed),
        }
    }

    fn with_notes(&self, hub: &Hub, client: &str, result: Box<Raw>) -> Box<Raw> {
        let result = match self.capped {
            true => hub.calls().results.capped(client, hub.result_cap(client), result),
            false => result,
        };
        if self.corrected.is_empty() {
            return result;
        }
        let Ok(mut fields) = RawObject::parse(&result) else { return result };
        let mut meta = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
        // Strings always serialize.
        meta.put(CORRECTED, &self.corrected);
        fields.set("_meta", meta.to_raw());
        fields.to_raw()
    }
}
