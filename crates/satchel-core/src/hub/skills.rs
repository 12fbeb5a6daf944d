//! Which files of skills may be read, and whether what a server answers is such a file: every byte as the approved entry
//! says, and nothing that people do not see. Reads nothing itself.

use std::{borrow::Cow, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use satchel_mcp::{Raw, RawObject};
use serde_json::value::to_raw_value;
use sha2::{Digest, Sha256};

use super::{Hub, failure::CallFailure, servers::Registered};
use crate::{
    catalog::{
        Offer, SkillEntry,
        skills::{SkillAddress, SkillFile},
    },
    edit::frontmatter,
    model::{Code, ServerName, approvals::Kind},
    trust::{clean, fingerprint::Tree, inspect},
    upstream::{Dirty, Outcome},
};

/// Maximum size of a text that is inspected, in bytes.
const INSPECTED: usize = 1024 * 1024;

/// What a server offers: as far as approved, and all of it.
pub(super) fn offers(hub: &Hub, server: &ServerName) -> (Arc<Offer>, Arc<Offer>) {
    let seen = hub.inner.servers.catalog().offer(server.as_str()).cloned();
    let whole = hub.offers().get(server).cloned();
    (seen.unwrap_or_default(), whole.unwrap_or_default())
}

/// Refuses an address of a skill that no approved entry lists.
pub(super) fn refuse_unlisted(hub: &Hub, server: &ServerName, uri: &str) -> Result<(), CallFailure> {
    let (seen, whole) = offers(hub, server);
    match seen.skills.reading(&whole.skills, uri) {
        SkillAddress::Ordinary | SkillAddress::File(..) | SkillAddress::Dynamic(_) => Ok(()),
        SkillAddress::Unlisted => {
            let message = format!("\"{uri}\" of \"{server}\" cannot be read: {}", why_unlisted(&whole, uri));
            let action = Code::HeldBack.action().to_owned();
            Err(CallFailure::not_sent(Some(server), Some(Code::HeldBack), clean::visible(&message), action))
        }
    }
}

fn why_unlisted(whole: &Offer, uri: &str) -> String {
    match whole.skills.fault(uri) {
        Some(why) => format!("its skill cannot be used: {why}"),
        None => {
            "it belongs to a skill that does not list it, cannot be used, or waits for approval".to_owned()
        }
    }
}

/// Checks what a server answered to a read.
///
/// # Errors
/// If it is a skill's file and not what the approved entry says. Then its lists are read again, because it may have
/// changed.
pub(super) fn check(
    hub: &Hub,
    (server, registered): (&ServerName, &Registered),
    uri: &str,
    result: &Raw,
) -> Result<(), CallFailure> {
    let (seen, whole) = offers(hub, server);
    let why = match seen.skills.reading(&whole.skills, uri) {
        SkillAddress::Ordinary => return Ok(()),
        SkillAddress::Unlisted => Err(why_unlisted(&whole, uri)),
        SkillAddress::File(files, skill) => content(result, uri).and_then(|content| {
            files.iter().try_for_each(|file| is_exact(file, &content))?;
            states_its_entry(skill, uri, &content)?;
            hides_nothing(result, &content)?;
            is_no_attack(hub, server, skill, uri, &content)
        }),
        SkillAddress::Dynamic(skill) => content(result, uri).and_then(|content| {
            hides_nothing(result, &content)?;
            is_no_attack(hub, server, skill, uri, &content)
        }),
    };
    let Err(why) = why else { return Ok(()) };
    registered.upstream.dirty().mark(Dirty::bit("resources"));
    let message = clean::visible(&format!("\"{uri}\" of \"{server}\" is not passed on: {why}"));
    registered.upstream.log().hub(&message);
    let action = format!("Do without it. `satchel approvals {server}` shows what changed.");
    let (server, code, cause) = (Some(server.to_string()), Some(Code::HeldBack), None);
    Err(CallFailure { outcome: Outcome::UpstreamError, server, code, message, cause, action })
}

/// The bytes of the only content, which must be of this address.
pub(super) fn content(result: &Raw, uri: &str) -> Result<Vec<u8>, String> {
    let contents: Option<Vec<Box<Raw>>> = RawObject::parse(result).ok().and_then(|all| all.read("contents"));
    let [content] = contents.as_deref().unwrap_or_default() else {
        return Err("the answer does not have one content".to_owned());
    };
    let content = RawObject::parse(content).map_err(|_| "the content is not an object")?;
    if content.text("uri").as_deref() != Some(uri) {
        return Err("the answer is about another address".to_owned());
    }
    match (content.text("text"), content.text("blob")) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(blob)) => STANDARD.decode(blob).map_err(|_| "its blob is not base64".to_owned()),
        _ => Err("the content is neither a text nor a blob".to_owned()),
    }
}

fn is_exact(file: &SkillFile, content: &[u8]) -> Result<(), String> {
    if content.len() as u64 != file.size {
        return Err(format!("it has {} bytes, and its skill says {}", content.len(), file.size));
    }
    let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    match file.digest.strip_prefix("sha256:") == Some(digest.as_str()) {
        true => Ok(()),
        false => Err("its bytes are not those of the approved skill".to_owned()),
    }
}

/// A `SKILL.md` says what the entry in the list does.
fn states_its_entry(skill: &SkillEntry, uri: &str, content: &[u8]) -> Result<(), String> {
    if skill.uri != uri {
        return Ok(());
    }
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8")?;
    frontmatter::says(text, &skill.frontmatter)
}

/// Nothing can be removed from a file whose digest is checked.
fn hides_nothing(result: &Raw, content: &[u8]) -> Result<(), String> {
    let hides = |raw: &Raw| matches!(clean::answer(raw), Cow::Owned(_));
    // A text may be sent as a blob.
    let text = std::str::from_utf8(content).ok().and_then(|text| to_raw_value(text).ok());
    match hides(result) || text.is_some_and(|text| hides(&text)) {
        true => Err("it has characters that are not shown".to_owned()),
        false => Ok(()),
    }
}

/// Text for models that reads like an attack waits until a person has approved the skill.
fn is_no_attack(
    hub: &Hub,
    server: &ServerName,
    skill: &SkillEntry,
    uri: &str,
    content: &[u8],
) -> Result<(), String> {
    let is_for_models = uri.to_ascii_lowercase().ends_with(".md") && content.len() <= INSPECTED;
    let Some(text) = std::str::from_utf8(content).ok().filter(|_| is_for_models) else { return Ok(()) };
    if !inspect::is_alarming(&Tree::Text(text.to_owned()))
        || hub.inner.review.has_approved(server, Kind::Skill, &skill.uri)
    {
        return Ok(());
    }
    Err("it reads like an attack on a model, and nobody has approved its skill".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: &serde_json::Value) -> Box<Raw> {
        Raw::from_string(value.to_string()).unwrap()
    }

    #[test]
    fn an_answer_is_one_content_of_the_address_that_was_asked_for() {
        let read = |contents: serde_json::Value| content(&raw(&json!({ "contents": contents })), "a://b");
        assert_eq!(read(json!([{ "uri": "a://b", "text": "x\r\n" }])), Ok(b"x\r\n".to_vec()));
        assert_eq!(read(json!([{ "uri": "a://b", "blob": "AP8=" }])), Ok(vec![0, 255]));
        for contents in [
            json!([]),
            json!("x"),
            json!([{ "uri": "a://c", "text": "x" }]),
            json!([{ "uri": "a://b", "text": "x" }, { "uri": "a://b", "text": "y" }]),
            json!([{ "uri": "a://b", "text": "x", "blob": "AP8=" }]),
            json!([{ "uri": "a://b", "blob": "%" }]),
            json!([{ "uri": "a://b" }]),
        ] {
            assert!(read(contents.clone()).is_err(), "{contents}");
        }
    }

    #[test]
    fn a_file_is_exact_and_hides_nothing_in_a_blob_either() {
        let digest = format!("sha256:{}", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
        let file = |size| SkillFile { uri: "a://b".into(), digest: digest.clone(), size };
        assert_eq!(is_exact(&file(1), b"x"), Ok(()));
        assert!(is_exact(&file(2), b"x").is_err() && is_exact(&file(1), b"y").is_err());
        let answer = raw(&json!({ "contents": [{ "uri": "a://b", "blob": "" }] }));
        assert_eq!(hides_nothing(&answer, "a\r\n\tb \u{1f468}\u{200d}\u{1f4bb}".as_bytes()), Ok(()));
        for hidden in ["a\u{200b}b", "\u{1b}[8mx", "x\u{e0041}", "\u{feff}x"] {
            assert!(hides_nothing(&answer, hidden.as_bytes()).is_err(), "{hidden:?}");
        }
        assert_eq!(hides_nothing(&answer, &[0, 255, 254]), Ok(()), "no text");
    }
}
