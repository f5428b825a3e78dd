//! Mistakes in YAML: finds the location and the cause that a person would name.
//!
//! The event parser stops where it cannot continue, which is often after the mistake. Here the text around that
//! location is searched for common mistakes; any other error stays where the parser stopped.

use std::ops::Range;

use crate::yaml_mistake::YamlMistake;

/// A mistake that was recognised.
pub(crate) struct Mistake {
    pub place: Range<usize>,
    pub what: YamlMistake,
}

/// The state of the parser where it stopped.
pub(crate) struct Stop<'t> {
    pub text: &'t str,
    /// The location in the parser's error.
    pub at: usize,
    /// End of the last token that it could read.
    pub last: usize,
}

impl Stop<'_> {
    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// The line at an offset, and its start.
    fn line(&self, at: usize) -> (usize, &str) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (start, self.rest(start).lines().next().unwrap_or(""))
    }

    /// The last line above an offset that has content, and its start.
    fn line_above(&self, at: usize) -> Option<(usize, &str)> {
        let mut start = self.line(at).0;
        while start > 0 {
            let (above, line) = self.line(start - 1);
            if !line.trim().is_empty() {
                return Some((above, line));
            }
            start = above;
        }
        None
    }

    /// The first tab in the indentation of a line, there or below.
    pub fn tab(&self) -> Option<Range<usize>> {
        let (mut start, _) = self.line(self.at);
        for line in self.rest(start).split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line.get(..indent).and_then(|indent| indent.find('\t')) {
                return Some(start + tab..start + tab + 1);
            }
            start += line.len();
        }
        None
    }

    /// The quote that is never closed: the first one after the text that was read.
    pub fn open_quote(&self) -> Option<Range<usize>> {
        let found = self.rest(self.last).find(['"', '\''])? + self.last;
        Some(found..found + 1)
    }

    /// The first escape of a double-quoted string that YAML does not know.
    pub fn bad_escape(&self) -> Option<Range<usize>> {
        const KNOWN: &str = "0abt\tnvfre \"/\\N_LPxuU\n\r";
        let start = self.at.min(self.last.max(self.line(self.at).0));
        let mut chars = self.rest(start).char_indices();
        while let Some((at, c)) = chars.next() {
            if c == '\\'
                && let Some((_, escaped)) = chars.next()
                && !KNOWN.contains(escaped)
            {
                let at = start + at;
                return Some(at..at + 1 + escaped.len_utf8());
            }
        }
        None
    }

    /// A mistake in the surrounding lines, whatever the parser's message.
    pub fn mistake(&self) -> Option<Mistake> {
        self.missing_value().or_else(|| self.template()).or_else(|| self.list_item()).or_else(|| self.missing_space())
    }

    /// `[1,,2]`, `{,}`.
    fn missing_value(&self) -> Option<Mistake> {
        let rest = self.rest(self.last);
        let first = rest.find(|c: char| !c.is_whitespace())?;
        let behind = rest.get(first..)?.strip_prefix(',')?;
        let gap = behind.find(|c: char| !c.is_whitespace())?;
        behind.get(gap..)?.starts_with(',').then_some(())?;
        let (start, end) = (self.last + first, self.last + first + 1 + gap + 1);
        Some(Mistake { place: start..end, what: YamlMistake::ValueBetweenCommas })
    }

    /// A template of a chart or a tool where YAML is read.
    fn template(&self) -> Option<Mistake> {
        let (start, line) = self.line_above(self.at).filter(|(_, line)| is_template(line)).or_else(|| {
            let (start, line) = self.line(self.at);
            is_template(line).then_some((start, line))
        })?;
        let at = start + (line.len() - line.trim_start().len());
        Some(Mistake { place: at..at + 2, what: YamlMistake::Template })
    }

    /// `- item` among the keys of a mapping.
    fn list_item(&self) -> Option<Mistake> {
        let (start, line) = self.line(self.at);
        let indent = line.len() - line.trim_start().len();
        line.trim_start().strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))?;
        let (_, above) = self.line_above(self.at)?;
        let depth = above.len() - above.trim_start().len();
        let is_key = !above.trim_start().starts_with("- ") && above.contains(": ") || above.trim_end().ends_with(':');
        (is_key && indent <= depth).then_some(())?;
        let at = start + indent;
        Some(Mistake { place: at..at + 1, what: YamlMistake::ItemAmongKeys })
    }

    /// `key:value`, here or in the line above, which is then not a key at all.
    fn missing_space(&self) -> Option<Mistake> {
        let (start, line) = self.line(self.at);
        let here = colon_without_space(line).map(|at| start + at).filter(|colon| *colon < self.at);
        let above = || {
            let (start, line) = self.line_above(self.at)?;
            colon_without_space(line).map(|at| start + at)
        };
        let colon = here.or_else(above)?;
        Some(Mistake { place: colon..colon + 1, what: YamlMistake::MissingSpace })
    }

    /// `a: b: c`: whether the line has a key and a value before this offset.
    pub fn has_value_before(&self) -> bool {
        let (start, line) = self.line(self.at);
        let before = line.get(..self.at.saturating_sub(start)).unwrap_or("");
        before.trim_start().trim_start_matches("- ").contains(": ")
    }
}

fn is_template(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("{{") && line.ends_with("}}")
}

/// Offset of the colon in a line that is a plain `word:word`.
fn colon_without_space(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    let text = line.get(indent..)?;
    let colon = text.find(':')?;
    let (key, value) = (text.get(..colon)?, text.get(colon + 1..)?);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let follows = value.chars().next().is_some_and(|c| !c.is_whitespace() && c != '/' && c != ':');
    (is_word(key) && follows && !value.contains(": ")).then_some(indent + colon)
}
