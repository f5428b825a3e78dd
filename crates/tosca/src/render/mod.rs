//! Phase 5, rendering: types are applied to templates.
//!
//! Defaults are filled in, required values are checked, undeclared ones are rejected, automatic requirements are
//! added. Values keep their function calls; `evaluate` comes later. Parts that depend on the type alone are rendered
//! once and shared.

mod artifacts;
mod decorate;
mod filters;
pub(crate) mod interfaces;
mod nodes;
mod others;
mod props;
mod relationships;
mod requirements;
mod substitution;
mod workflows;

use crate::dialect::print::Printed;
use crate::edition::Standard;
use crate::entity::Entity;
use crate::evaluate::Values;
use crate::model::Model;
use crate::multiply::Total;
use crate::problem::Problems;
use crate::resolve::Resolution;
use crate::topology::{Capability, Interface, Props, Topology};
use crate::val::Val;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Diagnostic;
use purlin_value::Exceeded;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

pub use filters::property_filters;
pub use interfaces::artifact_text;

/// Values given from outside, by input name.
pub type Inputs = IndexMap<EcoString, Val>;

/// Whether inputs that have no value are a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MissingInputs {
    /// They are: the service is to be resolved.
    #[default]
    Refuse,
    /// They give a warning: independent parts are still processed.
    Warn,
    /// They are not: only the template itself is looked at.
    Accept,
}

/// Applies types to templates. What does not depend on inputs is rendered once for all variants of a project.
pub fn render(model: &Model, inputs: &Inputs, missing: MissingInputs, problems: &mut Problems) -> Topology {
    let Some(service) = model.service() else {
        let mut renderer = Renderer::new(model, Topology::default(), problems);
        for (name, value) in inputs.iter().filter(|_| !model.edition().is_extended()) {
            renderer.undeclared_input(name, value, None);
        }
        return renderer.topology;
    };
    let (topology, mapped) = match &model.frame {
        Some(kept) => {
            let frame = kept.get_or_init(|| {
                let mut problems = problems.clone();
                let (topology, mapped) = Renderer::frame(model, service, &mut problems);
                // The problem may be a limit of this run.
                (!problems.any()).then(|| Frame {
                    topology,
                    mapped,
                    problems,
                    resolution: OnceLock::new(),
                    values: OnceLock::new(),
                    printed: OnceLock::new(),
                })
            });
            match frame {
                Some(frame) => {
                    problems.absorb(&frame.problems);
                    (frame.topology.clone(), frame.mapped.clone())
                }
                None => Renderer::frame(model, service, problems),
            }
        }
        None => Renderer::frame(model, service, problems),
    };
    let mut renderer = Renderer::new(model, topology, problems);
    renderer.inputs(service, inputs, &mapped, missing);
    renderer.outputs(service);
    renderer.topology
}

/// A service rendered without its inputs and outputs, with its input-independent parts.
#[derive(Debug)]
pub(crate) struct Frame {
    topology: Topology,
    /// Inputs that come from a node that the service replaces.
    mapped: Vec<EcoString>,
    problems: Problems,
    /// Which capability meets which requirement, unless inputs decide.
    pub resolution: OnceLock<Arc<Resolution>>,
    /// The values of the first variant, with those that depend on inputs marked.
    pub values: OnceLock<Arc<Values>>,
    /// The nodes of the first variant.
    pub printed: OnceLock<Vec<Printed>>,
}

impl Frame {
    /// Whether a service has the nodes that were rendered here, unchanged.
    pub(crate) fn has_nodes_of(&self, topology: &Topology) -> bool {
        let pairs = self.topology.nodes.values().zip(topology.nodes.values());
        self.topology.nodes.len() == topology.nodes.len()
            && pairs.into_iter().all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// The same, with the relationships that no input decides on.
    pub(crate) fn holds(&self, topology: &Topology, resolution: &Arc<Resolution>) -> bool {
        self.resolution.get().is_some_and(|known| Arc::ptr_eq(known, resolution)) && self.has_nodes_of(topology)
    }
}

struct Renderer<'a> {
    model: &'a Model,
    problems: &'a mut Problems,
    /// Capabilities and interfaces that follow from the type alone, by definition.
    capabilities: HashMap<usize, Arc<Capability>>,
    interfaces: HashMap<usize, Arc<Interface>>,
    /// Values of capabilities with nothing assigned, by their declarations.
    unassigned: HashMap<(usize, &'static str), Arc<Props>>,
    topology: Topology,
    /// The relationships that counts have made.
    counted: Total,
    /// Additions of files to templates.
    decorators: decorate::Decorators,
    /// Whether missing required parts are errors.
    demanding: bool,
    /// Whether the type is only partly known, because a file could not be read.
    partial: bool,
}

/// Identifies a shared definition while the model lives.
fn identity(entity: &Arc<Entity>) -> usize {
    Arc::as_ptr(entity) as usize
}

impl<'a> Renderer<'a> {
    fn new(model: &'a Model, topology: Topology, problems: &'a mut Problems) -> Self {
        Renderer {
            model,
            problems,
            capabilities: HashMap::new(),
            interfaces: HashMap::new(),
            unassigned: HashMap::new(),
            topology,
            counted: Total::default(),
            decorators: decorate::Decorators::default(),
            demanding: true,
            partial: false,
        }
    }

    /// Whether an instantiated template stays within the limits, which is reported if it does not.
    fn can_hold(&mut self, held: Result<(), Exceeded>, template: &Entity) -> bool {
        let Err(limit) = held else { return true };
        let diagnostic = Diagnostic::at(limit.rule(), template.at, limit.message()).hint(limit.hint());
        self.problems.push(diagnostic);
        false
    }

    /// Everything but inputs and outputs, and the inputs that come from a node that the service replaces.
    fn frame(model: &'a Model, service: &Arc<Entity>, problems: &'a mut Problems) -> (Topology, Vec<EcoString>) {
        let mut renderer = Renderer::new(model, Topology::default(), problems);
        renderer.decorators = decorate::Decorators::of(model);
        renderer.check_decorators();
        for (name, template) in service.entries("node_templates") {
            if renderer.problems.is_full() {
                break;
            }
            let Some(node) = renderer.node(template) else { continue };
            if !renderer.can_hold(model.budget.hold_members(&node), template) {
                break;
            }
            renderer.topology.nodes.insert(name.clone(), Arc::new(node));
        }
        for (name, template) in service.entries("relationship_templates") {
            let rendered = renderer.relationship_template(template);
            if let Some(relationship) = rendered.filter(|_| template.slot("default_for").is_some()) {
                renderer.topology.connections.insert(name.clone(), Arc::new(relationship));
            }
        }
        renderer.groups_and_policies(service);
        renderer.workflows(service);
        let mapped = renderer.substitution(service);
        (renderer.topology, mapped)
    }
}
