//! Phase 5, rendering: types are applied to templates.
//!
//! Defaults are put in, required things are demanded, undeclared things are refused, automatic requirements are
//! added. Values keep their function calls; `evaluate` comes later. What depends on the type alone is rendered once
//! and shared.

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

use crate::edition::Standard;
use crate::entity::Entity;
use crate::model::Model;
use crate::multiply::Total;
use crate::problem::Problems;
use crate::topology::{Capability, Interface, Topology};
use crate::val::Val;
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

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
    /// They are worth a warning: what does not depend on them is looked at all the same.
    Warn,
    /// They are not: only the template itself is looked at.
    Accept,
}

/// Applies types to templates.
pub fn render(model: &Model, inputs: &Inputs, missing: MissingInputs, problems: &mut Problems) -> Topology {
    let mut renderer = Renderer {
        model,
        problems,
        capabilities: HashMap::new(),
        interfaces: HashMap::new(),
        topology: Topology::default(),
        counted: Total::default(),
        demanding: true,
        partial: false,
    };
    if let Some(service) = model.service() {
        renderer.service(&service.clone(), inputs, missing);
    } else {
        for (name, value) in inputs.iter().filter(|_| !model.edition().is_extended()) {
            renderer.undeclared_input(name, value, None);
        }
    }
    renderer.topology
}

struct Renderer<'a> {
    model: &'a Model,
    problems: &'a mut Problems,
    /// Capabilities and interfaces that follow from the type alone, by definition.
    capabilities: HashMap<usize, Arc<Capability>>,
    interfaces: HashMap<usize, Arc<Interface>>,
    topology: Topology,
    /// The relationships that counts have made.
    counted: Total,
    /// Whether what is required must be there.
    demanding: bool,
    /// Whether not all is known of the type, because a file could not be read.
    partial: bool,
}

/// Identifies a shared definition while the model lives.
fn identity(entity: &Arc<Entity>) -> usize {
    Arc::as_ptr(entity) as usize
}

impl Renderer<'_> {
    fn service(&mut self, service: &Arc<Entity>, inputs: &Inputs, missing: MissingInputs) {
        for (name, template) in service.entries("node_templates") {
            if let Some(node) = self.node(template) {
                self.topology.nodes.insert(name.clone(), node);
            }
        }
        for (_, template) in service.entries("relationship_templates") {
            self.relationship_template(template);
        }
        self.groups_and_policies(service);
        self.workflows(service);
        let mapped = self.substitution(service);
        self.inputs(service, inputs, &mapped, missing);
        self.outputs(service);
    }
}
