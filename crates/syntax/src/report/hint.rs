//! Hints: the remedy for a problem, and the text edit that applies it.
//!
//! A hint that suggests a name keeps the wrong word and the right one as data, so that applying it
//! ([`Diagnostic::edit`]) never parses a message.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use crate::sources::Sources;
use std::fmt;
use std::ops::{Deref, Range};

/// The remedy for a problem.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hint {
    /// The shown text.
    text: String,
    /// The word to replace, if that is the whole remedy.
    meant: Option<Box<Meant>>,
}

/// A written word, and the one that was meant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Meant {
    /// The written word, without quotes.
    pub wrong: String,
    /// The word that was meant.
    pub right: String,
}

/// A text edit: the text at a location is replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The replaced range.
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Hint {
    /// Suggests another name than the written one.
    pub fn meant(wrong: impl Into<String>, right: impl Into<String>) -> Self {
        let meant = Meant { wrong: wrong.into(), right: right.into() };
        Hint { text: meant.question(), meant: Some(Box::new(meant)) }
    }

    /// The suggested name, if any.
    pub fn name(&self) -> Option<&Meant> {
        self.meant.as_deref()
    }

    /// The text, for hiding secrets in it. A hint whose text was changed names nothing any more: see
    /// [`Hint::settle`].
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Drops the name if the text does not show it verbatim, because it is hidden or too long.
    pub(crate) fn settle(&mut self) {
        if self.meant.as_ref().is_some_and(|meant| meant.question() != self.text) {
            self.meant = None;
        }
    }
}

impl Meant {
    fn question(&self) -> String {
        format!("did you mean `{}`?", self.right)
    }

    /// Range of the wrong word in a text: all of it, all but its quotes, or its only occurrence as a word in a line.
    fn found_in(&self, written: &str) -> Option<Range<usize>> {
        let wrong = self.wrong.as_str();
        if wrong.is_empty() || self.right.is_empty() || self.right.contains('\n') {
            return None;
        }
        if written == wrong {
            return Some(0..written.len());
        }
        let unquoted = |mark| written.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        if let Some(inner) = unquoted('"').or_else(|| unquoted('\''))
            && inner == wrong
        {
            return Some(1..1 + inner.len());
        }
        if written.contains('\n') {
            return None;
        }
        let mut places = written.match_indices(wrong).map(|(at, _)| at..at + wrong.len());
        let is_word = |place: &Range<usize>| {
            let before = written.get(..place.start).and_then(|text| text.chars().next_back());
            let after = written.get(place.end..).and_then(|text| text.chars().next());
            ![before, after].into_iter().flatten().any(is_part_of_name)
        };
        let found = places.find(is_word)?;
        places.find(is_word).is_none().then_some(found)
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

impl Diagnostic {
    /// The edit that its hint asks for. `None` if the text at its location does not clearly contain the word that the
    /// hint names.
    pub fn edit(&self, sources: &Sources) -> Option<Edit> {
        let span = self.span?;
        self.edit_in(span, &*sources.get(span.file)?)
    }

    /// The same edit at another location where the same word is written.
    pub fn edit_in(&self, span: Span, source: &Source) -> Option<Edit> {
        let mut names = self.hints.iter().filter_map(Hint::name);
        let meant = names.next()?;
        if names.next().is_some() {
            return None;
        }
        let place = meant.found_in(source.slice(span))?;
        let start = span.start as usize;
        let span = source.span(start + place.start, start + place.end);
        Some(Edit { span, text: meant.right.clone() })
    }
}

impl Deref for Hint {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Hint { text, meant: None }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Hint {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Hint> for String {
    fn from(hint: Hint) -> Self {
        hint.text
    }
}

impl PartialEq<&str> for Hint {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_replaced_where_it_is_the_only_one() {
        let meant = |wrong: &str| Meant { wrong: wrong.to_owned(), right: "right".to_owned() };
        let cases = [
            ("app_prt", "app_prt", Some(0..7)),
            ("\"app_prt\"", "app_prt", Some(1..8)),
            ("'a'", "a", Some(1..2)),
            // The name of the node is a part of the property's, and not a word there.
            ("app_prt", "app", None),
            ("${var.prt}", "prt", Some(6..9)),
            ("${prt.prt}", "prt", None),
            ("${export.prt}", "prt", Some(9..12)),
            ("a:\n  prt: 1", "prt", None),
            ("", "a", None),
            ("é-a é", "é", Some(5..7)),
        ];
        for (written, wrong, expected) in cases {
            assert_eq!(meant(wrong).found_in(written), expected, "{wrong} in {written}");
        }
        assert_eq!(Meant { wrong: "a".into(), right: "b\nc".into() }.found_in("a"), None);
    }
}
