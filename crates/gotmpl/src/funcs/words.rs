//! Functions on texts as words: cases, abbreviations, wrapping, plurals; and random texts.

use super::strings::{to_lower, to_upper};
use super::{bytes, int, row, text};
use crate::error::{Fault, Limit};
use crate::func::{Func, Ty};
use crate::machine::Machine;
use crate::value::Val;

/// The rows.
pub static FUNCS: &[Func] = &[
    row("title", &[Ty::Str], "`title TEXT`: every word with a capital.", |_, args| Ok(Val::str(title(&text(args, 0))))),
    row("untitle", &[Ty::Str], "`untitle TEXT`: every word without a capital.", |_, args| {
        let mut previous = ' ';
        let changed: String = text(args, 0)
            .chars()
            .map(|ch| {
                let first = previous.is_whitespace();
                previous = ch;
                if first { to_lower(ch) } else { ch }
            })
            .collect();
        Ok(Val::str(changed))
    }),
    row("swapcase", &[Ty::Str], "`swapcase TEXT`: upper case made lower and lower upper.", |_, args| {
        Ok(Val::str(swap_case(&text(args, 0))))
    }),
    row("snakecase", &[Ty::Str], "`snakecase TEXT`: as_words_with_underscores.", |_, args| {
        Ok(Val::str(delimited(&text(args, 0), '_')))
    }),
    row("kebabcase", &[Ty::Str], "`kebabcase TEXT`: as-words-with-dashes.", |_, args| {
        Ok(Val::str(delimited(&text(args, 0), '-')))
    }),
    row("camelcase", &[Ty::Str], "`camelcase TEXT`: AsWordsWithCapitals.", |_, args| {
        Ok(Val::str(camel(&text(args, 0))))
    }),
    row(
        "abbrev",
        &[Ty::Int, Ty::Str],
        "`abbrev N TEXT`: at most N characters, the end replaced by `...`.",
        |_, args| Ok(Val::str(abbreviate(&text(args, 1), 0, int(args, 0)))),
    ),
    row(
        "abbrevboth",
        &[Ty::Int, Ty::Int, Ty::Str],
        "`abbrevboth LEFT N TEXT`: at most N characters, both ends replaced by `...`.",
        |_, args| {
            let (left, right) = (int(args, 0), int(args, 1));
            let whole = text(args, 2);
            if right < 4 || left > 0 && right < 7 {
                return Ok(Val::str(whole.into_owned()));
            }
            Ok(Val::str(abbreviate(&whole, left, right)))
        },
    ),
    row("initials", &[Ty::Str], "`initials TEXT`: the first letter of every word.", |_, args| {
        let mut out = String::new();
        let mut previous = ' ';
        for ch in text(args, 0).chars() {
            if previous.is_whitespace() && !ch.is_whitespace() {
                out.push(ch);
            }
            previous = ch;
        }
        Ok(Val::str(out))
    }),
    row("wrap", &[Ty::Int, Ty::Str], "`wrap N TEXT`: lines broken at spaces after N characters.", |_, args| {
        Ok(Val::str(wrap(&text(args, 1), int(args, 0), "\n", false)))
    }),
    row(
        "wrapWith",
        &[Ty::Int, Ty::Str, Ty::Str],
        "`wrapWith N BREAK TEXT`: like `wrap` with another break, long words split.",
        |_, args| Ok(Val::str(wrap(&text(args, 2), int(args, 0), &text(args, 1), true))),
    ),
    row("plural", &[Ty::Str, Ty::Str, Ty::Int], "`plural ONE MANY N`: ONE if N is 1, else MANY.", |_, args| {
        Ok(Val::str(bytes(args, if int(args, 2) == 1 { 0 } else { 1 })))
    }),
    row("shuffle", &[Ty::Str], "`shuffle TEXT`: the characters in random order.", |m, args| {
        let mut chars: Vec<char> = text(args, 0).chars().collect();
        let mut random = m.random();
        for index in (1..chars.len()).rev() {
            chars.swap(index, random.below(index as u64 + 1) as usize);
        }
        Ok(Val::str(chars.into_iter().collect::<String>()))
    }),
    row("randAlphaNum", &[Ty::Int], "`randAlphaNum N`: N random letters and digits.", |m, args| {
        random_text(m, int(args, 0), b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    }),
    row("randAlpha", &[Ty::Int], "`randAlpha N`: N random letters.", |m, args| {
        random_text(m, int(args, 0), b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    }),
    row("randNumeric", &[Ty::Int], "`randNumeric N`: N random digits.", |m, args| {
        random_text(m, int(args, 0), b"0123456789")
    }),
    row("randAscii", &[Ty::Int], "`randAscii N`: N random printable characters.", |m, args| {
        let printable: Vec<u8> = (32..127).collect();
        random_text(m, int(args, 0), &printable)
    }),
];

fn title(whole: &str) -> String {
    let mut previous = ' ';
    let mut out = String::new();
    for ch in whole.chars() {
        let inside = previous.is_alphanumeric() || previous == '_';
        out.push(if inside { ch } else { to_upper(ch) });
        previous = ch;
    }
    out
}

fn swap_case(whole: &str) -> String {
    let mut after_space = true;
    let mut out = String::new();
    for ch in whole.chars() {
        if ch.is_uppercase() {
            out.push(to_lower(ch));
            after_space = false;
        } else if ch.is_lowercase() {
            out.push(to_upper(ch));
            after_space = false;
        } else {
            after_space = ch.is_whitespace();
            out.push(ch);
        }
    }
    let _ = after_space;
    out
}

/// What a run of characters is, when a name is split into words.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Nothing,
    Connector,
    Punctuation,
    Upper,
    Lower,
    Number,
    Other,
}

fn is_connector(ch: char) -> bool {
    matches!(ch, '_' | '-') || ch.is_whitespace()
}

fn is_punctuation(ch: char) -> bool {
    ch.is_ascii_punctuation() && !matches!(ch, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}

/// Letters of alphabets that have words; ideographs do not.
fn is_alphabet(ch: char) -> bool {
    ch.is_alphabetic()
        && !matches!(u32::from(ch), 0x2e80..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// Takes the next word off a name.
fn next_word<'n>(name: &mut &'n [char]) -> (Run, &'n [char]) {
    let all = *name;
    let Some(&first) = all.first() else { return (Run::Nothing, &[]) };
    let run =
        |test: &dyn Fn(char) -> bool, from: usize| from + all.iter().skip(from).take_while(|ch| test(**ch)).count();
    let lower = |ch: char| is_alphabet(ch) && !ch.is_uppercase();
    let (kind, len) = if is_connector(first) {
        (Run::Connector, run(&is_connector, 1))
    } else if is_punctuation(first) {
        (Run::Punctuation, run(&is_punctuation, 1))
    } else if first.is_uppercase() {
        let capitals = run(&char::is_uppercase, 1);
        // "HTTPStatus" is "HTTP" and "Status": the last capital belongs to what follows.
        let next = all.get(capitals).copied();
        let len = match capitals {
            1 => run(&lower, 1),
            _ if next.is_some_and(is_alphabet) => capitals - 1,
            _ => capitals,
        };
        (Run::Upper, len)
    } else if is_alphabet(first) {
        (Run::Lower, run(&lower, 1))
    } else if first.is_numeric() {
        (Run::Number, run(&char::is_numeric, 1))
    } else {
        let other = |ch: char| !is_connector(ch) && !is_alphabet(ch) && !ch.is_numeric() && !is_punctuation(ch);
        (Run::Other, run(&other, 1))
    };
    let (word, rest) = all.split_at(len.min(all.len()));
    *name = rest;
    (kind, word)
}

/// A name as lower-case words with a connector between them; digits stay with the word before unless letters follow.
fn delimited(whole: &str, connector: char) -> String {
    let chars: Vec<char> = whole.chars().collect();
    let mut rest: &[char] = &chars;
    let mut out = String::new();
    let write = |out: &mut String, word: &[char]| {
        out.extend(word.iter().map(|ch| if is_connector(*ch) { connector } else { to_lower(*ch) }));
    };
    let separates = |kind: Run| !matches!(kind, Run::Nothing | Run::Punctuation | Run::Connector);
    let (mut kind, mut word) = next_word(&mut rest);
    while !rest.is_empty() {
        if kind != Run::Connector {
            write(&mut out, word);
        }
        let (before, last) = (kind, word);
        (kind, word) = next_word(&mut rest);
        match before {
            Run::Number => {
                while matches!(kind, Run::Lower | Run::Number) {
                    write(&mut out, word);
                    (kind, word) = next_word(&mut rest);
                }
                if separates(kind) {
                    out.push(connector);
                }
            }
            Run::Connector => write(&mut out, last),
            Run::Punctuation => {}
            _ if kind != Run::Number => {
                if separates(kind) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word) = next_word(&mut rest);
                if kind != Run::Lower {
                    write(&mut out, number);
                    if separates(kind) {
                        out.push(connector);
                    }
                    continue;
                }
                out.push(connector);
                write(&mut out, number);
                while matches!(kind, Run::Lower | Run::Number) {
                    write(&mut out, word);
                    (kind, word) = next_word(&mut rest);
                }
                if separates(kind) {
                    out.push(connector);
                }
            }
        }
    }
    write(&mut out, word);
    out
}

/// A name as words with capitals; connectors at the start stay, of those between words all but one.
fn camel(whole: &str) -> String {
    let mut out = String::new();
    let mut chars = whole.chars();
    let mut current = None;
    for ch in chars.by_ref() {
        if !is_connector(ch) {
            current = Some(to_upper(ch));
            break;
        }
        out.push(ch);
    }
    let Some(mut current) = current else { return out };
    for ch in chars {
        let previous = std::mem::replace(&mut current, ch);
        if is_connector(ch) && is_connector(previous) {
            out.push(previous);
        } else if is_connector(previous) {
            current = to_upper(ch);
        } else {
            out.push(previous);
        }
    }
    out.push(current);
    out
}

/// Cuts a text to `width` characters around `offset`, marking what was cut.
fn abbreviate(whole: &str, offset: i64, width: i64) -> String {
    let chars: Vec<char> = whole.chars().collect();
    let len = chars.len() as i64;
    if width < 4 || len <= width {
        return whole.to_owned();
    }
    let mut offset = offset.clamp(0, len);
    if len - offset < width - 3 {
        offset = len - (width - 3);
    }
    let take = |from: i64, count: i64| -> String {
        chars.iter().skip(from.max(0) as usize).take(count.max(0) as usize).collect()
    };
    if offset <= 4 {
        return format!("{}...", take(0, width - 3));
    }
    if width < 7 {
        return whole.to_owned();
    }
    if offset + width - 3 < len {
        return format!("...{}", abbreviate(&take(offset, len), 0, width - 3));
    }
    format!("...{}", take(len - (width - 3), len))
}

fn wrap(whole: &str, width: i64, line_break: &str, split_words: bool) -> String {
    let width = width.max(1) as usize;
    let chars: Vec<char> = whole.chars().collect();
    let mut out = String::new();
    let mut offset = 0;
    let is_space = |index: usize| chars.get(index) == Some(&' ');
    let range = |from: usize, to: usize| -> String { chars.iter().skip(from).take(to.saturating_sub(from)).collect() };
    while chars.len() - offset > width {
        if is_space(offset) {
            offset += 1;
            continue;
        }
        let space = (offset..=(offset + width).min(chars.len() - 1)).rev().find(|index| is_space(*index));
        match space {
            Some(space) if space > offset => {
                out.push_str(&range(offset, space));
                out.push_str(line_break);
                offset = space + 1;
            }
            _ if split_words => {
                out.push_str(&range(offset, offset + width));
                out.push_str(line_break);
                offset += width;
            }
            _ => match (offset + width..chars.len()).find(|index| is_space(*index)) {
                Some(space) => {
                    out.push_str(&range(offset, space));
                    out.push_str(line_break);
                    offset = space + 1;
                }
                None => {
                    out.push_str(&range(offset, chars.len()));
                    offset = chars.len();
                }
            },
        }
    }
    out.push_str(&range(offset, chars.len()));
    out
}

fn random_text(m: &mut Machine<'_>, count: i64, alphabet: &[u8]) -> Result<Val, Fault> {
    if count < 0 {
        return Err(Fault::new("runtime error: makeslice: len out of range"));
    }
    if count as u64 > m.limits.text as u64 {
        return Err(Fault::Limit(Limit::Text));
    }
    m.spend(count as usize / 8)?;
    let mut random = m.random();
    let pick = |random: &mut crate::random::Random| {
        let at = random.below(alphabet.len() as u64) as usize;
        alphabet.get(at).copied().unwrap_or(b'?')
    };
    Ok(Val::str((0..count).map(|_| pick(&mut random)).collect::<Vec<u8>>()))
}
