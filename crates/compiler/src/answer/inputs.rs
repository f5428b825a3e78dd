//! Everything a value depends on: its sources, the conditions that decided on it, and the expressions on the way.
//!
//! The ends of the table of origins, where `why` tells the way to them.

use crate::why::{Cause, cause, deciding};
use purlin_value::{Origin, OriginKind, Session, Value};
use std::collections::HashSet;

/// Maximum number of inputs for one value; a guard against absurd tables.
const MOST: usize = 10_000;

/// Inputs of an origin, each cause once, in order of discovery.
pub fn inputs(session: &Session, origin: Origin) -> Vec<Cause> {
    let mut found = Vec::new();
    for origin in dependencies(session, origin) {
        let ends = match session.origins.get(origin, &session.sources) {
            OriginKind::Chosen { .. } | OriginKind::Selected { .. } | OriginKind::Parent { .. } => None,
            _ => cause(session, origin),
        };
        // A computation without location is no useful cause.
        let ends = ends.filter(|cause| cause.place.is_some() || cause.kind != "computed");
        if let Some(cause) = ends.filter(|cause| !found.contains(cause)) {
            found.push(cause);
        }
    }
    found
}

/// Inputs of the value at a path, with the decisions on everything around it.
pub fn inputs_at(session: &Session, whole: &Value, path: &str) -> Option<Vec<Cause>> {
    let mut chain = whole.chain(path)?;
    let value = chain.pop()?;
    let around = chain.iter().rev().flat_map(|around| deciding(session, around.origin));
    let leaves = value.leaves().map(|(_, leaf)| leaf.origin);
    let mut found: Vec<Cause> = Vec::new();
    for origin in std::iter::once(value.origin).chain(leaves).chain(around) {
        found.extend(inputs(session, origin));
    }
    let mut seen = HashSet::new();
    found.retain(|cause| seen.insert(crate::why::origin_text(cause)));
    Some(found)
}

/// An origin and all origins behind it, without overridden ones.
pub(crate) fn dependencies(session: &Session, origin: Origin) -> Vec<Origin> {
    let mut seen = HashSet::from([origin]);
    let mut order = Vec::new();
    let mut open = vec![origin];
    while let Some(origin) = open.pop() {
        order.push(origin);
        if order.len() >= MOST {
            break;
        }
        session.origins.look(origin, &session.sources, |kind| {
            let because = match kind {
                OriginKind::Selected { because, .. } => Some(*because),
                _ => None,
            };
            let next = kind.inputs().chain(because).rev();
            open.extend(next.filter(|origin| origin.is_known() && seen.insert(*origin)));
        });
    }
    order
}
