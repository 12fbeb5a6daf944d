//! `setup`: exports and imports the whole setup as a file, and syncs it through a followed folder.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::anyhow;
use satchel_core::{
    files::Places,
    model::{
        left::Left,
        request::{FollowSetup, GetFollowedSetup, KeepSetup, ReadSetup, TakeSetup, WriteSetup},
        setup::{
            FollowedSetup, SetupChoice, SetupDifference, SetupPart, SetupReview, SetupSource, SetupStanding,
            TakenSetup, WrittenSetup,
        },
        shell,
    },
};

use super::{
    approvals::text::{Rest, Unchanged, diff_shown},
    done, secrets,
};
use crate::{
    Usage,
    args::{SetupAct, SetupParts},
    output::{Lines, say, say_aside, say_json},
    reach::{Reached, once, reach},
    terminal,
};

pub(crate) async fn run(places: &Places, act: Option<SetupAct>, json: bool) -> anyhow::Result<ExitCode> {
    match act {
        None => show(places, json).await,
        Some(SetupAct::Export { file, with_secrets }) => export(places, &file, with_secrets, json).await,
        Some(SetupAct::Import { file, parts }) => {
            take(places, SetupSource::File(absolute(&file)), parts, json).await
        }
        Some(SetupAct::Follow { folder, stop: _ }) => follow(places, folder, json).await,
        Some(SetupAct::Take { computer, parts }) => {
            take(places, SetupSource::Computer(computer), parts, json).await
        }
        Some(SetupAct::Keep { computer, parts }) => keep(places, computer, parts, json).await,
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

async fn export(places: &Places, file: &Path, with_secrets: bool, json: bool) -> anyhow::Result<ExitCode> {
    let passphrase = with_secrets.then(|| secrets::ask_twice("Passphrase of the file")).transpose()?;
    let hub = reach(places).await?;
    let request = WriteSetup { path: absolute(file), passphrase };
    let answer = match with_secrets {
        // The person typed a passphrase at this terminal.
        true => hub.ask_for_person(request).await,
        false => hub.ask(request).await,
    };
    hub.leave().await;
    let written: WrittenSetup = answer?;
    if !json {
        left_out(&written.left);
    }
    done(&told(&written), &written, json)
}

fn told(written: &WrittenSetup) -> String {
    let secrets = match written.secrets {
        0 => "no secrets".to_owned(),
        1 => "1 secret, sealed".to_owned(),
        count => format!("{count} secrets, sealed"),
    };
    format!(
        "Wrote {}: {}, {}, {secrets}.",
        written.path,
        counted(written.servers, "server", "servers"),
        counted(written.others, "other part", "other parts")
    )
}

async fn show(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let followed: FollowedSetup = once(places, GetFollowedSetup {}).await?;
    if json {
        say_json(&followed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(folder) = &followed.folder else {
        say(
            "No folder is followed. `satchel setup follow DIR` follows one, `satchel setup export FILE` writes a file.",
        );
        return Ok(ExitCode::SUCCESS);
    };
    say(format!("Following {folder} as {}.", followed.computer));
    if followed.others.is_empty() {
        say("No other computer has written there yet.");
    }
    for other in &followed.others {
        say(standing(other));
        other.differences.iter().for_each(|one| say(format!("  {}", line(one))));
    }
    if followed.others.iter().any(|other| !other.differences.is_empty()) {
        say(
            "`satchel setup take COMPUTER` takes theirs, `satchel setup keep COMPUTER` keeps ours; both show it first.",
        );
    }
    left_out(&followed.troubles);
    Ok(ExitCode::SUCCESS)
}

/// How another computer's setup compares with this one, in both directions.
fn standing(other: &SetupReview) -> String {
    let missing = |count| format!("{} missing there", counted(count, "part of here is", "parts of here are"));
    let said = match (other.differences.len(), other.only_here) {
        (0, None) => "the same as here".to_owned(),
        (0, Some(count)) => format!("nothing to take; {}", missing(count)),
        (all, None) => counted(all, "part differs", "parts differ"),
        (all, Some(count)) => format!("{}; {}", counted(all, "part differs", "parts differ"), missing(count)),
    };
    format!("{}: {said}.", other.computer)
}

async fn follow(places: &Places, folder: Option<PathBuf>, json: bool) -> anyhow::Result<ExitCode> {
    let folder = folder.as_deref().map(absolute);
    let followed: FollowedSetup = once(places, FollowSetup { folder }).await?;
    let sentence = match &followed.folder {
        Some(folder) => format!(
            "Following {folder} as {}. Secrets stay here; changes from other computers have no effect \
             until you take them.",
            followed.computer
        ),
        None => "Stopped following the folder. The files in it stay.".to_owned(),
    };
    done(&sentence, &followed, json)
}

async fn take(places: &Places, from: SetupSource, parts: SetupParts, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let outcome = take_from(&hub, from, parts, json).await;
    hub.leave().await;
    outcome
}

async fn take_from(
    hub: &Reached,
    from: SetupSource,
    parts: SetupParts,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let review: SetupReview = hub.ask(ReadSetup { from: from.clone() }).await?;
    let Some(chosen) = looked_at(&review, &parts, "Take", json)? else { return Ok(ExitCode::SUCCESS) };
    // Servers bring the secrets that they reference.
    let wants_secrets =
        |one: &SetupChoice| ["server:", "sealed:"].iter().any(|part| one.id.starts_with(part));
    let passphrase = match review.sealed && chosen.iter().any(wants_secrets) && terminal::is_there() {
        true => Some(secrets::ask_unless_empty("Passphrase of its secrets, or nothing to leave them")?),
        false => None,
    };
    let passphrase = passphrase.filter(|passphrase| !passphrase.is_empty());
    let taken: TakenSetup = hub.ask_for_person(TakeSetup { from, parts: chosen, passphrase }).await?;
    if !json {
        left_out(&taken.left);
    }
    let secrets = match taken.secrets {
        0 => String::new(),
        count => format!(", and stored {}", counted(count, "secret", "secrets")),
    };
    let sentence = format!("Took {}{secrets}.", counted(taken.taken.len(), "part", "parts"));
    let nothing = taken.taken.is_empty() && !taken.left.is_empty();
    let code = done(&sentence, &taken, json)?;
    if !json {
        for server in &taken.off {
            say(format!(
                "{server} is switched off; `satchel enable {}` switches it on.",
                shell::word(server)
            ));
        }
        if taken.waits {
            say("What loosens a protection waits: `satchel approve --settings` shows it and asks.");
        }
    }
    Ok(if nothing { ExitCode::FAILURE } else { code })
}

async fn keep(places: &Places, computer: String, parts: SetupParts, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let outcome = async {
        let from = SetupSource::Computer(computer.clone());
        let review: SetupReview = hub.ask(ReadSetup { from }).await?;
        let Some(chosen) = looked_at(&review, &parts, "Keep ours in place of", json)? else {
            return Ok(ExitCode::SUCCESS);
        };
        let count = counted(chosen.len(), "part", "parts");
        let answer = hub.ask_for_person(KeepSetup { computer: computer.clone(), parts: chosen }).await?;
        done(&format!("Kept {count} as here, until {computer} changes it again."), &answer, json)
    };
    let outcome = outcome.await;
    hub.leave().await;
    outcome
}

/// Shows the differences and asks; `None` if there is nothing to do, or the person refuses.
fn looked_at(
    review: &SetupReview,
    parts: &SetupParts,
    verb: &str,
    json: bool,
) -> anyhow::Result<Option<Vec<SetupChoice>>> {
    let chosen: Vec<&SetupDifference> = match parts.parts.as_slice() {
        [] => review.differences.iter().collect(),
        names => names.iter().map(|name| named(review, name)).collect::<anyhow::Result<_>>()?,
    };
    if json && parts.dry_run {
        say_json(review)?;
        return Ok(None);
    }
    if chosen.is_empty() {
        let said = match review.only_here {
            None => "Nothing differs.".to_owned(),
            Some(count) => {
                let only = counted(count, "part exists", "parts exist");
                format!("Nothing differs; {only} only here and stays as it is.")
            }
        };
        done(&said, review, json)?;
        return Ok(None);
    }
    for one in &chosen {
        match parts.dry_run {
            true => say(shown(one, Rest::Whole)),
            false => say_aside(shown(one, Rest::Folded)),
        }
    }
    if parts.dry_run {
        return Ok(None);
    }
    let question = format!("{verb} {} of {}?", counted(chosen.len(), "part", "parts"), review.computer);
    if terminal::is_there() && !parts.yes && !terminal::agrees(&question)? {
        done("Nothing was changed.", review, json)?;
        return Ok(None);
    }
    Ok(Some(
        chosen.into_iter().map(|one| SetupChoice { id: one.id.clone(), seen: one.seen.clone() }).collect(),
    ))
}

fn named<'a>(review: &'a SetupReview, name: &str) -> anyhow::Result<&'a SetupDifference> {
    let by_id = review.differences.iter().find(|one| one.id == name);
    if let Some(one) = by_id {
        return Ok(one);
    }
    let mut by_name = review.differences.iter().filter(|one| one.name == name);
    match (by_name.next(), by_name.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => {
            Err(Usage(format!("\"{name}\" could be {} or {}", one.id, other.id)).into())
        }
        (None, _) => Err(anyhow!("\"{name}\" does not differ; `--dry-run` shows what does")),
    }
}

fn line(one: &SetupDifference) -> String {
    let what = match one.part {
        SetupPart::Server => "server",
        SetupPart::Profile => "profile",
        SetupPart::Setting => "setting",
        SetupPart::Client => "client",
        SetupPart::Secrets => "sealed",
    };
    let how = match one.standing {
        SetupStanding::New => "new",
        SetupStanding::Changed => "changed there",
        SetupStanding::Removed => "removed there",
        SetupStanding::Conflict => "differs on both sides",
    };
    format!("{what} {}: {how}", one.name)
}

/// A part with how it differs, and what to be careful about.
fn shown(one: &SetupDifference, rest: Rest) -> Lines {
    let diff =
        diff_shown(&one.diff, one.folds_from, Unchanged::Whole, rest, "the same command with `--dry-run`");
    let warnings = one.warnings.iter().map(|warning| format!("  Careful: {warning}."));
    Lines::line(line(one)).and(diff.indented("  ")).and(warnings.collect::<Lines>())
}

fn left_out(left: &[Left]) {
    left.iter().for_each(|one| say_aside(format!("Left out, {}: {}", one.place, one.reason)));
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use satchel_core::model::approvals::{Mark, Part};

    use super::*;

    fn differing(part: SetupPart, name: &str) -> SetupDifference {
        SetupDifference {
            id: format!("{}:{name}", if part == SetupPart::Server { "server" } else { "profile" }),
            part,
            name: name.into(),
            standing: SetupStanding::Conflict,
            diff: vec![Part { mark: Mark::Added, risky: false, text: "x".into() }],
            folds_from: None,
            warnings: vec![],
            seen: "1".into(),
        }
    }

    #[test]
    fn a_part_is_named_by_its_name_where_that_tells_which() {
        let differences = vec![
            differing(SetupPart::Server, "a"),
            differing(SetupPart::Profile, "a"),
            differing(SetupPart::Server, "b"),
        ];
        let review = SetupReview { differences, ..SetupReview::default() };
        assert_eq!(named(&review, "b").unwrap().id, "server:b");
        assert_eq!(named(&review, "profile:a").unwrap().id, "profile:a");
        assert!(named(&review, "a").unwrap_err().to_string().contains("server:a or profile:a"));
        assert!(named(&review, "c").is_err());
        let seen = shown(&review.differences[2], Rest::Folded).to_string();
        assert_eq!(seen, "server b: differs on both sides\n  x");
    }

    #[test]
    fn a_setup_that_lacks_parts_of_here_is_not_called_the_same() {
        let review = |differences, only_here| SetupReview {
            computer: "vm".into(),
            differences: vec![differing(SetupPart::Server, "a"); differences],
            only_here,
            ..SetupReview::default()
        };
        for (differences, only_here, said) in [
            (0, None, "vm: the same as here."),
            (0, Some(8), "vm: nothing to take; 8 parts of here are missing there."),
            (1, None, "vm: 1 part differs."),
            (2, Some(1), "vm: 2 parts differ; 1 part of here is missing there."),
        ] {
            assert_eq!(standing(&review(differences, only_here)), said);
        }
    }
}
