//! Says where the files of a Satchel installation are, and creates their directories.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{create_own_dir, create_private_dir, file_stem};

/// The directories of a Satchel installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The configuration file.
    pub config_file: PathBuf,
    /// Persistent state: catalogs, tokens, the address of a running hub.
    pub data: PathBuf,
    /// Logs of the hub and of all servers.
    pub logs: PathBuf,
}

/// The user has no home directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find a home directory; set SATCHEL_HOME to a directory for Satchel's files")]
pub struct NoHome;

impl Places {
    /// `$SATCHEL_HOME` if set, otherwise the operating system's standard directories.
    pub fn from_environment() -> Result<Self, NoHome> {
        match std::env::var_os("SATCHEL_HOME").filter(|home| !home.is_empty()) {
            Some(home) => Ok(Self::below(&std::path::absolute(&home).unwrap_or_else(|_| home.into()))),
            None => {
                let dirs = directories::ProjectDirs::from("", "", "satchel").ok_or(NoHome)?;
                let data = dirs.data_local_dir().to_owned();
                Ok(Self {
                    config_file: dirs.config_dir().join("config.json"),
                    logs: dirs.state_dir().map_or_else(|| data.join("logs"), |state| state.join("logs")),
                    data,
                })
            }
        }
    }

    /// Everything below one directory.
    pub fn below(home: &Path) -> Self {
        Self { config_file: home.join("config.json"), data: home.join("data"), logs: home.join("logs") }
    }

    /// Creates the directories, accessible to this user only.
    pub fn create(&self) -> io::Result<()> {
        let config = self.config_file.parent().map(ToOwned::to_owned);
        let told = |dir: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot create {}: {error}", dir.display()))
        };
        for dir in [config.as_deref(), Some(&self.data), Some(&self.logs)].into_iter().flatten() {
            create_private_dir(dir).map_err(|error| told(dir, error))?;
        }
        for dir in [self.catalogs(), self.approvals(), self.failures(), self.server_logs()] {
            create_own_dir(&dir).map_err(|error| told(&dir, error))?;
        }
        Ok(())
    }

    /// The cached lists of all servers.
    pub fn catalogs(&self) -> PathBuf {
        self.data.join("catalogs")
    }

    /// The approvals of all servers.
    pub fn approvals(&self) -> PathBuf {
        self.data.join("approvals")
    }

    /// The last failures of servers.
    pub fn failures(&self) -> PathBuf {
        self.data.join("failures")
    }

    /// One log per server.
    pub fn server_logs(&self) -> PathBuf {
        self.logs.join("servers")
    }

    /// The log of one server.
    pub fn server_log(&self, server: &str) -> PathBuf {
        self.server_logs().join(format!("{}.log", file_stem(server)))
    }

    /// The temporary files of one server in a sandbox.
    pub fn sandbox(&self, server: &str) -> PathBuf {
        self.data.join("sandboxes").join(file_stem(server))
    }

    /// The address of a running hub.
    pub fn address_file(&self) -> PathBuf {
        self.data.join("hub.json")
    }

    /// Locked by the running hub.
    pub fn lock_file(&self) -> PathBuf {
        self.data.join("hub.lock")
    }

    /// The last valid configuration.
    pub fn last_good_config(&self) -> PathBuf {
        self.data.join("config.last-good.json")
    }
}
