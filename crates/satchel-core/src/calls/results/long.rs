//! Splits a result that exceeds its client's limit into the part to store and the part to send. Stores nothing.

use std::borrow::Cow;

use satchel_mcp::{Raw, RawObject, object::fields};
use serde::Deserialize;
use serde_json::{Value, json, value::to_raw_value};

use super::boundary;

/// A parsed result; borrows from it where possible.
pub(super) struct Long<'a> {
    fields: Vec<(String, &'a Raw)>,
    blocks: Vec<ContentBlock<'a>>,
    structured: Option<&'a str>,
}

struct ContentBlock<'a> {
    raw: &'a Raw,
    /// Its own text, or that of the embedded file.
    text: Option<Cow<'a, str>>,
    /// It is a file, whose block has an address beside the text.
    is_file: bool,
    /// Its text alone became the document.
    taken: bool,
}

/// Something stored: its address and its text.
pub(super) type Stored<'s> = (&'s str, &'s str);

impl<'a> Long<'a> {
    /// Parses a result; `None` if it is none.
    pub(super) fn read(result: &'a Raw) -> Option<Self> {
        let fields = fields(result.get()).ok()?;
        let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let blocks: Vec<&Raw> =
            get("content").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let blocks = blocks.into_iter().map(ContentBlock::read).collect();
        let structured = get("structuredContent").map(Raw::get);
        Some(Self { fields, blocks, structured })
    }

    /// The length that counts against the limit. Structured content usually repeats the text.
    pub(super) fn length(&self) -> usize {
        self.text_length().max(self.structured.map_or(0, str::len))
    }

    fn text_length(&self) -> usize {
        self.blocks.iter().filter_map(|block| block.text.as_ref()).map(|text| text.len()).sum()
    }

    /// The text to store, if it is longer than `cap`: all texts, a line each. It is not copied if it stands in one block.
    pub(super) fn take_text(&mut self, cap: usize) -> Option<String> {
        if self.text_length() <= cap {
            return None;
        }
        let mut texts = self.blocks.iter_mut().filter(|block| block.text.is_some());
        if let (Some(block), None) = (texts.next(), texts.next()) {
            block.taken = true;
            return std::mem::take(&mut block.text).map(Cow::into_owned);
        }
        Some(self.blocks.iter().filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n"))
    }

    /// The structured content to store: it is too long to stay in the result, and the stored text does not repeat it.
    pub(super) fn structured_to_store(&self, cap: usize, text: Option<&str>) -> Option<&'a str> {
        let repeated = |structured: &str| text.is_some_and(|text| repeats(text, structured));
        self.structured.filter(|structured| structured.len() > cap && !repeated(structured))
    }

    /// The result with at most `cap` bytes of text, and a note that says where the rest is.
    pub(super) fn cut(
        &self,
        cap: usize,
        text: Option<Stored<'_>>,
        structured: Option<Stored<'_>>,
    ) -> Box<Raw> {
        let (mut content, mut shown) = match text {
            Some((_, document)) => self.cut_blocks(cap, document),
            None => (self.blocks.iter().map(|block| block.raw.to_owned()).collect(), 0),
        };
        if let (None, Some((_, data))) = (text, structured)
            && self.blocks.iter().all(|block| block.text.is_none())
        {
            shown = boundary(data, 0, cap);
            content.push(text_block(&data[..shown]));
        }
        let note = Note { shown, text, structured };
        content.push(text_block(&note.sentence()));
        self.with(cap, &content, &note.data())
    }

    /// The blocks that fit, and how much of the document they show.
    fn cut_blocks(&self, cap: usize, document: &str) -> (Vec<Box<Raw>>, usize) {
        let mut content = Vec::new();
        let (mut shown, mut room, mut room_for_files) = (None::<usize>, cap, cap);
        for block in &self.blocks {
            let Some(text) = (if block.taken { Some(document) } else { block.text.as_deref() }) else {
                content.push(block.raw.to_owned());
                continue;
            };
            if room == 0 {
                // The text stands in the document, but what file it is does not.
                let empty = block.is_file.then(|| block.with_text(""));
                if let Some(empty) = empty.filter(|empty| empty.get().len() <= room_for_files) {
                    room_for_files -= empty.get().len();
                    content.push(empty);
                }
                continue;
            }
            let end = boundary(text, 0, room);
            room = if end < text.len() { 0 } else { room - text.len() };
            content.push(if end < text.len() { block.with_text(&text[..end]) } else { block.raw.to_owned() });
            // One byte for the line break between two texts of the document.
            shown = Some(shown.map_or(end, |shown| shown + 1 + end));
        }
        (content, shown.unwrap_or(0))
    }

    /// The result with other content. Everything else stays, but for structured content that is too long.
    fn with(&self, cap: usize, content: &[Box<Raw>], cut: &Value) -> Box<Raw> {
        let fits = self.structured.is_some_and(|structured| structured.len() <= cap);
        let mut kept = RawObject::new();
        for (key, value) in &self.fields {
            match key.as_str() {
                "structuredContent" if !fits => {}
                // Keeps its position; the value is set below.
                "content" => kept.set(key, Raw::NULL.to_owned()),
                _ => kept.set(key, (*value).to_owned()),
            }
        }
        // Values that were just created always serialize.
        kept.put("content", &content);
        let mut meta = kept.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
        meta.put("dev.satchel/cut", cut);
        kept.set("_meta", meta.to_raw());
        kept.to_raw()
    }
}

impl<'a> ContentBlock<'a> {
    fn read(raw: &'a Raw) -> Self {
        #[derive(Deserialize)]
        struct Lent<'a>(#[serde(borrow)] Cow<'a, str>);
        fn get<'a>(fields: &[(String, &'a Raw)], name: &str) -> Option<&'a str> {
            fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
        }
        let text = |json: &'a str| serde_json::from_str::<Lent<'a>>(json).ok().map(|Lent(text)| text);
        let block = fields(raw.get()).unwrap_or_default();
        let kind = get(&block, "type").and_then(text).unwrap_or_default();
        let text = match kind.as_ref() {
            "text" => get(&block, "text").and_then(text),
            "resource" => {
                let file = get(&block, "resource").and_then(|file| fields(file).ok()).unwrap_or_default();
                get(&file, "text").and_then(text)
            }
            _ => None,
        };
        Self { raw, text, is_file: kind == "resource", taken: false }
    }

    fn with_text(&self, text: &str) -> Box<Raw> {
        let mut block = RawObject::parse(self.raw).unwrap_or_default();
        if self.is_file {
            let mut file =
                block.get("resource").and_then(|file| RawObject::parse(file).ok()).unwrap_or_default();
            file.put("text", &text);
            block.set("resource", file.to_raw());
        } else {
            block.put("text", &text);
        }
        block.to_raw()
    }
}

/// What a model is told about what is missing.
struct Note<'s> {
    shown: usize,
    text: Option<Stored<'s>>,
    structured: Option<Stored<'s>>,
}

impl Note<'_> {
    /// Where to read on.
    fn next(&self) -> String {
        let address = self.text.or(self.structured).map_or("", |(address, _)| address);
        format!("{address}?offset={}", self.shown)
    }

    fn sentence(&self) -> String {
        let Self { shown, text, structured } = self;
        let part = |address: &str| format!("for a part of JSON, uri \"{address}?path=$.…\" with a JSONPath");
        let next = self.next();
        match (text, structured) {
            (Some((_, text)), Some((address, data))) => format!(
                "[Cut by Satchel: {shown} of {} bytes are shown. Read on with read_mcp_resource, uri {next:?}. \
                 The structured content ({} bytes) is left out: uri {address:?}; {}.]",
                text.len(),
                data.len(),
                part(address)
            ),
            (None, Some((address, data))) if *shown == 0 => format!(
                "[Cut by Satchel: the structured content ({} bytes) is left out. Read it with read_mcp_resource, \
                 uri {next:?}; {}.]",
                data.len(),
                part(address)
            ),
            (Some((address, whole)), None) | (None, Some((address, whole))) => format!(
                "[Cut by Satchel: {shown} of {} bytes are shown. Read on with read_mcp_resource, uri {next:?}; {}.]",
                whole.len(),
                part(address)
            ),
            (None, None) => String::new(),
        }
    }

    fn data(&self) -> Value {
        let whole = self.text.or(self.structured).map_or(0, |(_, whole)| whole.len());
        let mut data = json!({ "next": self.next(), "shown": self.shown, "total": whole });
        if let (Some(_), Some((address, _))) = (self.text, self.structured) {
            data["structured"] = json!(address);
        }
        data
    }
}

/// Does the text say the same as the structured content?
fn repeats(text: &str, structured: &str) -> bool {
    if text == structured {
        return true;
    }
    let Ok(data) = serde_json::from_str::<Value>(structured) else { return false };
    let read = serde_json::from_str::<Value>(text).ok();
    let same = |data: &Value| data.as_str() == Some(text) || read.as_ref() == Some(data);
    // Servers made with FastMCP wrap what is no object.
    let wrapped = || match &data {
        Value::Object(fields) if fields.len() == 1 => fields.get("result").is_some_and(same),
        _ => false,
    };
    same(&data) || wrapped()
}

fn text_block(text: &str) -> Box<Raw> {
    to_raw_value(&json!({ "type": "text", "text": text })).expect("a JSON value always serializes")
}
