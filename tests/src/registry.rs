//! A registry of packages and the launchers that fetch from it, for tests of what is fetched.

use std::fs;

use serde_json::{Map, Value, json};

use crate::{Fake, Home, Hub, program};

/// Launchers that fetch like `npx` and `uvx`: the first time from the registry as it is then, after that from disk.
/// They run the fake server.
pub struct Registry<'a> {
    home: &'a Home,
}

impl<'a> Registry<'a> {
    /// An empty registry, and its launchers in the home's `bin`.
    pub fn of(home: &'a Home) -> Self {
        let npx = r#"#!/bin/sh
place="$HOME/.npm/_npx/$(printf %s "$2" | sha512sum | cut -c1-16)"
if [ ! -d "$place" ]; then
  mkdir -p "$place/node_modules"
  printf '{"_npx":{"packages":["%s"]}}' "$2" >"$place/package.json"
  cp "$HOME/registry.json" "$place/node_modules/.package-lock.json"
fi
shift 2
exec "$FAKE" "$@"
"#;
        let uvx = "#!/bin/sh\nshift\nexec \"$FAKE\" \"$@\"\n";
        home.write_program("bin/npx", npx);
        home.write_program("bin/uvx", uvx);
        Self { home }
    }

    /// Starts a hub that finds these launchers first.
    pub async fn start_hub(&self) -> Hub<'a> {
        let path = std::env::var("PATH").expect("there is one");
        let path = format!("{}:{path}", self.home.file("bin").display());
        self.home.start_hub_with(&[("PATH", &path)]).await
    }

    /// The entry of a server that such a launcher starts.
    pub fn entry(&self, fake: Fake, launcher: &str, before: &[&str]) -> Value {
        let mut entry = fake.env("FAKE", program("fake-mcp-server").to_str().expect("it is plain")).entry();
        let given = entry["args"].as_array().cloned().unwrap_or_default();
        entry["args"] = before.iter().map(|word| json!(word)).chain(given).collect();
        entry["command"] = json!(launcher);
        entry
    }

    /// What it delivers from now on: names, versions and contents.
    pub fn has(&self, packages: &[(&str, &str, &str)]) {
        let package = |(name, version, contents): &(&str, &str, &str)| {
            let about = json!({ "version": version, "integrity": format!("sha512-{contents}") });
            (format!("node_modules/{name}"), about)
        };
        let packages: Map<String, Value> = packages.iter().map(package).collect();
        let list = json!({ "lockfileVersion": 3, "packages": packages }).to_string();
        fs::write(self.home.file("registry.json"), list).expect("the home can be written to");
    }

    /// Empties the cache: the next start fetches.
    pub fn empty(&self) {
        fs::remove_dir_all(self.home.file(".npm")).expect("something was fetched");
    }

    /// Replaces the cache with what the registry delivers now, before any start.
    pub fn fetch_now(&self) {
        let fetched = fs::read_dir(self.home.file(".npm/_npx")).expect("something was fetched").flatten();
        for place in fetched {
            let list = place.path().join("node_modules/.package-lock.json");
            fs::copy(self.home.file("registry.json"), list).expect("the home can be written to");
        }
    }
}
