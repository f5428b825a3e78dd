//! Calls of functions that authors define (TOSCA 2.0, `functions`): whether some signature takes the arguments.
//!
//! Phase 4, afterwards. Orchestrators compute such a function; its parameters and result are known.

use crate::entities;
use crate::entity::Entity;
use crate::functions::Gives;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::Problems;
use crate::val::{Call, Data, Val};
use crate::values::Checker;
use std::sync::Arc;

/// The problem of a call of such a function, if any.
pub fn check(model: &Model, definition: &Entity, call: &Call) -> Option<String> {
    let signatures = definition.list("signatures");
    let fitting: Vec<&Arc<Entity>> = signatures.iter().filter(|found| takes(found, call.args.len())).collect();
    if signatures.is_empty() {
        return None;
    }
    if fitting.is_empty() {
        let mut counts: Vec<String> = signatures.iter().map(|signature| counts(signature)).collect();
        counts.dedup();
        return Some(format!("`${}` expects {}, found {}", call.name, counts.join(" or "), call.args.len()));
    }
    let mut refusals = fitting.iter().map(|signature| refusal(model, signature, call));
    if refusals.clone().any(|refusal| refusal.is_none()) {
        return None;
    }
    let why = refusals.next().flatten().unwrap_or_default();
    Some(match fitting.len() {
        1 => format!("`${}` does not take these arguments: {why}", call.name),
        several => format!("none of {several} signatures of `${}` takes these arguments: {why}", call.name),
    })
}

/// The fewest and the most arguments of a signature; none if unlimited.
fn range(signature: &Entity) -> (usize, Option<usize>) {
    let (needed, optional) = (signature.list("arguments").len(), signature.list("optional_arguments").len());
    let variadic = signature.bool("variadic").unwrap_or(false);
    (needed, (!variadic).then_some(needed + optional))
}

fn takes(signature: &Entity, count: usize) -> bool {
    let (least, most) = range(signature);
    least <= count && most.is_none_or(|most| count <= most)
}

fn counts(signature: &Entity) -> String {
    let (least, most) = range(signature);
    arguments(least, most)
}

/// The number of arguments, in words.
pub fn arguments(least: usize, most: Option<usize>) -> String {
    let noun = if most.unwrap_or(least) == 1 { "argument" } else { "arguments" };
    match most {
        None => format!("at least {least} {noun}"),
        Some(most) if least == most => format!("{least} {noun}"),
        Some(most) => format!("{least} to {most} {noun}"),
    }
}

/// Why a signature rejects the arguments of a call; computed ones are not known yet.
fn refusal(model: &Model, signature: &Entity, call: &Call) -> Option<String> {
    let schemas: Vec<&Arc<Entity>> =
        signature.list("arguments").iter().chain(signature.list("optional_arguments")).collect();
    for (at, arg) in call.args.iter().enumerate() {
        let schema = schemas.get(at).or(schemas.last())?;
        let mut problems = Problems::new();
        Checker::new(model, &mut problems).value(arg, schema, arg.span);
        if let Some(problem) = problems.list().first() {
            return Some(format!("for argument {}, {}", at + 1, problem.diagnostic.message));
        }
    }
    None
}

/// Whether the result of a call can be a value of a type; a noun for the result if it cannot.
pub fn result(model: &Model, value: &Val, declared: DeclId) -> Result<(), String> {
    let Data::Call(call) = &value.data else { return Ok(()) };
    if let Some(id) = model.custom_function(value.span.file, &call.name) {
        return custom_result(model, id, declared);
    }
    let Some(function) = crate::functions::find(&call.name, model.edition()) else { return Ok(()) };
    let Some(primitive) = model.primitive(declared) else { return Ok(()) };
    let (fits, noun) = match function.call.gives {
        Gives::Bool => (primitive == Primitive::Boolean, "a boolean"),
        Gives::Int => (matches!(primitive, Primitive::Integer | Primitive::Float), "an integer"),
        Gives::List => (matches!(primitive, Primitive::List | Primitive::Range), "a list"),
        Gives::Text => (!is_other_than_text(primitive), "a string"),
        Gives::Number => (primitive.is_amount(), "a number"),
        Gives::Any => return Ok(()),
    };
    if fits { Ok(()) } else { Err(noun.to_owned()) }
}

fn is_other_than_text(primitive: Primitive) -> bool {
    use Primitive::{Boolean, Float, Integer, List, Map, Null, Range};
    matches!(primitive, Boolean | Integer | Float | Null | List | Map | Range)
}

/// Some signature must give the type, one that derives from it, or one that it derives from.
fn custom_result(model: &Model, id: DeclId, declared: DeclId) -> Result<(), String> {
    let Some(complete) = model.names.decl(id).map(|decl| &decl.entity) else { return Ok(()) };
    let mut given = Vec::new();
    for signature in complete.list("signatures") {
        let Some(result) = signature.one("result") else { return Ok(()) };
        let Some(found) = model.type_of(result, "type", entities::DATA_TYPE) else { return Ok(()) };
        let whole = matches!(
            (model.primitive(found), model.primitive(declared)),
            (Some(Primitive::Integer), Some(Primitive::Float))
        );
        if whole || model.hierarchy.is_a(found, declared) || model.hierarchy.is_a(declared, found) {
            return Ok(());
        }
        given.push(format!("`{}`", model.name(found)));
    }
    if given.is_empty() { Ok(()) } else { Err(given.join(" or ")) }
}
