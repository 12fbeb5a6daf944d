//! Classifies a tool's effect: by the server's annotations, else by name, description and schema.
//!
//! Nothing a server says about its own tools is checked: it decides only what is asked before, never what is possible.
//! Many servers call every tool destructive that changes anything, a click and a new page included. Where the name says
//! plainly that a tool writes, it writes; that its server warns of it stands in its safety.
//! What neither is stated nor can be told from the words is asked about only where it matters: where the tool carries
//! out commands or code, or where its server says that it changes things and does not say how. A hub that asked before
//! every tool without annotations would teach people to say yes.

mod commands;
mod schema;
mod verbs;

use satchel_mcp::{Raw, RawObject};

use crate::model::nature::{Effect, Nature, Safety};
use schema::{Argument, arguments};
pub(crate) use verbs::actions;
use verbs::{deletes_plainly, is, is_final};

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
    let arguments = arguments(&schema);
    let commands = read_only != Some(true) && commands::carries_out(&name, &text, &arguments);
    let deletes = commands::deletes_by_choice(&arguments) && !verbs::begins_reading(&name);
    let inferred = |text: &str| if deletes { Effect::Deletes } else { verbs::inferred(&name, text) };
    let (effect, stated) = match (read_only, destructive) {
        // A read-only tool called "delete" is mistaken or lying.
        (Some(true), _) if deletes_plainly(&name) => (Effect::Deletes, false),
        (Some(true), _) => (Effect::Reads, true),
        (_, Some(true)) => match inferred(if is_final(&text) { &text } else { "" }) {
            Effect::Reads | Effect::Writes if !commands => (Effect::Writes, true),
            _ => (Effect::Deletes, true),
        },
        (_, Some(false)) => (Effect::Writes, true),
        (Some(false), None) => match inferred(&text) {
            // The server declares that it changes something; the name says how.
            Effect::Reads | Effect::Writes if !commands => (Effect::Writes, true),
            other => (other, false),
        },
        (None, None) => (inferred(&text), false),
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
        open_world: hint("openWorldHint").unwrap_or_else(|| reaches_out(&name, &arguments)),
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

fn reaches_out(name: &[String], arguments: &[Argument]) -> bool {
    name.iter().any(|word| is("web browser http url internet online email sms", word))
        || arguments.iter().any(|one| is("url urls uri href", &one.name))
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
            ("query", "sql", json!({}), (true, Safety::Dangerous)),
            ("explain_query", "sql", json!({}), (false, Safety::Safe)),
        ] {
            assert_eq!(of(name, argument, hints.clone()), expected, "{name} {hints}");
        }
    }

    fn arguments(name: &str, description: &str, properties: Value) -> Nature {
        nature(
            json!({ "name": name, "description": description, "inputSchema": { "properties": properties } }),
        )
    }

    #[test]
    fn a_tool_that_executes_what_it_is_given_is_known_by_its_name() {
        let text = json!({ "type": "string" });
        for (name, argument) in [
            ("bash", "input"),
            ("run_terminal", "text"),
            ("shell_exec", "argv"),
            ("ipython", "cell"),
            ("run_code", "source"),
            ("evaluate", "expr"),
            ("sql", "sql"),
            ("query", "sql"),
            ("execute", "input"),
            ("execute_query", "query"),
            ("cli", "args"),
            ("kubectl", "command"),
            ("run", "cmdline"),
            ("js", "code"),
            ("subprocess", "args"),
            ("eval_js", "snippet"),
            ("run_script", "path"),
            ("repl_send", "text"),
            ("neo4j_write_cypher", "query"),
            ("exec", "x"),
            ("run_shell_command", "what"),
            ("ExecuteShell", "x"),
            ("call_aws", "cli_command"),
            ("run_vba", "macro_name"),
            ("write_to_stdin", "data"),
        ] {
            assert!(arguments(name, "", json!({ argument: text })).commands, "{name}({argument})");
        }
        for (name, argument) in [
            ("search_code", "query"),
            ("web_search", "query"),
            ("format_code", "code"),
            ("validate_sql", "sql"),
            ("get_execution_plan", "query"),
            ("neo4j_read_cypher", "query"),
            ("run_select_query", "query"),
            ("python_get_documentation", "query"),
            ("run_tests", "filter"),
            ("get_test_run", "id"),
            ("validate_address", "country_code"),
            ("run_tests", "error_code"),
            ("execute_workflow", "id"),
        ] {
            assert!(!arguments(name, "", json!({ argument: text })).commands, "{name}({argument})");
        }
    }

    #[test]
    fn a_description_and_the_arguments_tell_it_too() {
        let text = json!({ "type": "string" });
        for (description, argument) in [
            ("Executes the given command or code", json!({ "input": text })),
            ("Run a SQL query against the warehouse.", json!({ "query": text })),
            ("Execute an INSERT, UPDATE, or DELETE query on the SQLite database", json!({ "query": text })),
            ("You have a postgres database. Execute a query and return the rows", json!({ "query": text })),
            ("Pass a shell command; it will be executed on the host.", json!({ "what": text })),
            ("A helper.", json!({ "x": { "type": "string", "description": "The shell command to run" } })),
            ("Device actions", json!({ "action": { "enum": ["info", "shell"] } })),
            ("Compiles and executes C# code dynamically.", json!({ "csharpCode": text })),
            ("Call any C# method of the editor.", json!({ "filter": text })),
            ("Inject JavaScript into a process", json!({ "what": text })),
            ("Schedule a shell command with cron", json!({ "command": text })),
            ("Runs `sh -c` with the given words", json!({ "what": text })),
            ("Carries out a bash command line", json!({ "what": text })),
            ("Evaluates an expression with Python eval()", json!({ "what": text })),
            ("Führt einen Shell-Befehl aus", json!({ "befehl": text })),
            (
                "Device actions",
                json!({ "action": { "anyOf": [{ "const": "info" }, { "const": "run_command" }] } }),
            ),
        ] {
            let got = arguments("frobnicate", description, argument);
            assert_eq!((got.commands, got.safety), (true, Safety::Dangerous), "{description}");
        }
        for (description, argument) in [
            ("Executes a safe, read-only SQL SELECT query", json!({ "query": text })),
            ("Run a Kusto query to search the logs of the database.", json!({ "query": text })),
            ("Validates code without executing it.", json!({ "code": text })),
            ("Retrieve test run results using a unique code and hash.", json!({ "code": text })),
            ("Run the test suite of a project.", json!({ "filter": text })),
            ("Runs the Python linter on a file.", json!({ "file": text })),
            ("Execute a workflow by its name.", json!({ "name": text })),
            ("Device actions", json!({ "mode": { "enum": ["fast", "slow"] } })),
        ] {
            assert!(!arguments("frobnicate", description, argument).commands, "{description}");
        }
    }

    #[test]
    fn one_deleting_action_or_a_binding_one_is_enough() {
        let choice = |values: &[&str]| json!({ "action": { "type": "string", "enum": values } });
        let text = json!({ "type": "string" });
        for (name, properties) in [
            ("app", choice(&["list", "install", "uninstall"])),
            ("manage_rules", choice(&["create", "delete"])),
            ("api_request", json!({ "method": text, "endpoint": text })),
            ("device_approval_approve_all", json!({})),
            ("create_charge", json!({})),
            ("order_refund", json!({})),
            ("send_payment", json!({})),
            ("transfer_funds", json!({})),
            ("place_order", json!({})),
            ("close_account", json!({})),
            ("format_disk", json!({})),
            ("grant_access", json!({})),
            ("reboot", json!({})),
            ("git_push_force", json!({})),
        ] {
            assert_eq!(arguments(name, "", properties).safety, Safety::Dangerous, "{name}");
        }
        for (name, properties) in [
            ("list_charges", json!({})),
            ("purchase_get", json!({})),
            ("get_refund", json!({})),
            ("send_message", json!({})),
            ("format_code", json!({})),
            ("list_orders", json!({})),
            ("list_apps", choice(&["all", "deleted"])),
            ("write_file", json!({ "mode": { "enum": ["append", "overwrite"] } })),
        ] {
            assert_ne!(arguments(name, "", properties).safety, Safety::Dangerous, "{name}");
        }
    }

    #[test]
    fn a_mode_of_the_server_makes_no_reader_and_a_noun_no_writer() {
        use Effect::{Reads, Unstated, Writes};
        for (name, description, effect) in [
            ("ssh_deploy", "Deploys files. Refused on read-only servers.", Writes),
            ("ssh_upload", "Upload a file (not in read-only mode)", Writes),
            ("fileshare_snapshot_create", "Creates a snapshot. Snapshots are read-only copies.", Writes),
            ("frobnicate", "Read-only. Frobnicates the thing.", Reads),
            ("fred_release_dates", "Get the release dates of all releases.", Reads),
            ("fred_series_tags", "Get the tags of a series.", Reads),
            ("app-store-reviews", "Get reviews for an app.", Reads),
            ("color_tool", "Converts a color.", Reads),
            ("entity_action", "Perform an action on an entity.", Unstated),
        ] {
            assert_eq!(arguments(name, description, json!({})).effect, effect, "{name}");
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
