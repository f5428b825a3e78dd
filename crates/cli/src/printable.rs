//! A writer for a terminal that shows control characters instead of obeying them.
//!
//! Personalities print what the original prints, byte for byte, and what a chart prints may hold anything. A pipe gets
//! it as it is; a terminal must not be driven by it.

use std::io::{Result, Write};

/// Passes text on with control characters but line ends and tabs replaced.
pub(crate) struct Printable<'w> {
    inner: &'w mut (dyn Write + Send),
    /// Whether anything is replaced.
    is_on: bool,
    /// Whether the last byte may begin a control character of two bytes.
    is_open: bool,
}

impl<'w> Printable<'w> {
    /// The same output, made safe if it is for a terminal.
    pub(crate) fn new(inner: &'w mut (dyn Write + Send), is_on: bool) -> Self {
        Printable { inner, is_on, is_open: false }
    }
}

/// What stands for a control character.
const SHOWN: &[u8] = "\u{fffd}".as_bytes();

impl Write for Printable<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if !self.is_on {
            return self.inner.write(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            // `C2 80` to `C2 9F` are control characters as well.
            if std::mem::take(&mut self.is_open) {
                match byte {
                    0x80..=0x9f => {
                        out.extend(SHOWN);
                        continue;
                    }
                    _ => out.push(0xc2),
                }
            }
            match byte {
                0xc2 => self.is_open = true,
                b'\n' | b'\t' | b'\r' => out.push(byte),
                0..0x20 | 0x7f => out.extend(SHOWN),
                _ => out.push(byte),
            }
        }
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let mut out = Vec::new();
        let mut printable = Printable::new(&mut out, true);
        for piece in [b"a\x1b[2Jb\n\t".as_slice(), "é \u{9b}31m ".as_bytes(), b"\xc2", b"\x9b\xc2", b"\xa9\x7f"] {
            printable.write_all(piece).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd}[2Jb\n\té \u{fffd}31m \u{fffd}©\u{fffd}");
    }
}
