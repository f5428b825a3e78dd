//! Skaffold configurations: modules that require each other, profiles with patches, templates in fields.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};

const ROWS: &[(&str, &[&str])] = &[
    (
        "config",
        &[
            "build: {artifacts: [<artifact>]}\n",
            "build:\n  tagPolicy: {envTemplate: {template: '<template>'}}\n  artifacts: [<artifact>, <artifact>]\n",
            "build: {artifacts: [<artifact>, <artifact>, <artifact>]}\nprofiles:\n<profile><profile>",
            "requires: [{configs: [m<lower>]}, {configs: [m<lower>]}]\nbuild: {artifacts: [<artifact>]}\n",
            "requires: [{configs: [m<level>]}]\nbuild: {artifacts: [<artifact>]}\nprofiles:\n<profile>",
            "requires: [{path: sub, activeProfiles: [{name: p<lower>}]}]\nmanifests: {rawYaml: ['<text>']}\n",
            "manifests: {helm: {releases: [{name: r, chartPath: c, setValueTemplates: {a: '<template>'}}]}}\n",
            "deploy: {kubectl: {defaultNamespace: '<template>'}}\nbuild: {artifacts: [<artifact>]}\nprofiles:\n<profile><profile><profile>",
            "metadata: {annotations: {a: &a '<text>', b: *a}}\n",
            "test: [{image: a<lower>, custom: [{command: '<template>'}]}]\nportForward: [{resourceType: x, resourceName: '<template>', port: <n>}]\n",
        ],
    ),
    (
        "artifact",
        &[
            "{image: a<lower>}",
            "{image: a<level>, requires: [{image: a<lower>}]}",
            "{image: a<lower>, docker: {buildArgs: {A: '<template>', B: '<template>'}}}",
            "{image: a<level>, custom: {buildCommand: '<text>', dependencies: {paths: ['**/*']}}}",
            "{image: b<lower>, sync: {manual: [{src: '<text>', dest: '<text>'}]}}",
        ],
    ),
    (
        "profile",
        &[
            "- {name: p<level>, activation: [{env: 'A=.*'}], build: {artifacts: [<artifact>]}}\n",
            "- {name: p<lower>, activation: [{command: resolve}, {env: 'A=<text>'}], patches: [<patch>, <patch>]}\n",
            "- {name: p<lower>, activation: [{env: 'A=(x+)+y'}, {kubeContext: '!<text>'}], deploy: {kubectl: {}}}\n",
            "- {name: p<level>, activation: [{env: 'A=!b'}], patches: [<patch>, <patch>, <patch>]}\n",
        ],
    ),
    (
        "patch",
        &[
            "{op: add, path: /build/artifacts/0, value: {image: c<lower>}}",
            "{op: add, path: /build/artifacts/-, value: <yaml>}",
            "{op: copy, from: /build, path: /build/artifacts/0/custom}",
            "{op: copy, from: /build/artifacts, path: /build/artifacts/0/x}",
            "{op: move, from: /build/artifacts/0, path: /build/artifacts/1}",
            "{op: remove, path: /build/artifacts/<n>}",
            "{op: replace, path: /build/artifacts/image=a<lower>/image, value: d}",
            "{op: test, path: /build, value: <yaml>}",
        ],
    ),
    (
        "template",
        &[
            "{{.IMAGE_NAME}}",
            "{{ range (until <n>) }}{{ . }}{{ end }}",
            "{{ printf \"%<n>d\" 1 }}",
            "{{ repeat <n> \"<text>\" }}",
            "{{ $t := \"x\" }}{{ range until <n> }}{{ $t = print $t $t }}{{ end }}{{ $t }}",
            "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
            "{{ regexReplaceAll \"(x+)+y\" (repeat <n> \"x\") \"z\" }}",
            "{{ default \"<text>\" .A }}-{{ cmd \"x\" }}",
        ],
    ),
];

const HEAD: &str = "apiVersion: skaffold/v4beta14\nkind: Config\n";

/// A file with several configurations.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    let mut document = |level: usize| {
        let body = grammar.text("<config>", level, choices);
        // One of the bodies has metadata of its own.
        let name = if body.starts_with("metadata") { String::new() } else { format!("metadata: {{name: m{level}}}\n") };
        format!("---\n{HEAD}{name}{body}")
    };
    let (sub, mut text) = (document(0), String::new());
    let count = 1 + sub.len() % 8;
    for level in 1..=count {
        text.push_str(&document(level));
    }
    vec![("skaffold.yaml".to_owned(), text), ("sub/skaffold.yaml".to_owned(), sub)]
}
