//! `export`: converts our configuration for a gateway. Reads only the file: no hub, no secrets, no tool lists.

use std::{fs::OpenOptions, io::Write, path::PathBuf, process::ExitCode};

use anyhow::Context;
use satchel_core::{
    config::{Config, file::text_of},
    export::{Engine, Exported, export},
    files::Places,
};
use serde_json::json;

use crate::output::{Lines, say, say_aside, say_json};

pub(crate) fn run(
    places: &Places,
    engine: Engine,
    output: Option<PathBuf>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let shown = places.config_file.display();
    let text = text_of(&places.config_file).with_context(|| format!("cannot read {shown}"))?;
    let config = Config::parse(&text).map_err(|error| anyhow::anyhow!("{shown}, {error}"))?;
    let exported = export(&config, engine);
    if let Some(file) = &output {
        // Never overwrites an existing file.
        let opened = OpenOptions::new().write(true).create_new(true).open(file);
        let written = opened.and_then(|mut file| file.write_all(exported.text.as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    match (json, &output) {
        (true, _) => say_json(&answer(&exported))?,
        (false, None) => say(Lines::block("", &exported.text)),
        (false, Some(_)) => {}
    }
    if !json {
        for one in &exported.left {
            say_aside(format!("Left out, {}: {}", one.place, one.reason));
        }
        for (name, what) in &exported.needs {
            say_aside(format!("Needs {name}: {what}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(exported: &Exported) -> serde_json::Value {
    let needs: serde_json::Map<_, _> =
        exported.needs.iter().map(|(name, what)| (name.clone(), what.as_str().into())).collect();
    json!({ "text": exported.text, "left": exported.left, "needs": needs })
}
