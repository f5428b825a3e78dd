//! The words of embedded languages, for colours.

use crate::Ide;
use crate::facts::is_chart_template;
use crate::place::Place;
use crate::scan;
use purlin_syntax::{FileId, Source};
use purlin_value::path;
use std::ops::Range;

/// The kinds of tokens; a token's kind is an index into this list.
pub const TOKEN_KINDS: &[&str] =
    &["keyword", "function", "variable", "property", "string", "number", "operator", "comment"];

const KEYWORD: usize = 0;
const FUNCTION: usize = 1;
const VARIABLE: usize = 2;
const PROPERTY: usize = 3;
const STRING: usize = 4;
const NUMBER: usize = 5;
const OPERATOR: usize = 6;

/// A word of an embedded language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its location.
    pub place: Place,
    /// Its index in [`TOKEN_KINDS`].
    pub kind: usize,
}

const WORDS: &[&str] = &[
    "if", "else", "end", "range", "with", "define", "template", "block", "for", "in", "not", "and", "or", "is", "true",
    "false", "null", "nil", "set", "endif", "endfor", "elif", "break", "continue",
];

impl Ide {
    /// The words of all expressions of a file, in order.
    pub fn tokens(&self, file: &str) -> Vec<Token> {
        let file = path::normalize(file);
        let Some(text) = self.text(&file) else { return Vec::new() };
        let is_garden = purlin_garden::files::is_config_file(path::file_name(&file));
        let ranges = match is_garden && !is_chart_template(&file) {
            true => scan::expressions(&text, 0..text.len()),
            false => scan::go_actions(&text),
        };
        let source = Source::new(FileId(0), file.as_str(), text.clone());
        let mut tokens = Vec::new();
        for range in ranges {
            for (bytes, kind) in words(&text, range, !is_garden) {
                // A multi-line token would have to be split; such strings are rare.
                if !text[bytes.clone()].contains('\n') {
                    tokens.push(Token { place: Place::of(&source, bytes), kind });
                }
            }
        }
        tokens
    }
}

fn words(text: &str, range: Range<usize>, spaced_calls: bool) -> Vec<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = range.start;
    let mut first = true;
    while at < range.end {
        let byte = bytes[at];
        let start = at;
        let kind = match byte {
            b'"' | b'\'' | b'`' => {
                at = (at + 1..range.end)
                    .find(|&end| bytes[end] == byte && bytes[end - 1] != b'\\')
                    .map_or(range.end, |end| end + 1);
                Some(STRING)
            }
            b'0'..=b'9' => {
                at = (at..range.end)
                    .find(|&end| !bytes[end].is_ascii_digit() && bytes[end] != b'.')
                    .unwrap_or(range.end);
                Some(NUMBER)
            }
            _ if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') => {
                let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                at = (at + 1..range.end).find(|&end| !is_word(bytes[end])).unwrap_or(range.end);
                let word = &text[start..at];
                let after_dot = start > range.start && bytes[start - 1] == b'.';
                Some(match () {
                    () if after_dot => PROPERTY,
                    () if byte == b'$' => VARIABLE,
                    () if WORDS.contains(&word) => KEYWORD,
                    () if bytes.get(at) == Some(&b'(') => FUNCTION,
                    () if spaced_calls && first && purlin_gotmpl::funcs::find(word).is_some() => FUNCTION,
                    () => VARIABLE,
                })
            }
            b'|' | b'=' | b'!' | b'&' | b'?' | b'+' | b'*' | b'/' | b'<' | b'>' => {
                at += 1;
                Some(OPERATOR)
            }
            _ => {
                at += 1;
                while at < range.end && !text.is_char_boundary(at) {
                    at += 1;
                }
                None
            }
        };
        // A function of a Go template begins a command: after a pipe, a parenthesis, a keyword.
        first = match kind {
            Some(KEYWORD | OPERATOR) => true,
            Some(_) => false,
            None => first || matches!(byte, b'(' | b'-'),
        };
        found.extend(kind.map(|kind| (start..at, kind)));
    }
    found
}
