//! One Garden project with all five dialects: 2,000 actions, 500 charts, 10,000 nodes of TOSCA services, and ensembles
//! and Skaffold configurations among them, with values that flow from one to the next.
//!
//! `PURLIN_PROJECT` names a folder to keep it in. Measures processor time, since other work may run at the same time.

use crate::Options;
use crate::measure::{Row, put, run_in};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const ACTIONS: usize = 2_000;
const CHARTS: usize = 500;
const SERVICES: usize = 10;
const NODES: usize = 10_000;
const ENSEMBLES: usize = 40;
const SKAFFOLDS: usize = 40;

/// Writes the project, with this many environments and a fraction of everything else.
fn write(folder: &Path, environments: usize, part: usize) -> std::io::Result<()> {
    let mut text = String::from("apiVersion: garden.io/v2\nkind: Project\nname: bench\nenvironments:\n");
    for number in 0..environments {
        let _ = writeln!(text, "  - {{name: env-{number}, variables: {{domain: env-{number}.example.org}}}}");
    }
    text.push_str("variables: {domain: example.org, registry: registry.example.org, replicas: 2}\n");
    put(&folder.join("project.garden.yml"), &text)?;
    let services = SERVICES / part.min(SERVICES);
    for number in 0..services {
        service(folder, number)?;
    }
    for number in 0..CHARTS / part {
        chart(folder, number, number % services)?;
    }
    for number in 0..ENSEMBLES / part {
        ensemble(folder, number)?;
    }
    for number in 0..SKAFFOLDS / part {
        skaffold(folder, number)?;
    }
    let mut runs = String::new();
    for number in 0..(ACTIONS - CHARTS - SERVICES - ENSEMBLES - SKAFFOLDS) / part {
        let _ = write!(
            runs,
            "---\nkind: Run\ntype: exec\nname: run-{number}\ninclude: []\nspec:\n  command: [echo, \"${{var.registry}}/app-{number}:${{environment.name}}\"]\n  env: {{URL: \"${{actions.deploy.service-0.outputs.url}}/{number}\"}}\n"
        );
    }
    put(&folder.join("runs/garden.yml"), &runs)
}

/// A service template, and its action.
fn service(folder: &Path, number: usize) -> std::io::Result<()> {
    let folder = folder.join(format!("service-{number}"));
    crate::tosca::write(&folder, NODES / SERVICES)?;
    let file = folder.join("service.yaml");
    let text = std::fs::read_to_string(&file)? + "  outputs:\n    url: {value: {get_property: [app-0, url]}}\n";
    std::fs::write(file, text)?;
    put(
        &folder.join("garden.yml"),
        &format!(
            "kind: Deploy\ntype: tosca\nname: service-{number}\nspec: {{template: service.yaml, inputs: {{domain: \"${{var.domain}}\"}}}}\n"
        ),
    )
}

const TEMPLATE: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app.kubernetes.io/name: {{ .Chart.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - name: main
          image: {{ .Values.image | quote }}
          {{- if .Values.resources }}
          resources: {{- toYaml .Values.resources | nindent 12 }}
          {{- end }}
          env:
            - {name: URL, value: {{ .Values.url | default \"none\" }}}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  ports:
    {{- range .Values.ports }}
    - {port: {{ . }}}
    {{- end }}
";

fn chart(folder: &Path, number: usize, service: usize) -> std::io::Result<()> {
    let folder = folder.join(format!("chart-{number}"));
    put(&folder.join("Chart.yaml"), &format!("apiVersion: v2\nname: web-{number}\nversion: 1.0.0\n"))?;
    let values =
        "replicas: 1\nimage: web\nurl: \"\"\nports: [80, 443]\nresources: {limits: {cpu: 100m, memory: 64Mi}}\n";
    put(&folder.join("values.yaml"), values)?;
    put(&folder.join("templates/all.yaml"), TEMPLATE)?;
    put(
        &folder.join("garden.yml"),
        &format!(
            "kind: Deploy\ntype: chart\nname: web-{number}\nspec:\n  chart: .\n  values:\n    image: ${{var.registry}}/web-{number}\n    replicas: ${{var.replicas}}\n    url: ${{actions.deploy.service-{service}.outputs.url}}\n"
        ),
    )
}

fn ensemble(folder: &Path, number: usize) -> std::io::Result<()> {
    let folder = folder.join(format!("ensemble-{number}"));
    put(
        &folder.join("ensemble.yaml"),
        "apiVersion: unfurl/v1.0.0
kind: Ensemble
spec:
  service_template:
    tosca_definitions_version: tosca_simple_unfurl_1_0_0
    node_types:
      Gateway:
        derived_from: tosca.nodes.Root
        properties:
          url: {type: string}
          retries: {type: integer, default: 3}
    topology_template:
      inputs: {domain: {type: string}}
      node_templates:
        gateway:
          type: Gateway
          properties: {url: \"https://{{ {'get_input': 'domain'} | eval }}/pay\"}
      outputs:
        url: {value: {eval: \"::gateway::url\"}}
",
    )?;
    put(
        &folder.join("garden.yml"),
        &format!(
            "kind: Deploy\ntype: ensemble\nname: ensemble-{number}\nspec: {{inputs: {{domain: \"${{var.domain}}\"}}}}\n"
        ),
    )
}

/// A configuration of two artifacts, one of which needs the other, and a profile.
pub(crate) const SKAFFOLD: &str = "apiVersion: skaffold/v4beta11\nkind: Config\nbuild: {artifacts: [{image: a, context: a}, {image: b, context: b, requires: [{image: a}]}]}\nprofiles: [{name: release, patches: [{op: add, path: /build/artifacts/0/docker, value: {target: release}}]}]\n";

fn skaffold(folder: &Path, number: usize) -> std::io::Result<()> {
    let folder = folder.join(format!("skaffold-{number}"));
    put(&folder.join("skaffold.yaml"), SKAFFOLD)?;
    put(
        &folder.join("garden.yml"),
        &format!("kind: Build\ntype: skaffold\nname: images-{number}\nspec: {{profiles: [release]}}\n"),
    )
}

/// The processor time of this process in seconds, and its maximum memory in MB.
fn usage() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = behind.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<f64>().ok()).sum();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kib: f64 = peak.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (ticks / 100.0, kib / 1024.0)
}

/// The processor time of a command, the minimum of some rounds.
fn measured(what: &str, folder: &Path, args: &[&str], rounds: usize) -> Row {
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let before = usage().0;
        run_in(folder, args);
        best = best.min(usage().0 - before);
    }
    Row::new(what, best * 1e3, "ms").remark(format!("processor time; {:.0} MB so far", usage().1))
}

/// Measures the project, and the cost of ten environments compared with one.
pub(crate) fn run(_options: &Options) -> Vec<Row> {
    let kept = std::env::var("PURLIN_PROJECT").map(PathBuf::from);
    let top =
        kept.unwrap_or_else(|_| std::env::temp_dir().join(format!("purlin-bench-project-{}", std::process::id())));
    let mut rows = Vec::new();
    let (one, ten, whole) = (top.join("one"), top.join("ten"), top.join("whole"));
    if write(&one, 1, 10).is_ok() && write(&ten, 10, 10).is_ok() {
        rows.push(measured("project: a tenth, one environment checked", &one, &["check", "--all-envs"], 3));
        rows.push(measured("project: a tenth, ten environments checked", &ten, &["check", "--all-envs"], 3));
    }
    if write(&whole, 3, 1).is_ok() {
        rows.push(measured("project: five dialects, 2,000 actions resolved", &whole, &["resolve", "-o", "json"], 2));
    }
    let storefront = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/storefront");
    rows.push(measured("project: storefront, three environments checked", &storefront, &["check", "--all-envs"], 5));
    rows
}
