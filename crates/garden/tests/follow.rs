//! A project that is resolved again after a change has the same specs, versions and problems as one that is resolved
//! anew, including values learned from actions that have run.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads its own settings")]

use purlin_garden::follow::{Past, resolve_first};
use purlin_garden::resolve::{Resolution, resolve};
use purlin_model::Request;
use purlin_value::world::World;
use purlin_value::{Map, MemoryWorld, Session, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: shop
environments: [{name: dev, variables: {stage: dev}}]
providers: [{name: exec}]
variables: {host: example.org, image: \"registry.${var.host}/app\"}
outputs: [{name: all, value: \"${actions.run.seed.outputs.log}\"}]
";

const BUILDS: &str = "kind: Build
type: exec
name: base
include: [src/base/**]
spec: {command: [echo, \"${var.image}\"]}
---
kind: Build
type: exec
name: lib
include: [src/lib/**]
dependencies: [build.base]
variables: {level: \"${var.stage}-x\"}
spec: {command: [echo, \"${var.level}\", \"${actions.build.base.version}\"]}
---
kind: Build
type: exec
name: other
include: [src/other/**]
spec: {command: [echo, \"${environment.name}\"]}
";

const RUNS: &str = "kind: Run
type: exec
name: seed
include: []
dependencies: [build.lib]
spec: {command: [echo, \"${actions.build.lib.version}\"]}
---
kind: Run
type: exec
name: after
include: []
spec: {command: [echo, \"${actions.run.seed.outputs.log}\", \"${var.host}\"]}
---
kind: Test
type: exec
name: far
include: []
dependencies: [run.after, build.other]
spec: {command: [echo, \"${actions.run.after.version}\", \"${actions.build.other.version}\"]}
";

const TEMPLATE: &str = "kind: ConfigTemplate
name: job
configs:
  - kind: Run
    type: exec
    name: \"${parent.name}\"
    include: []
    spec: {command: [echo, \"${inputs.what}\", \"${actions.build.other.version}\"]}
---
kind: RenderTemplate
name: made
template: job
inputs: {what: \"${var.image}\"}
";

const CONFIGS: [(&str, &str); 3] = [("a/garden.yml", BUILDS), ("b/garden.yml", RUNS), ("project.garden.yml", PROJECT)];
const SOURCES: [&str; 4] = ["a/src/base/x", "a/src/lib/x", "a/src/other/x", "a/src/nobody"];
const WORDS: [&str; 10] = [
    "${var.host}",
    "${var.image}",
    "${actions.build.base.version}",
    "${actions.build.other.version}",
    "${actions.run.seed.outputs.log}",
    "${environment.name}",
    "${datetime.today}",
    "include: []",
    "echo",
    "x",
];

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
}

/// All results that a runner reads from a resolution.
fn told(resolution: &Resolution<'_>, learned: usize) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let session = resolution.ground.session;
    if !learned.is_multiple_of(3) {
        let outputs = Map::from_iter([("log".into(), Value::str(format!("round {learned}")))]);
        resolution.live.learn("run.seed", Value::map(outputs));
    }
    let mut all = BTreeMap::new();
    for (key, action) in &resolution.graph().actions {
        let spec = resolution.spec(key);
        let version = resolution.live.resolved_version(session, key);
        let needs: Vec<&str> = resolution.needs(key).iter().map(|need| need.key.as_str()).collect();
        all.insert(key.to_string(), format!("{} {:?} {needs:?} {spec:?} {version:?}", action.disabled, action.fields));
    }
    let place = |span: Option<purlin_syntax::Span>| {
        let path = |span: purlin_syntax::Span| session.sources.get(span.file).map(|source| source.path().to_owned());
        span.map(|span| (path(span), span.start, span.end))
    };
    let problems = session.sink.since(0);
    let problems =
        problems.iter().map(|found| format!("{} {:?} {}", found.rule.name, place(found.span), found.message));
    (without_origins(all), problems.collect())
}

/// Origins are numbers of a table, and the tables differ.
fn without_origins(all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let strip = |text: String| {
        let mut parts = text.split("Origin(");
        let first = parts.next().unwrap_or("").to_owned();
        parts.fold(first, |text, part| text + part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
    };
    all.into_iter().map(|(key, text)| (key, strip(text))).collect()
}

fn edited(text: &str, dice: &mut Dice) -> String {
    let (from, to) = (WORDS[dice.roll(WORDS.len())], WORDS[dice.roll(WORDS.len())]);
    match dice.roll(8) {
        0 => text.replacen("kind: Build", "kind: Run", 1),
        1 => format!("{text}---\nkind: Run\ntype: exec\nname: more\nspec: {{command: [a, \"{to}\"]}}\n"),
        _ => text.replacen(from, to, 1 + dice.roll(2)),
    }
}

fn run(seed: u64, rounds: usize) -> usize {
    let world = CONFIGS.iter().fold(MemoryWorld::new(), |world, (file, text)| world.file(file, text));
    let world = SOURCES.iter().fold(world, |world, file| world.file(file, "0"));
    let world: Arc<dyn World> = Arc::new(world.file("t/garden.yml", TEMPLATE));
    let request = Request::default();
    let (mut dice, mut followed) = (Dice(seed), 0);
    let mut kept: Option<(Session, Past)> = None;
    let mut changed = Vec::new();
    for round in 0..rounds {
        let next = kept.take().map(|(session, past)| (session.continued(&changed).twin(), past));
        let mut after = None;
        if let Some((session, past)) = next {
            if let Some(resolution) = past.follow(&session, &request, &changed) {
                followed += 1;
                let anew = Session::new(world.clone());
                let expected = told(&resolve(&anew, &request).unwrap(), round);
                assert_eq!(told(&resolution, round), expected, "after round {round}");
                after = Past::of(resolution, !session.sink.has_errors());
            }
            kept = after.map(|past| (session, past));
        }
        if kept.is_none() {
            let session = Session::new(world.clone());
            let resolution = resolve_first(&session, &request).unwrap();
            told(&resolution, round);
            let past = Past::of(resolution, !session.sink.has_errors());
            kept = past.map(|past| (session, past));
        }
        changed = match dice.roll(3) {
            0 => {
                let file = SOURCES[dice.roll(SOURCES.len())];
                world.write(file, format!("{round}").as_bytes()).unwrap();
                vec![file.to_owned()]
            }
            _ => {
                // The project's own file is edited now and then: after that everything is resolved.
                let (file, original) = CONFIGS[if dice.roll(8) == 0 { 2 } else { dice.roll(2) }];
                let text = if dice.roll(3) == 0 { original.to_owned() } else { edited(original, &mut dice) };
                world.write(file, text.as_bytes()).unwrap();
                vec![file.to_owned()]
            }
        };
    }
    followed
}

#[test]
fn what_follows_is_what_is_resolved_anew() {
    let count = std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    for seed in [1, 2, 3] {
        let followed = run(seed, count);
        println!("{followed} of {count} rounds followed the one before");
        assert!(followed > count / 3, "only {followed} of {count} rounds followed the one before");
    }
}
