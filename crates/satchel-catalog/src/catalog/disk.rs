//! Caches each server's lists in one file per server, so that the tools of a sleeping server are known and a restart of
//! the hub starts nothing. Sets a damaged file aside and reads the lists again.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use satchel_mcp::{Raw, RawObject};
use serde::{Deserialize, Serialize};

use super::{
    Offer, ResourceEntry, Said, Skills, fetch, repair, skills::FaultySkill, validate, versions::Versions,
};
use crate::files;

const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct OfferFile {
    format: u32,
    setup: String,
    title: Option<String>,
    instructions: Option<String>,
    #[serde(default)]
    hello: Option<Said>,
    #[serde(default)]
    frames: BTreeMap<String, Box<Raw>>,
    tokens: Option<usize>,
    tool_tokens: Vec<Option<usize>>,
    tools: Vec<Box<Raw>>,
    resources: Vec<Box<Raw>>,
    templates: Vec<Box<Raw>>,
    prompts: Vec<Box<Raw>>,
    #[serde(default)]
    skills: StoredSkills,
    skipped: Vec<String>,
    #[serde(default)]
    versions: Versions,
    #[serde(default)]
    lists: Option<BTreeSet<String>>,
    #[serde(default)]
    fragile: bool,
    /// The server had a record of approvals.
    #[serde(default)]
    pinned: bool,
}

/// Skills, and what is wrong with those that cannot be used.
#[derive(Default, Serialize, Deserialize)]
struct StoredSkills {
    listed: Vec<Box<Raw>>,
    unlisted: Vec<Box<Raw>>,
    faulty: Vec<(String, String)>,
    apart: bool,
}

impl StoredSkills {
    fn of(skills: &Skills) -> Self {
        let raws = |listed: bool| {
            skills
                .entries
                .iter()
                .filter(|entry| entry.listed == listed)
                .map(|entry| entry.raw.clone())
                .collect()
        };
        let faulty = skills.faulty.iter().map(|faulty| (faulty.uri.clone(), faulty.why.clone()));
        Self { listed: raws(true), unlisted: raws(false), faulty: faulty.collect(), apart: skills.apart }
    }

    fn read(self) -> Skills {
        let mut skills = Skills::read(&self.listed, true);
        skills.entries.extend(Skills::read(&self.unlisted, false).entries);
        skills.faulty.extend(self.faulty.into_iter().map(|(uri, why)| FaultySkill::new(uri, why)));
        skills.apart = self.apart;
        skills
    }
}

/// Writes a server's offer, and whether it has a record of approvals. A failure is not fatal: the lists are read from
/// the server again.
pub fn write(path: &Path, offer: &Offer, pinned: bool) -> std::io::Result<()> {
    let raws = |entries: &[ResourceEntry]| entries.iter().map(|entry| entry.raw.clone()).collect();
    let stored = OfferFile {
        format: FORMAT,
        setup: offer.setup.clone(),
        title: offer.title.clone(),
        instructions: offer.instructions.clone(),
        hello: offer.hello.clone(),
        frames: offer.frames.clone(),
        tokens: offer.tokens.get().copied(),
        tool_tokens: offer.tools.iter().map(|tool| tool.tokens.get().copied()).collect(),
        tools: offer.tools.iter().map(|tool| tool.raw.clone()).collect(),
        resources: raws(&offer.resources),
        templates: raws(&offer.templates),
        prompts: offer.prompts.clone(),
        skills: StoredSkills::of(&offer.skills),
        skipped: offer.skipped.clone(),
        versions: offer.versions.clone(),
        lists: Some(offer.lists.clone()),
        fragile: offer.fragile,
        pinned,
    };
    files::replace(path, &serde_json::to_vec(&stored)?)
}

/// A stored offer.
#[derive(Debug)]
pub struct Kept {
    /// The offer.
    pub offer: Offer,
    /// There was a record of approvals. If there is none now, it was lost.
    pub pinned: bool,
}

/// Reads a server's offer; `None` if there is none. A damaged file is moved aside, and its new path returned as the
/// error.
pub fn read(path: &Path) -> Result<Option<Kept>, String> {
    let bytes = match files::read_data(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    match serde_json::from_slice::<OfferFile>(&bytes) {
        Ok(stored) if stored.format == FORMAT => {
            let pinned = stored.pinned;
            Ok(Some(Kept { offer: offer(stored), pinned }))
        }
        // Written by another version; the lists are read from the server again.
        Ok(_) => Ok(None),
        Err(error) => {
            let place = match files::set_aside(path) {
                Ok(aside) => format!("set aside as {}", aside.display()),
                Err(error) => format!("could not be set aside ({error})"),
            };
            Err(format!("a cached tool list was damaged ({error}) and {place}"))
        }
    }
}

fn offer(mut stored: OfferFile) -> Offer {
    // An earlier version stored them as the server wrote them.
    repair::tools(&mut stored.tools, stored.hello.as_ref().map(Said::era));
    repair::prompts(&mut stored.prompts);
    let entries = |raws: Vec<Box<Raw>>, key: &str| {
        let entry = |raw: Box<Raw>| Some(ResourceEntry { uri: RawObject::parse(&raw).ok()?.text(key)?, raw });
        let mut entries: Vec<_> = raws.into_iter().filter_map(entry).collect();
        repair::resources(&mut entries);
        entries
    };
    let (tools, _) = validate::tools(stored.tools);
    if tools.len() == stored.tool_tokens.len() {
        for (tool, tokens) in tools.iter().zip(&stored.tool_tokens) {
            if let Some(tokens) = tokens {
                let _ = tool.tokens.set(*tokens);
            }
        }
    }
    let offer = Offer {
        setup: stored.setup,
        title: stored.title,
        instructions: stored.instructions,
        hello: stored.hello,
        frames: stored.frames,
        tools,
        resources: entries(stored.resources, "uri"),
        templates: entries(stored.templates, "uriTemplate"),
        prompts: stored.prompts,
        skills: stored.skills.read(),
        skipped: stored.skipped,
        versions: stored.versions,
        fragile: stored.fragile,
        lists: stored.lists.unwrap_or_else(|| fetch::LISTS.map(str::to_owned).into()),
        tokens: std::sync::OnceLock::new(),
    };
    if let Some(tokens) = stored.tokens {
        let _ = offer.tokens.set(tokens);
    }
    offer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        assert!(read(&path).unwrap().is_none());
        let tool = r#"{"name":"a","z":1.0,"inputSchema":{"type":"object","b":[],"a":1}}"#;
        let raw = |json: &str| Raw::from_string(json.to_owned()).unwrap();
        let written = Offer {
            setup: "s".into(),
            title: Some("T".into()),
            tools: validate::tools(vec![raw(tool)]).0,
            resources: vec![ResourceEntry { uri: "x://y".into(), raw: raw(r#"{"uri":"x://y","k":1}"#) }],
            skipped: vec!["b: no".into()],
            ..Offer::default()
        };
        let written = Offer { versions: written.versions.followed_by(&written.tools, 7), ..written };
        written.tokens.set(7).unwrap();
        write(&path, &written, true).unwrap();
        let Kept { offer: back, pinned } = read(&path).unwrap().unwrap();
        assert!(pinned);
        assert_eq!(back.version(&back.tools[0]).map(|version| version.first_ms), Some(7));
        assert_eq!((back.tools[0].raw.get(), back.tokens.get()), (tool, Some(&7)));
        assert_eq!(
            (back.resources[0].uri.as_str(), back.skipped.len(), back.title.as_deref()),
            ("x://y", 1, Some("T"))
        );
    }

    #[test]
    fn a_damaged_file_is_moved_aside_and_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        std::fs::write(&path, "{\"format\": 1, \"setu").unwrap();
        assert!(read(&path).unwrap_err().contains("x.json.damaged-"));
        assert!(!path.exists() && std::fs::read_dir(dir.path()).unwrap().count() == 1);
        assert!(read(&path).unwrap().is_none());
    }
}
