//! Attributes of instances: evaluated on demand, once, with their schema and where they come from.

use super::engine::{Ctx, Engine, is_static};
use super::frame::{Frame, Mode, Variable};
use super::lazy::Memo;
use crate::error::{Error, Kind, Result};
use crate::tree::{Attribute, NodeId, NodeKind};
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_jinja::evaluation::piece;
use purlin_value::Origin;
use std::rc::Rc;

/// Most attributes an error names on the way to it.
const MOST_THROUGH: usize = 20;

impl Engine<'_> {
    /// Reports that an attribute, or a part of one, depends on itself.
    pub(crate) fn notice_cycle(&self, again: Option<(NodeId, &str)>) {
        let stack = self.stack.borrow();
        let from = again.and_then(|(id, name)| stack.iter().position(|(node, known)| *node == id && known == name));
        let members = stack.get(from.unwrap_or_else(|| stack.len().saturating_sub(1))..).unwrap_or(&[]);
        let names: Vec<String> =
            members.iter().map(|(node, name)| format!("`{}::{name}`", self.tree.node(*node).name)).collect();
        let message = match names.as_slice() {
            [] => "a value refers to itself, so it is null".to_owned(),
            [one] => format!("{one} refers to itself, so it is null"),
            _ => format!("these refer to each other, so they are null: {}", names.join(", ")),
        };
        let is_required = |(node, name): &&(NodeId, EcoString)| {
            let attribute = self.tree.node(*node).attributes.get(name);
            let schema = attribute.and_then(|attribute| attribute.schema.as_ref());
            schema.is_some_and(|schema| schema.required && !schema.attribute)
        };
        self.cyclic.borrow_mut().extend(members.iter().cloned());
        let mut error = match members.iter().find(is_required) {
            Some((node, name)) => {
                let message = format!("{message}; `{}::{name}` is required", self.tree.node(*node).name);
                Error::new(Kind::RequiredCycle, message)
            }
            None => Error::new(Kind::Cycle, message),
        };
        if let Some((node, name)) = members.first() {
            let attribute = self.tree.node(*node).attributes.get(name);
            error.origin = attribute.map_or(Origin::NONE, |attribute| attribute.raw.origin);
        }
        let mut notices = self.notices.borrow_mut();
        if notices.len() < crate::limits::MAX_TRACE {
            notices.push(*error);
        }
    }

    /// The origin of an expression's result: its location, and the values it read.
    fn derived(&self, raw: &Val, reads: Vec<Origin>) -> Origin {
        self.derived_at(raw.origin, step_of(raw), reads)
    }

    /// The origin of a text selected by values that were read but are not part of it.
    fn with_reads(&self, text: Origin, pieces: Origin, mut reads: Vec<Origin>) -> Origin {
        let known = self.session.origins.look(pieces, &self.session.sources, |kind| kind.inputs().collect::<Vec<_>>());
        reads.retain(|read| *read != pieces && !known.contains(read));
        self.session.origins.selected(text, "other values were read", None, reads)
    }

    /// All attributes of an instance, evaluated.
    pub fn all_attributes(&self, id: NodeId) -> Result<Val> {
        let mut entries = ValMap::default();
        for name in self.tree.node(id).attributes.keys() {
            if let Some(value) = self.attribute(id, name)? {
                entries.insert(MapKey::Str(name.clone()), self.force(value)?);
            }
        }
        Ok(Val::map(entries))
    }

    /// An attribute of an instance, evaluated; none if it has no such attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Result<Option<Val>> {
        if let Some(inner) = self.tree.node(id).shadow {
            return self.attribute(inner, name);
        }
        let Some(attribute) = self.tree.node(id).attributes.get(name) else {
            return self.delegate(id, name);
        };
        let memo = attribute.memo.borrow().clone();
        let value = match memo {
            Memo::Done(value) => value,
            Memo::Busy => {
                self.notice_cycle(Some((id, name)));
                Val::null()
            }
            Memo::Empty => match self.failure(id, name) {
                Some(error) => return Err(error),
                None => self.solve(id, name, attribute)?,
            },
        };
        if value.is_null() {
            self.pass_on_cycle(id, name);
        }
        self.note_read(&value);
        Ok(Some(value))
    }

    /// Marks the current attribute as possibly null because of a cycle, since it reads one that is.
    fn pass_on_cycle(&self, id: NodeId, name: &str) {
        let mut cyclic = self.cyclic.borrow_mut();
        if !cyclic.is_empty() && cyclic.contains(&(id, EcoString::from(name))) {
            cyclic.extend(self.stack.borrow().last().cloned());
        }
    }

    /// Evaluates an attribute that was not evaluated yet.
    pub(super) fn compute(&self, id: NodeId, name: &str, attribute: &Attribute) -> Result<Val> {
        *attribute.memo.borrow_mut() = Memo::Busy;
        self.stack.borrow_mut().push((id, name.into()));
        let result = self.deeper(|| self.evaluate_attribute(id, name, attribute));
        self.stack.borrow_mut().pop();
        let mut result = self.unless_postponed(result);
        *attribute.memo.borrow_mut() = match &result {
            Ok(value) => Memo::Done(value.clone()),
            Err(_) => Memo::Empty,
        };
        // Parts may read other parts of the same value, so it is known before they are evaluated.
        if let Ok(value) = &result
            && let Err(error) = self.check_parts(id, name, attribute, value)
        {
            *attribute.memo.borrow_mut() = Memo::Empty;
            result = Err(error);
        }
        if let (Ok(_), Some(touched)) = (&result, self.touched.borrow_mut().as_mut()) {
            touched.push((id, name.into()));
        }
        result.map_err(|mut error| {
            if error.through.len() < MOST_THROUGH {
                error.through.push(format!("`{name}` of `{}`", self.tree.node(id).name));
            }
            if !error.origin.is_known() {
                error.origin = attribute.raw.origin;
            }
            self.scrubbed(error)
        })
    }

    fn evaluate_attribute(&self, id: NodeId, name: &str, attribute: &Attribute) -> Result<Val> {
        let mode = Mode { attribute: true, ..Mode::default() };
        let on = if self.tree.node(id).kind == NodeKind::Values { self.tree.topology_of(id).root } else { id };
        let mut frame = Frame {
            current: Val::node(on),
            start: Val::node(on),
            scope: None,
            mode,
            dir: attribute.dir.as_ref().unwrap_or(&self.tree.node(id).source_dir).clone(),
        };
        let ctx = Ctx { engine: self, frame: Rc::new(frame.clone()) };
        let (outer, around) = (self.reads.take(), self.written.replace(attribute.raw.origin));
        let result = ctx.evaluate(&attribute.raw);
        let reads = self.reads.replace(outer);
        self.written.set(around);
        let mut value = result?;
        if attribute.raw.origin.is_known() && !is_static(&attribute.raw, 0) {
            value.origin = match &value {
                // Items of a collection may know their own origins; the expression decides that they are here.
                Val { data: Data::List(_) | Data::Map(_), origin, .. } => {
                    let span = self.session.origins.span(attribute.raw.origin, &self.session.sources);
                    let taken = if *origin == attribute.raw.origin { Origin::NONE } else { *origin };
                    self.session.origins.selected(taken, "was evaluated", span, reads)
                }
                // A value with its own pieces, or passed through unchanged, keeps them: the other reads only decided.
                known if value.origin.is_known() && value.origin != attribute.raw.origin => {
                    let whole = piece(0, known.as_str().map_or(0, str::len), value.origin);
                    let span = self.session.origins.span(attribute.raw.origin, &self.session.sources);
                    let derived = self.session.origins.derived(step_of(&attribute.raw), span, vec![whole]);
                    self.with_reads(derived, value.origin, reads)
                }
                _ => self.derived(&attribute.raw, reads),
            };
        }
        if let Some(schema) = &attribute.schema {
            if !schema.sensitive_parts.is_empty() {
                value = crate::ensemble::validate::mark_parts(self.force(value)?, &schema.sensitive_parts);
            }
            for (path, transform) in &schema.part_transforms {
                value = transformed_part(&ctx, self.force(value)?, path, transform)?;
            }
            if let Some(transform) = &schema.transform {
                let scope = ctx.layer(vec![Variable::ready("value", value)]);
                frame.scope = Some(scope);
                let ctx = Ctx { engine: self, frame: Rc::new(frame.clone()) };
                value = ctx.map_value(transform)?;
            }
            crate::ensemble::validate::value(self, &frame, id, name, schema, &value)?;
        }
        Ok(value.taint_if(attribute.sensitive))
    }

    /// Checks a list or map of expressions against its type. A part that cannot be evaluated is reported where it is
    /// read.
    fn check_parts(&self, id: NodeId, name: &str, attribute: &Attribute, value: &Val) -> Result<()> {
        let Some(schema) = attribute.schema.as_ref().filter(|_| matches!(value.data, Data::Lazy(_))) else {
            return Ok(());
        };
        let forced = self.deeper(|| self.force(value.clone()));
        self.unless_postponed(Ok(()))?;
        match forced {
            Ok(forced) => crate::ensemble::validate::typed(self, id, name, schema, &forced),
            Err(_) => Ok(()),
        }
    }

    /// Attributes that another instance or an expression supplies (`.interfaces`).
    fn delegate(&self, id: NodeId, name: &str) -> Result<Option<Val>> {
        let node = self.tree.node(id);
        let Some(interfaces) = node.attributes.get(".interfaces") else {
            return Ok(None);
        };
        if name == ".interfaces" || name == "default" || name == "inheritFrom" {
            return Ok(None);
        }
        if interfaces.raw.get("inherit").is_some()
            && let Some(Val { data: Data::Node(from), .. }) = self.attribute(id, "inheritFrom")?
        {
            return self.deeper(|| self.attribute(from, name));
        }
        if interfaces.raw.get("default").is_some()
            && let Some(default) = node.attributes.get("default")
        {
            let key = Variable::ready("key", Val::str(name));
            let ctx = self.context_with(id, vec![key], Mode::default());
            return self.deeper(|| ctx.map_value(&default.raw)).map(Some);
        }
        Ok(None)
    }
}

/// A value with an expression applied to one part of it, if it has that part.
fn transformed_part(ctx: &Ctx<'_, '_>, value: Val, path: &[EcoString], transform: &Val) -> Result<Val> {
    let Some((key, rest)) = path.split_first() else {
        return ctx.with_variables(vec![Variable::ready("value", value)]).map_value(transform);
    };
    let key = MapKey::Str(key.clone());
    let Some(part) = value.as_map().and_then(|entries| entries.get(&key)).filter(|part| !part.is_null()) else {
        return Ok(value);
    };
    let part = transformed_part(ctx, ctx.engine.force(part.clone())?, rest, transform)?;
    let mut entries = value.as_map().cloned().unwrap_or_default();
    entries.insert(key, part);
    Ok(value.with(Val::map(entries).data))
}

/// The kind of step that computes a value as written.
fn step_of(raw: &Val) -> &'static str {
    if matches!(raw.data, Data::Str(_)) { "template" } else { "eval" }
}
