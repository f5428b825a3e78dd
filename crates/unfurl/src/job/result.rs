//! The result of an operation: its success, and its changes of instances.

use super::operation::RESULT_TEMPLATE;
use super::task::Dependency;
use super::{Job, Request};
use crate::error::{Error, Kind, Result};
use crate::eval::frame::Variable;
use crate::python;
use crate::tree::{Attribute, NodeId, NodeKind, State, Status};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::Flavor;

/// The outcome of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Whether it succeeded; by default it did.
    pub success: Option<bool>,
    /// Whether it changed the resource behind its instance; unknown by default.
    pub modified: Option<bool>,
    /// The status its instance has now.
    pub status: Option<Status>,
    /// The result.
    pub result: Val,
    /// Its outputs.
    pub outputs: ValMap,
    /// Whether the reason for a failure was reported already.
    pub is_reported: bool,
}

impl Outcome {
    /// A success.
    pub fn success() -> Self {
        Outcome { success: Some(true), ..Outcome::default() }
    }

    /// A failure.
    pub fn failure(why: &str) -> Self {
        Outcome { success: Some(false), result: Val::str(why), ..Outcome::default() }
    }

    /// An operation that did not run.
    pub fn not_run(why: &str) -> Self {
        Outcome { modified: Some(false), ..Outcome::failure(why) }
    }

    /// An outcome made from the input `done`.
    pub fn of_done(done: &Val) -> Self {
        let mut outcome = Outcome::default();
        outcome.take_done(done);
        outcome
    }

    /// The input `done` overrides the rest.
    pub fn take_done(&mut self, done: &Val) {
        let said = |key: &str| done.get(key).filter(|value| !value.is_null());
        if let Some(success) = said("success") {
            self.success = Some(python::truthy(success));
        }
        if let Some(modified) = said("modified") {
            match status_of(modified) {
                Some(status) => {
                    self.status = Some(status);
                    self.modified = Some(true);
                }
                None => self.modified = Some(python::truthy(modified)),
            }
        }
        if let Some(status) = said("status").and_then(status_of) {
            self.status = Some(status);
        }
        if let Some(result) = said("result") {
            self.result = result.clone();
        }
        if let Some(Data::Map(outputs)) = said("outputs").map(|outputs| &outputs.data) {
            self.outputs = (**outputs).clone();
        }
    }
}

fn status_of(value: &Val) -> Option<Status> {
    match &value.data {
        Data::Status(status) => Some(*status),
        Data::Str(text) => Status::parse(text),
        _ => None,
    }
}

fn state_of(value: &Val) -> Option<State> {
    match &value.data {
        Data::State(state) => Some(*state),
        Data::Str(text) => State::parse(text),
        _ => None,
    }
}

/// The changes of a result to one instance.
pub(super) struct Update(Val);

impl Job<'_> {
    /// The updates that the input `resultTemplate` makes of a result.
    pub(super) fn result_template(
        &mut self,
        index: usize,
        request: &Request,
        vars: ValMap,
    ) -> (Result<Vec<Update>>, Vec<Dependency>) {
        let Some(raw) = request.operation.inputs.get(&MapKey::from(RESULT_TEMPLATE)).filter(|raw| !raw.is_null())
        else {
            return (Ok(Vec::new()), Vec::new());
        };
        let mut variables = variables_of(vars);
        variables.push(Variable::ready("result", Val::null()));
        let found = self.evaluate(index, variables, |inputs| {
            let value = inputs.ctx.map_value(raw)?;
            match value.as_str().map(str::to_owned) {
                Some(text) => {
                    let read = crate::convert::from_yaml(inputs.ctx.engine.session, &text, Flavor::Core)?;
                    let tainted = value.is_tainted();
                    Ok(read.into_iter().next().unwrap_or_default().taint_if(tainted))
                }
                None => Ok(value),
            }
        });
        let (value, reads) = match found {
            Ok((value, reads)) => (value, reads.attributes),
            Err(error) => return (Err(error), Vec::new()),
        };
        let updates = match &value.data {
            Data::Map(_) => vec![Update(value)],
            Data::List(items) => items.iter().filter(|item| item.as_map().is_some()).cloned().map(Update).collect(),
            Data::Null => Vec::new(),
            _ => {
                let message =
                    format!("`resultTemplate` must give a mapping or a list of mappings, found {}", value.kind());
                return (Err(Error::new(Kind::Type, message)), reads);
            }
        };
        (Ok(updates), reads)
    }

    /// Applies the changes of a result to an instance; returns the attributes that changed.
    pub(super) fn update(
        &mut self,
        index: usize,
        update: Update,
    ) -> std::result::Result<Vec<(NodeId, ValMap)>, String> {
        let Update(said) = update;
        let own = self.requests.get(index).map_or(self.ensemble.tree.root(), |request| request.target);
        let name = said.get("name").and_then(Val::as_str).unwrap_or("SELF");
        let tree = &self.ensemble.tree;
        let id = match name {
            "SELF" | ".self" => Some(own),
            "HOST" => Some(tree.node(own).parent.unwrap_or(tree.root())),
            name => tree.by_name(name),
        };
        let Some(id) = id else {
            return Err(format!("the result of an operation makes a new instance `{name}`, which is not supported"));
        };
        if let Some(ready) = said.get("readyState") {
            let local = ready.get("local").or_else(|| ready.as_str().map(|_| ready)).and_then(status_of);
            let state = ready.get("state").and_then(state_of);
            if let Some(node) = self.ensemble.tree.node_mut(id) {
                node.local_status = local.or(node.local_status);
                node.state = state.or(node.state);
            }
        }
        for (key, keep) in [("protected", 0), ("customized", 1)] {
            let Some(value) = said.get(key) else { continue };
            let record = self.records.edit(id);
            let slot = if keep == 0 { &mut record.protected } else { &mut record.customized };
            *slot = (!value.is_null()).then(|| value.clone());
        }
        let changed = match said.get("attributes").and_then(Val::as_map) {
            Some(attributes) => self.set_attributes(id, attributes.clone(), said.is_tainted()),
            None => ValMap::default(),
        };
        Ok(if changed.is_empty() { Vec::new() } else { vec![(id, changed)] })
    }

    /// Sets attributes of an instance; returns those that changed.
    pub(super) fn set_attributes(&mut self, id: NodeId, values: ValMap, tainted: bool) -> ValMap {
        let mut changed = ValMap::default();
        for (key, value) in values {
            let Some(name) = key.as_str().map(EcoString::from) else { continue };
            let value = value.taint_if(tainted);
            let Some(node) = self.ensemble.tree.node_mut(id) else { continue };
            let known = node.attributes.get(&name);
            let schema = known.and_then(|attribute| attribute.schema.clone());
            let sensitive = known.is_some_and(|attribute| attribute.sensitive);
            let is_same = known.is_some_and(|attribute| python::equal(&attribute.raw, &value));
            let mut attribute = Attribute::new(value.clone());
            attribute.sensitive = sensitive;
            attribute.schema = schema;
            node.attributes.insert(name, attribute);
            let value = value.taint_if(sensitive);
            if !is_same {
                changed.insert(key.clone(), value.clone());
            }
            if matches!(node.kind, NodeKind::Node | NodeKind::Relationship) {
                self.records.edit(id).attributes.insert(key, value);
            }
        }
        changed
    }

    /// Outputs go to the attributes that the operation maps them to.
    pub(super) fn take_outputs(&mut self, request: &Request, outputs: &ValMap) -> Vec<(NodeId, ValMap)> {
        let mut set = ValMap::default();
        for (name, value) in outputs {
            let mapping = request.operation.outputs.iter().find(|(known, _)| Some(known.as_str()) == name.as_str());
            let Some((_, mapping)) = mapping else { continue };
            let target = match mapping.as_list() {
                Some([first, second]) if first.as_str() == Some("SELF") => second.as_str(),
                Some(_) => None,
                None => mapping.as_str(),
            };
            match target {
                Some(".status") => {
                    if let (Some(status), Some(node)) = (status_of(value), self.ensemble.tree.node_mut(request.target))
                    {
                        node.local_status = Some(status);
                    }
                }
                Some(".state") => {
                    if let (Some(state), Some(node)) = (state_of(value), self.ensemble.tree.node_mut(request.target)) {
                        node.state = Some(state);
                    }
                }
                Some(attribute) => {
                    set.insert(MapKey::from(attribute), value.clone());
                }
                None => {
                    let name = crate::convert::key_text(name);
                    let message =
                        format!("the output `{name}` goes to something other than an attribute of its instance");
                    let problem = purlin_syntax::Diagnostic::at(&crate::rules::RESULT, request.operation.span, message);
                    self.session.sink.push(problem.warning());
                }
            }
        }
        let changed = self.set_attributes(request.target, set, false);
        if changed.is_empty() { Vec::new() } else { vec![(request.target, changed)] }
    }
}

/// A variable for each entry.
fn variables_of(values: ValMap) -> Vec<Variable> {
    values.into_iter().map(|(name, value)| Variable::ready(crate::convert::key_text(&name), value)).collect()
}
