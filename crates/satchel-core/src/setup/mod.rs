//! The whole setup as one file: its parts, how two setups differ, and what two computers last agreed on. Pure except for reading
//! and writing the file. Validates no entry and changes no configuration.

mod agreed;
mod file;
mod following;
mod parts;

pub use agreed::Agreed;
pub use file::{ENDING, SetupError, SetupFile};
pub use following::{FolderContents, FollowState, Following};
pub use parts::{PartId, Parts, Portable, difference};
