//! Functions on the words of a text: cases, abbreviations, wrapping, plurals; and random texts.

use crate::error::{Fault, Limit};
use crate::func::{Func, Run, Ty};
use crate::funcs::strings::{to_lower, to_upper};
use crate::funcs::{bytes, int, row as plain_row, text};
use crate::machine::Machine;
use crate::value::Val;
use purlin_value::Cost;

/// Steps of drawing a random character.
const RANDOM_STEPS: usize = 8;

/// A function that reads every character.
const fn row(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    plain_row(name, params, about, run).costs(Cost::Slow)
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
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
        |_, args| Ok(Val::str(abbreviate(bytes(args, 1), 0, int(args, 0)))),
    ),
    row(
        "abbrevboth",
        &[Ty::Int, Ty::Int, Ty::Str],
        "`abbrevboth LEFT N TEXT`: at most N characters, both ends replaced by `...`.",
        |_, args| {
            let (left, right) = (int(args, 0), int(args, 1));
            let whole = bytes(args, 2);
            if right < 4 || left > 0 && right < 7 {
                return Ok(Val::str(whole));
            }
            Ok(Val::str(abbreviate(whole, left, right)))
        },
    ),
    row("initials", &[Ty::Str], "`initials TEXT`: the first letter of every word.", |_, args| {
        let whole = text(args, 0);
        let mut out = String::new();
        let mut previous = ' ';
        for (index, ch) in whole.char_indices() {
            if previous.is_whitespace() && !ch.is_whitespace() {
                // The original treats the word's first byte as a character.
                out.extend(whole.as_bytes().get(index).copied().map(char::from));
            }
            previous = ch;
        }
        Ok(Val::str(out))
    }),
    row("wrap", &[Ty::Int, Ty::Str], "`wrap N TEXT`: lines broken at spaces after N characters.", |m, args| {
        wrap(m, bytes(args, 1), int(args, 0), b"\n", false)
    }),
    row(
        "wrapWith",
        &[Ty::Int, Ty::Str, Ty::Str],
        "`wrapWith N BREAK TEXT`: like `wrap` with another break, long words split.",
        |m, args| {
            let line_break = if bytes(args, 1).is_empty() { b"\n" } else { bytes(args, 1) };
            wrap(m, bytes(args, 2), int(args, 0), line_break, true)
        },
    ),
    row("plural", &[Ty::Str, Ty::Str, Ty::Int], "`plural ONE MANY N`: ONE if N is 1, else MANY.", |_, args| {
        Ok(Val::str(bytes(args, if int(args, 2) == 1 { 0 } else { 1 })))
    }),
    row("shuffle", &[Ty::Str], "`shuffle TEXT`: the characters in random order.", |m, args| {
        let mut chars: Vec<char> = text(args, 0).chars().collect();
        m.spend(chars.len() * RANDOM_STEPS)?;
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
        out.push(if separates_words(previous) { to_title(ch) } else { ch });
        previous = ch;
    }
    out
}

/// In ASCII all but letters, digits and the underscore; beyond that only white space.
fn separates_words(ch: char) -> bool {
    if ch.is_ascii() { !ch.is_ascii_alphanumeric() && ch != '_' } else { ch.is_whitespace() }
}

/// The title case of a character, which differs from upper case for a few letters.
fn to_title(ch: char) -> char {
    match ch {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        // Georgian has capitals for whole words only.
        '\u{10d0}'..='\u{10ff}' => ch,
        _ => to_upper(ch),
    }
}

fn swap_case(whole: &str) -> String {
    let swap = |ch: char| if ch.is_uppercase() { to_lower(ch) } else { to_upper(ch) };
    whole.chars().map(swap).collect()
}

/// The kind of a word in a name.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Capitals only.
    Upper,
    /// A capital and lower-case letters.
    Title,
    /// Lower-case letters, and letters without case.
    Lower,
    /// Chinese characters and symbols.
    Other,
    Number,
    Punctuation,
    /// Underscores, dashes and spaces.
    Break,
}

fn kind(ch: char) -> Kind {
    if matches!(ch, '_' | '-') || ch.is_whitespace() {
        Kind::Break
    } else if ch.is_uppercase() {
        Kind::Upper
    } else if ch.is_numeric() {
        Kind::Number
    } else if is_punctuation(ch) {
        Kind::Punctuation
    } else if is_letter(ch) {
        Kind::Lower
    } else {
        Kind::Other
    }
}

/// Letters other than Chinese characters.
fn is_letter(ch: char) -> bool {
    let is_chinese = matches!(ch, '\u{3400}'..='\u{4d85}' | '\u{4e00}'..='\u{9fcc}' | '\u{20000}'..='\u{2b81d}');
    ch.is_alphabetic() && !is_chinese
}

/// Unicode punctuation: in ASCII all but the symbols `$+<=>^|~` and the backquote.
fn is_punctuation(ch: char) -> bool {
    match ch {
        '$' | '+' | '<' | '=' | '>' | '^' | '|' | '~' | '`' => false,
        _ if ch.is_ascii() => ch.is_ascii_punctuation(),
        _ => matches!(ch, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}'),
    }
}

/// Splits a name into words: a run of one kind each; the last capital of a run belongs to the lower-case letters
/// after it.
fn name_words(whole: &str) -> Vec<(Kind, &str)> {
    // Each word by its kind and start; it ends where the next one starts.
    let mut starts: Vec<(Kind, u32)> = Vec::new();
    let mut before = 0;
    for (at, ch) in whole.char_indices() {
        let (this, at) = (kind(ch), at as u32);
        match (starts.last_mut(), this) {
            (Some((last, _)), _) if *last == this => {}
            (Some((Kind::Title, _)), Kind::Lower) => {}
            (Some((last @ Kind::Upper, start)), Kind::Lower) if *start == before => *last = Kind::Title,
            (Some((Kind::Upper, _)), Kind::Lower) => starts.push((Kind::Title, before)),
            _ => starts.push((this, at)),
        }
        before = at;
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start as usize).chain([whole.len()]);
    let word =
        |((kind, start), end): (&(Kind, u32), usize)| (*kind, whole.get(*start as usize..end).unwrap_or_default());
    starts.iter().zip(ends).map(word).collect()
}

/// The words of a name in lower case with a connector between them. A number belongs to the word before it, or to the
/// lower-case letters after it.
fn delimited(whole: &str, connector: char) -> String {
    let words = name_words(whole);
    let kind_at = |index: usize| words.get(index).map(|(kind, _)| *kind);
    let mut out = String::new();
    // Whether the words since the last connector begin with a number followed by lower-case letters.
    let mut numbered = false;
    for (index, (this, word)) in words.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(kind_at);
        let joined = match (previous, this) {
            (None | Some(Kind::Break | Kind::Punctuation), _) | (_, Kind::Break | Kind::Punctuation) => true,
            (Some(Kind::Number), Kind::Lower) => true,
            (Some(_), Kind::Number) => numbered || kind_at(index + 1) != Some(Kind::Lower),
            _ => false,
        };
        if !joined {
            out.push(connector);
        }
        numbered = match this {
            Kind::Number => numbered && joined || kind_at(index + 1) == Some(Kind::Lower),
            Kind::Lower => numbered && joined,
            _ => false,
        };
        if *this == Kind::Break {
            out.extend(word.chars().map(|_| connector));
        } else {
            out.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
    out
}

/// A name in camel case. Breaks at both ends are kept; of a run between words the last one is removed. Leading
/// capitals of a word become one: `HTTP2Server` is `Http2Server`.
fn camel(whole: &str) -> String {
    let mut out = String::new();
    let mut chars = whole.chars().peekable();
    let (mut starts_word, mut leading, mut in_capitals) = (true, true, false);
    while let Some(ch) = chars.next() {
        if kind(ch) == Kind::Break {
            let before_word = chars.peek().is_some_and(|next| kind(*next) != Kind::Break);
            if leading || !before_word {
                out.push(ch);
            }
            starts_word = true;
            continue;
        }
        leading = false;
        in_capitals = ch.is_uppercase() && (starts_word || in_capitals);
        out.push(match (starts_word, in_capitals) {
            (true, _) => to_upper(ch),
            (false, true) => to_lower(ch),
            (false, false) => ch,
        });
        starts_word = false;
    }
    out
}

/// Cuts a text to `width` bytes around `offset`, marking the cuts.
fn abbreviate(whole: &[u8], offset: i64, width: i64) -> Vec<u8> {
    let len = whole.len() as i64;
    if width < 4 || len <= width {
        return whole.to_owned();
    }
    let mut offset = offset.clamp(0, len);
    if len - offset < width - 3 {
        offset = len - (width - 3);
    }
    let take = |from: i64, count: i64| {
        let from = from.clamp(0, len) as usize;
        let to = (from as i64 + count.max(0)).min(len) as usize;
        whole.get(from..to).unwrap_or_default()
    };
    if offset <= 4 {
        return [take(0, width - 3), b"..."].concat();
    }
    if width < 7 {
        return whole.to_owned();
    }
    if offset + width - 3 < len {
        return [b"...", abbreviate(take(offset, len), 0, width - 3).as_slice()].concat();
    }
    [b"...", take(len - (width - 3), len)].concat()
}

/// Breaks a text at spaces so that lines have at most `width` bytes.
fn wrap(m: &Machine<'_>, whole: &[u8], width: i64, line_break: &[u8], split_words: bool) -> Result<Val, Fault> {
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let mut out = Vec::new();
    let mut rest = whole;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let space = rest.iter().take(width + 1).rposition(|byte| *byte == b' ');
        let (line, skip) = match space {
            Some(space) => (space, space + 1),
            None if split_words => (width, width),
            None => match rest.iter().position(|byte| *byte == b' ') {
                Some(space) => (space, space + 1),
                None => break,
            },
        };
        out.extend_from_slice(rest.get(..line).unwrap_or_default());
        out.extend_from_slice(line_break);
        rest = rest.get(skip..).unwrap_or_default();
        if out.len() > m.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
    }
    out.extend_from_slice(rest);
    m.limited(out)
}

fn random_text(m: &mut Machine<'_>, count: i64, alphabet: &[u8]) -> Result<Val, Fault> {
    if count < 0 {
        return Err(Fault::new("runtime error: makeslice: len out of range"));
    }
    if count as u64 > m.limits.text as u64 {
        return Err(Fault::Limit(Limit::Text));
    }
    m.spend(count as usize * RANDOM_STEPS)?;
    let mut random = m.random_secret();
    let pick = |random: &mut crate::random::Random| {
        let at = random.below(alphabet.len() as u64) as usize;
        alphabet.get(at).copied().unwrap_or(b'?')
    };
    Ok(Val::str((0..count).map(|_| pick(&mut random)).collect::<Vec<u8>>()))
}
