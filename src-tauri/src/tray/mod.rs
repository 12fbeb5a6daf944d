//! The tray: a native menu that is built once and then changed in place, because a Linux tray host keeps the menu
//! object it was first given. Slots for servers exist from the beginning and are put in and taken out as needed.

mod icon;
mod menu;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use satchel_core::model::control::{Change, Wish};
use tauri::{
    AppHandle, Manager,
    menu::{CheckMenuItem, IsMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem},
    tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent},
};
use tokio::time::Instant;

use self::{
    icon::{Glyph, Ink, Shown},
    menu::{MenuModel, NEEDS, SERVERS, WORDS},
};
use crate::{clipboard::Clipboard, serving::Serving, state::HubState, tasks::Tasks, window};

type Item = MenuItem<tauri::Wry>;
type Tick = CheckMenuItem<tauri::Wry>;
type Line = PredefinedMenuItem<tauri::Wry>;

/// The tray icon and its menu.
pub(crate) struct Tray {
    app: AppHandle,
    icon: TrayIcon,
    entries: Arc<Entries>,
    shown: Shown,
    wanted: Glyph,
    ink: Ink,
}

/// Every item the menu can ever have.
struct Entries {
    menu: Menu<tauri::Wry>,
    status: Item,
    needs_line: Line,
    needs_title: Item,
    needs: Vec<Item>,
    more_needs: Item,
    servers_line: Line,
    servers_title: Item,
    servers: Vec<Tick>,
    more_servers: Item,
    copy_line: Line,
    copy: Item,
    last_line: Line,
    open: Item,
    settings: Item,
    quit: Item,
    /// What the menu says now: clicks are read against it.
    model: Mutex<MenuModel>,
}

/// What a click means.
#[derive(Debug, PartialEq, Eq)]
enum Click {
    Look(Option<String>),
    Switch { server: String, enabled: bool },
    Copy,
    Settings,
    Quit,
}

impl Tray {
    /// Puts the icon into the tray; its files go into `directory`, where the tray reads them.
    /// The operating system may still hide it, so nothing may depend on it.
    pub(crate) fn new(app: &AppHandle, directory: &Path) -> tauri::Result<Self> {
        let entries = Arc::new(Entries::new(app)?);
        let ink = Ink::on(std::env::var("XDG_CURRENT_DESKTOP").ok().as_deref());
        let clicked = entries.clone();
        let icon = TrayIconBuilder::with_id("satchel")
            .icon(Glyph::Rest.image(ink))
            .icon_as_template(true)
            .temp_dir_path(directory)
            .tooltip("Satchel")
            .menu(&entries.menu)
            // macOS opens the menu at any click; Windows opens the window at the left one.
            .show_menu_on_left_click(cfg!(target_os = "macos"))
            .on_menu_event(move |app, event| act(app, &clicked, &event))
            .on_tray_icon_event(open_at_left_click)
            .build(app)?;
        Ok(Self { app: app.clone(), icon, entries, shown: Shown::default(), wanted: Glyph::Rest, ink })
    }

    /// Shows this state.
    pub(crate) fn show(&mut self, state: &HubState) {
        self.wanted = Glyph::of(state);
        if let Some(glyph) = self.shown.follow(self.wanted, Instant::now()) {
            warn(self.icon.set_icon_with_as_template(Some(glyph.image(self.ink)), true));
        }
        let model = MenuModel::of(state);
        if *self.entries.model() != model {
            warn(self.icon.set_tooltip(Some(&model.status)));
            let entries = self.entries.clone();
            // All at once on the thread of the menus, so that nobody sees half of it.
            warn(self.app.run_on_main_thread(move || warn(entries.become_like(model))));
        }
    }

    /// When the picture may change although the state does not.
    pub(crate) fn changes_by_itself(&self) -> Option<Instant> {
        self.shown.changes_by_itself(self.wanted)
    }
}

impl Entries {
    fn new(app: &AppHandle) -> tauri::Result<Self> {
        let item = |id: String, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
        let tick = |at| CheckMenuItem::with_id(app, format!("server-{at}"), "", true, false, None::<&str>);
        let line = || PredefinedMenuItem::separator(app);
        let entries = Self {
            menu: Menu::new(app)?,
            status: item("status".into(), "Satchel is starting", false)?,
            needs_line: line()?,
            needs_title: item("needs-title".into(), WORDS.needs_you, false)?,
            needs: (0..NEEDS).map(|at| item(format!("need-{at}"), "", true)).collect::<Result<_, _>>()?,
            more_needs: item("more-needs".into(), "", true)?,
            servers_line: line()?,
            servers_title: item("servers-title".into(), WORDS.servers, false)?,
            servers: (0..SERVERS).map(tick).collect::<Result<_, _>>()?,
            more_servers: item("more-servers".into(), "", true)?,
            copy_line: line()?,
            copy: item("copy".into(), WORDS.copy, false)?,
            last_line: line()?,
            open: item("open".into(), WORDS.open, true)?,
            settings: item("settings".into(), WORDS.settings, true)?,
            quit: item("quit".into(), WORDS.quit, true)?,
            model: Mutex::new(MenuModel::of(&HubState::Opening)),
        };
        let model = entries.model().clone();
        for item in entries.in_order(&model) {
            entries.menu.append(item)?;
        }
        Ok(entries)
    }

    fn model(&self) -> std::sync::MutexGuard<'_, MenuModel> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items this menu has, from top to bottom.
    fn in_order(&self, model: &MenuModel) -> Vec<&dyn IsMenuItem<tauri::Wry>> {
        let mut items: Vec<&dyn IsMenuItem<tauri::Wry>> = vec![&self.status];
        if !model.needs.is_empty() {
            items.push(&self.needs_line);
            items.push(&self.needs_title);
            items.extend(self.needs.iter().take(model.needs.len()).map(|item| item as &dyn IsMenuItem<_>));
            items.extend(model.more_needs.iter().map(|_| &self.more_needs as &dyn IsMenuItem<_>));
        }
        if !model.servers.is_empty() {
            items.push(&self.servers_line);
            items.push(&self.servers_title);
            items
                .extend(self.servers.iter().take(model.servers.len()).map(|item| item as &dyn IsMenuItem<_>));
            items.extend(model.more_servers.iter().map(|_| &self.more_servers as &dyn IsMenuItem<_>));
        }
        items.extend([
            &self.copy_line as &dyn IsMenuItem<_>,
            &self.copy,
            &self.last_line,
            &self.open,
            &self.settings,
            &self.quit,
        ]);
        items
    }

    /// Changes the menu in place.
    fn become_like(&self, model: MenuModel) -> tauri::Result<()> {
        self.status.set_text(plain(&model.status))?;
        for (item, need) in self.needs.iter().zip(&model.needs) {
            item.set_text(plain(&need.label))?;
        }
        for (item, line) in self.servers.iter().zip(&model.servers) {
            item.set_text(plain(&line.label))?;
            item.set_checked(line.enabled)?;
        }
        for (item, text) in [(&self.more_needs, &model.more_needs), (&self.more_servers, &model.more_servers)]
        {
            item.set_text(text.as_deref().unwrap_or_default())?;
        }
        self.copy.set_enabled(model.can_copy)?;
        let before = std::mem::replace(&mut *self.model(), model.clone());
        self.rearrange(&self.in_order(&before), &self.in_order(&model))
    }

    /// Takes out what is no longer there, then puts in what is new, each at its place.
    fn rearrange(
        &self,
        before: &[&dyn IsMenuItem<tauri::Wry>],
        after: &[&dyn IsMenuItem<tauri::Wry>],
    ) -> tauri::Result<()> {
        let has = |items: &[&dyn IsMenuItem<tauri::Wry>], item: &dyn IsMenuItem<tauri::Wry>| {
            items.iter().any(|other| other.id() == item.id())
        };
        for item in before.iter().filter(|item| !has(after, **item)) {
            self.menu.remove(*item)?;
        }
        for (at, item) in after.iter().enumerate().filter(|(_, item)| !has(before, **item)) {
            self.menu.insert(*item, at)?;
        }
        Ok(())
    }

    /// The tick follows the state, not the click: the system has turned it already, so it is turned back.
    fn restore_ticks(&self) {
        let model = self.model().clone();
        for (item, line) in self.servers.iter().zip(&model.servers) {
            warn(item.set_checked(line.enabled));
        }
    }

    fn meaning(&self, id: &str) -> Option<Click> {
        let model = self.model();
        if let Some(at) = slot(id, "need-") {
            return model.needs.get(at).map(|need| Click::Look(Some(place_of(&need.server))));
        }
        if let Some(at) = slot(id, "server-") {
            let line = model.servers.get(at)?;
            return Some(Click::Switch { server: line.server.clone(), enabled: !line.enabled });
        }
        Some(match id {
            "open" => Click::Look(None),
            "more-needs" | "more-servers" => Click::Look(Some("/servers".into())),
            "copy" => Click::Copy,
            "settings" => Click::Settings,
            "quit" => Click::Quit,
            _ => return None,
        })
    }
}

fn slot(id: &str, kind: &str) -> Option<usize> {
    id.strip_prefix(kind)?.parse().ok()
}

/// Where the window shows this server; its name may have any letters.
fn place_of(server: &str) -> String {
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

/// Menus read `&` as the mark of an access key; ours are names.
fn plain(text: &str) -> String {
    text.replace('&', "&&")
}

fn act(app: &AppHandle, entries: &Arc<Entries>, event: &MenuEvent) {
    let Some(click) = entries.meaning(event.id().as_ref()) else { return };
    let app = app.clone();
    let serving = app.state::<Serving>().inner().clone();
    let tasks = app.state::<Tasks>().inner().clone();
    match click {
        Click::Look(place) => tasks.spawn(async move { window::show(&app, place.as_deref()) }),
        Click::Settings => tasks.spawn(async move { window::show(&app, Some("/settings")) }),
        Click::Switch { server, enabled } => {
            entries.restore_ticks();
            tasks.spawn(switch(app, serving, server, enabled));
        }
        Click::Copy => copy_address(&app, &serving),
        Click::Quit => tasks.spawn(async move { serving.quit().await }),
    }
}

/// What fails from the tray is shown in the window; never nothing.
async fn switch(app: AppHandle, serving: Serving, server: String, enabled: bool) {
    let place = place_of(&server);
    let wish = Wish::Change(Change::SetEnabled { name: server, enabled });
    if let Err(refusal) = serving.fulfil(wish).await {
        tracing::warn!("the switch in the tray did not move: {refusal}");
        window::show(&app, Some(&place));
    }
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

/// The hub's state in words, as the first line of the menu says it.
pub(crate) fn status(state: &HubState) -> String {
    MenuModel::of(state).status
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
    fn any_name_leads_to_its_place() {
        assert_eq!(place_of("github"), "/servers/github");
        assert_eq!(place_of("My Hub #1"), "/servers/My%20Hub%20%231");
        assert_eq!(place_of("é"), "/servers/%C3%A9");
    }

    #[test]
    fn an_ampersand_is_a_letter() {
        assert_eq!(plain("R&D — asleep"), "R&&D — asleep");
    }
}
