//! Whether constraints and validation clauses hold for a value.
//!
//! Values arrive evaluated and coerced; comparisons follow their meaning (quantities, versions, timestamps).

use crate::clause;
use crate::coerce::{self, NUMBER, STRING};
use crate::edition::{self, Standard};
use crate::entities;
use crate::entity::Entity;
use crate::evaluate::{Evaluator, Failure, Scope, Verdict};
use crate::functions;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::rules;
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Span};
use std::cmp::Ordering;

const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// Checks the clauses of a definition and its type on a value, at every level of it.
pub fn check(
    evaluator: &mut Evaluator<'_>,
    value: &Val,
    id: DeclId,
    definition: &Entity,
    at: Span,
    scope: &Scope,
    depth: u32,
) {
    // Shared parts are checked at each occurrence.
    if depth > MAX_DEPTH || value.is_opaque() || !evaluator.can_afford_parts(value) {
        return;
    }
    let model = evaluator.model;
    let complete = model.complete(id).cloned();
    let of_type = complete.as_ref().map(|complete| complete.clauses("validation")).unwrap_or(&[]);
    for clause in of_type.iter().chain(definition.clauses("validation")) {
        verdict(evaluator, clause, value, Some(id), at, scope);
    }
    if model.primitive(id) == Some(Primitive::Scalar) {
        number_clauses(evaluator, value, id, at, scope);
    }
    each_part(model, value, id, definition, &mut |part, id, definition, at| {
        check(evaluator, part, id, definition, at, scope, depth + 1);
    });
}

/// Returns the parts of a value that have a definition of their own, with their types and locations.
pub fn each_part(
    model: &Model,
    value: &Val,
    id: DeclId,
    definition: &Entity,
    visit: &mut dyn FnMut(&Val, DeclId, &Entity, Span),
) {
    match (model.primitive(id), &value.data) {
        (Some(Primitive::List), Data::List(items)) => {
            if let Some((entry, schema)) = schema(model, id, definition, "entry_schema") {
                for item in items.iter() {
                    visit(item, entry, &schema, item.span);
                }
            }
        }
        (Some(Primitive::Map), Data::Map(entries)) => {
            let keys = schema(model, id, definition, "key_schema");
            let values = schema(model, id, definition, "entry_schema");
            for (key, item) in entries.iter() {
                if let Some((id, schema)) = &keys {
                    visit(key, *id, schema, key.span);
                }
                if let Some((id, schema)) = &values {
                    visit(item, *id, schema, key.span);
                }
            }
        }
        (None, Data::Map(entries)) => {
            let Some(complete) = model.complete(id) else { return };
            for (key, item) in entries.iter() {
                let Some(part) = key.as_str().and_then(|name| complete.named("properties", name)) else { continue };
                if let Some(id) = model.type_of(part, "type", entities::DATA_TYPE) {
                    let at = if key.span == item.span { part.place("default") } else { key.span };
                    visit(item, id, part, at);
                }
            }
        }
        _ => {}
    }
}

fn schema(model: &Model, id: DeclId, definition: &Entity, slot: &str) -> Option<(DeclId, std::sync::Arc<Entity>)> {
    let schema = definition.one(slot).or_else(|| model.complete(id)?.one(slot))?.clone();
    Some((model.type_of(&schema, "type", entities::DATA_TYPE)?, schema))
}

/// The number of a scalar must satisfy the clauses of its number type.
fn number_clauses(evaluator: &mut Evaluator<'_>, value: &Val, id: DeclId, at: Span, scope: &Scope) {
    let model = evaluator.model;
    let Some(number_type) =
        model.complete(id).and_then(|complete| model.type_of(complete, "data_type", entities::DATA_TYPE))
    else {
        return;
    };
    let Some(number) = value.get("scalar").cloned() else { return };
    let clauses =
        model.complete(number_type).map(|complete| complete.clauses("validation").to_vec()).unwrap_or_default();
    for clause in &clauses {
        verdict(evaluator, clause, &number, Some(number_type), at, scope);
    }
}

fn verdict(evaluator: &mut Evaluator<'_>, clause: &Val, value: &Val, id: Option<DeclId>, at: Span, scope: &Scope) {
    if let Err(reason) = evaluator.clause_reason(clause, value, id, scope) {
        let diagnostic = Diagnostic::at(&rules::CONSTRAINT, at, reason).label(clause.span, "the constraint is here");
        let diagnostic = diagnostic.of_value(value.origin.to_bits());
        evaluator.report(crate::problem::Problem { diagnostic, beyond: EcoString::new() });
    }
}

/// Why a literal value violates the literal clauses of TOSCA 1.x: those of its definition and of its type. Patterns
/// are left to the evaluation, which bounds their cost.
pub fn unsatisfied<'c>(model: &'c Model, value: &Val, id: DeclId, definition: &'c Entity) -> Option<(String, Span)> {
    // Quantities, versions and dates are compared by their meaning once they are evaluated.
    let is_simple = |value: &Val| match (model.primitive(id), &value.data) {
        (Some(Primitive::String), Data::Str(_)) | (Some(Primitive::Integer), Data::Int(_)) => true,
        (Some(Primitive::Float), data) => matches!(data, Data::Float(_) | Data::Int(_)),
        _ => false,
    };
    let is_simple = |value: &Val| is_simple(value) || value.as_str() == Some("UNBOUNDED");
    let of_type = model.complete(id).map(|complete| complete.clauses("validation")).unwrap_or(&[]);
    if !is_simple(value) {
        return None;
    }
    of_type.iter().chain(definition.clauses("validation")).find_map(|clause| {
        let (operator, arguments) = clause::constraint(clause)?;
        let argument = arguments.first()?;
        let is_ordered = operator.starts_with("greater") || operator.starts_with("less") || operator == "in_range";
        if is_ordered && value.as_str().is_some() {
            return None;
        }
        let all = |argument: &Val| match &argument.data {
            Data::List(items) => items.iter().all(is_simple),
            _ => is_simple(argument) || operator.ends_with("length"),
        };
        Some((compared(model, operator, argument, value, Some(id)).filter(|_| all(argument))?.err()?, clause.span))
    })
}

/// The result of a clause that only compares; none for other clauses.
fn compared(
    model: &Model,
    operator: &str,
    argument: &Val,
    value: &Val,
    id: Option<DeclId>,
) -> Option<Result<(), String>> {
    let native = |literal: &Val| coerce::coerce(model, literal, id, None);
    let compare = |wanted: fn(Ordering) -> bool, words: &str| {
        let bound = native(argument);
        match compare(model, value, &bound, id) {
            Some(ordering) if wanted(ordering) => Ok(()),
            _ => Err(format!("{} is not {words} {}", shown(value), shown(argument))),
        }
    };
    Some(match operator {
        "equal" => compare(Ordering::is_eq, "equal to"),
        "greater_than" => compare(Ordering::is_gt, "greater than"),
        "greater_or_equal" => compare(Ordering::is_ge, "greater than or equal to"),
        "less_than" => compare(Ordering::is_lt, "less than"),
        "less_or_equal" => compare(Ordering::is_le, "less than or equal to"),
        "in_range" => in_range(model, argument, value, id),
        "valid_values" => {
            let allowed = argument.items().iter().any(|item| same(model, value, &native(item), id));
            let list = || some_of(argument.items(), shown);
            if allowed { Ok(()) } else { Err(format!("{} is not one of {}", shown(value), list())) }
        }
        "length" | "min_length" | "max_length" => lengths(operator, argument, value),
        _ => return None,
    })
}

/// Most values of a list repeated in a message.
const MOST_SHOWN: usize = 20;

/// The first values of a list, and the number of the others: a message for each wrong value would repeat them all.
fn some_of(items: &[Val], shown: impl Fn(&Val) -> String) -> String {
    let first = items.iter().take(MOST_SHOWN).map(shown).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(MOST_SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl Evaluator<'_> {
    /// Whether a clause holds; none if that is not known yet.
    pub fn clause_holds(&mut self, clause: &Val, value: &Val, id: Option<DeclId>, scope: &Scope) -> Option<bool> {
        Some(self.clause_reason(clause, value, id, scope).is_ok())
    }

    fn clause_reason(&mut self, clause: &Val, value: &Val, id: Option<DeclId>, scope: &Scope) -> Result<(), String> {
        if self.model.edition().is_2() && clause.is_call() {
            return self.validation(clause, value, id, scope);
        }
        let Some((operator, arguments)) = clause::constraint(clause) else { return Ok(()) };
        if self.model.scripts.defines(operator) {
            return self.scripted_clause(operator, arguments, value, scope);
        }
        let Some(argument) = arguments.first() else { return Ok(()) };
        let argument = match self.eval(argument, scope, 0) {
            Ok(argument) => argument,
            Err(failure) => return unless_limited(failure),
        };
        if argument.is_opaque() || !self.can_afford_clause(&argument, value) {
            return Ok(());
        }
        self.constraint(operator, &argument, value, id)
    }

    /// A constraint defined in a scriptlet. Its arguments are the value, and those of the clause.
    fn scripted_clause(&mut self, name: &str, written: &[Val], value: &Val, scope: &Scope) -> Result<(), String> {
        let written = match written {
            [Val { data: Data::List(items), .. }] => items.as_slice(),
            other => other,
        };
        let mut args = vec![value.clone()];
        for argument in written {
            match self.eval(argument, scope, 0) {
                Ok(argument) if argument.is_opaque() => return Ok(()),
                Ok(argument) => args.push(argument),
                Err(failure) => return unless_limited(failure),
            }
        }
        let is_secret = args.iter().any(|arg| arg.taint_within().is_secret());
        let broken = || format!("{} does not satisfy `{name}`", shown(value));
        match self.scripted_constraint(name, &args) {
            Some(Ok(Verdict::Fails(Some(reason)))) if !is_secret => Err(format!("{}: {reason}", broken())),
            Some(Ok(Verdict::Fails(_))) => Err(broken()),
            Some(Err(message)) => {
                let failure = self.limited(Failure::new(message, value.span));
                if is_secret && failure.limit.is_none() { Err(broken()) } else { unless_limited(failure) }
            }
            Some(Ok(Verdict::Holds)) | None => Ok(()),
        }
    }

    /// A clause of TOSCA 2.0: a call that gives true or false.
    fn validation(&mut self, clause: &Val, value: &Val, id: Option<DeclId>, scope: &Scope) -> Result<(), String> {
        let scope = Scope { value: Some((value.clone(), id)), ..scope.clone() };
        match self.eval(clause, &scope, 0) {
            Ok(answer) => match answer.data {
                Data::Bool(false) => Err(format!("{} does not satisfy its validation clause", shown(value))),
                _ => Ok(()),
            },
            Err(failure) => unless_limited(failure),
        }
    }

    /// A constraint of TOSCA 1.x.
    fn constraint(&mut self, operator: &str, argument: &Val, value: &Val, id: Option<DeclId>) -> Result<(), String> {
        if let Some(verdict) = compared(self.model, operator, argument, value, id) {
            return verdict;
        }
        match operator {
            "pattern" => {
                let (Some(pattern), Some(text)) = (argument.as_str(), crate::evaluate::text_of(value)) else {
                    return Err(format!("{} cannot be matched with a pattern", shown(value)));
                };
                let verdict = self.is_match(&format!("^(?:{pattern})$"), pattern, &text);
                if let Err(message) = &verdict
                    && self.limited(Failure::new(message.clone(), argument.span)).limit.is_some()
                {
                    return Ok(());
                }
                if verdict.is_err() && argument.is_tainted() {
                    return Err("a secret cannot be used as a pattern".to_owned());
                }
                match verdict? {
                    true => Ok(()),
                    false => Err(format!("{} does not match the pattern {}", shown(value), shown(argument))),
                }
            }
            _ => Ok(()), // `schema` promises nothing that could be checked here
        }
    }
}

/// A clause that exceeds a limit is not a failed one; the limit is reported.
fn unless_limited(failure: Failure) -> Result<(), String> {
    if failure.limit.is_some() { Ok(()) } else { Err(failure.message.into()) }
}

fn in_range(model: &Model, argument: &Val, value: &Val, id: Option<DeclId>) -> Result<(), String> {
    let [lower, upper] = argument.items() else { return Ok(()) };
    let within = |value: &Val, id: Option<DeclId>| {
        let bound = |literal: &Val| coerce::coerce(model, literal, id, None);
        let above = compare(model, value, &bound(lower), id).is_some_and(Ordering::is_ge);
        let below = upper.as_str() == Some("UNBOUNDED")
            || compare(model, value, &bound(upper), id).is_some_and(Ordering::is_le);
        above && below
    };
    let fits = match (value.get("lower"), value.get("upper")) {
        (Some(low), Some(high)) => within(low, None) && within(high, None),
        // A range that is not coerced yet.
        _ => match value.items() {
            [low, high] => within(low, None) && within(high, None),
            _ => within(value, id),
        },
    };
    if fits { Ok(()) } else { Err(format!("{} is not between {} and {}", shown(value), shown(lower), shown(upper))) }
}

fn lengths(operator: &str, argument: &Val, value: &Val) -> Result<(), String> {
    let (Some(length), Some(bound)) = (crate::evaluate::length_of(value), argument.as_int()) else {
        return Err(format!("{} has no length", shown(value)));
    };
    match operator {
        "length" if length != bound && value.is_tainted() => {
            Err(format!("this secret does not have the length {bound}"))
        }
        "length" if length != bound => Err(format!("{} has the length {length}, not {bound}", shown(value))),
        "min_length" if length < bound => Err(format!("{} is shorter than {bound}", shown(value))),
        "max_length" if length > bound => Err(format!("{} is longer than {bound}", shown(value))),
        _ => Ok(()),
    }
}

/// A value as it is shown in messages.
pub fn shown(value: &Val) -> String {
    if value.taint_within().is_secret() {
        return "this secret".to_owned();
    }
    match &value.data {
        Data::Map(_) => value.get(coerce::ORIGINAL).map_or_else(|| "this map".to_owned(), shown),
        Data::List(_) => "this list".to_owned(),
        _ => crate::evaluate::text_of(value).map_or_else(|| value.noun().to_owned(), |text| format!("`{text}`")),
    }
}

/// The order of two values; none if they cannot be compared. A literal is read as the other's type.
pub fn compare(model: &Model, a: &Val, b: &Val, id: Option<DeclId>) -> Option<Ordering> {
    let special = |value: &Val| {
        matches!(value.data, Data::Map(_)) && (value.get(NUMBER).is_some() || value.get(STRING).is_some())
    };
    match (special(a), special(b)) {
        (true, false) if b.as_str().is_some() => return compare_special(a, &coerce::coerce(model, b, id, None)),
        (false, true) if a.as_str().is_some() => return compare_special(&coerce::coerce(model, a, id, None), b),
        (true, true) => return compare_special(a, b),
        (true, false) => return a.get(NUMBER).and_then(|a| compare_plain(a, b)),
        (false, true) => return b.get(NUMBER).and_then(|b| compare_plain(a, b)),
        (false, false) => {}
    }
    compare_plain(a, b)
}

fn compare_special(a: &Val, b: &Val) -> Option<Ordering> {
    if a.get("$comparer").is_some() && b.get("$comparer").is_some() {
        return compare_versions(a, b);
    }
    match (a.get(NUMBER), b.get(NUMBER)) {
        (Some(a), Some(b)) => compare_plain(a, b),
        _ => compare_plain(a.get(STRING)?, b.get(STRING)?),
    }
}

fn compare_versions(a: &Val, b: &Val) -> Option<Ordering> {
    let read = |value: &Val| crate::special::version::parse(value.get(coerce::ORIGINAL)?.as_str()?);
    Some(read(a)?.cmp(&read(b)?))
}

fn compare_plain(a: &Val, b: &Val) -> Option<Ordering> {
    match (&a.data, &b.data) {
        (Data::Int(a), Data::Int(b)) => Some(a.cmp(b)),
        (Data::Int(a), Data::Float(b)) => compare_exactly(*a, *b),
        (Data::Float(a), Data::Int(b)) => compare_exactly(*b, *a).map(Ordering::reverse),
        (Data::Float(a), Data::Float(b)) => a.partial_cmp(b),
        (Data::Str(a), Data::Str(b)) => Some(a.cmp(b)),
        (Data::Bool(a), Data::Bool(b)) => Some(a.cmp(b)),
        _ if a == b => Some(Ordering::Equal),
        _ => None,
    }
}

/// Rounding to a float keeps the order, so only values that are equal afterwards must be compared again.
fn compare_exactly(whole: i64, number: f64) -> Option<Ordering> {
    let order = (whole as f64).partial_cmp(&number)?;
    Some(order.then_with(|| i128::from(whole).cmp(&(number as i128))))
}

/// Whether two values are the same; a literal is read as the other's type.
pub fn same(model: &Model, a: &Val, b: &Val, id: Option<DeclId>) -> bool {
    a == b || compare(model, a, b, id) == Some(Ordering::Equal)
}

/// Whether a clause of TOSCA 2.0 holds for a plain number; none if that cannot be decided.
pub fn holds_plainly(clause: &Val, value: &Val) -> Option<bool> {
    let Data::Call(call) = &clause.data else { return None };
    functions::find(&call.name, edition::V2_0)?;
    let plain = |arg: &Val| match &arg.data {
        Data::Call(inner) if inner.name == "value" => value.clone(),
        _ => arg.clone(),
    };
    let ordering = || compare_plain(&plain(call.args.first()?), &plain(call.args.get(1)?));
    match call.name.as_str() {
        "and" => Some(call.args.iter().all(|arg| holds_plainly(arg, value).unwrap_or(true))),
        "equal" => ordering().map(Ordering::is_eq),
        "greater_than" => ordering().map(Ordering::is_gt),
        "greater_or_equal" => ordering().map(Ordering::is_ge),
        "less_than" => ordering().map(Ordering::is_lt),
        "less_or_equal" => ordering().map(Ordering::is_le),
        _ => None,
    }
}
