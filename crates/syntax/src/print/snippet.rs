//! One line of a source with marks below it.
//!
//! Lines can be of any length, so a line is cut around its marks before any other processing.

use super::{is_unsafe, push_escaped};

/// Maximum number of bytes of a line that are shown.
const WINDOW: usize = 120;
/// Number of bytes before the first mark of a line that is cut.
const LEAD: usize = 40;
/// Replacement for a tab.
const TAB: &str = "    ";
/// Marks a cut in a line.
const CUT: &str = "…";

/// A highlighted part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    /// First byte, counted from the line's start.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// The label; none if empty.
    pub(super) label: String,
    /// Whether it is the primary location of the message.
    pub(super) primary: bool,
}

impl Mark {
    fn sign(&self) -> char {
        if self.primary { '^' } else { '-' }
    }
}

/// A line as it is shown, and the lines of marks below it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) below: Vec<String>,
}

/// Shows a line with its marks; a long line is shown in several pieces if its marks are far apart.
pub(super) fn show(line: &str, marks: &[Mark]) -> Vec<Shown> {
    let mut marks: Vec<Mark> = marks.iter().map(|mark| inside(line, mark)).collect();
    marks.sort_by_key(|mark| (mark.start, !mark.primary));
    let mut pieces = Vec::new();
    let mut rest = &marks[..];
    while let Some(first) = rest.first() {
        let from = if line.len() <= WINDOW { 0 } else { floor(line, first.start.saturating_sub(LEAD)) };
        let to = if line.len() <= WINDOW { line.len() } else { floor(line, from + WINDOW) };
        let count = rest.iter().take_while(|mark| mark.start <= to).count().max(1);
        let (here, later) = rest.split_at(count);
        pieces.push(show_piece(line, from, to, here));
        rest = later;
    }
    pieces
}

/// The mark, kept inside the line and on character boundaries.
fn inside(line: &str, mark: &Mark) -> Mark {
    let start = floor(line, mark.start);
    let end = floor(line, mark.end).max(start);
    Mark { start, end, ..mark.clone() }
}

/// The last character boundary not after an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn show_piece(line: &str, from: usize, to: usize, marks: &[Mark]) -> Shown {
    let mut text = String::new();
    if from > 0 {
        text.push_str(CUT);
    }
    // Columns of all character boundaries of the piece, in order.
    let mut columns = Vec::new();
    let mut column = text.chars().count();
    for (at, c) in line.get(from..to).unwrap_or("").char_indices() {
        columns.push((from + at, column));
        let before = text.len();
        push_shown(&mut text, c);
        column += text.get(before..).map_or(0, width);
    }
    columns.push((to, column));
    if to < line.len() {
        text.push_str(CUT);
    }
    let column_of = |at: usize| {
        let index = columns.partition_point(|&(offset, _)| offset < at);
        columns.get(index).or(columns.last()).map_or(0, |&(_, column)| column)
    };
    let placed: Vec<(usize, usize, &Mark)> = marks
        .iter()
        .map(|mark| {
            let start = column_of(mark.start);
            (start, column_of(mark.end).max(start + 1), mark)
        })
        .collect();
    Shown { text: text.trim_end().to_owned(), below: mark_lines(&placed) }
}

fn push_shown(out: &mut String, c: char) {
    match c {
        '\t' => out.push_str(TAB),
        _ if is_unsafe(c) => push_escaped(out, c),
        _ => out.push(c),
    }
}

/// Number of terminal columns of a text, precise enough to align marks below it.
fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match u32::from(c) {
        0..=0x2ff => 1,
        // Combining marks.
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f => 0,
        0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        // Hangul, CJK, full-width forms, emoji.
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xa960..=0xa97f | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x1fa70..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The underlines, with the last label beside them and the others below, from right to left.
fn mark_lines(marks: &[(usize, usize, &Mark)]) -> Vec<String> {
    let mut first = String::new();
    // Secondary marks first, so that the primary one is drawn over them.
    for primary in [false, true] {
        for (start, end, mark) in marks.iter().filter(|(.., mark)| mark.primary == primary) {
            overwrite(&mut first, *start, &mark.sign().to_string().repeat(end - start));
        }
    }
    let mut labelled: Vec<(usize, usize, &str)> =
        marks.iter().filter(|(.., m)| !m.label.is_empty()).map(|(s, e, m)| (*s, *e, m.label.as_str())).collect();
    let ends_the_line = |&&(_, end, _): &&(usize, usize, &str)| end >= first.chars().count();
    if let Some((_, _, label)) = labelled.last().filter(ends_the_line) {
        first.push(' ');
        first.push_str(label);
        labelled.pop();
    }
    let mut lines = vec![first];
    while let Some((start, _, label)) = labelled.pop() {
        let mut connectors = String::new();
        labelled.iter().for_each(|(start, ..)| overwrite(&mut connectors, *start, "|"));
        let mut below = connectors.clone();
        overwrite(&mut connectors, start, "|");
        overwrite(&mut below, start, label);
        lines.push(connectors);
        lines.push(below);
    }
    lines
}

/// Writes `text` over a line from a column on, keeping the text to the right of it.
fn overwrite(line: &mut String, column: usize, text: &str) {
    let old: Vec<char> = line.chars().collect();
    let mut new: String = old.iter().take(column).collect();
    new.extend(std::iter::repeat_n(' ', column.saturating_sub(old.len())));
    new.push_str(text);
    new.extend(old.iter().skip(column + text.chars().count()));
    *line = new;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(start: usize, end: usize, label: &str, primary: bool) -> Mark {
        Mark { start, end, label: label.into(), primary }
    }

    fn drawn(line: &str, marks: &[Mark]) -> String {
        let show = |shown: Shown| format!("{}\n{}\n", shown.text, shown.below.join("\n"));
        super::show(line, marks).into_iter().map(show).collect()
    }

    #[test]
    fn one_mark() {
        assert_eq!(drawn("a: 1", &[mark(0, 1, "", true)]), "a: 1\n^\n");
        assert_eq!(drawn("a: 12", &[mark(3, 5, "number", true)]), "a: 12\n   ^^ number\n");
        assert_eq!(drawn("a:", &[mark(2, 2, "", true)]), "a:\n  ^\n");
        assert_eq!(drawn("", &[mark(9, 12, "", true)]), "\n^\n");
    }

    #[test]
    fn several_marks() {
        let marks = [mark(0, 1, "one", false), mark(3, 5, "two", true), mark(7, 8, "three", false)];
        let expected = "\
a: 12, b
-  ^^  - three
|  |
|  two
|
one
";
        assert_eq!(drawn("a: 12, b", &marks), expected);
        let nested = [mark(0, 8, "all", false), mark(3, 5, "", true)];
        assert_eq!(drawn("a: 12, b", &nested), "a: 12, b\n---^^--- all\n");
    }

    #[test]
    fn wide_and_odd_characters() {
        assert_eq!(drawn("日: x", &[mark(5, 6, "", true)]), "日: x\n    ^\n");
        assert_eq!(drawn("\ta", &[mark(1, 2, "", true)]), "    a\n    ^\n");
        assert_eq!(drawn("\u{1b}[a", &[mark(2, 3, "", true)]), "\\u{1b}[a\n       ^\n");
        assert_eq!(drawn("é", &[mark(1, 1, "", true)]), "é\n^\n");
    }

    #[test]
    fn long_lines_are_cut_around_their_marks() {
        let line = "x".repeat(1_000_000);
        let shown = show(
            &line,
            &[mark(0, 2, "", true), mark(500_000, 500_003, "here", false), mark(999_999, 1_000_000, "", false)],
        );
        assert_eq!(shown.len(), 3);
        assert_eq!(shown[0].text, "x".repeat(WINDOW) + CUT);
        assert_eq!(shown[0].below, ["^^"]);
        assert_eq!(shown[1].text, format!("{CUT}{}{CUT}", "x".repeat(WINDOW)));
        assert_eq!(shown[1].below, [format!("{}--- here", " ".repeat(LEAD + 1))]);
        assert_eq!(shown[2].text, format!("{CUT}{}", "x".repeat(LEAD + 1)));
        let whole = show(&line, &[mark(10, 1_000_000, "", true)]);
        assert_eq!(whole[0].below, [format!("{}{}", " ".repeat(10), "^".repeat(WINDOW - 10))]);
    }
}
