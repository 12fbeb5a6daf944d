//! Decides who shares an instance of a server: what its entry says, otherwise what is known of its program, otherwise what
//! its tools say. Starts nothing.

use satchel_entry::{
    name_words,
    stateful::{self, Keeps},
    template::ProjectUse,
};

use super::project;
use crate::{
    catalog::Offer,
    model::{ServerConfig, TransportConfig, server::Share},
};

/// Number of words of a description that are read: what a tool does is said first.
const WORDS: usize = 40;

/// Who shares an instance, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sharing {
    pub(super) share: Share,
    /// The entry says so.
    pub(super) chosen: bool,
    /// What the server keeps open for its connection, as far as known.
    pub(super) keeps: Option<Keeps>,
    /// The option with which a further instance runs beside others.
    pub(super) beside_others: Option<&'static str>,
    /// How the entry uses the folder of a session.
    pub(super) project: ProjectUse,
}

impl Sharing {
    /// Is there an instance for each folder?
    pub(super) fn is_by_folder(self) -> bool {
        self.share == Share::Project || self.project != ProjectUse::None
    }

    /// Does it matter in which folders a client works? An instance of one session may know them.
    pub(super) fn wants_folders(self) -> bool {
        self.is_by_folder() || self.share == Share::Session
    }

    /// Does it run only in the folder of a session?
    pub(super) fn needs_folder(self) -> bool {
        self.project == ProjectUse::Needed
    }
}

/// Who shares an instance of a server with this entry, which offers this.
pub(super) fn of(config: &ServerConfig, offer: Option<&Offer>) -> Sharing {
    let known = match &config.transport {
        TransportConfig::Stdio { command, args, .. } => stateful::of(command, args),
        TransportConfig::Http { .. } => None,
    };
    let seen = || {
        let tools = offer?.tools.iter();
        seen(tools.map(|tool| (tool.own_name.as_deref().unwrap_or(&tool.name), tool.description.as_str())))
    };
    let keeps = known.map(|known| known.keeps).or_else(seen);
    let project = project::uses(config);
    let widest = if project == ProjectUse::None { Share::All } else { Share::Project };
    let usual = if keeps.is_some() { Share::Session } else { widest };
    // One instance cannot run in several folders.
    let chosen = config.share.filter(|share| *share != Share::All || widest == Share::All);
    Sharing {
        share: chosen.unwrap_or(usual),
        chosen: chosen.is_some(),
        keeps,
        beside_others: known.and_then(|known| known.beside_others),
        project,
    }
}

/// What tools that belong together say: one opens something, and others act on what is open.
struct Family {
    keeps: Keeps,
    /// What is opened.
    opened: &'static [&'static str],
    /// What others act on.
    parts: &'static [&'static str],
    /// How they act on it.
    acts: &'static [&'static str],
}

const OPENS: &[&str] = &[
    "open",
    "opens",
    "navigate",
    "navigates",
    "launch",
    "launches",
    "start",
    "starts",
    "attach",
    "attaches",
    "create",
    "creates",
    "begin",
    "begins",
    "connect",
    "connects",
];
/// Words for what was opened before.
const STANDING: &[&str] = &["current", "currently", "open", "opened", "active"];

const FAMILIES: &[Family] = &[
    Family {
        keeps: Keeps::Browser,
        opened: &[
            "browser",
            "chrome",
            "chromium",
            "firefox",
            "puppeteer",
            "playwright",
            "selenium",
            "webdriver",
        ],
        parts: &["page", "tab", "tabs", "browser", "puppeteer", "playwright", "selenium", "webdriver"],
        acts: &[
            "click",
            "clicks",
            "type",
            "types",
            "press",
            "presses",
            "hover",
            "scroll",
            "screenshot",
            "close",
            "closes",
        ],
    },
    Family {
        keeps: Keeps::Debugger,
        opened: &["debugger", "debuggee", "gdb", "lldb", "debug", "debugging"],
        parts: &["breakpoint", "breakpoints", "debugger", "stack", "frame"],
        acts: &["set", "sets", "step", "steps", "continue", "continues", "evaluate", "evaluates"],
    },
    Family {
        keeps: Keeps::Shell,
        opened: &["terminal", "shell", "pty", "ssh"],
        parts: &["terminal", "shell", "pty", "ssh"],
        acts: &[
            "send",
            "sends",
            "write",
            "writes",
            "read",
            "reads",
            "type",
            "types",
            "kill",
            "close",
            "closes",
            "disconnect",
            "disconnects",
        ],
    },
    Family {
        keeps: Keeps::Notebook,
        opened: &["notebook", "kernel", "jupyter"],
        parts: &["cell", "cells", "kernel"],
        acts: &["run", "runs", "execute", "executes", "insert", "inserts", "restart", "restarts"],
    },
    Family {
        keeps: Keeps::Transaction,
        opened: &["transaction"],
        parts: &["transaction"],
        acts: &["commit", "commits", "rollback", "rolls", "abort", "aborts"],
    },
    Family {
        keeps: Keeps::Interpreter,
        opened: &["repl", "interpreter"],
        parts: &["repl", "interpreter"],
        acts: &["run", "runs", "execute", "executes", "evaluate", "evaluates", "reset", "resets"],
    },
];

/// What tools with these names and descriptions keep open.
fn seen<'a>(tools: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Keeps> {
    let tools: Vec<(&str, &str)> = tools.collect();
    // One tool is all of it.
    let thinks = |name: &str| name_words::of(name).concat().contains("sequentialthinking");
    if tools.iter().any(|(name, _)| thinks(name)) {
        return Some(Keeps::Thoughts);
    }
    let tools: Vec<Vec<String>> = tools.iter().map(|(name, description)| words(name, description)).collect();
    let is_kept = |family: &&Family| {
        let opener = tools.iter().position(|words| has(words, OPENS) && has(words, family.opened));
        opener.is_some_and(|opener| {
            let acts = |words: &Vec<String>| {
                has(words, family.parts) && (has(words, family.acts) || has(words, STANDING))
            };
            tools.iter().enumerate().any(|(at, words)| at != opener && acts(words))
        })
    };
    FAMILIES.iter().find(is_kept).map(|family| family.keeps)
}

fn has(words: &[String], some: &[&str]) -> bool {
    words.iter().any(|word| some.contains(&word.as_str()))
}

fn words(name: &str, description: &str) -> Vec<String> {
    let said = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    name_words::of(name).into_iter().chain(said.take(WORDS).map(str::to_lowercase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_act_on_what_another_opened_keep_it_open() {
        for (tools, expected) in [
            (
                &[("go", "Opens an address in the browser."), ("see", "Says which page is open.")][..],
                Some(Keeps::Browser),
            ),
            (
                &[
                    ("browser_navigate", "Navigate to a URL"),
                    ("browser_click", "Perform click on a web page"),
                ],
                Some(Keeps::Browser),
            ),
            (
                &[
                    ("launch", "Start a program under the debugger"),
                    ("step_over", "Step to the next stack frame"),
                ],
                Some(Keeps::Debugger),
            ),
            (
                &[("open_terminal", "Starts a terminal."), ("send_keys", "Sends keys to a terminal.")],
                Some(Keeps::Shell),
            ),
            (&[("open_notebook", "Opens a notebook."), ("run_cell", "Runs a cell.")], Some(Keeps::Notebook)),
            (
                &[("start_repl", "Starts a REPL."), ("run", "Runs code in the REPL.")],
                Some(Keeps::Interpreter),
            ),
            (
                &[("puppeteer_navigate", "Navigate to a URL"), ("puppeteer_click", "Click an element")],
                Some(Keeps::Browser),
            ),
            (
                &[
                    ("create_debug_session", "Create a new session"),
                    ("set_breakpoint", "Set a breakpoint in a file"),
                ],
                Some(Keeps::Debugger),
            ),
            (&[("ssh_connect", "Connects."), ("ssh_disconnect", "Disconnects.")], Some(Keeps::Shell)),
            (
                &[("begin_transaction", "Begins one."), ("commit", "Commits the transaction.")],
                Some(Keeps::Transaction),
            ),
            (&[("sequentialthinking", "Thinks.")], Some(Keeps::Thoughts)),
            (&[("create_transaction", "Adds a payment."), ("list_transactions", "Lists them.")], None),
            // A browser that is opened once, and lists in pages.
            (
                &[
                    ("open_in_browser", "Opens the issue in the browser."),
                    ("list_issues", "Lists issues, page by page."),
                ],
                None,
            ),
            (&[("read_file", "Reads a file."), ("write_file", "Writes a file.")], None),
            (&[("open_page", "Opens a page of the wiki."), ("close_page", "Closes a page.")], None),
            (&[("go", "Opens an address in the browser.")], None),
            (&[], None),
        ] {
            assert_eq!(seen(tools.iter().copied()), expected, "{tools:?}");
        }
    }
}
