//! Groups, policies, workflows and substitution mappings in the Clout.

use super::out::key_text;
use super::{Form, Out, Writer, description, edge, id, metadata, vertex};
use crate::evaluate::Scope;
use crate::topology::{Activity, Group, Part, Policy, Target, Workflow};
use crate::val::{Data, Val};
use ecow::{EcoString, eco_format};
use purlin_syntax::write::Emit;

impl Writer<'_> {
    pub(super) fn group(&mut self, name: &EcoString, group: &Group) -> Out {
        let path = eco_format!("{}.groups[\"{name}\"]", self.root);
        Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(&group.template)),
            ("description", description(&group.template)),
            ("types", self.types(Some(group.group_type))),
            ("properties", self.props(&group.properties, &Scope::default(), &eco_format!("{path}.properties"))),
            ("interfaces", self.interfaces(&group.interfaces, &Scope::default(), &eco_format!("{path}.interfaces"))),
        ])
    }

    pub(super) fn policy(&mut self, name: &EcoString, policy: &Policy, emit: &mut dyn Emit) {
        let path = eco_format!(
            "{}.policies{{{}}}",
            self.root,
            self.compiled.topology.policies.get_index_of(name).unwrap_or(0)
        );
        let properties = Out::map([
            ("name", Out::Str(name.clone())),
            ("metadata", metadata(&policy.template)),
            ("description", description(&policy.template)),
            ("types", self.types(Some(policy.policy_type))),
            ("properties", self.props(&policy.properties, &Scope::default(), &eco_format!("{path}.properties"))),
        ]);
        let mut edges = Vec::new();
        for target in &policy.targets {
            edges.extend(self.target_edges(&target.text));
        }
        let mut made = Vec::new();
        for (trigger, action) in self.trigger_operations(policy) {
            let id = eco_format!("Operation:{name}/{trigger}");
            edges.push(edge("PolicyTriggerOperation", Out::Map(Vec::new()), &id));
            made.push((id, self.trigger_operation(&action)));
        }
        for (_, trigger) in &policy.triggers {
            if let Some(workflow) = trigger.value("action").and_then(Val::as_str) {
                edges.push(edge("PolicyTriggerWorkflow", Out::Map(Vec::new()), &id("Workflow", workflow)));
            }
        }
        emit.key(&id("Policy", name));
        vertex("Policy", properties, edges).emit(emit);
        for (id, operation) in made {
            emit.key(&id);
            vertex("Operation", operation, Vec::new()).emit(emit);
        }
    }

    /// Triggers of TOSCA 1.1 and 1.2 whose action is an operation of its own.
    pub(super) fn trigger_operations(&self, policy: &Policy) -> Vec<(EcoString, Val)> {
        let actions =
            policy.triggers.iter().filter_map(|(name, trigger)| Some((name.clone(), trigger.value("action")?.clone())));
        actions.filter(|(_, action)| matches!(action.data, Data::Map(_))).collect()
    }

    pub(super) fn trigger_operation(&mut self, action: &Val) -> Out {
        // The action is an operation under any name; its notation is that of an operation assignment.
        let body = match action.entries() {
            [(key, value)]
                if key.as_str().is_some_and(|key| !matches!(key, "implementation" | "inputs" | "description")) =>
            {
                value.clone()
            }
            _ => action.clone(),
        };
        let implementation = body.get("implementation").cloned().or_else(|| body.as_str().map(|_| body.clone()));
        let primary = implementation
            .as_ref()
            .and_then(|i| i.as_str().map(EcoString::from).or_else(|| i.get("primary")?.as_str().map(EcoString::from)));
        let dependencies = implementation
            .as_ref()
            .and_then(|i| i.get("dependencies"))
            .map(|list| list.items().iter().map(Out::from).collect());
        let inputs = body.get("inputs").map(|inputs| match self.options.form {
            Form::Coerced => Out::from(inputs),
            Form::Raw => Out::Map(
                inputs
                    .entries()
                    .iter()
                    .map(|(key, value)| (key_text(key), self.raw_typed(value, None, None, "")))
                    .collect(),
            ),
        });
        Out::map([
            ("description", Out::Str(body.get("description").and_then(Val::as_str).unwrap_or("").into())),
            ("implementation", Out::Str(primary.unwrap_or_default())),
            ("dependencies", Out::List(dependencies.unwrap_or_default())),
            ("inputs", inputs.unwrap_or(Out::Map(Vec::new()))),
        ])
    }

    /// Edges to a group, or to the nodes of a template.
    fn target_edges(&self, target: &str) -> Vec<Out> {
        let nodes = self.nodes_of(target);
        if nodes.is_empty() {
            return vec![edge("GroupTarget", Out::Map(Vec::new()), &id("Group", target))];
        }
        nodes.iter().map(|node| edge("NodeTemplateTarget", Out::Map(Vec::new()), node)).collect()
    }

    /// The vertexes of the nodes of a template.
    pub(super) fn nodes_of(&self, template: &str) -> Vec<EcoString> {
        let topology = &self.compiled.topology;
        let nodes = topology.places(template).filter_map(|place| topology.nodes.get_index(place));
        nodes.map(|(name, _)| id("NodeTemplate", name)).collect()
    }

    pub(super) fn workflow(&mut self, name: &EcoString, workflow: &Workflow, emit: &mut dyn Emit) {
        let step_id = |step: &str| eco_format!("WorkflowStep:{name}/{step}");
        let edges =
            workflow.steps.keys().map(|step| edge("WorkflowStep", Out::Map(Vec::new()), &step_id(step))).collect();
        let properties = Out::map([("name", Out::Str(name.clone())), ("description", description(&workflow.template))]);
        emit.key(&id("Workflow", name));
        vertex("Workflow", properties, edges).emit(emit);
        for (step_name, step) in &workflow.steps {
            let mut edges = Vec::new();
            if let Some(target) = step.entity.text("target") {
                edges.extend(self.target_edges(&target.text));
            }
            for (slot, kind) in [("on_success", "OnSuccess"), ("on_failure", "OnFailure")] {
                edges.extend(
                    step.entity.texts(slot).iter().map(|next| edge(kind, Out::Map(Vec::new()), &step_id(&next.text))),
                );
            }
            let activity_id = |at: usize| eco_format!("WorkflowActivity:{name}/{step_name}/{at}");
            for at in 0..step.activities.len() {
                let sequence = Out::map([("sequence", Out::Int(i64::try_from(at).unwrap_or(0)))]);
                edges.push(edge("WorkflowActivity", sequence, &activity_id(at)));
            }
            emit.key(&step_id(step_name));
            vertex("WorkflowStep", Out::map([("name", Out::Str(step_name.clone()))]), edges).emit(emit);
            for (at, activity) in step.activities.iter().enumerate() {
                emit.key(&activity_id(at));
                let path = eco_format!(
                    "{}.workflows[\"{name}\"].steps[\"{step_name}\"].activities[{at}].call_operation.inputs",
                    self.root
                );
                self.activity(activity, &path).emit(emit);
            }
        }
    }

    pub(super) fn activity(&mut self, activity: &Activity, path: &str) -> Out {
        let (properties, edges) = match activity {
            Activity::SetState(state) => (Out::map([("setNodeState", Out::Str(state.text.clone()))]), Vec::new()),
            Activity::Delegate(workflow) => (
                Out::Map(Vec::new()),
                vec![edge("DelegateWorkflow", Out::Map(Vec::new()), &id("Workflow", &workflow.text))],
            ),
            Activity::Inline(workflow) => (
                Out::Map(Vec::new()),
                vec![edge("InlineWorkflow", Out::Map(Vec::new()), &id("Workflow", &workflow.text))],
            ),
            Activity::Call { interface, operation, inputs } => {
                // Inputs of calls stay raw: they are evaluated when the workflow runs.
                let inputs = inputs
                    .iter()
                    .map(|(name, prop)| (name.clone(), self.raw(prop, &eco_format!("{path}[\"{name}\"]"))))
                    .collect();
                let call = Out::map([
                    ("interface", Out::Str(interface.clone())),
                    ("operation", Out::Str(operation.clone())),
                    ("inputs", Out::Map(inputs)),
                ]);
                (Out::map([("callOperation", call)]), Vec::new())
            }
        };
        vertex("WorkflowActivity", properties, edges)
    }

    pub(super) fn substitution(&mut self) -> Out {
        let Some(substitution) = &self.compiled.topology.substitution else { return Out::Null };
        let model = &self.compiled.model;
        let (mut inputs, mut constants, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let complete = model.complete(substitution.node_type).cloned();
        for mapping in &substitution.mappings {
            let kind = match mapping.part {
                Part::Property => "PropertyPointer",
                Part::Attribute => "AttributePointer",
                Part::Capability => "CapabilityPointer",
                Part::Requirement => "RequirementPointer",
                Part::Interface => "InterfacePointer",
            };
            match &mapping.target {
                Target::Node(node, target) => {
                    let properties =
                        Out::map([("name", Out::Str(mapping.name.clone())), ("target", Out::Str(target.clone()))]);
                    for vertex in self.nodes_of(node) {
                        edges.push(edge(kind, properties.clone(), &vertex));
                    }
                }
                Target::Input(input) => inputs.push((mapping.name.clone(), Out::Str(input.clone()))),
                Target::Value(value) => {
                    let definition =
                        complete.as_ref().and_then(|complete| complete.named("properties", &mapping.name)).cloned();
                    let data_type =
                        definition.as_ref().and_then(|d| model.type_of(d, "type", crate::entities::DATA_TYPE));
                    let out = match self.options.form {
                        Form::Coerced => {
                            Out::from(&crate::coerce::coerce(model, value, data_type, definition.as_deref()))
                        }
                        Form::Raw => self.raw_typed(value, data_type, definition.as_deref(), ""),
                    };
                    constants.push((mapping.name.clone(), out));
                }
                Target::Output(_) | Target::Selected(_) | Target::Other => {}
            }
        }
        let decl = model.names.decl(substitution.node_type);
        let notes = decl.and_then(|decl| decl.entity.value("metadata")).map_or(Out::Map(Vec::new()), Out::from);
        let properties = Out::map([
            ("type", Out::Str(model.canonical(substitution.node_type))),
            ("typeMetadata", notes),
            ("inputs", Out::Map(inputs)),
            ("properties", Out::Map(constants)),
        ]);
        vertex("Substitution", properties, edges)
    }
}
