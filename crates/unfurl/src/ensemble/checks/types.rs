//! Checks of an ensemble's types beyond those of TOSCA's reader: types of properties, existing interfaces with
//! existing operations. Must not know which of the types are used.

use crate::ensemble::service::INTERFACES;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, FileId, Span, suggest};
use purlin_tosca::entities;
use purlin_tosca::entity::Entity;
use purlin_tosca::model::{Model, PRIMITIVES};
use purlin_tosca::names::{Decl, DeclId};
use purlin_tosca::problem::Problems;
use purlin_tosca::read::Role;
use purlin_tosca::rules;
use purlin_tosca::topology::{Given, Topology};
use purlin_tosca::val::{Data, Text};
use std::collections::HashSet;
use std::sync::Arc;

/// The interface with entries shared by all others; it has no operations.
const DEFAULTS: &str = "defaults";

/// Checks the types of all files that are not part of the program, and the outputs of the service.
pub fn check(model: &Model, problems: &mut Problems) {
    let known = Known::of(problems);
    for (id, decl) in (0..).map(DeclId).zip(&model.names.decls) {
        let ours = model.files.list.get(decl.file).is_some_and(|file| file.role == Role::Profile);
        let unknown = model.is_partial(id) || model.hierarchy.is_broken(id);
        if ours || unknown || !entities::is_type(decl.kind) {
            continue;
        }
        if let Some(complete) = model.complete(id) {
            check_type(model, &decl.entity, complete, &known, problems);
        }
    }
    let Some(service) = model.service() else { return };
    for (_, template) in service.entries("node_templates") {
        template.named("interfaces", DEFAULTS).into_iter().for_each(|defaults| check_defaults(defaults, problems));
    }
    for (name, output) in service.entries("outputs").filter(|(_, output)| has_no_value(output)) {
        let message = what::needed(format!("the output `{name}`"), "value");
        problems.beyond(&rules::MISSING_KEY, output.at, ".value", message);
    }
}

/// Rejects values of types that derive from a built-in one: Unfurl knows no definition of those.
pub fn refuse_derived(model: &Model, topology: &Topology, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for node in topology.nodes.values() {
        let capabilities = node.capabilities.values().flat_map(|capability| capability.properties.values());
        for prop in node.properties.values().chain(capabilities).filter(|prop| prop.given != Given::Nothing) {
            let Some(id) = prop.data_type.filter(|id| seen.insert(*id)) else { continue };
            let lineage = model.hierarchy.lineage(id).filter_map(|id| model.names.decl(id));
            let own = |decl: &&Decl| model.files.list.get(decl.file).is_some_and(|file| file.role != Role::Profile);
            for decl in lineage.take_while(own) {
                let parent = decl.entity.text("derived_from");
                let Some(parent) = parent.filter(|parent| is_built_in(model, parent)) else { continue };
                let name = &decl.name;
                let message = format!("`{name}` derives from `{}`, which Unfurl does not support", parent.text);
                let built_in = parent.text.rsplit(':').next().unwrap_or_default();
                let hint = format!("write `type: {built_in}` in place of `derived_from`");
                problems.push(Diagnostic::at(&rules::INCOMPLETE, parent.span, message).hint(hint));
            }
        }
    }
}

/// Whether a name means a type of simple values.
fn is_built_in(model: &Model, name: &Text) -> bool {
    let decl = model.find(entities::DATA_TYPE, name).and_then(|id| model.names.decl(id));
    decl.is_some_and(|decl| PRIMITIVES.iter().any(|(known, _)| decl.name == *known))
}

fn has_no_value(output: &Entity) -> bool {
    output.slot("value").is_none() || output.value("value").is_some_and(|value| matches!(value.data, Data::Null))
}

/// Locations of earlier problems, in order: a part missing there may be an unreadable one.
struct Known(Vec<(FileId, u32)>);

impl Known {
    fn of(problems: &Problems) -> Self {
        let spans = problems.list().iter().filter_map(|problem| problem.diagnostic.span);
        let mut starts: Vec<(FileId, u32)> = spans.map(|span| (span.file, span.start)).collect();
        starts.sort_unstable();
        Known(starts)
    }

    fn within(&self, place: Span) -> bool {
        let first = self.0.partition_point(|start| *start < (place.file, place.start));
        self.0.get(first).is_some_and(|(file, start)| *file == place.file && *start < place.end)
    }
}

fn check_type(model: &Model, own: &Entity, complete: &Entity, known: &Known, problems: &mut Problems) {
    for (slot, noun) in [("properties", "property"), ("attributes", "attribute"), ("capabilities", "capability")] {
        for (name, part) in own.map(slot).into_iter().flat_map(|parts| parts.own()) {
            let untyped = complete.named(slot, name).is_some_and(|full| full.slot("type").is_none());
            if untyped && !known.within(part.span) {
                let message = what::needed(format!("the {noun} definition `{name}`"), "type");
                problems.beyond(&rules::MISSING_KEY, part.at, ".type", message);
            }
        }
    }
    for (name, part) in own.map("interfaces").into_iter().flat_map(|parts| parts.own()) {
        let full = complete.named("interfaces", name);
        check_interface(model, part, full, known, problems);
    }
}

fn check_interface(
    model: &Model,
    own: &Arc<Entity>,
    full: Option<&Arc<Entity>>,
    known: &Known,
    problems: &mut Problems,
) {
    if own.name == DEFAULTS {
        return check_defaults(own, problems);
    }
    let common = INTERFACES.iter().find(|(name, long)| *name == own.name || *long == Some(own.name.as_str()));
    let typed = full.is_some_and(|full| full.slot("type").is_some());
    let Some((_, interface_type)) = common else {
        if !typed && !known.within(own.span) {
            let message = what::needed(format!("the interface definition `{}`", own.name), "type");
            problems.beyond(&rules::MISSING_KEY, own.at, ".type", message);
        }
        return;
    };
    // A type may have an interface of its own under this name.
    let Some(interface_type) = interface_type.filter(|_| own.name != "Install" || !typed) else { return };
    let found = model.names.find(own.at.file, entities::INTERFACE_TYPE, interface_type);
    let Some(declared) = found.and_then(|id| model.complete(id)) else { return };
    for (name, operation) in own.map("operations").into_iter().flat_map(|parts| parts.own()) {
        if declared.named("operations", name).is_none() {
            let known = declared.entries("operations").map(|(name, _)| name.as_str());
            let near = suggest::did_you_mean(name, known);
            let message = what::lacking(format!("the interface `{}`", own.name), "operation", name);
            problems.push(Diagnostic::at(&rules::UNDECLARED, operation.at, message).maybe_hint(near));
        }
    }
}

fn check_defaults(defaults: &Entity, problems: &mut Problems) {
    for (name, part) in defaults.map("operations").into_iter().flat_map(|parts| parts.own()) {
        let message = what::unknown("key", name).and(format!(" under `{DEFAULTS}`"));
        let hint = "`defaults` takes `implementation`, `inputs` and `outputs`, which all operations share";
        problems.push(Diagnostic::at(&rules::UNKNOWN_KEY, part.at, message).hint(hint));
    }
}
