//! The reverse question: which values would change if a line changed.

use crate::why::{Cause, cause};
use purlin_model::Resolved;
use purlin_value::{Origin, OriginKind, Session, Value};
use std::collections::HashMap;

/// A field that a line has a part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    /// The node.
    pub node: String,
    /// The field's dotted path.
    pub field: String,
    /// The environment it was resolved for.
    pub environment: String,
}

/// All fields of the project that a line of a file has a part in, in the order of nodes.
pub fn affects(session: &Session, resolved: &Resolved, file: &str, line: u32) -> Vec<Affected> {
    let mut search = Search { session, file, line, known: HashMap::new() };
    let mut found = Vec::new();
    for node in &resolved.nodes {
        let touched = node.resolved.leaves().filter(|(_, value)| search.touches(value));
        found.extend(touched.map(|(field, _)| Affected {
            node: node.id.to_string(),
            field,
            environment: resolved.environment.to_string(),
        }));
    }
    found
}

struct Search<'a> {
    session: &'a Session,
    file: &'a str,
    line: u32,
    known: HashMap<Origin, bool>,
}

impl Search<'_> {
    fn touches(&mut self, value: &Value) -> bool {
        self.origin_touches(value.origin, 0)
    }

    fn origin_touches(&mut self, origin: Origin, depth: u32) -> bool {
        if depth > 500 {
            return false;
        }
        if let Some(&known) = self.known.get(&origin) {
            return known;
        }
        self.known.insert(origin, false);
        let here = cause(self.session, origin).is_some_and(|cause| self.is_line(&cause));
        let inputs = match self.session.origins.get(origin, &self.session.sources) {
            OriginKind::Derived { pieces, .. } => pieces.into_iter().map(|piece| piece.origin).collect(),
            OriginKind::Chosen { winner, .. } => vec![winner],
            OriginKind::Parent { from, .. } => vec![from],
            _ => Vec::new(),
        };
        let touches = here || inputs.into_iter().any(|input| self.origin_touches(input, depth + 1));
        self.known.insert(origin, touches);
        touches
    }

    fn is_line(&self, cause: &Cause) -> bool {
        let Some(place) = &cause.place else { return false };
        let same_file = place.file == self.file || place.file.ends_with(&format!("/{}", self.file));
        same_file && (place.line..=place.last_line).contains(&self.line)
    }
}
