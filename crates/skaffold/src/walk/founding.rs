//! Modules of the founding design on the walk: found by their name, referred on from file to file, with profiles of
//! their own.

use super::{Config, FileFrame, Walk};
use crate::load::{Document, File};
use crate::modules::{self, ModuleEntry};
use crate::profile::Profiles;
use crate::requires::{self, Edge, Place};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_value::path;
use std::rc::Rc;

impl<'f> Walk<'_, 'f> {
    /// Adds the profiles requested in modules of this name.
    pub(super) fn add_named(
        &self,
        frame: &FileFrame<'f>,
        document: &Document<'f>,
        profiles: &Profiles,
        active: &mut Vec<EcoString>,
    ) {
        for named in frame.named.iter().filter(|named| named.module == document.name) {
            for name in named.profiles.iter().filter(|name| !profiles.has(name)) {
                let message =
                    what::unknown("profile", name).words(format!("no profile `{name}` for module `{}`", document.name));
                let hint = did_you_mean(name, profiles.names.iter().map(EcoString::as_str));
                let span = named.span.unwrap_or(document.span);
                self.push_lenient(Diagnostic::at(&rules::UNKNOWN_PROFILE, span, message).maybe_hint(hint));
            }
            modules::add_known(named.profiles.clone(), profiles, active);
        }
    }

    /// The file that has the module of a name which the requiring file does not have itself: one that it names or
    /// requires, or one that was met before.
    pub(super) fn named_file(&self, config: &Config<'f>, name: &EcoString, edge: &Edge) -> Option<Rc<File<'f>>> {
        let listed = config.file.documents.iter().flat_map(|document| &document.modules);
        let listed: Vec<&ModuleEntry> = listed.filter(|entry| !entry.path.is_empty()).collect();
        let exact = listed.iter().find(|entry| entry.name == *name);
        if let Some(entry) = exact {
            return self.at_path(&config.file, &entry.path);
        }
        if let Some(known) = self.names.get(name) {
            return self.loader.file(known).ok().flatten();
        }
        let whole = listed.iter().filter(|entry| entry.name.is_empty()).map(|entry| entry.path.clone());
        let required = config.file.documents.iter().flat_map(|document| requires::read(document.item.view(), &[]));
        let required = required.filter_map(|edge| match edge.place {
            Place::Path(path) => Some(path),
            _ => None,
        });
        let mut places = whole.chain(required);
        let found = places.find_map(|place| self.at_path(&config.file, &place).filter(|file| file.has(name)));
        if found.is_none() && edge.for_artifact {
            self.report_unknown_module(config, name, edge);
        }
        found
    }

    fn at_path(&self, file: &File<'f>, written: &str) -> Option<Rc<File<'f>>> {
        self.loader.required(&path::join(&file.folder, written)).ok().flatten()
    }

    fn report_unknown_module(&self, config: &Config<'f>, name: &EcoString, edge: &Edge) {
        let message = what::lacking(format!("`{}`", config.file.source.path()), "module named", name);
        let own = config.file.documents.iter().flat_map(|document| {
            let listed = document.modules.iter().map(|entry| entry.name.as_str());
            listed.chain([document.name.as_str()])
        });
        let mut known: Vec<&str> = own.chain(self.names.keys().map(EcoString::as_str)).collect();
        known.sort_unstable();
        let mut diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_MODULE, message);
        diagnostic.span = edge.span;
        self.push_lenient(diagnostic.maybe_hint(did_you_mean(name, known)));
    }

    /// Follows entries that refer on: a file may name a module that is in yet another file.
    pub(super) fn refer_on(&self, file: Rc<File<'f>>, edge: &Edge) -> Option<Rc<File<'f>>> {
        let [name] = edge.names.as_slice() else { return Some(file) };
        let mut way: Vec<Rc<File<'f>>> = vec![file];
        loop {
            let at = way.last()?;
            let entries = at.documents.iter().flat_map(|document| &document.modules);
            let onward = entries.filter(|entry| !entry.path.is_empty()).find(|entry| entry.name == *name);
            let Some(entry) = onward.filter(|_| !at.has(name)) else { return way.pop() };
            let next = self.at_path(at, &entry.path);
            let Some(next) = next else { return way.pop() };
            if way.iter().any(|known| Rc::ptr_eq(known, &next)) {
                let shown: Vec<String> = way.iter().chain([&next]).map(|file| file.source.path().to_owned()).collect();
                let message = what::cycle(shown).under(format!("circular reference to module `{name}`: "));
                let mut diagnostic = Diagnostic::nowhere(&rules::CYCLE, message);
                diagnostic.span = entry.span.or(edge.span);
                self.push_lenient(diagnostic.hint("one of these files must have the module"));
                return None;
            }
            way.push(next);
        }
    }
}
