//! Writes a changed document back into its file: the surroundings and its comments are kept.
//!
//! Used by `fix` and by the editing commands. A comment belongs to the key or item after it, or on the same line; a
//! comment whose key was removed moves to the end of the document. It must not know why a document changed.

use crate::editions::Edition;
use crate::emit::{Finish, Out, section};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::{Item, View};
use purlin_syntax::write::{Emit, YamlWriter};
use purlin_syntax::{Node, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The text of a changed document, with the comments of the document it was.
pub fn document(root: Node<'_>, item: &Item<'_>, edition: Edition) -> String {
    let mut out = Commented { comments: Comments::of(root), ..Commented::default() };
    let finish = Finish { edition, ..Finish::default() };
    section(item.view(), &SKAFFOLD_CONFIG, &finish, &mut out);
    out.finish()
}

/// Extent of a document in its file, a comment at the end of its last line included.
pub fn extent(root: Node<'_>) -> Span {
    let span = root.span();
    let source = root.tree().source();
    let is_last = |comment: &&purlin_syntax::tree::Comment| {
        let between = source.text().get(span.end as usize..comment.span.start as usize);
        comment.trailing && between.is_some_and(|between| !between.contains('\n'))
    };
    match root.tree().comments().iter().find(is_last) {
        Some(comment) => Span { end: comment.span.end, ..span },
        None => span,
    }
}

/// A text with some spans replaced.
pub fn replace(text: &str, mut changes: Vec<(Span, String)>) -> String {
    changes.sort_by_key(|(span, _)| span.start);
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for (span, new) in changes {
        result.push_str(text.get(at..span.start as usize).unwrap_or_default());
        result.push_str(&new);
        at = (span.end as usize).max(at);
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

/// The comments of a document, by the place of the key or item they belong to.
#[derive(Default)]
struct Comments {
    before: BTreeMap<u32, Vec<String>>,
    beside: BTreeMap<u32, String>,
}

impl Comments {
    fn of(root: Node<'_>) -> Comments {
        let mut places = BTreeSet::new();
        collect(root, &mut places);
        let tree = root.tree();
        let source = tree.source();
        let span = extent(root);
        let mut comments = Comments::default();
        for comment in tree.comments() {
            if comment.span.start < span.start || comment.span.end > span.end {
                continue;
            }
            let text = source.slice(comment.span).trim_end().to_owned();
            let line = |offset: u32| source.position(offset).line;
            let beside = places.range(..comment.span.start).next_back().copied();
            match beside.filter(|place| comment.trailing && line(*place) == line(comment.span.start)) {
                Some(place) => {
                    comments.beside.insert(place, text);
                }
                None => {
                    let next = places.range(comment.span.start..).next().copied().unwrap_or(u32::MAX);
                    comments.before.entry(next).or_default().push(text);
                }
            }
        }
        comments
    }
}

/// Start positions of keys and items. Depth is bounded by the reader's limit.
fn collect(node: Node<'_>, places: &mut BTreeSet<u32>) {
    for entry in node.entries() {
        places.insert(entry.key.span().start);
        if !entry.value.is_alias() {
            collect(entry.value, places);
        }
    }
    for item in node.items() {
        places.insert(item.span().start);
        if !item.is_alias() {
            collect(item, places);
        }
    }
}

/// Writes block YAML with comments: two spaces, lists indented under their key.
#[derive(Default)]
struct Commented {
    text: String,
    comments: Comments,
    levels: Vec<Level>,
    /// Comment for the end of the line being written.
    beside: Option<String>,
}

struct Level {
    list: bool,
    indent: usize,
    empty: bool,
    /// The next key continues the line of a `- `.
    inline: bool,
}

impl Commented {
    fn finish(mut self) -> String {
        let rest: Vec<String> = std::mem::take(&mut self.comments.before).into_values().flatten().collect();
        let beside: Vec<String> = std::mem::take(&mut self.comments.beside).into_values().collect();
        for comment in rest.into_iter().chain(beside) {
            self.end_line();
            self.text.push_str(&comment);
            self.text.push('\n');
        }
        self.end_line();
        self.text
    }

    fn end_line(&mut self) {
        if self.text.is_empty() || self.text.ends_with('\n') {
            return;
        }
        if let Some(comment) = self.beside.take() {
            self.text.push(' ');
            self.text.push_str(&comment);
        }
        self.text.push('\n');
    }

    fn line(&mut self, indent: usize, place: Option<u32>) {
        self.end_line();
        for comment in place.and_then(|place| self.comments.before.remove(&place)).unwrap_or_default() {
            self.text.extend(std::iter::repeat_n(' ', indent));
            self.text.push_str(&comment);
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    /// Starts an item if a list is open.
    fn place(&mut self, from: View<'_, '_>) {
        let Some(level) = self.levels.last_mut().filter(|level| level.list) else { return };
        level.empty = false;
        let (indent, inline) = (level.indent, std::mem::take(&mut level.inline));
        let place = from.span().map(|span| span.start);
        if !inline {
            self.line(indent, place);
        }
        self.text.push('-');
        if let Some(comment) = place.and_then(|place| self.comments.beside.remove(&place)) {
            self.beside = Some(comment);
        }
    }

    fn begin(&mut self, list: bool, len: usize, from: View<'_, '_>) {
        self.place(from);
        let indent = self.levels.last().map_or(0, |level| level.indent + 2);
        let after_dash = self.levels.last().is_some_and(|level| level.list);
        if len > 0 && after_dash {
            self.text.push(' ');
        }
        self.levels.push(Level { list, indent, empty: true, inline: after_dash || self.text.is_empty() });
    }

    fn end(&mut self, empty: &str) {
        if self.levels.pop().is_some_and(|level| level.empty) {
            self.text.push(' ');
            self.text.push_str(empty);
        }
    }

    fn scalar(&mut self, from: View<'_, '_>, write: impl FnOnce(&mut YamlWriter)) {
        self.place(from);
        let mut writer = YamlWriter::new();
        write(&mut writer);
        let written = writer.finish().unwrap_or_default();
        let indent = self.levels.last().map_or(0, |level| level.indent);
        self.text.push(' ');
        let mut lines = written.trim_end_matches('\n').split('\n');
        self.text.push_str(lines.next().unwrap_or_default());
        let mut block = false;
        for line in lines {
            block = true;
            self.text.push('\n');
            if !line.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', indent));
                self.text.push_str(line);
            }
        }
        if block {
            // A block cannot have a comment on its line; it follows on its own line.
            if let Some(comment) = self.beside.take() {
                self.text.push('\n');
                self.text.extend(std::iter::repeat_n(' ', indent));
                self.text.push_str(&comment);
            }
            self.text.push('\n');
        }
    }
}

impl<'f> Out<'f> for Commented {
    fn begin_map(&mut self, len: usize, from: View<'_, 'f>) {
        self.begin(false, len, from);
    }
    fn key(&mut self, key: &str, written: Option<Node<'f>>) {
        let place = written.map(|node| node.span().start);
        let Some(level) = self.levels.last_mut() else { return };
        level.empty = false;
        let (indent, inline) = (level.indent, std::mem::take(&mut level.inline));
        if !inline {
            self.line(indent, place);
        } else if self.levels.len() == 1 {
            self.line(0, place);
        }
        let mut writer = YamlWriter::new();
        writer.string(key);
        self.text.push_str(writer.finish().unwrap_or_default().trim_end());
        self.text.push(':');
        if let Some(comment) = place.and_then(|place| self.comments.beside.remove(&place)) {
            self.beside = Some(comment);
        }
    }
    fn end_map(&mut self) {
        self.end("{}");
    }
    fn begin_list(&mut self, len: usize, from: View<'_, 'f>) {
        self.begin(true, len, from);
    }
    fn end_list(&mut self) {
        self.end("[]");
    }
    fn text(&mut self, text: &str, from: View<'_, 'f>) {
        self.scalar(from, |writer| writer.string(text));
    }
    fn bool(&mut self, value: bool, from: View<'_, 'f>) {
        self.scalar(from, |writer| writer.bool(value));
    }
    fn int(&mut self, value: i64, from: View<'_, 'f>) {
        self.scalar(from, |writer| writer.int(value));
    }
    fn float(&mut self, value: f64, from: View<'_, 'f>) {
        self.scalar(from, |writer| writer.float(value));
    }
    fn null(&mut self, from: View<'_, 'f>) {
        self.scalar(from, |writer| writer.null());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::editions::LATEST;
    use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
    use std::sync::Arc;

    #[test]
    fn comments_stay_with_what_they_speak_of() {
        let text = "apiVersion: skaffold/v4beta14\nkind: Config # always\n# what is built\nbuild:\n  artifacts:\n  # the api\n  - image: api # its name\n    # where\n    context: a\n  - image: web\n    docker: {}\n# gone\nbogus: 1\n";
        let tree = yaml::parse(Arc::new(Source::new(FileId(0), "t", text)), Flavor::CoreGo, &Limits::default());
        let root = tree.root().unwrap();
        let written = document(root, &Item::node(root), LATEST);
        assert_eq!(
            written,
            "apiVersion: skaffold/v4beta14\nkind: Config # always\n# what is built\nbuild:\n  artifacts:\n    # the api\n    - image: api # its name\n      # where\n      context: a\n    - image: web\n      docker: {}\n# gone\n"
        );
    }

    #[test]
    fn only_the_spans_change() {
        let file = FileId(0);
        let changes = vec![(Span::new(file, 4, 5), "X".to_owned()), (Span::new(file, 0, 1), "YY".to_owned())];
        assert_eq!(replace("abcdef", changes), "YYbcdXf");
    }
}
