//! Environments that are resolved together come to what each comes to by itself: the same problems, and the same nodes
//! with the same values from the same places.
#![allow(clippy::disallowed_methods, reason = "a test reads its own settings")]

use purlin_compiler::{inputs, origin_text, search};
use purlin_model::{Request, Resolved};
use purlin_syntax::{Diagnostic, Span};
use purlin_value::{MemoryWorld, Session, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

const ENVIRONMENTS: [&str; 4] = ["dev", "stage", "prod", "bare"];

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: shop
environments:
  - name: dev
    defaultNamespace: dev-space
    variables: {stage: dev, replicas: 1, deep: {only: dev}}
  - name: stage
    variables: {stage: stage, replicas: 2}
    varfile: stage.yml
  - name: prod
    production: true
    variables: {stage: prod, replicas: 3, deep: {only: prod, more: 1}}
  - name: bare
providers:
  - name: container
  - name: exec
  - name: local-kubernetes
variables:
  host: example.org
  stage: none
  own: \"${var.host}-own\"
  image: \"registry.${var.host}/app\"
  deep: {base: {port: 80}, list: [1, 2]}
";

const ACTIONS: &str = "kind: Build
type: exec
name: base
spec:
  command: [echo, \"${var.image}\"]
---
kind: Build
type: exec
name: lib
dependencies: [build.base]
variables: {level: \"${var.stage}-x\", fixed: \"${var.host}\"}
spec:
  command: [echo, \"${var.level}\", \"${var.fixed}\", \"${var.deep.base.port + 1}\"]
---
kind: Build
type: container
name: web
dependencies: [build.lib]
spec: {buildArgs: {STAGE: \"${environment.name}\", HOST: \"${var.host}\"}}
---
kind: Build
type: container
name: plain
spec: {buildArgs: {HOST: \"${var.host}\"}}
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
  command: [echo, \"${actions.run.seed.outputs.log}\", \"${actions.run.seed.var.host}\", \"${this.var.own}\"]
---
kind: Run
type: exec
name: merged
spec:
  $merge: \"${var.deep.base}\"
  command: {$if: \"${var.deep.more || false}\", $then: [\"${var.stage}\"], $else: [\"${var.host}\"]}
  env: {$merge: {A: \"${var.stage}\"}, B: \"${var.own}\"}
---
kind: Run
type: exec
name: chosen
spec:
  command: [echo, \"${var.stage == 'dev' ? actions.build.base.version : actions.build.plain.version}\"]
---
kind: Test
type: exec
name: all
environments: [dev, prod]
variables: {who: \"${this.name}\"}
dependencies: [run.check, build.plain]
spec:
  command: [echo, \"${actions.run.check.version || 'none'}\", \"${var.who}\"]
---
kind: Test
type: exec
name: steady
dependencies: [build.plain]
spec:
  command: [echo, \"${actions.build.plain.version}\", \"${actions.build.base.outputs.log}\"]
  env: {$forEach: \"${var.deep.list}\", $return: \"${item.value}\"}
";

const TEMPLATE: &str = "kind: ConfigTemplate
name: job
inputsSchemaPath: schema.json
configs:
  - kind: Run
    type: exec
    name: \"${parent.name}-${inputs.name}\"
    spec: {command: [echo, \"${inputs.name}\", \"${inputs.what}\", \"${actions.build.base.version}\"]}
  - $forEach: \"${inputs.more}\"
    $return:
      kind: Run
      type: exec
      name: \"${parent.name}-${item.value}\"
      spec: {command: [echo, \"${item.key}\", \"${var.own}\"]}
";

const USES: &str = "kind: RenderTemplate
name: same
template: job
inputs: {name: one, what: \"${var.host}\", more: [x, y]}
---
kind: RenderTemplate
name: differs
template: job
disabled: \"${var.stage == 'none'}\"
inputs: {name: \"${var.stage}\", what: \"${var.replicas}\", more: \"${var.stage == 'prod' ? ['a'] : ['a', 'b']}\"}
---
kind: RenderTemplate
name: grid
template: job
matrix: {name: [p, q]}
inputs: {what: \"${actions.run.seed.version}\", more: []}
";

const DEPLOYS: &str = "kind: Deploy
type: container
name: web
build: web
spec: {ports: [{name: http, containerPort: 80}], replicas: \"${var.replicas || 1}\"}
---
kind: Deploy
type: kubernetes
name: objects
spec:
  manifests:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: objects}, data: {stage: \"${var.host}\"}}
---
kind: Deploy
type: chart
name: front
source: {path: ../front}
spec:
  chart: .
  values: {image: \"${actions.build.plain.outputs.deploymentImageId}\", port: \"${var.deep.base.port}\"}
---
kind: Deploy
type: chart
name: differs
source: {path: ../front}
spec:
  chart: .
  values: {image: \"${var.image}\", port: \"${var.replicas || 0}\"}
";

const TEMPLATE_OF_CHART: &str = "apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {ports: [{port: {{ .Values.port }}}], image: {{ .Values.image | quote }}}
";

const MODULES: &str = "kind: Module
type: exec
name: old
build: {command: [echo, \"${var.stage}\", \"${var.host}\"]}
tasks:
  - {name: migrate, command: [echo, \"${modules.old.version}\"]}
";

const MORE: &str = "kind: Run
type: exec
name: more
spec: {command: [echo, \"${modules.old.version}\", \"${actions.build.old.version}\"]}
---
kind: Workflow
name: all
steps:
  - script: \"echo ${var.host} ${environment.name}\"
";

const OUTPUTS: &str = "outputs:
  - {name: front, value: \"${actions.build.web.version}\"}
  - {name: steady, value: \"${actions.build.plain.version}\"}
";

/// Files that are edited, with what they are at first.
const EDITED: &[(&str, &str)] = &[
    ("project.garden.yml", PROJECT),
    ("a/garden.yml", ACTIONS),
    ("b/garden.yml", RUNS),
    ("c/garden.yml", USES),
    ("d/garden.yml", DEPLOYS),
    ("template/garden.yml", TEMPLATE),
    ("stage.yml", "filed: \"x-${var.host}\"\nreplicas: 5\n"),
];

const SNIPPETS: &[&str] = &[
    "a",
    ":",
    " ",
    "\n",
    "\n  ",
    "- ",
    "}",
    "\n---\n",
    "2",
    "disabled: \"${environment.name == 'dev'}\"\n",
    "disabled: true\n",
    "environments: [prod]\n",
    "kind: Run\ntype: exec\nname: seed\nspec: {command: [a]}\n---\n",
    "include: [\"${var.stage}.txt\"]\n",
    "include: [main.sh]\n",
    "dependencies: [run.seed]\n",
    "${environment.name}",
    "${environment.namespace}",
    "${var.stage}",
    "${var.filed || 'none'}",
    "${var.host}",
    "${var.nothing}",
    "${var[var.stage] || var.own}",
    "${jsonEncode(var)}",
    "${providers.local-kubernetes.config.name}",
    "${actions.run.seed.version}",
    "${actions.build.nothing.version}",
    "timeout: 1\n",
    "timeout: \"${var.replicas}\"\n",
    "    context: \"${var.stage}\"\n",
    "    environments: [dev]\n",
    "excludeValuesFromActionVersions: [\"${var.stage}\"]\n",
    "variables: {stage: \"${var.stage}-own\"}\n",
];

const REFERENCES: &[&str] = &[
    "${var.host}",
    "${var.stage}",
    "${environment.name}",
    "${actions.build.base.version}",
    "${actions.build.plain.version}",
    "${actions.build.lib.version}",
    "${var.own}",
    "${var.deep.base.port}",
    "${var.deep.only || 'x'}",
];

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of.get(self.roll(of.len())).copied().unwrap_or("")
    }
}

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
    match dice.roll(8) {
        0 => before + &lines.get(line + 1..).unwrap_or(&[]).concat(),
        1 => before + lines.get(line).unwrap_or(&"") + &after,
        2 => before + dice.one(SNIPPETS) + &after,
        3 => {
            let at = boundary(text, dice.roll(text.len() + 1));
            format!("{}{}{}", &text[..at], dice.one(SNIPPETS), &text[at..])
        }
        // Most edits leave the project sound.
        _ => {
            let (from, to) = (dice.one(REFERENCES), dice.one(REFERENCES));
            text.replacen(from, to, 1 + dice.roll(3))
        }
    }
}

fn world(texts: &[String], with_modules: bool) -> Arc<MemoryWorld> {
    let mut world = MemoryWorld::new();
    for ((file, _), text) in EDITED.iter().zip(texts) {
        world = world.file(file, text);
    }
    if with_modules {
        world = world.file("old/garden.yml", MODULES).file("more/garden.yml", MORE);
    }
    let schema = "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}}";
    Arc::new(
        world
            .file("template/schema.json", schema)
            .file("garden.prod.env", "FROM_FILE=prod\n")
            .file("front/Chart.yaml", "apiVersion: v2\nname: front\nversion: 1.0.0\n")
            .file("front/values.yaml", "port: 1\nimage: none\n")
            .file("front/templates/service.yaml", TEMPLATE_OF_CHART)
            .file("a/main.sh", "echo\n")
            .file("a/dev.txt", "dev\n"),
    )
}

fn place(session: &Session, span: Option<Span>) -> String {
    let Some(span) = span else { return "-".to_owned() };
    let path = session.sources.get(span.file).map_or_else(|| "?".to_owned(), |source| source.path().to_owned());
    format!("{path}:{}-{}", span.start, span.end)
}

/// A value with the places that all its parts come from, and everything they depend on.
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
        let inputs: BTreeSet<String> = inputs(session, value.origin).iter().map(origin_text).collect();
        let _ = write!(out, "{:?}@{origin} {inputs:?} ", value.data);
    }
}

fn nodes(session: &Session, resolved: Option<&Resolved>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let Some(resolved) = resolved else { return all };
    for (at, node) in resolved.nodes.iter().enumerate() {
        let mut text =
            format!("{at} {} {} {} {} ", node.kind, node.type_name, node.disabled, place(session, node.source));
        for need in &node.dependencies {
            let flags = (need.is_static, need.is_runtime, need.is_explicit);
            let _ = write!(text, "needs {} {flags:?} {} ", need.node, place(session, need.span));
        }
        shown(session, &node.resolved, &mut text);
        shown(session, &node.outputs, &mut text);
        all.insert(node.id.to_string(), text);
    }
    for manifest in &resolved.manifests {
        let mut text = String::new();
        shown(session, &manifest.value, &mut text);
        all.insert(format!("manifest {}", manifest.node), text);
    }
    let mut text = format!("{} ", resolved.environment);
    shown(session, &resolved.variables, &mut text);
    shown(session, &resolved.outputs, &mut text);
    let inner: BTreeSet<&String> = resolved.inner.iter().collect();
    let declared: Vec<(&str, bool)> = resolved.declared.iter().map(|d| (d.name.as_str(), d.is_used)).collect();
    let _ = write!(text, "{inner:?} {declared:?}");
    all.insert("(project)".to_owned(), text);
    all
}

fn problems(session: &Session, found: &[Diagnostic]) -> BTreeSet<String> {
    let shown = |problem: &Diagnostic| {
        let labels: Vec<String> = problem.labels.iter().map(|label| place(session, Some(label.span))).collect();
        format!(
            "{} {} {} {labels:?} {:?}",
            problem.rule.name,
            place(session, problem.span),
            problem.message,
            problem.hints
        )
    };
    found.iter().map(shown).collect()
}

/// Compares both ways; says how many nodes are the very same in the first two environments.
fn compare(texts: &[String], with_modules: bool) -> usize {
    let show = || texts.join("\n=====\n");
    let requests: Vec<Request> = ENVIRONMENTS
        .iter()
        .map(|name| Request { environment: Some((*name).to_owned()), manifests: true, ..Request::default() })
        .collect();
    let session = Session::new(world(texts, with_modules));
    let found = search(&session, &Request::default(), &[".".to_owned()]);
    let Some(claim) = found.claims.into_iter().next() else { return 0 };
    let all: Vec<&Request> = requests.iter().collect();
    let together = claim.resolve_all(&session, &all);
    for (request, (resolved, found)) in requests.iter().zip(&together) {
        let own = Session::new(world(texts, with_modules));
        let alone = claim.resolve(&own, request);
        let environment = request.environment.as_deref().unwrap_or("");
        let expected = problems(&own, &own.sink.take());
        assert_eq!(problems(&session, found), expected, "problems in {environment} of\n{}", show());
        let (expected, resolved) = (nodes(&own, alone.as_ref()), nodes(&session, resolved.as_ref()));
        for (id, node) in &expected {
            assert_eq!(resolved.get(id), Some(node), "`{id}` in {environment} of\n{}", show());
        }
        assert_eq!(resolved.len(), expected.len(), "nodes in {environment} of\n{}", show());
    }
    let [(Some(first), _), (Some(second), _), ..] = together.as_slice() else { return 0 };
    let is_same = |node: &&purlin_model::Node| {
        let other = first.nodes.iter().find(|other| other.id == node.id).and_then(|other| other.resolved.as_map());
        other.zip(node.resolved.as_map()).is_some_and(|(one, other)| std::ptr::eq(one, other))
    };
    second.nodes.iter().filter(is_same).count()
}

#[test]
fn environments_together_are_what_they_are_alone() {
    let count = std::env::var("PURLIN_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    for (seed, with_modules) in [(1, false), (2, true), (3, false)] {
        let mut dice = Dice(seed);
        let mut original: Vec<String> = EDITED.iter().map(|(_, text)| (*text).to_owned()).collect();
        if seed == 3 {
            original[0].push_str(OUTPUTS);
        }
        let mut shared = compare(&original, with_modules);
        assert!(shared > 5, "only {shared} nodes are shared");
        for _ in 0..count {
            let mut texts = original.clone();
            for _ in 0..=dice.roll(4) {
                let which = dice.roll(texts.len());
                texts[which] = edited(&texts[which], &mut dice);
            }
            shared += compare(&texts, with_modules);
        }
        println!("{shared} nodes shared in {count} rounds");
    }
}
