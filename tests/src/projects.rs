//! Small projects of all dialects as texts, for tests that change them at random.

#![allow(clippy::disallowed_methods, reason = "reads the examples of the repository")]

use std::collections::BTreeMap;
use std::path::Path;

/// A project: its files by path.
pub type Files = BTreeMap<String, String>;

const GARDEN: &[(&str, &str)] = &[
    (
        "project.garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments:\n  - name: local\n  - name: production\n    \
         variables: {replicas: 3}\nproviders:\n  - name: exec\n  - name: container\nvariables:\n  hostname: example.org\n  \
         replicas: 1\n",
    ),
    (
        "actions.garden.yml",
        "kind: Build\ntype: container\nname: backend\ninclude: []\nspec:\n  buildArgs: {HOST: \"${var.hostname}\"}\n---\n\
         kind: Run\ntype: exec\nname: migrate\ndependencies: [build.backend]\ninclude: []\nspec:\n  command: [echo, \
         \"${var.replicas}\", \"${actions.build.backend.version}\", \"${environment.name}\"]\n---\nkind: \
         Test\ntype: exec\nname: smoke\ndependencies: [run.migrate]\ninclude: []\nspec:\n  command: [echo, \
         \"${upper(var.hostname)}\", \"${project.name}\"]\n",
    ),
];

const SKAFFOLD: &[(&str, &str)] = &[
    (
        "skaffold.yaml",
        "apiVersion: skaffold/v4beta14\nkind: Config\nmetadata: {name: shop}\nbuild:\n  artifacts:\n    - image: \
         backend\n      context: backend\n      requires: [{image: library}]\n    - image: library\n      context: \
         library\nmanifests:\n  rawYaml: [manifests/backend.yaml]\nprofiles:\n  - name: production\n    build: \
         {tagPolicy: {gitCommit: {}}}\n",
    ),
    ("backend/Dockerfile", "FROM scratch\n"),
    ("library/Dockerfile", "FROM scratch\n"),
    (
        "manifests/backend.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: backend}\nspec:\n  selector: {matchLabels: {app: \
         backend}}\n  template:\n    metadata: {labels: {app: backend}}\n    spec: {containers: [{name: backend, image: \
         backend}]}\n",
    ),
];

const TOSCA: &[(&str, &str)] = &[(
    "service.yaml",
    "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Server:\n    derived_from: \
     tosca.nodes.Root\n    properties:\n      server_port: {type: integer, default: 80}\n      hostname: {type: \
     string}\n    capabilities:\n      endpoint: {type: tosca.capabilities.Endpoint}\n  Client:\n    derived_from: \
     tosca.nodes.Root\n    properties:\n      timeout: {type: integer}\n    requirements:\n      - upstream: \
     {capability: tosca.capabilities.Endpoint, node: Server}\ntopology_template:\n  inputs:\n    domain: {type: string, \
     default: example.org}\n  node_templates:\n    server:\n      type: Server\n      properties:\n        server_port: \
     8080\n        hostname: {get_input: domain}\n    client:\n      type: Client\n      properties: {timeout: 30}\n      \
     requirements:\n        - upstream: server\n  outputs:\n    address: {value: {get_property: [server, \
     hostname]}}\n",
)];

const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: backend\nversion: 1.0.0\ndescription: A chart\n"),
    ("values.yaml", "replicaCount: 2\nimage:\n  repository: nginx\n  tag: stable\nservice:\n  port: 80\n"),
    (
        "templates/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  replicas: {{ \
         .Values.replicaCount }}\n  selector: {matchLabels: {app: backend}}\n  template:\n    metadata: {labels: {app: \
         backend}}\n    spec:\n      containers:\n        - name: backend\n          image: \"{{ .Values.image.repository \
         }}:{{ .Values.image.tag | default .Chart.AppVersion }}\"\n          ports: [{containerPort: {{ \
         .Values.service.port }}}]\n",
    ),
];

const ENSEMBLE: &[(&str, &str)] = &[(
    "ensemble.yaml",
    "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: \
     tosca_simple_unfurl_1_0_0\n    node_types:\n      Server:\n        derived_from: tosca.nodes.Root\n        \
     properties:\n          hostname: {type: string}\n          capacity: {type: integer, default: 3}\n    \
     topology_template:\n      inputs:\n        domain: {type: string, default: example.org}\n      node_templates:\n        \
     server:\n          type: Server\n          properties:\n            hostname: {get_input: domain}\n            \
     capacity: 5\n      outputs:\n        address: {value: {eval: \"::server::hostname\"}}\n",
)];

const KUSTOMIZATION: &[(&str, &str)] = &[
    (
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [service.yaml]\nnamePrefix: \
         shop-\nnamespace: production\nconfigMapGenerator:\n  - name: settings\n    literals: [level=info]\n",
    ),
    ("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: backend}\nspec: {ports: [{port: 80}]}\n"),
];

fn small(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// A folder of the repository's examples.
fn example(name: &str) -> Files {
    folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name))
}

/// The text files of a folder.
pub fn folder(root: &Path) -> Files {
    let (mut files, mut folders) = (Files::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if let (Ok(text), Ok(path)) = (std::fs::read_to_string(&entry), entry.strip_prefix(root)) {
                files.insert(path.to_string_lossy().into_owned(), text);
            }
        }
    }
    files
}

/// Small projects of all dialects, and the examples of the repository.
pub fn projects() -> Vec<(&'static str, Files)> {
    vec![
        ("garden", small(GARDEN)),
        ("skaffold", small(SKAFFOLD)),
        ("tosca", small(TOSCA)),
        ("chart", small(CHART)),
        ("unfurl", small(ENSEMBLE)),
        ("kustomize", small(KUSTOMIZATION)),
        ("shop", example("shop")),
        ("storefront", example("storefront")),
        ("modules", example("modules")),
    ]
}
