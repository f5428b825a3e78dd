//! Texts made by a grammar from a string of choices.
//!
//! A production is a text with symbols in angle brackets, `(repeat <n> <s>)`. Every decision takes one byte of the
//! choices, so a program can be mutated, kept and made smaller as any other input. Knows no dialect.

use std::collections::HashMap;

/// Deeper symbols take their first production, which leads nowhere else.
const DEEPEST: usize = 6;

/// A program is not longer, whatever is chosen.
const LONGEST: usize = 64 << 10;

/// Bytes that decide.
#[derive(Debug)]
pub struct Choices<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Choices<'b> {
    /// Decisions by these bytes; when they are used up the first of every choice is taken.
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes, at: 0 }
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) * bound.max(1) / 256
    }

    fn are_used_up(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// Symbols and what each can stand for.
#[derive(Debug, Default)]
pub struct Grammar {
    symbols: HashMap<String, Vec<String>>,
}

impl Grammar {
    /// A grammar from rows of a symbol and its productions, of which the first holds no symbol that leads back.
    pub fn new(rows: &[(&str, &[&str])]) -> Self {
        let mut grammar = Grammar::default();
        for (symbol, productions) in rows {
            grammar.add(symbol, productions.iter().map(|&text| text.to_owned()));
        }
        grammar
    }

    /// Adds productions to a symbol.
    pub fn add(&mut self, symbol: &str, productions: impl IntoIterator<Item = String>) {
        self.symbols.entry(symbol.to_owned()).or_default().extend(productions);
    }

    /// A text by a production. `<lower>` is a number below `level`, `<last>` the greatest of them, `<level>`
    /// the level itself.
    pub fn text(&self, production: &str, level: usize, choices: &mut Choices<'_>) -> String {
        let mut out = String::new();
        self.expand(production, level, 0, choices, &mut out);
        out
    }

    fn expand(&self, production: &str, level: usize, depth: usize, choices: &mut Choices<'_>, out: &mut String) {
        let mut rest = production;
        while let Some((before, behind)) = rest.split_once('<') {
            out.push_str(before);
            // A sign that begins no symbol is text.
            let symbol = behind.split_once('>').filter(|(name, _)| is_name(name));
            let Some((symbol, after)) = symbol else {
                out.push('<');
                rest = behind;
                continue;
            };
            rest = after;
            match (symbol, self.symbols.get(symbol)) {
                ("lower", _) => out.push_str(&choices.below(level).to_string()),
                ("last", _) => out.push_str(&level.saturating_sub(1).to_string()),
                ("level", _) => out.push_str(&level.to_string()),
                (_, Some(productions)) => {
                    let must_end = depth >= DEEPEST || choices.are_used_up() || out.len() > LONGEST;
                    let at = if must_end { 0 } else { choices.below(productions.len()) };
                    if let Some(chosen) = productions.get(at) {
                        self.expand(chosen, level, depth + 1, choices, out);
                    }
                }
                (unknown, None) => out.push_str(unknown),
            }
        }
        out.push_str(rest);
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_decide_and_run_out() {
        let grammar = Grammar::new(&[("e", &["1", "(<e> + <e>)"])]);
        assert_eq!(grammar.text("<e>", 0, &mut Choices::new(&[])), "1");
        assert_eq!(grammar.text("<e>", 0, &mut Choices::new(&[200, 200, 0, 0, 0])), "((1 + 1) + 1)");
        assert!(grammar.text("<e>", 0, &mut Choices::new(&[255; 10_000])).len() < LONGEST);
    }

    #[test]
    fn levels_refer_to_lower_ones() {
        let grammar = Grammar::default();
        assert_eq!(grammar.text("v<level>: <lower> < <lower>", 3, &mut Choices::new(&[255])), "v3: 2 < 0");
    }
}
