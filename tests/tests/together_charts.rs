//! Values files of a chart that are rendered together have the same results as each by itself: the same problems, and
//! the same objects with the same values from the same locations.

use purlin_compiler::search;
use purlin_model::Request;
use purlin_suite::edits::{Dice, assert_same, everything, location, rounds, shared_nodes};
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// What a template may print, each under a key of a mapping; `N` is the number of a section.
const LINES: &[&str] = &[
    "image: {{ .Values.partN.image.name }}:{{ .Values.partN.image.tag }}",
    "replicas: {{ .Values.partN.replicas }}",
    "all: {{ toJson .Values.partN }}",
    "keys: {{ keys .Values.partN | sortAlpha | join \",\" | quote }}",
    "{{- range $key, $value := .Values.partN.env }}\n  {{ $key }}: {{ $value | quote }}\n  {{- end }}",
    "{{- with .Values.partN.extra }}\n  extra: {{ toYaml . | nindent 4 }}\n  {{- end }}",
    "ports: {{ range .Values.partN.ports }}{{ .name }}={{ .port }} {{ end }}",
    "first: {{ (first .Values.partN.ports).port }}",
    "{{- if .Values.partN.missing }}\n  missing: {{ .Values.partN.missing }}\n  {{- end }}",
    "fallback: {{ .Values.partN.missing | default .Values.name }}",
    "has: {{ hasKey .Values.partN \"extra\" }}",
    "kind: {{ kindOf .Values.partN.image }}",
    "named: {{ include \"web.name\" . }}",
    "inner: {{ include \"web.image\" .Values.partN.image }}",
    "text: {{ tpl .Values.partN.text . }}",
    "sum: {{ include (print $.Template.BasePath \"/part0.yaml\") . | sha256sum }}",
    "drawn: {{ randAlphaNum 8 }}",
    "merged: {{ toJson (merge (dict) .Values.partN.image .Values.common) }}",
    "dug: {{ dig \"image\" \"tag\" \"none\" .Values.partN }}",
    "path: {{ get .Values.partN.image \"tag\" }}",
    "whole: {{ len .Values }}",
    "global: {{ (.Values.global).zone | default \"none\" }}",
];

/// Lines that change what other files see, or fail.
const ODD: &[&str] = &[
    "{{- $_ := set .Values.partN \"replicas\" 9 }}\n  changed: yes",
    "{{- if .Values.partN.extra }}{{ $_ := unset .Values.partN.image \"tag\" }}{{ end }}\n  unset: yes",
    "needed: {{ required \"a tag\" .Values.partN.tag }}",
    "broken: [{{ .Values.partN.replicas }}",
    "{{- $_ := set . \"seen\" .Values.name }}\n  seen: {{ .seen }}",
];

const HELPERS: &str = "{{- define \"web.name\" -}}{{ .Values.name | default .Chart.Name }}{{- end -}}
{{- define \"web.image\" -}}{{ .name }}:{{ .tag | default \"latest\" }}{{- end -}}
";

const SECTIONS: usize = 4;

const FILES: [&str; 4] = ["values-dev.yaml", "values-stage.yaml", "values-prod.yaml", "values-test.yaml"];

/// What a values file may set in a section.
const SETTINGS: &[&str] = &[
    "replicas: 3",
    "image: {tag: \"2\"}",
    "image: {name: other, tag: \"1\"}",
    "env: {A: x}",
    "env: null",
    "extra: {a: 1, b: [1, 2]}",
    "ports: [{name: web, port: 1}]",
    "missing: here",
    "text: \"{{ .Values.name }}-{{ .Release.Name }}\"",
];

fn template(number: usize, dice: &mut Dice) -> String {
    let mut text =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: part{number}}}\ndata:\n  own: part{number}\n");
    for _ in 0..=dice.roll(4) {
        let line = if dice.roll(24) == 0 { dice.one(ODD) } else { dice.one(LINES) };
        let section = dice.roll(SECTIONS).to_string();
        let _ = writeln!(text, "  {}", line.replace("partN", &format!("part{section}")));
    }
    text
}

fn own_values() -> String {
    let mut text = String::from("name: web\ncommon: {tag: none, team: a}\ninner: {enabled: true, name: inner}\n");
    for number in 0..SECTIONS {
        let _ = writeln!(
            text,
            "part{number}:\n  replicas: 1\n  image: {{name: web, tag: \"1\"}}\n  env: {{A: a, B: b}}\n  \
             ports: [{{name: http, port: 80}}, {{name: https, port: 443}}]\n  text: plain"
        );
    }
    text
}

fn values(dice: &mut Dice) -> String {
    let mut text = String::new();
    for number in 0..SECTIONS {
        if dice.roll(3) == 0 {
            let _ = writeln!(text, "part{number}:\n  {}", dice.one(SETTINGS));
        }
    }
    match dice.roll(6) {
        0 => text.push_str("name: other\n"),
        1 => text.push_str("global: {zone: a}\n"),
        2 => text.push_str("inner: {enabled: false}\n"),
        3 => text.push_str("inner: {name: changed}\n"),
        _ => {}
    }
    text
}

/// A chart with values files and a chart inside it.
fn chart(dice: &mut Dice) -> Vec<(String, String)> {
    let parent = "apiVersion: v2\nname: web\nversion: 1.0.0\n\
                  dependencies: [{name: inner, version: 1.0.0, repository: \"\", condition: inner.enabled}]\n";
    let inner = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.name }}}\n\
                 data: {zone: {{ (.Values.global).zone | default \"none\" }}, chart: {{ .Chart.Name }}}\n";
    let mut files: Vec<(String, String)> = [
        ("Chart.yaml", parent),
        ("templates/_helpers.tpl", HELPERS),
        ("charts/inner/Chart.yaml", "apiVersion: v2\nname: inner\nversion: 1.0.0\n"),
        ("charts/inner/values.yaml", "name: inner\n"),
        ("charts/inner/templates/all.yaml", inner),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .to_vec();
    files.push(("values.yaml".to_owned(), own_values()));
    files.extend((0..6).map(|number| (format!("templates/part{number}.yaml"), template(number, dice))));
    files.extend(FILES.map(|file| (file.to_owned(), values(dice))));
    files
}

fn session(files: &[(String, String)]) -> Session {
    let world = files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.file(path, text));
    Session::new(Arc::new(world))
}

fn problems(session: &Session, found: &[Diagnostic]) -> BTreeSet<String> {
    let shown = |problem: &Diagnostic| {
        format!("{} {} {} {:?}", problem.rule.name, location(session, problem.span), problem.message, problem.hints)
    };
    found.iter().map(shown).collect()
}

/// Compares both ways, and counts the objects that the first two values files share.
fn compare(files: &[(String, String)], is_rehearsal: bool) -> usize {
    let show = || files.iter().map(|(path, text)| format!("=== {path}\n{text}\n")).collect::<String>();
    let request = |file: &&str| {
        let mut request = Request { values: vec![(*file).to_owned()], manifests: true, ..Request::default() };
        request.chart.is_rehearsal = is_rehearsal;
        request
    };
    let requests: Vec<Request> = FILES.iter().map(request).collect();
    let all_session = session(files);
    let found = search(&all_session, &Request::default(), &[".".to_owned()]);
    let Some(claim) = found.claims.into_iter().next() else { return 0 };
    let together = claim.resolve_all(&all_session, &requests.iter().collect::<Vec<_>>());
    for (request, (resolved, found)) in requests.iter().zip(&together) {
        let own = session(files);
        let alone = claim.resolve(&own, request);
        let expected = problems(&own, &own.sink.take());
        assert_eq!(problems(&all_session, found), expected, "problems with {:?} of\n{}", request.values, show());
        let expected = alone.map(|alone| everything(&own, &alone)).unwrap_or_default();
        let found = resolved.as_ref().map(|resolved| everything(&all_session, resolved)).unwrap_or_default();
        assert_same(&found, &expected, &format!("with {:?} of\n{}", request.values, show()));
    }
    match together.as_slice() {
        [(Some(first), _), (Some(second), _), ..] => shared_nodes(first, second),
        _ => 0,
    }
}

#[test]
fn values_files_together_are_what_they_are_alone() {
    let count = rounds(60);
    let mut dice = Dice(7);
    let mut shared = 0;
    for round in 0..count {
        shared += compare(&chart(&mut dice), round % 2 == 0);
    }
    assert!(shared > count, "only {shared} objects are shared in {count} rounds");
    println!("{shared} objects shared in {count} rounds");
}
