//! Reads messages of a client, one per line. Must not know their meaning.

use std::io::{BufRead, Read, Result};

/// Maximum length of a message: no tool needs more.
const LONGEST: u64 = 1 << 20;

/// The next input of the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

/// Reads the next line that is not blank. The rest of an overlong line is skipped.
pub(super) fn next(input: &mut dyn BufRead) -> Result<Line> {
    loop {
        let mut line = Vec::new();
        if Read::take(&mut *input, LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(Line::End);
        }
        if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
            pass_over(input)?;
            return Ok(Line::TooLong);
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Line::Text(line));
        }
    }
}

fn pass_over(input: &mut dyn BufRead) -> Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_too_long_do_not_end_the_connection() {
        let long = "x".repeat(3 << 20);
        let text = format!("\n{{}}\n{long}\n  \n[]");
        let mut input = std::io::Cursor::new(text.into_bytes());
        assert_eq!(next(&mut input).ok(), Some(Line::Text(b"{}\n".to_vec())));
        assert_eq!(next(&mut input).ok(), Some(Line::TooLong));
        assert_eq!(next(&mut input).ok(), Some(Line::Text(b"[]".to_vec())));
        assert_eq!(next(&mut input).ok(), Some(Line::End));
    }
}
