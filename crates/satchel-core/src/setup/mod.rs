//! The whole setup as one file: its parts, how two setups differ, and what two computers last agreed on. Pure except for reading
//! and writing the file. Validates no entry and changes no configuration.

mod agreed;
mod following;
mod parts;
mod setup_file;

pub use agreed::Agreed;
pub use following::{FolderContents, FollowState, Following};
pub use parts::{PartId, Parts, Portable, difference};
pub use setup_file::{ENDING, SetupError, SetupFile};
