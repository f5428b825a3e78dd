//! Repositories of many projects: what `check` reads before a commit and in a pull request.

use crate::Options;
use crate::measure::{Row, put, timed};
use crate::project;
use std::path::{Path, PathBuf};

const LIBRARY: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: common\nversion: 1.2.0\ntype: library\n"),
    (
        "templates/_names.tpl",
        "{{- define \"common.name\" -}}\n{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix \"-\" }}\n{{- end -}}\n{{- define \"common.fullname\" -}}\n{{- $name := include \"common.name\" . }}\n{{- if contains $name .Release.Name }}\n{{- .Release.Name | trunc 63 | trimSuffix \"-\" }}\n{{- else }}\n{{- printf \"%s-%s\" .Release.Name $name | trunc 63 | trimSuffix \"-\" }}\n{{- end }}\n{{- end -}}\n",
    ),
    (
        "templates/_labels.tpl",
        "{{- define \"common.selector\" -}}\napp.kubernetes.io/name: {{ include \"common.name\" . }}\napp.kubernetes.io/instance: {{ .Release.Name }}\n{{- end -}}\n{{- define \"common.labels\" -}}\nhelm.sh/chart: {{ printf \"%s-%s\" .Chart.Name .Chart.Version }}\n{{ include \"common.selector\" . }}\n{{- with .Values.labels }}\n{{ toYaml . }}\n{{- end }}\n{{- end -}}\n",
    ),
];

const VALUES: &str = "nameOverride: \"\"
labels: {team: web}
image: {repository: registry.example.org/web, tag: \"1.0\", pullPolicy: IfNotPresent}
replicas: 2
service: {port: 80, type: ClusterIP}
ingress: {enabled: false, host: \"\", path: /}
resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}
env: {LEVEL: info, URL: https://example.org}
";

const PRODUCTION: &str = "replicas: 5\ningress: {enabled: true, host: web.example.org}\nenv: {LEVEL: warn}\n";

const STAGING: &str = "image: {tag: \"1.1-rc\"}\ningress: {enabled: true, host: web.staging.example.org}\n";

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include \"common.fullname\" . }}
  labels:
    {{- include \"common.labels\" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include \"common.selector\" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include \"common.selector\" . | nindent 8 }}
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: \"{{ .Values.image.repository }}:{{ .Values.image.tag }}\"
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          env:
            {{- range $name, $value := .Values.env }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          ports:
            - {name: http, containerPort: 8080}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
";

const SERVICE: &str = "apiVersion: v1
kind: Service
metadata:
  name: {{ include \"common.fullname\" . }}
  labels:
    {{- include \"common.labels\" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  selector:
    {{- include \"common.selector\" . | nindent 4 }}
  ports:
    - {name: http, port: {{ .Values.service.port }}, targetPort: http}
";

const INGRESS: &str = "{{- if .Values.ingress.enabled }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include \"common.fullname\" . }}
  labels:
    {{- include \"common.labels\" . | nindent 4 }}
spec:
  rules:
    - host: {{ .Values.ingress.host | quote }}
      http:
        paths:
          - path: {{ .Values.ingress.path }}
            pathType: Prefix
            backend: {service: {name: {{ include \"common.fullname\" . }}, port: {name: http}}}
{{- end }}
";

/// One chart with the library in its `charts` folder and two values files beside its own.
fn chart(folder: &Path, number: usize) -> std::io::Result<()> {
    let head = format!(
        "apiVersion: v2\nname: web-{number}\nversion: 1.0.{number}\ndependencies: [{{name: common, version: 1.2.0, repository: \"\"}}]\n"
    );
    put(&folder.join("Chart.yaml"), &head)?;
    put(&folder.join("values.yaml"), VALUES)?;
    put(&folder.join("values-production.yaml"), PRODUCTION)?;
    put(&folder.join("values-staging.yaml"), STAGING)?;
    for (name, text) in LIBRARY {
        put(&folder.join("charts/common").join(name), text)?;
    }
    for (name, text) in [("deployment", DEPLOYMENT), ("service", SERVICE), ("ingress", INGRESS)] {
        put(&folder.join(format!("templates/{name}.yaml")), text)?;
    }
    Ok(())
}

/// Writes a repository of charts that all have the same library.
pub(crate) fn charts(folder: &Path, count: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join(".git"))?;
    (0..count).try_for_each(|number| chart(&folder.join(format!("charts/web-{number}")), number))
}

/// A base with an overlay for each of two environments.
fn kustomization(folder: &Path, number: usize) -> std::io::Result<()> {
    let object = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number}\ndata:\n  LEVEL: info\n  URL: https://example.org/{number}\n"
    );
    put(&folder.join("base/settings.yaml"), &object)?;
    put(&folder.join("base/kustomization.yaml"), "resources: [settings.yaml]\n")?;
    for environment in ["production", "staging"] {
        let text = format!(
            "resources: [../../base]\nnamePrefix: {environment}-\nlabels: [{{pairs: {{environment: {environment}}}}}]\npatches:\n  - target: {{kind: ConfigMap}}\n    patch: |\n      - {{op: replace, path: /data/LEVEL, value: warn}}\n"
        );
        put(&folder.join(format!("overlays/{environment}/kustomization.yaml")), &text)?;
    }
    Ok(())
}

/// Writes a repository with as many projects of each kind.
pub(crate) fn mixed(folder: &Path, count: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join(".git"))?;
    for number in 0..count {
        let place = |kind: &str| folder.join(format!("{kind}/app-{number}"));
        chart(&place("charts"), number)?;
        kustomization(&place("kustomize"), number)?;
        crate::garden::actions(&place("garden"), 20)?;
        crate::tosca::write(&place("services"), 40)?;
        crate::unfurl::write(&place("ensembles"), 20)?;
        put(&place("images").join("skaffold.yaml"), project::SKAFFOLD)?;
    }
    Ok(())
}

/// Writes a repository of a kind with a number of projects.
pub(crate) type Write = fn(&Path, usize) -> std::io::Result<()>;

fn folder(name: &str) -> PathBuf {
    let kept = std::env::var("PURLIN_REPOSITORY").map(PathBuf::from);
    kept.unwrap_or_else(|_| std::env::temp_dir().join(format!("purlin-bench-{}", std::process::id()))).join(name)
}

/// Measures `check` of repositories on one thread and on two.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let kinds: [(&str, Write, usize); 2] = [("117 charts", charts, 117), ("6 kinds, 20 of each", mixed, 20)];
    let mut rows = Vec::new();
    for (name, write, count) in kinds {
        let folder = folder(&name.replace([',', ' '], "-"));
        if write(&folder, count * options.size).is_err() {
            continue;
        }
        let one = timed(&folder, &["check", "--threads", "1"], 3);
        let two = timed(&folder, &["check", "--threads", "2"], 3);
        rows.push(one.row(format!("repository: {name}, 1 thread")));
        rows.push(two.row(format!("repository: {name}, 2 threads")));
        rows.push(
            Row::new(format!("repository: {name}, speed-up"), one.wall / two.wall, "×").remark("goal 1.8 for charts"),
        );
    }
    rows
}
