//! Regular expressions in Go's (RE2's) syntax, run by a linear-time engine with a size limit.

use std::rc::Rc;

use regex::bytes::{Regex, RegexBuilder};

use super::{bytes, int, row as plain_row, text};
use crate::error::{Fault, Limit};
use crate::func::{Func, Run, Ty};
use crate::machine::Machine;
use crate::value::{ListType, Str, Val};
use purlin_value::Cost;
use purlin_value::pattern::Work;

const S: Ty = Ty::Str;

/// A function that looks at every character.
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
            Ok((re, _)) => Ok(Val::bool(re.is_match(bytes(args, 1)))),
            Err(Fault::Limit(limit)) => Err(Fault::Limit(limit)),
            Err(_) => Ok(Val::bool(false)),
        },
    ),
    row("mustRegexMatch", &[S, S], "`mustRegexMatch PATTERN TEXT`: whether the pattern is found.", |m, args| {
        Ok(Val::bool(search(m, args)?.0.is_match(bytes(args, 1))))
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

/// Translates what Go writes differently: `\z`, `\C` aside, perl classes are ASCII and `(?P<n>` is the same.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => {
                let Some(next) = chars.next() else {
                    out.push('\\');
                    break;
                };
                match next {
                    'd' => out.push_str("[0-9]"),
                    'D' => out.push_str("[^0-9]"),
                    'w' => out.push_str("[0-9A-Za-z_]"),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    's' => out.push_str(r"[\t\n\x0C\r ]"),
                    'S' => out.push_str(r"[^\t\n\x0C\r ]"),
                    'b' if !in_class => out.push_str(r"(?-u:\b)"),
                    'B' if !in_class => out.push_str(r"(?-u:\B)"),
                    'Q' => {
                        let mut literal = String::new();
                        while let Some(inner) = chars.next() {
                            if inner == '\\' && chars.peek() == Some(&'E') {
                                chars.next();
                                break;
                            }
                            literal.push(inner);
                        }
                        out.push_str(&regex::escape(&literal));
                    }
                    // Go lets any punctuation be escaped; what needs no escape here must not have one.
                    _ if next.is_ascii_punctuation() && !regex_syntax_meta(next) => out.push(next),
                    _ => {
                        out.push('\\');
                        out.push(next);
                    }
                }
            }
            '[' if in_class => {
                if chars.peek() == Some(&':') {
                    out.push('[');
                    while let Some(inner) = chars.next() {
                        out.push(inner);
                        if inner == ':' && chars.peek() == Some(&']') {
                            out.push(']');
                            chars.next();
                            break;
                        }
                    }
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Behind a class, or before another dash, a dash stands for itself.
            '-' if in_class && (out.ends_with(']') || chars.peek() == Some(&'-')) => out.push_str("\\-"),
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(ch);
            }
            '{' if !in_class && !is_repetition(&chars) => out.push_str("\\{"),
            _ => out.push(ch),
        }
    }
    out
}

/// Whether a character means something in a pattern, so that its escape must stay.
fn regex_syntax_meta(ch: char) -> bool {
    r"\.+*?()|[]{}^$#&-~".contains(ch)
}

/// Whether `{` starts a count; otherwise it stands for itself in Go.
fn is_repetition(rest: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut digits = 0;
    let mut commas = 0;
    for ch in rest.clone() {
        match ch {
            '0'..='9' => digits += 1,
            ',' if commas == 0 && digits > 0 => commas += 1,
            '}' => return digits > 0,
            _ => return false,
        }
    }
    false
}

/// The compiled pattern for a search in the text, which is charged here, and what another search costs.
fn search(m: &mut Machine<'_>, args: &[Val]) -> Result<(Rc<Regex>, Work), Fault> {
    let (regex, work) = compile(m, args)?;
    m.spend(usize::try_from(work.first(bytes(args, 1).len())).unwrap_or(usize::MAX))?;
    Ok((regex, work))
}

/// Charges the search for the next match before it is made.
fn search_on(m: &mut Machine<'_>, work: Work, left: usize) -> Result<(), Fault> {
    m.spend(usize::try_from(work.another(left)).unwrap_or(usize::MAX))
}

fn compile(m: &mut Machine<'_>, args: &[Val]) -> Result<(Rc<Regex>, Work), Fault> {
    let pattern = Str::from(bytes(args, 0));
    if let Some(known) = m.regexes.get(&pattern) {
        return Ok(known.clone());
    }
    let source = text(args, 0);
    m.spend(source.len() + 1)?;
    check_repeats(&source).map_err(|reason| Fault::new(format!("error parsing regexp: {reason}")))?;
    let translated = translate(&source);
    let build = |most: usize| match RegexBuilder::new(&translated)
        .size_limit(most)
        .dfa_size_limit(most.max(LEAST_REMEMBERED))
        .build()
    {
        Ok(regex) => Ok(Some(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    };
    let (regex, bytes) = m.compile(build)?.map_err(|reason| {
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Fault::new(format!("error parsing regexp: {reason}: `{source}`"))
    })?;
    let found = (Rc::new(regex), Work::of(&translated, bytes));
    m.keep_regex(pattern, found.clone(), bytes);
    Ok(found)
}

/// So many bytes of a search may be remembered, however small the pattern is.
const LEAST_REMEMBERED: usize = 32 << 10;

/// Most repetitions Go allows.
const MAX_REPEAT: u32 = 1_000;

/// What Go refuses of repetitions, though they have a meaning: one right behind another, and very many.
fn check_repeats(pattern: &str) -> Result<(), String> {
    let mut rest = pattern;
    let mut in_class = false;
    // The repetition that stands right before the rest.
    let mut before: Option<&str> = None;
    let mut repeated = Repeated::default();
    while let Some(ch) = rest.chars().next() {
        let mut width = ch.len_utf8();
        let operator = match ch {
            '\\' if rest.starts_with("\\Q") => {
                width = rest.find("\\E").map_or(rest.len(), |at| at + 2);
                None
            }
            '\\' => {
                width += rest.chars().nth(1).map_or(0, char::len_utf8);
                None
            }
            '[' if !in_class => {
                in_class = true;
                // A bracket that closes at once is one of the class.
                width += rest.get(1..).unwrap_or_default().starts_with(']') as usize;
                width += 2 * (rest.starts_with("[^]") as usize);
                None
            }
            ']' if in_class => {
                in_class = false;
                None
            }
            '(' | ')' if !in_class => {
                repeated.group(ch == '(');
                None
            }
            '*' | '+' | '?' if !in_class => Some(1),
            '{' if !in_class => counted(rest)?.map(|(len, _)| len),
            _ => None,
        };
        match (ch, operator) {
            ('{', Some(_)) => {
                let (len, times) = counted(rest)?.unwrap_or((1, 1));
                if !repeated.times(times) {
                    return Err(format!("invalid repeat count: `{}`", rest.get(..len).unwrap_or_default()));
                }
            }
            ('(' | ')', _) | (_, Some(_)) => {}
            _ => repeated.last = 1,
        }
        let Some(len) = operator else {
            before = None;
            rest = rest.get(width..).unwrap_or_default();
            continue;
        };
        let lazy = rest.get(len..).unwrap_or_default().starts_with('?');
        let end = len + usize::from(lazy);
        if let Some(start) = before {
            let shown = start.get(..start.len() - rest.len() + end.min(len)).unwrap_or_default();
            return Err(format!("invalid nested repetition operator: `{shown}`"));
        }
        // Nothing to repeat at the start is reported by the compiler.
        before = Some(rest);
        rest = rest.get(end..).unwrap_or_default();
    }
    Ok(())
}

/// How often parts of a pattern are repeated, counts in counts multiplied: Go allows no more than for one count.
#[derive(Default)]
struct Repeated {
    /// The most in the present group, and in those around it.
    groups: Vec<u32>,
    most: u32,
    /// How often the part right before is repeated.
    last: u32,
}

impl Repeated {
    fn group(&mut self, opens: bool) {
        if opens {
            self.groups.push(std::mem::replace(&mut self.most, 1));
        } else {
            self.last = self.most;
            self.most = self.most.max(self.groups.pop().unwrap_or(1));
        }
    }

    /// The part right before is repeated so often; false if that is too often.
    fn times(&mut self, times: u32) -> bool {
        self.last = self.last.max(1).saturating_mul(times.max(1));
        self.most = self.most.max(self.last);
        self.last <= MAX_REPEAT
    }
}

/// The length of `{n}`, `{n,}` or `{n,m}` at the start of a text, if it is one, and how often it repeats.
fn counted(text: &str) -> Result<Option<(usize, u32)>, String> {
    let Some(end) = text.find('}') else { return Ok(None) };
    let body = text.get(1..end).unwrap_or_default();
    let (least, most) = body.split_once(',').unwrap_or((body, ""));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(least) || !most.is_empty() && !is_number(most) {
        return Ok(None);
    }
    let count = |part: &str| part.parse::<u32>().unwrap_or(u32::MAX);
    if count(least) > MAX_REPEAT || !most.is_empty() && (count(most) > MAX_REPEAT || count(most) < count(least)) {
        return Err(format!("invalid repeat count: `{}`", text.get(..=end).unwrap_or_default()));
    }
    let times = if most.is_empty() { count(least) } else { count(most) };
    Ok(Some((end + 1, times)))
}

fn find(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (re, _) = search(m, args)?;
    Ok(Val::str(re.find(bytes(args, 1)).map_or(&b""[..], |found| found.as_bytes())))
}

fn find_all(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (re, work) = search(m, args)?;
    let limit = if int(args, 2) < 0 { usize::MAX } else { int(args, 2) as usize };
    let whole = bytes(args, 1);
    let mut found: Vec<Str> = Vec::new();
    for one in matches(&re, whole).take(limit) {
        found.push(one.as_bytes().into());
        m.limited_items(found.len())?;
        search_on(m, work, whole.len() - one.end())?;
    }
    if found.is_empty() {
        return Ok(m.heap.nil_list(ListType::Strings));
    }
    Ok(m.heap.strings(found))
}

fn replace_all(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (re, work) = search(m, args)?;
    let (whole, template) = (bytes(args, 1), bytes(args, 2));
    let mut out = Vec::new();
    let mut at = 0;
    for captures in re.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        search_on(m, work, whole.len() - found.end())?;
        if inside_char(whole, &found) {
            continue;
        }
        out.extend_from_slice(whole.get(at..found.start()).unwrap_or_default());
        expand(template, &captures, &mut out);
        at = found.end();
        if out.len() > m.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
    }
    out.extend_from_slice(whole.get(at..).unwrap_or_default());
    m.limited(out)
}

/// Fills in `$1`, `${1}`, `$name`; a name is the longest run of letters, digits and underscores.
fn expand(template: &[u8], captures: &regex::bytes::Captures<'_>, out: &mut Vec<u8>) {
    let mut rest = template;
    while let Some(at) = memchr::memchr(b'$', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 1..).unwrap_or_default();
        if after.first() == Some(&b'$') {
            out.push(b'$');
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let (name, used) = if after.first() == Some(&b'{') {
            match memchr::memchr(b'}', after) {
                Some(close) => (after.get(1..close).unwrap_or_default(), close + 1),
                None => (&b""[..], 0),
            }
        } else {
            let len = after.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            (after.get(..len).unwrap_or_default(), len)
        };
        if name.is_empty() {
            out.push(b'$');
            rest = after;
            continue;
        }
        let name = String::from_utf8_lossy(name);
        let group = match name.parse::<usize>() {
            Ok(number) => captures.get(number),
            Err(_) => captures.name(&name),
        };
        if let Some(group) = group {
            out.extend_from_slice(group.as_bytes());
        }
        rest = after.get(used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

fn replace_literal(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (re, work) = search(m, args)?;
    let (whole, new) = (bytes(args, 1), bytes(args, 2));
    let mut out = Vec::new();
    let mut at = 0;
    for found in matches(&re, whole) {
        search_on(m, work, whole.len() - found.end())?;
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

/// The matches in a text, none of them between the bytes of one character.
fn matches<'r, 't>(re: &'r Regex, whole: &'t [u8]) -> impl Iterator<Item = regex::bytes::Match<'t>> + use<'r, 't> {
    re.find_iter(whole).filter(move |found| !inside_char(whole, found))
}

fn inside_char(whole: &[u8], found: &regex::bytes::Match<'_>) -> bool {
    found.is_empty() && whole.get(found.start()).is_some_and(|byte| byte & 0xc0 == 0x80)
}

fn split(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (re, work) = search(m, args)?;
    let (whole, limit) = (bytes(args, 1), int(args, 2));
    if limit == 0 {
        return Ok(m.heap.nil_list(ListType::Strings));
    }
    if !bytes(args, 0).is_empty() && whole.is_empty() {
        return Ok(m.heap.strings([Str::from("")]));
    }
    let mut parts: Vec<Str> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for found in matches(&re, whole) {
        if limit > 0 && parts.len() as i64 == limit - 1 {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(whole.get(begin..end).unwrap_or_default().into());
        }
        begin = found.end();
        m.limited_items(parts.len())?;
        search_on(m, work, whole.len() - found.end())?;
    }
    if end != whole.len() {
        parts.push(whole.get(begin..).unwrap_or_default().into());
    }
    Ok(m.heap.strings(parts))
}

#[cfg(test)]
mod tests {
    use super::check_repeats;

    #[test]
    fn repetitions_go_refuses() {
        for (pattern, reason) in [
            ("a**", "invalid nested repetition operator: `**`"),
            ("a+?*", "invalid nested repetition operator: `+?*`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a{1,1001}", "invalid repeat count: `{1,1001}`"),
            ("((a{1,10})b{11}){1,91}", "invalid repeat count: `{1,91}`"),
            ("((a{10}){10}){11,}", "invalid repeat count: `{11,}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ] {
            assert_eq!(check_repeats(pattern), Err(reason.to_owned()));
        }
        for pattern in ["(a*)*", "[a**]", r"a\**", "a{,5}", "a+?b*", r"\Q**\E", "[]*+]"] {
            assert_eq!(check_repeats(pattern), Ok(()), "{pattern}");
        }
    }
}
