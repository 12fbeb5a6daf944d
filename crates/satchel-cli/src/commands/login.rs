//! `login`, `logout` and `accounts`: signs in to hosted servers. This process opens the page, because the person is here; the hub
//! opens none.

use std::{
    io::{BufRead, stdin},
    process::ExitCode,
};

use satchel_core::{
    files::Places,
    model::{
        Code,
        control::Refusal,
        oauth::{AccountLine, SignInPage, SignInState, SignInView},
        request::{
            BeginSignIn, CancelSignIn, EnterClient, ListAccounts, PasteSignIn, SignOut, WaitForSignIn,
        },
    },
};
use tokio::sync::mpsc;

use super::{done, secrets::ask};
use crate::{
    args::Login,
    complain,
    output::{Lines, say, say_aside, say_json},
    reach::{Reached, once, reach, refusal},
};

/// Number of attempts to paste an address.
const TRIES: usize = 3;

/// Exit codes, as documented in the help.
const DENIED: u8 = 3;
const REFUSED: u8 = 4;
const NEEDS_CLIENT_ID: u8 = 5;
const TIMED_OUT: u8 = 6;

pub(crate) async fn run(places: &Places, login: Login, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let ended = sign_in(&hub, &login, json).await;
    hub.leave().await;
    match ended {
        Ok(view) if json => {
            say_json(&view)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(view) => {
            say(format!("{}: {}.", login.name, view.sentence()));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            let code = refusal(&error).and_then(exit_code);
            let complained = complain(&error, json);
            Ok(code.map_or(complained, ExitCode::from))
        }
    }
}

fn exit_code(refusal: &Refusal) -> Option<u8> {
    match refusal.code {
        Code::OauthDenied => Some(DENIED),
        Code::OauthRefused => Some(REFUSED),
        Code::NeedsClientId => Some(NEEDS_CLIENT_ID),
        Code::OauthCallbackTimeout => Some(TIMED_OUT),
        _ => None,
    }
}

async fn sign_in(hub: &Reached, login: &Login, json: bool) -> anyhow::Result<SignInView> {
    let server = login.name.clone();
    if let Some(client_id) = login.client_id.clone() {
        let client_secret = login.client_secret.then(|| ask("Client secret")).transpose()?;
        let enter = EnterClient { server: server.clone(), client_id, client_secret };
        // The person typed it, so they know the change; otherwise the changed entry would wait for approval.
        hub.ask_for_person(enter).await?;
    }
    let begin = BeginSignIn { server: server.clone(), again: login.register_again };
    let page: SignInPage = hub.ask(begin).await?;
    show(&page, login, json);
    let wait = hub.ask(WaitForSignIn { server: server.clone() });
    let mut lines = if login.paste { lines() } else { mpsc::channel(1).1 };
    tokio::pin!(wait);
    let mut wrong = 0;
    loop {
        let line = tokio::select! {
            view = &mut wait => return view,
            Some(line) = lines.recv() => line,
            _ = tokio::signal::ctrl_c() => {
                hub.ask(CancelSignIn { server: server.clone() }).await?;
                return (&mut wait).await;
            }
        };
        let paste = PasteSignIn { server: server.clone(), text: line };
        let Err(error) = hub.ask(paste).await else { continue };
        wrong += 1;
        say_aside(format!("{error:#}"));
        if wrong == TRIES {
            hub.ask(CancelSignIn { server: server.clone() }).await?;
            return Err(error);
        }
    }
}

/// Opens the page in the browser, and prints its address in case that fails.
fn show(page: &SignInPage, login: &Login, json: bool) {
    let address = Lines::from("").and(format!("  {}", page.url)).and("");
    if login.paste {
        say_aside(format!("Open this page in any browser and sign in at {}:", page.host));
        say_aside(address);
        say_aside(format!("The browser then goes to an address that begins with {}.", page.redirect));
        say_aside("Copy that address from the browser and paste it here:");
        return;
    }
    let opened = !login.no_browser && open::that_detached(&page.url).is_ok();
    match opened {
        // With --json, the address is in the answer.
        true if json => return,
        true => {
            say_aside(format!("A page of {} was opened in your browser. If you see none, open:", page.host))
        }
        false => {
            say_aside(format!("Open this page in a browser on this computer and sign in at {}:", page.host))
        }
    }
    say_aside(address);
}

/// Reads lines from the terminal on a separate thread; a pending read ends with the program.
fn lines() -> mpsc::Receiver<String> {
    let (typed, lines) = mpsc::channel(4);
    std::thread::spawn(move || {
        for line in stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && typed.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

pub(crate) async fn out(
    places: &Places,
    name: String,
    keep_registration: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let request = SignOut { server: name.clone(), keep_registration };
    let answer = hub.ask(request).await;
    hub.leave().await;
    let answer = answer?;
    let sentence = match (answer.was_in, answer.revoked) {
        (false, _) => format!("You were not signed in to {name}."),
        (true, Some(false)) => format!("Signed out of {name} here; the provider could not be notified."),
        (true, Some(true) | None) => format!("Signed out of {name}."),
    };
    done(&sentence, &answer, json)
}

pub(crate) async fn accounts(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let accounts: Vec<AccountLine> = once(places, ListAccounts {}).await?;
    if json {
        say_json(&accounts)?;
        return Ok(ExitCode::SUCCESS);
    }
    if accounts.is_empty() {
        say("No server has asked for a sign-in yet. Sign in with `satchel login NAME`.");
    }
    for AccountLine { server, view } in &accounts {
        say(format!("{server}: {}", view.sentence()));
        let mut more = vec![];
        more.extend(view.provider.as_ref().map(|provider| format!("at {provider}")));
        if !view.scopes.is_empty() {
            more.push(format!("may {}", view.scopes.join(", ")));
        }
        if let SignInState::SignedIn { renews, .. } = view.state {
            more.push(if renews { "renews automatically" } else { "cannot be renewed" }.to_owned());
        }
        if !more.is_empty() {
            say(format!("  {}", more.join(" · ")));
        }
    }
    Ok(ExitCode::SUCCESS)
}
