//! Finds the bundled server that a request means by its name: "create an issue in Linear". Pure. Reads only the bundled list, because
//! what it finds is told to a model and third parties write the rest.

use std::collections::{BTreeSet, HashMap};

use crate::{
    catalog::search::{is_filler, stem},
    model::listing::Listed,
};

/// Names that are also ordinary English words: one counts only together with what its server is about, or in capitals.
const ORDINARY: &[&str] = &[
    "azure",
    "backlog",
    "brave",
    "calculator",
    "charts",
    "chrome",
    "confluence",
    "everything",
    "excel",
    "filesystem",
    "linear",
    "memory",
    "mobile",
    "notion",
    "obsidian",
    "perplexity",
    "pinecone",
    "playwright",
    "sentry",
    "shortcut",
    "slack",
    "stripe",
];
/// Parts of names that mean nothing alone.
const PARTS: &[&str] = &[
    "and",
    "bright",
    "browser",
    "cd",
    "data",
    "dev",
    "docs",
    "draw",
    "for",
    "io",
    "master",
    "mcp",
    "registry",
    "search",
    "sequential",
    "task",
    "thinking",
    "ui",
];
/// Other common names of a bundled server.
const ALSO: &[(&str, &str)] = &[
    ("jql", "atlassian"),
    ("k8s", "kubernetes"),
    ("kubectl", "kubernetes"),
    ("mariadb", "postgres"),
    ("mongo", "mongodb"),
    ("onedrive", "microsoft-365"),
    ("outlook", "microsoft-365"),
    ("postgresql", "postgres"),
    ("sharepoint", "microsoft-365"),
];
/// What a title adds when its server knows only a part of its product: "AWS Documentation" lists no buckets.
const PARTIAL: &[&str] = &["dev", "docs", "documentation", "registry"];
/// A word that more other servers use is no name.
const COMMON: usize = 4;
/// A word that more servers use says nothing about one of them.
const SHARED: usize = 12;
/// Longer requests are read up to here.
const WORDS: usize = 60;

/// A bundled server that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Its place in the list.
    pub(super) entry: usize,
    /// How the request calls it, in lower case, and what else the same is called.
    pub(super) names: Vec<String>,
}

/// The names of the bundled servers, and what each is about.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    names: HashMap<String, Name>,
    /// Names of several words.
    phrases: Vec<(Vec<String>, usize)>,
    /// Entries by the stems of their texts.
    about: HashMap<String, BTreeSet<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name {
    entry: usize,
    ordinary: bool,
    /// The server covers a part of its product only.
    partial: bool,
}

/// A word of a request.
struct Spoken<'a> {
    written: &'a str,
    lower: String,
    begins: bool,
    /// It belongs to an address or the name of a file.
    located: bool,
}

impl Mentioned {
    pub(super) fn of(entries: &[Listed]) -> Self {
        let mut all = Self::default();
        let mut users: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            for word in texts(entry).flat_map(words) {
                all.about.entry(stem(&word)).or_default().insert(at);
                users.entry(word).or_default().insert(at);
            }
        }
        let is_common = |word: &str, own: usize| {
            users.get(word).is_some_and(|users| users.iter().filter(|at| **at != own).count() >= COMMON)
        };
        let mut twice = BTreeSet::new();
        for (at, entry) in entries.iter().enumerate() {
            let title: Vec<String> = words(&entry.title).collect();
            let partial = title.iter().any(|word| PARTIAL.contains(&word.as_str()));
            for word in words(&entry.id).chain(title.iter().cloned()) {
                if PARTS.contains(&word.as_str()) || is_common(&word, at) {
                    continue;
                }
                let name = Name { entry: at, ordinary: ORDINARY.contains(&word.as_str()), partial };
                if all.names.insert(word.clone(), name).is_some_and(|before| before.entry != at) {
                    twice.insert(word);
                }
            }
            if title.len() > 1 {
                all.phrases.push((title, at));
            }
        }
        all.names.retain(|word, _| !twice.contains(word));
        for (word, id) in ALSO {
            if let Some(entry) = entries.iter().position(|entry| entry.id == *id) {
                let name = Name { entry, ordinary: false, partial: false };
                all.names.entry((*word).to_owned()).or_insert(name);
            }
        }
        all
    }

    /// Servers that the request names, the most likely one first.
    pub(super) fn find(&self, request: &str) -> Vec<Mention> {
        let spoken: Vec<Spoken<'_>> = spoken(request).take(WORDS).collect();
        let mut found: Vec<(Mention, usize)> = Vec::new();
        let mut add = |entry: usize, name: String, worth: usize| {
            let at = found.iter().position(|(known, _)| known.entry == entry).unwrap_or_else(|| {
                found.push((Mention { entry, names: vec![] }, 0));
                found.len() - 1
            });
            let (mention, before) = &mut found[at];
            *before = worth.max(*before);
            mention.names.push(name);
        };
        for at in 0..spoken.len() {
            for (phrase, entry) in &self.phrases {
                let said = spoken[at..].iter().map(|word| word.lower.as_str());
                if said.take(phrase.len()).eq(phrase.iter().map(String::as_str)) {
                    add(*entry, phrase.join(" "), 2 * WORDS);
                }
            }
            let word = &spoken[at];
            let Some(name) = self.names.get(&word.lower).filter(|_| !word.located) else { continue };
            let support = self.support(name.entry, &spoken);
            let is_meant = match (name.partial, name.ordinary) {
                (true, _) => spoken.iter().any(|word| PARTIAL.contains(&word.lower.as_str())),
                (false, true) => support > 0 || is_proper(&spoken, at),
                (false, false) => true,
            };
            if is_meant {
                add(name.entry, word.lower.clone(), support);
            }
        }
        found.sort_by_key(|(_, worth)| std::cmp::Reverse(*worth));
        found.into_iter().map(|(mention, _)| with_other_names(mention)).collect()
    }

    /// How many other words of the request are about this entry, and about few others.
    fn support(&self, entry: usize, spoken: &[Spoken<'_>]) -> usize {
        let is_about = |word: &&Spoken<'_>| {
            let named = self.names.get(&word.lower).is_some_and(|name| name.entry == entry);
            let users = self.about.get(&stem(&word.lower));
            let tells = users.is_some_and(|users| users.len() <= SHARED && users.contains(&entry));
            tells && !named && !is_filler(&word.lower)
        };
        spoken.iter().filter(is_about).count()
    }
}

/// Adds what people also call the same.
fn with_other_names(mut mention: Mention) -> Mention {
    let others = ALSO.iter().flat_map(|(also, id)| {
        let said = |word: &&str| mention.names.iter().any(|name| name == word);
        [(said(also), *id), (said(id), *also)]
    });
    let others: Vec<String> =
        others.filter(|(is_said, _)| *is_said).map(|(_, other)| other.to_owned()).collect();
    mention.names.extend(others);
    mention
}

/// The texts of an entry about itself, besides its name.
fn texts(entry: &Listed) -> impl Iterator<Item = &str> {
    let about = entry.about.get("en").map(String::as_str).into_iter();
    let topics = entry.topics.iter().map(String::as_str);
    let tools = entry.tools.iter().flat_map(|tool| [tool.name.as_str(), tool.about.as_str()]);
    about.chain(topics).chain(tools)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    crate::registry::find::split(text).flat_map(|word| {
        // Names of tools have their words in one.
        word.split('_').filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect::<Vec<_>>()
    })
}

fn spoken(request: &str) -> impl Iterator<Item = Spoken<'_>> {
    let mut ended = true;
    request.split_inclusive(char::is_whitespace).flat_map(move |chunk| {
        let located = is_located(chunk.trim());
        let pieces = chunk.split_inclusive(|letter: char| !letter.is_alphanumeric());
        let read = |piece| {
            let written: &str = str::trim_end_matches(piece, |letter: char| !letter.is_alphanumeric());
            let begins = ended;
            ended = piece.ends_with(['.', '!', '?', ':', '\n']) || (ended && written.is_empty());
            (!written.is_empty()).then(|| Spoken { written, lower: written.to_lowercase(), begins, located })
        };
        pieces.filter_map(read).collect::<Vec<_>>()
    })
}

/// Is this an address, or the name of a file? `https://github.com/a/b` and `jira.csv` ask for no server.
fn is_located(chunk: &str) -> bool {
    let inner = chunk.trim_matches(|c: char| !c.is_alphanumeric());
    let has_dot = inner.split_once('.').is_some_and(|(before, after)| {
        before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
    });
    has_dot || inner.contains(['@', '\\']) || inner.contains("://") || chunk.starts_with(['/', '~'])
}

/// Is this word written like a name, in a request that is not all in capitals?
fn is_proper(spoken: &[Spoken<'_>], at: usize) -> bool {
    let is_capital = |word: &Spoken<'_>| word.written.chars().next().is_some_and(char::is_uppercase);
    let capitals = spoken.iter().filter(|word| is_capital(word)).count();
    !spoken[at].begins && is_capital(&spoken[at]) && capitals * 2 <= spoken.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(request: &str) -> Vec<String> {
        let entries = crate::registry::find("").entries;
        let found = Mentioned::of(&entries).find(request);
        found.into_iter().map(|mention| entries[mention.entry].id.clone()).collect()
    }

    #[track_caller]
    fn check(cases: &[(&str, Option<&str>)]) {
        let wrong: Vec<_> = cases
            .iter()
            .map(|(request, expected)| (request, *expected, named(request)))
            .filter(|(_, expected, found)| found.first().map(String::as_str) != *expected)
            .collect();
        assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), cases.len());
    }

    /// The rules were made with these.
    #[test]
    fn a_request_that_names_a_bundled_server_means_it() {
        check(&[
            ("create an issue in Linear", Some("linear")),
            ("query my Postgres database", Some("postgres")),
            ("send a Slack message to the team channel", Some("slack")),
            ("search pages in our Notion workspace", Some("notion")),
            ("list open merge requests on GitLab", Some("gitlab")),
            ("refund a Stripe payment", Some("stripe")),
            ("restart a deployment in the Kubernetes cluster", Some("kubernetes")),
            ("read cells from an Excel workbook", Some("excel")),
            ("find papers about diffusion models on arXiv", Some("arxiv")),
            ("look up a Jira ticket", Some("atlassian")),
            ("jira search issues", Some("atlassian")),
            ("solve a system of linear equations", None),
            ("what is the notion of a monad", None),
            ("book a flight to Lisbon", None),
            ("what time is it in Tokyo", None),
            ("remember this for later", None),
            ("draw a picture of a cat", None),
            ("a keyboard shortcut for undo", None),
            ("wallpaper with a red stripe", None),
            ("how much memory does this process use", None),
            ("fetch the latest stock price", None),
            ("explain everything about it", None),
            ("fetch https://github.com/modelcontextprotocol/servers", None),
            ("read ~/work/linear/notes.txt and jira.csv", None),
            ("list my S3 buckets in AWS", None),
            ("search the AWS documentation for IAM roles", Some("aws-docs")),
            ("set up an AWS S3 endpoint", None),
            ("which orders of my Shopify store are unpaid", None),
        ]);
    }

    /// These were written at the same time and not looked at until the rules were done.
    #[test]
    fn requests_that_no_rule_was_made_for_are_told_apart_as_well() {
        check(&[
            ("add a row to my Airtable base", Some("airtable")),
            ("get the latest Sentry errors for the checkout project", Some("sentry")),
            ("export the frames of a Figma file", Some("figma")),
            ("set a key in Redis", Some("redis")),
            ("aggregate documents in a MongoDB collection", Some("mongodb")),
            ("why did the last CircleCI pipeline fail", Some("circleci")),
            ("book a stay on Airbnb in Rome", Some("airbnb")),
            ("summarize the Wikipedia article about Ada Lovelace", Some("wikipedia")),
            ("create a task in Asana", Some("asana")),
            ("post to the #general channel in Slack", Some("slack")),
            ("update a Confluence page", Some("atlassian")),
            ("take a screenshot of a page with Playwright", Some("playwright")),
            ("open a pull request on GitHub", Some("github")),
            ("list HubSpot contacts", Some("hubspot")),
            ("run a SQL query against MySQL", Some("postgres")),
            ("move a Linear ticket to done", Some("linear")),
            ("append to my Obsidian daily note", Some("obsidian")),
            ("deploy my site to Netlify", Some("netlify")),
            ("linear create issue", Some("linear")),
            ("sync an Argo CD application", Some("argocd")),
            ("postgresql list tables", Some("postgres")),
            ("send an email with Outlook", Some("microsoft-365")),
            ("scrape a page with firecrawl", Some("firecrawl")),
            ("git commit the staged changes", Some("git")),
            ("fit a linear regression to this data", None),
            ("I have some slack in my schedule", None),
            ("which students excel in maths", None),
            // Wrong, and known: its tools are about phones.
            ("find a mobile phone under 300 euros", Some("mobile")),
            ("translate this text into French", None),
            ("turn off the living room lights", None),
            ("order a pizza", None),
            ("remind me in an hour", None),
            ("compute the perplexity of a language model", None),
            ("where is obsidian found in nature", None),
            ("a bright colour for the data table", None),
            ("play some music", None),
            ("sequential numbering of pages", None),
            ("what is the capital of Peru", None),
            ("summarize this document", None),
            ("resize an image", None),
            ("search the web for recipes", None),
        ]);
    }

    #[test]
    fn the_first_of_several_names_is_the_one_that_more_words_are_about() {
        assert_eq!(named("copy the GitLab merge request to a page of Notion")[..1], ["gitlab"]);
        assert_eq!(named(""), Vec::<String>::new());
        assert_eq!(named("Task Master"), ["task-master"]);
    }

    #[test]
    fn a_mention_has_the_names_that_the_same_server_may_go_by() {
        let entries = crate::registry::find("").entries;
        let names = |request: &str| Mentioned::of(&entries).find(request).remove(0).names;
        assert_eq!(names("restart a k8s deployment"), ["k8s", "kubernetes"]);
        assert_eq!(names("query MySQL"), ["mysql"]);
    }

    #[test]
    fn every_other_name_belongs_to_a_bundled_server() {
        let entries = crate::registry::find("").entries;
        for (word, id) in ALSO {
            assert!(entries.iter().any(|entry| entry.id == *id), "{word}");
        }
    }
}
