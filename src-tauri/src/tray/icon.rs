//! Chooses the tray's glyph and when it may change. Shape carries the state; colour only fits the panel.

use std::time::Duration;

use satchel_core::model::{ServerState, ServerView};
use tauri::{image::Image, include_image};
use tokio::time::Instant;

use crate::state::HubState;

/// Minimum time that the filled icon is shown, so that a quick call does not flicker.
const HELD: Duration = Duration::from_secs(2);

/// The variants of the icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// An outline: idle.
    Rest,
    /// Filled: a call is running.
    Busy,
    /// A dot in the corner.
    NeedsYou,
    /// A slash: the hub is paused or not serving.
    Off,
}

impl Glyph {
    /// The variant for this state.
    pub(crate) fn of(state: &HubState) -> Self {
        let Some(snapshot) = state.snapshot() else {
            return match state {
                HubState::Opening => Glyph::Rest,
                HubState::Open { .. } | HubState::Held { .. } | HubState::Stopped { .. } => Glyph::Off,
            };
        };
        let any = |is: fn(&ServerState) -> bool| snapshot.servers.iter().any(|server| is(&server.state));
        if snapshot.paused.is_some() {
            Glyph::Off
        } else if snapshot.servers.iter().any(ServerView::needs_you) {
            Glyph::NeedsYou
        } else if any(|state| matches!(state, ServerState::Ready { in_flight: 1.., .. })) {
            Glyph::Busy
        } else {
            Glyph::Rest
        }
    }

    /// Its image.
    pub(crate) fn image(self, ink: Ink) -> Image<'static> {
        match (self, ink) {
            (Glyph::Rest, Ink::Light) => include_image!("../icons/tray/rest-light.png"),
            (Glyph::Rest, Ink::Mid) => include_image!("../icons/tray/rest-mid.png"),
            (Glyph::Busy, Ink::Light) => include_image!("../icons/tray/busy-light.png"),
            (Glyph::Busy, Ink::Mid) => include_image!("../icons/tray/busy-mid.png"),
            (Glyph::NeedsYou, Ink::Light) => include_image!("../icons/tray/needs-you-light.png"),
            (Glyph::NeedsYou, Ink::Mid) => include_image!("../icons/tray/needs-you-mid.png"),
            (Glyph::Off, Ink::Light) => include_image!("../icons/tray/off-light.png"),
            (Glyph::Off, Ink::Mid) => include_image!("../icons/tray/off-mid.png"),
        }
    }
}

/// The icon's color. macOS uses only its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// For a panel that is known to be dark.
    Light,
    /// Visible on dark and light panels.
    Mid,
}

impl Ink {
    /// The color for this desktop's panel, by `XDG_CURRENT_DESKTOP`.
    pub(crate) fn on(desktop: Option<&str>) -> Self {
        const DARK: [&str; 5] = ["GNOME", "Unity", "Budgie", "pop", "X-Cinnamon"];
        let names = desktop.unwrap_or_default();
        let dark = names.split(':').any(|name| DARK.iter().any(|dark| dark.eq_ignore_ascii_case(name)));
        if dark { Ink::Light } else { Ink::Mid }
    }
}

/// The displayed variant: follows the state, but keeps the filled icon for a while. Pure; time comes in.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    glyph: Option<Glyph>,
    busy_until: Option<Instant>,
}

impl Shown {
    /// Follows the state; returns the variant if the image must change.
    pub(crate) fn follow(&mut self, wanted: Glyph, now: Instant) -> Option<Glyph> {
        if wanted == Glyph::Busy {
            self.busy_until = Some(now + HELD);
        }
        let holding = self.glyph == Some(Glyph::Busy) && self.busy_until.is_some_and(|until| now < until);
        if !holding || wanted != Glyph::Rest {
            self.busy_until = self.busy_until.filter(|_| wanted == Glyph::Busy);
            return (self.glyph.replace(wanted) != Some(wanted)).then_some(wanted);
        }
        None
    }

    /// When the variant may change without a change of the state.
    pub(crate) fn changes_by_itself(&self, wanted: Glyph) -> Option<Instant> {
        self.busy_until.filter(|_| self.glyph == Some(Glyph::Busy) && wanted == Glyph::Rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_quick_call_stays_in_view_for_a_while() {
        let mut shown = Shown::default();
        let start = Instant::now();
        assert_eq!(shown.follow(Glyph::Rest, start), Some(Glyph::Rest));
        assert_eq!(shown.follow(Glyph::Busy, start), Some(Glyph::Busy));
        assert_eq!(shown.follow(Glyph::Rest, start + HELD / 2), None);
        assert_eq!(shown.changes_by_itself(Glyph::Rest), Some(start + HELD));
        assert_eq!(shown.follow(Glyph::Rest, start + HELD), Some(Glyph::Rest));
        assert_eq!(shown.changes_by_itself(Glyph::Rest), None);
    }

    #[tokio::test(start_paused = true)]
    async fn trouble_shows_at_once() {
        let mut shown = Shown::default();
        let start = Instant::now();
        shown.follow(Glyph::Busy, start);
        assert_eq!(shown.follow(Glyph::NeedsYou, start), Some(Glyph::NeedsYou));
        assert_eq!(shown.follow(Glyph::NeedsYou, start), None);
    }

    #[test]
    fn the_ink_can_be_seen_on_the_panel() {
        assert_eq!(Ink::on(Some("ubuntu:GNOME")), Ink::Light);
        assert_eq!(Ink::on(Some("KDE")), Ink::Mid);
        assert_eq!(Ink::on(None), Ink::Mid);
    }
}
