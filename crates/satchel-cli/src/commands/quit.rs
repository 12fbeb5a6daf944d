//! `quit`: ends the running hub.

use std::process::ExitCode;

use satchel_core::{files::Places, model::control::Wish};
use serde_json::json;

use super::done;
use crate::control::Control;

pub(crate) async fn run(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let Some(control) = Control::find(places).await? else {
        return done("No hub runs.", &json!({}), json);
    };
    let answer = control.fulfil(&Wish::Quit).await?;
    done("The hub is ending.", &answer, json)
}
