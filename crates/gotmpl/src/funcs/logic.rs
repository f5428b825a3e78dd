//! Go's own functions: logic, comparison, indexing, printing, escaping.

use super::{arg, bytes, many, pieces, row};
use crate::cause::Cause;
use crate::error::{Fault, Limit};
use crate::func::{Form, Func, Ty};
use crate::machine::Machine;
use crate::print::{sprint_all, sprintf, sprintf_parts, sprintln};
use crate::rope::{Piece, Rope};
use crate::value::{Data, Heap, Str, Val};
use purlin_value::Cost;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    Func {
        form: Form::And,
        ..many("and", &[Ty::Value], Ty::Value, "`and A B…`: the first false argument, or the last.", |_, args| {
            Ok(arg(args, 0).clone())
        })
    },
    Func {
        form: Form::Or,
        ..many("or", &[Ty::Value], Ty::Value, "`or A B…`: the first true argument, or the last.", |_, args| {
            Ok(arg(args, 0).clone())
        })
    },
    row("not", &[Ty::Value], "`not A`: whether A is false or empty.", |m, args| {
        Ok(Val::bool(!m.heap.truth(arg(args, 0))))
    })
    .shallow()
    .costs(Cost::Constant),
    many("eq", &[Ty::Value], Ty::Value, "`eq A B…`: whether A equals one of the others.", |m, args| {
        equal(&m.heap, args).map(Val::bool)
    })
    .costs(Cost::ALL),
    row("ne", &[Ty::Value, Ty::Value], "`ne A B`: whether A and B differ.", |m, args| {
        equal(&m.heap, args).map(|same| Val::bool(!same))
    })
    .costs(Cost::ALL),
    row("lt", &[Ty::Value, Ty::Value], "`lt A B`: whether A is less than B.", |m, args| {
        less(&m.heap, args).map(Val::bool)
    })
    .costs(Cost::ALL),
    row("le", &[Ty::Value, Ty::Value], "`le A B`: whether A is at most B.", |m, args| {
        Ok(Val::bool(less(&m.heap, args)? || equal(&m.heap, args)?))
    })
    .costs(Cost::ALL),
    row("gt", &[Ty::Value, Ty::Value], "`gt A B`: whether A is greater than B.", |m, args| {
        Ok(Val::bool(!(less(&m.heap, args)? || equal(&m.heap, args)?)))
    })
    .costs(Cost::ALL),
    row("ge", &[Ty::Value, Ty::Value], "`ge A B`: whether A is at least B.", |m, args| {
        less(&m.heap, args).map(|less| Val::bool(!less))
    })
    .costs(Cost::ALL),
    pieces(many("index", &[Ty::Value], Ty::Value, "`index COLLECTION KEY…`: the element under the keys.", index))
        .shallow()
        .costs(Cost::Constant),
    row("len", &[Ty::Value], "`len A`: the number of elements, or of bytes of a text.", len)
        .shallow()
        .costs(Cost::Constant),
    many("call", &[Ty::Value], Ty::Value, "`call F ARG…`: calls a function value.", |m, args| {
        if arg(args, 0).is_nil() {
            return Err(Cause::Unset("call of nil").into());
        }
        let kind = m.heap.type_name(arg(args, 0));
        Err(Fault::new(format!("non-function {} of type {kind}", m.heap.kind_name(arg(args, 0)))))
    })
    .costs(Cost::Constant),
    pieces(many("print", &[], Ty::Any, "`print A…`: the arguments as text.", |m, args| {
        if let [Val { data: Data::Str(_), .. }] = args {
            return Ok(arg(args, 0).clone());
        }
        let text = sprint_all(&m.heap, args);
        let joined = m.join_contents(args);
        Ok(Val::str(text).at(joined.0).taint(joined.1))
    }))
    .unseen(),
    many("println", &[], Ty::Any, "`println A…`: the arguments as text, and a line break.", |m, args| {
        Ok(Val::str(sprintln(&m.heap, args)))
    })
    .unseen(),
    pieces(many("printf", &[Ty::Str], Ty::Any, "`printf FORMAT A…`: formats the arguments.", printf))
        .unseen()
        .costs(Cost::Slow),
    many("html", &[], Ty::Any, "`html A…`: the text escaped for HTML.", |m, args| {
        Ok(Val::str(escape_html(&eval_args(m, args))))
    }),
    many("js", &[], Ty::Any, "`js A…`: the text escaped for JavaScript.", |m, args| {
        Ok(Val::str(escape_js(&eval_args(m, args))))
    }),
    many("urlquery", &[], Ty::Any, "`urlquery A…`: the text escaped for a URL's query.", |m, args| {
        Ok(Val::str(super::paths::query_escape(&eval_args(m, args))))
    }),
];

/// The kinds that Go distinguishes in comparisons.
#[derive(PartialEq, Clone, Copy)]
enum Basic {
    Bool,
    Int(i64),
    Uint(u64),
    Float,
    Str,
    Complex,
    Other,
}

fn basic(value: &Val) -> Basic {
    match &value.data {
        Data::Bool(_) => Basic::Bool,
        Data::Int(n) | Data::Int64(n) | Data::Duration(n) => Basic::Int(*n),
        Data::Uint64(n) => Basic::Uint(*n),
        Data::Uint8(n) => Basic::Uint(u64::from(*n)),
        Data::Float(_) => Basic::Float,
        Data::Str(_) => Basic::Str,
        Data::Complex(_) => Basic::Complex,
        _ => Basic::Other,
    }
}

fn incompatible(heap: &Heap, a: &Val, b: &Val) -> Fault {
    Cause::Incompatible(heap.type_name(a), heap.type_name(b)).into()
}

fn equal(heap: &Heap, args: &[Val]) -> Result<bool, Fault> {
    let Some((first, rest)) = args.split_first() else { return Ok(false) };
    if rest.is_empty() {
        return Err(Cause::NothingToCompare.into());
    }
    for other in rest {
        if equal_two(heap, first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal_two(heap: &Heap, a: &Val, b: &Val) -> Result<bool, Fault> {
    Ok(match (&a.data, &b.data) {
        (Data::Bool(x), Data::Bool(y)) => x == y,
        (Data::Float(x), Data::Float(y)) => x == y,
        (Data::Str(x), Data::Str(y)) => x == y,
        (Data::Complex(x), Data::Complex(y)) => x == y,
        _ => match (basic(a), basic(b)) {
            (Basic::Int(x), Basic::Int(y)) => x == y,
            (Basic::Uint(x), Basic::Uint(y)) => x == y,
            (Basic::Int(x), Basic::Uint(y)) | (Basic::Uint(y), Basic::Int(x)) => u64::try_from(x) == Ok(y),
            (Basic::Other, Basic::Other) => {
                if a.is_nil() || b.is_nil() {
                    return Ok(a.is_nil() && b.is_nil());
                }
                if let (Data::Object(x), Data::Object(y)) = (&a.data, &b.data) {
                    // Versions are pointers: equal only if identical.
                    let plain = x.type_name() == y.type_name() && !x.type_name().starts_with('*');
                    return Ok(std::sync::Arc::ptr_eq(x, y) || plain && x.text().is_some() && x.text() == y.text());
                }
                return Err(non_comparable(heap, a, b));
            }
            _ if a.is_nil() || b.is_nil() => false,
            _ => return Err(incompatible(heap, a, b)),
        },
    })
}

/// Go's message for values that `eq` cannot compare.
fn non_comparable(heap: &Heap, a: &Val, b: &Val) -> Fault {
    let show = |format: &[u8], value| {
        let text = sprintf(heap, format, std::slice::from_ref(value));
        String::from_utf8_lossy(&text).into_owned()
    };
    let (type_a, type_b) = (heap.type_name(a), heap.type_name(b));
    if std::mem::discriminant(&a.data) == std::mem::discriminant(&b.data) {
        return Cause::Incomparable(format!("non-comparable type {}: {type_b}", show(b"%s", b)).into()).into();
    }
    let words = format!("non-comparable types {}: {type_a}, {type_b}: {}", show(b"%s", a), show(b"%v", b));
    Cause::Incomparable(words.into()).into()
}

fn less(heap: &Heap, args: &[Val]) -> Result<bool, Fault> {
    let (a, b) = (arg(args, 0), arg(args, 1));
    let invalid = || Err(Cause::Incomparable("invalid type for comparison".into()).into());
    let (x, y) = (basic(a), basic(b));
    if x == Basic::Other || y == Basic::Other {
        return invalid();
    }
    Ok(match (&a.data, &b.data) {
        (Data::Float(x), Data::Float(y)) => x < y,
        (Data::Str(x), Data::Str(y)) => x < y,
        _ => match (x, y) {
            (Basic::Int(x), Basic::Int(y)) => x < y,
            (Basic::Uint(x), Basic::Uint(y)) => x < y,
            (Basic::Int(x), Basic::Uint(y)) => x < 0 || (x as u64) < y,
            (Basic::Uint(x), Basic::Int(y)) => y >= 0 && x < y as u64,
            (Basic::Bool, Basic::Bool) | (Basic::Complex, Basic::Complex) => return invalid(),
            _ => return Err(incompatible(heap, a, b)),
        },
    })
}

fn index(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let Some((item, keys)) = args.split_first() else { return Ok(Val::NIL) };
    if item.is_nil() {
        return Err(Cause::Unset("index of untyped nil").into());
    }
    let mut item = item.clone();
    for key in keys {
        item = index_one(m, &item, key)?;
    }
    Ok(m.chosen("index", item, keys))
}

fn index_one(m: &Machine<'_>, item: &Val, key: &Val) -> Result<Val, Fault> {
    match &item.data {
        Data::Nil => Err(Cause::Unset("index of nil pointer").into()),
        Data::List(list) => {
            let count = m.heap.items(*list).len();
            let at = index_arg(&m.heap, key, count)?;
            Ok(m.heap.element(*list, at).unwrap_or(Val::NIL))
        }
        Data::Str(text) | Data::Bytes(text) => {
            let at = index_arg(&m.heap, key, text.len())?;
            Ok(Val::new(Data::Uint8(text.bytes().get(at).copied().unwrap_or_default())).at(item.origin))
        }
        Data::Map(map) => match &key.data {
            Data::Str(name) => {
                let found = m.heap.lookup(*map, name.bytes());
                Ok(found.unwrap_or_else(|| map.kind.zero().at(item.origin)))
            }
            Data::Nil => Err(Cause::UnsetKey("value is nil; should be of type string").into()),
            _ => Err(Cause::NotAKey(m.heap.type_name(key)).into()),
        },
        _ => Err(Cause::NoElements(m.heap.type_name(item)).into()),
    }
}

fn index_arg(heap: &Heap, key: &Val, count: usize) -> Result<usize, Fault> {
    let at = match basic(key) {
        Basic::Int(n) => i128::from(n),
        Basic::Uint(n) => i128::from(n),
        _ if key.is_nil() => return Err(Cause::UnsetKey("cannot index slice/array with nil").into()),
        _ => return Err(Cause::NotAnIndex(heap.type_name(key)).into()),
    };
    if at < 0 || at >= count as i128 {
        return Err(Cause::OutOfRange(at).into());
    }
    Ok(at as usize)
}

fn len(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let value = arg(args, 0);
    let count = match &value.data {
        Data::Str(text) | Data::Bytes(text) => text.len(),
        Data::List(list) => m.heap.items(*list).len(),
        Data::Map(map) => m.heap.get_map(*map).entries.len(),
        Data::Nil => return Err(Cause::Unset("reflect: call of reflect.Value.Type on zero Value").into()),
        _ => return Err(Cause::NoLength(m.heap.type_name(value)).into()),
    };
    Ok(Val::int(count as i64))
}

/// Rejects a format whose widths and precisions add up to more than the text limit, each counted for every element it
/// applies to.
fn refuse_padding(m: &mut Machine<'_>, format: &[u8], args: &[Val]) -> Result<(), Fault> {
    const WIDEST: usize = 1_000_000;
    let mut padding = 0usize;
    let mut number = 0usize;
    // Digits and stars are widths only between `%` and its verb.
    let mut is_in_verb = false;
    for byte in format {
        match byte {
            b'%' => is_in_verb = !is_in_verb,
            _ if !is_in_verb => {}
            b'0'..=b'9' => number = (number * 10 + usize::from(byte - b'0')).min(WIDEST),
            b'*' => padding = padding.saturating_add(WIDEST),
            _ => {
                padding = padding.saturating_add(std::mem::take(&mut number));
                is_in_verb = b" +-#.[]".contains(byte);
            }
        }
    }
    if padding < 1_000 {
        return Ok(());
    }
    let mut elements = 1;
    for value in args {
        elements = elements.max(m.weigh(value)?);
    }
    if padding.saturating_mul(elements) > m.limits.text {
        return Err(Fault::Limit(Limit::Text));
    }
    m.spend(padding / 16)
}

fn printf(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let Some((_, rest)) = args.split_first() else { return Ok(Val::str("")) };
    refuse_padding(m, bytes(args, 0), rest)?;
    if !m.outside.track {
        return m.limited(sprintf(&m.heap, bytes(args, 0), rest));
    }
    let mut ranges: Vec<(usize, usize, usize)> = Vec::new();
    let text = sprintf_parts(&m.heap, bytes(args, 0), rest, &mut |index, start, end| ranges.push((index, start, end)));
    let (origin, tainted) = m.join_origins(args.get(..1).unwrap_or_default());
    let own = Piece { end: 0, origin, site: m.site, call: m.current_call(), tainted };
    let mut rope = Rope::default();
    let mut at = 0;
    for (index, start, end) in ranges {
        rope.push(text.get(at..start).unwrap_or_default(), own);
        let value = arg(rest, index);
        let part = text.get(start..end).unwrap_or_default();
        match &value.data {
            Data::Str(known) if known.bytes() == part && known.pieces().is_some() => {
                rope.push_pieces(part, known.pieces().unwrap_or_default(), value.is_tainted_as_whole());
            }
            _ => {
                let (origin, tainted) = m.join_contents(std::slice::from_ref(value));
                rope.push(part, Piece { origin, tainted, ..own });
            }
        }
        at = end;
    }
    rope.push(text.get(at..).unwrap_or_default(), own);
    m.limited_rope(rope)
}

fn eval_args(m: &Machine<'_>, args: &[Val]) -> Vec<u8> {
    if let [Val { data: Data::Str(text), .. }] = args {
        return text.bytes().to_vec();
    }
    let shown: Vec<Val> = args.iter().map(|v| if v.is_nil() { Val::str("<no value>") } else { v.clone() }).collect();
    sprint_all(&m.heap, &shown)
}

fn escape_html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{FFFD}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            _ => out.push(*byte),
        }
    }
    out
}

fn escape_js(text: &[u8]) -> Str {
    let mut out = String::new();
    for ch in String::from_utf8_lossy(text).chars() {
        match ch {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' => out.push_str("\\u003C"),
            '>' => out.push_str("\\u003E"),
            '&' => out.push_str("\\u0026"),
            '=' => out.push_str("\\u003D"),
            _ if u32::from(ch) < 0x20 => out.push_str(&format!("\\u{:04X}", u32::from(ch))),
            _ if crate::quote::is_print(ch) => out.push(ch),
            _ => out.push_str(&format!("\\u{:04X}", u32::from(ch))),
        }
    }
    out.into()
}
