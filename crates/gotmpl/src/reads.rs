//! What a part of a render has read of the given values: two renders whose values agree on that print the same.
//!
//! Mappings of the values are watched by their handles. Lists are not: whoever gets hold of one has read it. Must not
//! know templates and functions.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use crate::value::{Data, Heap, Str, Val};

/// What was read of a mapping.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// Whether its value was used: as a condition, as an argument, or because it lacks a key.
    pub is_used: bool,
    /// Whether all entries were read.
    pub is_whole: bool,
    /// Keys that were looked up, and what was read of the mappings below them.
    pub keys: BTreeMap<Str, Reads>,
}

/// Records reads of watched mappings.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The watched mappings by their handles: each with the one around it and its key there, if it is in a mapping.
    parents: Vec<Option<(u32, Str)>>,
    root: u32,
    seen: RefCell<Seen>,
    /// Whether a mapping that is older than the part was changed.
    pub(crate) has_changed: bool,
}

#[derive(Debug, Default)]
struct Seen {
    keys: HashSet<(u32, Str), foldhash::fast::RandomState>,
    /// Keys that only led to others.
    ways: HashSet<(u32, Str), foldhash::fast::RandomState>,
    wholes: HashSet<u32, foldhash::fast::RandomState>,
}

impl Watch {
    /// Watches all mappings of a heap, which holds these values and nothing else.
    pub(crate) fn of(heap: &Heap, values: &Val) -> Option<Self> {
        let root = values.as_map()?.index();
        let mut parents = vec![None; heap.count_of_maps()];
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            for (key, value) in heap.entries_at(at) {
                let Data::Map(inner) = &value.data else { continue };
                if let Some(place) = parents.get_mut(inner.index() as usize) {
                    *place = Some((at, key.clone()));
                    stack.push(inner.index());
                }
            }
        }
        Some(Watch { parents, root, seen: RefCell::default(), has_changed: false })
    }

    /// The number of watched mappings, which are the first ones of their heap.
    pub(crate) fn len(&self) -> u32 {
        self.parents.len() as u32
    }

    pub(crate) fn note_key(&self, map: u32, key: &Str) {
        self.seen.borrow_mut().keys.insert((map, key.clone()));
    }

    pub(crate) fn note_way(&self, map: u32, key: &Str) {
        self.seen.borrow_mut().ways.insert((map, key.clone()));
    }

    pub(crate) fn note_whole(&self, map: u32) {
        self.seen.borrow_mut().wholes.insert(map);
    }

    /// The reads since the last call.
    pub(crate) fn take(&self) -> Reads {
        let Seen { keys, ways, wholes } = std::mem::take(&mut *self.seen.borrow_mut());
        let mut all = Reads::default();
        for map in wholes {
            if let Some(reads) = self.at(&mut all, map) {
                reads.is_whole = true;
            }
        }
        for (map, key) in ways {
            if let Some(reads) = self.at(&mut all, map) {
                reads.keys.entry(key).or_default();
            }
        }
        for (map, key) in keys {
            if let Some(reads) = self.at(&mut all, map) {
                reads.keys.entry(key).or_default().is_used = true;
            }
        }
        all
    }

    /// The reads of a mapping; `None` for one in a list.
    fn at<'r>(&self, all: &'r mut Reads, map: u32) -> Option<&'r mut Reads> {
        let mut way = Vec::new();
        let mut at = map;
        while at != self.root {
            let (outer, key) = self.parents.get(at as usize)?.as_ref()?;
            way.push(key);
            at = *outer;
        }
        Some(way.into_iter().rev().fold(all, |reads, key| reads.keys.entry(key.clone()).or_default()))
    }
}
