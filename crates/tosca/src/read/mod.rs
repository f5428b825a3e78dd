//! Phase 1: a file's tree becomes entities, as the table says.
//!
//! Every accepted notation is normalised here and nowhere else. A bad part is reported and left out; the rest is
//! still read. This phase knows no other file and looks no name up.

mod clauses;
mod collections;
mod problems;
mod scalars;

use crate::entities;
use crate::entity::{Content, Defs, Entity, Range, Slot};
use crate::host::Host;
use crate::problem::Problems;
use crate::quirks::{self, Quirks};
use crate::rules;
use crate::schema::{Edition, Field, Kind, Row, Shape, Short};
use crate::val::{self, Data, Val, merged_entries};
use ecow::{EcoString, eco_format};
use purlin_syntax::{Diagnostic, Node, Severity, Span};
use std::sync::Arc;

/// Where a file stands among the files of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The file that was asked for.
    Root,
    /// A file that another one imports.
    Imported,
    /// A file of a normative profile.
    Profile,
}

/// Reads one file.
pub struct Reader<'a> {
    /// The edition whose rows apply.
    pub edition: Edition,
    /// Whether it is the root file.
    pub role: Role,
    /// Whether the root file asks for services to be substituted for its nodes.
    pub substitutes: bool,
    /// Departures from the strict reading.
    pub quirks: &'a Quirks,
    /// What a host adds to the notation of values.
    pub host: Option<&'static Host>,
    /// Where problems go.
    pub problems: &'a mut Problems,
}

impl Reader<'_> {
    /// Reads a whole file.
    pub fn file(&mut self, root: Node<'_>) -> Option<Entity> {
        if !root.is_map() {
            self.wrong(root.span(), "a TOSCA file", noun(root), "a map");
            return None;
        }
        if self.edition.is_2() && self.role != Role::Profile {
            self.version_first(root);
        }
        self.entity(Kind::File, "".into(), root.span(), root)
    }

    /// Whether a file is the template of a service that can stand for a node.
    pub fn can_substitute(root: Node<'_>) -> bool {
        let service = root.get("service_template").or_else(|| root.get("topology_template"));
        service.is_some_and(|service| service.get("substitution_mappings").is_some())
    }

    fn version_first(&mut self, root: Node<'_>) {
        if let Some(first) = root.entries().next()
            && first.name() != "tosca_definitions_version"
        {
            let message = "`tosca_definitions_version` must be the first line of a TOSCA 2.0 file";
            self.problems.at(
                &rules::VERSION,
                root.entry("tosca_definitions_version").map_or(root.span(), |e| e.key.span()),
                message,
            );
        }
    }

    /// Reads one entity.
    pub fn entity(&mut self, kind: Kind, name: EcoString, at: Span, node: Node<'_>) -> Option<Entity> {
        let row = entities::row(kind);
        let mut entity = Entity { kind, edition: self.edition, name, at, span: node.span(), slots: Vec::new() };
        if !node.is_map() {
            return self.short(row, entity, node);
        }
        if kind == Kind::Implementation && self.edition.is_2() && is_inline_artifact(node) {
            entity.slots.push(Slot { name: "primary", at, content: Content::Value(val::read(node, self.edition)) });
            return Some(entity);
        }
        if kind == Kind::ParameterDefinition && self.allows(quirks::PARAMETERS_PERMISSIVE) {
            let value = val::read(node, val::Notation { edition: self.edition, host: self.host });
            if value.is_call() {
                entity.slots.push(Slot { name: "value", at, content: Content::Value(value) });
                return Some(entity);
            }
        }
        let mut open: Vec<(EcoString, Span, Node<'_>)> = Vec::new();
        let mut present: Vec<&str> = Vec::new();
        for entry in merged_entries(node) {
            let Some(key) = self.key(entry.key) else { continue };
            if let Some(field) = row.by_key(key, self.edition) {
                present.push(field.slot);
                self.slot(&mut entity, field, entry.key.span(), entry.value);
            } else if row.open.is_some()
                && (self.edition <= Edition::V1_2
                    || self.edition.is_extended()
                    || self.quirks.has(quirks::OPERATIONS_PERMISSIVE))
            {
                open.push((entry.key.eco_text(), entry.key.span(), entry.value));
            } else if !self.skipped(kind, key) {
                self.unknown_key(row, key, entry.key.span());
            }
        }
        if let Some(slot) = row.open
            && !open.is_empty()
        {
            self.open_slot(&mut entity, slot, open);
        }
        if let Some(types) = node.entry("types").filter(|_| kind == Kind::File && self.edition.is_extended()) {
            self.types(&mut entity, types.key.span(), types.value);
        }
        self.missing_keys(row, &entity, &present);
        self.check(&entity);
        Some(entity)
    }

    pub(super) fn allows(&self, quirk: &str) -> bool {
        self.quirks.allow(quirk, self.edition)
    }

    /// Keys that a quirk tells to skip.
    fn skipped(&self, kind: Kind, key: &str) -> bool {
        match (kind, key) {
            (Kind::File, "annotation_types")
            | (Kind::PropertyDefinition | Kind::ParameterDefinition, "annotations") => {
                self.quirks.has(quirks::ANNOTATIONS_IGNORE)
            }
            _ => false,
        }
    }

    pub(super) fn slot(&mut self, entity: &mut Entity, field: &'static Field, at: Span, value: Node<'_>) {
        if entity.kind == Kind::File && field.slot == "service_template" && self.role != Role::Root {
            let substitutes = self.substitutes && value.get("substitution_mappings").is_some();
            let ignored = self.allows(quirks::TOPOLOGY_IGNORE);
            if ignored && value.get("substitution_mappings").is_none() {
                let message = format!("`{}` of an imported file is ignored", field.key);
                let mut diagnostic = Diagnostic::at(&rules::UNKNOWN_KEY, at, message);
                diagnostic.severity = Severity::Warning;
                self.problems.push(diagnostic.hint("only the file that is asked for makes a service"));
            }
            if !ignored && !substitutes && !self.edition.is_extended() {
                let message =
                    format!("an imported file cannot have `{}`; only the file that is asked for can", field.key);
                self.problems.at(&rules::UNKNOWN_KEY, at, message);
            }
            return;
        }
        if matches!(field.shape, Shape::Parents(_)) && value.is_list() {
            return self.parents(entity, at, value);
        }
        // Nothing written under a key says nothing.
        if self.edition.is_extended() && value.is_null() && field.shape != Shape::Value {
            return;
        }
        if value.is_null() && self.allows(quirks::EMPTY_PERMISSIVE) && may_be_empty(field) {
            return;
        }
        if field.slot == "derived_from" && value.text() == ROOT_OF_ALL && self.allows(quirks::NORMATIVE_REPLACE) {
            return;
        }
        if let Some(content) = self.content(field, at, value) {
            entity.slots.push(Slot { name: field.slot, at, content });
        }
    }

    fn open_slot(&mut self, entity: &mut Entity, slot: &'static str, open: Vec<(EcoString, Span, Node<'_>)>) {
        let kind = match entity.kind {
            Kind::InterfaceAssignment => Kind::OperationAssignment,
            _ => Kind::OperationDefinition,
        };
        let mut own = entity.map(slot).map(|defs| defs.own().clone()).unwrap_or_default();
        for (name, at, node) in open {
            if let Some(operation) = self.entity(kind, name.clone(), at, node) {
                own.insert(name, Arc::new(operation));
            }
        }
        entity.set(slot, entity.at, Content::Map(Arc::new(Defs::new(own))));
    }

    /// A scalar or list that stands for a whole entity.
    fn short(&mut self, row: &'static Row, mut entity: Entity, node: Node<'_>) -> Option<Entity> {
        let at = entity.at;
        let short = row.short;
        match short {
            Short::Text(slot) if node.as_str().is_some() && !matches!(val::scalar_data(node), Data::Timestamp(_)) => {
                if let Some(field) = row.by_slot(slot, self.edition) {
                    self.slot(&mut entity, field, at, node);
                }
                if row.kind == Kind::Import || row.kind == Kind::Repository {
                    return Some(entity);
                }
                Some(entity)
            }
            Short::Primary if node.as_str().is_some() => {
                let implementation = self.entity(Kind::Implementation, "".into(), at, node)?;
                entity.slots.push(Slot { name: "implementation", at, content: Content::One(Arc::new(implementation)) });
                Some(entity)
            }
            // An operation of which only the name is written.
            Short::Primary if node.is_null() && self.edition.is_2() => Some(entity),
            // Anything of which only the name is written.
            _ if (node.is_null() && self.edition.is_extended())
                || (is_nothing(node, short) && self.allows(quirks::EMPTY_PERMISSIVE)) =>
            {
                self.missing_keys(row, &entity, &[]);
                Some(entity)
            }
            Short::Text("node") if node.is_list() && self.edition.is_2() => {
                let content = Content::Value(self.value(node));
                entity.slots.push(Slot { name: "node", at, content });
                Some(entity)
            }
            Short::Value | Short::List(_)
                if node.is_scalar()
                    && !node.is_null()
                    && (self.edition.is_2() || self.allows(quirks::PARAMETERS_PERMISSIVE)) =>
            {
                entity.slots.push(Slot { name: "value", at, content: Content::Value(self.value(node)) });
                Some(entity)
            }
            Short::List(slot) if node.is_list() && self.edition.is_2() => {
                if let Some(field) = row.by_slot(slot, self.edition) {
                    self.slot(&mut entity, field, at, node);
                }
                Some(entity)
            }
            short => {
                let wanted = match short {
                    Short::Text(_) | Short::Primary => "a map or a string",
                    _ => "a map",
                };
                let what = if entity.name.is_empty() {
                    entities::with_article(row.label).into()
                } else {
                    eco_format!("`{}`", entity.name)
                };
                self.wrong(at, &what, noun(node), wanted);
                None
            }
        }
    }

    fn content(&mut self, field: &'static Field, at: Span, node: Node<'_>) -> Option<Content> {
        let key = field.key;
        match field.shape {
            Shape::Text | Shape::Name(_) | Shape::MaybeName(_) | Shape::Parents(_) => {
                Some(Content::Text(self.text(key, at, node)?))
            }
            Shape::Bool => self.bool(key, at, node).map(Content::Bool),
            Shape::Int => self.int(key, at, node).map(Content::Int),
            Shape::Texts | Shape::Names(_) => self.texts(key, at, node),
            Shape::Metadata => self.metadata(key, at, node),
            Shape::Value | Shape::Version => Some(Content::Value(self.value(node))),
            Shape::Aliases => {
                self.aliases(key, at, node);
                None
            }
            Shape::Range => self.range(key, at, node).map(Content::Range),
            Shape::Multipliers => self.multipliers(key, at, node),
            Shape::Constraints => self.constraints(key, at, node),
            Shape::Validation => self.validation(key, at, node),
            Shape::Condition => self.condition(key, at, node),
            Shape::PropertyFilters => self.property_filters(key, at, node),
            Shape::Activities => self.activities(key, at, node),
            Shape::OutputMappings => self.output_mappings(key, at, node),
            Shape::Mappings => self.mappings(key, at, node),
            Shape::Parameters => self.parameters(key, at, node),
            Shape::Types => None, // once the sections of single kinds are read
            Shape::Values => self.values(key, at, node, false),
            Shape::AttributeValues => self.values(key, at, node, true),
            Shape::One(kind) => self.entity(kind, "".into(), at, node).map(|entity| Content::One(Arc::new(entity))),
            Shape::Map(kind) => self.map(kind, key, at, node),
            Shape::List(kind) => self.list(kind, key, at, node),
            Shape::Sequence(kind) => self.sequence(kind, key, at, node, false),
            Shape::UniqueSequence(kind) => self.sequence(kind, key, at, node, true),
        }
    }

    pub(super) fn value(&mut self, node: Node<'_>) -> Val {
        let value = val::read(node, val::Notation { edition: self.edition, host: self.host });
        self.calls(&value);
        value
    }

    /// Reports calls that are malformed by their shape alone.
    pub(super) fn calls(&mut self, value: &Val) {
        match &value.data {
            Data::Call(call) => {
                if call.crowded {
                    let message = format!("the function `${}` must be the only key of its map", call.name);
                    self.problems.push(
                        Diagnostic::at(&rules::FUNCTION, value.span, message)
                            .hint("write `$$` for a key that begins with `$`"),
                    );
                }
                for arg in &call.args {
                    self.calls(arg);
                }
            }
            Data::List(items) => items.iter().for_each(|item| self.calls(item)),
            Data::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.calls(key);
                self.calls(value);
            }),
            _ => {}
        }
    }
}

/// Whether nothing is written; some write a list of nothing for an operation that does nothing.
fn is_nothing(node: Node<'_>, short: Short) -> bool {
    node.is_null() || (short == Short::Primary && node.is_list() && node.items().next().is_none())
}

/// What the standard derives its own root types from; it has nothing to inherit.
const ROOT_OF_ALL: &str = "tosca.entity.Root";

/// Whether nothing under a key can only mean that there is nothing: sections, words, and a default that is none.
fn may_be_empty(field: &Field) -> bool {
    match field.shape {
        Shape::Text => field.slot == "description",
        Shape::Value => field.slot == "default",
        Shape::Name(_) | Shape::MaybeName(_) | Shape::Parents(_) | Shape::Bool | Shape::Int => false,
        Shape::Version | Shape::Range | Shape::Validation | Shape::Condition => false,
        _ => true,
    }
}

fn without_copy(entity: &Entity) -> Entity {
    let slots = entity.slots.iter().filter(|slot| slot.name != "copy").cloned().collect();
    Entity { slots, ..entity.clone() }
}

/// In TOSCA 2.0 an implementation may be the artifact itself.
fn is_inline_artifact(node: Node<'_>) -> bool {
    node.get("file").is_some() && node.get("primary").is_none()
}

/// Reads a range from a value.
pub fn parse_range(value: &Val) -> Result<Range, String> {
    let [lower, upper] = value.items() else {
        return Err(format!("it must be a list of two, but it is {}", value.noun()));
    };
    let bound = |value: &Val| match value.data {
        Data::Int(number) => u64::try_from(number).map_err(|_| "a bound cannot be negative".to_owned()),
        _ => Err(format!("a bound must be an integer, but it is {}", value.noun())),
    };
    let lower = bound(lower)?;
    let upper = if upper.as_str() == Some("UNBOUNDED") { None } else { Some(bound(upper)?) };
    if upper.is_some_and(|upper| upper < lower) {
        return Err("the upper bound is lower than the lower bound".to_owned());
    }
    Ok(Range { lower, upper })
}

/// What people call this kind of node.
pub fn noun(node: Node<'_>) -> &'static str {
    if node.is_scalar() {
        return Val::new(val::scalar_data(node), node.span()).noun();
    }
    match node.kind() {
        purlin_syntax::Kind::List => "a list",
        purlin_syntax::Kind::Map => "a map",
        _ => "broken",
    }
}
