//! `tools`: lists or searches the servers' tools.

use std::{process::ExitCode, time::Duration};

use satchel_core::{
    config::rules::ToolRule,
    files::Places,
    hub::{Hub, origin_here},
    model::{
        ServerView, Startup,
        control::{Change, ToolLine, ToolList},
        nature::{Effect, Permit},
        request::{GetStatus, ListClients, ListTools, Restart},
    },
};
use tokio::task::JoinSet;

use super::{done, history::ago, now_ms, servers::unread_told};
use crate::{
    args::{Rule, Tools},
    output::{Lines, count, left_out, say, say_aside, say_json, shortened, table},
    reach::{Reached, reach},
};

/// Default number of search results.
const USUAL_LIMIT: usize = 20;
/// Number of servers started concurrently to read their tools.
const AT_ONCE: usize = 4;
/// Timeout for a server to list its tools.
const LEARNING_TIME: Duration = Duration::from_secs(60);
/// More tools than anyone has.
const ALL: usize = 1_000_000;
/// Maximum width of a description; `--json` shows all of it.
const DESCRIPTION_WIDTH: usize = 80;

pub(crate) async fn run(places: &Places, tools: Tools, json: bool) -> anyhow::Result<ExitCode> {
    let query = tools.query.join(" ");
    let is_listing = query.is_empty();
    let limit = tools.limit.unwrap_or(if is_listing { ALL } else { USUAL_LIMIT });
    let server = tools.server.map(String::from);
    let hub = reach(places).await?;
    if let Reached::Here(hub) = &hub {
        learn(hub, server.as_deref()).await;
    }
    let answer = hub.ask(ListTools { query, server: server.clone(), limit }).await;
    let snapshot = hub.ask(GetStatus {}).await;
    hub.leave().await;
    let list: ToolList = answer?;
    match json {
        true => say_json(&list)?,
        false if tools.rules => say(ruled(&list)),
        false => say(listed(&list, tools.explain, tools.long.then(now_ms))),
    }
    let snapshot = snapshot?;
    if !json
        && is_listing
        && let Some(profile) = &snapshot.profiles.active
    {
        say_aside(beyond_profile(profile));
    }
    if !json && let Some(name) = server {
        let named = snapshot.servers.iter().filter(|server| server.name == name);
        let left = left_out(named);
        if !left.is_empty() {
            say_aside(left);
        }
    }
    Ok(unread_told(&snapshot))
}

/// The list is for a person who decides about tools, so it has more than clients are shown.
fn beyond_profile(profile: &str) -> String {
    format!(
        "The profile \"{profile}\" is active. This list also has tools that it leaves out; \
         `satchel tools WORDS` searches as clients do."
    )
}

pub(crate) async fn rule(places: &Places, rule: Rule, json: bool) -> anyhow::Result<ExitCode> {
    let permit: Option<Permit> = rule.permit.into();
    let whom = rule.client.as_ref().map(|client| format!(" for {client}")).unwrap_or_default();
    let said = match permit {
        Some(permit) => format!("{}{whom}: {}.", rule.tool, permit.as_str()),
        None => format!("Removed the rule for {}{whom}.", rule.tool),
    };
    let (tool, client) = (rule.tool.clone(), rule.client.clone());
    let hub = reach(places).await?;
    let answer = hub.ask(Change::SetPermit { tool, client, permit }).await;
    let doubts = match permit.is_some() && answer.is_ok() {
        true => doubts(&hub, &rule).await,
        false => vec![],
    };
    hub.leave().await;
    let code = done(&said, &answer?, json)?;
    doubts.iter().for_each(say_aside);
    Ok(code)
}

/// Warns of a tool or client that the rule names and the hub does not know. The rule may still be right: a server may
/// be asleep or not added yet.
async fn doubts(hub: &Reached, rule: &Rule) -> Vec<String> {
    let all = ListTools { query: String::new(), server: None, limit: ALL };
    let clients = ListClients { environment: super::clients::environment() };
    let (Ok(tools), Ok(clients), Ok(snapshot)) =
        (hub.ask(all).await, hub.ask(clients).await, hub.ask(GetStatus {}).await)
    else {
        return vec![];
    };
    let clients: Vec<&str> = clients
        .clients
        .iter()
        .map(|client| client.id.as_str())
        .chain(snapshot.clients.iter().map(|client| client.id.as_str()))
        .collect();
    let tools: Vec<&str> = tools.tools.iter().map(|tool| tool.tool_path.as_str()).collect();
    doubtful(rule, &tools, &clients)
}

fn doubtful(rule: &Rule, tools: &[&str], clients: &[&str]) -> Vec<String> {
    let (tool, client) = (rule.tool.clone(), rule.client.clone());
    let meant = ToolRule { tool, client, ..ToolRule::default() };
    let no_tool = (!tools.iter().any(|path| meant.is_for(path)))
        .then(|| format!("No tool that is known now matches {}; the rule counts once one does.", rule.tool));
    let no_client = rule.client.as_ref().filter(|_| !clients.iter().any(|id| meant.is_for_client(Some(id))));
    let no_client = no_client.map(|client| {
        format!("No client that is known now matches {client}; `satchel clients --all` lists them.")
    });
    no_tool.into_iter().chain(no_client).collect()
}

/// What tools do, and whether they may be called.
fn ruled(list: &ToolList) -> Lines {
    let row = |tool: &ToolLine| {
        let does = match (tool.nature.effect, tool.nature.stated) {
            (Effect::Reads, true) => "reads",
            (Effect::Reads, false) => "reads?",
            (Effect::Writes, true) => "writes",
            (Effect::Writes, false) => "writes?",
            (Effect::Deletes, true) => "deletes",
            (Effect::Deletes, false) => "deletes?",
            (Effect::Unstated, _) => "?",
        };
        [tool.tool_path.clone(), does.to_owned(), tool.permit.as_str().to_owned(), tool.rule.clone()]
    };
    let rows: Vec<_> = list.tools.iter().map(row).collect();
    table(["TOOL", "DOES", "PERMIT", "RULE"], &rows)
}

/// Reads the lists of servers that were never started. A running hub does that itself; here it is done once, for this
/// command.
async fn learn(hub: &Hub, only: Option<&str>) {
    let snapshot = hub.snapshot();
    let unknown = snapshot.servers.iter().filter(|server| {
        let wanted = only.is_none_or(|only| only == server.name);
        wanted
            && server.enabled
            && server.tools.is_none()
            && server.startup != Startup::Manual
            && !settled(server)
    });
    let mut asked = JoinSet::new();
    for server in unknown {
        if asked.len() == AT_ONCE {
            asked.join_next().await;
        }
        asked.spawn(ask(hub.clone(), server.name.clone()));
    }
    while asked.join_next().await.is_some() {}
}

async fn ask(hub: Hub, name: String) {
    let mut watch = hub.watch();
    let Ok(origin) = origin_here(false) else { return };
    if hub.request(Restart { server: name.clone() }, &origin).await.is_err() {
        return;
    }
    let known = watch.wait_for(|snapshot| {
        let server = snapshot.servers.iter().find(|server| server.name == name);
        server.is_none_or(settled)
    });
    if tokio::time::timeout(LEARNING_TIME, known).await.is_err() {
        tracing::warn!("{name} did not list its tools in time");
    }
}

/// Its tools are known, or cannot be until a person acts.
fn settled(server: &ServerView) -> bool {
    server.tools.is_some() || server.is_troubled()
}

/// `long_at` is the present time, for the long form.
fn listed(list: &ToolList, explain: bool, long_at: Option<u64>) -> Lines {
    if list.tools.is_empty() {
        return "No tools found.".into();
    }
    let row = |tool: &ToolLine| {
        [tool.tool_path.clone(), count(tool.tokens), shortened(&tool.description, DESCRIPTION_WIDTH)]
    };
    let rows: Vec<_> = list.tools.iter().map(row).collect();
    let mut text = match long_at {
        None => table(["TOOL", "TOKENS", "DESCRIPTION"], &rows),
        Some(now_ms) => {
            let rows: Vec<_> =
                list.tools.iter().zip(rows).map(|(tool, row)| long(tool, row, now_ms)).collect();
            table(["TOOL", "DOES", "TO CALL", "KNOWN SINCE", "CHANGED", "TOKENS", "DESCRIPTION"], &rows)
        }
    };
    if explain {
        let whys = list.tools.iter().filter_map(|tool| Some((&tool.tool_path, tool.why.as_ref()?)));
        let whys: Vec<_> = whys.map(|(path, why)| [path.clone(), why.clone()]).collect();
        text = Lines::paragraphs([text, table(["TOOL", "WHY"], &whys)]);
    }
    if list.total > list.tools.len() {
        text.push(format!("Showing {} of {}.", list.tools.len(), list.total));
    }
    text
}

fn long(tool: &ToolLine, [path, tokens, description]: [String; 3], now_ms: u64) -> [String; 7] {
    let when = |then: Option<u64>| then.map_or_else(|| "–".to_owned(), |then| ago(then, now_ms));
    let changed = match tool.version {
        0 | 1 => "–".to_owned(),
        version => format!("{} (version {version})", when(tool.changed_ms)),
    };
    let category = shortened(&tool.category, DESCRIPTION_WIDTH / 4);
    let complexity = tool.complexity.as_str().to_owned();
    [path, category, complexity, when(tool.first_seen_ms), changed, tokens, description]
}

#[cfg(test)]
mod tests {
    use satchel_core::model::{control::Complexity, nature::Nature};

    use super::*;

    fn tool(tool_path: &str, description: &str, tokens: Option<usize>) -> ToolLine {
        ToolLine {
            tool_path: tool_path.into(),
            description: description.into(),
            signature: "()".into(),
            tokens,
            category: "reading".into(),
            complexity: Complexity::Simple,
            version: 1,
            first_seen_ms: Some(1_000),
            changed_ms: None,
            why: None,
            nature: Nature::default(),
            permit: Permit::Ask,
            rule: "tools that delete: ask first".into(),
            usual: None,
        }
    }

    #[test]
    fn tools_are_listed_with_what_is_left_out() {
        let tools = vec![
            tool("toolbox:hash_text", "Hashes text.\nIn hex.", Some(90)),
            tool("git:log", &"long ".repeat(40), None),
        ];
        let expected = "\
TOOL               TOKENS  DESCRIPTION
toolbox:hash_text  90      Hashes text. In hex.
git:log            –       long long long long long long long long long long long long long long long long…
Showing 2 of 9.";
        assert_eq!(listed(&ToolList { tools, total: 9 }, false, None).to_string(), expected);
    }

    #[test]
    fn the_details_of_a_tool_are_printed_on_request() {
        let changed = ToolLine {
            version: 3,
            changed_ms: Some(120_000),
            category: "writing".into(),
            complexity: Complexity::Complex,
            ..tool("git:commit", "Commits.", Some(7))
        };
        let tools = vec![tool("git:log", "Logs.", None), changed];
        let expected = "\
TOOL        DOES     TO CALL  KNOWN SINCE  CHANGED              TOKENS  DESCRIPTION
git:log     reading  simple   2 min ago    –                    –       Logs.
git:commit  writing  complex  2 min ago    1 s ago (version 3)  7       Commits.";
        assert_eq!(listed(&ToolList { tools, total: 2 }, false, Some(121_000)).to_string(), expected);
    }

    #[test]
    fn rules_are_listed_with_what_tools_do() {
        let expected = "\
TOOL     DOES  PERMIT  RULE
git:log  ?     ask     tools that delete: ask first";
        let one = ToolList { tools: vec![tool("git:log", "", None)], total: 1 };
        assert_eq!(ruled(&one).to_string(), expected);
    }

    #[test]
    fn a_rule_for_nothing_that_is_known_is_doubted_and_not_refused() {
        let check = |tool: &str, client: Option<&str>, doubts: &[&str]| {
            let (tool, client) = (tool.to_owned(), client.map(ToOwned::to_owned));
            let rule = Rule { tool, permit: crate::args::Ruling::Off, client };
            let said = doubtful(&rule, &["git:log", "git:commit"], &["cursor"]);
            assert_eq!(said.len(), doubts.len(), "{said:?}");
            assert!(said.iter().zip(doubts).all(|(said, names)| said.contains(names)), "{said:?}");
        };
        check("git:*", Some("cursor"), &[]);
        check("git:log", None, &[]);
        check("odd2:nosuch", None, &["odd2:nosuch"]);
        check("git:log", Some("nosuchclient"), &["nosuchclient"]);
        check("x:y", Some("nosuchclient"), &["x:y", "nosuchclient"]);
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(listed(&ToolList { tools: vec![], total: 0 }, false, None).to_string(), "No tools found.");
    }
}
