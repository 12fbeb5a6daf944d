//! Puts trust between what servers offer and what clients see: judges every definition when a list was read, never when
//! it is used, and carries out what a person says about it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use satchel_mcp::{Raw, RawObject};
use serde_json::{Value, json};

use super::{
    CallFailure, Hub, fulfil::unknown_server, grants as secret_grants, launch, packages, registry::Accepted,
};
use crate::{
    catalog::{Offer, ResourceEntry, Said, ToolEntry},
    config::file::OWN_COMMAND,
    files::file_stem,
    model::{
        Code, Notice, ServerConfig, ServerName, TransportConfig,
        approvals::{ApprovalItem, ApprovalList, Kind, NotStarted, Part, Seen, ServerApprovals, Unseen, Why},
        control::Refusal,
        trail::DeedKind,
    },
    trust::{
        Fingerprint, First, Item, Record, Verdict, approvals, clean, diff, fingerprint::Tree, grants,
        inspect, uri,
    },
};

/// What is known of every server.
pub(super) type Trusted = Mutex<BTreeMap<ServerName, Entry>>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) record: Record,
    /// Our own program: its definitions are ours.
    ours: bool,
    /// The record could not be written; it is tried again.
    pub(super) unwritten: bool,
    judged: Option<Judged>,
    /// What its entry says is started; `None` where that is our own program.
    launch: Option<Item>,
    /// Packages that its launcher fetched, and that are not what was fetched before under the same version.
    pub(super) packages: Vec<Item>,
    /// Secrets that its entry refers to, with who would receive them.
    pub(super) secrets: Vec<Item>,
}

impl Entry {
    /// What is not started, and why.
    pub(super) fn held_launch(&self) -> Option<(&Item, Why)> {
        let launch = self.launch.as_ref()?;
        Some((launch, self.record.holds_launch(launch)?))
    }

    /// Packages that nobody approved as they are now.
    pub(super) fn held_packages(&self) -> impl Iterator<Item = &Item> {
        self.packages.iter().filter(|item| self.record.holds_package(item))
    }

    /// Everything because of which it is not started. What it would be given is a matter for when it may run at all.
    fn held(&self) -> impl Iterator<Item = (&Item, Why)> {
        let launch = self.held_launch();
        let secrets = self.ungranted().filter(move |_| launch.is_none()).map(|item| (item, Why::Added));
        launch.into_iter().chain(self.held_packages().map(|item| (item, Why::Changed))).chain(secrets)
    }
}

/// What came of judging one offer.
#[derive(Debug, Clone)]
struct Judged {
    of: Arc<Offer>,
    first: First,
    counted: bool,
    seen: Arc<Offer>,
    held: BTreeMap<(Kind, String), Held>,
    new: usize,
}

#[derive(Debug, Clone)]
struct Held {
    print: Fingerprint,
    why: Why,
    /// The same for all spellings of its address, where it has one.
    address: Option<String>,
}

impl Held {
    /// It is there at all, and may be one of many that came since.
    fn is_added_resource(&self, kind: Kind) -> bool {
        self.why == Why::Added && has_address(kind)
    }
}

/// Is what is of this kind called by an address?
fn has_address(kind: Kind) -> bool {
    matches!(kind, Kind::Resource | Kind::Template)
}

impl Judged {
    fn held(&self, kind: Kind, name: &str) -> Option<&Held> {
        self.held.get(&(kind, name.to_owned()))
    }

    /// What is held back of this address, in whatever way it is spelled. What is on offer in exactly these words is not.
    fn held_address(&self, kind: Kind, address: &str) -> Option<&Held> {
        if self.held.is_empty() {
            return None;
        }
        if let Some(held) = self.held(kind, address) {
            return Some(held);
        }
        let offered = match kind {
            Kind::Template => &self.seen.templates,
            _ => &self.seen.resources,
        };
        if offered.iter().any(|entry| entry.uri == address) {
            return None;
        }
        let key = uri::key(address);
        let of = |kind: Kind| {
            self.held
                .iter()
                .filter(move |((known, _), _)| *known == kind)
                .map(|((_, name), held)| (name, held))
        };
        let spelled = of(kind).find(|(_, held)| held.address.as_deref() == Some(key.as_str()));
        let made = || {
            let offered = self.seen.templates.iter().any(|entry| uri::fits(&entry.uri, address));
            let made = of(Kind::Template).find(|(template, _)| uri::fits(template, address));
            made.filter(|_| kind == Kind::Resource && !offered)
        };
        spelled.or_else(made).map(|(_, held)| held)
    }
}

/// A definition as it stands in an offer.
struct Defined {
    kind: Kind,
    name: String,
    tree: Tree,
}

impl Defined {
    /// `inspected` says whether what inspection says of it matters: reading texts costs more than all the rest.
    fn item(&self, inspected: bool) -> Item {
        Item {
            kind: self.kind,
            name: self.name.clone(),
            print: Fingerprint::of_tree(self.kind.as_str(), &self.tree),
            text: self.tree.readable(),
            alarming: inspected && inspect::is_alarming(&self.tree),
        }
    }
}

impl Hub {
    pub(super) fn trusted(&self) -> MutexGuard<'_, BTreeMap<ServerName, Entry>> {
        self.inner.trusted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn approvals_file(&self, name: &ServerName) -> PathBuf {
        self.places().approvals().join(format!("{}.json", file_stem(name.as_str())))
    }

    /// Reads what was approved of a server. `kept` says whether its lists were kept, and whether there was a record then;
    /// `accepted` that a person put the entry there through Satchel, or accepted the whole file. True where the server may
    /// not be started.
    pub(super) fn open_approvals(
        &self,
        name: &ServerName,
        config: &ServerConfig,
        kept: Option<bool>,
        accepted: bool,
    ) -> bool {
        // With variables of somebody else's it would be our program no longer.
        let ours = matches!(&config.transport, TransportConfig::Stdio { command, args, env, .. }
            if command == OWN_COMMAND && args.first().is_some_and(|word| word == "toolbox") && env.is_empty());
        let mut record = match approvals::read(&self.approvals_file(name)) {
            Ok(Some(record)) => record,
            Ok(None) if kept == Some(true) && !ours => {
                self.tell_lost(format!("what was approved of \"{name}\" is gone"));
                Record::lost()
            }
            // Its lists were kept by a version that knew no approvals: clients have used them all the time.
            Ok(None) if kept == Some(false) => Record::imported(),
            Ok(None) => Record::new(),
            Err(trouble) => {
                self.tell_lost(format!("\"{name}\": {trouble}"));
                Record::lost()
            }
        };
        // Written with the next list: without it, a server whose lists get lost as well would be a new one.
        let mut unwritten = record.is_lost();
        let launch = launch::item(name, config);
        // Looked at by a person before entries were pinned: what there is now is what was looked at.
        let settled = record.unseen().is_none() && !record.knows(Kind::Launch, name.as_str());
        if !ours && (accepted || settled) {
            record.approve(&launch);
            unwritten = approvals::write(&self.approvals_file(name), &record).is_err();
        }
        let launch = (!ours).then_some(launch);
        let secrets = if ours { Vec::new() } else { grants::of(&config.transport) };
        if !record.asks_about_secrets() {
            // It ran with them under a version that did not ask.
            if launch.as_ref().is_some_and(|item| record.holds_launch(item).is_none()) && !accepted {
                secrets.iter().for_each(|item| record.approve(item));
            }
            record.ask_about_secrets();
            unwritten |= !ours;
        }
        let entry = Entry { record, ours, unwritten, judged: None, launch, packages: Vec::new(), secrets };
        let waits = entry.held().next().is_some();
        let held = entry.held_launch().map(|(item, _)| format!("what it runs, {}", item.print));
        self.trusted().insert(name.clone(), entry);
        if let Some(deed) = held {
            self.did(DeedKind::Held, "satchel", name.as_str(), deed);
        }
        waits
    }

    /// A person put this entry there, through Satchel.
    pub(super) fn accept_launch(&self, name: &ServerName) {
        let accepted = self.with_record(name, |entry| {
            if let Some(launch) = &entry.launch {
                entry.record.approve(launch);
            }
        });
        if let Err(refusal) = accepted {
            tracing::warn!(server = %name, "cannot keep that its entry was approved: {}", refusal.message);
        }
    }

    /// Why a server is not started, where that is because of its entry, or of a package that was fetched for it.
    pub(super) fn refuse_held_launch(&self, name: &ServerName) -> Result<(), CallFailure> {
        self.refuse_held_entry(name)?;
        let because = {
            let trusted = self.trusted();
            let because = |entry: &Entry| {
                packages::because(entry).or_else(|| secret_grants::because(&trusted, name, entry))
            };
            trusted.get(name).and_then(because)
        };
        because.map_or(Ok(()), |because| Err(not_started(name, &because)))
    }

    /// The same, where that is because of its entry.
    pub(super) fn refuse_held_entry(&self, name: &ServerName) -> Result<(), CallFailure> {
        let trusted = self.trusted();
        let held = trusted.get(name).and_then(Entry::held_launch);
        held.map_or(Ok(()), |(_, why)| Err(not_started(name, launch::because(why))))
    }

    /// May what this entry says not be started?
    pub(super) fn holds_launch(&self, name: &ServerName, config: &ServerConfig) -> bool {
        let trusted = self.trusted();
        let entry = trusted.get(name).filter(|entry| entry.launch.is_some());
        entry.is_some_and(|entry| entry.record.holds_launch(&launch::item(name, config)).is_some())
    }

    fn tell_lost(&self, message: String) {
        tracing::warn!("{message}");
        self.notice(Notice::new(Code::ApprovalsLost, message));
    }

    /// Servers that ran on this computer before they came here count as approved at their first lists.
    pub(super) fn trust_imported(&self, name: &str) {
        let Ok(name) = name.parse::<ServerName>() else { return };
        let path = self.approvals_file(&name);
        if !path.exists()
            && let Err(error) = approvals::write(&path, &Record::imported())
        {
            tracing::warn!(%error, "cannot keep that a server was imported");
        }
    }

    /// A person removed a server: what is called so next is another.
    pub(super) fn forget_approvals(&self, name: &str) {
        let Ok(name) = name.parse::<ServerName>() else { return };
        self.trusted().remove(&name);
        let _ = std::fs::remove_file(self.approvals_file(&name));
    }

    /// Is anything of this server held back, or the server itself?
    pub(super) fn holds_any(&self, name: &str) -> bool {
        let trusted = self.trusted();
        let entry = name.parse::<ServerName>().ok().and_then(|name| trusted.get(&name));
        entry.is_some_and(|entry| {
            entry.held().next().is_some() || entry.judged.iter().any(|judged| !judged.held.is_empty())
        })
    }

    /// Is it known what was approved of a server of this name?
    pub(super) fn has_approvals(&self, name: &str) -> bool {
        name.parse::<ServerName>().is_ok_and(|name| self.approvals_file(&name).exists())
    }

    /// What clients may see of an offer: without what is held back, and without hidden characters.
    pub(super) fn trusted_offer(&self, name: &ServerName, offer: &Arc<Offer>) -> Arc<Offer> {
        let first = if self.inner.config.borrow().holds_new_servers() { First::Held } else { First::Offered };
        let counted = offer.tokens.get().is_some();
        let mut trusted = self.trusted();
        // A server that nobody opened has no approvals to lose; nothing of it is believed.
        let entry = trusted.entry(name.clone()).or_insert_with(|| Entry {
            record: Record::lost(),
            ours: false,
            unwritten: false,
            judged: None,
            launch: None,
            packages: Vec::new(),
            secrets: Vec::new(),
        });
        if let Some(judged) = &entry.judged
            && Arc::ptr_eq(&judged.of, offer)
            && judged.first == first
            && judged.counted == counted
            && !entry.unwritten
        {
            return judged.seen.clone();
        }
        if entry.ours {
            return offer.clone();
        }
        let (judged, changed) = judge(&mut entry.record, name, offer, first);
        if changed || entry.unwritten {
            let written = approvals::write(&self.approvals_file(name), &entry.record);
            entry.unwritten = written.is_err();
            if let Err(error) = written {
                tracing::warn!(server = %name, %error, "cannot keep what was seen of its definitions");
            }
        }
        let news: Vec<(String, String)> = judged
            .held
            .iter()
            .filter(|(key, _)| entry.judged.as_ref().is_none_or(|known| !known.held.contains_key(key)))
            .map(|((kind, name), held)| {
                let what = format!("{} \"{}\"", kind.as_str(), clean::visible(name));
                (format!("holds back {what}: {}", because(held.why)), format!("{what}, {}", held.print))
            })
            .collect();
        let seen = judged.seen.clone();
        entry.judged = Some(judged);
        drop(trusted);
        for (line, deed) in news {
            self.did(DeedKind::Held, "satchel", name.as_str(), deed);
            if let Some(server) = self.servers().get(name) {
                server.upstream.log().hub(&line);
            }
        }
        seen
    }

    /// Why nothing of a server is started, where it waits for a person.
    pub(super) fn not_started(&self, name: &ServerName) -> Option<NotStarted> {
        let trusted = self.trusted();
        let (item, why) = trusted.get(name)?.held().next()?;
        Some(match (item.kind, why) {
            (Kind::Package, _) => NotStarted::Package,
            (Kind::Secret, _) => NotStarted::Secret,
            (_, Why::Lost) => NotStarted::Lost,
            (_, Why::New | Why::Alarming) => NotStarted::NewEntry,
            (_, Why::Changed | Why::Added) => NotStarted::ChangedEntry,
        })
    }

    /// How many definitions of a server wait for a person, and whether nobody has looked at it at all.
    pub(super) fn standing(&self, name: &ServerName) -> (usize, Option<Unseen>) {
        let trusted = self.trusted();
        let Some(entry) = trusted.get(name).filter(|entry| !entry.ours) else { return (0, None) };
        let waits = |held: &&Held| !entry.record.is_kept(&held.print);
        let waiting = entry.judged.iter().flat_map(|judged| &judged.held).filter(|(_, held)| waits(held));
        // Files, notes and the like may be many; they are looked at together.
        let (added, others): (Vec<_>, Vec<_>) =
            waiting.partition(|((kind, _), held)| held.is_added_resource(*kind));
        let held = others.len() + usize::from(!added.is_empty());
        let held = held + entry.held().filter(|(item, _)| !entry.record.is_kept(&item.print)).count();
        (held, entry.record.unseen().filter(|_| entry.judged.is_some()))
    }

    /// Why a definition may not be used, where it may not. Only asked of what is not on offer.
    pub(super) fn refuse_held(&self, server: &ServerName, kind: Kind, name: &str) -> Result<(), CallFailure> {
        let trusted = self.trusted();
        let judged = trusted.get(server).and_then(|entry| entry.judged.as_ref());
        let held = judged.and_then(|judged| match has_address(kind) {
            true => judged.held_address(kind, name),
            false => judged.held(kind, name),
        });
        let Some(held) = held else { return Ok(()) };
        let message = format!("\"{server}:{name}\" is held back: {}", because(held.why));
        let action = Code::HeldBack.action().to_owned();
        Err(CallFailure::not_sent(Some(server), Some(Code::HeldBack), message, action))
    }

    /// The same for a request as a client wrote it.
    pub(super) fn refuse_held_request(
        &self,
        server: &ServerName,
        method: &str,
        params: &RawObject,
    ) -> Result<(), CallFailure> {
        let text = |fields: &RawObject, key: &str| fields.text(key).unwrap_or_default();
        match method {
            "prompts/get" => self.refuse_held(server, Kind::Prompt, &text(params, "name")),
            "resources/read" | "resources/subscribe" => {
                self.refuse_held(server, Kind::Resource, &text(params, "uri"))
            }
            "completion/complete" => {
                let reference = params.get("ref").and_then(|raw| RawObject::parse(raw).ok());
                let reference = reference.unwrap_or_default();
                self.refuse_held(server, Kind::Prompt, &text(&reference, "name"))?;
                let address = text(&reference, "uri");
                self.refuse_held(server, Kind::Template, &address)?;
                self.refuse_held(server, Kind::Resource, &address)
            }
            _ => Ok(()),
        }
    }

    /// The tools that are held back, by server: for whoever has to say why they are not there.
    pub(super) fn held_tools(&self) -> Vec<crate::model::ToolPath> {
        let trusted = self.trusted();
        let of = |(server, entry): (&ServerName, &Entry)| {
            let held = entry.judged.iter().flat_map(|judged| judged.held.keys());
            held.filter(|(kind, _)| *kind == Kind::Tool)
                .map(|(_, name)| crate::model::ToolPath { server: server.clone(), tool: name.clone() })
                .collect::<Vec<_>>()
        };
        trusted.iter().flat_map(of).collect()
    }

    /// What there is to look at.
    pub(super) fn approvals(&self, server: Option<&str>) -> Result<ApprovalList, Refusal> {
        if let Some(server) = server
            && !self.servers().contains_key(server)
        {
            return Err(unknown_server(server));
        }
        let offers = self.offers().clone();
        let trusted = self.trusted();
        let wanted = |name: &&ServerName| server.is_none_or(|server| name.as_str() == server);
        let names: Vec<&ServerName> = self_configured(&trusted, &offers).filter(wanted).collect();
        let others: BTreeSet<&str> = offers.keys().map(ServerName::as_str).collect();
        let servers = names
            .into_iter()
            .filter_map(|name| shown(name, &trusted, offers.get(name).map(|offer| &**offer), &others));
        let servers = servers.collect();
        drop(trusted);
        let settings = self.waiting_settings().filter(|_| server.is_none());
        Ok(ApprovalList { servers, settings })
    }

    /// A person approves exactly these definitions, or wants them held back.
    pub(super) fn decide(&self, server: &str, items: &[Seen], approve: bool) -> Result<Value, Refusal> {
        let name: ServerName = server.parse().map_err(|_| unknown_server(server))?;
        let offer = self.offers().get(&name).cloned();
        let defined = offer.iter().flat_map(|offer| defined(offer, &name)).map(|one| one.item(false));
        let run: Vec<Item> = {
            let trusted = self.trusted();
            let entry = trusted.get(&name).into_iter();
            let of = |entry: &Entry| {
                let launch = entry.launch.iter().cloned();
                let given = entry.packages.iter().chain(&entry.secrets).cloned();
                launch.chain(given).collect::<Vec<_>>()
            };
            entry.flat_map(of).collect()
        };
        let now: BTreeMap<(Kind, String), Item> =
            defined.chain(run).map(|item| ((item.kind, item.name.clone()), item)).collect();
        if now.is_empty() {
            return Err(unread(server));
        }
        let mut meant = Vec::new();
        for seen in items {
            let item = now.get(&(seen.kind, seen.name.clone()));
            let item = item.filter(|item| item.print.as_str() == seen.fingerprint).ok_or_else(|| {
                let message = format!(
                    "{} \"{}\" of \"{server}\" is not what was looked at any more",
                    seen.kind.as_str(),
                    clean::visible(&seen.name)
                );
                Refusal::new("changed_meanwhile", message, "Look at it again.")
            })?;
            meant.push(item);
        }
        let deeds: Vec<String> = meant.iter().map(|item| words_of(item)).collect();
        self.with_record(&name, |entry| {
            for item in meant {
                if approve { entry.record.approve(item) } else { entry.record.keep(&item.print) }
            }
        })?;
        // What it may have follows from what it may run.
        let granted = self.settle_secrets(Accepted::Nothing);
        granted.iter().chain([&name]).for_each(|name| self.follow_launch(name));
        let kind = if approve { DeedKind::Approval } else { DeedKind::Held };
        deeds.into_iter().for_each(|deed| self.did_here(kind, server, deed));
        Ok(json!({}))
    }

    /// A person looked at what a server has on offer.
    pub(super) fn looked_at(&self, server: &str) -> Result<Value, Refusal> {
        let name: ServerName = server.parse().map_err(|_| unknown_server(server))?;
        let offer = self.offers().get(&name).cloned().ok_or_else(|| unread(server))?;
        let items: Vec<Item> = defined(&offer, &name).map(|one| one.item(false)).collect();
        self.with_record(&name, |entry| {
            entry.record.look(&items);
            // What runs is what was looked at; from now on it changes by a person's word only.
            if let (Some(launch), None) = (&entry.launch, entry.held_launch()) {
                entry.record.approve(launch);
            }
        })?;
        let looked = match items.len() {
            1 => "looked at its only definition".to_owned(),
            many => format!("looked at all {many} definitions"),
        };
        self.did_here(DeedKind::Approval, server, looked);
        Ok(json!({}))
    }

    /// Changes a record, on disk first: what is not written did not happen.
    fn with_record(&self, name: &ServerName, change: impl FnOnce(&mut Entry)) -> Result<(), Refusal> {
        let path = self.approvals_file(name);
        {
            let mut trusted = self.trusted();
            let entry = trusted.get_mut(name).ok_or_else(|| unknown_server(name.as_str()))?;
            let before = entry.record.clone();
            change(entry);
            if let Err(error) = approvals::write(&path, &entry.record) {
                entry.record = before;
                return Err(Refusal::new("unwritable", error.to_string(), ""));
            }
            entry.unwritten = false;
            entry.judged = None;
        }
        self.publish_catalog();
        self.follow_watched(name);
        self.inner.compose.notify_one();
        Ok(())
    }
}

fn self_configured<'a>(
    trusted: &'a BTreeMap<ServerName, Entry>,
    offers: &'a BTreeMap<ServerName, Arc<Offer>>,
) -> impl Iterator<Item = &'a ServerName> {
    let is_known =
        |name: &ServerName, entry: &Entry| offers.contains_key(name) || entry.held().next().is_some();
    trusted.iter().filter(move |(name, entry)| !entry.ours && is_known(name, entry)).map(|(name, _)| name)
}

/// As the trail names it: with its fingerprint, because names can be had by others.
fn words_of(item: &Item) -> String {
    format!("{} \"{}\", {}", item.kind.as_str(), clean::visible(&item.name), item.print)
}

fn unread(name: &str) -> Refusal {
    let action = "Start it once with `satchel restart`, or look at `satchel list`.";
    Refusal::new("unread", format!("nothing is known yet of what \"{name}\" offers"), action)
}

fn not_started(name: &ServerName, because: &str) -> CallFailure {
    let message = format!("\"{name}\" is held back and was not started: {because}");
    CallFailure::not_sent(Some(name), Some(Code::HeldBack), message, Code::HeldBack.action().to_owned())
}

fn because(why: Why) -> &'static str {
    match why {
        Why::Changed => "its definition changed, and nobody has approved the change",
        Why::Added => "it was added after the server's list was first read, and nobody has approved it",
        Why::New => "it is new, and has to be looked at first",
        Why::Alarming => "its text may deceive a model, and has to be looked at first",
        Why::Lost => "what was approved of this server got lost, and it has to be looked at again",
    }
}

fn shown(
    name: &ServerName,
    trusted: &BTreeMap<ServerName, Entry>,
    offer: Option<&Offer>,
    others: &BTreeSet<&str>,
) -> Option<ServerApprovals> {
    let entry = trusted.get(name)?;
    let text = |item: &Item| match item.kind {
        Kind::Secret => {
            let holders = secret_grants::holders(trusted, &item.name);
            marked("", &secret_grants::question(name, item, &holders))
        }
        _ => marked(entry.record.before(item).unwrap_or_default(), &item.text),
    };
    let run = entry.held().map(|(item, why)| ApprovalItem {
        kind: item.kind,
        name: item.name.clone(),
        fingerprint: item.print.to_string(),
        held: Some(why),
        kept: entry.record.is_kept(&item.print),
        diff: text(item),
        findings: Vec::new(),
    });
    let mut items: Vec<ApprovalItem> = run.collect();
    let (Some(judged), Some(offer)) = (entry.judged.as_ref(), offer) else {
        let server = name.to_string();
        return (!items.is_empty()).then_some(ServerApprovals { server, unseen: None, new: 0, items });
    };
    let own: BTreeSet<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    let around = inspect::Around { server: name.as_str(), own: &own, servers: others };
    for one in defined(offer, name) {
        let held = judged.held.get(&(one.kind, one.name.clone()));
        let findings = match held.is_some() || entry.record.unseen().is_some() {
            true => inspect::findings(&one.tree, &around),
            false => Vec::new(),
        };
        if held.is_none() && findings.is_empty() {
            continue;
        }
        let item = one.item(false);
        items.push(ApprovalItem {
            kind: one.kind,
            name: one.name.clone(),
            fingerprint: item.print.to_string(),
            held: held.map(|held| held.why),
            kept: entry.record.is_kept(&item.print),
            diff: marked(entry.record.before(&item).unwrap_or_default(), &item.text),
            findings,
        });
    }
    let unseen = entry.record.unseen();
    let any = unseen.is_some() || !items.is_empty();
    any.then(|| ServerApprovals { server: name.to_string(), unseen, new: judged.new, items })
}

/// The differences, with what is risky in parts of their own.
fn marked(before: &str, now: &str) -> Vec<Part> {
    let risky = inspect::risky(now);
    let mut marked = Vec::new();
    let mut at = 0;
    for part in diff::words(before, now) {
        if part.mark == crate::model::approvals::Mark::Removed {
            marked.push(part);
            continue;
        }
        let (begin, end) = (at, at + part.text.len());
        at = end;
        let mut cuts: Vec<usize> = risky
            .iter()
            .flat_map(|range| [range.start, range.end])
            .filter(|cut| *cut > begin && *cut < end)
            .collect();
        cuts.extend([begin, end]);
        cuts.sort_unstable();
        cuts.dedup();
        for cut in cuts.windows(2) {
            let is_risky = risky.iter().any(|range| range.start < cut[1] && cut[0] < range.end);
            marked.push(Part { mark: part.mark, risky: is_risky, text: now[cut[0]..cut[1]].to_owned() });
        }
    }
    marked
}

/// Everything of an offer that clients can see, in parts.
fn defined<'a>(offer: &'a Offer, name: &'a ServerName) -> impl Iterator<Item = Defined> + 'a {
    let tools = offer.tools.iter().map(|tool| Defined {
        kind: Kind::Tool,
        name: tool.name.clone(),
        tree: Tree::of(&tool.raw),
    });
    let prompts = offer.prompts.iter().map(|raw| Defined {
        kind: Kind::Prompt,
        name: prompt_name(raw),
        tree: Tree::of(raw),
    });
    let resource = |kind: Kind| {
        move |entry: &ResourceEntry| Defined { kind, name: entry.uri.clone(), tree: Tree::of(&entry.raw) }
    };
    let resources = offer.resources.iter().map(resource(Kind::Resource));
    let templates = offer.templates.iter().map(resource(Kind::Template));
    let introduction = offer.hello.iter().map(|said| Defined {
        kind: Kind::Introduction,
        name: name.to_string(),
        tree: introduction(said),
    });
    let instructions = offer.instructions.iter().map(|text| Defined {
        kind: Kind::Instructions,
        name: name.to_string(),
        tree: Tree::Text(text.clone()),
    });
    let beside = offer.frames.iter().filter_map(|(method, frame)| {
        let tree = beside(frame)?;
        Some(Defined { kind: Kind::Beside, name: method.clone(), tree })
    });
    tools
        .chain(prompts)
        .chain(resources)
        .chain(templates)
        .chain(introduction)
        .chain(instructions)
        .chain(beside)
}

fn prompt_name(raw: &Raw) -> String {
    RawObject::parse(raw).ok().and_then(|fields| fields.text("name")).unwrap_or_default()
}

/// Name, title and the like. A version that is one says nothing to anybody; what a server can do is no text, unless it
/// makes it one.
fn introduction(said: &Said) -> Tree {
    let mut info = RawObject::parse(&said.server_info).unwrap_or_default();
    if info.text("version").is_some_and(|version| is_plain_version(&version)) {
        info.remove("version");
    }
    let mut parts = vec![("serverInfo".to_owned(), Tree::of(&info.to_raw()))];
    let capabilities = Tree::of(&said.capabilities);
    let mut speaks = false;
    values(&capabilities, &mut |_| speaks = true);
    if speaks {
        parts.insert(0, ("capabilities".to_owned(), capabilities));
    }
    Tree::Object(parts)
}

fn values(tree: &Tree, see: &mut impl FnMut(&str)) {
    match tree {
        Tree::Object(fields) => fields.iter().for_each(|(_, value)| values(value, see)),
        Tree::List(items) => items.iter().for_each(|item| values(item, see)),
        Tree::Text(text) | Tree::Opaque(text) => see(text),
        Tree::Literal(_) => {}
    }
}

/// `1.2.3`, `v2.0.0-beta.1`, `2025.11.4+abc123`: no place for a sentence.
fn is_plain_version(version: &str) -> bool {
    let digits = version.strip_prefix('v').unwrap_or(version);
    let words: Vec<&str> = digits.split(['.', '-', '+', '_']).collect();
    version.len() <= 32
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && words.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric()))
        && words.iter().filter(|word| word.chars().any(|c| c.is_ascii_alphabetic())).count() <= 2
}

/// What stands beside a list's items, without what the protocol itself has there.
fn beside(frame: &Raw) -> Option<Tree> {
    const OF_PROTOCOL: [&str; 8] = [
        "tools",
        "prompts",
        "resources",
        "resourceTemplates",
        "ttlMs",
        "cacheScope",
        "resultType",
        "nextCursor",
    ];
    let mut fields = RawObject::parse(frame).ok()?;
    for key in OF_PROTOCOL {
        fields.remove(key);
    }
    (!fields.is_empty()).then(|| Tree::of(&fields.to_raw()))
}

/// Which list says that a kind was read.
fn is_read(offer: &Offer, kind: Kind) -> bool {
    let has = |list: &str| offer.lists.contains(list);
    match kind {
        Kind::Tool => has("tools"),
        Kind::Prompt => has("prompts"),
        Kind::Resource | Kind::Template => has("resources"),
        Kind::Introduction | Kind::Instructions => offer.hello.is_some(),
        Kind::Beside => has("tools") && has("prompts") && has("resources"),
        // Stand in no list.
        Kind::Launch | Kind::Package | Kind::Secret => false,
    }
}

fn judge(record: &mut Record, name: &ServerName, offer: &Arc<Offer>, first: First) -> (Judged, bool) {
    let item = |one: Defined| one.item(!record.knows(one.kind, &one.name));
    let all: Vec<Item> = defined(offer, name).map(item).collect();
    let (mut held, mut new, mut changed) = (BTreeMap::new(), 0, false);
    // In the order of `defined`, one place for each.
    let mut on_offer: Vec<bool> = Vec::with_capacity(all.len());
    for kind in KINDS {
        let items: Vec<Item> = all.iter().filter(|item| item.kind == kind).cloned().collect();
        if !is_read(offer, kind) {
            on_offer.extend(items.iter().map(|_| false));
            continue;
        }
        let (verdicts, written) = record.judge(kind, &items, first);
        changed |= written;
        for (item, verdict) in items.iter().zip(verdicts) {
            on_offer.push(!matches!(verdict, Verdict::Held(_)));
            match verdict {
                Verdict::Approved => {}
                Verdict::New => new += 1,
                Verdict::Held(why) => {
                    let address = has_address(kind).then(|| uri::key(&item.name));
                    held.insert((kind, item.name.clone()), Held { print: item.print.clone(), why, address });
                }
            }
        }
    }
    let seen = seen(name, offer, &on_offer);
    let counted = offer.tokens.get().is_some();
    (Judged { of: offer.clone(), first, counted, seen, held, new }, changed)
}

/// In the order of [`defined`].
const KINDS: [Kind; 7] = [
    Kind::Tool,
    Kind::Prompt,
    Kind::Resource,
    Kind::Template,
    Kind::Introduction,
    Kind::Instructions,
    Kind::Beside,
];

/// The offer with only what is on offer, cleaned; itself where that is all of it.
fn seen(name: &ServerName, offer: &Arc<Offer>, on_offer: &[bool]) -> Arc<Offer> {
    let mut verdicts = on_offer.iter().copied();
    let mut same = true;
    let mut next = || {
        let stays = verdicts.next().unwrap_or(false);
        same &= stays;
        stays
    };
    let tools: Vec<&ToolEntry> = offer.tools.iter().filter(|_| next()).collect();
    let prompts: Vec<&Box<Raw>> = offer.prompts.iter().filter(|_| next()).collect();
    let resources: Vec<&ResourceEntry> = offer.resources.iter().filter(|_| next()).collect();
    let templates: Vec<&ResourceEntry> = offer.templates.iter().filter(|_| next()).collect();
    let introduced = offer.hello.is_none() || next();
    let instructed = offer.instructions.is_none() || next();
    let frames: Vec<(&String, &Box<Raw>)> =
        offer.frames.iter().filter(|(_, frame)| beside(frame).is_none() || next()).collect();
    let frames =
        frames.into_iter().map(|(method, frame)| (method.clone(), cleaned(frame, &mut same))).collect();
    let tools = tools.into_iter().map(|tool| clean_tool(tool, &mut same)).collect();
    let prompts = prompts.into_iter().map(|raw| cleaned(raw, &mut same)).collect();
    let mut entries = |entries: Vec<&ResourceEntry>| -> Vec<ResourceEntry> {
        let entry = |entry: &ResourceEntry| ResourceEntry {
            uri: clean::text(&entry.uri).into_owned(),
            raw: cleaned(&entry.raw, &mut same),
        };
        entries.into_iter().map(entry).collect()
    };
    let (resources, templates) = (entries(resources), entries(templates));
    let hello = offer.hello.as_ref().map(|said| match introduced {
        true => Said {
            revision: said.revision.clone(),
            server_info: cleaned(&said.server_info, &mut same),
            capabilities: cleaned(&said.capabilities, &mut same),
        },
        false => unintroduced(name, said),
    });
    let text = |text: &String, same: &mut bool| {
        let clean = clean::text(text).into_owned();
        *same &= clean == *text;
        clean
    };
    let title = offer.title.as_ref().filter(|_| introduced).map(|title| text(title, &mut same));
    let instructions = offer.instructions.as_ref().filter(|_| instructed).map(|words| text(words, &mut same));
    if same {
        return offer.clone();
    }
    Arc::new(Offer {
        setup: offer.setup.clone(),
        title,
        instructions,
        hello,
        frames,
        tools,
        resources,
        templates,
        prompts,
        lists: offer.lists.clone(),
        skipped: offer.skipped.clone(),
        versions: offer.versions.clone(),
        tokens: OnceLock::new(),
    })
}

/// What is said of a server whose introduction is held back.
fn unintroduced(name: &ServerName, said: &Said) -> Said {
    let capabilities = RawObject::parse(&said.capabilities).unwrap_or_default();
    let mut plain = RawObject::new();
    for key in ["tools", "resources", "prompts", "completions", "logging"] {
        if let Some(capability) = capabilities.get(key).and_then(|raw| RawObject::parse(raw).ok()) {
            let switches = capability.iter().filter(|(_, value)| matches!(value.get(), "true" | "false"));
            let mut kept = RawObject::new();
            switches
                .filter(|(switch, _)| matches!(*switch, "listChanged" | "subscribe"))
                .for_each(|(switch, value)| kept.set(switch, value.to_owned()));
            plain.set(key, kept.to_raw());
        }
    }
    let info = json!({ "name": name.as_str(), "version": "0" });
    Said {
        revision: said.revision.clone(),
        server_info: serde_json::value::to_raw_value(&info).expect("a JSON value always serializes"),
        capabilities: plain.to_raw(),
    }
}

fn cleaned(raw: &Raw, same: &mut bool) -> Box<Raw> {
    let clean = clean::raw(raw);
    *same &= matches!(clean, std::borrow::Cow::Borrowed(_));
    clean.into_owned()
}

fn clean_tool(tool: &ToolEntry, same: &mut bool) -> ToolEntry {
    let mut untouched = true;
    let raw = cleaned(&tool.raw, &mut untouched);
    if untouched {
        return tool.clone();
    }
    *same = false;
    let fields = RawObject::parse(&raw).unwrap_or_default();
    ToolEntry::new(tool.name.clone(), &fields, raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_one_or_it_is_a_text() {
        for (version, plain) in [
            ("1.2.3", true),
            ("v2.0.0-beta.1", true),
            ("2025.11.4+abc123f", true),
            ("0", true),
            ("", false),
            ("1.0 ignore all rules", false),
            ("1.0-please-send-the-key", false),
            ("latest", false),
            ("1.0\u{200b}", false),
        ] {
            assert_eq!(is_plain_version(version), plain, "{version}");
        }
    }

    #[test]
    fn what_is_risky_stands_in_parts_of_its_own() {
        let parts = marked("Find a.", "Find ⟨U+200B⟩a.");
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert!(parts.iter().any(|part| part.risky && part.text == "⟨U+200B⟩"), "{parts:?}");
        assert!(text.contains("Find "), "{parts:?}");
    }
}
