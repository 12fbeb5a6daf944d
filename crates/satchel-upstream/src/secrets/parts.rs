//! Splits a value that is too large for one keychain item: Windows' Credential Manager holds 1,280 characters, and
//! OAuth tokens often need more.
//!
//! The item with the value's own name then holds a head instead, which says how many parts there are and of which set. A
//! new set is written under names of its own before the head names it, so a write that is cut off leaves the old value.

use std::str::FromStr;

use super::{Secret, SecretError};

/// Maximum size of an item in Windows' Credential Manager, in UTF-16 units.
pub(super) const WINDOWS_ITEM: usize = 1280;
/// Maximum number of parts; more than any credential needs.
const MOST_PARTS: usize = 256;
/// A value that starts like this is stored as a part itself, so that a head is never mistaken for a value.
const MARK: &str = "satchel-parts:";

/// Single items by name.
pub(super) trait Items {
    fn read(&self, name: &str) -> Result<Option<Secret>, SecretError>;
    fn write(&self, name: &str, value: &Secret) -> Result<(), SecretError>;
    /// Returns whether it existed.
    fn delete(&self, name: &str) -> Result<bool, SecretError>;
}

/// A keychain with this maximum item size.
pub(super) struct Parted<'a, I> {
    pub(super) items: &'a I,
    pub(super) limit: usize,
}

/// One of the two alternating sets of parts of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    A,
    B,
}

/// The content of the item with the value's own name, if the value is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    set: Set,
    count: usize,
}

impl Set {
    fn letter(self) -> char {
        match self {
            Set::A => 'a',
            Set::B => 'b',
        }
    }

    fn other(self) -> Self {
        match self {
            Set::A => Set::B,
            Set::B => Set::A,
        }
    }

    /// Neither secrets nor internal items have a `#` in their names.
    fn part(self, name: &str, index: usize) -> String {
        format!("{name}#{}{index}", self.letter())
    }
}

impl Head {
    fn written(self) -> Secret {
        Secret::new(format!("{MARK}{}{}", self.set.letter(), self.count))
    }
}

impl FromStr for Head {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let rest = text.strip_prefix(MARK).ok_or(())?;
        let set = [Set::A, Set::B].into_iter().find(|set| rest.starts_with(set.letter())).ok_or(())?;
        let count = rest[1..].parse().ok().filter(|count| *count <= MOST_PARTS).ok_or(())?;
        Ok(Self { set, count })
    }
}

impl<I: Items> Parted<'_, I> {
    pub(super) fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let Some(item) = self.items.read(name)? else { return Ok(None) };
        let Ok(head) = item.reveal().parse::<Head>() else { return Ok(Some(item)) };
        let mut whole = zeroize::Zeroizing::new(String::new());
        for index in 0..head.count {
            let part = self.items.read(&head.set.part(name, index))?;
            let part = part.ok_or_else(|| incomplete(name, index, head.count))?;
            whole.push_str(part.reveal());
        }
        Ok(Some(Secret::new(whole.as_str())))
    }

    pub(super) fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        let before = self.head(name)?;
        if units(value.reveal()) <= self.limit && !value.reveal().starts_with(MARK) {
            self.items.write(name, value)?;
            return self.sweep(name, None);
        }
        let parts = split(value.reveal(), self.limit);
        if parts.len() > MOST_PARTS {
            let most = MOST_PARTS * self.limit;
            return Err(SecretError::Failed(format!(
                "it is longer than {most} characters; use a file instead"
            )));
        }
        let head = Head { set: before.map_or(Set::A, |before| before.set.other()), count: parts.len() };
        for (index, part) in parts.into_iter().enumerate() {
            self.items.write(&head.set.part(name, index), &Secret::new(part))?;
        }
        self.items.write(name, &head.written())?;
        self.sweep(name, Some(head))
    }

    pub(super) fn remove(&self, name: &str) -> Result<bool, SecretError> {
        let existed = self.items.delete(name)?;
        self.sweep(name, None)?;
        Ok(existed)
    }

    fn head(&self, name: &str) -> Result<Option<Head>, SecretError> {
        Ok(self.items.read(name)?.and_then(|item| item.reveal().parse().ok()))
    }

    /// Removes parts that no head references, including those of interrupted writes.
    fn sweep(&self, name: &str, head: Option<Head>) -> Result<(), SecretError> {
        for set in [Set::A, Set::B] {
            let first = head.filter(|head| head.set == set).map_or(0, |head| head.count);
            let mut end = first;
            while end < MOST_PARTS && self.items.read(&set.part(name, end))?.is_some() {
                end += 1;
            }
            // Last one first: an interruption leaves no gap that hides the rest.
            for index in (first..end).rev() {
                self.items.delete(&set.part(name, index))?;
            }
        }
        Ok(())
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Splits a text into pieces of at most `limit` UTF-16 units, at character boundaries.
fn split(text: &str, limit: usize) -> Vec<&str> {
    let (mut parts, mut start, mut size) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        if size + c.len_utf16() > limit {
            parts.push(&text[start..at]);
            (start, size) = (at, 0);
        }
        size += c.len_utf16();
    }
    parts.push(&text[start..]);
    parts
}

fn incomplete(name: &str, index: usize, count: usize) -> SecretError {
    SecretError::Failed(format!(
        "part {} of {count} of \"{name}\" is missing from the keychain; store it again",
        index + 1
    ))
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        collections::BTreeMap,
    };

    use super::*;

    const LIMIT: usize = 20;

    /// A store that rejects large items, and fails after a number of changes.
    struct Store {
        items: RefCell<BTreeMap<String, String>>,
        changes_left: Cell<usize>,
    }

    impl Store {
        fn new() -> Self {
            Self { items: RefCell::default(), changes_left: Cell::new(usize::MAX) }
        }

        fn change(&self) -> Result<(), SecretError> {
            let left = self.changes_left.get().checked_sub(1);
            self.changes_left.set(left.ok_or_else(|| SecretError::Failed("cut off".into()))?);
            Ok(())
        }

        fn names(&self) -> Vec<String> {
            self.items.borrow().keys().cloned().collect()
        }
    }

    impl Items for Store {
        fn read(&self, name: &str) -> Result<Option<Secret>, SecretError> {
            Ok(self.items.borrow().get(name).map(Secret::new))
        }
        fn write(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
            self.change()?;
            if units(value.reveal()) > LIMIT {
                return Err(SecretError::Failed("too long".into()));
            }
            self.items.borrow_mut().insert(name.to_owned(), value.reveal().to_owned());
            Ok(())
        }
        fn delete(&self, name: &str) -> Result<bool, SecretError> {
            self.change()?;
            Ok(self.items.borrow_mut().remove(name).is_some())
        }
    }

    fn parted(items: &Store) -> Parted<'_, Store> {
        Parted { items, limit: LIMIT }
    }

    fn value_of(store: &Store) -> Option<String> {
        let value = parted(store).get("key").unwrap();
        value.map(|value| value.reveal().to_owned())
    }

    #[test]
    fn a_value_of_any_size_comes_back_as_it_was() {
        let store = Store::new();
        let exact = "x".repeat(LIMIT);
        let values = [
            "short".to_owned(),
            exact.clone(),
            format!("{exact}y"),
            "🔑".repeat(LIMIT),
            format!("a{}", "🔑é".repeat(LIMIT * 3)),
            "satchel-parts:a3".to_owned(),
            "y".repeat(LIMIT * 40),
            "again short".to_owned(),
        ];
        for value in &values {
            parted(&store).set("key", &Secret::new(value)).unwrap();
            assert_eq!(value_of(&store).as_ref(), Some(value));
        }
        assert_eq!(store.names(), ["key"], "nothing of the larger values is left");
        let huge = "x".repeat(LIMIT * MOST_PARTS + 1);
        assert!(parted(&store).set("key", &Secret::new(huge)).is_err());
        assert_eq!(value_of(&store).as_deref(), Some("again short"));
    }

    #[test]
    fn removing_a_secret_removes_all_its_parts() {
        let store = Store::new();
        assert!(!parted(&store).remove("key").unwrap());
        parted(&store).set("key2", &Secret::new("another")).unwrap();
        parted(&store).set("key", &Secret::new("x".repeat(LIMIT * 5))).unwrap();
        assert!(store.names().len() > 5);
        assert!(parted(&store).remove("key").unwrap());
        assert_eq!(store.names(), ["key2"]);
        assert_eq!(value_of(&store), None);
    }

    #[test]
    fn a_write_that_is_cut_off_leaves_the_old_value_or_the_new_one() {
        let sizes = [3, LIMIT * 2, LIMIT * 5];
        for (before, after) in sizes.iter().flat_map(|before| sizes.map(|after| (*before, after))) {
            let (old, new) = ("o".repeat(before), "n".repeat(after));
            for changes in 0..40 {
                let store = Store::new();
                parted(&store).set("key", &Secret::new(&old)).unwrap();
                store.changes_left.set(changes);
                let written = parted(&store).set("key", &Secret::new(&new));
                let value = value_of(&store).unwrap();
                assert!(value == new || (value == old && written.is_err()), "{before} {after} {changes}");
                // The next write cleans up after the interrupted one.
                store.changes_left.set(usize::MAX);
                parted(&store).set("key", &Secret::new("short")).unwrap();
                assert_eq!(store.names(), ["key"], "{before} {after} {changes}");
            }
        }
    }

    #[test]
    fn a_part_that_is_gone_is_named() {
        let store = Store::new();
        parted(&store).set("key", &Secret::new("x".repeat(LIMIT * 3))).unwrap();
        store.items.borrow_mut().remove("key#a1");
        let error = parted(&store).get("key").unwrap_err().to_string();
        assert!(error.contains("part 2 of 3 of \"key\" is missing"), "{error}");
    }
}
