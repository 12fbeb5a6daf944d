//! Describes an amount: the texts whose tokens it adds and subtracts, the column it belongs to, and the tools that
//! share it.

use std::sync::Arc;

use super::size;
use crate::{
    definitions::{Definitions, Hash, hash},
    model::ToolPath,
};

/// A column of `sessions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Base,
    Loaded,
    Definitions,
    Find,
    Describe,
    Wrapping,
}

impl Part {
    pub(crate) fn column(self) -> &'static str {
        match self {
            Part::Base => "base",
            Part::Loaded => "loaded",
            Part::Definitions => "definitions",
            Part::Find => "find",
            Part::Describe => "describe",
            Part::Wrapping => "wrapping",
        }
    }
}

/// A text whose token count is needed. Created only if it is unknown.
#[derive(Debug)]
pub(super) enum Text {
    Here(Arc<str>),
    List(Arc<Definitions>),
    /// Requested before: counted or waiting.
    Before,
}

impl Text {
    pub(super) fn get(self) -> Option<Arc<str>> {
        match self {
            Text::Here(text) => Some(text),
            Text::List(definitions) => Some(definitions.compact()),
            Text::Before => None,
        }
    }
}

/// The tokens of some texts minus those of others, and the tools they are attributed to.
#[derive(Debug, Default)]
pub(super) struct Amount {
    pub(super) plus: Vec<(Hash, Text)>,
    pub(super) minus: Vec<(Hash, Text)>,
    pub(super) shares: Vec<Share>,
}

impl Amount {
    pub(super) fn hashed(plus: impl IntoIterator<Item = (Hash, Arc<str>)>) -> Self {
        let plus = plus.into_iter().map(|(hash, text)| (hash, Text::Here(text))).collect();
        Self { plus, ..Self::default() }
    }

    pub(super) fn of(plus: impl IntoIterator<Item = Arc<str>>) -> Self {
        let plus = plus.into_iter().map(|text| (hash(&text), Text::Here(text))).collect();
        Self { plus, ..Self::default() }
    }

    pub(super) fn of_list(definitions: Arc<Definitions>) -> Self {
        Self { plus: vec![(definitions.hash(), Text::List(definitions))], ..Self::default() }
    }

    pub(super) fn less(self, minus: impl IntoIterator<Item = (Hash, Arc<str>)>) -> Self {
        Self { minus: minus.into_iter().map(|(hash, text)| (hash, Text::Here(text))).collect(), ..self }
    }

    /// Minus what was requested before.
    pub(super) fn less_than_before(self, before: Option<Hash>) -> Self {
        Self { minus: before.into_iter().map(|hash| (hash, Text::Before)).collect(), ..self }
    }

    pub(super) fn on(self, shares: Vec<Share>) -> Self {
        Self { shares, ..self }
    }
}

/// A tool's share of a cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) weight: usize,
}

/// Divides a value by weights into whole numbers with the same sum.
pub(super) fn divided(value: i64, shares: &[Share]) -> Vec<i64> {
    let weights: i64 = shares.iter().map(|share| size(share.weight)).sum();
    let (mut given, mut passed) = (0, 0);
    let mut parts = Vec::with_capacity(shares.len());
    for share in shares {
        passed += size(share.weight);
        let upto = if weights == 0 { 0 } else { value * passed / weights };
        parts.push(upto - given);
        given = upto;
    }
    parts
}

/// The tools in an answer to a search, and the size of each.
pub(super) fn shares_in(answer: &str) -> Vec<Share> {
    #[derive(serde::Deserialize)]
    struct Block {
        #[serde(default)]
        text: String,
    }
    #[derive(serde::Deserialize)]
    struct Found {
        #[serde(default)]
        tools: Vec<Box<serde_json::value::RawValue>>,
    }
    #[derive(serde::Deserialize)]
    struct Tool {
        tool_path: ToolPathText,
    }
    type ToolPathText = String;
    let blocks: Vec<Block> = serde_json::from_str(answer).unwrap_or_default();
    let found = blocks.iter().filter_map(|block| serde_json::from_str::<Found>(&block.text).ok());
    found
        .flat_map(|found| found.tools)
        .filter_map(|raw| {
            let tool: Tool = serde_json::from_str(raw.get()).ok()?;
            let path: ToolPath = tool.tool_path.parse().ok()?;
            Some(Share { server: path.server.to_string(), tool: path.tool, weight: raw.get().len() })
        })
        .collect()
}
