//! The programs and their tests are built from the same crates, so that nothing is compiled twice.

use std::{collections::BTreeSet, path::Path, process::Command};

/// The crates that cargo builds along these edges, each as `name version [features]`.
fn crates_along(edges: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let makefile = std::fs::read_to_string(root.join("Makefile")).expect("the Makefile");
    let selection = makefile.lines().find_map(|line| line.strip_prefix("TESTED := ")).expect("TESTED");
    let tree = Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "tree",
            "--locked",
            "--offline",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
            "--edges",
            edges,
        ])
        .args(selection.split_whitespace())
        .output()
        .expect("cargo");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).expect("UTF-8");
    lines
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .filter(|line| line.contains(" v"))
        .collect()
}

#[test]
fn no_dev_dependency_turns_on_features_of_a_crate_that_the_programs_use() {
    let for_tests = crates_along("all");
    let built_twice: Vec<String> =
        crates_along("normal,build").into_iter().filter(|built| !for_tests.contains(built)).collect();
    assert!(
        built_twice.is_empty(),
        "The tests want other features of these crates, so `cargo build` and `cargo test` each compile them and all that depends \
         on them. Turn off the default features of the dev-dependency, or name it in tests/Cargo.toml: {built_twice:#?}"
    );
}
