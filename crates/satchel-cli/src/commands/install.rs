//! `install`, `update`, `uninstall`: shows what would run, from where and with which inputs, prompts for missing ones, and does
//! exactly what was shown.

use std::{collections::BTreeMap, io::Write, process::ExitCode};

use anyhow::{Context, anyhow};
use satchel_core::{
    files::Places,
    model::{
        Code,
        control::Change,
        listings::{AskRegistries, Input, InstallAsk, InstallPlan, Installed},
        request::{InstallListed, KeepDeleted, ListInstalled, ListOwnSecrets, RemoveSecret},
        shell,
    },
};
use serde_json::{Value, json};

use super::{
    done,
    listings::{describe, of_way, split_version, tell_afterwards, with_version},
    secrets,
};
use crate::{
    Usage,
    args::{Install, Uninstall, Update},
    output::{harmless, one_line, say, say_aside, say_json},
    reach::{Reached, reach, refusal},
    terminal,
};

/// Options of an installation.
struct Manner {
    dry_run: bool,
    yes: bool,
    json: bool,
}

pub(crate) async fn install(places: &Places, install: Install, json: bool) -> anyhow::Result<ExitCode> {
    let (name, version) = split_version(&install.name);
    let ask = InstallAsk {
        name,
        version,
        way: install.way,
        answers: answers(&install.set),
        ..InstallAsk::default()
    };
    let manner = Manner { dry_run: install.dry_run, yes: install.yes, json };
    let hub = reach(places).await?;
    let went = go_through(&hub, ask, &manner).await;
    hub.leave().await;
    went
}

pub(crate) async fn update(places: &Places, update: Update, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let went = match update.keep {
        true => {
            let kept = hub.ask(KeepDeleted { server: update.name.clone() }).await;
            kept.and_then(|answer| done(&format!("{} may be started again.", update.name), &answer, json))
        }
        false => {
            let (server, version) = split_version(&update.name);
            let server = Some(server);
            let ask = InstallAsk { server, version, answers: answers(&update.set), ..InstallAsk::default() };
            go_through(&hub, ask, &Manner { dry_run: update.dry_run, yes: update.yes, json }).await
        }
    };
    hub.leave().await;
    went
}

/// A value for each input; several if it was given several times.
fn answers(set: &[(String, String)]) -> BTreeMap<String, Value> {
    let mut answers: BTreeMap<String, Value> = BTreeMap::new();
    for (id, value) in set {
        let value = Value::from(value.clone());
        match answers.get_mut(id) {
            None => drop(answers.insert(id.clone(), value)),
            Some(Value::Array(several)) => several.push(value),
            Some(first) => *first = json!([first.clone(), value]),
        }
    }
    answers
}

async fn planned(hub: &Reached, ask: &InstallAsk) -> anyhow::Result<InstallPlan> {
    hub.ask(ask.clone()).await
}

async fn go_through(hub: &Reached, mut ask: InstallAsk, manner: &Manner) -> anyhow::Result<ExitCode> {
    let bare = InstallAsk { answers: BTreeMap::new(), ..ask.clone() };
    let mut plan = planned(hub, &bare).await?;
    if plan.way.is_empty() {
        if !terminal::is_there() {
            return no_way(&plan, manner);
        }
        ask.way = Some(choose(&plan)?);
        plan = planned(hub, &InstallAsk { answers: BTreeMap::new(), ..ask.clone() }).await?;
    }
    ask.answers = ask.answers.into_iter().map(|(id, value)| from_here(&plan.inputs, id, value)).collect();
    plan = planned(hub, &ask).await?;
    let may_ask = terminal::is_there() && !manner.dry_run && !manner.json;
    if may_ask {
        fill_in(hub, &plan, &mut ask).await?;
        plan = planned(hub, &ask).await?;
    }
    if manner.json && manner.dry_run {
        say_json(&plan)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !manner.json {
        show(&plan);
    }
    if manner.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if may_ask && plan.missing.is_empty() {
        for consent in std::mem::take(&mut plan.consents) {
            if !says_yes(&format!("Note that {}. Type yes to accept that:", consent.says))? {
                return Err(anyhow!("nothing was changed"));
            }
            ask.answers.insert(consent.id, "yes".into());
        }
    }
    // The hub refuses missing inputs with its own message.
    let is_ready = plan.missing.is_empty() && plan.consents.is_empty();
    if is_ready && !manner.yes && !agrees(&plan)? {
        return Err(anyhow!("nothing was changed"));
    }
    let installed = hub.ask_for_person(InstallListed { ask, seen: plan.seen.clone() }).await?;
    tell(&plan, &installed, manner.json)
}

/// Reports several ways if nobody can be asked.
fn no_way(plan: &InstallPlan, manner: &Manner) -> anyhow::Result<ExitCode> {
    let ways: Vec<&str> =
        plan.server.ways.iter().filter(|way| way.refused.is_none()).map(|way| way.id.as_str()).collect();
    if manner.dry_run {
        match manner.json {
            true => say_json(plan)?,
            false => show(plan),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let message = format!(
        "\"{}\" can be run in several ways; choose one with --way {}",
        plan.server.name,
        ways.join("|")
    );
    Err(Usage(message).into())
}

fn choose(plan: &InstallPlan) -> anyhow::Result<String> {
    describe(&plan.server);
    plan.server.ways.iter().for_each(|way| say(of_way(way)));
    let good: Vec<&str> =
        plan.server.ways.iter().filter(|way| way.refused.is_none()).map(|way| way.id.as_str()).collect();
    let first = good.first().copied().unwrap_or_default();
    let answer = asked(&format!("Which way ({}) [{first}]:", good.join(", ")))?;
    Ok(if answer.is_empty() { first.to_owned() } else { answer })
}

/// Relative paths on the command line are relative to the present directory.
fn from_here(inputs: &[Input], id: String, value: Value) -> (String, Value) {
    let last = |id: &str| id.rsplit('.').next().unwrap_or(id).trim_start_matches('-').to_owned();
    let is_path =
        inputs.iter().any(|input| is_path(input) && (input.id == id || last(&input.id) == last(&id)));
    let whole = |value: Value| match value.as_str() {
        Some(text) => whole_path(text).into(),
        None => value,
    };
    let value = match value {
        value if !is_path => value,
        Value::Array(several) => several.into_iter().map(whole).collect(),
        one => whole(one),
    };
    (id, value)
}

fn is_path(input: &Input) -> bool {
    matches!(input.format.as_str(), "filepath" | "directory")
}

fn whole_path(text: &str) -> String {
    let home = || std::env::var("HOME").or_else(|_| std::env::var("USERPROFILE")).ok();
    if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        && let Some(home) = home()
    {
        return format!("{home}{rest}");
    }
    std::path::absolute(text).map_or_else(|_| text.to_owned(), |path| path.display().to_string())
}

/// An answer that does not fit is asked for again so often.
const TRIES: usize = 3;

/// Asks for what has to be given, and for what can be chosen. An answer that does not fit is asked for again.
async fn fill_in(hub: &Reached, plan: &InstallPlan, ask: &mut InstallAsk) -> anyhow::Result<()> {
    let is_update = ask.server.is_some();
    let is_given = |ask: &InstallAsk, id: &str| {
        let last = id.rsplit('.').next().unwrap_or(id).trim_start_matches('-');
        ask.answers.keys().any(|given| given == id || given.trim_start_matches('-') == last)
    };
    for input in &plan.inputs {
        let wanted = plan.missing.contains(&input.id) || !input.choices.is_empty() && !is_update;
        if !wanted || is_given(ask, &input.id) {
            continue;
        }
        for tries in 1..=TRIES {
            let value = answer_to(input)?;
            if value.is_empty() {
                break;
            }
            let (id, value) = from_here(&plan.inputs, input.id.clone(), value.into());
            ask.answers.insert(id.clone(), value);
            match planned(hub, ask).await {
                Ok(_) => break,
                Err(error) if tries == TRIES || refusal(&error).is_none() => return Err(error),
                Err(error) => {
                    say_aside(&one_line(&error.to_string()));
                    ask.answers.remove(&id);
                }
            }
        }
    }
    Ok(())
}

fn answer_to(input: &Input) -> anyhow::Result<String> {
    let about = if input.description.is_empty() { &input.id } else { &input.description };
    if input.secret {
        return secrets::ask(&one_line(&format!("{about} ({}, unseen)", input.id)));
    }
    let kind = match (input.choices.as_slice(), input.format.as_str()) {
        ([], "number") => " (a number)".to_owned(),
        ([], "boolean") => " (true, false)".to_owned(),
        ([], _) if is_path(input) => " (a path)".to_owned(),
        ([], _) => String::new(),
        (choices, _) => format!(" ({})", choices.join(", ")),
    };
    let usual = input.default.as_ref().map(|text| format!(" [{text}]")).unwrap_or_default();
    asked(&one_line(&format!("{about}{kind}{usual}:")))
}

fn asked(question: &str) -> anyhow::Result<String> {
    let mut shown = std::io::stderr().lock();
    write!(shown, "{} ", harmless(question))
        .and_then(|()| shown.flush())
        .context("cannot write to the terminal")?;
    drop(shown);
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read from the terminal")?;
    Ok(answer.trim().to_owned())
}

fn says_yes(question: &str) -> anyhow::Result<bool> {
    Ok(asked(question)? == "yes")
}

fn agrees(plan: &InstallPlan) -> anyhow::Result<bool> {
    if !terminal::is_there() {
        return Err(Usage("there is no terminal to ask on; --yes accepts what --dry-run shows".into()).into());
    }
    let what = if plan.from.is_some() { "Update" } else { "Install" };
    terminal::agrees(&format!("{what} {} as \"{}\"?", plan.server.name, plan.called))
}

/// Prints everything that a person should see before approving.
fn show(plan: &InstallPlan) {
    describe(&plan.server);
    if plan.way.is_empty() {
        plan.server.ways.iter().for_each(|way| say(of_way(way)));
        say("  --way chooses one of them.");
        return;
    }
    if let Some(from) = &plan.from {
        say(format!("  updates    \"{}\" from {}", plan.called, one_line(from)));
        plan.changes.iter().for_each(|line| say(format!("             {}", one_line(line))));
    } else {
        say(format!("  called     {}", plan.called));
    }
    let what = if plan.transport == "stdio" { "runs" } else { "connects" };
    say(format!(
        "  {what:<10} {}",
        plan.runs.iter().map(|word| shell::word(&harmless(word)).into_owned()).collect::<Vec<_>>().join(" ")
    ));
    for (what, map) in [("variable", &plan.env), ("header", &plan.headers)] {
        map.iter().for_each(|(name, value)| say(format!("  {what:<10} {name} = {}", one_line(value))));
    }
    let needs = plan.inputs.iter().filter(|input| plan.missing.contains(&input.id));
    for input in needs {
        let secret = if input.secret { " (stored in the keychain)" } else { "" };
        say(format!("  needs      {}{secret} {}", input.id, one_line(&input.description)));
    }
    let may = plan.inputs.iter().filter(|input| !input.required && input.choices.is_empty());
    for input in may {
        let usual = input.default.as_ref().map(|text| format!(" [{}]", one_line(text))).unwrap_or_default();
        say(format!("  may take   {}{usual} {}", input.id, one_line(&input.description)));
    }
    plan.consents.iter().for_each(|consent| {
        say(format!("  ! {}; --set {}=yes accepts that", one_line(&consent.says), consent.id));
    });
    plan.runtime
        .iter()
        .for_each(|missing| say(format!("  ! {} is not installed here. {missing}", missing.program)));
    say(format!("  reaches    {}", reach_of(plan)));
    tell_afterwards(&plan.afterwards);
}

/// What the server will be able to reach once it runs.
fn reach_of(plan: &InstallPlan) -> &'static str {
    match (plan.transport.as_str(), plan.runs.first().map(String::as_str)) {
        ("stdio", Some("docker" | "podman")) => {
            "the network, and of this computer what is mounted into its container"
        }
        ("stdio", _) => {
            "what you can reach: your files, your network (\"sandbox\": true in its entry narrows that)"
        }
        _ => "what you send to it, and nothing of this computer",
    }
}

fn tell(plan: &InstallPlan, installed: &Installed, json: bool) -> anyhow::Result<ExitCode> {
    let Installed { server, version, secrets, held } = installed;
    let what = if plan.from.is_some() { "Updated" } else { "Installed" };
    let done_with = with_version(&plan.server.name, version);
    done(&format!("{what} {server}: {done_with}."), &json!(installed), json)?;
    if json {
        return Ok(ExitCode::SUCCESS);
    }
    if *secrets > 0 {
        say_aside(&format!(
            "Stored {} in the keychain.",
            crate::output::counted(*secrets as u64, "credential", "credentials")
        ));
    }
    if *held {
        say_aside(&format!(
            "It is held back until you review it: `satchel approve {}`.",
            shell::word(server)
        ));
    }
    plan.runtime
        .iter()
        .for_each(|missing| say_aside(&format!("{} is not installed here. {missing}", missing.program)));
    say_aside("`satchel undo` reverts it.");
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn uninstall(places: &Places, uninstall: Uninstall, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let went = take_away(&hub, &uninstall.name, json).await;
    hub.leave().await;
    went
}

async fn take_away(hub: &Reached, name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let installed = hub.ask(ListInstalled { ask: AskRegistries::Never }).await?;
    let named = installed.iter().find(|one| one.server == name || one.name == name);
    let server = named.map_or_else(|| name.to_owned(), |one| one.server.clone());
    let own = hub.ask(ListOwnSecrets { server: server.clone() }).await?.names;
    let answer = hub.ask(Change::Remove { name: server.clone() }).await?;
    for secret in &own {
        match hub.ask(RemoveSecret { name: secret.clone() }).await {
            // One that was never stored counts as removed.
            Err(error) if refusal(&error).is_none_or(|refusal| refusal.code != Code::UnknownSecret) => {
                return Err(error);
            }
            _ => {}
        }
    }
    let secrets =
        if own.is_empty() { String::new() } else { format!(" and its secrets: {}", own.join(", ")) };
    done(&format!("Removed {server}{secrets}."), &answer, json)
}
