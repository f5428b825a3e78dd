//! The machine-readable forms of results, as values. Documented by the JSON Schemas under `docs/schemas`; they only
//! ever grow.

use crate::affects::Affected;
use crate::diff::Difference;
use crate::made::Made;
use crate::shown::Shown;
use crate::why::{Because, Cause, Place, Why};
use purlin_model::{Dependency, Node, Resolved};
use purlin_value::{Data, EcoString, Map, Session, Value};
use std::collections::HashSet;

fn map(entries: Vec<(&str, Value)>) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect())
}

fn number(n: u32) -> Value {
    Value::from(i64::from(n))
}

fn place(place: Option<&Place>) -> Vec<(&'static str, Value)> {
    let Some(place) = place else { return Vec::new() };
    vec![("file", Value::str(place.file.as_str())), ("line", number(place.line)), ("column", number(place.column))]
}

/// `resolve -o json`.
pub fn resolved_value(session: &Session, resolved: &Resolved) -> Value {
    let nodes: Map = resolved.nodes.iter().map(|node| (node.id.clone(), node_value(session, node))).collect();
    map(vec![
        ("project", Value::str(resolved.project.clone())),
        ("environment", Value::str(resolved.environment.clone())),
        ("variables", resolved.variables.clone()),
        ("nodes", Value::map(nodes)),
        ("outputs", resolved.outputs.clone()),
    ])
}

fn node_value(session: &Session, node: &Node) -> Value {
    let dependency = |d: &purlin_model::Dependency| {
        map(vec![
            ("node", Value::str(d.node.clone())),
            ("static", Value::from(d.is_static)),
            ("runtime", Value::from(d.is_runtime)),
            ("explicit", Value::from(d.is_explicit)),
        ])
    };
    map(vec![
        ("kind", Value::str(node.kind.clone())),
        ("dialect", Value::str(node.dialect)),
        ("type", Value::str(node.type_name.clone())),
        ("source", map(place(node.source.and_then(|span| Place::of(session, span)).as_ref()))),
        ("dependencies", Value::list(node.dependencies.iter().map(dependency).collect())),
        ("disabled", Value::from(node.disabled)),
        ("resolved", node.resolved.clone()),
        ("outputs", node.outputs.clone()),
        ("pending", Value::list(pending_paths(session, &node.resolved).into_iter().map(Value::from).collect())),
    ])
}

/// The paths of everything in a value that is not known yet.
fn pending_paths(session: &Session, value: &Value) -> Vec<String> {
    let mut paths = Pending { session, segments: Vec::new(), known: HashSet::new(), found: Vec::new() };
    paths.look(value);
    paths.found
}

enum Segment<'v> {
    Key(&'v str),
    Index(usize),
}

struct Pending<'v> {
    session: &'v Session,
    /// The keys and indices that lead to the current value.
    segments: Vec<Segment<'v>>,
    /// Collections without pending values, which may be shared.
    known: HashSet<usize>,
    found: Vec<String>,
}

impl<'v> Pending<'v> {
    /// False as soon as there are more paths than the run may hold, which is reported.
    fn look(&mut self, value: &'v Value) -> bool {
        if value.is_pending() {
            let path = self.path();
            let charged = self.session.meter.charge(1, path.len() as u64 + 32);
            self.found.push(path);
            return charged.map_err(|exceeded| self.session.report_exceeded(exceeded, None)).is_ok();
        }
        let address = value.shared_at();
        if address.is_some_and(|address| self.known.contains(&address)) || !value.is_collection() {
            return true;
        }
        let before = self.found.len();
        let goes_on = match &value.data {
            Data::Map(map) => map.iter().all(|(key, item)| self.look_below(Segment::Key(key), item)),
            Data::List(list) => list.iter().enumerate().all(|(at, item)| self.look_below(Segment::Index(at), item)),
            _ => true,
        };
        if let Some(address) = address.filter(|_| self.found.len() == before) {
            self.known.insert(address);
        }
        goes_on
    }

    fn look_below(&mut self, segment: Segment<'v>, item: &'v Value) -> bool {
        if !item.is_collection() && !item.is_pending() {
            return true;
        }
        self.segments.push(segment);
        let goes_on = self.look(item);
        self.segments.pop();
        goes_on
    }

    fn path(&self) -> String {
        let text = |segment: &Segment<'_>| match segment {
            Segment::Key(key) => (*key).to_owned(),
            Segment::Index(at) => at.to_string(),
        };
        self.segments.iter().map(text).collect::<Vec<_>>().join(".")
    }
}

/// `graph -o json`.
pub fn graph_value(shown: &Shown<'_>) -> Value {
    let nodes = shown.nodes.iter().map(|node| {
        let mut entries = vec![
            ("id", Value::str(node.id.clone())),
            ("kind", Value::str(node.kind.clone())),
            ("type", Value::str(node.type_name.clone())),
            ("dialect", Value::str(node.dialect)),
            ("disabled", Value::from(node.disabled)),
        ];
        entries.extend(node.inside.as_ref().map(|outer| ("inside", Value::str(outer.clone()))));
        map(entries)
    });
    let edge = |(from, how, names): (usize, &Dependency, &[EcoString])| {
        let mut entries = vec![
            ("from", Value::str(shown.nodes[from].id.clone())),
            ("to", Value::str(how.node.clone())),
            ("static", Value::from(how.is_static)),
            ("runtime", Value::from(how.is_runtime)),
            ("names", Value::list(names.iter().cloned().map(Value::str).collect())),
        ];
        if !how.relationship.is_empty() {
            entries.push(("relationship", Value::str(how.relationship.clone())));
        }
        map(entries)
    };
    let known = shown.edges.iter().map(|edge| (edge.from, edge.how, edge.names.as_slice()));
    let edges = known.chain(shown.missing.iter().map(|(from, how)| (*from, *how, how.names.as_slice())));
    map(vec![("nodes", Value::list(nodes.collect())), ("edges", Value::list(edges.map(edge).collect()))])
}

fn cause_value(cause: &Cause) -> Value {
    let mut entries = vec![("kind", Value::str(cause.kind))];
    entries.extend(place(cause.place.as_ref()));
    if !cause.detail.is_empty() {
        entries.push(("detail", Value::str(cause.detail.as_str())));
    }
    map(entries)
}

/// Looks up a line in the history of a repository, if requested.
pub type Blame<'a> = &'a dyn Fn(&Place) -> Option<Value>;

/// `why -o json`.
pub fn why_value(
    node: &str,
    field: &str,
    why: &Why,
    (made, blame): (&Made, Blame<'_>),
    elsewhere: &[(String, Option<Value>)],
) -> Value {
    let pieces = why.pieces.iter().map(|piece| {
        let step = |step: &crate::why::Step| {
            let mut entries = vec![("step", Value::str(step.text.as_str()))];
            entries.extend(place(step.place.as_ref()));
            map(entries)
        };
        let mut entries = Vec::new();
        if let Some(text) = &piece.text {
            entries.push(("text", Value::str(text.as_str())));
        }
        entries.push(("range", Value::list(vec![number(piece.range.0), number(piece.range.1)])));
        entries.push(("origin", cause_value(&piece.cause)));
        entries.push(("through", Value::list(piece.through.iter().map(step).collect())));
        entries.push(("because", Value::list(piece.because.iter().map(because_value).collect())));
        entries.push(("overrode", Value::list(piece.overrode.iter().map(cause_value).collect())));
        map(entries)
    });
    let pieces = pieces.collect();
    map(vec![
        ("node", Value::str(node)),
        ("field", Value::str(field)),
        ("value", why.value.clone()),
        ("sensitive", Value::from(why.value.is_tainted_deep())),
        ("pieces", Value::list(pieces)),
        ("because", Value::list(why.because.iter().map(because_value).collect())),
        ("made", made_value(made, blame)),
        ("elsewhere", Value::list(elsewhere.iter().map(elsewhere_value).collect())),
    ])
}

/// A step in the making of a value, with those below it.
fn made_value(made: &Made, blame: Blame<'_>) -> Value {
    let text = |key: &'static str, text: &Option<String>| text.as_ref().map(|text| (key, Value::str(text.as_str())));
    let mut entries = Vec::new();
    entries.extend(text("value", &made.value));
    entries.extend(text("expression", &made.expression));
    entries.push(("origin", cause_value(&made.cause)));
    entries.extend(text("line", &made.line));
    entries.extend(made.cause.place.as_ref().and_then(blame).map(|written| ("blame", written)));
    let all = |steps: &[Made]| Value::list(steps.iter().map(|step| made_value(step, blame)).collect());
    entries.extend([("inputs", all(&made.inputs)), ("overrode", all(&made.overrode))]);
    map(entries)
}

/// The value in another environment, profile or values file; omitted if it has none.
fn elsewhere_value((name, value): &(String, Option<Value>)) -> Value {
    let mut entries = vec![("environment", Value::str(name.as_str()))];
    entries.extend(value.clone().map(|value| ("value", value)));
    map(entries)
}

fn because_value(because: &Because) -> Value {
    let mut entries = vec![("condition", Value::str(because.text.as_str()))];
    entries.extend(place(because.place.as_ref()));
    entries.push(("inputs", Value::list(because.inputs.iter().map(cause_value).collect())));
    map(entries)
}

/// `why --inputs -o json`.
pub fn inputs_value(node: &str, field: &str, inputs: &[Cause]) -> Value {
    map(vec![
        ("node", Value::str(node)),
        ("field", Value::str(field)),
        ("inputs", Value::list(inputs.iter().map(cause_value).collect())),
    ])
}

/// `why --file F:LINE -o json`.
pub fn affects_value(file: &str, line: u32, affected: &[Affected]) -> Value {
    let one = |a: &Affected| {
        map(vec![
            ("node", Value::str(a.node.as_str())),
            ("field", Value::str(a.field.as_str())),
            ("environment", Value::str(a.environment.as_str())),
        ])
    };
    map(vec![
        ("file", Value::str(file)),
        ("line", number(line)),
        ("affects", Value::list(affected.iter().map(one).collect())),
    ])
}

/// `diff -o json`.
pub fn differences_value(differences: &[Difference], added: &[&str], removed: &[&str]) -> Value {
    let one = |d: &Difference| {
        let mut entries = vec![("node", Value::str(d.node.as_str())), ("field", Value::str(d.field.as_str()))];
        entries.extend(d.renamed_from.as_ref().map(|old| ("renamedFrom", Value::str(old.as_str()))));
        entries.extend([
            ("before", d.before.clone().unwrap_or_default()),
            ("after", d.after.clone().unwrap_or_default()),
            ("causes", Value::list(d.before_causes.iter().chain(&d.after_causes).map(cause_value).collect())),
        ]);
        if !d.variants.is_empty() {
            let names = d.variants.iter().map(|name| Value::str(name.as_str()));
            entries.push(("environments", Value::list(names.collect())));
        }
        map(entries)
    };
    let names = |names: &[&str]| Value::list(names.iter().map(|name| Value::str(*name)).collect());
    let mut entries = vec![("differences", Value::list(differences.iter().map(one).collect()))];
    let variants = [("added", added), ("removed", removed)];
    entries.extend(variants.into_iter().filter(|(_, list)| !list.is_empty()).map(|(key, list)| (key, names(list))));
    map(entries)
}
