//! A project in all its environments beside the same project in one: environments that share most of what is resolved,
//! and environments that differ in all of it.

use crate::Options;
use crate::measure::{Row, put, timed};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How much of a project its environments have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    /// One part in forty differs.
    Most,
    /// Every action, every template and every node reads something that differs.
    Nothing,
}

impl Common {
    /// Whether this part of the project reads what differs between environments.
    fn differs(self, number: usize) -> bool {
        self == Common::Nothing || number.is_multiple_of(40)
    }
}

/// A Garden project of exec actions.
fn garden(folder: &Path, environments: usize, size: usize, common: Common) -> std::io::Result<()> {
    let mut text = String::from("apiVersion: garden.io/v2\nkind: Project\nname: bench\nenvironments:\n");
    for number in 0..environments {
        let _ = writeln!(text, "  - {{name: env-{number}, variables: {{domain: env-{number}.example.org}}}}");
    }
    text.push_str("variables: {registry: registry.example.org, domain: example.org, tags: [a, b]}\n");
    put(&folder.join("project.garden.yml"), &text)?;
    let mut actions = String::new();
    for number in 0..size {
        let read = if common.differs(number) { "domain" } else { "registry" };
        let _ = write!(
            actions,
            "---\nkind: Run\ntype: exec\nname: action-{number}\ninclude: []\nvariables: {{index: {number}, host: \"${{var.{read}}}\"}}\nspec:\n  command: [echo, \"${{var.host}}/app-{number}\", \"${{join(var.tags, ',')}}\"]\n  env: {{INDEX: \"${{string(var.index + 1)}}\", HOST: \"${{var.host}}\", NAME: \"${{upper(this.name)}}\"}}\n"
        );
    }
    put(&folder.join("actions/garden.yml"), &actions)
}

/// A chart with a template for each section of its values, and a values file for each environment.
fn chart(folder: &Path, environments: usize, size: usize, common: Common) -> std::io::Result<()> {
    put(&folder.join("Chart.yaml"), "apiVersion: v2\nname: bench\nversion: 1.0.0\n")?;
    let section = |number: usize| {
        format!("part{number}: {{replicas: 2, image: {{name: app-{number}, tag: \"1.0\"}}, env: {{LEVEL: info}}}}\n")
    };
    put(&folder.join("values.yaml"), &(0..size).map(section).collect::<String>())?;
    for environment in 1..environments {
        let changed = (0..size).filter(|number| common == Common::Nothing || number % size == environment % size);
        let changed = changed.map(|number| format!("part{number}: {{replicas: {}}}\n", environment + 2));
        put(&folder.join(format!("values-env{environment}.yaml")), &changed.collect::<String>())?;
    }
    for number in 0..size {
        let template = format!(
            "{{{{- $part := .Values.part{number} }}}}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{{{ .Release.Name }}}}-{number}\n  labels: {{app: part{number}}}\nspec:\n  replicas: {{{{ $part.replicas }}}}\n  selector: {{matchLabels: {{app: part{number}}}}}\n  template:\n    metadata: {{labels: {{app: part{number}}}}}\n    spec:\n      containers:\n        - name: main\n          image: \"{{{{ $part.image.name }}}}:{{{{ $part.image.tag }}}}\"\n          resources: {{limits: {{cpu: 100m, memory: 64Mi}}}}\n          env:\n            {{{{- range $name, $value := $part.env }}}}\n            - {{name: {{{{ $name }}}}, value: {{{{ $value | quote }}}}}}\n            {{{{- end }}}}\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {{{{ .Release.Name }}}}-{number}\nspec:\n  selector: {{app: part{number}}}\n  ports: [{{port: 80}}]\n"
        );
        put(&folder.join(format!("templates/part-{number}.yaml")), &template)?;
    }
    Ok(())
}

/// A Skaffold configuration of artifacts, and a profile for each environment.
fn skaffold(folder: &Path, environments: usize, size: usize, common: Common) -> std::io::Result<()> {
    let mut text = String::from("apiVersion: skaffold/v4beta11\nkind: Config\nbuild:\n  artifacts:\n");
    for number in 0..size {
        let _ =
            writeln!(text, "    - {{image: app-{number}, context: app-{number}, docker: {{dockerfile: Dockerfile}}}}");
    }
    text.push_str("profiles:\n");
    for environment in 1..environments {
        let _ = writeln!(text, "  - name: env-{environment}\n    patches:");
        for number in (0..size).filter(|number| common.differs(*number)) {
            let _ = writeln!(
                text,
                "      - {{op: replace, path: /build/artifacts/{number}/docker/dockerfile, value: Dockerfile.{environment}}}"
            );
        }
    }
    put(&folder.join("skaffold.yaml"), &text)
}

/// Writes a project of a size with a number of environments.
type Make = fn(&Path, usize, usize, Common) -> std::io::Result<()>;

const KINDS: &[(&str, Make, usize)] = &[("garden", garden, 1_000), ("chart", chart, 40), ("skaffold", skaffold, 200)];

/// Writes a Garden project whose environments differ in everything.
pub(crate) fn garden_differing(folder: &Path, environments: usize) -> std::io::Result<()> {
    garden(folder, environments, 250, Common::Nothing)
}

/// Writes a Garden project whose environments share most.
pub(crate) fn garden_sharing(folder: &Path, environments: usize) -> std::io::Result<()> {
    garden(folder, environments, 250, Common::Most)
}

/// Writes a chart whose values files differ in everything.
pub(crate) fn chart_differing(folder: &Path, environments: usize) -> std::io::Result<()> {
    chart(folder, environments, 40, Common::Nothing)
}

/// Writes a chart whose values files share most.
pub(crate) fn chart_sharing(folder: &Path, environments: usize) -> std::io::Result<()> {
    chart(folder, environments, 40, Common::Most)
}

fn folder() -> PathBuf {
    let kept = std::env::var("PURLIN_ENVIRONMENTS").map(PathBuf::from);
    kept.unwrap_or_else(|_| std::env::temp_dir().join(format!("purlin-bench-environments-{}", std::process::id())))
}

/// Measures `check` of ten environments, divided by that of one.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (kind, write, size) in KINDS {
        let measured = |environments: usize, common: Common, name: &str| {
            let place = folder().join(format!("{kind}-{name}"));
            write(&place, environments, size * options.size, common).ok()?;
            Some(timed(&place, &["check", "--threads", "1"], 5))
        };
        let Some(one) = measured(1, Common::Nothing, "one") else { continue };
        rows.push(one.row(format!("environments: {kind}, one")));
        for (common, name, goal) in [(Common::Most, "sharing", "goal 1.5"), (Common::Nothing, "differing", "goal 4")] {
            let Some(ten) = measured(10, common, name) else { continue };
            let row = Row::new(format!("environments: {kind}, ten {name}"), ten.cpu / one.cpu, "×");
            rows.push(row.remark(format!("{goal}; {:.0} ms", ten.cpu)));
        }
    }
    rows
}
