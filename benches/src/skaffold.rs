//! Large Skaffold projects: chains, stars, diamonds and multi-document files, merged and written.
//!
//! The shapes are those used to measure the original: each module has an artifact, manifests, a port and two profiles,
//! each requirement names its configuration and a profile. `PURLIN_TREES` names a folder in which the projects are
//! kept, so that another program can be run on them.

use crate::Options;
use crate::measure::{Row, ms, run_in, shortest};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A project: the text of each file by its path.
type Files = Vec<(String, String)>;

/// One module. With `same_file`, its requirements are in the same file.
fn module(name: &str, requires: &[String], same_file: bool) -> String {
    let mut text = format!("apiVersion: skaffold/v4beta14\nkind: Config\nmetadata:\n  name: {name}\n");
    if !requires.is_empty() {
        text.push_str("requires:\n");
    }
    for other in requires {
        let _ = writeln!(text, "- configs: [{other}]");
        if !same_file {
            let _ = writeln!(text, "  path: ../{other}");
        }
        text.push_str("  activeProfiles:\n  - name: prod\n    activatedBy: [prod]\n");
    }
    let _ = write!(
        text,
        "build:\n  artifacts:\n  - image: example.com/{name}\n    context: src\n    docker:\n      dockerfile: Dockerfile\nmanifests:\n  rawYaml:\n  - k8s/*.yaml\nportForward:\n- resourceType: deployment\n  resourceName: {name}\n  port: 8080\n  localPort: 9000\n"
    );
    text.push_str("profiles:\n- name: prod\n  build:\n    googleCloudBuild:\n      projectId: example\n  patches:\n  - op: replace\n    path: /build/artifacts/0/context\n    value: prod\n- name: ci\n  activation:\n  - env: CI_BUILD=yes\n  deploy:\n    logs:\n      prefix: none\n");
    text
}

fn file(name: &str, requires: &[String]) -> (String, String) {
    (format!("{name}/skaffold.yaml"), module(name, requires, false))
}

/// Each module requires the next.
fn chain(count: usize) -> Files {
    (0..count).map(|at| file(&format!("m{at}"), &names("m", at + 1..count.min(at + 2)))).collect()
}

/// The first module requires all others.
fn star(count: usize) -> Files {
    let others = names("m", 1..count);
    let first = file("m0", &others);
    std::iter::once(first).chain(others.iter().map(|name| file(name, &[]))).collect()
}

/// Layers of modules, each requiring the whole next layer, between one module at the top and one at the bottom.
fn diamond(width: usize, layers: usize) -> Files {
    let layer = |number: usize| names(&format!("l{number}x"), 0..width);
    let mut files = vec![file("m0", &layer(0)), file("bottom", &[])];
    for number in 0..layers {
        let below = if number + 1 < layers { layer(number + 1) } else { vec!["bottom".to_owned()] };
        files.extend(layer(number).iter().map(|name| file(name, &below)));
    }
    files
}

/// Documents of one file; `requires` returns the requirements of each.
fn documents(count: usize, requires: impl Fn(usize) -> std::ops::Range<usize>) -> Files {
    let document = |at: usize| module(&format!("m{at}"), &names("m", requires(at)), true);
    let all: Vec<String> = (0..count).map(document).collect();
    vec![("m0/skaffold.yaml".to_owned(), all.join("---\n"))]
}

fn names(start: &str, numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("{start}{number}")).collect()
}

fn write(folder: &Path, files: &Files) -> std::io::Result<()> {
    // Marks a repository: requirements may refer to any file in it.
    std::fs::create_dir_all(folder.join(".git"))?;
    for (path, text) in files {
        let full = folder.join(path);
        std::fs::create_dir_all(full.parent().unwrap_or(folder))?;
        std::fs::write(full, text)?;
    }
    Ok(())
}

/// Writes a chain of `count` modules.
pub(crate) fn write_chain(folder: &Path, count: usize) -> std::io::Result<()> {
    write(folder, &chain(count))
}

/// Measures all shapes.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let kept = std::env::var("PURLIN_TREES").ok().map(PathBuf::from);
    let folder = kept
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("purlin-bench-skaffold-{}", std::process::id())));
    let size = options.size;
    let count = 300 * size;
    let shapes: [(&str, Files, &str); 7] = [
        ("chain", chain(1_000 * size), "goal 40"),
        ("star", star(1_000 * size), "goal 40"),
        ("diamond", diamond(27, 36 * size), "goal 100"),
        ("documents, one requiring the rest", documents(count, |at| 1..if at == 0 { count } else { 1 }), "goal 30"),
        ("documents, each requiring the next", documents(count, |at| at + 1..count.min(at + 2)), "goal 30"),
        ("documents, each requiring the next 20", documents(count, |at| at + 1..count.min(at + 21)), "no goal"),
        ("long chain", chain(10_000 * size), "goal 400"),
    ];
    let mut rows = Vec::new();
    for (name, files, goal) in shapes {
        let place = folder.join(name.replace([',', ' '], "-"));
        if write(&place, &files).is_err() {
            continue;
        }
        let first = place.join("m0");
        let bytes = run_in(&first, &["skaffold", "diagnose", "--yaml-only"]);
        let best = shortest(7, || {
            run_in(&first, &["skaffold", "diagnose", "--yaml-only"]);
        });
        let check = shortest(5, || {
            run_in(&first, &["check"]);
        });
        rows.push(
            Row::new(format!("skaffold: {name}"), ms(best), "ms").remark(format!("{goal}; writes {bytes} bytes")),
        );
        rows.push(Row::new(format!("skaffold: {name}, check"), ms(check), "ms"));
    }
    if kept.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    rows
}
