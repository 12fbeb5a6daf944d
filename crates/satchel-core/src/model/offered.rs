//! Types for what a server offers besides tools: resources, templates and prompts. Texts are the server's own.

use serde::{Deserialize, Serialize};

/// The resources, templates and prompts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Offered {
    /// Resources, in the server's order; at most [`MOST`].
    pub resources: Vec<OfferedItem>,
    /// Templates of resources, likewise.
    pub templates: Vec<OfferedItem>,
    /// Prompts, likewise.
    pub prompts: Vec<OfferedItem>,
    /// So many more there are of all three.
    pub more: usize,
}

/// The most items of a list that are shown.
pub const MOST: usize = 1_000;

/// One resource, template or prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OfferedItem {
    /// What it is asked for by: an address, a template of addresses, or a prompt's name.
    pub id: String,
    /// What the server calls it.
    pub title: String,
    /// What the server says about it.
    pub description: String,
    /// The type of its content, where the server says it.
    pub mime_type: Option<String>,
    /// What a prompt is given.
    pub arguments: Vec<PromptArgument>,
}

/// Something that a prompt is given: a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What the server says about it.
    pub description: String,
    /// Does the prompt need it?
    pub required: bool,
}

/// What is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OfferedThing {
    /// A resource, by its address.
    Resource(String),
    /// A prompt.
    Prompt {
        /// Its name.
        name: String,
        /// What it is given: texts by the names of its arguments.
        #[serde(default)]
        arguments: std::collections::BTreeMap<String, String>,
    },
}
