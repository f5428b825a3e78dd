//! Checks of evaluated properties: their type and constraints, whether they may be null, their own conditions.

use crate::ensemble::service::{Service, to_tosca};
use crate::error::{Error, Kind, Result};
use crate::eval::Engine;
use crate::eval::frame::{Frame, Variable};
use crate::limits::MAX_DEPTH;
use crate::python;
use crate::tree::{Check, NodeId, Schema};
use crate::val::{Data, MapKey, Val};
use crate::vault;
use purlin_syntax::Span;
use purlin_tosca::entity::Entity;
use purlin_tosca::evaluate::{Evaluator, Scope};
use purlin_tosca::model::{Model, Primitive};
use purlin_tosca::names::DeclId;
use purlin_tosca::problem::Problems;
use purlin_tosca::topology::{Prop, Topology};
use purlin_tosca::val as tosca;
use purlin_tosca::validate;
use purlin_tosca::values::{Checker, Stance};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// The check for values of a property, an attribute or an input, from its definition.
pub fn check(service: &Rc<Service>, prop: &Prop, stance: Stance) -> Option<Check> {
    let definition = prop.definition.clone()?;
    let data_type = prop.data_type?;
    let (service, at) = (Rc::clone(service), prop.at);
    let has_clauses = is_constrained(&service.model, data_type, &definition);
    Some(Check(Rc::new(move |value: &Val| {
        let value = to_tosca(value, &|_| at);
        let mut problems = Problems::new();
        let typed = Checker::new(&service.model, &mut problems).holding(stance).value(&value, &definition, at);
        if problems.list().iter().all(|problem| !problem.diagnostic.is_error()) && has_clauses {
            let mut evaluator = Evaluator::new(&service.model, &service.topology);
            validate::check(&mut evaluator, &typed, data_type, &definition, at, &Scope::default(), 0);
            return evaluator.problems().list().iter().map(|problem| problem.diagnostic.message.clone()).collect();
        }
        let errors =
            problems.list().iter().map(|problem| &problem.diagnostic).filter(|diagnostic| diagnostic.is_error());
        errors.map(|diagnostic| diagnostic.message.clone()).collect()
    })))
}

/// Checks an evaluated value against its type. Null and missing values pass where they are allowed.
pub fn value(engine: &Engine<'_>, frame: &Frame, id: NodeId, name: &str, schema: &Schema, value: &Val) -> Result<()> {
    let node = &engine.tree.node(id).name;
    let fail = |why: String| Err(Error::new(Kind::Invalid, format!("`{name}` of `{node}` is not valid: {why}")));
    if value.is_null() {
        // A cycle was reported as such.
        let cyclic = engine.cyclic.borrow().contains(&(id, name.into()));
        if schema.required && !schema.attribute && !cyclic {
            return fail("it is required and null".to_owned());
        }
        return Ok(());
    }
    typed(engine, id, name, schema, value)?;
    if let Some(validation) = &schema.validation {
        let ctx = crate::eval::Ctx { engine, frame: Rc::new(frame.clone()) };
        let variables = vec![Variable::ready("value", value.clone()), Variable::ready("property", Val::str(name))];
        let held = ctx.with_variables(variables).map_value(validation)?;
        if !python::truthy(&held) {
            return fail("its validation does not hold".to_owned());
        }
    }
    Ok(())
}

/// Checks an evaluated value against its type and constraints. One whose parts are not evaluated yet passes.
pub(crate) fn typed(engine: &Engine<'_>, id: NodeId, name: &str, schema: &Schema, value: &Val) -> Result<()> {
    // Numbers and booleans are accepted as strings.
    let as_text = schema.type_name == "string" && matches!(value.data, Data::Int(_) | Data::Float(_) | Data::Bool(_));
    let Some(check) = schema.check.as_ref().filter(|_| !as_text && !matches!(value.data, Data::Lazy(_))) else {
        return Ok(());
    };
    match (check.0)(value).first() {
        Some(problem) => {
            let secret = value.tainted_within();
            let why = if secret { "it does not have the declared type" } else { problem.as_str() };
            let node = &engine.tree.node(id).name;
            Err(Error::new(Kind::Invalid, format!("`{name}` of `{node}` is not valid: {why}")))
        }
        None => Ok(()),
    }
}

/// Marks the parts of a value that its data type declares secret.
pub(crate) fn mark_parts(value: Val, parts: &[ecow::EcoString]) -> Val {
    let (false, Some(entries)) = (parts.is_empty(), value.as_map()) else {
        return value;
    };
    let mut entries = entries.clone();
    for part in parts {
        if let Some(item) = entries.get_mut(&MapKey::Str(part.clone())) {
            *item = item.clone().taint();
        }
    }
    value.clone().with(Data::Map(Rc::new(entries)))
}

/// Checks the constraints of plain values in the service. Results of expressions are checked when they are known.
pub fn written(model: &Model, topology: &Topology, problems: &mut Problems) {
    if problems.any() {
        return; // a value of the wrong type breaks its constraints, too
    }
    let mut evaluator = Evaluator::new(model, topology);
    let mut seen = HashSet::new();
    let nodes = topology.nodes.values();
    let of_nodes = nodes.flat_map(|node| {
        let capabilities = node.capabilities.values().map(|capability| &*capability.properties);
        let relationships = node.requirements.iter().filter_map(|requirement| requirement.relationship.as_ref());
        let relationships = relationships.map(|relationship| &relationship.properties);
        [&node.properties].into_iter().chain(capabilities).chain(relationships)
    });
    for prop in of_nodes.chain([&topology.inputs]).flat_map(|props| props.values()) {
        let (Some(definition), Some(data_type)) = (&prop.definition, prop.data_type) else { continue };
        // Nodes of a type share its defaults.
        let known = (prop.value.span, Arc::as_ptr(definition));
        if is_constrained(model, data_type, definition) && seen.insert(known) {
            check_plain(model, &mut evaluator, &prop.value, data_type, definition, prop.at, 0);
        }
    }
    problems.absorb(evaluator.problems());
}

/// Checks a literal value, or its literal parts.
fn check_plain(
    model: &Model,
    evaluator: &mut Evaluator<'_>,
    value: &tosca::Val,
    data_type: DeclId,
    definition: &Entity,
    at: Span,
    depth: usize,
) {
    if is_plain(value) {
        validate::check(evaluator, value, data_type, definition, at, &Scope::default(), 0);
    } else if depth < MAX_DEPTH {
        validate::each_part(model, value, data_type, definition, &mut |part, data_type, definition, at| {
            check_plain(model, evaluator, part, data_type, definition, at, depth + 1);
        });
    }
}

/// Whether a value is final: no expression, not null, no vault data.
fn is_plain(value: &tosca::Val) -> bool {
    let is_vault = value.as_str().is_some_and(|text| vault::is_vault(text.as_bytes()));
    !matches!(value.data, tosca::Data::Null) && !value.is_opaque() && !value.has_call() && !is_vault
}

/// Whether a type or definition may restrict a value. Restrictions of parts are only known by checking them.
fn is_constrained(model: &Model, data_type: DeclId, definition: &Entity) -> bool {
    let simple =
        model.primitive(data_type).is_some_and(|primitive| !matches!(primitive, Primitive::List | Primitive::Map));
    let of_type = model.complete(data_type).is_some_and(|complete| !complete.clauses("validation").is_empty());
    !simple || of_type || !definition.clauses("validation").is_empty()
}
