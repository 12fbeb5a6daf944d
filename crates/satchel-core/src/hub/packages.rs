//! Finds the packages that launchers (npx, uvx) fetched, has them compared with what was approved, and pins an entry to
//! one version.

use std::{collections::BTreeSet, pin::Pin, sync::Arc};

use serde_json::json;

use super::{Hub, requests::unknown_server};
use crate::{
    config::expand::{Template, Values},
    model::{
        Code, ServerName, TransportConfig,
        audit::AuditKind,
        control::{Change, Refusal},
        package::{PackageView, Pinned},
    },
    platform::Environment,
    registry::{
        fetched::{self, Fetched},
        pinning,
    },
    tasks::Panicked,
    upstream::{Preflight, environment},
};

struct Variables<'a>(&'a Environment);

impl Values for Variables<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
    fn secret(&self, _name: &str) -> Option<String> {
        None
    }
}

/// The one version that is here.
fn one_of(versions: &[String], package: &str, server: &str) -> Result<String, Refusal> {
    let (code, message) = match versions {
        [version] => return Ok(version.clone()),
        [] => (Code::VersionUnknown, format!("which version of {package} was fetched is not known here")),
        several => (
            Code::VersionsSeveral,
            format!("several versions of {package} are here ({})", several.join(", ")),
        ),
    };
    Err(Refusal::new(code, message, format!("Name one: `satchel pin {server} VERSION`.")))
}

impl Hub {
    /// What is asked whenever this server is started.
    pub(super) fn preflight(&self, name: &ServerName) -> Preflight {
        let (hub, name) = (self.clone(), name.clone());
        Preflight(Arc::new(move |transport| {
            let (hub, name, transport) = (hub.clone(), name.clone(), transport.clone());
            Box::pin(async move {
                if let Some(why) = super::listings::withdrawn(&hub, &name) {
                    return Err(why);
                }
                match fetched::is_kept(&transport) {
                    true => hub.look_at_packages(&name, transport).await,
                    false => Ok(()),
                }
            })
        }))
    }

    /// Looks at what is here already, without waiting for a start. One command sees it at once.
    pub(super) async fn look_soon(&self, name: &ServerName, transport: &TransportConfig) {
        if !fetched::is_kept(transport) {
            return;
        }
        if self.inner.options.passive {
            return self.look_again(name, transport).await;
        }
        let (hub, name, transport) = (self.clone(), name.clone(), transport.clone());
        self.inner.life.spawn(async move {
            // One after the other: a hub begins with all of its servers.
            let _turn = hub.inner.servers.looking.acquire().await;
            hub.look_again(&name, &transport).await;
        });
    }

    /// Looks at what is here now: what was wrong may have been put right.
    pub(super) async fn look_again(&self, name: &ServerName, transport: &TransportConfig) {
        // What is held back is told where it is found, and whoever wants the server started is told as well.
        let _ = self.look_at_packages(name, transport.clone()).await;
        self.follow_launch_again(name).await;
    }

    /// Following looks at packages in turn, which follows.
    fn follow_launch_again<'a>(
        &'a self,
        name: &'a ServerName,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.follow_launch(name))
    }

    /// What a server's launcher fetches for it; `None` where it fetches nothing that has versions.
    pub(super) async fn package(&self, server: &str) -> Result<Option<PackageView>, Refusal> {
        let (name, transport) = self.configured(server)?;
        let (floats, kept) = (pinning::floating(&transport).is_some(), fetched::is_kept(&transport));
        let asked_for = fetched::asked_for(&transport).filter(|(_, version)| floats || version.is_some());
        let Some(((package, version), example)) = asked_for.zip(pinning::example(&transport)) else {
            return Ok(None);
        };
        let digest =
            version.as_ref().and_then(|version| self.inner.review.remembered(&name, &package, version));
        let fetched = if floats { self.versions(transport).await } else { Vec::new() };
        Ok(Some(PackageView { package, version, digest, fetched, kept, example }))
    }

    /// Has a server run one version of its package, and no other.
    pub(super) async fn pin(&self, server: &str, version: Option<String>) -> Result<Pinned, Refusal> {
        let (name, transport) = self.configured(server)?;
        let package = pinning::floating(&transport).ok_or_else(|| {
            let message = format!(
                "{server} fetches no package, or names its version exactly already; nothing was changed"
            );
            Refusal::new(Code::PinnedAlready, message, "")
        })?;
        // Who pins it has not looked at what another hand made of the rest.
        self.refuse_held_entry(&name)?;
        // What was fetched last is what ran. Any other version is what whoever names it accepts.
        let accepts = version.is_none() || self.is_for_a_person();
        let version = match version {
            Some(version) => version,
            None => one_of(&self.versions(transport.clone()).await, &package, server)?,
        };
        let args = pinning::pinned(&transport, &version).ok_or_else(|| {
            let message = format!("\"{version}\" is no exact version of {package}");
            Refusal::new(Code::NoVersion, message, "Name one like 1.2.3, or a whole digest of an image.")
        })?;
        let mut entry = self.entry_to_edit(server)?;
        entry["args"] = json!(args);
        super::apply::ask(self, Change::Edit { name: server.to_owned(), entry: entry.into() }, accepts)
            .await?;
        Ok(Pinned { package, version })
    }

    fn configured(&self, server: &str) -> Result<(ServerName, TransportConfig), Refusal> {
        let config = self.config();
        let known = config.servers().get_key_value(server).ok_or_else(|| unknown_server(server))?;
        Ok((known.0.clone(), known.1.transport.clone()))
    }

    async fn versions(&self, transport: TransportConfig) -> Vec<String> {
        let hub = self.clone();
        let read = move || fetched::versions(&transport, &hub.fetched(&transport)).into_iter().collect();
        self.inner.life.tracker().spawn_blocking(read).await.unwrap_or_default()
    }

    /// What this server's launcher has here for this entry.
    fn fetched(&self, transport: &TransportConfig) -> Vec<Fetched> {
        let given = environment::passed_on(&self.inner.around.environment);
        fetched::packages(&self.with_variables(transport), |name| given.variable(name))
    }

    /// The entry as it is started, but for secrets: they say nothing of packages.
    fn with_variables(&self, transport: &TransportConfig) -> TransportConfig {
        let mut transport = transport.clone();
        if let TransportConfig::Stdio { args, env, .. } = &mut transport {
            let variables = Variables(&self.inner.around.environment);
            for text in args.iter_mut().chain(env.values_mut()) {
                *text = Template::parse(text).fill(&variables, &mut BTreeSet::new());
            }
        }
        transport
    }

    /// Compares what is here with what is remembered, and remembers what is new.
    ///
    /// # Errors
    /// Why it may not be started.
    async fn look_at_packages(&self, name: &ServerName, transport: TransportConfig) -> Result<(), String> {
        let hub = self.clone();
        let fetched = self.inner.life.tracker().spawn_blocking(move || hub.fetched(&transport)).await;
        let fetched = fetched.map_err(|_| Panicked.to_string())?;
        let looked = self.inner.review.look_at_packages(name, &fetched).await;
        if let Some(why) = looked.held.as_ref().filter(|_| looked.is_news) {
            self.tell_look(name, AuditKind::Held, "satchel", format!("held back: {why}"));
        }
        for line in looked.fetched {
            self.tell_look(name, AuditKind::Started, "", line);
        }
        looked.held.map_or(Ok(()), Err)
    }

    fn tell_look(&self, name: &ServerName, kind: AuditKind, who: &str, line: String) {
        if let Some(server) = self.servers().get(name) {
            server.upstream.log().hub(&line);
        }
        self.did(kind, who, name.as_str(), line);
    }
}
