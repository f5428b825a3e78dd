//! A world that records all reads.
//!
//! Every session wraps its world in one, so that no read bypasses the record. Its answers are those of the inner
//! world.

use crate::files::{Files, Read};
use crate::seed::Seed;
use crate::world::{Bounds, Command, Entry, Fetched, Moment, Output, Remote, Stat, World, WorldError};
use std::sync::Arc;

/// A world and the record of its reads.
pub(crate) struct Recorded {
    world: Arc<dyn World>,
    files: Arc<Files>,
}

impl Recorded {
    /// A world whose reads are recorded.
    pub(crate) fn new(world: Arc<dyn World>, files: Arc<Files>) -> Self {
        Recorded { world, files }
    }

    /// Records the result for a path: the read if it succeeded, or that the path is absent.
    fn note<T>(&self, path: &str, answer: &Result<T, WorldError>, about: fn(String) -> Read) {
        let path = self.files.key(path);
        match answer {
            Err(WorldError::NotFound) => self.files.note(Read::Absent(path)),
            // A denied path was not read.
            Err(WorldError::Denied(_)) => {}
            _ => self.files.note(about(path)),
        }
    }
}

impl World for Recorded {
    fn root(&self) -> &str {
        self.world.root()
    }

    fn here(&self) -> &str {
        self.world.here()
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        let answer = self.world.read(path);
        self.note(path, &answer, Read::File);
        answer
    }

    fn read_in_pieces(&self, path: &str, each: &mut dyn FnMut(u64, &[u8])) -> Result<(), WorldError> {
        let answer = self.world.read_in_pieces(path, each);
        self.note(path, &answer, Read::File);
        answer
    }

    fn head(&self, path: &str, most: usize) -> Result<Arc<[u8]>, WorldError> {
        let answer = self.world.head(path, most);
        self.note(path, &answer, Read::File);
        answer
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        let answer = self.world.list(path);
        self.note(path, &answer, Read::Folder);
        answer
    }

    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        let answer = self.world.stat(path);
        self.note(path, &answer, Read::Present);
        answer
    }

    fn exists(&self, path: &str) -> bool {
        self.stat(path).is_ok()
    }

    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        let answer = self.world.read_link(path);
        self.note(path, &answer, Read::Present);
        answer
    }

    fn env(&self, name: &str) -> Option<String> {
        self.files.note(Read::Variable(name.to_owned()));
        self.world.env(name)
    }

    fn user(&self) -> String {
        self.world.user()
    }

    fn program(&self, name: &str) -> Option<String> {
        self.files.note(Read::Variable("PATH".to_owned()));
        self.world.program(name)
    }

    fn env_table(&self) -> Vec<(String, String)> {
        self.world.env_table()
    }

    fn env_all(&self) -> Vec<(String, String)> {
        self.files.note(Read::Environment);
        self.world.env_all()
    }

    fn now(&self) -> Moment {
        self.world.now()
    }

    fn seed(&self) -> Seed {
        self.world.seed()
    }

    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        self.world.run(command)
    }

    fn run_within(&self, command: &Command, bounds: Bounds) -> Result<Output, WorldError> {
        self.world.run_within(command, bounds)
    }

    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.world.fetch(remote)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.files.forget(path);
        self.world.write(path, bytes)
    }

    fn write_temporary(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.files.forget(path);
        self.world.write_temporary(path, bytes)
    }

    fn create_folder(&self, path: &str) -> Result<(), WorldError> {
        self.world.create_folder(path)
    }

    fn keeps_writes(&self) -> bool {
        self.world.keeps_writes()
    }
}
