//! Types for what a server offers besides tools: resources, templates and prompts. Texts are the server's own.

use serde::{Deserialize, Serialize};

/// The resources, templates and prompts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Offered {
    /// Resources, in the server's order; at most [`MOST`].
    pub resources: Vec<OfferedItem>,
    /// Resource templates, in the same order and limit.
    pub templates: Vec<OfferedItem>,
    /// Prompts, in the same order and limit.
    pub prompts: Vec<OfferedItem>,
    /// Number of further items beyond the limits.
    pub more: usize,
}

/// The largest number of items listed of each kind.
pub const MOST: usize = 1_000;

/// One resource, template or prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OfferedItem {
    /// Its URI, URI template or prompt name.
    pub id: String,
    /// Its title from the server.
    pub title: String,
    /// Its description from the server.
    pub description: String,
    /// Its MIME type, if the server declares one.
    pub mime_type: Option<String>,
    /// The arguments of a prompt.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt; always text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its description from the server.
    pub description: String,
    /// Is it required?
    pub required: bool,
}

/// Selects what to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OfferedThing {
    /// A resource, by URI.
    Resource(String),
    /// A prompt.
    Prompt {
        /// Its name.
        name: String,
        /// Its arguments, by name.
        #[serde(default)]
        arguments: std::collections::BTreeMap<String, String>,
    },
}
