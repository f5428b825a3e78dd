//! The reverse question: which values would change if a line changed.

use crate::why::{Place, deciding};
use purlin_model::{Node, Resolved};
use purlin_syntax::Span;
use purlin_value::value::below;
use purlin_value::{Data, Origin, OriginKind, Session, Value};
use std::collections::HashMap;

/// A field that a line has a part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    /// The node; `variables` and `outputs` are those of the project.
    pub node: String,
    /// The field's dotted path; empty for the node itself.
    pub field: String,
    /// The environment it was resolved for.
    pub environment: String,
}

/// All fields of the project that a line of a file has a part in, in the order of nodes.
pub fn affects(session: &Session, resolved: &Resolved, file: &str, line: u32) -> Vec<Affected> {
    let mut search = Search { session, file, line, known: HashMap::new() };
    let mut found = Vec::new();
    let environment = resolved.environment.to_string();
    let nodes: HashMap<&str, &Node> = resolved.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    for (node, whole) in wholes(resolved) {
        let affected = |field: String| Affected { node: node.to_owned(), field, environment: environment.clone() };
        // The line that gives a node its name or its type affects the node, and the nodes inside it, whose names begin
        // with that name.
        let own = nodes.get(node).copied();
        let outer = own.and_then(|node| nodes.get(node.inside.as_deref()?).copied());
        let is_named_here = own.into_iter().chain(outer).any(|node| search.names(node));
        found.extend(is_named_here.then(|| affected(String::new())));
        found.extend(search.fields(&whole).into_iter().map(affected));
    }
    found
}

/// Everything of a project that has a name: its variables, its nodes, its outputs.
pub fn wholes(resolved: &Resolved) -> impl Iterator<Item = (&str, Value)> {
    let nodes = resolved.nodes.iter().map(|node| (node.id.as_str(), node.whole()));
    let variables = std::iter::once_with(|| ("variables", resolved.variables.clone()));
    variables.chain(nodes).chain(std::iter::once_with(|| ("outputs", resolved.outputs.clone())))
}

struct Search<'a> {
    session: &'a Session,
    file: &'a str,
    line: u32,
    known: HashMap<Origin, bool>,
}

impl Search<'_> {
    /// The paths of all leaves that the line has a part in.
    fn fields(&mut self, whole: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), whole, false, whole.origin)];
        while let Some((path, value, decided, around)) = open.pop() {
            // A value without an origin has that of the collection around it.
            let origin = if value.origin.is_known() || value.is_absent() { value.origin } else { around };
            // A decision on a collection affects everything in it.
            let decided = decided || deciding(self.session, value.origin).into_iter().any(|one| self.touches(one));
            match &value.data {
                Data::Map(map) if !map.is_empty() && !value.is_tainted() => {
                    for (key, item) in map.iter().rev() {
                        // The name of a field is its key.
                        let decided = decided || self.is_key_of(key, item);
                        open.push((below(&path, key), item, decided, origin));
                    }
                }
                Data::List(list) if !list.is_empty() && !value.is_tainted() => {
                    let items = list.iter().enumerate().rev();
                    open.extend(items.map(|(at, item)| (below(&path, &at.to_string()), item, decided, origin)));
                }
                _ if decided || self.touches(origin) => found.push(path),
                _ => {}
            }
        }
        found
    }

    /// Whether the line has the key of a field, but no part of its value.
    fn is_key_of(&self, key: &str, value: &Value) -> bool {
        let (origins, sources) = (&self.session.origins, &self.session.sources);
        let place = origins.key_place(value.origin, key, sources).filter(|span| self.is_line(*span));
        place.is_some() && !origins.span(value.origin, sources).is_some_and(|span| self.is_line(span))
    }

    /// Whether the line is among the sources of an origin. Results are cached: values share most of their sources.
    fn touches(&mut self, origin: Origin) -> bool {
        let mut open = vec![(origin, false)];
        while let Some((origin, is_back)) = open.pop() {
            let known = self.known.get(&origin).copied();
            if known.is_some() && !is_back {
                continue;
            }
            let kind = self.session.origins.get(origin, &self.session.sources);
            let mut behind: Vec<Origin> = kind.inputs().collect();
            if let OriginKind::Selected { because, .. } = kind {
                behind.push(because);
            }
            if is_back {
                let touches = behind.iter().any(|one| self.known.get(one) == Some(&true));
                self.known.insert(origin, touches);
            } else if self.is_here(&kind) {
                self.known.insert(origin, true);
            } else {
                // A cycle of origins adds no sources.
                self.known.insert(origin, false);
                open.push((origin, true));
                open.extend(behind.into_iter().map(|one| (one, false)));
            }
        }
        self.known.get(&origin) == Some(&true)
    }

    fn is_here(&self, kind: &OriginKind) -> bool {
        match kind {
            OriginKind::File(span) => self.is_line(*span),
            OriginKind::Default { span: Some(span), .. } | OriginKind::Derived { span: Some(span), .. } => {
                self.is_line(*span)
            }
            _ => false,
        }
    }

    /// Whether the line gives a node its name or its type.
    fn names(&mut self, node: &Node) -> bool {
        let is_source = node.source.is_some_and(|span| self.is_short(span) && self.is_line(span));
        is_source || self.touches(node.named) || self.touches(node.typed)
    }

    /// Whether a place is a name rather than everything under it.
    fn is_short(&self, span: Span) -> bool {
        Place::of(self.session, span).is_some_and(|place| place.line == place.last_line)
    }

    fn is_line(&self, span: Span) -> bool {
        let is_file = self.session.sources.get(span.file).is_some_and(|source| source.path() == self.file);
        let place = if is_file { Place::of(self.session, span) } else { None };
        place.is_some_and(|place| (place.line..=place.last_line).contains(&self.line))
    }
}
