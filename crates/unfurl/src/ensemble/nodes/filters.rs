//! Node filters of requirements and of templates: the nodes that pass or are selected, and the values that a filter
//! sets on the target node. Must not know how requirements are resolved otherwise.

use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;
use purlin_tosca::entities;
use purlin_tosca::evaluate::Evaluator;
use purlin_tosca::model::{Model, Primitive};
use purlin_tosca::problem::Problems;
use purlin_tosca::resolve::Resolution;
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::special::units::{self, Family};
use purlin_tosca::topology::{Given, Node, Prop, Props, Requirement, Topology};
use purlin_tosca::val::{Call, Data, Text, Val};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// The filter of a requirement, unless it decides nothing.
pub(in crate::ensemble) fn of(requirement: &Requirement) -> Option<&Val> {
    let filter = all(requirement).next()?;
    ["properties", "capabilities", "match"].iter().any(|key| filter.get(key).is_some()).then_some(filter)
}

/// The filters of a requirement, that of the template first.
fn all(requirement: &Requirement) -> impl Iterator<Item = &Val> {
    let written = [requirement.assignment.as_ref(), requirement.definition.as_ref()];
    written.into_iter().flatten().filter_map(|entity| entity.value("node_filter"))
}

/// Rejects a filter that is neither a condition nor a list of conditions.
pub(in crate::ensemble) fn report_malformed(requirement: &Requirement, problems: &mut Problems) {
    let filter = requirement.assignment.as_ref().and_then(|assignment| assignment.value("node_filter"));
    let Some(filter) = filter else { return };
    let capabilities = filter.get("capabilities");
    let of_capabilities = capabilities.map(entries_of).unwrap_or_default();
    let properties = of_capabilities.into_iter().filter_map(|(_, part)| part.get("properties"));
    for part in properties.chain(filter.get("properties")).chain(capabilities) {
        let is_wrong = |item: &&Val| !matches!(item.data, Data::Map(_) | Data::Call(_) | Data::Poison);
        if let Some(wrong) = part.items().iter().find(is_wrong) {
            let message =
                what::expected("a mapping with one key", wrong.noun()).under("a condition of a node filter: ");
            problems.push(Diagnostic::at(&tosca_rules::MALFORMED, wrong.span, message));
        }
    }
}

/// The nodes of a `match`: those of a type, or those at the end of a path of relationships. None for any other value,
/// which decides nothing.
pub(in crate::ensemble) fn asked_for(
    model: &Model,
    topology: &Topology,
    resolution: &Resolution,
    source: usize,
    asked: &Val,
) -> Option<Vec<usize>> {
    // A path may be an item of a list; other calls in a list decide nothing.
    let listed = match asked.items() {
        [only] if call_of(only, "get_nodes_of_type").is_none() => only,
        _ => asked,
    };
    if let Some(name) = call_of(listed, "get_nodes_of_type").and_then(Val::as_str) {
        let wanted = model.find(entities::NODE_TYPE, &Text { text: name.into(), span: asked.span })?;
        let of_type = |(_, node): &(usize, &Arc<Node>)| model.hierarchy.is_a(node.node_type, wanted);
        return Some(topology.nodes.values().enumerate().filter(of_type).map(|(at, _)| at).collect());
    }
    let path = call_of(listed, "eval").and_then(Val::as_str)?;
    let mut keys = path.split("::").filter(|key| !key.is_empty());
    let mut reached = vec![source];
    while let Some(key) = keys.next() {
        if key != ".targets" {
            return None;
        }
        let name = keys.next()?;
        let step = |at: &usize| targets(topology, resolution, *at, name);
        reached = reached.iter().flat_map(step).collect();
    }
    Some(reached)
}

/// The argument of a call of a function, whether it was read as a call or as a map.
fn call_of<'v>(value: &'v Val, name: &str) -> Option<&'v Val> {
    match &value.data {
        Data::Call(call) if call.name == name => {
            let whole = call.args.first()?;
            Some(whole.get(name).unwrap_or(whole))
        }
        _ => value.get(name),
    }
}

/// The targets of the requirements of a name.
fn targets(topology: &Topology, resolution: &Resolution, source: usize, name: &str) -> Vec<usize> {
    let node = topology.nodes.get_index(source).map(|(_, node)| node);
    let of_name = |at: usize| node.and_then(|node| node.requirements.get(at)).is_some_and(|found| found.name == name);
    let edges = resolution.edges.get(source).into_iter().flatten();
    edges.filter(|edge| of_name(edge.requirement)).map(|edge| edge.target).collect()
}

/// Sets properties of target nodes from filters: a plain value or an expression becomes the property's value. Returns
/// the nodes and properties set.
pub(in crate::ensemble) fn apply(
    model: &Model,
    topology: &mut Topology,
    resolution: &Resolution,
) -> Vec<(EcoString, EcoString)> {
    let mut done = Vec::new();
    let mut settings = Vec::new();
    for edge in resolution.edges.iter().flatten() {
        let Some((_, node)) = topology.nodes.get_index(edge.source) else { continue };
        let Some(requirement) = node.requirements.get(edge.requirement) else { continue };
        let filters: Vec<&Val> = all(requirement).collect();
        let mut pending: Vec<(usize, usize, &Val)> =
            filters.into_iter().map(|filter| (edge.source, edge.target, filter)).collect();
        // A node may be reached from another one on several paths; a filter is applied once.
        let mut met: HashSet<(usize, usize, *const Val)> = HashSet::new();
        while let Some((source, target, filter)) = pending.pop() {
            if !met.insert((source, target, filter)) {
                continue;
            }
            let Some((source, _)) = topology.nodes.get_index(source) else { continue };
            for (name, value) in filter.get("properties").map(entries_of).unwrap_or_default() {
                settings.extend(set_by(value, source).map(|value| (target, name.to_owned(), value)));
            }
            // Filters on the target's requirements apply to the targets of those.
            for (name, said) in filter.get("requirements").map(entries_of).unwrap_or_default() {
                let Some(filter) = said.get("node_filter") else { continue };
                pending.extend(targets(topology, resolution, target, name).into_iter().map(|to| (target, to, filter)));
            }
        }
    }
    for (target, name, value) in settings {
        let Some((owner, node)) = topology.nodes.get_index_mut(target) else { continue };
        let Some(definition) = model.complete(node.node_type).and_then(|complete| complete.named("properties", &name))
        else {
            continue;
        };
        let data_type = model.type_of(definition, "type", entities::DATA_TYPE);
        let prop =
            Prop { at: value.span, value, definition: Some(definition.clone()), data_type, given: Given::Assigned };
        done.push((owner.clone(), EcoString::from(name.as_str())));
        Arc::make_mut(node).properties.insert(name.into(), prop);
    }
    done
}

/// The value that a condition sets: a plain one, or an expression, which sees the requirement's node as `SOURCE`.
fn set_by(condition: &Val, source: &str) -> Option<Val> {
    let Data::Call(call) = &condition.data else {
        return match &condition.data {
            Data::Map(_) => condition.get("q").cloned(),
            Data::List(_) => None,
            _ => Some(condition.clone()),
        };
    };
    let Some(whole) = call.args.first().filter(|whole| whole.get("eval").is_some()) else {
        return Some(condition.clone());
    };
    let span = condition.span;
    let path = Val::map([("eval", Val::str(format!("::{source}"), span))], span);
    let vars = whole.get("vars").map(Val::entries).unwrap_or_default();
    let vars = vars.iter().cloned().chain([(Val::str("SOURCE", span), path)]);
    let vars = Val::new(Data::Map(Arc::new(vars.collect())), span);
    let others = whole.entries().iter().filter(|(key, _)| key.as_str() != Some("vars")).cloned();
    let entries = others.chain([(Val::str("vars", span), vars)]);
    let whole = whole.with(Data::Map(Arc::new(entries.collect())));
    let call = Call { name: call.name.clone(), args: vec![whole], listed: call.listed, crowded: call.crowded };
    Some(condition.with(Data::Call(Arc::new(call))))
}

/// Whether a node passes a filter. Conditions with expressions decide nothing.
pub(in crate::ensemble) fn passes(model: &Model, node: &Node, filter: &Val) -> bool {
    let conditions = |part: &Val, props: &Props| {
        let listed = part.get("properties").map(entries_of).unwrap_or_default();
        listed.into_iter().all(|(name, condition)| match props.get(name) {
            Some(prop) => holds(&Asked::of(model, prop), condition),
            None => condition.is_call(),
        })
    };
    let capabilities = filter.get("capabilities").map(entries_of).unwrap_or_default();
    conditions(filter, &node.properties)
        && capabilities.into_iter().all(|(name, part)| {
            node.capabilities.get(name).is_some_and(|capability| conditions(part, &capability.properties))
        })
}

/// Whether a filter selects a node: it is not empty, the node has each property it names, and they pass.
pub(in crate::ensemble) fn selects(model: &Model, node: &Node, filter: &Val) -> bool {
    let of = |key| filter.get(key).map(entries_of).unwrap_or_default();
    let says_something = filter.get("properties").is_some() || !of("capabilities").is_empty();
    let is_there = |(name, _): &(&str, &Val)| node.properties.contains_key(*name);
    says_something && of("properties").iter().all(is_there) && passes(model, node, filter)
}

/// The entries of a map, or of the maps of a list.
fn entries_of(value: &Val) -> Vec<(&str, &Val)> {
    match &value.data {
        Data::Map(entries) => entries.iter().filter_map(|(key, item)| Some((key.as_str()?, item))).collect(),
        Data::List(items) => items.iter().flat_map(entries_of).collect(),
        _ => Vec::new(),
    }
}

/// The value under test, and the units of its type.
struct Asked<'a> {
    model: &'a Model,
    value: &'a Val,
    family: Option<&'static Family>,
}

impl<'a> Asked<'a> {
    fn of(model: &'a Model, prop: &'a Prop) -> Self {
        let primitive = prop.data_type.and_then(|id| model.primitive(id));
        Asked { model, value: &prop.value, family: primitive.and_then(Primitive::family) }
    }

    /// Compares the value with another. Quantities are compared in one unit.
    fn order(&self, other: &Val) -> Option<Ordering> {
        let amount = |value: &Val| {
            let (number, (_, factor)) = units::measure(value.as_str()?, self.family?)?;
            Some(number * factor)
        };
        match (amount(self.value), amount(other)) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => order(self.value, other),
        }
    }

    fn is(&self, other: &Val) -> bool {
        same(self.value, other) || (self.family.is_some() && self.order(other) == Some(Ordering::Equal))
    }

    fn is_at_least(&self, other: &Val) -> bool {
        matches!(self.order(other), Some(Ordering::Greater | Ordering::Equal))
    }

    fn is_at_most(&self, other: &Val) -> bool {
        matches!(self.order(other), Some(Ordering::Less | Ordering::Equal))
    }

    /// Whether a pattern matches the whole value.
    fn matches(&self, pattern: &str) -> bool {
        let topology = Topology::default();
        self.value
            .as_str()
            .is_some_and(|text| Evaluator::new(self.model, &topology).matches_whole(pattern, text, self.value.span))
    }

    /// The length of a string, list or map.
    fn length(&self) -> Option<usize> {
        match &self.value.data {
            Data::Str(text) => Some(text.chars().count()),
            Data::List(items) => Some(items.len()),
            Data::Map(entries) => Some(entries.len()),
            _ => None,
        }
    }

    fn has_length(&self, operand: &Val, fits: impl Fn(usize, usize) -> bool) -> bool {
        let wanted = operand.as_int().and_then(|wanted| usize::try_from(wanted).ok());
        self.length().zip(wanted).is_none_or(|(length, wanted)| fits(length, wanted))
    }
}

fn holds(value: &Asked<'_>, condition: &Val) -> bool {
    if condition.is_call() {
        return true;
    }
    let clauses = match &condition.data {
        Data::Map(_) => entries_of(condition),
        Data::List(items) if items.iter().all(|item| matches!(item.data, Data::Map(_))) => entries_of(condition),
        _ => return value.is(condition),
    };
    clauses.into_iter().all(|(clause, operand)| match (clause, &operand.data) {
        ("equal", _) => value.is(operand),
        ("valid_values", Data::List(allowed)) => allowed.iter().any(|allowed| value.is(allowed)),
        ("greater_than", _) => value.order(operand) == Some(Ordering::Greater),
        ("less_than", _) => value.order(operand) == Some(Ordering::Less),
        ("greater_or_equal", _) => value.is_at_least(operand),
        ("less_or_equal", _) => value.is_at_most(operand),
        ("pattern", Data::Str(pattern)) => value.matches(pattern),
        ("length", _) => value.has_length(operand, |length, wanted| length == wanted),
        ("min_length", _) => value.has_length(operand, |length, wanted| length >= wanted),
        ("max_length", _) => value.has_length(operand, |length, wanted| length <= wanted),
        ("in_range", Data::List(bounds)) => match bounds.as_slice() {
            [low, high] => {
                let unbounded = |bound: &Val| bound.as_str() == Some("UNBOUNDED");
                (unbounded(low) || value.is_at_least(low)) && (unbounded(high) || value.is_at_most(high))
            }
            _ => false,
        },
        _ => true,
    })
}

fn same(left: &Val, right: &Val) -> bool {
    match (&left.data, &right.data) {
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Null, Data::Null) => true,
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

fn order(left: &Val, right: &Val) -> Option<Ordering> {
    let number = |value: &Val| match &value.data {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        _ => None,
    };
    match (number(left), number(right)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(left.as_str()?.cmp(right.as_str()?)),
    }
}
