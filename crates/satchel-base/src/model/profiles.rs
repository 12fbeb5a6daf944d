//! Types for profiles as faces show them. `config::profiles` decides what a profile allows.

use serde::{Deserialize, Serialize};

/// A named set of servers and their tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The names of its servers. Every other server is excluded.
    pub servers: Vec<String>,
    /// Tool paths with `*` (anything) and `?` (one character). They restrict the servers they can match to the tools
    /// they match.
    pub only: Vec<String>,
    /// Paths of excluded tools, in the same syntax.
    pub except: Vec<String>,
}

/// All profiles, and who uses them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProfilesView {
    /// The active profile, which applies to clients without their own; `None` for no profile. If `all` has no profile
    /// of this name, those clients see nothing.
    pub active: Option<String>,
    /// All profiles, ordered by name.
    pub all: Vec<ProfileView>,
    /// Project folders that are bound to a profile.
    pub folders: Vec<FolderProfile>,
}

/// A profile and its use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProfileView {
    /// Its name.
    pub name: String,
    /// Its content.
    pub profile: Profile,
    /// Servers it names that do not exist.
    pub unknown: Vec<String>,
    /// The ids of clients bound to it.
    pub clients: Vec<String>,
    /// Why it is invalid, with the position in the file. An invalid profile excludes everything.
    pub fault: Option<String>,
}

/// A project folder bound to a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FolderProfile {
    /// The folder; includes its subfolders.
    pub folder: String,
    /// The profile's name.
    pub profile: String,
    /// Why the binding is ignored, if so.
    pub fault: Option<String>,
}
