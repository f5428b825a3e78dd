//! Targets of the dialects: whole projects in memory, resolved by the dialect of that name.
//!
//! An input may hold several files: a line `=== PATH` begins one.

use super::{Target, about, kind_of, plain};
use purlin_charts::template::{Options, template};
use purlin_model::Request;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A Garden project.
pub(super) const GARDEN_PROJECT: Target = Target {
    name: "garden-project",
    summary: "resolve a Garden project",
    run: |input| resolve("garden", "garden.yml", input),
    seeds: &[
        "apiVersion: garden.io/v2\nkind: Project\nname: shop\nenvironments: [{name: dev, variables: {a: 1}}]\nvariables:\n  b: ${var.a}\n  c: \"${environment.name}-${var.b + 1}\"\n---\nkind: Build\nname: api\ntype: exec\nspec: {command: [echo, \"${var.c}\"]}\n---\nkind: Deploy\nname: web\ntype: exec\ndependencies: [build.api]\nspec:\n  deployCommand: [echo, \"${actions.build.api.version}\"]\n  env: {X: \"${join([1, 2], ',')}\"}\n",
        "kind: Project\nname: p\nenvironments: [{name: d}]\nvariables:\n  l: {$forEach: [1, 2], $return: \"${item.value}\"}\n  m: {$merge: {a: 1}, b: 2}\n  c: {$if: \"${true}\", $then: 1, $else: 2}\n---\nkind: ConfigTemplate\nname: t\ninputsSchemaPath: s.json\nconfigs:\n  - {kind: Run, name: \"${inputs.n}\", type: exec, spec: {command: [x]}}\n---\nkind: RenderTemplate\ntemplate: t\ninputs: {n: r}\n",
    ],
    words: &[
        "kind",
        "Project",
        "Build",
        "Deploy",
        "Run",
        "Test",
        "Module",
        "Workflow",
        "Command",
        "ConfigTemplate",
        "RenderTemplate",
        "name",
        "type",
        "exec",
        "spec",
        "variables",
        "varfiles",
        "environments",
        "dependencies",
        "include",
        "exclude",
        "disabled",
        "${",
        "}",
        "${var.a}",
        "${inputs.a}",
        "${actions.build.api.outputs.x}",
        "${environment.name}",
        "${if x}",
        "${else}",
        "${endif}",
        "$merge",
        "$concat",
        "$forEach",
        "$filter",
        "$return",
        "$if",
        "$then",
        "$else",
        "?",
        " ? 1 : 2",
        " && ",
        " || ",
        " == ",
        "join(",
        "jsonEncode(",
        "$${",
        "copyFrom",
        "providers",
        "sources",
        "timeout",
        "=== varfile.env\nA=1\n",
        "=== sub/garden.yml\n",
    ],
    suite: &["garden"],
};

/// A Skaffold configuration.
pub(super) const SKAFFOLD_PROJECT: Target = Target {
    name: "skaffold-project",
    summary: "resolve a Skaffold configuration",
    run: |input| resolve("skaffold", "skaffold.yaml", input),
    seeds: &[
        "apiVersion: skaffold/v4beta6\nkind: Config\nmetadata: {name: shop}\nbuild:\n  artifacts:\n    - image: api\n      context: .\n      requires: [{image: base, alias: B}]\n    - image: base\nmanifests: {rawYaml: [k8s/*.yaml]}\ndeploy: {kubectl: {}}\nprofiles:\n  - name: dev\n    activation: [{env: A=b, command: dev}]\n    build: {local: {push: false}}\n    patches:\n      - {op: replace, path: /build/artifacts/0/image, value: other}\n",
        "apiVersion: skaffold/v2beta29\nkind: Config\nrequires:\n  - path: sub\n    activeProfiles: [{name: x, activatedBy: [y]}]\n  - configs: [c]\n=== sub/skaffold.yaml\napiVersion: skaffold/v1\nkind: Config\nbuild: {artifacts: [{image: x, docker: {dockerfile: D, buildArgs: {A: \"{{.B}}\"}}}]}\ndeploy: {helm: {releases: [{name: r, chartPath: c}]}}\n",
    ],
    words: &[
        "apiVersion",
        "skaffold/v4beta13",
        "skaffold/v1alpha1",
        "skaffold/v2beta5",
        "kind",
        "Config",
        "metadata",
        "build",
        "artifacts",
        "image",
        "context",
        "requires",
        "profiles",
        "activation",
        "patches",
        "op",
        "add",
        "remove",
        "replace",
        "move",
        "copy",
        "test",
        "path",
        "from",
        "value",
        "/build/artifacts/0",
        "/-",
        "~1",
        "modules",
        "configs",
        "activeProfiles",
        "activatedBy",
        "git",
        "deploy",
        "kubectl",
        "helm",
        "releases",
        "manifests",
        "rawYaml",
        "kustomize",
        "tagPolicy",
        "envTemplate",
        "{{.A}}",
        "portForward",
        "customActions",
        "=== sub/skaffold.yaml\n",
    ],
    suite: &["skaffold"],
};

/// A TOSCA service template.
pub(super) const TOSCA_SERVICE: Target = Target {
    name: "tosca-service",
    summary: "resolve a TOSCA service template",
    run: |input| resolve("tosca", "service.yaml", input),
    seeds: &[
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  N:\n    derived_from: tosca.nodes.Root\n    properties:\n      p: {type: string, default: x, constraints: [{min_length: 1}]}\n      s: {type: scalar-unit.size, default: 1 GB}\n    capabilities: {c: tosca.capabilities.Node}\n    requirements: [{r: {capability: tosca.capabilities.Node, occurrences: [0, 1]}}]\ntopology_template:\n  inputs: {i: {type: integer, default: 1}}\n  node_templates:\n    a: {type: N, properties: {p: {concat: [a, {get_input: i}]}}, requirements: [{r: b}]}\n    b: {type: N, properties: {p: {get_property: [a, p]}}}\n  outputs: {o: {value: {get_attribute: [a, p]}}}\n",
        "tosca_definitions_version: tosca_2_0\nimports: [{profile: org.oasis-open.simple:2.0}]\nnode_types:\n  N: {properties: {p: {type: list, entry_schema: integer}}}\nservice_template:\n  node_templates:\n    a: {type: N, properties: {p: [1, {$sum: [1, 2]}]}, count: 2}\n  policies: []\n",
    ],
    words: &[
        "tosca_definitions_version",
        "tosca_simple_yaml_1_0",
        "tosca_simple_yaml_1_3",
        "tosca_2_0",
        "imports",
        "derived_from",
        "node_types",
        "data_types",
        "capability_types",
        "relationship_types",
        "interface_types",
        "policy_types",
        "group_types",
        "artifact_types",
        "topology_template",
        "service_template",
        "node_templates",
        "properties",
        "attributes",
        "requirements",
        "capabilities",
        "interfaces",
        "type",
        "default",
        "required",
        "constraints",
        "validation",
        "get_input",
        "get_property",
        "get_attribute",
        "concat",
        "token",
        "$concat",
        "SELF",
        "TARGET",
        "in_range",
        "occurrences",
        "node_filter",
        "substitution_mappings",
        "scalar-unit.size",
        "1 GiB",
        "version",
        "1.2.3.beta-4",
        "timestamp",
        "range",
        "[0, UNBOUNDED]",
        "workflows",
        "copy",
        "select",
    ],
    suite: &["tosca"],
};

/// An Unfurl ensemble.
pub(super) const UNFURL_ENSEMBLE: Target = Target {
    name: "unfurl-ensemble",
    summary: "resolve an Unfurl ensemble",
    run: |input| resolve("unfurl", "ensemble.yaml", input),
    seeds: &[
        "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    topology_template:\n      inputs: {i: {type: string, default: x}}\n      node_templates:\n        a:\n          type: tosca.nodes.Root\n          properties: {p: {eval: \"::b::q\"}, t: \"{{ 'x' | upper }}\"}\n        b:\n          type: tosca.nodes.Root\n          properties: {q: {get_input: i}}\n",
    ],
    words: &[
        "apiVersion",
        "unfurl/v1.0.0",
        "kind",
        "Ensemble",
        "spec",
        "service_template",
        "topology_template",
        "node_templates",
        "properties",
        "eval",
        "q",
        "ref",
        "vars",
        "trace",
        "select",
        "foreach",
        "if",
        "then",
        "else",
        "::",
        "::*::",
        ".targets",
        ".source",
        ".parents",
        "SELF",
        "ROOT",
        "$inputs",
        "{{",
        "}}",
        "{%",
        "%}",
        " | ",
        "default",
        "get_env",
        "secret",
        "sensitive",
        "+%",
        "+/a",
        "+*",
        "?include",
        "environments",
        "inputs",
        "status",
    ],
    suite: &["unfurl"],
};

/// A chart.
pub(super) const CHART: Target = Target {
    name: "chart",
    summary: "render a chart",
    run: |input| {
        let session = Session::new(Arc::new(world_of("Chart.yaml", input)));
        let options = Options { name: "rel".to_owned(), namespace: "ns".to_owned(), ..Options::default() };
        match template(&session, ".", &options) {
            Ok(output) => kind_of(output.text(&options).map(|text| about(text.len()))),
            Err(error) => kind_of(plain(&error.message.replace('"', "`"))),
        }
    },
    seeds: &[
        "apiVersion: v2\nname: web\nversion: 0.1.0\n=== values.yaml\nreplicas: 1\nimage: {tag: x}\n=== templates/d.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ include \"n\" . | quote }} }\nspec:\n  replicas: {{ .Values.replicas }}\n  {{- with .Values.image }}\n  tag: {{ .tag | default \"y\" | upper }}\n  {{- end }}\n=== templates/_h.tpl\n{{- define \"n\" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}\n",
    ],
    words: &[
        "{{",
        "}}",
        "{{-",
        "-}}",
        "{{ if ",
        "{{ else }}",
        "{{ end }}",
        "{{ range $k, $v := .Values }}",
        "{{ with ",
        "{{ define \"n\" }}",
        "{{ include \"n\" . }}",
        "{{ tpl .Values.x . }}",
        " | quote",
        " | toYaml",
        " | nindent 2",
        ".Values.a",
        ".Release.Name",
        ".Files.Get",
        "$x := ",
        "index ",
        "dict ",
        "list ",
        "fromYaml",
        "printf \"%v\" ",
        "=== values.yaml\n",
        "=== templates/x.yaml\n",
        "=== values.schema.json\n",
        "apiVersion",
        "kind",
        "---\n",
        "=== charts/sub/Chart.yaml\n",
        "dependencies",
        "condition",
        "global",
        "import-values",
        "fail ",
        "lookup ",
    ],
    suite: &["charts"],
};

/// The files of an input; the text before the first mark is the main file.
pub(super) fn files_of(main: &str, input: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![(main.to_owned(), Vec::new())];
    for line in input.split_inclusive(|&byte| byte == b'\n') {
        match (line.strip_prefix(b"=== "), files.last_mut()) {
            (Some(name), _) => files.push((String::from_utf8_lossy(name).trim().to_owned(), Vec::new())),
            (None, Some((_, bytes))) => bytes.extend(line),
            (None, None) => {}
        }
    }
    files
}

fn world_of(main: &str, input: &[u8]) -> MemoryWorld {
    files_of(main, input).iter().fold(MemoryWorld::new(), |world, (path, bytes)| world.bytes(path, bytes))
}

fn resolve(dialect: &str, main: &str, input: &[u8]) -> u64 {
    // A dialect that is not compiled in cannot be tested.
    let Some(dialect) = purlin_compiler::DIALECTS.iter().find(|known| known.name == dialect) else { return 0 };
    let session = Session::new(Arc::new(world_of(main, input)));
    let request = Request { path: ".".to_owned(), ..Request::default() };
    let recognised = dialect.file_of(&session, &request).is_some();
    let resolved = (dialect.resolve)(&session, &request);
    let nodes = resolved.as_ref().map_or(0, |resolved| resolved.nodes.len());
    let mut size = 0;
    for node in resolved.iter().flat_map(|resolved| resolved.nodes.iter().take(50)) {
        size += to_json(&node.resolved, Secrets::Hide, JsonLayout::Compact).map_or(0, |text| text.len());
    }
    let found = session.sink.take();
    let rules: BTreeSet<&str> = found.iter().map(|problem| problem.rule.name).collect();
    let messages: BTreeSet<String> = found.iter().take(10).map(|problem| plain(&problem.message)).collect();
    kind_of((recognised, about(nodes), about(size), rules, messages))
}
