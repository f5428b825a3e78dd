//! Large projects: every file is read once whatever the number of edges, and depth uses no stack.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_model::{Request, Resolved};
use purlin_skaffold::DIALECT;
use purlin_value::world::{Command, Entry, Fetched, Moment, Output, Remote, Stat, WorldError};
use purlin_value::{MemoryWorld, Session, World};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A world that counts how often each file is read.
struct Counting {
    inner: MemoryWorld,
    reads: Mutex<HashMap<String, usize>>,
}

impl World for Counting {
    fn root(&self) -> &str {
        self.inner.root()
    }
    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        let found = self.inner.read(path);
        if found.is_ok() {
            *self.reads.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        }
        found
    }
    // Detection looks at the first bytes of a file, which does not count as reading it.
    fn head(&self, path: &str, most: usize) -> Result<Arc<[u8]>, WorldError> {
        self.inner.head(path, most)
    }
    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        self.inner.list(path)
    }
    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        self.inner.stat(path)
    }
    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        self.inner.read_link(path)
    }
    fn env(&self, name: &str) -> Option<String> {
        self.inner.env(name)
    }
    fn env_all(&self) -> Vec<(String, String)> {
        self.inner.env_all()
    }
    fn now(&self) -> Moment {
        self.inner.now()
    }
    fn seed(&self) -> purlin_value::Seed {
        purlin_value::Seed::default()
    }
    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        self.inner.run(command)
    }
    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.inner.fetch(remote)
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.inner.write(path, bytes)
    }
}

fn module(name: &str, requires: &[String]) -> String {
    let mut text = format!("apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {{name: {name}}}\n");
    if !requires.is_empty() {
        text.push_str("requires:\n");
    }
    for other in requires {
        text.push_str(&format!("- path: ../{other}\n  configs: [{other}]\n"));
    }
    text
}

fn resolve(world: MemoryWorld, start: &str) -> (Resolved, HashMap<String, usize>, usize) {
    let world = Arc::new(Counting { inner: world, reads: Mutex::default() });
    let session = Session::new(world.clone());
    let resolved = (DIALECT.resolve)(&session, &Request::of(start)).expect("the project resolves");
    let errors = session.sink.take().len();
    let reads = world.reads.lock().unwrap().clone();
    (resolved, reads, errors)
}

#[test]
fn each_file_is_read_once() {
    let (width, depth) = (8, 8);
    let mut world = MemoryWorld::new();
    for layer in 0..depth {
        let below: Vec<String> = (0..width).map(|at| format!("m{}x{at}", layer + 1)).collect();
        for at in 0..width {
            let name = format!("m{layer}x{at}");
            let requires = if layer + 1 < depth { below.as_slice() } else { &[] };
            world = world.file(&format!("{name}/skaffold.yaml"), &module(&name, requires));
        }
    }
    let (resolved, reads, errors) = resolve(world, "m0x0");
    assert_eq!(errors, 0);
    assert_eq!(resolved.nodes.len(), 1 + (depth - 1) * width);
    assert_eq!(reads.len(), resolved.nodes.len());
    assert!(reads.values().all(|count| *count == 1), "{reads:?}");
}

#[test]
fn a_long_chain_needs_no_stack() {
    let length = 10_000;
    let work = move || {
        let mut world = MemoryWorld::new();
        for at in 0..length {
            let requires: Vec<String> = (at + 1 < length).then(|| format!("m{}", at + 1)).into_iter().collect();
            world = world.file(&format!("m{at}/skaffold.yaml"), &module(&format!("m{at}"), &requires));
        }
        let (resolved, _, errors) = resolve(world, "m0");
        (resolved.nodes.len(), errors)
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap();
    assert_eq!(thread.join().unwrap(), (length, 0));
}

#[test]
fn a_ring_of_many_is_reported_once() {
    let length = 500;
    let mut world = MemoryWorld::new();
    for at in 0..length {
        let requires = [format!("m{}", (at + 1) % length)];
        world = world.file(&format!("m{at}/skaffold.yaml"), &module(&format!("m{at}"), &requires));
    }
    let (resolved, _, errors) = resolve(world, "m0");
    assert_eq!((resolved.nodes.len(), errors), (length, 1));
}
