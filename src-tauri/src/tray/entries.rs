//! The menu's items. Created once and changed in place, because a Linux tray host keeps the first menu it gets: every
//! item exists from the start and is inserted and removed as needed.

use parking_lot::{Mutex, MutexGuard};
use tauri::{
    AppHandle, Wry,
    menu::{CheckMenuItem, IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu},
};

use super::{
    menu::{MenuModel, NEEDS, PROFILES, SERVERS, Words},
    slots::Slots,
};
use crate::{language::Language, quoted, state::HubState};

/// Every item that the menu can have.
pub(crate) struct Entries {
    menu: Menu<Wry>,
    status: MenuItem<Wry>,
    saved: MenuItem<Wry>,
    needs_line: PredefinedMenuItem<Wry>,
    needs_title: MenuItem<Wry>,
    asks: MenuItem<Wry>,
    needs: Vec<MenuItem<Wry>>,
    more_needs: MenuItem<Wry>,
    servers_line: PredefinedMenuItem<Wry>,
    servers_title: MenuItem<Wry>,
    servers: Vec<CheckMenuItem<Wry>>,
    more_servers: MenuItem<Wry>,
    profile: Submenu<Wry>,
    everything: CheckMenuItem<Wry>,
    profiles_line: PredefinedMenuItem<Wry>,
    profiles: Vec<CheckMenuItem<Wry>>,
    more_profiles: MenuItem<Wry>,
    copy_line: PredefinedMenuItem<Wry>,
    copy: MenuItem<Wry>,
    pause: Submenu<Wry>,
    pauses: Vec<MenuItem<Wry>>,
    resume: MenuItem<Wry>,
    last_line: PredefinedMenuItem<Wry>,
    renew: MenuItem<Wry>,
    open: MenuItem<Wry>,
    settings: MenuItem<Wry>,
    quit: MenuItem<Wry>,
    now: Mutex<Now>,
}

/// The present content, which clicks refer to.
struct Now {
    model: MenuModel,
    needs: Slots,
    servers: Slots,
    profiles: Slots,
}

/// The meaning of a click.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Click {
    /// Open the window where it was.
    Open,
    /// Show all servers.
    List,
    /// Show one server, or what of it is held back.
    Look {
        server: String,
        held: bool,
    },
    /// Enable or disable a server.
    Switch {
        server: String,
        enabled: bool,
    },
    /// Switch the active profile, or none.
    Profile(Option<String>),
    Copy,
    Pause(Until),
    Resume,
    /// Make the window's page anew, which does not answer.
    Renew,
    Settings,
    Quit,
}

/// The duration of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    AnHour,
    Tomorrow,
    Resumed,
}

/// The pause durations, by item id.
const PAUSES: [(&str, Until); 3] =
    [("pause-hour", Until::AnHour), ("pause-tomorrow", Until::Tomorrow), ("pause-open", Until::Resumed)];

impl Until {
    fn said(self, words: &Words) -> &'static str {
        match self {
            Until::AnHour => words.hour,
            Until::Tomorrow => words.tomorrow,
            Until::Resumed => words.until_resumed,
        }
    }
}

type Items<'entries> = Vec<&'entries dyn IsMenuItem<Wry>>;

impl Entries {
    /// The menu while the hub is being opened.
    pub(crate) fn new(app: &AppHandle) -> tauri::Result<Self> {
        let item = |id: String, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
        let tick = |id: String, text| CheckMenuItem::with_id(app, id, text, true, false, None::<&str>);
        let server = |at| tick(format!("server-{at}"), "");
        let profile = |at| tick(format!("profile-{at}"), "");
        let line = || PredefinedMenuItem::separator(app);
        let language = Language::of(app);
        let words = Words::of(language);
        let pause = Submenu::with_id(app, "pause", words.pause, true)?;
        let mut pauses = Vec::new();
        for (id, until) in PAUSES {
            let until = item(id.into(), until.said(words), true)?;
            pause.append(&until)?;
            pauses.push(until);
        }
        let model = MenuModel::of(&HubState::Opening, language);
        let entries = Self {
            menu: Menu::new(app)?,
            status: item("status".into(), &model.status, false)?,
            saved: item("saved".into(), "", false)?,
            needs_line: line()?,
            needs_title: item("needs-title".into(), words.needs_you, false)?,
            asks: item("asks".into(), "", true)?,
            needs: (0..NEEDS).map(|at| item(format!("need-{at}"), "", true)).collect::<Result<_, _>>()?,
            more_needs: item("more-needs".into(), "", true)?,
            servers_line: line()?,
            servers_title: item("servers-title".into(), words.servers, false)?,
            servers: (0..SERVERS).map(server).collect::<Result<_, _>>()?,
            more_servers: item("more-servers".into(), "", true)?,
            profile: Submenu::with_id(app, "profile", words.profile, true)?,
            everything: tick("everything".into(), words.everything)?,
            profiles_line: line()?,
            profiles: (0..PROFILES).map(profile).collect::<Result<_, _>>()?,
            more_profiles: item("more-profiles".into(), "", true)?,
            copy_line: line()?,
            copy: item("copy".into(), words.copy, false)?,
            pause,
            pauses,
            resume: item("resume".into(), words.resume, true)?,
            last_line: line()?,
            renew: item("renew".into(), words.renew, true)?,
            open: item("open".into(), words.open, true)?,
            settings: item("settings".into(), words.settings, true)?,
            quit: item("quit".into(), words.quit, true)?,
            now: Mutex::new(Now {
                model,
                needs: Slots::new(NEEDS),
                servers: Slots::new(SERVERS),
                profiles: Slots::new(PROFILES),
            }),
        };
        for item in entries.in_order(&entries.now()) {
            entries.menu.append(item)?;
        }
        Ok(entries)
    }

    /// The menu to give to the tray, once.
    pub(crate) fn menu(&self) -> &Menu<Wry> {
        &self.menu
    }

    /// Updates the menu in place. Only on the main thread.
    pub(crate) fn become_like(&self, model: MenuModel) -> tauri::Result<()> {
        let mut now = self.now();
        let mut shown = (self.in_order(&now), self.in_profile(&now));
        now.needs.stand_for(&model.needs.iter().map(|need| need.server.as_str()).collect::<Vec<_>>());
        now.servers.stand_for(&model.servers.iter().map(|line| line.server.as_str()).collect::<Vec<_>>());
        let profiles = model.profiles.iter().flat_map(|choice| &choice.profiles);
        now.profiles.stand_for(&profiles.map(|line| line.name.as_str()).collect::<Vec<_>>());
        let speaks_otherwise = now.model.language != model.language;
        now.model = model;
        if speaks_otherwise {
            self.speak(Words::of(now.model.language))?;
        }
        self.rename(&now)?;
        let profile = &self.profile;
        let shelf =
            Shelf { insert: &|item, at| profile.insert(item, at), remove: &|item| profile.remove(item) };
        shelf.rearrange(&mut shown.1, &self.in_profile(&now))?;
        let menu = &self.menu;
        let shelf = Shelf { insert: &|item, at| menu.insert(item, at), remove: &|item| menu.remove(item) };
        shelf.rearrange(&mut shown.0, &self.in_order(&now))
    }

    /// Resets check marks to the state: the system has toggled the clicked one already.
    pub(crate) fn restore_ticks(&self) -> tauri::Result<()> {
        let now = self.now();
        now.model.servers.iter().try_for_each(|line| match now.servers.of(&line.server) {
            Some(slot) => self.servers[slot].set_checked(line.enabled),
            None => Ok(()),
        })?;
        self.tick_profiles(&now)
    }

    fn tick_profiles(&self, now: &Now) -> tauri::Result<()> {
        let Some(choice) = &now.model.profiles else { return Ok(()) };
        self.everything.set_checked(choice.everything)?;
        choice.profiles.iter().try_for_each(|line| match now.profiles.of(&line.name) {
            Some(slot) => self.profiles[slot].set_checked(line.active),
            None => Ok(()),
        })
    }

    /// The meaning of a click on this item; `None` if it no longer has one.
    pub(crate) fn meaning(&self, id: &str) -> Option<Click> {
        let now = self.now();
        if let Some(slot) = number(id, "need-") {
            let server = now.needs.server(slot)?;
            let need = now.model.needs.iter().find(|need| need.server == server)?;
            return Some(Click::Look { server: server.to_owned(), held: need.held });
        }
        if let Some(slot) = number(id, "server-") {
            let server = now.servers.server(slot)?;
            let line = now.model.servers.iter().find(|line| line.server == server)?;
            return Some(Click::Switch { server: server.to_owned(), enabled: !line.enabled });
        }
        if let Some(slot) = number(id, "profile-") {
            return Some(Click::Profile(Some(now.profiles.server(slot)?.to_owned())));
        }
        if let Some((_, until)) = PAUSES.iter().find(|(own, _)| *own == id) {
            return Some(Click::Pause(*until));
        }
        Some(match id {
            "resume" => Click::Resume,
            "open" | "asks" => Click::Open,
            "more-needs" | "more-servers" | "more-profiles" => Click::List,
            "everything" => Click::Profile(None),
            "copy" => Click::Copy,
            "renew" => Click::Renew,
            "settings" => Click::Settings,
            "quit" => Click::Quit,
            _ => return None,
        })
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock()
    }

    /// The items that always say the same, in another language.
    fn speak(&self, words: &Words) -> tauri::Result<()> {
        self.needs_title.set_text(words.needs_you)?;
        self.servers_title.set_text(words.servers)?;
        self.profile.set_text(words.profile)?;
        self.everything.set_text(words.everything)?;
        self.copy.set_text(words.copy)?;
        self.pause.set_text(words.pause)?;
        for (item, (_, until)) in self.pauses.iter().zip(PAUSES) {
            item.set_text(until.said(words))?;
        }
        self.resume.set_text(words.resume)?;
        self.renew.set_text(words.renew)?;
        self.open.set_text(words.open)?;
        self.settings.set_text(words.settings)?;
        self.quit.set_text(words.quit)
    }

    fn rename(&self, now: &Now) -> tauri::Result<()> {
        self.status.set_text(plain(&now.model.status))?;
        self.saved.set_text(now.model.saved.as_deref().unwrap_or_default())?;
        self.asks.set_text(plain(now.model.asks.as_deref().unwrap_or_default()))?;
        for need in &now.model.needs {
            if let Some(slot) = now.needs.of(&need.server) {
                self.needs[slot].set_text(plain(&need.label))?;
            }
        }
        for line in &now.model.servers {
            if let Some(slot) = now.servers.of(&line.server) {
                self.servers[slot].set_text(plain(&line.label))?;
                self.servers[slot].set_checked(line.enabled)?;
            }
        }
        if let Some(choice) = &now.model.profiles {
            self.profile.set_text(plain(&choice.title))?;
            for line in &choice.profiles {
                if let Some(slot) = now.profiles.of(&line.name) {
                    self.profiles[slot].set_text(plain(&line.label))?;
                }
            }
            self.more_profiles.set_text(choice.more.as_deref().unwrap_or_default())?;
            self.tick_profiles(now)?;
        }
        self.more_needs.set_text(now.model.more_needs.as_deref().unwrap_or_default())?;
        self.more_servers.set_text(now.model.more_servers.as_deref().unwrap_or_default())?;
        self.copy.set_enabled(now.model.can_copy)
    }

    /// The items of this menu, from top to bottom.
    fn in_order(&self, now: &Now) -> Items<'_> {
        let mut items: Items<'_> = vec![&self.status];
        items.extend(now.model.saved.iter().map(|_| &self.saved as &dyn IsMenuItem<Wry>));
        if !now.model.needs.is_empty() || now.model.asks.is_some() {
            items.push(&self.needs_line);
            items.push(&self.needs_title);
            items.extend(now.model.asks.iter().map(|_| &self.asks as &dyn IsMenuItem<Wry>));
            let slots = now.model.needs.iter().filter_map(|need| now.needs.of(&need.server));
            items.extend(slots.map(|slot| &self.needs[slot] as &dyn IsMenuItem<Wry>));
            items.extend(now.model.more_needs.iter().map(|_| &self.more_needs as &dyn IsMenuItem<Wry>));
        }
        if !now.model.servers.is_empty() {
            items.push(&self.servers_line);
            items.push(&self.servers_title);
            let slots = now.model.servers.iter().filter_map(|line| now.servers.of(&line.server));
            items.extend(slots.map(|slot| &self.servers[slot] as &dyn IsMenuItem<Wry>));
            items.extend(now.model.more_servers.iter().map(|_| &self.more_servers as &dyn IsMenuItem<Wry>));
        }
        items.extend(now.model.profiles.iter().map(|_| &self.profile as &dyn IsMenuItem<Wry>));
        items.push(&self.copy_line);
        items.push(&self.copy);
        items.extend(now.model.paused.map(|paused| match paused {
            true => &self.resume as &dyn IsMenuItem<Wry>,
            false => &self.pause,
        }));
        items.push(&self.last_line);
        if now.model.silent {
            items.push(&self.renew);
        }
        let last: [&dyn IsMenuItem<Wry>; 3] = [&self.open, &self.settings, &self.quit];
        items.extend(last);
        items
    }

    /// The items of the profile submenu.
    fn in_profile(&self, now: &Now) -> Items<'_> {
        let Some(choice) = &now.model.profiles else { return vec![] };
        let mut items: Items<'_> = vec![&self.everything, &self.profiles_line];
        let slots = choice.profiles.iter().filter_map(|line| now.profiles.of(&line.name));
        items.extend(slots.map(|slot| &self.profiles[slot] as &dyn IsMenuItem<Wry>));
        items.extend(choice.more.iter().map(|_| &self.more_profiles as &dyn IsMenuItem<Wry>));
        items
    }
}

/// A menu or submenu.
struct Shelf<'a> {
    insert: &'a dyn Fn(&dyn IsMenuItem<Wry>, usize) -> tauri::Result<()>,
    remove: &'a dyn Fn(&dyn IsMenuItem<Wry>) -> tauri::Result<()>,
}

impl Shelf<'_> {
    /// Removes missing items, then moves every item to its place.
    fn rearrange<'a>(&self, shown: &mut Items<'a>, wanted: &Items<'a>) -> tauri::Result<()> {
        let is = |one: &dyn IsMenuItem<Wry>, other: &dyn IsMenuItem<Wry>| one.id() == other.id();
        for at in (0..shown.len()).rev() {
            if !wanted.iter().any(|item| is(*item, shown[at])) {
                (self.remove)(shown.remove(at))?;
            }
        }
        for (at, item) in wanted.iter().enumerate() {
            if shown.get(at).is_some_and(|there| is(*there, *item)) {
                continue;
            }
            if let Some(elsewhere) = shown.iter().position(|there| is(*there, *item)) {
                (self.remove)(shown.remove(elsewhere))?;
            }
            (self.insert)(*item, at)?;
            shown.insert(at, *item);
        }
        Ok(())
    }
}

fn number(id: &str, kind: &str) -> Option<usize> {
    id.strip_prefix(kind)?.parse().ok()
}

/// Menus interpret `&` as an access key mark; names must be escaped.
fn plain(text: &str) -> String {
    quoted::line(text).replace('&', "&&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ampersand_is_a_letter() {
        assert_eq!(plain("R&D — asleep"), "R&&D — asleep");
    }
}
