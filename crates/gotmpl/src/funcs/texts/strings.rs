//! Functions that trim, cut, pad, quote and search strings.

use crate::error::{Fault, Limit};
use crate::func::{Func, Ty};
use crate::funcs::{arg, bytes, int, many, pieces, row, text};
use crate::machine::Machine;
use crate::print::{sprint, to_text};
use crate::quote::quote;
use crate::value::{Data, ListType, Str, Val};
use crate::weave::{Weave, part};
use purlin_value::Cost;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    pieces(row("trim", &[Ty::Str], "`trim TEXT`: without white space at both ends.", |m, args| {
        let (from, to) = trimmed(bytes(args, 0), &|ch: char| ch.is_whitespace() || ch == '\u{85}');
        part(m, arg(args, 0), from, to)
    }))
    .unseen(),
    pieces(row(
        "trimAll",
        &[Ty::Str, Ty::Str],
        "`trimAll CHARACTERS TEXT`: without those characters at both ends.",
        trim_all,
    )),
    pieces(row("trimall", &[Ty::Str, Ty::Str], "`trimall CHARACTERS TEXT`: the same as `trimAll`.", trim_all)),
    pieces(row("trimSuffix", &[Ty::Str, Ty::Str], "`trimSuffix END TEXT`: without that end.", |m, args| {
        let whole = bytes(args, 1);
        let to = whole.strip_suffix(bytes(args, 0)).map_or(whole.len(), <[u8]>::len);
        part(m, arg(args, 1), 0, to)
    })),
    pieces(row("trimPrefix", &[Ty::Str, Ty::Str], "`trimPrefix START TEXT`: without that start.", |m, args| {
        let whole = bytes(args, 1);
        let from = whole.strip_prefix(bytes(args, 0)).map_or(0, |rest| whole.len() - rest.len());
        part(m, arg(args, 1), from, whole.len())
    })),
    pieces(row(
        "trunc",
        &[Ty::Int, Ty::Str],
        "`trunc N TEXT`: the first N bytes, or the last if N is negative.",
        trunc,
    )),
    pieces(row("substr", &[Ty::Int, Ty::Int, Ty::Str], "`substr FROM TO TEXT`: the bytes from FROM up to TO.", substr)),
    row("upper", &[Ty::Str], "`upper TEXT`: in upper case.", |_, args| Ok(Val::str(map_chars(args, 0, to_upper))))
        .costs(Cost::Slow),
    row("lower", &[Ty::Str], "`lower TEXT`: in lower case.", |_, args| Ok(Val::str(map_chars(args, 0, to_lower))))
        .costs(Cost::Slow),
    row("repeat", &[Ty::Int, Ty::Str], "`repeat N TEXT`: the text N times.", repeat),
    row("nospace", &[Ty::Str], "`nospace TEXT`: without any white space.", |_, args| {
        // The original treats every byte as a character where it removes something.
        let all = bytes(args, 0).iter().copied().map(char::from);
        if !all.clone().any(char::is_whitespace) {
            return Ok(Val::str(bytes(args, 0)));
        }
        Ok(Val::str(all.filter(|ch| !ch.is_whitespace()).collect::<String>()))
    }),
    row("contains", &[Ty::Str, Ty::Str], "`contains PART TEXT`: whether the text contains the part.", |_, args| {
        Ok(Val::bool(memchr::memmem::find(bytes(args, 1), bytes(args, 0)).is_some()))
    }),
    row("hasPrefix", &[Ty::Str, Ty::Str], "`hasPrefix START TEXT`: whether the text starts so.", |_, args| {
        Ok(Val::bool(bytes(args, 1).starts_with(bytes(args, 0))))
    }),
    row("hasSuffix", &[Ty::Str, Ty::Str], "`hasSuffix END TEXT`: whether the text ends so.", |_, args| {
        Ok(Val::bool(bytes(args, 1).ends_with(bytes(args, 0))))
    }),
    pieces(many("quote", &[], Ty::Any, "`quote A…`: each argument in double quotes.", |m, args| {
        quoted(m, args, Mark::Double)
    }))
    .unseen()
    .costs(Cost::Slow),
    pieces(many("squote", &[], Ty::Any, "`squote A…`: each argument in single quotes.", |m, args| {
        quoted(m, args, Mark::Single)
    }))
    .unseen()
    .costs(Cost::Slow),
    many("cat", &[], Ty::Any, "`cat A…`: the arguments that are not nil, with spaces between.", |m, args| {
        let shown: Vec<Vec<u8>> = args.iter().filter(|v| !v.is_nil()).map(|v| sprint(&m.heap, v)).collect();
        Ok(Val::str(shown.join(&b' ')))
    })
    .unseen(),
    pieces(row("indent", &[Ty::Int, Ty::Str], "`indent N TEXT`: every line moved right by N spaces.", |m, args| {
        indent(m, args, false)
    }))
    .looks(0, 1),
    pieces(row(
        "nindent",
        &[Ty::Int, Ty::Str],
        "`nindent N TEXT`: a line break, and every line moved right by N spaces.",
        |m, args| indent(m, args, true),
    ))
    .looks(0, 1),
    pieces(row(
        "replace",
        &[Ty::Str, Ty::Str, Ty::Str],
        "`replace OLD NEW TEXT`: with every OLD replaced by NEW.",
        replace,
    )),
    row("toString", &[Ty::Any], "`toString A`: the value as text.", |m, args| {
        if let Data::Str(_) = arg(args, 0).data {
            return Ok(arg(args, 0).clone());
        }
        Ok(Val::str(crate::funcs::casts::to_string(&m.heap, arg(args, 0))))
    })
    .unseen(),
    row("toStrings", &[Ty::Any], "`toStrings LIST`: every element as text.", |m, args| {
        let items = text_items(m, arg(args, 0));
        Ok(m.heap.list(ListType::Strings, items))
    })
    .unseen(),
    row("join", &[Ty::Str, Ty::Any], "`join SEPARATOR LIST`: the elements as one text.", |m, args| {
        let items = string_items(m, arg(args, 1));
        let size = items.iter().map(Str::len).sum::<usize>() + items.len().saturating_mul(bytes(args, 0).len());
        if size > m.limits.text.saturating_add(bytes(args, 0).len()) {
            return Err(Fault::Limit(Limit::Text));
        }
        // Each element is a separate text until they are joined.
        m.spend(size.saturating_add(items.len().saturating_mul(4)))?;
        let items: Vec<&[u8]> = items.iter().map(Str::bytes).collect();
        m.limited(items.join(bytes(args, 0)))
    })
    .unseen(),
    row(
        "split",
        &[Ty::Str, Ty::Str],
        "`split SEPARATOR TEXT`: a dictionary of the parts, `_0`, `_1` and so on.",
        |m, args| {
            let parts = split_all(m, bytes(args, 1), bytes(args, 0), usize::MAX)?;
            numbered(m, parts)
        },
    ),
    row(
        "splitn",
        &[Ty::Str, Ty::Int, Ty::Str],
        "`splitn SEPARATOR N TEXT`: like `split`, into at most N parts.",
        |m, args| {
            // A negative number means all.
            let most = usize::try_from(int(args, 1)).unwrap_or(usize::MAX);
            let parts = split_all(m, bytes(args, 2), bytes(args, 0), most)?;
            numbered(m, parts)
        },
    ),
    row("splitList", &[Ty::Str, Ty::Str], "`splitList SEPARATOR TEXT`: a list of the parts.", |m, args| {
        let parts = split_all(m, bytes(args, 1), bytes(args, 0), usize::MAX)?;
        Ok(m.heap.strings(parts))
    }),
    row("sortAlpha", &[Ty::Any], "`sortAlpha LIST`: the elements as texts, sorted.", |m, args| {
        let value = arg(args, 0);
        if !matches!(value.data, Data::List(_)) {
            let text = to_text(&m.heap, value);
            return Ok(m.heap.strings([text]));
        }
        let mut items = text_items(m, value);
        items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        Ok(m.heap.list(ListType::Strings, items))
    }),
    row("hello", &[], "`hello`: says hello.", |_, _| Ok(Val::str("Hello!"))).costs(Cost::Constant),
];

/// The range of a text without the given characters at its ends.
pub fn trimmed(whole: &[u8], drop: &dyn Fn(char) -> bool) -> (usize, usize) {
    let text = String::from_utf8_lossy(whole);
    if let std::borrow::Cow::Owned(_) = text {
        // Not UTF-8: only ASCII characters can be trimmed.
        let drops = |byte: &u8| byte.is_ascii() && drop(char::from(*byte));
        let from = whole.iter().position(|b| !drops(b)).unwrap_or(whole.len());
        let to = whole.iter().rposition(|b| !drops(b)).map_or(from, |at| at + 1);
        return (from, to);
    }
    let from = text.len() - text.trim_start_matches(drop).len();
    let to = text.trim_end_matches(drop).len();
    (from, to.max(from))
}

fn trim_all(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let set: Vec<char> = text(args, 0).chars().collect();
    let (from, to) = trimmed(bytes(args, 1), &|ch| set.contains(&ch));
    part(m, arg(args, 1), from, to)
}

fn trunc(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (count, whole) = (int(args, 0), bytes(args, 1));
    let len = whole.len() as i64;
    if count < 0 && len + count > 0 {
        return part(m, arg(args, 1), (len + count) as usize, whole.len());
    }
    if count >= 0 && len > count {
        return part(m, arg(args, 1), 0, count as usize);
    }
    Ok(arg(args, 1).clone())
}

fn substr(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (start, end, whole) = (int(args, 0), int(args, 1), bytes(args, 2));
    let len = whole.len() as i64;
    let (from, to) = if start < 0 {
        (0, end)
    } else if end < 0 || end > len {
        (start, len)
    } else {
        (start, end)
    };
    if from > to || to > len || from < 0 || to < 0 {
        if from > len || to > len || to < 0 {
            let message = format!(
                "runtime error: slice bounds out of range [{}{to}] with length {len}",
                if from == 0 { ":" } else { "" }
            );
            return Err(Fault::new(message));
        }
        return Err(Fault::new(format!("runtime error: slice bounds out of range [{from}:{to}]")));
    }
    part(m, arg(args, 2), from as usize, to as usize)
}

/// Maps every character of a string argument one to one.
fn map_chars(args: &[Val], index: usize, change: fn(char) -> char) -> Str {
    let whole = bytes(args, index);
    if whole.is_ascii() {
        return whole.iter().map(|b| change(char::from(*b)) as u8).collect::<Vec<u8>>().into();
    }
    text(args, index).chars().map(change).collect::<String>().into()
}

/// The upper case of a character, if it is a single character.
pub(crate) fn to_upper(ch: char) -> char {
    let mut upper = ch.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => ch,
    }
}

/// The lower case of a character, if it is a single character.
pub(crate) fn to_lower(ch: char) -> char {
    let mut lower = ch.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => ch,
    }
}

fn repeat(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (count, whole) = (int(args, 0), bytes(args, 1));
    if count < 0 {
        return Err(Fault::new("strings: negative Repeat count"));
    }
    let size = (count as u128) * whole.len() as u128;
    if size > m.limits.text as u128 {
        return Err(Fault::Limit(Limit::Text));
    }
    m.limited(whole.repeat(if whole.is_empty() { 0 } else { count as usize }))
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Single,
    Double,
}

fn quoted(m: &mut Machine<'_>, args: &[Val], mark: Mark) -> Result<Val, Fault> {
    let shown: Vec<&Val> = args.iter().filter(|value| !value.is_nil()).collect();
    if let [value] = shown.as_slice() {
        return quote_one(m, value, mark);
    }
    let mut out = Vec::new();
    for value in shown {
        if !out.is_empty() {
            out.push(b' ');
        }
        if let Data::Str(text) = quote_one(m, value, mark)?.data {
            out.extend_from_slice(text.bytes());
        }
    }
    let (origin, tainted) = m.join_contents(args);
    Ok(m.limited(out)?.at(origin).taint(tainted))
}

fn quote_one(m: &Machine<'_>, value: &Val, mark: Mark) -> Result<Val, Fault> {
    let mut weave = Weave::new(m, value);
    let source = weave.source();
    match mark {
        Mark::Single => {
            weave.own(b"'");
            weave.part(0, source.len());
            weave.own(b"'");
        }
        Mark::Double => {
            let spelled = quote(source.bytes());
            if spelled.len() == source.len() + 2 {
                weave.own(b"\"");
                weave.part(0, source.len());
                weave.own(b"\"");
            } else {
                weave.made(spelled.as_bytes());
            }
        }
    }
    weave.finish(m)
}

fn indent(m: &mut Machine<'_>, args: &[Val], new_line: bool) -> Result<Val, Fault> {
    let count = int(args, 0);
    if count < 0 {
        return Err(Fault::new("strings: negative Repeat count"));
    }
    let whole = bytes(args, 1);
    let lines = memchr::memchr_iter(b'\n', whole).count() as u128 + 1;
    if lines * count as u128 + whole.len() as u128 > m.limits.text as u128 {
        return Err(Fault::Limit(Limit::Text));
    }
    let pad = vec![b' '; count as usize];
    let mut weave = Weave::new(m, arg(args, 1));
    if new_line {
        weave.own(b"\n");
    }
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', whole).chain([whole.len()]) {
        weave.own(&pad);
        let to = if end < whole.len() { end + 1 } else { end };
        weave.part(at, to);
        at = to;
    }
    weave.finish(m)
}

fn replace(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let (old, new, whole) = (bytes(args, 0), bytes(args, 1), bytes(args, 2));
    if old.is_empty() {
        if (whole.len() as u128 + 1) * (new.len() as u128 + 1) > m.limits.text as u128 {
            return Err(Fault::Limit(Limit::Text));
        }
        let mut out = Vec::new();
        for ch in text(args, 2).chars() {
            out.extend_from_slice(new);
            out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(new);
        let (origin, tainted) = m.join_origins(args);
        return Ok(m.limited(out)?.at(origin).taint(tainted));
    }
    let mut weave = Weave::new(m, arg(args, 2));
    let mut at = 0;
    let mut size = 0usize;
    for found in memchr::memmem::find_iter(whole, old) {
        weave.part(at, found);
        weave.other(arg(args, 1));
        size += new.len();
        if size > m.limits.text {
            return Err(Fault::Limit(Limit::Text));
        }
        at = found + old.len();
    }
    weave.part(at, whole.len());
    weave.finish(m)
}

/// The elements of a list as strings, without nil; any other value as a list with its text.
pub(crate) fn string_items(m: &Machine<'_>, value: &Val) -> Vec<Str> {
    match &value.data {
        Data::List(list) => {
            let items = m.heap.items(*list).iter();
            items.filter(|item| !item.is_nil()).map(|item| crate::funcs::casts::to_string(&m.heap, item)).collect()
        }
        Data::Nil => Vec::new(),
        _ => vec![crate::funcs::casts::to_string(&m.heap, value)],
    }
}

/// The same as values, each with the origin of its element.
fn text_items(m: &Machine<'_>, value: &Val) -> Vec<Val> {
    let Data::List(list) = &value.data else { return string_items(m, value).into_iter().map(Val::str).collect() };
    let text =
        |item: &Val| Val::str(crate::funcs::casts::to_string(&m.heap, item)).at(item.origin).taint(item.is_tainted());
    m.heap.items(*list).iter().filter(|item| !item.is_nil()).map(text).collect()
}

/// The parts of a text between separators; too many are rejected before they are allocated.
fn split_all(m: &mut Machine<'_>, whole: &[u8], separator: &[u8], most: usize) -> Result<Vec<Str>, Fault> {
    let count = parts(whole, separator, most).take(m.limits.items.saturating_add(1)).count();
    m.limited_items(count)?;
    m.has_room(count.saturating_mul(crate::value::ENTRY_BYTES).saturating_add(whole.len()))?;
    Ok(parts(whole, separator, most).map(Str::from).collect())
}

/// The parts of a text between separators, at most `most`; an empty separator splits into characters.
fn parts<'t>(whole: &'t [u8], separator: &'t [u8], most: usize) -> impl Iterator<Item = &'t [u8]> {
    let mut found = memchr::memmem::find_iter(whole, separator);
    let (mut rest, mut left) = ((!whole.is_empty() || !separator.is_empty()).then_some(0..whole.len()), most);
    std::iter::from_fn(move || {
        let all = rest.take().filter(|_| left > 0)?;
        left -= 1;
        let start = all.start;
        let cut = match separator {
            _ if left == 0 => None,
            [] => crate::lex::decode(whole.get(start..)?).map(|(_, width)| start + width).map(|end| (end, end)),
            _ => found.next().map(|at| (at, at + separator.len())),
        };
        let Some((end, next)) = cut else { return whole.get(all) };
        // Characters end with the text; after a last separator there is one more part, an empty one.
        if !(separator.is_empty() && next >= all.end) {
            rest = Some(next..all.end);
        }
        whole.get(start..end)
    })
}

fn numbered(m: &mut Machine<'_>, parts: Vec<Str>) -> Result<Val, Fault> {
    let entries = parts.into_iter().enumerate();
    let entries = entries.map(|(index, text)| (Str::from(format!("_{index}")), Val::new(Data::Str(text)))).collect();
    Ok(m.heap.map(crate::value::MapType::Strings, entries))
}
