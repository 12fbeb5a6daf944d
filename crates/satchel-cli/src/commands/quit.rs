//! `quit`: stops the running hub.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::request::{Done, Quit},
};

use super::done;
use crate::control::Control;

pub(crate) async fn run(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let Some(control) = Control::find(places).await? else {
        return done("No hub is running.", &Done {}, json);
    };
    let answer = control.ask(&Quit {}, false).await?;
    done("The hub is stopping.", &answer, json)
}
