//! Phase 4, afterwards: whether types and definitions are sound in themselves.
//!
//! Once everything is inherited, definitions must have their required keys, defaults must have the declared type, and
//! function calls must name existing functions. Types of imported files are checked too, but problems of unused ones
//! are only warnings.

use crate::edition::{self, Edition, Standard};
use crate::entities;
use crate::entity::{Content, Entity};
use crate::functions;
use crate::model::{Model, Primitive};
use crate::names::DeclId;
use crate::problem::{Problem, Problems};
use crate::quirks;
use crate::read::Role;
use crate::rules;
use crate::signatures;
use crate::special::version;
use crate::suggest;
use crate::val::{Data, Val};
use crate::validate;
use crate::values::Checker;
use ecow::eco_format;
use purlin_model::schema::Merge;
use purlin_syntax::suggest::is_slip;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint};
use std::collections::HashSet;
use std::sync::Arc;

/// Prefixes of metadata by which Puccini converts or compares values with JavaScript.
const PLUGINS: &[&str] = &["puccini.converter", "puccini.comparer", "puccini.data-type.converter"];

/// TOSCA 1.3 had it, and people look for it.
const IN_RANGE: &str = "write `$and` of `$greater_or_equal` and `$less_or_equal`";

/// Checks all declarations of all files that are not part of a profile.
pub fn check(model: &Model, problems: &mut Problems) {
    let rendered = rendered(model);
    for (index, decl) in model.names.decls.iter().enumerate() {
        let Some(file) = model.files.list.get(decl.file).filter(|file| file.role != Role::Profile) else { continue };
        let id = DeclId(u32::try_from(index).unwrap_or(u32::MAX));
        let mut found = Problems::new();
        let mut inspector = Inspector { model, problems: &mut found, partial: model.is_partial(id) };
        inspector.declaration(id, &decl.entity);
        for problem in found.list() {
            // A key missing in the type of a template is missing in the template.
            let matters = rendered.contains(&id) && problem.diagnostic.rule == &rules::MISSING_KEY;
            let firm = file.role == Role::Root || matters;
            problems.add(if firm { problem.clone() } else { softened(problem) });
        }
    }
    let mut inspector = Inspector { model, problems, partial: false };
    if let Some(service) = model.service() {
        for slot in ["inputs", "outputs"] {
            for (_, definition) in service.entries(slot) {
                inspector.definition(definition, definition, 0);
            }
        }
        for (_, workflow) in service.entries("workflows") {
            for (_, definition) in workflow.entries("inputs") {
                inspector.definition(definition, definition, 0);
            }
        }
    }
    for file in model.files.list.iter().filter(|file| file.role != Role::Profile) {
        inspector.calls_in(&file.entity);
        inspector.plugins(&file.entity);
    }
}

/// Levels of a value that are searched for misspelt functions.
const MAX_CALLS: u32 = 100;

/// The function that a key was probably meant to be. Short names such as `token` are ordinary keys.
fn nearly(name: &str, edition: Edition) -> Option<&'static str> {
    let is_named_so = name.starts_with("get") || name.starts_with("conc");
    if !is_named_so || functions::is_function(name, edition) {
        return None;
    }
    let mut known = functions::FUNCTIONS.iter().filter(|known| known.call.is_in(edition)).map(|known| known.name);
    known.find(|known| is_slip(name, known) || (*known == "concat" && name.starts_with("concat")))
}

/// Whether a value is written out.
fn is_plain(value: &Val) -> bool {
    match &value.data {
        Data::Call(_) | Data::Poison | Data::Pending(_) | Data::Null | Data::List(_) | Data::Map(_) => false,
        // Templates of a host.
        Data::Str(text) => !text.contains("{{") && !text.contains("{%"),
        _ => true,
    }
}

/// Whether an artifact definition may leave a key to its users. Before TOSCA 2.0 it may leave every key, and the short
/// notation is only a file; since then the type follows from the file.
fn is_optional_of_artifact(own: &Entity, slot: &str) -> bool {
    own.kind == entities::ARTIFACT_DEFINITION && !own.edition.is_extended() && (!own.edition.is_2() || slot == "type")
}

/// The types of node templates and their ancestors.
fn rendered(model: &Model) -> HashSet<DeclId> {
    let mut rendered = HashSet::new();
    for (_, template) in model.service().into_iter().flat_map(|service| service.entries("node_templates")) {
        if let Some(id) = model.type_of(template, "type", entities::NODE_TYPE) {
            // The rest of a visited lineage is known.
            for id in model.hierarchy.lineage(id) {
                if !rendered.insert(id) {
                    break;
                }
            }
        }
    }
    rendered
}

fn softened(problem: &Problem) -> Problem {
    let problem = problem.clone();
    Problem { diagnostic: problem.diagnostic.warning(), ..problem }
}

struct Inspector<'a> {
    model: &'a Model,
    problems: &'a mut Problems,
    /// Whether an ancestor of the type could not be read, so that it may inherit the keys it lacks.
    partial: bool,
}

impl Inspector<'_> {
    fn declaration(&mut self, id: DeclId, own: &Arc<Entity>) {
        let Some(complete) = self.model.complete(id).cloned() else { return };
        if !entities::is_type(own.kind) {
            return;
        }
        self.version(own);
        self.plugins(own);
        match own.kind {
            entities::DATA_TYPE => self.data_type(id, own),
            entities::INTERFACE_TYPE if own.edition.is_2() => self.interface_type(own),
            _ => {}
        }
        self.parts(own, &complete, 0);
    }

    /// The definitions an entity has itself, each in its completed form.
    fn parts(&mut self, own: &Entity, complete: &Entity, depth: u32) {
        for slot in &own.slots {
            match &slot.content {
                Content::Map(defs) => {
                    for (name, part) in defs.own() {
                        if let Some(full) = complete.named(slot.name, name).cloned() {
                            self.definition(part, &full, depth + 1);
                        }
                    }
                }
                Content::One(part) => {
                    if let Some(full) = complete.one(slot.name).cloned() {
                        self.definition(part, &full, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn definition(&mut self, own: &Arc<Entity>, complete: &Arc<Entity>, depth: u32) {
        if depth > 200 {
            return;
        }
        let row = entities::row(own.kind);
        let needed = row.all_fields().filter(|field| {
            field.is_required(own.edition) && !matches!(field.merge, Merge::Own) && field.window.has(own.edition)
        });
        for field in needed {
            let optional = is_optional_of_artifact(own, field.slot);
            let broken = own.slot(field.slot).is_none() && self.reported_at(own);
            if complete.slot(field.slot).is_none() && !optional && !broken && !self.partial {
                let message = what::needed(format!("the {} `{}`", row.label, own.name), field.key);
                self.problems.beyond(&rules::MISSING_KEY, own.at, eco_format!(".{}", field.key), message);
            }
        }
        let only_value =
            own.kind == entities::PARAMETER_DEFINITION && own.slot("value").is_some_and(|slot| slot.at == own.at);
        let is_call = || own.edition.is_2() && own.value("value").is_some_and(Val::is_call);
        let given = own.kind == entities::PARAMETER_DEFINITION
            && own.slot("value").is_some()
            && (self.model.allows(quirks::PARAMETERS_PERMISSIVE) || is_call());
        if only_value && !given && !own.edition.is_extended() && complete.slot("type").is_none() {
            let message = format!("`{}` gives a value to a parameter that is not defined", own.name);
            self.problems.beyond(&rules::MISSING_KEY, own.at, ".type", message);
        }
        if matches!(
            own.kind,
            entities::PROPERTY_DEFINITION
                | entities::ATTRIBUTE_DEFINITION
                | entities::PARAMETER_DEFINITION
                | entities::SCHEMA_DEFINITION
        ) {
            self.value_definition(own, complete);
        }
        self.parts(own, complete, depth);
    }

    /// Whether something about this entity was reported while reading, so that its absence is no second problem.
    fn reported_at(&self, own: &Entity) -> bool {
        self.problems.list().iter().any(|problem| {
            problem.diagnostic.span.is_some_and(|span| {
                span.file == own.span.file && own.span.start <= span.start && span.end <= own.span.end
            })
        })
    }

    fn value_definition(&mut self, own: &Entity, complete: &Arc<Entity>) {
        let Some(data_type) = self.model.type_of(complete, "type", entities::DATA_TYPE) else { return };
        let primitive = self.model.primitive(data_type);
        if matches!(primitive, Some(Primitive::List | Primitive::Map)) {
            let has_schema = complete.slot("entry_schema").is_some()
                || self.model.complete(data_type).is_some_and(|t| t.slot("entry_schema").is_some());
            let optional = own.edition.is_2() || self.model.allows(quirks::ENTRY_OPTIONAL);
            if !has_schema && !optional && !own.edition.is_extended() {
                let what = if primitive == Some(Primitive::List) { "list" } else { "map" };
                self.problems.at(
                    &rules::MISSING_KEY,
                    own.at,
                    what::missing("key", "entry_schema")
                        .words(format!("the {what} `{}` needs `entry_schema`", own.name)),
                );
                return;
            }
        }
        let is_abstract = self.model.names.decl(data_type).is_some_and(|decl| decl.normative && decl.name == "scalar");
        if is_abstract {
            self.problems.at(
                &rules::MALFORMED,
                own.place("type"),
                "`scalar` has no units; a type that derives from it is needed",
            );
        }
        for slot in ["default", "value"] {
            if let Some(value) = own.value(slot) {
                let mut checker = Checker::new(self.model, self.problems);
                checker.value(value, complete, own.place(slot));
            }
        }
        self.default_fits(own, complete, data_type);
    }

    /// A default that violates its own constraints. The original reports it only where it is used.
    fn default_fits(&mut self, own: &Entity, complete: &Entity, data_type: DeclId) {
        let at = own.place("default");
        let Some(value) = own.value("default").filter(|value| is_plain(value)) else { return };
        if own.edition.is_2() || complete.sensitive {
            return;
        }
        let Some((reason, clause)) = validate::unsatisfied(self.model, value, data_type, complete) else { return };
        // A default of the wrong type is reported as such.
        if !self.problems.list().iter().any(|problem| problem.diagnostic.span == Some(at)) {
            let diagnostic = Diagnostic::at(&rules::CONSTRAINT, at, reason).label(clause, "the constraint is here");
            self.problems.push(diagnostic.warning());
        }
    }

    /// Converters and comparers of Puccini are not run.
    fn plugins(&mut self, own: &Entity) {
        let Some(Data::Map(notes)) = own.value("metadata").map(|notes| &notes.data) else { return };
        for (key, _) in notes.iter() {
            let Some(name) = key.as_str().filter(|name| PLUGINS.iter().any(|plugin| name.starts_with(plugin))) else {
                continue;
            };
            let message = format!("`{name}` has no effect: converters and comparers in JavaScript are not run");
            self.problems.push(Diagnostic::at(&rules::UNSUPPORTED, key.span, message).warning());
        }
    }

    fn version(&mut self, own: &Entity) {
        let rendered = matches!(
            own.kind,
            entities::ARTIFACT_TYPE
                | entities::CAPABILITY_TYPE
                | entities::INTERFACE_TYPE
                | entities::NODE_TYPE
                | entities::RELATIONSHIP_TYPE
        );
        let Some(value) =
            own.value("version").filter(|_| (rendered || own.edition.is_2()) && !own.edition.is_extended())
        else {
            return;
        };
        let fits = match &value.data {
            Data::Str(text) => {
                version::parse(text).is_some() || (own.edition.is_2() && !text.contains("..") && !text.is_empty())
            }
            Data::Float(_) | Data::Int(_) => own.edition.is_2() || self.model.allows(quirks::VERSIONS_PERMISSIVE),
            _ => false,
        };
        if !fits {
            self.problems.at(&rules::MALFORMED, own.place("version"), "`version` must be a version such as `1.0.2`");
        }
    }

    fn data_type(&mut self, id: DeclId, own: &Entity) {
        let primitive = self.model.primitive(id);
        if primitive.is_some() && primitive != Some(Primitive::Scalar) && own.slot("properties").is_some() {
            let message = format!("`{}` derives from a built-in type, so it cannot have properties", own.name);
            self.problems.at(&rules::CONTRACT, own.at, message);
        }
        if own.edition == edition::V2_0 {
            crate::scalar::check(self.model, id, self.problems);
        }
    }

    /// Interface types promise operations; nodes and relationships implement them.
    fn interface_type(&mut self, own: &Entity) {
        for (_, operation) in own.entries("operations").chain(own.entries("notifications")) {
            if operation.slot("implementation").is_some() {
                let message =
                    format!("the operation `{}` of an interface type cannot have an implementation", operation.name);
                self.problems.at(&rules::MALFORMED, operation.place("implementation"), message);
            }
        }
    }

    fn calls_in(&mut self, entity: &Entity) {
        for slot in &entity.slots {
            match &slot.content {
                Content::Value(value) if slot.name != "metadata" => {
                    self.calls(value, entity.edition);
                    if slot.name == "value" && entity.slot("type").is_none() {
                        self.nearly_call(value, entity.edition, 0);
                    }
                }
                Content::Values(values) => values.iter().for_each(|(_, value)| {
                    self.calls(value, entity.edition);
                    if slot.name == "inputs" {
                        self.nearly_call(value, entity.edition, 0);
                    }
                }),
                Content::Clauses(clauses) => clauses.iter().for_each(|clause| self.calls(clause, entity.edition)),
                Content::One(inner) => self.calls_in(inner),
                Content::Map(defs) => defs.own().values().for_each(|inner| self.calls_in(inner)),
                Content::List(list) => list.iter().for_each(|inner| self.calls_in(inner)),
                _ => {}
            }
        }
    }

    fn calls(&mut self, value: &Val, edition: Edition) {
        match &value.data {
            Data::Call(call) => {
                self.call(value, call, edition);
                call.args.iter().for_each(|arg| self.calls(arg, edition));
            }
            Data::List(items) => items.iter().for_each(|item| self.calls(item, edition)),
            Data::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.calls(key, edition);
                self.calls(value, edition);
            }),
            _ => {}
        }
    }

    /// A key of a one-key mapping that resembles a function's name, where any value is allowed. Where a type is
    /// declared, the type reports the error.
    fn nearly_call(&mut self, value: &Val, edition: Edition, depth: u32) {
        if edition.is_2() || depth > MAX_CALLS {
            return;
        }
        match &value.data {
            Data::List(items) => items.iter().for_each(|item| self.nearly_call(item, edition, depth + 1)),
            Data::Call(call) => call.args.iter().for_each(|item| self.nearly_call(item, edition, depth + 1)),
            Data::Map(entries) => {
                if let [(key, _)] = entries.as_slice()
                    && let Some(name) = key.as_str()
                    && let Some(near) = nearly(name, edition)
                {
                    let message = what::unknown("function", name).and(", so this is a mapping");
                    let hint = Hint::meant(name, near);
                    self.problems.push(Diagnostic::at(&rules::FUNCTION, key.span, message).warning().hint(hint));
                    return;
                }
                entries.iter().for_each(|(_, item)| self.nearly_call(item, edition, depth + 1));
            }
            _ => {}
        }
    }

    fn call(&mut self, value: &Val, call: &crate::val::Call, edition: Edition) {
        if !edition.is_2() {
            return;
        }
        let custom = self.model.custom_function(value.span.file, &call.name);
        if let Some(decl) = custom.and_then(|id| self.model.names.decl(id)) {
            if let Some(message) = signatures::check(self.model, &decl.entity, call) {
                let message = what::about([format!("${}", call.name)], message);
                let diagnostic = Diagnostic::at(&rules::FUNCTION, value.span, message);
                self.problems.push(diagnostic.label(decl.entity.at, "it is defined here"));
            }
            return;
        }
        let Some(function) = functions::find(&call.name, edition) else {
            if self.model.scripts.defines(&call.name) {
                return;
            }
            let known = functions::FUNCTIONS.iter().filter(|function| function.call.is_in(edition));
            let known = known.map(|function| function.name);
            let near = suggest::nearest(&call.name, known)
                .map(|near| Hint::meant(format!("${}", call.name), format!("${near}")));
            let near = if call.name == "in_range" { Some(IN_RANGE.into()) } else { near };
            let message = what::unknown("function", format!("${}", call.name));
            self.problems.push(Diagnostic::at(&rules::FUNCTION, value.span, message).maybe_hint(near));
            return;
        };
        let count = call.args.len();
        let (least, most) = function.arity();
        if count < least || most.is_some_and(|most| count > most) {
            let wanted = signatures::arguments(least, most);
            let name = format!("${}", call.name);
            let words = format!("`{name}` expects {wanted}, found {count}");
            self.problems.at(&rules::FUNCTION, value.span, what::about([name], words));
        }
    }
}
