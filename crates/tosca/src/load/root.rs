//! The root of a run: the file that was asked for, or the entry of an archive, and its version keyword.

use super::{Loader, Place};
use crate::archive::Archive;
use crate::edition::{Edition, Standard};
use crate::profile::{self, Version};
use crate::quirks;
use crate::rules;
use crate::val::{self, Data};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Node, Severity, Span, Tree, suggest};
use std::sync::Arc;

impl Loader<'_> {
    /// A root file that is on the network, fetched if that is allowed.
    pub(super) fn brought_here(&mut self, place: Place) -> Option<Place> {
        if !super::is_remote(&place.path) {
            return Some(place);
        }
        match self.fetch(&place.path) {
            Ok(place) => Some(place),
            Err(diagnostic) => {
                self.problems.push(*diagnostic);
                None
            }
        }
    }

    pub(super) fn enter_archive(&mut self, mut place: Place) -> Option<Place> {
        // A file inside an archive is named by both.
        let inside = place.path.split_once("!/").map(|(archive, inside)| (archive.to_owned(), inside.to_owned()));
        let inside = inside.map(|(archive, inside)| {
            place.path = archive;
            inside
        });
        if !Archive::is_archive(&place.path) {
            return Some(place);
        }
        let bytes = match self.session.load_bytes(&place.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.problems.push(error.diagnostic(&place.path));
                return None;
            }
        };
        let archive = match Archive::open(&place.path, &bytes, &self.session.limits) {
            Ok(archive) => Arc::new(archive),
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                return None;
            }
        };
        if let Some(path) = inside {
            return Some(Place::inside(archive, path));
        }
        match archive.entry(&self.options.template) {
            Ok(path) => Some(Place::inside(archive, path)),
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                None
            }
        }
    }

    pub(super) fn root_tree(&mut self, place: &Place) -> Option<Arc<Tree>> {
        if let Some(tree) = self.known_tree(place) {
            return Some(tree);
        }
        if self.given(place).is_some() {
            return None;
        }
        let source = match self.source(place) {
            Ok(source) => source,
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                return None;
            }
        };
        if source.text().trim_start().starts_with('<') {
            let message = "TOSCA in XML is recognised, but not read";
            let hint = "write it in YAML, which TOSCA has been written in since the Simple Profile 1.0";
            let start = Span::new(source.id(), 0, 0);
            self.problems.push(Diagnostic::at(&rules::UNSUPPORTED, start, message).hint(hint));
            return None;
        }
        self.parse(source)
    }

    /// The mapping that a root file consists of.
    pub(super) fn template<'t>(&mut self, place: &Place, tree: &'t Tree) -> Option<Node<'t>> {
        let Some(root) = self.whole(place, tree) else {
            let start = Span::new(tree.file(), 0, 0);
            self.problems.at(&rules::VERSION, start, "the file is empty");
            return None;
        };
        if root.is_null() {
            self.problems.at(&rules::VERSION, root.span(), "the file is empty");
            return None;
        }
        if !root.is_map() {
            let message = what::expected("a mapping", crate::read::noun(root)).under("a TOSCA file: ");
            self.problems.at(&rules::WRONG_SHAPE, root.span(), message);
            return None;
        }
        Some(root)
    }

    /// The version of the root file.
    pub(super) fn version(&mut self, root: Node<'_>) -> Option<Version> {
        for (key, what) in [("heat_template_version", "OpenStack Heat templates (HOT)")] {
            if let Some(entry) = root.entry(key) {
                let message = format!("{what} are recognised, but not read yet");
                self.problems.at(&rules::UNSUPPORTED, entry.key.span(), message);
                return None;
            }
        }
        let Some(entry) = root.entry("tosca_definitions_version") else {
            if let Some(edition) = self.options.unversioned {
                return standard(edition);
            }
            let message = what::missing("key", "tosca_definitions_version").and(": the edition of TOSCA is not known");
            let is_meant = |name: &str| {
                name.starts_with("tosca_definitions") || suggest::nearest(name, ["tosca_definitions_version"]).is_some()
            };
            let diagnostic = match root.entries().find(|entry| is_meant(entry.name())) {
                Some(entry) => {
                    let message = what::unknown("key", entry.name()).and(": the edition of TOSCA is not known");
                    let diagnostic = Diagnostic::at(&rules::VERSION, entry.key.span(), message);
                    diagnostic.hint(Hint::meant(entry.name(), "tosca_definitions_version"))
                }
                None => Diagnostic::at(&rules::VERSION, Span { end: root.span().start, ..root.span() }, message)
                    .hint("begin it with `tosca_definitions_version: tosca_2_0`"),
            };
            self.problems.push(diagnostic);
            return None;
        };
        let at = entry.key.span();
        let Data::Str(keyword) = val::scalar_data(entry.value) else {
            let message =
                what::expected("a string", crate::read::noun(entry.value)).under("`tosca_definitions_version`: ");
            self.problems.at(&rules::VERSION, at, message);
            return None;
        };
        if let Some(foreign) = profile::foreign(&keyword) {
            let diagnostic = Diagnostic::at(&rules::UNSUPPORTED, at, foreign.message);
            self.problems.push(diagnostic.maybe_hint(foreign.hint.map(str::to_owned)));
            return None;
        }
        let found = self.find_version(&keyword);
        if let Some(standard) = profile::spelt_otherwise(&keyword).filter(|_| found.is_some()) {
            let message = format!("`{keyword}` is another spelling of `{}`", standard.keyword);
            let mut diagnostic = Diagnostic::at(&rules::VERSION, at, message);
            diagnostic.severity = Severity::Warning;
            self.problems.push(diagnostic.hint(format!("write `{}`", standard.keyword)));
        }
        if found.is_none() {
            let near = crate::suggest::nearest(&keyword, profile::VERSIONS.iter().map(|version| version.keyword));
            let diagnostic = Diagnostic::at(&rules::VERSION, at, what::unknown("version", &keyword).and(" of TOSCA"));
            self.problems.push(diagnostic.maybe_hint(near.map(|near| Hint::meant(keyword.as_str(), near))));
        }
        found
    }

    pub(super) fn find_version(&self, keyword: &str) -> Option<Version> {
        let otherwise = || {
            profile::spelt_otherwise(keyword)
                .filter(|version| self.options.quirks.allow(quirks::SPELLINGS_PERMISSIVE, version.edition))
        };
        let known = profile::version(keyword).or_else(otherwise).copied();
        let (keyword, edition) = match (known, self.options.unversioned) {
            (Some(version), None) => return Some(version),
            // A host reads all files alike, whatever their version.
            (Some(version), Some(edition)) => (version.keyword, edition),
            (None, _) => *self.options.versions.iter().find(|(known, _)| *known == keyword)?,
        };
        Some(Version { keyword, ..standard(edition)? })
    }
}

/// The version whose profile an edition is read with.
pub(super) fn standard(edition: Edition) -> Option<Version> {
    let standard = profile::VERSIONS.iter().find(|version| version.edition == edition.standard())?;
    Some(Version { edition, ..*standard })
}
