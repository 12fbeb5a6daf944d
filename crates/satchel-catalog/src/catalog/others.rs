//! Finds what servers offer besides tools by what it is for, with the words that find tools. Tools are ranked apart from
//! it, so that a server with many prompts moves no tool down.

use std::{collections::BTreeMap, sync::Arc};

use satchel_mcp::{Raw, RawObject};
use serde_json::{Map, Value, json};

use super::{Aids, Catalog, Offer, SkillEntry, ToolEntry, answer::Asked};
use crate::model::{ResourcePath, ServerName, ToolPath};

/// The share of a request's words that have to match: of other offers, only those are shown that were meant.
const MATCHES: f32 = 0.5;
/// Maximum number of each kind in an answer to words.
const MOST: usize = 3;
/// Length of a description, in characters.
const DESCRIPTION: usize = 130;
/// Bytes of a text for each token, roughly.
const BYTES: u64 = 4;

/// What is searched besides tools, as if each were a tool.
#[derive(Debug, Default)]
pub(super) struct Others {
    prompts: Catalog,
    skills: Catalog,
}

impl Others {
    pub(super) fn of(servers: &BTreeMap<ServerName, Arc<Offer>>) -> Self {
        let prompts = |offer: &Offer| offer.prompts.iter().filter_map(|raw| prompt(raw)).collect();
        let skills = |offer: &Offer| {
            let listed = offer.skills.entries.iter().filter(|skill| skill.listed);
            listed.filter_map(skill).collect()
        };
        Self { prompts: searched(servers, prompts), skills: searched(servers, skills) }
    }
}

/// A catalog in which these entries are the tools.
fn searched(
    servers: &BTreeMap<ServerName, Arc<Offer>>,
    entries: impl Fn(&Offer) -> Vec<ToolEntry>,
) -> Catalog {
    let of = |(server, offer): (&ServerName, &Arc<Offer>)| {
        let tools = entries(offer);
        let (title, instructions) = (offer.title.clone(), offer.instructions.clone());
        let offer = Offer { title, instructions, tools, ..Offer::default() };
        (!offer.tools.is_empty()).then(|| (server.clone(), Arc::new(offer)))
    };
    Catalog::new(servers.iter().filter_map(of).collect())
}

/// A prompt whose arguments are searched like the parameters of a tool.
fn prompt(raw: &Raw) -> Option<ToolEntry> {
    let fields = RawObject::parse(raw).ok()?;
    let described = |(name, required): &(String, bool)| {
        (name.clone(), json!({ "description": "", "required": required }))
    };
    let properties: Map<String, Value> = arguments(&fields).iter().map(described).collect();
    let schema = json!({ "inputSchema": { "type": "object", "properties": properties } });
    Some(ToolEntry::new(fields.text("name")?, &fields, serde_json::value::to_raw_value(&schema).ok()?))
}

/// A skill, whose own name is its address.
fn skill(skill: &SkillEntry) -> Option<ToolEntry> {
    let described = json!({ "description": skill.description });
    let raw = serde_json::value::to_raw_value(&described).ok()?;
    let mut entry = ToolEntry::new(skill.name.clone(), &RawObject::parse(&raw).ok()?, raw);
    entry.own_name = Some(skill.uri.clone());
    Some(entry)
}

/// The names of a prompt's arguments, and whether each is required.
fn arguments(prompt: &RawObject) -> Vec<(String, bool)> {
    let listed: Vec<Box<Raw>> = prompt.read("arguments").unwrap_or_default();
    let read = |raw: &Raw| {
        let fields = RawObject::parse(raw).ok()?;
        Some((fields.text("name")?, fields.read("required") == Some(true)))
    };
    listed.iter().filter_map(|raw| read(raw)).collect()
}

impl Catalog {
    fn others(&self) -> &Others {
        self.0.others.get_or_init(|| Others::of(&self.0.servers))
    }

    /// The prompts that a search means, under the names that clients list them by. People start them, not models.
    pub(super) fn prompts_for(&self, asked: &Asked<'_>) -> Vec<Value> {
        let shown = |(server, entry): (&ServerName, &ToolEntry)| {
            let path = ToolPath { server: server.clone(), tool: entry.name.clone() };
            let raw = self.offer(server.as_str())?.prompt(&entry.name)?;
            let mut shown = Map::from_iter([("prompt".to_owned(), json!(self.flat().prompt_name(&path)?))]);
            let described = entry.summary(DESCRIPTION);
            if !described.is_empty() {
                shown.insert("description".to_owned(), json!(described));
            }
            let names: Vec<String> = arguments(&RawObject::parse(raw).ok()?)
                .into_iter()
                .map(|(name, required)| if required { name } else { format!("{name}?") })
                .collect();
            if !names.is_empty() {
                shown.insert("arguments".to_owned(), json!(names));
            }
            Some(Value::Object(shown))
        };
        self.others().prompts.meant_by(asked).into_iter().filter_map(shown).collect()
    }

    /// The skills that a search means, under the addresses that `read_mcp_resource` takes.
    pub(super) fn skills_for(&self, asked: &Asked<'_>) -> Vec<Value> {
        let shown = |(server, entry): (&ServerName, &ToolEntry)| {
            let skill = self.offer(server.as_str())?.skills.get(entry.name_there())?;
            let uri = ResourcePath { server: server.clone(), uri: skill.uri.clone() }.to_string();
            let mut shown =
                json!({ "skill": skill.name, "uri": uri, "description": entry.summary(DESCRIPTION) });
            if let Some(main) = skill.file(&skill.uri) {
                shown["tokens"] = json!(main.size / BYTES);
            }
            Some(shown)
        };
        self.others().skills.meant_by(asked).into_iter().filter_map(shown).collect()
    }

    /// The entries that a search means: those with most of its words, or all if it has none.
    fn meant_by(&self, asked: &Asked<'_>) -> Vec<(&ServerName, &ToolEntry)> {
        let found = self.find_with(asked.query, asked.server, &Aids::default());
        if asked.query.trim().is_empty() {
            return found.into_iter().take(asked.limit).collect();
        }
        let matches = |(server, entry): &(&ServerName, &ToolEntry)| {
            let path = ToolPath { server: (*server).clone(), tool: entry.name.clone() };
            self.position(&path).is_some_and(|at| self.index().coverage(asked.query, at) >= MATCHES)
        };
        found.into_iter().filter(matches).take(asked.limit.min(MOST)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Skills;

    fn catalog() -> Catalog {
        let raw = |value: Value| Raw::from_string(value.to_string()).unwrap();
        let tool = json!({ "name": "list_pull_requests", "description": "List pull requests.",
            "inputSchema": { "type": "object" } });
        let main = json!({ "uri": "skill://merging/SKILL.md", "digest": format!("sha256:{}", "0".repeat(64)), "size": 400 });
        let merging = json!({ "uri": "skill://merging/SKILL.md", "resources": [main],
            "frontmatter": { "name": "merging", "description": "How to merge a release branch." } });
        let offer = Offer {
            tools: super::super::validate::tools(vec![raw(tool)]).0,
            prompts: vec![
                raw(json!({ "name": "review pr", "description": "Review a pull request step by step.",
                    "arguments": [{ "name": "number", "required": true }, { "name": "tone" }] })),
                raw(json!({ "name": "standup", "description": "Write the daily stand-up." })),
            ],
            skills: Skills {
                entries: vec![SkillEntry::parse(&raw(merging), true).unwrap()],
                ..Skills::default()
            },
            ..Offer::default()
        };
        Catalog::new([("forge".parse().unwrap(), Arc::new(offer))].into())
    }

    fn ask<'a>(query: &'a str, server: Option<&'a str>) -> Asked<'a> {
        Asked { query, server, limit: 10, full: false, types: false, aids: Aids::default() }
    }

    #[test]
    fn a_search_finds_prompts_beside_tools_and_says_what_they_are() {
        let answer = catalog().answer(&ask("review a pull request", None));
        assert_eq!(answer.tools[0]["tool"], "forge:list_pull_requests");
        let review = json!({ "prompt": "forge-review_pr", "description": "Review a pull request step by step.",
            "arguments": ["number", "tone?"] });
        assert_eq!(answer.prompts, [review]);
        assert!(answer.hint.is_some_and(|hint| hint.contains("user")));
    }

    #[test]
    fn a_search_finds_skills_and_says_how_to_read_them() {
        let answer = catalog().answer(&ask("merge the release branch", None));
        let merging = json!({ "skill": "merging", "uri": "forge|skill://merging/SKILL.md",
            "description": "How to merge a release branch.", "tokens": 100 });
        assert_eq!(answer.skills, [merging]);
        assert!(answer.hint.is_some_and(|hint| hint.contains("read_mcp_resource")));
        let for_scripts = Asked { types: true, ..ask("merge the release branch", None) };
        assert!(catalog().answer(&for_scripts).skills.is_empty(), "a script cannot read one");
    }

    #[test]
    fn a_prompt_that_shares_a_word_only_is_not_shown_and_an_empty_search_lists_all() {
        let catalog = catalog();
        let found = |asked: Asked<'_>| -> Vec<Value> {
            catalog.answer(&asked).prompts.into_iter().map(|prompt| prompt["prompt"].clone()).collect()
        };
        assert_eq!(found(ask("write the invoice for our largest customer", None)), [Value::Null; 0]);
        assert_eq!(found(ask("", Some("forge"))), ["forge-review_pr", "forge-standup"]);
        assert_eq!(found(ask("", Some("other"))), [Value::Null; 0]);
    }
}
