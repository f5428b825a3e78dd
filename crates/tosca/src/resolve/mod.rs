//! Phase 6, resolution: the capability of a node that meets each requirement.
//!
//! Deterministic: nodes by name, requirements in order. Candidates come from an index, the best one first, so that a
//! requirement does not check every node. Where taking the best candidate first fails, earlier choices are moved; that
//! finds a solution wherever only the number of relationships is limited, but not every distribution of amounts (see
//! `moves`). A failure lists the candidates with the reason each was refused.

mod capacity;
mod hopeless;
mod index;
mod moves;
mod report;
mod suits;

use crate::edition::Standard;
use crate::evaluate::{Evaluator, Share, Taken};
use crate::model::Model;
use crate::problem::Problems;
use crate::quirks;
use crate::topology::{Capability, Node, Part, Requirement, Target, Topology};
use crate::val::Val;
use ecow::EcoString;
use hopeless::{Hopeless, Left};
use index::{Index, Offer, Offers, Place, Rank, Takes};
use purlin_graph::Digraph;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use suits::Lists;

type Fast = foldhash::fast::RandomState;

/// One requirement that is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node that needs something, by its place in the topology.
    pub source: usize,
    /// Which of its requirements.
    pub requirement: usize,
    /// The node that offers it.
    pub target: usize,
    /// Which of its capabilities.
    pub capability: usize,
}

/// All requirements that are met.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// Per node, its edges in the order of its requirements.
    pub edges: Vec<Vec<Edge>>,
    /// Allocations of the capabilities' properties.
    pub taken: Taken,
    /// The allocations of each relationship, by its source and requirement: properties of the target capability.
    pub allocations: HashMap<User, Vec<(EcoString, Val)>, Fast>,
}

impl Resolution {
    /// The nodes of the topology, each after those it requires.
    pub fn order(&self, nodes: usize) -> Vec<usize> {
        let mut graph = Digraph::new();
        for node in 0..nodes {
            graph.add(node);
        }
        for (source, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|edge| graph.connect(source, edge.target));
        }
        graph.depth_first(graph.keys()).into_iter().copied().collect()
    }

    /// The edge that meets a requirement.
    pub fn edge(&self, source: usize, requirement: usize) -> Option<&Edge> {
        let edges = self.edges.get(source)?;
        let at = edges.binary_search_by_key(&requirement, |edge| edge.requirement).ok()?;
        edges.get(at)
    }
}

/// Candidates with the reasons they were refused.
type Refusals = Vec<(Offer, String)>;

/// Most refusals kept; a message shows a few.
const MAX_REFUSALS: usize = 50;
/// Why an offer that suits was refused.
const FULL: &str = "as many relationships as allowed lead to it already";

/// A requirement, by its node and its place there.
pub type User = (usize, usize);

/// An assignment with a count that iterates over a list of offers: its node and place, and the list.
type Pass = (usize, usize, usize);

struct Resolver<'a> {
    model: &'a Model,
    topology: &'a Topology,
    index: Index,
    /// The number of users of an offer.
    used: HashMap<Offer, u64, Fast>,
    /// The users of an offer with limited capacity.
    users: HashMap<Offer, Vec<User>, Fast>,
    /// Targets of the relationships of an assignment with a count: its node and place, and the other node.
    led: HashSet<(usize, usize, usize), Fast>,
    /// The position in a list of offers up to which none suits any further relationship of such an assignment.
    passed: HashMap<Pass, Place, Fast>,
    /// The types that a definition allows.
    lists: Lists,
    /// Definitions of requirements already warned about because such lists are not kept.
    warned: HashSet<usize, Fast>,
    /// Whether the types that definitions list are only a preference.
    lenient: bool,
    evaluator: Evaluator<'a>,
    /// The filter of one requirement, with candidate-independent parts replaced by their results.
    folded: Folded,
    chosen: HashMap<User, Offer, Fast>,
    /// Offers whose users are being moved away.
    avoided: Vec<Offer>,
    /// The number of offers and users checked while moving.
    looked: u64,
    /// Amounts allocated by each resolved requirement.
    shares_of: HashMap<User, Vec<Share>, Fast>,
    /// The total amounts left.
    left: Left,
    /// Amounts that no offer can have left, per kind.
    hopeless: Hopeless,
}

/// The order in which requirements are resolved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Turn {
    /// Takes amounts of a node that it names, so others must make do with the rest.
    Naming,
    Usual,
    /// Its filter follows relationships of other nodes, which must be made before.
    Relying,
    /// May stay unresolved, so it must not take anything from required ones.
    Optional,
}

/// Matches requirements with capabilities.
pub fn resolve(model: &Model, topology: &Topology, problems: &mut Problems) -> Resolution {
    resolve_watched(model, topology, problems).0
}

/// The same, and whether an input was read.
pub(crate) fn resolve_watched(model: &Model, topology: &Topology, problems: &mut Problems) -> (Resolution, bool) {
    let so_far = OnceCell::new();
    let mut resolver = Resolver::new(model, topology);
    let mapped = mapped_requirements(topology);
    let by_name = resolver.index.by_name.clone();
    let mut turns: Vec<(Turn, User)> = Vec::new();
    for source in &by_name {
        let Some((name, node)) = topology.nodes.get_index(*source).map(|(_, node)| (&node.template.name, node)) else {
            continue;
        };
        for (at, requirement) in node.requirements.iter().enumerate() {
            if mapped.is_empty() || !mapped.contains(&(name.as_str(), requirement.name.as_str())) {
                turns.push((requirement.turn(), (*source, at)));
            }
        }
    }
    turns.sort_by_key(|(turn, _)| *turn);
    for (turn, user) in turns {
        if turn == Turn::Relying && so_far.get().is_none() {
            let so_far = so_far.get_or_init(|| resolver.so_far());
            let evaluator = std::mem::replace(&mut resolver.evaluator, Evaluator::resolving(model, topology));
            resolver.evaluator = evaluator.knowing(so_far);
        }
        let Some((_, node)) = topology.nodes.get_index(user.0) else { continue };
        if let Some(requirement) = node.requirements.get(user.1) {
            resolver.turn(user, node, requirement, problems);
        }
    }
    if !resolver.evaluator.is_out_of_steps() {
        resolver.check_minimums(problems);
        resolver.warn_of_idle_filters(problems);
    }
    let varies = resolver.evaluator.has_read_inputs();
    (resolver.finish(), varies)
}

/// Requirements that are met where the service replaces a node.
fn mapped_requirements(topology: &Topology) -> HashSet<(&str, &str)> {
    let mappings = topology.substitution.iter().flat_map(|substitution| &substitution.mappings);
    mappings
        .filter(|mapping| mapping.part == Part::Requirement)
        .filter_map(|mapping| match &mapping.target {
            Target::Node(node, name) => Some((node.as_str(), name.as_str())),
            _ => None,
        })
        .collect()
}

/// The filter of the last checked requirement: the number of candidates it was applied to, and its clauses with all
/// candidate-independent parts replaced by their results.
#[derive(Default)]
struct Folded {
    user: Option<User>,
    asked: usize,
    clauses: Arc<[Val]>,
}

impl<'a> Resolver<'a> {
    fn new(model: &'a Model, topology: &'a Topology) -> Self {
        Resolver {
            model,
            topology,
            index: Index::new(topology),
            used: HashMap::default(),
            users: HashMap::default(),
            led: HashSet::default(),
            passed: HashMap::default(),
            lists: Lists::default(),
            warned: HashSet::default(),
            lenient: false,
            evaluator: Evaluator::resolving(model, topology),
            folded: Folded::default(),
            chosen: HashMap::default(),
            avoided: Vec::new(),
            looked: 0,
            shares_of: HashMap::default(),
            left: Left::default(),
            hopeless: Hopeless::default(),
        }
    }

    fn turn(&mut self, user: User, node: &Node, requirement: &Requirement, problems: &mut Problems) {
        if let Err(refusals) = self.satisfy(user, requirement)
            && !self.evaluator.is_out_of_steps()
        {
            self.compromise(user, node, requirement, refusals, problems);
        }
    }

    /// The relationships made so far.
    fn so_far(&self) -> Resolution {
        Resolution { edges: edges(self.topology, &self.chosen), ..Resolution::default() }
    }

    fn node(&self, offer: Offer) -> Option<(&'a EcoString, &'a Node)> {
        self.topology.nodes.get_index(offer.node).map(|(name, node)| (name, &**node))
    }

    fn capability(&self, offer: Offer) -> Option<(&'a EcoString, &'a Capability)> {
        let (name, capability) = self.node(offer)?.1.capabilities.get_index(offer.capability)?;
        Some((name, capability))
    }

    fn requirement(&self, user: User) -> Option<&'a Requirement> {
        self.topology.nodes.get_index(user.0)?.1.requirements.get(user.1)
    }

    fn satisfy(&mut self, user: User, requirement: &Requirement) -> Result<(), Refusals> {
        let wanted = self.wanted(user, requirement)?;
        if self.is_hopeless(user, requirement, &wanted) {
            return Err(self.refused(user, requirement, wanted));
        }
        let offers = self.find(user, requirement, wanted);
        let mut refusals = Vec::new();
        if let Some(offer) = self.best(user, requirement, &offers, &mut refusals) {
            self.take(user, offer);
            return Ok(());
        }
        // Without steps no offer was really checked, so there is neither a reason to find nor a user to move.
        if self.evaluator.is_out_of_steps() {
            return Err(refusals);
        }
        // Another requirement may hold the only offer that this one can use. Once moving failed for a list of offers,
        // it fails for all requirements that share it.
        let in_vain = self.index.was_in_vain(&offers) || self.is_too_much(&offers);
        if !in_vain && let Some(offer) = self.vacate(user, requirement, &offers) {
            self.take(user, offer);
            return Ok(());
        }
        let varying = matches!(self.index.takes(&offers), Takes::Varying(_));
        self.index.note_in_vain(&offers, !requirement.has_filter() && !varying);
        self.give_up(user, requirement);
        for at in 0..self.index.len(&offers) {
            let Some(offer) = self.index.get(&offers, at).filter(|_| refusals.len() < MAX_REFUSALS) else { break };
            if self.rank_for(user, requirement, &offers, offer).is_none() {
                let why = self.suits(user, requirement, offer).err();
                refusals.push((offer, why.unwrap_or_else(|| FULL.to_owned())));
            }
        }
        Err(refusals)
    }

    /// Before TOSCA 2.0 the lists of types that definitions allow were never enforced, and services rely on it: a node
    /// that suits except for them is taken, with a warning.
    fn compromise(
        &mut self,
        user: User,
        node: &Node,
        requirement: &Requirement,
        refusals: Refusals,
        problems: &mut Problems,
    ) {
        if self.model.edition().is_2() {
            return self.report(user, node, requirement, refusals, problems);
        }
        self.lenient = true;
        let offers = self.offers(user, requirement).ok();
        let found = offers.and_then(|offers| self.best(user, requirement, &offers, &mut Vec::new()));
        self.lenient = false;
        match found {
            Some(offer) => {
                let definition =
                    requirement.definition.as_ref().map_or(0, |definition| Arc::as_ptr(definition) as usize);
                if self.warned.insert(definition) {
                    let why = self.suits(user, requirement, offer).err().unwrap_or_default();
                    self.warn(node, requirement, offer, &why, problems);
                }
                self.take(user, offer);
            }
            None => self.report(user, node, requirement, refusals, problems),
        }
    }

    fn take(&mut self, user: User, offer: Offer) {
        let takes = self.requirement(user).filter(|requirement| !requirement.allocation().is_empty());
        let shares = takes.map(|requirement| self.shares(user, requirement, offer).unwrap_or_default());
        self.put(user, offer, shares);
    }

    /// Records that a requirement is met by an offer, and its allocations, if any.
    fn put(&mut self, user: User, offer: Offer, shares: Option<Vec<Share>>) {
        *self.used.entry(offer).or_default() += 1;
        self.chosen.insert(user, offer);
        if let Some(requirement) = self.requirement(user).filter(|requirement| requirement.is_counted()) {
            self.led.insert((user.0, requirement.index, offer.node));
        }
        let limited = self.capability(offer).is_some_and(|(_, capability)| capability.occurrences.upper.is_some());
        if limited || shares.is_some() {
            self.users.entry(offer).or_default().push(user);
        }
        if let Some(shares) = shares {
            self.left.change(&shares, |left, amount| left - amount);
            self.evaluator.taken.add(offer.node, offer.capability, &shares);
            self.shares_of.insert(user, shares);
        }
    }

    /// Undoes that and returns the allocations.
    fn leave(&mut self, user: User, offer: Offer) -> Option<Vec<Share>> {
        if let Some(count) = self.used.get_mut(&offer) {
            *count = count.saturating_sub(1);
        }
        if let Some(users) = self.users.get_mut(&offer) {
            users.retain(|other| *other != user);
        }
        let shares = self.shares_of.remove(&user);
        if let Some(shares) = &shares {
            self.left.change(shares, |left, amount| left + amount);
            self.evaluator.taken.remove(offer.node, offer.capability, shares);
            self.index.given_back();
            self.hopeless.clear();
        }
        if let Some(requirement) = self.requirement(user) {
            self.led.remove(&(user.0, requirement.index, offer.node));
        }
        self.passed.clear(); // what was out of the question may suit again, or stand further in front
        shares
    }

    /// The best free offer: one that still needs to be used comes first, then the one with the most room.
    fn best(
        &mut self,
        user: User,
        requirement: &Requirement,
        offers: &Offers,
        refusals: &mut Refusals,
    ) -> Option<Offer> {
        let pass = self.pass(user, requirement, offers);
        let Some(start) = pass.and_then(|pass| self.passed.get(&pass).copied()) else {
            return self.look(user, requirement, offers, None, refusals);
        };
        let mut later = Vec::new();
        let found = self.look(user, requirement, offers, Some(start), &mut later);
        if found.is_none() {
            self.passed_over(user, requirement, offers, start, refusals);
            later.truncate(MAX_REFUSALS.saturating_sub(refusals.len()));
            refusals.append(&mut later);
        }
        found
    }

    /// The key under which the offers that an assignment with a count can skip are kept. Where its amounts vary, an
    /// offer with too little left for one relationship may have enough for the next.
    fn pass(&self, user: User, requirement: &Requirement, offers: &Offers) -> Option<Pass> {
        let list = offers.list().filter(|_| requirement.is_counted() && !self.lenient)?;
        let varying = matches!(self.index.takes(offers), Takes::Varying(_));
        (!varying).then_some((user.0, requirement.index, list))
    }

    /// Why the offers up to a place were passed over, as far as reasons are kept.
    fn passed_over(
        &mut self,
        user: User,
        requirement: &Requirement,
        offers: &Offers,
        end: Place,
        refusals: &mut Refusals,
    ) {
        let mut cursor = None;
        while refusals.len() < MAX_REFUSALS {
            let Some((offer, key)) = self.index.next(offers, cursor).filter(|(_, key)| *key <= end) else { return };
            let rank = self.rank_for(user, requirement, offers, offer);
            if self.index.moved(offers, key, rank) {
                continue;
            }
            cursor = Some(key);
            if let Err(why) = self.suits(user, requirement, offer) {
                refusals.push((offer, why));
            }
        }
    }

    /// The first free offer that suits, after a position.
    fn look(
        &mut self,
        user: User,
        requirement: &Requirement,
        offers: &Offers,
        start: Option<Place>,
        refusals: &mut Refusals,
    ) -> Option<Offer> {
        if matches!(offers, Offers::Of(_)) {
            return self.look_in_node(user, requirement, offers, refusals);
        }
        // A filter may decide differently for each relationship; all other reasons hold for the next one too.
        let mut pass = self.pass(user, requirement, offers);
        let filtered = pass.is_some() && self.is_filtered(user, requirement);
        let mut cursor = start;
        while let Some((offer, key)) = self.index.next(offers, cursor) {
            if self.evaluator.is_out_of_steps() {
                return None;
            }
            self.count_look();
            let rank = self.rank_for(user, requirement, offers, offer);
            if self.index.moved(offers, key, rank) {
                continue; // it comes up again where it belongs, or not at all if it is full
            }
            cursor = Some(key);
            if self.is_chosen(user, requirement, offer, refusals) {
                return Some(offer);
            }
            pass = pass.filter(|_| !filtered || self.has_led(user, requirement, offer));
            if let Some(pass) = pass.filter(|_| self.avoided.is_empty()) {
                self.passed.insert(pass, key);
            }
        }
        None
    }

    /// The same for a single named node, whose capabilities are not kept in order: few nodes have many suitable ones.
    fn look_in_node(
        &mut self,
        user: User,
        requirement: &Requirement,
        offers: &Offers,
        refusals: &mut Refusals,
    ) -> Option<Offer> {
        let mut ranked = Vec::with_capacity(self.index.len(offers));
        for at in 0..self.index.len(offers) {
            self.count_look();
            let Some(offer) = self.index.get(offers, at) else { continue };
            let rank = self.rank_for(user, requirement, offers, offer); // nothing if it is full
            ranked.extend(rank.map(|rank| (Reverse(rank), at, offer)));
        }
        // A host takes the first suitable one.
        if !self.model.edition().is_extended() {
            ranked.sort_by_key(|(rank, at, _)| (*rank, *at));
        }
        ranked.into_iter().map(|(_, _, offer)| offer).find(|offer| self.is_chosen(user, requirement, *offer, refusals))
    }

    /// Whether an offer suits; otherwise the reason is recorded, as far as reasons are kept.
    fn is_chosen(&mut self, user: User, requirement: &Requirement, offer: Offer, refusals: &mut Refusals) -> bool {
        match self.suits(user, requirement, offer) {
            Ok(()) => return true,
            Err(why) if refusals.len() < MAX_REFUSALS => refusals.push((offer, why)),
            Err(_) => {}
        }
        false
    }

    /// The same for a requirement with allocations; none if too little is left. In a list of offers with enough left,
    /// one that has not is skipped from then on.
    fn rank_for(&mut self, user: User, requirement: &Requirement, offers: &Offers, offer: Offer) -> Option<Rank> {
        let rank = self.rank(offer)?;
        let takes = self.index.takes(offers);
        self.may_fit(user, requirement, &takes, offer).then_some(rank)
    }

    /// The preference of an offer; none if it is full.
    fn rank(&self, offer: Offer) -> Option<Rank> {
        let (_, capability) = self.capability(offer)?;
        let range = capability.occurrences;
        let Some(upper) = range.upper else {
            if range.lower == 0 {
                return Some((false, u64::MAX)); // by far the most
            }
            let used = self.used.get(&offer).copied().unwrap_or(0);
            return Some(if used < range.lower { (true, range.lower) } else { (false, u64::MAX) });
        };
        let used = self.used.get(&offer).copied().unwrap_or(0);
        match used {
            _ if used < range.lower => Some((true, range.lower)),
            _ if used < upper || self.model.quirks.has(quirks::OCCURRENCES_PERMISSIVE) => Some((false, upper)),
            _ => None,
        }
    }

    fn finish(self) -> Resolution {
        let values = |shares: Vec<Share>| shares.into_iter().map(|share| (share.name, share.value)).collect();
        let allocations = self.shares_of.into_iter().map(|(user, shares)| (user, values(shares))).collect();
        Resolution { edges: edges(self.topology, &self.chosen), taken: self.evaluator.taken, allocations }
    }
}

/// The chosen edges, per node in the order of its requirements.
fn edges(topology: &Topology, chosen: &HashMap<User, Offer, Fast>) -> Vec<Vec<Edge>> {
    let mut edges = vec![Vec::new(); topology.nodes.len()];
    let mut chosen: Vec<(User, Offer)> = chosen.iter().map(|(user, offer)| (*user, *offer)).collect();
    chosen.sort_unstable_by_key(|(key, _)| *key);
    for ((source, requirement), offer) in chosen {
        if let Some(list) = edges.get_mut(source) {
            list.push(Edge { source, requirement, target: offer.node, capability: offer.capability });
        }
    }
    edges
}
