//! The small program that runs beside each server and beside the hub: `subreaper` keeps what a server starts within reach,
//! `watchdog` ends what is left when the hub is gone, `opener` starts what a person opens from the window. A program of its own, because one process of it runs for each awake
//! server: the hub's own program takes eight times as much memory before it does anything. It knows no configuration, no
//! protocol and no runtime.
//!
//! A test to copy: `processes.rs::live_descendants_of_a_process_are_found_without_the_process`.
#![warn(missing_docs)]

pub mod opener;
pub mod processes;
pub mod subreaper;
pub mod watchdog;

use std::path::{Path, PathBuf};

/// File name of the program.
const NAME: &str = "satchel-reaper";

/// The program to start as `subreaper` or `watchdog`: the one beside `own`, or `own` itself, which can do the same.
pub fn program(own: &Path) -> PathBuf {
    Some(beside(own)).filter(|small| small.is_file()).unwrap_or_else(|| own.to_owned())
}

/// Could [`program`] return `file`, for this `own`?
pub fn is_program(file: &Path, own: &Path) -> bool {
    file == own || file == beside(own)
}

fn beside(own: &Path) -> PathBuf {
    own.with_file_name(format!("{NAME}{}", std::env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_small_program_the_hubs_own_does_it() {
        let dir = std::env::temp_dir().join(format!("satchel-reaper-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (own, small) = (dir.join("satchel"), beside(&dir.join("satchel-app")));
        assert_eq!(program(&own), own);
        std::fs::write(&small, "").unwrap();
        assert_eq!(program(&own), small);
        assert!(is_program(&own, &own) && is_program(&small, &own));
        assert!(!is_program(&dir.join("satchel-app"), &own));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
