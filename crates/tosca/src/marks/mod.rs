//! Notes names for editors and renames: types, templates, their members, inputs, and every reference to one.
//!
//! The files are walked by the tables as written, with the owner of each mapping: a property of a template is that of
//! its type, and a property of a type is the one that it refines. Off unless names are requested.

mod members;
mod service;
mod values;

use crate::compile::Compiled;
use crate::edition::Edition;
use crate::entities;
use crate::model::Model;
use crate::names::SECTIONS;
use crate::read::Role;
use crate::val::merged_entries;
use ecow::EcoString;
use members::{Holder, Index, Member, entries};
use purlin_model::Kind;
use purlin_model::schema::Shape;
use purlin_syntax::tree::Entry;
use purlin_syntax::{Node, Span};
use purlin_value::names::{kind, written};
use purlin_value::{NameId, Session, Value};

/// The context of a walk.
#[derive(Clone, Default)]
struct Ctx<'a> {
    /// The holder whose members the keys of sections here are.
    holder: Holder<'a>,
    /// The entity that `SELF` means.
    own: Holder<'a>,
    /// Whether that is a relationship.
    is_relationship: bool,
    /// The entities that `SOURCE` and `TARGET` mean.
    source: Holder<'a>,
    target: Holder<'a>,
    /// The relationship of the requirement that this is.
    relationship: Holder<'a>,
    /// The workflow that this is a part of.
    workflow: Option<Node<'a>>,
}

/// Notes the names of one service and of its imports.
struct Marks<'a> {
    session: &'a Session,
    index: Index<'a>,
    /// The service template.
    service: Option<Node<'a>>,
    foreign: Option<Foreign<'a>>,
}

/// Rows are nested only a few levels deep; data types may nest further.
const DEPTH: u32 = 60;

/// Notes all names of a service and of those that replace its nodes. `values` are the inputs written in another
/// project.
pub(crate) fn note_service(session: &Session, compiled: &Compiled, values: &Value) {
    if !session.names.is_on() {
        return;
    }
    note(session, &compiled.model, None, values, None);
    compiled.substituted.iter().for_each(|inner| note_service(session, &inner.service, &Value::null()));
}

/// The start of an expression of another language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// In its owner.
    Own,
    /// At the source of the relationship that it belongs to.
    Source,
    /// At its target.
    Target,
    /// At all node templates.
    All,
    /// At the inputs of the service.
    Inputs,
}

/// The target of an expression of another language.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Where it starts.
    pub start: Start,
    /// The words that follow, with their places.
    pub words: Vec<(EcoString, Span)>,
}

/// Reads the expressions of a host in a value.
pub type Foreign<'r> = &'r dyn Fn(Node<'_>) -> Vec<Reference>;

/// Notes all names of a model. `root` is the root file's mapping, where that is not the whole file; `values` are
/// inputs from outside, and `foreign` reads expressions that are not TOSCA's.
pub fn note<'a>(
    session: &'a Session,
    model: &'a Model,
    root: Option<Node<'a>>,
    values: &Value,
    foreign: Option<Foreign<'a>>,
) {
    if !session.names.is_on() {
        return;
    }
    let index = Index::of(model, root);
    let root = index.root;
    let service = root.and_then(|root| root.get("topology_template").or_else(|| root.get("service_template")));
    let marks = Marks { session, index, service, foreign };
    let is_own = |number: usize| model.files.list.get(number).is_some_and(|file| file.role != Role::Profile);
    for (number, node) in marks.index.files().into_iter().filter(|(number, _)| is_own(*number)) {
        let edition = model.files.list.get(number).map_or(model.edition(), |file| file.edition);
        marks.entity(entities::FILE, edition, node, &Ctx::default(), 0);
    }
    marks.given(values);
}

/// The display name of the members of a section.
fn label(section: &str) -> &'static str {
    match section {
        "properties" => "property",
        "attributes" => "attribute",
        "capabilities" => "capability",
        "requirements" => "requirement",
        "interfaces" => "interface",
        "operations" => "operation",
        "notifications" => "notification",
        "artifacts" => "artifact",
        "triggers" => "trigger",
        "outputs" => "operation output",
        "steps" => "workflow step",
        _ => "operation input",
    }
}

/// Kinds that declare the names in them; others assign values to declared names.
fn is_definition(kind: Kind) -> bool {
    use entities::*;
    [
        PROPERTY_DEFINITION,
        ATTRIBUTE_DEFINITION,
        PARAMETER_DEFINITION,
        CAPABILITY_DEFINITION,
        REQUIREMENT_DEFINITION,
        INTERFACE_DEFINITION,
        OPERATION_DEFINITION,
        NOTIFICATION_DEFINITION,
        ARTIFACT_DEFINITION,
        TRIGGER_DEFINITION,
    ]
    .contains(&kind)
}

impl<'a> Marks<'a> {
    fn declare(&self, of: &'static str, key: Node<'_>, whole: Node<'_>) {
        let at = written(key);
        self.session.names.declare(NameId::Place(at), of, key.eco_text(), at, whole.span());
    }

    fn uses(&self, of: &'static str, declared: Node<'_>, place: Span) {
        if place.end > place.start {
            self.session.names.uses(NameId::Place(written(declared)), of, declared.eco_text(), place);
        }
    }

    /// A scalar that consists of a name.
    fn uses_scalar(&self, of: &'static str, declared: Node<'_>, at: Node<'_>) {
        self.uses(of, declared, written(at));
    }

    /// The key of a member: a declaration of it, or a value for it.
    fn member(&self, section: &str, member: &Member<'a>, key: Node<'a>, whole: Node<'a>, declares: bool) {
        let first = member.key;
        let is_first = first.span() == key.span();
        if self.index.is_normative(first) || !(declares || is_first) {
            return self.uses_scalar(label(section), first, key);
        }
        let at = written(key);
        self.session.names.declare(NameId::Place(written(first)), label(section), key.eco_text(), at, whole.span());
    }

    /// Notes a scalar that names a member, if there is one.
    fn names_member(&self, holder: &Holder<'a>, sections: &[&str], name: Node<'_>) -> Option<(Member<'a>, Holder<'a>)> {
        let (section, member) = self.index.member_of(holder, sections, name.text())?;
        self.uses_scalar(label(section), member.key, name);
        let inside = self.index.inside(&member, section);
        Some((member, inside))
    }

    fn entity(&self, kind: Kind, edition: Edition, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let Some(entity) = entities::SCHEMA.entity(kind).filter(|_| depth < DEPTH) else { return };
        if !node.is_map() {
            let short = entity.short.iter().find(|short| short.window.has(edition));
            if let Some(field) = short.and_then(|short| entity.field_of(short.slot, edition)) {
                self.field(kind, edition, &field.shape, field.key, node, ctx, depth);
            }
            return;
        }
        for entry in merged_entries(node) {
            let key = entry.key.text();
            match entity.field_or_alias(key, edition) {
                Some(field) => self.field(kind, edition, &field.shape, field.key, entry.value, ctx, depth),
                None => match entity.rest_in(edition).map(|rest| rest.shape) {
                    Some(Shape::Map(inner)) => self.named(inner, edition, "operations", &entry, ctx, depth),
                    _ if kind == entities::NODE_FILTER => self.value(entry.value, None, ctx, depth),
                    _ => {}
                },
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "where it is, what it is and how deep")]
    fn field(
        &self,
        own: Kind,
        edition: Edition,
        shape: &'static Shape,
        key: &'static str,
        node: Node<'a>,
        ctx: &Ctx<'a>,
        depth: u32,
    ) {
        if depth > DEPTH || self.special(own, edition, key, node, ctx, depth) {
            return;
        }
        match shape {
            Shape::One(kind) => self.entity(*kind, edition, node, &self.below(*kind, key, node, ctx), depth + 1),
            Shape::List(kind) => node.items().for_each(|item| self.entity(*kind, edition, item, ctx, depth + 1)),
            Shape::Map(kind) | Shape::Sequence(kind) | Shape::Repeating(kind) => {
                let rows =
                    if node.is_list() { node.items().flat_map(merged_entries).collect() } else { merged_entries(node) };
                rows.iter().for_each(|entry| self.named(*kind, edition, key, entry, ctx, depth));
            }
            Shape::Reference(kinds) | Shape::Names(kinds) => self.references(kinds, node),
            Shape::Parent => self.references(&[own], node),
            Shape::Union(shapes) => {
                shapes
                    .iter()
                    .filter(|shape| matches!(shape, Shape::Parent | Shape::ListOf(_)) || shapes.len() == 1)
                    .for_each(|shape| match shape {
                        Shape::ListOf(_) if node.is_list() => self.references(&[own], node),
                        Shape::Parent if node.is_scalar() => self.references(&[own], node),
                        _ => {}
                    });
            }
            Shape::Text | Shape::Bool | Shape::Integer | Shape::Range => {}
            _ if matches!(key, "properties" | "attributes" | "inputs") => self.assignments(key, node, ctx, depth),
            _ => self.value(node, None, ctx, depth + 1),
        }
    }

    /// The context inside one entity of another.
    fn below(&self, kind: Kind, key: &str, node: Node<'a>, ctx: &Ctx<'a>) -> Ctx<'a> {
        match (kind, key) {
            (entities::RELATIONSHIP_ASSIGNMENT | entities::RELATIONSHIP_DEFINITION, _) => {
                let relationship = ctx.relationship.clone();
                Ctx {
                    holder: relationship.clone(),
                    own: relationship,
                    is_relationship: true,
                    source: ctx.own.clone(),
                    ..ctx.clone()
                }
            }
            (_, "node_filter") => {
                Ctx { holder: ctx.target.clone(), own: ctx.target.clone(), is_relationship: false, ..ctx.clone() }
            }
            (entities::SUBSTITUTION_MAPPINGS, _) => {
                let of = node.get("node_type").and_then(|name| self.index.named(entities::NODE_TYPE, name));
                let holder = of.map(|id| self.index.type_of(id)).unwrap_or_default();
                Ctx { holder: holder.clone(), own: holder, ..ctx.clone() }
            }
            _ => ctx.clone(),
        }
    }

    /// One entry of a section with names.
    fn named(&self, kind: Kind, edition: Edition, section: &str, entry: &Entry<'a>, ctx: &Ctx<'a>, depth: u32) {
        let (key, value) = (entry.key, entry.value);
        let types = SECTIONS.iter().any(|(_, of)| *of == kind);
        let template_of = match kind {
            entities::NODE_TEMPLATE => Some(entities::NODE_TYPE),
            entities::RELATIONSHIP_TEMPLATE => Some(entities::RELATIONSHIP_TYPE),
            entities::GROUP => Some(entities::GROUP_TYPE),
            entities::POLICY => Some(entities::POLICY_TYPE),
            _ => None,
        };
        if let Some(of) = template_of {
            self.declare(entities::label(kind), key, value);
            let holder = self.index.template(of, value);
            let is_relationship = kind == entities::RELATIONSHIP_TEMPLATE;
            let ctx =
                Ctx { holder: holder.clone(), own: holder.clone(), target: holder, is_relationship, ..ctx.clone() };
            return self.entity(kind, edition, value, &ctx, depth + 1);
        }
        if types {
            return self.declared(kind, edition, key, value, ctx, depth);
        }
        match kind {
            entities::WORKFLOW => {
                self.declare("workflow", key, value);
                let ctx = Ctx { workflow: Some(value), holder: self.index.with(value, true, None), ..ctx.clone() };
                self.entity(kind, edition, value, &ctx, depth + 1);
            }
            entities::DECORATOR => {
                self.references(&[entities::NODE_TEMPLATE, entities::NODE_TYPE], key);
                let of = self.index.named(entities::NODE_TYPE, key);
                let holder = of.map(|id| self.index.with(value, false, Some(id))).unwrap_or_default();
                let ctx = Ctx { holder: holder.clone(), own: holder, ..ctx.clone() };
                self.entity(kind, edition, value, &ctx, depth + 1);
            }
            entities::PARAMETER_DEFINITION if self.is_service(section, entry) => {
                self.declare(if section == "inputs" { kind::INPUT } else { "output" }, key, value);
                let of = value.get("type").and_then(|name| self.index.named(entities::DATA_TYPE, name));
                let ctx = Ctx { holder: self.index.with(value, true, of), ..ctx.clone() };
                self.entity(kind, edition, value, &ctx, depth + 1);
            }
            _ => self.part(kind, edition, section, entry, ctx, depth),
        }
    }

    /// Whether an entry is an input or output of the service.
    fn is_service(&self, section: &str, entry: &Entry<'a>) -> bool {
        let rows = self.service.map(|service| entries(service, section)).unwrap_or_default();
        rows.iter().any(|row| row.key.span() == entry.key.span())
    }

    /// A type, a repository or a function.
    fn declared(&self, kind: Kind, edition: Edition, key: Node<'a>, value: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        self.declare(entities::label(kind), key, value);
        let file = self.index.file_of(key.span().file);
        let id = file.and_then(|file| self.index.own.get(&(file, kind, key.text())));
        let holder = match id {
            Some(id) => self.index.type_of(*id),
            None => self.index.with(value, true, None),
        };
        let is_relationship = kind == entities::RELATIONSHIP_TYPE;
        let ctx = Ctx { holder: holder.clone(), own: holder, is_relationship, ..ctx.clone() };
        self.entity(kind, edition, value, &ctx, depth + 1);
    }

    /// A member of the surrounding holder.
    fn part(&self, kind: Kind, edition: Edition, section: &str, entry: &Entry<'a>, ctx: &Ctx<'a>, depth: u32) {
        let (key, value) = (entry.key, entry.value);
        let found = match section {
            // Attributes have the values of properties at first.
            "attributes" if !is_definition(kind) => {
                self.index.member_of(&ctx.holder, &["attributes", "properties"], key.text())
            }
            _ => self.index.member(&ctx.holder, section, key.text()).map(|member| (section, member)),
        };
        let mut inner = ctx.clone();
        if let Some((section, member)) = found {
            self.member(section, &member, key, value, is_definition(kind));
            inner.holder = self.index.inside(&member, section);
            if section == "requirements" {
                let template = |name: &str| self.template("relationship_templates", name).map(|entry| entry.value);
                inner.relationship = self.index.relationship(&member, template);
                inner.target = self.target(&member);
            }
        } else {
            inner.holder = self.index.with(value, is_definition(kind), None);
        }
        self.entity(kind, edition, value, &inner, depth + 1);
    }

    /// Assignments by name, for members declared by a type.
    fn assignments(&self, section: &str, node: Node<'a>, ctx: &Ctx<'a>, depth: u32) {
        let rows = if node.is_list() { node.items().flat_map(merged_entries).collect() } else { merged_entries(node) };
        for entry in rows {
            let sections: &[&str] = match section {
                "attributes" => &["attributes", "properties"],
                "inputs" => &["inputs"],
                _ => &["properties", "attributes"],
            };
            let found = self.index.member_of(&ctx.holder, sections, entry.key.text());
            let data = found.map(|(section, member)| {
                self.member(section, &member, entry.key, entry.value, false);
                self.index.inside(&member, section)
            });
            self.value(entry.value, data.as_ref(), ctx, depth + 1);
        }
    }

    /// Scalars that name types or templates.
    fn references(&self, kinds: &[Kind], node: Node<'a>) {
        let items: Vec<Node<'a>> = if node.is_list() { node.items().collect() } else { vec![node] };
        for item in items.into_iter().filter(|item| item.is_scalar() && !item.is_null()) {
            kinds.iter().any(|kind| self.reference(*kind, item));
        }
    }

    /// Notes a scalar that may name a declaration of a kind; returns whether it does.
    fn reference(&self, kind: Kind, name: Node<'a>) -> bool {
        let section = match kind {
            entities::NODE_TEMPLATE => Some("node_templates"),
            entities::RELATIONSHIP_TEMPLATE => Some("relationship_templates"),
            entities::GROUP => Some("groups"),
            entities::POLICY => Some("policies"),
            entities::WORKFLOW => Some("workflows"),
            _ => None,
        };
        if let Some(section) = section {
            let Some(found) = self.template(section, name.text()) else { return false };
            self.uses_scalar(entities::label(kind), found.key, name);
            return true;
        }
        let Some(id) = self.index.named(kind, name) else { return false };
        let Some(decl) = self.index.model.names.decl(id) else { return false };
        let whole = written(name);
        let length = u32::try_from(decl.name.len()).unwrap_or(u32::MAX);
        let is_end = name.text().ends_with(decl.name.as_str()) && whole.end - whole.start >= length;
        let span = if is_end { Span::new(whole.file, whole.end - length, whole.end) } else { whole };
        let of = entities::label(kind);
        let id = match self.index.key_of(id).filter(|key| !self.index.is_normative(*key)) {
            Some(key) => NameId::Place(written(key)),
            None => NameId::named(of, "normative", decl.canonical.clone()),
        };
        self.session.names.uses(id, of, decl.name.clone(), span);
        if span.start > whole.start {
            self.prefix(name, whole);
        }
        true
    }
}
