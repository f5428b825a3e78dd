//! What the functions of the standard compute.

use super::{Evaluator, Failure, Scope};
use crate::coerce::{NUMBER, STRING};
use crate::names::DeclId;
use crate::schema::Kind;
use crate::special::go_g;
use crate::topology::Given;
use crate::val::{Call, Data, Val};
use crate::validate;
use ecow::{EcoString, eco_format};
use std::cmp::Ordering;
use std::sync::Arc;

type Answer = Result<Val, Failure>;

impl Evaluator<'_> {
    pub(super) fn call(&mut self, value: &Val, call: &Call, scope: &Scope, depth: u32) -> Answer {
        let fail = |message: String| Failure {
            message: format!("`{}` cannot be evaluated: {message}", call.name),
            span: value.span,
        };
        let args = call.args.iter().map(|arg| self.eval(arg, scope, depth + 1)).collect::<Result<Vec<_>, _>>()?;
        if let Some(opaque) = args.iter().find(|arg| arg.is_opaque()) {
            return Ok(value.with(opaque.data.clone()));
        }
        let answer = match call.name.as_str() {
            "get_input" | "get_property" | "get_attribute" => self.lookup(value, &call.name, &args, scope),
            "get_artifact" => self.artifact(value, &args, scope).map_err(fail),
            "get_nodes_of_type" => self.nodes_of_type(value, &args).map_err(fail),
            "value" => Ok(self.tested(value, &args, scope)),
            "node_index" | "relationship_index" => Ok(self.index(value, &call.name, scope)),
            "concat" => concat(value, &args).map_err(fail),
            "join" => join(value, &args).map_err(fail),
            "token" => token(value, &args).map_err(fail),
            name if self.model.edition().is_2() => {
                let value_type = self.compared_type(call, scope);
                match compute(self, name, &args, value_type) {
                    Some(Ok(data)) => Ok(value.with(data)),
                    Some(Err(message)) => Err(fail(message)),
                    None => Ok(value.with(Data::Pending(eco_format!("${name}")))),
                }
            }
            name => Ok(value.with(Data::Pending(name.into()))),
        };
        answer.map(|computed| self.noted(computed, &call.name, &args, value))
    }

    fn lookup(&mut self, value: &Val, name: &str, args: &[Val], scope: &Scope) -> Answer {
        let fail =
            |message: String| Failure { message: format!("`{name}` cannot be evaluated: {message}"), span: value.span };
        let unknown = |what: String| value.with(Data::Pending(what.into()));
        let is_2 = self.model.edition().is_2();
        let found = match self.reference_of(name, args, scope) {
            Some(Ok(found)) => found,
            // In TOSCA 2.0 much can only be known once the service runs.
            Some(Err(message)) if is_2 => return Ok(unknown(message)),
            Some(Err(message)) => return Err(fail(message)),
            None => return Ok(unknown(name.to_owned())),
        };
        let (key, used) = found;
        if name == "get_input" && !self.topology.inputs.contains_key(&key.name) {
            let declared = self.model.service().and_then(|service| service.named("inputs", &key.name)).is_some();
            if is_2 || declared {
                return Ok(unknown(format!("the input `{}`", key.name)));
            }
            let near = crate::suggest::nearest(&key.name, self.topology.inputs.keys().map(|name| name.as_str()));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(fail(format!("there is no input `{}`{hint}", key.name)));
        }
        let given = self.find(&key).map(|(prop, _)| prop.given);
        let mut found = self.force(key);
        if given == Some(Given::Nothing) && is_2 {
            return Ok(unknown("an attribute that is known when the service runs".to_owned()));
        }
        for step in args.get(used..).unwrap_or(&[]) {
            if found.is_opaque() {
                return Ok(value.with(found.data));
            }
            found = nested(&found, step).map_err(fail)?;
        }
        Ok(Val { span: value.span, ..found })
    }

    /// The value under test, or a part of it.
    fn tested(&self, value: &Val, args: &[Val], scope: &Scope) -> Val {
        let Some((tested, _)) = &scope.value else { return value.with(Data::Pending("$value".into())) };
        let mut found = tested.clone();
        for step in args {
            match nested(&found, step) {
                Ok(part) => found = part,
                Err(_) => return value.with(Data::Null),
            }
        }
        found
    }

    /// The type by which the arguments of a call are compared: that of the value under test, or of one referred to.
    fn compared_type(&self, call: &Call, scope: &Scope) -> Option<DeclId> {
        let tested = scope.value.as_ref().and_then(|(_, id)| *id);
        tested.or_else(|| {
            call.args.iter().find_map(|arg| {
                let Data::Call(inner) = &arg.data else { return None };
                let (key, used) = self.reference(inner, scope)?.ok()?;
                if used == inner.args.len() { self.find(&key)?.0.data_type } else { None }
            })
        })
    }

    /// Which of several nodes or relationships this is.
    fn index(&self, value: &Val, name: &str, scope: &Scope) -> Val {
        let source = scope.node.or(scope.relationship.map(|(source, _)| source));
        let found = match name {
            "node_index" => source.and_then(|node| self.topology.nodes.get_index(node)).map(|(_, node)| node.index),
            _ => scope.relationship.and_then(|(source, requirement)| self.relationship_index(source, requirement)),
        };
        let found = found.and_then(|index| i64::try_from(index).ok());
        value.with(found.map_or_else(|| Data::Pending(eco_format!("${name}")), Data::Int))
    }

    fn artifact(&self, value: &Val, args: &[Val], scope: &Scope) -> Result<Val, String> {
        let (Some(entity), Some(name)) = (args.first().and_then(Val::as_str), args.get(1).and_then(Val::as_str)) else {
            return Err("it needs an entity and the name of an artifact".to_owned());
        };
        let super::path::Place::Node(index) = self.entity(entity, scope)? else {
            return Err("only nodes have artifacts".to_owned());
        };
        let node = self.topology.nodes.get_index(index).map(|(_, node)| node);
        let artifact = node.and_then(|node| node.artifacts.get(name)).map(|artifact| artifact.entity.clone());
        let declared = || node.and_then(|node| self.model.complete(node.node_type)?.named("artifacts", name).cloned());
        match artifact.or_else(declared) {
            Some(entity) => Ok(value.with(Data::Str(entity.str("file").into()))),
            None => Err(format!("there is no artifact `{name}` in `{entity}`")),
        }
    }

    fn nodes_of_type(&self, value: &Val, args: &[Val]) -> Result<Val, String> {
        let name = args.first().and_then(Val::as_str).ok_or("it needs the name of a node type")?;
        let file = self.model.files.root().map(|file| file.id).ok_or("there is no root file")?;
        let wanted = self
            .model
            .names
            .find(file, Kind::NodeType, name)
            .ok_or_else(|| format!("there is no node type `{name}`"))?;
        let nodes = self.topology.nodes.iter().filter(|(_, node)| self.model.hierarchy.is_a(node.node_type, wanted));
        let names = nodes.map(|(name, _)| value.with(Data::Str(name.clone()))).collect();
        Ok(value.with(Data::List(Arc::new(names))))
    }
}

fn nested(value: &Val, step: &Val) -> Result<Val, String> {
    let found = match (&value.data, &step.data) {
        (Data::Map(entries), _) => entries.iter().find(|(key, _)| key == step).map(|(_, value)| value),
        (Data::List(items), Data::Int(index)) => usize::try_from(*index).ok().and_then(|index| items.get(index)),
        _ => None,
    };
    found.cloned().ok_or_else(|| format!("there is no `{}` in {}", text(step).unwrap_or_default(), value.noun()))
}

/// A value as text; quantities and the like in their canonical notation.
pub(crate) fn text(value: &Val) -> Option<EcoString> {
    match &value.data {
        Data::Str(text) | Data::Timestamp(text) => Some(text.clone()),
        Data::Bool(value) => Some(eco_format!("{value}")),
        Data::Int(value) => Some(eco_format!("{value}")),
        Data::Float(value) if value.fract() == 0.0 && value.abs() < 1e21 => Some(eco_format!("{value:.0}")),
        Data::Float(value) => Some(go_g(*value).into()),
        Data::Map(_) => value.get(STRING).and_then(text),
        _ => None,
    }
}

fn concat(value: &Val, args: &[Val]) -> Result<Val, String> {
    if args.iter().all(|arg| matches!(arg.data, Data::List(_))) && !args.is_empty() {
        let items = args.iter().flat_map(|arg| arg.items().iter().cloned()).collect();
        return Ok(value.with(Data::List(Arc::new(items))));
    }
    let mut out = EcoString::new();
    for arg in args {
        out.push_str(&text(arg).ok_or_else(|| format!("one of its arguments is {}", arg.noun()))?);
    }
    Ok(value.with(Data::Str(out)))
}

fn join(value: &Val, args: &[Val]) -> Result<Val, String> {
    let items = args.first().map(Val::items).filter(|items| !items.is_empty());
    let separator = args.get(1).and_then(text).unwrap_or_default();
    let Some(items) = items else {
        return match args.first().map(|arg| &arg.data) {
            Some(Data::List(_)) => Ok(value.with(Data::Str("".into()))),
            _ => Err("its first argument must be a list".to_owned()),
        };
    };
    let texts = items
        .iter()
        .map(|item| text(item).ok_or_else(|| format!("one of its texts is {}", item.noun())))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(value.with(Data::Str(texts.join(&separator).into())))
}

fn token(value: &Val, args: &[Val]) -> Result<Val, String> {
    let [whole, separators, index] = args else { return Err(format!("it takes 3 arguments, not {}", args.len())) };
    let whole = text(whole).ok_or_else(|| format!("its text is {}", whole.noun()))?;
    let separators = text(separators).ok_or("its separators must be a text")?;
    let Data::Int(index) = index.data else { return Err("its index must be an integer".to_owned()) };
    let pieces: Vec<&str> = whole.split(|c| separators.contains(c)).collect();
    let piece = usize::try_from(index).ok().and_then(|index| pieces.get(index));
    piece
        .map(|piece| value.with(Data::Str((*piece).into())))
        .ok_or_else(|| format!("there is no piece {index}; there are {}", pieces.len()))
}

/// The functions of TOSCA 2.0; nothing for those that only an orchestrator can compute.
fn compute(
    evaluator: &mut Evaluator<'_>,
    name: &str,
    args: &[Val],
    value_type: Option<DeclId>,
) -> Option<Result<Data, String>> {
    let bools = || {
        args.iter()
            .map(|arg| match arg.data {
                Data::Bool(value) => Ok(value),
                _ => Err(format!("{} is not true or false", arg.noun())),
            })
            .collect::<Result<Vec<bool>, String>>()
    };
    let two = || match args {
        [a, b] => Ok((a, b)),
        _ => Err(format!("it takes 2 arguments, not {}", args.len())),
    };
    let yes = |answer: Result<bool, String>| Some(answer.map(Data::Bool));
    let model = evaluator.model;
    let compare = |wanted: fn(Ordering) -> bool| {
        let (a, b) = two()?;
        validate::compare(model, a, b, value_type)
            .map(wanted)
            .ok_or_else(|| format!("{} and {} cannot be compared", a.noun(), b.noun()))
    };
    let each = |any: bool, test: fn(&Val, &Val) -> bool| {
        let (all, wanted) = two()?;
        let found = wanted.items().iter().filter(|item| test(all, item)).count();
        Ok(if any { found > 0 } else { found == wanted.items().len() })
    };
    match name {
        "and" => yes(bools().map(|all| all.iter().all(|value| *value))),
        "or" => yes(bools().map(|all| all.iter().any(|value| *value))),
        "not" => yes(bools().map(|all| !all.first().copied().unwrap_or(false))),
        "xor" => yes(bools().map(|all| all.iter().filter(|value| **value).count() == 1)),
        "equal" => yes(two().map(|(a, b)| validate::same(model, a, b, value_type))),
        "greater_than" => yes(compare(Ordering::is_gt)),
        "greater_or_equal" => yes(compare(Ordering::is_ge)),
        "less_than" => yes(compare(Ordering::is_lt)),
        "less_or_equal" => yes(compare(Ordering::is_le)),
        "valid_values" => {
            yes(two().map(|(a, list)| list.items().iter().any(|item| validate::same(model, a, item, value_type))))
        }
        "matches" => yes(two().and_then(|(a, pattern)| {
            let (subject, pattern) = (text(a).ok_or("it needs a text")?, text(pattern).ok_or("it needs a pattern")?);
            evaluator.patterns.found(&pattern, &subject)
        })),
        "has_suffix" => yes(two().and_then(|(a, b)| edges(a, b, false))),
        "has_prefix" => yes(two().and_then(|(a, b)| edges(a, b, true))),
        "contains" => yes(two().and_then(|(a, b)| contains(a, b))),
        "has_entry" => yes(two().map(|(a, b)| has_entry(a, b))),
        "has_key" => yes(two().map(|(a, b)| has_key(a, b))),
        "has_all_entries" => yes(each(false, has_entry)),
        "has_all_keys" => yes(each(false, has_key)),
        "has_any_entry" => yes(each(true, has_entry)),
        "has_any_key" => yes(each(true, has_key)),
        "length" => Some(
            args.first().and_then(length).map(Data::Int).ok_or_else(|| "it needs a text, a list or a map".to_owned()),
        ),
        "union" | "intersection" => Some(Ok(sets(args, name == "union"))),
        "sum" | "difference" | "product" | "quotient" | "remainder" => Some(arithmetic(name, args)),
        "round" | "floor" | "ceil" => Some(rounded(name, args)),
        _ => None,
    }
}

/// How long something is; texts are counted as JavaScript does, which recorded answers use.
pub(crate) fn length(value: &Val) -> Option<i64> {
    let count = match &value.data {
        Data::Str(text) => text.encode_utf16().count(),
        Data::List(items) => items.len(),
        Data::Map(entries) => entries.len(),
        _ => return None,
    };
    i64::try_from(count).ok()
}

fn edges(a: &Val, b: &Val, front: bool) -> Result<bool, String> {
    if let (Data::List(a), Data::List(b)) = (&a.data, &b.data) {
        let part = if front { a.get(..b.len()) } else { a.len().checked_sub(b.len()).and_then(|start| a.get(start..)) };
        return Ok(part == Some(b.as_slice()));
    }
    let (a, b) = (text(a).ok_or("it needs texts or lists")?, text(b).ok_or("it needs texts or lists")?);
    Ok(if front { a.starts_with(b.as_str()) } else { a.ends_with(b.as_str()) })
}

fn contains(a: &Val, b: &Val) -> Result<bool, String> {
    if let (Data::List(a), Data::List(b)) = (&a.data, &b.data) {
        return Ok(b.is_empty() || a.windows(b.len()).any(|window| window == b.as_slice()));
    }
    let (a, b) = (text(a).ok_or("it needs texts or lists")?, text(b).ok_or("it needs texts or lists")?);
    Ok(a.contains(b.as_str()))
}

fn has_entry(all: &Val, entry: &Val) -> bool {
    all.items().contains(entry) || all.entries().iter().any(|(_, value)| value == entry)
}

fn has_key(all: &Val, wanted: &Val) -> bool {
    all.entries().iter().any(|(key, _)| key == wanted)
}

fn sets(args: &[Val], union: bool) -> Data {
    let mut out: Vec<Val> = Vec::new();
    for item in args.iter().flat_map(|arg| arg.items()) {
        let wanted = union || args.iter().all(|arg| arg.items().contains(item));
        if wanted && !out.contains(item) {
            out.push(item.clone());
        }
    }
    Data::List(Arc::new(out))
}

fn number(value: &Val) -> Result<f64, String> {
    match &value.data {
        Data::Int(number) => Ok(*number as f64),
        Data::Float(number) => Ok(*number),
        Data::Map(_) => value.get(NUMBER).map_or_else(|| Err(format!("{} is no number", value.noun())), number),
        _ => Err(format!("{} is no number", value.noun())),
    }
}

fn arithmetic(name: &str, args: &[Val]) -> Result<Data, String> {
    let ints: Option<Vec<i64>> = args.iter().map(Val::as_int).collect();
    if let Some(ints) = ints {
        let folded = match (name, ints.as_slice()) {
            ("sum", all) => all.iter().try_fold(0i64, |sum, n| sum.checked_add(*n)),
            ("product", all) => all.iter().try_fold(1i64, |product, n| product.checked_mul(*n)),
            ("difference", [a, b]) => a.checked_sub(*b),
            ("remainder", [_, 0]) => return Err("it divides by zero".to_owned()),
            ("remainder", [a, b]) => a.checked_rem(*b),
            ("quotient", [_, 0]) => return Err("it divides by zero".to_owned()),
            ("quotient", [a, b]) if a.checked_rem(*b) == Some(0) => a.checked_div(*b),
            ("quotient", [a, b]) => return Ok(Data::Float(*a as f64 / *b as f64)),
            _ => return Err("it takes two numbers".to_owned()),
        };
        return folded.map(Data::Int).ok_or_else(|| "the result is too large".to_owned());
    }
    let numbers = args.iter().map(number).collect::<Result<Vec<f64>, String>>()?;
    Ok(Data::Float(match (name, numbers.as_slice()) {
        ("sum", all) => all.iter().sum(),
        ("product", all) => all.iter().product(),
        ("difference", [a, b]) => a - b,
        ("quotient" | "remainder", [_, b]) if *b == 0.0 => return Err("it divides by zero".to_owned()),
        ("quotient", [a, b]) => a / b,
        ("remainder", [a, b]) => a % b,
        _ => return Err("it takes two numbers".to_owned()),
    }))
}

fn rounded(name: &str, args: &[Val]) -> Result<Data, String> {
    let number = number(args.first().ok_or("it takes a number")?)?;
    let whole = match name {
        "round" => number.round(),
        "floor" => number.floor(),
        _ => number.ceil(),
    };
    Ok(Data::Int(whole as i64))
}
