//! The hub in process: what a change, a request or a call of a client leads to, through the handle that faces hold. No
//! process is started: servers are endpoints inside the test.

mod approvals;
mod bundles;
mod calling;
mod faces;
mod following;
mod hands;
mod house;
mod importing;
#[cfg(unix)]
mod odd_files;
mod offering;
mod own_skills;
mod pasted;
mod pinned;
mod profiles;
mod records;
mod rules;
mod server;
mod sharing;
mod skills;
mod taking_in;
mod toggling;
#[cfg(unix)]
mod token_files;
