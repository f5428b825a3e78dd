//! Environments that are resolved together have the same results as each by itself: the same problems, and the same
//! nodes with the same values from the same locations.

use purlin_compiler::search;
use purlin_model::Request;
use purlin_suite::edits::{Dice, assert_same, everything, location, rounds, shared_nodes};
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeSet;
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

const SERVICES: &str = "kind: Deploy
type: tosca
name: service
spec: {template: service.yaml, inputs: {size: \"${var.replicas || 9}\", kind: \"${var.stage}\"}}
---
kind: Deploy
type: tosca
name: again
spec: {template: service.yaml, inputs: {size: 2, kind: \"${var.host}\"}}
---
kind: Deploy
type: tosca
name: many
spec: {template: many.yaml, inputs: {count: \"${var.replicas || 1}\"}}
---
kind: Deploy
type: ensemble
name: gateway
spec: {inputs: {host: \"${var.host}\", stage: \"${var.stage}\"}}
---
kind: Build
type: skaffold
name: images
spec: {profiles: [\"${var.stage == 'prod' ? 'release' : 'plain'}\"]}
---
kind: Run
type: exec
name: reads
spec:
  command:
    - \"${actions.deploy.service.outputs.label}\"
    - \"${actions.deploy.service.outputs.nodes.small.properties.kind}\"
    - \"${actions.deploy.again.outputs.where}\"
    - \"${actions.deploy.gateway.outputs.url}\"
";

const SERVICE: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Disk:
    derived_from: tosca.nodes.Root
    properties:
      size: {type: integer, constraints: [{in_range: [0, 4]}]}
      kind: {type: string, default: small}
  App:
    derived_from: tosca.nodes.Root
    properties: {label: {type: string, default: x}, fixed: {type: string, default: y}}
    requirements: [{disk: {capability: tosca.capabilities.Node, node: Disk, relationship: tosca.relationships.DependsOn}}]
topology_template:
  inputs: {size: {type: integer}, kind: {type: string}}
  node_templates:
    small: {type: Disk, properties: {size: 1}}
    large: {type: Disk, properties: {size: {get_input: size}, kind: prod}}
    app:
      type: App
      properties: {label: {concat: [\"a-\", {get_input: kind}]}, fixed: {concat: [b, {get_property: [small, kind]}]}}
      requirements: [{disk: {node: Disk, node_filter: {properties: [{kind: {equal: small}}]}}}]
    other: {type: App, requirements: [{disk: large}]}
  outputs:
    label: {value: {get_property: [app, label]}}
    where: {value: {get_property: [app, disk, kind]}}
";

const MANY: &str = "tosca_definitions_version: tosca_2_0
capability_types: {Link: {}}
node_types:
  Worker:
    properties: {number: {type: integer, validation: {$less_than: [$value, 3]}}}
    capabilities: {link: Link}
    requirements: [{link: {capability: Link, count_range: [0, 5]}}]
service_template:
  inputs: {count: {type: integer}}
  node_templates:
    worker: {type: Worker, count: {$get_input: count}, properties: {number: 1}}
    first: {type: Worker, properties: {number: {$get_input: count}}, requirements: [{link: {node: worker}}]}
";

const ENSEMBLE: &str = "apiVersion: unfurl/v1.0.0
kind: Ensemble
spec:
  service_template:
    tosca_definitions_version: tosca_simple_unfurl_1_0_0
    node_types:
      Gateway:
        derived_from: tosca.nodes.Root
        properties: {url: {type: string}, retries: {type: integer, default: 3}}
    topology_template:
      inputs: {host: {type: string}, stage: {type: string}}
      node_templates:
        gateway:
          type: Gateway
          properties: {url: \"https://{{ {'get_input': 'stage'} | eval }}.{{ {'get_input': 'host'} | eval }}\"}
      outputs:
        url: {value: {eval: \"::gateway::url\"}}
";

const SKAFFOLD: &str = "apiVersion: skaffold/v4beta11
kind: Config
build: {artifacts: [{image: a, context: a}, {image: b, context: b, requires: [{image: a}]}]}
profiles:
  - {name: plain}
  - {name: release, patches: [{op: add, path: /build/artifacts/0/docker, value: {target: release}}]}
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

/// Edited files, with their initial content.
const EDITED: &[(&str, &str)] = &[
    ("project.garden.yml", PROJECT),
    ("a/garden.yml", ACTIONS),
    ("b/garden.yml", RUNS),
    ("c/garden.yml", USES),
    ("d/garden.yml", DEPLOYS),
    ("template/garden.yml", TEMPLATE),
    ("services/garden.yml", SERVICES),
    ("services/service.yaml", SERVICE),
    ("services/many.yaml", MANY),
    ("services/ensemble.yaml", ENSEMBLE),
    ("front/templates/service.yaml", TEMPLATE_OF_CHART),
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
    "${actions.deploy.service.outputs.label}",
    "${actions.deploy.again.outputs.where}",
    "{get_input: kind}",
    "{get_input: size}",
    "{get_property: [small, kind]}",
    ".Values.port",
    ".Values.image",
];

fn edited(text: &str, dice: &mut Dice) -> String {
    // Most edits keep the project valid.
    match dice.roll(2) {
        0 => dice.edited(text, SNIPPETS),
        _ => {
            let from = dice.one(REFERENCES);
            let to = dice.one(REFERENCES);
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
            .file("services/skaffold.yaml", SKAFFOLD)
            .file("a/main.sh", "echo\n")
            .file("a/dev.txt", "dev\n"),
    )
}

fn problems(session: &Session, found: &[Diagnostic]) -> BTreeSet<String> {
    let shown = |problem: &Diagnostic| {
        let labels: Vec<String> = problem.labels.iter().map(|label| location(session, Some(label.span))).collect();
        format!(
            "{} {} {} {labels:?} {:?}",
            problem.rule.name,
            location(session, problem.span),
            problem.message,
            problem.hints
        )
    };
    found.iter().map(shown).collect()
}

/// Compares both ways, and counts the nodes that the first two environments share.
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
        let expected = alone.map(|alone| everything(&own, &alone)).unwrap_or_default();
        let found = resolved.as_ref().map(|resolved| everything(&session, resolved)).unwrap_or_default();
        assert_same(&found, &expected, &format!("in {environment} of\n{}", show()));
    }
    match together.as_slice() {
        [(Some(first), _), (Some(second), _), ..] => shared_nodes(first, second),
        _ => 0,
    }
}

#[test]
fn environments_together_are_what_they_are_alone() {
    let count = rounds(20);
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
