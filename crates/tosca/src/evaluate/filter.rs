//! Filters: whether a node or a relationship that is being considered passes.
//!
//! Candidate-independent parts are evaluated once: values stay known from one candidate to the next, and the parts of
//! a condition that are the same for all of them are replaced by their results.

use super::compute::reads_texts;
use super::typed::Declared;
use super::{Evaluator, Key, MAX_DEPTH, Owner, Scope, State};
use crate::coerce;
use crate::model::Primitive;
use crate::resolve::Edge;
use crate::val::{Call, Data, Val};
use std::sync::Arc;

impl Evaluator<'_> {
    /// Whether a node's property satisfies the clauses of a filter; a missing property does not.
    pub fn node_property_holds(&mut self, node: usize, name: &str, clauses: &[Val]) -> bool {
        self.holds(Key { owner: Owner::Node(node), attribute: false, name: name.into() }, clauses)
    }

    /// The same for a property of a capability, which is named or given by its type.
    pub fn capability_property_holds(&mut self, node: usize, capability: &str, name: &str, clauses: &[Val]) -> bool {
        let Some((_, rendered)) = self.topology.nodes.get_index(node) else { return false };
        let by_name = rendered.capabilities.get_index_of(capability);
        let by_type = || {
            rendered.capabilities.values().position(|found| {
                found.capability_type.is_some_and(|id| {
                    self.model.hierarchy.lineage(id).any(|id| {
                        self.model.names.decl(id).is_some_and(|decl| {
                            decl.name == capability || decl.canonical.ends_with(&format!("::{capability}"))
                        })
                    })
                })
            })
        };
        match by_name.or_else(by_type) {
            Some(index) => {
                self.holds(Key { owner: Owner::Capability(node, index), attribute: false, name: name.into() }, clauses)
            }
            None => false,
        }
    }

    fn holds(&mut self, key: Key, clauses: &[Val]) -> bool {
        let Some((prop, scope)) = self.find(&key) else { return false };
        let value = self.force(key);
        if value.is_opaque() {
            return matches!(value.data, Data::Pending(_));
        }
        clauses.iter().all(|clause| self.clause_holds(clause, &value, prop.data_type, &scope).unwrap_or(false))
    }

    /// A value in a requirement, evaluated; none if that fails.
    pub(crate) fn in_relationship(&mut self, source: usize, requirement: usize, value: &Val) -> Option<Val> {
        let scope = Scope { node: Some(source), ..Scope::relationship(source, requirement) };
        let found = self.eval(value, &scope, 0).ok();
        self.forget();
        found
    }

    /// Discards tentative values.
    fn forget(&mut self) {
        for key in std::mem::take(&mut self.passing) {
            if matches!(self.memo.get(&key), Some(State::Tentative(_))) {
                self.memo.remove(&key);
            }
        }
    }

    /// Runs `act` as if a requirement were met by an edge. Values evaluated meanwhile that depend on it are discarded.
    pub(crate) fn considering<T>(&mut self, edge: Edge, act: impl FnOnce(&mut Self, &Scope) -> T) -> T {
        let scope = Scope::relationship(edge.source, edge.requirement);
        self.considered = Some(edge);
        let answer = act(self, &scope);
        self.considered = None;
        self.forget();
        answer
    }

    /// The part of a condition that fails if a requirement is met by an edge; none if all of it holds, or may hold.
    pub(crate) fn condition_fails(&mut self, edge: Edge, clause: &Val) -> Option<Val> {
        self.considering(edge, |evaluator, scope| evaluator.failing_part(clause, scope, 0))
    }

    /// A condition with all candidate-independent parts replaced by their results.
    pub(crate) fn folded(&mut self, edge: Edge, clause: &Val) -> Val {
        self.considering(edge, |evaluator, scope| match &clause.data {
            // Each part is reported for itself.
            Data::Call(call) if call.name == "and" => {
                let args = call.args.iter().map(|part| evaluator.fold(part, scope, 1)).collect();
                clause.with(Data::Call(Arc::new(Call { args, ..(**call).clone() })))
            }
            _ => evaluator.fold(clause, scope, 0),
        })
    }

    fn fold(&mut self, value: &Val, scope: &Scope, depth: u32) -> Val {
        let Data::Call(call) = &value.data else { return value.clone() };
        if depth > MAX_DEPTH {
            return value.clone();
        }
        self.tentative.set(false);
        if let Ok(known) = self.eval(value, scope, depth)
            && !self.tentative.get()
            && !super::has_opaque(&known)
        {
            return known.at(value.span).tainted_by(value.taint());
        }
        // A literal takes its type from the first argument that has one, so that argument stays, unless the type makes
        // no difference.
        let declared = call.args.iter().enumerate().find_map(|(at, arg)| Some((at, self.type_of(arg, scope)?)));
        let typing = declared.filter(|(_, declared)| !coerce::is_plain(self.model, declared.id));
        let (typed_at, quantity) = match typing {
            Some((at, declared)) if reads_texts(&call.name) => (Some(at), self.of_quantities(declared)),
            Some((at, _)) => (Some(at), None),
            None => (None, None),
        };
        let args = call.args.iter().enumerate().map(|(at, arg)| match (&arg.data, &quantity) {
            (Data::Call(_), _) if typed_at != Some(at) => self.fold(arg, scope, depth + 1),
            (Data::Str(_), Some(declared)) => self.native(arg, declared),
            _ => arg.clone(),
        });
        let args = args.collect();
        value.with(Data::Call(Arc::new(Call { args, ..(**call).clone() })))
    }

    /// A type whose values are all quantities, so that values compared with it can be read as quantities once. A
    /// version may have stayed a text.
    fn of_quantities(&self, declared: Declared) -> Option<Declared> {
        self.model.primitive(declared.id).is_some_and(Primitive::is_quantity).then_some(declared)
    }

    /// The part of a condition on a node that does not hold.
    pub(crate) fn node_condition_fails(&mut self, node: usize, clause: &Val) -> Option<Val> {
        self.failing_part(clause, &Scope::node(node), 0)
    }

    fn failing_part(&mut self, clause: &Val, scope: &Scope, depth: u32) -> Option<Val> {
        match &clause.data {
            Data::Call(call) if call.name == "and" && depth < MAX_DEPTH => {
                call.args.iter().find_map(|part| self.failing_part(part, scope, depth + 1))
            }
            _ => {
                self.tentative.set(false);
                match self.eval(clause, scope, depth) {
                    // No candidate can pass: the condition decides nothing, and its author gets a warning.
                    Err(failure) if failure.astray && !self.tentative.get() && self.considered.is_some() => {
                        if !self.idle.iter().any(|known| known.span == failure.span) {
                            self.idle.push(failure);
                        }
                        None
                    }
                    Ok(Val { data: Data::Bool(false), .. }) | Err(_) => Some(clause.clone()),
                    Ok(_) => None,
                }
            }
        }
    }
}
