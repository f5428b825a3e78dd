//! Locations of imported files: beside the importing one, in a search folder, a repository, an archive, or on the
//! network.

use super::{Loader, Place};
use crate::edition::Standard;
use crate::entity::Entity;
use crate::rules;
use purlin_syntax::{Diagnostic, Hint, Source, Span, what};
use purlin_value::world::{FileKind, Remote};
use purlin_value::{WorldError, path};
use std::sync::Arc;

/// Extensions of Python files.
pub(super) const PYTHON: &str = ".py";

impl Loader<'_> {
    /// A file of a host's built-in repository, unless this file declares one of that name.
    pub(super) fn built_in(&mut self, importer: usize, import: &Entity, url: &str) -> Option<Option<usize>> {
        let name = import.text("repository")?;
        let declared = self.files.list.get(importer)?.entity.named("repositories", &name.text).is_some();
        let repository = self.options.host?.repository(&name.text).filter(|_| !declared)?;
        let path = path::normalize(url);
        if let Some((_, embedded)) = repository.files.iter().find(|(known, _)| *known == path) {
            return Some(self.embedded(*embedded));
        }
        let message =
            format!("`{url}` of the repository `{}` is not known here, so its types are not either", name.text);
        let near = crate::suggest::nearest(&path, repository.files.iter().map(|(known, _)| *known));
        let hint = near.map_or("import a copy of it instead".into(), |near| Hint::meant(url, near));
        self.problems.push(Diagnostic::at(&rules::UNSUPPORTED, import.at, message).hint(hint));
        Some(None)
    }

    /// The location of an import's file.
    pub(super) fn locate(
        &mut self,
        importer: usize,
        from: &Place,
        import: &Entity,
        url: &str,
    ) -> Result<Place, Box<Diagnostic>> {
        let repository = import.text("repository").and_then(|name| {
            let file = self.files.list.get(importer)?;
            let declared = file.entity.named("repositories", &name.text).map(|found| found.str("url").to_owned());
            let known = || self.options.repositories.iter().find(|(known, _)| *known == name.text);
            // A host has resolved the declared addresses.
            known().map(|(_, folder)| folder.clone()).or(declared)
        });
        if import.slot("repository").is_some() && scheme(url).is_some() {
            let words = format!("`{url}` is a complete address, so `repository` cannot be used with it");
            let message = what::about([url], words);
            let hint = "leave out `repository`, or give a path within it";
            return Err(Box::new(Diagnostic::at(&rules::IMPORT, import.at, message).hint(hint)));
        }
        let address = match (&repository, import.slot("repository")) {
            (Some(base), _) => format!("{}/{}", base.trim_end_matches('/'), url.trim_start_matches('/')),
            (None, Some(_)) => {
                return Err(Box::new(Diagnostic::at(
                    &rules::IMPORT,
                    import.at,
                    "this import's repository is not declared in this file",
                )));
            }
            (None, None) => url.to_owned(),
        };
        if address.ends_with(PYTHON) {
            return self.python(from, import, &address);
        }
        let fail = |message: String| Box::new(Diagnostic::at(&rules::IMPORT, import.at, message));
        if let Some((scheme, rest)) = scheme(&address) {
            return match scheme {
                "file" => {
                    let path = rest.strip_prefix("//").unwrap_or(rest);
                    self.local(from, path).ok_or_else(|| self.missing(from, path, import.at))
                }
                "http" | "https" => self.remote(&address, import.at),
                _ => Err(fail(format!("addresses that begin with `{scheme}:` cannot be imported"))),
            };
        }
        // Relative imports of a fetched file are resolved against its address.
        if let Some(base) = &from.address {
            return self.remote(&beside_address(base, &address), import.at);
        }
        self.local(from, &address).ok_or_else(|| self.missing(from, &address, import.at))
    }

    /// A file in Python: its host may know the equivalent YAML, which is then read instead.
    fn python(&mut self, from: &Place, import: &Entity, address: &str) -> Result<Place, Box<Diagnostic>> {
        let is_local = from.archive.is_none() && from.address.is_none() && scheme(address).is_none();
        let Some(host) = self.options.host.filter(|_| is_local) else {
            let message = format!("`{address}` is written in Python, which is not run to see what it declares");
            let hint = "write it as YAML (`unfurl export` does) and import that";
            return Err(Box::new(Diagnostic::at(&rules::UNSUPPORTED, import.at, message).hint(hint)));
        };
        let place = self.local(from, address).ok_or_else(|| self.missing(from, address, import.at))?;
        if self.known.contains_key(&place.key()) {
            return Ok(place);
        }
        let text = (host.python)(self.session, &place.path).map_err(|mut diagnostic| {
            diagnostic.span = Some(import.at);
            diagnostic
        })?;
        let source = self.session.sources.insert(&format!("{}.yaml", place.path), text);
        self.ahead.insert(place.key(), (source, None));
        Ok(place)
    }

    /// The text of a fetched file, under its address.
    pub(super) fn fetched_source(&self, place: &Place) -> Result<Arc<Source>, Diagnostic> {
        let address = place.address.as_deref().unwrap_or(&place.path);
        let text = self.session.load_text(&place.path, address).map_err(|error| error.diagnostic(address))?;
        self.session.sink.extend(text.problem);
        Ok(text.source)
    }

    /// The first existing place for a relative or absolute path.
    pub(super) fn local(&self, from: &Place, address: &str) -> Option<Place> {
        let mut candidates = vec![from.beside(address)];
        if let Some(rooted) = address.strip_prefix('/') {
            // A leading slash means the root: that of the archive, or the root file's folder.
            candidates = vec![Place::at(address), self.root.beside(rooted)];
            if let Some(archive) = &from.archive {
                candidates = vec![Place::inside(archive.clone(), rooted)];
            }
        }
        if self.files.edition.is_some_and(|edition| edition.is_2()) {
            // As in any relative address, going up beyond the root stays at the root.
            let clamped = path::normalize(address);
            candidates.push(self.root.beside(clamped.trim_start_matches("../")));
        }
        let bases = self.options.bases.iter().map(|base| Place::at(path::join(base, address)));
        // A file that was read before exists.
        let is_known = |place: &Place| self.known.get(&place.key()).is_some_and(Option::is_some);
        candidates.into_iter().chain(bases).find(|place| is_known(place) || self.is_file(place))
    }

    /// Why a local file cannot be imported: it is missing, or not allowed.
    pub(super) fn missing(&self, from: &Place, address: &str, at: Span) -> Box<Diagnostic> {
        let place = from.beside(address);
        let denied = match self.session.world.stat(&place.path) {
            Err(error @ WorldError::Denied(_)) if place.archive.is_none() => Some(error.diagnostic(address)),
            _ => None,
        };
        let absent = || {
            let message = what::unknown("file", address).words(format!("`{address}` does not exist"));
            Diagnostic::at(&rules::IMPORT, at, message).hint("correct the path; it is relative to this file")
        };
        let mut diagnostic = denied.unwrap_or_else(absent);
        diagnostic.span = Some(at);
        Box::new(diagnostic)
    }

    pub(super) fn is_file(&self, place: &Place) -> bool {
        match &place.archive {
            Some(archive) => archive.contains(&path::normalize(&place.path)),
            None => self.session.world.stat(&place.path).is_ok_and(|stat| stat.kind != FileKind::Folder),
        }
    }

    pub(super) fn remote(&self, address: &str, at: Span) -> Result<Place, Box<Diagnostic>> {
        self.fetch(address).map_err(|mut diagnostic| {
            diagnostic.span = Some(at);
            diagnostic
        })
    }

    /// A file that is on the network.
    pub(super) fn fetch(&self, address: &str) -> Result<Place, Box<Diagnostic>> {
        match self.session.world.fetch(&Remote::File { address: address.to_owned() }) {
            Ok(fetched) => Ok(Place::fetched(fetched.path, address)),
            Err(error) => {
                let denied = matches!(error, WorldError::Denied(_));
                let rule = if denied { &rules::IMPORT_DENIED } else { &purlin_value::rules::FETCH_FAILED };
                let mut diagnostic = Diagnostic::nowhere(rule, format!("`{address}` could not be fetched"));
                diagnostic.hints = error.diagnostic(address).hints;
                if !denied {
                    diagnostic = diagnostic.hint(error.diagnostic(address).message);
                }
                Err(Box::new(diagnostic))
            }
        }
    }
}

/// A path relative to a file with an address.
fn beside_address(base: &str, relative: &str) -> String {
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let joined = match relative.strip_prefix('/') {
        Some(rooted) => path::normalize(rooted),
        None => path::normalize(&path::join(path::parent(path), relative)),
    };
    // Going up beyond the root stays at the root.
    let mut joined = joined.as_str();
    while let Some(below) = joined.strip_prefix("../") {
        joined = below;
    }
    format!("{scheme}://{host}/{joined}")
}

/// The scheme of an address, if it has one.
fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let plausible = scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    (plausible && (rest.starts_with("//") || scheme == "file")).then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::beside_address;

    #[test]
    fn paths_are_relative_to_the_address_of_their_file() {
        for (relative, expected) in [
            ("b.yaml", "https://h.example/x/b.yaml"),
            ("../b.yaml", "https://h.example/b.yaml"),
            ("../../../b.yaml", "https://h.example/b.yaml"),
            ("/b.yaml", "https://h.example/b.yaml"),
            ("sub/./b.yaml", "https://h.example/x/sub/b.yaml"),
        ] {
            assert_eq!(beside_address("https://h.example/x/a.yaml?v=1", relative), expected, "{relative}");
        }
    }
}
