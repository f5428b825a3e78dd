//! Phase 1: a file's tree becomes entities, as the table says.
//!
//! Every accepted notation is normalised here and nowhere else. A bad part is reported and left out; the rest is still
//! read. This phase knows no other file and resolves no name. The rows are those of `purlin_model`, the reader is not:
//! here values are parsed once, with their calls recognised, and messages have the content of the original tools'
//! reports.

mod clauses;
mod collections;
mod problems;
mod scalars;

use crate::edition::{Edition, Standard};
use crate::entities;
use crate::entities::shapes::number;
use crate::entity::{Content, Defs, Entity, Range, Slot};
use crate::host::Host;
use crate::problem::Problems;
use crate::quirks::{self, Quirks};
use crate::rules;
use crate::scripts::Own;
use crate::val::{self, Data, Val, merged_entries};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_model::check::with_article;
use purlin_model::schema::{Entity as Row, Field, Kind, Notation, Shape, Written};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Node, Span};
use std::sync::Arc;

/// The directive of templates that are part of every service that imports them, in the extended edition.
pub const SHARED: &str = "default";

/// Kinds that Unfurl rejects if they are empty.
const MUST_SAY_SOMETHING: [Kind; 4] = [
    entities::REQUIREMENT_DEFINITION,
    entities::REQUIREMENT_ASSIGNMENT,
    entities::INTERFACE_ASSIGNMENT,
    entities::DECORATOR,
];

/// The role of a file among the files of a run.
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
    /// Whether the root file requests services to be substituted for its nodes.
    pub substitutes: bool,
    /// Departures from the strict reading.
    pub quirks: &'a Quirks,
    /// The host's extensions to the notation of values.
    pub host: Option<&'static Host>,
    /// Functions and constraints that the file defines for itself.
    pub own: Own,
    /// The collected problems.
    pub problems: &'a mut Problems,
}

impl Reader<'_> {
    /// Reads a whole file.
    pub fn file(&mut self, root: Node<'_>) -> Option<Entity> {
        if !root.is_map() {
            self.wrong(root.span(), "a TOSCA file", noun(root), "a mapping");
            return None;
        }
        if self.edition.is_2() && self.role != Role::Profile {
            self.version_first(root);
        }
        self.entity(entities::FILE, "".into(), root.span(), root)
    }

    /// Whether a file is the template of a service that can replace a node.
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
        let mut entity =
            Entity { kind, edition: self.edition, name, at, span: node.span(), slots: Vec::new(), sensitive: false };
        if kind == entities::TRIGGER_CONDITION && self.is_clause(node) {
            let content = self.condition("condition", at, node)?;
            entity.slots.push(Slot { name: "constraint", at, content });
            return Some(entity);
        }
        if !node.is_map() {
            return self.short(row, entity, node);
        }
        if kind == entities::IMPLEMENTATION && self.edition.is_2() && is_inline_artifact(node) {
            entity.slots.push(Slot { name: "primary", at, content: Content::Value(val::read(node, self.edition)) });
            return Some(entity);
        }
        // A call instead of a definition is the parameter's value; TOSCA 2.0 has this notation.
        if kind == entities::PARAMETER_DEFINITION && (self.edition.is_2() || self.allows(quirks::PARAMETERS_PERMISSIVE))
        {
            let value = val::read(node, self.notation());
            if value.is_call() {
                entity.slots.push(Slot { name: "value", at, content: Content::Value(value) });
                return Some(entity);
            }
        }
        let mut open: Vec<(EcoString, Span, Node<'_>)> = Vec::new();
        let mut present: Vec<&str> = Vec::new();
        for entry in merged_entries(node) {
            // A key with a row is plain text; only the others are interpreted.
            if let Some(field) = plain(entry.key).and_then(|key| row.field(key, self.edition)) {
                present.push(field.slot);
                self.slot(&mut entity, field, entry.key.span(), entry.value);
                continue;
            }
            let Some(key) = self.key(entry.key) else { continue };
            if self.rest(row).is_some() && !self.is_slip(row, key) {
                open.push((entry.key.eco_text(), entry.key.span(), entry.value));
            } else if !self.skipped(kind, key) {
                self.unknown_key(row, key, entry.key.span());
            }
        }
        if let Some(rest) = self.rest(row).filter(|_| !open.is_empty()) {
            self.rest_slot(&mut entity, rest, open);
        }
        if let Some(types) = node.entry("types").filter(|_| kind == entities::FILE && self.edition.is_extended()) {
            self.types(&mut entity, types.key.span(), types.value);
        }
        entity.sensitive = is_sensitive(&entity);
        self.missing_keys(row, &entity, &present);
        self.check(&entity);
        Some(entity)
    }

    /// Whether a trigger's condition is itself the clause, without any of the keys that may accompany it.
    fn is_clause(&self, node: Node<'_>) -> bool {
        let row = entities::row(entities::TRIGGER_CONDITION);
        let entries = merged_entries(node);
        let is_known = |key: &str| row.field(key, self.edition).is_some();
        node.is_list() || (!entries.is_empty() && !entries.iter().any(|entry| plain(entry.key).is_some_and(is_known)))
    }

    pub(super) fn allows(&self, quirk: &str) -> bool {
        self.quirks.allow(quirk, self.edition)
    }

    /// Keys skipped because of a quirk.
    fn skipped(&self, kind: Kind, key: &str) -> bool {
        match (kind, key) {
            (entities::FILE, "annotation_types")
            | (entities::PROPERTY_DEFINITION | entities::PARAMETER_DEFINITION, "annotations") => {
                self.quirks.has(quirks::ANNOTATIONS_IGNORE)
            }
            _ => false,
        }
    }

    /// Node templates of an imported file, as hosts use them: those with the directive `default` are read; of the
    /// others only the names are kept.
    fn imported_templates(&mut self, entity: &mut Entity, slot: &'static str, at: Span, service: Node<'_>) {
        let kind = entities::NODE_TEMPLATE;
        let mut own = IndexMap::new();
        for entry in service.get("node_templates").into_iter().flat_map(merged_entries) {
            let Some(name) = plain(entry.key).map(EcoString::from) else { continue };
            let (at, span, edition) = (entry.key.span(), entry.value.span(), self.edition);
            let mut directives = entry.value.get("directives").into_iter().flat_map(|list| list.items());
            let read = match directives.any(|directive| plain(directive) == Some(SHARED)) {
                true => self.entity(kind, name.clone(), at, entry.value),
                false => {
                    let name = name.clone();
                    Some(Entity { kind, edition, name, at, span, slots: Vec::new(), sensitive: false })
                }
            };
            own.extend(read.map(|template| (name, Arc::new(template))));
        }
        let mut read = Entity {
            kind: entities::SERVICE_TEMPLATE,
            edition: self.edition,
            name: EcoString::new(),
            at,
            span: service.span(),
            slots: Vec::new(),
            sensitive: false,
        };
        read.set("node_templates", at, Content::Map(Arc::new(Defs::new(own))));
        entity.set(slot, at, Content::One(Arc::new(read)));
    }

    pub(super) fn slot(&mut self, entity: &mut Entity, field: &'static Field, at: Span, value: Node<'_>) {
        if entity.kind == entities::FILE && field.slot == "service_template" && self.role != Role::Root {
            let substitutes = self.substitutes && value.get("substitution_mappings").is_some();
            let ignored = self.allows(quirks::TOPOLOGY_IGNORE);
            if ignored && value.get("substitution_mappings").is_none() {
                let message = format!("`{}` of an imported file is ignored", field.key);
                let diagnostic = Diagnostic::at(&rules::UNKNOWN_KEY, at, message).warning();
                self.problems.push(diagnostic.hint("only the file that is asked for makes a service"));
            }
            if self.edition.is_extended() {
                self.imported_templates(entity, field.slot, at, value);
            } else if !ignored && !substitutes {
                let message =
                    format!("an imported file cannot have `{}`; only the file that is asked for can", field.key);
                self.problems.at(&rules::UNKNOWN_KEY, at, message);
            }
            return;
        }
        if matches!(field.shape, Shape::Union(_)) && value.is_list() {
            return self.parents(entity, at, value);
        }
        // An empty value under a key is ignored.
        if self.edition.is_extended() && value.is_null() && !matches!(field.shape, Shape::Any) {
            return;
        }
        if value.is_null() && self.allows(quirks::EMPTY_PERMISSIVE) && may_be_empty(field) {
            return;
        }
        let is_mapping = matches!(field.shape, Shape::Map(_) | Shape::MapOf(_) | Shape::One(_));
        if is_mapping && self.is_empty_list(value) {
            let message = what::expected("a mapping", "an empty list, which counts as nothing")
                .under(format!("`{}`: ", field.key));
            let hint = format!("write `{}: {{}}`, or remove it", field.key);
            self.problems.push(Diagnostic::at(&rules::WRONG_SHAPE, at, message).hint(hint).warning());
            return;
        }
        if entity.kind == entities::CAPABILITY_DEFINITION && field.slot == "properties" && self.may_be_given(value) {
            let content = self.given_properties(value);
            entity.slots.push(Slot { name: field.slot, at, content });
            return;
        }
        if field.slot == "derived_from" && value.text() == ROOT_OF_ALL && self.allows(quirks::NORMATIVE_REPLACE) {
            return;
        }
        if let Some(content) = self.content(field, at, value) {
            entity.slots.push(Slot { name: field.slot, at, content });
        }
    }

    /// Whether Unfurl reads a node type's definitions of a capability's properties as their values.
    fn may_be_given(&self, properties: Node<'_>) -> bool {
        self.edition.is_extended() && properties.is_map()
    }

    /// Properties of a capability that a node type defines, or gives values as if it were a template.
    fn given_properties(&mut self, node: Node<'_>) -> Content {
        let kind = entities::PROPERTY_DEFINITION;
        let mut own = IndexMap::new();
        for entry in merged_entries(node) {
            let Some(name) = self.key(entry.key).map(EcoString::from) else { continue };
            let (at, span, edition) = (entry.key.span(), entry.value.span(), self.edition);
            let value = self.value(entry.value);
            let read = match entry.value.is_map() && !value.is_call() {
                true => self.entity(kind, name.clone(), at, entry.value),
                false => {
                    let slots = vec![Slot { name: "default", at: span, content: Content::Value(value) }];
                    Some(Entity { kind, edition, name: name.clone(), at, span, slots, sensitive: false })
                }
            };
            own.extend(read.map(|property| (name, Arc::new(property))));
        }
        Content::Map(Arc::new(Defs::new(own)))
    }

    /// Unfurl takes an empty list for an empty mapping.
    fn is_empty_list(&self, value: Node<'_>) -> bool {
        self.edition.is_extended() && value.is_list() && value.items().next().is_none()
    }

    /// Whether a key of an edition that wants `operations` is a misspelt one rather than the name of an operation.
    fn is_slip(&self, row: &'static Row, key: &str) -> bool {
        let is_strict = row.rest.as_ref().is_some_and(|rest| !rest.window.has(self.edition));
        is_strict
            && !self.quirks.has(quirks::OPERATIONS_PERMISSIVE)
            && row.fields(self.edition).any(|field| purlin_syntax::suggest::is_slip(key, field.key))
    }

    /// The row that reads entries without a key.
    fn rest(&self, row: &'static Row) -> Option<&'static Field> {
        let permissive = self.allows(quirks::OPERATIONS_PERMISSIVE);
        row.rest.as_ref().filter(|rest| permissive || rest.window.has(self.edition))
    }

    fn rest_slot(&mut self, entity: &mut Entity, rest: &'static Field, open: Vec<(EcoString, Span, Node<'_>)>) {
        let Shape::Map(kind) = rest.shape else { return };
        let mut own = entity.map(rest.slot).map(|defs| defs.own().clone()).unwrap_or_default();
        for (name, at, node) in open {
            if let Some(operation) = self.entity(kind, name.clone(), at, node) {
                own.insert(name, Arc::new(operation));
            }
        }
        entity.set(rest.slot, entity.at, Content::Map(Arc::new(Defs::new(own))));
    }

    /// A scalar or list as the short notation of an entity.
    fn short(&mut self, row: &'static Row, mut entity: Entity, node: Node<'_>) -> Option<Entity> {
        let at = entity.at;
        let fits = |written: Written| match written {
            Written::Text => val::as_text(node).is_some(),
            Written::Scalar => node.is_scalar() && !node.is_null(),
            Written::List => node.is_list(),
        };
        let given = self.allows(quirks::PARAMETERS_PERMISSIVE);
        let is_read = |short: &&Notation| short.window.has(self.edition) || (given && short.written == Written::Scalar);
        let mut notations = row.short.iter().filter(is_read);
        if let Some(short) = notations.find(|short| fits(short.written)) {
            match row.field_of(short.slot, self.edition) {
                Some(field) => self.slot(&mut entity, field, at, node),
                // The notation of a newer edition, allowed by a quirk.
                None => entity.slots.push(Slot { name: short.slot, at, content: Content::Value(self.value(node)) }),
            }
            return Some(entity);
        }
        if node.is_null() && self.edition.is_2() && may_be_bare(row.kind) {
            return Some(entity);
        }
        // An entity of which only the name is written.
        let nothing = is_nothing(node, row.kind) && self.allows(quirks::EMPTY_PERMISSIVE);
        if nothing || (node.is_null() && self.edition.is_extended() && !MUST_SAY_SOMETHING.contains(&row.kind)) {
            self.missing_keys(row, &entity, &[]);
            return Some(entity);
        }
        let is_text = |short: &Notation| short.written == Written::Text;
        let wanted = if row.short.iter().any(is_text) { "a map or a string" } else { "a mapping" };
        let what =
            if entity.name.is_empty() { with_article(row.label).into() } else { eco_format!("`{}`", entity.name) };
        self.wrong(at, &what, noun(node), wanted);
        None
    }

    fn content(&mut self, field: &'static Field, at: Span, node: Node<'_>) -> Option<Content> {
        let key = field.key;
        match field.shape {
            Shape::Text | Shape::Reference(_) | Shape::Parent | Shape::Union(_) => {
                Some(Content::Text(self.text(key, at, node)?))
            }
            Shape::Bool => self.bool(key, at, node).map(Content::Bool),
            Shape::Integer => self.int(key, at, node).map(Content::Int),
            Shape::ListOf(_) | Shape::Names(_) => self.texts(key, at, node),
            Shape::Any => Some(Content::Value(self.value(node))),
            Shape::Range => self.range(key, at, node).map(Content::Range),
            Shape::MapOf(Shape::Number) => self.multipliers(key, at, node),
            Shape::MapOf(_) => self.values(key, at, node, false),
            Shape::One(kind) => self.entity(kind, "".into(), at, node).map(|entity| Content::One(Arc::new(entity))),
            Shape::Map(kind) => self.map(kind, key, at, node),
            Shape::List(kind) => self.list(kind, key, at, node),
            Shape::Repeating(kind) => self.sequence(kind, key, at, node, false),
            Shape::Sequence(kind) => self.sequence(kind, key, at, node, true),
            Shape::Special(special) => self.special(special.number, key, at, node),
            Shape::Scalar | Shape::Number | Shape::Choice(_) => None, // no row has them; a test says so
        }
    }

    /// Shapes that only TOSCA has.
    fn special(&mut self, number: u16, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        match number {
            number::METADATA => self.metadata(key, at, node),
            number::VERSION => Some(Content::Value(self.value(node))),
            number::CONSTRAINTS => self.constraints(key, at, node),
            number::VALIDATION => self.validation(key, at, node),
            number::CONDITION => self.condition(key, at, node),
            number::PROPERTY_FILTERS => self.property_filters(key, at, node),
            number::ACTIVITIES => self.activities(key, at, node),
            number::OUTPUT_MAPPINGS => self.output_mappings(key, at, node),
            number::MAPPINGS => self.mappings(key, at, node),
            number::PARAMETERS => self.parameters(key, at, node),
            number::ATTRIBUTE_VALUES => self.values(key, at, node, true),
            number::ALIASES => {
                self.aliases(key, at, node);
                None
            }
            _ => None, // types of any kind, once the sections of single kinds are read
        }
    }

    fn notation(&self) -> val::Notation<'_> {
        val::Notation { edition: self.edition, host: self.host, own: &self.own.functions }
    }

    pub(super) fn value(&mut self, node: Node<'_>) -> Val {
        let value = val::read(node, self.notation());
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

/// Whether a value is empty; some write an empty list for an operation without effect.
fn is_nothing(node: Node<'_>, kind: Kind) -> bool {
    node.is_null() || (may_be_bare(kind) && node.is_list() && node.items().next().is_none())
}

/// The parent of the standard's own root types; it has nothing to inherit.
const ROOT_OF_ALL: &str = "tosca.entity.Root";

/// Whether an empty key can only mean an empty value: sections, descriptions, and a default of null.
fn may_be_empty(field: &Field) -> bool {
    match field.shape {
        Shape::Text => field.slot == "description",
        Shape::Any => field.slot == "default",
        Shape::Reference(_) | Shape::Parent | Shape::Union(_) | Shape::Bool | Shape::Integer | Shape::Range => false,
        Shape::Special(special) => !matches!(special.number, number::VERSION | number::VALIDATION | number::CONDITION),
        _ => true,
    }
}

/// Whether only the name of an entity may be written in TOSCA 2.0: an operation without further keys.
fn may_be_bare(kind: Kind) -> bool {
    use entities::{NOTIFICATION_ASSIGNMENT, NOTIFICATION_DEFINITION, OPERATION_ASSIGNMENT, OPERATION_DEFINITION};
    matches!(kind, NOTIFICATION_ASSIGNMENT | NOTIFICATION_DEFINITION | OPERATION_ASSIGNMENT | OPERATION_DEFINITION)
}

/// Whether an entity's own metadata marks its values as secrets. A host's metadata are values; elsewhere they are
/// texts.
fn is_sensitive(entity: &Entity) -> bool {
    match entity.value("metadata").and_then(|notes| notes.get("sensitive")).map(|flag| &flag.data) {
        None | Some(Data::Null) => false,
        Some(Data::Bool(flag)) => *flag,
        Some(Data::Int(flag)) => *flag != 0,
        Some(Data::Str(flag)) if entity.edition.is_extended() => !flag.is_empty(),
        Some(Data::Str(flag)) => !flag.is_empty() && !flag.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}

fn without_copy(entity: &Entity) -> Entity {
    let slots = entity.slots.iter().filter(|slot| slot.name != "copy").cloned().collect();
    Entity { slots, ..entity.clone() }
}

/// The text of a key, unless it has another meaning.
fn plain(key: Node<'_>) -> Option<&str> {
    (key.is_scalar() && key.tag().is_none()).then(|| key.text())
}

/// In TOSCA 2.0 an implementation may be the artifact itself.
fn is_inline_artifact(node: Node<'_>) -> bool {
    node.get("file").is_some() && node.get("primary").is_none()
}

/// Reads a range from a value.
pub fn parse_range(value: &Val) -> Result<Range, String> {
    let [lower, upper] = value.items() else {
        return Err(what::expected("a list of two", value.noun()).into());
    };
    let bound = |value: &Val| match value.data {
        Data::Int(number) => u64::try_from(number).map_err(|_| "a bound cannot be negative".to_owned()),
        _ => Err(what::expected("an integer", value.noun()).under("a bound: ").into()),
    };
    let lower = bound(lower)?;
    let upper = if upper.as_str() == Some("UNBOUNDED") { None } else { Some(bound(upper)?) };
    if upper.is_some_and(|upper| upper < lower) {
        return Err("the upper bound is lower than the lower bound".to_owned());
    }
    Ok(Range { lower, upper })
}

/// The display name of this kind of node.
pub fn noun(node: Node<'_>) -> &'static str {
    if node.is_scalar() {
        return Val::new(val::scalar_data(node), node.span()).noun();
    }
    match node.kind() {
        purlin_syntax::Kind::List => "a list",
        purlin_syntax::Kind::Map => "a mapping",
        _ => "broken",
    }
}
