//! Phase 7, coercion: values in the form they have in results.
//!
//! Quantities, versions, timestamps and ranges become maps that carry their meaning (`$number`, `$string`, …) beside
//! the original text. The reverse exists too, because a function may pass such a value to another property.

use crate::entities;
use crate::entity::Entity;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::python_text::python_text;
use crate::quirks;
use crate::read::parse_range;
use crate::special::units::Quantity;
use crate::special::{timestamp, units, version};
use crate::val::{Data, Val};
use crate::values::Stance;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// The key of the original text in a coerced value.
pub const ORIGINAL: &str = "$originalString";

/// The key of the bytes of a value of type `bytes`.
pub(crate) const BYTES: &str = "bytes";

/// The Base64 text of a coerced value of type `bytes`.
pub(crate) fn as_bytes(entries: &[(Val, Val)]) -> Option<&EcoString> {
    let [(first, original), (second, bytes)] = entries else { return None };
    match (&first.data, &original.data, &second.data, &bytes.data) {
        (Data::Str(first), Data::Str(original), Data::Str(second), Data::Str(bytes))
            if first == ORIGINAL && second == BYTES && original == bytes =>
        {
            Some(bytes)
        }
        _ => None,
    }
}
/// The number in a coerced value.
pub const NUMBER: &str = "$number";
/// The text in a coerced value.
pub const STRING: &str = "$string";

/// A value that a host's files may write in another type, read as the declared type: any value for a string, digits
/// for a number. None if it has its type already, or cannot be read as one.
pub fn leniently(value: &Val, primitive: Primitive, stance: Stance) -> Option<Data> {
    if stance == Stance::Part {
        return as_part(value, primitive);
    }
    let number = |text: &str| text.trim().replace('_', "");
    Some(match (primitive, &value.data) {
        (Primitive::String, Data::Str(_) | Data::Null) => return None,
        (Primitive::String, _) if stance == Stance::Input => return None,
        (Primitive::String, Data::Timestamp(text)) => Data::Str(text.clone()),
        (Primitive::String, _) => Data::Str(python_text(value)),
        (Primitive::Version, Data::Int(_) | Data::Float(_)) => Data::Str(python_text(value)),
        (Primitive::Integer, Data::Str(text)) => Data::Int(number(text).parse().ok()?),
        (Primitive::Integer, Data::Float(number)) if number.is_finite() => Data::Int(*number as i64),
        (Primitive::Integer, Data::Bool(_)) => value.data.clone(),
        (Primitive::Float, Data::Str(text)) => Data::Float(number(text).parse().ok()?),
        (Primitive::Float, Data::Int(number)) => Data::Float(*number as f64),
        (Primitive::Size | Primitive::Time | Primitive::Frequency | Primitive::Bitrate, Data::Str(text)) => {
            Data::Str(with_known_unit(text, primitive)?)
        }
        (Primitive::Float, Data::Bool(flag)) => Data::Float(f64::from(u8::from(*flag))),
        (Primitive::Boolean, Data::Str(text)) => Data::Bool(text.to_ascii_lowercase().parse().ok()?),
        _ => return None,
    })
}

/// The same for a part of a value, with stricter rules.
fn as_part(value: &Val, primitive: Primitive) -> Option<Data> {
    let tolerated = match (primitive, &value.data) {
        (Primitive::Version, Data::Int(_) | Data::Float(_)) => true,
        (Primitive::Integer, Data::Bool(_)) | (Primitive::Float, Data::Int(_) | Data::Bool(_)) => true,
        (Primitive::Integer, Data::Float(number)) => number.is_finite(),
        (Primitive::Integer, Data::Str(text)) => text.trim().parse::<i64>().is_ok(),
        (Primitive::Float, Data::Str(text)) => text.trim().parse::<f64>().is_ok(),
        (Primitive::Boolean, Data::Str(text)) => {
            text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
        }
        (Primitive::Size | Primitive::Time | Primitive::Frequency | Primitive::Bitrate, Data::Str(text)) => {
            with_known_unit(text, primitive).is_some()
        }
        _ => false,
    };
    tolerated.then(|| value.data.clone())
}

/// A quantity with the standard's spelling of its unit, ignoring case.
fn with_known_unit(text: &str, primitive: Primitive) -> Option<EcoString> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (amount, unit) = (text.get(..at)?.trim(), text.get(at..)?.trim());
    if amount.is_empty() || !amount.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let units = primitive.family()?.units;
    let (unit, _) = units.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit))?;
    Some(eco_format!("{amount} {unit}"))
}

/// A value in the form used in results.
pub fn coerce(model: &Model, value: &Val, data_type: Option<DeclId>, definition: Option<&Entity>) -> Val {
    match data_type {
        Some(id) => coerce_at(model, value, id, definition, 0),
        None => value.clone(),
    }
}

fn coerce_at(model: &Model, value: &Val, id: DeclId, definition: Option<&Entity>, depth: u32) -> Val {
    if depth > MAX_DEPTH {
        return value.clone();
    }
    match (model.primitive(id), &value.data) {
        (Some(Primitive::List), Data::List(items)) => match schema(model, id, definition, "entry_schema") {
            Some((entry, schema)) if !is_plain(model, entry) => {
                let items = items.iter().map(|item| coerce_at(model, item, entry, Some(&schema), depth + 1)).collect();
                value.with(Data::List(Arc::new(items)))
            }
            _ => value.clone(),
        },
        (Some(Primitive::Map), Data::Map(entries)) => match schema(model, id, definition, "entry_schema") {
            Some((entry, schema)) if !is_plain(model, entry) => {
                let entries = entries
                    .iter()
                    .map(|(key, item)| (key.clone(), coerce_at(model, item, entry, Some(&schema), depth + 1)))
                    .collect();
                value.with(Data::Map(Arc::new(entries)))
            }
            _ => value.clone(),
        },
        (None, Data::Map(entries)) => {
            let Some(complete) = model.complete(id) else { return value.clone() };
            let part = |(key, item): &(Val, Val)| {
                let definition = key.as_str().and_then(|name| complete.named("properties", name));
                let item = match definition
                    .and_then(|definition| Some((definition, model.type_of(definition, "type", entities::DATA_TYPE)?)))
                {
                    Some((definition, id)) => coerce_at(model, item, id, Some(definition), depth + 1),
                    None => item.clone(),
                };
                (key.clone(), item)
            };
            value.with(Data::Map(Arc::new(entries.iter().map(part).collect())))
        }
        (Some(primitive), _) => special(model, value, id, primitive),
        _ => value.clone(),
    }
}

/// Whether coercion leaves values of this type as they are.
pub fn is_plain(model: &Model, id: DeclId) -> bool {
    matches!(
        model.primitive(id),
        Some(Primitive::Boolean | Primitive::Integer | Primitive::Float | Primitive::String | Primitive::Null)
    )
}

fn schema(model: &Model, id: DeclId, definition: Option<&Entity>, slot: &str) -> Option<(DeclId, Arc<Entity>)> {
    let own = definition.and_then(|definition| definition.one(slot));
    let schema = own.or_else(|| model.complete(id)?.one(slot))?.clone();
    Some((model.type_of(&schema, "type", entities::DATA_TYPE)?, schema))
}

fn special(model: &Model, value: &Val, id: DeclId, primitive: Primitive) -> Val {
    let span = value.span;
    let text = |text: &str| value.with(Data::Str(text.into()));
    let int = |number: u64| value.with(i64::try_from(number).map_or(Data::Float(number as f64), Data::Int));
    let map = |entries: Vec<(&str, Val)>| value.with(Val::map(entries, span).data);
    match (primitive, &value.data) {
        (Primitive::Size | Primitive::Time | Primitive::Frequency | Primitive::Bitrate, Data::Str(written)) => {
            let Some(family) = primitive.family() else { return value.clone() };
            match units::parse(written, family) {
                Some(quantity) => map(quantity_entries(value, &quantity, family.whole)),
                None => value.clone(),
            }
        }
        (Primitive::Scalar, Data::Str(written)) => match crate::scalar::parse(model, id, written) {
            Ok(quantity) => map(quantity_entries(value, &quantity, false)),
            Err(_) => value.clone(),
        },
        (Primitive::Version, Data::Int(_) | Data::Float(_)) if model.allows(quirks::VERSIONS_PERMISSIVE) => {
            match crate::values::version_text(model, value, true) {
                Some(written) => special(model, &value.with(Data::Str(written)), id, primitive),
                None => value.clone(),
            }
        }
        (Primitive::Version, Data::Str(written)) => match version::parse(written) {
            Some(version) => map(vec![
                (STRING, text(written)),
                (ORIGINAL, text(written)),
                ("$comparer", text("tosca.comparer.version")),
                ("major", int(version.major)),
                ("minor", int(version.minor)),
                ("fix", int(version.fix)),
                ("qualifier", text(&version.qualifier)),
                ("build", int(version.build)),
            ]),
            None => value.clone(),
        },
        (Primitive::Timestamp, Data::Str(written) | Data::Timestamp(written)) => match timestamp::parse(written) {
            Some(stamp) => map(stamp_entries(value, &stamp, matches!(value.data, Data::Str(_)))),
            None => value.clone(),
        },
        (Primitive::Range, Data::List(items)) => match parse_range(value) {
            Ok(range) => {
                // Each bound is where it is written.
                let bound = |at: usize, number: u64| match items.get(at) {
                    Some(item) => item.with(int(number).data),
                    None => int(number),
                };
                map(vec![("lower", bound(0, range.lower)), ("upper", bound(1, range.upper.unwrap_or(u64::MAX)))])
            }
            Err(_) => value.clone(),
        },
        (Primitive::Bytes, Data::Str(written)) => map(vec![(ORIGINAL, text(written)), (BYTES, text(written))]),
        _ => value.clone(),
    }
}

fn quantity_entries(value: &Val, quantity: &Quantity, whole: bool) -> Vec<(&'static str, Val)> {
    let number = if whole && quantity.number < 9.2e18 {
        Data::Int(quantity.number as i64)
    } else {
        Data::Float(quantity.number)
    };
    vec![
        (NUMBER, value.with(number)),
        (STRING, value.with(Data::Str(quantity.text.clone()))),
        (ORIGINAL, value.with(Data::Str(quantity.original.clone()))),
        ("scalar", value.with(Data::Float(quantity.scalar))),
        ("unit", value.with(Data::Str(quantity.unit.clone()))),
    ]
}

fn stamp_entries(value: &Val, stamp: &timestamp::Timestamp, quoted: bool) -> Vec<(&'static str, Val)> {
    let int = |number: u32| value.with(Data::Int(i64::from(number)));
    let nanoseconds = i64::try_from(stamp.nanoseconds()).map_or(Data::Float(stamp.nanoseconds() as f64), Data::Int);
    let mut out = vec![(NUMBER, value.with(nanoseconds)), (STRING, value.with(Data::Str(stamp.canonical())))];
    // Go's YAML keeps only the instant of a timestamp.
    let sign = match stamp.west {
        true => "-",
        false if stamp.offset || !quoted => "+",
        false => "",
    };
    let original = if quoted { stamp.original.clone() } else { "".into() };
    out.push((ORIGINAL, value.with(Data::Str(original))));
    out.extend([
        ("year", int(stamp.year)),
        ("month", int(stamp.month)),
        ("day", int(stamp.day)),
        ("hour", int(stamp.hour)),
        ("minute", int(stamp.minute)),
        ("second", int(stamp.second)),
        ("fraction", value.with(Data::Float(stamp.fraction))),
        ("tzSign", value.with(Data::Str(sign.into()))),
        ("tzHour", int(stamp.zone_hour)),
        ("tzMinute", int(stamp.zone_minute)),
    ]);
    out
}

/// The original text of a coerced value; other values as they are.
pub fn written(value: &Val) -> Val {
    if let Some(original) = value.get(ORIGINAL) {
        return original.clone();
    }
    match &value.data {
        Data::List(items) => value.with(Data::List(Arc::new(items.iter().map(written).collect()))),
        Data::Map(entries) => {
            if let (2, Some(lower), Some(upper)) = (entries.len(), value.get("lower"), value.get("upper")) {
                let unbounded = matches!(upper.data, Data::Float(_));
                let upper = if unbounded { upper.with(Data::Str("UNBOUNDED".into())) } else { upper.clone() };
                return value.with(Data::List(Arc::new(vec![lower.clone(), upper])));
            }
            value.with(Data::Map(Arc::new(entries.iter().map(|(key, item)| (key.clone(), written(item))).collect())))
        }
        _ => value.clone(),
    }
}
