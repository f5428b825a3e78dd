//! Block scalars, literal and folded.

use super::Plain;
use crate::tree::Style;

impl Plain<'_, '_> {
    /// `|` or `>`, with `-` or `+`, and the lines under it.
    pub(super) fn block(&mut self, start: usize, end: usize, parent: Option<usize>) -> Option<()> {
        let header = self.text.get(start..end)?.trim_end_matches(' ');
        let style = if header.starts_with('|') { Style::Literal } else { Style::Folded };
        let chomp = match header.get(1..)? {
            "" => Chomp::Clip,
            "-" => Chomp::Strip,
            "+" => Chomp::Keep,
            _ => return None,
        };
        let indent = self.block_indent(parent.map_or(0, |column| column + 1))?;
        let lines = self.block_lines(indent, style, end)?;
        // Trailing blank lines with `+`, and texts of blanks only, have rules of their own.
        if lines.text.trim_end_matches([' ', '\n']).is_empty() || (chomp == Chomp::Keep && lines.blanks > 0) {
            return None;
        }
        let mut text = lines.text;
        // Without a line break at the end of the file the families differ.
        let cut = lines.end == self.text.len() && !self.flavor.ends_blocks_with_newline();
        if chomp == Chomp::Strip || cut {
            text.pop();
        }
        let stop = start + self.text.get(start..lines.end)?.trim_end().len();
        self.scalar(&text, style, start, stop);
        Some(())
    }

    fn block_lines(&mut self, indent: usize, style: Style, header_end: usize) -> Option<BlockLines> {
        let mut lines = BlockLines { text: String::new(), blanks: 0, end: header_end };
        while self.at < self.text.len() {
            let line_end = self.line_end(self.at);
            let line = self.text.get(self.at..line_end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            if column == line.len() {
                // Spaces beyond the indentation are text; that is rare enough to leave.
                if column > indent {
                    return None;
                }
                lines.blanks += 1;
                self.at = line_end + 1;
                continue;
            }
            if column < indent || (column == 0 && (line.starts_with("---") || line.starts_with("..."))) {
                break;
            }
            if style == Style::Folded {
                // Deeper lines of a folded text keep their breaks, and so do those around them.
                if column > indent {
                    return None;
                }
                if lines.blanks == 0 && lines.text.ends_with('\n') {
                    lines.text.pop();
                    lines.text.push(' ');
                } else if lines.text.ends_with('\n') {
                    lines.text.pop();
                }
            }
            for _ in 0..std::mem::take(&mut lines.blanks) {
                lines.text.push('\n');
            }
            lines.text.push_str(line.get(indent..)?);
            lines.text.push('\n');
            lines.end = line_end;
            self.at = line_end + 1;
        }
        Some(lines)
    }

    /// The column of a block scalar's first line with text.
    fn block_indent(&self, least: usize) -> Option<usize> {
        let mut at = self.at;
        while at < self.text.len() {
            let end = self.line_end(at);
            let line = self.text.get(at..end)?;
            let column = line.bytes().take_while(|&b| b == b' ').count();
            if column < line.len() {
                return (column >= least && column > 0).then_some(column);
            }
            if column > 0 {
                // Blank lines with spaces before the text have rules of their own.
                return None;
            }
            at = end + 1;
        }
        None
    }
}

pub(super) struct BlockLines {
    pub(super) text: String,
    /// Blank lines after the text.
    blanks: usize,
    /// End of the last line with text.
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}
