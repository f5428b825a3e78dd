//! A page of Markdown for a terminal: headings and code are highlighted, paragraphs are wrapped to its width.
//!
//! Knows the Markdown used in pages of rules, and leaves everything else unchanged.

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// Maximum width: wider lines are hard to read.
const WIDEST: usize = 100;

/// The page wrapped to `columns`.
pub(crate) fn shown(page: &str, columns: usize) -> String {
    let width = columns.clamp(20, WIDEST);
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let begins_item = line.starts_with("- ");
        let is_other = line.is_empty() || line.starts_with('#') || line.starts_with("```") || begins_item;
        if is_other {
            out.push_str(&wrapped(&paragraph.join(" "), width));
            paragraph.clear();
        }
        if let Some(title) = line.strip_prefix('#') {
            out.push_str(&format!("{BOLD}{}{PLAIN}\n", title.trim_start_matches('#').trim()));
        } else if line.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.starts_with("```"));
            // A long line of code is more useful unwrapped.
            code.for_each(|line| {
                out.push_str(&format!("    {DIM}{line}{PLAIN}\n").replace(&format!("{DIM}{PLAIN}"), ""))
            });
        } else if line.is_empty() {
            out.push('\n');
        } else {
            paragraph.push(line.trim());
        }
    }
    out.push_str(&wrapped(&paragraph.join(" "), width));
    out
}

/// A paragraph, or an item of a list, in lines of at most `width` columns.
fn wrapped(text: &str, width: usize) -> String {
    let text = &without_targets(text);
    let indent = if text.starts_with("- ") { "  " } else { "" };
    let mut out = String::new();
    let (mut used, mut style) = (0, Style::default());
    for word in text.split_whitespace() {
        let (shown, length) = style.word(word);
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            used = indent.len();
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(&shown);
        used += length;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// `[text](target)` without the target, which terminals cannot follow.
fn without_targets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let Some(((begun, label), (_, behind))) = before.rsplit_once('[').zip(after.split_once(')')) else { break };
        out.push_str(begun);
        out.push_str(label);
        rest = behind;
    }
    out + rest
}

/// Open marks within a paragraph.
#[derive(Default)]
struct Style {
    is_code: bool,
    is_bold: bool,
}

impl Style {
    /// A word with colours instead of marks, and its visible length.
    fn word(&mut self, word: &str) -> (String, usize) {
        let (mut out, mut length) = (String::new(), 0);
        out.push_str(if self.is_code { CYAN } else { "" });
        out.push_str(if self.is_bold { BOLD } else { "" });
        let mut rest = word;
        while let Some(c) = rest.chars().next() {
            if let Some(more) = rest.strip_prefix('`') {
                self.is_code = !self.is_code;
                out.push_str(if self.is_code { CYAN } else { PLAIN });
                rest = more;
            } else if let Some(more) = rest.strip_prefix("**").filter(|_| !self.is_code) {
                self.is_bold = !self.is_bold;
                out.push_str(if self.is_bold { BOLD } else { PLAIN });
                rest = more;
            } else {
                out.push(c);
                length += 1;
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
        out.push_str(if self.is_code || self.is_bold { PLAIN } else { "" });
        (out, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        [BOLD, DIM, CYAN, PLAIN].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn marks_become_colours() {
        let page = "# a-rule\n\nOne `two three` **four**, [of](x.md) all.\n\n**a.yaml**\n```yaml a.yaml\na: 1\n\nb: `2`\n```\n\n- an item\n  of two lines\n- more\n";
        assert_eq!(
            plain(&shown(page, 80)),
            "a-rule\n\nOne two three four, of all.\n\na.yaml\n    a: 1\n    \n    b: `2`\n\n- an item of two lines\n- more\n"
        );
        assert!(shown(page, 80).contains(&format!("{CYAN}two{PLAIN} {CYAN}three{PLAIN}")));
    }

    #[test]
    fn words_are_not_broken() {
        let text = "word ".repeat(60) + "`a long piece of code` and the end of it";
        for columns in [40, 80, 100, 120, 300] {
            let shown = plain(&shown(&text, columns));
            assert!(shown.lines().all(|line| line.chars().count() <= columns.min(WIDEST)), "{shown}");
            assert_eq!(shown.split_whitespace().count(), 60 + 10);
        }
    }
}
