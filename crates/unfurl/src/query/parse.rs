//! Text to [`Query`], with positions. Brackets must balance; everything else that the language allows in a key is kept
//! unchanged.

use super::{Filter, Key, Note, Operand, Query, Range, Segment, Start, Test};
use crate::limits::{MAX_DEPTH, MAX_EXPRESSION, MAX_SEGMENTS};
use crate::special::Special;
use ecow::EcoString;
use purlin_syntax::Message;

/// Why a text is not a query, with the location.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntaxError {
    /// The location in the text.
    pub at: Range,
    /// The error.
    pub message: Message,
    /// Whether a limit was exceeded, rather than the grammar violated.
    pub limit: bool,
}

/// Parses a query.
pub fn parse(text: &str) -> Result<Query, SyntaxError> {
    if text.len() > MAX_EXPRESSION {
        let message = format!("the expression is longer than {MAX_EXPRESSION} bytes");
        return Err(SyntaxError { at: Range::default(), message: message.into(), limit: true });
    }
    let mut parser = Parser { text, at: 0, depth: 0, notes: Vec::new() };
    let segments = parser.path()?.segments;
    if parser.at < text.len() {
        return Err(parser.error(parser.at, parser.at + 1, "`]` without `[`"));
    }
    let mut query = begin(segments, text)?;
    query.notes = parser.notes;
    note_variable_index(&mut query);
    Ok(query)
}

/// Applies the rules of the first segment.
fn begin(mut segments: Vec<Segment>, text: &str) -> Result<Query, SyntaxError> {
    let mut start = Start::Current;
    let alone = segments.len() == 1;
    if let Some(first) = segments.first_mut() {
        match &first.key {
            Key::Empty if first.filters.is_empty() => {
                if alone || first.test.is_some() {
                    return Err(nothing(text));
                }
                start = Start::All;
                segments.remove(0);
                // `::` alone is the map of all instances.
                if let [Segment { key: Key::Empty, test: None, filters, .. }] = segments.as_slice()
                    && filters.is_empty()
                {
                    segments.clear();
                }
            }
            Key::Variable(name) => {
                start = Start::Variable(name.clone());
                first.key = Key::Empty;
                if alone {
                    segments.clear();
                }
            }
            Key::Special(..) => {}
            _ => start = Start::Ancestors,
        }
    }
    Ok(Query { start, segments, notes: Vec::new() })
}

fn nothing(text: &str) -> SyntaxError {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let message = if text.trim().is_empty() {
        "the expression is empty".to_owned()
    } else {
        format!("`{text}` selects nothing: a key or a filter is missing")
    };
    SyntaxError { at: Range { start: 0, end }, message: message.into(), limit: false }
}

/// `$list::0` applies the index to each item, which is unexpected.
fn note_variable_index(query: &mut Query) {
    if let (Start::Variable(name), [_, Segment { key: Key::Index(_), at, .. }, ..]) =
        (&query.start, query.segments.as_slice())
    {
        let message = format!("the index applies to each item of the list `${name}`, not to the list");
        query.notes.push(Note { at: *at, message });
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    notes: Vec<Note>,
}

struct Path {
    negated: bool,
    segments: Vec<Segment>,
}

impl Parser<'_> {
    fn error(&self, start: usize, end: usize, message: impl Into<Message>) -> SyntaxError {
        SyntaxError { at: range(start, end), message: message.into(), limit: false }
    }

    /// Segments up to the end or an unmatched `]`.
    fn path(&mut self) -> Result<Path, SyntaxError> {
        let mut path = Path { negated: false, segments: Vec::new() };
        loop {
            let (negated, segment) = self.segment()?;
            if path.segments.is_empty() {
                path.negated = negated;
            }
            path.segments.push(segment);
            if path.segments.len() > MAX_SEGMENTS {
                let message = format!("the query has more than {MAX_SEGMENTS} segments");
                return Err(SyntaxError { limit: true, ..self.error(self.at, self.at, message) });
            }
            if !self.rest().starts_with("::") {
                return Ok(path);
            }
            self.at += 2;
        }
    }

    fn segment(&mut self) -> Result<(bool, Segment), SyntaxError> {
        let start = self.at;
        let (negated, mut segment) = self.head();
        while self.rest().starts_with('[') {
            segment.filters.push(self.filter()?);
            self.tail(&mut segment);
        }
        segment.at = range(start, self.at);
        Ok((negated, segment))
    }

    /// The text before the first bracket.
    fn head(&mut self) -> (bool, Segment) {
        let start = self.at;
        let chunk = self.chunk();
        let text = chunk.trim();
        let (negated, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (text, first) = if negated { (text, false) } else { strip_first(text) };
        let (key, test) = split_test(text);
        if test.is_some() && (key.ends_with(' ') || text.get(key.len()..).is_some_and(blank_after_equals)) {
            let message = "blanks around `=` belong to the key and the value".to_owned();
            self.notes.push(Note { at: range(start, self.at), message });
        }
        let segment = Segment { key: key_of(key), test, first, filters: Vec::new(), at: range(start, self.at) };
        (negated, segment)
    }

    fn filter(&mut self) -> Result<Filter, SyntaxError> {
        let open = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let mut error = self.error(open, open + 1, format!("filters are nested deeper than {MAX_DEPTH}"));
            error.limit = true;
            return Err(error);
        }
        let path = self.path()?;
        self.depth -= 1;
        if !self.rest().starts_with(']') {
            let message = Message::from("`[` is not closed").hint(Some("add `]`"));
            return Err(self.error(open, open + 1, message));
        }
        self.at += 1;
        Ok(Filter { negated: path.negated, segments: path.segments })
    }

    /// The text after a filter: `?`, or a test; other text has no meaning.
    fn tail(&mut self, segment: &mut Segment) {
        let start = self.at;
        let chunk = self.chunk();
        let (text, first) = strip_first(chunk.trim());
        segment.first |= first;
        let (key, test) = split_test(text);
        if test.is_some() {
            segment.test = test;
        }
        if !key.is_empty() {
            let message = format!("`{key}` after `]` has no meaning and is ignored");
            self.notes.push(Note { at: range(start, self.at), message });
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The text up to the next bracket or `::`.
    fn chunk(&mut self) -> EcoString {
        let rest = self.rest();
        let ends = |at: &usize| {
            matches!(rest.as_bytes().get(*at), Some(b'[' | b']')) || rest.as_bytes().get(*at..*at + 2) == Some(b"::")
        };
        let end = (0..rest.len()).find(ends).unwrap_or(rest.len());
        let chunk: EcoString = rest.get(..end).unwrap_or("").into();
        self.at += chunk.len();
        chunk
    }
}

fn blank_after_equals(rest: &str) -> bool {
    rest.trim_start_matches('!').strip_prefix('=').is_some_and(|text| text.starts_with(' '))
}

fn range(start: usize, end: usize) -> Range {
    let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Range { start: clamp(start), end: clamp(end) }
}

fn strip_first(text: &str) -> (&str, bool) {
    match text.strip_suffix('?') {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

/// Splits at the first `=` or `!=`.
fn split_test(text: &str) -> (&str, Option<Test>) {
    let Some((left, right)) = text.split_once('=') else {
        return (text, None);
    };
    let (key, negated) = match left.strip_suffix('!') {
        Some(key) => (key, true),
        None => (left, false),
    };
    let operand = match right.strip_prefix('$') {
        Some(name) => Operand::Variable(name.into()),
        None => Operand::Text(right.into()),
    };
    (key, Some(Test { negated, operand }))
}

fn key_of(text: &str) -> Key {
    if text.is_empty() {
        Key::Empty
    } else if text == "*" {
        Key::All
    } else if let Some(index) = crate::python::parse_int(text) {
        Key::Index(index)
    } else if let Some(name) = text.strip_prefix('$') {
        Key::Variable(name.into())
    } else if text.starts_with('.') {
        Key::Special(Special::parse(text), text.into())
    } else {
        Key::Name(text.into())
    }
}

impl From<SyntaxError> for Box<crate::error::Error> {
    fn from(error: SyntaxError) -> Self {
        let kind = if error.limit { crate::error::Kind::Limit } else { crate::error::Kind::Syntax };
        crate::error::Error::new(kind, error.message).at(error.at.start, error.at.end)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn brackets_balance() {
        for bad in ["a[b", "a]", "]", "[", "a[b]]", "a[[b]"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let error = parse("d::x[a=1").unwrap_err();
        assert_eq!((error.at.start, error.message.to_string()), (4, "`[` is not closed".to_owned()));
    }

    #[test]
    fn first_segment_decides_the_start() {
        assert_eq!(parse("a").unwrap().start, Start::Ancestors);
        assert_eq!(parse("::a").unwrap().start, Start::All);
        assert_eq!(parse(".::a").unwrap().start, Start::Current);
        assert_eq!(parse("$v::a").unwrap().start, Start::Variable("v".into()));
        assert_eq!(parse("[a]").unwrap().start, Start::Ancestors);
        assert!(parse("::").unwrap().segments.is_empty());
        assert!(parse("").is_err());
        assert!(parse("=a").is_err());
    }

    #[test]
    fn nested_filters_stay_inside() {
        let query = parse(".[d[a=va]::b]").unwrap();
        assert_eq!(query.segments.len(), 1);
        assert_eq!(query.segments[0].filters[0].segments.len(), 2);
    }

    #[test]
    fn deep_nesting_is_a_limit() {
        let text = "a".to_owned() + &"[a".repeat(100_000);
        assert!(parse(&text).unwrap_err().limit);
    }
}
