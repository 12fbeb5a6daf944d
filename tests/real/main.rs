//! Real servers behind the hub, real clients in front of it: what other people wrote, at pinned versions.
//!
//! `scripts/real-servers.sh` installs them. A missing installation is a failure, never a skipped test.

mod claude_code;
mod clients;
mod house;
mod ledger;
mod packages;
mod twenty;
