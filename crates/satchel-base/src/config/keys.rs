//! The table of every key of the configuration, with what loosens a protection. Other hands' changes that loosen wait for a
//! person; all others take effect at once. What reads a key looks it up here, so a key without a row does not compile.
//!
//! Compares no values: `guarded` does.

/// Which change of a value loosens a protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loosens {
    /// None: it restricts nothing, or only how long something takes.
    Never,
    /// On instead of off, a larger number, another place.
    More,
    /// Off instead of on.
    Less,
    /// Each: both more and less may be harmful.
    Either,
    /// The approval of the server's entry decides, because the key says what runs or where it connects.
    Entry,
    /// Each rule and default is compared: what permits more loosens, as does another definition of a tool.
    Rules,
    /// What lets a client see more.
    Profiles,
    /// Its own keys have rows.
    Within,
}

impl Loosens {
    /// The word for it in `docs/configuration.md`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Never => "nothing",
            Self::More => "more",
            Self::Less => "less",
            Self::Either => "any change",
            Self::Entry => "any change (the entry waits)",
            Self::Rules => "what permits more",
            Self::Profiles => "what shows more",
            Self::Within => "see its keys",
        }
    }
}

/// The keys of one block.
pub(super) trait Keys: Copy + 'static {
    const ALL: &[Self];

    fn text(self) -> &'static str;

    /// The key that is written like this.
    fn of(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.text() == text)
    }
}

macro_rules! keys {
    ($(#[$about:meta])* $name:ident { $($key:ident = $text:literal => $loosens:ident,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $name {
            $($key,)*
        }

        impl $name {
            pub(super) const fn key(self) -> &'static str {
                match self {
                    $(Self::$key => $text,)*
                }
            }

            pub(super) const fn loosens(self) -> Loosens {
                match self {
                    $(Self::$key => Loosens::$loosens,)*
                }
            }
        }

        impl Keys for $name {
            const ALL: &[Self] = &[$(Self::$key,)*];

            fn text(self) -> &'static str {
                self.key()
            }
        }
    };
}

keys! {
    /// The keys of the file.
    SettingKey {
        Servers = "mcpServers" => Within,
        // Within a bound, and of clients' requests alone.
        MaxRequest = "maxRequestMiB" => Never,
        History = "history" => Within,
        OtlpEndpoint = "otlpEndpoint" => More,
        Embedding = "embedding" => More,
        Search = "search" => Within,
        DebugStatus = "debugStatus" => More,
        ResultCap = "resultCap" => More,
        ToolRules = "toolRules" => Rules,
        ToolDefaults = "toolDefaults" => Rules,
        NewServers = "newServers" => Less,
        Registries = "registries" => More,
        Pictures = "pictures" => More,
        Sockets = "sockets" => More,
        Origins = "origins" => More,
        // Whatever is pinned was approved, and can be called without being pinned.
        PinnedTools = "pinnedTools" => Never,
        Profiles = "profiles" => Profiles,
        ActiveProfile = "activeProfile" => Profiles,
        FolderProfiles = "folderProfiles" => Profiles,
    }
}

keys! {
    /// The keys of `history`. Less hides what happened; more stores what was not to be stored.
    HistoryKey {
        Record = "record" => Either,
        Learn = "learn" => More,
        Days = "days" => Either,
        Megabytes = "megabytes" => Either,
    }
}

keys! {
    /// The keys of `search`.
    SearchKey {
        Meaning = "meaning" => Never,
        Suggest = "suggest" => Never,
        Model = "model" => Never,
    }
}

keys! {
    /// The keys of a server's entry.
    ServerKey {
        Command = "command" => Entry,
        Args = "args" => Entry,
        Env = "env" => Entry,
        // Other programs' words, in blocks that people copy from their documentation.
        Environment = "environment" => Entry,
        Envs = "envs" => Entry,
        Cwd = "cwd" => Entry,
        Url = "url" => Entry,
        // Other programs' documentation also uses these.
        ServerUrl = "serverUrl" => Entry,
        HttpUrl = "httpUrl" => Entry,
        Headers = "headers" => Entry,
        OAuth = "oauth" => Entry,
        Sandbox = "sandbox" => Entry,
        Enabled = "enabled" => More,
        Disabled = "disabled" => Less,
        // Only from `manual` to anything else: until then, only a person starts it.
        Startup = "startup" => More,
        Era = "era" => Never,
        DiscoveryTimeout = "discoveryTimeout" => Never,
        RefreshInterval = "refreshInterval" => Never,
        IdleTimeout = "idleTimeout" => Never,
        RequestTimeout = "requestTimeout" => Never,
        Timeout = "timeout" => Never,
        ToolTimeoutSec = "tool_timeout_sec" => Never,
        // What restricts its tools, in other programs' words.
        IncludeTools = "includeTools" => Rules,
        EnabledTools = "enabled_tools" => Rules,
        AllowedTools = "allowedTools" => Rules,
        AvailableTools = "available_tools" => Rules,
        Tools = "tools" => Rules,
        ExcludeTools = "excludeTools" => Rules,
        DisabledTools = "disabled_tools" => Rules,
        ToolsDisabled = "disabledTools" => Rules,
        ToolTimeouts = "toolTimeouts" => Never,
        KeepCalls = "keepCalls" => Either,
        ExactResults = "exactResults" => More,
        // Shared by more: one caller can then see what another has open.
        Share = "share" => More,
        // Where Satchel installed it from. Only that a server stays which its registry has deleted.
        Source = "source" => More,
    }
}

keys! {
    /// The keys of a rule in `toolRules`, of `toolDefaults`, of a pinned tool, of a profile, of a registry and of
    /// `embedding`. Each is compared as a whole.
    PartKey {
        RuleTool = "toolRules[].tool" => Rules,
        RuleExcept = "toolRules[].except" => Rules,
        RuleHide = "toolRules[].hide" => Rules,
        RuleRename = "toolRules[].rename" => Rules,
        RuleDescription = "toolRules[].description" => Rules,
        RuleAnnotations = "toolRules[].annotations" => Rules,
        RuleCategory = "toolRules[].category" => Rules,
        RuleClient = "toolRules[].client" => Rules,
        RulePermit = "toolRules[].permit" => Rules,
        RuleConsent = "toolRules[].consent" => Rules,
        DefaultReads = "toolDefaults.reads" => Rules,
        DefaultWrites = "toolDefaults.writes" => Rules,
        DefaultDestructive = "toolDefaults.destructive" => Rules,
        DefaultDeletes = "toolDefaults.deletes" => Rules,
        DefaultUnstated = "toolDefaults.unstated" => Rules,
        DefaultConsent = "toolDefaults.consent" => Rules,
        PinnedTool = "pinnedTools[].tool" => Never,
        PinnedClient = "pinnedTools[].client" => Never,
        PinnedProfile = "pinnedTools[].profile" => Never,
        ProfileServers = "profiles.*.servers" => Profiles,
        ProfileOnly = "profiles.*.only" => Profiles,
        ProfileExcept = "profiles.*.except" => Profiles,
        RegistryUrl = "registries[].url" => More,
        RegistryToken = "registries[].token" => More,
        EmbeddingUrl = "embedding.url" => More,
        EmbeddingModel = "embedding.model" => More,
    }
}

/// All rows: each key with its path in the file, and what of it loosens.
pub fn rows() -> Vec<(String, Loosens)> {
    let settings = SettingKey::ALL.iter().map(|key| (key.key().to_owned(), key.loosens()));
    let history = HistoryKey::ALL.iter().map(|key| (format!("history.{}", key.key()), key.loosens()));
    let search = SearchKey::ALL.iter().map(|key| (format!("search.{}", key.key()), key.loosens()));
    let servers = ServerKey::ALL.iter().map(|key| (format!("mcpServers.*.{}", key.key()), key.loosens()));
    let parts = PartKey::ALL.iter().map(|key| (key.key().to_owned(), key.loosens()));
    settings.chain(history).chain(search).chain(servers).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Serialize;
    use serde_json::Value;

    use super::*;
    use crate::{
        config::rules::{Defaults, ToolRule},
        model::{pinned::PinnedTool, profiles::Profile},
    };

    /// What is read by its type has a row for each of its fields.
    #[test]
    fn every_key_of_a_rule_a_default_and_a_profile_has_a_row() {
        let keys: BTreeSet<&str> = PartKey::ALL.iter().map(|key| key.key()).collect();
        let check = |block: &str, fields: Vec<String>| {
            assert!(!fields.is_empty());
            let of_block: Vec<&&str> = keys.iter().filter(|key| key.starts_with(block)).collect();
            assert_eq!(of_block.len(), fields.len(), "{block}: {of_block:?}, {fields:?}");
            for field in fields {
                assert!(keys.contains(format!("{block}{field}").as_str()), "{block}{field} has no row");
            }
        };
        check("toolRules[].", fields(ToolRule::default()));
        check("toolDefaults.", fields(Defaults::default()));
        check("profiles.*.", fields(Profile::default()));
        let some = Some(String::new());
        check(
            "pinnedTools[].",
            fields(PinnedTool { client: some.clone(), profile: some, ..PinnedTool::default() }),
        );
    }

    fn fields(value: impl Serialize) -> Vec<String> {
        match serde_json::to_value(value).unwrap() {
            Value::Object(fields) => fields.keys().cloned().collect(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_documentation_says_of_every_key_what_waits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let text = std::fs::read_to_string(path).unwrap();
        for (key, loosens) in rows() {
            let line =
                text.lines().find(|line| line.starts_with(&format!("| {} |", loosens.word()))).unwrap();
            assert!(line.contains(&format!("`{key}`")), "{key} is not in the row {:?}", loosens.word());
        }
    }

    #[test]
    fn no_key_has_two_rows() {
        let rows = rows();
        let names: BTreeSet<&String> = rows.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), rows.len());
    }
}
