//! Implementations of the helper functions.

use super::Fault;
use super::arguments::Arguments;
use super::dates::{self, Instant, Unit};
use super::{text, words, yaml};
use crate::expr::text_of;
use crate::json::{self, KeyOrder};
use crate::number;
use purlin_syntax::{Diagnostic, FileId, Flavor, RuleClass, Scalar, Source, yaml as syntax_yaml};
use purlin_value::meter::steps_for;
use purlin_value::{Data, MergeKeys, Origin, Piece, Value, encoding, value_of};
use sha2::{Digest, Sha256};
use std::sync::Arc;

type Answer = Result<Value, Fault>;

pub(super) fn base64_decode(args: &Arguments<'_>) -> Answer {
    let bytes = encoding::from_base64_leniently(args.text(0)?);
    Ok(Value::str(String::from_utf8_lossy(&bytes).into_owned()))
}

pub(super) fn base64_encode(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(encoding::base64(args.text(0)?.as_bytes())))
}

pub(super) fn camel_case(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(words::camel_case(args.text(0)?)))
}

pub(super) fn kebab_case(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(words::kebab_case(args.text(0)?)))
}

pub(super) fn lower(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(args.text(0)?.to_lowercase()))
}

pub(super) fn upper(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(args.text(0)?.to_uppercase()))
}

pub(super) fn concat(args: &Arguments<'_>) -> Answer {
    for index in 0..2 {
        let fits = args.get(index).is_some_and(|v| matches!(v.data, Data::Str(_) | Data::List(_)));
        if !fits {
            return Err(args.must_be(index, "a list or a string"));
        }
    }
    match (args.get(0).map(|v| &v.data), args.get(1).map(|v| &v.data)) {
        (Some(Data::Str(a)), Some(Data::Str(b))) => {
            args.make_text((a.len() + b.len()) as u64)?;
            Ok(Value::str(format!("{a}{b}")))
        }
        (Some(Data::List(a)), Some(Data::List(b))) => {
            args.make_list((a.len() + b.len()) as u64)?;
            Ok(Value::list(a.iter().chain(b.iter()).cloned().collect()))
        }
        _ => Err("both arguments of `concat` must be lists, or both strings".to_owned().into()),
    }
}

pub(super) fn indent(args: &Arguments<'_>) -> Answer {
    let (content, spaces) = (args.text(0)?, args.count(1)?);
    let lines = content.split('\n').count() as u64;
    args.make_text(lines.saturating_mul(spaces as u64).saturating_add(content.len() as u64))?;
    Ok(Value::str(text::indent(content, spaces)))
}

pub(super) fn is_empty(args: &Arguments<'_>) -> Answer {
    let empty = match args.get(0).map(|v| &v.data) {
        None | Some(Data::Null) => true,
        Some(Data::Str(content)) => content.is_empty(),
        Some(Data::List(list)) => list.is_empty(),
        Some(Data::Map(map)) => map.is_empty(),
        Some(_) => return Err(args.must_be(0, "a map, a list, a string or null")),
    };
    Ok(Value::from(empty))
}

pub(super) fn join(args: &Arguments<'_>) -> Answer {
    let (list, separator) = (args.list(0)?, args.any_text(1)?);
    let between = (list.len() as u64).saturating_mul(separator.len() as u64);
    let texts = list.iter().map(|item| item.as_str().map_or(8, str::len) as u64).sum::<u64>();
    args.make_text(between.saturating_add(texts))?;
    let mut parts = Vec::with_capacity(list.len());
    for (index, item) in list.iter().enumerate() {
        if item.is_collection() {
            let why = format!("must hold only strings, numbers and booleans; item {index} is a {}", item.kind_name());
            return Err(args.bad(0, &why));
        }
        parts.push(if item.is_null() { Default::default() } else { text_of(item) });
    }
    let origins = list.iter().map(|item| item.origin);
    let between = args.get(1).map_or(Origin::NONE, |value| value.origin);
    args.pieces.replace(joined_pieces(parts.iter().map(|part| part.len()).zip(origins), separator.len(), between));
    Ok(Value::str(parts.join(separator.as_str())))
}

/// Provenance is kept for at most this many parts of a joined string.
const PIECES_TOLD: usize = 1_000;

/// Origins of the parts of a joined string and of its separators.
fn joined_pieces(parts: impl Iterator<Item = (usize, Origin)>, between: usize, separator: Origin) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut end = 0;
    let mut add = |length: usize, origin: Origin| {
        let start = end;
        end += length;
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        if length > 0 {
            pieces.push(Piece { start: offset(start), end: offset(end), origin });
        }
    };
    for (index, (length, origin)) in parts.take(PIECES_TOLD).enumerate() {
        if index > 0 {
            add(between, separator);
        }
        add(length, origin);
    }
    pieces
}

pub(super) fn json_decode(args: &Arguments<'_>) -> Answer {
    make_parts(args, args.text(0)?)?;
    json::read(args.text(0)?).map_err(|why| args.bad(0, &format!("is not JSON: {why}")))
}

pub(super) fn json_encode(args: &Arguments<'_>) -> Answer {
    Ok(args.get(0).map_or(Value::null(), |value| Value::str(json::write(value, KeyOrder::Written))))
}

pub(super) fn range(args: &Arguments<'_>) -> Answer {
    let (first, last) = (args.number(0)?, args.number(1)?);
    args.make_list((last - first).abs() as u64)?;
    let mut items = Vec::new();
    let mut next = first;
    if first <= last {
        while next < last + 1.0 {
            items.push(number::to_value(next));
            next += 1.0;
        }
    } else {
        while next > last - 1.0 {
            items.push(number::to_value(next));
            next -= 1.0;
        }
    }
    Ok(Value::list(items))
}

pub(super) fn replace(args: &Arguments<'_>) -> Answer {
    let (content, search, replacement) = (args.text(0)?, args.text(1)?, args.any_text(2)?);
    args.spend(steps_for(content.len() as u64), 0)?;
    let found = content.matches(search.as_str()).count() as u64;
    let kept = content.len() as u64 - found * search.len() as u64;
    args.make_text(found.saturating_mul(replacement.len() as u64).saturating_add(kept))?;
    Ok(Value::str(content.replace(search.as_str(), replacement)))
}

pub(super) fn sha256(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(encoding::hex(&Sha256::digest(args.text(0)?.as_bytes()))))
}

pub(super) fn slice(args: &Arguments<'_>) -> Answer {
    let start = bound(args, 1)?.ok_or_else(|| args.bad(1, "is missing"))?;
    let end = bound(args, 2)?;
    match args.get(0).map(|v| &v.data) {
        Some(Data::Str(content)) if content.is_empty() => Err(args.bad(0, "must not be empty")),
        Some(Data::Str(content)) => Ok(Value::str(text::slice(content, start, end))),
        Some(Data::List(list)) => {
            let range = text::slice_range(list.len(), start, end);
            Ok(Value::list(list.get(range).unwrap_or(&[]).to_vec()))
        }
        _ => Err(args.must_be(0, "a string or a list")),
    }
}

fn bound(args: &Arguments<'_>, index: usize) -> Result<Option<f64>, Fault> {
    if args.get(index).is_none_or(Value::is_null) {
        return Ok(None);
    }
    let number = args.loose_number(index);
    number.map(Some).ok_or_else(|| args.must_be(index, "a number or a numeric string"))
}

pub(super) fn split(args: &Arguments<'_>) -> Answer {
    let (content, separator) = (args.text(0)?, args.text(1)?);
    args.spend(steps_for(content.len() as u64), 0)?;
    args.make_list(content.matches(separator.as_str()).count() as u64 + 1)?;
    Ok(Value::list(content.split(separator.as_str()).map(Value::from).collect()))
}

pub(super) fn string(args: &Arguments<'_>) -> Answer {
    Ok(Value::str(args.get(0).map(text_of).unwrap_or_default()))
}

pub(super) fn trim(args: &Arguments<'_>) -> Answer {
    let content = args.text(0)?;
    if args.get(1).is_none() {
        return Ok(Value::str(content.trim()));
    }
    let set: Vec<char> = args.text(1)?.chars().collect();
    Ok(Value::str(content.trim_matches(set.as_slice())))
}

/// Seeded, so that a run can be repeated.
pub(super) fn uuid(args: &Arguments<'_>) -> Answer {
    let mut hasher = Sha256::new();
    hasher.update(args.session.world.seed().bytes());
    hasher.update(args.salt.to_le_bytes());
    let hash = hasher.finalize();
    let bytes = hash.first_chunk::<16>().copied().unwrap_or_default();
    Ok(Value::str(encoding::uuid(bytes, 4)))
}

pub(super) fn yaml_encode(args: &Arguments<'_>) -> Answer {
    let Some(value) = args.get(0) else { return Ok(Value::null()) };
    if !args.flag(1)? {
        return Ok(Value::str(yaml::encode(value)));
    }
    let Some(list) = value.as_list() else {
        return Err(args.must_be(0, "a list when several documents are asked for"));
    };
    Ok(Value::str(list.iter().map(|item| format!("---\n{}", yaml::encode(item))).collect::<String>()))
}

pub(super) fn yaml_decode(args: &Arguments<'_>) -> Answer {
    let (content, many) = (args.text(0)?, args.flag(1)?);
    make_parts(args, content)?;
    // The text is not a file of the project, so it is read outside the registry of sources.
    let source = Arc::new(Source::new(FileId(u32::MAX), "yamlDecode", content.as_str()));
    let tree = syntax_yaml::parse(source, Flavor::Core, &args.session.limits);
    if let Some(problem) = tree.diagnostics().iter().find(|d| d.is_error()) {
        return Err(unread(args, "YAML", problem));
    }
    let mut documents: Vec<Value> = tree.roots().map(|root| dated(&value_of(root, MergeKeys::Apply), root)).collect();
    if many {
        return Ok(Value::list(documents));
    }
    match documents.len() {
        0 => Ok(Value::null()),
        1 => Ok(documents.pop().unwrap_or_default()),
        _ => Err(args.bad(0, "holds more than one document; pass `true` as second argument to read them all")),
    }
}

/// Why a text could not be read: a limit or a syntax error.
fn unread(args: &Arguments<'_>, language: &str, problem: &Diagnostic) -> Fault {
    match problem.rule.class {
        RuleClass::Limit => Fault::limit(problem.rule, problem.message.clone()),
        _ => args.bad(0, &format!("is not {language}: {}", problem.message)),
    }
}

/// Steps of reading what such a sign begins.
const STEPS_PER_SIGN: u64 = 40;

/// Charges the values that a text may hold: one for each sign that begins or separates values.
fn make_parts(args: &Arguments<'_>, content: &str) -> Result<(), Fault> {
    let signs = content.bytes().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{' | b'\n')).count() as u64;
    args.spend(content.len() as u64 + signs * STEPS_PER_SIGN, content.len() as u64)?;
    args.make_list(signs)
}

/// Nodes of a decoded text have no place in the project; plain dates become full timestamps.
fn dated(value: &Value, node: purlin_syntax::Node<'_>) -> Value {
    match &value.data {
        Data::List(_) => Value::list(
            value.as_list().unwrap_or(&[]).iter().zip(node.items()).map(|(item, node)| dated(item, node)).collect(),
        ),
        Data::Map(map) => {
            let entry = |key: &str| node.entries().find(|e| e.name() == key).map(|e| e.value);
            let dated_entry = |(key, item): (&purlin_value::EcoString, &Value)| {
                let value = entry(key).map_or_else(|| strip_origin(item), |node| dated(item, node));
                (key.clone(), value)
            };
            Value::map(map.iter().map(dated_entry).collect())
        }
        Data::Str(content)
            if node.is_scalar() && node.style() == purlin_syntax::Style::Plain && is_timestamp(content) =>
        {
            Instant::parse(content).map_or_else(|| strip_origin(value), |date| Value::str(date.iso()))
        }
        _ => strip_origin(value),
    }
}

fn strip_origin(value: &Value) -> Value {
    Value::new(value.data.clone())
}

fn is_timestamp(content: &str) -> bool {
    purlin_syntax::scalar::resolve_plain(content, Flavor::Python) == Scalar::Timestamp
}

const SHIFT_UNITS: &[&str] = &["years", "months", "weeks", "days", "hours", "minutes", "seconds"];
const MODIFY_UNITS: &[&str] = &["years", "months", "days", "hours", "minutes", "seconds", "milliseconds"];

fn date(args: &Arguments<'_>) -> Result<Instant, Fault> {
    Instant::parse(args.text(0)?).ok_or_else(|| args.bad(0, "is not a date"))
}

pub(super) fn format_date(args: &Arguments<'_>) -> Answer {
    let date = date(args)?;
    dates::format(date, args.text(1)?).map(Value::str).map_err(|why| args.bad(1, &format!("is not a pattern: {why}")))
}

pub(super) fn shift_date(args: &Arguments<'_>) -> Answer {
    moved(args, SHIFT_UNITS, Instant::shifted)
}

pub(super) fn modify_date(args: &Arguments<'_>) -> Answer {
    moved(args, MODIFY_UNITS, Instant::modified)
}

fn moved(args: &Arguments<'_>, units: &[&str], by: fn(Instant, f64, Unit) -> Option<Instant>) -> Answer {
    let unit = Unit::named(args.word(2, units)?).ok_or_else(|| args.bad(2, "is not a unit of time"))?;
    let moved = by(date(args)?, args.number(1)?, unit);
    moved.map(|date| Value::str(date.iso())).ok_or_else(|| args.bad(1, "leads out of the range of dates"))
}
