//! Parsing ahead: large files imported by one file are parsed in parallel.
//!
//! Files on the network are fetched in parallel in any case. Files are read and registered one after the other, so
//! that results do not depend on threads. Small files are parsed in turn: a thread costs more than it saves.

use super::Loader;
use crate::entity::Entity;
use purlin_syntax::{Flavor, Limits, Source, Tree, yaml};
use purlin_value::world::Remote;
use std::sync::Arc;

/// The total size in bytes from which files are parsed in parallel.
const WORTH_THREADS: usize = 256 * 1024;
/// The number of threads, if the session allows them.
const THREADS: usize = 4;

impl Loader<'_> {
    /// Reads the files that a file imports, and parses them if parallel parsing pays off.
    pub(super) fn parse_ahead(&mut self, index: usize) {
        let Some(from) = self.places.get(index).cloned() else { return };
        let Some(file) = self.files.list.get(index) else { return };
        let imports = file.entity.list("imports");
        if imports.len() < 2 || from.archive.is_some() {
            return;
        }
        self.fetch_ahead(imports);
        if from.address.is_some() {
            return;
        }
        let wanted = imports.iter().filter(|import| self.is_wanted(import));
        let addresses = wanted.filter(|import| import.slot("repository").is_none());
        let addresses: Vec<String> = addresses.map(|import| import.str("url").to_owned()).collect();
        let mut waiting = Vec::new();
        let mut bytes = 0;
        let is_plain = |address: &&String| {
            !address.is_empty() && !address.contains(':') && !address.ends_with(super::places::PYTHON)
        };
        for address in addresses.iter().filter(is_plain) {
            let Some(place) = self.local(&from, address).filter(|place| !self.known.contains_key(&place.key())) else {
                continue;
            };
            if self.ahead.contains_key(&place.key()) || self.options.trees.contains_key(&place.key()) {
                continue;
            }
            if let Ok(source) = self.source(&place) {
                bytes += source.text().len();
                self.ahead.insert(place.key(), (source.clone(), None));
                waiting.push((place.key(), source));
            }
        }
        let threads = self.session.threads.min(THREADS);
        if bytes < WORTH_THREADS || waiting.len() < 2 || threads < 2 {
            return;
        }
        let sources: Vec<Arc<Source>> = waiting.iter().map(|(_, source)| source.clone()).collect();
        let trees = side_by_side(&sources, threads, &self.session.limits);
        for ((key, source), tree) in waiting.into_iter().zip(trees) {
            self.ahead.insert(key, (source, tree));
        }
    }
}

impl Loader<'_> {
    /// Fetches files on the network in parallel. The world remembers the answers, so that each import finds its own in
    /// turn and reports its errors.
    fn fetch_ahead(&self, imports: &[Arc<Entity>]) {
        let is_remote = |address: &&str| address.starts_with("https://") || address.starts_with("http://");
        let addresses: Vec<&str> = imports.iter().map(|import| import.str("url")).filter(is_remote).collect();
        if addresses.len() < 2 || self.session.threads < 2 {
            return;
        }
        let world = &self.session.world;
        std::thread::scope(|scope| {
            for part in addresses.chunks(addresses.len().div_ceil(THREADS)) {
                scope.spawn(move || {
                    for address in part {
                        let _ = world.fetch(&Remote::File { address: (*address).to_owned() });
                    }
                });
            }
        });
    }
}

/// The trees of several sources, in their order.
fn side_by_side(sources: &[Arc<Source>], threads: usize, limits: &Limits) -> Vec<Option<Tree>> {
    let each = sources.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = sources
            .chunks(each)
            .map(|part| {
                scope.spawn(move || {
                    part.iter().map(|source| yaml::parse(source.clone(), Flavor::CoreGo, limits)).collect::<Vec<_>>()
                })
            })
            .collect();
        let chunks = sources.chunks(each).zip(parts);
        chunks
            .flat_map(|(chunk, part)| match part.join() {
                Ok(trees) => trees.into_iter().map(Some).collect(),
                Err(_) => chunk.iter().map(|_| None).collect::<Vec<_>>(), // parsed again when its turn comes
            })
            .collect()
    })
}
