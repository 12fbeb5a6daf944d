//! Looks up one skill by its address, and lists its directories. What no list has is asked of its server, and pinned like
//! everything else that a server offers.

use std::{sync::Arc, time::Duration};

use satchel_mcp::{ErrorObject, Raw, RawObject};

use super::{
    Hub, credential, failure, fresh_lists, hygiene, instantiate, per_server, publish, refresh, route, skills,
};
use crate::{
    catalog::{Offer, SkillEntry, skills::SkillAddress},
    hub::failure::CallFailure,
    model::ServerName,
    trust::clean,
    upstream::{CallError, Dirty, in_stateless_words},
};

/// Timeout for one request about a skill.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum number of skills of one server that no list has.
const UNLISTED: usize = 256;

/// Why there is no skill to give.
#[derive(Debug)]
pub enum NoSkill {
    /// No skill has this address, or the skill cannot be used: why.
    Unknown(String),
    /// Its server refuses.
    Answered(ErrorObject),
    /// Its server cannot be asked.
    Failed(CallFailure),
}

impl From<CallFailure> for NoSkill {
    fn from(failure: CallFailure) -> Self {
        NoSkill::Failed(failure)
    }
}

/// The skill with this address of its server.
pub(super) async fn skill(hub: &Hub, server: &ServerName, uri: &str) -> Result<SkillEntry, NoSkill> {
    let offer = per_server::offer(hub, server).await?;
    if let Some(skill) = offer.skills.get(uri) {
        return Ok(skill.clone());
    }
    let unknown = |why: &str| NoSkill::Unknown(clean::visible(&format!("No skill is served at {uri}{why}")));
    if let Some(why) = offer.skills.fault(uri) {
        return Err(unknown(&format!(": {why}")));
    }
    if !offer.has_skills() || !uri.ends_with("/SKILL.md") {
        return Err(unknown(""));
    }
    let held = || unknown(": it waits for approval");
    if skills::offers(hub, server).1.skills.get(uri).is_some() {
        return Err(held());
    }
    let mut params = RawObject::new();
    // Strings always serialize.
    params.put("uri", &uri);
    let answer = request(hub, server, "skills/get", params).await?;
    let entry = RawObject::parse(&answer).ok().and_then(|mut answer| answer.remove("skill"));
    let entry = entry.ok_or_else(|| unknown(": its server's answer has none"))?;
    let entry = SkillEntry::parse(&entry, false).map_err(|why| unknown(&format!(": {why}")))?;
    if entry.uri != uri {
        return Err(unknown(": its server answered with another one"));
    }
    learn(hub, server, entry).await.map_err(|why| unknown(&why))?;
    hub.catalog().offer(server.as_str()).and_then(|offer| offer.skills.get(uri).cloned()).ok_or_else(held)
}

/// Adds a skill to what its server offers, where it is judged.
async fn learn(hub: &Hub, server: &ServerName, entry: SkillEntry) -> Result<(), String> {
    let learned = {
        let mut offers = hub.offers();
        let known = offers.get(server).ok_or(": its server is gone")?;
        let unlisted = known.skills.entries.iter().filter(|entry| !entry.listed).count();
        if unlisted >= UNLISTED {
            return Err(format!(": at most {UNLISTED} are kept that no list has"));
        }
        let mut offer = Offer::clone(known);
        offer.skills.learn(entry);
        let offer = Arc::new(offer);
        offers.insert(server.clone(), offer.clone());
        offer
    };
    publish::publish_catalog(hub).await;
    refresh::keep(hub, server, learned);
    Ok(())
}

/// The children of a skill's directory that its approved entry has, as the server lists them.
pub(super) async fn directory(
    hub: &Hub,
    server: &ServerName,
    params: RawObject,
) -> Result<Box<Raw>, NoSkill> {
    let uri = params.text("uri").unwrap_or_default();
    let answer = request(hub, server, "resources/directory/read", params).await?;
    let (seen, whole) = skills::offers(hub, server);
    let mut list = RawObject::parse(&answer)
        .map_err(|_| NoSkill::Unknown("its server's answer is not a directory".to_owned()))?;
    let children: Vec<Box<Raw>> = list.read("resources").unwrap_or_default();
    let is_shown = |child: &Raw| {
        let address = RawObject::parse(child).ok().and_then(|fields| fields.text("uri")).unwrap_or_default();
        match seen.skills.reading(&whole.skills, &address) {
            SkillAddress::Ordinary | SkillAddress::File(..) | SkillAddress::Dynamic(_) => true,
            SkillAddress::Unlisted => seen.skills.has_below(&address),
        }
    };
    let children: Vec<Box<Raw>> = children.into_iter().filter(|child| is_shown(child)).collect();
    if children.is_empty() && whole.skills.cover(&uri) {
        return Err(NoSkill::Unknown(clean::visible(&format!(
            "{uri} is not a directory of an approved skill"
        ))));
    }
    // Raw values always serialize.
    list.put("resources", &children);
    Ok(clean::answer(&list.to_raw()).into_owned())
}

/// Sends a request about skills, with the lists as they are now.
async fn request(
    hub: &Hub,
    server: &ServerName,
    method: &str,
    params: RawObject,
) -> Result<Box<Raw>, NoSkill> {
    let registered = route::route_known_server(hub, server)?;
    let registered = instantiate::own(hub, server, &registered).await?;
    let leased = credential::lease_with_credentials(hub, server, &registered).await;
    let lease = leased.map_err(|error| failure::refused(server, &registered, &error))?;
    fresh_lists::wait_for_lists(hub, server, &registered, &lease, Dirty::bit("resources")).await?;
    let params = params.to_raw();
    let params = match skills::offers(hub, server).1.skills.apart {
        true => in_stateless_words(Some(&params)),
        false => Some(params),
    };
    lease.link().request(method, params, PATIENCE).await.map_err(|error| match error {
        CallError::Answered(error) => NoSkill::Answered(hygiene::error(error)),
        error => {
            let message = format!("\"{server}\" did not answer {method}: {error}");
            NoSkill::Failed(CallFailure::not_sent(Some(server), None, message, String::new()))
        }
    })
}
