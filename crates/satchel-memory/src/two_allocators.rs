//! Small blocks come from jemalloc, which costs a call less processor time. Large ones come from glibc, which maps each of
//! them alone: they grow without being copied, and return to the system when they are freed. With jemalloc, a result of a
//! megabyte costs twice as much processor time, or twice as much memory.
#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; the size in each layout says which of the two a block is of"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
};

use tikv_jemallocator::Jemalloc;

/// From this size in bytes, glibc maps a block alone (`MAPPED_FROM` in `memory.c`).
const LARGE: usize = 256 * 1024;

struct TwoAllocators;

#[global_allocator]
static ALLOCATOR: TwoAllocators = TwoAllocators;

const fn is_large(size: usize) -> bool {
    size >= LARGE
}

// SAFETY: Each block is allocated, grown and freed by the allocator that its size selects. A block that grows or shrinks past
// the limit is copied to the other one.
unsafe impl GlobalAlloc for TwoAllocators {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's promises are those of both.
        unsafe { if is_large(layout.size()) { System.alloc(layout) } else { Jemalloc.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's promises are those of both.
        unsafe {
            if is_large(layout.size()) { System.alloc_zeroed(layout) } else { Jemalloc.alloc_zeroed(layout) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: The size of a block's layout is the one it was allocated with.
        unsafe {
            if is_large(layout.size()) {
                System.dealloc(block, layout);
            } else {
                Jemalloc.dealloc(block, layout);
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The new size is valid for the alignment, says the caller. Both blocks have as many bytes as are copied.
        unsafe {
            match (is_large(layout.size()), is_large(size)) {
                (false, false) => Jemalloc.realloc(block, layout, size),
                (true, true) => System.realloc(block, layout, size),
                _ => {
                    let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !moved.is_null() {
                        ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_and_shrinks_past_the_limit_keeps_its_bytes() {
        let byte = |at: usize| (at * 31 % 251) as u8;
        let mut bytes = Vec::new();
        for at in 0..3 * LARGE {
            bytes.push(byte(at));
        }
        for kept in [3 * LARGE, LARGE + 1, LARGE, LARGE - 1, 7] {
            bytes.truncate(kept);
            bytes.shrink_to_fit();
            assert!(bytes.iter().enumerate().all(|(at, found)| *found == byte(at)), "{kept}");
        }
        for size in [LARGE - 1, LARGE, LARGE + 1] {
            assert!(vec![0_u8; size].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn alignment_holds_on_both_sides_of_the_limit() {
        #[repr(align(4096))]
        #[derive(Clone)]
        struct Page([u8; 4096]);
        for pages in [1, LARGE / 4096 - 1, LARGE / 4096, LARGE / 4096 + 1] {
            let mut all = vec![Page([1; 4096]); pages];
            all.reserve_exact(pages);
            assert_eq!(all.as_ptr().addr() % 4096, 0);
            assert!(all.iter().all(|page| page.0[4095] == 1));
        }
    }
}
