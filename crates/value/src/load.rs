//! Reads and parses many files at once.
//!
//! Files are read by as many threads as the session allows, and registered in the order they were asked for, so
//! that nothing depends on which thread was faster.

use crate::session::Session;
use purlin_syntax::{Diagnostic, FileId, Flavor, Source, Tree, json, sources, yaml};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Below this many files a thread costs more than it saves.
const WORTH_A_THREAD: usize = 16;

/// What became of one file.
pub type Loaded = Result<Arc<Tree>, Diagnostic>;

/// Runs `work` for every index, on several threads if it is worth it, and returns the results in order.
pub fn in_parallel<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count / WORTH_A_THREAD + 1);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut mine = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    mine.push((index, work(index)));
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

impl Session {
    /// Reads and parses YAML (or JSON) files; problems inside them go to the sink, in order.
    pub fn read_yaml_files<P: AsRef<str> + Sync>(&self, paths: &[P], flavor: Flavor) -> Vec<Loaded> {
        let first = self.sources.reserve(paths.len()).0;
        let read = |index: usize| {
            let id = FileId(first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)));
            let path = paths.get(index).map_or("", AsRef::as_ref);
            self.parse_file(id, path, |source| yaml::parse(source, flavor, &self.limits))
        };
        let trees = in_parallel(self.threads, paths.len(), read);
        let register = |tree: Result<Tree, Diagnostic>| {
            let tree = self.sources.add(tree?);
            self.sink.extend(tree.diagnostics().iter().cloned());
            Ok(tree)
        };
        trees.into_iter().map(register).collect()
    }

    /// Reads one JSON file, strictly; problems inside it go to the sink.
    pub fn read_json(&self, path: &str) -> Loaded {
        let id = self.sources.reserve(1);
        let tree = self.parse_file(id, path, |source| json::parse(source, &self.limits))?;
        let tree = self.sources.add(tree);
        self.sink.extend(tree.diagnostics().iter().cloned());
        Ok(tree)
    }

    fn parse_file(&self, id: FileId, path: &str, parse: impl Fn(Arc<Source>) -> Tree) -> Result<Tree, Diagnostic> {
        let bytes = self.world.read(path).map_err(|error| error.diagnostic(path))?;
        self.account(path, bytes.len() as u64)?;
        let (text, problem) = sources::decode(&bytes);
        let source = Arc::new(Source::new(id, path, text));
        self.sources.fill(source.clone());
        if let Some((at, what)) = problem {
            self.sink.push(sources::encoding_problem(&source, at, what));
        }
        Ok(parse(source))
    }
}
