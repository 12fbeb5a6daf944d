//! Variables of the person's environment that say where something is, for the programs that read them: engines of containers,
//! package indexes. One with a credential is passed on only where an entry names it. Reads no settings of those programs.

use satchel_entry::{
    credential::{self, FieldKind},
    launcher::{Launch, Launcher, containers, program_name},
};

use super::container::OF_ENGINES;
use crate::platform::Environment;

/// Where launchers of Node packages find them.
const NPM: &[&str] = &[
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_CAFILE",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_NOPROXY",
    "YARN_NPM_REGISTRY_SERVER",
    "YARN_REGISTRY",
    "BUN_CONFIG_REGISTRY",
    "PNPM_HOME",
    "NODE_USE_SYSTEM_CA",
];
/// Where launchers of Python packages find them, and interpreters.
const PYTHON: &[&str] = &[
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX_STRATEGY",
    "UV_FIND_LINKS",
    "UV_CACHE_DIR",
    "UV_CONFIG_FILE",
    "UV_PYTHON_INSTALL_DIR",
    "UV_PYTHON_INSTALL_MIRROR",
    "UV_PYPY_INSTALL_MIRROR",
    "UV_TOOL_DIR",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_OFFLINE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIPX_HOME",
];
const GO: &[&str] = &["GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOPATH", "GOMODCACHE"];
const DENO: &[&str] = &["DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "NPM_CONFIG_REGISTRY", "JSR_URL"];
const DOTNET: &[&str] = &["DOTNET_ROOT", "NUGET_PACKAGES", "DOTNET_CLI_HOME"];

/// What a program is told, and what is kept from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Locations {
    /// Variables without a credential.
    pub(super) passed: Vec<(String, String)>,
    /// The names of those that have one.
    pub(super) withheld: Vec<String>,
}

impl Locations {
    /// For a command line. What its entry sets itself is not looked at.
    pub(super) fn of(command: &str, args: &[String], ours: &Environment, own: &Environment) -> Self {
        let launch = Launch::of(command, args);
        let names = names_for(&launch);
        let for_engines = runs_engine(command, args, &launch);
        let mut locations = Self::default();
        for (name, value) in ours.iter().filter(|(_, value)| !value.is_empty()) {
            let is_named = names.iter().any(|known| known.eq_ignore_ascii_case(name));
            let is_of_engines = for_engines && OF_ENGINES.iter().any(|prefix| name.starts_with(prefix));
            if !(is_named || is_of_engines) || own.get(name).is_some() {
                continue;
            }
            match has_credential(name, value) {
                true => locations.withheld.push(name.to_owned()),
                false => locations.passed.push((name.to_owned(), value.to_owned())),
            }
        }
        locations
    }

    /// What the log says about what is withheld.
    pub(super) fn remark(&self) -> Option<String> {
        let [first, ..] = self.withheld.as_slice() else { return None };
        let names = self.withheld.join(", ");
        let have = if self.withheld.len() == 1 { "has" } else { "have" };
        Some(format!(
            "{names} of your environment {have} a credential and {} not passed on; if it needs that, write \"env\": {{\"{first}\": \
             \"${{env:{first}}}\"}} into its entry",
            if self.withheld.len() == 1 { "is" } else { "are" }
        ))
    }
}

fn names_for(launch: &Launch) -> &'static [&'static str] {
    match launch.launcher {
        Some(Launcher::Npx | Launcher::PnpmDlx | Launcher::YarnDlx | Launcher::Bunx | Launcher::Bun) => NPM,
        Some(Launcher::Uvx | Launcher::UvRun | Launcher::PipxRun) => PYTHON,
        Some(Launcher::GoRun) => GO,
        Some(Launcher::Deno) => DENO,
        Some(Launcher::Dnx | Launcher::Dotnet) => DOTNET,
        Some(Launcher::Container | Launcher::Node | Launcher::Python | Launcher::Java | Launcher::Shell)
        | None => match launch.program.as_str() {
            "npm" | "pnpm" | "yarn" => NPM,
            "uv" | "pip" | "pipx" => PYTHON,
            _ => &[],
        },
    }
}

/// Is it the client of an engine, or does it start one in a line?
fn runs_engine(command: &str, args: &[String], launch: &Launch) -> bool {
    let is_client = |name: &str| {
        matches!(name, "docker" | "podman" | "nerdctl" | "finch" | "docker-compose" | "podman-compose")
    };
    let mut found = is_client(&launch.program) || is_client(&program_name(command));
    containers::with_options(command, args, |_| {
        found = true;
        vec![]
    });
    found
}

fn has_credential(name: &str, value: &str) -> bool {
    let login = value.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // `ssh://me@host` says who asks there, and has no password.
        host.rsplit_once('@').is_some_and(|(login, _)| !value.starts_with("ssh://") || login.contains(':'))
    });
    login || credential::of(name, value, FieldKind::Variable).is_credential()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    const OURS: [(&str, &str); 9] = [
        ("DOCKER_HOST", "unix:///home/me/.colima/default/docker.sock"),
        ("DOCKER_CONTEXT", "colima"),
        ("DOCKER_AUTH_CONFIG", r#"{"auths":{"r.example":{"auth":"bWU6c2VjcmV0cGFzc3dvcmQ="}}}"#),
        ("CONTAINER_HOST", "ssh://me@box/run/podman.sock"),
        ("UV_INDEX_URL", "https://me:s3cret@index.example/simple"),
        ("UV_DEFAULT_INDEX", "https://index.example/simple"),
        ("npm_config_registry", "https://npm.example"),
        ("NPM_CONFIG_USERCONFIG", "/home/me/.npmrc"),
        ("GITHUB_TOKEN", "ghp_0123456789abcdefghij0123456789abcdef"),
    ];

    #[track_caller]
    fn check(line: &[&str], passed: &[&str], withheld: &[&str]) {
        let args: Vec<String> = line[1..].iter().map(|arg| (*arg).to_owned()).collect();
        let (ours, own) =
            (Environment::new(Platform::Linux, OURS), Environment::new(Platform::Linux, [("A", "1")]));
        let locations = Locations::of(line[0], &args, &ours, &own);
        let names: Vec<&str> = locations.passed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            (names, locations.withheld),
            (passed.to_vec(), withheld.iter().map(|name| (*name).to_owned()).collect()),
            "{line:?}"
        );
    }

    #[test]
    fn programs_are_told_where_things_are_and_no_credentials() {
        let engines = ["CONTAINER_HOST", "DOCKER_CONTEXT", "DOCKER_HOST"];
        check(&["/opt/docker", "run", "-i", "img"], &engines, &["DOCKER_AUTH_CONFIG"]);
        check(&["sh", "-c", "exec docker run -i img"], &engines, &["DOCKER_AUTH_CONFIG"]);
        check(&["docker", "mcp", "gateway", "run"], &engines, &["DOCKER_AUTH_CONFIG"]);
        check(&["uvx", "x"], &["UV_DEFAULT_INDEX"], &["UV_INDEX_URL"]);
        check(&["npx", "-y", "x"], &["NPM_CONFIG_USERCONFIG", "npm_config_registry"], &[]);
        check(&["node", "x.js"], &[], &[]);
        check(&["my-server"], &[], &[]);
    }

    #[test]
    fn what_is_withheld_is_said_with_what_to_write() {
        let locations = Locations { withheld: vec!["UV_INDEX_URL".into()], ..Locations::default() };
        let said = locations.remark().unwrap();
        assert!(said.contains(r#""env": {"UV_INDEX_URL": "${env:UV_INDEX_URL}"}"#), "{said}");
        assert_eq!(Locations::default().remark(), None);
    }
}
