//! Anchors, aliases and tags, and the calls of the builder that they belong to.

use super::Plain;
use crate::build::Properties;
use crate::tree::Style;
use ecow::EcoString;
use std::collections::HashMap;

/// Numbers of anchors by their names; later anchors have greater numbers.
#[derive(Default)]
pub(super) struct Anchors<'s> {
    last: usize,
    numbers: HashMap<&'s str, usize>,
}

impl Anchors<'_> {
    /// Anchors do not outlive their document.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }
}

/// The anchor and tag before a node.
pub(super) struct Pending {
    tag: Option<EcoString>,
    /// The number and name of its anchor.
    anchor: Option<(usize, EcoString)>,
}

impl<'s> Plain<'s, '_> {
    /// Reads an anchor and a tag before a value; returns the start of the value.
    pub(super) fn properties(&mut self, start: usize, end: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut pending = Pending { tag: None, anchor: None };
        while let Some(mark @ (b'&' | b'!')) = bytes.get(at).filter(|_| at < end) {
            let word_end = self.word_end(at + 1, end)?;
            let word = self.text.get(at + 1..word_end)?;
            match mark {
                b'&' if pending.anchor.is_none() && !word.is_empty() => {
                    self.anchors.last += 1;
                    let number = self.anchors.last;
                    self.anchors.numbers.insert(word, number);
                    pending.anchor = Some((number, EcoString::from(word)));
                }
                b'!' if pending.tag.is_none() => pending.tag = Some(tag(word)?),
                _ => return None,
            }
            at = self.skip_spaces(word_end, end);
        }
        if at > start {
            self.pending = Some(pending);
        }
        Some(at)
    }

    /// End of a name; only unambiguous names are accepted.
    fn word_end(&self, from: usize, end: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..end)?;
        let length = rest.iter().position(|&b| b == b' ').unwrap_or(rest.len());
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'!');
        rest.get(..length)?.iter().all(is_name).then_some(from + length)
    }

    /// `*name`, and nothing after it.
    pub(super) fn alias(&mut self, start: usize, end: usize) -> Option<()> {
        let after = self.word_end(start + 1, end)?;
        let number = *self.anchors.numbers.get(self.text.get(start + 1..after)?)?;
        self.pending.is_none().then_some(())?;
        self.builder.alias(number, start, after);
        self.after_value(after, end)
    }

    pub(super) fn scalar(&mut self, text: &str, style: Style, start: usize, end: usize) {
        let (properties, name) = self.take_pending();
        self.builder.scalar(text, style, start, end, properties);
        self.name(name);
    }

    pub(super) fn begin_map(&mut self, style: Style, start: usize) -> bool {
        let (properties, name) = self.take_pending();
        let opened = self.builder.begin_map(style, start, properties);
        self.name(name);
        opened
    }

    pub(super) fn begin_list(&mut self, style: Style, start: usize) -> bool {
        let (properties, name) = self.take_pending();
        let opened = self.builder.begin_list(style, start, properties);
        self.name(name);
        opened
    }

    fn take_pending(&mut self) -> (Properties, Option<EcoString>) {
        let Some(Pending { tag, anchor }) = self.pending.take() else { return (Properties::default(), None) };
        let number = anchor.as_ref().map_or(0, |(number, _)| *number);
        (Properties { tag, anchor: number }, anchor.map(|(_, name)| name))
    }

    fn name(&mut self, name: Option<EcoString>) {
        name.iter().for_each(|name| self.builder.anchor_name(name));
    }
}

/// A tag without its first `!`, in full; other forms than `!name` and `!!name` are left.
fn tag(word: &str) -> Option<EcoString> {
    let (prefix, name) = match word.strip_prefix('!') {
        Some(name) => ("tag:yaml.org,2002:", name),
        None => ("!", word),
    };
    let is_plain = !name.is_empty() && !name.contains('!');
    is_plain.then(|| EcoString::from(prefix) + name)
}
