//! Checking a repository gives the same bytes and the same exit code with any number of threads, even if limits are
//! exceeded.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_suite::projects::projects;
use purlin_suite::{Ran, Scratch, environment, run, section_files, top};
use std::collections::BTreeMap;

const THREADS: &[&str] = &["2", "3", "8", "64"];

/// Numbers of threads when many limits are tried.
const FEW: &[&str] = &["3", "64"];

/// Prints all problems, so that all are compared.
const ALL: &[&str] = &["--limit", "diagnostics=1000000", "--limit", "diagnostics-per-file=1000000"];

type Files = BTreeMap<String, String>;

/// A repository with several projects, each in a separate folder.
fn repository(name: &str, projects: &[Files]) -> Scratch {
    let scratch = Scratch::new(name).unwrap();
    for (at, files) in projects.iter().enumerate() {
        for (path, text) in files {
            let place = scratch.path().join(format!("{at:04}")).join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
    }
    scratch
}

fn check(repository: &Scratch, threads: &str, more: &[&str]) -> Ran {
    let words = ["check", ".", "--threads", threads];
    let words = words.iter().chain(more).map(|word| (*word).to_owned());
    run(&words.collect::<Vec<_>>(), repository.path(), &environment(""))
}

/// Compares the reports; returns that of one thread.
fn compare(repository: &Scratch, threads: &[&str], words: &[&str]) -> Ran {
    let expected = check(repository, "1", words);
    for threads in threads {
        let found = check(repository, threads, words);
        for (found, expected) in [(&found.stdout, &expected.stdout), (&found.stderr, &expected.stderr)] {
            let differing = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
            assert_eq!(differing, None, "with {threads} threads and {words:?}");
            assert_eq!(found.len(), expected.len(), "with {threads} threads and {words:?}");
        }
        assert_eq!(found.code, expected.code, "with {threads} threads and {words:?}");
    }
    expected
}

fn compare_suite(area: &str) {
    let projects = section_files(&top().join("tests/suite").join(area));
    let report = compare(&repository(&format!("threads-{area}"), &projects), THREADS, ALL);
    assert!(report.stderr.lines().count() > 20, "{}", report.stderr);
}

#[test]
fn garden_projects() {
    compare_suite("garden");
}

#[test]
fn charts() {
    compare_suite("charts");
}

#[test]
fn skaffold_configurations() {
    compare_suite("skaffold");
}

#[test]
fn services() {
    compare_suite("tosca");
}

#[test]
fn ensembles() {
    compare_suite("unfurl");
}

/// A service and an ensemble without problems, beside which a repository has several of each.
const BESIDE: [(&str, &str); 2] = [
    ("service.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {}\n"),
    (
        "ensemble.yaml",
        "apiVersion: unfurl/v1.0.0\nkind: Ensemble\nspec:\n  service_template:\n    topology_template: {}\n",
    ),
];

/// Every fourth project is compared.
const SOME: usize = 4;

/// The findings in the first project, as JSON.
fn findings_in_first(repository: &Scratch) -> Vec<String> {
    let report = check(repository, "1", &["--diagnostics", "json"]);
    let lines = report.stdout.lines().filter(|line| line.contains("\"0000/"));
    lines.map(str::to_owned).collect()
}

/// Built-in types are read once for all services of a repository; one alone reads its own.
#[test]
fn built_in_types_are_the_same_alone_and_in_company() {
    let mut found = 0;
    for (area, (name, text)) in ["tosca", "unfurl"].into_iter().zip(BESIDE) {
        for files in section_files(&top().join("tests/suite").join(area)).into_iter().step_by(SOME) {
            let beside = Files::from([(name.to_owned(), text.to_owned())]);
            let alone = findings_in_first(&repository("threads-alone", std::slice::from_ref(&files)));
            let among = findings_in_first(&repository("threads-among", &[files.clone(), beside]));
            assert_eq!(alone, among, "{files:#?}");
            found += alone.len();
        }
    }
    assert!(found > 30, "{found}");
}

#[test]
fn beginners_mistakes() {
    compare_suite("mistakes");
}

#[test]
fn mixed_repositories() {
    for area in ["composition", "kustomize", "project", "repository"] {
        compare_suite(area);
    }
}

/// Each limit is exceeded by some of the projects, or by all together.
#[test]
fn limits_give_the_same_verdict() {
    let mut all: Vec<Files> = Vec::new();
    for _ in 0..3 {
        all.extend(projects().into_iter().map(|(_, files)| files));
    }
    let repository = repository("threads-limits", &all);
    let sound = compare(&repository, THREADS, ALL).code;
    let limits = [
        "total-size=2000",
        "total-size=20000",
        "total-size=60000",
        "memory=1000",
        "memory=100000",
        "fuel=100",
        "fuel=20000",
        "problems=3",
        "diagnostics=2",
        "file-size=700",
        "nodes=100",
    ];
    let verdicts = limits.map(|limit| compare(&repository, FEW, &["--limit", limit]).code);
    assert!(verdicts.iter().filter(|code| **code != sound).count() > 5, "{verdicts:?}");
}

/// Charts that each need more memory than a thread's share: they are checked again, alone.
#[test]
fn what_needs_much_memory_is_checked_alone() {
    let chart = |at: usize| {
        let large = "{{- $x := repeat 6000000 \"x\" -}}".repeat(6);
        let template = format!("{large}\na: {{{{ len $x }}}}\n");
        Files::from([
            ("Chart.yaml".to_owned(), format!("apiVersion: v2\nname: c{at}\nversion: 1.0.0\n")),
            ("templates/a.yaml".to_owned(), template),
        ])
    };
    let charts: Vec<Files> = (0..6).map(chart).collect();
    let repository = repository("threads-memory", &charts);
    let report = compare(&repository, THREADS, ALL);
    assert!(!report.stderr.contains("evaluation makes values"), "{}", report.stderr);
    compare(&repository, THREADS, &["--limit", "memory=20000000"]);
}
