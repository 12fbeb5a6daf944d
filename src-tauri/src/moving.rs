//! Started from its disk image, or from where macOS runs a download, Satchel offers to move to the Applications folder: the paths
//! that clients and the login item would get disappear otherwise.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use satchel_core::{
    platform::{Environment, Passing},
    updates::{
        moving::{DITTO, into_programs},
        place::Successor,
    },
};
use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons};

use crate::{language::Language, serving::Serving, tasks::Tasks};

/// What to start after this program has exited, if it was moved.
#[derive(Default, Clone)]
pub(crate) struct Moved(Arc<Mutex<Option<Successor>>>);

impl Moved {
    pub(crate) fn take(&self) -> Option<Successor> {
        self.0.lock().take()
    }
}

/// Asks once at a start from a temporary path. Nothing is moved without a yes.
pub(crate) fn offer(app: &AppHandle) {
    let Ok(program) = std::env::current_exe() else { return };
    let environment = Environment::of_this_process();
    if !is_movable(Passing::of(&program, &environment)) {
        return;
    }
    let folders = folders(environment.home());
    let language = Language::of(app);
    let handle = app.clone();
    app.dialog()
        .message(question(language))
        .title("Satchel")
        .buttons(MessageDialogButtons::OkCancelCustom(
            language.pick("Move", "Bewegen").to_owned(),
            language.pick("Not Now", "Jetzt nicht").to_owned(),
        ))
        .show(move |yes| {
            if yes {
                let app = handle.clone();
                handle.state::<Tasks>().spawn(async move { go(&app, program, folders).await });
            }
        });
}

fn is_movable(passing: Option<Passing>) -> bool {
    matches!(passing, Some(Passing::DiskImage | Passing::Translocated))
}

/// The Applications folder of the computer, and that of the user, who may not be allowed to write the first.
fn folders(home: Option<PathBuf>) -> Vec<PathBuf> {
    let own = home.map(|home| home.join("Applications"));
    [PathBuf::from("/Applications")].into_iter().chain(own).collect()
}

async fn go(app: &AppHandle, program: PathBuf, folders: Vec<PathBuf>) {
    match into_programs(&program, &folders, &DITTO).await {
        Ok(next) => {
            *app.state::<Moved>().0.lock() = Some(next);
            app.state::<Serving>().quit().await;
        }
        Err(error) => {
            tracing::warn!("Satchel stays where it is: {error}");
            let text = Language::of(app).pick(
                "Satchel could not be moved. Drag it to the Applications folder in the Finder.",
                "Satchel konnte nicht bewegt werden. Zieh es im Finder in den Ordner „Programme“.",
            );
            app.dialog().message(format!("{text}\n\n{error}")).title("Satchel").show(|_| {});
        }
    }
}

fn question(language: Language) -> &'static str {
    language.pick(
        "Move Satchel to the Applications folder?\n\nFrom here, your editors could not find it after the next restart. A Satchel \
         that is already there is replaced.",
        "Satchel in den Ordner „Programme“ bewegen?\n\nVon hier aus fänden deine Editoren es nach dem nächsten Neustart nicht \
         mehr. Ein Satchel, das schon dort liegt, wird ersetzt.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bundle_at_a_temporary_path_asks_to_be_moved() {
        assert!(is_movable(Some(Passing::DiskImage)));
        assert!(is_movable(Some(Passing::Translocated)));
        assert!(!is_movable(Some(Passing::AppImage)));
        assert!(!is_movable(Some(Passing::Temporary)));
        assert!(!is_movable(None));
    }

    #[test]
    fn the_users_own_folder_comes_after_that_of_the_computer() {
        let folders = folders(Some(PathBuf::from("/Users/a")));
        assert_eq!(folders, [PathBuf::from("/Applications"), PathBuf::from("/Users/a/Applications")]);
    }
}
