//! `install`, `update`, `uninstall`: shows what would run, from where and with which inputs, prompts for missing ones, and does
//! exactly what was shown.

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::anyhow;
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
    approvals::text::Rest,
    done,
    listings::{afterwards, described, of_way, split_version, with_version},
    secrets,
};
use crate::{
    Usage,
    args::{Install, Uninstall, Update},
    output::{Lines, one_line, say, say_aside, say_json},
    reach::{Reached, reach, refusal},
    terminal::{self, asked},
};

/// Maximum number of lines before a question that do not say what runs, where it goes and what it may reach.
const MOST_OTHERS: usize = 24;

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
        say(shown(&plan, if manner.dry_run { Rest::Whole } else { Rest::Folded }));
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
            false => say(shown(plan, Rest::Whole)),
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
    say(described(&plan.server).and(plan.server.ways.iter().map(of_way).collect::<Lines>()));
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
                    say_aside(one_line(&error.to_string()));
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

/// Everything that a person should see before approving. What runs, where it goes and what it may reach come first.
fn shown(plan: &InstallPlan, rest: Rest) -> Lines {
    let mut text = described(&plan.server);
    if plan.way.is_empty() {
        text.push(plan.server.ways.iter().map(of_way).collect::<Lines>());
        return text.and("  --way chooses one of them.");
    }
    if let Some(from) = &plan.from {
        text.push(format!("  updates    \"{}\" from {}", plan.called, one_line(from)));
        text.push(
            plan.changes.iter().map(|line| format!("             {}", one_line(line))).collect::<Lines>(),
        );
    } else {
        text.push(format!("  called     {}", plan.called));
    }
    let what = if plan.transport == "stdio" { "runs" } else { "connects" };
    let words: Vec<_> = plan.runs.iter().map(|word| shell::word(word)).collect();
    text.push(format!("  {what:<10} {}", words.join(" ")));
    text.push(format!("  reaches    {}", reach_of(plan)));
    for consent in &plan.consents {
        text.push(format!("  ! {}; --set {}=yes accepts that", one_line(&consent.says), consent.id));
    }
    if let Some(missing) = &plan.runtime {
        text.push(format!("  ! {} is not installed here. {missing}", missing.program));
    }
    let (leads, others) = told_to_it(plan);
    let others = asked_for(plan).and(others).and(afterwards(&plan.afterwards));
    let (mut others, more) = match rest {
        Rest::Folded => others.folded(MOST_OTHERS),
        Rest::Whole => (others, 0),
    };
    if more > 0 {
        others.push(format!("  … {more} more lines of inputs, variables and headers; --dry-run shows them"));
    }
    text.and(leads).and(others)
}

/// The inputs that it needs and may take.
fn asked_for(plan: &InstallPlan) -> Lines {
    let mut text = Lines::default();
    for input in plan.inputs.iter().filter(|input| plan.missing.contains(&input.id)) {
        let secret = if input.secret { " (stored in the keychain)" } else { "" };
        text.push(format!("  needs      {}{secret} {}", input.id, one_line(&input.description)));
    }
    for input in plan.inputs.iter().filter(|input| !input.required && input.choices.is_empty()) {
        let usual = input.default.as_ref().map(|text| format!(" [{}]", one_line(text))).unwrap_or_default();
        text.push(format!("  may take   {}{usual} {}", input.id, one_line(&input.description)));
    }
    text
}

/// Variables and headers: those with an address, which say where something goes, and the others.
fn told_to_it(plan: &InstallPlan) -> (Lines, Lines) {
    let env = plan.env.iter().map(|one| ("variable", one));
    let all = env.chain(plan.headers.iter().map(|one| ("header", one)));
    let (leads, others): (Vec<_>, Vec<_>) = all.partition(|(_, (_, value))| value.contains("://"));
    let line = |(what, (name, value)): (&str, (&String, &String))| {
        format!("  {what:<10} {name} = {}", one_line(value))
    };
    (leads.into_iter().map(line).collect(), others.into_iter().map(line).collect())
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
        say_aside(format!(
            "Stored {} in the keychain.",
            crate::output::counted(*secrets as u64, "credential", "credentials")
        ));
    }
    if *held {
        say_aside(format!("It is held back until you review it: `satchel approve {}`.", shell::word(server)));
    }
    plan.runtime
        .iter()
        .for_each(|missing| say_aside(format!("{} is not installed here. {missing}", missing.program)));
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

#[cfg(test)]
mod tests {
    use satchel_core::model::hidden;

    use super::*;

    /// Clears the screen and paints another server.
    const PAINTS: &str =
        "\u{1b}[2J\u{1b}[3J\u{1b}[Hio.github.good/fs 1.0.0\r\n  runs       npx -y good\u{1b}[8m";

    #[test]
    fn no_field_of_an_entry_repaints_its_review() {
        let painted = || format!("K{PAINTS}\u{202e}\u{200b}");
        let input =
            Input { id: painted(), description: painted(), default: Some(painted()), ..Input::default() };
        let plan = InstallPlan {
            called: painted(),
            way: "npm".into(),
            transport: "stdio".into(),
            runs: vec!["npx".into(), painted()],
            env: [(painted(), painted())].into(),
            headers: [(painted(), painted())].into(),
            inputs: vec![input],
            afterwards: vec![painted()],
            from: Some(painted()),
            changes: vec![painted()],
            ..InstallPlan::default()
        };
        let text = shown(&plan, Rest::Folded).to_string();
        assert!(hidden::unseen(&text).is_empty(), "{text:?}");
        let runs: Vec<&str> = text.lines().filter(|line| line.starts_with("  runs ")).collect();
        assert!(matches!(runs[..], [line] if line.contains("⟨U+001B⟩[2J")), "{text}");
    }

    #[test]
    fn what_runs_and_what_it_reaches_stand_before_any_number_of_variables() {
        let mut plan = InstallPlan {
            way: "npm".into(),
            transport: "stdio".into(),
            runs: vec!["npx".into(), "-y".into(), "evil".into()],
            env: (0..500).map(|at| (format!("A{at}"), "x".to_owned())).collect(),
            ..InstallPlan::default()
        };
        plan.env.insert("Z".into(), "https://evil.example".into());
        let text = shown(&plan, Rest::Folded).to_string();
        let line = |begin: &str| text.lines().position(|line| line.trim_start().starts_with(begin)).unwrap();
        assert!(line("runs") < line("variable"), "{text}");
        assert!(line("reaches") < line("variable   Z = https://evil.example"), "{text}");
        assert!(
            text.ends_with("… 476 more lines of inputs, variables and headers; --dry-run shows them"),
            "{text}"
        );
        assert_eq!(
            shown(&plan, Rest::Whole).to_string().lines().filter(|line| line.contains("variable")).count(),
            501
        );
    }
}
