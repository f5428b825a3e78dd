//! Input that cannot be read, or that would grow without end: a clear problem with a place, and everything else of the
//! project is looked at all the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_garden::resolve::resolve;
use purlin_model::Request;
use purlin_syntax::Diagnostic;
use purlin_value::world::{Command, Entry, Fetched, Moment, Output, Remote, Stat};
use purlin_value::{MemoryWorld, Session, World, WorldError};
use std::sync::Arc;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{name: dev}]
";

/// A world in which one file may not be read.
struct Locked {
    world: MemoryWorld,
    file: &'static str,
}

impl World for Locked {
    fn root(&self) -> &str {
        self.world.root()
    }
    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        if path == self.file { Err(WorldError::Failed("permission denied".into())) } else { self.world.read(path) }
    }
    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        self.world.list(path)
    }
    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        self.world.stat(path)
    }
    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        self.world.read_link(path)
    }
    fn env(&self, name: &str) -> Option<String> {
        self.world.env(name)
    }
    fn env_all(&self) -> Vec<(String, String)> {
        self.world.env_all()
    }
    fn now(&self) -> Moment {
        self.world.now()
    }
    fn seed(&self) -> purlin_value::Seed {
        self.world.seed()
    }
    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        self.world.run(command)
    }
    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.world.fetch(remote)
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.world.write(path, bytes)
    }
}

/// All problems of a project: rule, place and message.
fn problems(world: impl World + 'static) -> Vec<String> {
    let session = Session::new(Arc::new(world));
    let request = Request::of(".");
    if let Some(resolution) = resolve(&session, &request) {
        purlin_garden::resolved_project(&resolution);
    }
    let shown = |problem: Diagnostic| {
        let place = problem.span.and_then(|span| {
            let source = session.sources.get(span.file)?;
            let start = source.position(span.start);
            Some(format!("{}:{}:{}", source.path(), start.line, start.column))
        });
        format!("{} {} {}", problem.rule.name, place.unwrap_or_default(), problem.message)
    };
    session.sink.take().into_iter().map(shown).collect()
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_the_others_are_looked_at() {
    let action = "kind: Run\ntype: exec\nname: a\nspec: {command: [echo, \"${var.x}\"]}\n";
    let world = MemoryWorld::new()
        .file("project.garden.yml", PROJECT)
        .file("a/garden.yml", action)
        .file("b/garden.yml", action);
    let found = problems(Locked { world, file: "a/garden.yml" });
    assert_eq!(
        found,
        [
            "unreadable  `a/garden.yml`: permission denied",
            "garden-unknown-key b/garden.yml:4:31 could not find key `x` under `var`",
        ]
    );
}

#[test]
fn a_varfile_that_may_not_be_read_is_shown_where_it_is_asked_for() {
    let world = MemoryWorld::new()
        .file("project.garden.yml", &format!("{PROJECT}varfile: vars.yml\n"))
        .file("vars.yml", "a: 1\n");
    let found = problems(Locked { world, file: "vars.yml" });
    assert_eq!(found, ["unreadable project.garden.yml:5:10 `vars.yml`: permission denied"]);
}

#[test]
fn a_string_that_doubles_itself_hits_a_limit() {
    let mut variables = String::from("  v0: \"0123456789abcdef\"\n");
    for at in 1..30 {
        variables.push_str(&format!("  v{at}: \"${{var.v{}}}${{var.v{}}}\"\n", at - 1, at - 1));
    }
    let world = MemoryWorld::new().file("project.garden.yml", &format!("{PROJECT}variables:\n{variables}"));
    let found = problems(world);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("limit-string-size project.garden.yml:27:"), "{found:?}");
}

#[test]
fn a_value_of_twenty_megabytes_is_refused_with_its_file() {
    let text = format!("{PROJECT}variables: {{big: \"{}\"}}\n", "x".repeat(20 << 20));
    let world = MemoryWorld::new().file("project.garden.yml", &text).file("a/garden.yml", "kind: Nope\nname: a\n");
    let found = problems(world);
    assert!(found.iter().any(|line| line.contains("`project.garden.yml`") && line.starts_with("limit-")), "{found:?}");
}
