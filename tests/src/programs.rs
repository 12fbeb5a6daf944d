//! Where the programs under test are: beside the test's own executable, or where the environment says.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The repository's root directory.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository")
}

/// cargo's target directory, for example `target`.
pub fn target_directory() -> PathBuf {
    profile_directory().parent().expect("a profile directory lies in the target directory").to_owned()
}

/// A program of this workspace; `SATCHEL_BIN` names another `satchel`, for example an installed one.
pub fn program(name: &str) -> PathBuf {
    let chosen = (name == "satchel").then(|| std::env::var_os("SATCHEL_BIN")).flatten();
    let path = chosen.map_or_else(|| profile_directory().join(name), PathBuf::from);
    assert!(path.is_file(), "{} is not built: run through `make test`", path.display());
    path
}

/// The test's executable is `target/PROFILE/deps/NAME-HASH`.
fn profile_directory() -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.ancestors().nth(2).expect("cargo puts tests into PROFILE/deps").to_owned()
}

/// The interpreter itself: `python3` on the path may be a script that needs the user's home.
pub fn python() -> &'static str {
    static PYTHON: LazyLock<String> = LazyLock::new(|| {
        let mut asked = std::process::Command::new("python3");
        let asked = asked.args(["-c", "import sys; print(sys.executable)"]);
        let output = asked.output().expect("python3 is installed; scripts/setup.sh does that");
        String::from_utf8(output.stdout).expect("its path is UTF-8").trim().to_owned()
    });
    &PYTHON
}
