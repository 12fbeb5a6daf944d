//! Writes the file that tells other faces where the running hub is, and removes it at the end.

use std::path::Path;

use satchel_core::{
    files::{self, Places},
    hub::RunningHub,
};

/// The address file; removed when dropped.
#[derive(Debug)]
pub(crate) struct AddressFile {
    file: std::path::PathBuf,
}

impl AddressFile {
    pub(crate) fn write(places: &Places, url: &str, socket: &Path) -> std::io::Result<Self> {
        let file = places.address_file();
        let running = RunningHub { pid: std::process::id(), url: url.to_owned(), socket: socket.to_owned() };
        files::replace(&file, &serde_json::to_vec(&running)?)?;
        Ok(Self { file })
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
