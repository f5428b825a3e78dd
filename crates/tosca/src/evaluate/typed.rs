//! Types of calls: the meaning of literals among their arguments, and arithmetic with quantities.
//!
//! A literal such as `2 GB` has no type of its own: it takes the type of the value it is compared with or added to, or
//! of the property that receives the result.

use super::allocation::number_of;
use super::walk::{Kind, Place};
use super::{Evaluator, Key, Owner, Scope};
use crate::coerce::{self, NUMBER, ORIGINAL, STRING};
use crate::entities;
use crate::entity::Entity;
use crate::model::Primitive;
use crate::names::DeclId;
use crate::special::tidy;
use crate::val::{Data, Val};
use crate::validate::shown;
use ecow::{EcoString, eco_format};
use purlin_syntax::{Message, what};
use std::sync::Arc;

/// The declared type of a value, and the definition or schema that may say more.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub id: DeclId,
    pub definition: Option<Arc<Entity>>,
}

/// Most levels of calls searched for a type.
const MAX_NESTING: u32 = 50;

impl Evaluator<'_> {
    /// The type of a call's result, as far as it is declared.
    pub(super) fn type_of(&self, value: &Val, scope: &Scope) -> Option<Declared> {
        self.type_at(value, scope, 0)
    }

    fn type_at(&self, value: &Val, scope: &Scope, depth: u32) -> Option<Declared> {
        let Data::Call(call) = &value.data else { return None };
        if depth > MAX_NESTING {
            return None;
        }
        match call.name.as_str() {
            "value" => {
                let id = scope.value.as_ref().and_then(|(_, id)| *id)?;
                self.part(Declared { id, definition: None }, &call.args)
            }
            "get_input" | "get_property" | "get_attribute" => {
                let reference = self.reference(call, scope)?.ok().filter(|reference| !reference.listed)?;
                let (prop, _) = self.find(reference.keys.first()?)?;
                let declared = Declared { id: prop.data_type?, definition: prop.definition };
                self.part(declared, call.args.get(reference.used..)?)
            }
            "available_allocation" => {
                let walk = self.walk(&call.args, scope).ok().filter(|walk| walk.kind == Kind::Capability)?;
                let Place::Capability(node, capability) = walk.places.first()? else { return None };
                let name = call.args.get(walk.used)?.as_str()?;
                let owner = Owner::Capability(*node, *capability);
                let (prop, _) = self.find(&Key { owner, attribute: false, name: name.into() })?;
                Some(Declared { id: prop.data_type?, definition: prop.definition })
            }
            "sum" | "difference" | "product" | "quotient" | "remainder" | "union" | "intersection" | "concat" => {
                call.args.iter().find_map(|arg| self.type_at(arg, scope, depth + 1))
            }
            _ => None,
        }
    }

    /// The type of a part of a value.
    fn part(&self, mut declared: Declared, steps: &[Val]) -> Option<Declared> {
        for step in steps {
            declared = match self.model.primitive(declared.id) {
                Some(_) => self.entry(&declared)?,
                None => {
                    let definition = self.model.complete(declared.id)?.named("properties", step.as_str()?)?.clone();
                    let id = self.model.type_of(&definition, "type", entities::DATA_TYPE)?;
                    Declared { id, definition: Some(definition) }
                }
            };
        }
        Some(declared)
    }

    /// The type of the entries of a list or map.
    pub(super) fn entry(&self, declared: &Declared) -> Option<Declared> {
        if !matches!(self.model.primitive(declared.id), Some(Primitive::List | Primitive::Map)) {
            return None;
        }
        let own = declared.definition.as_ref().and_then(|definition| definition.one("entry_schema"));
        let schema = own.or_else(|| self.model.complete(declared.id)?.one("entry_schema"))?.clone();
        let id = self.model.type_of(&schema, "type", entities::DATA_TYPE)?;
        Some(Declared { id, definition: Some(schema) })
    }

    /// A literal read as a value of a type; anything else as it is.
    pub(super) fn native(&self, literal: &Val, declared: &Declared) -> Val {
        let text = match (&literal.data, self.model.primitive(declared.id)) {
            // `1.10` without quotes has lost its last digit, which cannot be recovered.
            (Data::Float(number), Some(Primitive::Version)) => Some(eco_format!("{number:?}")),
            (Data::Int(number), Some(Primitive::Version)) => Some(eco_format!("{number}.0")),
            _ => None,
        };
        let literal = text.map_or_else(|| literal.clone(), |text| literal.with(Data::Str(text)));
        coerce::coerce(self.model, &literal, Some(declared.id), declared.definition.as_deref())
    }
}

/// A number, or a quantity as it is written.
enum Amount<'v> {
    Int(i64),
    Float(f64),
    Quantity(f64, &'v Val),
}

impl Amount<'_> {
    fn read(value: &Val) -> Result<Amount<'_>, Message> {
        match &value.data {
            Data::Int(number) => Ok(Amount::Int(*number)),
            Data::Float(number) => Ok(Amount::Float(*number)),
            _ => match number_of(value) {
                Some(number) => Ok(Amount::Quantity(number, value)),
                None => Err(what::about(value.as_str(), format!("{} is not a number", shown(value)))),
            },
        }
    }

    fn number(&self) -> f64 {
        match self {
            Amount::Int(number) => *number as f64,
            Amount::Float(number) | Amount::Quantity(number, _) => *number,
        }
    }
}

const TOO_LARGE: &str = "the result is too large";

/// Arithmetic of the standard: quantities are added to quantities, and multiplied and divided by numbers.
pub(super) fn arithmetic(name: &str, args: &[Val]) -> Result<Data, Message> {
    let amounts = args.iter().map(Amount::read).collect::<Result<Vec<_>, Message>>()?;
    let quantities = amounts.iter().filter(|amount| matches!(amount, Amount::Quantity(..))).count();
    if quantities > 0 {
        return with_quantities(name, &amounts, quantities);
    }
    if name != "quotient"
        && let Some(ints) = args.iter().map(Val::as_int).collect::<Option<Vec<i64>>>()
    {
        return whole(name, &ints);
    }
    let numbers: Vec<f64> = amounts.iter().map(Amount::number).collect();
    let result = match (name, numbers.as_slice()) {
        ("sum", all) => all.iter().sum(),
        ("product", all) => all.iter().product(),
        ("difference", [a, b]) => a - b,
        ("quotient", [_, b]) if *b == 0.0 => return Err("it divides by zero".into()),
        ("quotient", [a, b]) => a / b,
        ("remainder", _) => return Err("it takes an integer or a quantity, and an integer".into()),
        _ => return Err("it takes two numbers".into()),
    };
    if result.is_finite() { Ok(Data::Float(result)) } else { Err(TOO_LARGE.into()) }
}

fn whole(name: &str, ints: &[i64]) -> Result<Data, Message> {
    let folded = match (name, ints) {
        ("sum", all) => all.iter().try_fold(0i64, |sum, n| sum.checked_add(*n)),
        ("product", all) => all.iter().try_fold(1i64, |product, n| product.checked_mul(*n)),
        ("difference", [a, b]) => a.checked_sub(*b),
        ("remainder", [_, 0]) => return Err("it divides by zero".into()),
        ("remainder", [a, b]) => a.checked_rem(*b),
        _ => return Err("it takes two numbers".into()),
    };
    folded.map(Data::Int).ok_or_else(|| TOO_LARGE.into())
}

fn with_quantities(name: &str, amounts: &[Amount<'_>], quantities: usize) -> Result<Data, Message> {
    let Some(Amount::Quantity(first, like)) = amounts.iter().find(|amount| matches!(amount, Amount::Quantity(..)))
    else {
        return Err("it takes numbers".into());
    };
    let all = quantities == amounts.len();
    let likes = amounts.iter().filter_map(|amount| match amount {
        Amount::Quantity(_, like) => Some(*like),
        _ => None,
    });
    if let ("sum" | "difference", Some(other)) =
        (name, likes.clone().find(|other| canonical_unit(other) != canonical_unit(like)))
    {
        return Err(other_units(like, other).into());
    }
    let leading = quantities == 1 && matches!(amounts, [Amount::Quantity(..), _]);
    let result = match (name, amounts) {
        ("sum", _) if all => amounts.iter().map(Amount::number).sum(),
        ("difference", [a, b]) if all => a.number() - b.number(),
        ("sum" | "difference", _) => {
            return Err("a quantity and a number without a unit cannot be added or subtracted".into());
        }
        ("product", [_, factor]) if leading => first * factor.number(),
        ("product", _) => return Err("it multiplies one quantity, which comes first, by one number".into()),
        ("quotient" | "remainder", [_, by]) if leading && by.number() == 0.0 => {
            return Err("it divides by zero".into());
        }
        ("quotient", [_, by]) if leading => first / by.number(),
        ("remainder", [_, Amount::Int(by)]) if leading => first % (*by as f64),
        ("remainder", _) => return Err("it takes an integer or a quantity, and an integer".into()),
        _ => return Err("it divides a quantity by a number without a unit".into()),
    };
    if !result.is_finite() {
        return Err(TOO_LARGE.into());
    }
    // The first unit with an integer result is the best one.
    let mut fitting = likes.filter(|like| in_unit_of(like, result).is_some_and(|shown| shown.fract() == 0.0));
    Ok(quantity(fitting.next().unwrap_or(like), result))
}

/// A quantity of the same kind as another one: in its unit if the result is an integer there, or if the other is not
/// one either; otherwise in the canonical unit.
pub(super) fn quantity(like: &Val, number: f64) -> Data {
    let fractional = like.get("scalar").and_then(number_of).is_some_and(|scalar| scalar.fract() != 0.0);
    let text = |key: &str| like.get(key).and_then(Val::as_str).unwrap_or("");
    let canonical_unit = canonical_unit(like);
    let in_unit = in_unit_of(like, number).filter(|shown| shown.fract() == 0.0 || fractional);
    let (shown, unit) = in_unit.map_or((number, canonical_unit), |shown| (shown, text("unit")));
    let written = eco_format!("{} {unit}", plain(shown));
    let entry = |key: &str, data: Data| (like.with(Data::Str(key.into())), like.with(data));
    Data::Map(Arc::new(vec![
        entry(NUMBER, Data::Float(number)),
        entry(STRING, Data::Str(eco_format!("{} {canonical_unit}", plain(number)))),
        entry(ORIGINAL, Data::Str(written)),
        entry("scalar", Data::Float(shown)),
        entry("unit", Data::Str(unit.into())),
    ]))
}

/// The unit in which quantities of a kind are compared; it differs between kinds.
pub(super) fn canonical_unit(quantity: &Val) -> &str {
    let text = quantity.get(STRING).and_then(Val::as_str).and_then(|text| text.split_once(' '));
    text.map_or("", |(_, unit)| unit)
}

/// Why two quantities cannot be compared or added.
pub(super) fn other_units(a: &Val, b: &Val) -> String {
    let (a_unit, b_unit) = (canonical_unit(a), canonical_unit(b));
    format!("{} is counted in `{a_unit}`, and {} in `{b_unit}`", shown(a), shown(b))
}

/// A number in the canonical unit, converted to the unit of a quantity; none if the unit is unknown.
fn in_unit_of(like: &Val, number: f64) -> Option<f64> {
    let part = |key: &str| like.get(key).and_then(number_of);
    let factor = part(NUMBER)? / part("scalar")?;
    (factor.is_finite() && factor != 0.0).then(|| number / factor)
}

/// A number without an exponent, and without binary rounding errors.
fn plain(number: f64) -> EcoString {
    let number = tidy(number);
    if number.fract() == 0.0 { eco_format!("{number:.0}") } else { eco_format!("{number}") }
}

/// The integer that a number is rounded to; a half is rounded down.
pub(super) fn rounded(name: &str, args: &[Val]) -> Result<Data, Message> {
    let arg = args.first().ok_or("it takes a number")?;
    let number = match arg.data {
        Data::Int(number) => return Ok(Data::Int(number)),
        Data::Float(number) => number,
        _ => {
            let words = format!("it takes a float, but {} is {}", shown(arg), arg.noun());
            return Err(what::about(arg.as_str(), words));
        }
    };
    let whole = match name {
        "round" if number.fract() == 0.0 => number,
        "round" => (number - 0.5).ceil(),
        "floor" => number.floor(),
        _ => number.ceil(),
    };
    // The bounds of 64 bits are not floats themselves; these two are safely inside.
    if (-9.2e18..=9.2e18).contains(&whole) { Ok(Data::Int(whole as i64)) } else { Err(TOO_LARGE.into()) }
}
