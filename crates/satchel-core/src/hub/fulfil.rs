//! What a face wishes, carried out: the one door from the control channel, the tray and the window into the hub.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use satchel_mcp::Raw;
use serde_json::{Value, json};

use super::{ApplyError, CallFailure, Failed, Hub, USUAL_PORT};
use crate::{
    catalog::Aids,
    config::change::ChangeError,
    model::{
        Origin,
        control::{Connection, Refusal, ToolLine, ToolList, Wish},
        trail::DeedKind,
    },
    secrets::{Secret, SecretError},
    upstream::log,
};

/// A description in a list of tools.
const DESCRIPTION: usize = 200;

impl Hub {
    /// Carries out one wish of whoever is at its origin.
    ///
    /// # Errors
    /// A [`Refusal`] with a stable code, what happened, and what to do about it.
    pub async fn fulfil(&self, wish: Wish, origin: &Origin) -> Result<Value, Refusal> {
        let recorded = Arc::<AtomicUsize>::default();
        let hub = Self { recorded: Some(recorded.clone()), ..self.on_behalf_of(origin) };
        let answer = match hub.refuse_to_loosen(&wish) {
            Ok(()) => Box::pin(hub.carry_out(wish)).await,
            Err(refusal) => Err(refusal),
        };
        // Whoever is told that something was done finds it in the trail, whatever happens next.
        if recorded.load(Ordering::Relaxed) > 0 {
            self.written().await;
        }
        answer
    }

    async fn carry_out(&self, wish: Wish) -> Result<Value, Refusal> {
        match wish {
            Wish::Status => {
                self.measure().await;
                Ok(json!(self.compose()))
            }
            Wish::Tools { query, server, limit } => {
                if self.inner.options.passive {
                    self.learn_all().await;
                }
                Ok(json!(self.tool_list(&query, server.as_deref(), limit).await?))
            }
            Wish::Call { tool_path, arguments } => self.call_as_given(&tool_path, &arguments).await,
            Wish::Change(change) => {
                self.apply(self.by_own_name(change)).await?;
                Ok(json!({}))
            }
            Wish::Entry { server } => self.entry_to_edit(&server),
            Wish::OwnSecrets { server } => self.own_secrets(&server),
            Wish::Package { server } => Ok(json!(self.package(&server).await?)),
            Wish::Pin { server, version } => Ok(json!(self.pin(&server, version).await?)),
            Wish::PutBack { server } => self.put_back(&server).await,
            Wish::Restart { server } => {
                let known = self
                    .servers()
                    .get_key_value(server.as_str())
                    .map(|(name, known)| (name.clone(), known.clone()));
                let (name, known) = known.ok_or_else(|| unknown_server(&server))?;
                if self.inner.review.holds_packages(&name) {
                    self.look_again(&name, &known.config.transport).await;
                }
                self.refuse_held_launch(&name)?;
                known.upstream.restart();
                Ok(json!({}))
            }
            Wish::Rest { server } => {
                let upstream = self.servers().get(server.as_str()).map(|known| known.upstream.clone());
                upstream.ok_or_else(|| unknown_server(&server))?.rest();
                Ok(json!({}))
            }
            Wish::DismissFailure { server } => self.dismiss_failure(&server),
            Wish::Pause { until_ms } => {
                self.pause(until_ms);
                Ok(json!({}))
            }
            Wish::Resume => {
                self.resume();
                Ok(json!({}))
            }
            Wish::Listing { query } => Ok(json!(crate::registry::find(&query))),
            Wish::Connect { client, ephemeral } => self.connect(&client, ephemeral),
            Wish::SecretNames => {
                let (store, names) = self.inner.around.secrets.names().await?;
                Ok(json!({ "names": names, "store": store }))
            }
            Wish::SetSecret { name, value } => {
                self.store_secret(&name, Secret::new(value)).await?;
                Ok(json!({}))
            }
            Wish::RemoveSecret { name } => match self.inner.around.secrets.remove(&name).await? {
                true => {
                    self.did_here(DeedKind::SecretChanged, &name, "removed");
                    Ok(json!({}))
                }
                false => Err(Refusal::new("unknown_secret", format!("there is no secret \"{name}\""), "")),
            },
            Wish::UseVault { passphrase } => {
                self.inner.around.secrets.use_vault(Secret::new(passphrase)).await?;
                self.did_here(DeedKind::SecretChanged, "", "the encrypted file was chosen");
                self.renew();
                Ok(json!({}))
            }
            Wish::UnlockVault { passphrase } => {
                self.inner.around.secrets.unlock(Secret::new(passphrase)).await?;
                self.did_here(DeedKind::SecretChanged, "", "the encrypted file was opened");
                self.clear_notice(crate::model::Code::VaultLocked);
                self.renew();
                Ok(json!({}))
            }
            Wish::Log { server, lines } => {
                if !self.servers().contains_key(server.as_str()) {
                    return Err(unknown_server(&server));
                }
                let path = self.places().server_log(&server);
                let read = log::read_tail(&path, lines.min(10_000));
                let lines = read.map_err(|error| Refusal::new("unreadable", error.to_string(), ""))?;
                Ok(json!({ "path": path, "lines": lines }))
            }
            Wish::Clients(wish) => Box::pin(self.fulfil_about_clients(wish)).await,
            Wish::Report(ask) => Ok(json!(self.report(ask).await?)),
            Wish::Activity(ask) => Ok(json!(self.activity(ask).await?)),
            Wish::LastDay => Ok(json!(self.last_day().await?)),
            Wish::Audit(ask) => Ok(json!(self.audit(ask).await?)),
            Wish::Trail(ask) => Ok(json!(self.trail(ask).await?)),
            Wish::VerifyTrail { noted } => Ok(json!(self.verify_trail(noted).await?)),
            Wish::CallDetail { id } => Ok(json!(self.call_detail(id).await?)),
            Wish::RunAgain { id, arguments } => self.run_again(id, arguments).await,
            Wish::DeleteHistory { sums } => self.forget(sums).await,
            Wish::ForgetHabits => {
                self.forget_habits().await?;
                Ok(json!({}))
            }
            Wish::Approvals { server } => self.approvals(server).await,
            Wish::Approve { server, items } => self.decide(&server, items, true).await,
            Wish::ApproveSettings { fingerprint } => self.approve_settings(&fingerprint).await,
            Wish::KeepHeld { server, items } => self.decide(&server, items, false).await,
            Wish::LookedAt { server } => self.looked_at(&server).await,
            Wish::Asks { wait } => Ok(json!(self.inner.prompts.asks(wait).await)),
            Wish::AnswerAsk { id, answer } => {
                self.answer_ask(id, answer).await?;
                Ok(json!({}))
            }
            Wish::AnswerQuestion { id, answer } => {
                self.inner.prompts.answer_question(id, answer)?;
                Ok(json!({}))
            }
            Wish::AnswerSecret { id, value } => {
                self.answer_secret(id, Secret::new(value)).await?;
                Ok(json!({}))
            }
            Wish::ReadingAsk { id } => {
                self.inner.prompts.reading_ask(id);
                Ok(json!({}))
            }
            Wish::DebugStatus => Ok(json!(self.debug_status()?)),
            Wish::Quit => {
                self.inner.quit.cancel();
                Ok(json!({}))
            }
        }
    }

    async fn tool_list(&self, query: &str, server: Option<&str>, limit: usize) -> Result<ToolList, Refusal> {
        if let Some(server) = server
            && !self.servers().contains_key(server)
        {
            return Err(unknown_server(server));
        }
        let catalog = self.catalog();
        let (habits, meaning) = (self.habits(), self.meaning(query).await);
        let aids = Aids { habits: habits.as_deref(), meaning: meaning.as_ref() };
        let found = catalog.found(query, server, &aids);
        let why = |found: &crate::catalog::Found<'_>| {
            let explained =
                catalog.explain(query, found, habits.as_deref()).filter(|_| !query.trim().is_empty());
            explained.map(|explanation| explanation.to_string())
        };
        let line = |found: &crate::catalog::Found<'_>| {
            let crate::catalog::Found { server, tool, .. } = *found;
            let version = catalog.offer(server.as_str()).and_then(|offer| offer.version(tool));
            let path = crate::model::ToolPath { server: server.clone(), tool: tool.name.clone() };
            let crate::trust::rules::Decision { permit, rule } = self.decision(&path);
            ToolLine {
                tool_path: format!("{}:{}", server.in_path(), tool.name),
                description: tool.summary(DESCRIPTION),
                signature: tool.signature().to_owned(),
                tokens: tool.tokens.get().copied(),
                category: tool.category(),
                complexity: tool.complexity(),
                version: version.map_or(0, |version| version.number),
                first_seen_ms: version.map(|version| version.first_ms),
                changed_ms: version.and_then(|version| version.changed_ms),
                why: why(found),
                nature: tool.nature().clone(),
                permit,
                rule,
            }
        };
        Ok(ToolList { tools: found.iter().take(limit).map(line).collect(), total: found.len() })
    }

    /// Arguments that come as a text of JSON keep every digit, and so does the result, which is a text then.
    async fn call_as_given(&self, path: &str, arguments: &Value) -> Result<Value, Refusal> {
        let bad = |error: String| Refusal::new("bad_arguments", error, "");
        let written = arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned);
        let raw = Raw::from_string(written).map_err(|error| bad(error.to_string()))?;
        let result = self.call_for_face(path, raw).await?;
        if arguments.is_string() { Ok(Value::from(result.get())) } else { read(&result) }
    }

    pub(super) async fn call_for_face(&self, path: &str, raw: Box<Raw>) -> Result<Box<Raw>, Refusal> {
        if !raw.get().starts_with('{') {
            return Err(Refusal::new("bad_arguments", "the arguments must be a JSON object", ""));
        }
        let tally = self.face_tally(path, &raw);
        let running = self.tallied(tally.as_ref()).execute_for_face(path, raw).await?;
        match running.finish().await {
            Ok(result) => Ok(result),
            Err(Failed::Upstream(error)) => Err(Refusal::new("upstream_error", error.to_string(), "")),
            Err(Failed::Hub(failure)) => Err(failure.into()),
        }
    }

    fn connect(&self, client: &str, ephemeral: bool) -> Result<Value, Refusal> {
        let token = self
            .inner
            .tokens
            .make(client, ephemeral)
            .map_err(|error| Refusal::new("bad_client", error.to_string(), ""))?;
        let what = if ephemeral { "a token until the hub ends" } else { "a token" };
        self.did_here(DeedKind::Access, client, what);
        // Where nothing listens yet it will be here, unless something else takes the port first.
        let usual = || format!("http://127.0.0.1:{USUAL_PORT}/mcp");
        let url = self.view().endpoint.clone().unwrap_or_else(usual);
        let headers = [("Authorization".to_owned(), format!("Bearer {token}"))].into();
        Ok(json!(Connection { url, headers }))
    }

    /// Credentials changed: servers that wait for some look again.
    pub(super) fn renew(&self) {
        let servers: Vec<_> =
            self.servers().iter().map(|(name, known)| (name.clone(), known.upstream.clone())).collect();
        for (name, upstream) in servers {
            upstream.renew();
            self.learn(&name);
        }
    }
}

pub(super) fn unknown_server(name: &str) -> Refusal {
    Refusal::new("unknown_server", format!("there is no server \"{name}\""), "See `satchel list`.")
}

impl From<ApplyError> for Refusal {
    fn from(error: ApplyError) -> Self {
        let (code, action) = match &error {
            ApplyError::Change(ChangeError::Unknown(_)) => ("unknown_server", "See `satchel list`."),
            ApplyError::Change(ChangeError::Exists(_)) => ("server_exists", ""),
            ApplyError::Change(ChangeError::Name(_)) => ("bad_name", ""),
            ApplyError::Change(ChangeError::Invalid(_)) => ("bad_server", ""),
            ApplyError::Broken { .. } => {
                ("config_invalid", "Correct the file at the place named, then try again.")
            }
            ApplyError::Files(_) => ("unwritable", ""),
            ApplyError::Closing => ("closing", ""),
            ApplyError::Panicked(_) => ("panicked", "Report it with what the log says."),
        };
        Refusal::new(code, error.to_string(), action)
    }
}

impl From<SecretError> for Refusal {
    fn from(error: SecretError) -> Self {
        let code = match &error {
            SecretError::WrongPassphrase => "wrong_passphrase",
            SecretError::Name(_) => "bad_name",
            SecretError::Empty(_) => "empty",
            SecretError::Absent(_)
            | SecretError::Locked(_)
            | SecretError::VaultLocked
            | SecretError::Failed(_) => error.code().map_or("secret_store", |code| code.as_str()),
        };
        Refusal::new(code, error.to_string(), error.code().map_or("", |code| code.action()))
    }
}

impl From<CallFailure> for Refusal {
    fn from(failure: CallFailure) -> Self {
        let code = failure.code.map_or("call_failed", |code| code.as_str());
        Refusal::new(code, failure.message, failure.action)
    }
}
/// A result for faces that read numbers as their language does.
pub(super) fn read(result: &Raw) -> Result<Value, Refusal> {
    serde_json::from_str(result.get())
        .map_err(|error| Refusal::new("unreadable", format!("cannot read the result: {error}"), ""))
}
