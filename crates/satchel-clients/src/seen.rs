//! What clients and libraries were seen to do, as `table.json` says: each fact with version, date and evidence. The rooms
//! above act on it, where a client would otherwise lose something; a client without facts gets what all others get.
//! What is not in the table is unknown.

use std::{collections::HashMap, sync::OnceLock};

use serde::Deserialize;

use super::table;

/// Facts that were seen together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The version that was seen; unknown only for what was read, not run.
    #[serde(default)]
    pub version: Option<String>,
    /// When.
    pub date: Day,
    /// What shows it.
    pub by: Proof,
    /// The facts.
    pub facts: Vec<Fact>,
}

/// A day, `2026-11-28`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Day(String);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(day: String) -> Result<Self, String> {
        let digits =
            |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
        match day.split('-').collect::<Vec<_>>()[..] {
            [year, month, date] if digits(year, 4) && digits(month, 2) && digits(date, 2) => Ok(Self(day)),
            _ => Err(format!("{day:?} is no day")),
        }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What shows a fact.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Proof {
    /// A script of `findings/`, by its name.
    Finding(String),
    /// A test of this repository, by its name.
    Test(String),
    /// A person ran it with a scripted model, or against a server that logs requests.
    Hand,
    /// Its source code was read.
    Source,
    /// Its documentation.
    Docs,
    /// Third parties.
    Reports,
    /// Memory.
    Memory,
}

impl Proof {
    /// Was the program run?
    #[cfg(test)]
    fn is_seen(&self) -> bool {
        match self {
            Self::Finding(_) | Self::Test(_) | Self::Hand => true,
            Self::Source | Self::Docs | Self::Reports | Self::Memory => false,
        }
    }
}

/// A fact about a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    /// The `clientInfo.name` that is its own, so that it is recognized whatever its token is called.
    Named(String),
    /// The protocol revision that it uses with Satchel.
    Revision(String),
    /// How much of a list in pages it reads.
    Pages(Pages),
    /// What it does when a list changes.
    ListChanges(ListChanges),
    /// What it does when its session is gone (404).
    LostSession(LostSession),
    /// What its model gets of a link to a resource in a result.
    Links(Links),
    /// What its model gets of a result with structured content and a text.
    Structured(Structured),
    /// What its model gets of a result with several blocks.
    Blocks(Blocks),
    /// It cuts results itself.
    Cut(Cut),
    /// It gives up on a call after so many seconds.
    TimeOut(u32),
    /// How its model sees the names of tools.
    Names(Names),
    /// A schema that it does not take.
    Schema(SchemaRefusal),
    /// What a model may put into a parameter that is an object without named properties.
    Objects(Objects),
    /// What it sends for arguments that the model left out.
    Omitted(Omitted),
    /// A parameter of this name receives all arguments.
    TakesAll(String),
    /// What it does with tools that return errors.
    Errors(Errors),
    /// What it does with the instructions of a server.
    Instructions(Instructions),
    /// It searches tools itself instead of putting every definition before its model.
    ToolSearch(ToolSearch),
    /// The most tools it takes.
    ToolLimit(usize),
}

/// See [`Fact::Pages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Pages {
    /// All.
    All,
    /// The first; the rest is up to the program that uses it.
    First,
}

/// See [`Fact::ListChanges`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ListChanges {
    /// It reads the list again.
    Heard,
    /// It reads the list again in a session; in revisions without sessions, it keeps the first one.
    HeardInSessions,
    /// Nothing.
    Ignored,
    /// It waits for itself, and every later call hangs.
    Deadlock,
}

/// See [`Fact::LostSession`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LostSession {
    /// It opens another one.
    Reopens,
    /// The first call fails, later ones do not.
    LosesACall,
    /// Every later call fails.
    Ends,
    /// The run of the agent ends.
    EndsTheRun,
    /// Later calls hang.
    Hangs,
}

/// See [`Fact::Links`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Links {
    /// A text with the address.
    Text,
    /// Nothing.
    Dropped,
    /// A text that says that something is not supported.
    Placeholder,
    /// An error in place of the whole result.
    RefusesResult,
    /// The run of the agent ends.
    EndsTheRun,
}

/// See [`Fact::Structured`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Structured {
    /// The structured content alone.
    Only,
    /// Both.
    Both,
}

/// See [`Fact::Blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Blocks {
    /// The first one alone.
    First,
}

/// See [`Fact::Cut`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// What the model gets of a long result, in bytes.
    pub to: usize,
    /// Where the rest is.
    pub rest: Rest,
    /// A result of this size was seen to arrive whole, in bytes.
    #[serde(default)]
    pub whole: Option<usize>,
}

impl Cut {
    /// The size of a result that arrives whole, if it was cut with nothing that leads to the rest: two thirds of what is
    /// left, because the client's own words take room.
    pub fn cap(self) -> Option<usize> {
        (self.rest == Rest::Gone).then_some(self.to / 3 * 2)
    }

    /// Is the end of a result in a file only, and with it the note on where the rest is?
    pub fn hides_the_end(self) -> bool {
        self.rest == Rest::File && self.whole.is_none()
    }
}

/// See [`Cut`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Rest {
    /// Nowhere.
    Gone,
    /// In a file; the client tells the model where.
    File,
}

/// See [`Fact::Names`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Names {
    /// Their form, with `SERVER` for our entry and `TOOL` for our name.
    pub form: String,
    /// The most characters.
    #[serde(default)]
    pub longest: Option<usize>,
    /// Longer ones are left out; otherwise they are shortened.
    #[serde(default)]
    pub longer_are_left_out: bool,
}

/// See [`Fact::Schema`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRefusal {
    /// What is in the schema.
    pub of: SchemaPart,
    /// What it costs.
    pub costs: Costs,
}

/// A part of a schema that a client does not take.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SchemaPart {
    /// An object without `properties`.
    NoProperties,
    /// A definition that refers to itself.
    Recursion,
    /// The older keyword `definitions`.
    Definitions,
    /// A value without a type.
    NoType,
    /// A `format` that it does not know.
    UnknownFormat,
    /// A `format` of a text.
    Format,
    /// `type` with a list of types.
    TypeList,
    /// `oneOf` or `anyOf` at the top.
    ChoiceAtTop,
    /// Arguments with free names.
    FreeNames,
    /// An argument that begins with `_`.
    Underscore,
    /// An argument of this name.
    Argument(String),
    /// A tool's name with a dot.
    DottedName,
    /// A `const`.
    FixedValue,
}

/// See [`SchemaRefusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Costs {
    /// The client gets no tool of any server.
    AllTools,
    /// The tool.
    TheTool,
    /// The arguments: the tool cannot be called with them.
    TheArguments,
    /// The keyword.
    TheWord,
    /// The argument arrives as another text.
    ARewrittenArgument,
}

/// See [`Fact::Objects`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Objects {
    /// Nothing: it is told that there are no other properties.
    Closed,
}

/// See [`Fact::Omitted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Omitted {
    /// `null`.
    Null,
}

/// See [`Fact::Errors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Errors {
    /// The second one in a row of one tool ends the run of the agent.
    SecondEndsTheRun,
    /// Its model reads a sentence of the client in place of the error.
    WordsLost,
    /// Its model is not told that it is an error.
    Unmarked,
}

/// See [`Fact::Instructions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Instructions {
    /// Its model does not get them.
    Unread,
}

/// See [`Fact::ToolSearch`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolSearch {
    /// It keeps definitions back until they are needed, from this version on.
    Defers(String),
    /// Its model sees its own search in place of our tools.
    Hides,
}

/// A program or library that connects by hand.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// What a token has to be called for it to be recognized.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// What it was seen to do.
    pub seen: Vec<Observation>,
}

/// The facts about one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts(&'static [Observation]);

impl Facts {
    /// The facts about the client of this id, else about the program of this name.
    pub fn of(client: &str, program: impl FnOnce() -> Option<String>) -> Self {
        static TABLE: OnceLock<[HashMap<&str, &[Observation]>; 2]> = OnceLock::new();
        let [ids, names] = TABLE.get_or_init(|| {
            let named = |seen: &'static [Observation]| {
                Facts(seen).all().filter_map(move |fact| match fact {
                    Fact::Named(name) => Some((name.as_str(), seen)),
                    _ => None,
                })
            };
            [rows().collect(), rows().flat_map(|(_, seen)| named(seen)).collect()]
        });
        let known = ids.get(client).or_else(|| names.get(program()?.as_str()));
        Self(known.copied().unwrap_or_default())
    }

    /// The facts about the client of this id.
    pub fn of_client(client: &str) -> Self {
        Self::of(client, || None)
    }

    /// All.
    pub fn all(self) -> impl Iterator<Item = &'static Fact> {
        self.0.iter().flat_map(|observation| &observation.facts)
    }

    /// All, with their evidence.
    pub fn observations(self) -> &'static [Observation] {
        self.0
    }

    /// Is this known?
    pub fn has(self, fact: &Fact) -> bool {
        self.all().any(|known| known == fact)
    }

    /// Would a link to a resource be lost on it, or cost it more than the link?
    pub fn loses_links(self) -> bool {
        self.all().any(|fact| matches!(fact, Fact::Links(links) if *links != Links::Text))
    }

    /// How it cuts results.
    pub fn cut(self) -> Option<Cut> {
        self.all().find_map(|fact| match fact {
            Fact::Cut(cut) => Some(*cut),
            _ => None,
        })
    }

    /// The parts of schemas that it does not take.
    pub fn refused_schemas(self) -> impl Iterator<Item = &'static SchemaPart> {
        self.all().filter_map(|fact| match fact {
            Fact::Schema(refusal) => Some(&refusal.of),
            _ => None,
        })
    }

    /// The most tools it takes.
    pub fn tool_limit(self) -> Option<usize> {
        self.all().find_map(|fact| match fact {
            Fact::ToolLimit(most) => Some(*most),
            _ => None,
        })
    }

    /// Its own search for tools.
    pub fn tool_search(self) -> Option<&'static ToolSearch> {
        self.all().find_map(|fact| match fact {
            Fact::ToolSearch(search) => Some(search),
            _ => None,
        })
    }
}

impl Observation {
    /// What is wrong with it.
    #[cfg(test)]
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self { facts, .. } if facts.is_empty() => Some("has no facts"),
            Self { version: None, by, .. } if by.is_seen() => Some("was run, and has no version"),
            Self { version: Some(version), .. } if version.trim().is_empty() => Some("has an empty version"),
            Self { .. } => None,
        }
    }
}

/// Does this program, by its `clientInfo.name`, defer definitions of tools in this version?
pub fn defers_tools(program: &str, version: &str) -> bool {
    let search = Facts::of("", || Some(program.to_owned())).tool_search();
    let from = search.and_then(|search| match search {
        ToolSearch::Defers(from) => number(from),
        ToolSearch::Hides => None,
    });
    from.zip(number(version)).is_some_and(|(from, version)| version >= from)
}

fn number(version: &str) -> Option<(u64, u64, u64)> {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut parts = version.split('.').map(|part| digits(part).parse().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0), parts.next().flatten().unwrap_or(0)))
}

/// The rows of clients and libraries, by id.
fn rows() -> impl Iterator<Item = (&'static str, &'static [Observation])> {
    let clients = table::clients().iter().map(|client| (client.id.as_str(), &*client.seen));
    clients.chain(table::libraries().iter().map(|library| (library.id.as_str(), &*library.seen)))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn every_observation_has_its_evidence() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let is_there = |name: &str| repository.join(format!("findings/{name}.sh")).is_file();
        assert!(!is_there("no-such-finding"));
        for (id, seen) in rows() {
            for observation in seen {
                assert_eq!(observation.fault(), None, "{id}: {observation:?}");
                match &observation.by {
                    Proof::Finding(name) => assert!(is_there(name), "{id}: there is no finding {name}"),
                    Proof::Test(name) => {
                        let named = format!("fn {name}(");
                        assert!(has_text(&repository, &named), "{id}: there is no test {name}");
                    }
                    Proof::Hand | Proof::Source | Proof::Docs | Proof::Reports | Proof::Memory => {}
                }
            }
        }
    }

    /// Does a Rust file below `crates` or `tests` have this text?
    fn has_text(repository: &Path, text: &str) -> bool {
        let mut folders = vec![repository.join("crates"), repository.join("tests")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if entry.extension().is_some_and(|extension| extension == "rs")
                    && fs::read_to_string(&entry).unwrap().contains(text)
                {
                    return true;
                }
            }
        }
        false
    }

    #[test]
    fn a_fact_without_evidence_is_refused() {
        let read = |text: &str| serde_json::from_str::<Observation>(text);
        let observation =
            read(r#"{"version":"1","date":"2026-11-28","by":"hand","facts":[{"pages":"all"}]}"#).unwrap();
        assert_eq!(observation.fault(), None);
        for bad in [
            r#"{"version":"1","date":"2026-11-28","facts":[{"pages":"all"}]}"#,
            r#"{"version":"1","by":"hand","facts":[{"pages":"all"}]}"#,
            r#"{"version":"1","date":"last year","by":"hand","facts":[{"pages":"all"}]}"#,
            r#"{"version":"1","date":"2026-11-28","by":"hearsay","facts":[{"pages":"all"}]}"#,
            r#"{"version":"1","date":"2026-11-28","by":"hand","facts":[{"pages":"some"}]}"#,
            r#"{"version":"1","date":"2026-11-28","by":"hand","facts":[{"weather":"fine"}]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let unversioned = read(r#"{"date":"2026-11-28","by":"hand","facts":[{"pages":"all"}]}"#).unwrap();
        assert!(unversioned.fault().is_some());
        let idle = read(r#"{"version":"1","date":"2026-11-28","by":"hand","facts":[]}"#).unwrap();
        assert!(idle.fault().is_some());
    }

    #[test]
    fn ids_and_names_are_those_of_one_row() {
        let mut ids: Vec<&str> = rows().map(|(id, _)| id).collect();
        let named = |(_, seen): (&str, &'static [Observation])| {
            Facts(seen).all().filter_map(|fact| match fact {
                Fact::Named(name) => Some(name.as_str()),
                _ => None,
            })
        };
        let mut names: Vec<&str> = rows().flat_map(named).collect();
        for all in [&mut ids, &mut names] {
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
        // Every program of the Python library says this, whatever it takes.
        assert!(!names.contains(&"mcp"));
    }

    #[test]
    fn a_caller_is_known_by_its_token_or_by_a_name_of_its_own() {
        let facts = |client: &str, program: &str| Facts::of(client, || Some(program.to_owned()));
        let choice = Fact::Schema(SchemaRefusal { of: SchemaPart::ChoiceAtTop, costs: Costs::TheArguments });
        assert!(facts("my agent", "ai-sdk-mcp-client").has(&choice));
        assert!(!facts("my agent", "mcp").has(&choice) && !facts("my agent", "").has(&choice));
        assert!(facts("smolagents", "mcp").has(&Fact::Blocks(Blocks::First)));
        let opencode = facts("opencode", "ai-sdk-mcp-client");
        assert!(opencode.loses_links() && !opencode.has(&choice), "the token decides");
        assert!(facts("unknown", "unknown").observations().is_empty());
    }

    #[test]
    fn a_program_defers_tools_from_its_version_on() {
        for (program, version, expected) in [
            ("claude-code", "2.1.7", true),
            ("claude-code", "2.1.123", true),
            ("claude-code", "3.0.0-beta.1", true),
            ("claude-code", "2.1.6", false),
            ("claude-code", "2", false),
            ("claude-code", "", false),
            ("cursor", "9.9.9", false),
        ] {
            assert_eq!(defers_tools(program, version), expected, "{program} {version}");
        }
    }
}
