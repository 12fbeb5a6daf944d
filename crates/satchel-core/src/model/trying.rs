//! Types for trying a tool in the window: the tool, and the progress and result of a call.

use serde::{Deserialize, Serialize};

use super::control::ToolLine;

/// As which client a person calls tools in the window: rules, approvals and records name it so. It is no id that a token
/// can be made for.
pub const WINDOW: &str = "Satchel window";

/// Everything about one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToolDetails {
    /// As it is listed.
    pub line: ToolLine,
    /// Its definition as models read it: a text of JSON, in which every digit and the order of keys are the server's.
    pub definition: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tried {
    /// The tool's result: a text of JSON.
    pub result: String,
    /// How long it took, a server's start and people's answers included.
    pub took_ms: u64,
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TriedScript {
    /// Its result as a client gets it: a text of JSON.
    pub result: String,
    /// How long it took, starts of servers and people's answers included.
    pub took_ms: u64,
    /// The calls it made, in their order.
    pub calls: Vec<ScriptCall>,
}

/// A call of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ScriptCall {
    /// What it called, as the script named it.
    pub path: String,
    /// How long it took; `None` where the script ended before it did.
    pub took_ms: Option<f64>,
    /// Whether it failed.
    pub failed: bool,
}

/// How a call gets on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TryProgress {
    /// Grows with every word of it.
    pub seen: u64,
    /// How far it is, in units of the server's.
    pub progress: Option<f64>,
    /// Of how many, where the server knows.
    pub total: Option<f64>,
    /// What the server says about it.
    pub message: Option<String>,
    /// What the server logged during the call: its last lines, oldest first.
    #[serde(default)]
    pub log: Vec<String>,
    /// There is no such call, or no longer.
    pub over: bool,
}

/// A page of MCP Apps (SEP-1865), as its server wrote it. It runs in a locked frame of the window and nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AppPage {
    /// Its HTML, unchanged.
    pub html: String,
    /// What it may reach, of what it declares.
    pub reach: PageReach,
    /// Of what it declares, what it may not reach: this computer, plain addresses, anything but the encrypted web.
    pub refused: Vec<String>,
    /// Does it want a border? `None` leaves it to the window.
    pub border: Option<bool>,
}

/// Which origins of the web a page may reach; nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReach {
    /// Those it may ask and send to.
    pub connect: Vec<String>,
    /// Those from which scripts, styles, fonts and pictures come.
    pub load: Vec<String>,
}
