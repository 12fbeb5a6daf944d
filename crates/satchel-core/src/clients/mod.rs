//! The programs that connect to us: who they are, what is in their files, and how ours gets in and out of there.

pub mod connect;
pub mod document;
pub mod import;
pub mod ledger;
pub mod machine;
pub mod references;
pub mod surface;
pub mod table;
pub mod template;
pub mod token;
