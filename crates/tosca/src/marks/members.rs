//! Members of types and templates, looked up in the files as written, where every name has its location.
//!
//! A holder is a list of mappings, the nearest first: a template before its type, a type before its parent. The
//! declaration in the last of them gives a name its meaning in all of them. This must not know what is noted.

use crate::entities;
use crate::model::Model;
use crate::names::{DeclId, SECTIONS};
use crate::read::Role;
use crate::val::merged_entries;
use purlin_model::Kind;
use purlin_syntax::tree::Entry;
use purlin_syntax::{FileId, Node};
use std::collections::HashMap;
use std::rc::Rc;

/// A mapping with members.
#[derive(Clone, Copy)]
struct Layer<'a> {
    node: Node<'a>,
    /// Whether it declares them; a template only assigns values.
    declares: bool,
}

/// An entity with members.
#[derive(Clone, Default)]
pub(super) struct Holder<'a> {
    layers: Rc<Vec<Layer<'a>>>,
}

/// A member of a holder.
pub(super) struct Member<'a> {
    /// The key of its first declaration.
    pub(super) key: Node<'a>,
    /// The mappings under its name, the nearest first.
    layers: Vec<Layer<'a>>,
}

impl<'a> Member<'a> {
    /// The node under one of its keys, the nearest first.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.layers.iter().find_map(|layer| layer.node.get(key)).filter(|node| !node.is_null())
    }

    /// The short notation, without keys: of a definition, or of an assignment.
    pub(super) fn short(&self, declares: bool) -> Option<Node<'a>> {
        let mut fitting = self.layers.iter().filter(|layer| layer.declares == declares);
        fitting.find(|layer| layer.node.is_scalar() && !layer.node.is_null()).map(|layer| layer.node)
    }
}

/// The types of a service, by their declarations.
pub(super) struct Index<'a> {
    pub(super) model: &'a Model,
    types: HashMap<DeclId, Entry<'a>>,
    /// The root file's mapping, as it is written.
    pub(super) root: Option<Node<'a>>,
    /// Declarations by file, kind and name.
    pub(super) own: HashMap<(usize, Kind, &'a str), DeclId>,
}

/// Most levels of a hierarchy that are searched.
const LEVELS: usize = 200;

/// Keys of an interface that are not operations.
const INTERFACE_KEYS: &[&str] = &[
    "type",
    "description",
    "metadata",
    "inputs",
    "outputs",
    "implementation",
    "requirements",
    "operations",
    "notifications",
    "derived_from",
    "version",
];

impl<'a> Index<'a> {
    pub(super) fn of(model: &'a Model, root: Option<Node<'a>>) -> Self {
        let root = root.or_else(|| model.files.root().and_then(|file| file.tree.root()));
        let mut index = Index { model, types: HashMap::new(), root, own: HashMap::new() };
        for (number, decl) in model.names.decls.iter().enumerate() {
            let id = DeclId(u32::try_from(number).unwrap_or(u32::MAX));
            index.own.insert((decl.file, decl.kind, decl.name.as_str()), id);
        }
        for (number, node) in index.files() {
            index.file(number, node);
        }
        index
    }

    /// The files by their numbers, with their root nodes.
    pub(super) fn files(&self) -> Vec<(usize, Node<'a>)> {
        let node = |(number, file): (usize, &'a crate::load::File)| {
            let node = if number == 0 { self.root } else { file.tree.root() };
            Some((number, node?))
        };
        self.model.files.list.iter().enumerate().filter_map(node).collect()
    }

    /// The number of the file that a span is in. The root file may be read from a tree of its own.
    pub(super) fn file_of(&self, file: FileId) -> Option<usize> {
        let is_root = self.root.is_some_and(|root| root.span().file == file);
        self.model.files.of(file).or(is_root.then_some(0))
    }

    fn file(&mut self, file: usize, root: Node<'a>) {
        for (section, kind) in SECTIONS {
            for entry in root.get(section).into_iter().flat_map(merged_entries) {
                if let Some(id) = self.own.get(&(file, kind, entry.key.text())) {
                    self.types.entry(*id).or_insert(entry);
                }
            }
        }
        for entry in root.get("types").into_iter().flat_map(merged_entries) {
            let ids = entities::TYPES.iter().filter_map(|kind| self.own.get(&(file, *kind, entry.key.text())));
            for id in ids.copied().collect::<Vec<_>>() {
                self.types.entry(id).or_insert(entry);
            }
        }
    }

    /// The key that declares a type, a repository or a function.
    pub(super) fn key_of(&self, id: DeclId) -> Option<Node<'a>> {
        self.types.get(&id).map(|entry| entry.key)
    }

    /// Whether a location is in a built-in profile.
    pub(super) fn is_normative(&self, node: Node<'_>) -> bool {
        let file = self.file_of(node.span().file).and_then(|file| self.model.files.list.get(file));
        file.is_none_or(|file| file.role == Role::Profile)
    }

    /// A type and its ancestors.
    pub(super) fn type_of(&self, id: DeclId) -> Holder<'a> {
        let mut found = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop().filter(|_| found.len() < LEVELS) {
            let hierarchy = &self.model.hierarchy;
            for id in hierarchy.lineage(id).take(LEVELS) {
                found.extend(self.types.get(&id).map(|entry| Layer { node: entry.value, declares: true }));
                waiting.extend(hierarchy.sources(id));
            }
        }
        Holder { layers: Rc::new(found) }
    }

    /// The type named by a scalar.
    pub(super) fn named(&self, kind: Kind, name: Node<'_>) -> Option<DeclId> {
        self.find(kind, name.span().file, name.text()).filter(|_| name.is_scalar())
    }

    /// The declaration that a name means in a file.
    pub(super) fn find(&self, kind: Kind, file: FileId, name: &str) -> Option<DeclId> {
        let file = self.file_of(file).and_then(|file| self.model.files.list.get(file))?;
        self.model.names.find(file.id, kind, name)
    }

    /// A template and its type.
    pub(super) fn template(&self, kind: Kind, node: Node<'a>) -> Holder<'a> {
        let of = node.get("type").and_then(|name| self.named(kind, name));
        self.with(node, false, of)
    }

    /// A mapping over a type.
    pub(super) fn with(&self, node: Node<'a>, declares: bool, of: Option<DeclId>) -> Holder<'a> {
        let below = of.map(|id| self.type_of(id)).unwrap_or_default();
        let own = Layer { node, declares };
        Holder { layers: Rc::new(std::iter::once(own).chain(below.layers.iter().copied()).collect()) }
    }

    /// The member of a holder with a name.
    pub(super) fn member(&self, holder: &Holder<'a>, section: &str, name: &str) -> Option<Member<'a>> {
        let mut key = None;
        let mut layers = Vec::new();
        for layer in holder.layers.iter() {
            if let Some(entry) = entries(layer.node, section).into_iter().find(|entry| entry.key.text() == name) {
                key = Some(entry.key);
                layers.push(Layer { node: entry.value, declares: layer.declares });
            }
        }
        Some(Member { key: key?, layers })
    }

    /// The same in any of some sections.
    pub(super) fn member_of<'s>(
        &self,
        holder: &Holder<'a>,
        sections: &[&'s str],
        name: &str,
    ) -> Option<(&'s str, Member<'a>)> {
        // A declaration takes precedence over a template's own assignment.
        let mut found: Vec<_> =
            sections.iter().filter_map(|section| Some((*section, self.member(holder, section, name)?))).collect();
        let declared = found.iter().position(|(_, member)| member.layers.iter().any(|layer| layer.declares));
        let first = declared.unwrap_or(0);
        (first < found.len()).then(|| found.swap_remove(first))
    }

    /// The members of a member: those written below it, and those of its type.
    pub(super) fn inside(&self, member: &Member<'a>, section: &str) -> Holder<'a> {
        let is_value = matches!(section, "properties" | "attributes" | "inputs" | "outputs");
        let kind = match section {
            "capabilities" => entities::CAPABILITY_TYPE,
            "interfaces" => entities::INTERFACE_TYPE,
            "artifacts" => entities::ARTIFACT_TYPE,
            _ if is_value => entities::DATA_TYPE,
            _ => return Holder { layers: Rc::new(member.layers.clone()) },
        };
        let mut layers: Vec<Layer<'a>> = member.layers.clone();
        if is_value {
            layers.retain(|layer| layer.declares);
        }
        let of = layers.iter().find_map(|layer| match layer.node.is_map() {
            true => layer.node.get("type"),
            false => Some(layer.node).filter(|node| section == "capabilities" && node.is_scalar()),
        });
        let of = of.and_then(|name| self.named(kind, name));
        layers.extend(of.map(|id| self.type_of(id)).unwrap_or_default().layers.iter().copied());
        Holder { layers: Rc::new(layers) }
    }

    /// The schema of the items of a list or the values of a mapping.
    pub(super) fn entry(&self, data: &Holder<'a>) -> Option<Holder<'a>> {
        let schema = data.layers.iter().find_map(|layer| layer.node.get("entry_schema"))?;
        let name = if schema.is_map() { schema.get("type") } else { Some(schema) };
        Some(self.with(schema, true, name.and_then(|name| self.named(entities::DATA_TYPE, name))))
    }

    /// Whether a data type has properties.
    pub(super) fn has_properties(&self, data: &Holder<'a>) -> bool {
        data.layers.iter().any(|layer| layer.node.get("properties").is_some())
    }

    /// The relationship of a requirement: its own keys, and its type.
    pub(super) fn relationship(
        &self,
        requirement: &Member<'a>,
        template: impl Fn(&str) -> Option<Node<'a>>,
    ) -> Holder<'a> {
        let written: Vec<Layer<'a>> = requirement
            .layers
            .iter()
            .filter_map(|layer| Some(Layer { node: layer.node.get("relationship")?, declares: layer.declares }))
            .collect();
        let names = written.iter().filter_map(|layer| match layer.node.is_map() {
            true => layer.node.get("type"),
            false => Some(layer.node).filter(|node| node.is_scalar()),
        });
        let mut layers = written.clone();
        for name in names {
            if let Some(node) = template(name.text()) {
                layers.extend(self.template(entities::RELATIONSHIP_TYPE, node).layers.iter().copied());
                break;
            }
            if let Some(id) = self.named(entities::RELATIONSHIP_TYPE, name) {
                layers.extend(self.type_of(id).layers.iter().copied());
                break;
            }
        }
        Holder { layers: Rc::new(layers) }
    }
}

/// The entries of a section: a mapping, or a list of mappings with one key each.
pub(super) fn entries<'a>(node: Node<'a>, section: &str) -> Vec<Entry<'a>> {
    let list = |part: Node<'a>| match part.is_list() {
        true => part.items().flat_map(merged_entries).collect(),
        false => merged_entries(part),
    };
    let mut found = node.get(section).map(list).unwrap_or_default();
    if section == "operations" && node.is_map() {
        let is_operation = |entry: &Entry<'_>| !INTERFACE_KEYS.contains(&entry.key.text());
        found.extend(merged_entries(node).into_iter().filter(is_operation));
    }
    found
}
