//! Phase 7, all of it: every value of a service is evaluated once, in source order.
//!
//! Values that others may refer to stay in the evaluator, for printing the service.

use crate::evaluate::{Evaluator, Key, Owner, Scope};
use crate::topology::{Activity, Artifact, Interface, Operation, Props, Relationship, Topology};

/// Evaluates everything, for its problems.
pub fn check_all(evaluator: &mut Evaluator<'_>, topology: &Topology) {
    for name in topology.inputs.keys() {
        evaluator.force(Key { owner: Owner::Service, attribute: false, name: name.clone() });
    }
    for (index, node) in topology.nodes.values().enumerate() {
        let scope = Scope::node(index);
        owned(evaluator, Owner::Node(index), &node.properties, &node.attributes);
        for (at, capability) in node.capabilities.values().enumerate() {
            owned(evaluator, Owner::Capability(index, at), &capability.properties, &capability.attributes);
        }
        interfaces(evaluator, node.interfaces.values().map(|interface| interface.as_ref()), &scope);
        for Artifact { properties, .. } in node.artifacts.values() {
            props(evaluator, properties, &scope);
        }
        for (at, requirement) in node.requirements.iter().enumerate() {
            if let Some(relationship) = &requirement.relationship {
                check_relationship(evaluator, relationship, index, at);
            }
        }
    }
    for group in topology.groups.values() {
        props(evaluator, &group.properties, &Scope::default());
        interfaces(evaluator, group.interfaces.values().map(|interface| interface.as_ref()), &Scope::default());
    }
    for policy in topology.policies.values() {
        props(evaluator, &policy.properties, &Scope::default());
    }
    for step in topology.workflows.values().flat_map(|workflow| workflow.steps.values()) {
        for activity in &step.activities {
            if let Activity::Call { inputs, .. } = activity {
                props(evaluator, inputs, &Scope { in_workflow: true, ..Scope::default() });
            }
        }
    }
    props(evaluator, &topology.outputs, &Scope::default());
}

/// Checks the constraints of literal values, which depend on nothing else in the service.
pub fn check_literals(evaluator: &mut Evaluator<'_>, topology: &Topology) {
    for (index, node) in topology.nodes.values().enumerate() {
        let capabilities = node.capabilities.values().map(|capability| &*capability.properties);
        for prop in std::iter::once(&node.properties).chain(capabilities).flat_map(|props| props.values()) {
            if !prop.value.has_call() {
                evaluator.inspect(prop, &Scope::node(index));
            }
        }
    }
}

fn check_relationship(evaluator: &mut Evaluator<'_>, relationship: &Relationship, source: usize, requirement: usize) {
    owned(evaluator, Owner::Relationship(source, requirement), &relationship.properties, &relationship.attributes);
    interfaces(
        evaluator,
        relationship.interfaces.values().map(|interface| interface.as_ref()),
        &Scope::relationship(source, requirement),
    );
}

fn owned(evaluator: &mut Evaluator<'_>, owner: Owner, properties: &Props, attributes: &Props) {
    let scope = match owner {
        Owner::Service => Scope::default(),
        Owner::Node(node) | Owner::Capability(node, _) => Scope::node(node),
        Owner::Relationship(source, requirement) => Scope::relationship(source, requirement),
    };
    for (attribute, all) in [(false, properties), (true, attributes)] {
        for (name, prop) in all {
            if prop.value.has_call() {
                evaluator.force(Key { owner, attribute, name: name.clone() });
            } else if !evaluator.knows_literals() {
                evaluator.inspect(prop, &scope); // cheaper to look at than to keep
            }
        }
    }
}

fn props(evaluator: &mut Evaluator<'_>, all: &Props, scope: &Scope) {
    let literals_too = !evaluator.knows_literals();
    for (name, prop) in all.iter().filter(|(_, prop)| literals_too || prop.value.has_call()) {
        evaluator.settle_once(name, prop, scope);
    }
}

fn interfaces<'i>(evaluator: &mut Evaluator<'_>, all: impl Iterator<Item = &'i Interface>, scope: &Scope) {
    for interface in all {
        props(evaluator, &interface.inputs, scope);
        for Operation { inputs, .. } in interface.operations.values().chain(interface.notifications.values()) {
            props(evaluator, inputs, scope);
        }
    }
}
