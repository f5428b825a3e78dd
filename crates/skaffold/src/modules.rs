//! The founding design: `modules:` in a document, written there or found in other files.
//!
//! A module written in a document becomes a document of its own beside it, with the same table of profiles; one that
//! is found elsewhere becomes a requirement. From there on the walk knows no difference. It must not know files.

use crate::entities::config::pipeline;
use crate::item::{Entry, Form, Item, View};
use crate::load::Document;
use crate::profile::Profiles;
use crate::requires::{Choice, Edge, Place};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::{Diagnostic, Sink, Span};
use purlin_value::path;

/// A module a document names.
#[derive(Clone, Debug)]
pub struct ModuleEntry {
    /// Its name; empty for all of a file.
    pub name: EcoString,
    /// The file it is in; empty for this one.
    pub path: EcoString,
    /// Where it is written.
    pub span: Option<Span>,
}

/// Adds a document and the modules written in it. False if a module is neither here nor elsewhere.
pub fn push<'f>(mut document: Document<'f>, documents: &mut Vec<Document<'f>>, sink: &Sink) -> bool {
    let Some(list) = document.item.view().get("modules").map(View::to_item) else {
        documents.push(document);
        return true;
    };
    let owner = documents.len();
    let mut inline = Vec::new();
    let mut sound = true;
    for module in list.view().items() {
        let (name, place) = (module.text_of("name"), module.text_of("path"));
        let span = module.span();
        let has_pipeline = pipeline().any(|row| module.get(row.key).is_some());
        if let Some(problem) = problem(&name, &place, has_pipeline) {
            let mut diagnostic = Diagnostic::at(&rules::MODULE, span.unwrap_or(document.span), problem);
            diagnostic.hints.push("a module has a `path`, or a `name` and its own sections".to_owned());
            sink.push(diagnostic);
            sound = false;
            continue;
        }
        document.modules.push(ModuleEntry { name: name.as_ref().into(), path: place.as_ref().into(), span });
        if has_pipeline {
            inline.push(inline_document(&document, owner, owner + 1 + inline.len(), module));
        }
    }
    documents.push(document);
    documents.extend(inline);
    sound
}

fn problem(name: &str, place: &str, has_pipeline: bool) -> Option<String> {
    match (place.is_empty(), name.is_empty(), has_pipeline) {
        (false, _, true) => Some(format!("module `{name}` is found at `{place}` and written here as well")),
        (true, true, _) => Some("this module has neither a `name` nor a `path`".to_owned()),
        _ => None,
    }
}

/// The document a module written in another one stands for.
fn inline_document<'f>(parent: &Document<'f>, owner: usize, index: usize, module: View<'_, 'f>) -> Document<'f> {
    let mut item = Item::empty_map();
    for key in ["apiVersion", "kind"] {
        if let Some(value) = parent.item.view().get(key) {
            item.set(key, value.to_item());
        }
    }
    item.set("metadata", Item::single("name", module.raw("name").map_or_else(Item::empty_map, View::to_item)));
    for pair in module.entries().filter(|pair| pipeline().any(|row| row.key == pair.key)) {
        item.map().push(Entry { key: pair.key.into(), written: pair.written, value: pair.value.to_item() });
    }
    if let Some(profiles) = parent.item.view().get("profiles") {
        item.set("profiles", profiles.to_item());
    }
    Document {
        index,
        name: module.text_of("name").as_ref().into(),
        edition: parent.edition,
        item,
        span: module.span().unwrap_or(parent.span),
        root: parent.root,
        owner: Some(owner),
        modules: Vec::new(),
    }
}

/// The modules a profile speaks about, with the profiles it switches on in each.
fn mappings<'a, 'f: 'a>(
    config: View<'a, 'f>,
    active: &'a [EcoString],
) -> impl Iterator<Item = (ModuleEntry, Vec<EcoString>)> + use<'a, 'f> {
    let profiles = config.get("profiles").into_iter().flat_map(View::items);
    let is_active = |profile: &View<'a, 'f>| active.iter().any(|name| *name == *profile.text_of("name"));
    profiles.filter(is_active).flat_map(|profile| profile.get("modules").into_iter().flat_map(View::items)).map(
        |module| {
            let entry = ModuleEntry {
                name: module.text_of("name").as_ref().into(),
                path: module.text_of("path").as_ref().into(),
                span: module.span(),
            };
            (entry, module.get("activeProfiles").into_iter().flat_map(View::items).map(View::eco).collect())
        },
    )
}

/// Adds the profiles that active ones switch on in a module of the same document.
pub fn add_mapped(document: &Document<'_>, profiles: &Profiles, active: &mut Vec<EcoString>) {
    let now = active.clone();
    for (module, names) in mappings(document.item.view(), &now) {
        if module.name == document.name && module.path.is_empty() {
            for name in names.into_iter().filter(|name| profiles.names.contains(name)) {
                if !active.contains(&name) {
                    active.push(name);
                }
            }
        }
    }
}

/// What a document requires by its modules and by the modules of its artifacts.
pub fn edges(document: &Document<'_>, config: View<'_, '_>, active: &[EcoString], folder: &str) -> Vec<Edge> {
    let mapped: Vec<_> = mappings(document.item.view(), active).collect();
    let edge = |entry: &ModuleEntry| {
        let names = if entry.name.is_empty() { Vec::new() } else { vec![entry.name.clone()] };
        if entry.path.is_empty() {
            return Edge { place: Place::Same, names, profiles: Vec::new(), choice: Choice::Shared, span: entry.span };
        }
        let target = path::join(folder, &entry.path);
        let speaks = |other: &ModuleEntry| {
            (other.name.is_empty() || other.name == entry.name)
                && !other.path.is_empty()
                && path::join(folder, &other.path) == target
        };
        let mut profiles: Vec<EcoString> = Vec::new();
        for name in mapped.iter().filter(|(other, _)| speaks(other)).flat_map(|(_, names)| names) {
            if !profiles.contains(name) {
                profiles.push(name.clone());
            }
        }
        let place = Place::Path(entry.path.clone());
        Edge { place, names, profiles, choice: Choice::Own, span: entry.span }
    };
    let artifacts = config.at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    let needed = artifacts.flat_map(|artifact| artifact.get("requires").into_iter().flat_map(View::items));
    let references = needed.filter_map(|needed| reference(needed));
    let mut found: Vec<Edge> = document.modules.iter().map(edge).collect();
    found.extend(references.map(|entry| edge(&entry)));
    found
}

/// The module an artifact's requirement names, if it names one.
pub fn reference(needed: View<'_, '_>) -> Option<ModuleEntry> {
    let module = needed.get("module").filter(|module| module.form() == Form::Map)?;
    let entry = ModuleEntry {
        name: module.text_of("name").as_ref().into(),
        path: module.text_of("path").as_ref().into(),
        span: module.span(),
    };
    (!entry.name.is_empty() || !entry.path.is_empty()).then_some(entry)
}

/// Whether a document only names modules and has no sections of its own.
pub fn is_bare(document: &Document<'_>) -> bool {
    let view = document.item.view();
    !document.modules.is_empty() && pipeline().all(|row| view.get(row.key).is_none())
}

/// A profile that speaks about a module nobody has is most likely a slip of the pen.
pub fn check_mappings(document: &Document<'_>, folder: &str, sink: &Sink) {
    if document.modules.is_empty() || document.owner.is_some() {
        return;
    }
    let all: Vec<EcoString> = document
        .item
        .view()
        .get("profiles")
        .into_iter()
        .flat_map(View::items)
        .map(|profile| profile.text_of("name").as_ref().into())
        .collect();
    for (module, _) in mappings(document.item.view(), &all) {
        let same = |entry: &&ModuleEntry| {
            (module.name.is_empty() || entry.name.is_empty() || module.name == entry.name)
                && path::join(folder, &module.path) == path::join(folder, &entry.path)
        };
        if document.modules.iter().any(|entry| same(&entry)) {
            continue;
        }
        let shown = if module.name.is_empty() { &module.path } else { &module.name };
        let hint = did_you_mean(shown, document.modules.iter().map(|entry| entry.name.as_str()));
        let message = format!("a profile speaks of the module `{shown}`, which this document does not have");
        let span = module.span.unwrap_or(document.span);
        sink.push(Diagnostic::at(&rules::UNKNOWN_MODULE, span, message).maybe_hint(hint));
    }
}
