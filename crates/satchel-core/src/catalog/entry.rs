//! What one server offers: its tools, resources and prompts, raw as it wrote them, with what we read out of them.

use std::sync::OnceLock;

use satchel_mcp::{Raw, RawObject};

use super::signature;

/// Everything one server offers.
#[derive(Debug, Default)]
pub struct Offer {
    /// Which setup of the server this was read from; another setup may offer something else.
    pub setup: String,
    /// The server's own title or name, where it told one.
    pub title: Option<String>,
    /// Its `instructions`.
    pub instructions: Option<String>,
    /// Its tools, in its order.
    pub tools: Vec<ToolEntry>,
    /// Its resources.
    pub resources: Vec<ResourceEntry>,
    /// Its resource templates.
    pub templates: Vec<ResourceEntry>,
    /// Its prompts, unread.
    pub prompts: Vec<Box<Raw>>,
    /// What was left out, each with a reason a person can read.
    pub skipped: Vec<String>,
    /// Tokens of all tool definitions as one list, counted later.
    pub tokens: OnceLock<usize>,
}

impl Offer {
    /// A tool by its own name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The tool definitions as the server would list them: one JSON array.
    pub fn definitions(&self) -> String {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.raw.get()).collect();
        format!("[{}]", tools.join(","))
    }
}

/// One tool.
#[derive(Debug)]
pub struct ToolEntry {
    /// Its name on its own server.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Its definition as the server wrote it.
    pub raw: Box<Raw>,
    /// Tokens of its definition, counted later.
    pub tokens: OnceLock<usize>,
    signature: OnceLock<String>,
}

impl ToolEntry {
    /// Reads a definition that has passed [`super::validate`].
    pub fn new(name: String, fields: &RawObject, raw: Box<Raw>) -> Self {
        let annotations =
            fields.get("annotations").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
        Self {
            name,
            description: fields.text("description").unwrap_or_default(),
            title: fields.text("title").or_else(|| annotations.text("title")),
            raw,
            tokens: OnceLock::new(),
            signature: OnceLock::new(),
        }
    }

    /// The compact call signature.
    pub fn signature(&self) -> &str {
        self.signature.get_or_init(|| signature::of(&self.name, &self.raw))
    }

    /// The input schema as the server wrote it.
    pub fn input_schema(&self) -> Option<Box<Raw>> {
        RawObject::parse(&self.raw).ok()?.remove("inputSchema")
    }

    /// Its description's first sentences, at most `chars` characters, never cut inside a word.
    pub fn summary(&self, chars: usize) -> String {
        shorten(&self.description, chars)
    }
}

/// One resource or template.
#[derive(Debug)]
pub struct ResourceEntry {
    /// Its URI or URI template.
    pub uri: String,
    /// As the server wrote it.
    pub raw: Box<Raw>,
}

/// The beginning of a text: whole sentences where they fit, else whole words.
pub fn shorten(text: &str, chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= chars {
        return text;
    }
    let cut: String = text.chars().take(chars).collect();
    let sentence = cut.rmatch_indices(['.', '!', '?', '。']).find(|(at, mark)| {
        let after = text[at + mark.len()..].chars().next();
        after.is_none_or(char::is_whitespace) && *at >= chars / 3
    });
    match sentence {
        Some((at, mark)) => cut[..at + mark.len()].to_owned(),
        None => {
            let end = cut.rfind(' ').unwrap_or(cut.len());
            format!("{}…", cut[..end].trim_end_matches([',', ';', ':', ' ']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_text_is_cut_at_a_sentence_or_between_words() {
        for (text, chars, expected) in [
            ("Short.", 40, "Short."),
            ("One sentence here. Another one that is long.", 30, "One sentence here."),
            ("A long text without any end of a sentence at all", 20, "A long text without…"),
            ("Version 1.2 of the thing does much more than before", 30, "Version 1.2 of the thing does…"),
            ("two\n  lines", 40, "two lines"),
        ] {
            assert_eq!(shorten(text, chars), expected);
        }
    }
}
