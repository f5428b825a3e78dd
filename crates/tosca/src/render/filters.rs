//! Node filters of TOSCA 1.x, as plain lists of clauses.

use crate::entity::Entity;
use crate::val::{Data, Val};

/// The clauses for each property of a node filter or capability filter.
pub fn property_filters(filter: &Entity) -> impl Iterator<Item = (&str, &[Val])> {
    filter.values("properties").iter().map(|(name, value)| {
        let clauses: &[Val] = match &value.data {
            Data::List(items) => items,
            _ => std::slice::from_ref(value),
        };
        (name.text.as_str(), clauses)
    })
}
