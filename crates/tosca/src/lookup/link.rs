//! Phase 2, lookups: every name that refers to something must refer to something.
//!
//! Walks all entities by the table; a key that names several kinds is satisfied by any of them.

use crate::edition::Standard;
use crate::entities;
use crate::entity::{Content, Entity, Slot};
use crate::hierarchy::MIXINS;
use crate::load::Files;
use crate::names::Names;
use crate::present::MOST_PRESENTED;
use crate::problem::{Problem, Problems};
use crate::read::Role;
use crate::rules;
use crate::suggest;
use crate::val::Text;
use ecow::EcoString;
use purlin_model::kinds::referred_kinds;
use purlin_model::schema::{Entity as Row, Field, Kind};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, FileId, Hint, Severity, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// Most names compared for a suggestion; those behind fewer prefixes come first.
const MOST_SUGGESTED: usize = 5_000;

/// Most ancestors of a node type that are visited, since they may form a cycle.
const LONGEST_LINEAGE: usize = 1_000;

/// Resolves names in templates: the root file's service template.
pub struct Templates<'a> {
    service: Option<&'a Arc<Entity>>,
}

impl<'a> Templates<'a> {
    /// The templates of the root file.
    pub fn of(files: &'a Files) -> Self {
        Templates { service: files.root().and_then(|file| file.entity.one("service_template")) }
    }

    /// The template, group, policy or workflow with a name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<&'a Arc<Entity>> {
        self.service?.named(section(kind)?, name)
    }

    fn names(&self, kind: Kind) -> Vec<&'a str> {
        let Some(section) = section(kind) else { return Vec::new() };
        self.service
            .and_then(|service| service.map(section))
            .map(|defs| defs.own().keys().map(|name| name.as_str()).collect())
            .unwrap_or_default()
    }
}

fn section(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        entities::NODE_TEMPLATE => "node_templates",
        entities::RELATIONSHIP_TEMPLATE => "relationship_templates",
        entities::GROUP => "groups",
        entities::POLICY => "policies",
        entities::WORKFLOW => "workflows",
        _ => return None,
    })
}

/// Checks all references of all files that are not part of a profile.
pub fn check(files: &Files, names: &Names, problems: &mut Problems) {
    let templates = Templates::of(files);
    let mut linker = Linker { files, names, templates, problems, borrowed: HashSet::new() };
    for file in files.list.iter().filter(|file| file.role != Role::Profile) {
        linker.entity(&file.entity, None);
    }
    linker.values_like_types();
}

struct Linker<'a> {
    files: &'a Files,
    names: &'a Names,
    templates: Templates<'a>,
    problems: &'a mut Problems,
    /// Pairs of files, the first of which uses names of the second without importing it.
    borrowed: HashSet<(FileId, usize)>,
}

impl Linker<'_> {
    fn entity(&mut self, entity: &Entity, owner: Option<&Entity>) {
        let row = entities::row(entity.kind);
        let own = [entity.kind];
        for slot in &entity.slots {
            match &slot.content {
                Content::Text(text) => {
                    let Some((field, kinds)) = names(row, entity, slot, &own) else { continue };
                    if slot.name == "capability" && self.is_capability_name(entity, owner, text) {
                        continue;
                    }
                    // A short notation has no key of its own to underline.
                    let beyond = if slot.at == entity.at { ecow::eco_format!(".{}", field.key) } else { "".into() };
                    self.reference(kinds, text, slot.at, field.key, beyond);
                }
                Content::Texts(texts) => {
                    let Some((field, kinds)) = names(row, entity, slot, &own) else { continue };
                    for text in texts.iter() {
                        self.reference(kinds, text, text.span, field.key, "".into());
                    }
                }
                Content::One(inner) => self.entity(inner, Some(entity)),
                Content::Map(defs) => defs.own().values().for_each(|inner| self.entity(inner, Some(entity))),
                Content::List(list) => list.iter().for_each(|inner| self.entity(inner, Some(entity))),
                _ => {}
            }
        }
    }

    /// Whether a requirement definition of TOSCA 2.0 or Unfurl names a capability of the node type that it requires. A
    /// definition without a node type has that of the definition it refines.
    fn is_capability_name(&self, definition: &Entity, owner: Option<&Entity>, name: &Text) -> bool {
        if definition.kind != entities::REQUIREMENT_DEFINITION
            || !(definition.edition.is_2() || definition.edition.is_extended())
            || self.names.find(name.span.file, entities::CAPABILITY_TYPE, &name.text).is_some()
        {
            return false;
        }
        let refined = || owner.into_iter().flat_map(|owner| self.lineage(owner)).skip(1);
        let inherited = || refined().find_map(|base| base.named("requirements", &definition.name)?.text("node"));
        let Some(node) = definition.text("node").or_else(inherited) else { return false };
        let Some(node) = self.node_type(node) else { return false };
        self.lineage(node).any(|node| node.named("capabilities", &name.text).is_some())
    }

    fn node_type(&self, name: &Text) -> Option<&Entity> {
        let id = self.names.find(name.span.file, entities::NODE_TYPE, &name.text)?;
        self.names.decl(id).map(|decl| decl.entity.as_ref())
    }

    /// A node type as written, and its ancestors.
    fn lineage<'e>(&'e self, entity: &'e Entity) -> impl Iterator<Item = &'e Entity> {
        let parent = |entity: &&'e Entity| self.node_type(entity.text("derived_from")?);
        std::iter::successors(Some(entity), parent).take(LONGEST_LINEAGE)
    }

    /// Before TOSCA 2.0 a value without keys in the place of an input's definition is its value. The name of a data
    /// type is probably a mistake.
    fn values_like_types(&mut self) {
        let service = self.templates.service.filter(|service| !service.edition.is_2());
        let inputs = service.and_then(|service| service.map("inputs"));
        for entity in inputs.into_iter().flat_map(|defs| defs.own().values()) {
            let bare = entity.slot("value").filter(|slot| slot.at == entity.at);
            let Some(text) = bare.and_then(|_| entity.value("value")?.as_str()) else { continue };
            if self.names.find(entity.at.file, entities::DATA_TYPE, text).is_none() {
                continue;
            }
            let name = &entity.name;
            let message = format!("`{name}` is given the value `{text}`, which is the name of a data type");
            let mut diagnostic = Diagnostic::at(&rules::MALFORMED, entity.at, message);
            diagnostic.severity = Severity::Warning;
            self.problems.push(diagnostic.hint(format!("write `{name}: {{ type: {text} }}` if that is its type")));
        }
    }

    /// Reports once per pair of files that one uses names of the other without importing it.
    fn not_imported(&mut self, kinds: &[Kind], text: &Text) {
        let found = kinds.iter().find_map(|kind| self.names.find_elsewhere(text.span.file, *kind, &text.text));
        let Some(decl) = found.and_then(|id| self.names.decl(id)) else { return };
        if !self.borrowed.insert((text.span.file, decl.file)) {
            return;
        }
        let Some(file) = self.files.list.get(decl.file) else { return };
        let message = format!("`{}` is declared in `{}`, which this file does not import", text.text, file.path);
        let mut diagnostic = Diagnostic::at(&rules::UNKNOWN_NAME, text.span, message);
        diagnostic.severity = Severity::Warning;
        let uses_this = self.files.of(text.span.file).is_some_and(|this| self.files.imports_anyhow(decl.file, this));
        let hint = if uses_this {
            "that file imports this one; move what both need to a file that both import"
        } else {
            "import it here too, so that this file can be used by itself"
        };
        self.problems.push(diagnostic.hint(hint));
    }

    fn reference(&mut self, kinds: &[Kind], text: &Text, at: Span, key: &str, beyond: EcoString) {
        let found = kinds.iter().any(|kind| {
            self.templates.find(*kind, &text.text).is_some()
                || self.names.find(text.span.file, *kind, &text.text).is_some()
        });
        if self.files.may_be_unread(text) {
            return;
        }
        if kinds.contains(&entities::NODE_TEMPLATE) && self.files.is_left_out(&text.text) {
            return;
        }
        if found {
            return self.not_imported(kinds, text);
        }
        let labels: Vec<&str> = kinds.iter().map(|kind| entities::label(*kind)).collect();
        let labels = labels.join(" or ");
        let message = what::unknown(labels, &text.text).and(format!(" in `{key}`"));
        // Beyond this number suggestions are not shown, and each takes longer than all the rest.
        let hint = if self.problems.len() < MOST_PRESENTED { self.suggestion(kinds, text) } else { None };
        let is_type = kinds.last().is_some_and(|kind| entities::label(*kind).ends_with(" type"));
        let hint = hint.or_else(|| is_type.then(|| "declare the type, or import the file that declares it".into()));
        let diagnostic = Diagnostic::at(&rules::UNKNOWN_NAME, at, message).maybe_hint(hint);
        self.problems.add(Problem { diagnostic, beyond });
    }
}

impl Linker<'_> {
    /// The name that was probably meant.
    fn suggestion(&self, kinds: &[Kind], text: &Text) -> Option<Hint> {
        let known: Vec<EcoString> = kinds
            .iter()
            .flat_map(|kind| {
                let mut names = self.names.visible(text.span.file, *kind, MOST_SUGGESTED);
                names.extend(self.templates.names(*kind).into_iter().map(EcoString::from));
                names
            })
            .collect();
        let known = || known.iter().map(|name| name.as_str());
        let prefixed = || known().find(|name| name.rsplit(':').next() == Some(text.text.as_str()));
        suggest::nearest(&text.text, known()).or_else(prefixed).map(|near| Hint::meant(text.text.as_str(), near))
    }
}

/// The row of a slot and the kinds of the declarations named there, if they must exist. Further parents are written
/// under the key of the first.
fn names<'k>(row: &'static Row, entity: &Entity, slot: &Slot, own: &'k [Kind]) -> Option<(&'static Field, &'k [Kind])> {
    let name = if slot.name == MIXINS { "derived_from" } else { slot.name };
    let field = row.field_of(name, entity.edition).filter(|field| !field.is_loose)?;
    Some((field, referred_kinds(&field.shape, own)?))
}
