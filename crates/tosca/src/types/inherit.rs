//! Phase 4, inheritance: every type becomes complete in itself.
//!
//! The solver orders the work: a type depends on its parents and the types that its definitions name. Parts that a
//! child does not change are shared with its parent. The contract (a child may not break its parent's promises) is
//! checked field by field. The rules are the rows' merge columns; they are carried out here and not by `purlin_model`,
//! because parsed values are merged.

use crate::edition::Standard;
use crate::entities::{self, shapes};
use crate::entity::{Content, Defs, Entity, Slot};
use crate::hierarchy::{self, Hierarchy};
use crate::host::Host;
use crate::names::{DeclId, Names};
use crate::problem::Problems;
use crate::rules;
use crate::val::{Text, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_graph::{Deps, Solver, Step};
use purlin_model::kinds::base_kinds;
use purlin_model::schema::{Entity as Row, Field, Kind, Merge, Shape};
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, Span};
use std::sync::{Arc, Mutex, PoisonError};

/// Complete types, by declaration.
#[derive(Debug, Default)]
pub struct Types {
    complete: Vec<Option<Arc<Entity>>>,
}

impl Types {
    /// The complete form of a type.
    pub fn get(&self, id: DeclId) -> Option<&Arc<Entity>> {
        self.complete.get(id.index())?.as_ref()
    }
}

/// Completes all types.
pub fn inherit(names: &Names, hierarchy: &Hierarchy, host: Option<&'static Host>, problems: &mut Problems) -> Types {
    let broken = Mutex::new(Vec::new());
    let bases = base_kinds(&entities::SCHEMA);
    let engine = Engine { names, hierarchy, host, own_types: own_types(), bases };
    let task = |id: &DeclId, done: &Done| {
        let needs = if done.is_empty() { engine.needs(*id) } else { Vec::new() };
        if !needs.is_empty() {
            return Step::Needs(needs);
        }
        let mut run = Run { engine: &engine, done, broken: Vec::new(), completing: false };
        let Some(complete) = run.complete(*id) else { return Step::Fail(()) };
        if !run.broken.is_empty() {
            broken.lock().unwrap_or_else(PoisonError::into_inner).push((*id, run.broken));
        }
        Step::Done(complete)
    };
    let outcome = Solver::new(task).task_limit(usize::MAX).solve(engine.types());
    for cycle in outcome.cycles() {
        hierarchy::report_ring(names, &cycle.path, problems);
    }
    let mut broken = broken.into_inner().unwrap_or_else(PoisonError::into_inner);
    broken.sort_by_key(|(id, _)| *id);
    broken.into_iter().flat_map(|(_, found)| found).for_each(|diagnostic| problems.push(diagnostic));
    let mut types = Types { complete: vec![None; names.decls.len()] };
    for (id, complete) in outcome.results() {
        if let Some(slot) = types.complete.get_mut(id.index()) {
            *slot = Some(complete.clone());
        }
    }
    types
}

/// The complete types requested by a type.
type Done = Deps<DeclId, Entity>;

/// The base of a definition.
struct Base<'a> {
    entity: &'a Entity,
    /// Whether the base is the definition's own type, which only completes it.
    own_type: bool,
}

/// The inputs of inheritance.
struct Engine<'a> {
    names: &'a Names,
    hierarchy: &'a Hierarchy,
    host: Option<&'static Host>,
    own_types: Vec<Option<Kind>>,
    /// The kinds that complete themselves from a type they name, or hold something that does.
    bases: Vec<Kind>,
}

impl Engine<'_> {
    fn own_type(&self, definition: Kind) -> Option<Kind> {
        self.own_types.get(usize::from(definition.0)).copied().flatten()
    }

    /// All entities that others may derive from.
    fn types(&self) -> Vec<DeclId> {
        let ids = (0..).map(DeclId).zip(&self.names.decls);
        ids.filter(|(_, decl)| entities::is_type(decl.kind)).map(|(id, _)| id).collect()
    }

    /// The dependencies of a type: its parents, and the types that its definitions name.
    fn needs(&self, id: DeclId) -> Vec<DeclId> {
        let mut needs: Vec<DeclId> = self.hierarchy.parent(id).into_iter().collect();
        needs.extend(self.hierarchy.sources(id));
        if let Some(decl) = self.names.decl(id) {
            self.named_types(&decl.entity, &mut needs);
        }
        needs
    }

    /// The types that the definitions in an entity name. The table bounds the nesting to a few levels.
    fn named_types(&self, entity: &Entity, into: &mut Vec<DeclId>) {
        for slot in &entity.slots {
            match &slot.content {
                Content::One(part) => self.named_by(part, into),
                Content::Map(parts) => parts.own().values().for_each(|part| self.named_by(part, into)),
                _ => {}
            }
        }
    }

    fn named_by(&self, part: &Entity, into: &mut Vec<DeclId>) {
        if self.bases.contains(&part.kind) {
            into.extend(self.type_of(part));
            self.named_types(part, into);
        }
    }

    /// The capability, interface or relationship type of a definition.
    fn type_of(&self, definition: &Entity) -> Option<DeclId> {
        let kind = self.own_type(definition.kind)?;
        if let Some(name) = definition.text("type") {
            return self.names.find(name.span.file, kind, &name.text);
        }
        let named = self.host?.interface(&definition.name).flatten();
        self.names.find(definition.at.file, kind, named.filter(|_| kind == entities::INTERFACE_TYPE)?)
    }
}

/// The kind of type that each kind of definition completes itself from.
fn own_types() -> Vec<Option<Kind>> {
    let own_type = |row: &Row| match row.all_fields().find(|field| field.is_base)?.shape {
        Shape::Reference([kind]) => Some(*kind),
        _ => None,
    };
    entities::SCHEMA.entities.iter().map(own_type).collect()
}

/// Completes one type.
struct Run<'a> {
    engine: &'a Engine<'a>,
    done: &'a Done,
    /// The broken promises.
    broken: Vec<Diagnostic>,
    /// Whether a definition is being completed from its own type, which promises nothing before TOSCA 2.0: assigned
    /// keys are kept.
    completing: bool,
}

impl Run<'_> {
    fn complete(&mut self, id: DeclId) -> Option<Entity> {
        let decl = self.engine.names.decl(id)?;
        let parent = self.engine.hierarchy.parent(id).and_then(|parent| self.done.share(&parent));
        let parent = self.with_mixins(id, parent);
        let base = parent.as_deref().map(|entity| Base { entity, own_type: false });
        Some(self.merged(&decl.entity, base, 0))
    }

    /// A type's first parent, with members that only its further parents have.
    fn with_mixins(&self, id: DeclId, parent: Option<Arc<Entity>>) -> Option<Arc<Entity>> {
        let further = self.engine.hierarchy.sources(id).filter_map(|mixin| self.done.share(&mixin));
        further.fold(parent, |parent, further| match parent {
            Some(first) => Some(Arc::new(joined(&first, &further))),
            None => Some(further),
        })
    }

    /// An entity with everything it inherits, its parts completed too.
    fn merged(&mut self, own: &Entity, base: Option<Base<'_>>, depth: u32) -> Entity {
        let mut out = Entity { slots: Vec::with_capacity(own.slots.len() + 4), ..bare(own) };
        // A secret of the parent stays a secret.
        out.sensitive |= base.as_ref().is_some_and(|base| !base.own_type && base.entity.sensitive);
        let row = entities::row(own.kind);
        for field in row.all_slots(own.edition) {
            let mine = own.slot(field.slot);
            let theirs = base.as_ref().and_then(|base| base.entity.slot(field.slot));
            let own_type = base.as_ref().is_some_and(|base| base.own_type);
            if own_type && !from_own_type(field) {
                out.slots.extend(mine.cloned());
                continue;
            }
            if matches!((field.merge, field.shape), (Merge::Narrow, Shape::Bool))
                && theirs.is_none()
                && !own_type
                && !own.edition.is_extended()
                && !self.completing
                && let Some(base) = &base
            {
                // A definition is required by default, so a missing key is a promise too.
                if let Some(Slot { content: Content::Bool(false), at, .. }) = mine {
                    self.loosened(own, *at, base.entity.at);
                }
            }
            if let Some(slot) = self.field(own, field, mine, theirs, depth) {
                out.slots.push(slot);
            }
        }
        out
    }

    /// Completes a definition: first from the parent's definition of the same name, then from its own type.
    fn definition(&mut self, own: &Arc<Entity>, base: Option<&Arc<Entity>>, depth: u32) -> Arc<Entity> {
        if depth > 200 {
            return own.clone(); // schemas may nest, but nobody means this
        }
        let refined = self.merged(own, base.map(|entity| Base { entity, own_type: false }), depth + 1);
        let Some(type_id) = self.engine.type_of(&refined) else { return Arc::new(refined) };
        let same = base.and_then(|base| self.engine.type_of(base)) == Some(type_id);
        let Some(entity) = self.done.get(&type_id) else { return Arc::new(refined) };
        if same {
            return Arc::new(refined); // the parent's definition has it all already
        }
        let outer = std::mem::replace(&mut self.completing, !refined.edition.is_2());
        let complete = self.merged(&refined, Some(Base { entity, own_type: true }), depth + 1);
        self.completing = outer;
        Arc::new(complete)
    }

    /// Whether an assigned definition has another type than the one it would be completed from.
    fn contradicts(&self, own: &Entity, base: &Entity) -> bool {
        let type_of = |entity: &Entity| {
            let name = entity.text("type")?;
            self.engine.names.find(name.span.file, entities::DATA_TYPE, &name.text)
        };
        let (Some(own), Some(base)) = (type_of(own), type_of(base)) else { return false };
        self.completing && !self.engine.hierarchy.is_a(own, base)
    }

    fn field(
        &mut self,
        own: &Entity,
        field: &'static Field,
        mine: Option<&Slot>,
        theirs: Option<&Slot>,
        depth: u32,
    ) -> Option<Slot> {
        match (mine, theirs) {
            (None, None) => None,
            (Some(mine), None) => Some(self.alone(field, mine, depth)),
            (None, Some(theirs)) => (!matches!(field.merge, Merge::Own)).then(|| theirs.clone()),
            (Some(mine), Some(theirs)) => Some(self.both(own, field, mine, theirs, depth)),
        }
    }

    /// A slot without an inherited counterpart; its definitions still complete themselves from their types.
    fn alone(&mut self, field: &'static Field, mine: &Slot, depth: u32) -> Slot {
        let content = match (&mine.content, field.merge) {
            (Content::Map(defs), Merge::ByName) => {
                let own = defs
                    .own()
                    .iter()
                    .map(|(name, entity)| (name.clone(), self.definition(entity, None, depth)))
                    .collect();
                Content::Map(Arc::new(Defs::new(own)))
            }
            (Content::One(entity), Merge::ByName) => Content::One(self.definition(entity, None, depth)),
            _ => return mine.clone(),
        };
        Slot { content, ..mine.clone() }
    }

    fn both(&mut self, own: &Entity, field: &'static Field, mine: &Slot, theirs: &Slot, depth: u32) -> Slot {
        let content = match (&mine.content, &theirs.content) {
            (Content::Map(defs), Content::Map(base)) => self.maps(field, defs, base, depth),
            (Content::One(entity), Content::One(base)) if matches!(field.merge, Merge::ByName) => {
                Content::One(self.definition(entity, Some(base), depth))
            }
            (Content::Clauses(own), Content::Clauses(base)) if matches!(field.merge, Merge::Append) => {
                Content::Clauses(Arc::new(base.iter().chain(own.iter()).cloned().collect()))
            }
            (Content::Texts(own), Content::Texts(base)) if matches!(field.merge, Merge::Append) => {
                Content::Texts(Arc::new(base.iter().chain(own.iter()).cloned().collect()))
            }
            (Content::Values(own), Content::Values(base)) if matches!(field.merge, Merge::Replace) => {
                Content::Values(Arc::new(values_by_name(own, base)))
            }
            _ => {
                self.contract(own, field, mine, theirs);
                return mine.clone();
            }
        };
        Slot { content, ..mine.clone() }
    }

    fn maps(&mut self, field: &'static Field, defs: &Arc<Defs>, base: &Arc<Defs>, depth: u32) -> Content {
        let mut own: IndexMap<EcoString, Arc<Entity>> = IndexMap::with_capacity(defs.own().len());
        // A definition that was completed before (own type after parent) is a layer itself: all of it counts as own.
        for (name, entity) in defs.flat() {
            let completed = match field.merge {
                Merge::ByName => {
                    let base = base.get(name).filter(|base| !self.contradicts(entity, base));
                    self.definition(entity, base, depth)
                }
                _ => entity.clone(),
            };
            own.insert(name.clone(), completed);
        }
        Content::Map(Arc::new(Defs::over(own, base.clone())))
    }

    /// Checks the promises of the merge rule where both the parent and the child set a slot.
    fn contract(&mut self, own: &Entity, field: &'static Field, mine: &Slot, theirs: &Slot) {
        if own.edition.is_extended() || self.completing {
            return; // a type may say something else than its parent, a definition something else than its own type
        }
        if self.engine.names.is_of_profile(own.at.file) {
            return; // nobody can mend a normative type whose parent was replaced
        }
        match (field.merge, &mine.content, &theirs.content) {
            (Merge::Narrow, Content::Text(mine), Content::Text(theirs)) => self.derived(own, field, mine, theirs),
            (Merge::Narrow, Content::Texts(names), Content::Texts(allowed)) => {
                self.narrowed(own, field, (mine, names), (theirs, allowed));
            }
            (Merge::Narrow, Content::Bool(false), Content::Bool(true)) => self.loosened(own, mine.at, theirs.at),
            (Merge::Narrow, Content::Range(range), Content::Range(outer)) if !outer.covers(range) => {
                let message = format!("`{}` {range} goes beyond the parent's {outer}", field.key);
                let diagnostic = Diagnostic::at(&rules::CONTRACT, mine.at, message);
                let diagnostic = diagnostic.label(theirs.at, "the parent says so here");
                let is_2 = own.edition.is_2();
                self.broken.push(if is_2 { diagnostic } else { diagnostic.warning().hint("TOSCA 2.0 refuses this") });
            }
            (Merge::Fixed, Content::Value(value), Content::Value(fixed)) if value != fixed => {
                self.broken(
                    mine.at,
                    format!("the parent fixes the value of `{}`; it cannot be changed", own.name),
                    theirs.at,
                );
            }
            _ => {}
        }
    }

    fn derived(&mut self, own: &Entity, field: &'static Field, mine: &Text, theirs: &Text) {
        let Shape::Reference(kinds) = field.shape else { return };
        let find =
            |text: &Text| kinds.iter().find_map(|kind| self.engine.names.find(text.span.file, *kind, &text.text));
        let (Some(child), Some(parent)) = (find(mine), find(theirs)) else { return };
        if self.engine.hierarchy.is_a(child, parent) || self.engine.hierarchy.is_broken(child) {
            return;
        }
        let message = format!(
            "`{}` is not derived from `{}`, which the parent promises for `{}`",
            mine.text,
            theirs.text,
            subject(own, field)
        );
        self.broken(own.at, message, theirs.span);
    }

    fn narrowed(
        &mut self,
        own: &Entity,
        field: &'static Field,
        (mine, names): (&Slot, &[Text]),
        (theirs, allowed): (&Slot, &[Text]),
    ) {
        let Shape::Names(kinds) = field.shape else { return };
        let (at, parent) = (mine.at, theirs.at);
        let find =
            |text: &Text| kinds.iter().find_map(|kind| self.engine.names.find(text.span.file, *kind, &text.text));
        let allowed: Vec<DeclId> = allowed.iter().filter_map(find).collect();
        for name in names {
            let Some(id) = find(name) else { continue };
            if !allowed.iter().any(|outer| self.engine.hierarchy.is_a(id, *outer)) {
                let message = format!(
                    "`{}` in `{}` is not one of the types that the parent allows, nor derived from one",
                    name.text, field.key
                );
                let mut diagnostic = Diagnostic::at(&rules::CONTRACT, at, message).label(name.span, "this one");
                let standard = self.engine.names.is_of_profile(parent.file) || own.name.starts_with("tosca.");
                if standard && !own.edition.is_2() {
                    let hint = "nothing enforces the standard's own lists before TOSCA 2.0";
                    diagnostic = diagnostic.warning().hint(hint);
                }
                self.broken.push(diagnostic.label(parent, "the parent's list"));
            }
        }
    }

    fn loosened(&mut self, own: &Entity, at: Span, parent: Span) {
        self.broken(at, format!("the parent requires `{}`; it cannot become optional", own.name), parent);
    }

    fn broken(&mut self, at: Span, message: impl Into<Message>, parent: Span) {
        self.broken.push(Diagnostic::at(&rules::CONTRACT, at, message).label(parent, "the parent says so here"));
    }
}

/// Whether a definition inherits a field from its own type: its parts, not its description.
fn from_own_type(field: &Field) -> bool {
    matches!(field.shape, Shape::Map(_) | Shape::Sequence(_) | Shape::Names(_)) || field.shape == shapes::PARAMETERS
}

/// Slots whose definitions are joined one by one where several parents have them.
const IMPLEMENTED: &[&str] = &["interfaces", "operations"];

/// A parent with members that only another one has.
fn joined(first: &Entity, further: &Entity) -> Entity {
    let mut out = first.clone();
    out.sensitive |= further.sensitive;
    for slot in &further.slots {
        match (out.slot(slot.name).map(|slot| slot.content.clone()), &slot.content) {
            (None, _) => out.slots.push(slot.clone()),
            (Some(Content::Map(known)), Content::Map(more)) => {
                // An operation that one parent only declares may be implemented by another.
                let completes = IMPLEMENTED.contains(&slot.name);
                let join = |name: &EcoString, further: &Arc<Entity>| match known.get(name) {
                    None => Some(further.clone()),
                    Some(first) => completes.then(|| Arc::new(joined(first, further))),
                };
                let more = more.flat().iter();
                let own = more.filter_map(|(name, entity)| Some((name.clone(), join(name, entity)?))).collect();
                out.set(slot.name, slot.at, Content::Map(Arc::new(Defs::over(own, known))));
            }
            _ => {}
        }
    }
    out
}

fn bare(entity: &Entity) -> Entity {
    Entity {
        kind: entity.kind,
        edition: entity.edition,
        name: entity.name.clone(),
        at: entity.at,
        span: entity.span,
        slots: Vec::new(),
        sensitive: entity.sensitive,
    }
}

fn subject(own: &Entity, field: &Field) -> EcoString {
    if own.name.is_empty() { field.key.into() } else { own.name.clone() }
}

fn values_by_name(own: &[(Text, Val)], base: &[(Text, Val)]) -> Vec<(Text, Val)> {
    let inherited = base.iter().filter(|(name, _)| !own.iter().any(|(mine, _)| mine.text == name.text));
    inherited.chain(own.iter()).cloned().collect()
}
