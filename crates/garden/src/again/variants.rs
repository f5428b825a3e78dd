//! A project in several environments: work that does not depend on the environment is done once.
//!
//! The first environment is resolved as usual, while every value notes whether it has read a value that differs between
//! environments ([`crate::varying`]). The others take over all that do not: the files, the configurations that
//! templates make, the fields of actions, the graph, specs, versions, and whole actions. The result equals that of
//! resolving each environment alone.

use crate::action::Action;
use crate::dialect::{Met, Share, assemble, resolved_project};
use crate::graph::{Actions, Graph};
use crate::ground::Ground;
use crate::live::{LiveSet, Owners, source_key};
use crate::resolve::{Begun, Making, Resolution, begin, resolve_begun, resolve_last};
use crate::varying::{Names, Varying};
use ecow::EcoString;
use purlin_model::{Request, Resolved};
use purlin_value::{FastMap, FastSet, Session};
use std::sync::{Arc, PoisonError};

/// Parts an environment takes over from another.
#[derive(Default)]
pub(crate) struct Shared {
    /// Actions that are the same, with their dependencies.
    pub same: FastSet<EcoString>,
    /// Those of them with equal results.
    recalled: FastSet<EcoString>,
    /// The actions that must be bound to evaluate the rest; all of them if it is not set.
    pub needed: Option<FastSet<EcoString>>,
}

/// An environment that is resolved.
pub(crate) struct Other<'s> {
    resolution: Resolution<'s>,
    resolved: Resolved,
    shares: FastMap<EcoString, Share>,
}

/// Resolves a project in several environments, and hands over each as it is done.
pub(crate) fn resolve_all(variants: &[(Session, Request)], done: &mut dyn FnMut(Option<Resolved>)) {
    let asks_plugins = variants.iter().any(|(_, request)| !request.plugins.is_empty());
    if asks_plugins || variants.len() < 2 {
        // Each environment is asked about on its own: a plugin may answer differently. Of one alone nothing has to be
        // kept for others.
        for (session, request) in variants {
            done(resolve_last(session, request).map(|resolution| resolved_project(&resolution)));
        }
        return;
    }
    let each = variants.iter().map(|(session, request)| begin(session, request, Varying::default()));
    let begun: Vec<Option<Begun<'_>>> = each.collect();
    let names = begun.iter().flatten().map(|begun| differing_names(begun)).fold(Names::None, Names::and);
    let mut varying = Some(Arc::new(Varying::between(names)));
    let mut first: Option<Other<'_>> = None;
    for begun in begun {
        let Some(mut begun) = begun else {
            done(None);
            continue;
        };
        match &first {
            Some(other) => done(Some(resolve_like(begun, other))),
            None => {
                if let Some(varying) = varying.take() {
                    begun.ground.varying = varying.clone();
                    begun.project.vars = begun.project.vars.watched(varying);
                }
                let resolution = resolve_begun(begun, None);
                let (resolved, Met { shares, .. }) = assemble(&resolution, &|_| None, true);
                done(Some(resolved.clone()));
                first = Some(Other { resolution, resolved, shares });
            }
        }
    }
}

/// The variables that an environment sets. They are unknown if there are problems with them, or if options set
/// variables.
fn differing_names(begun: &Begun<'_>) -> Names {
    let is_sound = begun.ground.session.sink.len() == begun.problems;
    match is_sound && begun.ground.request.vars.is_empty() {
        true => begun.project.vars.own_names(),
        false => Names::All,
    }
}

/// Resolves a project as far as it is not like that of another environment.
fn resolve_like(mut begun: Begun<'_>, other: &Other<'_>) -> Resolved {
    let other = Some(other).filter(|other| !other.resolution.making.has_duplicates);
    if let Some(other) = other {
        begun.ground.go_on_from(&other.resolution.ground);
    }
    let resolution = resolve_begun(begun, other);
    let Some(other) = other else { return assemble(&resolution, &|_| None, false).0 };
    let recall = |key: &str| {
        let is_recalled = resolution.shared.recalled.contains(key);
        is_recalled.then(|| Some((&other.resolved, other.shares.get(key)?))).flatten()
    };
    let (mut resolved, _) = assemble(&resolution, &recall, false);
    let asked: FastSet<EcoString> = resolution.live.taken_in().into_iter().map(|(key, _)| key).collect();
    let taken = other.live().taken_in().into_iter();
    let taken = taken.filter(|(key, _)| resolution.shared.recalled.contains(key) && !asked.contains(key));
    resolved.inner.extend(taken.map(|(_, path)| path));
    resolved
}

impl Other<'_> {
    /// Sources of its actions.
    pub(crate) fn making(&self) -> &Making {
        &self.resolution.making
    }

    /// Its actions.
    pub(crate) fn live(&self) -> &LiveSet {
        &self.resolution.live
    }

    /// Its graph, if that is sound and has the same actions.
    pub(crate) fn same_graph(&self, actions: &Actions) -> Option<(Arc<Graph>, Arc<Owners>)> {
        let graph = self.live().graph();
        let is_same = |(one, other): (&Arc<Action>, &Arc<Action>)| Arc::ptr_eq(one, other);
        let are_same = self.making().is_graph_sound
            && graph.actions.len() == actions.len()
            && graph.actions.values().zip(actions.values()).all(is_same);
        are_same.then(|| (graph.clone(), self.live().owners().clone()))
    }

    /// The parts that can be taken over for a graph. If a difference reaches every action, all are bound.
    pub(crate) fn shared(&self, graph: &Arc<Graph>, reaches_all: bool) -> Shared {
        let before = self.live().graph();
        let is_one = Arc::ptr_eq(before, graph);
        let is_same = |action: &&Arc<Action>| {
            let key = &action.key;
            is_one
                || before.actions.get(key).is_some_and(|known| Arc::ptr_eq(known, action))
                    && before.needs(key) == graph.needs(key)
                    && before.cyclic.contains(key) == graph.cyclic.contains(key)
        };
        let same: FastSet<EcoString> =
            graph.actions.values().filter(is_same).map(|action| action.key.clone()).collect();
        let is_steady = |key: &&EcoString| self.shares.get(*key).is_some_and(|share| !share.varies);
        let recalled: FastSet<EcoString> = same.iter().filter(is_steady).cloned().collect();
        let needed = (!reaches_all).then(|| needed(graph, &recalled));
        Shared { same, recalled, needed }
    }

    /// Takes over the hashes of files, if the same action decides how they are hashed.
    pub(crate) fn share_sources(&self, ground: &Ground<'_>, graph: &Graph, owners: &Owners) {
        let known = self.resolution.ground.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sources = ground.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.live();
        for (key, version) in known.iter().filter(|(_, version)| version.is_sound) {
            let now = owners.get(key).and_then(|owner| graph.actions.get(owner));
            let then = before.owners().get(key).and_then(|owner| before.graph().actions.get(owner));
            if now.zip(then).is_some_and(|(now, then)| Arc::ptr_eq(now, then) && source_key(now) == *key) {
                sources.entry(key.clone()).or_insert_with(|| version.clone());
            }
        }
    }
}

/// The actions that must be bound to evaluate those that are not recalled.
fn needed(graph: &Graph, recalled: &FastSet<EcoString>) -> FastSet<EcoString> {
    let mut needed = FastSet::default();
    let mut open: Vec<&EcoString> = graph.actions.keys().filter(|key| !recalled.contains(*key)).collect();
    while let Some(key) = open.pop() {
        if needed.insert(key.clone()) {
            open.extend(graph.needs(key).iter().map(|need| &need.key));
        }
    }
    needed
}
