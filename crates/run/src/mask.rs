//! Hides secrets in a stream of bytes, wherever the stream is cut.

use aho_corasick::{AhoCorasick, MatchKind};
use purlin_value::emit::REDACTED;
use purlin_value::encoding;

/// Texts shorter than this are too common to be replaced: a log without any `1` tells nothing.
pub const SHORTEST: usize = 3;

/// What is encoded has no spaces around it, so it takes more to tell it from chance.
const SHORTEST_ENCODED: usize = 8;
/// Of a longer text, its beginning is looked for.
const LONGEST_ENCODED: usize = 4_096;

/// The secrets of an action.
#[derive(Debug, Default)]
pub struct Mask {
    finder: Option<AhoCorasick>,
    secrets: Vec<Vec<u8>>,
    longest: usize,
}

impl Mask {
    /// A mask for some texts. Each line of a text of several lines is hidden too, since programs print them apart, and so
    /// is what a text is in JSON, in a URL, and in base 64 wherever in a longer text it stands.
    pub fn new<'t>(secrets: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all: Vec<Vec<u8>> = Vec::new();
        for secret in secrets {
            let escaped = serde_json::to_string(secret.trim()).unwrap_or_default();
            let lines = secret.lines().chain(escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')));
            let parts = std::iter::once(secret).chain(lines).map(str::trim).filter(|text| text.len() >= SHORTEST);
            all.extend(parts.map(|text| text.as_bytes().to_vec()));
            all.extend(encoded(secret.trim().get(..LONGEST_ENCODED).unwrap_or(secret.trim())));
        }
        all.sort();
        all.dedup();
        let longest = all.iter().map(Vec::len).max().unwrap_or(0);
        // A set of plain texts is always valid; without a finder everything would be shown, so nothing is.
        let finder = (!all.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&all).ok())
            .flatten();
        Mask { finder, secrets: all, longest }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Whether a text holds a secret.
    pub fn finds(&self, text: &str) -> bool {
        match &self.finder {
            Some(finder) => finder.is_match(text),
            None => !self.secrets.is_empty(),
        }
    }

    /// A text without its secrets.
    pub fn text(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        self.replace(text.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn replace(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(finder) = &self.finder else {
            match self.secrets.is_empty() {
                true => out.extend_from_slice(bytes),
                false => out.extend_from_slice(REDACTED.as_bytes()),
            }
            return;
        };
        let mut at = 0;
        for found in finder.find_iter(bytes) {
            out.extend_from_slice(bytes.get(at..found.start()).unwrap_or_default());
            out.extend_from_slice(REDACTED.as_bytes());
            at = found.end();
        }
        out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    }

    /// Where the longest end of `bytes` begins that a secret may begin with.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        let may_begin = |at: &usize| {
            let end = bytes.get(*at..).unwrap_or_default();
            // Sorted, so whoever begins with `end` is at or after it.
            let next = self.secrets.partition_point(|secret| secret.as_slice() < end);
            self.secrets.get(next).is_some_and(|secret| secret.len() > end.len() && secret.starts_with(end))
        };
        (first..bytes.len()).find(may_begin).unwrap_or(bytes.len())
    }
}

impl Mask {
    /// Takes the next piece of a stream; what is certain not to be part of a secret goes to `out`, the rest is held.
    pub fn pass(&self, piece: &[u8], held: &mut Vec<u8>, out: &mut Vec<u8>) {
        held.extend_from_slice(piece);
        if self.is_empty() {
            out.append(held);
            return;
        }
        // A secret may begin inside of another one's end: whole ones are replaced first, from the left.
        let mut end = self.open_end(held);
        if let Some(finder) = &self.finder {
            for found in finder.find_iter(held.as_slice()) {
                // A longer secret may still begin where this one does.
                if found.end() > end && found.start() < end {
                    end = found.start();
                    break;
                }
            }
        }
        let rest = held.split_off(end);
        self.replace(held, out);
        *held = rest;
    }

    /// What is held goes to `out`: the stream has ended.
    pub fn pass_rest(&self, held: &mut Vec<u8>, out: &mut Vec<u8>) {
        self.replace(&std::mem::take(held), out);
    }
}

/// A text as programs encode it: in a URL, and in base 64 behind so many bytes that they and it share a character.
fn encoded(text: &str) -> Vec<Vec<u8>> {
    let mut url = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    let within = (0..3).flat_map(|before| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
        // Characters that what stands before or behind has a part in tell too little.
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        let whole = encoding::base64(&bytes);
        let inner = whole.get(first..last).unwrap_or_default().to_owned();
        let for_urls = inner.replace('+', "-").replace('/', "_");
        [inner, for_urls]
    });
    let is_telling = |text: &String| text.len() >= SHORTEST_ENCODED;
    std::iter::once(url).chain(within).filter(is_telling).map(String::into_bytes).collect()
}

/// One stream that is masked.
#[derive(Debug)]
pub struct Masked<'m> {
    mask: &'m Mask,
    /// What may be the beginning of a secret.
    held: Vec<u8>,
}

impl<'m> Masked<'m> {
    /// A stream.
    pub fn new(mask: &'m Mask) -> Self {
        Masked { mask, held: Vec::new() }
    }

    /// What it hides.
    pub fn mask(&self) -> &'m Mask {
        self.mask
    }

    /// Takes a piece; what is certain not to be part of a secret goes to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.mask.pass(piece, &mut self.held, out);
    }

    /// The stream has ended.
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
}
