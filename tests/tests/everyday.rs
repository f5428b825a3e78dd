//! Promises for everyday use: every option is honoured or refused, every personality lists its commands, a beginner's
//! mistake gives one message, and the README and the book are correct.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_suite::{Ran, Scratch, environment, run, top, updating};
use std::fmt::Write;
use std::path::Path;

/// The smallest project of each dialect: its file, and its text.
const PROJECTS: &[(&str, &str, &str)] = &[
    (
        "garden",
        "project.garden.yml",
        "apiVersion: garden.io/v2\nkind: Project\nname: a\nenvironments: [{ name: x }]\nproviders: [{ name: exec }]\n",
    ),
    (
        "skaffold",
        "skaffold.yaml",
        "apiVersion: skaffold/v4beta13\nkind: Config\nmetadata: { name: x }\nprofiles: [{ name: x }]\n",
    ),
    ("charts", "Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n"),
    ("tosca", "service.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {}\n"),
    (
        "unfurl",
        "ensemble.yaml",
        "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec: { service_template: { topology_template: {} } }\n",
    ),
];

fn purlin(folder: &Path, args: &[&str]) -> Ran {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    run(&args, folder, &environment(""))
}

#[test]
fn every_option_is_honoured_or_refused_by_every_dialect() {
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for (dialect, file, text) in PROJECTS {
        let scratch = Scratch::new(&format!("options-{dialect}")).unwrap();
        std::fs::write(scratch.path().join(file), text).unwrap();
        std::fs::write(scratch.path().join("more"), "{}\n").unwrap();
        for (option, dialects) in purlin_cli::option_table() {
            let value = match option {
                "set" | "set-string" | "var" | "input" => "x=y",
                "set-json" => "x=1",
                "values" | "var-file" | "secret-file" | "inputs" => "more",
                "profile-path" => ".",
                "propagate-profiles" | "profile-auto-activation" => "true",
                _ => "x",
            };
            pairs += 1;
            let ran = purlin(scratch.path(), &["resolve", &format!("--{option}={value}")]);
            let refused = ran.code == 2 && ran.stderr.contains(&format!("`--{option}` applies to "));
            if refused == dialects.contains(dialect) {
                wrong.push(format!("--{option} in {dialect}: exit {} {}", ran.code, ran.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pairs >= 75, "{pairs} pairs");
}

#[test]
fn every_personality_says_what_it_has_and_what_not() {
    let scratch = Scratch::new("personalities").unwrap();
    for personality in purlin_cli::personality::PERSONALITIES {
        for args in [["--help"], ["-h"], ["help"]] {
            let ran = purlin(scratch.path(), &[&[personality.name][..], &args[..]].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{} {args:?}", personality.name);
            for (command, _) in personality.commands {
                assert!(ran.stdout.contains(command), "{} does not list `{command}`", personality.name);
            }
        }
        for command in personality.refused {
            let mut args = vec![personality.name];
            args.extend(command.split(' '));
            let ran = purlin(scratch.path(), &args);
            assert_eq!(ran.code, 2, "{} {command}: {}", personality.name, ran.stderr);
            let words = format!("`{} {command}` is not supported by Purlin", personality.name);
            assert!(ran.stderr.contains(&words), "{} {command}: {}", personality.name, ran.stderr);
        }
        let ran = purlin(scratch.path(), &[personality.name, "no-such-command"]);
        assert_eq!(ran.code, 2, "{}: {}", personality.name, ran.stderr);
        assert!(ran.stderr.contains("unknown command `no-such-command`"), "{}: {}", personality.name, ran.stderr);
    }
}

/// The pages of mistakes: dialect, heading, and text.
const MISTAKES: &[(&str, &str)] = &[
    ("garden", "Garden projects"),
    ("skaffold", "Skaffold configurations"),
    ("charts", "Charts"),
    ("tosca", "TOSCA service templates"),
    ("unfurl", "Unfurl ensembles"),
];

/// A mistake: its title, and the messages about it.
fn mistakes(dialect: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(top().join(format!("tests/suite/mistakes/{dialect}.md"))).unwrap();
    let sections = page.split("\n## ").skip(1);
    let section = |text: &str| {
        let title = text.lines().next().unwrap().to_owned();
        let said = text.split("```console\n").nth(1).unwrap().split("\n```").next().unwrap().to_owned();
        (title, said)
    };
    sections.map(section).collect()
}

#[test]
fn a_mistake_gives_one_error_with_a_hint() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (dialect, _) in MISTAKES {
        let all = mistakes(dialect);
        assert!(all.len() >= 20, "{dialect}: {} mistakes", all.len());
        count += all.len();
        for (title, said) in all {
            let errors = said.lines().filter(|line| line.starts_with("error")).count();
            let warnings = said.lines().filter(|line| line.starts_with("warning")).count();
            let hints = said.lines().filter(|line| line.trim_start().starts_with("= hint: ")).count();
            if (errors, warnings, hints) != (1, 0, 1) {
                wrong.push(format!("{dialect}: {title}: {errors} errors, {warnings} warnings, {hints} hints"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 100, "{count} mistakes");
}

/// Words that must not occur in a message: those of parsers and of implementation languages, and those that are hard to
/// understand.
const FORBIDDEN: &[&str] = &[
    "nil pointer",
    "interface {}",
    "int64",
    "float64",
    "gotpl",
    "error converting YAML",
    "mapping values are not allowed",
    "whole number",
    "is no key",
    "is no name",
    "stands",
    "in the end",
    "in a ring",
    "in a circle",
    "there is no input",
    "there is no function",
    "may not be used here",
    "less than nothing",
    " lies ",
    "/tmp/",
    "panicked",
];

#[test]
fn messages_use_the_words_that_people_use() {
    let mut wrong = Vec::new();
    for (dialect, _) in MISTAKES {
        for (title, said) in mistakes(dialect) {
            // Quotations from the user's own file are not checked.
            let own =
                said.lines().filter(|line| !line.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '|'));
            let text = own.collect::<Vec<_>>().join("\n");
            for word in FORBIDDEN.iter().filter(|word| text.contains(**word)) {
                wrong.push(format!("{dialect}: {title}: `{word}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every message recorded in the suite, for beginners or not.
#[test]
fn no_message_of_the_suite_must_be_read_twice() {
    let mut wrong = Vec::new();
    let mut folders = vec![top().join("tests/suite"), top().join("docs/rules")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let said = text.lines().filter(|line| {
                let line = line.trim_start();
                line.starts_with("error[") || line.starts_with("warning[") || line.starts_with("= hint: ")
            });
            for line in said {
                let found = TWICE.iter().filter(|word| line.contains(**word));
                wrong.extend(found.map(|word| format!("{}: `{word}`: {line}", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words that are hard to understand; those of [`FORBIDDEN`] that are never quoted.
const TWICE: &[&str] = &[
    "whole number",
    "is no key",
    "is no name",
    " stands ",
    " stands\n",
    "in the end",
    "in a ring",
    "in a circle",
    "may not be used here",
    "less than nothing",
    " lies outside",
    "there is no input",
    "there is no function",
    "there is no filter",
    "there is no instance",
];

#[test]
fn the_page_of_mistakes_is_made_from_the_suite() {
    let mut page = String::from(
        "# Mistakes and what Purlin says about them\n\nEach of these is run as a test: one mistake, one message, at the very \
         place, with a hint. The files are in `tests/suite/mistakes`.\n",
    );
    for (dialect, heading) in MISTAKES {
        let _ = write!(page, "\n## {heading}\n");
        for (title, said) in mistakes(dialect) {
            let message =
                said.lines().skip(1).filter(|line| !line.starts_with("checked ") && !line.starts_with("[exit"));
            let message = message.collect::<Vec<_>>().join("\n");
            let _ = write!(page, "\n### {title}\n\n```text\n{}\n```\n", message.trim_end());
        }
    }
    let file = top().join("docs/mistakes.md");
    if updating() {
        std::fs::write(&file, &page).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap_or_default() == page, "docs/mistakes.md: UPDATE=1 rewrites it");
}

/// The sessions on the front page, in the folder of their example. `…` replaces omitted lines.
#[test]
fn the_sessions_of_the_readme_are_true() {
    let readme = std::fs::read_to_string(top().join("README.md")).unwrap();
    let scratch = Scratch::new("readme").unwrap();
    let shop = scratch.path().join("storefront");
    copy(&top().join("examples/storefront"), &shop);
    std::fs::create_dir(shop.join(".git")).unwrap();
    let blocks = readme.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let mut tried = 0;
    for session in blocks.flat_map(|block| block.split("$ purlin ").skip(1)) {
        let (command, expected) = session.split_once('\n').unwrap_or((session, ""));
        let ran = purlin(&shop, &command.split(' ').collect::<Vec<_>>());
        let answer = format!("{}{}", ran.stdout, ran.stderr);
        let mut left = answer.as_str();
        for part in expected.trim_end().split("  …") {
            let part = part.trim_matches('\n');
            let Some(at) = left.find(part) else { panic!("README shows:\n{part}\npurlin {command} says:\n{answer}") };
            left = &left[at + part.len()..];
        }
        tried += 1;
    }
    assert!(tried >= 3, "README shows {tried} commands");
}

#[test]
fn our_own_repository_has_no_errors() {
    let ran = purlin(&top(), &["check"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("examples/storefront (garden)"), "{}", ran.stderr);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_hook_of_pre_commit_checks_the_files_it_is_given() {
    let text = std::fs::read_to_string(top().join(".pre-commit-hooks.yaml")).unwrap();
    let entries: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("entry: purlin ")).collect();
    assert_eq!(entries.first(), Some(&"check"));
    let scratch = Scratch::new("hook").unwrap();
    copy(&top().join("examples/shop"), &scratch.path().join("shop"));
    // pre-commit runs the entry with the names of changed files.
    let ran = purlin(scratch.path(), &["check", "shop/project.garden.yml", "shop/templates.garden.yml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for entry in entries {
        let mut words: Vec<&str> = entry.split(' ').collect();
        words.push("shop/project.garden.yml");
        let ran = purlin(scratch.path(), &words);
        assert!(ran.code < 2, "{entry}: {}", ran.stderr);
    }
}

#[test]
fn the_book_lists_every_page_and_no_other() {
    let docs = top().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let links: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for link in &links {
        assert!(docs.join(link).exists(), "docs/SUMMARY.md: {link} is not there");
    }
    let mut folders = vec![docs.clone()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let page = path.strip_prefix(&docs).unwrap().to_string_lossy().into_owned();
            let is_listed = links.contains(&page.as_str()) || page == "SUMMARY.md" || !page.ends_with(".md");
            assert!(is_listed, "docs/SUMMARY.md does not list {page}");
        }
    }
}

/// Every YAML file of the recorded projects is formatted without a change in meaning, or left unchanged with a reason.
#[test]
fn formatting_keeps_what_recorded_files_mean() {
    let folder = std::env::var_os("PURLIN_CONFORMANCE").map_or_else(|| top().join("../shared/conformance"), Into::into);
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
                files.push(path);
            }
        }
    }
    files.sort();
    // All of them with `PURLIN_FORMAT=all`; a sample otherwise.
    let all = std::env::var_os("PURLIN_FORMAT").is_some_and(|value| value == "all");
    let step = if all { 1 } else { 40 };
    let (mut same, mut changed, mut untouched) = (0, 0, 0);
    let limits = purlin_syntax::Limits::default();
    for file in files.iter().step_by(step) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        match purlin_syntax::format::format(&text, &limits) {
            // The formatter itself compares trees and comments; this only checks that formatting is idempotent.
            Ok(new) if new == text => same += 1,
            Ok(new) => {
                changed += 1;
                let again = purlin_syntax::format::format(&new, &limits);
                assert_eq!(again.as_ref(), Ok(&new), "{}", file.display());
            }
            Err(reason) => {
                untouched += 1;
                assert!(!reason.to_string().is_empty());
            }
        }
    }
    println!("{same} same, {changed} formatted, {untouched} left as they are");
}
