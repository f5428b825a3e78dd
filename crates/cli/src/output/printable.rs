//! A writer for a terminal that shows control characters instead of obeying them.
//!
//! Files, servers and commands may contain any bytes, and output repeats them. A pipe gets them unchanged; a terminal
//! must not be controlled by them. Colours pass where Purlin uses them itself.

use std::io::{Result, Write};

/// Which control characters pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// Everything: the output is not for a terminal.
    Everything,
    /// No control characters except line breaks and tabs.
    Text,
    /// Colours as well, and erasing the current line.
    Colours,
}

/// The position within a sequence of control characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Text,
    /// After `C2`: with the next byte it may be a control character.
    Half,
    /// After ESC.
    Escape,
    /// In a control sequence, whose bytes are held.
    Sequence,
}

/// Maximum length of a passed sequence.
const LONGEST: usize = 24;

/// Passes text on with control characters replaced.
pub(crate) struct Printable<'w> {
    inner: &'w mut (dyn Write + Send),
    passing: Passing,
    state: State,
    held: Vec<u8>,
}

impl<'w> Printable<'w> {
    /// The same output, made safe if it is for a terminal.
    pub(crate) fn new(inner: &'w mut (dyn Write + Send), passing: Passing) -> Self {
        Printable { inner, passing, state: State::Text, held: Vec::new() }
    }

    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text => self.plain(byte, out),
            // `C2 80` to `C2 9F` are control characters as well.
            State::Half if (0x80..=0x9f).contains(&byte) => out.extend(SHOWN),
            State::Half => {
                out.push(0xc2);
                self.plain(byte, out);
            }
            State::Escape if byte == b'[' && self.passing == Passing::Colours => {
                self.held = b"\x1b[".to_vec();
                self.state = State::Sequence;
            }
            State::Escape => {
                out.extend(SHOWN);
                self.plain(byte, out);
            }
            State::Sequence => self.in_sequence(byte, out),
        }
    }

    fn plain(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            0xc2 => self.state = State::Half,
            0x1b => self.state = State::Escape,
            b'\n' | b'\t' | b'\r' => out.push(byte),
            0..0x20 | 0x7f => out.extend(SHOWN),
            _ => out.push(byte),
        }
    }

    /// A sequence of digits that ends with `m` sets a colour, with `K` erases a line; no other passes.
    fn in_sequence(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.held.push(byte);
        match byte {
            b'0'..=b'9' | b';' if self.held.len() < LONGEST => self.state = State::Sequence,
            b'm' | b'K' => out.append(&mut self.held),
            _ => {
                out.extend(SHOWN);
                let rest = std::mem::take(&mut self.held);
                // The last byte may begin another sequence.
                out.extend(rest.iter().skip(1).take(rest.len().saturating_sub(2)));
                self.plain(byte, out);
            }
        }
    }

    /// Writes held bytes that are not continued.
    fn let_go(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text => {}
            State::Half => out.push(0xc2),
            State::Escape => out.extend(SHOWN),
            State::Sequence => {
                out.extend(SHOWN);
                out.extend(self.held.drain(..).skip(1));
            }
        }
    }
}

/// The replacement for a control character.
const SHOWN: &[u8] = "\u{fffd}".as_bytes();

impl Write for Printable<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.passing == Passing::Everything {
            return self.inner.write(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        bytes.iter().for_each(|byte| self.push(*byte, &mut out));
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

impl Drop for Printable<'_> {
    fn drop(&mut self) {
        let mut out = Vec::new();
        self.let_go(&mut out);
        // If the stream is gone, this does not matter.
        let _ = self.inner.write_all(&out);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let mut out = Vec::new();
        let mut printable = Printable::new(&mut out, Passing::Text);
        for piece in [b"a\x1b[2Jb\n\t".as_slice(), "é \u{9b}31m ".as_bytes(), b"\xc2", b"\x9b\xc2", b"\xa9\x7f"] {
            printable.write_all(piece).unwrap();
        }
        drop(printable);
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd}[2Jb\n\té \u{fffd}31m \u{fffd}©\u{fffd}");
    }

    #[test]
    fn colours_pass_and_nothing_else_does() {
        let shown = |text: &[u8]| {
            let mut out = Vec::new();
            let mut printable = Printable::new(&mut out, Passing::Colours);
            // The result is the same wherever the input is split.
            text.iter().for_each(|byte| printable.write_all(&[*byte]).unwrap());
            drop(printable);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(b"\x1b[1;31mred\x1b[0m\r\x1b[K"), "\u{1b}[1;31mred\u{1b}[0m\r\u{1b}[K");
        assert_eq!(shown(b"\x1b]0;title\x07x"), "\u{fffd}]0;title\u{fffd}x");
        assert_eq!(shown(b"\x1b[2Jx\x1b[A\x1b[?25lx"), "\u{fffd}[2Jx\u{fffd}[A\u{fffd}[?25lx");
        assert_eq!(shown(b"\x1b[3\x1b[31mx"), "\u{fffd}[3\u{1b}[31mx");
        assert_eq!(shown(b"\x1bPq\x1b\\ \xc2\x9b31m \x1b[3"), "\u{fffd}Pq\u{fffd}\\ \u{fffd}31m \u{fffd}[3");
    }
}
