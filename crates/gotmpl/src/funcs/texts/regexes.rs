//! Regular expressions in Go's (RE2's) syntax, run by a linear-time engine with a size limit.

use std::rc::Rc;

use regex::bytes::{Captures, Match, Regex, RegexBuilder};

use crate::error::{Fault, Limit};
use crate::func::{Func, Run, Ty};
use crate::funcs::{bytes, int, row as plain_row, text};
use crate::machine::Machine;
use crate::value::{ListType, Str, Val};
use purlin_value::Cost;
use purlin_value::go_pattern::translate;
use purlin_value::pattern::{self, Work};

const S: Ty = Ty::Str;

/// A function that reads every character.
const fn row(name: &'static str, params: &'static [Ty], about: &'static str, run: Run) -> Func {
    plain_row(name, params, about, run).costs(Cost::Slow)
}

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row(
        "regexMatch",
        &[S, S],
        "`regexMatch PATTERN TEXT`: whether the pattern is found; a bad pattern is not.",
        |m, args| match search(m, args) {
            Ok(pattern) => Ok(Val::bool(pattern.regex.is_match(bytes(args, 1)))),
            Err(Fault::Limit(limit)) => Err(Fault::Limit(limit)),
            Err(_) => Ok(Val::bool(false)),
        },
    ),
    row("mustRegexMatch", &[S, S], "`mustRegexMatch PATTERN TEXT`: whether the pattern is found.", |m, args| {
        Ok(Val::bool(search(m, args)?.regex.is_match(bytes(args, 1))))
    }),
    row("regexFind", &[S, S], "`regexFind PATTERN TEXT`: the first match, or nothing.", find),
    row("mustRegexFind", &[S, S], "`mustRegexFind PATTERN TEXT`: the first match, or nothing.", find),
    row(
        "regexFindAll",
        &[S, S, Ty::Int],
        "`regexFindAll PATTERN TEXT N`: the first N matches, all if N is negative.",
        find_all,
    ),
    row(
        "mustRegexFindAll",
        &[S, S, Ty::Int],
        "`mustRegexFindAll PATTERN TEXT N`: the first N matches, all if N is negative.",
        find_all,
    ),
    row(
        "regexReplaceAll",
        &[S, S, S],
        "`regexReplaceAll PATTERN TEXT NEW`: every match replaced; `${1}` is a group.",
        replace_all,
    ),
    row(
        "mustRegexReplaceAll",
        &[S, S, S],
        "`mustRegexReplaceAll PATTERN TEXT NEW`: every match replaced; `${1}` is a group.",
        replace_all,
    ),
    row(
        "regexReplaceAllLiteral",
        &[S, S, S],
        "`regexReplaceAllLiteral PATTERN TEXT NEW`: every match replaced as is.",
        replace_literal,
    ),
    row(
        "mustRegexReplaceAllLiteral",
        &[S, S, S],
        "`mustRegexReplaceAllLiteral PATTERN TEXT NEW`: every match replaced as is.",
        replace_literal,
    ),
    row("regexSplit", &[S, S, Ty::Int], "`regexSplit PATTERN TEXT N`: the parts between matches, at most N.", split),
    row(
        "mustRegexSplit",
        &[S, S, Ty::Int],
        "`mustRegexSplit PATTERN TEXT N`: the parts between matches, at most N.",
        split,
    ),
    row("regexQuoteMeta", &[S], "`regexQuoteMeta TEXT`: a pattern that matches just this text.", |_, args| {
        let mut out = Vec::new();
        for byte in bytes(args, 0) {
            if br"\.+*?()|[]{}^$".contains(byte) {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        Ok(Val::str(out))
    }),
];

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// The names of its groups, from the first one on.
    names: Vec<Option<String>>,
    /// The cost of searching with it.
    work: Work,
}

/// The compiled pattern for a search in the text, charged here.
fn search(m: &mut Machine<'_>, args: &[Val]) -> Result<Rc<Pattern>, Fault> {
    let pattern = compile(m, args)?;
    m.spend(usize::try_from(pattern.work.first(bytes(args, 1).len())).unwrap_or(usize::MAX))?;
    Ok(pattern)
}

/// Charges the search for the next match before it is made.
fn search_on(m: &mut Machine<'_>, pattern: &Pattern, left: usize) -> Result<(), Fault> {
    m.spend(usize::try_from(pattern.work.another(left)).unwrap_or(usize::MAX))
}

fn compile(m: &mut Machine<'_>, args: &[Val]) -> Result<Rc<Pattern>, Fault> {
    let source = Str::from(bytes(args, 0));
    if let Some(known) = m.regexes.get(&source) {
        return Ok(known.clone());
    }
    m.spend(bytes(args, 0).len() + 1)?;
    let refused = |reason: String| Fault::new(format!("error parsing regexp: {reason}"));
    let translated = translate(bytes(args, 0)).map_err(refused)?;
    let build = |most: usize| match RegexBuilder::new(&translated.pattern)
        .size_limit(most)
        .dfa_size_limit(most.max(LEAST_REMEMBERED))
        .build()
    {
        Ok(regex) => Ok(Some(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    };
    let (regex, charged) = m.compile(build)?.map_err(|reason| {
        let reason = pattern::reason(&reason);
        refused(format!("{reason}: `{}`", text(args, 0)))
    })?;
    let work = Work::of(&translated.pattern, charged);
    let found = Rc::new(Pattern { regex, names: translated.names, work });
    m.keep_regex(source, found.clone(), charged);
    Ok(found)
}

/// Minimum size of a search cache, however small the pattern is.
const LEAST_REMEMBERED: usize = 32 << 10;

fn find(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let pattern = search(m, args)?;
    Ok(Val::str(pattern.regex.find(bytes(args, 1)).map_or(&b""[..], |found| found.as_bytes())))
}

fn find_all(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let pattern = search(m, args)?;
    let limit = if int(args, 2) < 0 { usize::MAX } else { int(args, 2) as usize };
    let whole = bytes(args, 1);
    let mut found: Vec<Str> = Vec::new();
    for one in matches(&pattern.regex, whole).take(limit) {
        found.push(one.as_bytes().into());
        m.limited_items(found.len())?;
        search_on(m, &pattern, whole.len() - one.end())?;
    }
    if found.is_empty() {
        return Ok(m.heap.nil_list(ListType::Strings));
    }
    Ok(m.heap.strings(found))
}

fn replace_all(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let pattern = search(m, args)?;
    let (whole, template) = (bytes(args, 1), bytes(args, 2));
    let mut out = Vec::new();
    let mut at = 0;
    for captures in pattern.regex.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        search_on(m, &pattern, whole.len() - found.end())?;
        if inside_char(whole, &found) {
            continue;
        }
        out.extend_from_slice(whole.get(at..found.start()).unwrap_or_default());
        expand(template, &pattern.names, &captures, &mut out);
        at = found.end();
        if out.len() > m.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
    }
    out.extend_from_slice(whole.get(at..).unwrap_or_default());
    m.limited(out)
}

/// Expands `$1`, `${1}`, `$name`; a `$` without a name is kept.
fn expand(template: &[u8], names: &[Option<String>], captures: &Captures<'_>, out: &mut Vec<u8>) {
    let mut rest = template;
    while let Some(at) = memchr::memchr(b'$', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(b"$") {
            out.push(b'$');
            rest = after;
            continue;
        }
        let Some((name, after)) = group_name(rest) else {
            out.push(b'$');
            continue;
        };
        rest = after;
        if let Some(group) = group(name, names, captures) {
            out.extend_from_slice(group.as_bytes());
        }
    }
    out.extend_from_slice(rest);
}

/// The name at the start of a text, in braces or the longest run of letters, digits and underscores, and the rest.
fn group_name(text: &[u8]) -> Option<(&str, &[u8])> {
    let inner = text.strip_prefix(b"{");
    let start = inner.unwrap_or(text);
    // Invalid UTF-8 is not a letter either.
    let readable = match std::str::from_utf8(start) {
        Ok(readable) => readable,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to())?).ok()?,
    };
    let is_part = |ch: char| ch.is_alphabetic() || ch.is_numeric() || ch == '_';
    let name = readable.get(..readable.find(|ch| !is_part(ch)).unwrap_or(readable.len()))?;
    let after = start.get(name.len()..)?;
    let after = if inner.is_some() { after.strip_prefix(b"}")? } else { after };
    (!name.is_empty()).then_some((name, after))
}

/// A group by its number, or the first of a name that took part in the match.
fn group<'t>(name: &str, names: &[Option<String>], captures: &Captures<'t>) -> Option<Match<'t>> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if is_number {
        return captures.get(name.parse().ok()?);
    }
    let has_name = |(_, known): &(usize, &Option<String>)| known.as_deref() == Some(name);
    names.iter().enumerate().filter(has_name).find_map(|(index, _)| captures.get(index + 1))
}

fn replace_literal(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let pattern = search(m, args)?;
    let (whole, new) = (bytes(args, 1), bytes(args, 2));
    let mut out = Vec::new();
    let mut at = 0;
    for found in matches(&pattern.regex, whole) {
        search_on(m, &pattern, whole.len() - found.end())?;
        out.extend_from_slice(whole.get(at..found.start()).unwrap_or_default());
        out.extend_from_slice(new);
        at = found.end();
        if out.len() > m.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
    }
    out.extend_from_slice(whole.get(at..).unwrap_or_default());
    m.limited(out)
}

/// The matches in a text, none of them inside a character.
fn matches<'r, 't>(re: &'r Regex, whole: &'t [u8]) -> impl Iterator<Item = Match<'t>> + use<'r, 't> {
    re.find_iter(whole).filter(move |found| !inside_char(whole, found))
}

fn inside_char(whole: &[u8], found: &Match<'_>) -> bool {
    found.is_empty() && whole.get(found.start()).is_some_and(|byte| byte & 0xc0 == 0x80)
}

fn split(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let pattern = search(m, args)?;
    let (whole, limit) = (bytes(args, 1), int(args, 2));
    if limit == 0 {
        return Ok(m.heap.nil_list(ListType::Strings));
    }
    if !bytes(args, 0).is_empty() && whole.is_empty() {
        return Ok(m.heap.strings([Str::from("")]));
    }
    let mut parts: Vec<Str> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for found in matches(&pattern.regex, whole) {
        if limit > 0 && parts.len() as i64 == limit - 1 {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(whole.get(begin..end).unwrap_or_default().into());
        }
        begin = found.end();
        m.limited_items(parts.len())?;
        search_on(m, &pattern, whole.len() - found.end())?;
    }
    if end != whole.len() {
        parts.push(whole.get(begin..).unwrap_or_default().into());
    }
    Ok(m.heap.strings(parts))
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test says what it expects")]
mod tests {
    use super::{expand, translate};
    use regex::bytes::Regex;

    /// Results of Go 1.27: each pattern with a text it matches as a whole.
    #[test]
    fn patterns_that_match() {
        let table = [
            (r"\p{L}+", "Größe"),
            (r"\p{Lu}\pL*", "Éa"),
            (r"\p{Greek}\p{greek}", "αΩ"),
            (r"\p{^Greek}\P{Greek}\P{^Greek}", "abα"),
            (r"\x{1F600}\x41\x{41}", "\u{1f600}AA"),
            (r"\p{uppercase-letter}\p{Cased Letter}\p{LC}", "ÄbC"),
            (r"[\p{L}\d_-]+", "é9_-"),
            (r"[^\P{L}]", "é"),
            (r"\012\0\141\1010", "\n\0aA0"),
            (r"\a\f\t\n\r\v\_\-\/\#", "\x07\x0c\t\n\r\x0b_-/#"),
            (r"[[:alpha:][:^digit:]]+", "ab-"),
            (r"[]a]+[^]a]", "]ab"),
            (r"[a\]b]+", "]b"),
            (r"[&&~~||-]+", "&~|-"),
            (r"[a-c-e]+", "b-e"),
            (r"\Qa.b\E+", "a.bb"),
            (r"a{,2}b{2", "a{,2}b{2"),
            (r"a{02}", "a{02}"),
            (r"a(?i)*b", "aaB"),
            (r"(?i:ab)c", "ABc"),
            (r"(?i-i)a(?s).(?U)b+", "a\nbb"),
            (r"^*a$?\b+", "a"),
            (r"(?P<n>a)|(?P<n>b)", "b"),
            (r"(?<x>a)(?P<1>b)", "ab"),
            (r"()|a", "a"),
            (r"\p{ASCII}\p{Any}[[:word:]]", "aéb"),
            (r"[\x{D800}-\x{E000}]", "\u{e000}"),
            (r"[^\x{D800}]", "a"),
        ];
        for (pattern, text) in table {
            let translated = translate(pattern.as_bytes()).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            let whole = format!("^(?:{})$", translated.pattern);
            let regex = Regex::new(&whole).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert!(regex.is_match(text.as_bytes()), "{pattern} as {whole}");
        }
    }

    #[test]
    fn patterns_that_match_nothing() {
        for pattern in [r"\x{DFFF}", r"[\x{D800}-\x{DFFF}]", r"\p{Cs}", r"[^\x00-\x{10FFFF}]", r"[\p{Cs}]"] {
            let translated = translate(pattern.as_bytes()).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            let regex = Regex::new(&translated.pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert!(!regex.is_match("aé\u{e000}\0".as_bytes()), "{pattern}");
        }
    }

    #[test]
    fn names_in_replacements() {
        let translated = translate(b"(?P<n>a)|(?P<n>b)|(c)").unwrap_or_else(|why| panic!("{why}"));
        let regex = Regex::new(&translated.pattern).unwrap_or_else(|why| panic!("{why}"));
        let captures = regex.captures(b"b").unwrap_or_else(|| panic!("no match"));
        let table = [
            ("<${n}>", "<b>"),
            ("$n-$2-$0", "b-b-b"),
            ("$nx|$é|${n-m}|${}|${n|$", "||${n-m}|${}|${n|$"),
            ("$01$$2", "$2"),
        ];
        for (template, expected) in table {
            let mut out = Vec::new();
            expand(template.as_bytes(), &translated.names, &captures, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{template}");
        }
    }
}
