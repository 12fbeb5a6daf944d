//! Every method and notification that Satchel lets through, with who may send it and what is done with it. What has no
//! row here passes in neither direction: nobody has reviewed it, and it may put text before a model. A new method of the
//! protocol is a row, and the code for what sets it apart.

use crate::era::Era;

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A client.
    Client,
    /// A server.
    Server,
}

/// Does a message need a response?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageKind {
    Request,
    Notification,
}

/// The revisions that have a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Revisions {
    All,
    WithSessions,
    /// Those with tasks of either kind.
    WithTasks,
    /// Those with tasks and sessions.
    WithOlderTasks,
    Stateless,
}

/// What happens to a message between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    /// It ends at the hub, which answers or acts itself.
    Hub,
    /// It goes to the other side.
    Passed,
}

/// The definition that a person must not have held back, for a request to be passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinned {
    /// None: it is about no definition.
    Nothing,
    /// The tool in `name`.
    Tool,
    /// The prompt in `name`.
    Prompt,
    /// The resource in `uri`.
    Resource,
    /// The prompt or template in `ref`.
    Reference,
    /// The skill in `uri`.
    Skill,
}

/// The texts from which invisible characters are removed, because a model or a person reads them. Everything else is data
/// and stays byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleaned {
    /// None.
    Nothing,
    /// The text blocks in `content` of the result.
    Content,
    /// The text blocks in `messages` of the result.
    Messages,
    /// All of them.
    All,
}

/// Which addresses serve a client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// All of them.
    Everywhere,
    /// Those whose clients hear servers' log messages: not those of Satchel's own tools.
    WithLogs,
    /// That of one server.
    ByOneServer,
}

/// A row: one method or notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownMethod {
    name: &'static str,
    kind: MessageKind,
    senders: &'static [Sender],
    revisions: Revisions,
    /// What happens to it.
    pub handling: Handling,
    /// Where clients can send it.
    pub served: Served,
    /// What it depends on.
    pub pinned: Pinned,
    /// What is cleaned of the texts that it brings to a client.
    pub cleaned: Cleaned,
    /// Is it recorded in the history?
    pub recorded: bool,
}

use Handling::{Hub, Passed};
use MessageKind::{Notification, Request};
use Sender::{Client, Server};

const BOTH: &[Sender] = &[Client, Server];

/// All rows.
const ALL: &[KnownMethod] = &[
    // Requests of clients.
    ours(Request, "initialize", &[Client]).with_sessions(),
    ours(Request, "ping", BOTH).with_sessions(),
    ours(Request, "logging/setLevel", &[Client]).with_logs().with_sessions(),
    ours(Request, "resources/subscribe", &[Client]).with_sessions().pinned(Pinned::Resource),
    ours(Request, "resources/unsubscribe", &[Client]).with_sessions(),
    ours(Request, "server/discover", &[Client]).stateless(),
    ours(Request, "subscriptions/listen", &[Client]).stateless(),
    passed(Request, "tools/list", &[Client]).cleaned(Cleaned::All),
    passed(Request, "tools/call", &[Client]).pinned(Pinned::Tool).cleaned(Cleaned::Content).recorded(),
    passed(Request, "resources/list", &[Client]).cleaned(Cleaned::All),
    passed(Request, "resources/templates/list", &[Client]).cleaned(Cleaned::All),
    // A resource is a file and stays byte for byte.
    passed(Request, "resources/read", &[Client]).pinned(Pinned::Resource),
    // Skills cannot be cleaned: what would have to be is held back.
    passed(Request, "skills/list", &[Client]).cleaned(Cleaned::All),
    passed(Request, "skills/get", &[Client]).pinned(Pinned::Skill).cleaned(Cleaned::All),
    passed(Request, "resources/directory/read", &[Client]).by_one_server().cleaned(Cleaned::All),
    passed(Request, "prompts/list", &[Client]).cleaned(Cleaned::All),
    passed(Request, "prompts/get", &[Client]).pinned(Pinned::Prompt).cleaned(Cleaned::Messages),
    passed(Request, "completion/complete", &[Client]).pinned(Pinned::Reference),
    passed(Request, "tasks/get", &[Client]).by_one_server().with_tasks().cleaned(Cleaned::All),
    passed(Request, "tasks/cancel", &[Client]).by_one_server().with_tasks().cleaned(Cleaned::All),
    passed(Request, "tasks/list", &[Client]).by_one_server().with_older_tasks().cleaned(Cleaned::All),
    passed(Request, "tasks/result", &[Client]).by_one_server().with_older_tasks().cleaned(Cleaned::Content),
    passed(Request, "tasks/update", &[Client]).by_one_server().stateless().cleaned(Cleaned::Content),
    // Requests of servers; stateless ones send them in results.
    passed(Request, "elicitation/create", &[Server]).cleaned(Cleaned::All),
    passed(Request, "sampling/createMessage", &[Server]).cleaned(Cleaned::All),
    passed(Request, "roots/list", &[Server]).cleaned(Cleaned::All),
    // Notifications of clients.
    ours(Notification, "notifications/initialized", &[Client]).with_sessions(),
    ours(Notification, "notifications/cancelled", BOTH),
    passed(Notification, "notifications/roots/list_changed", &[Client]).with_sessions(),
    // Notifications of servers. The progress of a client on a server's question ends at the hub.
    passed(Notification, "notifications/progress", BOTH).cleaned(Cleaned::All),
    passed(Notification, "notifications/message", &[Server]).cleaned(Cleaned::All),
    passed(Notification, "notifications/resources/updated", &[Server]).cleaned(Cleaned::All),
    passed(Notification, "notifications/elicitation/complete", &[Server])
        .with_sessions()
        .cleaned(Cleaned::All),
    passed(Notification, "notifications/tasks/status", &[Server]).with_older_tasks().cleaned(Cleaned::All),
    passed(Notification, "notifications/tasks", &[Server]).stateless().cleaned(Cleaned::All),
    ours(Notification, "notifications/subscriptions/acknowledged", &[Server]).stateless(),
    // The hub reads the list again, and tells clients when it differs.
    ours(Notification, "notifications/tools/list_changed", &[Server]),
    ours(Notification, "notifications/resources/list_changed", &[Server]),
    ours(Notification, "notifications/prompts/list_changed", &[Server]),
];

const fn ours(kind: MessageKind, name: &'static str, senders: &'static [Sender]) -> KnownMethod {
    let (revisions, handling, pinned) = (Revisions::All, Hub, Pinned::Nothing);
    let (served, cleaned) = (Served::Everywhere, Cleaned::Nothing);
    KnownMethod { name, kind, senders, revisions, handling, served, pinned, cleaned, recorded: false }
}

const fn passed(kind: MessageKind, name: &'static str, senders: &'static [Sender]) -> KnownMethod {
    KnownMethod { handling: Passed, ..ours(kind, name, senders) }
}

impl KnownMethod {
    /// The request of this name, if `sender` may send it in this era.
    pub fn request(sender: Sender, era: Era, name: &str) -> Option<&'static KnownMethod> {
        Self::find(Request, sender, name).filter(|method| method.is_in(era))
    }

    /// The notification of this name, if `sender` may send it in this era.
    pub fn notification(sender: Sender, era: Era, name: &str) -> Option<&'static KnownMethod> {
        Self::find(Notification, sender, name).filter(|method| method.is_in(era))
    }

    /// The question that a server may ask a client in the middle of a call.
    pub fn question(name: &str) -> Option<&'static KnownMethod> {
        Self::find(Request, Server, name).filter(|method| method.handling == Passed)
    }

    /// The definition that a client's request depends on.
    pub fn pinned_by(name: &str) -> Pinned {
        Self::find(Request, Client, name).map_or(Pinned::Nothing, |method| method.pinned)
    }

    /// What is cleaned of the result of a client's request.
    pub fn cleaned_of(name: &str) -> Cleaned {
        Self::find(Request, Client, name).map_or(Cleaned::All, |method| method.cleaned)
    }

    fn find(kind: MessageKind, sender: Sender, name: &str) -> Option<&'static KnownMethod> {
        ALL.iter()
            .find(|method| method.name == name && method.kind == kind && method.senders.contains(&sender))
    }

    fn is_in(&self, era: Era) -> bool {
        match self.revisions {
            Revisions::All => true,
            Revisions::WithSessions => !era.is_stateless(),
            Revisions::WithTasks => era.has_tasks(),
            Revisions::WithOlderTasks => era.has_tasks() && !era.is_stateless(),
            Revisions::Stateless => era.is_stateless(),
        }
    }

    const fn with_logs(self) -> Self {
        Self { served: Served::WithLogs, ..self }
    }

    const fn by_one_server(self) -> Self {
        Self { served: Served::ByOneServer, ..self }
    }

    const fn with_sessions(self) -> Self {
        Self { revisions: Revisions::WithSessions, ..self }
    }

    const fn with_tasks(self) -> Self {
        Self { revisions: Revisions::WithTasks, ..self }
    }

    const fn with_older_tasks(self) -> Self {
        Self { revisions: Revisions::WithOlderTasks, ..self }
    }

    const fn stateless(self) -> Self {
        Self { revisions: Revisions::Stateless, ..self }
    }

    const fn pinned(self, pinned: Pinned) -> Self {
        Self { pinned, ..self }
    }

    const fn cleaned(self, cleaned: Cleaned) -> Self {
        Self { cleaned, ..self }
    }

    const fn recorded(self) -> Self {
        Self { recorded: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_for_its_senders_and_its_revisions_alone() {
        let (sessions, stateless) = (Era::SESSION, Era::STATELESS);
        for (sender, era, name, known) in [
            (Client, sessions, "tools/call", true),
            (Client, stateless, "tools/call", true),
            (Server, sessions, "tools/call", false),
            (Client, stateless, "ping", false),
            (Server, sessions, "ping", true),
            (Client, sessions, "tasks/update", false),
            (Client, stateless, "tasks/update", true),
            (Client, stateless, "tasks/list", false),
            (Client, stateless, "tasks/get", true),
            (Client, Era::of("2025-06-18").unwrap(), "tasks/get", false),
            (Client, Era::of("2025-03-26").unwrap(), "tasks/result", false),
            (Client, sessions, "tasks/result", true),
            (Server, sessions, "roots/list", true),
            (Client, sessions, "roots/list", false),
            (Client, sessions, "notifications/initialized", false),
            (Client, sessions, "skills/list", true),
            (Server, sessions, "skills/list", false),
            (Client, sessions, "events/list", false),
            (Client, sessions, "tools/Call", false),
            (Client, sessions, "tools/call ", false),
            (Client, sessions, "", false),
        ] {
            assert_eq!(KnownMethod::request(sender, era, name).is_some(), known, "{sender:?} {era:?} {name}");
        }
        for (sender, era, name, known) in [
            (Server, sessions, "notifications/message", true),
            (Client, sessions, "notifications/message", false),
            (Server, sessions, "notifications/claude/channel", false),
            (Server, sessions, "notifications/skills/list_changed", false),
            (Server, stateless, "notifications/tasks", true),
            (Server, sessions, "notifications/tasks", false),
            (Server, sessions, "tools/call", false),
        ] {
            assert_eq!(
                KnownMethod::notification(sender, era, name).is_some(),
                known,
                "{sender:?} {era:?} {name}"
            );
        }
        assert!(KnownMethod::question("elicitation/create").is_some());
        assert!(KnownMethod::question("ping").is_none() && KnownMethod::question("vendor/ask").is_none());
    }

    #[test]
    fn no_name_has_two_rows_for_one_sender() {
        for (at, method) in ALL.iter().enumerate() {
            let same = |other: &&KnownMethod| {
                (other.name, other.kind) == (method.name, method.kind)
                    && other.senders.iter().any(|sender| method.senders.contains(sender))
            };
            assert_eq!(ALL[at + 1..].iter().find(same), None, "{}", method.name);
        }
    }
}
