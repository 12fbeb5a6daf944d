//! Types for profiles as faces show them. `config::profiles` decides what a profile allows.

use serde::{Deserialize, Serialize};

/// A named set of servers, and of tools within them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The names of its servers. Nothing of any other server is let through.
    pub servers: Vec<String>,
    /// Paths in which `*` stands for anything and `?` for one character: of a server that one of them could be for, only
    /// the tools that one of them is for.
    pub only: Vec<String>,
    /// Tools that are left out, by such paths.
    pub except: Vec<String>,
}

/// Every profile, and which one counts for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProfilesView {
    /// The profile that counts for clients without one of their own; `None` for everything. There may be none of that
    /// name in `all`: then those clients see nothing.
    pub active: Option<String>,
    /// All of them, ordered by name.
    pub all: Vec<ProfileView>,
    /// Project folders with a profile of their own.
    pub folders: Vec<FolderProfile>,
}

/// One profile as faces show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProfileView {
    /// Its name.
    pub name: String,
    /// What it consists of.
    pub profile: Profile,
    /// Those of its servers that are not there.
    pub unknown: Vec<String>,
    /// The clients that are bound to it, by their ids.
    pub clients: Vec<String>,
    /// Why it cannot be used, with its place in the file; it lets nothing through then.
    pub fault: Option<String>,
}

/// A project folder with a profile of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderProfile {
    /// The folder, with everything in it.
    pub folder: String,
    /// The profile's name.
    pub profile: String,
    /// Why it is not used, where it is not.
    pub fault: Option<String>,
}
