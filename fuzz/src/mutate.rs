//! Changes inputs: bytes, words, numbers, lines with their indentation, nesting.
//!
//! Most configuration is lines of words, so most changes respect lines or words; the rest are random noise.

use crate::random::Random;

/// Inputs are cut to this length, except those made long on purpose.
const USUAL: usize = 16 << 10;

/// Maximum length of an input.
const LONGEST: usize = 256 << 10;

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "00",
    "010",
    "0x1F",
    "0o17",
    "0b1",
    "1_000",
    "1e3",
    "1e309",
    "-0.0",
    ".5",
    "5.",
    "1.0",
    ".inf",
    "-.inf",
    ".nan",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "1e-400",
    "2147483648",
    "4294967296",
    "65536",
    "12:30:45",
    "2021-04-16",
    "2021-02-30T25:61:61Z",
    "1000000000",
];

const OPENERS: &[&str] = &[
    "[", "{", "(", "- ", "? ", "{{", "{%", "${", "\"", "'", "!", "&a ", "*a ", "| ", "> ", "a: ", "{a: ", "[[", "not ",
    "-", "{{if 1}}", "{{(", "${[", "a.", "a[0]", "::", "/",
];

/// Creates inputs from others.
pub struct Mutator<'w> {
    random: Random,
    words: &'w [&'static str],
}

impl<'w> Mutator<'w> {
    /// A mutator with the words of a language.
    pub fn new(seed: u64, words: &'w [&'static str]) -> Self {
        Mutator { random: Random::new(seed), words }
    }

    /// Its random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// A changed copy; `other` is spliced in occasionally.
    pub fn change(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.random.below(4) {
            self.step(&mut bytes, other);
        }
        let most = if self.random.once_in(50) { LONGEST } else { USUAL };
        bytes.truncate(most);
        bytes
    }

    fn step(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        match self.random.below(17) {
            0 => self.flip(bytes),
            1 => {
                let byte = self.byte();
                self.insert(bytes, &[byte]);
            }
            2 => self.delete(bytes),
            3 => self.duplicate(bytes),
            4 => self.splice(bytes, other),
            5 | 6 => {
                let word = self.word();
                self.insert(bytes, word.as_bytes());
            }
            7 | 8 => self.replace_word(bytes),
            9 => self.replace_number(bytes),
            10 => self.nest(bytes),
            11 => self.copy_line(bytes),
            12 => self.delete_line(bytes),
            13 => self.indent_line(bytes),
            14 => self.move_block(bytes),
            15 => self.repeat(bytes),
            _ => self.odd_text(bytes),
        }
    }

    fn byte(&mut self) -> u8 {
        const COMMON: &[u8] = b" \n\t:-[]{},'\"#&*!|>%@`?.$()=+/\\~^;<_0aA\0\r\x7f\x80\xc2\xff";
        self.random.one_of(COMMON).copied().unwrap_or(b' ')
    }

    fn word(&mut self) -> &'static str {
        self.random.one_of(self.words).copied().unwrap_or("a")
    }

    fn flip(&mut self, bytes: &mut [u8]) {
        let at = self.random.below(bytes.len());
        let byte = if self.random.once_in(2) { self.byte() } else { self.random.number() as u8 };
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
    }

    fn insert(&mut self, bytes: &mut Vec<u8>, piece: &[u8]) {
        let at = self.random.below(bytes.len() + 1);
        bytes.splice(at..at, piece.iter().copied());
    }

    /// A part of the input, mostly short.
    fn part(&mut self, len: usize) -> std::ops::Range<usize> {
        let from = self.random.below(len + 1);
        let longest = if self.random.once_in(4) { len - from } else { (len - from).min(20) };
        from..from + self.random.below(longest + 1)
    }

    fn delete(&mut self, bytes: &mut Vec<u8>) {
        let part = self.part(bytes.len());
        bytes.drain(part);
    }

    fn duplicate(&mut self, bytes: &mut Vec<u8>) {
        let part = self.part(bytes.len());
        let piece = bytes.get(part).unwrap_or(&[]).to_vec();
        self.insert(bytes, &piece);
    }

    fn splice(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let part = self.part(other.len());
        let piece = other.get(part).unwrap_or(&[]).to_vec();
        let gap = if self.random.once_in(2) { self.part(bytes.len()) } else { 0..0 };
        let at = if gap.is_empty() { self.random.below(bytes.len() + 1) } else { gap.start };
        bytes.splice(at..at.max(gap.end), piece);
    }

    /// Start and end of runs of bytes of a kind.
    fn runs(bytes: &[u8], is_kind: fn(u8) -> bool) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let mut start = None;
        for (at, &byte) in bytes.iter().chain(b"\n").enumerate() {
            match (is_kind(byte), start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    runs.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        runs
    }

    fn replace_run(&mut self, bytes: &mut Vec<u8>, is_kind: fn(u8) -> bool, text: &str) {
        let runs = Self::runs(bytes, is_kind);
        match self.random.one_of(&runs) {
            Some(&(from, to)) => drop(bytes.splice(from..to, text.bytes())),
            None => self.insert(bytes, text.as_bytes()),
        }
    }

    fn replace_word(&mut self, bytes: &mut Vec<u8>) {
        let word = self.word();
        self.replace_run(bytes, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-', word);
    }

    fn replace_number(&mut self, bytes: &mut Vec<u8>) {
        let number = self.random.one_of(NUMBERS).copied().unwrap_or("0");
        self.replace_run(bytes, |byte| byte.is_ascii_digit(), number);
    }

    /// Adds many opening brackets.
    fn nest(&mut self, bytes: &mut Vec<u8>) {
        let opener = self.random.one_of(OPENERS).copied().unwrap_or("[");
        let times = match self.random.below(40) {
            0 => 50_000,
            1..=4 => 1_100,
            5..=12 => 150,
            _ => 1 + self.random.below(12),
        };
        let piece = opener.repeat(times.min(LONGEST / opener.len()));
        self.insert(bytes, piece.as_bytes());
    }

    fn repeat(&mut self, bytes: &mut Vec<u8>) {
        let part = self.part(bytes.len());
        let piece = bytes.get(part).unwrap_or(&[]).to_vec();
        let times = if self.random.once_in(20) { 2_000 } else { 2 + self.random.below(20) };
        let piece = piece.repeat(times.min(LONGEST / piece.len().max(1)));
        self.insert(bytes, &piece);
    }

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        bytes.split_inclusive(|&byte| byte == b'\n').collect()
    }

    fn copy_line(&mut self, bytes: &mut Vec<u8>) {
        let lines = Self::lines(bytes);
        let (from, to) = (self.random.below(lines.len()), self.random.below(lines.len() + 1));
        let Some(line) = lines.get(from).copied() else { return };
        let mut changed = lines.clone();
        changed.insert(to.min(changed.len()), line);
        *bytes = changed.concat();
    }

    fn delete_line(&mut self, bytes: &mut Vec<u8>) {
        let mut lines = Self::lines(bytes);
        let at = self.random.below(lines.len());
        if at < lines.len() {
            lines.remove(at);
        }
        *bytes = lines.concat();
    }

    fn indent_line(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = Self::lines(bytes).into_iter().map(<[u8]>::to_vec).collect();
        let at = self.random.below(lines.len());
        let deeper = self.random.once_in(2);
        if let Some(line) = lines.get_mut(at) {
            if deeper {
                line.splice(0..0, *b"  ");
            } else {
                let blanks = line.iter().take_while(|&&byte| byte == b' ').count().min(2);
                line.drain(..blanks);
            }
        }
        *bytes = lines.concat();
    }

    /// Copies a line and everything indented below it to another place.
    fn move_block(&mut self, bytes: &mut Vec<u8>) {
        let lines = Self::lines(bytes);
        let indent = |line: &[u8]| line.iter().take_while(|&&byte| byte == b' ').count();
        let from = self.random.below(lines.len());
        let Some(first) = lines.get(from) else { return };
        let below = lines.iter().skip(from + 1).take_while(|line| indent(line) > indent(first)).count();
        let block: Vec<&[u8]> = lines.iter().skip(from).take(below + 1).copied().collect();
        let to = self.random.below(lines.len() + 1);
        let mut changed = lines.clone();
        changed.splice(to..to, block);
        *bytes = changed.concat();
    }

    /// Text that is difficult for readers: marks, halves of characters, unusual line breaks.
    fn odd_text(&mut self, bytes: &mut Vec<u8>) {
        const ODD: &[&[u8]] = &[
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\xc3",
            b"\xed\xa0\x80",
            b"\xf0\x9f\x98\x80",
            b"\xe2\x80\xa8",
            b"\xc2\x85",
            b"\r\n",
            b"\r",
            b"\0",
            b"\x1b[31m",
            b"\xcc\x81",
            b"\xef\xbf\xbd",
            b"\xef\xbf\xbf",
            b"%YAML 1.1\n---\n",
            b"\n---\n",
            b"\n...\n",
            b"\t",
            b"<<: *a\n",
            b"\xe2\x80\xae",
            b"\xc3\x9f",
            b"\xc4\xb0",
        ];
        let piece = self.random.one_of(ODD).copied().unwrap_or(b"\0");
        self.insert(bytes, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_none_is_too_long() {
        let (mut one, mut two) = (Mutator::new(7, &["word"]), Mutator::new(7, &["word"]));
        let mut input = b"a: 1\nb:\n  - c\n".to_vec();
        for _ in 0..2_000 {
            let next = one.change(&input, b"other: [1, 2]\n");
            assert_eq!(next, two.change(&input, b"other: [1, 2]\n"));
            assert!(next.len() <= LONGEST);
            input = next;
        }
    }
}
