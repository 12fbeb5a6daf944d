//! Defines the arguments of the commands that search registries and install, update or uninstall what they list.

use clap::{Args as Group, ValueEnum};

use super::{at_least_one, variable};

#[derive(Debug, Group)]
pub(crate) struct Search {
    /// What to search for; default: everything
    pub(crate) words: Vec<String>,
    /// Include servers that a registry has deleted, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// Only servers that run there
    #[arg(long, value_enum, value_name = "PLACE")]
    pub(crate) place: Option<SearchPlace>,
    /// Only servers for this runtime
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) language: Option<SearchLanguage>,
    /// Only servers that need no account or key, by their description
    #[arg(long)]
    pub(crate) without_key: bool,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SearchSort::Best)]
    pub(crate) sort: SearchSort,
    /// Maximum number, at least 1
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Query the registries now; default: at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Where a registry's server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchPlace {
    Hosted,
    Computer,
}

impl From<SearchPlace> for satchel_core::model::listings::ListedPlace {
    fn from(place: SearchPlace) -> Self {
        match place {
            SearchPlace::Hosted => Self::Hosted,
            SearchPlace::Computer => Self::Computer,
        }
    }
}

/// The runtime of a registry's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchLanguage {
    Javascript,
    Python,
    Dotnet,
    Container,
    Bundle,
}

impl From<SearchLanguage> for satchel_core::model::listings::ListedLanguage {
    fn from(language: SearchLanguage) -> Self {
        match language {
            SearchLanguage::Javascript => Self::Javascript,
            SearchLanguage::Python => Self::Python,
            SearchLanguage::Dotnet => Self::Dotnet,
            SearchLanguage::Container => Self::Container,
            SearchLanguage::Bundle => Self::Bundle,
        }
    }
}

/// The sort order of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchSort {
    Best,
    Newest,
    Name,
}

impl From<SearchSort> for satchel_core::model::listings::ListingSort {
    fn from(sort: SearchSort) -> Self {
        match sort {
            SearchSort::Best => Self::Best,
            SearchSort::Newest => Self::Newest,
            SearchSort::Name => Self::Name,
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Info {
    /// Name, as in `satchel search`; NAME@VERSION for another version
    pub(crate) name: String,
}

#[derive(Debug, Group)]
pub(crate) struct Install {
    /// Name, as in `satchel search`; NAME@VERSION for another version than the latest
    pub(crate) name: String,
    /// Package type, if there are several: remote, npm, pypi, oci, mcpb, nuget
    #[arg(long, value_name = "WAY")]
    pub(crate) way: Option<String>,
    /// Value of an input, by its id or the id's last part; repeatable
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Show what would run, and fetch nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; accept what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Outdated {
    /// Query the registries now; default: at most once an hour
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Update {
    /// Name here or in the registry; NAME@VERSION for another version than the latest
    pub(crate) name: String,
    /// Value of an input that the new version adds
    #[arg(long, value_name = "ID=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; accept what --dry-run shows
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Keep it running although its registry has deleted it
    #[arg(long, conflicts_with_all = ["set", "dry_run", "yes"])]
    pub(crate) keep: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Uninstall {
    /// Name here or in the registry
    pub(crate) name: String,
}
