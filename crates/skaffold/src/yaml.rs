//! Writes what [`crate::emit`] hands out as YAML text: two spaces, lists indented under their key.
//!
//! Goes straight to text, since thousands of modules may be printed. It must not know the schema.

use crate::emit::Out;
use crate::item::View;
use purlin_syntax::Node;

/// The text written so far.
#[derive(Default)]
pub struct YamlOut {
    /// The text.
    pub text: String,
    open: Vec<Level>,
}

struct Level {
    list: bool,
    indent: usize,
    fresh: bool,
    /// Stands right after `- `, so that the first key stays on that line.
    after_dash: bool,
}

impl YamlOut {
    /// Starts a new document.
    pub fn separator(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str("---\n");
        }
    }

    fn line(&mut self, indent: usize) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    /// Prepares the place of a value: after a key, or as an item of a list.
    fn place(&mut self) {
        let Some(level) = self.open.last_mut() else { return };
        if !level.list {
            return;
        }
        let (indent, inline) = (level.indent, level.fresh && level.after_dash);
        level.fresh = false;
        if !inline {
            self.line(indent);
        }
        self.text.push_str("- ");
    }

    fn value(&mut self, text: &str) {
        self.place();
        if self.text.ends_with(':') {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.finish_line();
    }

    fn finish_line(&mut self) {
        self.text.push('\n');
    }

    fn begin(&mut self, list: bool) {
        self.place();
        let after_dash = self.text.ends_with("- ");
        let indent = match self.open.last() {
            None => 0,
            Some(level) => level.indent + 2,
        };
        self.open.push(Level { list, indent, fresh: true, after_dash });
    }

    fn end(&mut self, empty: &str) {
        if let Some(level) = self.open.pop()
            && level.fresh
        {
            if self.text.ends_with(':') {
                self.text.push(' ');
            }
            self.text.push_str(empty);
            self.finish_line();
        }
    }

    fn block(&mut self, text: &str) {
        self.place();
        let indent = self.open.last().map_or(2, |level| level.indent + 2);
        if self.text.ends_with(':') {
            self.text.push(' ');
        }
        self.text.push('|');
        let body = text.trim_end_matches('\n');
        match text.len() - body.len() {
            0 => self.text.push('-'),
            1 => {}
            _ => self.text.push('+'),
        }
        let lines = if text.len() - body.len() > 1 { text.strip_suffix('\n').unwrap_or(text) } else { body };
        for line in lines.split('\n') {
            self.text.push('\n');
            if !line.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', indent));
                self.text.push_str(line);
            }
        }
        self.finish_line();
    }
}

impl<'f> Out<'f> for YamlOut {
    fn begin_map(&mut self, _: View<'_, 'f>) {
        self.begin(false);
    }
    fn key(&mut self, key: &str, _: Option<Node<'f>>) {
        let Some(level) = self.open.last_mut() else { return };
        let (indent, inline) = (level.indent, level.fresh && level.after_dash);
        level.fresh = false;
        if !inline {
            self.line(indent);
        }
        push_scalar(&mut self.text, key);
        self.text.push(':');
    }
    fn end_map(&mut self) {
        self.end("{}");
    }
    fn begin_list(&mut self, _: View<'_, 'f>) {
        self.begin(true);
    }
    fn end_list(&mut self) {
        self.end("[]");
    }
    fn text(&mut self, text: &str, _: View<'_, 'f>) {
        if is_block(text) {
            return self.block(text);
        }
        self.place();
        if self.text.ends_with(':') {
            self.text.push(' ');
        }
        push_scalar(&mut self.text, text);
        self.finish_line();
    }
    fn bool(&mut self, value: bool, _: View<'_, 'f>) {
        self.value(if value { "true" } else { "false" });
    }
    fn int(&mut self, value: i64, _: View<'_, 'f>) {
        self.value(&value.to_string());
    }
    fn float(&mut self, value: f64, _: View<'_, 'f>) {
        self.value(&if value.is_nan() { ".nan".to_owned() } else { format!("{value:?}") });
    }
    fn null(&mut self, _: View<'_, 'f>) {
        self.value("null");
    }
}

/// Whether a text reads well as a block: several lines, nothing that a block cannot hold.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{feff}' && c != '\u{2028}' && c != '\u{2029}'))
        && text.split('\n').all(|line| !line.ends_with(' '))
}

fn push_scalar(out: &mut String, text: &str) {
    if is_plain(text) {
        return out.push_str(text);
    }
    if text.chars().any(|c| c.is_control() || c == '\u{feff}' || c == '\u{2028}' || c == '\u{2029}') {
        return push_double(out, text);
    }
    out.push('\'');
    for c in text.chars() {
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
    }
    out.push('\'');
}

fn push_double(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || c == '\u{feff}' || c == '\u{2028}' || c == '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether every YAML reader takes the unquoted text as this very text.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    let safe_start = first.is_ascii_alphabetic() || matches!(first, b'/' | b'_' | b'$' | b'(' | b'^') || first >= 0x80;
    if !safe_start {
        // Numbers, dots and dashes may start words too, such as `./k8s` and `v1.2`; only clear cases stay plain.
        let clear = matches!(first, b'.' | b'0'..=b'9') && bytes.iter().any(|b| b.is_ascii_alphabetic() || *b == b'/');
        if !clear || looks_like_number(text) {
            return text == ".";
        }
    }
    if last == b' ' || last == b':' {
        return false;
    }
    let inner = bytes.windows(2).all(|pair| !matches!(pair, [b':', b' '] | [b' ', b'#']));
    inner && bytes.iter().all(|&b| b >= 0x20 && b != 0x7f) && !is_reserved(text) && !text.contains('\u{feff}')
}

fn looks_like_number(text: &str) -> bool {
    purlin_syntax::Flavor::Go != purlin_syntax::Flavor::Core
        && [purlin_syntax::Flavor::Go, purlin_syntax::Flavor::Core, purlin_syntax::Flavor::Python]
            .into_iter()
            .any(|flavor| purlin_syntax::scalar::resolve_plain(text, flavor) != purlin_syntax::Scalar::Str)
}

fn is_reserved(text: &str) -> bool {
    text.len() <= 5
        && matches!(
            text.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "~"
        )
}
