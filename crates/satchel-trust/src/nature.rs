//! Classifies a tool's effect: by the server's annotations, else by name, description and schema.
//!
//! Nothing a server says about its own tools is checked: it decides only what is asked before, never what is possible.
//! Many servers call every tool destructive that changes anything, a click and a new page included. Where the name says
//! plainly that a tool writes, it writes; that its server warns of it stands in its safety.
//! What neither is stated nor can be told from the words is asked about only where it matters: where the tool carries
//! out commands or code, or where its server says that it changes things and does not say how. A hub that asked before
//! every tool without annotations would teach people to say yes.

use satchel_mcp::{Raw, RawObject};

use crate::model::nature::{Effect, Nature, Safety};

/// Verbs of read-only tools.
const READING: &str = "get list search find read fetch query describe show view check count lookup browse explain \
    analyze analyse validate status info inspect preview compare diff summarize summarise calculate compute convert \
    encode decode format parse hash echo ping resolve suggest recommend discover retrieve return extract scan verify \
    estimate measure render translate whoami tell look load detect evaluate head tail stat tree history current now \
    capabilities say answer screenshot snapshot capture take wait sleep think scrape crawl map research learn peek \
    watch observe about help version health audit diagnose lint grep glob cat select provide perform access determine \
    identify locate monitor sequentialthinking documentation docs download export";
/// Verbs of tools that add or change.
const WRITING: &str = "create add update set put write edit post send upload insert move copy rename append modify \
    save import commit push merge comment assign close open start stop enable disable register subscribe unsubscribe \
    publish deploy install schedule invite share patch apply configure generate fill click type press hover navigate \
    scroll tap swipe drag submit book order reply fork clone checkout branch tag make build draft log record store \
    sync transfer grow attach resize emulate handle toggle trigger simulate reconnect connect disconnect forward go \
    use switch focus zoom print play pause resume change upgrade scale rollout launch allocate release lock unlock \
    mark mouse complete expand archive restore upsert replace convert pin react notify request react tool crash feedback \
    report test";
/// Verbs of tools that delete.
const DELETING: &str = "delete remove drop destroy purge wipe truncate erase kill terminate uninstall revoke reset \
    clear prune discard unlink rm rmdir flush shred obliterate nuke cleanup overwrite trash unpublish deactivate \
    decommission evict expunge";
/// Verbs that a read-only tool never has, whatever its server declares.
const PLAINLY_DELETING: &str =
    "delete destroy purge wipe truncate erase shred obliterate nuke uninstall expunge";
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
/// Names of tools that execute their input.
const EXECUTING: &str = "exec execute run shell bash eval evaluate terminal powershell cmd command process spawn \
    console repl python sudo ssh";
/// Arguments that contain what is executed.
const EXECUTED: &str = "command commands cmd code script sql statement statements expression shell_command bash \
    program javascript python source_code function cmdline command_line";

/// Derives a tool's nature from its definition.
pub fn of(raw: &Raw) -> Nature {
    let fields = RawObject::parse(raw).unwrap_or_default();
    let inner = |key: &str| fields.get(key).and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    let (hints, meta, schema) = (inner("annotations"), inner("_meta"), inner("inputSchema"));
    let hint = |key: &str| hints.read::<bool>(key);
    let (name, description) =
        (fields.text("name").unwrap_or_default(), fields.text("description").unwrap_or_default());
    let (name, text) = (words(&name), description.to_lowercase());
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let (read_only, destructive) = (hint("readOnlyHint"), hint("destructiveHint"));
    let deletes_by_name =
        [name.first(), name.last()].into_iter().flatten().any(|word| is(PLAINLY_DELETING, word));
    let commands = read_only != Some(true) && carries_out(&name, &schema);
    let (effect, stated) = match (read_only, destructive) {
        // A read-only tool called "delete" is mistaken or lying.
        (Some(true), _) if deletes_by_name => (Effect::Deletes, false),
        (Some(true), _) => (Effect::Reads, true),
        (_, Some(true)) => match inferred(&name, if says(FINAL) { &text } else { "" }) {
            Effect::Reads | Effect::Writes if !commands => (Effect::Writes, true),
            _ => (Effect::Deletes, true),
        },
        (_, Some(false)) => (Effect::Writes, true),
        (Some(false), None) => match inferred(&name, &text) {
            // The server declares that it changes something; the name says how.
            Effect::Reads | Effect::Writes if !commands => (Effect::Writes, true),
            other => (other, false),
        },
        (None, None) => (inferred(&name, &text), false),
    };
    // The name of a tool that executes its input does not tell what its input does.
    let effect = if commands && !stated && effect != Effect::Deletes { Effect::Unstated } else { effect };
    let safety = match effect {
        Effect::Reads => Safety::Safe,
        Effect::Writes if destructive == Some(true) => Safety::Dangerous,
        Effect::Writes => Safety::Moderate,
        Effect::Deletes => Safety::Dangerous,
        Effect::Unstated if commands || read_only == Some(false) => Safety::Dangerous,
        Effect::Unstated => Safety::Moderate,
    };
    Nature {
        effect,
        stated,
        safety,
        commands,
        idempotent: hint("idempotentHint").unwrap_or(effect == Effect::Reads),
        open_world: hint("openWorldHint").unwrap_or_else(|| reaches_out(&name, &schema)),
        needs_auth: says(&[
            "requires auth",
            "must be authenticated",
            "must be signed in",
            "must be logged in",
            "requires login",
            "requires an api key",
            "requires api key",
            "requires a token",
            "authentication required",
            "needs authentication",
        ]),
        deprecated: hints.read::<bool>("deprecated") == Some(true)
            || meta.read::<bool>("deprecated") == Some(true)
            || text.trim_start().starts_with("deprecated")
            || says(&["[deprecated]", "(deprecated)", "deprecated:", "is deprecated", "deprecated in favor"]),
    }
}

/// Is the word in this list?
fn is(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// A verb in any form that starts a description: `Lists`, `list`, `searches`, `deleting`.
fn is_form(list: &str, word: &str) -> bool {
    is(list, word)
        || ["s", "es", "ing", "d", "ed"].iter().any(|ending| {
            let stem = word.strip_suffix(ending);
            stem.is_some_and(|stem| is(list, stem) || *ending == "ing" && is(list, &format!("{stem}e")))
        })
}

fn inferred(name: &[String], description: &str) -> Effect {
    if FINAL.iter().any(|phrase| description.contains(phrase)) {
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
    if ["read-only", "read only", "readonly"].iter().any(|phrase| description.contains(phrase)) {
        return Effect::Reads;
    }
    let meaning = |word: &str| match (is_form(WRITING, word), is_form(READING, word)) {
        (true, false) => Some(Effect::Writes),
        (_, true) => Some(Effect::Reads),
        (false, false) => None,
    };
    // One word of a name is the verb, and others are its object: writing outweighs reading, except after a reading
    // verb.
    match name.first().and_then(|word| meaning(word)) {
        Some(effect) => return effect,
        None => {
            let told: Vec<Effect> = name.iter().filter_map(|word| meaning(word)).collect();
            if told.contains(&Effect::Writes) {
                return Effect::Writes;
            }
            if let Some(effect) = told.first() {
                return *effect;
            }
        }
    }
    let first =
        description.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default();
    if is_form(DELETING, first) {
        return Effect::Deletes;
    }
    meaning(first).unwrap_or(Effect::Unstated)
}

/// Does it execute the content of one of its arguments?
fn carries_out(name: &[String], schema: &RawObject) -> bool {
    name.iter().any(|word| is(EXECUTING, word))
        && properties(schema).iter().any(|(key, _)| is(EXECUTED, &words(key).join("_")))
}

fn reaches_out(name: &[String], schema: &RawObject) -> bool {
    name.iter().any(|word| is("web browser http url internet online email sms", word))
        || properties(schema).iter().any(|(key, _)| is("url urls uri href", &key.to_lowercase()))
}

fn properties(schema: &RawObject) -> RawObject {
    schema.get("properties").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default()
}

/// The words of `getPullRequest`, `get_pull_request` and `get-pull-request`, in lower case.
fn words(name: &str) -> Vec<String> {
    crate::model::words::of(name, |word, c| word.extend(c.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn nature(tool: Value) -> Nature {
        of(&Raw::from_string(tool.to_string()).unwrap())
    }

    #[test]
    fn stated_facts_take_precedence_over_inferred_ones() {
        use Effect::{Deletes, Reads, Unstated, Writes};
        use Safety::{Dangerous, Moderate, Safe};
        for (name, description, hints, effect, safety) in [
            ("frobnicate", "", json!({ "readOnlyHint": true }), Reads, Safe),
            ("frobnicate", "", json!({ "destructiveHint": true }), Deletes, Dangerous),
            ("delete_x", "", json!({ "destructiveHint": true }), Deletes, Dangerous),
            ("manage_x", "Updates x.", json!({ "destructiveHint": true }), Deletes, Dangerous),
            ("write_once", "", json!({ "readOnlyHint": false, "destructiveHint": true }), Writes, Dangerous),
            ("API-post-search", "", json!({ "destructiveHint": true }), Writes, Dangerous),
            ("update_x", "Cannot be undone.", json!({ "destructiveHint": true }), Deletes, Dangerous),
            ("frobnicate", "", json!({ "readOnlyHint": false, "destructiveHint": false }), Writes, Moderate),
            ("remove_label", "", json!({ "destructiveHint": false }), Writes, Moderate),
            ("frobnicate", "", json!({ "readOnlyHint": false }), Unstated, Dangerous),
            ("get_x", "", json!({ "readOnlyHint": false }), Writes, Moderate),
            ("create_x", "", json!({ "readOnlyHint": false }), Writes, Moderate),
            ("drop_x", "", json!({ "readOnlyHint": false }), Deletes, Dangerous),
            ("delete_repo", "", json!({ "readOnlyHint": true }), Deletes, Dangerous),
            ("list_delete_markers", "", json!({ "readOnlyHint": true }), Reads, Safe),
            ("list_issues", "", json!({}), Reads, Safe),
            ("getPullRequest", "", json!({}), Reads, Safe),
            ("brave_web_search", "", json!({}), Reads, Safe),
            ("API-delete-block", "", json!({}), Deletes, Dangerous),
            ("search_index_delete", "", json!({}), Deletes, Dangerous),
            ("get_and_delete", "", json!({}), Deletes, Dangerous),
            ("list_delete_markers", "", json!({}), Reads, Safe),
            ("create_issue", "", json!({}), Writes, Moderate),
            ("create_or_update_file", "", json!({}), Writes, Moderate),
            ("issues", "Lists the issues.", json!({}), Reads, Safe),
            ("old_files", "Removes old files.", json!({}), Deletes, Dangerous),
            ("update_x", "This cannot be undone.", json!({}), Deletes, Dangerous),
            ("undelete_x", "", json!({}), Unstated, Moderate),
            ("confirm_delete", "Deletes a file.", json!({}), Unstated, Moderate),
            ("delete_x", "Deletes it after the user confirms.", json!({}), Unstated, Moderate),
            ("confirm_delete", "", json!({ "destructiveHint": true }), Deletes, Dangerous),
            ("frobnicate", "Frobnicates the thing.", json!({}), Unstated, Moderate),
            ("", "", json!({}), Unstated, Moderate),
        ] {
            let got =
                nature(json!({ "name": name, "description": description, "annotations": hints.clone() }));
            assert_eq!((got.effect, got.safety), (effect, safety), "{name} {description} {hints}");
        }
    }

    #[test]
    fn a_tool_that_runs_its_input_is_dangerous_unless_its_server_says_otherwise() {
        let of = |name: &str, argument: &str, hints: Value| {
            let schema = json!({ "properties": { argument: {} } });
            let got = nature(json!({ "name": name, "inputSchema": schema, "annotations": hints }));
            (got.commands, got.safety)
        };
        for (name, argument, hints, expected) in [
            ("execute_sql", "sql", json!({}), (true, Safety::Dangerous)),
            ("run_command", "command", json!({}), (true, Safety::Dangerous)),
            ("browser_evaluate", "function", json!({}), (true, Safety::Dangerous)),
            ("runShell", "commandLine", json!({}), (true, Safety::Dangerous)),
            ("execute_sql", "sql", json!({ "readOnlyHint": true }), (false, Safety::Safe)),
            ("execute_sql", "sql", json!({ "destructiveHint": false }), (true, Safety::Moderate)),
            ("evaluate_script", "function", json!({ "readOnlyHint": false }), (true, Safety::Dangerous)),
            ("execute_sql", "sql", json!({ "destructiveHint": true }), (true, Safety::Dangerous)),
            ("run_tests", "filter", json!({}), (false, Safety::Moderate)),
            ("format_code", "code", json!({}), (false, Safety::Safe)),
            ("query", "sql", json!({}), (false, Safety::Safe)),
        ] {
            assert_eq!(of(name, argument, hints.clone()), expected, "{name} {hints}");
        }
    }

    #[test]
    fn the_rest_is_read_too() {
        let got = nature(json!({
            "name": "search_files", "description": "Deprecated: use find. Requires a token.",
            "annotations": { "idempotentHint": false, "openWorldHint": true },
            "inputSchema": { "properties": { "a": {}, "b": {}, "c": {} } },
        }));
        assert_eq!(
            got,
            Nature {
                effect: Effect::Reads,
                stated: false,
                safety: Safety::Safe,
                commands: false,
                idempotent: false,
                open_world: true,
                needs_auth: true,
                deprecated: true,
            }
        );
    }
}
