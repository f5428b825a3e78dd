//! Printing diagnostics: for people, as JSON lines, as SARIF, as GitHub annotations.
//!
//! Printers return text and do no I/O. Text from input is escaped here, so that a file cannot control the reader's
//! terminal.

mod github;
mod human;
mod json;
mod sarif;
mod snippet;

pub use github::github;
pub use human::{Colors, human, shown_line};
pub use json::json_lines;
pub use sarif::{Tool, sarif};

use crate::diagnostic::{Diagnostic, Severity};
use crate::hint::Edit;
use crate::source::{FileId, Position, Source, Span};
use crate::sources::Sources;
use std::borrow::Cow;
use std::sync::Arc;

/// Gives printers the text of a file.
pub trait Files {
    /// The file with an id, if it is known.
    fn source(&self, id: FileId) -> Option<Arc<Source>>;

    /// The parts of a file that must not be shown.
    fn hidden(&self, id: FileId) -> Vec<Span>;

    /// The path of a file as shown to users.
    fn shown(&self, source: &Source) -> String {
        source.path().to_owned()
    }
}

impl Files for Sources {
    fn source(&self, id: FileId) -> Option<Arc<Source>> {
        self.get(id)
    }

    fn hidden(&self, id: FileId) -> Vec<Span> {
        Sources::hidden(self, id)
    }

    fn shown(&self, source: &Source) -> String {
        Sources::shown(self, source.path())
    }
}

impl<F: Files + ?Sized> Files for Arc<F> {
    fn source(&self, id: FileId) -> Option<Arc<Source>> {
        (**self).source(id)
    }

    fn hidden(&self, id: FileId) -> Vec<Span> {
        (**self).hidden(id)
    }

    fn shown(&self, source: &Source) -> String {
        (**self).shown(source)
    }
}

impl Files for [Arc<Source>] {
    fn source(&self, id: FileId) -> Option<Arc<Source>> {
        self.iter().find(|source| source.id() == id).cloned()
    }

    fn hidden(&self, _id: FileId) -> Vec<Span> {
        Vec::new() // files alone, of no session that could know of secrets
    }
}

/// Sorts diagnostics into the order of printing: by path and location, independent of the order in which files were
/// read.
pub fn sort(diagnostics: &mut Vec<Diagnostic>, files: &(impl Files + ?Sized)) {
    let mut keyed: Vec<_> = std::mem::take(diagnostics)
        .into_iter()
        .map(|diagnostic| {
            let path = diagnostic.span.and_then(|span| files.source(span.file)).map(|source| source.path().to_owned());
            (path, diagnostic)
        })
        .collect();
    keyed.sort_by(|(path_a, a), (path_b, b)| {
        let place = |d: &Diagnostic| d.span.map(|span| (span.start, span.end));
        path_a
            .cmp(path_b)
            .then_with(|| place(a).cmp(&place(b)))
            .then_with(|| b.severity.cmp(&a.severity))
            .then_with(|| a.rule.name.cmp(b.rule.name))
            .then_with(|| a.message.cmp(&b.message))
    });
    diagnostics.extend(keyed.into_iter().map(|(_, diagnostic)| diagnostic));
}

/// The change that a diagnostic's hint asks for.
fn edit_of(diagnostic: &Diagnostic, files: &(impl Files + ?Sized)) -> Option<Edit> {
    let span = diagnostic.span?;
    let is_hidden = |edit: &Edit| {
        let overlaps = |hidden: &Span| hidden.start < edit.span.end && edit.span.start < hidden.end;
        files.hidden(span.file).iter().any(overlaps)
    };
    diagnostic.edit_in(span, &*files.source(span.file)?).filter(|edit| !is_hidden(edit))
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A span in human terms: path, lines and columns.
struct Place {
    path: String,
    start: Position,
    end: Position,
}

impl Place {
    fn of(span: Span, files: &(impl Files + ?Sized)) -> Option<Self> {
        let source = files.source(span.file)?;
        let (start, end) = (source.position(span.start), source.position(span.end.max(span.start)));
        Some(Place { path: files.shown(&source), start, end })
    }
}

/// Makes text from input harmless on a terminal, line breaks included.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) { push_escaped(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Characters that move the cursor, change colours, reorder or hide text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Rule;

    const BAD: Rule = Rule::error("bad", "Bad.");
    const ODD: Rule = Rule::warning("odd", "Odd.");

    #[test]
    fn order_does_not_depend_on_file_ids() {
        let files =
            [Arc::new(Source::new(FileId(0), "z.yaml", "abc")), Arc::new(Source::new(FileId(1), "a.yaml", "abc"))];
        let at = |rule, file, start| Diagnostic::at(rule, Span::new(FileId(file), start, 3), "m");
        let mut found = vec![at(&BAD, 0, 0), at(&BAD, 1, 2), at(&ODD, 1, 1), at(&BAD, 1, 1)];
        found.push(Diagnostic::nowhere(&BAD, "m"));
        sort(&mut found, &files[..]);
        let order: Vec<_> = found.iter().map(|d| (d.rule.name, d.span.map(|s| (s.file.0, s.start)))).collect();
        let expected =
            [("bad", None), ("bad", Some((1, 1))), ("odd", Some((1, 1))), ("bad", Some((1, 2))), ("bad", Some((0, 0)))];
        assert_eq!(order, expected);
    }

    #[test]
    fn unsafe_characters_are_spelled_out() {
        assert_eq!(escape("a é 日本 😀"), "a é 日本 😀");
        assert_eq!(escape("\u{1b}[31m\r\n\t\u{9b}\u{7f}"), "\\u{1b}[31m\\r\\n\\t\\u{9b}\\u{7f}");
        assert_eq!(escape("\u{202e}\u{feff}\u{200b}"), "\\u{202e}\\u{feff}\\u{200b}");
    }
}
