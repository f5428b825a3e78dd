//! Splits a template's text into tokens as Go's `text/template` does: text, delimiters with trim markers,
//! comments, words, strings, numbers. An error is a token too and ends the list.

use crate::cause::Misread;
use purlin_syntax::limits::EXPRESSION_BYTES;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    Str,
    Text,
    Variable,
    Dot,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// Whether it is a keyword, which messages print in angle brackets.
    pub fn is_keyword(self) -> bool {
        use Kind::*;
        matches!(self, Dot | Block | Break | Continue | Define | Else | End | If | Nil | Range | Template | With)
    }
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its start.
    pub start: u32,
    /// Its end.
    pub end: u32,
    /// Its line, from 1.
    pub line: u32,
}

/// The tokens of a text.
#[derive(Debug, Default)]
pub struct Tokens {
    /// The tokens; the last one is the end or an error.
    pub list: Vec<Token>,
    /// The message of the error token, if there is one.
    pub error: String,
    /// The same as data.
    pub what: Misread,
}

const KEYWORDS: &[(&str, Kind)] = &[
    ("block", Kind::Block),
    ("break", Kind::Break),
    ("continue", Kind::Continue),
    ("define", Kind::Define),
    ("else", Kind::Else),
    ("end", Kind::End),
    ("if", Kind::If),
    ("nil", Kind::Nil),
    ("range", Kind::Range),
    ("template", Kind::Template),
    ("with", Kind::With),
];

/// Splits a text into tokens; the last one is the end or an error.
pub fn lex(text: &[u8]) -> Tokens {
    let tokens = Tokens { list: Vec::with_capacity(text.len() / 4 + 2), error: String::new(), what: Misread::Other };
    let mut lexer = Lexer { text, pos: 0, start: 0, line: 1, start_line: 1, paren: 0, tokens };
    lexer.run();
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    start: usize,
    line: u32,
    start_line: u32,
    paren: u32,
    tokens: Tokens,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether a character may be part of a word.
fn is_alphanumeric(ch: char) -> bool {
    ch == '_' || ch.is_alphanumeric()
}

/// Position of the next `{{`.
fn left_delim(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', text).find(|at| text.get(at + 1) == Some(&b'{'))
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn peek_char(&self) -> Option<(char, usize)> {
        decode(self.rest())
    }

    fn emit(&mut self, kind: Kind) {
        let line = self.start_line;
        self.tokens.list.push(Token { kind, start: self.start as u32, end: self.pos as u32, line });
        self.ignore();
    }

    /// Emits a token that cannot hold a line break.
    fn emit_word(&mut self, kind: Kind) {
        let line = self.start_line;
        self.tokens.list.push(Token { kind, start: self.start as u32, end: self.pos as u32, line });
        self.start = self.pos;
    }

    /// Counts the lines that were read and starts the next token here.
    fn ignore(&mut self) {
        let read = self.text.get(self.start..self.pos).unwrap_or_default();
        self.line += match read.len() {
            // Most tokens are a few bytes long, for which setting up a search costs more than a loop.
            0..16 => read.iter().filter(|byte| **byte == b'\n').count() as u32,
            _ => memchr::memchr_iter(b'\n', read).count() as u32,
        };
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn fail(&mut self, message: impl Into<String>) {
        self.fail_as(Misread::Other, message);
    }

    fn fail_as(&mut self, what: Misread, message: impl Into<String>) {
        let (start, line) = (self.start as u32, self.start_line);
        self.tokens.list.push(Token { kind: Kind::Error, start, end: start, line });
        self.tokens.error = message.into();
        self.tokens.what = what;
    }

    fn run(&mut self) {
        loop {
            let Some(offset) = left_delim(self.rest()) else {
                self.pos = self.text.len();
                if self.pos > self.start {
                    self.emit(Kind::Text);
                }
                self.emit(Kind::Eof);
                return;
            };
            let delim = self.pos + offset;
            let trims = self.has_left_trim(delim + 2);
            let mut end = delim;
            if trims {
                while end > self.pos && self.text.get(end - 1).is_some_and(|b| is_space(*b)) {
                    end -= 1;
                }
            }
            self.pos = end;
            if self.pos > self.start {
                self.emit(Kind::Text);
            }
            self.pos = delim;
            self.ignore();
            let after = delim + 2 + if trims { 2 } else { 0 };
            if self.text.get(after..).is_some_and(|rest| rest.starts_with(b"/*")) {
                self.pos = after;
                self.ignore();
                if !self.comment() {
                    return;
                }
                continue;
            }
            self.pos = delim + 2;
            self.emit_word(Kind::LeftDelim);
            self.pos = after;
            self.ignore();
            self.paren = 0;
            if !self.action() {
                return;
            }
        }
    }

    fn has_left_trim(&self, at: usize) -> bool {
        self.text.get(at) == Some(&b'-') && self.text.get(at + 1).is_some_and(|b| is_space(*b))
    }

    /// Reads a comment; false if the list ended in an error.
    fn comment(&mut self) -> bool {
        let Some(offset) = memchr::memmem::find(self.rest().get(2..).unwrap_or_default(), b"*/") else {
            self.fail_as(Misread::OpenComment, "unclosed comment");
            return false;
        };
        self.pos += offset + 4;
        match self.right_delim() {
            None => {
                self.fail_as(Misread::OpenComment, "comment ends before closing delimiter");
                false
            }
            Some(trims) => {
                self.close(trims);
                self.ignore();
                true
            }
        }
    }

    /// Whether there is a right delimiter here, and whether it trims.
    fn right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if rest.first().is_some_and(|b| is_space(*b)) && rest.get(1..).is_some_and(|r| r.starts_with(b"-}}")) {
            return Some(true);
        }
        rest.starts_with(b"}}").then_some(false)
    }

    /// Skips the delimiter and the text it trims.
    fn close(&mut self, trims: bool) {
        self.pos += if trims { 4 } else { 2 };
        if trims {
            while self.peek_byte().is_some_and(is_space) {
                self.pos += 1;
            }
        }
    }

    /// Reads the inside of an action up to its right delimiter; false if the list ended.
    fn action(&mut self) -> bool {
        let start = self.pos;
        loop {
            if self.pos - start > EXPRESSION_BYTES {
                self.fail(format!("action is longer than {EXPRESSION_BYTES} bytes"));
                return false;
            }
            if let Some(trims) = self.right_delim() {
                if self.paren == 0 {
                    if trims {
                        self.pos += 2;
                        self.ignore();
                    }
                    self.pos += 2;
                    self.emit_word(Kind::RightDelim);
                    if trims {
                        while self.peek_byte().is_some_and(is_space) {
                            self.pos += 1;
                        }
                        self.ignore();
                    }
                    return true;
                }
                self.fail_as(Misread::OpenParenthesis, "unclosed left paren");
                return false;
            }
            let Some((ch, width)) = self.peek_char() else {
                self.fail_as(Misread::OpenAction, "unclosed action");
                return false;
            };
            if !self.token(ch, width) {
                return false;
            }
        }
    }

    /// Reads one token; false if it was an error.
    fn token(&mut self, ch: char, width: usize) -> bool {
        self.pos += width;
        match ch {
            ' ' | '\t' | '\r' | '\n' => self.space(),
            '=' => self.emit_word(Kind::Assign),
            ':' => {
                if self.peek_byte() != Some(b'=') {
                    self.fail("expected :=");
                    return false;
                }
                self.pos += 1;
                self.emit_word(Kind::Declare);
            }
            '|' => self.emit_word(Kind::Pipe),
            '"' => return self.quoted(b'"', Kind::Str, "quoted string"),
            '`' => return self.raw_quoted(),
            '$' => return self.field_or_variable(Kind::Variable),
            '\'' => return self.quoted(b'\'', Kind::CharConstant, "character constant"),
            '.' => {
                // A dot followed by a digit starts a number.
                if !self.peek_byte().is_some_and(|b| b.is_ascii_digit()) {
                    return self.field_or_variable(Kind::Field);
                }
                self.pos -= 1;
                return self.number();
            }
            '+' | '-' | '0'..='9' => {
                self.pos -= 1;
                return self.number();
            }
            '(' => {
                self.paren += 1;
                self.emit_word(Kind::LeftParen);
            }
            ')' => {
                if self.paren == 0 {
                    self.fail("unexpected right paren");
                    return false;
                }
                self.paren -= 1;
                self.emit_word(Kind::RightParen);
            }
            _ if is_alphanumeric(ch) => return self.word(),
            _ if ch.is_ascii() && !ch.is_ascii_control() => self.emit(Kind::Char),
            _ => {
                self.fail(format!("unrecognized character in action: {}", describe_rune(ch)));
                return false;
            }
        }
        true
    }

    /// A run of spaces, up to a trimming right delimiter.
    fn space(&mut self) {
        self.pos -= 1;
        while self.peek_byte().is_some_and(is_space) {
            if self.right_delim() == Some(true) {
                if self.pos == self.start {
                    return;
                }
                break;
            }
            self.pos += 1;
        }
        self.emit(Kind::Space);
    }

    fn word(&mut self) -> bool {
        self.skip_word();
        if !self.at_terminator() {
            return self.bad_character();
        }
        let word = self.text.get(self.start..self.pos).unwrap_or_default();
        let kind = match word {
            b"true" | b"false" => Kind::Bool,
            _ => KEYWORDS.iter().find(|(name, _)| name.as_bytes() == word).map_or(Kind::Identifier, |(_, kind)| *kind),
        };
        self.emit_word(kind);
        true
    }

    fn skip_word(&mut self) {
        while self.peek_byte().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            self.pos += 1;
        }
        while let Some((ch, width)) = self.peek_char() {
            if !is_alphanumeric(ch) {
                break;
            }
            self.pos += width;
        }
    }

    fn bad_character(&mut self) -> bool {
        let ch = self.peek_char().map_or('\u{0}', |(ch, _)| ch);
        self.fail(format!("bad character {}", describe_rune(ch)));
        false
    }

    fn field_or_variable(&mut self, kind: Kind) -> bool {
        if self.at_terminator() {
            // No field follows: "." or "$".
            self.emit_word(if kind == Kind::Variable { Kind::Variable } else { Kind::Dot });
            return true;
        }
        self.skip_word();
        if !self.at_terminator() {
            return self.bad_character();
        }
        self.emit_word(kind);
        true
    }

    fn at_terminator(&self) -> bool {
        match self.peek_byte() {
            None => true,
            Some(b' ' | b'\t' | b'\r' | b'\n' | b'.' | b',' | b'|' | b':' | b')' | b'(') => true,
            Some(_) => self.rest().starts_with(b"}}"),
        }
    }

    /// Reads up to the closing quote.
    fn quoted(&mut self, quote: u8, kind: Kind, what: &str) -> bool {
        loop {
            match self.peek_byte() {
                Some(b'\\') if !matches!(self.text.get(self.pos + 1), None | Some(b'\n')) => self.pos += 2,
                None | Some(b'\n' | b'\\') => {
                    self.fail_as(Misread::OpenQuote, format!("unterminated {what}"));
                    return false;
                }
                Some(byte) if byte == quote => {
                    self.pos += 1;
                    self.emit(kind);
                    return true;
                }
                Some(_) => self.pos += 1,
            }
        }
    }

    fn raw_quoted(&mut self) -> bool {
        let Some(offset) = memchr::memchr(b'`', self.rest()) else {
            self.fail("unterminated raw quoted string");
            return false;
        };
        self.pos += offset + 1;
        self.emit(Kind::RawString);
        true
    }

    fn number(&mut self) -> bool {
        if !self.scan_number() {
            let word = String::from_utf8_lossy(self.text.get(self.start..self.pos).unwrap_or_default()).into_owned();
            self.fail(format!("bad number syntax: {}", crate::quote::quote(word.as_bytes())));
            return false;
        }
        if matches!(self.peek_byte(), Some(b'+' | b'-')) {
            // Complex: 1+2i. No spaces, must end in 'i'.
            if !self.scan_number() || self.text.get(self.pos - 1) != Some(&b'i') {
                let word = self.text.get(self.start..self.pos).unwrap_or_default().to_vec();
                self.fail(format!("bad number syntax: {}", crate::quote::quote(&word)));
                return false;
            }
            self.emit(Kind::Complex);
        } else {
            self.emit_word(Kind::Number);
        }
        true
    }

    fn accept(&mut self, set: &[u8]) -> bool {
        let found = self.peek_byte().is_some_and(|b| set.contains(&b));
        if found {
            self.pos += 1;
        }
        found
    }

    fn accept_run(&mut self, set: &[u8]) {
        while self.accept(set) {}
    }

    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut digits: &[u8] = b"0123456789_";
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = b"0123456789abcdefABCDEF_";
            } else if self.accept(b"oO") {
                digits = b"01234567_";
            } else if self.accept(b"bB") {
                digits = b"01_";
            }
        }
        self.accept_run(digits);
        if self.accept(b".") {
            self.accept_run(digits);
        }
        if digits.len() == 11 && self.accept(b"eE") {
            self.accept(b"+-");
            self.accept_run(b"0123456789_");
        }
        if digits.len() == 23 && self.accept(b"pP") {
            self.accept(b"+-");
            self.accept_run(b"0123456789_");
        }
        self.accept(b"i");
        // The next character must not be alphanumeric.
        if let Some((ch, width)) = self.peek_char()
            && is_alphanumeric(ch)
        {
            self.pos += width;
            return false;
        }
        true
    }
}

/// The first character of some bytes; a bad byte is the replacement character of width 1.
pub fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let width = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return Some(('\u{FFFD}', 1)),
    };
    let ch = bytes.get(..width).and_then(|part| std::str::from_utf8(part).ok()).and_then(|text| text.chars().next());
    Some(ch.map_or(('\u{FFFD}', 1), |ch| (ch, width)))
}

/// A character as `U+0041 'A'`.
fn describe_rune(ch: char) -> String {
    if ch == '\0' || ch.is_control() {
        return format!("U+{:04X}", u32::from(ch));
    }
    format!("U+{:04X} '{}'", u32::from(ch), ch)
}
