//! Phase 1: a file's tree becomes entities, as the table says.
//!
//! Every accepted notation is normalised here and nowhere else. A bad part is reported and left out; the rest is
//! still read. This phase knows no other file and looks no name up.

use crate::clause;
use crate::entities;
use crate::entity::{Content, Defs, Entity, Range, Slot};
use crate::host::Host;
use crate::problem::Problems;
use crate::quirks::{self, Quirks};
use crate::rules;
use crate::schema::{Edition, Field, Kind, Need, Row, Shape, Short};
use crate::val::{self, Data, Text, Val, merged_entries};
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_syntax::{Diagnostic, Node, Span};
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
        let mut open: Vec<(EcoString, Span, Node<'_>)> = Vec::new();
        let mut present: Vec<&str> = Vec::new();
        for entry in merged_entries(node) {
            let Some(key) = self.key(entry.key) else { continue };
            if let Some(field) = row.by_key(key, self.edition) {
                present.push(field.slot);
                self.slot(&mut entity, field, entry.key.span(), entry.value);
            } else if row.open.is_some()
                && (self.edition <= Edition::V1_2 || self.quirks.has(quirks::OPERATIONS_PERMISSIVE))
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
        self.missing_keys(row, &entity, &present);
        self.check(&entity);
        Some(entity)
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

    fn slot(&mut self, entity: &mut Entity, field: &'static Field, at: Span, value: Node<'_>) {
        if entity.kind == Kind::File && field.slot == "service_template" && self.role != Role::Root {
            let substitutes = self.substitutes && value.get("substitution_mappings").is_some();
            if !self.quirks.has(quirks::TOPOLOGY_IGNORE) && !substitutes {
                let message =
                    format!("an imported file cannot have `{}`; only the file that is asked for can", field.key);
                self.problems.at(&rules::UNKNOWN_KEY, at, message);
            }
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
        match row.short {
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
            Short::Text("node") if node.is_list() && self.edition.is_2() => {
                let content = Content::Value(self.value(node));
                entity.slots.push(Slot { name: "node", at, content });
                Some(entity)
            }
            Short::Value | Short::List(_) if node.is_scalar() && !node.is_null() && self.edition.is_2() => {
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
                    eco_format!("a {}", row.label)
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
            Shape::Text | Shape::Name(_) | Shape::MaybeName(_) => Some(Content::Text(self.text(key, at, node)?)),
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
            Shape::Values => self.values(key, at, node, false),
            Shape::AttributeValues => self.values(key, at, node, true),
            Shape::One(kind) => self.entity(kind, "".into(), at, node).map(|entity| Content::One(Arc::new(entity))),
            Shape::Map(kind) => self.map(kind, key, at, node),
            Shape::List(kind) => self.list(kind, key, at, node),
            Shape::Sequence(kind) => self.sequence(kind, key, at, node, false),
            Shape::UniqueSequence(kind) => self.sequence(kind, key, at, node, true),
        }
    }

    fn value(&mut self, node: Node<'_>) -> Val {
        let value = val::read(node, val::Notation { edition: self.edition, host: self.host });
        self.calls(&value);
        value
    }

    /// Reports calls that are malformed by their shape alone.
    fn calls(&mut self, value: &Val) {
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

    fn text(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Text> {
        if node.is_scalar()
            && let Data::Str(text) = val::scalar_data(node)
        {
            return Some(Text { text, span: node.span() });
        }
        self.wrong_key(at, key, noun(node), "a string");
        None
    }

    fn bool(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<bool> {
        let found = node.as_bool();
        if found.is_none() {
            self.wrong_key(at, key, noun(node), "a boolean");
        }
        found
    }

    fn int(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<i64> {
        let found = node.as_int();
        if found.is_none() {
            self.wrong_key(at, key, noun(node), "an integer");
        }
        found
    }

    fn texts(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list");
            return None;
        }
        let texts = node.items().filter_map(|item| self.text(key, item.span(), item)).collect();
        Some(Content::Texts(Arc::new(texts)))
    }

    fn metadata(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
            return None;
        }
        for entry in merged_entries(node) {
            self.key(entry.key);
            let plain = val::scalar_data(entry.value);
            let is_text = entry.value.is_scalar() && matches!(plain, Data::Str(_));
            let fits = match self.edition.is_2() {
                // TOSCA 2.0 lets metadata be any value, but names and authors are texts where they are scalars.
                true => {
                    let named = matches!(entry.name(), "template_name" | "template_author");
                    !entry.value.is_null() && (is_text || !named || !entry.value.is_scalar())
                }
                // A host may keep expressions there.
                false => is_text || self.host.is_some() || self.quirks.has(quirks::STRING_PERMISSIVE),
            };
            if !fits {
                self.wrong_key(entry.key.span(), entry.name(), noun(entry.value), "a string");
            }
        }
        // Calls mean nothing in metadata, so it is read as TOSCA 1.0 would, where few names are functions.
        Some(Content::Value(val::read(node, Edition::V1_0)))
    }

    fn aliases(&mut self, key: &str, at: Span, node: Node<'_>) {
        if !self.edition.is_2() {
            return;
        }
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
        }
        for entry in node.entries() {
            if entry.value.is_scalar() && entry.value.anchor().is_none() {
                let message =
                    format!("`{}` in `dsl_definitions` can never be used, since it has no anchor", entry.name());
                self.problems.push(
                    Diagnostic::at(&rules::WRONG_SHAPE, entry.key.span(), message)
                        .hint("give it an anchor, such as `&name`, and refer to it as `*name`"),
                );
            }
        }
    }

    fn range(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Range> {
        let value = val::read(node, self.edition);
        match parse_range(&value) {
            Ok(range) => Some(range),
            Err(reason) => {
                self.problems.at(
                    &rules::MALFORMED,
                    at,
                    format!("`{key}` must be a range such as `[1, 4]` or `[0, UNBOUNDED]`: {reason}"),
                );
                None
            }
        }
    }

    fn multipliers(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
            return None;
        }
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            let name = Text { text: entry.key.eco_text(), span: entry.key.span() };
            let value = val::read(entry.value, self.edition);
            if matches!(value.data, Data::Int(_) | Data::Float(_)) {
                out.push((name, value));
            } else {
                self.wrong_key(entry.key.span(), entry.name(), value.noun(), "a number");
            }
        }
        Some(Content::Values(Arc::new(out)))
    }

    fn constraints(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list");
            return None;
        }
        let mut out = Vec::new();
        for item in node.items() {
            let value = self.value(item);
            match clause::check_constraint(&value, self.edition) {
                Ok(()) => out.push(value),
                Err(reason) => self.problems.at(&rules::MALFORMED, item.span(), reason),
            }
        }
        Some(Content::Clauses(Arc::new(out)))
    }

    fn validation(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let value = self.value(node);
        match clause::check_validation(&value) {
            Ok(()) => Some(Content::Clauses(Arc::new(vec![value]))),
            Err(reason) => {
                self.problems.at(
                    &rules::MALFORMED,
                    at,
                    format!("`{key}` must be a call of a function that gives true or false: {reason}"),
                );
                None
            }
        }
    }

    fn condition(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if self.edition.is_2() {
            return self.validation(key, at, node);
        }
        let value = self.value(node);
        if let Err((span, reason)) = clause::check_condition(&value, self.edition) {
            self.problems.at(&rules::MALFORMED, span.unwrap_or(at), reason);
            return None;
        }
        Some(Content::Clauses(Arc::new(vec![value])))
    }

    fn property_filters(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let mut out = Vec::new();
        for (name, at, value) in self.one_key_maps(key, at, node)? {
            let value = self.value(value);
            let clauses: &[Val] =
                if let Data::List(items) = &value.data { items } else { std::slice::from_ref(&value) };
            for clause in clauses {
                if let Err(reason) = clause::check_constraint(clause, self.edition) {
                    self.problems.at(&rules::MALFORMED, at, reason);
                }
            }
            out.push((Text { text: name, span: at }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    fn activities(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list");
            return None;
        }
        for item in node.items() {
            if let Err(reason) = clause::check_activity(&val::read(item, self.edition), self.edition) {
                self.problems.at(&rules::MALFORMED, item.span(), reason);
            }
        }
        Some(Content::Value(self.value(node)))
    }

    fn output_mappings(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
            return None;
        }
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            let Some(_) = self.key(entry.key) else { continue };
            let value = self.value(entry.value);
            let fits = value.items().len() >= 2 || self.edition.is_2();
            if !fits || (!self.edition.is_2() && !value.items().iter().all(|item| item.as_str().is_some())) {
                let message = format!("`{}` must be mapped to a list such as `[SELF, attribute]`", entry.name());
                self.problems.at(&rules::MALFORMED, entry.key.span(), message);
                continue;
            }
            out.push((Text { text: entry.key.eco_text(), span: entry.key.span() }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    /// Mappings of a substitution; keys may be lists in TOSCA 2.0, so they stay plain values.
    fn mappings(&mut self, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        let listed = key == "requirements" && (self.edition.is_2() || self.quirks.has(quirks::SUBSTITUTION_LIST));
        let mut out = Vec::new();
        if node.is_map() {
            for entry in merged_entries(node) {
                out.push((val::read(entry.key, Edition::V1_0), self.value(entry.value)));
            }
        } else if node.is_list() && listed {
            for item in node.items() {
                let entries = merged_entries(item);
                let [entry] = entries.as_slice() else {
                    self.problems.at(
                        &rules::MALFORMED,
                        item.span(),
                        "each mapped requirement must be a map with one key",
                    );
                    continue;
                };
                out.push((val::read(entry.key, Edition::V1_0), self.value(entry.value)));
            }
        } else {
            self.wrong_key(at, key, noun(node), if listed { "a list" } else { "a map" });
            return None;
        }
        Some(Content::Value(Val::new(Data::Map(Arc::new(out)), node.span())))
    }

    fn values(&mut self, key: &str, at: Span, node: Node<'_>, long_form: bool) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
            return None;
        }
        let mut out = Vec::new();
        for entry in merged_entries(node) {
            if self.key(entry.key).is_none() {
                continue;
            }
            let mut value = self.value(entry.value);
            if long_form {
                value = self.long_attribute(value);
            }
            out.push((Text { text: entry.key.eco_text(), span: entry.key.span() }, value));
        }
        Some(Content::Values(Arc::new(out)))
    }

    /// The value of an attribute that is written as `{description, value}`.
    fn long_attribute(&self, value: Val) -> Val {
        let described = value.get("description").is_some();
        match value.entries() {
            [_, _] if described => value.get("value").cloned().unwrap_or(value),
            [_] if described && self.edition.is_2() => value.with(Data::Null),
            _ => value,
        }
    }

    fn map(&mut self, kind: Kind, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if !node.is_map() {
            self.wrong_key(at, key, noun(node), "a map");
            return None;
        }
        let entries = merged_entries(node);
        let mut own = IndexMap::with_capacity(entries.len());
        for entry in entries {
            if self.key(entry.key).is_none() {
                continue;
            }
            let (name, at) = (entry.key.eco_text(), entry.key.span());
            if self.edition.is_2() && name.trim().is_empty() {
                self.problems.at(&rules::MALFORMED, at, format!("a {} must have a name", entities::label(kind)));
                continue;
            }
            if let Some(entity) = self.entity(kind, name.clone(), at, entry.value) {
                own.insert(name, Arc::new(entity));
            }
        }
        if matches!(kind, Kind::NodeTemplate | Kind::RelationshipTemplate) {
            let (copied, in_rings) = crate::copy::apply(own, self.problems);
            own = copied;
            // What a ring would have brought in is not known, so nothing of it is missing.
            for entity in own.values().filter(|entity| !in_rings.contains(&entity.name)) {
                self.missing_keys(entities::row(kind), &without_copy(entity), &[]);
            }
        }
        Some(Content::Map(Arc::new(Defs::new(own))))
    }

    fn list(&mut self, kind: Kind, key: &str, at: Span, node: Node<'_>) -> Option<Content> {
        if kind == Kind::WorkflowPrecondition && node.is_map() {
            let read = |entry: &purlin_syntax::tree::Entry<'_>, this: &mut Self| {
                this.entity(kind, entry.key.eco_text(), entry.key.span(), entry.value).map(Arc::new)
            };
            let entities = merged_entries(node).iter().filter_map(|entry| read(entry, self)).collect();
            return Some(Content::List(Arc::new(entities)));
        }
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list");
            return None;
        }
        let mut out = Vec::new();
        for item in node.items() {
            let mut item = item;
            if kind == Kind::Import && self.quirks.has(quirks::IMPORTS_SEQUENCED) {
                let entries = merged_entries(item);
                if let [entry] = entries.as_slice()
                    && entry.value.is_map()
                {
                    item = entry.value;
                }
            }
            out.extend(self.entity(kind, "".into(), item.span(), item).map(Arc::new));
        }
        Some(Content::List(Arc::new(out)))
    }

    /// The names and values of a list of one-key maps.
    fn one_key_maps<'t>(&mut self, key: &str, at: Span, node: Node<'t>) -> Option<Vec<(EcoString, Span, Node<'t>)>> {
        let mut out = Vec::new();
        let mut sound = node.is_list();
        for item in node.items() {
            match merged_entries(item).as_slice() {
                [entry] if entry.key.is_scalar() => out.push((entry.key.eco_text(), entry.value.span(), entry.value)),
                _ => sound = false,
            }
        }
        if !node.is_list() {
            self.wrong_key(at, key, noun(node), "a list of maps with one key each");
            return None;
        }
        if !sound {
            let message = format!("`{key}` must be a list of maps with one key each");
            self.problems.push(
                Diagnostic::at(&rules::MALFORMED, at, message).hint("indent what belongs to an entry below its name"),
            );
            return None;
        }
        Some(out)
    }

    fn sequence(&mut self, kind: Kind, key: &str, at: Span, node: Node<'_>, unique: bool) -> Option<Content> {
        let items = self.one_key_maps(key, at, node)?;
        if !unique {
            let read = |(name, at, node): (EcoString, Span, Node<'_>)| self.entity(kind, name, at, node).map(Arc::new);
            return Some(Content::List(Arc::new(items.into_iter().filter_map(read).collect())));
        }
        let mut own: IndexMap<EcoString, Arc<Entity>> = IndexMap::with_capacity(items.len());
        for (name, item, node) in items {
            if let Some(first) = own.get(&name) {
                let message = format!("`{name}` stands twice in `{key}`");
                self.problems.push(
                    Diagnostic::at(&rules::DUPLICATE, at, message)
                        .label(first.at, "first here")
                        .label(item, "and here"),
                );
                continue;
            }
            if let Some(entity) = self.entity(kind, name.clone(), item, node) {
                own.insert(name, Arc::new(entity));
            }
        }
        Some(Content::Map(Arc::new(Defs::new(own))))
    }

    /// The text of a key that must be a string.
    fn key<'t>(&mut self, node: Node<'t>) -> Option<&'t str> {
        if node.is_scalar() && matches!(val::scalar_data(node), Data::Str(_)) {
            return Some(node.text());
        }
        let message = format!("this key must be a string, but it is {}", noun(node));
        self.problems.push(Diagnostic::at(&rules::WRONG_SHAPE, node.span(), message).hint("put it in quotes"));
        None
    }

    fn unknown_key(&mut self, row: &'static Row, key: &str, at: Span) {
        let label = row.label;
        let mut diagnostic = Diagnostic::at(
            &rules::UNKNOWN_KEY,
            at,
            format!("a {label} has no key `{key}` in TOSCA {}", self.edition.number()),
        );
        let other = Edition::ALL.iter().rev().find(|edition| row.by_key(key, **edition).is_some());
        let renamed =
            other.and_then(|edition| row.by_key(key, *edition)).and_then(|field| row.by_slot(field.slot, self.edition));
        diagnostic = match (renamed, other) {
            (Some(field), _) => diagnostic.hint(format!("in this edition it is called `{}`", field.key)),
            (None, Some(edition)) => diagnostic.hint(format!("TOSCA {} has it", edition.number())),
            (None, None) => {
                let known = row.fields(self.edition).map(|field| field.key);
                diagnostic.maybe_hint(crate::suggest::nearest(key, known).map(|near| format!("did you mean `{near}`?")))
            }
        };
        self.problems.push(diagnostic);
    }

    fn missing_keys(&mut self, row: &'static Row, entity: &Entity, present: &[&str]) {
        if entity.slot("copy").is_some() {
            return; // what is copied is not known yet
        }
        for field in row.fields(self.edition).filter(|field| field.need == Need::Written) {
            // A key that is there but broken was reported already.
            let written = entity.slot(field.slot).is_some() || present.contains(&field.slot);
            if !written {
                let what = if entity.name.is_empty() {
                    eco_format!("this {}", row.label)
                } else {
                    eco_format!("`{}`", entity.name)
                };
                let beyond =
                    if row.kind == Kind::File { eco_format!("{}", field.key) } else { eco_format!(".{}", field.key) };
                self.problems.beyond(
                    &rules::MISSING_KEY,
                    entity.at,
                    beyond,
                    format!("{what} needs the key `{}`", field.key),
                );
            }
        }
    }

    /// The few rules about one entity that no column can express.
    fn check(&mut self, entity: &Entity) {
        match entity.kind {
            Kind::NodeTemplate => {
                let reserved: &[&str] = if self.edition.is_2() {
                    &["SELF", "SOURCE", "TARGET"]
                } else {
                    &["SELF", "SOURCE", "TARGET", "HOST"]
                };
                if reserved.contains(&entity.name.as_str()) {
                    let message =
                        format!("a node template cannot be called `{}`; functions use that name", entity.name);
                    self.problems.at(&rules::RESERVED, entity.at, message);
                }
            }
            Kind::Import if self.edition.is_2() => self.check_import(entity),
            Kind::Implementation => {
                let needed = entity.value("dependencies");
                if let Some(value) = needed.filter(|value| !matches!(value.data, Data::List(_)) && !value.is_call()) {
                    self.wrong_key(entity.place("dependencies"), "dependencies", value.noun(), "a list");
                }
            }
            Kind::File
                if self.edition.is_2()
                    && entity.slot("profile").is_some()
                    && entity.slot("service_template").is_some() =>
            {
                let message = "a file that defines a profile cannot have a service template";
                self.problems.at(&rules::UNKNOWN_KEY, entity.place("service_template"), message);
            }
            _ => {}
        }
    }

    fn check_import(&mut self, entity: &Entity) {
        match (entity.slot("url").is_some(), entity.slot("profile").is_some()) {
            (true, true) => {
                self.problems.at(&rules::MALFORMED, entity.at, "an import has either `url` or `profile`, not both")
            }
            (false, false) => {
                self.problems.beyond(&rules::MISSING_KEY, entity.at, ".url", "an import needs `url` or `profile`")
            }
            (false, true) if entity.slot("repository").is_some() => {
                self.problems.at(
                    &rules::MALFORMED,
                    entity.place("repository"),
                    "`repository` goes with `url`, not with `profile`",
                );
            }
            _ => {}
        }
    }

    fn wrong_key(&mut self, at: Span, key: &str, found: &str, wanted: &str) {
        self.wrong(at, &eco_format!("`{key}`"), found, wanted);
    }

    fn wrong(&mut self, at: Span, what: &str, found: &str, wanted: &str) {
        self.problems.at(&rules::WRONG_SHAPE, at, format!("{what} must be {wanted}, but it is {found}"));
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
