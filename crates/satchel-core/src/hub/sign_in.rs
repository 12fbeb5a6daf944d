//! Handles sign-in requests of faces: finds the server, runs its account's sign-in, and resumes what waited for it.

use satchel_entry::template::to_secret;
use serde_json::json;
use tokio::sync::mpsc;

use super::{Hub, approved, credential, instances, launch, servers::Registered};
use crate::{
    intake::entering::entry_to_edit,
    model::{
        Code, Notice, ServerName, TransportConfig,
        audit::AuditKind,
        control::{Change, Refusal},
        oauth::{AccountLine, OAuth, SignInPage, SignInView, client_secret_name},
        request::SignedOut,
    },
    secrets::Secret,
    upstream::{
        fill,
        oauth::{Trouble, account::Credential, accounts::Changed, sign_in::Left},
        sources_of,
    },
};

/// Begins a sign-in.
pub(super) async fn begin(hub: &Hub, server: &str, again: bool) -> Result<SignInPage, Refusal> {
    let (name, known) = known(hub, server)?;
    approved::refuse_held_launch(hub, &name)?;
    begin_at(hub, &name, &known, again).await
}

/// Waits for the end of the running sign-in.
pub(super) async fn wait(hub: &Hub, server: &str) -> Result<SignInView, Refusal> {
    let (name, _) = known(hub, server)?;
    let account = hub.inner.around.accounts.of(&name);
    if let Some(Err(trouble)) = account.outcome().await {
        return Err(refusal(&name, &trouble));
    }
    let none = || Refusal::new(Code::NoSignIn, format!("nobody has signed in to \"{name}\""), "");
    account.view().ok_or_else(none)
}

/// Completes a sign-in with a pasted redirect address.
pub(super) async fn paste(hub: &Hub, server: &str, text: &str) -> Result<(), Refusal> {
    let (name, _) = known(hub, server)?;
    let pasted = hub.inner.around.accounts.of(&name).paste(text).await;
    pasted.map_err(|why| Refusal::new(Code::BadPaste, why, "Copy the whole address from the browser."))
}

/// Cancels the running sign-in.
pub(super) fn cancel(hub: &Hub, server: &str) -> Result<(), Refusal> {
    let (name, _) = known(hub, server)?;
    hub.inner.around.accounts.of(&name).cancel();
    Ok(())
}

/// Signs out.
pub(super) async fn sign_out(hub: &Hub, server: &str, keep_registration: bool) -> Result<SignedOut, Refusal> {
    let (name, known) = known(hub, server)?;
    let credential = credential(hub, &name, &known).await?;
    let Left { was_in, revoked } = credential.sign_out(keep_registration).await;
    hub.did_here(AuditKind::SecretChanged, name.as_str(), "signed out");
    // The connection's authorization is gone; the next call notices that.
    instances::rest(hub, &known.upstream, &known.instances);
    Ok(SignedOut { was_in, revoked })
}

/// All sign-ins, current and past.
pub(super) fn accounts(hub: &Hub) -> Vec<AccountLine> {
    let names: Vec<ServerName> = hub.servers().keys().cloned().collect();
    let accounts = &hub.inner.around.accounts;
    let line = |name: &ServerName| Some(AccountLine { server: name.to_string(), view: accounts.view(name)? });
    names.iter().filter_map(line).collect()
}

async fn begin_at(
    hub: &Hub,
    name: &ServerName,
    known: &Registered,
    again: bool,
) -> Result<SignInPage, Refusal> {
    let credential = credential(hub, name, known).await?;
    let callbacks = hub.inner.options.callbacks.clone();
    credential.begin(&*callbacks, again).await.map_err(|trouble| refusal(name, &trouble))
}

/// Resolves a sign-in page that a person opened.
pub(super) async fn visit(hub: &Hub, ticket: &str) -> Result<(ServerName, SignInPage), Refusal> {
    let gone = || {
        Refusal::new(Code::UnknownPage, "this page was used already, or is too old", "Call the tool again.")
    };
    let name = hub.inner.around.accounts.take_ticket(ticket).ok_or_else(gone)?;
    let (name, known) = self::known(hub, name.as_str())?;
    let page = begin_at(hub, &name, &known, false).await?;
    Ok((name, page))
}

fn known(hub: &Hub, server: &str) -> Result<(ServerName, Registered), Refusal> {
    let servers = hub.servers();
    let known = servers.get_key_value(server).map(|(name, known)| (name.clone(), known.clone()));
    known.ok_or_else(|| Refusal::unknown_server(server))
}

/// The sign-in settings with all references resolved.
async fn credential(hub: &Hub, name: &ServerName, known: &Registered) -> Result<Credential, Refusal> {
    // Reading them may run a command, which is approved with the entry.
    if !sources_of(&known.config.transport).is_empty() {
        approved::refuse_held_launch(hub, name)?;
    }
    let around = &hub.inner.around;
    let log = known.upstream.log();
    let filled = fill(name, &known.config.transport, around, log)
        .await
        .map_err(|failure| Refusal::new(failure.code, failure.message, failure.code.action()))?;
    let refused = |why: &str, action: &str| Refusal::new(Code::NoSignIn, format!("\"{name}\" {why}"), action);
    match filled.reveal() {
        TransportConfig::Stdio { .. } => Err(refused(
            "runs on this computer and is not signed in to",
            "Give it its credentials with `satchel secrets set`.",
        )),
        TransportConfig::Http { oauth, .. } if oauth.never => {
            Err(refused("has \"oauth\": false in its entry", "Remove it from its entry, then try again."))
        }
        TransportConfig::Http { url, headers, oauth } => {
            Credential::of(&around.accounts, name, url, headers, OAuth::clone(oauth), log).ok_or_else(|| {
                refused(
                    "sends a header \"Authorization\" of its own",
                    "Remove the header from its entry, then try again.",
                )
            })
        }
    }
}

fn refusal(name: &ServerName, trouble: &Trouble) -> Refusal {
    let code = match trouble {
        Trouble::Refused(_) => Code::OauthRefused,
        Trouble::Denied(_) | Trouble::Cancelled => Code::OauthDenied,
        Trouble::NeedsClientId { .. } => Code::NeedsClientId,
        Trouble::Later(_) => Code::OauthDiscovery,
        Trouble::TimedOut => Code::OauthCallbackTimeout,
    };
    let action = code.action_for(name.as_str());
    Refusal::new(code, format!("\"{name}\": {trouble}"), action)
}

/// Writes a user-registered app into the entry; its secret goes to the keychain.
pub(super) async fn enter_client(
    hub: &Hub,
    server: &str,
    client_id: &str,
    client_secret: Option<String>,
) -> Result<(), Refusal> {
    let (name, known) = known(hub, server)?;
    let client_id = client_id.trim();
    if client_id.is_empty() || client_id.chars().any(char::is_control) {
        return Err(Refusal::new(
            Code::Empty,
            "the client ID is empty or cannot be used",
            "Copy it from the provider's page.",
        ));
    }
    if !matches!(known.config.transport, TransportConfig::Http { .. }) {
        return Err(Refusal::new(
            Code::NoSignIn,
            format!("\"{name}\" runs on this computer and is not signed in to"),
            "",
        ));
    }
    let mut fields = entry_to_edit(hub, server)?;
    let oauth = fields.entry("oauth").or_insert_with(|| json!({}));
    if !oauth.is_object() {
        *oauth = json!({});
    }
    oauth["clientId"] = json!(client_id);
    if let Some(secret) =
        client_secret.map(|secret| secret.trim().to_owned()).filter(|secret| !secret.is_empty())
    {
        let stored = client_secret_name(&name);
        credential::store_secret(hub, &stored, Secret::new(secret)).await?;
        oauth["clientSecret"] = json!(to_secret(&stored));
    } else if let Some(fields) = oauth.as_object_mut() {
        fields.remove("clientSecret");
    }
    hub.apply(Change::Edit { name: server.to_owned(), entry: fields.into() }).await?;
    Ok(())
}

/// Signs out of a removed server, without waiting for the provider.
pub(super) fn forget(hub: &Hub, name: ServerName) {
    let around = hub.inner.around.clone();
    hub.inner.life.spawn(async move { around.accounts.forget(&name).await });
}

/// Resumes what waited for a sign-in, and updates the snapshot.
pub(super) async fn follow(hub: Hub, mut changes: mpsc::UnboundedReceiver<Changed>) {
    loop {
        let change = tokio::select! {
            Some(change) = changes.recv() => change,
            () = hub.inner.life.end().cancelled() => return,
        };
        match change {
            Changed::Shown(_) => {}
            Changed::SignedIn { server: name, by_person } => {
                if by_person {
                    hub.did_here(AuditKind::SecretChanged, name.as_str(), "signed in");
                }
                let known = hub.servers().get(&name).cloned();
                if let Some(known) = known {
                    known.renew();
                    launch::learn(&hub, &name);
                }
            }
            Changed::Unstored(name, why) => {
                let message =
                    format!("the sign-in to \"{name}\" could not be stored and ends with Satchel: {why}");
                hub.notice(Notice::new(Code::KeychainAbsent, message));
            }
        }
        hub.inner.faces.changed();
    }
}
