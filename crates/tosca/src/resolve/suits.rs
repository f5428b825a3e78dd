//! Whether an offer suits a requirement, apart from how often it is used already.

use super::index::{Offer, Offers, Takes, Wanted};
use super::{Fast, Refusals, Resolver, Turn, User};
use crate::entities;
use crate::entity::Entity;
use crate::names::DeclId;
use crate::topology::Requirement;
use crate::val::{Data, Val};
use purlin_model::Kind;
use std::collections::HashMap;
use std::sync::Arc;

/// Most levels of conditions that are searched.
const MAX_DEPTH: u32 = purlin_syntax::limits::VALUE_LEVELS;

/// The types that a definition lists, by the definition and the list's name.
pub(super) type Lists = HashMap<(usize, &'static str), Arc<[DeclId]>, Fast>;

impl Requirement {
    /// Whether it is one of several relationships of one assignment, each of which leads to another node.
    pub(crate) fn is_counted(&self) -> bool {
        self.assignment.as_ref().is_some_and(|assignment| assignment.slot("count").is_some())
    }

    /// Its place in the order of resolution.
    pub(super) fn turn(&self) -> Turn {
        if self.optional {
            return Turn::Optional;
        }
        let filters = [&self.definition, &self.assignment];
        let mut clauses = filters.into_iter().flatten().flat_map(|entity| entity.clauses("node_filter"));
        if clauses.any(|clause| follows_relationships(clause, 0)) {
            return Turn::Relying;
        }
        let naming = self.node_template.is_some() && !self.allocation().is_empty();
        if naming { Turn::Naming } else { Turn::Usual }
    }

    /// Whether conditions other than types restrict its candidates.
    pub(super) fn has_filter(&self) -> bool {
        let filtered = |entity: &Option<Arc<Entity>>| entity.as_ref().is_some_and(|e| e.slot("node_filter").is_some());
        filtered(&self.assignment) || filtered(&self.definition)
    }
}

/// Whether a condition follows relationships other than the considered one.
fn follows_relationships(value: &Val, depth: u32) -> bool {
    let within = |part: &Val| depth < MAX_DEPTH && follows_relationships(part, depth + 1);
    match &value.data {
        Data::Call(call) => call.args.iter().any(|arg| arg.as_str() == Some("RELATIONSHIP") || within(arg)),
        Data::List(items) => items.iter().any(within),
        _ => false,
    }
}

impl Resolver<'_> {
    /// The offers that a requirement can choose from.
    pub(super) fn offers(&mut self, user: User, requirement: &Requirement) -> Result<Offers, Refusals> {
        let wanted = self.wanted(user, requirement)?;
        Ok(self.find(user, requirement, wanted))
    }

    /// The conditions of a requirement.
    pub(super) fn wanted(&mut self, user: User, requirement: &Requirement) -> Result<Wanted, Refusals> {
        let mut wanted = Wanted {
            nodes: None,
            node_type: requirement.node_type,
            capability_type: requirement.capability_type,
            capability_name: requirement.capability_name.as_ref().map(|name| name.text.clone()),
            takes: Takes::Nothing,
        };
        if let Some(named) = &requirement.node_template {
            let nodes = self.topology.places(&named.text);
            let nodes = match self.node_index(user, requirement) {
                Some(index) if index < nodes.len() => nodes.start + index..nodes.start + index + 1,
                Some(_) => return Err(Vec::new()),
                None => nodes,
            };
            wanted.nodes = Some((nodes.start, nodes.end));
        }
        if wanted.single().is_none() {
            wanted.takes = self.takes(user, requirement);
        }
        Ok(wanted)
    }

    pub(super) fn find(&mut self, user: User, requirement: &Requirement, wanted: Wanted) -> Offers {
        if let Some(node) = wanted.single() {
            return Offers::Of(node); // the usual case needs no list
        }
        let takes = wanted.takes.clone();
        let mut index = std::mem::take(&mut self.index);
        let offers = index.find(self.topology, &self.model.hierarchy, wanted, |offer| {
            self.count_look();
            let rank = self.rank(offer)?;
            self.may_fit(user, requirement, &takes, offer).then_some(rank)
        });
        self.index = index;
        offers
    }

    /// The index among several nodes of one template.
    fn node_index(&mut self, user: User, requirement: &Requirement) -> Option<usize> {
        let written = requirement.node_index.as_ref()?;
        let value = self.evaluator.in_relationship(user.0, user.1, written)?;
        match value.data {
            Data::Int(index) => Some(usize::try_from(index).unwrap_or(usize::MAX)),
            _ => None,
        }
    }

    /// Whether an offer suits; otherwise why not.
    pub(super) fn suits(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        self.would_suit(user, requirement, offer)?;
        self.check_enough(user, requirement, offer)
    }

    /// Whether an offer would suit if no other requirement used it.
    pub(super) fn would_suit(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        let (Some((_, node)), Some((name, capability))) = (self.node(offer), self.capability(offer)) else {
            return Err(String::new());
        };
        let model = self.model;
        if self.avoided.contains(&offer) {
            return Err("it is to be left".to_owned());
        }
        if offer.node == user.0 && requirement.node_template.is_none() && !model.lets_nodes_meet_themselves() {
            return Err("a node does not meet its own requirement, unless it names itself".to_owned());
        }
        if self.has_led(user, requirement, offer) {
            return Err("another relationship of the same requirement leads to it already".to_owned());
        }
        if let Some(wanted) = requirement.node_type
            && !model.hierarchy.is_a(node.node_type, wanted)
        {
            return Err(format!("it is a `{}`, not a `{}`", model.name(node.node_type), model.name(wanted)));
        }
        if let Some(wanted) = &requirement.capability_name
            && wanted.text != *name
        {
            return Err(format!("its capability is called `{name}`, not `{}`", wanted.text));
        }
        if let Some(wanted) = requirement.capability_type
            && !capability.capability_type.is_some_and(|id| model.hierarchy.is_a(id, wanted))
        {
            let found = capability.capability_type.map(|id| model.name(id)).unwrap_or_default();
            return Err(format!("its capability `{name}` is a `{found}`, not a `{}`", model.name(wanted)));
        }
        if !self.lenient {
            self.allowed(user, requirement, offer)?;
        }
        self.filters(user, requirement, offer)
    }

    /// Whether another relationship of the same assignment already leads to the node.
    pub(super) fn has_led(&self, user: User, requirement: &Requirement, offer: Offer) -> bool {
        self.led.contains(&(user.0, requirement.index, offer.node))
    }

    /// Whether a filter of the requirement, or of its template, decides.
    pub(super) fn is_filtered(&self, user: User, requirement: &Requirement) -> bool {
        let template = self.topology.nodes.get_index(user.0).map(|(_, node)| &node.template);
        requirement.has_filter() || template.is_some_and(|template| template.slot("node_filter").is_some())
    }

    /// Capabilities and relationships may list compatible types.
    fn allowed(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        let (Some((_, target)), Some((name, capability))) = (self.node(offer), self.capability(offer)) else {
            return Ok(());
        };
        let Some((source_name, source)) = self.topology.nodes.get_index(user.0) else { return Ok(()) };
        let relationship = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
        let definition = &capability.definition;
        self.listed(definition, "valid_source_node_types", entities::NODE_TYPE, Some(source.node_type)).map_err(
            |list| {
                let found = self.model.name(source.node_type);
                format!("its capability `{name}` is only for nodes of type {list}, and `{source_name}` is a `{found}`")
            },
        )?;
        self.listed(definition, "valid_relationship_types", entities::RELATIONSHIP_TYPE, relationship)
            .map_err(|list| format!("its capability `{name}` is only for relationships of type {list}"))?;
        let Some(complete) = relationship.and_then(|id| self.model.complete(id)) else { return Ok(()) };
        let tie = relationship.map(|id| self.model.name(id)).unwrap_or_default();
        self.listed(complete, "valid_capability_types", entities::CAPABILITY_TYPE, capability.capability_type)
            .map_err(|list| format!("a `{tie}` leads to capabilities of type {list}, and `{name}` is none"))?;
        self.listed(complete, "valid_target_node_types", entities::NODE_TYPE, Some(target.node_type))
            .map_err(|list| format!("a `{tie}` leads to nodes of type {list}"))?;
        self.listed(complete, "valid_source_node_types", entities::NODE_TYPE, Some(source.node_type))
            .map_err(|list| format!("a `{tie}` starts from nodes of type {list}, and `{source_name}` is none"))
    }

    /// Whether a definition's list contains a type; otherwise the list.
    fn listed(
        &mut self,
        definition: &Arc<Entity>,
        slot: &'static str,
        kind: Kind,
        found: Option<DeclId>,
    ) -> Result<(), String> {
        let names = definition.texts(slot);
        if names.is_empty() {
            return Ok(());
        }
        let model = self.model;
        let list = self
            .lists
            .entry((Arc::as_ptr(definition) as usize, slot))
            .or_insert_with(|| names.iter().filter_map(|name| model.find(kind, name)).collect());
        let Some(found) = found.filter(|_| !list.is_empty()) else { return Ok(()) };
        if list.iter().any(|id| model.hierarchy.is_a(found, *id)) {
            return Ok(());
        }
        let list: Vec<String> = list.iter().map(|id| format!("`{}`", model.name(*id))).collect();
        Err(list.join(" or "))
    }

    /// The filters of the requirement, and of its template.
    fn filters(&mut self, user: User, requirement: &Requirement, offer: Offer) -> Result<(), String> {
        let template = self.topology.nodes.get_index(user.0).map(|(_, node)| node.template.clone());
        let own = requirement.assignment.as_ref();
        let old = own.and_then(|assignment| assignment.one("node_filter"));
        let of_template = template.as_ref().and_then(|template| template.one("node_filter"));
        if self.is_filtered(user, requirement) && !self.evaluator.can_afford_candidate(requirement.at) {
            return Err("it was not looked at, since no steps are left".to_owned());
        }
        for filter in old.into_iter().chain(of_template) {
            self.filter(filter, offer)?;
        }
        let in_definition = requirement.definition.as_ref().map(|found| found.clauses("node_filter")).unwrap_or(&[]);
        let in_assignment = own.map(|assignment| assignment.clauses("node_filter")).unwrap_or(&[]);
        if in_definition.is_empty() && in_assignment.is_empty() {
            return Ok(());
        }
        let edge =
            super::Edge { source: user.0, requirement: user.1, target: offer.node, capability: offer.capability };
        if self.folded.user != Some(user) {
            let clauses = in_definition.iter().chain(in_assignment).cloned().collect();
            self.folded = super::Folded { user: Some(user), asked: 0, clauses };
        }
        // The first candidate may be the only one.
        self.folded.asked += 1;
        if self.folded.asked == 2 {
            let clauses = self.folded.clauses.clone();
            self.folded.clauses = clauses.iter().map(|clause| self.evaluator.folded(edge.clone(), clause)).collect();
        }
        for clause in self.folded.clauses.clone().iter() {
            self.condition(edge.clone(), clause)?;
        }
        Ok(())
    }

    /// A filter of TOSCA 1.x.
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

    /// A filter of TOSCA 2.0: a condition on the relationship as it would be.
    fn condition(&mut self, edge: super::Edge, clause: &Val) -> Result<(), String> {
        match self.evaluator.condition_fails(edge, clause) {
            Some(part) => Err(format!("it does not pass `{}` of the node filter", self.model.excerpt(part.span))),
            None => Ok(()),
        }
    }
}
