//! Substitution: a node that requests it is replaced by a whole service of another template.
//!
//! Phase: between resolution and evaluation. A template with `substitution_mappings` is a candidate; the first one
//! whose type and filter fit, and which is sound with the node's values as its inputs, is taken. Its service is nested
//! in the node: values go in and come out as mapped, and requirements are passed on. A failure lists the candidates
//! with the reason each was refused.

mod catalogue;
mod wires;

use crate::coerce;
use crate::compile::{self, Compiled, Settings};
use crate::edition::Standard;
use crate::entity::Entity;
use crate::evaluate::{Evaluator, Key, Owner};
use crate::load::Trees;
use crate::model::Model;
use crate::multiply::{MAX_COUNTED, MAX_RELATIONSHIPS};
use crate::problem::{Problem, Problems};
use crate::render::{Inputs, MissingInputs};
use crate::resolve::Resolution;
use crate::rules;
use crate::topology::{Given, Of, Prop, Target, Topology, Which};
use crate::val::{Data, Text, Val};
use catalogue::Candidate;
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_value::Session;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(crate) use catalogue::asks_for_it;
pub use wires::{Inward, Outward};

/// A node replaced by another service.
#[derive(Debug)]
pub struct Substituted {
    /// The node, by its place in the topology.
    pub node: usize,
    /// The file of the selected template.
    pub path: String,
    /// The service inside.
    pub service: Compiled,
    /// Requirements inside that the node's own requirements meet.
    pub outward: Vec<Outward>,
    /// Inner capabilities mapped to the node's own.
    pub inward: Vec<Inward>,
}

/// Most services nested in each other, in total.
pub const MAX_SERVICES: usize = 1_000;
/// Most refused candidates shown in a message.
const SHOWN: usize = 5;

/// The state passed to nested services.
pub(crate) struct Nesting {
    /// The templates on the way, the outermost first.
    way: Vec<String>,
    /// The number of services made.
    made: usize,
    /// The number of nodes and relationships in the services used.
    nodes: u64,
    relationships: u64,
    /// Files by their path, each read once: the candidate, or none.
    known: HashMap<String, Option<Arc<Candidate>>>,
    /// Possible candidate files, by their folder or archive.
    beside: HashMap<String, Arc<[String]>>,
    /// Whether the text of a file that is not imported looks like a candidate.
    looks: HashMap<String, bool>,
    /// All files that were parsed so far.
    trees: Trees,
}

impl Nesting {
    /// The state before anything is substituted.
    pub fn new(path: &str) -> Self {
        Nesting {
            way: vec![path.to_owned()],
            made: 0,
            nodes: 0,
            relationships: 0,
            known: HashMap::new(),
            beside: HashMap::new(),
            looks: HashMap::new(),
            trees: Trees::default(),
        }
    }
}

impl Nesting {
    /// Counts the nodes and relationships of a nested service; all services together have the limits of one.
    fn count(&mut self, topology: &Topology) -> Result<(), String> {
        let relationships: usize = topology.nodes.values().map(|node| node.requirements.len()).sum();
        self.nodes = self.nodes.saturating_add(topology.nodes.len() as u64);
        self.relationships = self.relationships.saturating_add(relationships as u64);
        if self.nodes > MAX_COUNTED {
            return Err(format!("all services inside would have more than {MAX_COUNTED} nodes"));
        }
        if self.relationships > MAX_RELATIONSHIPS {
            return Err(format!("all services inside would have more than {MAX_RELATIONSHIPS} relationships"));
        }
        Ok(())
    }
}

/// The service that substitution works on.
pub(crate) struct Service<'a> {
    pub session: &'a Session,
    pub settings: &'a Settings,
    pub model: &'a Model,
    pub resolution: &'a Resolution,
}

impl Service<'_> {
    /// Substitutes all nodes that request it; the topology then has the attributes of the inner services.
    pub fn substitute(
        &self,
        mut topology: Topology,
        nesting: &mut Nesting,
        problems: &mut Problems,
    ) -> (Topology, Vec<Substituted>) {
        let mut waiting: Vec<usize> = (0..topology.nodes.len())
            .filter(|place| topology.nodes.get_index(*place).is_some_and(|(_, node)| asks_for_it(&node.template)))
            .collect();
        if waiting.is_empty() {
            return (topology, Vec::new());
        }
        let candidates = catalogue::candidates(self.session, &self.settings.options, self.model, nesting);
        let mut done = Vec::new();
        // A node's values may come from inside another one, which is then replaced first.
        while !candidates.is_empty() && !waiting.is_empty() {
            let ready = self.ready(&topology, &waiting, &candidates);
            let now: Vec<usize> = if ready.is_empty() { waiting.clone() } else { ready };
            let gone: HashSet<usize> = now.iter().copied().collect();
            waiting.retain(|place| !gone.contains(place));
            for place in now {
                match self.node(&topology, place, &candidates, nesting) {
                    Ok(Some(found)) => {
                        problems.absorb(&found.service.problems);
                        wires::attributes(&mut topology, &found, self.resolution);
                        done.push(found);
                    }
                    Ok(None) => {}
                    Err(diagnostic) => problems.push(*diagnostic),
                }
            }
        }
        done.sort_by_key(|substituted| substituted.node);
        (topology, done)
    }

    /// The nodes whose values are all known.
    fn ready(&self, topology: &Topology, waiting: &[usize], candidates: &[Arc<Candidate>]) -> Vec<usize> {
        if waiting.len() == 1 {
            return waiting.to_vec();
        }
        let mut evaluator = Evaluator::with_resolution(self.model, topology, self.resolution);
        let mut known = |place: &usize| {
            let Some((_, node)) = topology.nodes.get_index(*place) else { return true };
            let names = node.properties.keys().filter(|name| candidates.iter().any(|candidate| candidate.takes(name)));
            names
                .map(|name| Key { owner: Owner::Node(*place), attribute: false, name: name.clone() })
                .all(|key| !evaluator.force(key).is_opaque())
        };
        waiting.iter().copied().filter(|place| known(place)).collect()
    }

    /// Finds a template for a node; none if no candidate is for its type, since other tools may know one.
    fn node(
        &self,
        topology: &Topology,
        place: usize,
        candidates: &[Arc<Candidate>],
        nesting: &mut Nesting,
    ) -> Result<Option<Substituted>, Box<Diagnostic>> {
        let Some((name, node)) = topology.nodes.get_index(place) else { return Ok(None) };
        let wanted = self.model.canonical(node.node_type);
        let mut fitting: Vec<&Arc<Candidate>> =
            candidates.iter().filter(|candidate| candidate.types.contains(&wanted)).collect();
        if fitting.is_empty() {
            return Ok(None);
        }
        // The exact type comes before derived ones.
        fitting.sort_by_key(|candidate| candidate.types.first() != Some(&wanted));
        let mut refusals = Vec::new();
        for candidate in &fitting {
            match self.attempt(topology, place, candidate, nesting) {
                Ok(found) => return Ok(Some(found)),
                Err(why) => refusals.push((candidate, why)),
            }
        }
        let message = format!("no template can be substituted for `{name}`");
        let mut diagnostic = Diagnostic::at(&rules::SUBSTITUTION, node.template.at, message);
        for (candidate, why) in refusals.iter().take(SHOWN) {
            let label = format!("`{}` was considered, but {why}", candidate.path);
            diagnostic = diagnostic.label(candidate.entity.at, label);
        }
        let hint =
            format!("a template whose `substitution_mappings` are for `{}` is needed", self.model.name(node.node_type));
        Err(Box::new(diagnostic.hint(hint)))
    }

    /// Makes the service of a candidate for a node, or returns why it cannot be used.
    fn attempt(
        &self,
        topology: &Topology,
        place: usize,
        candidate: &Arc<Candidate>,
        nesting: &mut Nesting,
    ) -> Result<Substituted, String> {
        if let Some(why) = &candidate.unsound {
            return Err(format!("it is not sound in itself: {why}"));
        }
        let wrong = |problem: &&Problem| problem.diagnostic.is_error();
        if let Some(problem) = candidate.problems().list().iter().find(wrong) {
            return Err(format!("it is not sound in itself: {}", problem.diagnostic.message));
        }
        if nesting.way.contains(&candidate.path) {
            return Err("it would contain itself".to_owned());
        }
        if nesting.made >= MAX_SERVICES {
            return Err(format!("more than {MAX_SERVICES} services would be nested"));
        }
        let mut evaluator = Evaluator::with_resolution(self.model, topology, self.resolution);
        self.passes(&mut evaluator, place, candidate)?;
        let given = given(&mut evaluator, topology, place, candidate, self.resolution);
        nesting.made += 1;
        nesting.way.push(candidate.path.clone());
        let service = self.inside(candidate, given, nesting);
        nesting.way.pop();
        let first = service.problems.list().iter().find(|problem| problem.diagnostic.is_error());
        if let Some(problem) = first {
            self.model.budget.note(&problem.diagnostic);
            return Err(format!("with the values of this node it is not sound: {}", problem.diagnostic.message));
        }
        nesting.count(&service.topology)?;
        let (outward, inward) = wires::connect(topology, place, &service, self.resolution);
        // Before TOSCA 2.0 requirements were not counted.
        let lacking = wires::lacking(topology, place, &service.topology, &outward, self.resolution);
        if let Some(lacking) = lacking.filter(|_| self.model.edition().is_2()) {
            return Err(lacking);
        }
        Ok(Substituted { node: place, path: candidate.path.clone(), service, outward, inward })
    }

    /// Whether the node passes the candidate's filter.
    fn passes(&self, evaluator: &mut Evaluator<'_>, place: usize, candidate: &Candidate) -> Result<(), String> {
        for clause in candidate.entity.clauses("substitution_filter") {
            if let Some(part) = evaluator.node_condition_fails(place, clause) {
                let excerpt = candidate.model.excerpt(part.span);
                return Err(format!("the node does not pass `{excerpt}` of its filter"));
            }
        }
        let Some(filter) = candidate.entity.one("substitution_filter") else { return Ok(()) };
        for (name, clauses) in crate::render::property_filters(filter) {
            if !evaluator.node_property_holds(place, name, clauses) {
                return Err(format!("the node's property `{name}` does not pass its filter"));
            }
        }
        for capability in filter.list("capabilities") {
            for (name, clauses) in crate::render::property_filters(capability) {
                if !evaluator.capability_property_holds(place, &capability.name, name, clauses) {
                    let of = &capability.name;
                    return Err(format!(
                        "the property `{name}` of the node's capability `{of}` does not pass its filter"
                    ));
                }
            }
        }
        Ok(())
    }

    fn inside(&self, candidate: &Candidate, given: Values, nesting: &mut Nesting) -> Compiled {
        let settings = Settings { inputs: given.inputs, missing: Some(MissingInputs::Refuse), ..self.settings.clone() };
        let problems = candidate.problems().clone();
        compile::service(self.session, candidate.model.clone(), &settings, &given.properties, nesting, problems)
    }
}

/// Values passed to a service: inputs, and properties of its nodes.
#[derive(Default)]
struct Values {
    inputs: Inputs,
    properties: Vec<Assigned>,
}

/// A value for a property of a node inside.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    node: EcoString,
    property: EcoString,
    value: Val,
}

/// Puts values from outside into the nodes of a service.
pub(crate) fn assign(model: &Model, topology: &mut Topology, assigned: &[Assigned]) {
    for Assigned { node, property, value } in assigned {
        let Some(node) = topology.nodes.get_mut(node) else { continue };
        let declared = || model.complete(node.node_type)?.named("properties", property).cloned();
        let definition = match node.properties.get(property) {
            Some(prop) => prop.definition.clone(),
            None => declared(),
        };
        let data_type =
            definition.as_ref().and_then(|definition| model.type_of(definition, "type", crate::entities::DATA_TYPE));
        let at = node.template.at;
        let prop = Prop { value: value.clone(), definition, data_type, at, given: Given::Input };
        Arc::make_mut(node).properties.insert(property.clone(), prop);
    }
}

/// The inputs that the node gives to the inner service.
fn given(
    evaluator: &mut Evaluator<'_>,
    topology: &Topology,
    place: usize,
    candidate: &Candidate,
    resolution: &Resolution,
) -> Values {
    let mut out = Values::default();
    let Some((_, node)) = topology.nodes.get_index(place) else { return out };
    for (of, name, target) in &candidate.properties {
        let key = |owner: Owner| Key { owner, attribute: false, name: name.clone() };
        let value = match of {
            Of::Node => evaluator.value_of(key(Owner::Node(place))),
            Of::Capability(capability) => {
                let at = node.capabilities.get_index_of(capability);
                at.and_then(|at| evaluator.value_of(key(Owner::Capability(place, at))))
            }
            Of::Relationship(requirement, which) => {
                let met = wires::met(node, place, resolution).remove(requirement).unwrap_or_default();
                let values = which.of(&met).iter();
                let mut values: Vec<Val> =
                    values.filter_map(|at| evaluator.value_of(key(Owner::Relationship(place, *at)))).collect();
                match which {
                    Which::All => Some(Val::new(Data::List(Arc::new(values)), node.template.at)),
                    Which::At(_) => values.pop(),
                }
            }
        };
        let Some(value) = value else { continue };
        match target {
            Target::Input(input) => {
                out.inputs.insert(input.clone(), value);
            }
            Target::Node(node, property) => {
                out.properties.push(Assigned { node: node.clone(), property: property.clone(), value });
            }
            _ => {}
        }
    }
    out
}

impl Evaluator<'_> {
    /// A value in source form, if it has one.
    fn value_of(&mut self, key: Key) -> Option<Val> {
        self.exists(&key).then(|| coerce::written(&self.force(key)))
    }
}

/// The node type that a template can replace.
fn mapped_type(entity: &Entity) -> Option<&Text> {
    entity.text("node_type")
}
