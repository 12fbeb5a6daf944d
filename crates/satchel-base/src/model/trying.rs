//! Types for trying a tool in the window: the tool, and the progress and result of a call.

use serde::{Deserialize, Serialize};

use super::control::ToolLine;

/// The client name for calls that a person makes in the window. Rules, approvals and records use it. It is not a valid
/// client id, so no token can be issued for it.
pub const WINDOW: &str = "Satchel window";

/// All details of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolDetails {
    /// The tool, as in a list.
    pub line: ToolLine,
    /// Its definition as models read it: JSON text that preserves the server's digits and key order.
    pub definition: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Tried {
    /// The tool's result, as JSON text.
    pub result: String,
    /// Duration in milliseconds, including the server's start and people's answers.
    pub took_ms: u64,
}

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TriedScript {
    /// Its result as a client receives it, as JSON text.
    pub result: String,
    /// Duration in milliseconds, including starts of servers and people's answers.
    pub took_ms: u64,
    /// The calls it made, in order.
    pub calls: Vec<ScriptCall>,
}

/// A call of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScriptCall {
    /// The tool, as the script named it.
    pub path: String,
    /// Duration in milliseconds; `None` if the script ended first.
    pub took_ms: Option<f64>,
    /// Did it fail?
    pub failed: bool,
}

/// The progress of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TryProgress {
    /// Increases with every change.
    pub seen: u64,
    /// The progress, in the server's own units.
    pub progress: Option<f64>,
    /// The total, if the server knows it.
    pub total: Option<f64>,
    /// The server's progress message.
    pub message: Option<String>,
    /// The last log messages that the server sent during the call, oldest first.
    #[serde(default)]
    pub log: Vec<String>,
    /// The run is over or unknown.
    pub over: bool,
}

/// A page of MCP Apps (SEP-1865), as its server wrote it. It runs in a locked frame of the window and nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PageReach {
    /// Those it may ask and send to.
    pub connect: Vec<String>,
    /// Those from which scripts, styles, fonts and pictures come.
    pub load: Vec<String>,
}
