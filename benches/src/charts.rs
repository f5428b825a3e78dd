//! Renders of a chart per second: as a whole command, from disk by the libraries, and compiled once.
//!
//! `PURLIN_CHART` names a chart; without it a small one is written to a temporary folder.

use crate::measure::{Row, ms, run_in, shortest, typed};
use purlin_charts::engine::{self, Compiled};
use purlin_charts::manifest;
use purlin_charts::template::{Options, Prepared, engine_limits, outside, prepare, template};
use purlin_cli::Setup;
use purlin_value::Session;
use purlin_value::stack::with_stack;
use std::path::{Path, PathBuf};

const FILES: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: \"2\"\n"),
    ("values.yaml", "replicas: 2\nimage: {name: nginx, tag: \"\"}\nlabels: {team: web}\nservice: {port: 80}\n"),
    (
        "templates/_names.tpl",
        "{{- define \"labels\" -}}\napp: {{ .Chart.Name }}\nrelease: {{ .Release.Name }}\n{{- with .Values.labels }}\n{{ toYaml . }}\n{{- end }}\n{{- end -}}\n",
    ),
    (
        "templates/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicas }}\n",
    ),
    (
        "templates/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\nspec:\n  ports:\n  - port: {{ .Values.service.port }}\n",
    ),
];

fn chart() -> Option<PathBuf> {
    if let Ok(named) = std::env::var("PURLIN_CHART") {
        return Some(PathBuf::from(named));
    }
    let folder = std::env::temp_dir().join(format!("purlin-bench-chart-{}", std::process::id()));
    for (name, text) in FILES {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent()?).ok()?;
        std::fs::write(path, text).ok()?;
    }
    Some(folder)
}

/// Writes a chart with `count` deployments, a hundred per file.
pub(crate) fn write_many(folder: &Path, count: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("templates"))?;
    for (name, text) in FILES.iter().filter(|(name, _)| !name.contains("deployment")) {
        std::fs::write(folder.join(name), text)?;
    }
    let (_, deployment) = FILES.iter().find(|(name, _)| name.contains("deployment")).copied().unwrap_or_default();
    let deployment =
        deployment.replace("name: {{ .Release.Name }}", "name: {{ $.Release.Name }}-{{ $file }}-{{ $index }}");
    let deployment = deployment.replace("include \"labels\" .", "include \"labels\" $").replace(".Values", "$.Values");
    for file in 0..count.div_ceil(100) {
        let here = (count - file * 100).min(100);
        let text = format!(
            "{{{{- $file := {file} }}}}\n{{{{- range $index := until {here} }}}}\n---\n{deployment}{{{{- end }}}}\n"
        );
        std::fs::write(folder.join(format!("templates/part-{file}.yaml")), text)?;
    }
    Ok(())
}

/// The whole command, as if typed: arguments, folders, loading, rendering, sorting, printing.
const COMMAND: &[&str] = &["helm", "template", "r", "."];

/// A new session on the chart's folder, as in every run of the program.
fn session(folder: &Path) -> Option<(Session, String)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    purlin_cli::open_session(&mut typed(folder, COMMAND, &mut stdout, &mut stderr), &Setup::of(".")).ok()
}

/// Loads the chart from disk, renders and sorts: the same work as measured in a loop for Helm's own libraries.
fn library(folder: &Path) -> usize {
    let Some((session, path)) = session(folder) else { return 0 };
    let options = Options { name: "r".to_owned(), ..Options::default() };
    template(&session, &path, &options).map_or(0, |output| output.manifests.resources.len())
}

/// Renders and sorts a chart that was loaded and compiled before.
struct Ready {
    session: Session,
    prepared: Prepared,
    compiled: Compiled,
}

impl Ready {
    fn new(folder: &Path) -> Option<Self> {
        let (session, path) = session(folder)?;
        let prepared = prepare(&session, &path, &Options::default()).ok()?;
        let compiled = engine::compile(&prepared.chart).ok()?;
        Some(Ready { session, prepared, compiled })
    }

    fn render(&self) -> usize {
        let (outside, limits) = (outside(&self.session, false), engine_limits(&self.session));
        let Ok(rendered) = engine::render(&self.compiled, self.prepared.inputs(&outside, &limits)) else { return 0 };
        let texts: Vec<(&str, String)> = rendered
            .files
            .iter()
            .filter(|(path, _)| !path.ends_with("NOTES.txt"))
            .map(|(path, rope)| (path.as_str(), String::from_utf8_lossy(&rope.bytes).into_owned()))
            .collect();
        let files = texts.iter().map(|(path, text)| (*path, text.as_str()));
        manifest::sort(files, &rendered.holes, &self.session.limits).map_or(0, |sorted| sorted.resources.len())
    }
}

/// How often each measurement is repeated.
const RUNS: usize = 100;

fn rate(what: &str, rounds: usize, mut work: impl FnMut() -> usize) -> Row {
    let made = work();
    // Many short runs: on a busy machine some are undisturbed.
    let best = shortest(RUNS, || {
        for _ in 0..rounds {
            work();
        }
    });
    let each = ms(best) / rounds as f64;
    Row::new(what, 1_000.0 / each, "per s").remark(format!("{made} made, {each:.3} ms each"))
}

/// Measures renders of one chart: the whole command, the libraries alone, and without one-time work.
pub(crate) fn run(options: &crate::Options) -> Vec<Row> {
    let Some(folder) = chart() else { return Vec::new() };
    let rounds = 10 * options.size;
    let mut rows = vec![rate("chart: whole command", rounds, || run_in(&folder, COMMAND))];
    // One stack for the whole loop, as the program uses one for the whole run.
    let rest = with_stack(256 << 20, || {
        let mut rows = vec![
            rate("chart: whole command, on one thread", rounds, || run_in(&folder, COMMAND)),
            rate("chart: load, render, sort", rounds, || library(&folder)),
        ];
        if let Some(ready) = Ready::new(&folder) {
            rows.push(rate("chart: render and sort, compiled once", rounds, || ready.render()));
        }
        rows
    });
    rows.extend(rest.into_iter().flatten());
    rows
}
