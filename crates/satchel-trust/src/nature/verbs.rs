//! What a tool's name and description say it does: reads, writes, or deletes. Where a name has no verb, or one that is also a
//! noun, the first verb of the description decides.

use std::collections::BTreeSet;

use crate::model::nature::Effect;

/// Verbs of read-only tools.
const READING: &str = "get list search find read fetch query describe show view check count lookup browse explain \
    analyze analyse validate status info inspect preview compare diff summarize summarise calculate compute convert \
    encode decode format parse hash echo ping resolve suggest recommend discover retrieve return extract scan verify \
    estimate measure render translate whoami tell look load detect evaluate head tail stat tree history current now \
    capabilities say answer screenshot snapshot capture take wait sleep think scrape crawl map research learn peek \
    watch observe about help version health audit diagnose lint grep glob cat select provide access determine \
    identify locate monitor sequentialthinking documentation docs download export";
/// Verbs of tools that add or change.
const WRITING: &str = "create add update set put write edit post send upload insert move copy rename append modify \
    save import commit push merge comment assign close open start stop enable disable register subscribe unsubscribe \
    publish deploy install schedule invite share patch apply configure generate fill click type press hover navigate \
    scroll tap swipe drag submit book order reply fork clone checkout branch tag make build draft log record store \
    sync transfer grow attach resize emulate handle toggle trigger simulate reconnect connect disconnect forward go \
    use switch focus zoom print play pause resume change upgrade scale rollout launch allocate release lock unlock \
    mark mouse complete expand archive restore upsert replace convert pin react notify request react crash feedback \
    report test";
/// Those that are also nouns: in "release dates" nothing is released.
const ALSO_NOUNS: &str = "release tag order log record store build report test print mark share schedule scale book post comment fork \
    branch patch draft note react press focus zoom mouse play change set map resume register trigger feedback crash \
    transfer notify request sync import export copy switch stop start use archive lock pin reply version commit merge \
    message document form filter convert generate tool view search list check status";
/// Those that are verbs wherever they stand in a name.
const PLAINLY_READING: &str = "get list find read fetch describe show lookup retrieve query";
/// Verbs of tools that delete.
const DELETING: &str = "delete remove drop destroy purge wipe truncate erase kill terminate uninstall revoke reset \
    clear prune discard unlink rm rmdir flush shred obliterate nuke cleanup overwrite trash unpublish deactivate \
    decommission evict expunge";
/// Verbs that a read-only tool never has, whatever its server declares.
const PLAINLY_DELETING: &str =
    "delete destroy purge wipe truncate erase shred obliterate nuke uninstall expunge";
/// What moves money or gives a permission, which nobody takes back.
const BINDING: &str = "charge pay purchase buy refund payout withdraw sell approve grant ban reboot poweroff";
/// The same of two words: what is done, and to what.
const BINDING_PAIRS: &[(&str, &str)] = &[
    ("send transfer wire make create submit", "payment payments funds money transaction transactions"),
    ("place submit create", "order orders trade trades"),
    ("swap sign", "token tokens transaction transactions"),
    ("close cancel suspend", "account accounts subscription subscriptions"),
    ("disable reset set change", "mfa 2fa password passwords"),
    ("format", "disk drive partition volume"),
    ("push", "force"),
    ("force", "push"),
    ("shut shutdown", "down server system machine host computer vm instance"),
    ("wire", "transfer"),
];
/// Verbs that execute what they are given, in a description.
const CARRYING_OUT: &str = "exec execute run running eval evaluate spawn invoke";
/// Phrases in a description that mean the effect is irreversible.
const FINAL: &[&str] = &[
    "cannot be undone",
    "can't be undone",
    "can not be undone",
    "irreversible",
    "permanently delete",
    "permanently remove",
    "permanently erase",
];
/// First words of tools that ask the user, and phrases in their descriptions. A person is not asked twice.
const ASKING: &str = "ask asks confirm confirms prompt prompts elicit";
const ASKS_ITSELF: &[&str] = &[
    "asks before",
    "asks for confirmation",
    "asks for your confirmation",
    "asks the user to confirm",
    "after the user confirms",
    "after confirmation",
    "prompts for confirmation",
    "with user confirmation",
];

/// Is the word in this list?
pub(super) fn is(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// A verb in any form that starts a description: `Lists`, `list`, `searches`, `deleting`.
pub(super) fn is_form(list: &str, word: &str) -> bool {
    is(list, word)
        || ["s", "es", "ing", "d", "ed"].iter().any(|ending| {
            let stem = word.strip_suffix(ending);
            stem.is_some_and(|stem| is(list, stem) || *ending == "ing" && is(list, &format!("{stem}e")))
        })
}

/// Does the name say plainly that it deletes?
pub(super) fn deletes_plainly(name: &[String]) -> bool {
    [name.first(), name.last()].into_iter().flatten().any(|word| is(PLAINLY_DELETING, word))
}

/// Does the description say that its effect is irreversible?
pub(super) fn is_final(description: &str) -> bool {
    FINAL.iter().any(|phrase| description.contains(phrase))
}

/// The verbs in a text that name more than reading.
pub(crate) fn actions(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_action =
        |word: &&str| [WRITING, DELETING, BINDING, CARRYING_OUT].iter().any(|list| is_form(list, word));
    words.filter(is_action).map(ToOwned::to_owned).collect()
}

pub(super) fn inferred(name: &[String], description: &str) -> Effect {
    if is_final(description) {
        return Effect::Deletes;
    }
    let asks = name.first().is_some_and(|word| is(ASKING, word))
        || ASKS_ITSELF.iter().any(|phrase| description.contains(phrase));
    if asks {
        return Effect::Unstated;
    }
    if let Some(at) = name.iter().position(|word| is(DELETING, word)) {
        // `list_delete_markers` reads; `search_index_delete`, `get_and_delete` and `index_delete_all` do not.
        let both = name.iter().any(|word| is("and or then", word));
        let reads = name.first().is_some_and(|word| is(READING, word)) && at + 1 < name.len() && !both;
        return if reads { Effect::Reads } else { Effect::Deletes };
    }
    if binds(name) {
        return Effect::Deletes;
    }
    let by_name = of_name(name);
    let by_text = of_text(description);
    match (by_name, by_text) {
        (Some((effect, true)), _) => effect,
        // A noun, or a word that is not the verb: the description says what is done, if it says so.
        (Some((_, false)), Some(told)) => told,
        (Some((effect, false)), None) => effect,
        (None, Some(told)) => told,
        (None, None) if reads_only(description) => Effect::Reads,
        (None, None) => Effect::Unstated,
    }
}

/// Does the name begin with a verb that reads?
pub(super) fn begins_reading(name: &[String]) -> bool {
    name.first().is_some_and(|word| is(PLAINLY_READING, word))
}

/// `create_charge`, `buy_item`, `device_approval_approve_all`; not `list_charges` or `get_refund`.
fn binds(name: &[String]) -> bool {
    let reads = name.first().is_some_and(|word| is(READING, word))
        || name.iter().any(|word| is(PLAINLY_READING, word));
    let first = name.first().is_some_and(|word| is(BINDING, word));
    let last = name.last().is_some_and(|word| is(BINDING, word));
    let all = name.iter().any(|word| is(BINDING, word)) && name.last().is_some_and(|word| word == "all");
    !reads && (first || last || all) || !begins_reading(name) && is_binding_pair(name)
}

/// `send_payment`, `place_order`, `format_disk`, and `shutdown` alone.
fn is_binding_pair(name: &[String]) -> bool {
    name == ["shutdown"]
        || BINDING_PAIRS.iter().any(|(verbs, objects)| {
            let verb = name.iter().position(|word| is(verbs, word));
            verb.is_some_and(|at| name[at + 1..].iter().any(|word| is(objects, word)))
        })
}

/// What the name says, and whether it is sure.
fn of_name(name: &[String]) -> Option<(Effect, bool)> {
    let first = name.first()?;
    if let Some(effect) = meaning(first) {
        // `search_x` and `release_lock`, but also `search` of a server called search, and `release_dates`.
        return Some((effect, !is(ALSO_NOUNS, first) || name.len() == 1));
    }
    let is_sure = |word: &str, effect| match effect {
        Effect::Reads => is(PLAINLY_READING, word),
        _ => !is_form(ALSO_NOUNS, word),
    };
    let told: Vec<(Effect, bool)> =
        name.iter().filter_map(|word| meaning(word).map(|effect| (effect, is_sure(word, effect)))).collect();
    // One word of a name is the verb, and others are its object: writing outweighs reading.
    let writes = told.iter().find(|(effect, sure)| *effect == Effect::Writes && *sure);
    let sure = told.iter().find(|(_, sure)| *sure);
    writes.or(sure).copied().or_else(|| {
        let writes = told.iter().find(|(effect, _)| *effect == Effect::Writes);
        writes.or(told.first()).copied()
    })
}

/// The first verb of a description.
fn of_text(description: &str) -> Option<Effect> {
    let mut words = description.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next()?;
    if is_form(DELETING, first) {
        return Some(Effect::Deletes);
    }
    // "Performs a search", "Allows you to create a page", "Tool to list issues".
    let light = "perform performs allow allows enable enables use this tool tools a an the to for you used lets let can will that";
    let word = if is(light, first) { words.find(|word| !is(light, word)).unwrap_or(first) } else { first };
    if is_form(DELETING, word) && word != first {
        return Some(Effect::Deletes);
    }
    meaning(word)
}

fn meaning(word: &str) -> Option<Effect> {
    match (is_form(WRITING, word), is_form(READING, word)) {
        (true, false) => Some(Effect::Writes),
        (_, true) => Some(Effect::Reads),
        (false, false) => None,
    }
}

/// Does the description say of the tool itself that it reads only? A mode of the server is something else.
fn reads_only(description: &str) -> bool {
    let start: String = description.chars().take(120).collect();
    let sentence = start.split(['.', '\n']).next().unwrap_or_default();
    ["read-only", "read only", "readonly"].iter().any(|phrase| sentence.contains(phrase))
        && !sentence.contains("mode")
}
