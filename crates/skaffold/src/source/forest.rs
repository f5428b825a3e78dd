//! Owns every tree of a run, so that items may borrow from trees while more files are read.
//!
//! Append-only: an added tree does not move. It must not know the contents of the trees.

use purlin_syntax::Tree;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// Chunk `n` holds `FIRST << n` trees; 24 of them are more than any run can read.
const FIRST: usize = 64;
const CHUNKS: usize = 24;

type Chunk = Box<[OnceLock<Arc<Tree>>]>;

/// All trees of a run.
#[derive(Default)]
pub struct Forest {
    chunks: [OnceLock<Chunk>; CHUNKS],
    len: Cell<usize>,
}

impl Forest {
    /// An empty forest.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tree; it can be borrowed for as long as the forest. `None` only if the forest is full.
    pub fn add(&self, tree: Arc<Tree>) -> Option<&Tree> {
        let index = self.len.get();
        let (chunk, offset) = place(index);
        let slots = self.chunks.get(chunk)?.get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect());
        self.len.set(index + 1);
        Some(slots.get(offset)?.get_or_init(|| tree))
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether it has no trees.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn place(index: usize) -> (usize, usize) {
    let (mut chunk, mut start) = (0, 0);
    while index >= start + (FIRST << chunk) {
        start += FIRST << chunk;
        chunk += 1;
    }
    (chunk, index - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_dense_and_distinct() {
        let mut last = None;
        for index in 0..10_000 {
            let now = place(index);
            assert!(now.1 < FIRST << now.0);
            assert!(last < Some(now));
            last = Some(now);
        }
    }
}
