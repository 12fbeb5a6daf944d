//! Memory of the process: which allocator serves it, with which settings, and giving back what an idle process holds but does
//! not use. Does not know when the program is idle.
//!
//! A test to copy: `two_allocators.rs::what_grows_and_shrinks_past_the_limit_keeps_its_bytes`.

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod two_allocators;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "declares a function in C that takes nothing and may be called at any time")]
mod in_c {
    unsafe extern "C" {
        pub(super) safe fn satchel_give_back() -> usize;
    }
}

/// Returns free memory of the heap to the system, and unmaps pages of the program and its libraries that are the same in
/// their files. Returns the number of unmapped pages.
///
/// What is needed again comes from the system's cache, one minor fault for each 64 KiB, so call this where nothing is
/// expected to run soon. Takes a millisecond or a few: call it on a
/// thread that no task waits for. Does nothing on systems other
/// than Linux with glibc.
pub fn give_back() -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        in_c::satchel_give_back()
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        0
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[cfg(test)]
mod tests {
    /// KiB of this program's file that are mapped and cannot be written.
    fn resident() -> usize {
        let program = std::env::current_exe().unwrap();
        let (mut ours, mut kib) = (false, 0);
        for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            if line.split_once('-').is_some_and(|(from, _)| u64::from_str_radix(from, 16).is_ok()) {
                ours = line.ends_with(program.to_str().unwrap()) && !line.contains(" rw");
            } else if let Some(size) = line.strip_prefix("Rss:").filter(|_| ours) {
                kib += size.trim().trim_end_matches(" kB").parse::<usize>().unwrap();
            }
        }
        kib
    }

    /// Part of the program's file, as code is.
    static READ_ONCE: [u8; 1 << 20] = [7; 1 << 20];

    #[test]
    fn an_idle_program_keeps_few_of_its_pages_and_all_that_it_wrote() {
        let written: Vec<u64> = (0..100_000).collect();
        assert!(READ_ONCE.iter().all(|byte| std::hint::black_box(*byte) == 7));
        let before = resident();
        let unmapped = super::give_back();
        let after = resident();
        // What other threads need again meanwhile does not count.
        assert!(unmapped > 0 && after + 512 < before, "{unmapped} pages; {after} KiB of {before} KiB");
        assert_eq!(written.iter().sum::<u64>(), 99_999 * 50_000);
    }
}
