//! Garden's resources for clusters, projects within actions, and commands: secrets in the places of names, paths,
//! ports, hosts and contexts. Most cases cause a message; none may show the secret.

use crate::garden::WRAPPERS;
use crate::project::Project;
use crate::random::Random;

const LEAVES: &[&str] = &["secrets.TOKEN", "secrets.OTHER", "var.header"];

/// Commands that run actions, ask an unknown cluster, or look up earlier results.
const RUNS: &[&str] = &[
    "status",
    "status -o json",
    "deploy",
    "deploy -o json",
    "test",
    "cleanup --yes",
    "cleanup --yes --force",
    "logs deploy.k",
    "diff --cluster",
    "diff --cluster -o json",
    "garden get status -o json",
    "garden get config -o json",
    "garden workflow w",
    "garden workflow w -o json",
    "garden deploy -o json",
    "garden logs",
    "garden cleanup deploy",
];

fn base(random: &mut Random) -> Project {
    let mut project = Project::default();
    let (token, other) = (random.canary(), random.canary());
    project.file("secret.env", format!("TOKEN={token}\nOTHER={other}\n"));
    project.canaries = vec![token, other];
    project
}

fn expression(random: &mut Random) -> String {
    let leaf = *random.pick(LEAVES);
    match random.below(2) {
        0 => format!("${{{leaf}}}"),
        _ => format!("${{{}}}", random.wrapped(leaf, WRAPPERS)),
    }
}

fn project_file(providers: &str) -> String {
    format!(
        "apiVersion: garden.io/v2
kind: Project
name: p
environments: [{{name: dev}}]
importVariables: [{{from: file, path: secret.env, format: dotenv}}]
variables: {{header: \"x-${{secrets.TOKEN}}\"}}
providers: {providers}
"
    )
}

/// Replaces each `@` in a text by a secret, or by an expression of one.
fn filled(random: &mut Random, text: &str) -> String {
    let mut parts = text.split('@');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += &expression(random);
        out += part;
    }
    out
}

/// A valid project whose registry, host names and objects are secrets.
pub fn sound(random: &mut Random) -> Project {
    let mut project = base(random);
    project.file(
        "project.garden.yml",
        project_file(
            "[{name: kubernetes, context: \"${secrets.TOKEN}\", namespace: \"${secrets.OTHER}\", \
             defaultHostname: \"${secrets.TOKEN}.example\", imagePullSecrets: [{name: \"${secrets.OTHER}\"}], \
             deploymentRegistry: {hostname: \"${secrets.TOKEN}\", namespace: \"${secrets.OTHER}\"}}]",
        ),
    );
    let text = filled(
        random,
        "kind: Build
type: container
name: img
---
kind: Deploy
type: container
name: k
build: img
spec:
  image: \"${actions.build.img.outputs.deployment-image-id}\"
  ports: [{name: http, containerPort: 80}]
  ingresses: [{path: \"/@\", port: http}]
  env: {A: \"@\"}
  annotations: {a: \"@\"}
  volumes: [{name: v, containerPath: \"/@\", hostPath: \"./@\"}]
---
kind: Deploy
type: kubernetes
name: o
spec:
  namespace: \"${lower(kebabCase(secrets.TOKEN))}\"
  manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: \"@\"}, data: {k: \"@\"}}]
  manifestTemplates: [some.yaml]
  patchResources: [{kind: ConfigMap, name: some, patch: {data: {k: \"@\"}}}]
---
kind: Run
type: container
name: r
spec: {image: \"@\", command: [\"@\"], env: {A: \"${actions.build.img.outputs.deployment-image-id}\"}}
---
kind: Run
type: exec
name: e
variables:
  a: \"${actions.build.img.outputs.deploymentImageName}\"
  b: \"${actions.build.img.outputs.deploymentImageId}\"
  c: \"${actions.deploy.k.outputs.deployedImageId}\"
  d: \"${providers.kubernetes.config.deploymentRegistry.hostname}\"
spec: {command: [echo]}
---
kind: Module
type: container
name: m
include: []
image: \"${secrets.TOKEN}/x\"
---
kind: Module
type: exec
name: n
include: []
local: true
variables: {image: \"${modules.m.outputs.local-image-id}\"}
---
kind: Workflow
name: w
steps:
  - {name: one, command: [run, \"@\"], continueOnError: true}
  - {name: two, command: [\"@\", x], continueOnError: true}
  - {name: three, command: [deploy, --env, \"@\"], continueOnError: true}
  - {name: four, command: [get, config, --var, \"@\"], continueOnError: true}
  - {name: five, script: \"echo @; no-such-command-@\", continueOnError: true}
  - {name: six, script: \"exit @\"}
",
    );
    project.file("a.garden.yml", text);
    project.file(
        "some.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: some}\ndata: {t: '${secrets.TOKEN}', u: ${secrets.OTHER}}\n",
    );
    project.file("Dockerfile", "FROM scratch\n");
    for field in ["outputs.deploymentImageName", "outputs.deployment-image-id"] {
        project.fields.push(("build.img".into(), field.into()));
    }
    project.fields.push(("run.e".into(), "variables.b".into()));
    project.values = 14;
    for line in RUNS {
        project.originals.push(line.split(' ').map(str::to_owned).collect());
    }
    project
}

/// Secrets in invalid places.
const BROKEN: &[&str] = &[
    "type: chart\nspec: {chart: \"@\"}",
    "type: chart\nspec: {chart: chart, valueFiles: [\"@.yaml\"]}",
    "type: chart\nspec: {chart: chart, release: \"@\", namespace: \"@\", values: {a: \"@\"}}",
    "type: tosca\nspec: {template: \"@.yaml\"}",
    "type: tosca\nspec: {template: s.yaml, inputs: {n: \"@\", unknown: \"@\"}}",
    "type: ensemble\nspec: {ensemble: \"@.yaml\"}",
    "type: ensemble\nspec: {ensemble: e.yaml, environment: \"@\"}",
    "type: skaffold\nspec: {config: \"@\"}",
    "type: skaffold\nspec: {config: skaffold.yaml, profiles: [\"@\"], modules: [\"@\"]}",
    "type: helm\nspec: {chart: {path: \"./@\"}}",
    "type: helm\nspec: {chart: {name: \"@\", repo: \"https://example.com/@\", version: \"@\"}}",
    "type: helm\nspec: {chart: {path: chart}, releaseName: \"@\", valueFiles: [\"@.yaml\"]}",
    "type: kubernetes\nspec: {kustomize: {path: \"./@\"}}",
    "type: kubernetes\nspec: {kustomize: {path: k, extraArgs: [\"--@\"]}}",
    "type: kubernetes\nspec: {manifestFiles: [\"*@*.yaml\"]}",
    "type: kubernetes\nspec: {manifestTemplates: [\"@.yaml\"]}",
    "type: kubernetes\nspec: {files: [\"@.yaml\"]}",
    "type: kubernetes\nspec: {manifestTemplates: [bad.yaml]}",
    "type: kubernetes\nspec: {manifests: [], patchResources: [{kind: \"@\", name: \"@\", patch: {}}]}",
    "type: kubernetes\nspec: {manifests: [{apiVersion: v1, kind: \"@\", metadata: {name: a}}], patchResources: [{kind: \"@\", name: a, strategy: json, patch: [{op: \"@\", path: \"/@\"}]}]}",
    "type: container\nspec: {image: \"@\", healthCheck: {httpGet: {path: /, port: \"@\"}}}",
    "type: container\nspec: {image: x, healthCheck: {tcpPort: \"@\"}}",
    "type: container\nspec: {image: x, ports: [{name: \"@\", containerPort: 80}], ingresses: [{path: /, port: \"@\"}]}",
    "type: container\nspec: {image: x, ports: [{name: a, containerPort: 80}], ingresses: [{path: /, port: a, hostname: \"@\"}]}",
    "type: container\nspec: {image: x, ports: [{name: a, containerPort: \"@\"}], replicas: \"@\"}",
    "type: container\nbuild: \"@\"",
    "type: exec\nspec: {deployCommand: [\"@\"], statusCommand: [\"@\"], cleanupCommand: [\"@\"]}",
    "type: terraform\nspec: {root: \"./@\", workspace: \"@\"}",
];

const BROKEN_RUNS: &[&str] = &[
    "type: kubernetes-pod\nspec: {manifestFiles: [some.yaml], resource: {kind: \"@\", name: \"@\"}}",
    "type: kubernetes-pod\nspec: {manifestFiles: [some.yaml], resource: {kind: ConfigMap, name: \"@\"}}",
    "type: kubernetes-pod\nspec: {podSpec: {containers: [{name: a, image: x}]}, resource: {kind: Pod, containerName: \"@\"}}",
    "type: helm-pod\nspec: {chart: {path: \"@\"}, resource: {kind: Deployment}}",
    "type: kubernetes-exec\nspec: {resource: {kind: Deployment, name: \"@\"}, command: [\"@\"]}",
    "type: exec\nspec: {command: [\"@\"]}\ntimeout: \"@\"",
];

pub fn broken(random: &mut Random) -> Project {
    let mut project = base(random);
    project.file(
        "project.garden.yml",
        project_file(
            "[{name: kubernetes, context: \"${secrets.TOKEN}\", kubeconfig: \"./${secrets.OTHER}\", forceSsl: true, \
             tlsCertificates: [{name: \"${secrets.TOKEN}\", secretRef: {name: a, namespace: b}}]}, {name: terraform}]",
        ),
    );
    let mut text =
        filled(random, "kind: Workflow\nname: w\nsteps: [{script: echo}]\nfiles: [{path: \"../@\", data: x}]\n---\n");
    for (kind, all) in [("Deploy", BROKEN), ("Run", BROKEN_RUNS)] {
        for (at, one) in all.iter().enumerate() {
            text += &format!("kind: {kind}\nname: a{at}\n{}\n---\n", filled(random, one));
        }
    }
    project.file("a.garden.yml", text);
    project.file("bad.yaml", "apiVersion: v1\nkind: ConfigMap\n  ${secrets.TOKEN}: [\n");
    project.file("some.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: some}\n");
    project.file("k/kustomization.yaml", "resources: [../some.yaml]\n");
    project.file("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    project.file(
        "chart/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {a: {{ .Values.a.b.c }}}\n",
    );
    project.file(
        "s.yaml",
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {inputs: {n: {type: integer}}}\n",
    );
    project.file(
        "e.yaml",
        "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec: {service_template: {tosca_definitions_version: tosca_simple_unfurl_1_0_0}}\n",
    );
    project.file("skaffold.yaml", "apiVersion: skaffold/v4beta14\nkind: Config\n");
    project.values = BROKEN.len() + BROKEN_RUNS.len();
    project.broken = true;
    for line in RUNS {
        project.originals.push(line.split(' ').map(str::to_owned).collect());
    }
    project
}
