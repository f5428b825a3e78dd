//! Reading characters of a template string: white space, names, numbers and string literals.
//!
//! Knows nothing of operators or segments; [`super::parse`] puts the pieces together.

use super::ast::At;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::Rule;
use purlin_syntax::what;

/// A problem of a template string, with its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The offending place.
    pub at: At,
    /// Expectation or finding.
    pub message: Message,
    /// Advice.
    pub hint: Option<&'static str>,
    /// The limit that was hit; without one it is a mistake.
    pub limit: Option<&'static Rule>,
}

/// The text of a string literal, and how its offsets relate to the text it is written in.
pub(super) struct Literal {
    pub text: EcoString,
    pub at: At,
    pub offsets: Offsets,
}

/// Maps offsets of a decoded string literal back to the text around it.
#[derive(Clone, Default, Debug)]
pub(super) struct Offsets {
    base: usize,
    /// `(offset in the literal, what to add)`, ascending; only where escapes shifted something.
    shifts: Vec<(usize, usize)>,
}

impl Offsets {
    /// Where a decoded offset is in the surrounding text.
    pub fn outer(&self, offset: usize) -> usize {
        let known = self.shifts.partition_point(|&(from, _)| from <= offset);
        let shift = known.checked_sub(1).and_then(|i| self.shifts.get(i)).map_or(0, |&(_, by)| by);
        self.base + offset + shift
    }
}

/// A position in a text.
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub pos: usize,
    offsets: Offsets,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Cursor { text, pos: 0, offsets: Offsets::default() }
    }

    /// A cursor over a decoded literal; its places are places of the surrounding text.
    pub fn nested(text: &'a str, offsets: Offsets) -> Self {
        Cursor { text, pos: 0, offsets }
    }

    pub fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or("")
    }

    pub fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    pub fn byte_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.pos + ahead).copied()
    }

    pub fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// A place in the outermost text, from local offsets.
    pub fn at(&self, start: usize, end: usize) -> At {
        At::new(self.offsets.outer(start), self.offsets.outer(end))
    }

    pub fn problem(&self, start: usize, end: usize, message: impl Into<Message>) -> Problem {
        Problem { at: self.at(start, end), message: message.into(), hint: None, limit: None }
    }

    /// Reports an expectation, with the text found instead.
    pub fn expected(&self, what: &str) -> Problem {
        let end = self.pos + self.rest().chars().next().map_or(0, char::len_utf8);
        let found = match self.rest().chars().next() {
            None => "the string ends here".to_string(),
            Some('}') => "found `}`".to_string(),
            Some(c) => format!("found `{c}`"),
        };
        let hint = self.rest().starts_with('=').then_some("compare with `==`");
        let words = format!("this template string cannot be read: expected {what}, {found}");
        Problem { hint, ..self.problem(self.pos, end, what::expected_only(what).words(words)) }
    }

    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Skips white space and comments; line breaks are allowed inside `${…}`.
    pub fn skip_space(&mut self) -> Result<(), Problem> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C) => self.pos += 1,
                Some(b'/') => {
                    if !self.skip_comment()? {
                        return Ok(());
                    }
                }
                Some(b) if b >= 0x80 => {
                    let Some(c) = self.rest().chars().next().filter(|&c| is_space(c)) else { return Ok(()) };
                    self.pos += c.len_utf8();
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<bool, Problem> {
        let rest = self.rest();
        let length = if rest.starts_with("//") {
            rest.find('\n')
        } else if let Some(body) = rest.strip_prefix("/*") {
            body.find("*/").map(|end| end + 4)
        } else {
            return Ok(false);
        };
        let Some(length) = length else {
            return Err(self.problem(
                self.pos,
                self.pos + 2,
                Message::advising("this comment in a template string is not closed", "add the closing quote"),
            ));
        };
        self.pos += length;
        Ok(true)
    }

    /// An identifier, or `None`. Pure digits count too.
    pub fn name(&mut self) -> Option<(EcoString, At)> {
        let rest = self.rest();
        let length = name_length(rest).or_else(|| digits_length(rest))?;
        let start = self.pos;
        self.pos += length;
        let raw = rest.get(..length)?;
        Some((unescape_name(raw), self.at(start, self.pos)))
    }

    /// Whether the next word is this one, not merely the beginning of a longer name.
    pub fn word(&self, word: &str) -> bool {
        let rest = self.rest();
        rest.starts_with(word) && !rest.get(word.len()..).and_then(|r| r.chars().next()).is_some_and(is_name_part)
    }

    /// A number, or `None`. `01` is not a number.
    pub fn number(&mut self) -> Option<f64> {
        let rest = self.rest();
        let (length, value) = hex_number(rest).or_else(|| decimal_number(rest))?;
        let next = rest.get(length..).and_then(|r| r.chars().next());
        if next.is_some_and(is_name_part) {
            return None;
        }
        self.pos += length;
        Some(value)
    }

    /// A quoted string literal; the cursor is at the quote.
    pub fn literal(&mut self) -> Result<Literal, Problem> {
        let start = self.pos;
        let quote = self.byte().unwrap_or(b'"') as char;
        self.pos += 1;
        let mut text = EcoString::new();
        let mut offsets = Offsets { base: self.offsets.outer(self.pos), shifts: Vec::new() };
        let body = self.pos;
        loop {
            let run = self.rest().find(['\\', quote, '\n', '\r']).unwrap_or(self.rest().len());
            text.push_str(self.rest().get(..run).unwrap_or(""));
            self.pos += run;
            match self.byte() {
                Some(b'\\') => {
                    self.escape(&mut text)?;
                    let read = self.offsets.outer(self.pos).saturating_sub(self.offsets.outer(body));
                    offsets.shifts.push((text.len(), read.saturating_sub(text.len())));
                }
                Some(b) if b as char == quote => break,
                _ => {
                    return Err(self.problem(
                        start,
                        self.pos,
                        Message::advising("this text in a template string is not closed", "add the closing quote"),
                    ));
                }
            }
        }
        self.pos += 1;
        Ok(Literal { text, at: self.at(start, self.pos), offsets })
    }

    /// One escape sequence, as in JavaScript.
    fn escape(&mut self, text: &mut EcoString) -> Result<(), Problem> {
        let start = self.pos;
        self.pos += 1;
        let Some(c) = self.rest().chars().next() else {
            return Err(self.problem(
                start,
                self.pos,
                Message::advising("this text in a template string is not closed", "add the closing quote"),
            ));
        };
        self.pos += c.len_utf8();
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{C}'),
            'v' => text.push('\u{B}'),
            '0' if !self.byte().is_some_and(|b| b.is_ascii_digit()) => text.push('\0'),
            'x' => text.push(self.code_unit(2, start)?),
            'u' => text.push(self.unicode(start)?),
            '\r' => {
                self.eat("\n");
            }
            '\n' | '\u{2028}' | '\u{2029}' => {}
            other => text.push(other),
        }
        Ok(())
    }

    /// `\uHHHH`, joining surrogate pairs; a lone surrogate becomes the replacement character.
    fn unicode(&mut self, start: usize) -> Result<char, Problem> {
        let high = self.hex(4, start)?;
        if (0xD800..0xDC00).contains(&high) && self.rest().starts_with("\\u") {
            let before = self.pos;
            self.pos += 2;
            let low = self.hex(4, start)?;
            if (0xDC00..0xE000).contains(&low) {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.pos = before;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn code_unit(&mut self, digits: usize, start: usize) -> Result<char, Problem> {
        Ok(char::from_u32(self.hex(digits, start)?).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize, start: usize) -> Result<u32, Problem> {
        let value = self
            .rest()
            .get(..digits)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|d| u32::from_str_radix(d, 16).ok());
        let Some(value) = value else {
            return Err(self.problem(start, self.pos, "this escape needs hexadecimal digits"));
        };
        self.pos += digits;
        Ok(value)
    }
}

fn is_space(c: char) -> bool {
    matches!(c, '\u{A0}' | '\u{FEFF}' | '\u{2028}' | '\u{2029}') || (c.is_whitespace() && c != '\u{85}')
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '$' | '_')
}

/// Also a dash, unlike in most languages.
pub(super) fn is_name_part(c: char) -> bool {
    is_name_start(c)
        || c.is_numeric()
        || matches!(c, '-' | '\u{200C}' | '\u{200D}' | '\u{203F}' | '\u{2040}')
        || ('\u{300}'..='\u{36F}').contains(&c)
}

fn name_length(text: &str) -> Option<usize> {
    // Nearly all names are plain, so those are read byte by byte.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    let starts = text.as_bytes().first().is_some_and(|byte| plain(byte) && *byte != b'-' && !byte.is_ascii_digit());
    let mut length = if starts { text.bytes().take_while(plain).count() } else { 0 };
    while let Some(c) = text.get(length..).and_then(|r| r.chars().next()) {
        let fits = if length == 0 { is_name_start(c) } else { is_name_part(c) };
        if fits {
            length += c.len_utf8();
        } else if let Some(escape) = name_escape(text.get(length..).unwrap_or("")) {
            length += escape;
        } else {
            break;
        }
    }
    (length > 0).then_some(length)
}

/// `\uHHHH` inside a name.
fn name_escape(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then_some(6)
}

fn unescape_name(raw: &str) -> EcoString {
    let Some((head, tail)) = raw.split_once("\\u") else { return raw.into() };
    let mut name = EcoString::from(head);
    for piece in tail.split("\\u") {
        let code = piece.get(..4).and_then(|d| u32::from_str_radix(d, 16).ok());
        name.extend(code.and_then(char::from_u32));
        name.push_str(piece.get(4..).unwrap_or(""));
    }
    name
}

fn digits_length(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    (length > 0).then_some(length)
}

fn hex_number(text: &str) -> Option<(usize, f64)> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
    let digits = digits.get(..length).filter(|d| !d.is_empty())?;
    let value = digits.bytes().fold(0.0, |sum: f64, b| sum * 16.0 + f64::from((b as char).to_digit(16).unwrap_or(0)));
    Some((length + 2, value))
}

/// `1`, `1.`, `.5`, `1.5e3`.
fn decimal_number(text: &str) -> Option<(usize, f64)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.get(from..).map_or(0, |b| b.iter().take_while(|b| b.is_ascii_digit()).count());
    let whole = digits(0);
    if whole > 1 && bytes.first() == Some(&b'0') {
        return None;
    }
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if whole == 0 && fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    let number = text.get(..length)?;
    Some((length, number.parse().ok()?))
}
