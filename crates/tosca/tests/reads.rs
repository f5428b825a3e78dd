//! Counts reads of the world: nested services read the files beside them once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_tosca::compile::{Settings, compile};
use purlin_value::world::{Command, Entry, Fetched, Moment, Output, Remote, Stat, World, WorldError};
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A world that counts its requests.
struct Counting {
    inner: MemoryWorld,
    asked: Mutex<BTreeMap<String, usize>>,
}

impl Counting {
    fn note(&self, what: &str, path: &str) {
        *self.asked.lock().unwrap().entry(format!("{what} {path}")).or_default() += 1;
    }

    fn times(&self, question: &str) -> usize {
        self.asked.lock().unwrap().get(question).copied().unwrap_or(0)
    }
}

impl World for Counting {
    fn root(&self) -> &str {
        self.inner.root()
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        self.note("read", path);
        self.inner.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        self.note("list", path);
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
        self.inner.seed()
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

#[test]
fn services_inside_services_look_at_the_files_beside_them_once() {
    let head = "tosca_definitions_version: tosca_2_0\n";
    let service = |stands_for: &str, nodes: &str| {
        format!("{head}imports: [types.yaml]\nservice_template:\n{stands_for}  node_templates:\n{nodes}")
    };
    let stands_for = |name: &str| format!("  substitution_mappings:\n    node_type: {name}\n");
    let nodes = |name: &str| -> String {
        (0..4).map(|at| format!("    n{at}: {{type: {name}, directives: [substitute]}}\n")).collect()
    };
    let inner = MemoryWorld::new()
        .file("types.yaml", &format!("{head}node_types: {{A: {{}}, B: {{}}, C: {{}}}}\n"))
        .file("service.yaml", &service("", &nodes("A")))
        .file("a.yaml", &service(&stands_for("A"), &nodes("B")))
        .file("b.yaml", &service(&stands_for("B"), "    n: {type: C}\n"))
        .file("of_nothing.yaml", &service(&stands_for("Missing"), "    n: {type: C}\n"))
        .file("unrelated.yaml", "a: 1\n");
    let world = Arc::new(Counting { inner, asked: Mutex::default() });
    let compiled = compile(&Session::new(world.clone()), "service.yaml", &Settings::default());
    assert!(compiled.problems.list().is_empty());
    assert_eq!(compiled.substituted.len(), 4);
    assert!(compiled.substituted.iter().all(|substituted| substituted.service.substituted.len() == 4));
    assert_eq!(world.times("list ."), 1);
    assert_eq!(world.times("read unrelated.yaml"), 1);
    for candidate in ["a.yaml", "b.yaml", "of_nothing.yaml"] {
        // A file read to see whether it may be a candidate is not read again to build it.
        assert_eq!(world.times(&format!("read {candidate}")), 1, "{candidate}");
    }
}

#[test]
fn services_of_one_run_look_for_profiles_once() {
    let head = "tosca_definitions_version: tosca_2_0\n";
    let service =
        format!("{head}imports: [{{profile: org.base}}]\nservice_template: {{node_templates: {{n: {{type: A}}}}}}\n");
    let inner = MemoryWorld::new()
        .file("deep/lib/base.yaml", &format!("{head}profile: org.base\nnode_types: {{A: {{}}}}\n"))
        .file("deep/unrelated.yaml", "a: 1\n")
        .file("one/service.yaml", &service)
        .file("two/service.yaml", &service);
    let world = Arc::new(Counting { inner, asked: Mutex::default() });
    let first = Session::new(world.clone());
    for (session, path) in [(first.sibling(), "one/service.yaml"), (first.sibling(), "two/service.yaml")] {
        assert!(compile(&session, path, &Settings::default()).problems.list().is_empty(), "{path}");
    }
    assert_eq!(world.times("list deep"), 1);
    assert_eq!(world.times("read deep/unrelated.yaml"), 1);
}
