//! `pin-tool`, `unpin-tool`: which tools clients list beside Satchel's own.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        Snapshot,
        control::Change,
        pinned::{PinnedTool, PinnedView},
        request::GetStatus,
    },
};

use super::done;
use crate::{
    args::{PinTool, UnpinTool, Whose},
    output::{Lines, say, say_json, table},
    reach::once,
};

pub(crate) async fn pin(places: &Places, asked: PinTool, json: bool) -> anyhow::Result<ExitCode> {
    match asked.tool {
        Some(tool) => {
            let pin = of(tool, asked.whose);
            let sentence = format!("{} lists {} from now on, without a search.", whose(&pin), pin.tool);
            let answer = once(places, Change::PinTool { pin, pinned: true }).await?;
            done(&sentence, &answer, json)
        }
        None => list(places, json).await,
    }
}

pub(crate) async fn unpin(places: &Places, asked: UnpinTool, json: bool) -> anyhow::Result<ExitCode> {
    let pin = of(asked.tool, asked.whose);
    let sentence = format!("{} finds {} by a search again.", whose(&pin), pin.tool);
    let answer = once(places, Change::PinTool { pin, pinned: false }).await?;
    done(&sentence, &answer, json)
}

fn of(tool: String, Whose { client, profile }: Whose) -> PinnedTool {
    PinnedTool { tool, client, profile }
}

/// Whose lists have it, as the start of a sentence.
fn whose(pin: &PinnedTool) -> String {
    match (&pin.client, &pin.profile) {
        (Some(client), _) => client.clone(),
        (None, Some(profile)) => format!("Every client with the profile {profile}"),
        (None, None) => "Every client".to_owned(),
    }
}

async fn list(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let snapshot: Snapshot = once(places, GetStatus {}).await?;
    match json {
        true => say_json(&snapshot.pinned)?,
        false => say(listed(&snapshot.pinned)),
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(pinned: &[PinnedView]) -> Lines {
    if pinned.is_empty() {
        return Lines::line("No tools are pinned. `satchel pin-tool SERVER:TOOL` pins one.");
    }
    let row = |PinnedView { pin, path }: &PinnedView| {
        let note = if path.is_some() { "" } else { "not offered at present" };
        [pin.tool.clone(), whose(pin).to_lowercase(), note.to_owned()]
    };
    let rows: Vec<[String; 3]> = pinned.iter().map(row).collect();
    table(["TOOL", "LISTED BY", ""], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_tools_are_listed_with_who_lists_them() {
        let pin = |tool: &str, client: Option<&str>, profile: Option<&str>| PinnedTool {
            tool: tool.into(),
            client: client.map(Into::into),
            profile: profile.map(Into::into),
        };
        let pinned = [
            PinnedView { pin: pin("git:log", None, None), path: Some(String::new()) },
            PinnedView { pin: pin("mail:send", Some("cursor"), None), path: None },
            PinnedView { pin: pin("git:log", None, Some("work")), path: Some(String::new()) },
        ];
        let expected = "\
TOOL       LISTED BY                             
git:log    every client                          
mail:send  cursor                              not offered at present
git:log    every client with the profile work    ";
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&listed(&pinned).to_string()), trimmed(expected));
    }
}
