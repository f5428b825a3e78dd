//! Gives every entity what it inherits, as the merge column of its rows says.
//!
//! The phase after `link`. The solver orders the work; what is inherited is shared, never copied. What an entity may
//! not do to what it inherits is reported here, and so are parents that go round in a circle.

use crate::contract::Contract;
use crate::hierarchy::Hierarchy;
use crate::instance::{Chain, Content, Instance, Slot};
use crate::link::{EntityId, Links, Registry, referred_kinds};
use crate::named::{Named, NamedMap};
use crate::read::Place;
use crate::rules;
use crate::schema::{Entity, Field, Kind, Merge, Schema, Shape};
use purlin_graph::{Cycle, Deps, Solver, State, Step};
use purlin_syntax::{Diagnostic, Sink};
use purlin_value::EcoString;
use std::sync::Arc;

/// Everything inheritance looks at.
#[derive(Clone, Copy)]
pub struct Inheritance<'a> {
    /// The dialect's tables.
    pub schema: &'a Schema,
    /// The entities as they were read.
    pub registry: &'a Registry,
    /// What references refer to.
    pub links: &'a Links,
    /// Takes problems.
    pub sink: &'a Sink,
}

/// The entities with what they inherit.
#[derive(Debug)]
pub struct Inherited {
    entities: Vec<Arc<Instance>>,
    /// Who extends whom.
    pub hierarchy: Hierarchy,
}

impl Inherited {
    /// An entity with what it inherits. Where its parents go round in a circle or are not known, it is as it was read,
    /// and marked as broken.
    pub fn get(&self, id: EntityId) -> Option<&Arc<Instance>> {
        self.entities.get(id.0 as usize)
    }
}

type Results = Deps<EntityId, Arc<Instance>>;

impl Inheritance<'_> {
    /// Does it, on so many threads.
    pub fn run(&self, threads: usize) -> Inherited {
        let parents: Vec<Option<EntityId>> =
            self.registry.iter().map(|(_, instance)| self.named_parent(instance).flatten()).collect();
        let hierarchy = Hierarchy::new(parents);
        let bases = base_kinds(self.schema);
        let task = |id: &EntityId, results: &Results| {
            let Some(own) = self.registry.get(*id) else { return Step::Fail(()) };
            match results.missing(self.needs(*id, own, &hierarchy, &bases)) {
                Some(missing) => Step::Needs(missing),
                None => Step::Done(self.complete(*id, own, &hierarchy, &bases, results)),
            }
        };
        let outcome = Solver::new(task).threads(threads).task_limit(usize::MAX).solve(self.ids());
        for cycle in outcome.cycles() {
            self.report_cycle(cycle);
        }
        let finished = |(id, own): (EntityId, &Arc<Instance>)| match outcome.get(&id) {
            Some(State::Done(instance)) => Arc::clone(instance.as_ref()),
            _ => broken(own),
        };
        Inherited { entities: self.registry.iter().map(finished).collect(), hierarchy }
    }

    fn ids(&self) -> impl Iterator<Item = EntityId> + use<> {
        (0..u32::try_from(self.registry.len()).unwrap_or(u32::MAX)).map(EntityId)
    }

    /// The parent an entity names: `None` if it names none, `Some(None)` if nobody has the name.
    fn named_parent(&self, instance: &Instance) -> Option<Option<EntityId>> {
        let slot = instance.slots.iter().find(|slot| slot.field.shape == Shape::Parent)?;
        Some(slot.node().and_then(|node| self.links.get(node, &[instance.kind])))
    }

    /// What must be complete before an entity can be.
    fn needs(&self, id: EntityId, own: &Instance, hierarchy: &Hierarchy, bases: &[Kind]) -> Vec<EntityId> {
        let mut needs: Vec<EntityId> = hierarchy.parent(id).into_iter().collect();
        let mut open: Vec<&Instance> = vec![own];
        while let Some(instance) = open.pop() {
            if bases.contains(&instance.kind) {
                needs.extend(self.base(instance));
                open.extend(instance.parts().into_iter().rev().map(Arc::as_ref));
            }
        }
        needs
    }

    /// The entity that a definition inherits from because it names it as its type.
    fn base(&self, instance: &Instance) -> Option<EntityId> {
        let slot = instance.slots.iter().find(|slot| slot.field.is_base)?;
        self.links.get(slot.node()?, referred_kinds(&slot.field.shape, &[])?)
    }

    fn complete(
        &self,
        id: EntityId,
        own: &Arc<Instance>,
        hierarchy: &Hierarchy,
        bases: &[Kind],
        results: &Results,
    ) -> Arc<Instance> {
        let contract = Contract { schema: self.schema, links: self.links, hierarchy, sink: self.sink };
        let merger = Merger { all: self, contract, bases, results };
        let parent = hierarchy.parent(id).and_then(|parent| results.get(&parent));
        let mut merged = merger.complete(own, parent.map(|parent| Elder::entity(self.schema, parent)).as_ref());
        if matches!(self.named_parent(own), Some(None)) {
            merged = broken(&merged);
        }
        self.check_complete(&merged, own);
        merged
    }

    /// Reports required keys that nobody supplied, in an entity and in what it writes itself; what is inherited was
    /// looked at where it comes from.
    fn check_complete(&self, merged: &Instance, own: &Instance) {
        let mut open: Vec<(&Instance, &Instance)> = vec![(merged, own)];
        while let Some((merged, own)) = open.pop() {
            let Some(entity) = self.schema.entity(merged.kind).filter(|_| !merged.is_broken) else { continue };
            let place = Place { schema: self.schema, entity, edition: merged.edition, sink: self.sink };
            place.check_required(merged, |field| !matches!(field.merge, Merge::Own));
            for slot in &own.slots {
                let Some(result) = merged.slot(slot.field.slot) else { continue };
                match (&slot.content, &result.content) {
                    (Content::One(own), Content::One(merged)) => open.push((merged, own)),
                    (Content::Map(own), Content::Map(merged)) => {
                        let written = own.iter().filter_map(|own| Some((merged.get(&own.name)?, own)));
                        open.extend(written.map(|(merged, own)| (&*merged.instance, &*own.instance)));
                    }
                    (_, content) => open.extend(content.newest().parts().into_iter().map(|part| (&**part, &**part))),
                }
            }
        }
    }

    fn report_cycle(&self, cycle: &Cycle<EntityId>) {
        let members: Vec<&Arc<Instance>> = cycle.path.iter().filter_map(|id| self.registry.get(*id)).collect();
        let Some(first) = members.first() else { return };
        let names = members.iter().chain([first]).map(|member| format!("`{}`", member.name()));
        let path: Vec<String> = names.collect();
        let message = match members.as_slice() {
            [only] => format!("{} `{}` extends itself", self.schema.label(only.kind), only.name()),
            _ => format!("these extend each other in a circle: {}", path.join(" → ")),
        };
        let mut diagnostic = Diagnostic::at(&rules::PARENT_CYCLE, first.name_span(), message);
        for member in members.iter().skip(1) {
            diagnostic = diagnostic.label(member.name_span(), format!("`{}` is part of the circle", member.name()));
        }
        self.sink.push(diagnostic.hint("let one of them extend something else, or nothing"));
    }
}

/// The entity as it is, marked as not complete.
fn broken(instance: &Arc<Instance>) -> Arc<Instance> {
    if instance.is_broken {
        Arc::clone(instance)
    } else {
        Arc::new(Instance { is_broken: true, ..(**instance).clone() })
    }
}

/// The kinds that inherit from a type they name, or hold something that does.
pub fn base_kinds(schema: &Schema) -> Vec<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    loop {
        let before = found.len();
        for entity in schema.entities.iter().filter(|entity| !found.contains(&entity.kind)).collect::<Vec<_>>() {
            let mut fields = entity.all_fields().chain(entity.rest.as_ref());
            if fields.any(|field| field.is_base || holds(&field.shape, &found)) {
                found.push(entity.kind);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether entities of one of these kinds stand under a shape.
fn holds(shape: &Shape, kinds: &[Kind]) -> bool {
    match shape {
        Shape::One(kind) | Shape::List(kind) | Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) => {
            kinds.contains(kind)
        }
        Shape::Union(shapes) => shapes.iter().any(|shape| holds(shape, kinds)),
        _ => false,
    }
}

/// What is inherited from.
struct Elder<'a> {
    instance: &'a Instance,
    /// The entity it is or belongs to, in a user's words.
    detail: EcoString,
}

impl<'a> Elder<'a> {
    fn entity(schema: &Schema, instance: &'a Instance) -> Self {
        Elder { instance, detail: format!("{} `{}`", schema.label(instance.kind), instance.name()).into() }
    }

    /// A part of it.
    fn part(&self, instance: &'a Instance) -> Self {
        Elder { instance, detail: self.detail.clone() }
    }
}

/// Merges entities, row by row.
struct Merger<'a> {
    all: &'a Inheritance<'a>,
    contract: Contract<'a>,
    bases: &'a [Kind],
    results: &'a Results,
}

impl Merger<'_> {
    /// An entity with what it inherits from a parent and from the type it names. Entities are nested no deeper than
    /// `read` allows, and so is this.
    fn complete(&self, own: &Arc<Instance>, parent: Option<&Elder<'_>>) -> Arc<Instance> {
        let has_bases = self.bases.contains(&own.kind);
        if own.is_broken || (parent.is_none() && !has_bases) {
            return Arc::clone(own);
        }
        let mut merged = (**own).clone();
        // What nobody inherits below here may still name a type.
        let mut changed = has_bases && self.complete_parts(&mut merged, parent.map(|parent| parent.instance));
        if let Some(parent) = parent {
            self.merge(&mut merged, parent);
            changed = true;
        }
        // What the parent has from the same type has come down with it.
        let parents_base = parent.and_then(|parent| self.all.base(parent.instance));
        let base = self.all.base(&merged).filter(|base| parents_base != Some(*base));
        if let Some(base) = base.and_then(|base| self.results.get(&base)) {
            self.merge(&mut merged, &Elder::entity(self.all.schema, base));
            changed = true;
        }
        if changed { Arc::new(merged) } else { Arc::clone(own) }
    }

    /// Completes the parts that have no counterpart in the parent; the others are completed when they are merged. Says
    /// whether anything came of it.
    fn complete_parts(&self, instance: &mut Instance, parent: Option<&Instance>) -> bool {
        let mut changed = false;
        for slot in &mut instance.slots {
            let theirs = match slot.field.merge {
                Merge::ByName => parent.and_then(|parent| parent.slot(slot.field.slot)).map(|slot| &slot.content),
                _ => None,
            };
            if let Some(content) = self.complete_content(&slot.content, theirs) {
                slot.content = content;
                changed = true;
            }
        }
        changed
    }

    fn complete_content(&self, content: &Content, theirs: Option<&Content>) -> Option<Content> {
        let mut changed = false;
        let mut complete = |one: &Arc<Instance>| {
            let result = self.complete(one, None);
            changed |= !Arc::ptr_eq(&result, one);
            result
        };
        let content = match (content, theirs) {
            (Content::One(_), Some(Content::One(_))) => return None,
            (Content::One(one), _) => Content::One(complete(one)),
            (Content::List(list), _) => Content::List(list.iter().map(complete).collect()),
            (Content::Pairs(pairs), _) => {
                let named = |named: &Named| Named { instance: complete(&named.instance), ..named.clone() };
                Content::Pairs(pairs.iter().map(named).collect())
            }
            (Content::Map(map), theirs) => {
                let inherited = |name: &str| matches!(theirs, Some(Content::Map(theirs)) if theirs.get(name).is_some());
                let named = |named: &Named| match inherited(&named.name) {
                    true => named.clone(),
                    false => Named { instance: complete(&named.instance), ..named.clone() },
                };
                Content::Map(Arc::new(NamedMap::new(map.iter().map(named).collect())))
            }
            _ => return None,
        };
        changed.then_some(content)
    }

    /// Lays an entity over another one, row by row.
    fn merge(&self, own: &mut Instance, from: &Elder<'_>) {
        let Some(entity) = self.all.schema.entity(own.kind) else { return };
        own.is_broken |= from.instance.is_broken;
        let place = Place { schema: self.all.schema, entity, edition: own.edition, sink: self.all.sink };
        for theirs in &from.instance.slots {
            let Some(field) = own_field(entity, own, theirs) else { continue };
            if matches!(field.merge, Merge::Own) {
                continue;
            }
            let Some(at) = own.slots.iter().position(|slot| slot.field.slot == field.slot) else {
                let inherited = Some(theirs.inherited.clone().unwrap_or_else(|| from.detail.clone()));
                own.slots.push(Slot { field, inherited, ..theirs.clone() });
                continue;
            };
            let mine = &own.slots[at];
            if let Some(content) = self.meet(place, own, field, mine, theirs, from) {
                own.slots[at].content = content;
            }
        }
    }

    /// What becomes of one's own content where there is an inherited one too; `None` leaves it as it is.
    fn meet(
        &self,
        place: Place<'_>,
        owner: &Instance,
        field: &'static Field,
        mine: &Slot,
        theirs: &Slot,
        from: &Elder<'_>,
    ) -> Option<Content> {
        if matches!(mine.content, Content::Broken) || matches!(theirs.content, Content::Broken) {
            return None;
        }
        match field.merge {
            Merge::Own | Merge::Fallback => None,
            Merge::ByName => self.by_name(&mine.content, &theirs.content, from),
            Merge::Replace => replaced(&mine.content, &theirs.content),
            Merge::Append => Some(Content::Chain(Arc::new(Chain::new(theirs.content.clone(), mine.content.clone())))),
            Merge::Narrow => {
                self.contract.check_narrow(place, owner, field, mine, theirs, &from.detail);
                None
            }
            Merge::Fixed => {
                self.contract.check_fixed(place, owner, field, mine, theirs, &from.detail);
                None
            }
            Merge::With(rule) => match rule(&mine.content, &theirs.content) {
                Ok(content) => Some(content),
                Err(problem) => {
                    self.contract.report(place, owner, mine, theirs, &from.detail, &problem);
                    None
                }
            },
        }
    }

    fn by_name(&self, mine: &Content, theirs: &Content, from: &Elder<'_>) -> Option<Content> {
        match (mine, theirs) {
            (Content::One(mine), Content::One(theirs)) => {
                Some(Content::One(self.complete(mine, Some(&from.part(theirs)))))
            }
            (Content::Map(mine), Content::Map(theirs)) => {
                let merged = mine.iter().map(|named| match theirs.get(&named.name) {
                    Some(base) if Arc::ptr_eq(&base.instance, &named.instance) => named.clone(),
                    Some(base) => Named {
                        instance: self.complete(&named.instance, Some(&from.part(&base.instance))),
                        ..named.clone()
                    },
                    None => named.clone(),
                });
                Some(Content::Map(NamedMap::over(merged.collect(), theirs)))
            }
            _ => None,
        }
    }
}

/// What is inherited with one's own in the place of what has the same name.
fn replaced(mine: &Content, theirs: &Content) -> Option<Content> {
    if let (Content::Map(mine), Content::Map(theirs)) = (mine, theirs) {
        return Some(Content::Map(NamedMap::over(mine.iter().cloned().collect(), theirs)));
    }
    let (mine, mut all) = (mine.entries(), theirs.entries());
    all.retain(|(key, _)| !mine.iter().any(|(own, _)| own.text() == key.text()));
    all.extend(mine);
    Some(Content::Entries(all.into()))
}

/// The row of what is inherited, in the entity that inherits it: of the same key, or the one that takes all others.
fn own_field(entity: &'static Entity, own: &Instance, theirs: &Slot) -> Option<&'static Field> {
    entity.all_slots(own.edition).find(|field| field.slot == theirs.field.slot)
}
