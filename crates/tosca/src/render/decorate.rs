//! Decorators of the extended edition: additions of a file to templates. A key names the nodes, by template or by type
//! (`Web`), one of their requirements (`Web::db`), or the target nodes of these (`Web::db::Database`).

use super::Renderer;
use crate::entities;
use crate::entity::{Content, Defs, Entity};
use crate::model::Model;
use crate::names::DeclId;
use crate::read::Role;
use crate::rules;
use crate::suggest;
use crate::val::{Data, Text, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, FileId, Hint, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Slots of a requirement that a decorator may set.
const OF_REQUIREMENTS: &[&str] = &["node", "capability", "relationship", "node_filter", "occurrences", "metadata"];

/// The decorators of all files: those of imported files first, so that later ones win.
#[derive(Default)]
pub(super) struct Decorators {
    list: Vec<Decorator>,
    /// Decorators of target nodes, by the node's name.
    of_targets: HashMap<EcoString, Vec<usize>>,
}

struct Decorator {
    given: Arc<Entity>,
    /// The nodes it begins with: their name, or their type.
    name: EcoString,
    node_type: Option<DeclId>,
    place: Place,
}

/// The decorated part.
enum Place {
    /// The nodes themselves.
    Nodes,
    /// A requirement of theirs, or the nodes if they have a property of this name.
    Requirement(EcoString),
    /// The target nodes of one of their requirements.
    Target(EcoString, EcoString, Option<DeclId>),
}

impl Decorators {
    pub(super) fn of(model: &Model) -> Decorators {
        let mut list = Vec::new();
        for file in model.files.list.iter().rev() {
            for (key, given) in file.entity.entries("decorators") {
                let find = |name: &str| model.names.find(file.id, entities::NODE_TYPE, name);
                let parts: Vec<&str> = parts(key).collect();
                let (name, place) = match parts.as_slice() {
                    [name] => (*name, Place::Nodes),
                    [name, requirement] => (*name, Place::Requirement((*requirement).into())),
                    [name, requirement, target] => {
                        (*name, Place::Target((*requirement).into(), (*target).into(), find(target)))
                    }
                    _ => continue,
                };
                list.push(Decorator { given: given.clone(), name: name.into(), node_type: find(name), place });
            }
        }
        let mut decorators = Decorators { list, of_targets: HashMap::new() };
        if decorators.list.iter().any(|decorator| matches!(decorator.place, Place::Target(..))) {
            decorators.find_targets(model);
        }
        decorators
    }

    /// Finds the targets of requirements that name a node, before anything is resolved.
    fn find_targets(&mut self, model: &Model) {
        let Some(service) = model.service() else { return };
        let type_of = |template: &Entity| model.type_of(template, "type", entities::NODE_TYPE);
        for (_, template) in service.entries("node_templates") {
            let node_type = type_of(template);
            for (at, decorator) in self.list.iter().enumerate() {
                let Place::Target(requirement, target, target_type) = &decorator.place else { continue };
                if !decorator.begins_with(model, template, node_type) {
                    continue;
                }
                for assignment in template.list("requirements").iter().filter(|own| own.name == *requirement) {
                    let Some(node) = assignment.text("node") else { continue };
                    let Some(found) = service.named("node_templates", &node.text) else { continue };
                    if found.name == *target || is_a(model, type_of(found), *target_type) {
                        let known = self.of_targets.entry(found.name.clone()).or_default();
                        if known.last() != Some(&at) {
                            known.push(at);
                        }
                    }
                }
            }
        }
    }
}

impl Decorator {
    fn begins_with(&self, model: &Model, template: &Entity, node_type: Option<DeclId>) -> bool {
        self.name == template.name || is_a(model, node_type, self.node_type)
    }
}

fn is_a(model: &Model, found: Option<DeclId>, wanted: Option<DeclId>) -> bool {
    found.zip(wanted).is_some_and(|(found, wanted)| model.hierarchy.is_a(found, wanted))
}

/// The parts of a key. Paths that begin at the root mean the same.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.strip_prefix("::").unwrap_or(key).split("::")
}

impl Renderer<'_> {
    /// A node template with the additions of decorators. They override the template, those of the root file override
    /// those of imported files, later ones override earlier ones.
    pub(super) fn decorated(&self, template: &Arc<Entity>, node_type: DeclId) -> Arc<Entity> {
        let decorators = &self.decorators;
        if decorators.list.is_empty() {
            return template.clone();
        }
        let mut out = template.clone();
        let as_target = decorators.of_targets.get(&template.name);
        for (at, decorator) in decorators.list.iter().enumerate() {
            let begins = || decorator.begins_with(self.model, template, Some(node_type));
            match &decorator.place {
                Place::Nodes if begins() => lay_over_node(Arc::make_mut(&mut out), &decorator.given),
                Place::Requirement(name) if begins() => {
                    let complete = self.model.complete(node_type);
                    if complete.is_some_and(|complete| complete.named("properties", name).is_some()) {
                        lay_over_node(Arc::make_mut(&mut out), &decorator.given);
                    } else {
                        lay_over_requirement(Arc::make_mut(&mut out), name, &decorator.given);
                    }
                }
                Place::Target(..) if as_target.is_some_and(|known| known.binary_search(&at).is_ok()) => {
                    lay_over_node(Arc::make_mut(&mut out), &decorator.given);
                }
                _ => {}
            }
        }
        out
    }

    /// Warns about decorators of the user's files without effect.
    pub(super) fn check_decorators(&mut self) {
        let mut found = Vec::new();
        for file in self.model.files.list.iter().filter(|file| file.role != Role::Profile) {
            for (key, given) in file.entity.entries("decorators") {
                found.extend(self.idle(file.id, key, given.at).map(|(message, near)| (given.at, message, near)));
            }
        }
        for (at, message, near) in found {
            let usual = "use the name of a node template or a node type, and after `::` that of a requirement";
            let hint = near.unwrap_or_else(|| usual.into());
            self.problems.push(Diagnostic::at(&rules::UNDECLARED, at, message).hint(hint).warning());
        }
    }

    /// Why a decorator has no effect, and the name that was probably meant.
    fn idle(&self, file: FileId, key: &str, at: Span) -> Option<(Message, Option<Hint>)> {
        let model = self.model;
        let parts: Vec<&str> = parts(key).collect();
        let &[name, ref rest @ ..] = parts.as_slice() else { return None };
        if key.contains(['[', '*', '$', '{']) || rest.len() > 2 {
            return Some((
                format!("the decorator `{key}` has no effect: expressions are not supported in its key").into(),
                None,
            ));
        }
        let service = model.service();
        let templates = || service.into_iter().flat_map(|service| service.entries("node_templates"));
        let template = service.and_then(|service| service.named("node_templates", name));
        let own_type = template.and_then(|template| model.type_of(template, "type", entities::NODE_TYPE));
        let Some(node_type) = own_type.or_else(|| model.names.find(file, entities::NODE_TYPE, name)) else {
            if template.is_some() || model.files.may_be_unread(&Text { text: name.into(), span: at }) {
                return None;
            }
            let near = suggest::did_you_mean(name, templates().map(|(name, _)| name.as_str()));
            let message =
                what::unknown("node template or type", name).under(format!("the decorator `{key}` has no effect: "));
            return Some((message, near));
        };
        let requirement = *rest.first()?;
        let complete = model.complete(node_type)?;
        let declares = |slot: &str| complete.named(slot, requirement).is_some();
        let assigns = |template: &Entity| template.list("requirements").iter().any(|own| own.name == requirement);
        if declares("properties") || declares("requirements") || templates().any(|(_, template)| assigns(template)) {
            return None;
        }
        let near = suggest::did_you_mean(requirement, complete.entries("requirements").map(|(name, _)| name.as_str()));
        let message =
            what::lacking(format!("the decorator `{key}` has no effect: `{name}`"), "requirement", requirement);
        Some((message, near))
    }
}

fn lay_over_node(node: &mut Entity, given: &Entity) {
    for slot in &given.slots {
        let content = match (slot.name, &slot.content) {
            ("requirements", Content::List(added)) => Content::List(Arc::new(requirements(node, added))),
            ("relationship" | "node" | "capability" | "occurrences", _) => continue,
            (name, content) => laid_over(node.slot(name).map(|own| &own.content), content),
        };
        node.set(slot.name, slot.at, content);
    }
}

/// Adds requirements, replacing those of the same name.
fn requirements(node: &Entity, added: &[Arc<Entity>]) -> Vec<Arc<Entity>> {
    let names: HashSet<&EcoString> = added.iter().map(|added| &added.name).collect();
    let kept = node.list("requirements").iter().filter(|own| !names.contains(&own.name));
    kept.chain(added).cloned().collect()
}

fn lay_over_requirement(node: &mut Entity, name: &str, given: &Entity) {
    let at = node.place("requirements");
    let mut changed = false;
    let own: Vec<Arc<Entity>> = node.list("requirements").to_vec();
    let list = own.into_iter().map(|mut assignment| {
        if assignment.name == name {
            for slot in given.slots.iter().filter(|slot| OF_REQUIREMENTS.contains(&slot.name)) {
                let content = laid_over(assignment.slot(slot.name).map(|own| &own.content), &slot.content);
                Arc::make_mut(&mut assignment).set(slot.name, slot.at, content);
                changed = true;
            }
        }
        assignment
    });
    let list = list.collect();
    if changed {
        node.set("requirements", at, Content::List(Arc::new(list)));
    }
}

/// Maps are merged, whatever they contain; anything else is replaced.
fn laid_over(own: Option<&Content>, given: &Content) -> Content {
    match (own, given) {
        (Some(Content::Values(own)), Content::Values(given)) => {
            let mut out: IndexMap<EcoString, (Text, Val)> =
                own.iter().map(|(name, value)| (name.text.clone(), (name.clone(), value.clone()))).collect();
            for (name, value) in given.iter() {
                let value = unquoted(value);
                let value = match out.get(&name.text) {
                    Some((_, own)) => merged(own, &value),
                    None => value,
                };
                out.insert(name.text.clone(), (name.clone(), value));
            }
            Content::Values(Arc::new(out.into_values().collect()))
        }
        (Some(Content::Value(own)), Content::Value(given)) => Content::Value(merged(own, given)),
        (Some(Content::One(own)), Content::One(given)) => Content::One(Arc::new(entity_over(own, given))),
        (Some(Content::Map(own)), Content::Map(given)) => {
            let mut out = own.flat().clone();
            for (name, given) in given.flat() {
                let entity = out.get(name).map(|own| Arc::new(entity_over(own, given)));
                out.insert(name.clone(), entity.unwrap_or_else(|| given.clone()));
            }
            Content::Map(Arc::new(Defs::new(out)))
        }
        (_, Content::Values(given)) => {
            Content::Values(Arc::new(given.iter().map(|(name, value)| (name.clone(), unquoted(value))).collect()))
        }
        (None, Content::One(given)) => {
            Content::One(Arc::new(entity_over(&Entity { slots: Vec::new(), ..Entity::clone(given) }, given)))
        }
        (_, given) => given.clone(),
    }
}

fn entity_over(own: &Entity, given: &Entity) -> Entity {
    let mut out = own.clone();
    for slot in &given.slots {
        let content = laid_over(own.slot(slot.name).map(|own| &own.content), &slot.content);
        out.set(slot.name, slot.at, content);
    }
    out
}

/// A value without its quotes: decorators are evaluated once, which leaves what `q` protects for later.
fn unquoted(value: &Val) -> Val {
    let quoted = match &value.data {
        Data::Call(call) if call.name == "q" => call.args.first(),
        _ => None,
    };
    if let Some(quoted) = quoted {
        return quoted.get("q").unwrap_or(quoted).clone();
    }
    match &value.data {
        Data::Map(entries) => match entries.as_slice() {
            [(key, quoted)] if key.as_str() == Some("q") => quoted.clone(),
            entries => value
                .with(Data::Map(Arc::new(entries.iter().map(|(key, item)| (key.clone(), unquoted(item))).collect()))),
        },
        Data::List(items) => value.with(Data::List(Arc::new(items.iter().map(unquoted).collect()))),
        _ => value.clone(),
    }
}

/// A value merged over another: entries of maps one by one, items of lists appended.
fn merged(own: &Val, given: &Val) -> Val {
    let data = match (&own.data, &given.data) {
        (Data::Map(own), Data::Map(given)) => {
            let mut out: Vec<(Val, Val)> = own.to_vec();
            let places: HashMap<EcoString, usize> =
                own.iter().enumerate().filter_map(|(at, (key, _))| Some((key.as_str()?.into(), at))).collect();
            for (key, value) in given.iter() {
                let known = key.as_str().and_then(|key| places.get(key)).and_then(|at| out.get_mut(*at));
                match known {
                    Some((_, own)) => *own = merged(own, value),
                    None => out.push((key.clone(), value.clone())),
                }
            }
            Data::Map(Arc::new(out))
        }
        (Data::List(own), Data::List(given)) => {
            let known: HashSet<&str> = own.iter().filter_map(Val::as_str).collect();
            let is_new = |item: &&Val| item.as_str().is_none_or(|text| !known.contains(text));
            Data::List(Arc::new(own.iter().chain(given.iter().filter(is_new)).cloned().collect()))
        }
        (_, data) => data.clone(),
    };
    given.with(data).tainted_by(own.taint())
}
