//! Hints: what to do about a problem, and the change of text that does it.
//!
//! A hint that names what was meant keeps the wrong word and the right one as data. Whoever applies it ([`Diagnostic::edit`])
//! never reads a message back.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use crate::sources::Sources;
use std::fmt;
use std::ops::{Deref, Range};

/// What to do about a problem.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hint {
    /// What is shown.
    text: String,
    /// The word to replace, if that is all there is to do.
    meant: Option<Box<Meant>>,
}

/// A word that is written, and the one that was meant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Meant {
    /// What is written, without quotes.
    pub wrong: String,
    /// What was meant.
    pub right: String,
}

/// A change of text: what is at a place becomes something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

impl Hint {
    /// That another name was meant than the one that is written.
    pub fn meant(wrong: impl Into<String>, right: impl Into<String>) -> Self {
        let meant = Meant { wrong: wrong.into(), right: right.into() };
        Hint { text: meant.question(), meant: Some(Box::new(meant)) }
    }

    /// The name that was meant, if the hint is about one.
    pub fn name(&self) -> Option<&Meant> {
        self.meant.as_deref()
    }

    /// The text, for who hides secrets in it. A hint whose text was changed names nothing any more: see [`Hint::settle`].
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Forgets the name where the text does not show it as it is, because it is hidden or too long.
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

    /// Where the wrong word is in a text: all of it, all but its quotes, or the one place in a line where it is a word.
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
    /// The change that its hint asks for. None where the text at its place is not, or does not clearly hold, the word
    /// that the hint is about.
    pub fn edit(&self, sources: &Sources) -> Option<Edit> {
        let span = self.span?;
        self.edit_in(span, &*sources.get(span.file)?)
    }

    /// The same at another place where the same word is written.
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
            // The name of the node is a part of the property's, and no word there.
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
