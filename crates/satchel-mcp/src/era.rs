//! Protocol revisions, and how they differ (`2026-07-28/basic/versioning.mdx`). A new revision is a line in [`ALL`], and a
//! fact here for what sets it apart: everything else asks an [`Era`], and names no revision.

use std::fmt;

/// The `_meta` key by which every stateless request names its revision.
pub const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// A supported revision, and how messages of it look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Era(&'static Facts);

#[derive(PartialEq, Eq)]
struct Facts {
    revision: &'static str,
    stateless: bool,
    batches: bool,
    primes_streams: bool,
    tasks: bool,
    links: bool,
    audio: bool,
}

/// Every supported revision, newest first.
const ALL: &[Facts] = &[
    stateless("2026-07-28"),
    Facts { primes_streams: true, tasks: true, ..with_sessions("2025-11-25") },
    with_sessions("2025-06-18"),
    Facts { batches: true, links: false, ..with_sessions("2025-03-26") },
    Facts { links: false, audio: false, ..with_sessions("2024-11-05") },
];

const fn stateless(revision: &'static str) -> Facts {
    Facts { stateless: true, tasks: true, ..with_sessions(revision) }
}

const fn with_sessions(revision: &'static str) -> Facts {
    let (stateless, batches, primes_streams, tasks) = (false, false, false, false);
    Facts { revision, stateless, batches, primes_streams, tasks, links: true, audio: true }
}

/// The newest revision of this kind.
const fn newest(stateless: bool) -> Era {
    let mut at = 0;
    while ALL[at].stateless != stateless {
        at += 1;
    }
    Era(&ALL[at])
}

impl Era {
    /// The newest revision that opens a session with `initialize`.
    pub const SESSION: Era = newest(false);
    /// The newest stateless revision.
    pub const STATELESS: Era = newest(true);
    /// The first revision, the only one with the transport HTTP+SSE (`2024-11-05/basic/transports.mdx#http-with-sse`).
    pub const FIRST: Era = Era(&ALL[ALL.len() - 1]);

    /// Every supported revision, newest first.
    pub fn all() -> impl Iterator<Item = Era> {
        ALL.iter().map(Era)
    }

    /// The era of this revision; `None` if it is not supported.
    pub fn of(revision: &str) -> Option<Era> {
        Era::all().find(|era| era.revision() == revision)
    }

    /// The revision for the response to `initialize`: the requested one if supported, otherwise the newest with sessions.
    pub fn negotiate(requested: &str) -> Era {
        Era::of(requested).filter(|era| !era.is_stateless()).unwrap_or(Era::SESSION)
    }

    /// The newest stateless revision among these.
    pub fn newest_stateless(spoken: &[String]) -> Option<Era> {
        Era::all().find(|era| era.is_stateless() && spoken.iter().any(|revision| revision == era.revision()))
    }

    /// The stateless revisions, newest first, as `server/discover` lists them.
    pub fn stateless_revisions() -> Vec<&'static str> {
        Era::all().filter(|era| era.is_stateless()).map(Era::revision).collect()
    }

    /// The revision's name on the wire.
    pub fn revision(self) -> &'static str {
        self.0.revision
    }

    /// Does every request carry what it needs? Otherwise `initialize` opens a session.
    pub fn is_stateless(self) -> bool {
        self.0.stateless
    }

    /// Can messages be sent as an array (`2025-03-26/basic/index.mdx`)?
    pub fn has_batches(self) -> bool {
        self.0.batches
    }

    /// Does a response stream begin with an empty event, so that the client can resume it
    /// (`2025-11-25/basic/transports.mdx#sending-messages-to-the-server`)?
    pub fn primes_streams(self) -> bool {
        self.0.primes_streams
    }

    /// Can an output schema be of any type, and a result any value (`2026-07-28/server/tools.mdx#output-schema`)? Older
    /// revisions have objects only.
    pub fn has_any_output(self) -> bool {
        self.0.stateless
    }

    /// Are there tasks, of either kind (`2025-11-25/basic/utilities/tasks.mdx`)?
    pub fn has_tasks(self) -> bool {
        self.0.tasks
    }

    /// Can a result have links to resources (`2025-06-18/server/tools.mdx#resource-links`)?
    pub fn has_links(self) -> bool {
        self.0.links
    }

    /// Can a result have sound (`2025-03-26/server/tools.mdx#audio-content`)?
    pub fn has_audio(self) -> bool {
        self.0.audio
    }

    /// Have both the same tasks? Those with sessions and those without have nothing but the name in common.
    pub fn shares_tasks_with(self, other: Era) -> bool {
        self.0.stateless == other.0.stateless
    }
}

impl fmt::Debug for Era {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.revision())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_revision_is_taken_and_an_unknown_one_gets_our_newest() {
        for (requested, answer) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("x", "2025-11-25"),
        ] {
            assert_eq!(Era::negotiate(requested).revision(), answer);
        }
    }

    #[test]
    fn revisions_stand_newest_first() {
        assert!(Era::all().is_sorted_by_key(|era| std::cmp::Reverse(era.revision())));
        assert_eq!((Era::all().next(), Era::all().last()), (Some(Era::STATELESS), Some(Era::FIRST)));
    }

    #[test]
    fn of_what_a_server_speaks_the_newest_stateless_revision_is_taken() {
        let spoken = |revisions: &[&str]| {
            let spoken: Vec<String> = revisions.iter().map(|one| (*one).to_owned()).collect();
            Era::newest_stateless(&spoken)
        };
        assert_eq!(spoken(&["2999-01-01", "2025-11-25", "2026-07-28"]), Some(Era::STATELESS));
        assert_eq!(spoken(&["2999-01-01", "2025-11-25"]), None);
    }
}
