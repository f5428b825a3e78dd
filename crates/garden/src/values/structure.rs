//! Structural operators: `$merge`, `$concat`, `$forEach` and `$if`, each one level at a time.
//!
//! An operator is a lazy value. Forcing it evaluates the parts that decide its shape; everything else in it stays lazy.

use crate::bind::{Binder, Env, entries, replacing};
use crate::expr::Own;
use crate::place::NodeRef;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span};
use purlin_value::lazy::{ENTRY_BYTES, ITEM_BYTES};
use purlin_value::{Data, Eval, Lazy, Map, MapLayer, Origin, Thunk, Value};
use std::any::Any;
use std::sync::Arc;

const MERGE: &str = "$merge";
const CONCAT: &str = "$concat";
pub(crate) const FOR_EACH: &str = "$forEach";
const FILTER: &str = "$filter";
const RETURN: &str = "$return";
const IF: &str = "$if";
const THEN: &str = "$then";
const ELSE: &str = "$else";

/// Origin of a collection whose shape comes from another one: the target of a string reference, or the result of an
/// operator at its location.
fn shaped_by(origin: Origin, step: &'static str, node: Node<'_>, value: &Value, eval: &Eval<'_>) -> Origin {
    match node.is_map() || node.is_list() {
        true => eval.session.origins.taken_from(origin, value.origin),
        false => eval.session.origins.selected(origin, step, Some(node.span()), [value.origin]),
    }
}

/// Iterations of `$forEach` whose filter condition is recorded for `why`.
const FILTERS_TOLD: usize = 100;

/// Bytes charged for an iteration of `$forEach`: its scope and `item`.
const ROUND_BYTES: u64 = 512;
/// Bytes charged for a node of the template in each iteration: a value, and an expression with its scope.
const NODE_BYTES: u64 = 96;

/// More nodes than this are not counted; no run can afford as many twice.
const MOST_NODES: u64 = 10_000_000;

/// Number of nodes of a template, with aliases counted as their targets: each iteration makes values of all of them.
fn written_out(template: Node<'_>) -> u64 {
    let mut nodes = 0;
    let mut todo = vec![template];
    while let Some(node) = todo.pop() {
        nodes += 1;
        if nodes >= MOST_NODES {
            break;
        }
        todo.extend(node.items());
        todo.extend(node.entries().map(|entry| entry.value));
    }
    nodes
}

/// Whether a mapping is an operator.
pub(crate) fn is_operator(node: Node<'_>) -> bool {
    node.entries().any(|entry| matches!(entry.name(), FOR_EACH | IF | MERGE))
}

/// Whether a list has items that are spliced into it.
pub(crate) fn has_concat(node: Node<'_>) -> bool {
    node.items().any(|item| item.is_map() && item.get(CONCAT).is_some())
}

/// The condition of a mapping that is an `$if`.
pub(crate) fn condition_of(node: Node<'_>) -> Option<Node<'_>> {
    node.get(FOR_EACH).is_none().then(|| node.get(IF)).flatten()
}

/// A mapping or list with structural operators in it.
pub(crate) struct Operator {
    pub node: NodeRef,
    pub env: Arc<Env>,
    pub own: Option<Own>,
}

impl Thunk for Operator {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let Some(node) = self.node.get() else { return Value::poison() };
        let origin = Origin::node(node);
        let value = if node.is_list() {
            self.concat(node, eval)
        } else if node.get(FOR_EACH).is_some() {
            self.for_each(node, eval)
        } else if node.get(IF).is_some() {
            self.condition(node, eval)
        } else {
            self.merge(node, eval)
        };
        if value.origin.is_known() || value.is_absent() { value } else { value.with_origin(origin) }
    }

    fn span(&self) -> Option<Span> {
        self.node.span()
    }

    fn name(&self) -> String {
        match &self.own {
            Some(own) => own.name(),
            None => "a structural operator".into(),
        }
    }

    fn rebound(&self, scope: &dyn Any) -> Option<Value> {
        let env = scope.downcast_ref::<Arc<Env>>()?.clone();
        Some(Lazy::value(Operator { node: self.node.clone(), env, own: self.own.clone() }))
    }
}

/// Checks the shape of every operator of a tree, as far as possible without evaluation.
pub(crate) fn check_shapes(tree: &purlin_syntax::Tree, sink: &purlin_syntax::Sink) {
    // Most files have no operators that could be malformed.
    if ![CONCAT, FOR_EACH, IF].iter().any(|key| tree.symbol(key).is_some()) {
        return;
    }
    let count = u32::try_from(tree.len()).unwrap_or(u32::MAX);
    for node in (0..count).filter_map(|index| tree.node(index)).filter(|node| !node.is_alias()) {
        if node.is_list() && has_concat(node) {
            for item in node.items().filter(|item| item.get(CONCAT).is_some()) {
                let others: Vec<&str> = item.entries().map(|e| e.name()).filter(|name| *name != CONCAT).collect();
                if !others.is_empty() {
                    let message =
                        format!("a list item with `$concat` cannot have other keys (found {})", quoted(&others));
                    sink.push(Diagnostic::at(&rules::STRUCTURAL_OPERATOR, item.span(), message));
                }
            }
        } else if node.get(FOR_EACH).is_some() {
            check_keys(node, FOR_EACH, &[FOR_EACH, RETURN, FILTER], RETURN, sink);
        } else if node.get(IF).is_some() {
            check_keys(node, IF, &[IF, THEN, ELSE], THEN, sink);
        }
    }
}

fn check_keys(node: Node<'_>, operator: &str, allowed: &[&str], required: &str, sink: &purlin_syntax::Sink) {
    for entry in node.entries().filter(|entry| !allowed.contains(&entry.name())) {
        let message = format!("`{}` cannot be used next to `{operator}`", entry.name());
        let diagnostic = Diagnostic::at(&rules::STRUCTURAL_OPERATOR, entry.key.span(), message);
        sink.push(diagnostic.hint(format!("only {} can", quoted(allowed))));
    }
    if node.get(required).is_none() {
        let place = node.entry(operator).map_or(node.span(), |entry| entry.key.span());
        let message = what::missing("key", required).words(format!("`{required}` is missing next to `{operator}`"));
        let diagnostic = Diagnostic::at(&rules::STRUCTURAL_OPERATOR, place, message);
        sink.push(diagnostic.hint(format!("add `{required}:` next to it")));
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Operator {
    fn bind(&self, node: Node<'_>) -> Value {
        self.bind_in(&self.env, node)
    }

    /// Binds the part that decides the shape of this very value; it cannot refer to the value itself.
    fn bind_shape(&self, node: Node<'_>) -> Value {
        let own = self.own.clone().map(|own| Own { shapes: true, ..own });
        Binder::inside(&self.env, own.as_ref()).bind(&self.node.other(node))
    }

    fn bind_in(&self, env: &Arc<Env>, node: Node<'_>) -> Value {
        Binder::inside(env, self.own.as_ref()).bind(&self.node.other(node))
    }

    fn report(&self, node: Node<'_>, message: impl Into<Message>, eval: &Eval<'_>) -> Value {
        eval.session.sink.push(Diagnostic::at(&rules::STRUCTURAL_OPERATOR, node.span(), message));
        Value::poison()
    }

    /// Keys in their order; a later key replaces an earlier one but keeps its position.
    fn merge(&self, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let mut map = Map::new();
        let mut tainted = false;
        let mut origin = Origin::node(node);
        for (key, item) in entries(node) {
            if key != MERGE {
                let mut binder = Binder::inside(&self.env, self.own.as_ref());
                let value = binder.below(&key, |binder| binder.bind(&self.node.other(item)));
                overwrite(&mut map, key, value, eval);
                continue;
            }
            let bound = self.bind_shape(item);
            let merged = eval.force(&bound);
            match &merged.data {
                Data::Map(more) => {
                    if !eval.charge(more.len() as u64, more.len() as u64 * ENTRY_BYTES) {
                        return Value::poison();
                    }
                    tainted |= merged.is_tainted();
                    origin = shaped_by(origin, "was merged", item, &merged, eval);
                    for (key, value) in more.iter() {
                        overwrite(&mut map, key.clone(), value.clone(), eval);
                    }
                }
                // The keys beside it are needed to build the graph; its additions are seen afterwards.
                Data::Pending(_) if self.env.pre_graph => {}
                Data::Pending(_) => {
                    self.look_ahead(node.entries().map(|entry| entry.value), item, eval);
                    return merged;
                }
                Data::Poison => {
                    self.look_at_others(node.entries().map(|entry| entry.value), item, eval);
                    return merged;
                }
                _ => {
                    let message =
                        what::must_be("the value of `$merge`", "a map").and(format!(", not {}", article(&merged)));
                    self.look_at_others(node.entries().map(|entry| entry.value), item, eval);
                    return self.report(item, message, eval);
                }
            }
        }
        Value::map(map).with_origin(origin).tainted_if(tainted)
    }

    fn concat(&self, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let mut items = Vec::new();
        let mut tainted = false;
        let mut origin = Origin::node(node);
        for item in node.items() {
            let Some(spliced) = item.get(CONCAT).filter(|_| item.is_map()) else {
                items.push(self.bind(item));
                continue;
            };
            if item.entries().count() > 1 {
                // Reported when the file was read.
                return Value::poison();
            }
            let bound = self.bind_shape(spliced);
            let list = eval.force(&bound);
            match self.spliced(&list, spliced, eval) {
                Ok(more) => match self.fits(items.len() + more.len(), more.len(), item, eval) {
                    true => items.extend(more),
                    false => return Value::poison(),
                },
                Err(stop) => {
                    match stop.is_poison() {
                        true => self.look_at_others(node.items(), item, eval),
                        false => self.look_ahead(node.items(), item, eval),
                    }
                    return stop;
                }
            }
            tainted |= list.is_tainted();
            origin = shaped_by(origin, "was added", spliced, &list, eval);
        }
        Value::list(items).with_origin(origin).tainted_if(tainted)
    }

    /// A collection with an invalid part is broken as a whole; problems of its other parts are reported here.
    fn look_at_others<'t>(&self, parts: impl Iterator<Item = Node<'t>>, broken: Node<'_>, eval: &mut Eval<'_>) {
        for part in parts.filter(|part| part.index() != broken.index()) {
            let bound = self.bind(part.get(CONCAT).filter(|_| part.is_map()).unwrap_or(part));
            eval.force_deep(&bound);
        }
    }

    /// Evaluates the other parts of a collection that waits for one of them, so that what they use counts as used.
    /// Their problems are none until they are needed.
    fn look_ahead<'t>(&self, parts: impl Iterator<Item = Node<'t>>, open: Node<'_>, eval: &mut Eval<'_>) {
        if !self.env.pre_graph {
            let session = eval.session;
            drop(session.sink.apart(|| self.look_at_others(parts, open, eval)));
        }
    }

    /// Whether a list may have this length; charges the added items.
    fn fits(&self, whole: usize, added: usize, node: Node<'_>, eval: &mut Eval<'_>) -> bool {
        let most = eval.session.limits.list_items;
        if whole as u64 > most {
            let message = format!("this list grows longer than the {most} items allowed");
            let diagnostic = Diagnostic::at(&purlin_value::rules::LIMIT_LIST, node.span(), message);
            eval.session.sink.push(diagnostic.hint("raise it with `--limit list-items=COUNT`"));
            return false;
        }
        eval.charge(added as u64, added as u64 * ITEM_BYTES)
    }

    fn spliced(&self, list: &Value, node: Node<'_>, eval: &Eval<'_>) -> Result<Vec<Value>, Value> {
        match &list.data {
            Data::List(more) => Ok(more.iter().cloned().collect()),
            Data::Pending(_) | Data::Poison => Err(list.clone()),
            _ => Err(self.report(
                node,
                what::must_be("the value of `$concat`", "a list").and(format!(", not {}", article(list))),
                eval,
            )),
        }
    }

    fn condition(&self, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let (Some(condition), Some(then)) = (node.get(IF), node.get(THEN)) else { return Value::poison() };
        if node.entries().any(|entry| !matches!(entry.name(), IF | THEN | ELSE)) {
            return Value::poison();
        }
        let bound = self.bind_shape(condition);
        let decided = eval.force(&bound);
        let chosen = match decided.data {
            Data::Bool(true) => Some(then),
            Data::Bool(false) => node.get(ELSE),
            Data::Pending(_) => {
                self.look_ahead([then].into_iter().chain(node.get(ELSE)), condition, eval);
                return decided;
            }
            Data::Poison => return decided,
            _ => {
                let message =
                    what::must_be("the value of `$if`", "a boolean").and(format!(", not {}", article(&decided)));
                return self.report(condition, message, eval);
            }
        };
        let value = chosen.map_or_else(Value::absent, |node| self.bind(node));
        let value = eval.force(&value).tainted_if(decided.is_tainted());
        if value.is_absent() {
            return value;
        }
        let step = match decided.as_bool() {
            // The result of a condition on a secret is part of the secret.
            _ if decided.is_tainted() => "depends on a secret",
            Some(true) => "is true",
            _ => "is false",
        };
        let span = Some(condition.span());
        let origin = eval.session.origins.selected(value.origin, step, span, [decided.origin]);
        value.with_origin(origin)
    }

    fn for_each(&self, node: Node<'_>, eval: &mut Eval<'_>) -> Value {
        let (Some(input), Some(template)) = (node.get(FOR_EACH), node.get(RETURN)) else { return Value::poison() };
        if node.entries().any(|entry| !matches!(entry.name(), FOR_EACH | RETURN | FILTER)) {
            return Value::poison();
        }
        let bound = self.bind_shape(input);
        let collection = eval.force(&bound);
        let (origins, sources) = (&eval.session.origins, &eval.session.sources);
        let pairs: Vec<(Value, Value)> = match &collection.data {
            Data::Map(map) => {
                let named = |key: &EcoString, value: &Value| {
                    Value::str(key.clone()).with_origin(origins.of_key(value.origin, key, sources))
                };
                map.iter().map(|(key, value)| (named(key, value), value.clone())).collect()
            }
            Data::List(list) => {
                let number = |at: usize| Value::str(ecow::eco_format!("{at}"));
                list.iter().enumerate().map(|(at, value)| (number(at), value.clone())).collect()
            }
            Data::Pending(_) => {
                let env = self.item_env(collection.clone(), collection.clone());
                let parts = [template].into_iter().chain(node.get(FILTER));
                let inside = Operator { node: self.node.clone(), env, own: self.own.clone() };
                inside.look_ahead(parts, input, eval);
                return collection;
            }
            Data::Poison => return collection,
            _ => {
                let message = what::must_be("the value of `$forEach`", "a list or a map")
                    .and(format!(", not {}", article(&collection)));
                return self.report(input, message, eval);
            }
        };
        let nodes = written_out(template);
        if !eval.charge(nodes, 0) {
            return Value::poison();
        }
        let mut items = Vec::with_capacity(pairs.len());
        let mut filtered_by: Vec<Origin> = Vec::new();
        let mut tainted = collection.is_tainted();
        for (key, value) in pairs {
            if !eval.charge(1, ROUND_BYTES + nodes * NODE_BYTES) {
                return Value::poison();
            }
            let env = self.item_env(key, value.tainted_if(collection.is_tainted()));
            match self.kept(node, &env, eval) {
                Ok(None) => {}
                Ok(Some(decided)) => {
                    tainted |= decided.is_tainted();
                    if filtered_by.len() < FILTERS_TOLD {
                        filtered_by.push(decided.origin);
                    }
                    if decided.as_bool() == Some(false) {
                        continue;
                    }
                }
                Err(stop) => {
                    let inside = Operator { node: self.node.clone(), env, own: self.own.clone() };
                    inside.look_ahead(std::iter::once(template), input, eval);
                    return stop;
                }
            }
            match self.returned(template, &env, eval) {
                Ok(more) => match self.fits(items.len() + more.len(), more.len(), input, eval) {
                    true => items.extend(more),
                    false => return Value::poison(),
                },
                Err(stop) => return stop,
            }
        }
        // The number of items follows from the collection, independent of their values.
        let origins = &eval.session.origins;
        let mut origin = origins.selected(Origin::node(node), "was iterated", Some(input.span()), [collection.origin]);
        if let Some(filter) = node.get(FILTER) {
            origin = origins.selected(origin, "chose the items", Some(filter.span()), filtered_by);
        }
        Value::list(items).with_origin(origin).tainted_if(tainted)
    }

    /// The scope of one round, with `item.key` (always text) and `item.value`.
    fn item_env(&self, key: Value, value: Value) -> Arc<Env> {
        let item = Map::from_iter([("key".into(), key), ("value".into(), value)]);
        let layer = Map::from_iter([("item".into(), Value::map(item))]);
        self.env.with_scope(self.env.scope.push(MapLayer::new("item", Value::map(layer))))
    }

    /// The result of the filter in an iteration, if there is a filter.
    fn kept(&self, node: Node<'_>, env: &Arc<Env>, eval: &mut Eval<'_>) -> Result<Option<Value>, Value> {
        let Some(filter) = node.get(FILTER) else { return Ok(None) };
        let bound = self.bind_in(env, filter);
        let decided = eval.force(&bound);
        match decided.data {
            Data::Bool(_) => Ok(Some(decided)),
            Data::Pending(_) | Data::Poison => Err(decided),
            _ => {
                let message = what::must_be("the value of `$filter` in `$forEach`", "a boolean")
                    .and(format!(", not {}", article(&decided)));
                Err(self.report(filter, message, eval))
            }
        }
    }

    /// The result of one iteration: one value, or several with `$return: {$concat: …}`.
    fn returned(&self, template: Node<'_>, env: &Arc<Env>, eval: &mut Eval<'_>) -> Result<Vec<Value>, Value> {
        let spliced = template.get(CONCAT).filter(|_| template.is_map() && template.entries().count() == 1);
        let Some(spliced) = spliced else { return Ok(vec![self.bind_in(env, template)]) };
        let bound = self.bind_in(env, spliced);
        let list = eval.force(&bound);
        self.spliced(&list, spliced, eval)
    }
}

/// Sets a key; the replaced value is recorded.
fn overwrite(map: &mut Map, key: EcoString, value: Value, eval: &Eval<'_>) {
    let value = match map.get(&key) {
        Some(before) => replacing(value, before.origin, "later key of $merge", eval.session),
        None => value,
    };
    map.insert(key, value);
}

fn article(value: &Value) -> String {
    if value.is_absent() {
        return "nothing".into();
    }
    match value.kind_name() {
        "null" => "null".into(),
        name if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}
