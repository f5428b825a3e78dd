//! A Garden project of many exec actions resolved completely, and many template strings.
//!
//! `PURLIN_GARDEN` names a folder to keep the generated projects in, for measuring the program itself on them.

use crate::Options;
use crate::measure::{Row, ms, put, run_in, shortest, timed};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Actions in one file.
const PER_FILE: usize = 20;

const PROJECT: &str = "apiVersion: garden.io/v2
kind: Project
name: bench
environments:
  - name: dev
    variables: {stage: dev, replicas: 2}
variables:
  host: example.org
  image: \"registry.${var.host}/app\"
  settings: {port: 8080, tags: [a, b, c]}
";

fn folder(name: &str) -> PathBuf {
    let kept = std::env::var("PURLIN_GARDEN").map(PathBuf::from);
    kept.unwrap_or_else(|_| std::env::temp_dir().join(format!("purlin-bench-{}", std::process::id()))).join(name)
}

/// One action: variables of its own, seven templates, and a reference to the previous one.
fn action(out: &mut String, number: usize) {
    let before = (!number.is_multiple_of(10)).then(|| number - 1);
    let _ = write!(out, "---\nkind: Run\ntype: exec\nname: action-{number}\ninclude: []\n");
    if let Some(before) = before {
        let _ = writeln!(out, "dependencies: [run.action-{before}]");
    }
    let _ = write!(
        out,
        "variables:
  index: {number}
  label: \"a-${{var.index}}-${{environment.name}}\"
spec:
  shell: true
  command: [echo, \"${{var.image}}:${{var.label}}\", \"${{join(var.settings.tags, ',')}}\"]
  env:
    INDEX: \"${{string(var.index + 1)}}\"
    STAGE: \"${{var.stage == 'dev' ? 'development' : 'production'}}\"
    NAME: \"${{upper(this.name)}}\"
"
    );
    if let Some(before) = before {
        let _ = writeln!(out, "    BEFORE: \"${{actions.run.action-{before}.version}}\"");
    }
}

/// Writes a project with `count` actions.
pub(crate) fn actions(folder: &Path, count: usize) -> std::io::Result<()> {
    put(&folder.join("project.garden.yml"), PROJECT)?;
    for file in 0..count.div_ceil(PER_FILE) {
        let mut text = String::new();
        for number in file * PER_FILE..count.min((file + 1) * PER_FILE) {
            action(&mut text, number);
        }
        put(&folder.join(format!("svc-{file}/garden.yml")), &text)?;
    }
    Ok(())
}

/// One action with a list of strings, each a different expression.
fn strings(folder: &Path, count: usize) -> std::io::Result<()> {
    put(&folder.join("project.garden.yml"), PROJECT)?;
    let mut text = String::from("kind: Run\ntype: exec\nname: strings\ninclude: []\nspec:\n  command:\n");
    for number in 0..count {
        let _ = match number % 5 {
            0 => writeln!(text, "    - \"${{var.host}}-{number}\""),
            1 => writeln!(text, "    - ${{var.settings.port + {number}}}"),
            2 => writeln!(text, "    - \"${{upper(var.stage)}}/${{var.settings.tags[{}]}}\"", number % 3),
            3 => writeln!(text, "    - \"${{var.missing-{number} || 'none'}} ${{environment.name}}\""),
            _ => writeln!(text, "    - \"${{if var.replicas > 1}}many {number}${{else}}one${{endif}}\""),
        };
    }
    put(&folder.join("strings/garden.yml"), &text)
}

fn measured(what: String, folder: &Path) -> Row {
    let bytes = run_in(folder, &["resolve"]);
    let best = shortest(5, || {
        run_in(folder, &["resolve"]);
    });
    Row::new(what, ms(best), "ms").remark(format!("{bytes} bytes of output"))
}

/// Measures projects of two sizes, and a file of strings.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for count in [1_000 * options.size, 10_000 * options.size] {
        let folder = folder(&format!("garden-{count}"));
        if actions(&folder, count).is_ok() {
            rows.push(measured(format!("garden: {count} exec actions resolved"), &folder));
        }
    }
    let (many, place) = (100_000 * options.size, folder("garden-many"));
    if actions(&place, many).is_ok() {
        rows.push(timed(&place, &["resolve"], 1).row(format!("garden: {many} exec actions resolved")));
    }
    let count = 10_000 * options.size;
    let folder = folder(&format!("garden-strings-{count}"));
    if strings(&folder, count).is_ok() {
        rows.push(measured(format!("garden: {count} template strings"), &folder));
    }
    rows
}
