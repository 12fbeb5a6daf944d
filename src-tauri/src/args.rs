//! The app's command-line arguments.

/// How the app starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// Without a window, as at login.
    pub(crate) hidden: bool,
    /// The port; `None` for the default one.
    pub(crate) port: Option<u16>,
    /// Accepts every entry in the configuration file.
    pub(crate) trust_config: bool,
    /// A `satchel://` link: what it names is shown, and nothing else happens.
    pub(crate) link: Option<String>,
}

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    Start(Args),
    Version,
    Help,
}

pub(crate) const USAGE: &str = "\
Usage: satchel-app [--hidden] [--port N] [--trust-config] [satchel://…]

  --hidden   start in the tray, without a window
  --port N   listen on this port; 0 takes any that is free
  --trust-config
             start every server in the configuration file as it stands there now,
             without asking
  satchel://install?…
             show what such a link names; nothing is installed by it
  --version  print the version
  --help     print this

SATCHEL_HOME=DIR keeps configuration, data and logs below DIR.";

/// Parses the arguments.
pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Invocation, String> {
    let mut args = Args::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--hidden" => args.hidden = true,
            "--trust-config" => args.trust_config = true,
            "--port" => args.port = Some(port(words.next().as_deref())?),
            link if link.starts_with("satchel:") => args.link = Some(word),
            "--version" => return Ok(Invocation::Version),
            "--help" | "-h" => return Ok(Invocation::Help),
            other => match other.strip_prefix("--port=") {
                Some(number) => args.port = Some(port(Some(number))?),
                None => return Err(format!("unknown argument {other}")),
            },
        }
    }
    Ok(Invocation::Start(args))
}

fn port(number: Option<&str>) -> Result<u16, String> {
    let number = number.ok_or("--port needs a number")?;
    number.parse().map_err(|_| format!("--port {number}: not a port number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Result<Invocation, String> {
        read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_word_is_understood_or_refused() {
        let start = |hidden, port| Ok(Invocation::Start(Args { hidden, port, ..Args::default() }));
        assert_eq!(said(""), start(false, None));
        assert_eq!(said("--hidden"), start(true, None));
        assert_eq!(said("--port 0 --hidden"), start(true, Some(0)));
        assert_eq!(said("--port=8080"), start(false, Some(8080)));
        assert_eq!(said("--hidden --version"), Ok(Invocation::Version));
        let trusting = Args { trust_config: true, ..Args::default() };
        assert_eq!(said("--trust-config"), Ok(Invocation::Start(trusting)));
        let link = Args { link: Some("satchel://install?name=a/b".into()), ..Args::default() };
        assert_eq!(said("satchel://install?name=a/b"), Ok(Invocation::Start(link)));
        assert_eq!(said("--port"), Err("--port needs a number".into()));
        assert_eq!(said("--port 70000"), Err("--port 70000: not a port number".into()));
        assert_eq!(said("serve"), Err("unknown argument serve".into()));
    }
}
