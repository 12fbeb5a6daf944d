//! Defines the arguments of the commands that store secrets and sign in to hosted servers.

use clap::{Args as Group, Subcommand};

#[derive(Debug, Group)]
#[command(
    after_help = "Exit codes: 3 declined in the browser, 4 refused by a check or by the provider, 5 a client ID has to be entered, 6 nobody came back from the browser in time."
)]
pub(crate) struct Login {
    /// The server's name
    pub(crate) name: String,
    /// Print the page's address instead of opening it
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// For a browser on another computer: print the page's address, then paste the address it redirects to
    #[arg(long)]
    pub(crate) paste: bool,
    /// Register Satchel again with the provider, if it lost the registration
    #[arg(long)]
    pub(crate) register_again: bool,
    /// Client ID of an app you registered with the provider; kept in the configuration
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Prompt for the client secret, without echo; kept in the keychain
    #[arg(long, requires = "client_id")]
    pub(crate) client_secret: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Store a secret; prompts for the value, or reads standard input
    Set { name: String },
    /// List the names of stored secrets
    List,
    /// Remove a secret
    Rm { name: String },
    /// Keep secrets in an encrypted file instead of the keychain; prompts for a passphrase
    UseFile,
    /// Unlock the encrypted file while the hub runs; prompts for the passphrase
    Unlock,
}
