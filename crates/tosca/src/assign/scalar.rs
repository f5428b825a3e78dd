//! Scalars of TOSCA 2.0: data types that declare their own units.
//!
//! Knows how to check such a type and how to read a value of it.

use crate::entities;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::Problems;
use crate::rules;
use crate::special::units::{self, Quantity};
use crate::val::{Data, Text, Val};
use ecow::{EcoString, eco_format};
use purlin_syntax::what;

fn number(value: &Val) -> f64 {
    match value.data {
        Data::Int(number) => number as f64,
        Data::Float(number) => number,
        _ => f64::NAN,
    }
}

/// All units of a scalar type with their factors, prefixes applied.
fn all_units(model: &Model, id: DeclId) -> Vec<(EcoString, f64)> {
    let Some(complete) = model.complete(id) else { return Vec::new() };
    let (units, prefixes) = (complete.values("units"), complete.values("prefixes"));
    if prefixes.is_empty() {
        return units.iter().map(|(unit, factor)| (unit.text.clone(), number(factor))).collect();
    }
    let mut out = Vec::new();
    for (unit, factor) in units {
        for (prefix, multiple) in prefixes {
            out.push((eco_format!("{}{}", prefix.text, unit.text), number(factor) * number(multiple)));
        }
    }
    out
}

/// The number type of a scalar type: integers or floats, or something derived from them.
fn number_type(model: &Model, id: DeclId) -> Option<DeclId> {
    let complete = model.complete(id)?;
    model.type_of(complete, "data_type", entities::DATA_TYPE).or_else(|| model.built_in("float"))
}

/// Reads a value of a scalar type.
pub fn parse(model: &Model, id: DeclId, text: &str) -> Result<Quantity, String> {
    let units = all_units(model, id);
    let known = || units.iter().map(|(unit, _)| unit.as_str()).collect::<Vec<_>>().join(", ");
    let (scalar, rest) = units::split(text, true).ok_or_else(|| format!("`{text}` is not a number with a unit"))?;
    let unit = rest.trim();
    let Some((unit, factor)) = units.iter().find(|(known, _)| known == unit) else {
        return Err(format!("`{text}` has no known unit; known units are {}", known()));
    };
    let whole = number_type(model, id).and_then(|id| model.primitive(id)) == Some(Primitive::Integer);
    let written = text.split(|c: char| c.is_alphabetic() && c != 'e').next().unwrap_or("");
    if whole && written.contains('.') {
        return Err(format!("`{text}` must be an integer number of its unit"));
    }
    let exact = scalar * factor;
    let canonical = canonical_unit(model, id).unwrap_or_else(|| unit.clone());
    let canonical_factor = units.iter().find(|(known, _)| *known == canonical).map_or(1.0, |(_, factor)| *factor);
    let in_canonical = exact / canonical_factor;
    let value = if whole { in_canonical.round() } else { in_canonical };
    Ok(Quantity {
        scalar,
        unit: unit.clone(),
        number: value,
        text: eco_format!("{} {canonical}", crate::special::go_g(value)),
        original: text.into(),
    })
}

/// The unit that values of a scalar type are compared and shown in.
pub fn canonical_unit(model: &Model, id: DeclId) -> Option<EcoString> {
    let complete = model.complete(id)?;
    if let Some(given) = complete.text("canonical_unit") {
        return Some(given.text.clone());
    }
    all_units(model, id).into_iter().find(|(_, factor)| *factor == 1.0).map(|(unit, _)| unit)
}

/// Checks the declaration of a data type as far as scalars are concerned.
pub fn check(model: &Model, id: DeclId, problems: &mut Problems) {
    let Some(decl) = model.names.decl(id) else { return };
    let own = &decl.entity;
    let is_scalar = model.primitive(id) == Some(Primitive::Scalar);
    if !is_scalar {
        if let Some(slot) =
            own.slots.iter().find(|slot| matches!(slot.name, "units" | "canonical_unit" | "prefixes" | "data_type"))
        {
            problems.at(
                &rules::MALFORMED,
                slot.at,
                format!("`{}` is only for types that derive from `scalar`", slot.name),
            );
        }
        return;
    }
    let Some(complete) = model.complete(id).cloned() else { return };
    if own.slot("properties").is_some() {
        problems.at(&rules::MALFORMED, own.place("properties"), "a scalar type cannot have properties");
    }
    let (units, prefixes) = (complete.values("units"), complete.values("prefixes"));
    if units.is_empty() {
        problems.beyond(
            &rules::MISSING_KEY,
            own.at,
            ".units",
            what::missing("key", "units").words(format!("the scalar type `{}` needs `units`", decl.name)),
        );
        return;
    }
    check_number_type(model, id, &complete, problems);
    let one = |list: &[(Text, Val)]| list.iter().filter(|(_, factor)| number(factor) == 1.0).count();
    let at = own.slot("units").map_or(own.at, |slot| slot.at);
    if !prefixes.is_empty() && units.len() > 1 {
        problems.at(&rules::MALFORMED, own.place("prefixes"), "prefixes go with a single unit");
    }
    if one(units) == 0 {
        problems.at(&rules::MALFORMED, at, "one of the units must have the multiplier 1");
    }
    if !prefixes.is_empty() && one(prefixes) == 0 {
        problems.at(&rules::MALFORMED, own.place("prefixes"), "one of the prefixes must have the multiplier 1");
    }
    match complete.text("canonical_unit") {
        None if one(units) > 1 => {
            problems.at(
                &rules::MALFORMED,
                at,
                "several units have the multiplier 1; `canonical_unit` must say which one counts",
            );
        }
        None => {}
        Some(unit) => match all_units(model, id).iter().find(|(known, _)| *known == unit.text) {
            None => problems.at(&rules::UNKNOWN_NAME, own.place("canonical_unit"), what::unknown("unit", &unit.text)),
            Some((_, factor)) if *factor != 1.0 => {
                problems.at(
                    &rules::MALFORMED,
                    own.place("canonical_unit"),
                    format!("the canonical unit must have the multiplier 1; `{}` has {factor}", unit.text),
                );
            }
            Some(_) => {}
        },
    }
}

fn check_number_type(model: &Model, id: DeclId, complete: &crate::entity::Entity, problems: &mut Problems) {
    let Some(number_type) = number_type(model, id) else { return };
    let primitive = model.primitive(number_type);
    if !matches!(primitive, Some(Primitive::Integer | Primitive::Float)) {
        problems.at(
            &rules::MALFORMED,
            complete.place("data_type"),
            "the number type of a scalar must be `integer` or `float`, or derive from one",
        );
        return;
    }
    let clauses =
        model.complete(number_type).map(|complete| complete.clauses("validation").to_vec()).unwrap_or_default();
    for (name, factor) in complete.values("units").iter().chain(complete.values("prefixes")) {
        let fits_type = primitive == Some(Primitive::Float) || matches!(factor.data, Data::Int(_));
        let fits =
            fits_type && clauses.iter().all(|clause| crate::validate::holds_plainly(clause, factor).unwrap_or(true));
        if !fits {
            let message = format!("the multiplier of `{}` is not a valid `{}`", name.text, model.name(number_type));
            problems.at(&rules::WRONG_TYPE, name.span, message);
        }
    }
}
