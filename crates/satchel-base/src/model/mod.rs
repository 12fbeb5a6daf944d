//! Types shared by all rooms: names, settings, states and what faces show. No I/O, no clock.

pub mod address;
pub mod approvals;
pub mod asks;
pub mod audit;
pub mod call_log;
pub mod caution;
pub mod characters;
pub mod clients;
pub mod code;
pub mod control;
pub mod doctor;
pub mod event;
pub mod ledger;
pub mod listing;
pub mod listings;
pub mod name;
pub mod nature;
pub mod oauth;
pub mod offered;
pub mod origin;
pub mod package;
pub mod profiles;
pub mod remark;
pub mod request;
pub mod secret;
pub mod server;
pub mod setup;
pub mod shell;
pub mod snapshot;
pub mod trying;
pub mod words;

pub use code::{Code, how_to_set};
pub use name::{NameError, ResourcePath, ServerName, ToolPath};
pub use origin::Origin;
pub use server::{ServerConfig, Startup, TransportConfig};
pub use snapshot::{Avoided, Notice, Paused, Place, ServerState, ServerView, Snapshot, Usage};
