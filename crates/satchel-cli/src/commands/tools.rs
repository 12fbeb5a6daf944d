//! `tools`: what the servers offer, ranked when something is looked for.

use std::{process::ExitCode, time::Duration};

use satchel_core::{
    files::Places,
    hub::Hub,
    model::{
        ServerView, Startup,
        control::{ToolLine, ToolList, Wish},
    },
};
use tokio::task::JoinSet;

use crate::{
    args::Tools,
    output::{count, say, say_json, shortened, table},
    reach::{Reached, reach},
};

/// How many results a search gives when nothing else is said.
const USUAL_LIMIT: usize = 20;
/// Servers that are started at the same time to learn their tools.
const AT_ONCE: usize = 4;
/// How long a server may take to tell its tools.
const LEARNING_TIME: Duration = Duration::from_secs(60);
/// More tools than anybody has.
const ALL: usize = 1_000_000;
/// Longer descriptions are cut; `--json` has all of it.
const DESCRIPTION_WIDTH: usize = 80;

pub(crate) async fn run(places: &Places, tools: Tools, json: bool) -> anyhow::Result<ExitCode> {
    let query = tools.query.join(" ");
    let limit = tools.limit.unwrap_or(if query.is_empty() { ALL } else { USUAL_LIMIT });
    let server = tools.server.map(String::from);
    let hub = reach(places).await?;
    if let Reached::Here(hub) = &hub {
        learn(hub, server.as_deref()).await;
    }
    let answer = hub.fulfil_as(Wish::Tools { query, server, limit }).await;
    hub.leave().await;
    let list: ToolList = answer?;
    match json {
        true => say_json(&list)?,
        false => say(listed(&list, tools.explain)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Servers that were never started have told nobody what they offer. A running hub asks them by itself; here they
/// are asked once, for this command.
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
    if hub.fulfil(Wish::Restart { server: name.clone() }).await.is_err() {
        return;
    }
    let known = watch.wait_for(|snapshot| {
        let server = snapshot.servers.iter().find(|server| server.name == name);
        server.is_none_or(settled)
    });
    if tokio::time::timeout(LEARNING_TIME, known).await.is_err() {
        tracing::warn!("{name} did not tell its tools in time");
    }
}

/// Its tools are known, or will not be before a person acts.
fn settled(server: &ServerView) -> bool {
    server.tools.is_some() || server.state.needs_you()
}

fn listed(list: &ToolList, explain: bool) -> String {
    if list.tools.is_empty() {
        return "No tools found.".into();
    }
    let row = |tool: &ToolLine| {
        [tool.tool_path.clone(), count(tool.tokens), shortened(&tool.description, DESCRIPTION_WIDTH)]
    };
    let rows: Vec<_> = list.tools.iter().map(row).collect();
    let mut text = table(["TOOL", "TOKENS", "DESCRIPTION"], &rows);
    if explain {
        let whys = list.tools.iter().filter_map(|tool| Some((&tool.tool_path, tool.why.as_ref()?)));
        let whys: Vec<_> = whys.map(|(path, why)| [path.clone(), why.clone()]).collect();
        text.push_str(&format!("\n\n{}", table(["TOOL", "WHY"], &whys)));
    }
    if list.total > list.tools.len() {
        text.push_str(&format!("\n{} of {} are shown.", list.tools.len(), list.total));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(tool_path: &str, description: &str, tokens: Option<usize>) -> ToolLine {
        ToolLine {
            tool_path: tool_path.into(),
            description: description.into(),
            signature: "()".into(),
            tokens,
            why: None,
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
2 of 9 are shown.";
        assert_eq!(listed(&ToolList { tools, total: 9 }, false), expected);
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(listed(&ToolList { tools: vec![], total: 0 }, false), "No tools found.");
    }
}
