//! Sets each limit low in each dialect that it applies to: every run must end with exit code 3 and name the limit's
//! rule.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // A test touches the outside, and may panic.

use purlin_suite::{Scratch, environment, run};

/// A project of a dialect that slightly exceeds a limit.
struct Row {
    limit: &'static str,
    rule: &'static str,
    dialect: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const GARDEN: &str = "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\n";
const CHART: (&str, &str) = ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
const SKAFFOLD: &str = "apiVersion: skaffold/v4beta14\nkind: Config\nbuild: {artifacts: [{image: a}]}\n";
const SCHEMA: &str = r#"{"properties": {"a": {"pattern": "[a-z]{50}"}}, "allOf": [{}, {}, {}, {}]}"#;
const TOSCA: &str = "tosca_definitions_version: tosca_2_0\nservice_template:\n  node_templates: {}\n  outputs:\n    a: {value: {$concat: [aaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbb]}}\n    b: {value: [[[[1]]]]}\n";
const UNFURL: &str = "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    tosca_definitions_version: tosca_simple_unfurl_1_0_0\n    node_types:\n      Open: {derived_from: tosca.nodes.Root, metadata: {additionalProperties: true}}\n    topology_template:\n      node_templates:\n        n:\n          type: Open\n          properties:\n            a: \"{{ 'x' * 100 }}\"\n            b: \"{{ range(100) | list }}\"\n";

const fn row(
    limit: &'static str,
    rule: &'static str,
    dialect: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> Row {
    Row { limit, rule, dialect, files }
}

const ROWS: &[Row] = &[
    row(
        "fuel=1",
        "limit-fuel",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: \"${1 + 1}\", b: [\"${2 + 2}\"]}\n",
        )],
    ),
    row(
        "variants=1",
        "limit-variants",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}, {name: prod}]\n",
        )],
    ),
    row(
        "problems=1",
        "limit-problems",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: \"${var.x}\", b: \"${var.y}\"}\n",
        )],
    ),
    row(
        "string-size=8",
        "limit-string-size",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: \"${'aaaaaaaa' + 'b'}\"}\n",
        )],
    ),
    row(
        "list-items=3",
        "limit-list-items",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: \"${range(1, 9)}\"}\n",
        )],
    ),
    row(
        "memory=100",
        "limit-memory",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: \"${indent('x', 100000)}\"}\n",
        )],
    ),
    row(
        "output-size=40",
        "limit-output-size",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: [\"${1}\", 2, 3, 4, 5, 6, 7, 8]}\n",
        )],
    ),
    row(
        "depth=3",
        "limit-depth",
        "garden",
        &[(
            "project.garden.yml",
            "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{name: dev}]\nvariables: {a: [[[[1]]]]}\n",
        )],
    ),
    row("nodes=10", "limit-nodes", "garden", &[("project.garden.yml", GARDEN)]),
    row("file-size=10", "limit-file-size", "garden", &[("project.garden.yml", GARDEN)]),
    row("total-size=10", "limit-total-size", "garden", &[("project.garden.yml", GARDEN)]),
    row("fuel=1", "limit-fuel", "charts", &[CHART, ("templates/a.yaml", "{{ range until 9 }}{{ . }}{{ end }}")]),
    row("string-size=8", "limit-string-size", "charts", &[CHART, ("templates/a.yaml", "a: {{ repeat 9 \"x\" }}")]),
    row("list-items=3", "limit-list-items", "charts", &[CHART, ("templates/a.yaml", "a: {{ until 9 | len }}")]),
    row("output-size=8", "limit-output-size", "charts", &[CHART, ("templates/a.yaml", "a: aaaaaaaaaaaaaaaaaaa\n")]),
    row(
        "include-depth=3",
        "limit-include-depth",
        "charts",
        &[CHART, ("templates/a.yaml", "{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}")],
    ),
    row(
        "tpl-depth=2",
        "limit-depth",
        "charts",
        &[CHART, ("values.yaml", "a: \"{{ tpl .Values.a . }}\"\n"), ("templates/a.yaml", "{{ tpl .Values.a . }}")],
    ),
    row(
        "regex-size=100",
        "limit-regex-size",
        "charts",
        &[CHART, ("templates/a.yaml", "a: {{ mustRegexMatch \"[a-z]{50}\" \"a\" }}")],
    ),
    row(
        "regex-size=100",
        "limit-regex-size",
        "charts",
        &[CHART, ("templates/a.yaml", "a: {{ regexMatch \"[a-z]{50}\" \"a\" }}")],
    ),
    row("fuel=20", "limit-fuel", "charts", &[CHART, ("values.schema.json", SCHEMA), ("templates/a.yaml", "a: b\n")]),
    row(
        "regex-size=100",
        "limit-regex-size",
        "charts",
        &[CHART, ("values.yaml", "a: b\n"), ("values.schema.json", SCHEMA), ("templates/a.yaml", "a: b\n")],
    ),
    row(
        "depth=3",
        "limit-depth",
        "charts",
        &[CHART, ("values.yaml", "a: [[[[1]]]]\n"), ("templates/a.yaml", "a: b\n")],
    ),
    row(
        "file-size=45",
        "limit-file-size",
        "charts",
        &[CHART, ("templates/a.yaml", "a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n")],
    ),
    row("total-size=45", "limit-total-size", "charts", &[CHART, ("templates/a.yaml", "a: bbbbbbbbbbbbbbbbbbbb\n")]),
    row("fuel=1", "limit-fuel", "tosca", &[("service.yaml", TOSCA)]),
    row("string-size=8", "limit-string-size", "tosca", &[("service.yaml", TOSCA)]),
    row("depth=3", "limit-depth", "tosca", &[("service.yaml", TOSCA)]),
    row("nodes=10", "limit-nodes", "tosca", &[("service.yaml", TOSCA)]),
    row("total-size=10", "limit-total-size", "tosca", &[("service.yaml", TOSCA)]),
    row("fuel=1", "limit-fuel", "unfurl", &[("ensemble.yaml", UNFURL)]),
    row("string-size=8", "limit-string-size", "unfurl", &[("ensemble.yaml", UNFURL)]),
    row("list-items=3", "limit-list-items", "unfurl", &[("ensemble.yaml", UNFURL)]),
    row("nodes=10", "limit-nodes", "unfurl", &[("ensemble.yaml", UNFURL)]),
    row("nodes=5", "limit-nodes", "skaffold", &[("skaffold.yaml", SKAFFOLD)]),
    row("depth=2", "limit-depth", "skaffold", &[("skaffold.yaml", SKAFFOLD)]),
    row("file-size=10", "limit-file-size", "skaffold", &[("skaffold.yaml", SKAFFOLD)]),
    row("total-size=10", "limit-total-size", "skaffold", &[("skaffold.yaml", SKAFFOLD)]),
];

#[test]
fn every_limit_bites_in_every_dialect_it_applies_to() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let scratch = Scratch::new(&format!("limits-{}-{}", row.dialect, row.limit)).unwrap();
        for (path, text) in row.files {
            let path = scratch.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let command = if row.dialect == "tosca" || row.dialect == "unfurl" { "resolve" } else { "check" };
        let args = [command, "--limit", row.limit].map(str::to_owned);
        let ran = run(&args, scratch.path(), &environment(""));
        if ran.code != 3 || !ran.stderr.contains(&format!("[{}", row.rule)) {
            let said: String = ran.stderr.chars().take(300).collect();
            wrong.push(format!("{} {}: exit {}, {said}", row.dialect, row.limit, ran.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
