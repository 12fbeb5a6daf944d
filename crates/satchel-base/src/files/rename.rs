//! Renames files and directories, and tries again while another program holds one for a moment.

use std::{fs, io, path::Path, time::Duration};

use crate::platform::Platform;

/// Pauses between attempts while another program holds a file: about a second in total.
const PAUSES_MS: [u64; 7] = [10, 20, 40, 80, 160, 320, 400];

/// Renames a file or directory. If another program briefly holds it open, as editors, scanners and indexers do on
/// Windows, retries for about a second.
///
/// # Errors
/// Any I/O error; nothing was renamed then.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let rename = || fs::rename(from, to);
    tried_again(Platform::current(), rename, |pause| {
        #[expect(clippy::disallowed_methods, reason = "whoever writes a file waits for the disk anyway")]
        std::thread::sleep(pause);
    })
}

fn tried_again<T>(
    platform: Platform,
    work: impl Fn() -> io::Result<T>,
    mut wait: impl FnMut(Duration),
) -> io::Result<T> {
    for pause in PAUSES_MS {
        match work() {
            Err(error) if is_hindered(platform, &error) => wait(Duration::from_millis(pause)),
            done => return done,
        }
    }
    work()
}

/// Does another program hold the file? Windows reports that in three ways, the first of which may have other reasons.
fn is_hindered(platform: Platform, error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    platform == Platform::Windows
        && matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_program_holds_for_a_moment_is_tried_again_on_windows() {
        let check = |platform, codes: &[i32], tries: usize, done: bool| {
            let (left, waited) =
                (std::cell::RefCell::new(codes.iter()), std::cell::Cell::new(Duration::ZERO));
            let tried = std::cell::Cell::new(0);
            let work = || {
                tried.set(tried.get() + 1);
                left.borrow_mut().next().map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(*code)))
            };
            let result = tried_again(platform, work, |pause| waited.set(waited.get() + pause));
            assert_eq!((tried.get(), result.is_ok()), (tries, done), "{platform:?} {codes:?}");
            waited.get()
        };
        check(Platform::Windows, &[], 1, true);
        check(Platform::Windows, &[5, 32, 33], 4, true);
        check(Platform::Windows, &[2], 1, false);
        check(Platform::Windows, &[32, 2], 2, false);
        let longest = check(Platform::Windows, &[32; 100], PAUSES_MS.len() + 1, false);
        assert_eq!(longest, Duration::from_millis(1030));
        for platform in [Platform::Linux, Platform::MacOs] {
            assert_eq!(check(platform, &[5], 1, false), Duration::ZERO);
        }
    }
}
