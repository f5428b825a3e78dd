//! Mistakes in YAML: finds the location and the cause that a person would name.
//!
//! The event parser stops where it can go on no longer, which is often behind the mistake. Here the text around that place
//! is searched for common mistakes; any other error stays where the parser stopped.

use std::ops::Range;

/// A mistake that was recognised.
pub(crate) struct Mistake {
    pub place: Range<usize>,
    pub message: &'static str,
    pub hint: &'static str,
}

/// Where the parser stopped.
pub(crate) struct Stop<'t> {
    pub text: &'t str,
    /// The place it names.
    pub at: usize,
    /// Where the last thing ended that it could read.
    pub last: usize,
}

impl Stop<'_> {
    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// The line that a place is in, and where it starts.
    fn line(&self, at: usize) -> (usize, &str) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (start, self.rest(start).lines().next().unwrap_or(""))
    }

    /// The last line above a place that holds something, and where it starts.
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

    /// The quote that is never closed: the first one behind what was read.
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

    /// A mistake in the lines around, whatever the parser says of it.
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
        let message = "a value is missing between these commas";
        Some(Mistake { place: start..end, message, hint: "remove one of them, or write the value" })
    }

    /// A template of a chart or a tool where YAML is read.
    fn template(&self) -> Option<Mistake> {
        let (start, line) = self.line_above(self.at).filter(|(_, line)| is_template(line)).or_else(|| {
            let (start, line) = self.line(self.at);
            is_template(line).then_some((start, line))
        })?;
        let at = start + (line.len() - line.trim_start().len());
        let message = "`{{ … }}` on a line of its own is not YAML";
        Some(Mistake {
            place: at..at + 2,
            message,
            hint: "only templates of charts may hold it; put it in quotes as a value",
        })
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
        let message = "expected a key, found a list item";
        Some(Mistake { place: at..at + 1, message, hint: "put it below a key of its own, or write `key: value`" })
    }

    /// `key:value`, here or in the line above, which is then no key at all.
    fn missing_space(&self) -> Option<Mistake> {
        let (start, line) = self.line(self.at);
        let here = colon_without_space(line).map(|at| start + at).filter(|colon| *colon < self.at);
        let above = || {
            let (start, line) = self.line_above(self.at)?;
            colon_without_space(line).map(|at| start + at)
        };
        let colon = here.or_else(above)?;
        let message = "missing space after `:`";
        Some(Mistake { place: colon..colon + 1, message, hint: "write `key: value`" })
    }

    /// `a: b: c`: whether the line has a key and a value before this place.
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

/// Where a line that is a plain `word:word` has its colon.
fn colon_without_space(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    let text = line.get(indent..)?;
    let colon = text.find(':')?;
    let (key, value) = (text.get(..colon)?, text.get(colon + 1..)?);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let follows = value.chars().next().is_some_and(|c| !c.is_whitespace() && c != '/' && c != ':');
    (is_word(key) && follows && !value.contains(": ")).then_some(indent + colon)
}

/// What parsers say of a key where none can be.
pub(crate) const SECOND_KEY: &str = "mapping values are not allowed";

/// What parsers of YAML say, by a part of it, in a user's words, and what to do. Those of other languages use the same
/// texts.
const WORDS: &[(&str, &str, &str)] = &[
    (
        SECOND_KEY,
        "a key is not possible here: the line above already has a value, or the indentation is wrong",
        "align it with the keys that belong to the same mapping, or put a value that contains `: ` in quotes",
    ),
    (
        "is only valid inside a block",
        "a list item is not possible inside brackets or braces",
        "put `{{ … }}` in quotes, or write the list below its key",
    ),
    (
        "placement of ':'",
        "unexpected `:`, because a bracket or quote before it is still open",
        "close the bracket or quote",
    ),
    (
        "mapping keys are not allowed",
        "a key is not possible here",
        "align it with the keys that belong to the same mapping",
    ),
    (
        "block sequence entries are not allowed",
        "a list item is not possible here",
        "put `-` on a line of its own, below the key",
    ),
    (
        "did not find expected '-' indicator",
        "expected another list item",
        "start the line with `- `, or indent it less",
    ),
    (
        "did not find expected key",
        "this line does not fit the indentation of the lines before it",
        "align it with the keys that belong to the same mapping",
    ),
    ("did not find expected ',' or '}'", "expected `,` or `}`", "add the comma or the closing brace"),
    ("did not find expected ',' or ']'", "expected `,` or `]`", "add the comma or the closing bracket"),
    ("expected ',' or ']'", "expected `,` or `]`", "add the comma or the closing bracket"),
    (
        "could not find expected ':'",
        "this line has no `:` where a key is expected",
        "write `key: value`, or `- item` in a list",
    ),
    (
        "found character that cannot start any token",
        "a value cannot start with this character",
        "put the value in quotes",
    ),
    ("did not find expected node content", "expected a value", "write a value, or `null`"),
    (
        "found unknown escape character",
        "unknown escape in a double-quoted string",
        "use single quotes, or write `\\\\` for a backslash",
    ),
    ("unexpected character", "a value cannot start with this character", "put the value in quotes"),
    ("trailing content after", "unexpected text after a quoted string", "put the whole value in quotes"),
    ("':' must be followed", "`:` must be followed by a space", "write `key: value`"),
    ("'-' must be followed", "`-` must be followed by a space", "write `- item`"),
    ("comments must be separated", "a comment must be separated by a space", "write ` #`"),
    ("mismatched bracket", "this bracket does not match the one that was opened", "close what was opened last first"),
    ("misplaced bracket", "this bracket closes nothing", "remove it, or open it before"),
    (
        "wrongly indented line in block scalar",
        "this line is indented less than the text block it belongs to",
        "indent it as the first line of the block",
    ),
    ("tab", "a tab cannot be used for indentation", "indent with spaces"),
    ("unknown anchor", "unknown anchor", "define it with `&name` before it is used"),
    (
        "comment intercepting",
        "a comment ended the text above, so this line cannot continue it",
        "remove the comment, or put the whole text in quotes",
    ),
    (
        "block scalar, did not find expected comment or line break",
        "no text can follow `|` or `>` on the same line",
        "begin the text on the next line, indented",
    ),
    ("indentation indicator equal to 0", "a text block cannot be indented by 0", "write a number from 1 to 9, or none"),
    (
        "<document start>",
        "a second value begins here, but the document has one already",
        "separate documents with `---`, or align this line with the keys above",
    ),
    (
        "scanning an anchor or alias",
        "`&` and `*` must be followed by a name",
        "write a name, or put the value in quotes",
    ),
    ("verbatim tag", "this tag is never closed", "write `!<name>` without spaces"),
    ("a tag", "this tag cannot be read", "write `!name`, or put the value in quotes"),
    ("handle wasn't declared", "unknown tag prefix", "declare it with `%TAG`, or write `!name`"),
    ("directive", "unknown YAML directive: a line that begins with `%` is one", "put the value in quotes"),
    ("unexpected eof", "the file ends where a value is expected", "write the value, or close what is open"),
    ("EOF while parsing", "the file ends where a value is expected", "write the value, or close what is open"),
    ("expected whitespace", "a space is missing here", "separate the two with a space"),
    ("document end marker", "text cannot follow `...`", "begin the next document with `---`"),
    ("document indicator", "a quoted string is still open where the next document begins", "add the closing quote"),
    ("simple key is no longer valid", "this key has no `:`", "write `key: value` on one line"),
];

/// What a parser of YAML says, in a user's words, with a hint.
pub fn in_words(text: &str) -> Option<(&'static str, &'static str)> {
    WORDS.iter().find(|(part, ..)| text.contains(part)).map(|(_, message, hint)| (*message, *hint))
}
