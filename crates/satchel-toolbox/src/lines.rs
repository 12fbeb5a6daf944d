//! Reads lines with an upper bound, because a peer that never sends a newline must not fill the memory.

use std::io::{self, BufRead, Read};

/// An item of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its line end.
    Whole(Vec<u8>),
    /// A line longer than the limit; it was skipped.
    TooLong,
    /// The end.
    End,
}

/// Reads the next line of at most `limit` bytes. A last line without a newline counts.
pub(crate) fn read_line(input: &mut dyn BufRead, limit: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let taken = input.take(limit as u64 + 1).read_until(b'\n', &mut line)?;
    if taken == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if taken > limit {
        skip_rest(input)?;
        return Ok(Line::TooLong);
    }
    Ok(Line::Whole(line))
}

fn skip_rest(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, done) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let text = b"short\n0123456789\n01234567890\n\nlast";
        let mut input = io::BufReader::with_capacity(4, text.as_slice());
        let mut lines = Vec::new();
        loop {
            match read_line(&mut input, 10).unwrap() {
                Line::End => break,
                line => lines.push(line),
            }
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("short"), whole("0123456789"), Line::TooLong, whole(""), whole("last")]);
    }
}
