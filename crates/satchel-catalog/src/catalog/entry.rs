//! The tools, resources and prompts of one server: raw as the server wrote them, with the fields we parsed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, OnceLock},
};

use satchel_mcp::{
    Raw, RawObject,
    era::Era,
    param_headers::{self, ParamHeader},
};
use serde::{Deserialize, Serialize};

use super::{
    SUBJECTS,
    arguments::Checker,
    search,
    shape::Shape,
    signature::{self, Signature},
    skills::{self, Skills},
    versions::{Version, Versions},
};
use crate::{
    model::{ServerName, nature::Nature},
    trust::nature,
};

/// Everything that one server offers.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// The fingerprint of the entry it was read with; another entry may offer something else.
    pub setup: String,
    /// The server's title or name, if known.
    pub title: Option<String>,
    /// Its `instructions`.
    pub instructions: Option<String>,
    /// Its self-description from the handshake; `None` if not stored.
    pub hello: Option<Said>,
    /// By method, the first page of each list without its items.
    pub frames: BTreeMap<String, Box<Raw>>,
    /// Its tools, in the server's order.
    pub tools: Vec<ToolEntry>,
    /// Its resources.
    pub resources: Vec<ResourceEntry>,
    /// Its resource templates.
    pub templates: Vec<ResourceEntry>,
    /// Its skills.
    pub skills: Skills,
    /// Its prompts, unparsed.
    pub prompts: Vec<Box<Raw>>,
    /// The lists that have been read; nothing is known about the others.
    pub lists: BTreeSet<String>,
    /// Its program ends when it is asked for a list that it did not declare.
    pub fragile: bool,
    /// The omitted parts, each with the reason.
    pub skipped: Vec<String>,
    /// Since when its tools are known, and when they changed.
    pub versions: Versions,
    /// Tokens of all tool definitions as one list; counted later.
    pub tokens: OnceLock<usize>,
}

/// A server's self-description, unchanged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Said {
    /// The negotiated revision.
    pub revision: String,
    /// Its `serverInfo`.
    pub server_info: Box<Raw>,
    /// Its `capabilities`.
    pub capabilities: Box<Raw>,
}

impl Said {
    /// The era of its revision. One that only a newer version of Satchel knows counts as stateless.
    pub fn era(&self) -> Era {
        Era::of(&self.revision).unwrap_or(Era::STATELESS)
    }
}

impl Offer {
    /// A tool by its own name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// A prompt by its name, as the server wrote it.
    pub fn prompt(&self, name: &str) -> Option<&Raw> {
        let is_it = |raw: &&Raw| {
            RawObject::parse(raw).is_ok_and(|fields| fields.text("name").as_deref() == Some(name))
        };
        self.prompts.iter().map(|raw| &**raw).find(is_it)
    }

    /// Does it declare skills? They may be many, one or none.
    pub fn has_skills(&self) -> bool {
        let declared = self.hello.as_ref().and_then(|said| RawObject::parse(&said.capabilities).ok());
        declared.is_some_and(|capabilities| skills::declared(&capabilities).is_some())
    }

    /// Why a tool of this name was left out, if it was.
    pub fn left_out(&self, name: &str) -> Option<&str> {
        let is_about = |reason: &str| {
            let said = match reason.split_once(" of the list: ") {
                Some((place, said)) if place.starts_with("tool ") => said,
                _ => reason,
            };
            said.contains(&format!("its name \"{name}\" "))
                || said
                    .strip_prefix(name)
                    .is_some_and(|rest| [": ", " (tool ", " and "].iter().any(|next| rest.starts_with(next)))
        };
        self.skipped.iter().map(String::as_str).find(|reason| is_about(reason))
    }

    /// The history of a tool, whether or not a rule renamed it.
    pub fn version(&self, tool: &ToolEntry) -> Option<&Version> {
        self.versions.get(tool.own_name.as_ref().unwrap_or(&tool.name))
    }

    /// Is it the same for every observer? Token counts do not matter.
    pub fn is_same(&self, other: &Self) -> bool {
        let tools =
            |offer: &Self| offer.tools.iter().map(|tool| tool.raw.get().to_owned()).collect::<Vec<_>>();
        let rest = |offer: &Self| {
            let resources = offer.resources.iter().chain(&offer.templates).map(|entry| &entry.raw);
            let raws = resources.chain(&offer.prompts).map(|raw| raw.get().to_owned()).collect::<Vec<_>>();
            let sizes = (offer.resources.len(), offer.templates.len());
            let said = offer.hello.as_ref().map(|said| {
                (said.revision.clone(), said.server_info.get().to_owned(), said.capabilities.get().to_owned())
            });
            let frames: Vec<_> =
                offer.frames.iter().map(|(method, frame)| (method.clone(), frame.get().to_owned())).collect();
            let words = (offer.setup.clone(), offer.title.clone(), offer.instructions.clone(), said, frames);
            (raws, sizes, words, offer.skipped.clone(), offer.fragile)
        };
        tools(self) == tools(other) && self.skills.is_same(&other.skills) && rest(self) == rest(other)
    }

    /// Takes over token counts, if the tools are the same.
    pub fn take_counts(&self, from: &Self) {
        let same = self.tools.len() == from.tools.len()
            && self.tools.iter().zip(&from.tools).all(|(tool, known)| tool.raw.get() == known.raw.get());
        if !same {
            return;
        }
        for (tool, known) in self.tools.iter().zip(&from.tools) {
            if let Some(tokens) = known.tokens.get() {
                let _ = tool.tokens.set(*tokens);
            }
        }
        if let Some(tokens) = from.tokens.get() {
            let _ = self.tokens.set(*tokens);
        }
    }

    /// The subjects of its tools, from their names, most frequent first.
    pub(super) fn subjects(&self, server: &ServerName) -> Vec<String> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for tool in self.tools.iter().filter(|tool| tool.for_models) {
            let Some((subject, key)) = search::subject(&tool.name, server.as_str()) else { continue };
            let place = *places.entry(key).or_insert_with(|| {
                counts.push((subject, 0));
                counts.len() - 1
            });
            counts[place].1 += 1;
        }
        // A stable sort: of equally frequent subjects, the one listed first.
        counts.sort_by(|(_, a), (_, b)| b.cmp(a));
        counts.into_iter().map(|(subject, _)| subject).take(SUBJECTS).collect()
    }

    /// The tool definitions as one JSON array, as the server would list them.
    pub fn definitions(&self) -> String {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.raw.get()).collect();
        format!("[{}]", tools.join(","))
    }
}

/// One tool.
#[derive(Debug, Clone)]
pub struct ToolEntry {
    /// Its name, as clients see it.
    pub name: String,
    /// Its name on its own server, if a rule renamed it.
    pub own_name: Option<String>,
    /// Its description.
    pub description: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// May models use it? Some tools are only for a server's own user interface (`_meta.ui.visibility`).
    pub for_models: bool,
    /// Whether its server's own pages may call it; some are for models only.
    pub for_pages: bool,
    /// Its definition, unchanged.
    pub raw: Box<Raw>,
    /// Tokens of its definition; counted later.
    pub tokens: OnceLock<usize>,
    signature: OnceLock<Signature>,
    nature: OnceLock<Nature>,
    number: OnceLock<u64>,
    pub(super) checker: OnceLock<Option<Arc<Checker>>>,
}

impl ToolEntry {
    /// Parses a definition that has passed [`super::validate`].
    pub fn new(name: String, fields: &RawObject, raw: Box<Raw>) -> Self {
        let annotations =
            fields.get("annotations").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
        Self {
            name,
            own_name: None,
            description: fields.text("description").unwrap_or_default(),
            title: fields.text("title").or_else(|| annotations.text("title")),
            for_models: is_for(fields, "model"),
            for_pages: is_for(fields, "app"),
            raw,
            tokens: OnceLock::new(),
            signature: OnceLock::new(),
            nature: OnceLock::new(),
            number: OnceLock::new(),
            checker: OnceLock::new(),
        }
    }

    /// The hash of its definition.
    pub(super) fn number(&self) -> u64 {
        // Needed in each call, and a definition may be long.
        *self.number.get_or_init(|| super::number(self.raw.get()))
    }

    /// Its nature, as declared by its server or derived from its text.
    pub fn nature(&self) -> &Nature {
        self.nature.get_or_init(|| nature::of(&self.raw))
    }

    /// Its name on its own server, which rules use.
    pub fn name_there(&self) -> &str {
        self.own_name.as_deref().unwrap_or(&self.name)
    }

    /// The compact call signature.
    pub fn signature(&self) -> &str {
        &self.whole_signature().line
    }

    /// May a correct call require the input schema, because the signature leaves something out?
    pub fn needs_schema(&self) -> bool {
        self.whole_signature().misleads
    }

    /// The signature without some optional parameters, of about `bytes` in total; required ones stay.
    pub fn shorter_signature(&self, bytes: usize) -> Signature {
        if self.signature().len() <= bytes {
            return self.whole_signature().clone();
        }
        signature::shorter(&self.name, &self.raw, bytes)
    }

    /// The same for a script: with the types of the result, if known. `seen` is the shape of earlier results.
    pub fn typed_signature(&self, bytes: usize, seen: Option<&Shape>) -> Signature {
        signature::typed(&self.name, &self.raw, bytes, seen)
    }

    /// Does it declare an output schema?
    pub fn says_output(&self) -> bool {
        // Very few tools do, so most need not be parsed.
        self.raw.get().contains("outputSchema")
            && RawObject::parse(&self.raw).is_ok_and(|fields| fields.get("outputSchema").is_some())
    }

    fn whole_signature(&self) -> &Signature {
        self.signature.get_or_init(|| signature::of(&self.name, &self.raw))
    }

    /// The input schema, unchanged.
    pub fn input_schema(&self) -> Option<Box<Raw>> {
        RawObject::parse(&self.raw).ok()?.remove("inputSchema")
    }

    /// The arguments to repeat in headers; none if the declaration is invalid.
    pub fn param_headers(&self) -> Vec<ParamHeader> {
        // Very few tools do, so most need not be parsed.
        let schema = self.raw.get().contains("x-mcp-header").then(|| self.input_schema()).flatten();
        let schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
        schema.and_then(|schema| param_headers::wanted(&schema).ok()).unwrap_or_default()
    }

    /// The fault in that declaration. Over HTTP such a tool may not be used
    /// (`2026-07-28/basic/transports/streamable-http.mdx#schema-extension`).
    pub fn header_fault(&self) -> Option<String> {
        let schema = self.raw.get().contains("x-mcp-header").then(|| self.input_schema()).flatten()?;
        param_headers::wanted(&serde_json::from_str(schema.get()).ok()?).err()
    }

    /// The first sentences of its description, at most `chars` characters, never cut inside a word.
    pub fn summary(&self, chars: usize) -> String {
        shorten(&self.description, chars)
    }
}

/// `docs/extensions/apps/overview.mdx`: models and pages may use a tool unless its visibility names only the other.
fn is_for(fields: &RawObject, whom: &str) -> bool {
    let inner = |object: &RawObject, key: &str| object.get(key).and_then(|raw| RawObject::parse(raw).ok());
    let ui = inner(fields, "_meta").and_then(|meta| inner(&meta, "ui"));
    let visibility = ui.and_then(|ui| ui.read::<Vec<String>>("visibility"));
    visibility.is_none_or(|visibility| visibility.is_empty() || visibility.iter().any(|who| who == whom))
}

/// A resource or template.
#[derive(Debug, Clone)]
pub struct ResourceEntry {
    /// Its URI or URI template.
    pub uri: String,
    /// Its definition, unchanged.
    pub raw: Box<Raw>,
}

/// The beginning of a text: whole sentences if they fit, otherwise whole words.
pub fn shorten(text: &str, chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let sentence = sentence_ends(&text).take_while(|at| *at <= end).last();
    // Do not stop after a very short first sentence.
    if let Some(at) = sentence.filter(|at| *at >= end / 3) {
        return text[..at].to_owned();
    }
    // One character is reserved for the ellipsis.
    let room = text.char_indices().nth(chars.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    // A blank right after the limit ends a word too.
    let next = text[room..].chars().next().map_or(room, |next| room + next.len_utf8());
    let words = text[..next].rfind(' ').unwrap_or(room);
    format!("{}…", text[..words].trim_end_matches([',', ';', ':', '-', '–', '(', ' ']))
}

/// The positions after the ends of sentences, in bytes.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(move |(at, mark)| {
        let end = at + mark.len_utf8();
        match mark {
            '。' | '！' | '？' => Some(end),
            '.' | '!' | '?' => {
                let rest = &text[end..];
                let next = rest.trim_start().chars().next();
                let begins = rest.is_empty()
                    || rest.starts_with(' ')
                        && next.is_none_or(|c| !c.is_lowercase() && !c.is_ascii_punctuation());
                (begins && !(mark == '.' && abbreviated(&text[..at]))).then_some(end)
            }
            _ => None,
        }
    })
}

/// Does the full stop after this text belong to an abbreviation: "e.g.", "U.S.", "approx.", "1."?
fn abbreviated(before: &str) -> bool {
    const SHORT_FORMS: [&str; 14] =
        ["approx", "ca", "cf", "dr", "etc", "fig", "incl", "max", "min", "mr", "mrs", "no", "st", "vs"];
    let word = before.rsplit([' ', '(', '"', '/']).next().unwrap_or_default();
    let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
    let number = !word.is_empty() && letters <= 2 && word.chars().all(|c| c.is_ascii_digit());
    // "e.g", "U.S", and initials.
    let initials = letters > 0
        && word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic));
    number || initials || SHORT_FORMS.contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{Offer, shorten};

    #[test]
    fn the_reason_why_a_tool_was_left_out_is_found_by_its_name() {
        let skipped = [
            "tool 2 of the list: bad: it has no inputSchema",
            "tool 3 of the list: its name \"we ird\" has characters other than letters, digits, _, - and .",
            "a/b (tool 4 of the list): another tool has this name",
            "head: its header is not usable",
            "huge and everything after it: at most 32 MiB are kept",
        ];
        let offer = Offer { skipped: skipped.map(ToOwned::to_owned).into(), ..Offer::default() };
        for (name, at) in [("bad", 0), ("we ird", 1), ("a/b", 2), ("head", 3), ("huge", 4)] {
            assert_eq!(offer.left_out(name), Some(skipped[at]), "{name}");
        }
        for name in ["ba", "it has no inputSchema", "tool", "tool 2 of the list", "a", "its name", ""] {
            assert_eq!(offer.left_out(name), None, "{name}");
        }
    }

    #[test]
    fn a_text_is_cut_at_a_sentence_or_between_words() {
        for (text, chars, expected) in [
            ("Short.", 40, "Short."),
            ("One sentence here. Another one that is long.", 30, "One sentence here."),
            ("A long text without any end of a sentence at all", 20, "A long text without…"),
            ("Version 1.2 of the thing does much more than before", 30, "Version 1.2 of the thing does…"),
            ("two\n  lines", 40, "two lines"),
            (
                "Reads files, e.g. Markdown ones. Then more of the same is said",
                40,
                "Reads files, e.g. Markdown ones.",
            ),
            ("Lists U.S. cities by name and size, with everything", 30, "Lists U.S. cities by name and…"),
            (
                "Use fields (id, name, etc. and others) to sort the list",
                40,
                "Use fields (id, name, etc. and others)…",
            ),
            ("Go. Do not stop at two letters where more fits in", 30, "Go. Do not stop at two…"),
            ("天气查询。返回城市的天气预报和空气质量", 8, "天气查询。"),
            ("Unbrokenandverylongwordwithoutblanks", 10, "Unbrokena…"),
            ("One word “and more of them”", 10, "One word…"),
            ("", 0, ""),
        ] {
            assert_eq!(shorten(text, chars), expected);
        }
    }

    #[test]
    fn a_text_of_any_script_is_cut_anywhere() {
        let text = "Größe – ein “Wort” 天气查询 💥💥 e\u{301}  İstanbul ﬀ… Ende.";
        for chars in 0..60 {
            let short = shorten(text, chars);
            assert!(short.chars().count() <= chars.max(1), "{chars}: {short}");
        }
    }
}
