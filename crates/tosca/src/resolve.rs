//! Phase 6, resolution: which capability of which node meets which requirement.
//!
//! Deterministic: nodes by name, requirements in order. Candidates are found by index, not by looking at every node.
//! Where taking the best candidate first leads nowhere although a solution exists, earlier choices are moved. A
//! failure says which candidates there were and why each was refused.

use crate::entity::Entity;
use crate::evaluate::Evaluator;
use crate::model::Model;
use crate::names::DeclId;
use crate::problem::Problems;
use crate::quirks;
use crate::rules;
use crate::topology::{Capability, Node, Requirement, Target, Topology};
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use std::collections::{HashMap, HashSet};

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
}

impl Resolution {
    /// The edge that meets a requirement.
    pub fn edge(&self, source: usize, requirement: usize) -> Option<&Edge> {
        self.edges.get(source)?.iter().find(|edge| edge.requirement == requirement)
    }
}

/// A capability of a node, as a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Offer {
    node: usize,
    capability: usize,
}

struct Index {
    /// Offers by capability type, ancestors included; nodes and capabilities in name order.
    by_capability: HashMap<DeclId, Vec<Offer>>,
    /// All offers of a node.
    by_node: Vec<Vec<Offer>>,
    all: Vec<Offer>,
}

struct Resolver<'a, 'e> {
    model: &'a Model,
    topology: &'a Topology,
    index: Index,
    taken: HashMap<Offer, u64>,
    /// Offers that must be used at least so often.
    minimums: bool,
    evaluator: &'e mut Evaluator<'a>,
    chosen: HashMap<(usize, usize), Offer>,
}

/// Matches requirements with capabilities.
pub fn resolve(model: &Model, topology: &Topology, problems: &mut Problems) -> Resolution {
    let mut evaluator = Evaluator::new(model, topology);
    let index = index(model, topology);
    let minimums = topology
        .nodes
        .values()
        .any(|node| node.capabilities.values().any(|capability| capability.occurrences.lower > 0));
    let mut resolver = Resolver {
        model,
        topology,
        index,
        taken: HashMap::new(),
        minimums,
        evaluator: &mut evaluator,
        chosen: HashMap::new(),
    };
    let mapped = mapped_requirements(topology);
    for source in by_name(topology) {
        let Some((name, node)) = topology.nodes.get_index(source) else { continue };
        for (at, requirement) in node.requirements.iter().enumerate() {
            if mapped.contains(&(name.clone(), requirement.name.clone())) {
                continue;
            }
            if let Err(refusals) = resolver.satisfy(source, at, requirement) {
                resolver.report(node, requirement, refusals, problems);
            }
        }
    }
    resolver.check_minimums(problems);
    resolver.finish()
}

fn by_name(topology: &Topology) -> Vec<usize> {
    let mut order: Vec<usize> = (0..topology.nodes.len()).collect();
    order.sort_by_key(|index| topology.nodes.get_index(*index).map(|(name, _)| name));
    order
}

fn index(model: &Model, topology: &Topology) -> Index {
    let mut out =
        Index { by_capability: HashMap::new(), by_node: vec![Vec::new(); topology.nodes.len()], all: Vec::new() };
    for node in by_name(topology) {
        let Some((_, rendered)) = topology.nodes.get_index(node) else { continue };
        let mut capabilities: Vec<(usize, &EcoString, &Capability)> = rendered
            .capabilities
            .iter()
            .enumerate()
            .map(|(at, (name, capability))| (at, name, capability.as_ref()))
            .collect();
        capabilities.sort_by_key(|(_, name, _)| *name);
        for (capability, _, offered) in capabilities {
            let offer = Offer { node, capability };
            out.all.push(offer);
            if let Some(list) = out.by_node.get_mut(node) {
                list.push(offer);
            }
            for id in offered.capability_type.into_iter().flat_map(|id| model.hierarchy.lineage(id)) {
                out.by_capability.entry(id).or_default().push(offer);
            }
        }
    }
    out
}

/// Requirements that whoever uses the service as a node will meet.
fn mapped_requirements(topology: &Topology) -> HashSet<(EcoString, EcoString)> {
    let mappings = topology.substitution.iter().flat_map(|substitution| &substitution.mappings);
    mappings
        .filter(|mapping| mapping.part == crate::topology::Part::Requirement)
        .filter_map(|mapping| match &mapping.target {
            Target::Node(node, name) => Some((node.clone(), name.clone())),
            _ => None,
        })
        .collect()
}

impl Resolver<'_, '_> {
    fn node(&self, offer: Offer) -> Option<(&EcoString, &Node)> {
        self.topology.nodes.get_index(offer.node)
    }

    fn capability(&self, offer: Offer) -> Option<(&EcoString, &Capability)> {
        let (name, capability) = self.node(offer)?.1.capabilities.get_index(offer.capability)?;
        Some((name, capability))
    }

    fn satisfy(&mut self, source: usize, at: usize, requirement: &Requirement) -> Result<(), Vec<(Offer, String)>> {
        let mut refusals = Vec::new();
        if let Some(offer) = self.best(source, requirement, &mut refusals) {
            self.take(source, at, offer);
            return Ok(());
        }
        // Somebody else may have taken what only this one can use.
        let full: Vec<Offer> = refusals.iter().filter(|(_, why)| why == FULL).map(|(offer, _)| *offer).collect();
        for offer in full {
            if self.make_room(offer, &mut HashSet::new(), 0) {
                self.take(source, at, offer);
                return Ok(());
            }
        }
        Err(refusals)
    }

    fn take(&mut self, source: usize, at: usize, offer: Offer) {
        *self.taken.entry(offer).or_default() += 1;
        self.chosen.insert((source, at), offer);
    }

    /// Moves one of an offer's users to another offer, moving further users if need be.
    fn make_room(&mut self, offer: Offer, seen: &mut HashSet<Offer>, depth: u32) -> bool {
        if depth > 100 || !seen.insert(offer) {
            return false;
        }
        let mut users: Vec<(usize, usize)> =
            self.chosen.iter().filter(|(_, taken)| **taken == offer).map(|(user, _)| *user).collect();
        users.sort_unstable();
        for (source, at) in users {
            let Some(requirement) =
                self.topology.nodes.get_index(source).and_then(|(_, node)| node.requirements.get(at))
            else {
                continue;
            };
            let mut refusals = Vec::new();
            let other = self.best(source, requirement, &mut refusals).or_else(|| {
                let full: Vec<Offer> = refusals
                    .iter()
                    .filter(|(other, why)| why == FULL && *other != offer)
                    .map(|(other, _)| *other)
                    .collect();
                full.into_iter().find(|other| self.make_room(*other, seen, depth + 1))
            });
            if let Some(other) = other.filter(|other| *other != offer) {
                if let Some(count) = self.taken.get_mut(&offer) {
                    *count = count.saturating_sub(1);
                }
                self.take(source, at, other);
                return true;
            }
        }
        false
    }

    /// The best free offer: one that still needs to be used comes first, then the one with the most room.
    fn best(&mut self, source: usize, requirement: &Requirement, refusals: &mut Vec<(Offer, String)>) -> Option<Offer> {
        let mut best: Option<(Offer, (bool, u64))> = None;
        for at in 0..self.candidates(requirement).len() {
            let Some(offer) = self.candidates(requirement).get(at).copied() else { break };
            if let Err(why) = self.fits(source, requirement, offer) {
                if refusals.len() < 50 || why == FULL {
                    refusals.push((offer, why));
                }
                continue;
            }
            let rank = self.rank(offer);
            if best.is_none_or(|(_, known)| rank > known) {
                best = Some((offer, rank));
            }
            if !self.minimums && rank == (false, u64::MAX) {
                break; // nothing can be better
            }
        }
        best.map(|(offer, _)| offer)
    }

    fn rank(&self, offer: Offer) -> (bool, u64) {
        let Some((_, capability)) = self.capability(offer) else { return (false, 0) };
        let range = capability.occurrences;
        let used = self.taken.get(&offer).copied().unwrap_or(0);
        if used < range.lower { (true, range.lower) } else { (false, range.upper.unwrap_or(u64::MAX)) }
    }

    fn candidates(&self, requirement: &Requirement) -> &[Offer] {
        if let Some(named) = &requirement.node_template {
            let node = self.topology.nodes.get_index_of(&named.text);
            return node.and_then(|node| self.index.by_node.get(node)).map(Vec::as_slice).unwrap_or(&[]);
        }
        match requirement.capability_type {
            Some(id) => self.index.by_capability.get(&id).map(Vec::as_slice).unwrap_or(&[]),
            None => &self.index.all,
        }
    }

    fn fits(&mut self, source: usize, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        let (Some((_, node)), Some((name, capability))) = (self.node(offer), self.capability(offer)) else {
            return Err(String::new());
        };
        let (node_type, range) = (node.node_type, capability.occurrences);
        if let Some(wanted) = requirement.node_type
            && !self.model.hierarchy.is_a(node_type, wanted)
        {
            return Err(format!("it is a `{}`, not a `{}`", self.model.name(node_type), self.model.name(wanted)));
        }
        if let Some(wanted) = &requirement.capability_name
            && wanted.text != *name
        {
            return Err(format!("its capability is called `{name}`, not `{}`", wanted.text));
        }
        if let Some(wanted) = requirement.capability_type
            && !capability.capability_type.is_some_and(|id| self.model.hierarchy.is_a(id, wanted))
        {
            let found = capability.capability_type.map(|id| self.model.name(id)).unwrap_or_default();
            return Err(format!("its capability `{name}` is a `{found}`, not a `{}`", self.model.name(wanted)));
        }
        let used = self.taken.get(&offer).copied().unwrap_or(0);
        if range.upper.is_some_and(|upper| used >= upper) && !self.model.quirks.has(quirks::OCCURRENCES_PERMISSIVE) {
            return Err(FULL.to_owned());
        }
        self.filters(source, requirement, offer)
    }

    /// The filters of the requirement, and of the template it belongs to.
    fn filters(&mut self, source: usize, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        let template = self.topology.nodes.get_index(source).map(|(_, node)| &node.template);
        let own = requirement.assignment.as_ref().and_then(|assignment| assignment.one("node_filter"));
        let of_template = template.and_then(|template| template.one("node_filter"));
        for filter in own.into_iter().chain(of_template) {
            self.filter(filter, offer)?;
        }
        Ok(())
    }

    fn filter(&mut self, filter: &Entity, offer: Offer) -> Result<(), String> {
        for (name, clauses) in crate::render::property_filters(filter) {
            if !self.evaluator.node_property_holds(offer.node, name, clauses) {
                return Err(format!("its property `{name}` does not pass the node filter"));
            }
        }
        for capability_filter in filter.list("capabilities") {
            let wanted = &capability_filter.name;
            for (name, clauses) in crate::render::property_filters(capability_filter) {
                if !self.evaluator.capability_property_holds(offer.node, wanted, name, clauses) {
                    return Err(format!(
                        "the property `{name}` of its capability `{wanted}` does not pass the node filter"
                    ));
                }
            }
        }
        Ok(())
    }

    fn report(&self, node: &Node, requirement: &Requirement, refusals: Vec<(Offer, String)>, problems: &mut Problems) {
        let optional = requirement.optional || self.may_stay_open(requirement);
        if optional {
            return;
        }
        let name = &node.template.name;
        let message = match &requirement.node_template {
            Some(named) => format!("`{}` does not meet the requirement `{}` of `{name}`", named.text, requirement.name),
            None if refusals.is_empty() => {
                format!("no node can meet the requirement `{}` of `{name}`", requirement.name)
            }
            None => format!("no node meets the requirement `{}` of `{name}`", requirement.name),
        };
        let mut diagnostic = Diagnostic::at(&rules::UNRESOLVED, requirement.at, message);
        for (offer, why) in refusals.iter().take(5) {
            if let Some((name, node)) = self.node(*offer) {
                diagnostic = diagnostic.label(node.template.at, format!("`{name}` was considered, but {why}"));
            }
        }
        if refusals.is_empty() {
            let wanted = requirement.capability_type.map(|id| self.model.name(id));
            diagnostic = diagnostic
                .maybe_hint(wanted.map(|wanted| format!("a node with a capability of type `{wanted}` is needed")));
        }
        let beyond = if requirement.assignment.is_none() {
            ecow::eco_format!(".requirements{{{}}}", requirement.index)
        } else {
            EcoString::new()
        };
        problems.add(crate::problem::Problem { diagnostic, beyond });
    }

    /// In TOSCA 2.0, what no node of the service meets may be met by another service.
    fn may_stay_open(&self, requirement: &Requirement) -> bool {
        if !self.model.edition().is_2() || requirement.node_template.is_some() {
            return false;
        }
        let directives =
            requirement.assignment.as_ref().map(|assignment| assignment.texts("directives")).unwrap_or(&[]);
        !(directives.len() == 1 && directives.iter().any(|directive| directive.text == "internal"))
    }

    fn check_minimums(&self, problems: &mut Problems) {
        if self.model.quirks.has(quirks::OCCURRENCES_PERMISSIVE) || !self.minimums {
            return;
        }
        for offer in &self.index.all {
            let (Some((node_name, node)), Some((name, capability))) = (self.node(*offer), self.capability(*offer))
            else {
                continue;
            };
            let used = self.taken.get(offer).copied().unwrap_or(0);
            if used < capability.occurrences.lower {
                let message = format!(
                    "the capability `{name}` of `{node_name}` must be used {} times, but it is used {used} times",
                    capability.occurrences
                );
                let at = capability.at.unwrap_or(node.template.at);
                let beyond = if capability.at.is_some() {
                    EcoString::new()
                } else {
                    ecow::eco_format!(".capabilities[\"{name}\"]")
                };
                problems.beyond(&rules::UNRESOLVED, at, beyond, message);
            }
        }
    }

    fn finish(self) -> Resolution {
        let mut edges = vec![Vec::new(); self.topology.nodes.len()];
        let mut chosen: Vec<((usize, usize), Offer)> = self.chosen.into_iter().collect();
        chosen.sort_unstable_by_key(|(key, _)| *key);
        for ((source, requirement), offer) in chosen {
            if let Some(list) = edges.get_mut(source) {
                list.push(Edge { source, requirement, target: offer.node, capability: offer.capability });
            }
        }
        Resolution { edges }
    }
}

/// Why an offer that fits was refused.
const FULL: &str = "as many relationships as allowed lead to it already";
