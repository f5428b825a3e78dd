//! The initial inputs of mutation, and mutated inputs worth keeping.

use crate::random::Random;
use crate::targets::Target;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum number of inputs: more would only dilute the good ones.
const MOST: usize = 4_000;

/// Longer files are cut: short inputs are tried more often.
const LONGEST_SEED: usize = 8 << 10;

/// Inputs of one target.
pub struct Corpus {
    inputs: Vec<Vec<u8>>,
    seen: HashSet<u64>,
}

impl Corpus {
    /// The target's own seeds, the inputs of the suite, and the files of a folder.
    pub fn new(target: &Target, folder: Option<&Path>) -> Self {
        let mut inputs: Vec<Vec<u8>> = target.seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
        let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite");
        let folders = target.suite.iter().map(|area| suite.join(area)).chain(folder.map(Path::to_owned));
        for file in folders.flat_map(|folder| files_below(&folder)) {
            let mut bytes = std::fs::read(&file).unwrap_or_default();
            bytes.truncate(LONGEST_SEED);
            inputs.push(bytes);
        }
        inputs.push(Vec::new());
        Corpus { inputs, seen: HashSet::new() }
    }

    /// One of the inputs.
    pub fn pick(&self, random: &mut Random) -> &[u8] {
        random.one_of(&self.inputs).map_or(&[], Vec::as_slice)
    }

    /// All initial inputs.
    pub fn all(&self) -> &[Vec<u8>] {
        &self.inputs
    }

    /// Keeps an input with a new signature. When the corpus is full, it replaces another.
    pub fn consider(&mut self, input: &[u8], signature: u64, random: &mut Random) {
        if !self.seen.insert(signature) || input.len() > LONGEST_SEED {
            return;
        }
        if self.inputs.len() < MOST {
            return self.inputs.push(input.to_vec());
        }
        let at = random.below(self.inputs.len());
        if let Some(place) = self.inputs.get_mut(at) {
            *place = input.to_vec();
        }
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Number of different outcomes seen.
    pub fn kinds(&self) -> usize {
        self.seen.len()
    }
}

/// All files below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
