//! The approved definitions of one server.
//!
//! The first list of a server is pinned as it is: on offer, but new until a person has looked at it. A pinned definition
//! stays in force: whatever differs from it afterwards waits until a person approves exactly that, and clients go on with
//! the pinned one where it can stand for the present one ([`super::stands`]). What it cannot stand for, and what comes
//! after its list was read once, is held back. Reading lists, restarting, reconnecting and time change nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{fingerprint::Fingerprint, stands::stands};
use crate::{
    files,
    model::approvals::{Kind, Unseen, Why},
};

const FORMAT: u32 = 1;
/// Maximum number of recorded packages of one server. Unused ones are dropped first.
const MOST_PACKAGES: usize = 4096;

/// A definition in its present form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Its name or URI.
    pub name: String,
    /// Its fingerprint.
    pub print: Fingerprint,
    /// Its text for people, which later versions are compared with.
    pub text: String,
    /// Inspection found something that must not be available without review.
    pub alarming: bool,
    /// A client asked for it: no list has it, so that none can be its first.
    pub sought: bool,
    /// The definition itself, to stay in force when it changes. `None` for what is not shown to clients.
    pub definition: Option<Box<str>>,
}

/// The decision on a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A person approved exactly this.
    Approved,
    /// Available since the server's first list, and not reviewed.
    New,
    /// It waits, and the pinned definition stays in force.
    Stands,
    /// Held back.
    Held(Why),
}

/// The approvals of one server. An unknown field counts as damage: ignoring it could widen what is approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    format: u32,
    /// The approvals were lost: nothing counts as seen.
    #[serde(default)]
    lost: bool,
    /// The server was imported: its first lists count as approved.
    #[serde(default)]
    imported: bool,
    /// The first lists were reviewed.
    #[serde(default)]
    looked_at: bool,
    /// Kinds whose list has been read once.
    #[serde(default)]
    read: BTreeSet<Kind>,
    pins: BTreeMap<Kind, BTreeMap<String, Pin>>,
    /// Definitions that a person decided to keep held back.
    #[serde(default)]
    kept: BTreeSet<Fingerprint>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    print: Fingerprint,
    text: String,
    approved: bool,
    /// The definition; missing in records of earlier versions until it is seen again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<Box<str>>,
    /// Number of other definitions that it stood for, up to [`VARIES`].
    #[serde(default, skip_serializing_if = "is_none_yet")]
    stood: u8,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latest: Option<Fingerprint>,
    /// A person decided that it stays, whatever the server writes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    for_good: bool,
}

impl Pin {
    fn of(item: &Item, approved: bool) -> Self {
        Self {
            print: item.print.clone(),
            text: item.text.clone(),
            approved,
            definition: item.definition.clone(),
            stood: 0,
            latest: None,
            for_good: false,
        }
    }
}

/// After so many changes, a server is taken to change this text all the time.
const VARIES: u8 = 2;

fn is_none_yet(number: &u8) -> bool {
    *number == 0
}

/// What is available of a new server before it is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// Its first lists.
    Offered,
    /// Nothing.
    Held,
}

impl Record {
    /// For a server that was never seen.
    pub fn new() -> Self {
        Self { format: FORMAT, ..Self::default() }
    }

    /// For a server that was imported.
    pub fn imported() -> Self {
        Self { imported: true, ..Self::new() }
    }

    /// For a server whose approvals were lost.
    pub fn lost() -> Self {
        Self { lost: true, ..Self::new() }
    }

    /// Judges all definitions of one kind, and pins those of a first list. Also returns whether the record changed.
    pub fn judge(&mut self, kind: Kind, items: &[Item], first: First) -> (Vec<Verdict>, bool) {
        let before_first = !self.read.contains(&kind);
        let mut changed = false;
        let mut verdicts = Vec::with_capacity(items.len());
        for item in items {
            let verdict = self.judge_one(item, before_first, first);
            if verdict == Verdict::New && self.pin(item).is_none() {
                let pin = Pin::of(item, self.imported);
                self.pins.entry(kind).or_default().insert(item.name.clone(), pin);
                changed = true;
            }
            changed |= self.note(item, verdict);
            verdicts.push(self.judge_one(item, before_first, first));
        }
        // With a rule that holds back new definitions, there is no first list until a person has reviewed the server. An
        // empty list is no first list either: servers answer with one until what is behind them has started. Once a
        // person has reviewed the server, everything else is an addition.
        let is_first = !items.is_empty() || self.looked_at || !is_listed(kind);
        if before_first && is_first && (first == First::Offered || self.imported) && !self.lost {
            changed |= self.read.insert(kind);
        }
        (verdicts, changed)
    }

    /// Notes the definition of a pin that has none, and how often it stood for another one. Returns whether that changed
    /// anything.
    fn note(&mut self, item: &Item, verdict: Verdict) -> bool {
        let pin = self.pins.get_mut(&item.kind).and_then(|pins| pins.get_mut(&item.name));
        let Some(pin) = pin else { return false };
        if pin.print == item.print {
            let lacks = pin.definition.is_none() && item.definition.is_some();
            if lacks {
                pin.definition.clone_from(&item.definition);
            }
            return lacks;
        }
        let is_another = verdict == Verdict::Stands && pin.latest.as_ref() != Some(&item.print);
        if !is_another || pin.stood >= VARIES {
            return false;
        }
        pin.stood += 1;
        pin.latest = Some(item.print.clone());
        true
    }

    fn judge_one(&self, item: &Item, before_first: bool, first: First) -> Verdict {
        match self.pin(item) {
            Some(pin) if pin.print == item.print && pin.approved => Verdict::Approved,
            Some(pin) if pin.print == item.print => Verdict::New,
            Some(Pin { definition: Some(pinned), .. })
                if !item.alarming
                    && item.definition.as_ref().is_some_and(|now| stands(item.kind, pinned, now)) =>
            {
                Verdict::Stands
            }
            Some(_) => Verdict::Held(Why::Changed),
            None if self.lost => Verdict::Held(Why::Lost),
            None if item.alarming && !self.imported => Verdict::Held(Why::Alarming),
            None if before_first && (first == First::Offered || self.imported) => Verdict::New,
            None if before_first => Verdict::Held(Why::New),
            None if item.sought && !self.looked_at && (first == First::Offered || self.imported) => {
                Verdict::New
            }
            None => Verdict::Held(Why::Added),
        }
    }

    /// Is a definition of this name pinned?
    pub fn knows(&self, kind: Kind, name: &str) -> bool {
        self.pins.get(&kind).is_some_and(|pins| pins.contains_key(name))
    }

    /// Is exactly this pinned? Then inspection does not decide about it.
    pub fn has(&self, kind: Kind, name: &str, print: &Fingerprint) -> bool {
        self.pins.get(&kind).and_then(|pins| pins.get(name)).is_some_and(|pin| pin.print == *print)
    }

    /// Did a person approve the definition that is pinned under this name?
    pub fn has_approved(&self, kind: Kind, name: &str) -> bool {
        self.pins.get(&kind).and_then(|pins| pins.get(name)).is_some_and(|pin| pin.approved)
    }

    fn pin(&self, item: &Item) -> Option<&Pin> {
        self.pins.get(&item.kind)?.get(&item.name)
    }

    /// Why the server's launch is held back, if so: only exactly what a person accepted is started.
    pub fn holds_launch(&self, item: &Item) -> Option<Why> {
        match self.pin(item) {
            Some(pin) if pin.print == item.print && pin.approved => None,
            Some(_) => Some(Why::Changed),
            None if self.lost => Some(Why::Lost),
            None => Some(Why::New),
        }
    }

    /// Is this secret granted to exactly this recipient?
    pub fn grants(&self, item: &Item) -> bool {
        self.pin(item).is_some_and(|pin| pin.print == item.print && pin.approved)
    }

    /// The recipient that this secret is granted to.
    pub fn recipient(&self, secret: &str) -> Option<&str> {
        let pin = self.pins.get(&Kind::Secret)?.get(secret)?;
        pin.approved.then_some(pin.text.as_str())
    }

    /// All granted secrets with their recipients.
    pub fn recipients(&self) -> impl Iterator<Item = (&str, &str)> {
        let pins = self.pins.get(&Kind::Secret).into_iter().flatten();
        pins.filter(|(_, pin)| pin.approved).map(|(secret, pin)| (secret.as_str(), pin.text.as_str()))
    }

    /// Was this record written by a version that asks about secrets?
    pub fn asks_about_secrets(&self) -> bool {
        self.read.contains(&Kind::Secret)
    }

    /// From now on, each secret needs a grant.
    pub fn ask_about_secrets(&mut self) {
        self.read.insert(Kind::Secret);
    }

    /// Does this package differ from the one recorded under its name and version?
    pub fn holds_package(&self, item: &Item) -> bool {
        self.pin(item).is_some_and(|pin| pin.print != item.print)
    }

    /// The recorded packages: names with versions, and digests.
    pub fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        let pins = self.pins.get(&Kind::Package).into_iter().flatten();
        pins.map(|(name, pin)| (name.as_str(), pin.text.as_str()))
    }

    /// Records packages that are not known yet, and returns them.
    pub fn remember<'a>(&mut self, items: &'a [Item]) -> Vec<&'a Item> {
        let new: Vec<&Item> = items.iter().filter(|item| self.pin(item).is_none()).collect();
        let pins = self.pins.entry(Kind::Package).or_default();
        if pins.len() + new.len() > MOST_PACKAGES {
            let now: BTreeSet<&String> = items.iter().map(|item| &item.name).collect();
            pins.retain(|name, _| now.contains(name));
        }
        for item in &new {
            pins.insert(item.name.clone(), Pin::of(item, true));
        }
        new
    }

    /// Approves exactly this definition.
    pub fn approve(&mut self, item: &Item) {
        self.read.insert(item.kind);
        self.pins.entry(item.kind).or_default().insert(item.name.clone(), Pin::of(item, true));
        self.kept.remove(&item.print);
    }

    /// Marks `items`, which are all present definitions, as reviewed: available ones become approved.
    pub fn look(&mut self, items: &[Item]) {
        for item in items {
            if self.pin(item).is_some_and(|pin| pin.print == item.print) {
                self.approve(item);
            }
        }
        self.looked_at = true;
    }

    /// Keeps a definition held back, and stops asking about it. Where the server changes it all the time, the pinned one
    /// stays for good.
    pub fn keep(&mut self, item: &Item) {
        self.kept.insert(item.print.clone());
        let pin = self.pins.get_mut(&item.kind).and_then(|pins| pins.get_mut(&item.name));
        if let Some(pin) = pin.filter(|pin| pin.stood >= VARIES && pin.print != item.print) {
            pin.for_good = true;
        }
    }

    /// Did a person decide to keep it held back? `held` is why it is; `None` if the pinned one stands for it.
    pub fn is_kept(&self, kind: Kind, name: &str, print: &Fingerprint, stands: bool) -> bool {
        let for_good =
            || self.pins.get(&kind).and_then(|pins| pins.get(name)).is_some_and(|pin| pin.for_good);
        self.kept.contains(print) || (stands && for_good())
    }

    /// Does the server change this definition all the time? Then keeping the present one held back keeps the pinned one
    /// for good.
    pub fn varies(&self, kind: Kind, name: &str) -> bool {
        self.pins.get(&kind).and_then(|pins| pins.get(name)).is_some_and(|pin| pin.stood >= VARIES)
    }

    /// The definition that is in force under this name.
    pub fn in_force(&self, kind: Kind, name: &str) -> Option<&str> {
        self.pins.get(&kind)?.get(name)?.definition.as_deref()
    }

    /// Set while nobody has reviewed the first lists.
    pub fn unseen(&self) -> Option<Unseen> {
        match (self.looked_at, self.imported) {
            (true, _) => None,
            (false, true) => Some(Unseen::Imported),
            (false, false) => Some(Unseen::New),
        }
    }

    /// Were the approvals lost?
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// The previous text under this name.
    pub fn before(&self, item: &Item) -> Option<&str> {
        self.pin(item).map(|pin| pin.text.as_str())
    }
}

/// Are there lists of this kind?
fn is_listed(kind: Kind) -> bool {
    matches!(kind, Kind::Tool | Kind::Prompt | Kind::Resource | Kind::Template | Kind::Skill)
}

/// Writes a server's record.
///
/// # Errors
/// Any I/O error; the file is then unchanged.
pub fn write(path: &Path, record: &Record) -> std::io::Result<()> {
    files::replace(path, &serde_json::to_vec(record)?)
}

/// Writes many records; all are on disk when it returns.
///
/// # Errors
/// As for [`write`], individually; the others are written.
pub fn write_all(records: &[(PathBuf, Arc<Record>)]) -> Vec<std::io::Result<()>> {
    let file = |(path, record): &(PathBuf, Arc<Record>)| Ok((path.clone(), serde_json::to_vec(&**record)?));
    match records.iter().map(file).collect::<Result<Vec<_>, serde_json::Error>>() {
        Ok(files) => files::replace_all(&files),
        Err(error) => {
            let failed = |_| Err(std::io::Error::other(error.to_string()));
            records.iter().map(failed).collect()
        }
    }
}

/// Maximum size of a record, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;

/// Does the file contain more than that its server was imported? A damaged one might.
pub fn is_known(path: &Path) -> bool {
    let record = files::read_plain(path, LARGEST).ok().and_then(|bytes| parse(&bytes).ok());
    path.exists() && record != Some(Record::imported())
}

/// Reads a server's record; `None` if there is none.
///
/// # Errors
/// Why it cannot be used, and where it was moved. None of it may be trusted.
pub fn read(path: &Path) -> Result<Option<Record>, String> {
    let bytes = match files::read_data(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let trouble = match parse(&bytes) {
        Ok(record) => return Ok(Some(record)),
        Err(trouble) => trouble,
    };
    let place = match files::set_aside(path) {
        Ok(aside) => format!("set aside as {}", aside.display()),
        Err(error) => format!("could not be set aside ({error})"),
    };
    Err(format!("the approvals could not be read ({trouble}) and {place}"))
}

fn parse(bytes: &[u8]) -> Result<Record, String> {
    match serde_json::from_slice::<Record>(bytes) {
        Ok(record) if record.format == FORMAT => Ok(record),
        Ok(record) => Err(format!("it has format {}, which this version does not know", record.format)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, version: u64) -> Item {
        let print = Fingerprint::from(format!("{name}{version}"));
        let (name, text) = (name.into(), version.to_string());
        Item { kind: Kind::Tool, name, print, text, alarming: false, sought: false, definition: None }
    }

    /// The same of a tool whose definition is known.
    fn defined(name: &str, description: &str, required: &str) -> Item {
        let definition = format!(
            r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object","required":[{required}]}}}}"#
        );
        let print = Fingerprint::from(definition.clone());
        let text = description.to_owned();
        Item {
            kind: Kind::Tool,
            name: name.into(),
            print,
            text,
            alarming: false,
            sought: false,
            definition: Some(definition.into()),
        }
    }

    fn judge(record: &mut Record, items: &[Item]) -> Vec<Verdict> {
        record.judge(Kind::Tool, items, First::Offered).0
    }

    use Verdict::{Approved, Held, New};

    #[test]
    fn no_flipped_bit_releases_a_held_tool() {
        let mut record = Record::new();
        judge(&mut record, &[item("a", 1), item("b", 1)]);
        let later = [item("a", 2), item("b", 1), item("c", 1)];
        assert_eq!(judge(&mut record, &later), [Held(Why::Changed), New, Held(Why::Added)]);
        let whole = serde_json::to_vec(&record).unwrap();
        let (mut refused, mut believed) = (0, 0);
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match parse(&bytes) {
                Err(_) => refused += 1,
                Ok(mut damaged) => {
                    let verdicts = judge(&mut damaged, &later);
                    assert!(matches!(verdicts[0], Held(_)) && matches!(verdicts[2], Held(_)), "bit {bit}");
                    believed += 1;
                }
            }
        }
        assert!(refused > 0 && believed > 0, "{refused} {believed}");
    }

    #[test]
    fn a_first_list_is_offered_and_later_changes_are_held_back_individually() {
        let mut record = Record::new();
        assert_eq!(judge(&mut record, &[item("a", 1), item("b", 1)]), [New, New]);
        let later = [item("a", 2), item("b", 1), item("c", 1)];
        for _ in 0..3 {
            assert_eq!(judge(&mut record, &later), [Held(Why::Changed), New, Held(Why::Added)]);
        }
        assert_eq!(judge(&mut record, &[item("a", 1)]), [New], "as it was is as it was");
        record.approve(&later[0]);
        assert_eq!(judge(&mut record, &later), [Approved, New, Held(Why::Added)]);
        assert_eq!(judge(&mut record, &[item("a", 1)]), [Held(Why::Changed)]);
        record.look(&later);
        assert_eq!(judge(&mut record, &later), [Approved, Approved, Held(Why::Added)]);
        assert_eq!(record.before(&item("a", 9)), Some("2"));
    }

    #[test]
    fn a_pinned_definition_stays_in_force_as_long_as_it_can_stand_for_the_present_one() {
        let mut record = Record::new();
        let first = defined("a", "Reads. It is 12:00.", "");
        assert_eq!(judge(&mut record, std::slice::from_ref(&first)), [New]);
        let later = |time: u32| defined("a", &format!("Reads. It is {time}."), "");
        assert_eq!(judge(&mut record, &[later(1)]), [Verdict::Stands]);
        assert_eq!(record.in_force(Kind::Tool, "a"), first.definition.as_deref());
        assert_eq!(judge(&mut record, &[defined("a", "Reads.", "\"key\"")]), [Held(Why::Changed)]);
        assert_eq!(judge(&mut record, std::slice::from_ref(&first)), [New], "as it was is as it was");
        record.approve(&later(1));
        assert_eq!(judge(&mut record, &[later(1)]), [Approved]);
        assert_eq!(record.in_force(Kind::Tool, "a"), later(1).definition.as_deref());
        let again = serde_json::from_slice(&serde_json::to_vec(&record).unwrap()).unwrap();
        assert_eq!(record, again);
    }

    #[test]
    fn a_text_that_changes_all_the_time_can_be_kept_for_good() {
        let mut record = Record::new();
        let at = |time: u32| defined("a", &format!("Reads. It is {time}."), "");
        let kept = |record: &Record, item: &Item| record.is_kept(Kind::Tool, "a", &item.print, true);
        judge(&mut record, &[at(0)]);
        judge(&mut record, &[at(1)]);
        record.keep(&at(1));
        assert!(kept(&record, &at(1)) && !kept(&record, &at(2)) && !record.varies(Kind::Tool, "a"));
        judge(&mut record, &[at(2)]);
        assert!(record.varies(Kind::Tool, "a"));
        record.keep(&at(2));
        assert_eq!(judge(&mut record, &[at(3)]), [Verdict::Stands]);
        assert!(kept(&record, &at(3)), "it is not asked about again");
        let alarming = Item { alarming: true, ..at(3) };
        assert_eq!(judge(&mut record, &[alarming]), [Held(Why::Changed)], "an attack stops the tool");
        let other = defined("a", "Reads.", "\"key\"");
        assert!(!record.is_kept(Kind::Tool, "a", &other.print, false), "what it cannot stand for is");
        let (_, changed) = record.judge(Kind::Tool, &[at(4)], First::Offered);
        assert!(!changed, "and nothing is written for it");
    }

    #[test]
    fn a_record_of_an_earlier_version_learns_what_is_pinned() {
        let mut record = Record::new();
        let first = defined("a", "Reads.", "");
        record.approve(&Item { definition: None, ..first.clone() });
        let changed = defined("a", "Reads more.", "");
        assert_eq!(judge(&mut record, std::slice::from_ref(&changed)), [Held(Why::Changed)]);
        assert_eq!(judge(&mut record, &[first]), [Approved]);
        assert_eq!(judge(&mut record, &[changed]), [Verdict::Stands]);
    }

    #[test]
    fn an_empty_list_is_no_first_list_until_a_person_has_reviewed_the_server() {
        let mut record = Record::new();
        assert_eq!(judge(&mut record, &[]), []);
        assert_eq!(judge(&mut record, &[item("a", 1)]), [New]);
        assert_eq!(judge(&mut record, &[item("a", 1), item("b", 1)]), [New, Held(Why::Added)]);
        let mut record = Record::new();
        judge(&mut record, &[]);
        record.look(&[]);
        assert_eq!(judge(&mut record, &[]), []);
        assert_eq!(judge(&mut record, &[item("a", 1)]), [Held(Why::Added)]);
    }

    #[test]
    fn imported_servers_count_as_approved_at_their_first_list() {
        let mut record = Record::imported();
        let alarming = Item { alarming: true, ..item("b", 1) };
        assert_eq!(judge(&mut record, &[item("a", 1), alarming]), [Approved, Approved]);
        assert_eq!(judge(&mut record, &[item("a", 2), item("c", 1)]), [Held(Why::Changed), Held(Why::Added)]);
    }

    #[test]
    fn lost_approvals_hold_everything_back() {
        let mut record = Record::lost();
        assert_eq!(judge(&mut record, &[item("a", 1)]), [Held(Why::Lost)]);
        record.approve(&item("a", 1));
        assert_eq!(judge(&mut record, &[item("a", 1), item("b", 1)]), [Approved, Held(Why::Lost)]);
    }

    #[test]
    fn new_things_that_alarm_wait_and_so_do_all_where_the_user_wants_it() {
        let mut record = Record::new();
        let alarming = Item { alarming: true, ..item("b", 1) };
        assert_eq!(judge(&mut record, &[item("a", 1), alarming.clone()]), [New, Held(Why::Alarming)]);
        assert_eq!(judge(&mut record, std::slice::from_ref(&alarming)), [Held(Why::Alarming)]);
        let mut record = Record::new();
        for _ in 0..2 {
            assert_eq!(record.judge(Kind::Tool, &[item("a", 1)], First::Held).0, [Held(Why::New)]);
        }
    }

    #[test]
    fn a_skill_that_no_list_has_is_pinned_when_it_is_asked_for_until_a_person_has_reviewed_the_server() {
        let skill = |name: &str, version| Item { kind: Kind::Skill, sought: true, ..item(name, version) };
        let mut record = Record::new();
        let judge = |record: &mut Record, item: Item| record.judge(Kind::Skill, &[item], First::Offered).0;
        let listed = Item { sought: false, ..skill("listed", 1) };
        assert_eq!(judge(&mut record, listed.clone()), [New]);
        assert_eq!(judge(&mut record, Item { sought: false, ..skill("later", 1) }), [Held(Why::Added)]);
        assert_eq!(judge(&mut record, skill("desk", 1)), [New]);
        assert_eq!(judge(&mut record, skill("desk", 2)), [Held(Why::Changed)]);
        assert_eq!(judge(&mut record, Item { alarming: true, ..skill("odd", 1) }), [Held(Why::Alarming)]);
        record.look(&[listed]);
        assert_eq!(judge(&mut record, skill("another", 1)), [Held(Why::Added)]);
    }

    #[test]
    fn resources_that_come_later_are_held_like_tools() {
        let resource = |name: &str, version| Item { kind: Kind::Resource, ..item(name, version) };
        let mut record = Record::new();
        let mut judge = |items: &[Item]| record.judge(Kind::Resource, items, First::Offered).0;
        assert_eq!(judge(&[resource("x", 1)]), [New]);
        assert_eq!(judge(&[resource("x", 2), resource("y", 1)]), [Held(Why::Changed), Held(Why::Added)]);
        let alarming = Item { alarming: true, ..resource("z", 1) };
        assert_eq!(judge(&[alarming]), [Held(Why::Alarming)]);
    }

    #[test]
    fn a_record_comes_back_as_it_was_written_and_a_damaged_one_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        assert_eq!(read(&path), Ok(None));
        let mut record = Record::new();
        judge(&mut record, &[item("a", 1)]);
        record.approve(&item("a", 2));
        record.keep(&item("a", 3));
        write(&path, &record).unwrap();
        assert_eq!(read(&path), Ok(Some(record)));
        let good = std::fs::read(&path).unwrap();
        let mut damaged = 0;
        for cut in 0..good.len() {
            std::fs::write(&path, &good[..cut]).unwrap();
            damaged += usize::from(read(&path).is_err());
            assert!(!path.exists());
            for left in std::fs::read_dir(dir.path()).unwrap().flatten() {
                std::fs::remove_file(left.path()).unwrap();
            }
        }
        assert_eq!(damaged, good.len());
        std::fs::write(&path, br#"{"format":2,"pins":{}}"#).unwrap();
        assert!(read(&path).unwrap_err().contains("format 2"));
    }

    /// S27. Compares the record with a model that knows only a person's decisions, through lists, restarts, losses and
    /// flapping. `SATCHEL_HISTORIES` sets the number of histories.
    #[test]
    fn no_history_approves_a_change() {
        let histories = std::env::var("SATCHEL_HISTORIES").ok().and_then(|text| text.parse().ok());
        let mut random = fastrand::Rng::with_seed(27);
        for _ in 0..histories.unwrap_or(100_000_u32) {
            history(&mut random);
        }
    }

    /// S33.
    #[test]
    fn a_version_of_a_package_that_was_seen_once_has_these_contents_for_ever() {
        let package = |name: &str, contents: u64| Item { kind: Kind::Package, ..item(name, contents) };
        let mut record = Record::new();
        let (first, needed) = (package("a 1.0", 1), package("b 1.0", 1));
        assert_eq!(record.remember(&[first.clone(), needed.clone()]), [&first, &needed]);
        record = serde_json::from_slice(&serde_json::to_vec(&record).unwrap()).unwrap();
        let newer = package("a 1.1", 2);
        assert!(!record.holds_package(&first) && !record.holds_package(&newer));
        assert_eq!(record.remember(&[newer.clone(), needed.clone()]), [&newer]);
        let other = package("a 1.0", 2);
        assert!(record.holds_package(&other));
        assert_eq!(record.remember(std::slice::from_ref(&other)), [&other; 0]);
        assert!(record.holds_package(&other), "reading it once more approves nothing");
        record.approve(&other);
        assert!(!record.holds_package(&other) && record.holds_package(&first));
        // The number is limited; present packages are kept.
        let many: Vec<Item> = (0..MOST_PACKAGES as u64).map(|at| package(&format!("c {at}"), 1)).collect();
        record.remember(&many);
        assert!(!record.knows(Kind::Package, "a 1.0") && record.knows(Kind::Package, "c 7"));
    }

    fn history(random: &mut fastrand::Rng) {
        let imported = random.u8(0..4) == 0;
        let first = if random.bool() { First::Offered } else { First::Held };
        let mut record = if imported { Record::imported() } else { Record::new() };
        // What a person decided, what the first list contained, and whether there was one.
        let mut approved: BTreeMap<String, u64> = BTreeMap::new();
        let mut begun: BTreeMap<String, u64> = BTreeMap::new();
        let (mut before_first, mut lost, mut looked) = (true, false, false);
        for _ in 0..random.usize(1..12) {
            let mut list = Vec::new();
            for name in ["a", "b", "c"] {
                if random.bool() {
                    list.push(Item { alarming: random.u8(0..6) == 0, ..item(name, random.u64(0..3)) });
                }
            }
            let version = |item: &Item| item.text.parse::<u64>().unwrap();
            match random.u8(0..8) {
                0 if !list.is_empty() => {
                    let item = &list[random.usize(0..list.len())];
                    record.approve(item);
                    approved.insert(item.name.clone(), version(item));
                    begun.remove(&item.name);
                    before_first = false;
                }
                // A restart: only the file remains.
                1 => record = serde_json::from_slice(&serde_json::to_vec(&record).unwrap()).unwrap(),
                2 if random.u8(0..4) == 0 => {
                    record = Record::lost();
                    (approved, begun, before_first, lost) = (BTreeMap::new(), BTreeMap::new(), false, true);
                }
                3 if !list.is_empty() => record.keep(&list[0]),
                4 => {
                    record.look(&list);
                    looked = true;
                    for item in &list {
                        if begun.get(&item.name) == Some(&version(item)) {
                            approved.insert(item.name.clone(), version(item));
                            begun.remove(&item.name);
                            before_first = false;
                        }
                    }
                }
                _ => {
                    let is_first = !list.is_empty() || looked;
                    if before_first && is_first && (first == First::Offered || imported) {
                        let seen = list.iter().filter(|item| imported || !item.alarming);
                        begun.extend(seen.map(|item| (item.name.clone(), version(item))));
                        before_first = false;
                    }
                    let verdicts = record.judge(Kind::Tool, &list, first).0;
                    for (item, verdict) in list.iter().zip(verdicts) {
                        let by_person = approved.get(&item.name) == Some(&version(item));
                        let at_first = begun.get(&item.name) == Some(&version(item));
                        let expected = match (by_person, at_first && !lost) {
                            (true, _) => Some(Approved),
                            (false, true) if imported => Some(Approved),
                            (false, true) => Some(New),
                            (false, false) => None,
                        };
                        match expected {
                            Some(expected) => assert_eq!(verdict, expected, "{item:?}"),
                            None => assert!(matches!(verdict, Held(_)), "{item:?} {verdict:?}"),
                        }
                    }
                }
            }
        }
    }
}
