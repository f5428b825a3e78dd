//! Diagnostics for people: message, location, the lines in question, hints and the trace.

use super::snippet::{self, Mark};
use super::{Files, escape, severity_name};
use crate::credentials::credentials;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{Source, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Whether to write colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colors {
    /// Plain text.
    Off,
    /// ANSI colours.
    On,
}

/// Number of steps shown of a long trace, counted from the innermost one and from the outermost one.
const TRACE_START: usize = 8;
const TRACE_END: usize = 4;

/// Coloured elements.
#[derive(Clone, Copy)]
enum Paint {
    Severity(Severity),
    /// Line numbers, rules and arrows.
    Frame,
    Emphasis,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Severity(Severity::Error) => "\x1b[1;31m",
            Paint::Severity(Severity::Warning) => "\x1b[1;33m",
            Paint::Severity(Severity::Note) => "\x1b[1;36m",
            Paint::Frame => "\x1b[1;34m",
            Paint::Emphasis => "\x1b[1m",
        }
    }
}

/// Prints diagnostics for people, an empty line after each.
pub fn human<'d, F: Files + ?Sized>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    files: &F,
    colors: Colors,
) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let excerpts = excerpts(diagnostic, files);
        let lines = excerpts.iter().filter_map(|excerpt| excerpt.marks.keys().last());
        let gutter = lines.max().map_or(0, |line| line.to_string().len());
        Printer { out: &mut out, colors, gutter }.diagnostic(diagnostic, &excerpts, files);
        out.push('\n');
    }
    out
}

/// The line in which a span begins, safe to show: secrets are masked with stars, control characters are escaped.
pub fn shown_line<F: Files + ?Sized>(span: Span, files: &F) -> Option<String> {
    let source = files.source(span.file)?;
    let number = source.position(span.start).line;
    let (path, hidden) = (String::new(), files.hidden(span.file));
    let excerpt = Excerpt { source, path, hidden, start: span.start, marks: BTreeMap::new() };
    Some(super::escape(&excerpt.line(number)).into_owned())
}

/// The lines of one file that a diagnostic points at.
struct Excerpt {
    source: Arc<Source>,
    /// The path shown to users.
    path: String,
    /// The parts that must not be shown.
    hidden: Vec<Span>,
    /// The location named above the lines.
    start: u32,
    /// Marks by line, counted from 1.
    marks: BTreeMap<u32, Vec<Mark>>,
}

impl Excerpt {
    /// A line with a star for every byte of a secret, so that the marks below it stay aligned.
    fn line(&self, number: u32) -> Cow<'_, str> {
        let line = self.source.line(number).unwrap_or("");
        let start = line.as_ptr() as usize - self.source.text().as_ptr() as usize;
        let place = |at: u32| (at as usize).saturating_sub(start).min(line.len());
        let secrets = self.hidden.iter().map(|span| place(span.start)..place(span.end));
        let mut hidden: Vec<Range<usize>> =
            secrets.chain(credentials(line)).filter(|range| !range.is_empty()).collect();
        if hidden.is_empty() {
            return Cow::Borrowed(line);
        }
        hidden.sort_unstable_by_key(|range| range.start);
        let mut hidden = hidden.into_iter().peekable();
        let mut until = 0;
        let mut out = String::with_capacity(line.len());
        for (at, c) in line.char_indices() {
            while let Some(range) = hidden.next_if(|range| range.start <= at) {
                until = until.max(range.end);
            }
            if at < until {
                out.extend(std::iter::repeat_n('*', c.len_utf8()));
            } else {
                out.push(c);
            }
        }
        Cow::Owned(out)
    }
}

/// One excerpt for each file, the diagnostic's own first.
fn excerpts<F: Files + ?Sized>(diagnostic: &Diagnostic, files: &F) -> Vec<Excerpt> {
    let mut excerpts: Vec<Excerpt> = Vec::new();
    let own = diagnostic.span.into_iter().map(|span| (span, "", true));
    let labels = diagnostic.labels.iter().map(|label| (label.span, label.message.as_str(), false));
    for (span, label, primary) in own.chain(labels) {
        let at = excerpts.iter().position(|excerpt| excerpt.source.id() == span.file);
        let at = match (at, files.source(span.file)) {
            (Some(at), _) => at,
            (None, Some(source)) => {
                let (path, hidden) = (files.shown(&source), files.hidden(span.file));
                excerpts.push(Excerpt { source, path, hidden, start: span.start, marks: BTreeMap::new() });
                excerpts.len() - 1
            }
            (None, None) => continue,
        };
        if let Some(excerpt) = excerpts.get_mut(at) {
            let (line, mark) = mark_of(&excerpt.source, span, label, primary);
            excerpt.marks.entry(line).or_default().push(mark);
        }
    }
    excerpts
}

/// The line a span begins in, and the part of it to mark.
fn mark_of(source: &Source, span: Span, label: &str, primary: bool) -> (u32, Mark) {
    let line = source.position(span.start).line;
    let start = (span.start as usize).saturating_sub(source.line_start(span.start) as usize);
    let length = span.end.saturating_sub(span.start) as usize;
    (line, Mark { start, end: start + length, label: escape(label).into_owned(), primary })
}

struct Printer<'o> {
    out: &'o mut String,
    colors: Colors,
    /// Width of line numbers.
    gutter: usize,
}

impl Printer<'_> {
    fn diagnostic<F: Files + ?Sized>(&mut self, diagnostic: &Diagnostic, excerpts: &[Excerpt], files: &F) {
        let severity = Paint::Severity(diagnostic.severity);
        self.paint(severity, &format!("{}[{}]", severity_name(diagnostic.severity), diagnostic.rule.name));
        self.paint(Paint::Emphasis, &format!(": {}", message_text(&diagnostic.message)));
        self.out.push('\n');
        for (at, excerpt) in excerpts.iter().enumerate() {
            let arrow = if at == 0 && diagnostic.span.is_some() { "-->" } else { ":::" };
            self.excerpt(excerpt, arrow, diagnostic.severity);
        }
        let notes = !diagnostic.hints.is_empty() || !diagnostic.trace.is_empty();
        if notes && !excerpts.is_empty() {
            self.frame_line("|");
        }
        self.trace(&diagnostic.trace, files);
        for hint in &diagnostic.hints {
            self.note("hint", &message_text(hint));
        }
    }

    /// The trace; of a long one, which usually repeats itself, only both ends.
    fn trace<F: Files + ?Sized>(&mut self, trace: &[Label], files: &F) {
        let left_out = trace.len().saturating_sub(TRACE_START + TRACE_END);
        for (at, step) in trace.iter().enumerate() {
            if left_out > 1 && at == TRACE_START {
                self.note("from", &format!("… {left_out} more …"));
            }
            if left_out <= 1 || at < TRACE_START || at >= TRACE_START + left_out {
                self.note("from", &trace_text(step, files));
            }
        }
    }

    fn excerpt(&mut self, excerpt: &Excerpt, arrow: &str, severity: Severity) {
        let place = place_text(&excerpt.source, &excerpt.path, excerpt.start);
        self.out.extend(std::iter::repeat_n(' ', self.gutter));
        self.paint(Paint::Frame, arrow);
        self.out.push_str(&format!(" {place}\n"));
        self.frame_line("|");
        let mut previous: Option<u32> = None;
        for (&line, marks) in &excerpt.marks {
            self.gap(excerpt, previous, line);
            for shown in snippet::show(&excerpt.line(line), marks) {
                self.source_line(line, &shown.text);
                let primary = marks.iter().any(|mark| mark.primary);
                shown.below.iter().for_each(|below| self.mark_line(below, primary, severity));
            }
            previous = Some(line);
        }
    }

    /// The text between two lines with marks: the line itself if it is only one.
    fn gap(&mut self, excerpt: &Excerpt, previous: Option<u32>, line: u32) {
        let Some(previous) = previous else { return };
        match line - previous {
            0 | 1 => {}
            2 => {
                let text = snippet::show(&excerpt.line(line - 1), &[blank_mark()]);
                text.iter().for_each(|shown| self.source_line(line - 1, &shown.text));
            }
            _ => self.out.push_str("...\n"),
        }
    }

    fn source_line(&mut self, number: u32, text: &str) {
        let number = format!("{number:>width$} |", width = self.gutter);
        self.paint(Paint::Frame, &number);
        if !text.is_empty() {
            self.out.push(' ');
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    fn mark_line(&mut self, marks: &str, primary: bool, severity: Severity) {
        self.out.extend(std::iter::repeat_n(' ', self.gutter + 1));
        self.paint(Paint::Frame, "|");
        self.out.push(' ');
        let paint = if primary { Paint::Severity(severity) } else { Paint::Frame };
        self.paint(paint, marks);
        self.out.push('\n');
    }

    fn frame_line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n(' ', self.gutter + 1));
        self.paint(Paint::Frame, text);
        self.out.push('\n');
    }

    fn note(&mut self, kind: &str, text: &str) {
        self.out.extend(std::iter::repeat_n(' ', self.gutter + 1));
        self.paint(Paint::Frame, "=");
        self.out.push(' ');
        self.paint(Paint::Emphasis, &format!("{kind}:"));
        self.out.push_str(&format!(" {text}\n"));
    }

    fn paint(&mut self, paint: Paint, text: &str) {
        match self.colors {
            Colors::Off => self.out.push_str(text),
            Colors::On => {
                self.out.push_str(paint.code());
                self.out.push_str(text);
                self.out.push_str("\x1b[0m");
            }
        }
    }
}

/// A mark that shows the beginning of a line.
fn blank_mark() -> Mark {
    Mark { start: 0, end: 0, label: String::new(), primary: false }
}

fn place_text(source: &Source, path: &str, offset: u32) -> String {
    let at = source.position(offset);
    format!("{}:{}:{}", escape(path), at.line, at.column)
}

fn trace_text<F: Files + ?Sized>(step: &Label, files: &F) -> String {
    let message = message_text(&step.message);
    match files.source(step.span.file) {
        Some(source) => format!("{message} ({})", place_text(&source, &files.shown(&source), step.span.start)),
        None => message,
    }
}

/// A message may have several lines; all but the first are indented, so that they cannot imitate lines of the report.
fn message_text(message: &str) -> String {
    let lines: Vec<_> = message.trim_end_matches('\n').split('\n').map(escape).collect();
    lines.join("\n        ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Rule;
    use crate::source::FileId;

    const RULE: Rule = Rule::error("unknown-key", "A key is not known.");
    const ODD: Rule = Rule::warning("odd", "Odd.");

    fn files() -> [Arc<Source>; 2] {
        let main = "kind: Deploy\nname: web\nspec:\n  imge: nginx\n\n\n\nend: true\n";
        [
            Arc::new(Source::new(FileId(0), "web.yaml", main)),
            Arc::new(Source::new(FileId(1), "base/\u{1b}x.yaml", "include: web.yaml\n")),
        ]
    }

    fn at(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    fn printed(diagnostic: &Diagnostic) -> String {
        human([diagnostic], &files()[..], Colors::Off)
    }

    #[test]
    fn a_diagnostic_with_everything() {
        let diagnostic = Diagnostic::at(&RULE, at(31, 35), "`imge` is not a key of `spec`")
            .label(at(23, 27), "in this `spec`")
            .label(at(6, 12), "of this kind")
            .label(Span::new(FileId(1), 0, 7), "a key like this")
            .through(Span::new(FileId(1), 9, 17), "included here")
            .hint("did you mean `image`?");
        let expected = "\
error[unknown-key]: `imge` is not a key of `spec`
 --> web.yaml:4:3
  |
1 | kind: Deploy
  |       ------ of this kind
2 | name: web
3 | spec:
  | ---- in this `spec`
4 |   imge: nginx
  |   ^^^^
 ::: base/\\u{1b}x.yaml:1:1
  |
1 | include: web.yaml
  | ------- a key like this
  |
  = from: included here (base/\\u{1b}x.yaml:1:10)
  = hint: did you mean `image`?

";
        assert_eq!(printed(&diagnostic), expected);
    }

    #[test]
    fn far_lines_and_empty_places() {
        let diagnostic = Diagnostic::at(&ODD, at(43, 43), "nothing here").label(at(0, 4), "since this");
        let expected = "\
warning[odd]: nothing here
 --> web.yaml:5:1
  |
1 | kind: Deploy
  | ---- since this
...
5 |
  | ^

";
        assert_eq!(printed(&diagnostic), expected);
    }

    #[test]
    fn without_a_place() {
        let diagnostic = Diagnostic::nowhere(&RULE, "first\nsecond\u{7}\n").hint("a hint");
        assert_eq!(printed(&diagnostic), "error[unknown-key]: first\n        second\\u{7}\n = hint: a hint\n\n");
        let lost = Diagnostic::at(&RULE, Span::new(FileId(9), 5, 9), "m");
        assert_eq!(printed(&lost), "error[unknown-key]: m\n\n");
    }

    #[test]
    fn spans_outside_the_file_do_no_harm() {
        for (start, end) in [(1_000, 2_000), (5, 3), (u32::MAX, u32::MAX), (31, u32::MAX)] {
            assert!(printed(&Diagnostic::at(&RULE, at(start, end), "m")).starts_with("error[unknown-key]: m\n"));
        }
    }

    #[test]
    fn colors_frame_the_text() {
        let text = human([&Diagnostic::at(&RULE, at(0, 4), "m")], &files()[..], Colors::On);
        assert!(text.starts_with("\x1b[1;31merror[unknown-key]\x1b[0m\x1b[1m: m\x1b[0m\n"));
        assert!(text.contains("\x1b[1;31m^^^^\x1b[0m"));
    }
}
