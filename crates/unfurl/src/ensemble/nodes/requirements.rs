//! Resolution where Unfurl's rules differ from TOSCA's: a named node counts whatever its type, all suitable nodes meet
//! a requirement unless `occurrences` allows fewer, and requirements of types that are not assigned may stay open.

use crate::ensemble::build::{ABSTRACT, is_deployed};
use crate::ensemble::filters;
use crate::ensemble::nested::MADE;
use crate::limits::MAX_FITTING;
use crate::rules;
use ecow::{EcoString, eco_format};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Severity, Span, suggest};
use purlin_tosca::entities;
use purlin_tosca::entity::{Entity, Range};
use purlin_tosca::model::Model;
use purlin_tosca::names::DeclId;
use purlin_tosca::problem::{Problem, Problems};
use purlin_tosca::resolve::{self, Edge, Resolution};
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::topology::{Node, Requirement, Topology};
use purlin_tosca::val::{Text, Val};
use purlin_value::fast::FastSet;
use std::collections::HashMap;
use std::sync::Arc;

/// The capability that every node has.
const FEATURE: &str = "feature";

/// Templates with this directive are used only where no other is suitable.
const DEFAULT: &str = "default";

/// What stops a job that runs an operation of a node: an open requirement, by the node's name.
pub type Unmet = Vec<(EcoString, Diagnostic)>;

/// Matches requirements with capabilities, and sets the values of filters on their targets. If the ensemble is deployed,
/// open requirements of nodes with operations are returned: whether they are errors depends on what the job runs.
pub fn resolve(model: &Model, topology: &mut Topology, deploys: bool, problems: &mut Problems) -> (Resolution, Unmet) {
    let mut unmet = Unmet::new();
    let mut unresolved = Problems::new();
    let mut resolution = resolve::resolve(model, topology, &mut unresolved);
    let mut told: HashMap<_, &Diagnostic> = HashMap::new();
    for problem in unresolved.list() {
        told.insert(problem.diagnostic.span, &problem.diagnostic);
    }
    let mut of_type: HashMap<DeclId, Vec<usize>> = HashMap::new();
    for (at, node) in topology.nodes.values().enumerate() {
        of_type.entry(node.node_type).or_default().push(at);
    }
    let mut further = 0;
    for (source, node) in topology.nodes.values().enumerate() {
        let found = resolution.edges.get(source).cloned().unwrap_or_default();
        let mut edges = Vec::with_capacity(found.len());
        let mut taken = named_targets(topology, node);
        for (at, requirement) in node.requirements.iter().enumerate() {
            if fills_up(node, at) {
                continue;
            }
            filters::report_malformed(requirement, problems);
            if asks_for_nothing(model, requirement) {
                if !is_optional(requirement) {
                    problems.push(nothing_asked(node, requirement));
                }
                continue;
            }
            let matching = Matching {
                model,
                topology,
                of_type: &of_type,
                resolution: &resolution,
                taken: &taken,
                source,
                at,
                requirement,
            };
            match matching.edges(found.iter().find(|edge| edge.requirement == at)) {
                Ok(met) if !met.is_empty() => {
                    let before = further;
                    further += met.len() - 1;
                    let all = further <= MAX_FITTING;
                    if node.requirements.len() > 1 {
                        taken.extend(met.iter().map(|edge| (requirement.name.as_str(), edge.target)));
                    }
                    edges.extend(met.into_iter().take(if all { usize::MAX } else { 1 }));
                    if !all && before <= MAX_FITTING {
                        problems.push(too_many_fit(node, requirement));
                    }
                }
                // Requirements of TOSCA's own types may stay open.
                _ if may_stay_open(model, node, requirement) => {}
                Ok(_) => {
                    let told = told.get(&Some(requirement.at)).copied();
                    report(model, node, requirement, told, deploys.then_some(&mut unmet), problems);
                }
                Err(own) => {
                    let told = told.get(&Some(requirement.at)).filter(|told| told.is_error());
                    problems.push(told.map_or(*own, |told| (*told).clone()));
                }
            }
        }
        if let Some(slot) = resolution.edges.get_mut(source) {
            *slot = edges;
        }
    }
    let set = filters::apply(model, topology, &resolution);
    forgive_set(topology, &set, problems);
    forgive_optional(model, topology, problems);
    (resolution, unmet)
}

/// The nodes that a node's requirements name, where there are several requirements.
fn named_targets<'a>(topology: &Topology, node: &'a Node) -> FastSet<(&'a str, usize)> {
    if node.requirements.len() < 2 {
        return FastSet::default();
    }
    let target = |requirement: &'a Requirement| {
        let named = requirement.node_template.as_ref()?;
        Some((requirement.name.as_str(), topology.nodes.get_index_of(&named.text)?))
    };
    node.requirements.iter().filter_map(target).collect()
}

/// Whether the name of a requirement's node is similar to that of a node: then a mistake is likelier than an open
/// requirement.
fn is_misspelt(topology: &Topology, assigned: &Entity) -> bool {
    let named = assigned.text("node").map(|name| name.text.as_str()).unwrap_or_default();
    suggest::nearest(named, topology.nodes.keys().map(EcoString::as_str)).is_some()
}

/// The node type of software components.
const SOFTWARE: &str = "tosca.nodes.SoftwareComponent";

/// An optional requirement may name a node that does not exist: it stays open, with a warning.
fn forgive_optional(model: &Model, topology: &Topology, problems: &mut Problems) {
    let mut places: HashMap<Span, (&Node, &Requirement)> = HashMap::new();
    for node in topology.nodes.values() {
        for requirement in &node.requirements {
            let assigned = requirement.assignment.as_ref().filter(|assigned| assigned.text("node").is_some());
            let Some(assigned) = assigned else { continue };
            let optional = is_optional(requirement) || is_host_of_software(model, node, requirement);
            if optional && names_nothing(model, requirement) && !is_misspelt(topology, assigned) {
                places.insert(assigned.place("node"), (&**node, requirement));
            }
        }
    }
    if places.is_empty() {
        return;
    }
    let found = |problem: &Problem| {
        let diagnostic = &problem.diagnostic;
        let here = diagnostic.span.filter(|_| diagnostic.rule.name == tosca_rules::UNKNOWN_NAME.name);
        here.and_then(|span| places.get(&span))
    };
    for forgiven in problems.set_aside(|problem| found(problem).is_some()) {
        let Some((node, requirement)) = found(&forgiven) else { continue };
        let named = requirement.assignment.as_ref().and_then(|assigned| assigned.text("node"));
        let named = named.map(|name| name.text.as_str()).unwrap_or_default();
        let mut warning = open(node, requirement, &format!("no node template or node type is called `{named}`"));
        warning.hints = forgiven.diagnostic.hints;
        problems.push(warning);
    }
}

/// A required property that a filter sets is not missing.
fn forgive_set(topology: &Topology, set: &[(EcoString, EcoString)], problems: &mut Problems) {
    if set.is_empty() {
        return;
    }
    let is_set = |problem: &Problem| {
        problem.diagnostic.rule.name == tosca_rules::UNASSIGNED.name
            && set.iter().any(|(node, property)| {
                let template = topology.nodes.get(node).map(|node| &node.template);
                let places = template.map(|template| [template.at, template.place("properties")]);
                let here = problem.diagnostic.span.zip(places).is_some_and(|(span, places)| places.contains(&span));
                here && problem.beyond.ends_with(eco_format!("[\"{property}\"]").as_str())
            })
    };
    problems.set_aside(is_set);
}

fn too_many_fit(node: &Node, requirement: &Requirement) -> Diagnostic {
    let message = format!(
        "more than {MAX_FITTING} relationships to nodes that fit requirements, counted up to `{}` of `{}`",
        requirement.name, node.template.name
    );
    Diagnostic::at(&rules::LIMIT, requirement.at, message).hint("name the node that is meant in each requirement")
}

/// Whether TOSCA adds a requirement only to reach the minimum number of relationships: here one is enough.
fn fills_up(node: &Node, at: usize) -> bool {
    let Some(requirement) = node.requirements.get(at).filter(|requirement| requirement.assignment.is_none()) else {
        return false;
    };
    node.requirements.iter().take(at).any(|earlier| earlier.name == requirement.name)
}

/// One requirement that is to be met.
struct Matching<'a> {
    model: &'a Model,
    topology: &'a Topology,
    /// Places of nodes by their types, of which there are few.
    of_type: &'a HashMap<DeclId, Vec<usize>>,
    /// The resolution so far.
    resolution: &'a Resolution,
    /// Nodes that meet requirements of the source already, by the requirements' names.
    taken: &'a FastSet<(&'a str, usize)>,
    source: usize,
    at: usize,
    requirement: &'a Requirement,
}

impl Matching<'_> {
    /// The edges of the requirement: to the named node, or to all suitable ones. `found` is the result of TOSCA's own
    /// rules.
    fn edges(&self, found: Option<&Edge>) -> Result<Vec<Edge>, Box<Diagnostic>> {
        let requirement = self.requirement;
        if let Some(named) = &requirement.node_template {
            return match self.topology.nodes.get_full(&named.text) {
                Some((target, _, node)) => self.to_named(target, node),
                None => Ok(Vec::new()),
            };
        }
        if self.names_no_node() {
            return Ok(Vec::new());
        }
        if let Some(named) = self.defined_node() {
            return match self.topology.nodes.get_full(&named.text) {
                Some((target, _, node)) => self.to_named(target, node),
                None => Ok(Vec::new()),
            };
        }
        // An optional requirement that only a type declares gets no search of its own.
        if says_nothing(requirement) && is_optional(requirement) {
            let found = found.filter(|_| requirement.assignment.is_none());
            return Ok(found.cloned().into_iter().collect());
        }
        if requirement.assignment.is_none() && self.is_host_of_software() {
            return Ok(Vec::new());
        }
        let filter = filters::of(requirement);
        let candidates = self.candidates(filter);
        let is_default = |target: &usize| self.has_directive(*target, DEFAULT);
        let chosen: Vec<usize> = match candidates.iter().any(|target| !is_default(target)) {
            true => candidates.into_iter().filter(|target| !is_default(target)).collect(),
            false => candidates,
        };
        if let Some(most) =
            occurrences(requirement).and_then(|range| range.upper).filter(|most| chosen.len() as u64 > *most)
        {
            return Err(Box::new(self.too_many(&chosen, most)));
        }
        if chosen.is_empty() {
            // TOSCA's own rules also take a node that none of the relationship's capability types allows.
            let is_allowed = |edge: &&Edge| self.to_fitting(edge.target).is_some();
            return Ok(found.filter(|_| filter.is_none()).filter(is_allowed).cloned().into_iter().collect());
        }
        // The target of another requirement of the same name is not used again, unless no other is left.
        let is_free = |target: &usize| !self.taken.contains(&(requirement.name.as_str(), *target));
        let free: Vec<usize> = chosen.iter().copied().filter(is_free).collect();
        let chosen = if free.is_empty() { chosen } else { free };
        // Placeholders for other templates count only if no other node is suitable.
        let is_made = |target: &usize| !ABSTRACT.iter().any(|directive| self.has_directive(*target, directive));
        let made: Vec<usize> = chosen.iter().copied().filter(is_made).collect();
        let chosen = if made.is_empty() { chosen.into_iter().take(1).collect() } else { made };
        Ok(chosen.into_iter().filter_map(|target| self.to_fitting(target)).collect())
    }

    /// Whether the requirement is assigned a name that neither a template nor a type has.
    fn names_no_node(&self) -> bool {
        let named = self.requirement.assignment.as_ref().and_then(|assigned| assigned.text("node"));
        named.is_some_and(|name| {
            !self.topology.nodes.contains_key(&name.text) && self.model.find(entities::NODE_TYPE, name).is_none()
        })
    }

    fn is_host_of_software(&self) -> bool {
        let node = self.topology.nodes.get_index(self.source);
        node.is_some_and(|(_, node)| is_host_of_software(self.model, node, self.requirement))
    }

    /// The node that the requirement's definition names: a definition may name a template where a type is expected.
    fn defined_node(&self) -> Option<&Text> {
        let says_node = self.requirement.assignment.as_ref().is_some_and(|assigned| assigned.slot("node").is_some());
        let defined = self.requirement.definition.as_ref().filter(|_| !says_node)?;
        let named = defined.text("node")?;
        let is_template = self.topology.nodes.contains_key(&named.text);
        (is_template || self.model.find(entities::NODE_TYPE, named).is_none()).then_some(named)
    }

    fn to_fitting(&self, target: usize) -> Option<Edge> {
        let (_, node) = self.topology.nodes.get_index(target)?;
        Some(self.to(target, capability_of(self.model, node, self.requirement)?))
    }

    fn to(&self, target: usize, capability: usize) -> Edge {
        Edge { source: self.source, requirement: self.at, target, capability }
    }

    /// A named node counts whatever its type, as long as the relationship may lead to one of its capabilities.
    fn to_named(&self, target: usize, node: &Node) -> Result<Vec<Edge>, Box<Diagnostic>> {
        let capability = capability_of(self.model, node, self.requirement);
        if let Some(capability) = capability {
            return Ok(vec![self.to(target, capability)]);
        }
        let (name, wanted) = (&self.requirement.name, &node.template.name);
        let words = format!("the requirement `{name}` does not fit any capability of `{wanted}`");
        let message = what::about([&wanted], words);
        let offered: Vec<String> = node.capabilities.keys().map(|name| format!("`{name}`")).collect();
        let hint = match offered.as_slice() {
            [] => format!("`{wanted}` has none"),
            offered => format!("`{wanted}` has {}", offered.join(", ")),
        };
        let diagnostic = Diagnostic::at(&tosca_rules::UNRESOLVED, self.requirement.at, message).hint(hint);
        Err(Box::new(diagnostic))
    }

    fn has_directive(&self, target: usize, directive: &str) -> bool {
        let node = self.topology.nodes.get_index(target);
        node.is_some_and(|(_, node)| node.template.texts("directives").iter().any(|word| word.text == directive))
    }

    /// Nodes other than the source that have the type and a capability, and pass the filter.
    fn candidates(&self, filter: Option<&Val>) -> Vec<usize> {
        let asked = filter.and_then(|filter| filter.get("match"));
        let fits = |target: &usize| {
            let node = self.topology.nodes.get_index(*target).filter(|_| *target != self.source);
            node.is_some_and(|(_, node)| {
                capability_of(self.model, node, self.requirement).is_some()
                    && filter.is_none_or(|filter| filters::passes(self.model, node, filter))
            })
        };
        let fitting = self.of_wanted_type().into_iter().filter(fits);
        match asked.and_then(|asked| filters::asked_for(self.model, self.topology, self.resolution, self.source, asked))
        {
            Some(wanted) => fitting.filter(|target| wanted.contains(target)).collect(),
            None => fitting.collect(),
        }
    }

    /// The nodes of the type that the requirement asks for, in order.
    fn of_wanted_type(&self) -> Vec<usize> {
        let Some(wanted) = self.requirement.node_type else { return (0..self.topology.nodes.len()).collect() };
        let types = self.of_type.iter().filter(|(id, _)| self.model.hierarchy.is_a(**id, wanted));
        let mut places: Vec<usize> = types.flat_map(|(_, places)| places.iter().copied()).collect();
        places.sort_unstable();
        places
    }

    fn too_many(&self, targets: &[usize], most: u64) -> Diagnostic {
        let named = |target: &usize| self.topology.nodes.get_index(*target).map(|(name, _)| format!("`{name}`"));
        let names: Vec<String> = targets.iter().filter_map(named).collect();
        let name = &self.requirement.name;
        let message =
            format!("{} nodes fit the requirement `{name}`, but at most {most} may: {}", names.len(), names.join(", "));
        let first = targets.first().and_then(|target| self.topology.nodes.get_index(*target));
        let hint = first.map(|(node, _)| format!("name the one that is meant, for example `{name}: {node}`"));
        Diagnostic::at(&tosca_rules::UNRESOLVED, self.requirement.at, message).maybe_hint(hint)
    }
}

/// Whether a requirement is only declared, by one of TOSCA's own types: then it may stay open without a warning,
/// unless a job would have to run operations of the node.
fn may_stay_open(model: &Model, node: &Node, requirement: &Requirement) -> bool {
    let is_left_to_users = || is_standard(model, requirement) && !is_deployed(model, node);
    requirement.assignment.is_none() && (is_host_of_software(model, node, requirement) || is_left_to_users())
}

/// Whether one of TOSCA's own types declares a requirement.
fn is_standard(model: &Model, requirement: &Requirement) -> bool {
    let file = requirement.definition.as_ref().and_then(|definition| model.files.of(definition.at.file));
    let file = file.and_then(|file| model.files.list.get(file));
    file.is_some_and(|file| file.path.starts_with("purlin:"))
}

/// The host of TOSCA's software components, which Unfurl's own definition of that type makes optional. Types that
/// derive from it may override that.
fn is_host_of_software(model: &Model, node: &Node, requirement: &Requirement) -> bool {
    let is_software = |id: DeclId| model.name(id) == SOFTWARE;
    let says_how_many = |definition: &Arc<Entity>| definition.range("count_range").is_some();
    requirement.name == "host"
        && !requirement.definition.as_ref().is_some_and(says_how_many)
        && model.hierarchy.lineage(node.node_type).any(is_software)
}

/// The target capability of a requirement: the named one or one of the type, one that the relationship allows, or the
/// one that every node has.
fn capability_of(model: &Model, node: &Node, requirement: &Requirement) -> Option<usize> {
    let position = |fits: &dyn Fn(&str, Option<_>) -> bool| {
        node.capabilities.iter().position(|(name, capability)| fits(name, capability.capability_type))
    };
    let relationship = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
    let complete = relationship.and_then(|id| model.complete(id));
    let complete = complete.filter(|complete| !leads_anywhere(model, complete));
    let valid = complete.map(|complete| complete.texts("valid_capability_types")).unwrap_or(&[]);
    let valid: Vec<_> = valid.iter().filter_map(|name| model.find(entities::CAPABILITY_TYPE, name)).collect();
    let is_any = |found: Option<_>, types: &[_]| {
        found.is_some_and(|found| types.iter().any(|id| model.hierarchy.is_a(found, *id)))
    };
    let allowed = |found: Option<_>| valid.is_empty() || is_any(found, &valid);
    if let Some(named) = &requirement.capability_name {
        // One that the relationship does not allow gives way to one that it does.
        let named = position(&|name, found| name == named.text && allowed(found));
        return named.or_else(|| if valid.is_empty() { None } else { position(&|_, found| allowed(found)) });
    }
    if let Some(wanted) = requirement.capability_type {
        return position(&|_, found| is_any(found, &[wanted]) && allowed(found));
    }
    let feature = position(&|name, _| name == FEATURE);
    if valid.is_empty() { feature.or(Some(0)) } else { position(&|_, found| allowed(found)) }
}

/// Whether a relationship may lead to any capability although TOSCA's own type restricts it: hosting and depending do.
fn leads_anywhere(model: &Model, relationship: &Entity) -> bool {
    let names = relationship.texts("valid_capability_types");
    let loose = ["tosca.capabilities.Container", "tosca.capabilities.Node"];
    let file = model.files.of(relationship.place("valid_capability_types").file);
    let file = file.and_then(|file| model.files.list.get(file));
    names.iter().all(|name| loose.contains(&name.text.as_str()))
        && file.is_some_and(|file| file.path.starts_with("purlin:"))
}

/// A written requirement must be met; one that only a type declares may stay open until a deployment runs operations of
/// the node.
fn report(
    model: &Model,
    node: &Node,
    requirement: &Requirement,
    told: Option<&Diagnostic>,
    unmet: Option<&mut Unmet>,
    problems: &mut Problems,
) {
    if node.template.name == MADE {
        return; // it has the relationships of the node it stands for
    }
    let left_out = requirement.node_template.as_ref().filter(|name| model.files.is_left_out(&name.text));
    match (told, left_out) {
        (_, Some(name)) => {
            let why = format!("`{}` of an imported file is not part of this ensemble", name.text);
            problems.push(open(node, requirement, &why).hint("add the directive `default` there to make it one"));
        }
        (Some(diagnostic), _) if requirement.node_template.is_some() => problems.push(diagnostic.clone()),
        // The unknown name was reported; whether a node would meet it is not known.
        _ if names_nothing(model, requirement) => {}
        _ if !is_optional(requirement) => {
            let why = if filters::of(requirement).is_some() { "no node passes its filter" } else { "no node meets it" };
            let mut diagnostic = open(node, requirement, why);
            let lenient = node.template.texts("directives").iter().any(|word| word.text == DEFAULT)
                || is_host_of_software(model, node, requirement);
            let blocks = !lenient && is_deployed(model, node);
            if !lenient && must_be_met(requirement) {
                diagnostic.severity = Severity::Error;
            } else if let Some(unmet) = unmet.filter(|_| blocks) {
                return unmet.push((node.template.name.clone(), diagnostic));
            } else if blocks {
                let name = &requirement.name;
                diagnostic = diagnostic.hint(format!("name a node before it is deployed, for example `{name}: NODE`"));
            }
            problems.push(diagnostic);
        }
        _ => {}
    }
}

/// Whether a requirement is assigned a name that neither a node template nor a node type has, or its definition names a
/// type that does not exist.
fn names_nothing(model: &Model, requirement: &Requirement) -> bool {
    let is_node = |name: &Text| {
        let templates = model.service().and_then(|service| service.named("node_templates", &name.text));
        templates.is_some() || model.find(entities::NODE_TYPE, name).is_some()
    };
    let assigned = requirement.assignment.as_ref().and_then(|assignment| assignment.text("node"));
    let definition = requirement.definition.as_deref();
    let defined = definition.and_then(|definition| definition.text("node"));
    let capability = definition.and_then(|definition| definition.text("capability"));
    let relationship = definition.and_then(|definition| definition.one("relationship")?.text("type"));
    requirement.node_template.is_none()
        && (assigned.is_some_and(|name| !is_node(name))
            || defined.is_some_and(|name| !is_node(name))
            || capability.is_some() && definition.is_some_and(|own| model.asked_capability(own) == (None, None))
            || relationship.is_some_and(|name| model.find(entities::RELATIONSHIP_TYPE, name).is_none()))
}

/// The number of nodes that may meet a requirement, if set.
fn occurrences(requirement: &Requirement) -> Option<Range> {
    let assigned = requirement.assignment.as_ref().and_then(|entity| entity.range("occurrences"));
    assigned.or_else(|| requirement.definition.as_ref()?.range("count_range"))
}

fn is_optional(requirement: &Requirement) -> bool {
    requirement.optional || occurrences(requirement).is_some_and(|range| range.lower == 0)
}

/// Whether a requirement is not assigned, or assigned an empty mapping, which adds nothing to the type.
fn says_nothing(requirement: &Requirement) -> bool {
    requirement.assignment.as_ref().is_none_or(|assigned| assigned.slots.is_empty())
}

/// Whether a requirement is mandatory: it is assigned, and either the assignment or neither side sets `node`.
fn must_be_met(requirement: &Requirement) -> bool {
    let says = |entity: &Option<Arc<Entity>>| entity.as_ref().is_some_and(|entity| entity.slot("node").is_some());
    requirement.assignment.is_some() && (says(&requirement.assignment) || !says(&requirement.definition))
}

/// Whether an assigned requirement restricts neither its node nor its capability.
fn asks_for_nothing(model: &Model, requirement: &Requirement) -> bool {
    let relationship = requirement.relationship.as_ref().and_then(|relationship| relationship.relationship_type);
    let complete = relationship.and_then(|id| model.complete(id));
    let says = |slot: &str| {
        let entities = [&requirement.assignment, &requirement.definition];
        entities.into_iter().flatten().any(|entity| entity.slot(slot).is_some())
    };
    requirement.assignment.is_some()
        && !says("node")
        && !says("capability")
        && filters::of(requirement).is_none()
        && complete.is_none_or(|complete| complete.texts("valid_capability_types").is_empty())
}

fn nothing_asked(node: &Node, requirement: &Requirement) -> Diagnostic {
    let name = &requirement.name;
    let message =
        format!("the requirement `{name}` of `{}` names no node, capability or `node_filter`", node.template.name);
    Diagnostic::at(&tosca_rules::UNRESOLVED, requirement.at, message)
        .hint(format!("add `node`, for example `{name}: NODE`"))
}

fn open(node: &Node, requirement: &Requirement, why: &str) -> Diagnostic {
    let message = format!("could not meet the requirement `{}` of `{}`: {why}", requirement.name, node.template.name);
    Diagnostic::at(&tosca_rules::UNRESOLVED, requirement.at, message).warning()
}
