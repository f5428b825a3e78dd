//! Names of configurations and profiles: definitions are unique, references are known.

use super::Walk;
use crate::item::View;
use crate::load::{Document, File};
use crate::{modules, rules};
use ecow::EcoString;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::FastMap;
use std::rc::Rc;

impl<'f> Walk<'_, 'f> {
    /// Checks once per file that names are unique, in the file and in the run.
    pub(super) fn enter(&mut self, file: &Rc<File<'f>>) -> bool {
        match self.known(file.first) {
            known if known.entered => return true,
            known => known.entered = true,
        }
        let mut sound = true;
        let mut here: FastMap<&EcoString, Span> = FastMap::default();
        for document in &file.documents {
            modules::check_mappings(document, file, self.loader.sink());
            self.add_profiles(document);
            if document.name.is_empty() {
                continue;
            }
            let name = &document.name;
            let span = document.item.view().at(&["metadata", "name"]).and_then(View::span).unwrap_or(document.span);
            if let Some(first) = here.insert(name, span) {
                let message = format!("two configurations in `{}` are named `{name}`", file.source.path());
                let diagnostic = Diagnostic::at(&rules::DUPLICATE_NAME, span, message);
                self.loader.sink().push(diagnostic.label(first, "the first one is here"));
                sound = false;
            }
            match self.names.get(name) {
                Some(other) if *other != file.path => {
                    let (other, own) = (self.loader.shown(other), file.source.path());
                    let message = format!("`{name}` is the name of a configuration in `{other}` and in `{own}`");
                    let hint = "names must be unique over all files of a run";
                    self.loader.sink().push(Diagnostic::at(&rules::DUPLICATE_NAME, span, message).hint(hint));
                    sound = false;
                }
                _ => {
                    self.names.insert(name.clone(), file.path.clone());
                }
            }
        }
        sound
    }

    /// Unknown names given by the user.
    pub(super) fn check_names(&self) {
        let sink = self.loader.sink();
        let modules = &self.wanted.modules;
        if self.result.is_empty() {
            let message = match modules.as_slice() {
                [] => "no configuration was found".into(),
                [name] => what::unknown("module", name),
                several => format!("unknown modules: `{}`", several.join(" ")).into(),
            };
            let hint = modules.first().and_then(|name| did_you_mean(name, in_order(self.names.keys())));
            sink.push(Diagnostic::nowhere(&rules::UNKNOWN_MODULE, message).maybe_hint(hint));
            return;
        }
        for name in modules.iter().filter(|name| !self.names.contains_key(name.as_str())) {
            let message = what::unknown("module", name).words(format!("no configuration is named `{name}`"));
            let diagnostic = Diagnostic::nowhere(&rules::UNKNOWN_MODULE, message);
            self.push_lenient(diagnostic.maybe_hint(did_you_mean(name, in_order(self.names.keys()))));
        }
        self.check_profiles();
    }

    /// Profiles requested by the user that no file has: one message for all of them.
    fn check_profiles(&self) {
        let unknown = |written: &&String| {
            let name = written.strip_prefix('-').unwrap_or(written);
            !self.profile_names.contains(name)
        };
        let wrong: Vec<&String> = self.wanted.profiles.iter().filter(unknown).collect();
        let Some(first) = wrong.first() else { return };
        let names = self.profile_names.iter().filter(|known| !known.starts_with('-'));
        let hint = did_you_mean(first.strip_prefix('-').unwrap_or(first), in_order(names));
        let shown: Vec<String> = wrong.iter().map(|name| format!("`{name}`")).collect();
        let what = if wrong.len() == 1 { "a profile" } else { "the profiles" };
        let message =
            what::unknown("profile", first).words(format!("no configuration has {what} {}", shown.join(", ")));
        self.loader.sink().push(Diagnostic::nowhere(&rules::UNKNOWN_PROFILE, message).maybe_hint(hint));
    }

    /// Adds the names of a document's profiles. Names that cannot be selected as written are reported here.
    fn add_profiles(&mut self, document: &Document<'f>) {
        let mut here: FastMap<EcoString, Span> = FastMap::default();
        for profile in document.item.view().get("profiles").into_iter().flat_map(View::items) {
            let name = EcoString::from(profile.text_of("name").as_ref());
            let span = profile.get("name").and_then(View::span).unwrap_or(document.span);
            if name.starts_with('-') {
                let message =
                    format!("the profile `{name}` cannot be chosen: `-` before a name switches a profile off");
                let diagnostic = Diagnostic::at(&rules::PROFILE, span, message);
                self.push_lenient(diagnostic.hint("give it a name that starts otherwise"));
            }
            let first = here.insert(name.clone(), span).filter(|_| !name.is_empty());
            if let Some(first) = first {
                let message = format!("two profiles are named `{name}`; only the last one counts");
                let diagnostic = Diagnostic::at(&rules::PROFILE, span, message).label(first, "the first one is here");
                self.push_lenient(diagnostic.hint("give one of them another name, or put them together"));
            }
            self.profile_names.insert(name);
        }
    }
}

/// Names in an order that is the same in every run.
fn in_order<'n>(names: impl IntoIterator<Item = &'n EcoString>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.into_iter().map(EcoString::as_str).collect();
    names.sort_unstable();
    names
}
