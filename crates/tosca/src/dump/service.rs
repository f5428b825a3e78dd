//! The rendered service as plain data: complete templates, including the parts from their types.

use super::entity;
use crate::clout::Out;
use crate::compile::Compiled;
use crate::model::Model;
use crate::names::DeclId;
use crate::topology::{Activity, Artifact, Capability, Interface, Node, Operation, Props, Relationship, Requirement};
use crate::val::Text;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use std::sync::Arc;

/// All templates of the service.
pub(super) fn service(compiled: &Compiled) -> Out {
    let (model, topology) = (&*compiled.model, &compiled.topology);
    let groups = topology.groups.iter().map(|(name, group)| {
        let out = Out::map([
            ("type", named(model, Some(group.group_type))),
            ("properties", props(&group.properties)),
            ("interfaces", interfaces(model, &group.interfaces)),
            ("members", texts(&group.members)),
        ]);
        (name.clone(), out)
    });
    let policies = topology.policies.iter().map(|(name, policy)| {
        let triggers = policy.triggers.iter().map(|(name, trigger)| (name.clone(), entity(trigger, 0)));
        let out = Out::map([
            ("type", named(model, Some(policy.policy_type))),
            ("properties", props(&policy.properties)),
            ("targets", texts(&policy.targets)),
            ("triggers", Out::Map(triggers.collect())),
        ]);
        (name.clone(), out)
    });
    let workflows = topology.workflows.iter().map(|(name, workflow)| {
        let steps = workflow.steps.iter().map(|(name, step)| {
            let out = Out::map([
                ("target", text_of(step.entity.str("target"))),
                ("activities", Out::List(step.activities.iter().map(activity).collect())),
                ("on_success", texts(step.entity.texts("on_success"))),
                ("on_failure", texts(step.entity.texts("on_failure"))),
            ]);
            (name.clone(), out)
        });
        (name.clone(), Out::map([("steps", Out::Map(steps.collect()))]))
    });
    let nodes = topology.nodes.iter().map(|(name, each)| (name.clone(), node(model, each)));
    let substitution = topology.substitution.as_ref().map_or(Out::Null, |mapped| entity(&mapped.entity, 0));
    Out::Map(vec![
        ("inputs".into(), props(&topology.inputs)),
        ("node_templates".into(), Out::Map(nodes.collect())),
        ("groups".into(), Out::Map(groups.collect())),
        ("policies".into(), Out::Map(policies.collect())),
        ("workflows".into(), Out::Map(workflows.collect())),
        ("substitution_mappings".into(), substitution),
        ("outputs".into(), props(&topology.outputs)),
    ])
}

fn node(model: &Model, node: &Node) -> Out {
    let capabilities = node.capabilities.iter().map(|(name, each)| (name.clone(), capability(model, each)));
    let artifacts = node.artifacts.iter().map(|(name, each)| (name.clone(), artifact(model, each)));
    let requirements = node.requirements.iter().map(|each| {
        let out = requirement(model, each);
        Out::Map(vec![(each.name.clone(), out)])
    });
    Out::map([
        ("type", named(model, Some(node.node_type))),
        ("directives", texts(node.template.texts("directives"))),
        ("properties", props(&node.properties)),
        ("attributes", props(&node.attributes)),
        ("capabilities", Out::Map(capabilities.collect())),
        ("requirements", Out::List(requirements.collect())),
        ("interfaces", interfaces(model, &node.interfaces)),
        ("artifacts", Out::Map(artifacts.collect())),
    ])
}

fn capability(model: &Model, capability: &Capability) -> Out {
    Out::map([
        ("type", named(model, capability.capability_type)),
        ("properties", props(&capability.properties)),
        ("attributes", props(&capability.attributes)),
        ("occurrences", Out::Str(eco_format!("{}", capability.occurrences))),
    ])
}

fn requirement(model: &Model, requirement: &Requirement) -> Out {
    let named_text = |text: &Option<Text>| text.as_ref().map(|text| Out::Str(text.text.clone()));
    Out::map([
        ("node", named_text(&requirement.node_template).unwrap_or_else(|| named(model, requirement.node_type))),
        (
            "capability",
            named_text(&requirement.capability_name).unwrap_or_else(|| named(model, requirement.capability_type)),
        ),
        ("relationship", requirement.relationship.as_ref().map_or(Out::Null, |each| relationship(model, each))),
        ("optional", Out::Bool(requirement.optional)),
    ])
}

fn relationship(model: &Model, relationship: &Relationship) -> Out {
    Out::map([
        ("type", named(model, relationship.relationship_type)),
        ("properties", props(&relationship.properties)),
        ("attributes", props(&relationship.attributes)),
        ("interfaces", interfaces(model, &relationship.interfaces)),
    ])
}

fn interfaces(model: &Model, all: &IndexMap<EcoString, Arc<Interface>>) -> Out {
    let each = all.iter().map(|(name, interface)| {
        let out = Out::map([
            ("type", named(model, interface.interface_type)),
            ("inputs", props(&interface.inputs)),
            ("operations", operations(&interface.operations)),
            ("notifications", operations(&interface.notifications)),
        ]);
        (name.clone(), out)
    });
    Out::Map(each.collect())
}

fn operations(all: &IndexMap<EcoString, Operation>) -> Out {
    let each = all.iter().map(|(name, operation)| {
        let outputs = operation.outputs.iter().map(|(name, value)| (name.text.clone(), Out::from(value)));
        let out = Out::map([
            ("implementation", operation.primary.as_ref().map_or(Out::Null, Out::from)),
            ("dependencies", Out::List(operation.dependencies.iter().map(Out::from).collect())),
            ("timeout", operation.timeout.map_or(Out::Null, Out::Int)),
            ("operation_host", text_of(&operation.host)),
            ("inputs", props(&operation.inputs)),
            ("outputs", Out::Map(outputs.collect())),
        ]);
        (name.clone(), out)
    });
    Out::Map(each.collect())
}

fn artifact(model: &Model, artifact: &Artifact) -> Out {
    Out::map([
        ("type", named(model, artifact.artifact_type)),
        ("file", text_of(artifact.entity.str("file"))),
        ("properties", props(&artifact.properties)),
    ])
}

fn activity(activity: &Activity) -> Out {
    match activity {
        Activity::Delegate(name) => Out::map([("delegate", Out::Str(name.text.clone()))]),
        Activity::Inline(name) => Out::map([("inline", Out::Str(name.text.clone()))]),
        Activity::SetState(name) => Out::map([("set_state", Out::Str(name.text.clone()))]),
        Activity::Call { interface, operation, inputs } => {
            Out::map([("call_operation", Out::Str(eco_format!("{interface}.{operation}"))), ("inputs", props(inputs))])
        }
    }
}

fn props(props: &Props) -> Out {
    Out::Map(props.iter().map(|(name, prop)| (name.clone(), Out::from(&prop.value))).collect())
}

fn named(model: &Model, id: Option<DeclId>) -> Out {
    id.map_or(Out::Null, |id| Out::Str(model.name(id)))
}

fn texts(texts: &[Text]) -> Out {
    Out::List(texts.iter().map(|text| Out::Str(text.text.clone())).collect())
}

fn text_of(text: &str) -> Out {
    if text.is_empty() { Out::Null } else { Out::str(text) }
}
