//! The index of offers, by what requirements ask for.
//!
//! A list of offers is made once for all requirements in the same words, and kept in order of preference. An offer
//! whose preference has fallen is moved when it comes up, so that choosing costs a look at the front of a list.

use crate::hierarchy::Hierarchy;
use crate::names::DeclId;
use crate::topology::Topology;
use ecow::EcoString;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::{Bound, Range};
use std::sync::Arc;

use super::Fast;

/// A capability of a node, by their places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Offer {
    pub node: usize,
    pub capability: usize,
}

/// Whether an offer must still be used, and the room it has.
pub(super) type Rank = (bool, u64);

/// The position of an offer in its list: the preferred ones first, then by name.
pub(super) type Place = (Reverse<Rank>, usize);

/// The conditions of a requirement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Wanted {
    /// The nodes of a template that is named.
    pub nodes: Option<(usize, usize)>,
    pub node_type: Option<DeclId>,
    pub capability_type: Option<DeclId>,
    pub capability_name: Option<EcoString>,
    /// The amounts taken, and the rule for them.
    pub takes: Takes,
}

impl Wanted {
    /// The node, if there is only one to choose from.
    pub fn single(&self) -> Option<usize> {
        self.nodes.filter(|(first, end)| *end == first + 1).map(|(first, _)| first)
    }
}

/// The amounts taken by the requirements that share a list.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Takes {
    Nothing,
    /// All the same: an offer with too little left for one has too little for all.
    Same(Amounts),
    /// Those of an assignment, which may differ between candidates.
    Varying(usize),
}

/// The amounts taken, by property.
pub(super) type Amounts = Arc<[(EcoString, Amount)]>;

/// A number that can be part of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Amount(u64);

impl Amount {
    pub fn new(number: f64) -> Self {
        Amount((number + 0.0).to_bits()) // there is only one zero
    }

    pub fn number(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Offers to choose from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offers {
    /// All of one node.
    Of(usize),
    /// The offers of a list.
    List(usize),
}

impl Offers {
    /// Which list it is, if it is one.
    pub fn list(self) -> Option<usize> {
        match self {
            Offers::Of(_) => None,
            Offers::List(list) => Some(list),
        }
    }
}

struct List {
    offers: Vec<Offer>,
    order: BTreeSet<Place>,
    /// Whether moving others has failed.
    in_vain: bool,
    takes: Takes,
    /// Whether amounts were returned since, so that further offers may have enough.
    stale: bool,
}

#[derive(Default)]
pub(super) struct Index {
    /// Nodes in the order of their names.
    pub by_name: Vec<usize>,
    /// Whether some offer must be used.
    pub minimums: bool,
    /// Per node, its offers in the order of their names.
    by_node: Vec<Vec<Offer>>,
    /// Offers by capability type, ancestors included; built on first use.
    by_type: Option<HashMap<DeclId, Vec<Offer>, Fast>>,
    lists: Vec<List>,
    known: HashMap<Wanted, usize, Fast>,
}

impl Index {
    pub fn new(topology: &Topology) -> Self {
        let mut by_name: Vec<usize> = (0..topology.nodes.len()).collect();
        by_name.sort_by_key(|index| topology.nodes.get_index(*index).map(|(name, _)| name));
        let mut minimums = false;
        let mut by_node = Vec::with_capacity(topology.nodes.len());
        for (node, rendered) in topology.nodes.values().enumerate() {
            minimums |= rendered.capabilities.values().any(|capability| capability.occurrences.lower > 0);
            let mut offers: Vec<Offer> =
                (0..rendered.capabilities.len()).map(|capability| Offer { node, capability }).collect();
            offers.sort_by_key(|offer| rendered.capabilities.get_index(offer.capability).map(|(name, _)| name));
            by_node.push(offers);
        }
        Index { by_name, minimums, by_node, by_type: None, lists: Vec::new(), known: HashMap::default() }
    }

    /// All offers, by the names of nodes and capabilities.
    pub fn all(&self) -> impl Iterator<Item = Offer> {
        self.by_name.iter().filter_map(|node| self.by_node.get(*node)).flatten().copied()
    }

    /// The list for a requirement's conditions.
    pub fn find(
        &mut self,
        topology: &Topology,
        hierarchy: &Hierarchy,
        wanted: Wanted,
        rank: impl FnMut(Offer) -> Option<Rank>,
    ) -> Offers {
        if let Some(known) = self.known.get(&wanted) {
            if let Some(list) = self.lists.get_mut(*known).filter(|list| list.stale) {
                list.order = ordered(&list.offers, rank);
                list.stale = false;
            }
            return Offers::List(*known);
        }
        let offers = self.matching(topology, hierarchy, &wanted);
        let order = ordered(&offers, rank);
        self.lists.push(List { offers, order, in_vain: false, takes: wanted.takes.clone(), stale: false });
        let list = self.lists.len() - 1;
        self.known.insert(wanted, list);
        Offers::List(list)
    }

    fn matching(&mut self, topology: &Topology, hierarchy: &Hierarchy, wanted: &Wanted) -> Vec<Offer> {
        if let Some((first, end)) = wanted.nodes {
            return self.by_node.get(Range { start: first, end }).unwrap_or(&[]).iter().flatten().copied().collect();
        }
        let fits = |offer: &Offer| {
            let Some((_, node)) = topology.nodes.get_index(offer.node) else { return false };
            let named = |name: &EcoString| {
                node.capabilities.get_index(offer.capability).is_some_and(|(known, _)| known == name)
            };
            wanted.node_type.is_none_or(|id| hierarchy.is_a(node.node_type, id))
                && wanted.capability_name.as_ref().is_none_or(named)
        };
        match wanted.capability_type {
            Some(id) => {
                let by_type = self.by_type(topology, hierarchy);
                by_type.get(&id).map(Vec::as_slice).unwrap_or(&[]).iter().filter(|offer| fits(offer)).copied().collect()
            }
            None => self.all().filter(|offer| fits(offer)).collect(),
        }
    }

    fn by_type(&mut self, topology: &Topology, hierarchy: &Hierarchy) -> &HashMap<DeclId, Vec<Offer>, Fast> {
        if self.by_type.is_none() {
            let mut by_type: HashMap<DeclId, Vec<Offer>, Fast> = HashMap::default();
            for offer in self.all() {
                let capability = topology
                    .nodes
                    .get_index(offer.node)
                    .and_then(|(_, node)| node.capabilities.get_index(offer.capability));
                let id = capability.and_then(|(_, capability)| capability.capability_type);
                for id in id.into_iter().flat_map(|id| hierarchy.lineage(id)) {
                    by_type.entry(id).or_default().push(offer);
                }
            }
            self.by_type = Some(by_type);
        }
        self.by_type.get_or_insert_default()
    }

    pub fn len(&self, offers: &Offers) -> usize {
        match offers {
            Offers::Of(node) => self.by_node.get(*node).map_or(0, Vec::len),
            Offers::List(list) => self.lists.get(*list).map_or(0, |list| list.offers.len()),
        }
    }

    pub fn get(&self, offers: &Offers, at: usize) -> Option<Offer> {
        match offers {
            Offers::Of(node) => self.by_node.get(*node)?.get(at).copied(),
            Offers::List(list) => self.lists.get(*list)?.offers.get(at).copied(),
        }
    }

    /// The next offer to check, and its position.
    pub fn next(&self, offers: &Offers, cursor: Option<Place>) -> Option<(Offer, Place)> {
        match offers {
            Offers::Of(_) => {
                let at = cursor.map_or(0, |(_, at)| at + 1);
                Some((self.get(offers, at)?, (Reverse((false, 0)), at)))
            }
            Offers::List(list) => {
                let list = self.lists.get(*list)?;
                let after = cursor.map_or(Bound::Unbounded, Bound::Excluded);
                let place = list.order.range((after, Bound::Unbounded)).next()?;
                Some((list.offers.get(place.1).copied()?, *place))
            }
        }
    }

    /// Moves an offer to its current position; returns whether it was moved, or is full.
    pub fn moved(&mut self, offers: &Offers, place: Place, rank: Option<Rank>) -> bool {
        let Offers::List(list) = offers else { return false };
        let Some(list) = self.lists.get_mut(*list) else { return false };
        if rank == Some(place.0.0) {
            return false;
        }
        list.order.remove(&place);
        if let Some(rank) = rank {
            list.order.insert((Reverse(rank), place.1));
        }
        true
    }

    /// The amounts taken by the requirements that share a list.
    pub fn takes(&self, offers: &Offers) -> Takes {
        let list = offers.list().and_then(|list| self.lists.get(list));
        list.map_or(Takes::Nothing, |list| list.takes.clone())
    }

    /// An amount was returned: lists of offers with something left are rebuilt on next use.
    pub fn given_back(&mut self) {
        self.lists.iter_mut().filter(|list| list.takes != Takes::Nothing).for_each(|list| list.stale = true);
    }

    /// Full offers may be free again: all lists are rebuilt on next use.
    pub fn renew(&mut self) {
        self.lists.iter_mut().for_each(|list| list.stale = true);
    }

    /// Whether moving others has failed before.
    pub fn was_in_vain(&self, offers: &Offers) -> bool {
        offers.list().and_then(|list| self.lists.get(list)).is_some_and(|list| list.in_vain)
    }

    /// Records that moving others failed, if that holds for all requirements that share the list.
    pub fn note_in_vain(&mut self, offers: &Offers, for_all: bool) {
        if let Some(list) = offers.list().and_then(|list| self.lists.get_mut(list)) {
            list.in_vain |= for_all;
        }
    }
}

fn ordered(offers: &[Offer], mut rank: impl FnMut(Offer) -> Option<Rank>) -> BTreeSet<Place> {
    offers.iter().enumerate().filter_map(|(at, offer)| Some((Reverse(rank(*offer)?), at))).collect()
}
