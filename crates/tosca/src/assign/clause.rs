//! The form of clauses: constraints, validations, conditions and workflow activities.
//!
//! Phase: read. Whether a clause holds is decided in `validate`.

use crate::edition::{self, Edition};
use crate::functions::{CONSTRAINTS, Gives, find};
use crate::suggest;
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_syntax::what;
use purlin_syntax::{Hint, Message};

/// The operator and argument of a one-key map.
pub fn single(value: &Val) -> Option<(&str, &Val)> {
    match value.entries() {
        [(key, argument)] => Some((key.as_str()?, argument)),
        _ => None,
    }
}

/// Why a value is not a map with one key.
fn keys_of(value: &Val) -> String {
    match &value.data {
        Data::Map(entries) if entries.is_empty() => "is empty".to_owned(),
        Data::Map(entries) => format!("has {}", entries.len()),
        _ => format!("is {}", value.noun()),
    }
}

/// The operator and arguments of a constraint clause of TOSCA 1.x.
pub fn constraint(value: &Val) -> Option<(&str, &[Val])> {
    // An operator that is also a function's name was read as a call.
    if let Data::Call(call) = &value.data {
        return Some((call.name.as_str(), &call.args));
    }
    let (operator, argument) = single(value)?;
    Some((operator, std::slice::from_ref(argument)))
}

/// Whether a constraint clause of TOSCA 1.x has the required form. A file may define constraints of its own.
pub fn check_constraint(value: &Val, edition: Edition, own: &[EcoString]) -> Result<(), Message> {
    let Some((operator, arguments)) = constraint(value) else {
        return Err(what::must_be("a constraint", "a map with one key").and(format!(", but it {}", keys_of(value))));
    };
    if own.iter().any(|own| own == operator) {
        return Ok(());
    }
    let known = CONSTRAINTS.iter().filter(|(_, since)| *since <= edition).map(|(name, _)| *name);
    if !known.clone().any(|name| name == operator) {
        let near = suggest::nearest(operator, known).map(|near| Hint::meant(operator, near));
        return Err(what::unknown("constraint", operator).hint(near));
    }
    let Some(argument) = arguments.first() else { return Err(format!("`{operator}` needs an argument").into()) };
    let listed = matches!(argument.data, Data::List(_) | Data::Call(_));
    match operator {
        "in_range" if argument.items().len() != 2 && !argument.is_call() => {
            Err("`in_range`: expected a list of two bounds, such as `[1, 10]`".to_owned().into())
        }
        "valid_values" if !listed => Err("`valid_values`: expected a list, such as `[a, b]`".to_owned().into()),
        _ => Ok(()),
    }
}

/// Whether a validation clause of TOSCA 2.0 has the required form.
pub fn check_validation(value: &Val) -> Result<(), Message> {
    let Data::Call(call) = &value.data else { return Err(format!("it is {}", value.noun()).into()) };
    match find(&call.name, edition::V2_0) {
        Some(function) if !matches!(function.call.gives, Gives::Bool | Gives::Any) => {
            Err(format!("`${}` does not give true or false", call.name).into())
        }
        _ => Ok(()),
    }
}

/// Whether a condition of TOSCA 1.x has the required form.
pub fn check_condition(value: &Val, edition: Edition, own: &[EcoString]) -> Result<(), (Option<Span>, Message)> {
    match &value.data {
        Data::List(items) => items.iter().try_for_each(|item| check_condition_clause(item, edition, own)),
        _ => check_condition_clause(value, edition, own),
    }
}

fn check_condition_clause(value: &Val, edition: Edition, own: &[EcoString]) -> Result<(), (Option<Span>, Message)> {
    let Some((name, argument)) = single(value) else {
        return Err((
            Some(value.span),
            what::must_be("a condition", "a map with one key").and(format!(", but it {}", keys_of(value))),
        ));
    };
    let listed = matches!(argument.data, Data::List(_));
    match name {
        "not" if argument.items().len() > 1 => {
            Err((Some(value.span), "`not` takes exactly one condition".to_owned().into()))
        }
        "and" | "or" | "not" | "assert" if listed => {
            argument.items().iter().try_for_each(|item| check_condition_clause(item, edition, own))
        }
        "and" | "or" | "not" | "assert" => check_condition_clause(argument, edition, own),
        _ => {
            let clauses = if listed { argument.items() } else { std::slice::from_ref(argument) };
            clauses.iter().try_for_each(|clause| {
                check_constraint(clause, edition, own).map_err(|reason| (Some(clause.span), reason))
            })
        }
    }
}

/// Whether a workflow activity has the required form.
pub fn check_activity(value: &Val, edition: Edition) -> Result<(), Message> {
    let Some((name, argument)) = single(value) else {
        return Err(what::must_be("an activity", "a map with one key").and(format!(", but it {}", keys_of(value))));
    };
    const KNOWN: [&str; 4] = ["delegate", "inline", "set_state", "call_operation"];
    if !KNOWN.contains(&name) {
        let near = suggest::nearest(name, KNOWN).map(|near| Hint::meant(name, near));
        return Err(what::unknown("activity", name).hint(near));
    }
    let long_form = matches!(argument.data, Data::Map(_)) && name != "set_state" && edition >= edition::V1_3;
    if argument.as_str().is_some() || long_form {
        return Ok(());
    }
    Err(what::expected("a string", argument.noun()).under(format!("`{name}`: ")))
}
