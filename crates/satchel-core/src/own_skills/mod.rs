//! Skills of the person: folders with a `SKILL.md` that Satchel keeps and gives to agents, each in the agent's own folder.
//!
//! `folder` reads and checks one, from a directory, an archive or files; `shelf` keeps them and what was given where; `place`
//! writes one into an agent's folder and takes it out again. Runs nothing that lies in them, and decides for no person.

mod folder;
mod place;
mod shelf;

pub use folder::{FolderError, SkillFile, SkillFolder};
pub use place::{CopyState, PlaceError};
pub use shelf::{GivenCopy, KeptSkill, Row, SkillStore};
