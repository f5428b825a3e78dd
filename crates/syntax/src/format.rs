//! Formats YAML text: indentation, spaces and blank lines. Order, comments, anchors, quotes and line breaks in values stay.
//!
//! Works on lines; the tree shows which lines are inside a value. The result is read again and compared: if anything
//! but white space would differ, the text is left unchanged and the reason is returned.

use crate::limits::Limits;
use crate::scalar::Flavor;
use crate::source::{FileId, Source};
use crate::tree::{Node, Tree};
use crate::yaml;
use std::sync::Arc;

/// Indentation per level.
const STEP: usize = 2;

/// Limit on formatting rounds; in practice a text that settles does so at once.
const ROUNDS: usize = 4;

/// Why a text was left unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untouched {
    /// It is not YAML; the parser's message, and the line.
    NotYaml(String, u32),
    /// Formatting would change what it means.
    Meaning,
    /// It contains a construct that lines do not show, such as an explicit key.
    Unusual(&'static str),
}

impl std::fmt::Display for Untouched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Untouched::NotYaml(message, line) => write!(f, "line {line}: {message}"),
            Untouched::Meaning => f.write_str("formatting would change its meaning"),
            Untouched::Unusual(what) => write!(f, "it has {what}"),
        }
    }
}

/// The formatted text.
pub fn format(text: &str, limits: &Limits) -> Result<String, Untouched> {
    let mut now = text.to_owned();
    for _ in 0..ROUNDS {
        let next = once(&now, limits)?;
        if next == now {
            return Ok(now);
        }
        now = next;
    }
    Err(Untouched::Unusual("no form that stays the same when it is formatted again"))
}

fn once(text: &str, limits: &Limits) -> Result<String, Untouched> {
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let before = read(&plain, Flavor::CoreGo, limits)?;
    let lines = Lines::of(&before, &plain)?;
    let full = lines.write(true);
    if is_same(&plain, &full, limits) {
        return Ok(full);
    }
    // A value that ends with the file may need to end as it does.
    let open = lines.write(false);
    if is_same(&plain, &open, limits) { Ok(open) } else { Err(Untouched::Meaning) }
}

fn read(text: &str, flavor: Flavor, limits: &Limits) -> Result<Tree, Untouched> {
    let tree = yaml::parse(Arc::new(Source::new(FileId(0), "", text)), flavor, limits);
    match tree.diagnostics().iter().find(|problem| problem.is_error()) {
        None => Ok(tree),
        Some(problem) => {
            let line = problem.span.map_or(1, |span| tree.source().position(span.start).line);
            Err(Untouched::NotYaml(problem.message.clone(), line))
        }
    }
}

/// Whether two texts have the same meaning for every family of readers, and the same comments.
fn is_same(before: &str, after: &str, limits: &Limits) -> bool {
    [Flavor::CoreGo, Flavor::Core].into_iter().all(|flavor| {
        let (Ok(before), Ok(after)) = (read(before, flavor, limits), read(after, flavor, limits)) else { return false };
        same_trees(&before, &after) && comments(&before) == comments(&after)
    })
}

fn comments(tree: &Tree) -> Vec<String> {
    tree.comments().iter().map(|comment| tree.source().slice(comment.span).trim_end().to_owned()).collect()
}

fn same_trees(one: &Tree, other: &Tree) -> bool {
    if one.roots().len() != other.roots().len() || one.len() != other.len() {
        return false;
    }
    let mut todo: Vec<(Node<'_>, Node<'_>)> = one.roots().zip(other.roots()).collect();
    while let Some((a, b)) = todo.pop() {
        let same = a.is_alias() == b.is_alias()
            && a.kind() == b.kind()
            && a.anchor() == b.anchor()
            && a.tag() == b.tag()
            && a.style() == b.style();
        if !same || (a.is_scalar() && a.text() != b.text()) {
            return false;
        }
        if a.is_alias() {
            continue;
        }
        if a.items().count() != b.items().count() || a.entries().count() != b.entries().count() {
            return false;
        }
        todo.extend(a.items().zip(b.items()));
        for (a, b) in a.entries().zip(b.entries()) {
            todo.push((a.key, b.key));
            todo.push((a.value, b.value));
        }
    }
    true
}

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    /// It starts a key, an item, a document or a value.
    Structure,
    /// It continues a value that started on a line above, and is moved along with that line.
    Inside,
    Comment,
}

/// A line that is not empty. A file may have millions, so it is small.
struct Line {
    start: u32,
    /// Empty lines before it.
    blank: u32,
    sort: Sort,
}

struct Lines<'t> {
    text: &'t str,
    lines: Vec<Line>,
    /// Empty lines at the end.
    blank: u32,
}

impl<'t> Lines<'t> {
    fn of(tree: &Tree, text: &'t str) -> Result<Self, Untouched> {
        let inside = inside_lines(tree);
        let (mut lines, mut blank, mut start) = (Vec::new(), 0, 0);
        for (at, (line, whole)) in text.lines().zip(text.split_inclusive('\n')).enumerate() {
            let place = start;
            start += whole.len() as u32;
            let trimmed = line.trim_start_matches(' ');
            let sort = match trimmed {
                _ if inside.get(at).copied().unwrap_or(false) => Sort::Inside,
                _ if trimmed.trim().is_empty() => {
                    blank += 1;
                    continue;
                }
                _ if trimmed.starts_with('#') => Sort::Comment,
                _ if trimmed.starts_with("? ") || trimmed == "?" => return Err(Untouched::Unusual("explicit keys")),
                _ if trimmed.starts_with('\t') => return Err(Untouched::Unusual("tabs at the beginning of lines")),
                _ => Sort::Structure,
            };
            lines.push(Line { start: place, blank: std::mem::take(&mut blank), sort });
        }
        Ok(Lines { text, lines, blank })
    }

    fn line(&self, line: &Line) -> &'t str {
        self.text.get(line.start as usize..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }

    /// The text, ending with a line break or as it ends now.
    fn write(&self, ends: bool) -> String {
        let indents = self.indents();
        let mut out = String::new();
        let mut after_inside = false;
        for (place, (old, new)) in self.lines.iter().zip(&indents) {
            let (line, old, new) = (self.line(place), *old as usize, *new as usize);
            // At most one empty line, and none at the top; empty lines after a value may be part of it.
            let kept = if after_inside { place.blank } else { place.blank.min(1) };
            if !out.is_empty() {
                out.extend(std::iter::repeat_n('\n', kept as usize));
            }
            after_inside = place.sort == Sort::Inside;
            match place.sort {
                Sort::Inside => out.push_str(&moved(line, old, new)),
                Sort::Comment => {
                    out.extend(std::iter::repeat_n(' ', new));
                    out.push_str(line.trim());
                }
                Sort::Structure => out.push_str(&structure(line, new)),
            }
            out.push('\n');
        }
        if after_inside {
            out.extend(std::iter::repeat_n('\n', self.blank as usize));
        }
        if !ends {
            out.truncate(out.trim_end_matches('\n').len());
        }
        out
    }

    /// The old and the new indentation of each line.
    fn indents(&self) -> Vec<(u32, u32)> {
        let mut levels: Vec<(usize, usize)> = Vec::new();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(self.lines.len());
        let small = |(old, new): (usize, usize)| (old as u32, new as u32);
        let mut last = (0, 0);
        for place in &self.lines {
            let line = self.line(place);
            let indent = line.len() - line.trim_start_matches(' ').len();
            match place.sort {
                Sort::Structure if is_boundary(line) => {
                    levels.clear();
                    last = (0, 0);
                }
                Sort::Structure => last = level(&mut levels, line, indent),
                Sort::Inside | Sort::Comment => {}
            }
            out.push(small(last));
        }
        // A comment belongs to what follows it, if that has the same indentation; else to what precedes it.
        let mut next: Option<(usize, usize)> = None;
        for (at, whole) in self.lines.iter().enumerate().rev() {
            let Some((old, new)) = out.get(at).copied() else { continue };
            let (line, place) = (self.line(whole), (old as usize, new as usize));
            match whole.sort {
                Sort::Structure => next = Some(place),
                Sort::Comment => {
                    let indent = line.len() - line.trim_start_matches(' ').len();
                    let base = next.filter(|(old, _)| *old <= indent).unwrap_or(place);
                    let new = if base.0 == indent { base.1 } else { (indent + base.1).saturating_sub(base.0) };
                    if let Some(slot) = out.get_mut(at) {
                        *slot = small((indent, new));
                    }
                }
                Sort::Inside => {}
            }
        }
        out
    }
}

/// Whether a line starts or ends a document, or is a directive.
fn is_boundary(line: &str) -> bool {
    line.starts_with("---") || line.starts_with("...") || line.starts_with('%')
}

/// Old and new indentation of a line that starts something. A dash opens a level for the content after it.
fn level(levels: &mut Vec<(usize, usize)>, line: &str, indent: usize) -> (usize, usize) {
    let place = enter(levels, indent, STEP);
    let (mut old, mut new) = place;
    let mut rest = line.get(indent..).unwrap_or("");
    while let Some(after) = rest.strip_prefix("- ") {
        let inner = after.trim_start_matches(' ');
        old += rest.len() - inner.len();
        new += STEP;
        levels.push((old, new));
        rest = inner;
    }
    place
}

fn enter(levels: &mut Vec<(usize, usize)>, indent: usize, step: usize) -> (usize, usize) {
    while levels.last().is_some_and(|(old, _)| *old > indent) {
        levels.pop();
    }
    match levels.last().copied() {
        Some(place) if place.0 == indent => place,
        Some((_, new)) => {
            levels.push((indent, new + step));
            (indent, new + step)
        }
        None => {
            levels.push((indent, 0));
            (indent, 0)
        }
    }
}

/// A line inside a value, moved along with the line that the value starts on.
fn moved(line: &str, old: usize, new: usize) -> String {
    if line.trim().is_empty() {
        // White space in an empty line of a value may be significant; it is compared afterwards.
        return if new >= old { line.to_owned() } else { line.get(old - new..).unwrap_or("").to_owned() };
    }
    if new >= old {
        return " ".repeat(new - old) + line;
    }
    let free = line.len() - line.trim_start_matches(' ').len();
    line.get((old - new).min(free)..).unwrap_or(line).to_owned()
}

/// A line that starts something: its indentation, one space after dashes and after the first colon, no trailing
/// space.
fn structure(line: &str, indent: usize) -> String {
    let mut out = " ".repeat(indent);
    let mut rest = line.trim();
    while let Some(after) = rest.strip_prefix("- ") {
        out.push_str("- ");
        rest = after.trim_start_matches(' ');
    }
    match plain_key(rest) {
        Some((key, value)) => {
            out.push_str(key);
            out.push_str(": ");
            out.push_str(value);
        }
        None => out.push_str(rest),
    }
    out
}

/// A plain key with more than one space after its colon, and the rest. A comment there may be aligned on purpose.
fn plain_key(text: &str) -> Option<(&str, &str)> {
    let at = text.find(": ")?;
    let key = text.get(..at)?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '$');
    let value = text.get(at + 2..)?;
    (value.starts_with(' ') && key.chars().all(is_plain))
        .then(|| (key, value.trim_start_matches(' ')))
        .filter(|(_, value)| !value.starts_with('#'))
}

/// Marks the lines that continue a value: all lines of a scalar or a flow collection but the first.
fn inside_lines(tree: &Tree) -> Vec<bool> {
    let source = tree.source();
    let count = source.text().lines().count();
    let mut inside = vec![false; count];
    let mut todo: Vec<Node<'_>> = tree.roots().collect();
    while let Some(node) = todo.pop() {
        if node.is_alias() {
            continue;
        }
        let text = source.slice(node.span());
        let is_flow = text.starts_with('{') || text.starts_with('[');
        if (node.is_scalar() || is_flow) && text.contains('\n') {
            let first = source.position(node.span().start).line as usize;
            let last = source.position(node.span().end.saturating_sub(1)).line as usize;
            (first..last).filter_map(|at| inside.get_mut(at).map(|slot| *slot = true)).count();
            continue;
        }
        todo.extend(node.items());
        todo.extend(node.entries().flat_map(|entry| [entry.key, entry.value]));
    }
    inside
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn formatted(text: &str) -> String {
        format(text, &Limits::default()).unwrap()
    }

    #[test]
    fn indentation_and_spaces() {
        assert_eq!(
            formatted("a:\n    b:   1\n    c:\n        - x\n        -   y: 1\n            z: 2\n"),
            "a:\n  b: 1\n  c:\n    - x\n    - y: 1\n      z: 2\n"
        );
        assert_eq!(formatted("a:\n- x\n-  y\n"), "a:\n- x\n- y\n");
        assert_eq!(formatted("\n\na: 1  \n\n\n\nb: 2"), "a: 1\n\nb: 2\n");
        assert_eq!(formatted("a: 1\r\nb: 2\r\n"), "a: 1\nb: 2\n");
    }

    #[test]
    fn values_and_comments_stay() {
        let text = "# top\na: # side\n    # inner\n    b: |\n        one\n          two\n\n        three\n    c: &x 'q'\n    d: *x\n";
        let wanted =
            "# top\na: # side\n  # inner\n  b: |\n      one\n        two\n\n      three\n  c: &x 'q'\n  d: *x\n";
        assert_eq!(formatted(text), wanted);
        assert_eq!(formatted("a: |+\n  x\n\n\nb: 1\n"), "a: |+\n  x\n\n\nb: 1\n");
        assert_eq!(formatted("a: {b: 1,\n   c: 2}\n"), "a: {b: 1,\n   c: 2}\n");
        assert_eq!(
            formatted("a:    1   # aligned\nb:    # aligned\n  c: 1\n"),
            "a: 1   # aligned\nb:    # aligned\n  c: 1\n"
        );
    }

    #[test]
    fn what_is_not_yaml_is_left_alone() {
        assert!(matches!(format("a: {{ .Values.x }}\nb: [", &Limits::default()), Err(Untouched::NotYaml(..))));
        assert!(matches!(format("? a\n: b\n", &Limits::default()), Err(Untouched::Unusual(_))));
    }
}
