//! Byte pair encoding of one word: neighbours whose union has the lowest rank are merged, the leftmost first, until no union
//! is a token. Takes O(n log n) for n bytes.

use std::{cmp::Reverse, collections::BinaryHeap};

/// A union of two neighbours. Ordered by rank, then by position.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Union {
    rank: u32,
    start: usize,
    middle: usize,
    end: usize,
}

struct PairMerge<'bytes, Rank> {
    bytes: &'bytes [u8],
    rank: Rank,
    /// The end of the part that starts at each byte; 0 where none starts any more.
    ends: Vec<usize>,
    /// The start of the part before the one that starts at each byte.
    before: Vec<usize>,
    unions: BinaryHeap<Reverse<Union>>,
}

/// The number of tokens of a word, given the ranks of tokens. Every single byte is a token.
pub(crate) fn parts(bytes: &[u8], rank: impl Fn(&[u8]) -> Option<u32>) -> usize {
    let ends = (1..=bytes.len()).collect();
    let before = (0..bytes.len()).map(|start| start.saturating_sub(1)).collect();
    let mut word = PairMerge { bytes, rank, ends, before, unions: BinaryHeap::with_capacity(bytes.len()) };
    (0..bytes.len()).for_each(|start| word.propose(start));
    word.merge()
}

impl<Rank: Fn(&[u8]) -> Option<u32>> PairMerge<'_, Rank> {
    /// Schedules the union of the part that starts here with the next one, if it is a token.
    fn propose(&mut self, start: usize) {
        let middle = self.ends[start];
        let Some(&end) = self.ends.get(middle) else { return };
        if let Some(rank) = (self.rank)(&self.bytes[start..end]) {
            self.unions.push(Reverse(Union { rank, start, middle, end }));
        }
    }

    fn merge(mut self) -> usize {
        let mut parts = self.bytes.len();
        while let Some(Reverse(Union { start, middle, end, .. })) = self.unions.pop() {
            // One of the two was merged with another since.
            if self.ends[start] != middle || self.ends[middle] != end {
                continue;
            }
            (self.ends[start], self.ends[middle]) = (end, 0);
            if let Some(before) = self.before.get_mut(end) {
                *before = start;
            }
            parts -= 1;
            self.propose(start);
            if start > 0 {
                self.propose(self.before[start]);
            }
        }
        parts
    }
}
