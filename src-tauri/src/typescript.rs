//! Generates `ui/src/lib/hub/generated/index.ts`: this program's additions to the hub's types.

use std::{fs, path::Path};

use ts_rs::{Config, TS};

use crate::{
    appearance::Appearance,
    choices::{Choices, Closing, LookForUpdates, Notify},
    chooser::WantedFile,
    commands::About,
    language::Language,
    links::OwnPlace,
    page_window::{PageEvent, PageSaid, PageTold},
    pages::PageFrame,
    state::{HubState, Refused},
    updates::{ReplacedBy, Standing, UpdatesView},
};

const REWRITE: &str = "SATCHEL_WRITE_TYPES";

#[test]
fn the_windows_types_are_ours() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/lib/hub/generated/index.ts");
    if std::env::var_os(REWRITE).is_some() {
        fs::write(&path, text()).expect("the source can be written to");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written,
        text(),
        "what the window reads has changed: run this test with {REWRITE}=1, then `npm run check` in ui/"
    );
}

fn text() -> String {
    let declarations = [
        of::<HubState>(),
        of::<Refused>(),
        of::<About>(),
        of::<OwnPlace>(),
        of::<WantedFile>(),
        of::<PageFrame>(),
        of::<PageEvent>(),
        of::<PageSaid>(),
        of::<PageTold>(),
        of::<Choices>(),
        of::<Notify>(),
        of::<Closing>(),
        of::<LookForUpdates>(),
        of::<Language>(),
        of::<Appearance>(),
        of::<UpdatesView>(),
        of::<ReplacedBy>(),
        of::<Standing>(),
    ];
    format!(
        "// Written by `{REWRITE}=1 cargo test -p satchel-app --lib typescript` from the Rust types. Not for editing.\n\
         import type {{ Refusal, Snapshot }} from \"./hub\";\n\n\
         export type * from \"./hub\";\n{}",
        declarations.concat()
    )
}

fn of<T: TS>() -> String {
    let config = Config::new();
    let about = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
    let declaration = T::decl(&config);
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("/**") && !line.starts_with('*');
    let declaration = declaration.lines().map(str::trim).filter(is_code).collect::<Vec<_>>().join(" ");
    format!("\n{about}export {declaration}\n")
}
