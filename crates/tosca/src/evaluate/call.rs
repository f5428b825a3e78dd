//! Calls: the function, its arguments, and functions that look at nodes of the service.
//!
//! Functions of their arguments alone are in `compute`.

use super::compute::{is_lasting, takes_unknown, truth};
use super::path::Reference;
use super::typed::Declared;
use super::walk::{Astray, Place};
use super::{Evaluator, Failure, Key, Scope, VALUE_DEPTH, Verdict};
use crate::edition::Standard;
use crate::entities;
use crate::quirks;
use crate::topology::{Given, Node};
use crate::val::{Call, Data, Val};
use ecow::{EcoString, eco_format};
use purlin_syntax::what;
use purlin_syntax::{Message, What};
use purlin_value::Taint;
use std::sync::Arc;

pub(super) type Answer = Result<Val, Failure>;

impl Evaluator<'_> {
    pub(super) fn call(&mut self, value: &Val, call: &Call, scope: &Scope, depth: u32) -> Answer {
        let fail = |message: Message| failure(&call.name, value, message);
        let is_2 = self.model.edition().is_2();
        let name = call.name.as_str();
        if is_2 && matches!(name, "and" | "or") {
            return self.until_decided(value, call, scope, depth);
        }
        // Summands have the type of the sum; other arguments have their own.
        let kept = matches!(name, "sum" | "difference" | "product" | "quotient" | "remainder");
        let plain = (!kept && scope.expected.is_some()).then(|| Scope { expected: None, ..scope.clone() });
        let within = plain.as_ref().unwrap_or(scope);
        let args = call.args.iter().map(|arg| self.eval(arg, within, depth + 1)).collect::<Result<Vec<_>, _>>()?;
        if let Some(opaque) = args.iter().find(|arg| arg.is_opaque()) {
            return Ok(value.with(opaque.data.clone()));
        }
        let level = std::mem::replace(&mut self.level, depth + VALUE_DEPTH);
        self.overrun.set(None);
        let answer = match name {
            "get_input" | "get_property" | "get_attribute" => self.lookup(value, name, &args, scope),
            "get_artifact" => self.artifact(value, &args, scope),
            "get_nodes_of_type" => self.nodes_of_type(value, &args).map_err(fail),
            "value" if is_2 => self.tested(value, &args, scope).map_err(fail),
            "node_index" | "relationship_index" if is_2 => self.index(value, name, scope).map_err(fail),
            "available_allocation" if is_2 => self.available(value, &args, scope),
            "concat" => self.concat(value, &args).map_err(&fail),
            "join" => self.joined(value, &args).map_err(fail),
            "token" => self.token(value, &args).map_err(&fail),
            _ if is_2 => self.computed_call(value, call, &args, scope).map_err(fail),
            _ if self.model.scripts.defines(name) => self.scripted_call(value, name, &args, scope).map_err(fail),
            _ => Ok(value.with(Data::Pending(name.into()))),
        };
        self.level = level;
        let taint = made_from(name, &args, &answer) | value.taint();
        let computed =
            answer.map_err(|failure| self.limited(failure)).map_err(|failure| failure.hiding(name, taint))?;
        let computed = self.noted(computed, &call.name, &args, value).tainted_by(taint).without_words();
        if taint.is_secret() {
            let secret = args.iter().chain([&computed]).filter(|part| part.is_tainted());
            self.secrets.extend(secret.filter_map(Val::as_str).map(EcoString::from));
        }
        Ok(computed)
    }

    /// A function of TOSCA 2.0 that depends only on its arguments. While parts of a list or map are unknown, it is
    /// answered only if they make no difference.
    fn computed_call(&mut self, value: &Val, call: &Call, args: &[Val], scope: &Scope) -> Result<Val, Message> {
        let name = call.name.as_str();
        let unknown = if takes_unknown(name) { None } else { self.unknown_in(args)? };
        if let Some(unknown) = unknown.filter(|_| !is_lasting(name)) {
            return Ok(value.with(unknown.clone()));
        }
        let declared = self.compared(call, scope);
        let computed = match self.compute(name, args, declared) {
            Some(computed) => computed?,
            None if self.model.scripts.defines(name) => return self.scripted_call(value, name, args, scope),
            None => return Ok(value.with(Data::Pending(eco_format!("`${name}`, which an orchestrator computes")))),
        };
        match (unknown, &computed) {
            (Some(unknown), Data::Bool(false)) => Ok(value.with(unknown.clone())),
            _ => Ok(value.with(computed)),
        }
    }

    /// A function or constraint defined in a scriptlet; a constraint is applied to the value under test.
    fn scripted_call(&mut self, value: &Val, name: &str, args: &[Val], scope: &Scope) -> Result<Val, Message> {
        if let Some(unknown) = self.unknown_in(args)? {
            return Ok(value.with(unknown.clone()));
        }
        if let Some(answer) = self.scripted(value, name, args) {
            return answer;
        }
        let Some((tested, _)) = &scope.value else {
            return Err("it means something only in a validation clause".to_owned().into());
        };
        let args: Vec<Val> = [tested.clone()].into_iter().chain(args.iter().cloned()).collect();
        match self.scripted_constraint(name, &args) {
            Some(verdict) => Ok(value.with(Data::Bool(matches!(verdict?, Verdict::Holds)))),
            None => Ok(value.with(Data::Pending(name.into()))),
        }
    }

    /// The first part of some values that is not known.
    fn unknown_in<'v>(&self, values: &'v [Val]) -> Result<Option<&'v Data>, Message> {
        for value in values {
            if let Some(unknown) = self.looked_through(value)?.opaque {
                return Ok(Some(unknown));
            }
        }
        Ok(None)
    }

    fn joined(&self, value: &Val, args: &[Val]) -> Result<Val, Message> {
        match self.unknown_in(args)? {
            None => Ok(self.join(value, args)?),
            Some(unknown) if self.model.edition().is_2() => Ok(value.with(unknown.clone())),
            Some(_) => Ok(value.with(Data::Pending("join".into()))),
        }
    }

    /// `$and` and `$or`: the arguments up to the first that decides. An unknown one matters only if no other decides.
    fn until_decided(&mut self, value: &Val, call: &Call, scope: &Scope, depth: u32) -> Answer {
        let decisive = call.name == "or";
        let mut unknown = None;
        let mut seen = Vec::with_capacity(call.args.len());
        let mut taint = Taint::NONE;
        for arg in &call.args {
            let answer = self.eval(arg, scope, depth + 1)?;
            if answer.is_opaque() {
                unknown.get_or_insert(answer.data);
                continue;
            }
            let holds = truth(&answer).map_err(|reason| failure(&call.name, value, reason))?;
            taint |= answer.taint();
            seen.push(answer);
            if holds == decisive {
                let decided = value.with(Data::Bool(decisive)).tainted_by(taint);
                let last = seen.len() - 1;
                return Ok(self.noted(decided, &call.name, seen.get(last..).unwrap_or(&[]), value));
            }
        }
        let answer = value.with(unknown.unwrap_or(Data::Bool(!decisive))).tainted_by(taint);
        Ok(self.noted(answer, &call.name, &seen, value))
    }

    fn lookup(&mut self, value: &Val, name: &str, args: &[Val], scope: &Scope) -> Answer {
        let fail = |message: Message| failure(name, value, message);
        let unknown = |what: String| value.with(Data::Pending(what.into()));
        let is_2 = self.model.edition().is_2();
        let found = match self.reference_of(name, args, scope) {
            Some(Ok(found)) => found,
            // In TOSCA 2.0 many values are known only once the service runs.
            Some(Err(Astray::NotYet(message))) if is_2 => return Ok(unknown(message.to_string())),
            Some(Err(astray)) => return Err(Failure { astray: true, ..fail(astray.message()) }),
            None => return Ok(unknown(name.to_owned())),
        };
        let Reference { keys, listed, used } = found;
        if name == "get_input" {
            self.varies.set(true);
        }
        if let ("get_input", Some(key)) = (name, keys.first())
            && !self.topology.inputs.contains_key(&key.name)
        {
            let declared = self.model.service().and_then(|service| service.named("inputs", &key.name)).is_some();
            if declared || (is_2 && (scope.in_workflow || self.model.service().is_none())) {
                return Ok(unknown(format!("the input `{}`", key.name)));
            }
            let hint = super::path::hint(&key.name, self.topology.inputs.keys().map(|name| name.as_str()));
            return Err(fail(what::unknown("input", &key.name).hint(hint)));
        }
        let rest = args.get(used..).unwrap_or(&[]);
        self.afford_list(keys.len()).map_err(fail)?;
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            values.push(self.looked_up(value, key, rest).map_err(fail)?);
        }
        match (listed, values.pop()) {
            (false, Some(found)) => Ok(found.at(value.span)),
            (_, last) => {
                values.extend(last);
                self.listed(value, values).map_err(fail)
            }
        }
    }

    /// A referenced value, or a part of it.
    fn looked_up(&mut self, value: &Val, key: Key, rest: &[Val]) -> Result<Val, Message> {
        let given = self.standing(&key).map(|prop| prop.given);
        let later = self.model.edition().is_2() || self.model.allows(quirks::ATTRIBUTES_PENDING);
        if given == Some(Given::Nothing) && later {
            let what = eco_format!("the attribute `{}`, which is known when the service runs", self.title(&key));
            return Ok(value.with(Data::Pending(what)));
        }
        let mut found = self.force(key);
        for step in rest {
            if found.is_opaque() {
                return Ok(value.with(found.data));
            }
            found = self.nested(&found, step)?;
        }
        Ok(found)
    }

    /// The value under test, or a part of it.
    fn tested(&self, value: &Val, args: &[Val], scope: &Scope) -> Result<Val, Message> {
        let Some((tested, _)) = &scope.value else {
            return Err("it means something only in a validation clause".to_owned().into());
        };
        let mut found = tested.clone();
        for step in args {
            match self.nested(&found, step) {
                Ok(part) => found = part,
                Err(message) if self.overrun.get().is_some() => return Err(message),
                Err(_) => return Ok(value.with(Data::Null)),
            }
        }
        Ok(found)
    }

    /// The type by which the arguments of a call are compared: that of one of them, of the value under test, or of the
    /// value being computed.
    fn compared(&self, call: &Call, scope: &Scope) -> Option<Declared> {
        let declared = call.args.iter().find_map(|arg| self.type_of(arg, scope));
        let tested = || scope.value.as_ref().and_then(|(_, id)| *id).or(scope.expected);
        declared.or_else(|| tested().map(|id| Declared { id, definition: None }))
    }

    /// The index among several nodes or relationships.
    fn index(&self, value: &Val, name: &str, scope: &Scope) -> Result<Val, Message> {
        let source = scope.node.or(scope.relationship.map(|(source, _)| source));
        let (found, place) = match name {
            "node_index" => (source.and_then(|node| self.node_at(node)).map(|node| node.index), "node"),
            _ => {
                let found =
                    scope.relationship.and_then(|(source, requirement)| self.relationship_index(source, requirement));
                (found, "requirement or relationship")
            }
        };
        let found = found.and_then(|index| i64::try_from(index).ok());
        let data = found.map(Data::Int).ok_or_else(|| format!("it means something only in a {place}"))?;
        Ok(value.with(data))
    }

    /// The location of an artifact. TOSCA 2.0 leads to its node by a path.
    fn artifact(&self, value: &Val, args: &[Val], scope: &Scope) -> Answer {
        let fail = |message: Message| failure("get_artifact", value, message);
        let is_2 = self.model.edition().is_2();
        let Some(entity) = args.first().and_then(Val::as_str) else {
            return Err(fail("it needs an entity and the name of an artifact".into()));
        };
        let walked = if is_2 {
            self.walk(args, scope).map(|walk| (walk.places.first().copied().filter(|_| !walk.listed), walk.used))
        } else {
            self.entity(entity, scope).map(|place| (Some(place), 1))
        };
        let (place, used) = match walked {
            Ok(walked) => walked,
            Err(Astray::NotYet(message)) if is_2 => return Ok(value.with(Data::Pending(message.to_string().into()))),
            Err(astray) => return Err(fail(astray.message())),
        };
        let Some(Place::Node(index)) = place else { return Err(fail("only nodes have artifacts".into())) };
        let Some(name) = args.get(used).and_then(Val::as_str) else {
            return Err(fail("it needs an entity and the name of an artifact".into()));
        };
        let node = self.node_at(index);
        let artifact = node.and_then(|node| node.artifacts.get(name)).map(|artifact| artifact.entity.clone());
        let declared = || node.and_then(|node| self.model.complete(node.node_type)?.named("artifacts", name).cloned());
        match artifact.or_else(declared) {
            Some(entity) => Ok(value.with(Data::Str(entity.str("file").into()))),
            None => Err(fail(what::unknown("artifact", name).and(format!(" in `{}`", self.node_name(index))))),
        }
    }

    fn nodes_of_type(&self, value: &Val, args: &[Val]) -> Result<Val, Message> {
        let name = args.first().and_then(Val::as_str).ok_or("it needs the name of a node type")?;
        self.spend(self.topology.nodes.len() as u64)?;
        let file = self.model.files.root().map(|file| file.id).ok_or("there is no root file")?;
        let wanted =
            self.model.names.find(file, entities::NODE_TYPE, name).ok_or_else(|| what::unknown("node type", name))?;
        let nodes = self.topology.nodes.iter().filter(|(_, node)| self.model.hierarchy.is_a(node.node_type, wanted));
        let named = |(name, node): (&EcoString, &Arc<Node>)| {
            let mut found = value.with(Data::Str(name.clone()));
            found.origin = self.origins.map_or(value.origin, |origins| origins.file(node.template.at));
            found
        };
        let names = nodes.map(named).collect();
        self.listed(value, names)
    }
}

/// The taint of a call's result. Where a call only moves or selects values, each keeps its own; every other result is
/// made from all arguments.
fn made_from(name: &str, args: &[Val], answer: &Answer) -> Taint {
    let moves = name.starts_with("get_") || name == "available_allocation";
    let joins = name == "concat" && answer.as_ref().is_ok_and(|value| matches!(value.data, Data::List(_)));
    let taint = |arg: &Val| if (moves || joins) && answer.is_ok() { arg.taint() } else { arg.taint_within() };
    args.iter().map(taint).collect()
}

/// Why a call cannot be evaluated.
pub(super) fn failure(name: &str, call: &Val, reason: Message) -> Failure {
    // A reason that names the function, or a missing target, is clear without the call.
    let is_clear = matches!(reason.what(), What::Unknown { .. } | What::Call { .. });
    // A reason that names neither is prefixed with the call.
    let reason = match reason.what() {
        What::Other => what::about([format!("${name}"), name.to_owned()], reason),
        _ => reason,
    };
    let message = if is_clear { reason } else { reason.under(format!("`{name}` cannot be evaluated: ")) };
    Failure::new(message, call.span)
}
