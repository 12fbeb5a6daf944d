//! The number of files, sockets included, that this process may have open. The limit in force is raised once, when the
//! hub starts; programs that the hub starts get the earlier one back, because some close every possible descriptor or
//! use `select`, and slow down or fail with a large limit.

/// The limit that the hub asks for: enough for all connections and servers. macOS allows no more than 10,240.
#[cfg(unix)]
const WANTED: u64 = 8_192;

/// The limits of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// The limit that the process was started with, where it was raised since.
    pub before: Option<u64>,
    /// The limit in force; `None` where the system has none.
    pub limit: Option<u64>,
}

impl Descriptors {
    /// Raises the limit, as far as the system allows, and returns the result.
    #[cfg(unix)]
    pub fn raised() -> Self {
        use nix::sys::resource::{Resource::RLIMIT_NOFILE, getrlimit, setrlimit};
        let Ok((soft, hard)) = getrlimit(RLIMIT_NOFILE) else { return Self::default() };
        let wanted = hard.min(WANTED);
        match soft < wanted && setrlimit(RLIMIT_NOFILE, wanted, hard).is_ok() {
            true => Self { before: Some(soft), limit: Some(wanted) },
            false => Self { before: None, limit: Some(soft) },
        }
    }

    /// Windows has no such limit.
    #[cfg(not(unix))]
    pub fn raised() -> Self {
        Self::default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use nix::sys::resource::{Resource::RLIMIT_NOFILE, getrlimit};

    use super::*;

    #[test]
    fn the_limit_in_force_is_raised_once_and_never_lowered() {
        let (soft, hard) = getrlimit(RLIMIT_NOFILE).unwrap();
        let first = Descriptors::raised();
        let now = getrlimit(RLIMIT_NOFILE).unwrap();
        assert_eq!((first.limit, hard), (Some(now.0), now.1));
        assert!(now.0 >= soft && first.before.is_none_or(|before| before == soft));
        assert_eq!(Descriptors::raised(), Descriptors { before: None, limit: Some(now.0) });
    }
}
