//! How many times a second a chart is loaded from disk, rendered and sorted.
//!
//! `PURLIN_CHART` names a chart; without it a small one is written to a temporary folder.

use crate::Options;
use crate::measure::{Row, ms, shortest};
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

fn render(folder: &Path) -> usize {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let args = ["helm", "template", "r", "."].map(str::to_owned).to_vec();
    purlin_cli::run(purlin_cli::Invocation {
        args,
        cwd: folder.to_owned(),
        env: std::collections::BTreeMap::new(),
        stdin: None,
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
    });
    stdout.len()
}

/// Measures renders of one chart.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let Some(folder) = chart() else { return Vec::new() };
    let rounds = 200 * options.size;
    let bytes = render(&folder);
    let best = shortest(5, || {
        for _ in 0..rounds {
            render(&folder);
        }
    });
    let each = ms(best) / rounds as f64;
    vec![
        Row::new("chart: load, render, sort", 1_000.0 / each, "per s")
            .remark(format!("{bytes} bytes, {each:.3} ms each")),
    ]
}
