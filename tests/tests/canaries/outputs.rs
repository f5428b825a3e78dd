//! Every output of values, tried on one project.

use crate::needles::Needles;
use crate::project::Project;
use purlin_suite::{environment, run};
use std::path::Path;

/// Commands that print the project as a whole.
const WHOLE: &[&str] = &[
    "resolve",
    "resolve -o json",
    "resolve --out whole.txt",
    "render",
    "graph",
    "graph -o dot",
    "graph -o mermaid",
    "graph -o svg",
    "graph -o json",
    "check",
    "check -o json",
    "check --diagnostics json",
    "check --all-envs",
    "check --diagnostics sarif",
    "check --diagnostics github",
    "resolve --diagnostics sarif",
    "diff --to-path ../two",
    "diff --to-path ../two -o json",
];

/// Runs everything on a project and searches the output. Returns the number of tried combinations of value and output.
pub fn search(project: &Project, folder: &Path) -> usize {
    let here = folder.join("one");
    let needles = Needles::of(&project.canaries);
    let mut found = Vec::new();
    let mut outputs = 0;
    let mut commands: Vec<Vec<String>> = WHOLE.iter().map(|line| with_options(line, project)).collect();
    for (node, field) in &project.fields {
        for format in ["-o text", "-o json", "--list-inputs"] {
            let mut words = vec!["why".to_owned(), node.clone(), field.clone()];
            words.extend(format.split(' ').map(str::to_owned).chain(project.options.iter().cloned()));
            commands.push(words);
        }
    }
    for (on, expression) in &project.expressions {
        let mut words = vec!["eval".to_owned(), "--trace".to_owned()];
        words.extend(on.iter().flat_map(|node| ["--on".to_owned(), node.clone()]));
        words.extend(project.options.iter().cloned());
        words.push(expression.clone());
        commands.push(words);
    }
    commands.extend(project.originals.iter().cloned());
    for command in &commands {
        outputs += 1;
        let ran = run(command, &here, &environment(""));
        assert_ne!(ran.code, 101, "`{}` failed: {}", command.join(" "), ran.stderr);
        let unknown = ran.stderr.contains("unexpected argument") || ran.stderr.contains("invalid value");
        assert!(ran.code != 2 || !unknown, "`{}`: {}", command.join(" "), ran.stderr);
        let written = ["whole.txt", "purlin.lock"].map(|name| std::fs::read_to_string(here.join(name)));
        let _ = std::fs::remove_file(here.join("whole.txt"));
        for text in [ran.stdout, ran.stderr].into_iter().chain(written.into_iter().flatten()) {
            if let Some((line, trace)) = needles.find(&text) {
                found.push(format!("`purlin {}` shows `{trace}`:\n    {line}", command.join(" ")));
            }
        }
    }
    assert!(found.is_empty(), "{} leaks, the first ones:\n{}", found.len(), found[..found.len().min(12)].join("\n"));
    if !project.broken {
        arrives(project, &here);
    }
    outputs * project.values
}

/// Checks that hidden values exist: they are shown with `--reveal`.
fn arrives(project: &Project, here: &Path) {
    let shown = run(&with_options("resolve --reveal", project), here, &environment(""));
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let hidden = run(&with_options("resolve", project), here, &environment(""));
    let secrets = hidden.stdout.matches("(secret)").count();
    assert!(
        secrets >= project.values / 2,
        "only {secrets} of {} values are secrets:\n{}",
        project.values,
        hidden.stdout
    );
    for canary in &project.canaries {
        let there = Needles::of(std::slice::from_ref(canary)).find(&shown.stdout).is_some();
        assert!(there, "the secret `{canary}` arrives nowhere:\n{}", shown.stdout);
    }
}

fn with_options(line: &str, project: &Project) -> Vec<String> {
    line.split(' ').map(str::to_owned).chain(project.options.iter().cloned()).collect()
}
