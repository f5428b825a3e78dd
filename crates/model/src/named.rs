//! Entities by name, in order, shared between an entity and all that inherit from it.
//!
//! A map that was read is a plain list. A map over a base shares the base's parts in a persistent map, so that
//! thousands of types below one parent, or in one long line, cost what they themselves write.

use crate::handle::NodeRef;
use crate::instance::Instance;
use purlin_value::EcoString;
use rpds::HashTrieMapSync;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// An entity and the name it stands under.
#[derive(Clone, Debug)]
pub struct Named {
    /// The key as it is written.
    pub key: NodeRef,
    /// Its text.
    pub name: EcoString,
    /// The entity.
    pub instance: Arc<Instance>,
}

/// An entry and its place in the order.
#[derive(Clone, Debug)]
struct Placed {
    place: usize,
    named: Named,
}

type Shared = HashTrieMapSync<EcoString, Placed>;

#[derive(Debug)]
enum Entries {
    /// As it was read.
    Plain { list: Vec<Named>, index: HashMap<EcoString, usize>, shared: OnceLock<Shared> },
    /// Over a base. Places may have gaps, never repetitions.
    Layered(Shared),
}

/// Lists with fewer entries are searched from end to end.
const INDEXED_FROM: usize = 9;

/// Entities by name.
#[derive(Debug)]
pub struct NamedMap(Entries);

impl NamedMap {
    /// A map of its own. Where a name stands twice the first counts.
    pub fn new(list: Vec<Named>) -> Self {
        let mut index = HashMap::new();
        if list.len() >= INDEXED_FROM {
            for (at, named) in list.iter().enumerate() {
                index.entry(named.name.clone()).or_insert(at);
            }
        }
        NamedMap(Entries::Plain { list, index, shared: OnceLock::new() })
    }

    /// These entries over a base: they replace those of the same name in their places and follow the others.
    pub fn over(own: Vec<Named>, base: &Arc<NamedMap>) -> Arc<Self> {
        if own.is_empty() {
            return Arc::clone(base);
        }
        let mut all = base.shared();
        let mut next = base.len();
        for named in own {
            let place = all.get(&named.name).map(|placed| placed.place);
            let place = place.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            all.insert_mut(named.name.clone(), Placed { place, named });
        }
        Arc::new(NamedMap(Entries::Layered(all)))
    }

    fn shared(&self) -> Shared {
        match &self.0 {
            Entries::Layered(shared) => shared.clone(),
            Entries::Plain { list, shared, .. } => {
                let build = || {
                    let mut map = Shared::new_sync();
                    for (place, named) in list.iter().enumerate().rev() {
                        map.insert_mut(named.name.clone(), Placed { place, named: named.clone() });
                    }
                    map
                };
                shared.get_or_init(build).clone()
            }
        }
    }

    /// The entity with a name.
    pub fn get(&self, name: &str) -> Option<&Named> {
        match &self.0 {
            Entries::Plain { list, .. } if list.len() < INDEXED_FROM => list.iter().find(|named| named.name == name),
            Entries::Plain { list, index, .. } => list.get(*index.get(name)?),
            Entries::Layered(shared) => shared.get(name).map(|placed| &placed.named),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Entries::Plain { list, .. } => list.len(),
            Entries::Layered(shared) => shared.size(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them in order: the base's first, each in the place where its name was first mentioned.
    pub fn iter(&self) -> std::vec::IntoIter<&Named> {
        let shared = match &self.0 {
            Entries::Plain { list, .. } => return list.iter().collect::<Vec<_>>().into_iter(),
            Entries::Layered(shared) => shared,
        };
        let mut placed: Vec<&Placed> = shared.values().collect();
        placed.sort_unstable_by_key(|placed| placed.place);
        placed.into_iter().map(|placed| &placed.named).collect::<Vec<_>>().into_iter()
    }
}
