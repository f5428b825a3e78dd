//! Template text to tokens.

use super::arithmetic::TOO_LARGE;
use crate::error::{Error, Kind, Result};
use ecow::EcoString;
use purlin_syntax::Message;

/// The delimiters of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiters {
    /// `{{`
    pub variable_start: EcoString,
    /// `}}`
    pub variable_end: EcoString,
    /// `{%`
    pub block_start: EcoString,
    /// `%}`
    pub block_end: EcoString,
    /// `{#`
    pub comment_start: EcoString,
    /// `#}`
    pub comment_end: EcoString,
    /// Whether the line break after a block is dropped.
    pub trim_blocks: bool,
    /// Whether blanks before a block are dropped.
    pub lstrip_blocks: bool,
}

impl Default for Delimiters {
    fn default() -> Self {
        Delimiters {
            variable_start: "{{".into(),
            variable_end: "}}".into(),
            block_start: "{%".into(),
            block_end: "%}".into(),
            comment_start: "{#".into(),
            comment_end: "#}".into(),
            trim_blocks: false,
            lstrip_blocks: false,
        }
    }
}

impl Delimiters {
    /// Sets one by its Jinja2 name; false if the name is unknown.
    pub fn set(&mut self, name: &str, value: &str) -> bool {
        let field = match name {
            "variable_start_string" => &mut self.variable_start,
            "variable_end_string" => &mut self.variable_end,
            "block_start_string" => &mut self.block_start,
            "block_end_string" => &mut self.block_end,
            "comment_start_string" => &mut self.comment_start,
            "comment_end_string" => &mut self.comment_end,
            "trim_blocks" => {
                self.trim_blocks = is_true(value);
                return true;
            }
            "lstrip_blocks" => {
                self.lstrip_blocks = is_true(value);
                return true;
            }
            _ => return false,
        };
        if !value.is_empty() {
            *field = value.into();
        }
        true
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "1")
}

/// A token and where it is.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// Text outside of delimiters.
    Text(EcoString),
    /// `{{`
    VariableStart,
    /// `}}`
    VariableEnd,
    /// `{%`
    BlockStart,
    /// `%}`
    BlockEnd,
    /// A name or keyword.
    Name(EcoString),
    /// A string literal.
    Str(EcoString),
    /// An integer.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// An operator or bracket.
    Op(&'static str),
}

const OPERATORS: &[&str] = &[
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[", "]", "{", "}", ".",
    ",", ":", "|", ";",
];

/// Splits a template into tokens.
pub fn tokens(text: &str, marks: &Delimiters) -> Result<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, marks, out: Vec::new(), trim_next: Trim::No, keeps_backslashes: false };
    lexer.run()?;
    Ok(lexer.out)
}

#[derive(PartialEq, Clone, Copy)]
enum Trim {
    No,
    /// All blanks after a `-%}`.
    All,
    /// One line break after a block.
    Line,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    marks: &'t Delimiters,
    out: Vec<Token>,
    trim_next: Trim,
    /// Whether backslashes in string literals mean themselves: Ansible doubles them in `{{ }}`, not in `{% %}`.
    keeps_backslashes: bool,
}

enum Mark {
    Variable,
    Block,
    Comment,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<()> {
        while self.at < self.text.len() {
            let Some((start, mark)) = self.next_mark() else {
                self.push_text(self.text.len(), Before::Nothing);
                return Ok(());
            };
            let length = self.mark_length(&mark);
            let sign = self.text.as_bytes().get(start + length).copied();
            let before = match (sign, &mark) {
                (Some(b'-'), _) => Before::StripAll,
                (Some(b'+'), _) | (_, Mark::Variable) => Before::Nothing,
                _ if self.marks.lstrip_blocks => Before::StripLine,
                _ => Before::Nothing,
            };
            self.push_text(start, before);
            self.at = start + length;
            if matches!(sign, Some(b'-' | b'+')) {
                self.at += 1;
            }
            match mark {
                Mark::Comment => self.comment(start)?,
                Mark::Variable => self.inside(start, true)?,
                Mark::Block => {
                    if !self.raw(start)? {
                        self.inside(start, false)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn mark_length(&self, mark: &Mark) -> usize {
        match mark {
            Mark::Variable => self.marks.variable_start.len(),
            Mark::Block => self.marks.block_start.len(),
            Mark::Comment => self.marks.comment_start.len(),
        }
    }

    /// The nearest delimiter; of several at one place the longest.
    fn next_mark(&self) -> Option<(usize, Mark)> {
        let rest = self.rest();
        let find = |mark: &str| rest.find(mark).map(|at| (at, mark.len()));
        let candidates = [
            (find(&self.marks.variable_start), Mark::Variable),
            (find(&self.marks.block_start), Mark::Block),
            (find(&self.marks.comment_start), Mark::Comment),
        ];
        let found = candidates.into_iter().filter_map(|(place, mark)| place.map(|(at, len)| (at, len, mark)));
        let (at, _, mark) = found.min_by_key(|(at, len, _)| (*at, usize::MAX - *len))?;
        Some((self.at + at, mark))
    }

    fn push_text(&mut self, end: usize, before: Before) {
        let mut text = self.text.get(self.at..end).unwrap_or("");
        text = match self.trim_next {
            Trim::All => text.trim_start(),
            Trim::Line => text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text),
            Trim::No => text,
        };
        self.trim_next = Trim::No;
        text = match before {
            Before::StripAll => text.trim_end(),
            Before::StripLine => {
                let kept = text.trim_end_matches([' ', '\t']);
                if kept.is_empty() || kept.ends_with('\n') { kept } else { text }
            }
            Before::Nothing => text,
        };
        if !text.is_empty() {
            self.push(TokenKind::Text(text.into()), self.at, end);
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
        self.out.push(Token { kind, start: clamp(start), end: clamp(end) });
    }

    fn error(&self, start: usize, end: usize, message: impl Into<Message>) -> Box<Error> {
        self.place(Error::new(Kind::Syntax, message), start, end)
    }

    fn place(&self, error: Box<Error>, start: usize, end: usize) -> Box<Error> {
        let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
        error.at(clamp(start), clamp(end)).within(self.text)
    }

    /// Why digits are not a number; numbers that are too large are not silently rounded.
    fn wrong_number(&self, start: usize, error: &std::num::ParseIntError) -> Box<Error> {
        match error.kind() {
            std::num::IntErrorKind::PosOverflow => self.place(Error::new(Kind::Limit, TOO_LARGE), start, self.at),
            _ => self.error(start, self.at, "not a number"),
        }
    }

    fn comment(&mut self, start: usize) -> Result<()> {
        let Some(end) = self.rest().find(self.marks.comment_end.as_str()) else {
            return Err(self.error(start, start + 2, "the comment is not closed").hint("add `#}`"));
        };
        let body_end = self.at + end;
        if self.text.get(..body_end).is_some_and(|text| text.ends_with('-')) {
            self.trim_next = Trim::All;
        } else if self.marks.trim_blocks {
            self.trim_next = Trim::Line;
        }
        self.at = body_end + self.marks.comment_end.len();
        Ok(())
    }

    /// `{% raw %}…{% endraw %}`; false if this block is something else.
    fn raw(&mut self, start: usize) -> Result<bool> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        let Some(after) = trimmed.strip_prefix("raw") else {
            return Ok(false);
        };
        let after = after.trim_start();
        let (after, strip) = match after.strip_prefix('-') {
            Some(after) => (after, true),
            None => (after.strip_prefix('+').unwrap_or(after), false),
        };
        let Some(body) = after.strip_prefix(self.marks.block_end.as_str()) else {
            return Ok(false);
        };
        let body_start = self.text.len() - body.len();
        let Some((length, strip_end, next)) = self.end_of_raw(body) else {
            return Err(self.error(start, start + 2, "`raw` is not closed by `endraw`"));
        };
        let mut text = body.get(..length).unwrap_or("");
        if strip {
            text = text.trim_start();
        }
        if strip_end {
            text = text.trim_end();
        }
        let text: EcoString = text.into();
        self.push(TokenKind::Text(text), body_start, body_start + length);
        self.at = body_start + next;
        Ok(true)
    }

    /// The length of a raw body, whether blanks at its end are dropped, and the end of the block.
    fn end_of_raw(&self, body: &str) -> Option<(usize, bool, usize)> {
        let mut from = 0;
        while let Some(found) = body.get(from..)?.find(self.marks.block_start.as_str()) {
            let at = from + found;
            let inner = body.get(at + self.marks.block_start.len()..)?;
            let (inner, strip) = match inner.strip_prefix('-') {
                Some(inner) => (inner, true),
                None => (inner, false),
            };
            if let Some(rest) = inner.trim_start().strip_prefix("endraw") {
                let rest = rest.trim_start();
                let rest = rest.strip_prefix('-').unwrap_or(rest);
                if let Some(rest) = rest.strip_prefix(self.marks.block_end.as_str()) {
                    return Some((at, strip, body.len() - rest.len()));
                }
            }
            from = at + self.marks.block_start.len();
        }
        None
    }

    /// The tokens between delimiters.
    fn inside(&mut self, start: usize, variable: bool) -> Result<()> {
        let (open, end_mark, close, what) = if variable {
            (TokenKind::VariableStart, self.marks.variable_end.clone(), TokenKind::VariableEnd, "print statement")
        } else {
            (TokenKind::BlockStart, self.marks.block_end.clone(), TokenKind::BlockEnd, "statement block")
        };
        self.keeps_backslashes = variable && self.marks.variable_start == "{{";
        self.push(open, start, self.at);
        let mut brackets: Vec<&'static str> = Vec::new();
        loop {
            let skipped = self.rest().len() - self.rest().trim_start().len();
            self.at += skipped;
            if self.rest().is_empty() {
                let message = format!("unexpected end of template, expected 'end of {what}'.");
                let (mark, close) = if variable { ("{{", "}}") } else { ("{%", "%}") };
                let error = self.error(start, self.text.len(), message);
                return Err(error.plain(format!("this `{mark}` is never closed")).hint(format!("add `{close}`")));
            }
            if brackets.is_empty() && self.end_mark(&end_mark, &close, variable) {
                return Ok(());
            }
            self.token(&mut brackets)?;
        }
    }

    fn end_mark(&mut self, mark: &str, close: &TokenKind, variable: bool) -> bool {
        let rest = self.rest();
        let (rest, strip) = match rest.strip_prefix('-') {
            Some(after) if after.starts_with(mark) => (after, true),
            _ => (rest, false),
        };
        if !rest.starts_with(mark) {
            return false;
        }
        let start = self.at;
        self.at += usize::from(strip) + mark.len();
        self.trim_next = match (strip, variable, self.marks.trim_blocks) {
            (true, ..) => Trim::All,
            (false, false, true) => Trim::Line,
            _ => Trim::No,
        };
        self.push(close.clone(), start, self.at);
        true
    }

    fn token(&mut self, brackets: &mut Vec<&'static str>) -> Result<()> {
        let start = self.at;
        let first = self.rest().chars().next().unwrap_or(' ');
        if first == '\'' || first == '"' {
            return self.string(first);
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first.is_alphabetic() || first == '_' {
            let rest = self.rest();
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let name: EcoString = rest.get(..end).unwrap_or("").into();
            self.at += end;
            self.push(TokenKind::Name(name), start, self.at);
            return Ok(());
        }
        let Some(op) = OPERATORS.iter().find(|op| self.rest().starts_with(**op)) else {
            return Err(self.error(start, start + first.len_utf8(), format!("unexpected char '{first}'")));
        };
        match *op {
            "(" | "[" | "{" => brackets.push(op),
            ")" | "]" | "}" => {
                brackets.pop();
            }
            _ => {}
        }
        self.at += op.len();
        self.push(TokenKind::Op(op), start, self.at);
        Ok(())
    }

    fn string(&mut self, mark: char) -> Result<()> {
        let start = self.at;
        let mut out = String::new();
        let body = self.text.get(start + 1..).unwrap_or("");
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            if c == mark {
                self.at = start + 1 + at + 1;
                self.push(TokenKind::Str(out.into()), start, self.at);
                return Ok(());
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let Some((_, escaped)) = chars.next() else { break };
            if self.keeps_backslashes && escaped != mark {
                out.extend(['\\', escaped]);
                continue;
            }
            unescape(escaped, &mut chars, &mut out);
        }
        Err(self.error(start, start + 1, "the string is not closed").hint("add `'`"))
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        let rest = self.rest();
        let lower = rest.get(..2).unwrap_or("").to_ascii_lowercase();
        let radix = match lower.as_str() {
            "0x" => 16,
            "0o" => 8,
            "0b" => 2,
            _ => 10,
        };
        if radix != 10 {
            let body = rest.get(2..).unwrap_or("");
            let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(body.len());
            let digits = body.get(..end).unwrap_or("").replace('_', "");
            self.at += 2 + end;
            let number = i64::from_str_radix(&digits, radix);
            let number = number.map_err(|error| self.wrong_number(start, &error))?;
            self.push(TokenKind::Int(number), start, self.at);
            return Ok(());
        }
        let (length, float) = number_length(rest);
        let digits = rest.get(..length).unwrap_or("").replace('_', "");
        self.at += length;
        let kind = if float {
            TokenKind::Float(digits.parse().map_err(|_| self.error(start, self.at, "not a number"))?)
        } else {
            let number = digits.parse::<i64>();
            TokenKind::Int(number.map_err(|error| self.wrong_number(start, &error))?)
        };
        self.push(kind, start, self.at);
        Ok(())
    }
}

enum Before {
    Nothing,
    StripAll,
    StripLine,
}

/// How many bytes of a text are a decimal number, and whether it has a fraction or exponent.
fn number_length(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    let mut float = false;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
        float = true;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
            float = true;
        }
    }
    (end, float)
}

/// Python's escapes within a string literal.
fn unescape(escaped: char, chars: &mut std::str::CharIndices<'_>, out: &mut String) {
    let hex = |count: usize, chars: &mut std::str::CharIndices<'_>| {
        let digits: String = chars.as_str().chars().take(count).collect();
        let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == count)?;
        for _ in 0..count {
            chars.next();
        }
        char::from_u32(code)
    };
    match escaped {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'v' => out.push('\u{b}'),
        'a' => out.push('\u{7}'),
        '0'..='7' => {
            let more = chars.as_str().chars().take(2).take_while(|c| ('0'..='7').contains(c));
            let digits: String = std::iter::once(escaped).chain(more).collect();
            for _ in 1..digits.len() {
                chars.next();
            }
            out.extend(u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32));
        }
        '\n' => {}
        '\\' | '\'' | '"' => out.push(escaped),
        'x' | 'u' | 'U' => {
            let count = match escaped {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            match hex(count, chars) {
                Some(c) => out.push(c),
                None => {
                    out.push('\\');
                    out.push(escaped);
                }
            }
        }
        other => {
            out.push('\\');
            out.push(other);
        }
    }
}
