//! Whatever is edited, a workspace that resolves again what a change concerns says what a new one says: the same
//! problems, and the same nodes with the same values from the same places.
#![allow(clippy::disallowed_methods, reason = "a test reads its own settings")]

use purlin_ide::{Buffers, Change, Desk, Outcome, Picture, Workspace};
use purlin_syntax::{Limits, Span};
use purlin_value::{MemoryWorld, Session, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: shop
environments:
  - name: dev
    variables: {stage: dev}
  - name: prod
providers:
  - name: container
  - name: exec
variables:
  host: example.org
  stage: none
  image: \"registry.${var.host}/app\"
  parts: {web: {port: 80}, api: {port: 81}}
";

const BUILDS: &str = "kind: Build
type: exec
name: base
spec:
  command: [echo, \"${var.image}\"]
---
kind: Build
type: exec
name: lib
dependencies: [build.base]
variables: {level: \"${var.stage}-x\"}
spec:
  command: [echo, \"${var.level}\", \"${var.parts.web.port + 1}\"]
---
kind: Build
type: container
name: web
dependencies: [build.lib]
spec: {buildArgs: {STAGE: \"${environment.name}\"}}
";

const RUNS: &str = "kind: Run
type: exec
name: seed
dependencies: [build.lib]
spec:
  command: [echo, \"${actions.build.lib.version}\", \"${actions.build.web.outputs.deploymentImageId}\"]
---
kind: Run
type: exec
name: check
disabled: \"${var.stage == 'none'}\"
include: []
spec:
  command: [echo, \"${actions.run.seed.outputs.log}\", \"${actions.run.seed.var.host}\"]
---
kind: Test
type: exec
name: all
variables: {who: \"${this.name}\"}
dependencies: [run.check]
spec:
  command: [echo, \"${actions.run.check.version || 'none'}\", \"${var.who}\"]
";

const TEMPLATE: &str = "kind: ConfigTemplate
name: job
inputsSchemaPath: schema.json
configs:
  - kind: Run
    type: exec
    name: \"${parent.name}-${inputs.name}\"
    spec: {command: [echo, \"${inputs.name}\", \"${actions.build.base.version}\"]}
";

const USE: &str = "kind: RenderTemplate
name: jobs
template: job
inputs: {name: one}
";

const VARFILES: &str = "kind: Run
type: exec
name: filed
varfiles: [vars.yml]
spec: {command: [echo, \"${var.filed}\"]}
---
kind: Run
type: exec
name: after
spec: {command: [echo, \"${actions.run.filed.version}\"]}
";

const CHART_ACTION: &str = "kind: Deploy
type: chart
name: front
spec:
  chart: .
  values: {image: \"${actions.build.web.outputs.deploymentImageId}\", port: \"${var.parts.web.port}\"}
";

const TEMPLATE_OF_CHART: &str = "apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {ports: [{port: {{ .Values.port }}}], image: {{ .Values.image | quote }}}
";

const OUTPUTS: &str = "outputs:
  - {name: front, value: \"${actions.build.web.version}\"}
";

const WORKFLOW: &str = "kind: Workflow
name: all
steps:
  - script: \"echo ${var.host}\"
";

/// Files that are edited, with what they are at first.
const EDITED: &[(&str, &str)] = &[
    ("builds/garden.yml", BUILDS),
    ("runs/garden.yml", RUNS),
    ("filed/garden.yml", VARFILES),
    ("front/garden.yml", CHART_ACTION),
    ("use/garden.yml", USE),
    ("project.garden.yml", PROJECT),
];

fn world(with_more: bool) -> MemoryWorld {
    let project = if with_more { format!("{PROJECT}{OUTPUTS}") } else { PROJECT.to_owned() };
    let mut world = MemoryWorld::new();
    for (file, text) in EDITED {
        world = world.file(file, text);
    }
    world = world.file("project.garden.yml", &project).file("template/garden.yml", TEMPLATE);
    if with_more {
        world = world.file("workflow/garden.yml", WORKFLOW);
    }
    world
        .file("template/schema.json", "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}}")
        .file("filed/vars.yml", "filed: \"x-${var.host}\"\n")
        .file("front/Chart.yaml", "apiVersion: v2\nname: front\nversion: 1.0.0\n")
        .file("front/values.yaml", "port: 1\nimage: none\n")
        .file("front/templates/service.yaml", TEMPLATE_OF_CHART)
        .file("builds/main.sh", "echo\n")
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
}

const SNIPPETS: &[&str] = &[
    "a",
    ":",
    " ",
    "\n",
    "\n  ",
    "- ",
    "${var.",
    "}",
    "\"",
    "[",
    "#",
    "\n---\n",
    "2",
    "disabled: true\n",
    "lib",
    "web",
    "kind: Run\ntype: exec\nname: more\nspec: {command: [a]}\n---\n",
    "include: []\n",
    "dependencies: [run.filed]\n",
    "${actions.run.after.version}",
    "${actions.build.nothing.version}",
    "${var.nothing}",
    "timeout: 1\n",
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn edited(text: &str, dice: &mut Dice) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line = dice.roll(lines.len());
    let (before, after) = (lines[..line].concat(), lines.get(line..).unwrap_or(&[]).concat());
    let snippet = SNIPPETS[dice.roll(SNIPPETS.len())];
    match dice.roll(6) {
        // Remove a line, duplicate it, or insert another before it.
        0 => before + &lines.get(line + 1..).unwrap_or(&[]).concat(),
        1 => before + lines.get(line).unwrap_or(&"") + &after,
        2 => before + snippet + &after,
        3 => {
            let at = boundary(text, dice.roll(text.len() + 1));
            let end = boundary(text, (at + dice.roll(6)).min(text.len()));
            format!("{}{}", &text[..at], &text[end.max(at)..])
        }
        4 => text.replacen(
            ["lib", "seed", "echo", "web"][dice.roll(4)],
            ["lib", "seed", "other", "web"][dice.roll(4)],
            1,
        ),
        _ => {
            let at = boundary(text, dice.roll(text.len() + 1));
            format!("{}{snippet}{}", &text[..at], &text[at..])
        }
    }
}

fn place(session: &Session, span: Option<Span>) -> String {
    let Some(span) = span else { return "-".to_owned() };
    let path = session.sources.get(span.file).map_or_else(|| "?".to_owned(), |source| source.path().to_owned());
    format!("{path}:{}-{}", span.start, span.end)
}

/// A value with the places that all its parts come from.
fn shown(session: &Session, value: &Value, out: &mut String) {
    let origin = place(session, session.origins.span(value.origin, &session.sources));
    if let Some(map) = value.as_map() {
        let _ = write!(out, "{{@{origin} ");
        for (key, item) in map.iter() {
            let _ = write!(out, "{key}: ");
            shown(session, item, out);
        }
        out.push('}');
    } else if let Some(list) = value.as_list() {
        let _ = write!(out, "[@{origin} ");
        list.iter().for_each(|item| shown(session, item, out));
        out.push(']');
    } else {
        let _ = write!(out, "{:?}@{origin} ", value.data);
    }
}

fn nodes(outcome: &Outcome) -> BTreeMap<String, String> {
    let session = &outcome.session;
    let mut all = BTreeMap::new();
    if let Some(resolved) = &outcome.resolved {
        for (at, node) in resolved.nodes.iter().enumerate() {
            let mut text = format!("{at} {} {} {} ", node.kind, node.type_name, place(session, node.source));
            for need in &node.dependencies {
                let flags = (need.is_static, need.is_runtime, need.is_explicit);
                let _ = write!(text, "needs {} {flags:?} {} ", need.node, place(session, need.span));
            }
            shown(session, &node.resolved, &mut text);
            shown(session, &node.outputs, &mut text);
            all.insert(node.id.to_string(), text);
        }
        let mut text = String::new();
        shown(session, &resolved.variables, &mut text);
        shown(session, &resolved.outputs, &mut text);
        let mut inner = resolved.inner.clone();
        inner.sort();
        inner.dedup();
        let _ = write!(text, "{inner:?} {} manifests", resolved.manifests.len());
        all.insert("(project)".to_owned(), text);
    }
    all
}

fn compare(warm: &Picture, cold: &Picture, round: usize, texts: &[String]) {
    let show = || texts.join("\n=====\n");
    assert_eq!(warm.problems, cold.problems, "problems after round {round} of\n{}", show());
    assert_eq!(warm.outcomes.len(), cold.outcomes.len(), "projects after round {round}");
    for (warm, cold) in warm.outcomes.iter().zip(&cold.outcomes) {
        let (warm, cold) = (nodes(warm), nodes(cold));
        for (id, node) in &cold {
            assert_eq!(warm.get(id), Some(node), "`{id}` after round {round} of\n{}", show());
        }
        assert_eq!(warm.len(), cold.len(), "nodes after round {round} of\n{}", show());
    }
}

/// How many nodes are the very same in two pictures.
fn shared(a: &Picture, b: &Picture) -> usize {
    let all = |picture: &Picture| -> Vec<(String, Value)> {
        let resolved = picture.outcomes.iter().filter_map(|outcome| outcome.resolved.as_ref());
        resolved.flat_map(|r| r.nodes.iter().map(|node| (node.id.to_string(), node.resolved.clone()))).collect()
    };
    let before: BTreeMap<String, Value> = all(a).into_iter().collect();
    let is_same = |(id, value): &(String, Value)| {
        let maps = before.get(id).and_then(Value::as_map).zip(value.as_map());
        maps.is_some_and(|(before, now)| std::ptr::eq(before, now))
    };
    all(b).iter().filter(|node| is_same(node)).count()
}

fn run(seed: u64, rounds: usize, with_more: bool) -> usize {
    let buffers = Arc::new(Buffers::default());
    let below = Arc::new(world(with_more));
    let open = || Workspace::new(Arc::new(Desk::new(below.clone(), buffers.clone())), ".", Limits::default());
    let mut workspace = open();
    let mut texts: Vec<String> = EDITED.iter().map(|(_, text)| (*text).to_owned()).collect();
    let mut last = workspace.refresh(&[], &buffers, &|| false).unwrap_or_default();
    let (mut dice, mut kept) = (Dice(seed), 0);
    for round in 0..rounds {
        let mut changes = Vec::new();
        for _ in 0..=dice.roll(8) / 7 {
            // The project's own file is edited now and then: after that everything is resolved.
            let among = if dice.roll(6) == 0 { EDITED.len() } else { 4 };
            let which = dice.roll(among);
            texts[which] = match dice.roll(4) {
                0 => EDITED[which].1.to_owned(),
                _ => edited(&texts[which], &mut dice),
            };
            buffers.set(EDITED[which].0, &texts[which]);
            changes.push(Change::Content(EDITED[which].0.to_owned()));
        }
        let warm = workspace.refresh(&changes, &buffers, &|| false).unwrap_or_default();
        let cold = open().refresh(&[], &buffers, &|| false).unwrap_or_default();
        compare(&warm, &cold, round, &texts);
        kept += shared(&last, &warm);
        last = warm;
    }
    kept
}

#[test]
fn what_is_resolved_again_is_what_is_resolved_anew() {
    let count = std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for (seed, with_more) in [(1, false), (2, true), (3, false)] {
        let kept = run(seed, count, with_more);
        println!("{kept} nodes kept in {count} rounds");
        assert!(kept > count, "only {kept} nodes were kept in {count} rounds");
    }
}
