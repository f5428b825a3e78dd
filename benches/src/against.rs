//! `purlin-bench --against`: commands of the original tools beside the same commands of Purlin, in one run.
//!
//! A tool is looked for on `PATH`; one that is not there is named as skipped. Processor time of whole processes, children
//! included, so that start-up counts on both sides.

use crate::measure::put;
use crate::{charts, count, skaffold, tosca, unfurl};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command of an original, and the one of Purlin that does the same.
struct Original {
    /// The tool, and its size of input.
    name: &'static str,
    program: &'static str,
    install: &'static str,
    write: fn(&Path) -> std::io::Result<()>,
    /// Where both run, below the written folder.
    stand: &'static str,
    theirs: &'static [&'static str],
    ours: &'static [&'static str],
}

const ORIGINALS: &[Original] = &[
    Original {
        name: "Helm, a chart of 500 objects",
        program: "helm",
        install: "https://helm.sh/docs/intro/install",
        write: |folder| charts::write_many(folder, 500),
        stand: ".",
        theirs: &["template", "r", "."],
        ours: &["helm", "template", "r", "."],
    },
    Original {
        name: "Kustomize, 200 objects with an overlay",
        program: "kubectl",
        install: "https://kubernetes.io/docs/tasks/tools",
        write: kustomization,
        stand: ".",
        theirs: &["kustomize", "overlay"],
        ours: &["kustomize", "build", "overlay"],
    },
    Original {
        name: "Skaffold, a chain of 300 modules",
        program: "skaffold",
        install: "https://skaffold.dev/docs/install",
        write: |folder| skaffold::write_chain(folder, 300),
        stand: "m0",
        theirs: &["diagnose", "--yaml-only"],
        ours: &["skaffold", "diagnose", "--yaml-only"],
    },
    Original {
        name: "Puccini, a service of 100 nodes",
        program: "puccini-tosca",
        install: "https://puccini.cloud",
        write: |folder| tosca::write(folder, 100),
        stand: ".",
        theirs: &["compile", "service.yaml"],
        ours: &["puccini-tosca", "compile", "service.yaml"],
    },
    Original {
        name: "Puccini's library, a service of 100 nodes",
        program: "python3",
        install: "pip install puccini",
        write: |folder| tosca::write(folder, 100),
        stand: ".",
        theirs: &["-c", "import puccini.tosca; puccini.tosca.compile('service.yaml')"],
        ours: &["puccini-tosca", "compile", "service.yaml"],
    },
    Original {
        name: "Unfurl, an ensemble of 50 nodes",
        program: "unfurl",
        install: "pip install unfurl",
        write: |folder| unfurl::write(folder, 50),
        stand: ".",
        theirs: &["--home", "", "plan", "ensemble.yaml"],
        ours: &["unfurl", "--home", "", "plan", "ensemble.yaml"],
    },
    Original {
        name: "Ninja, 1,000 targets that are up to date",
        program: "ninja",
        install: "pip install ninja",
        write: actions,
        stand: ".",
        theirs: &[],
        ours: &["build"],
    },
];

/// A kustomization of objects, and an overlay with a prefix, labels and a patch of all of them.
fn kustomization(folder: &Path) -> std::io::Result<()> {
    let deployment = |number: usize| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{number}}}\nspec:\n  selector: {{matchLabels: {{app: app-{number}}}}}\n  template:\n    metadata: {{labels: {{app: app-{number}}}}}\n    spec:\n      containers:\n        - {{name: main, image: \"app:{number}\", envFrom: [{{configMapRef: {{name: app-{number}}}}}]}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: app-{number}}}\ndata: {{LEVEL: info}}\n"
        )
    };
    put(&folder.join("base/all.yaml"), &(0..100).map(deployment).collect::<Vec<_>>().join("---\n"))?;
    put(&folder.join("base/kustomization.yaml"), "resources: [all.yaml]\n")?;
    put(
        &folder.join("overlay/kustomization.yaml"),
        "resources: [../base]\nnamePrefix: test-\nlabels: [{pairs: {environment: test}, includeSelectors: true}]\npatches:\n  - target: {kind: Deployment}\n    patch: |\n      - {op: add, path: /spec/replicas, value: 3}\n",
    )
}

/// As many actions as targets: each copies a file of its own.
fn actions(folder: &Path) -> std::io::Result<()> {
    let (mut ninja, mut garden) = ("rule copy\n  command = cp $in $out\n".to_owned(), String::new());
    for number in 0..1_000 {
        put(&folder.join(format!("in/{number}")), &number.to_string())?;
        ninja += &format!("build out/{number}: copy in/{number}\n");
        garden += &format!(
            "---\nkind: Build\ntype: exec\nname: copy-{number}\ninclude: [in/{number}]\nspec: {{command: [\"true\"]}}\n"
        );
    }
    put(&folder.join("build.ninja"), &ninja)?;
    put(
        &folder.join("project.garden.yml"),
        &format!("apiVersion: garden.io/v2\nkind: Project\nname: bench\nenvironments: [{{name: dev}}]\n{garden}"),
    )
}

/// The processor time of all children of this process that have ended, in milliseconds.
fn of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = behind.split_whitespace().skip(13).take(2).filter_map(|text| text.parse::<f64>().ok()).sum();
    ticks * 10.0
}

fn run(program: &Path, args: &[&str], folder: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned()),
    }
}

/// Milliseconds of processor time of one run: the mean of as many as make the clock's steps small. The first run is not
/// counted: it fills caches.
fn cost(program: &Path, args: &[&str], folder: &Path) -> Result<f64, String> {
    run(program, args, folder)?;
    let before = of_children();
    for rounds in 1..=100 {
        run(program, args, folder)?;
        let spent = of_children() - before;
        if spent >= 500.0 || rounds == 100 {
            return Ok(spent / f64::from(rounds));
        }
    }
    Err("no run".to_owned())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn compare(original: &Original, purlin: &Path) -> Result<(f64, f64), String> {
    let program =
        on_path(original.program).ok_or(format!("`{}` is not on PATH: {}", original.program, original.install))?;
    let folder = std::env::temp_dir().join(format!("purlin-bench-against-{}", std::process::id()));
    let costs = (|| {
        (original.write)(&folder).map_err(|error| error.to_string())?;
        let stand = folder.join(original.stand);
        let theirs = cost(&program, original.theirs, &stand).map_err(|why| format!("the original failed: {why}"))?;
        let ours = cost(purlin, original.ours, &stand).map_err(|why| format!("Purlin failed: {why}"))?;
        Ok((theirs, ours))
    })();
    let _ = std::fs::remove_dir_all(&folder);
    costs
}

/// Runs every original that is installed beside Purlin, and prints what both cost.
pub(crate) fn against() -> Result<(), String> {
    let purlin = count::program()?;
    println!("{:<44} {:>12} {:>12} {:>9}", "original, input", "original ms", "purlin ms", "ratio");
    for original in ORIGINALS {
        match compare(original, &purlin) {
            Ok((theirs, ours)) => {
                println!("{:<44} {theirs:>12.1} {ours:>12.1} {:>8.2}×", original.name, theirs / ours);
            }
            Err(why) => println!("{:<44} skipped: {why}", original.name),
        }
    }
    Ok(())
}
