//! Merges configurations into one, as the founding design requires.
//!
//! The rules: lists are joined in the order of the walk, an item with the same identity (image, name, path) once;
//! maps are joined key by key; single values and one-of sets that agree become one, and those that differ are an
//! error that names both modules, unless the parent sets them: the parent wins. Works on configurations without
//! defaults, with their paths already made relative to the project. It must not know any particular section.

use crate::editions::LATEST;
use crate::emit::is_set;
use crate::entities::config::{SKAFFOLD_CONFIG, pipeline};
use crate::entities::{Entity, Field, Holds, holds, is_open};
use crate::item::{Form, Item, Step, View};
use crate::profile::patch::same;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Sink, Span};
use std::collections::HashMap;

/// A module on its way into the whole.
pub struct Part<'a, 'f> {
    /// Name for messages.
    pub name: EcoString,
    /// Its configuration.
    pub item: &'a Item<'f>,
    /// Its start.
    pub span: Span,
}

/// Merges modules, in order, and the parent, which comes last and overrides.
pub fn merge<'f>(modules: &[Part<'_, 'f>], parent: Option<&Part<'_, 'f>>, sink: &Sink) -> Item<'f> {
    let mut whole = Item::empty_map();
    let mut merger = Merger {
        sink,
        owners: HashMap::new(),
        way: Vec::new(),
        part: 0,
        parent: None,
        names: Vec::new(),
        items: HashMap::new(),
    };
    merger.names.extend(modules.iter().chain(parent).map(|part| (part.name.clone(), part.span)));
    merger.parent = parent.map(|_| modules.len());
    for (at, part) in modules.iter().chain(parent).enumerate() {
        merger.part = at;
        for row in pipeline() {
            if let Some(value) = part.item.view().get(row.key) {
                merger.field(&mut whole, row, value, parent.map(|parent| parent.item.view()));
            }
        }
    }
    for key in ["apiVersion", "kind", "metadata"] {
        let from = parent.or(modules.last());
        if let Some(value) = from.and_then(|part| part.item.view().get(key)) {
            whole.set(key, value.to_item());
        }
    }
    crate::emit::normalised(whole.view(), &SKAFFOLD_CONFIG)
}

/// The part that set a value, and its location.
#[derive(Clone, Copy)]
struct Owner {
    part: usize,
    span: Option<Span>,
}

struct Merger<'s> {
    sink: &'s Sink,
    /// Which part set a value first and where, by its way through the keys.
    owners: HashMap<String, Owner>,
    way: Vec<&'static str>,
    part: usize,
    parent: Option<usize>,
    names: Vec<(EcoString, Span)>,
    /// Position of an item of a list, by the list's path and the item's identity.
    items: HashMap<(Vec<&'static str>, String), usize>,
}

impl Merger<'_> {
    fn field<'f>(
        &mut self,
        whole: &mut Item<'f>,
        row: &'static Field,
        value: View<'_, 'f>,
        parent: Option<View<'_, 'f>>,
    ) {
        if !is_set(value, row) {
            return;
        }
        self.way.push(row.key);
        self.own(&self.way.join("."), value.span());
        let below = parent.and_then(|parent| parent.get(row.key));
        match holds(row) {
            Holds::One(entity) if !is_open(entity) && value.form() == Form::Map => {
                let slot = whole.slot(row.key);
                slot.map();
                self.section(slot, entity, value, below);
            }
            Holds::Texts | Holds::Many(_) => self.list(whole.slot(row.key), value),
            Holds::TextMap | Holds::NullableMap | Holds::Flat => {
                for pair in value.entries() {
                    self.keyed(whole.slot(row.key), pair.key, pair.value, below);
                }
            }
            _ => self.single(whole, row.key, value, below),
        }
        self.way.pop();
    }

    fn section<'f>(
        &mut self,
        whole: &mut Item<'f>,
        entity: &'static Entity,
        value: View<'_, 'f>,
        parent: Option<View<'_, 'f>>,
    ) {
        for row in entity.fields(LATEST) {
            let Some(value) = value.get(row.key) else { continue };
            if row.one_of.is_some() && is_set(value, row) && !self.choose(whole, entity, row, value, parent) {
                continue;
            }
            self.field(whole, row, value, parent);
        }
    }

    /// Whether a member of a one-of set may be added: the set is empty otherwise, or the parent overrides it.
    fn choose(
        &mut self,
        whole: &mut Item<'_>,
        entity: &'static Entity,
        row: &Field,
        value: View<'_, '_>,
        parent: Option<View<'_, '_>>,
    ) -> bool {
        let members = || entity.fields(LATEST).filter(|other| other.one_of == row.one_of);
        let other = members().find(|other| other.key != row.key && whole.view().get(other.key).is_some());
        let Some(other) = other else { return true };
        let decides = parent.and_then(|parent| members().find(|member| parent.get(member.key).is_some()));
        match decides {
            Some(decided) if decided.key == row.key => {
                for member in members() {
                    whole.take(member.key);
                }
                true
            }
            Some(_) => false,
            None => {
                let first = self.owner(&format!("{}.{}", self.way.join("."), other.key));
                let what = format!("`{}` and `{}` are both used in `{}`", other.key, row.key, self.way.join("."));
                self.conflict(first, value.span(), &what);
                false
            }
        }
    }

    fn single<'f>(
        &mut self,
        whole: &mut Item<'f>,
        key: &'static str,
        value: View<'_, 'f>,
        parent: Option<View<'_, 'f>>,
    ) {
        if let Some(known) = whole.view().get(key) {
            if same(known, value) {
                return;
            }
            let is_parent = self.parent == Some(self.part);
            if !is_parent && parent.is_none() {
                let first = self.owner(&self.way.join("."));
                let what = format!("`{}` is `{}` and `{}`", self.way.join("."), known.text(), value.text());
                return self.conflict(first, value.span(), &what);
            }
            if !is_parent {
                return;
            }
        }
        let over = whole.view().get(key).and_then(View::span);
        whole.set(key, self.taken(value, over));
    }

    fn keyed<'f>(&mut self, whole: &mut Item<'f>, key: &str, value: View<'_, 'f>, parent: Option<View<'_, 'f>>) {
        let known = whole.view().raw(key);
        let is_parent = self.parent == Some(self.part);
        match known {
            Some(known) if same(known, value) => {}
            Some(known) if !is_parent && parent.is_none_or(|parent| parent.raw(key).is_none()) => {
                let first = self.owner(&format!("{}.{key}", self.way.join(".")));
                let what = format!("`{}.{key}` is `{}` and `{}`", self.way.join("."), known.text(), value.text());
                self.conflict(first, value.span(), &what);
            }
            Some(_) if !is_parent => {}
            _ => {
                self.own(&format!("{}.{key}", self.way.join(".")), value.span());
                whole.set(key, self.taken(value, None));
            }
        }
    }

    /// Joins a list; items with the same identity are included once, and must be equal.
    fn list<'f>(&mut self, whole: &mut Item<'f>, value: View<'_, 'f>) {
        whole.list();
        for item in value.items() {
            let identity = identity(item);
            let key = (self.way.clone(), identity.clone());
            let at = self.items.get(&key).copied();
            let known = at.and_then(|at| whole.list().get(at)).map(Item::view);
            match known {
                Some(known) if same(known, item) => {}
                Some(_) if !identity.is_empty() && item.form() == Form::Map => {
                    let first = self.owner(&format!("{}.{identity}", self.way.join(".")));
                    let what = format!("`{identity}` in `{}` is written differently", self.way.join("."));
                    self.conflict(first, item.span(), &what);
                }
                _ => {
                    self.own(&format!("{}.{identity}", self.way.join(".")), item.span());
                    let taken = self.taken(item, None);
                    self.items.entry(key).or_insert(whole.list().len());
                    whole.list().push(taken);
                }
            }
        }
    }

    fn taken<'f>(&self, value: View<'_, 'f>, over: Option<Span>) -> Item<'f> {
        let name = self.names.get(self.part).map(|(name, _)| name.clone()).unwrap_or_default();
        value.to_item().stepped(Step::Merge(name), over, value.span())
    }

    /// Records the first part that sets a value.
    fn own(&mut self, way: &str, span: Option<Span>) {
        if !self.owners.contains_key(way) {
            self.owners.insert(way.to_owned(), Owner { part: self.part, span });
        }
    }

    fn owner(&self, way: &str) -> Option<Owner> {
        self.owners.get(way).copied()
    }

    fn conflict(&self, first: Option<Owner>, span: Option<Span>, what: &str) {
        let named = |at: usize| self.names.get(at);
        let Some((second, here)) = named(self.part) else { return };
        let other = first.and_then(|first| named(first.part));
        let name = other.map_or("", |(name, _)| name.as_str());
        let message = format!("modules `{name}` and `{second}` do not agree: {what}");
        let mut diagnostic = Diagnostic::at(&rules::MERGE_CONFLICT, span.unwrap_or(*here), message);
        if let (Some(first), Some((name, place))) = (first, other) {
            diagnostic = diagnostic.label(first.span.unwrap_or(*place), format!("module `{name}` sets it here"));
        }
        self.sink.push(diagnostic.hint("make them agree, or set it in the document that names the modules"));
    }
}

/// Identity of an item of a list: the image, the name, or the string itself.
fn identity(item: View<'_, '_>) -> String {
    match item.form() {
        Form::Map => {
            let keys = ["image", "name", "path", "resourceName", "groupKind", "manifest"];
            keys.iter().find_map(|key| item.get(key)).map(|value| value.text().into_owned()).unwrap_or_default()
        }
        _ => item.text().into_owned(),
    }
}
