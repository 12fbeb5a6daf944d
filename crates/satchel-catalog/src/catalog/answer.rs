//! Formats search results within a token budget: the first tools in full, later ones in short.

use satchel_mcp::{Raw, RawObject};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Aids, Catalog, ToolEntry, search, shape::Shape, tokens};
use crate::model::{ServerName, ToolPath};

/// The level of detail for the first tools and for later ones.
const STEPS: [DetailLevel; 4] = [
    DetailLevel { tools: 1, description: 130, signature: 320 },
    DetailLevel { tools: 3, description: 66, signature: 105 },
    DetailLevel { tools: 6, description: 40, signature: 56 },
    DetailLevel { tools: usize::MAX, description: 0, signature: 56 },
];
/// Maximum size of a schema, in tokens, that is included for the first tools because a signature cannot replace it.
const SCHEMA: usize = 800;
const SCHEMAS: usize = 3;
/// Estimated token budget of an answer; much higher if schemas are requested.
const BUDGET: usize = 1_000;
const FULL_BUDGET: usize = 8_000;
/// The cost of a tool that is only named.
const NAMED: usize = 20;
/// Number of related tools that are named if few are shown.
const RELATED: usize = 4;
const FEW: usize = 5;

/// What to do with prompts: clients show them to people, for example as slash commands.
const PROMPTS: &str = "The user starts prompts, by their names.";
/// What to do with skills.
const SKILLS: &str = "Read a skill that fits with read_mcp_resource before you begin.";

/// For the tools up to a position: length of the description in characters, and of the signature in bytes. Required
/// parameters are always in the signature.
struct DetailLevel {
    tools: usize,
    description: usize,
    signature: usize,
}

/// A search.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The task; empty lists all tools.
    pub query: &'a str,
    /// Only tools of this server.
    pub server: Option<&'a str>,
    /// Maximum number.
    pub limit: usize,
    /// Include complete definitions.
    pub full: bool,
    /// For a script that uses the results: include their types.
    pub types: bool,
    /// Further evidence for ranking.
    pub aids: Aids<'a>,
}

/// Search results in the form for models.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The tools, best first.
    pub tools: Vec<Value>,
    /// Number of further matches.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Paths of tools related to the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    /// Matching prompts, which people start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Value>,
    /// Matching skills, which can be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Value>,
    /// How to search better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Catalog {
    /// Answers a search.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let found = self.find_with(asked.query, asked.server, &asked.aids);
        let mut tools: Vec<Value> = Vec::new();
        let budget = if asked.full { FULL_BUDGET } else { BUDGET };
        let (mut spent, mut cut) = (0, false);
        let wanted = found.len().min(asked.limit);
        for (number, (server, tool)) in found.iter().take(wanted).enumerate() {
            // Later tools are at least named, so that a long first one does not hide them.
            let room = budget.saturating_sub(spent + NAMED * (wanted - number - 1));
            let types = Types::of(asked, server, tool);
            let versions = [
                if asked.full { full(server, tool, types) } else { brief(server, tool, number, types) },
                brief(server, tool, usize::MAX, types),
                named(server, tool),
            ];
            let fits = |entry: &Value| tokens::estimate(&entry.to_string()) <= room || number == 0;
            let told = versions.iter().position(fits).unwrap_or(versions.len() - 1);
            cut |= told > 0 && asked.full;
            let [first, second, third] = versions;
            let entry = [first, second, third].into_iter().nth(told).unwrap_or_default();
            spent += tokens::estimate(&entry.to_string());
            tools.push(entry);
        }
        let hint = cut
            .then(|| "The last ones are abbreviated; search for them alone to get their schemas.".to_owned());
        let related = if asked.full || asked.limit > FEW { vec![] } else { self.related(&found, wanted) };
        let hint = hint.or_else(|| self.index().misspelt(asked.query).map(read_as));
        let prompts = self.prompts_for(asked);
        let skills = if asked.types { vec![] } else { self.skills_for(asked) };
        let told = [(!prompts.is_empty()).then_some(PROMPTS), (!skills.is_empty()).then_some(SKILLS)];
        let hints: Vec<&str> = hint.iter().map(String::as_str).chain(told.into_iter().flatten()).collect();
        let hint = (!hints.is_empty()).then(|| hints.join(" "));
        Answer { tools, more: found.len() - wanted, related, prompts, skills, hint }
    }

    /// Tools of the best match's server that deal with the same subject and are not shown.
    fn related(&self, found: &[(&ServerName, &ToolEntry)], shown: usize) -> Vec<String> {
        let Some((server, best)) = found.first() else { return vec![] };
        let Some(offer) = self.offer(server.as_str()) else { return vec![] };
        let things = search::things(&best.name, server.as_str());
        let is_shown = |tool: &ToolEntry| {
            found[..shown].iter().any(|(at, known)| at == server && known.name == tool.name)
        };
        let same = |tool: &&ToolEntry| {
            let others = search::things(&tool.name, server.as_str());
            !things.is_empty() && things.iter().all(|thing| others.contains(thing))
        };
        let tools = offer.tools.iter().filter(|tool| tool.for_models).filter(same);
        let path = |tool: &ToolEntry| format!("{}:{}", server.in_path(), tool.name);
        tools.filter(|tool| !is_shown(tool)).take(RELATED).map(path).collect()
    }
}

fn read_as((wrong, right): (String, String)) -> String {
    format!("\"{wrong}\" was read as \"{right}\".")
}

/// The types of a tool's results.
#[derive(Clone, Copy)]
enum Types<'a> {
    /// None, or field names.
    Unwanted,
    /// Types; if the server declares none, those of earlier results.
    Wanted(Option<&'a Shape>),
}

impl<'a> Types<'a> {
    fn of(asked: &Asked<'a>, server: &ServerName, tool: &ToolEntry) -> Self {
        if !asked.types {
            return Self::Unwanted;
        }
        let path = ToolPath { server: server.clone(), tool: tool.name.clone() };
        Self::Wanted(asked.aids.shapes.and_then(|shapes| shapes.of(&path, tool)))
    }
}

/// Path, signature and a short description.
fn brief(server: &ServerName, tool: &ToolEntry, number: usize, types: Types<'_>) -> Value {
    let step = STEPS.iter().find(|step| number < step.tools).unwrap_or(&STEPS[STEPS.len() - 1]);
    let mut entry = identified(server, tool);
    let signature = match types {
        Types::Wanted(seen) => tool.typed_signature(step.signature, seen),
        Types::Unwanted => tool.shorter_signature(step.signature),
    };
    entry.insert("signature".into(), json!(signature.line));
    let description = tool.summary(step.description);
    if step.description > 0 && !description.is_empty() {
        entry.insert("description".into(), json!(description));
    }
    if number < SCHEMAS
        && tool.needs_schema()
        && let Some(schema) = tool.input_schema()
        && tokens::estimate(schema.get()) <= SCHEMA
    {
        entry.insert("inputSchema".into(), value(&schema));
    }
    Value::Object(entry)
}

fn named(server: &ServerName, tool: &ToolEntry) -> Value {
    Value::Object(identified(server, tool))
}

/// Everything that a caller can use.
fn full(server: &ServerName, tool: &ToolEntry, types: Types<'_>) -> Value {
    let mut entry = identified(server, tool);
    let signature = match types {
        Types::Wanted(seen @ Some(_)) => tool.typed_signature(usize::MAX, seen).line,
        Types::Wanted(None) | Types::Unwanted => tool.signature().to_owned(),
    };
    entry.insert("signature".into(), json!(signature));
    if !tool.description.is_empty() {
        entry.insert("description".into(), json!(tool.description));
    }
    let raw = qualified(server, &tool.raw, "");
    let definition = RawObject::parse(&raw).unwrap_or_default();
    for key in ["inputSchema", "outputSchema", "annotations", "_meta"] {
        if let Some(raw) = definition.get(key) {
            entry.insert(key.into(), value(raw));
        }
    }
    Value::Object(entry)
}

fn identified(server: &ServerName, tool: &ToolEntry) -> Map<String, Value> {
    Map::from_iter([("tool".to_owned(), json!(format!("{}:{}", server.in_path(), tool.name)))])
}

fn value(raw: &Raw) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// A definition whose URI under `key`, and that of its user interface (`_meta.ui.resourceUri`), are written as
/// `server|uri`. Everything else is unchanged.
pub fn qualified(server: &ServerName, raw: &Raw, key: &str) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(raw) else { return raw.to_owned() };
    let path = |uri: String| format!("{}|{uri}", server.in_path());
    if let Some(uri) = fields.text(key) {
        put(&mut fields, key, &path(uri));
    }
    if let Some(mut meta) = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()) {
        if let Some(mut ui) = meta.get("ui").and_then(|ui| RawObject::parse(ui).ok())
            && let Some(uri) = ui.text("resourceUri")
        {
            put(&mut ui, "resourceUri", &path(uri));
            meta.set("ui", ui.to_raw());
        }
        // The key in earlier versions of the extension.
        if let Some(uri) = meta.text("ui/resourceUri") {
            put(&mut meta, "ui/resourceUri", &path(uri));
        }
        fields.set("_meta", meta.to_raw());
    }
    fields.to_raw()
}

fn put(object: &mut RawObject, key: &str, text: &str) {
    // Strings always serialize.
    object.put(key, &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(tools: &[(&str, &str, Value)]) -> Catalog {
        let raw = |(name, description, schema): &(&str, &str, Value)| {
            let definition = json!({ "name": name, "description": description, "inputSchema": schema });
            Raw::from_string(definition.to_string()).unwrap()
        };
        let (tools, skipped) = super::super::validate::tools(tools.iter().map(raw).collect());
        assert!(skipped.is_empty(), "{skipped:?}");
        let offer = super::super::Offer { tools, ..Default::default() };
        Catalog::new([("tracker".parse().unwrap(), std::sync::Arc::new(offer))].into())
    }

    fn ask(query: &str, limit: usize, full: bool) -> Asked<'_> {
        Asked { query, server: None, limit, full, types: false, aids: Aids::default() }
    }

    #[test]
    fn the_first_tools_are_told_at_length_and_the_last_in_short() {
        let schema =
            json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] });
        let names: Vec<String> = (0..12).map(|at| format!("issue_tool_{at}")).collect();
        let long = "Does something with an issue. ".repeat(20);
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), long.as_str(), schema.clone())).collect();
        let answer = catalog(&tools).answer(&ask("issue", 10, false));
        assert_eq!((answer.tools.len(), answer.more), (10, 2));
        let lengths: Vec<usize> = answer.tools.iter().map(|tool| tool.to_string().len()).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b) && lengths[0] > lengths[9] + 50, "{lengths:?}");
        assert!(
            answer
                .tools
                .iter()
                .all(|tool| tool["signature"].as_str().is_some_and(|line| line.ends_with("(id: string)")))
        );
    }

    #[test]
    fn a_schema_comes_along_where_the_signature_misleads() {
        let either = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
            "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] });
        let plain = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        let catalog = catalog(&[
            ("close_issue", "Close an issue.", either.clone()),
            ("open_page", "Open a page.", plain),
        ]);
        let tools = catalog.answer(&ask("close issue", 10, false)).tools;
        assert_eq!((&tools[0]["tool"], &tools[0]["inputSchema"]), (&json!("tracker:close_issue"), &either));
        let tools = catalog.answer(&ask("open a page", 10, false)).tools;
        assert!(
            tools[0]["tool"] == "tracker:open_page" && tools[0].get("inputSchema").is_none(),
            "{tools:?}"
        );
    }

    #[test]
    fn no_answer_outgrows_its_budget_and_the_last_tools_are_still_named() {
        let properties: Map<String, Value> =
            (0..400).map(|at| (format!("field_number_{at}"), json!({ "type": "string" }))).collect();
        let required: Vec<&String> = properties.keys().collect();
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let names: Vec<String> = (0..50).map(|at| format!("huge_issue_{at}")).collect();
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), "Huge.", schema.clone())).collect();
        let catalog = catalog(&tools);
        for full in [false, true] {
            let answer = catalog.answer(&ask("huge issue", 50, full));
            assert_eq!(answer.tools.len(), 50);
            let first = tokens::estimate(&answer.tools[0].to_string());
            let all = tokens::estimate(&serde_json::to_string(&answer).unwrap());
            assert!(
                all <= first + FULL_BUDGET.min(if full { FULL_BUDGET } else { BUDGET * 2 }),
                "{all}, {first}"
            );
        }
    }

    #[test]
    fn the_answer_names_corrected_words_and_related_tools() {
        let schema = json!({ "type": "object" });
        let tools = ["create_comment", "delete_comment", "update_comment", "list_boards"];
        let tools: Vec<_> = tools.iter().map(|name| (*name, "", schema.clone())).collect();
        let answer = catalog(&tools).answer(&ask("craete coment", 1, false));
        assert_eq!(answer.tools[0]["tool"], "tracker:create_comment");
        assert_eq!(answer.related, ["tracker:delete_comment", "tracker:update_comment"]);
        assert!(answer.hint.is_some_and(|hint| hint.contains("was read as")));
    }

    #[test]
    fn addresses_of_resources_are_qualified_and_nothing_else_changes() {
        let server: ServerName = "s".parse().unwrap();
        let raw = Raw::from_string(
            r#"{"uri":"x://1","z":1.0,"_meta":{"k":1,"ui":{"resourceUri":"ui://a","csp":{}},"ui/resourceUri":"ui://a"}}"#.into(),
        )
        .unwrap();
        assert_eq!(
            qualified(&server, &raw, "uri").get(),
            r#"{"uri":"s|x://1","z":1.0,"_meta":{"k":1,"ui":{"resourceUri":"s|ui://a","csp":{}},"ui/resourceUri":"s|ui://a"}}"#
        );
    }
}
