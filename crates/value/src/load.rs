//! Reads JSON files, strictly; and spreads work over threads so that nothing depends on which was faster.

use crate::session::Session;
use purlin_syntax::{Diagnostic, Tree, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Below this many pieces of work a thread costs more than it saves.
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
    /// Reads one JSON file, strictly; problems inside it go to the sink.
    pub fn read_json(&self, path: &str) -> Loaded {
        let source = self.read_text(path)?;
        let tree = self.sources.add(json::parse(source, &self.limits));
        self.sink.extend(tree.diagnostics().iter().cloned());
        Ok(tree)
    }
}
