//! Repositories by name, and their folders in the project.
//!
//! Names come from the service template, from environments, and from the location of the ensemble (`self`, `project`,
//! `spec`). An address `git-local://COMMIT:/path` means the working copy with that first commit, which is read from
//! the copy's own log.

use crate::val::{Val, ValMap};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_value::world::Remote;
use purlin_value::{Session, path};

/// The location of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A folder that can be read.
    Folder(String),
    /// A git repository elsewhere: address and revision.
    Remote(String, String),
    /// An unreadable location, with the reason.
    Elsewhere(String),
}

/// Repositories of an ensemble.
pub struct Repositories<'s> {
    session: &'s Session,
    /// The ensemble's folder.
    folder: String,
    /// The project's folder; without one the ensemble's.
    project: String,
    known: IndexMap<EcoString, Place>,
    /// Declared names with their addresses; the first declaration counts.
    declared: IndexMap<EcoString, EcoString>,
}

impl<'s> Repositories<'s> {
    /// The repositories of every ensemble.
    pub fn new(session: &'s Session, folder: &str, project: Option<&str>) -> Self {
        let home = project.unwrap_or(folder);
        let mut known = IndexMap::new();
        known.insert("self".into(), Place::Folder(folder.to_owned()));
        if project.is_some() {
            known.insert("project".into(), Place::Folder(home.to_owned()));
        }
        known.insert("spec".into(), Place::Folder(home.to_owned()));
        Repositories { session, folder: folder.to_owned(), project: home.to_owned(), known, declared: IndexMap::new() }
    }

    /// Adds the declarations of a `repositories` section; relative addresses start at the project.
    pub fn declare(&mut self, section: &ValMap) {
        for (name, repository) in section {
            let url = repository.get("url").or(Some(repository)).and_then(Val::as_str);
            let (Some(name), Some(url)) = (name.as_str(), url) else { continue };
            // Names with a dot are rules for packages.
            if name.contains('.') || name == "unfurl" || self.declared.contains_key(name) {
                continue;
            }
            self.declared.insert(name.into(), url.into());
            let revision = repository.get("revision").and_then(Val::as_str).unwrap_or("");
            let place = self.place(url, revision);
            self.known.insert(name.into(), place);
        }
    }

    /// Adds the declarations of a manifest's service template and environment.
    pub fn declare_manifest(&mut self, document: &Val) {
        let template = document.get("spec").and_then(|spec| spec.get("service_template"));
        for part in [document.get("environment"), template].into_iter().flatten() {
            if let Some(section) = part.get("repositories").and_then(Val::as_map) {
                self.declare(section);
            }
        }
    }

    /// The location of a repository, fetched if it is remote; none if it is undeclared.
    pub fn get(&mut self, name: &str) -> Option<Place> {
        if let Some(Place::Remote(url, revision)) = self.known.get(name) {
            let fetched = self.fetch(url, revision);
            self.known.insert(name.into(), fetched);
        }
        self.known.get(name).cloned()
    }

    /// The addresses of declared repositories.
    pub fn addresses(&self) -> impl Iterator<Item = (&EcoString, &EcoString)> {
        self.declared.iter()
    }

    /// The folders of readable repositories.
    pub fn folders(&self) -> impl Iterator<Item = (&EcoString, &str)> {
        self.known.iter().filter_map(|(name, place)| match place {
            Place::Folder(folder) => Some((name, folder.as_str())),
            Place::Remote(..) | Place::Elsewhere(_) => None,
        })
    }

    /// The location of an address.
    fn place(&self, url: &str, revision: &str) -> Place {
        if let Some(local) = url.strip_prefix("file:") {
            let local = local.strip_prefix("//").unwrap_or(local);
            return Place::Folder(path::join(&self.project, local));
        }
        if let Some(rest) = url.strip_prefix("git-local://") {
            let (commit, inner) = rest.split_once(':').unwrap_or((rest, ""));
            let commit = commit.split('/').next().unwrap_or(commit);
            return match self.working_copy(commit) {
                Some(copy) => Place::Folder(path::join(&copy, inner.trim_start_matches('/'))),
                None => Place::Elsewhere(format!("no git repository of this project starts with the commit {commit}")),
            };
        }
        if !url.contains("://") && !url.contains('@') {
            return Place::Folder(path::join(&self.project, url));
        }
        Place::Remote(url.to_owned(), revision.to_owned())
    }

    /// The working copy whose first commit is the given one. The log of a clone does not show its first commit: then
    /// the only possible copy is used.
    fn working_copy(&self, commit: &str) -> Option<String> {
        let copies = self.working_copies();
        if let Some(known) = copies.iter().find(|copy| self.first_commit(copy).as_deref() == Some(commit)) {
            return Some(known.clone());
        }
        let open: Vec<&String> = copies.iter().filter(|copy| self.first_commit(copy).is_none()).collect();
        match open.as_slice() {
            [only] => Some((*only).clone()),
            // The project's own repository has the files shared by its ensembles.
            [] => None,
            several => several.iter().find(|copy| ***copy == self.project).map(|copy| (*copy).clone()),
        }
    }

    /// Folders with a repository of their own: around the ensemble, and directly in the project.
    fn working_copies(&self) -> Vec<String> {
        let mut copies = Vec::new();
        let mut folder = self.folder.clone();
        loop {
            if self.session.world.exists(&path::join(&folder, ".git")) {
                copies.push(folder.clone());
            }
            if folder == "." || folder.is_empty() || folder == "/" {
                break;
            }
            folder = path::parent(&folder).to_owned();
        }
        for entry in self.session.world.list(&self.project).unwrap_or_default() {
            let inner = path::join(&self.project, &entry.name);
            if !copies.contains(&inner) && self.session.world.exists(&path::join(&inner, ".git")) {
                copies.push(inner);
            }
        }
        copies
    }

    /// The commit a repository was started with, from its log.
    fn first_commit(&self, copy: &str) -> Option<String> {
        let log = self.session.load_bytes(&path::join(copy, ".git/logs/HEAD")).ok()?;
        let line = log.split(|byte| *byte == b'\n').next()?;
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let (before, first) = (words.next()?, words.next()?);
        let started = before.bytes().all(|byte| byte == b'0') && !line.windows(7).any(|part| part == b"\tclone:");
        started.then(|| first.to_owned())
    }

    /// The copy of a remote repository. The address may end with `#REVISION:FOLDER`.
    fn fetch(&self, url: &str, revision: &str) -> Place {
        let (address, fragment) = url.split_once('#').unwrap_or((url, ""));
        let (tagged, inner) = fragment.split_once(':').unwrap_or((fragment, ""));
        let revision = if tagged.is_empty() { revision } else { tagged };
        let remote = Remote::Git { address: address.to_owned(), revision: revision.to_owned(), refresh: false };
        match self.session.world.fetch(&remote) {
            Ok(fetched) => Place::Folder(path::join(&fetched.path, inner)),
            Err(error) => Place::Elsewhere(error.reason().to_owned()),
        }
    }
}
