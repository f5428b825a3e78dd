//! Methods of values that templates call: those of Python's strings, lists and maps.
//!
//! A method that changes a list or map (`append`, `update`) changes the collection held by the template's own
//! variable. The change is not visible elsewhere: shared collections are copied first; see [`change`].

use super::filters::{most_parts, text_split};
use super::object::Object;
use super::render::{Renderer, Values};
use super::{format, moment};
use crate::arithmetic::{too_long, too_many};
use crate::error::{Error, Kind};
use crate::error::{Result, type_error, value_error};
use crate::limits::{MAX_ITEMS, MAX_STRING};
use crate::python;
use crate::val::place;
use crate::val::{Data, MapKey, Val, ValMap};
use purlin_syntax::what;
use purlin_value::Cost;
use std::rc::Rc;

const STRING: &[&str] = &[
    "upper",
    "lower",
    "strip",
    "lstrip",
    "rstrip",
    "split",
    "rsplit",
    "splitlines",
    "join",
    "replace",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "count",
    "title",
    "capitalize",
    "swapcase",
    "zfill",
    "ljust",
    "rjust",
    "center",
    "isdigit",
    "isalpha",
    "isalnum",
    "isupper",
    "islower",
    "isspace",
    "isnumeric",
    "format",
    "encode",
    "decode",
    "partition",
    "rpartition",
    "casefold",
    "removeprefix",
    "removesuffix",
    "expandtabs",
    "isdecimal",
    "isidentifier",
    "isprintable",
    "istitle",
];
const LIST: &[&str] = &["index", "count", "copy"];
const MAP: &[&str] = &["items", "keys", "values", "get", "copy"];

/// Methods with named arguments, in positional order. Those of `format` and `update` are free.
const NAMED: &[(&str, &[&str])] = &[
    ("decode", &["encoding", "errors"]),
    ("encode", &["encoding", "errors"]),
    ("expandtabs", &["tabsize"]),
    ("rsplit", &["sep", "maxsplit"]),
    ("split", &["sep", "maxsplit"]),
    ("splitlines", &["keepends"]),
];

/// Puts named arguments into their positions. An unknown name is rejected, so that it is not silently ignored.
fn placed(method: &str, args: Values) -> Result<Values> {
    if args.named.is_empty() || matches!(method, "format" | "update" | "sort") {
        return Ok(args);
    }
    let names = NAMED.iter().find(|(known, _)| *known == method).map_or(&[][..], |(_, names)| names);
    let mut positional = args.positional;
    let given = positional.len();
    for (name, value) in args.named {
        match names.iter().position(|known| *known == name) {
            Some(at) if at >= given => {
                positional.resize(positional.len().max(at + 1), Val::null());
                if let Some(place) = positional.get_mut(at) {
                    *place = value;
                }
            }
            Some(_) => return type_error(format!("`{method}` is given `{name}` twice")),
            None => return type_error(format!("`{method}` takes no argument `{name}`")),
        }
    }
    Ok(Values { positional, named: Vec::new() })
}

/// Whether a value has a method.
pub fn exists(base: &Val, name: &str) -> bool {
    match &base.data {
        Data::Str(_) | Data::Bytes(_) => STRING.contains(&name),
        Data::List(_) => LIST.contains(&name),
        Data::Lazy(lazy) if lazy.is_list() => LIST.contains(&name),
        Data::Map(_) | Data::Lazy(_) | Data::Attributes(_) | Data::AllNodes(_) | Data::AllAttributes(_) => {
            MAP.contains(&name)
        }
        Data::External(external) => exists(&external.value, name),
        _ => false,
    }
}

const CHANGE_LIST: &[&str] = &["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"];
const CHANGE_MAP: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Whether lists or maps have a method of this name that changes them.
pub fn is_changing(name: &str) -> bool {
    CHANGE_LIST.contains(&name) || CHANGE_MAP.contains(&name)
}

/// Whether an evaluated value has a method of this name that changes it.
pub fn changes(base: &Val, name: &str) -> bool {
    match &base.data {
        Data::List(_) => CHANGE_LIST.contains(&name),
        Data::Map(_) => CHANGE_MAP.contains(&name),
        _ => false,
    }
}

/// Steps of a call that changes a collection: the call is made, and its values are bound, for every change.
const CHANGE_STEPS: usize = 8;

/// Changes a list or map, and returns the method's result. In place if the collection is not shared.
pub fn change(render: &Renderer<'_>, base: &mut Val, name: &str, args: Values) -> Result<Val> {
    let args = &placed(name, args)?;
    let spend = |shared: bool, len: usize| {
        let is_local = match name {
            "pop" => args.positional.is_empty(),
            "insert" | "remove" | "reverse" | "sort" => false,
            _ => true,
        };
        let moved = if shared || !is_local { len } else { 0 };
        render.ctx.evaluation.spend(moved.saturating_add(CHANGE_STEPS))
    };
    let result = match &mut base.data {
        Data::List(items) => {
            spend(Rc::strong_count(items) > 1, items.len())?;
            change_list(render, Rc::make_mut(items).values_mut(), name, args)
        }
        Data::Map(entries) => {
            spend(Rc::strong_count(entries) > 1, entries.len())?;
            change_map(render, Rc::make_mut(entries), name, args)
        }
        _ => no_method(name),
    };
    // The changed value differs from its source.
    base.origin = Val::null().origin;
    result
}

fn no_method<T>(name: &str) -> Result<T> {
    let error = Error::new(Kind::Missing, format!("missing attribute or key: \"{name}\""));
    Err(error.plain(what::unknown("attribute or key", name)))
}

fn first(args: &Values) -> Result<Val> {
    match args.positional.first() {
        Some(value) => Ok(value.clone()),
        None => type_error("the method needs an argument"),
    }
}

fn change_list(render: &Renderer<'_>, items: &mut Vec<Val>, name: &str, args: &Values) -> Result<Val> {
    let index = |at: Option<&Val>, default: i64| match at.map(|at| &at.data) {
        Some(Data::Int(n)) => *n,
        _ => default,
    };
    let mut result = Val::null();
    match name {
        "append" => items.push(first(args)?),
        "extend" => {
            let more = render.iterate(&first(args)?)?;
            render.ctx.evaluation.spend(more.len())?;
            items.extend(more);
        }
        "insert" => {
            let at = index(args.positional.first(), 0);
            let at = if at < 0 { at.saturating_add(items.len() as i64) } else { at };
            let at = usize::try_from(at).unwrap_or(0).min(items.len());
            items.insert(at, args.positional.get(1).cloned().unwrap_or_else(Val::null));
        }
        "pop" => match place(index(args.positional.first(), -1), items.len()) {
            Some(at) => result = items.remove(at),
            None => return value_error("pop index out of range"),
        },
        "remove" => {
            let needle = first(args)?;
            force_all(render, items)?;
            match items.iter().position(|item| python::equal(item, &needle)) {
                Some(at) => drop(items.remove(at)),
                None => return value_error("the value is not in the list"),
            }
        }
        "reverse" => items.reverse(),
        "sort" => {
            force_all(render, items)?;
            let keyed = items.iter().map(|item| (item.clone(), item.clone())).collect();
            if !args.positional.is_empty() {
                return type_error("`sort` takes no positional arguments");
            }
            for (name, value) in &args.named {
                match name.as_str() {
                    "reverse" => {}
                    "key" if matches!(value.data, Data::Null) => {}
                    "key" => {
                        return type_error("`sort` with a `key` is not supported; use the filter `sort(attribute=…)`");
                    }
                    _ => return type_error(format!("`sort` takes no argument `{name}`")),
                }
            }
            let reverse = args.get(usize::MAX, "reverse").is_some_and(python::truthy);
            *items = python::sorted(keyed, reverse)?;
        }
        "clear" => items.clear(),
        _ => return no_method(name),
    }
    if items.len() > MAX_ITEMS {
        return too_many();
    }
    Ok(result)
}

/// Evaluates the items of a list, for methods that read them.
fn force_all(render: &Renderer<'_>, items: &mut [Val]) -> Result<()> {
    for item in items {
        *item = render.ctx.host.force(std::mem::take(item))?;
    }
    Ok(())
}

fn change_map(render: &Renderer<'_>, entries: &mut ValMap, name: &str, args: &Values) -> Result<Val> {
    let key = || -> Result<MapKey> {
        let key = first(args)?;
        key.to_key().map_or_else(|| type_error(format!("unhashable type: '{}'", python::type_name(&key))), Ok)
    };
    let default = args.positional.get(1).cloned();
    let mut result = Val::null();
    match name {
        "update" => {
            if let Some(other) = args.positional.first() {
                let other = render.whole(other.clone())?;
                let Some(other) = other.as_map() else {
                    return type_error(format!("`update` needs a map, not {}", other.kind()));
                };
                render.ctx.evaluation.spend(other.len())?;
                entries.extend(other.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            entries.extend(args.named.iter().map(|(key, value)| (MapKey::Str(key.clone()), value.clone())));
        }
        "setdefault" => result = entries.entry(key()?).or_insert_with(|| default.unwrap_or_else(Val::null)).clone(),
        "pop" => match entries.shift_remove(&key()?).or(default) {
            Some(value) => result = value,
            None => return value_error("the key is not in the map"),
        },
        "popitem" => match entries.pop() {
            Some((key, value)) => result = Val::tuple(vec![render.ctx.evaluation.key(&key, &value), value]),
            None => return value_error("the map is empty"),
        },
        "clear" => entries.clear(),
        _ => return no_method(name),
    }
    Ok(result)
}

/// Whether an object of templates has a method.
pub fn exists_on_object(object: &Object, name: &str) -> bool {
    match object {
        Object::Cycler(..) => matches!(name, "next" | "reset"),
        _ => moment::has_method(object, name),
    }
}

/// The cost of a method. Searching a text is cheap, splitting it is not.
fn cost(base: &Val, name: &str) -> Cost {
    match (&base.data, name) {
        (Data::Str(_), "startswith" | "endswith" | "removeprefix" | "removesuffix") => Cost::Constant,
        (Data::Str(_), "find" | "rfind" | "index" | "count" | "partition" | "rpartition" | "encode" | "decode") => {
            Cost::ALL
        }
        (Data::Str(_), _) => Cost::Slow,
        (Data::List(_), "index" | "count") => Cost::Deep,
        (Data::Map(_), "get") => Cost::Constant,
        _ => Cost::ALL,
    }
}

/// Calls a method.
pub fn call(render: &mut Renderer<'_>, base: &Val, name: &str, args: Values) -> Result<Val> {
    if let Data::Object(object) = &base.data {
        return object_method(object, name, &args);
    }
    let base = render.whole(base.clone())?;
    let args = placed(name, args)?;
    let _held = render.ctx.evaluation.charge_call(cost(&base, name), std::iter::once(&base).chain(&args.positional))?;
    match &base.data {
        Data::Str(text) => string_method(render, text, name, &args),
        Data::List(items) => list_method(items, name, &args),
        Data::Map(entries) => Ok(match name {
            "items" => {
                let pair = |(key, value)| Val::tuple(vec![render.ctx.evaluation.key(key, value), value.clone()]);
                Val::list(entries.iter().map(pair).collect())
            }
            "keys" => Val::list(entries.iter().map(|(key, value)| render.ctx.evaluation.key(key, value)).collect()),
            "values" => Val::list(entries.values().cloned().collect()),
            "get" => {
                let Some(key) = args.positional.first().and_then(Val::to_key) else {
                    return type_error("`get` needs a key");
                };
                let default = || args.positional.get(1).cloned().unwrap_or_else(Val::null);
                entries.get(&key).cloned().unwrap_or_else(default)
            }
            _ => base,
        }),
        Data::Bytes(bytes) if name == "decode" => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Val::str(text)),
            Err(_) => value_error("the bytes are not text"),
        },
        _ => no_method(name),
    }
}

fn object_method(object: &Rc<Object>, name: &str, args: &Values) -> Result<Val> {
    match (&**object, name) {
        (Object::Cycler(items, at), "next") => {
            let current = items.get(at.get()).cloned().unwrap_or_else(Val::null);
            at.set((at.get() + 1) % items.len().max(1));
            Ok(current)
        }
        (Object::Cycler(_, at), "reset") => {
            at.set(0);
            Ok(Val::null())
        }
        (Object::Loop(state), "cycle") => match args.positional.len() {
            0 => type_error("`loop.cycle` needs values"),
            count => Ok(args.positional.get(state.index % count).cloned().unwrap_or_else(Val::null)),
        },
        (Object::Loop(state), "changed") => {
            let now = Val::list(args.positional.clone());
            let before = state.index.checked_sub(1).and_then(|at| state.items.get(at)).cloned();
            let same = before.is_some_and(|before| python::equal(&Val::list(vec![before]), &now));
            Ok(Val::bool(!same))
        }
        _ if moment::has_method(object, name) => moment::call(object, name, args),
        _ => no_method(name),
    }
}

fn list_method(items: &[Val], name: &str, args: &Values) -> Result<Val> {
    match (name, args.positional.first()) {
        ("index", Some(needle)) => match items.iter().position(|item| python::equal(item, needle)) {
            Some(at) => Ok(Val::len(at)),
            None => value_error("the value is not in the list"),
        },
        ("count", Some(needle)) => Ok(Val::len(items.iter().filter(|item| python::equal(item, needle)).count())),
        _ => Ok(Val::list(items.to_vec())),
    }
}

fn string_method(render: &Renderer<'_>, text: &str, name: &str, args: &Values) -> Result<Val> {
    let arg = |at: usize| -> Result<Option<ecow::EcoString>> {
        args.positional.get(at).map(|value| render.ctx.text(value)).transpose()
    };
    let number = |at: usize| match args.positional.get(at).map(|value| &value.data) {
        Some(Data::Int(n)) => Some(*n),
        _ => None,
    };
    let is_cutting = matches!(name, "split" | "rsplit" | "strip" | "lstrip" | "rstrip");
    // Without a separator, text is split or stripped at white space.
    let is_absent = is_cutting && args.positional.first().is_some_and(|first| matches!(first.data, Data::Null));
    let needle = if is_absent { None } else { arg(0)? };
    let part = needle.as_deref().unwrap_or("");
    let is_all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
    let chars_before = |at: usize| text.get(..at).map_or(0, |head| head.chars().count());
    Ok(match name {
        "upper" => Val::str(text.to_uppercase()),
        "lower" | "casefold" => Val::str(text.to_lowercase()),
        "strip" => Val::str(stripped(text, needle.as_deref(), true, true)),
        "lstrip" => Val::str(stripped(text, needle.as_deref(), true, false)),
        "rstrip" => Val::str(stripped(text, needle.as_deref(), false, true)),
        "split" => {
            render.ctx.evaluation.afford_list(most_parts(text, needle.as_deref()))?;
            let most = number(1).and_then(|most| usize::try_from(most).ok());
            Val::list(text_split(text, needle.as_deref(), most).into_iter().map(Val::str).collect())
        }
        "rsplit" => {
            render.ctx.evaluation.afford_list(most_parts(text, needle.as_deref()))?;
            let most = number(1).and_then(|most| usize::try_from(most).ok());
            Val::list(split_back(text, needle.as_deref(), most))
        }
        "splitlines" => {
            let keeps_ends = args.positional.first().is_some_and(python::truthy);
            let lines = || Lines { rest: text, keeps_ends };
            render.ctx.evaluation.afford_list(lines().count())?;
            Val::list(lines().map(Val::str).collect())
        }
        "join" => {
            let Some(items) = args.positional.first() else {
                return type_error("`join` needs a list");
            };
            let mut texts = Vec::new();
            for item in render.iterate(items)? {
                match item.as_str() {
                    Some(text) => texts.push(text.to_owned()),
                    None => {
                        let found = python::type_name(&item);
                        return type_error(format!("sequence item: expected str instance, {found} found"));
                    }
                }
            }
            if texts.iter().map(|item| item.len() + text.len()).sum::<usize>() > MAX_STRING {
                return too_long();
            }
            Val::str(texts.join(text))
        }
        "replace" => {
            let new = arg(1)?.unwrap_or_default();
            if text.len() + text.matches(part).count().saturating_mul(new.len()) > MAX_STRING {
                return too_long();
            }
            match number(2).and_then(|count| usize::try_from(count).ok()) {
                Some(count) => Val::str(text.replacen(part, &new, count)),
                None => Val::str(text.replace(part, &new)),
            }
        }
        "startswith" | "endswith" => {
            let candidates: Vec<ecow::EcoString> = match args.positional.first().and_then(Val::as_list) {
                Some(items) => items.iter().filter_map(Val::as_str).map(Into::into).collect(),
                None => needle.clone().into_iter().collect(),
            };
            let test = |part: &ecow::EcoString| match name {
                "startswith" => text.starts_with(part.as_str()),
                _ => text.ends_with(part.as_str()),
            };
            Val::bool(candidates.iter().any(test))
        }
        "find" => text.find(part).map_or(Val::int(-1), |at| Val::len(chars_before(at))),
        "rfind" => text.rfind(part).map_or(Val::int(-1), |at| Val::len(chars_before(at))),
        "index" => match text.find(part) {
            Some(at) => Val::len(chars_before(at)),
            None => return value_error("substring not found"),
        },
        "count" => Val::len(text.matches(part).count()),
        "title" => Val::str(title_case(text)),
        "capitalize" => Val::str(super::filters::text_capitalized(text)),
        "swapcase" => Val::str(text.chars().map(swap_case).collect::<String>()),
        "zfill" => Val::str(zero_filled(text, number(0))?),
        "ljust" | "rjust" | "center" => Val::str(justified(text, name, number(0), arg(1)?.as_deref())?),
        "isdigit" | "isnumeric" | "isdecimal" => Val::bool(is_all(|c| c.is_numeric())),
        "isalpha" => Val::bool(is_all(char::is_alphabetic)),
        "isalnum" => Val::bool(is_all(char::is_alphanumeric)),
        "isspace" => Val::bool(is_all(char::is_whitespace)),
        "isupper" => Val::bool(text.chars().any(char::is_alphabetic) && text == text.to_uppercase()),
        "islower" => Val::bool(text.chars().any(char::is_alphabetic) && text == text.to_lowercase()),
        "format" => {
            let mut values = Vec::new();
            for value in &args.positional {
                values.push(render.whole(value.clone())?);
            }
            Val::str(format::braces(text, &values, &args.named)?)
        }
        "isidentifier" => {
            let inner = text.chars().all(|c| c.is_alphanumeric() || c == '_');
            Val::bool(inner && text.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        }
        "isprintable" => Val::bool(!text.chars().any(char::is_control)),
        "istitle" => Val::bool(text.chars().any(char::is_alphabetic) && text == title_case(text)),
        "encode" => Data::Bytes(text.as_bytes().into()).into(),
        "decode" => Val::str(text),
        "partition" => match text.split_once(part) {
            Some((left, right)) => Val::tuple(vec![Val::str(left), Val::str(part), Val::str(right)]),
            None => Val::tuple(vec![Val::str(text), Val::str(""), Val::str("")]),
        },
        "rpartition" => match text.rsplit_once(part) {
            Some((left, right)) => Val::tuple(vec![Val::str(left), Val::str(part), Val::str(right)]),
            None => Val::tuple(vec![Val::str(""), Val::str(""), Val::str(text)]),
        },
        "removeprefix" => Val::str(text.strip_prefix(part).unwrap_or(text)),
        "removesuffix" => Val::str(text.strip_suffix(part).unwrap_or(text)),
        "expandtabs" => Val::str(tabs_expanded(text, number(0).unwrap_or(8))?),
        _ => return no_method(name),
    })
}

/// The first letter of each run of letters in upper case, the others in lower case.
fn title_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within = false;
    for c in text.chars() {
        if within {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        within = c.is_alphabetic();
    }
    out
}

fn stripped<'t>(text: &'t str, chars: Option<&str>, start: bool, end: bool) -> &'t str {
    let drop = |c: char| match chars {
        Some(chars) => chars.contains(c),
        None => c.is_whitespace(),
    };
    let text = if start { text.trim_start_matches(drop) } else { text };
    if end { text.trim_end_matches(drop) } else { text }
}

fn split_back(text: &str, separator: Option<&str>, most: Option<usize>) -> Vec<Val> {
    let limit = most.map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<Val> = match separator {
        Some(separator) if !separator.is_empty() => text.rsplitn(limit, separator).map(Val::str).collect(),
        _ => text.trim().rsplitn(limit, char::is_whitespace).filter(|p| !p.is_empty()).map(Val::str).collect(),
    };
    parts.reverse();
    parts
}

fn swap_case(c: char) -> char {
    let other = if c.is_uppercase() { c.to_lowercase().next() } else { c.to_uppercase().next() };
    other.unwrap_or(c)
}

/// The lines of a text, with Python's line ends.
struct Lines<'t> {
    rest: &'t str,
    keeps_ends: bool,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let is_end = |c: char| matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let Some((at, end)) = self.rest.char_indices().find(|(_, c)| is_end(*c)) else {
            return Some(std::mem::take(&mut self.rest));
        };
        let is_pair = self.rest.get(at..).is_some_and(|rest| rest.starts_with("\r\n"));
        let after = at + if is_pair { 2 } else { end.len_utf8() };
        let line = self.rest.get(..if self.keeps_ends { after } else { at });
        self.rest = self.rest.get(after..).unwrap_or("");
        line
    }
}

/// A text with blanks up to the next stop in place of its tabs.
fn tabs_expanded(text: &str, stop: i64) -> Result<String> {
    let stop = usize::try_from(stop).unwrap_or(0);
    if text.matches('\t').count().saturating_mul(stop).saturating_add(text.len()) > MAX_STRING {
        return too_long();
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = if stop == 0 { 0 } else { stop - column % stop };
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    Ok(out)
}

fn zero_filled(text: &str, width: Option<i64>) -> Result<String> {
    let width = usize::try_from(width.unwrap_or(0)).unwrap_or(0);
    if width > MAX_STRING {
        return too_long();
    }
    let missing = width.saturating_sub(text.chars().count());
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.get(..1).unwrap_or(""), digits),
        None => ("", text),
    };
    Ok(format!("{sign}{}{digits}", "0".repeat(missing)))
}

fn justified(text: &str, how: &str, width: Option<i64>, fill: Option<&str>) -> Result<String> {
    let width = usize::try_from(width.unwrap_or(0)).unwrap_or(0);
    if width > MAX_STRING {
        return too_long();
    }
    let missing = width.saturating_sub(text.chars().count());
    let fill = fill.filter(|fill| fill.chars().count() == 1).unwrap_or(" ");
    Ok(match how {
        "ljust" => format!("{text}{}", fill.repeat(missing)),
        "rjust" => format!("{}{text}", fill.repeat(missing)),
        _ => {
            let left = missing / 2 + (missing & width & 1);
            format!("{}{text}{}", fill.repeat(left), fill.repeat(missing - left))
        }
    })
}
