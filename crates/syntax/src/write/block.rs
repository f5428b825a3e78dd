//! The layout of YAML block collections, shared by both YAML writers.
//!
//! It decides where lines, dashes and colons go; the spelling of scalars is left to the writer.

use super::Text;

/// The position of a list under its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ListIndent {
    /// The dashes are two columns further in than the key.
    Inside,
    /// The dashes are in the key's column.
    Flush,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Map,
}

impl Kind {
    fn empty(self) -> &'static str {
        match self {
            Kind::List => "[]",
            Kind::Map => "{}",
        }
    }
}

/// How the key of the current entry was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyForm {
    /// `key:`
    Simple,
    /// `? key` and `:` on lines of their own.
    Explicit,
}

struct Frame {
    kind: Kind,
    indent: usize,
    /// The next entry continues the current line (after `- ` or `: `) instead of starting one.
    inline: bool,
    key: KeyForm,
}

/// Position where a node begins.
enum Place {
    Root,
    /// Directly after a `-`, or after the `:` of an explicit key: a collection may start on the same line.
    Beside,
    /// After `key:`: a collection starts on the next line.
    Under,
}

/// The block layout of one stream of documents.
pub(super) struct Block {
    pub(super) text: Text,
    frames: Vec<Frame>,
    lists: ListIndent,
}

const STEP: usize = 2;

impl Block {
    pub(super) fn new(lists: ListIndent, limit: usize) -> Self {
        Block { text: Text::new(limit), frames: Vec::new(), lists }
    }

    /// Writes the separators before a scalar and returns the indentation of the scalar's further lines.
    pub(super) fn begin_scalar(&mut self) -> usize {
        if !matches!(self.begin_node(), Place::Root) {
            self.text.push(' ');
        }
        self.inner_indent()
    }

    /// Writes the separators before a key and returns the indentation of the key's further lines.
    pub(super) fn begin_key(&mut self, form: KeyForm) -> usize {
        self.begin_line();
        if form == KeyForm::Explicit {
            self.text.push_str("? ");
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.key = form;
        }
        self.inner_indent()
    }

    /// Ends a key.
    pub(super) fn end_key(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.key == KeyForm::Explicit) {
            self.begin_line();
        }
        self.text.push(':');
    }

    /// Starts a collection; an empty one is written completely, but still needs its end.
    pub(super) fn begin(&mut self, kind: Kind, len: usize) {
        if len == 0 {
            self.begin_scalar();
            self.text.push_str(kind.empty());
            self.frames.push(Frame { kind, indent: 0, inline: true, key: KeyForm::Simple });
            return;
        }
        let parent = self.frames.last().map_or(0, |frame| frame.indent);
        let (indent, inline) = match self.begin_node() {
            Place::Root => (0, true),
            Place::Beside => {
                self.text.push(' ');
                (parent + STEP, true)
            }
            Place::Under if kind == Kind::List && self.lists == ListIndent::Flush => (parent, false),
            Place::Under => (parent + STEP, false),
        };
        self.frames.push(Frame { kind, indent, inline, key: KeyForm::Simple });
    }

    /// Ends the innermost collection.
    pub(super) fn end(&mut self) {
        self.frames.pop();
    }

    /// Whether the next value is a document of its own.
    pub(super) fn at_root(&self) -> bool {
        self.frames.is_empty()
    }

    /// The indentation of the map whose `key:` was just written, if the next value comes under one.
    pub(super) fn under_key(&self) -> Option<usize> {
        let frame = self.frames.last()?;
        (frame.kind == Kind::Map && frame.key == KeyForm::Simple).then_some(frame.indent)
    }

    fn begin_node(&mut self) -> Place {
        match self.frames.last().map(|frame| (frame.kind, frame.key)) {
            None => Place::Root,
            Some((Kind::List, _)) => {
                self.begin_line();
                self.text.push('-');
                Place::Beside
            }
            Some((Kind::Map, KeyForm::Explicit)) => Place::Beside,
            Some((Kind::Map, KeyForm::Simple)) => Place::Under,
        }
    }

    fn begin_line(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        if std::mem::take(&mut frame.inline) {
            return;
        }
        let indent = frame.indent;
        if !self.text.at_line_start() {
            self.text.push('\n');
        }
        self.text.spaces(indent);
    }

    fn inner_indent(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.indent) + STEP
    }
}
