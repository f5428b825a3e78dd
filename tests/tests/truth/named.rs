//! The locations named by a value's origins, read from the table itself.

use crate::corpus::Side;
use purlin_syntax::Span;
use purlin_value::{Origin, OriginKind, Session, Value};
use std::collections::HashSet;

/// A location that a value depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub file: String,
    pub start: usize,
    pub end: usize,
    pub line: u32,
    /// Whether `why` names it as the origin of a part of the value; otherwise it only decided or led there.
    pub is_literal: bool,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} ({}..{})", self.file, self.line, self.start, self.end)
    }
}

/// All locations of a value and of the decisions about its containers.
pub fn places(side: &Side, whole: &str, field: &str) -> Vec<Place> {
    let Some(chain) = side.whole(whole).and_then(|whole| whole.chain(field)) else { return Vec::new() };
    let mut found = Vec::new();
    let Some((value, around)) = chain.split_last() else { return found };
    // Fields are identified by their keys.
    for parts in chain.windows(2) {
        let [outer, inner] = parts else { continue };
        let names = outer.as_map().into_iter().flat_map(|map| map.iter());
        for (key, _) in names.filter(|(_, part)| part.origin == inner.origin) {
            let key = side.session.origins.key_place(inner.origin, key, &side.session.sources);
            found.extend(key.and_then(|span| place(&side.session, span, false)));
        }
    }
    let leaves: Vec<&Value> = value.leaves().map(|(_, leaf)| leaf).collect();
    for origin in std::iter::once(value.origin).chain(leaves.iter().map(|leaf| leaf.origin)) {
        walk(&side.session, origin, true, &mut HashSet::new(), &mut found);
    }
    for around in around {
        let mut origin = around.origin;
        loop {
            origin = match side.session.origins.get(origin, &side.session.sources) {
                OriginKind::Selected { taken, because } => {
                    walk(&side.session, because, false, &mut HashSet::new(), &mut found);
                    taken
                }
                OriginKind::Chosen { winner, .. } => winner,
                OriginKind::Parent { from, .. } => from,
                OriginKind::Derived { pieces, .. } if pieces.len() == 1 => pieces[0].origin,
                _ => break,
            };
        }
    }
    found
}

/// Whether a value names a literal.
pub fn names(side: &Side, whole: &str, field: &str, literal: &Place) -> bool {
    // After an edit the literal may be a little longer, but its start is unchanged.
    let meets = |place: &Place| {
        place.file == literal.file
            && place.start <= literal.start.max(place.start.min(literal.end))
            && literal.start < place.end.max(place.start + 1)
            && place.start < literal.end
    };
    places(side, whole, field).iter().any(meets)
}

fn place(session: &Session, span: Span, is_literal: bool) -> Option<Place> {
    let source = session.sources.get(span.file)?;
    let (start, end) = (span.start as usize, span.end as usize);
    let (file, line) = (source.path().to_owned(), source.position(span.start).line);
    Some(Place { file, start, end, line, is_literal })
}

fn walk(session: &Session, origin: Origin, is_value: bool, seen: &mut HashSet<Origin>, found: &mut Vec<Place>) {
    let mut open = vec![(origin, is_value)];
    while let Some((origin, is_value)) = open.pop() {
        if !origin.is_known() || !seen.insert(origin) {
            continue;
        }
        let kind = session.origins.get(origin, &session.sources);
        let (span, is_literal) = match &kind {
            OriginKind::File(span) => (Some(*span), is_value),
            OriginKind::Default { span, .. } | OriginKind::Derived { span, .. } => (*span, false),
            _ => (None, false),
        };
        found.extend(span.and_then(|span| place(session, span, is_literal)));
        if let OriginKind::Selected { because, .. } = &kind {
            open.push((*because, false));
        }
        open.extend(kind.inputs().map(|input| (input, is_value)));
    }
}
