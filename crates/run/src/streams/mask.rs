//! Hides secrets in a stream of bytes, wherever the stream is split.

use aho_corasick::{AhoCorasick, MatchKind};
use purlin_value::emit::REDACTED;
use purlin_value::encoding;

/// Shorter texts are too common to be replaced: a log without any `1` is useless.
pub const SHORTEST: usize = 3;

/// Encoded text has no spaces around it, so a longer match is required to rule out chance.
const SHORTEST_ENCODED: usize = 6;

/// Encoded prefixes shorter than this at the end of a line are not held back: nearly every line ends with characters
/// that a secret could begin with.
const SHORTEST_WRAPPED: usize = 4;
/// Of a longer text, only the beginning is searched for.
const LONGEST_ENCODED: usize = 4_096;

/// The secrets of an action.
#[derive(Debug, Default)]
pub struct Mask {
    finder: Option<AhoCorasick>,
    secrets: Vec<Vec<u8>>,
    longest: usize,
    /// Encodings that programs print in lines of a fixed width: searched for as if there were no line breaks.
    wrapped: Option<Wrapped>,
}

/// Texts in base 64.
#[derive(Debug)]
struct Wrapped {
    finder: AhoCorasick,
    texts: Vec<Vec<u8>>,
    longest: usize,
}

impl Mask {
    /// A mask for some texts. Each line of a multi-line text is hidden too, since programs print lines separately. So
    /// are its encodings as JSON, as a URL, in shell quotes, in hexadecimal digits, and in base64 at any offset within
    /// a longer text and with any line breaks.
    pub fn new<'t>(secrets: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all: Vec<Vec<u8>> = Vec::new();
        let mut in_lines: Vec<Vec<u8>> = Vec::new();
        for secret in secrets {
            let escaped = serde_json::to_string(secret.trim()).unwrap_or_default();
            let lines = secret.lines().chain(escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')));
            let parts = std::iter::once(secret).chain(lines).map(str::trim).filter(|text| text.len() >= SHORTEST);
            all.extend(parts.map(|text| text.as_bytes().to_vec()));
            let text = secret.trim().get(..LONGEST_ENCODED).unwrap_or(secret.trim());
            all.extend(encoded(text));
            for inner in in_base64(text) {
                in_lines.extend(
                    (0..SHORTEST_WRAPPED).filter_map(|from| inner.get(from..)).map(|text| text.as_bytes().to_vec()),
                );
            }
        }
        all.sort();
        all.dedup();
        let longest = all.iter().map(Vec::len).max().unwrap_or(0);
        // A set of plain texts is always valid; without a finder everything would be shown, so nothing is.
        let finder = (!all.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&all).ok())
            .flatten();
        Mask { finder, secrets: all, longest, wrapped: Wrapped::new(in_lines) }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Whether a text contains a secret.
    pub fn finds(&self, text: &str) -> bool {
        match &self.finder {
            Some(_) => !self.spans(text.as_bytes()).is_empty(),
            None => !self.secrets.is_empty(),
        }
    }

    /// The positions of secrets, from left to right without overlaps.
    fn spans(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let plain = self.finder.iter().flat_map(|finder| finder.find_iter(bytes));
        let mut spans: Vec<(usize, usize)> = plain.map(|found| (found.start(), found.end())).collect();
        if let Some(wrapped) = &self.wrapped {
            spans.extend(wrapped.spans(bytes));
            spans.sort_unstable();
        }
        let mut apart: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
        for (start, end) in spans {
            match apart.last_mut().filter(|last| start < last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => apart.push((start, end)),
            }
        }
        apart
    }

    /// A text without its secrets.
    pub fn text(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        self.replace(text.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn replace(&self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.finder.is_none() {
            match self.secrets.is_empty() {
                true => out.extend_from_slice(bytes),
                false => out.extend_from_slice(REDACTED.as_bytes()),
            }
            return;
        }
        let mut at = 0;
        for (start, end) in self.spans(bytes) {
            out.extend_from_slice(bytes.get(at..start).unwrap_or_default());
            out.extend_from_slice(REDACTED.as_bytes());
            at = end;
        }
        out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    }

    /// The start of the longest suffix of `bytes` that is a prefix of a secret.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        let may_begin = |at: &usize| {
            let end = bytes.get(*at..).unwrap_or_default();
            // Sorted, so a secret that begins with `end` is at or after it.
            let next = self.secrets.partition_point(|secret| secret.as_slice() < end);
            self.secrets.get(next).is_some_and(|secret| secret.len() > end.len() && secret.starts_with(end))
        };
        (first..bytes.len()).find(may_begin).unwrap_or(bytes.len())
    }
}

impl Mask {
    /// Takes the next piece of a stream; bytes that cannot be part of a secret go to `out`, the rest is held.
    pub fn pass(&self, piece: &[u8], held: &mut Vec<u8>, out: &mut Vec<u8>) {
        held.extend_from_slice(piece);
        if self.is_empty() {
            out.append(held);
            return;
        }
        // A secret may begin within the end of another one: complete ones are replaced first, from the left.
        let mut end = self.open_end(held);
        if let Some(wrapped) = &self.wrapped {
            end = end.min(wrapped.open_end(held));
        }
        // A longer secret may still begin at the start of a complete one.
        if let Some((start, _)) = self.spans(held).into_iter().find(|span| span.1 > end && span.0 < end) {
            end = start;
        }
        let rest = held.split_off(end);
        self.replace(held, out);
        *held = rest;
    }

    /// Writes the held bytes to `out` at the end of the stream.
    pub fn pass_rest(&self, held: &mut Vec<u8>, out: &mut Vec<u8>) {
        self.replace(&std::mem::take(held), out);
    }
}

impl Wrapped {
    fn new(mut texts: Vec<Vec<u8>>) -> Option<Self> {
        texts.retain(|text| text.len() >= SHORTEST_ENCODED);
        texts.sort();
        texts.dedup();
        let longest = texts.iter().map(Vec::len).max()?;
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts).ok()?;
        Some(Wrapped { finder, texts, longest })
    }

    /// The positions of texts that contain line breaks.
    fn spans(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        if !bytes.iter().any(is_line_end) {
            return Vec::new();
        }
        let (text, places) = unwrapped(bytes);
        let span = |found: aho_corasick::Match| {
            let (first, last) = (*places.get(found.start())?, *places.get(found.end().checked_sub(1)?)?);
            (last - first >= found.len()).then_some((first, last + 1))
        };
        self.finder.find_iter(&text).filter_map(span).collect()
    }

    /// The start of the longest suffix of `bytes` that is a prefix of a text and has a line break in or after it.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let reach = bytes.len().saturating_sub(2 * self.longest + 2);
        let last = bytes.get(reach..).unwrap_or_default();
        if !last.iter().any(is_line_end) {
            return bytes.len();
        }
        let (text, places) = unwrapped(last);
        let may_begin = |at: &usize| {
            let end = text.get(*at..).unwrap_or_default();
            let next = self.texts.partition_point(|known| known.as_slice() < end);
            self.texts.get(next).is_some_and(|known| known.len() > end.len() && known.starts_with(end))
        };
        let found = (0..text.len().saturating_sub(SHORTEST_WRAPPED - 1)).find(may_begin);
        found.and_then(|at| places.get(at)).map_or(bytes.len(), |place| reach + place)
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Bytes without line breaks, and their original positions.
fn unwrapped(bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    bytes.iter().enumerate().filter(|(_, byte)| !is_line_end(byte)).map(|(at, byte)| (*byte, at)).unzip()
}

/// A text in base64 at each of the three possible byte offsets. Characters that also encode bits of the text before or
/// after it are left out: they vary.
fn in_base64(text: &str) -> impl Iterator<Item = String> {
    (0..3).map(move |before| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        encoding::base64(&bytes).get(first..last).unwrap_or_default().to_owned()
    })
}

/// A text as programs encode it: in URLs, JSON, shell quotes, hexadecimal digits, and base64.
fn encoded(text: &str) -> Vec<Vec<u8>> {
    let urls = [in_url(text, "", false), in_url(text, "!*'()", false), in_url(text, "", true)];
    let urls = urls.into_iter().flat_map(|url| [url.to_lowercase_escapes(), url.0]);
    let json = [in_json(text, false), in_json(text, true)];
    let digits = encoding::hex(text.as_bytes());
    let others = [text.replace('\'', "'\\''"), digits.to_ascii_uppercase(), digits];
    let base64 = in_base64(text).flat_map(|inner| [inner.replace('+', "-").replace('/', "_"), inner]);
    let all = urls.chain(json).chain(others).chain(base64);
    all.filter(|text| text.len() >= SHORTEST_ENCODED).map(String::into_bytes).collect()
}

/// A text in a URL.
struct Url(String);

impl Url {
    /// The same with lowercase escapes.
    fn to_lowercase_escapes(&self) -> String {
        let mut parts = self.0.split('%');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
            text.push('%');
            text.push_str(&digits.to_ascii_lowercase());
            text.push_str(rest);
        }
        text
    }
}

/// A text in a URL; forms have a plus for a space, and some programs leave more characters unescaped.
fn in_url(text: &str, plain: &str, is_form: bool) -> Url {
    let mut url = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            b' ' if is_form => url.push('+'),
            byte if plain.as_bytes().contains(&byte) => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    Url(url)
}

/// A text in JSON, for programs that escape characters special in HTML, and others that escape all non-ASCII
/// characters.
fn in_json(text: &str, is_ascii: bool) -> String {
    let mut json = String::new();
    for c in serde_json::to_string(text).unwrap_or_default().trim_matches('"').chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if is_ascii && !c.is_ascii() => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| json.push_str(&format!("\\u{unit:04x}")));
            }
            c => json.push(c),
        }
    }
    json
}

/// One masked stream.
#[derive(Debug)]
pub struct Masked<'m> {
    mask: &'m Mask,
    /// A possible beginning of a secret.
    held: Vec<u8>,
}

impl<'m> Masked<'m> {
    /// A stream.
    pub fn new(mask: &'m Mask) -> Self {
        Masked { mask, held: Vec::new() }
    }

    /// Its mask.
    pub fn mask(&self) -> &'m Mask {
        self.mask
    }

    /// Takes a piece; bytes that cannot be part of a secret go to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.mask.pass(piece, &mut self.held, out);
    }

    /// Writes the rest at the end of the stream.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.mask.pass_rest(&mut self.held, out);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cut(mask: &Mask, text: &[u8], at: &[usize]) -> String {
        let mut stream = Masked::new(mask);
        let mut out = Vec::new();
        let mut from = 0;
        for &to in at.iter().chain([&text.len()]) {
            stream.push(&text[from.min(to)..to], &mut out);
            from = to.max(from);
        }
        stream.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_secret_is_hidden_wherever_the_stream_is_cut() {
        let mask = Mask::new(["hunter2", "hunter2-and-more", "line one\nline two", "nte"]);
        let text = b"a hunter2-and-more hunter2 hunter2-and line two hunt line one\nline two\n";
        let whole = cut(&mask, text, &[]);
        assert!(!whole.contains("hunter2") && !whole.contains("line"), "{whole}");
        for first in 0..text.len() {
            for second in first..text.len() {
                let found = cut(&mask, text, &[first, second]);
                assert!(!found.contains("hunter2") && !found.contains("line "), "{first} {second}: {found}");
            }
        }
    }

    #[test]
    fn a_line_that_may_not_begin_a_secret_is_not_held_back() {
        let mask = Mask::new(["hunter2"]);
        let mut stream = Masked::new(&mask);
        let mut out = Vec::new();
        stream.push(b"ready\n", &mut out);
        assert_eq!(out, b"ready\n");
    }

    #[test]
    fn a_secret_is_hidden_as_programs_encode_it() {
        let mask = Mask::new(["hunter2?and more"]);
        for before in ["", "a", "ab", "user:"] {
            for behind in ["", "\n", "@host"] {
                let text = encoding::base64(format!("{before}hunter2?and more{behind}").as_bytes());
                assert!(mask.text(&text).contains(REDACTED), "{text}");
                assert!(mask.text(&text.replace('/', "_")).contains(REDACTED), "{text}");
            }
        }
        assert_eq!(mask.text("https://h/?p=hunter2%3Fand%20more&x"), format!("https://h/?p={REDACTED}&x"));
        assert_eq!(mask.text("hunter"), "hunter");
    }

    #[test]
    fn short_texts_are_shown() {
        assert!(Mask::new(["a", "ab", "  ", ""]).is_empty());
    }

    #[test]
    fn base_64_is_hidden_in_lines_of_any_width_wherever_the_stream_is_cut() {
        let secret = "correct horse battery staple, and a good deal more than fits in one line of any tool";
        let mask = Mask::new([secret, "abc123"]);
        for before in ["", "x", "xy", "a longer text before it, which moves the line ends: "] {
            let whole = encoding::base64(format!("{before}{secret} and behind").as_bytes());
            for width in [20, 60, 64, 76] {
                let pieces: Vec<&str> = (0..whole.len().div_ceil(width))
                    .map(|line| &whole[line * width..whole.len().min((line + 1) * width)])
                    .collect();
                for end in ["\n", "\r\n"] {
                    let text = format!("{}{end}", pieces.join(end));
                    for at in 0..text.len() {
                        let found = cut(&mask, text.as_bytes(), &[at]);
                        let left: Vec<&str> = found.split(REDACTED).collect();
                        let shown: usize = left.iter().map(|part| part.trim().len()).sum();
                        // The text before and after it, and characters that it shares with the secret.
                        let other = encoding::base64(before.as_bytes()).len() + encoding::base64(b" and behind").len();
                        assert!(shown <= other + 2 * SHORTEST_WRAPPED + 8, "{width} {at}: {found}");
                    }
                }
            }
        }
        assert!(mask.finds(&encoding::base64(b"user:abc123")));
    }

    #[test]
    fn forms_that_programs_print_are_hidden() {
        let mask = Mask::new(["a<b&c d'é/?"]);
        for text in [
            r"a\u003cb\u0026c d'é/?",
            r"a\u003cb\u0026c d'\u00e9/?",
            "a%3cb%26c%20d%27%c3%a9%2f%3f",
            "a%3Cb%26c+d%27%C3%A9%2F%3F",
            "a%3Cb%26c%20d'%C3%A9%2F%3F",
            r"a<b&c d'\''é/?",
            "613c6226632064",
        ] {
            let shown = mask.text(text);
            assert!(shown.contains(REDACTED) || text == "613c6226632064", "{text}: {shown}");
        }
        assert!(mask.text(&encoding::hex("a<b&c d'é/?".as_bytes())).contains(REDACTED));
    }
}
