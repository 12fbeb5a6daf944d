//! Skills of a server (`io.modelcontextprotocol/skills`): reads their entries and says which addresses are theirs. An entry
//! that breaks a rule is left out alone, with a reason, and nothing below its address is an ordinary resource. Reads no
//! file of a skill.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use satchel_mcp::{Raw, RawObject, limits, meta};
use serde_json::{Map, Value};

use crate::{
    model::address::percent_decoded,
    trust::{clean, uri},
};

/// What the address of a skill ends with.
const MAIN: &str = "SKILL.md";
/// Maximum size of an entry, in bytes.
const ENTRY_BYTES: usize = 1024 * 1024;
/// What every host bears of one skill: its files, and their size in bytes.
const FILES: usize = 512;
const SIZE: u64 = 16 * 1024 * 1024;
/// Maximum length of a name and of a description, in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1_024;
/// What begins the reason for leaving out a skill.
pub(super) const SKILL: &str = "skill ";

/// The skills of one server.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    /// Those that can be used, in the server's order.
    pub entries: Vec<SkillEntry>,
    /// The others.
    pub faulty: Vec<FaultySkill>,
    /// The server has the extension in the stateless revisions only, though the connection is a session.
    pub apart: bool,
}

/// A skill.
#[derive(Debug, Clone)]
pub struct SkillEntry {
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its frontmatter, as the server states it.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub files: SkillFiles,
    /// Whether the server lists it; another one is known by its address only.
    pub listed: bool,
    /// The entry, unchanged.
    pub raw: Box<Raw>,
    below: String,
}

/// The files of a skill.
#[derive(Debug, Clone)]
pub enum SkillFiles {
    /// Every one of them.
    Fixed(Vec<SkillFile>),
    /// The server makes them up; none can be verified.
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its address.
    pub uri: String,
    /// `sha256:` and the digest of its bytes.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A skill that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultySkill {
    /// Its address, as far as it has one.
    pub uri: String,
    /// What is wrong.
    pub why: String,
    below: Option<String>,
}

impl FaultySkill {
    /// Of this address; nothing below it is an ordinary resource.
    pub(super) fn new(uri: String, why: String) -> Self {
        let below = root_of(&uri).map(below);
        Self { uri, why, below }
    }
}

/// What an address is to a server's skills.
#[derive(Debug)]
pub enum SkillAddress<'a> {
    /// No skill's: an ordinary resource.
    Ordinary,
    /// A file of this skill, in every form in which skills list it.
    File(Vec<&'a SkillFile>, &'a SkillEntry),
    /// A file of this skill, which can be anything.
    Dynamic(&'a SkillEntry),
    /// A skill's address that no usable skill lists.
    Unlisted,
}

/// What a server declares of its skills, if it has the extension.
pub fn declared(capabilities: &RawObject) -> Option<RawObject> {
    let extensions = RawObject::parse(capabilities.get("extensions")?).ok()?;
    RawObject::parse(extensions.get(meta::SKILLS)?).ok()
}

impl Skills {
    /// Reads a server's entries.
    pub(super) fn read(items: &[Box<Raw>], listed: bool) -> Self {
        let mut skills = Self::default();
        for raw in items.iter().take(limits::TOOLS_PER_SERVER) {
            match SkillEntry::parse(raw, listed) {
                Ok(entry) => skills.entries.push(entry),
                Err(why) => {
                    let uri = RawObject::parse(raw).ok().and_then(|fields| fields.text("uri"));
                    skills.faulty.push(FaultySkill::new(uri.unwrap_or_default(), why));
                }
            }
        }
        skills.without_doubles()
    }

    /// An address that stands for two skills stands for neither.
    fn without_doubles(mut self) -> Self {
        let mut times: HashMap<String, usize> = HashMap::new();
        for entry in &self.entries {
            *times.entry(entry.below.clone()).or_default() += 1;
        }
        let is_single = |entry: &SkillEntry| times[&entry.below] == 1;
        let (single, doubles) = self.entries.into_iter().partition(is_single);
        self.entries = single;
        let fault = |entry: SkillEntry| {
            FaultySkill::new(entry.uri, "its address is listed more than once".to_owned())
        };
        self.faulty.extend(doubles.into_iter().map(fault));
        self
    }

    /// The skill with this address.
    pub fn get(&self, uri: &str) -> Option<&SkillEntry> {
        self.entries.iter().find(|entry| entry.uri == uri)
    }

    /// Why a skill of this address cannot be used, if that is known.
    pub fn fault(&self, uri: &str) -> Option<&str> {
        self.faulty.iter().find(|faulty| faulty.uri == uri).map(|faulty| faulty.why.as_str())
    }

    /// Adds a skill that no list has, or what it is now.
    pub fn learn(&mut self, entry: SkillEntry) {
        self.entries.retain(|known| known.below != entry.below);
        self.entries.push(entry);
    }

    /// Keeps what was learned of skills that no list has.
    pub(super) fn with_unlisted_of(mut self, before: &Self) -> Self {
        let known: HashSet<String> = self.entries.iter().map(|entry| entry.below.clone()).collect();
        let faulty: HashSet<&String> = self.faulty.iter().map(|faulty| &faulty.uri).collect();
        let unlisted = before
            .entries
            .iter()
            .filter(|entry| !entry.listed && !known.contains(&entry.below) && !faulty.contains(&entry.uri));
        self.entries.extend(unlisted.cloned());
        self
    }

    /// Is this address, in any spelling, below that of a skill?
    pub fn cover(&self, address: &str) -> bool {
        let key = uri::key(address);
        self.roots().any(|root| is_below(&key, root))
    }

    /// Does any skill list a file below this directory?
    pub fn has_below(&self, directory: &str) -> bool {
        let is_in = |file: &SkillFile| {
            file.uri
                .strip_prefix(directory)
                .is_some_and(|rest| directory.ends_with('/') || rest.starts_with('/'))
        };
        self.entries.iter().any(|entry| match &entry.files {
            SkillFiles::Fixed(files) => files.iter().any(is_in),
            SkillFiles::Dynamic => false,
        })
    }

    /// The canonical form of every skill's directory.
    pub(super) fn roots(&self) -> impl Iterator<Item = &String> {
        let faulty = self.faulty.iter().filter_map(|faulty| faulty.below.as_ref());
        self.entries.iter().map(|entry| &entry.below).chain(faulty)
    }

    /// What this address is; `whole` are all of the server's skills, also those that wait for approval.
    pub fn reading<'a>(&'a self, whole: &Skills, address: &str) -> SkillAddress<'a> {
        if !whole.cover(address) && !self.cover(address) {
            return SkillAddress::Ordinary;
        }
        let key = uri::key(address);
        // A skill within a skill decides about its own files.
        let innermost = |skills: &Skills| {
            let below = skills.entries.iter().map(|entry| &entry.below).filter(|below| is_below(&key, below));
            below.max_by_key(|below| below.len()).cloned()
        };
        let own = innermost(self);
        if innermost(whole).is_some_and(|whole| own.as_ref().is_none_or(|own| whole.len() > own.len())) {
            return SkillAddress::Unlisted;
        }
        let Some(own) = self.entries.iter().find(|entry| Some(&entry.below) == own.as_ref()) else {
            return SkillAddress::Unlisted;
        };
        let listing = |entry: &'a SkillEntry| entry.file(address);
        match &own.files {
            SkillFiles::Dynamic => SkillAddress::Dynamic(own),
            SkillFiles::Fixed(_) if own.file(address).is_none() => SkillAddress::Unlisted,
            SkillFiles::Fixed(_) => {
                let files = self.entries.iter().filter_map(listing).collect();
                SkillAddress::File(files, own)
            }
        }
    }

    /// Are they the same for every observer?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let raws = |skills: &Self| -> Vec<(bool, String)> {
            skills.entries.iter().map(|entry| (entry.listed, entry.raw.get().to_owned())).collect()
        };
        self.apart == other.apart && self.faulty == other.faulty && raws(self) == raws(other)
    }
}

impl SkillEntry {
    /// Reads an entry.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn parse(raw: &Raw, listed: bool) -> Result<Self, String> {
        if raw.get().len() > ENTRY_BYTES {
            return Err(format!("its entry is larger than {} KiB", ENTRY_BYTES / 1024));
        }
        if limits::depth(raw.get().as_bytes()) > limits::SCHEMA_DEPTH {
            return Err(format!("its entry nests deeper than {} levels", limits::SCHEMA_DEPTH));
        }
        let fields = RawObject::parse(raw).map_err(|_| "its entry is not a usable object")?;
        // Nothing can be removed from it: its file says the same, and its digests are exact.
        if matches!(clean::answer(raw), Cow::Owned(_)) {
            return Err("its entry has characters that are not shown".to_owned());
        }
        let uri = fields.text("uri").ok_or("it has no address")?;
        let root = root_of(&uri).ok_or("its address does not end with /SKILL.md")?;
        let frontmatter: Map<String, Value> =
            fields.read("frontmatter").ok_or("its frontmatter is not an object")?;
        let text = |key: &str| frontmatter.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (name, description) = (text("name"), text("description"));
        if !is_name(&name) {
            return Err(format!("its name is not 1 to {NAME} of the characters a-z, 0-9 and - between them"));
        }
        if description.is_empty() || description.chars().count() > DESCRIPTION {
            return Err(format!("its description has not 1 to {DESCRIPTION} characters"));
        }
        if !is_plain_path(path_of(&uri).ok_or("its address has no scheme")?) || last_segment(root) != name {
            return Err("its address does not lead to a directory of its name".to_owned());
        }
        let files = files(fields.get("resources"), &uri, root)?;
        let below = below(root);
        Ok(Self { uri, name, description, frontmatter, files, listed, raw: raw.to_owned(), below })
    }

    /// The file of this address.
    pub fn file(&self, address: &str) -> Option<&SkillFile> {
        match &self.files {
            SkillFiles::Fixed(files) => files.iter().find(|file| file.uri == address),
            SkillFiles::Dynamic => None,
        }
    }

    /// Its address without `SKILL.md`.
    pub fn root(&self) -> &str {
        self.uri.strip_suffix(MAIN).unwrap_or(&self.uri)
    }

    /// The entry with other addresses.
    pub fn under(&self, address: impl Fn(&str) -> String) -> Box<Raw> {
        let mut fields = RawObject::parse(&self.raw).unwrap_or_default();
        // Strings and raw values always serialize.
        fields.put("uri", &address(&self.uri));
        if let Some(rows) = fields.read::<Vec<Box<Raw>>>("resources") {
            let row = |raw: Box<Raw>| {
                let mut row = RawObject::parse(&raw).unwrap_or_default();
                row.put("uri", &address(&row.text("uri").unwrap_or_default()));
                row.to_raw()
            };
            fields.put("resources", &rows.into_iter().map(row).collect::<Vec<_>>());
        }
        fields.to_raw()
    }
}

/// Everything before `SKILL.md`, with the slash.
fn root_of(uri: &str) -> Option<&str> {
    uri.strip_suffix(MAIN).filter(|root| root.ends_with('/'))
}

fn below(root: &str) -> String {
    uri::key(root)
}

/// Do these canonical forms stand for a directory and something in it, or the directory itself?
pub(super) fn is_below(key: &str, below: &str) -> bool {
    key.strip_prefix(below)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with('?'))
}

/// What follows `scheme://`.
fn path_of(uri: &str) -> Option<&str> {
    let (scheme, path) = uri.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some(path)
}

/// The last directory of an address that ends with a slash.
fn last_segment(root: &str) -> &str {
    root.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Does a path lead down only, in every reading of its segments? The first may be empty, as in `file:///`.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |(at, segment): (usize, &str)| {
        let decoded = String::from_utf8_lossy(&percent_decoded(segment)).into_owned();
        let leads_elsewhere = matches!(decoded.as_str(), "." | "..") || (at > 0 && decoded.is_empty());
        let hides = matches!(clean::text(&decoded), Cow::Owned(_)) || decoded.chars().any(char::is_control);
        !leads_elsewhere && !hides && !decoded.contains(['/', '\\']) && !segment.contains(['?', '#'])
    };
    path.split('/').enumerate().all(is_plain)
}

fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= NAME && name.split('-').all(is_part)
}

fn files(resources: Option<&Raw>, uri: &str, root: &str) -> Result<SkillFiles, String> {
    let rows = resources.ok_or("it does not say which files it has")?;
    if rows.get() == "\"dynamic\"" {
        return Ok(SkillFiles::Dynamic);
    }
    let rows: Vec<Box<Raw>> =
        serde_json::from_str(rows.get()).map_err(|_| "its files are neither a list nor \"dynamic\"")?;
    if rows.len() > FILES {
        return Err(format!("it has {} files; at most {FILES} are accepted", rows.len()));
    }
    let (mut files, mut seen, mut size) = (Vec::with_capacity(rows.len()), HashSet::new(), 0u64);
    for row in rows {
        let file = file(&row, root)?;
        if !seen.insert(file.uri.clone()) {
            return Err(format!("it lists {} twice", clean::visible(&file.uri)));
        }
        size = size.saturating_add(file.size);
        files.push(file);
    }
    if size > SIZE {
        return Err(format!("its files have {size} bytes; at most {SIZE} are accepted"));
    }
    if !seen.contains(uri) {
        return Err("its files do not include its SKILL.md".to_owned());
    }
    Ok(SkillFiles::Fixed(files))
}

fn file(row: &Raw, root: &str) -> Result<SkillFile, String> {
    let fields = RawObject::parse(row).map_err(|_| "a file of it is not an object")?;
    let uri = fields.text("uri").ok_or("a file of it has no address")?;
    let of = |fault: &str| format!("{fault} of {}", clean::visible(&uri));
    if !uri
        .strip_prefix(root)
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && is_plain_path(rest))
    {
        return Err(format!("{} is not below it", clean::visible(&uri)));
    }
    let digest = fields.text("digest").unwrap_or_default();
    let is_digest = digest.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    });
    if !is_digest {
        return Err(of("there is no SHA-256 digest"));
    }
    let size = fields.read("size").ok_or_else(|| of("there is no size"))?;
    Ok(SkillFile { uri, digest, size })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: &Value) -> Box<Raw> {
        Raw::from_string(value.to_string()).unwrap()
    }

    fn row(uri: &str) -> Value {
        json!({ "uri": uri, "digest": format!("sha256:{}", "ab".repeat(32)), "size": 3 })
    }

    fn entry(uri: &str, files: &[&str]) -> Value {
        let root = uri.strip_suffix(MAIN).unwrap_or(uri);
        let name = last_segment(root);
        let rows: Vec<Value> = std::iter::once(uri.to_owned())
            .chain(files.iter().map(|file| format!("{root}{file}")))
            .map(|uri| row(&uri))
            .collect();
        json!({ "uri": uri, "frontmatter": { "name": name, "description": "Does it." }, "resources": rows })
    }

    fn skills(entries: &[Value]) -> Skills {
        Skills::read(&entries.iter().map(raw).collect::<Vec<_>>(), true)
    }

    #[test]
    fn one_bad_entry_is_left_out_with_its_reason_and_hides_no_other() {
        let good = entry("skill://good/SKILL.md", &["a b.md", "%C3%A0.md", ".x/y"]);
        let with = |key: &str, value: Value| {
            let mut bad = entry("skill://bad/SKILL.md", &["r.md"]);
            bad[key] = value;
            bad
        };
        let file = |value: Value| with("resources", json!([row("skill://bad/SKILL.md"), value]));
        let mut digest = row("skill://bad/r.md");
        digest["digest"] = json!(format!("sha256:{}", "AB".repeat(32)));
        let mut size = row("skill://bad/r.md");
        size["size"] = json!(-1);
        let front = |name: &str, description: &str| {
            with("frontmatter", json!({ "name": name, "description": description }))
        };
        for (bad, why) in [
            (with("resources", json!("live")), "neither a list"),
            (with("resources", json!([row("skill://bad/r.md")])), "do not include"),
            (with("resources", json!([row("skill://bad/SKILL.md"), row("skill://bad/SKILL.md")])), "twice"),
            (file(row("skill://else/r.md")), "not below"),
            (file(row("skill://bad/../x.md")), "not below"),
            (file(row("skill://bad/%2e%2e/x.md")), "not below"),
            (file(row("skill://bad/a%2f..%5cb.md")), "not below"),
            (file(row("file:/etc/hostname")), "not below"),
            (file(row("skill://bad/a%E2%80%8Bb.md")), "not below"),
            (file(digest), "digest"),
            (file(size), "size"),
            (front("other", "x"), "directory of its name"),
            (front("Bad_Name", "x"), "name"),
            (front("a--b", "x"), "name"),
            (front(&"n".repeat(65), "x"), "name"),
            (front("bad", ""), "description"),
            (front("bad", &"x".repeat(1025)), "description"),
            (front("bad", "Sorts\u{200b} mail."), "not shown"),
            (with("frontmatter", json!(["bad"])), "frontmatter"),
            (with("uri", json!("skill://bad/README.md")), "SKILL.md"),
            (with("uri", json!(7)), "address"),
            (json!("skill"), "object"),
        ] {
            let skills = skills(&[bad.clone(), good.clone()]);
            assert_eq!(skills.entries.len(), 1, "{bad}");
            assert!(skills.faulty[0].why.contains(why), "{bad}: {}", skills.faulty[0].why);
        }
        let mut many = good.clone();
        many["resources"] = json!((0..513).map(|at| row(&format!("skill://good/{at}"))).collect::<Vec<_>>());
        assert!(skills(&[many]).faulty[0].why.contains("512"));
        let twice = skills(&[good.clone(), good, entry("skill://one/SKILL.md", &[])]);
        assert_eq!((twice.entries.len(), twice.faulty.len()), (1, 2));
    }

    #[test]
    fn an_address_below_a_skill_is_a_listed_file_or_nothing() {
        let outer = entry("skill://ops/SKILL.md", &["a.md", "inner/SKILL.md", "inner/b.md"]);
        let inner = entry("skill://ops/inner/SKILL.md", &["b.md"]);
        let mut live = entry("skill://live/SKILL.md", &[]);
        live["resources"] = json!("dynamic");
        let faulty = entry("skill://Faulty/SKILL.md", &["r.md"]);
        let all = skills(&[outer, inner, live, faulty]);
        let read = |seen: &Skills, address: &str| match seen.reading(&all, address) {
            SkillAddress::Ordinary => "ordinary".to_owned(),
            SkillAddress::File(files, skill) => format!("{} {}", files.len(), skill.name),
            SkillAddress::Dynamic(_) => "dynamic".to_owned(),
            SkillAddress::Unlisted => "unlisted".to_owned(),
        };
        for (address, expected) in [
            ("skill://ops/SKILL.md", "1 ops"),
            ("skill://ops/a.md", "1 ops"),
            ("skill://ops/inner/SKILL.md", "2 inner"),
            ("skill://ops/inner/b.md", "2 inner"),
            ("skill://ops/c.md", "unlisted"),
            ("skill://ops/./a.md", "unlisted"),
            ("SKILL://OPS/a.md", "unlisted"),
            ("skill://ops/a%2emd", "unlisted"),
            ("skill://ops/a.md?x", "unlisted"),
            ("skill://ops", "unlisted"),
            ("skill://live/now.md", "dynamic"),
            ("skill://Faulty/r.md", "unlisted"),
            ("skill://other/a.md", "ordinary"),
            ("skill://opsy/a.md", "ordinary"),
        ] {
            assert_eq!(read(&all, address), expected, "{address}");
        }
        let mut seen = all.clone();
        seen.entries.retain(|entry| entry.name != "inner");
        assert_eq!(read(&seen, "skill://ops/inner/b.md"), "unlisted", "its own skill waits for approval");
        assert_eq!(read(&seen, "skill://ops/a.md"), "1 ops");
    }

    #[test]
    fn skills_that_no_list_has_stay_until_one_has_them() {
        let mut before = skills(&[entry("skill://listed/SKILL.md", &[])]);
        before.learn(SkillEntry::parse(&raw(&entry("skill://desk/SKILL.md", &[])), false).unwrap());
        let after = skills(&[]).with_unlisted_of(&before);
        assert_eq!(after.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["desk"]);
        let listed = skills(&[entry("skill://desk/SKILL.md", &[])]).with_unlisted_of(&before);
        assert!(listed.entries.len() == 1 && listed.entries[0].listed);
    }
}
