//! Go's quoting of strings and characters, and its reverse.

use crate::lex::decode;

/// Quotes bytes as a Go string literal (`%q`).
pub fn quote(bytes: &[u8]) -> String {
    quote_with(bytes, '"', false)
}

/// Quotes bytes with this quote, optionally escaping everything but ASCII.
pub(crate) fn quote_with(bytes: &[u8], mark: char, ascii: bool) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push(mark);
    let mut at = 0;
    while let Some((ch, width)) = decode(bytes.get(at..).unwrap_or_default()) {
        if ch == '\u{FFFD}' && width == 1 {
            let byte = bytes.get(at).copied().unwrap_or_default();
            out.push_str(&format!("\\x{byte:02x}"));
        } else {
            escape_char(&mut out, ch, mark, ascii);
        }
        at += width;
    }
    out.push(mark);
    out
}

fn escape_char(out: &mut String, ch: char, mark: char, ascii: bool) {
    if ch == mark || ch == '\\' {
        out.push('\\');
        out.push(ch);
        return;
    }
    if (!ascii || ch.is_ascii()) && is_print(ch) {
        out.push(ch);
        return;
    }
    match ch {
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        _ => {
            let code = u32::from(ch);
            if code < 0x20 || code == 0x7f {
                out.push_str(&format!("\\x{code:02x}"));
            } else if code < 0x10000 {
                out.push_str(&format!("\\u{code:04x}"));
            } else {
                out.push_str(&format!("\\U{code:08x}"));
            }
        }
    }
}

/// Whether Go prints a character unescaped: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_print(ch: char) -> bool {
    let code = u32::from(ch);
    if ch.is_ascii() {
        return (0x20..0x7f).contains(&code);
    }
    if ch.is_control() || ch.is_whitespace() {
        return false;
    }
    let format = matches!(code,
        0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f
        | 0xfeff | 0xfff9..=0xfffb | 0xe000..=0xf8ff | 0xf0000..=0x10ffff | 0xe0001..=0xe007f | 0xfffe | 0xffff);
    !format
}

/// Reads a Go string or character literal with its quotes; `None` if it is malformed.
pub(crate) fn unquote(source: &[u8]) -> Option<Vec<u8>> {
    let (first, last) = (*source.first()?, *source.last()?);
    if source.len() < 2 || first != last {
        return None;
    }
    let inner = source.get(1..source.len() - 1)?;
    if first == b'`' {
        return Some(inner.iter().copied().filter(|b| *b != b'\r').collect());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while at < inner.len() {
        let byte = *inner.get(at)?;
        if byte == first || byte == b'\n' {
            return None;
        }
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        at = unescape(inner, at + 1, first, &mut out)?;
    }
    Some(out)
}

/// Reads one escape after its backslash; returns the position after it.
fn unescape(inner: &[u8], at: usize, mark: u8, out: &mut Vec<u8>) -> Option<usize> {
    let byte = *inner.get(at)?;
    let simple = match byte {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'v' => 11,
        b'\\' => b'\\',
        b'\'' | b'"' if byte == mark => byte,
        b'x' => return unescape_code(inner, at + 1, 2, 16, true, out),
        b'u' => return unescape_code(inner, at + 1, 4, 16, false, out),
        b'U' => return unescape_code(inner, at + 1, 8, 16, false, out),
        b'0'..=b'7' => return unescape_code(inner, at, 3, 8, true, out),
        _ => return None,
    };
    out.push(simple);
    Some(at + 1)
}

fn unescape_code(inner: &[u8], at: usize, len: usize, radix: u32, raw: bool, out: &mut Vec<u8>) -> Option<usize> {
    let digits = std::str::from_utf8(inner.get(at..at + len)?).ok()?;
    let code = u32::from_str_radix(digits, radix).ok()?;
    if raw {
        out.push(u8::try_from(code).ok()?);
    } else {
        let ch = char::from_u32(code)?;
        out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(at + len)
}

/// Reads a Go character literal.
pub(crate) fn unquote_char(source: &[u8]) -> Option<char> {
    if source.first() != Some(&b'\'') {
        return None;
    }
    let inner = source.get(1..source.len().checked_sub(1)?)?;
    // `\x80` and octal escapes are code points here, not bytes.
    if let Some(hex) = inner.strip_prefix(b"\\x").filter(|hex| hex.len() == 2) {
        return char::from_u32(u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
    }
    let bytes = unquote(source)?;
    let (ch, width) = decode(&bytes)?;
    (width == bytes.len()).then_some(ch)
}
