//! What clients were seen to do, in words: the rows that `satchel clients NAME` shows, and `docs/clients.md`.

use std::fmt::Write;

use super::{
    seen::{
        Blocks, Costs, Cut, Errors, Fact, Facts, Instructions, Links, ListChanges, LostSession, Names,
        Objects, Observation, Omitted, Pages, Proof, Rest, SchemaPart, SchemaRefusal, Structured, ToolSearch,
    },
    table,
};

/// A fact in words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenRow {
    /// What it does.
    pub seen: String,
    /// What Satchel does about it; empty for nothing.
    pub satchel: String,
    /// The version that was seen; empty if unknown.
    pub version: String,
    /// When.
    pub date: String,
    /// What shows it.
    pub by: String,
}

/// The rows of a client or library.
pub fn rows(facts: Facts) -> Vec<SeenRow> {
    facts.observations().iter().flat_map(|observation| of(observation, plain)).collect()
}

/// The name of a client or library.
pub fn name(id: &str) -> Option<&'static str> {
    let library = || table::libraries().iter().find(|library| library.id == id);
    table::client(id).map(|client| client.title()).or_else(|| library().map(|library| library.name.as_str()))
}

fn of(observation: &'static Observation, proof: impl Fn(&Proof) -> String) -> impl Iterator<Item = SeenRow> {
    let by = proof(&observation.by);
    observation.facts.iter().map(move |fact| SeenRow {
        seen: sentence(fact),
        satchel: answer(fact),
        version: observation.version.clone().unwrap_or_default(),
        date: observation.date.to_string(),
        by: by.clone(),
    })
}

fn plain(proof: &Proof) -> String {
    match proof {
        Proof::Finding(name) => format!("findings/{name}.sh"),
        Proof::Test(name) => format!("the test {name}"),
        Proof::Hand => "seen by hand".into(),
        Proof::Source => "its source".into(),
        Proof::Docs => "its documentation".into(),
        Proof::Reports => "third parties".into(),
        Proof::Memory => "memory, to be checked".into(),
    }
}

/// What it does, after "It".
fn sentence(fact: &Fact) -> String {
    match fact {
        Fact::Named(name) => format!("calls itself `{name}`"),
        Fact::Revision(revision) => format!("speaks revision {revision} with Satchel"),
        Fact::Pages(Pages::All) => "reads all pages of a list".into(),
        Fact::Pages(Pages::First) => "reads the first page of a list".into(),
        Fact::ListChanges(changes) => match changes {
            ListChanges::Heard => "reads a list again when it changes",
            ListChanges::HeardInSessions => "reads a list again in a session, and never in revisions without",
            ListChanges::Ignored => "does nothing when a list changes",
            ListChanges::Deadlock => "hangs at every call after a list has changed during one",
        }
        .into(),
        Fact::LostSession(lost) => match lost {
            LostSession::Reopens => "opens another session after a 404",
            LostSession::LosesACall => "loses one call after a 404",
            LostSession::Ends => "fails at every call after a 404",
            LostSession::EndsTheRun => "ends its agent's run at a 404",
            LostSession::Hangs => "hangs after a 404",
        }
        .into(),
        Fact::Links(links) => match links {
            Links::Text => "shows a link to a resource as a text",
            Links::Dropped => "drops links to resources",
            Links::Placeholder => "shows \"unsupported\" in place of a link to a resource",
            Links::RefusesResult => "refuses a whole result for a link to a resource",
            Links::EndsTheRun => "ends its agent's run at a link to a resource",
        }
        .into(),
        Fact::Structured(Structured::Only) => {
            "shows its model only the structured content of a result".into()
        }
        Fact::Structured(Structured::Both) => "shows its model structured content and text".into(),
        Fact::Blocks(Blocks::First) => "shows its model only the first block of a result".into(),
        Fact::Cut(cut) => cut_sentence(*cut),
        Fact::TimeOut(seconds) => format!("gives up on a call after {seconds} s"),
        Fact::Names(Names { form, longest, longer_are_left_out }) => {
            let what = if *longer_are_left_out { "leaves out" } else { "shortens" };
            let most = longest.map(|most| format!(", and {what} those of more than {most} characters"));
            format!("names tools `{form}`{}", most.unwrap_or_default())
        }
        Fact::Schema(SchemaRefusal { of, costs }) => {
            let costs = match costs {
                Costs::AllTools => "loses all tools by",
                Costs::TheTool => "loses the tool by",
                Costs::TheArguments => "lets its model fill no argument after",
                Costs::TheWord => "drops",
                Costs::ARewrittenArgument => "writes an argument anew after",
            };
            format!("{costs} {}", part(of))
        }
        Fact::Objects(Objects::Closed) => {
            "tells its model that an object without named properties takes none".into()
        }
        Fact::Omitted(Omitted::Null) => "sends arguments that the model left out as null".into(),
        Fact::TakesAll(name) => format!("puts all arguments into a parameter called `{name}`"),
        Fact::Errors(errors) => match errors {
            Errors::SecondEndsTheRun => "ends its agent's run at a tool's second error in a row",
            Errors::WordsLost => "shows its model a sentence of its own in place of a tool's error",
            Errors::Unmarked => "does not tell its model that a result is an error",
        }
        .into(),
        Fact::Instructions(Instructions::Unread) => "shows its model no instructions of a server".into(),
        Fact::ToolSearch(ToolSearch::Defers(from)) => {
            format!("loads definitions of tools when they are needed, from version {from} on")
        }
        Fact::ToolSearch(ToolSearch::Hides) => {
            "shows its model a tool search of its own in place of our tools".into()
        }
        Fact::ToolLimit(most) => format!("takes at most {most} tools"),
    }
}

fn cut_sentence(Cut { to, rest, whole }: Cut) -> String {
    let rest = match rest {
        Rest::Gone => "drops the rest",
        Rest::File => "puts the rest into a file",
    };
    let whole = whole.map(|whole| format!(" ({whole} bytes arrived whole)"));
    format!("shows its model about {to} bytes of a long result, and {rest}{}", whole.unwrap_or_default())
}

fn part(part: &SchemaPart) -> String {
    match part {
        SchemaPart::NoProperties => "an input schema without `properties`".into(),
        SchemaPart::Recursion => "a schema that refers to itself".into(),
        SchemaPart::Definitions => "the keyword `definitions`".into(),
        SchemaPart::UnknownFormat => "a `format` that it does not know".into(),
        SchemaPart::Format => "a `format`".into(),
        SchemaPart::NoType => "an argument without a type".into(),
        SchemaPart::TypeList => "a `type` that is a list".into(),
        SchemaPart::ChoiceAtTop => "`oneOf` or `anyOf` at the top of a schema".into(),
        SchemaPart::FreeNames => "arguments with free names".into(),
        SchemaPart::Underscore => "an argument that begins with `_`".into(),
        SchemaPart::Argument(name) => format!("an argument called `{name}`"),
        SchemaPart::DottedName => "a tool with a dot in its name".into(),
        SchemaPart::FixedValue => "`const`".into(),
    }
}

/// What Satchel does about it; empty for nothing.
fn answer(fact: &Fact) -> String {
    match fact {
        Fact::Named(_) => "recognizes it, whatever its token is called".into(),
        Fact::Pages(Pages::First) => "puts every list on one page, for all clients".into(),
        Fact::ListChanges(ListChanges::HeardInSessions | ListChanges::Ignored) => {
            "keeps the tools of `/mcp` the same".into()
        }
        Fact::ListChanges(ListChanges::Deadlock) => "announces no changes of lists to it".into(),
        Fact::LostSession(_) => "opens its session again after a restart, for all clients".into(),
        Fact::Links(links) if *links != Links::Text => {
            "puts a text with the address in place of the link".into()
        }
        Fact::Structured(Structured::Only) => {
            "removes invisible characters from structured content too; leaves it out above the limit".into()
        }
        Fact::Blocks(Blocks::First) => "joins the texts of a result into one".into(),
        Fact::Cut(cut) => match cut.cap() {
            Some(cap) => format!("gives it at most {cap} bytes, and says where the rest is"),
            None if cut.hides_the_end() => {
                "says at the beginning of a cut result, too, where the rest is".into()
            }
            None => String::new(),
        },
        Fact::Schema(SchemaRefusal { of, .. }) => match of {
            SchemaPart::NoProperties => "adds empty `properties` at `/mcp/direct`",
            SchemaPart::Recursion => "ends the recursion after one level at `/mcp/direct`",
            SchemaPart::Definitions => "calls them `$defs` at `/mcp/direct`",
            SchemaPart::UnknownFormat | SchemaPart::Format => "leaves it out at `/mcp/direct`",
            SchemaPart::NoType => "says at `/mcp/direct` that any type is right",
            SchemaPart::TypeList => "writes it as `anyOf` at `/mcp/direct`",
            SchemaPart::ChoiceAtTop => "names the arguments of all choices as `properties` at `/mcp/direct`",
            SchemaPart::Underscore | SchemaPart::Argument(_) => {
                "lists it under another name at `/mcp/direct`, and gives the server its own"
            }
            SchemaPart::DottedName => "has no dots in names at `/mcp/direct`, for all clients",
            SchemaPart::FreeNames | SchemaPart::FixedValue => "",
        }
        .into(),
        Fact::Objects(Objects::Closed) => "asks it for `arguments` as a text with JSON, at `/mcp`".into(),
        Fact::Omitted(Omitted::Null) => "leaves null out where the schema forbids it".into(),
        Fact::TakesAll(_) => "finds the call in `arguments`, at `/mcp`".into(),
        Fact::Errors(Errors::SecondEndsTheRun) => {
            "tells it as a result, at `/mcp`, that a tool was not called, and why".into()
        }
        Fact::Instructions(Instructions::Unread) => {
            "says in the four tools how to go on, for all clients".into()
        }
        Fact::ToolSearch(ToolSearch::Defers(_)) => "shows it all tools at `/mcp`".into(),
        Fact::ToolLimit(_) => "shows it the four tools where there are more".into(),
        Fact::Revision(_)
        | Fact::Pages(Pages::All)
        | Fact::ListChanges(ListChanges::Heard)
        | Fact::Links(_)
        | Fact::Structured(Structured::Both)
        | Fact::TimeOut(_)
        | Fact::Names(_)
        | Fact::Errors(Errors::WordsLost | Errors::Unmarked)
        | Fact::ToolSearch(ToolSearch::Hides) => String::new(),
    }
}

/// The beginning of `docs/clients.md`.
const HEAD: &str = "# What clients do\n\n\
    For people who want to know what their client makes of Satchel, and for those who write one. Generated from the table\n\
    that the hub acts on (`crates/satchel-clients/src/table.json`) by `SATCHEL_WRITE_DOCS=1 cargo test -p satchel-clients`.\n\n\
    Each row says what a client was seen to do, and what Satchel does about it for this client. What is not here is unknown.\n\
    `satchel clients NAME` shows the rows of one client. `/mcp/server/NAME` is the same for all clients, whatever the\n\
    table says, and results of servers with `exactResults` are cut for a client, but not changed.\n\n\
    Satchel knows a client by the name of its token: `satchel connect` gives it the id below. For a library, name the token\n\
    after its id, as in `satchel connect --client smolagents`: most libraries for Python call themselves `mcp`, so they cannot\n\
    be told apart otherwise. One with a name of its own is recognized by that as well.\n";

/// The text of `docs/clients.md`.
pub fn page() -> String {
    let mut text = HEAD.to_owned();
    let clients = table::clients().iter().filter(|client| !client.seen.is_empty());
    let _ = write!(text, "\n## Clients\n");
    clients.for_each(|client| section(&mut text, client.title(), &client.id, &client.seen));
    let _ = write!(text, "\n## Libraries, and programs that connect by hand\n");
    table::libraries().iter().for_each(|known| section(&mut text, &known.name, &known.id, &known.seen));
    text
}

fn section(text: &mut String, name: &str, id: &str, seen: &'static [Observation]) {
    let proof = |proof: &Proof| match proof {
        Proof::Finding(name) => format!("[finding](../findings/{name}.sh)"),
        Proof::Test(name) => format!("test `{name}`"),
        Proof::Hand | Proof::Source | Proof::Docs | Proof::Reports | Proof::Memory => plain(proof),
    };
    let _ = write!(
        text,
        "\n### {name}: `{id}`\n\n| it | version | date | shown by | Satchel |\n|---|---|---|---|---|\n"
    );
    for SeenRow { seen, satchel, version, date, by } in seen.iter().flat_map(|seen| of(seen, proof)) {
        let version = if version.is_empty() { "unknown".to_owned() } else { version };
        let _ = writeln!(text, "| {seen} | {version} | {date} | {by} | {satchel} |");
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    const REWRITE: &str = "SATCHEL_WRITE_DOCS";

    #[test]
    fn the_document_says_what_the_table_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
        let text = page();
        if std::env::var_os(REWRITE).is_some() {
            fs::write(&path, &text).expect("the document can be written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "the table of clients has changed: run the test with {REWRITE}=1");
    }

    #[test]
    fn a_row_says_what_was_seen_when_by_what_and_what_is_done() {
        let rows = rows(Facts::of_client("smolagents"));
        let expected = SeenRow {
            seen: "loses all tools by an input schema without `properties`".into(),
            satchel: "adds empty `properties` at `/mcp/direct`".into(),
            version: "1.26.0".into(),
            date: "2026-11-28".into(),
            by: "findings/one-schema-loses-all-tools.sh".into(),
        };
        assert_eq!(rows.first(), Some(&expected));
        assert_eq!(
            (name("smolagents"), name("codex"), name("x")),
            (Some("smolagents"), Some("OpenAI Codex"), None)
        );
    }
}
