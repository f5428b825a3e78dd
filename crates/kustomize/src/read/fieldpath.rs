//! Paths into resources as replacements and variables write them: `spec.ports.[name=http].port`, `data.a`, `args.0`.
//!
//! Reading finds one value; writing visits all matches and may create missing ones.

use crate::edit::{as_list, as_map, map};
use crate::fieldspec::{Change, split};
use crate::names::scalar_text;
use crate::select::compiled;
use ecow::EcoString;
use purlin_value::{Data, Value};

/// The value created at the end of a path if missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// None: the path is required.
    Nothing,
    /// A scalar.
    Scalar,
    /// A mapping.
    Map,
    /// A list.
    List,
}

/// The steps of a path. Brackets keep dots together; those of a list entry (`[name=a.b]`) stay.
pub fn steps(path: &str) -> Vec<EcoString> {
    let mut found: Vec<EcoString> = Vec::new();
    let mut parts = split(path, '.').into_iter();
    while let Some(part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            found.push(part);
            continue;
        }
        let mut whole = part.to_string();
        for next in parts.by_ref() {
            whole.push('.');
            whole.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        found.push(if whole.contains('=') { whole.into() } else { whole.trim_matches(['[', ']']).into() });
    }
    found
}

/// `ports[0]` as two steps, for variables.
pub fn with_indexes(steps: Vec<EcoString>) -> Vec<EcoString> {
    let mut found = Vec::new();
    for step in steps {
        let parts = step.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
        match parts.filter(|(_, index)| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit())) {
            Some((key, index)) => {
                found.extend(Some(key).filter(|key| !key.is_empty()).map(EcoString::from));
                found.push(index.into());
            }
            None => found.push(step),
        }
    }
    found
}

fn entry(step: &str) -> Option<&str> {
    step.strip_prefix('[')?.strip_suffix(']')
}

/// The value at a path, if it exists; an error if the path goes through a scalar.
pub fn find<'v>(value: &'v Value, path: &[EcoString]) -> Result<Option<&'v Value>, String> {
    let mut value = value;
    for step in path {
        let next = match (value.as_list(), entry(step)) {
            (Some(list), Some(wanted)) => {
                let (key, text) = wanted.split_once('=').ok_or_else(|| not_an_entry(step))?;
                list.iter().find(|item| {
                    let found = if key.is_empty() { Some(*item) } else { item.get(key) };
                    found.and_then(scalar_text).is_some_and(|found| found == text)
                })
            }
            (Some(list), None) if step == "-" => list.last(),
            (Some(list), None) => match step.parse::<usize>() {
                Ok(index) => list.get(index),
                Err(_) => return Err(in_the_way(step, value)),
            },
            (None, Some(_)) => return Err(in_the_way(step, value)),
            (None, None) if value.as_map().is_some() => value.get(step),
            (None, None) => return Err(in_the_way(step, value)),
        };
        match next.filter(|next| !next.is_null()) {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

fn in_the_way(step: &str, value: &Value) -> String {
    format!("`{step}` cannot be looked up in {}", value.kind_name())
}

fn not_an_entry(step: &str) -> String {
    format!("expected `[KEY=VALUE]`, found `{step}`")
}

/// Calls a function with all values at a path, and counts them.
pub fn visit(value: &mut Value, path: &[EcoString], made: Made, change: &mut Change<'_>) -> Result<usize, String> {
    let [step, rest @ ..] = path else { return change(value).map(|()| 1) };
    if let Ok(index) = step.parse::<usize>() {
        return visit_index(value, index, rest, made, change);
    }
    if let Some(wanted) = entry(step) {
        return visit_entries(value, wanted, rest, made, change);
    }
    if step == "*" {
        let in_the_way = in_the_way(step, value);
        let items = as_list(value).ok_or(in_the_way)?;
        return items.iter_mut().try_fold(0, |count, item| Ok(count + visit(item, rest, made, change)?));
    }
    if value.is_null() && made != Made::Nothing {
        map(value);
    }
    if !matches!(value.data, Data::Map(_)) {
        return if value.is_null() { Ok(0) } else { Err(in_the_way(step, value)) };
    }
    if value.get(step).is_none() && made == Made::Nothing {
        return Ok(0);
    }
    let Some(map) = as_map(value) else { return Ok(0) };
    let inner = map.entry(step.clone()).or_insert_with(|| blank(rest, made));
    visit(inner, rest, made, change)
}

/// The placeholder for a missing value, depending on the rest of the path.
fn blank(rest: &[EcoString], made: Made) -> Value {
    let kind = match rest.first() {
        None => made,
        Some(next) if next.parse::<usize>().is_ok() || entry(next).is_some() || next == "*" => Made::List,
        Some(_) => Made::Map,
    };
    match kind {
        Made::List => Value::list(Vec::new()),
        Made::Map => Value::map(Default::default()),
        Made::Scalar | Made::Nothing => Value::null(),
    }
}

fn visit_index(
    value: &mut Value,
    index: usize,
    rest: &[EcoString],
    made: Made,
    change: &mut Change<'_>,
) -> Result<usize, String> {
    let wrong = in_the_way(&index.to_string(), value);
    let items = as_list(value).ok_or(wrong)?;
    if index == items.len() && made != Made::Nothing {
        items.push(blank(rest, made));
    }
    let count = items.len();
    match items.get_mut(index) {
        Some(item) => visit(item, rest, made, change),
        None => Err(format!("the list has {count} items, and item {index} is named")),
    }
}

/// Items whose field matches a pattern, or that match it themselves.
fn visit_entries(
    value: &mut Value,
    wanted: &str,
    rest: &[EcoString],
    made: Made,
    change: &mut Change<'_>,
) -> Result<usize, String> {
    let (key, text) = wanted.split_once('=').ok_or_else(|| not_an_entry(wanted))?;
    let pattern = compiled(text, text).map_err(|(_, message)| message)?;
    let wrong = in_the_way(wanted, value);
    let items = as_list(value).ok_or(wrong)?;
    let fits = |item: &Value| {
        let found = if key.is_empty() { Some(item) } else { item.get(key) };
        found.and_then(scalar_text).is_some_and(|found| pattern.is_match(found.trim()))
    };
    if made != Made::Nothing && !items.iter().any(fits) {
        let value = Value::str(text);
        let pair = || Value::map([(EcoString::from(key), value.clone())].into_iter().collect());
        items.push(if key.is_empty() { value.clone() } else { pair() });
    }
    let mut count = 0;
    for item in items.iter_mut().filter(|item| fits(item)) {
        // The rest of the path is not applied to scalar items.
        count += visit(item, if key.is_empty() { &[] } else { rest }, made, change)?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_keep_dots_together() {
        assert_eq!(steps("spec.containers.[name=a.b].image"), ["spec", "containers", "[name=a.b]", "image"]);
        assert_eq!(steps("metadata.annotations.[a.b/c]"), ["metadata", "annotations", "a.b/c"]);
        assert_eq!(steps("data.a\\.b"), ["data", "a.b"]);
        assert_eq!(with_indexes(steps("spec.ports[0].port")), ["spec", "ports", "0", "port"]);
    }
}
