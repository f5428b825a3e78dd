//! Interfaces, operations and artifacts in the Clout.

use super::{Form, Out, Writer, description};
use crate::edition;
use crate::evaluate::Scope;
use crate::topology::{Artifact, Given, Interface, Node, Operation, Prop, Props};
use crate::val::Val;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::Span;
use std::sync::Arc;

impl Writer<'_> {
    pub(super) fn interfaces(
        &mut self,
        interfaces: &IndexMap<EcoString, Arc<Interface>>,
        scope: &Scope,
        path: &str,
    ) -> Out {
        let mut out = Vec::with_capacity(interfaces.len());
        for (name, interface) in interfaces {
            out.push((name.clone(), self.interface(name, interface, scope, path)));
        }
        Out::Map(out)
    }

    fn interface(&mut self, name: &str, interface: &Arc<Interface>, scope: &Scope, path: &str) -> Out {
        let identity = Arc::as_ptr(interface) as usize;
        if let Some(known) = self.interfaces.get(&identity) {
            return Out::Shared(known.clone());
        }
        let path = eco_format!("{path}[\"{name}\"]");
        let inputs = self.props(&interface.inputs, scope, &eco_format!("{path}.inputs"));
        let operations = self.operations(&interface.operations, scope, &path);
        let notifications = self.notifications(&interface.notifications);
        let model = &self.compiled.model;
        let of_type =
            interface.interface_type.and_then(|id| model.names.decl(id)).map(|decl| description(&decl.entity));
        let words = match description(&interface.definition) {
            Out::Str(text) if text.is_empty() => of_type.unwrap_or(Out::str("")),
            words => words,
        };
        let out = Out::map([
            ("description", words),
            ("types", self.types(interface.interface_type)),
            ("inputs", inputs),
            ("operations", operations),
            ("notifications", notifications),
        ]);
        let constant = interface.inputs.is_empty()
            && interface
                .operations
                .values()
                .all(|operation| operation.inputs.is_empty() && operation.outputs.is_empty());
        if !constant {
            return out;
        }
        let shared = self.share(out);
        self.interfaces.insert(identity, shared.clone());
        Out::Shared(shared)
    }

    /// Operations of the interface at a path. Before TOSCA 1.3 they are keys of the interface itself.
    fn operations(&mut self, operations: &IndexMap<EcoString, Operation>, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::with_capacity(operations.len());
        let direct = self.compiled.model.edition() < edition::V1_3;
        for (name, operation) in operations {
            let path = match direct {
                true => eco_format!("{path}.{name}.inputs"),
                false => eco_format!("{path}.operations[\"{name}\"].inputs"),
            };
            let inputs = self.props(&operation.inputs, scope, &path);
            let mut out_operation = operation_out(operation, Some(inputs));
            self.name_ends(&mut out_operation, scope);
            self.typed_outputs(&mut out_operation);
            out.push((name.clone(), out_operation));
        }
        Out::Map(out)
    }

    /// Outputs that go to the source or target of a relationship name it.
    pub(super) fn name_ends(&self, operation: &mut Out, scope: &Scope) {
        let Some((source, requirement)) = scope.relationship else { return };
        let nodes = &self.compiled.topology.nodes;
        let target = self.compiled.resolution.edge(source, requirement).and_then(|edge| nodes.get_index(edge.target));
        let Out::Fields(entries) = operation else { return };
        let outputs =
            entries.iter_mut().filter(|(key, _)| *key == "outputs").filter_map(|(_, outputs)| match outputs {
                Out::Map(outputs) => Some(outputs),
                _ => None,
            });
        for (_, mapping) in outputs.flatten() {
            let Out::List(path) = mapping else { continue };
            let Some(Out::Str(first)) = path.first_mut() else { continue };
            let end = match first.as_str() {
                "SOURCE" => nodes.get_index(source).map(|(name, _)| name),
                "TARGET" => target.map(|(name, _)| name),
                _ => None,
            };
            if let Some(name) = end {
                *first = name.clone();
            }
        }
    }

    /// Where outputs go, as values of type `list` in a raw Clout.
    fn typed_outputs(&self, operation: &mut Out) {
        let Out::Fields(entries) = operation else { return };
        if self.options.form == Form::Coerced {
            return;
        }
        for (_, outputs) in entries.iter_mut().filter(|(key, _)| *key == "outputs") {
            let Out::Map(outputs) = outputs else { continue };
            for (_, mapping) in outputs {
                let Out::List(path) = mapping else { continue };
                let parts = std::mem::take(path).into_iter().map(|part| Out::map([("$primitive", part)]));
                let list = Out::List(parts.collect());
                let element = Out::map([("type", Out::str("string"))]);
                let meta = Out::map([("type", Out::str("list")), ("element", element)]);
                *mapping = Out::map([("$list", list), ("$meta", meta)]);
            }
        }
    }

    pub(super) fn notifications(&self, notifications: &IndexMap<EcoString, Operation>) -> Out {
        Out::Map(
            notifications
                .iter()
                .map(|(name, notification)| {
                    let mut out = operation_out(notification, None);
                    self.typed_outputs(&mut out);
                    (name.clone(), out)
                })
                .collect(),
        )
    }

    pub(super) fn artifacts(&mut self, node: &Node, scope: &Scope, path: &str) -> Out {
        let mut out = Vec::new();
        for (name, artifact) in &node.artifacts {
            out.push((name.clone(), self.artifact(artifact, scope, &eco_format!("{path}.artifacts[\"{name}\"]"))));
        }
        Out::Map(out)
    }

    pub(super) fn artifact(&mut self, artifact: &Artifact, scope: &Scope, path: &str) -> Out {
        let entity = &artifact.entity;
        let text = |slot: &str| Out::Str(entity.str(slot).into());
        let file = entity.str("file");
        let repository = entity.text("repository").and_then(|name| {
            let id = self.compiled.model.find(crate::entities::REPOSITORY, name)?;
            self.compiled.model.names.decl(id).map(|decl| decl.entity.clone())
        });
        let credential = repository.as_ref().and_then(|repository| repository.value("credential").cloned());
        let credential = credential.map_or(Out::Null, |value| self.credential(&value));
        let source = if repository.is_some() { EcoString::new() } else { self.beside(entity.span, file) };
        Out::map([
            ("description", description(entity)),
            ("types", self.types(artifact.artifact_type)),
            ("properties", self.props(&as_written(&artifact.properties), scope, &eco_format!("{path}.properties"))),
            ("filename", Out::str(file.rsplit('/').next().unwrap_or(""))),
            ("sourcePath", Out::Str(source)),
            ("targetPath", text("deploy_path")),
            ("version", text("artifact_version")),
            ("checksumAlgorithm", text("checksum_algorithm")),
            ("checksum", text("checksum")),
            ("credential", credential),
        ])
    }

    /// A repository's credential, completed from its data type.
    pub(super) fn credential(&mut self, value: &Val) -> Out {
        let Some(id) = self.compiled.model.built_in("tosca.datatypes.Credential") else { return Out::from(value) };
        let mut problems = crate::problem::Problems::new();
        let Some(definition) = self.compiled.model.complete(id).cloned() else { return Out::from(value) };
        let declared = crate::values::Declared { data_type: id, definition: &definition };
        let completed =
            crate::values::Checker::new(&self.compiled.model, &mut problems).typed(value, declared, value.span, 0);
        match self.options.form {
            Form::Coerced => Out::from(&completed),
            Form::Raw => self.raw_typed(&completed, Some(id), None, ""),
        }
    }

    /// A file relative to the file that names it.
    pub(super) fn beside(&self, span: Span, file: &str) -> EcoString {
        let files = &self.compiled.model.files;
        let owner = files
            .of(span.file)
            .and_then(|index| files.list.get(index))
            .map(|file| file.path.clone())
            .unwrap_or_default();
        purlin_value::path::join(purlin_value::path::parent(&owner), file).into()
    }
}

fn operation_out(operation: &Operation, inputs: Option<Out>) -> Out {
    let texts =
        |values: &[Val]| Out::List(values.iter().map(|value| Out::Str(crate::render::artifact_text(value))).collect());
    let outputs = operation.outputs.iter().map(|(name, value)| (name.text.clone(), mapping(value))).collect();
    let mut out = vec![
        ("description", Out::Str(operation.description.clone())),
        ("implementation", Out::Str(operation.primary.as_ref().map(crate::render::artifact_text).unwrap_or_default())),
        ("dependencies", texts(&operation.dependencies)),
        ("timeout", Out::Int(operation.timeout.unwrap_or(if inputs.is_some() { -1 } else { 0 }))),
        ("outputs", Out::Map(outputs)),
    ];
    if !operation.host.is_empty() {
        out.push(("host", Out::Str(operation.host.clone())));
    }
    if let Some(inputs) = inputs {
        out.push(("inputs", inputs));
    }
    Out::Fields(out)
}

/// The target of an output.
fn mapping(value: &Val) -> Out {
    Out::from(value)
}

/// The properties of an artifact, untyped: readers of Clouts expect no types.
fn as_written(properties: &Props) -> Props {
    let given = properties.iter().filter(|(_, prop)| prop.given == Given::Assigned);
    given.map(|(name, prop)| (name.clone(), Prop { definition: None, data_type: None, ..prop.clone() })).collect()
}
