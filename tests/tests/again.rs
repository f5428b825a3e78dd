//! After any edit, a workspace that resolves only the affected parts has the same result as a new one: the same
//! problems, and the same nodes with the same values from the same locations.

use purlin_ide::{Buffers, Change, Desk, Outcome, Picture, Workspace};
use purlin_suite::edits::{Dice, assert_same, everything, rounds, shared_nodes};
use purlin_syntax::Limits;
use purlin_value::MemoryWorld;
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

/// Edited files, with their initial content.
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

fn edited(text: &str, dice: &mut Dice) -> String {
    const NAMES: &[&str] = &["lib", "seed", "echo", "web"];
    match dice.roll(6) {
        0 => dice.shortened(text),
        1 => text.replacen(dice.one(NAMES), dice.one(&["lib", "seed", "other", "web"]), 1),
        _ => dice.edited(text, SNIPPETS),
    }
}

fn compare(warm: &Picture, cold: &Picture, round: usize, texts: &[String]) {
    let context = || format!("after round {round} of\n{}", texts.join("\n=====\n"));
    assert_eq!(warm.problems, cold.problems, "problems {}", context());
    assert_eq!(warm.outcomes.len(), cold.outcomes.len(), "projects {}", context());
    let nodes = |outcome: &Outcome| {
        outcome.resolved.as_ref().map(|resolved| everything(&outcome.session, resolved)).unwrap_or_default()
    };
    for (warm, cold) in warm.outcomes.iter().zip(&cold.outcomes) {
        assert_same(&nodes(warm), &nodes(cold), &context());
    }
}

/// Number of nodes that two pictures share in memory.
fn shared(one: &Picture, other: &Picture) -> usize {
    let pairs = one.outcomes.iter().zip(&other.outcomes);
    let resolved = pairs.filter_map(|(one, other)| Some((one.resolved.as_ref()?, other.resolved.as_ref()?)));
    resolved.map(|(one, other)| shared_nodes(one, other)).sum()
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
            // The project's own file is edited occasionally: after that everything is resolved.
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
    let count = rounds(60);
    for (seed, with_more) in [(1, false), (2, true), (3, false)] {
        let kept = run(seed, count, with_more);
        println!("{kept} nodes kept in {count} rounds");
        assert!(kept > count, "only {kept} nodes were kept in {count} rounds");
    }
}
