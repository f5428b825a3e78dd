//! The founding design: `modules:` in a document, inline or in other files.
//!
//! A module written in a document becomes a document of its own beside it, with the same table of profiles; one in
//! another file becomes a requirement. The walk treats both alike. It must not know files.

use crate::entities::config::pipeline;
use crate::item::{Entry, Form, Item, View};
use crate::load::{Document, File};
use crate::profile::Profiles;
use crate::requires::{Choice, Edge, Named, Place};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Sink, Span};
use purlin_value::path;
use std::collections::HashSet;
use std::rc::Rc;

/// A module a document names.
#[derive(Clone, Debug)]
pub struct ModuleEntry {
    /// Its name; empty for all of a file.
    pub name: EcoString,
    /// The file it is in; empty for this one.
    pub path: EcoString,
    /// Its location.
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
            diagnostic.hints.push("a module has a `path`, or a `name` and its own sections".into());
            sink.push(diagnostic);
            sound = false;
            continue;
        }
        let entry = ModuleEntry { name: name.as_ref().into(), path: place.as_ref().into(), span };
        if has_pipeline {
            inline.push(inline_document(&document, owner, owner + 1 + inline.len(), module));
        }
        document.modules.push(entry);
    }
    documents.push(document);
    documents.extend(inline);
    sound
}

fn problem(name: &str, place: &str, has_pipeline: bool) -> Option<String> {
    match (place.is_empty(), name.is_empty(), has_pipeline) {
        (false, _, true) => Some(format!("module `{name}` has both a `path` (`{place}`) and its own sections")),
        (true, true, _) => Some("this module has neither a `name` nor a `path`".to_owned()),
        _ => None,
    }
}

/// Adds the modules that are only a name: without sections, unless the name leads to a module elsewhere.
pub fn complete(documents: &mut Vec<Document<'_>>, sink: &Sink) {
    for owner in 0..documents.len() {
        let Some(list) = documents.get(owner).and_then(|document| document.item.view().get("modules")) else {
            continue;
        };
        for module in list.to_item().view().items() {
            let Some(document) = documents.get(owner) else { return };
            let name = module.text_of("name");
            let is_known = documents.iter().any(|other| other.name == name.as_ref());
            if name.is_empty() || is_known || module.get("path").is_some() || leads_elsewhere(document, &name) {
                continue;
            }
            let names = documents.iter().map(|other| other.name.as_str());
            if let Some(hint) = did_you_mean(&name, names) {
                let message = format!("module `{name}` has no sections, so it contributes nothing");
                let span = module.span().unwrap_or(document.span);
                sink.push(Diagnostic::at(&rules::EMPTY_MODULE, span, message).hint(hint));
            }
            let empty = inline_document(document, owner, documents.len(), module);
            documents.push(empty);
        }
    }
}

/// Whether a reference in a document can lead to a module of a name in another file.
fn leads_elsewhere(document: &Document<'_>, name: &str) -> bool {
    let leads = |entry: &ModuleEntry| !entry.path.is_empty() && (entry.name.is_empty() || entry.name == name);
    document.item.view().get("requires").is_some() || document.modules.iter().any(leads)
}

/// The document of a module written inside another one.
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
    let active: HashSet<&str> = active.iter().map(EcoString::as_str).collect();
    let is_active = move |profile: &View<'a, 'f>| active.contains(&*profile.text_of("name"));
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
pub fn add_mapped(document: &Document<'_>, file: &File<'_>, profiles: &Profiles, active: &mut Vec<EcoString>) {
    let now = active.clone();
    for (module, names) in mappings(document.item.view(), &now) {
        if module.name == document.name && leads_here(&module, file) {
            add_known(names, profiles, active);
        }
    }
}

/// Adds those of some profiles that a document has.
pub fn add_known(names: Vec<EcoString>, profiles: &Profiles, active: &mut Vec<EcoString>) {
    let mut taken: HashSet<EcoString> = active.iter().cloned().collect();
    active.extend(names.into_iter().filter(|name| profiles.has(name) && taken.insert(name.clone())));
}

/// Whether an entry refers to its own file.
fn leads_here(module: &ModuleEntry, file: &File<'_>) -> bool {
    module.path.is_empty() || place(&file.folder, &module.path) == place("", &file.path)
}

/// A path in a form common to a folder and the configuration file in it.
fn place(folder: &str, written: &str) -> String {
    let full = path::join(folder, written);
    let bare = full.strip_suffix("/skaffold.yaml").or_else(|| full.strip_suffix("/skaffold.yml"));
    bare.map_or_else(|| full.clone(), str::to_owned)
}

/// Requirements of a document through its modules and the modules of its artifacts. Also completes its other
/// requirements: profiles may be activated in a module by its name alone.
pub fn edges(
    document: &Document<'_>,
    config: View<'_, '_>,
    active: &[EcoString],
    file: &File<'_>,
    required: &mut Vec<Edge>,
) {
    let mapped: Vec<_> = mappings(document.item.view(), active).collect();
    let named = |speaks: &dyn Fn(&ModuleEntry) -> bool| -> Rc<[Named]> {
        let chosen = mapped.iter().filter(|(module, _)| !module.name.is_empty() && speaks(module));
        let named = |(module, profiles): &(ModuleEntry, Vec<EcoString>)| Named {
            module: module.name.clone(),
            profiles: profiles.clone(),
            span: module.span,
        };
        chosen.map(named).collect()
    };
    let by_name = named(&|module| module.path.is_empty());
    for edge in required.iter_mut() {
        edge.named = by_name.clone();
    }
    let edge = |entry: &ModuleEntry, for_artifact: bool| {
        let names = if entry.name.is_empty() { Vec::new() } else { vec![entry.name.clone()] };
        if entry.path.is_empty() {
            let place = if file.has(&entry.name) { Place::Same } else { Place::Named(entry.name.clone()) };
            let choice = if file.has(&entry.name) { Choice::Shared } else { Choice::Own };
            let (profiles, span) = (Vec::new(), entry.span);
            return Edge { place, names, profiles, named: by_name.clone(), choice, for_artifact, span };
        }
        let target = self::place(&file.folder, &entry.path);
        let leads_there = |module: &ModuleEntry| self::place(&file.folder, &module.path) == target;
        let whole = mapped
            .iter()
            .filter(|(module, _)| module.name.is_empty() && !module.path.is_empty() && leads_there(module));
        let mut profiles: Vec<EcoString> = Vec::new();
        for name in whole.flat_map(|(_, names)| names) {
            if !profiles.contains(name) {
                profiles.push(name.clone());
            }
        }
        let named = named(&|module| module.path.is_empty() || leads_there(module));
        let place = Place::Path(entry.path.clone());
        Edge { place, names, profiles, named, choice: Choice::Own, for_artifact, span: entry.span }
    };
    let artifacts = config.at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    let needed = artifacts.flat_map(|artifact| artifact.get("requires").into_iter().flat_map(View::items));
    required.extend(document.modules.iter().map(|entry| edge(entry, false)));
    required.extend(needed.filter_map(reference).map(|entry| edge(&entry, true)));
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

/// A profile with an unknown module, or with profiles that an inline module does not have, is most likely misspelt.
pub fn check_mappings(document: &Document<'_>, file: &File<'_>, sink: &Sink) {
    if document.modules.is_empty() || document.owner.is_some() {
        return;
    }
    let profiles = document.item.view().get("profiles").into_iter().flat_map(View::items);
    let all: Vec<EcoString> = profiles.map(|profile| profile.text_of("name").as_ref().into()).collect();
    let known: HashSet<&EcoString> = all.iter().collect();
    for (module, wanted) in mappings(document.item.view(), &all) {
        let span = module.span.unwrap_or(document.span);
        if leads_here(&module, file) && file.has(&module.name) {
            for name in wanted.iter().filter(|name| !known.contains(name)) {
                let message =
                    what::unknown("profile", name).words(format!("no profile `{name}` for module `{}`", module.name));
                let hint = did_you_mean(name, all.iter().map(EcoString::as_str));
                sink.push(Diagnostic::at(&rules::UNKNOWN_PROFILE, span, message).maybe_hint(hint));
            }
            continue;
        }
        let may_lead_there = |entry: &ModuleEntry| {
            let name_fits = module.name.is_empty() || entry.name.is_empty() || module.name == entry.name;
            let place_fits = module.path.is_empty() && !entry.path.is_empty()
                || place(&file.folder, &module.path) == place(&file.folder, &entry.path);
            name_fits && place_fits
        };
        let by_requirement = module.path.is_empty() && document.item.view().get("requires").is_some();
        if by_requirement || document.modules.iter().any(may_lead_there) {
            continue;
        }
        let shown = if module.name.is_empty() { &module.path } else { &module.name };
        let known = document.modules.iter().flat_map(|entry| [entry.name.as_str(), entry.path.as_str()]);
        let hint = did_you_mean(shown, known.filter(|name| !name.is_empty()));
        let message = what::unknown("module", shown).and(" in a profile: this document has no such module");
        sink.push(Diagnostic::at(&rules::UNKNOWN_MODULE, span, message).maybe_hint(hint));
    }
}
