//! Random choices that are the same in every run.

/// A source of choices.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }

    /// A text that occurs nowhere else. It has no letter twice in a row and mixes cases, so that every function leaves
    /// a trace of it that cannot be a coincidence.
    pub fn canary(&mut self) -> String {
        const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZbcdfghjkmnpqrstvwxz23456789";
        let mut out = String::from("Q");
        while out.len() < 20 {
            let letter = char::from(LETTERS[self.below(LETTERS.len())]);
            if !out.to_lowercase().ends_with(letter.to_ascii_lowercase()) {
                out.push(letter);
            }
        }
        out
    }

    /// A secret number of nine digits.
    pub fn number(&mut self) -> String {
        (100_000_000 + self.next() % 900_000_000).to_string()
    }

    /// A text put through some of the wrappers, in which `@` is the placeholder.
    pub fn wrapped(&mut self, leaf: &str, wrappers: &[&str]) -> String {
        let mut out = leaf.to_owned();
        for _ in 0..1 + self.below(3) {
            out = self.pick(wrappers).replace('@', &out);
        }
        out
    }
}
