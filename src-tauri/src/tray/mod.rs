//! The tray: an icon and a native menu that show the hub's state and handle clicks.

mod entries;
mod icon;
mod menu;
mod slots;

#[cfg(test)]
pub(crate) use menu::tests as testing;
pub(crate) use menu::{needs, needs_sign_in};

use std::{path::Path, sync::Arc};

use satchel_core::model::{
    control::Change,
    request::{Pause, Request, Resume},
};
use tauri::{
    AppHandle, Manager,
    menu::MenuEvent,
    tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent},
};
use tokio::time::Instant;

use self::{
    entries::{Click, Entries, Until},
    icon::{Glyph, Ink, Shown},
    menu::MenuModel,
};
use crate::{
    alive::{self, Alive},
    choices::Chosen,
    clipboard::Clipboard,
    language::Language,
    serving::Serving,
    state::HubState,
    tasks::Tasks,
    window,
};

const ICON: &str = "satchel";

/// The tray icon and its menu.
pub(crate) struct Tray {
    app: AppHandle,
    icon: TrayIcon,
    entries: Arc<Entries>,
    shown: Shown,
    wanted: Glyph,
    ink: Ink,
    /// What the menu was last told to show; it may not show it yet.
    told: MenuModel,
}

impl Tray {
    /// Creates the tray icon; its files go to `directory`, where the tray reads them. The operating system may still
    /// hide it, so nothing may depend on it.
    pub(crate) fn new(app: &AppHandle, directory: &Path) -> tauri::Result<Self> {
        let entries = Arc::new(Entries::new(app)?);
        let ink = Ink::on(std::env::var("XDG_CURRENT_DESKTOP").ok().as_deref());
        let clicked = entries.clone();
        let icon = TrayIconBuilder::with_id(ICON)
            .icon(Glyph::Rest.image(ink))
            .icon_as_template(true)
            .temp_dir_path(directory)
            .tooltip("Satchel")
            .menu(entries.menu())
            // macOS opens the menu at any click; on Windows a left click opens the window.
            .show_menu_on_left_click(cfg!(target_os = "macos"))
            .on_menu_event(move |app, event| act(app, &clicked, &event))
            .on_tray_icon_event(open_at_left_click)
            .build(app)?;
        if !app.state::<Chosen>().get().tray {
            warn(icon.set_visible(false));
        }
        let told = MenuModel::of(&HubState::Opening, Language::of(app));
        Ok(Self { app: app.clone(), icon, entries, shown: Shown::default(), wanted: Glyph::Rest, ink, told })
    }

    /// Shows this state.
    pub(crate) fn show(&mut self, state: &HubState) {
        self.wanted = Glyph::of(state);
        if let Some(glyph) = self.shown.follow(self.wanted, Instant::now()) {
            warn(self.icon.set_icon_with_as_template(Some(glyph.image(self.ink)), true));
        }
        let mut model = MenuModel::of(state, Language::of(&self.app));
        model.silent = self.app.state::<Alive>().is_silent();
        if self.told != model {
            self.told = model.clone();
            warn(self.icon.set_tooltip(Some(&model.status)));
            let entries = self.entries.clone();
            // All at once on the main thread, so that nobody sees a partial update.
            warn(self.app.run_on_main_thread(move || warn(entries.become_like(model))));
        }
    }

    /// When the icon may change without a change of the state.
    pub(crate) fn changes_by_itself(&self) -> Option<Instant> {
        self.shown.changes_by_itself(self.wanted)
    }
}

/// Shows or hides the icon.
pub(crate) fn appear(app: &AppHandle, visible: bool) {
    if let Some(icon) = app.tray_by_id(ICON) {
        warn(icon.set_visible(visible));
    }
}

/// The window's location for this server; the name may contain any characters.
pub(crate) fn place_of(server: &str) -> String {
    let mut place = String::from("/servers/");
    for byte in server.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                place.push(char::from(byte))
            }
            other => place.push_str(&format!("%{other:02X}")),
        }
    }
    place
}

fn act(app: &AppHandle, entries: &Arc<Entries>, event: &MenuEvent) {
    let Some(click) = entries.meaning(event.id().as_ref()) else { return };
    let app = app.clone();
    let serving = app.state::<Serving>().inner().clone();
    let tasks = app.state::<Tasks>().inner().clone();
    match click {
        Click::Open => tasks.spawn(async move { window::show(&app, None) }),
        Click::List => tasks.spawn(async move { window::show(&app, Some("/servers")) }),
        Click::Look { server, held } => {
            let place = place_of(&server) + if held { "/tools" } else { "" };
            tasks.spawn(async move { window::show(&app, Some(&place)) });
        }
        Click::Renew => alive::renew(&app),
        Click::Settings => tasks.spawn(async move { window::show(&app, Some("/settings")) }),
        Click::Switch { server, enabled } => {
            warn(entries.restore_ticks());
            tasks.spawn(switch(app, serving, server, enabled));
        }
        Click::Profile(name) => {
            warn(entries.restore_ticks());
            tasks.spawn(do_or_show(app, serving, Change::UseProfile { name }));
        }
        Click::Copy => copy_address(&app, &serving),
        Click::Pause(until) => tasks.spawn(do_or_show(app, serving, Pause { until_ms: until_ms(until) })),
        Click::Resume => tasks.spawn(do_or_show(app, serving, Resume {})),
        Click::Quit => tasks.spawn(async move { serving.quit().await }),
    }
}

/// Failures of tray actions are shown in the window.
async fn switch(app: AppHandle, serving: Serving, server: String, enabled: bool) {
    let place = place_of(&server);
    let change = Change::SetEnabled { name: server, enabled };
    if let Err(refusal) = serving.ask(&change).await {
        tracing::warn!("the switch in the tray did not move: {refusal}");
        window::show(&app, Some(&place));
    }
}

/// The same for actions on the hub itself.
async fn do_or_show(app: AppHandle, serving: Serving, request: impl Request) {
    if let Err(refusal) = serving.ask(&request).await {
        tracing::warn!("what was chosen in the tray did not happen: {refusal}");
        window::show(&app, None);
    }
}

/// The hour at which a pause until tomorrow ends, in local time.
const MORNING: i8 = 9;

/// When the pause ends by itself, in milliseconds since the Unix epoch.
fn until_ms(until: Until) -> Option<u64> {
    let now = jiff::Zoned::now();
    let end = match until {
        Until::Resumed => return None,
        Until::AnHour => now.timestamp().as_millisecond().saturating_add(3_600_000),
        Until::Tomorrow => {
            let morning = now.date().tomorrow().map(|day| day.at(MORNING, 0, 0, 0));
            let morning = morning.and_then(|morning| morning.to_zoned(now.time_zone().clone()));
            // At the end of the calendar there is no tomorrow.
            morning.map_or_else(|_| now.timestamp(), |morning| morning.timestamp()).as_millisecond()
        }
    };
    u64::try_from(end).ok()
}

fn copy_address(app: &AppHandle, serving: &Serving) {
    let address = serving.state().borrow().endpoint().map(ToOwned::to_owned);
    let Some(address) = address else { return };
    if let Err(refusal) = app.state::<Clipboard>().copy(&address) {
        tracing::warn!("{refusal}");
    }
}

fn open_at_left_click(tray: &TrayIcon, event: TrayIconEvent) {
    let left = matches!(
        event,
        TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. }
    );
    if left && !cfg!(target_os = "macos") {
        let app = tray.app_handle().clone();
        let tasks = app.state::<Tasks>().inner().clone();
        tasks.spawn(async move { window::show(&app, None) });
    }
}

/// The hub's state as text, for the first line of the menu.
pub(crate) fn status(state: &HubState, language: Language) -> String {
    MenuModel::of(state, language).status
}

fn warn<T>(done: tauri::Result<T>) {
    if let Err(error) = done {
        tracing::warn!("the tray cannot be changed: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_until_tomorrow_ends_in_the_morning() {
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap();
        let hour = 3_600_000;
        assert_eq!(until_ms(Until::Resumed), None);
        assert!((now..=now + 2 * hour).contains(&until_ms(Until::AnHour).unwrap()));
        let end = until_ms(Until::Tomorrow).unwrap();
        // From midnight to nine the next day, plus an hour for the end of daylight saving.
        assert!((now + 8 * hour..=now + 34 * hour).contains(&end));
        let end = jiff::Timestamp::from_millisecond(end.try_into().unwrap()).unwrap();
        assert_eq!(end.to_zoned(jiff::tz::TimeZone::system()).hour(), MORNING);
    }

    #[test]
    fn any_name_leads_to_its_place() {
        assert_eq!(place_of("github"), "/servers/github");
        assert_eq!(place_of("My Hub #1"), "/servers/My%20Hub%20%231");
        assert_eq!(place_of("é"), "/servers/%C3%A9");
    }
}
