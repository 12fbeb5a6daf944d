//! Assigns menu items to servers. Pure.
//!
//! A server keeps its item for as long as it is shown, so that a click means the server that was under the pointer,
//! even if the menu changed in that moment.

/// Items by number, each with its server.
#[derive(Debug, Clone)]
pub(crate) struct Slots(Vec<Option<String>>);

impl Slots {
    /// This many free items.
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// Frees the items of servers not named, and assigns free ones to new servers. There are never more names than
    /// items.
    pub(crate) fn stand_for(&mut self, servers: &[&str]) {
        for slot in &mut self.0 {
            *slot = slot.take().filter(|server| servers.contains(&server.as_str()));
        }
        for server in servers {
            if self.of(server).is_none()
                && let Some(free) = self.0.iter_mut().find(|slot| slot.is_none())
            {
                *free = Some((*server).to_owned());
            }
        }
    }

    /// The item of this server.
    pub(crate) fn of(&self, server: &str) -> Option<usize> {
        self.0.iter().position(|slot| slot.as_deref() == Some(server))
    }

    /// The server of this item.
    pub(crate) fn server(&self, slot: usize) -> Option<&str> {
        self.0.get(slot)?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_keeps_its_item_when_others_come_and_go() {
        let mut slots = Slots::new(3);
        slots.stand_for(&["a", "b", "c"]);
        assert_eq!((slots.of("a"), slots.of("b"), slots.of("c")), (Some(0), Some(1), Some(2)));
        slots.stand_for(&["c"]);
        assert_eq!((slots.of("a"), slots.of("c")), (None, Some(2)));
        slots.stand_for(&["b", "c", "d"]);
        assert_eq!((slots.of("b"), slots.of("c"), slots.of("d")), (Some(0), Some(2), Some(1)));
        assert_eq!((slots.server(1), slots.server(3)), (Some("d"), None));
    }
}
