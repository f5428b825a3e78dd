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
            "requires: [{configs: [m<lower>]}, {configs: [m<last>]}]\nbuild: {artifacts: [<artifact>]}\n",
            "requires: [{configs: [m<last>]}, {configs: [m<last>]}]\nbuild: {artifacts: [<artifact>]}\nprofiles:\n<profile>",
            "requires: [{configs: [m<level>]}]\nbuild: {artifacts: [<artifact>]}\n",
            "requires: [{path: sub, configs: [sub]}]\nmanifests: {rawYaml: ['<text>']}\n",
            "manifests: {helm: {releases: [{name: r, chartPath: c, setValueTemplates: {a: '<template>'}}]}}\n",
            "manifests: {helm: {releases: [{name: r, chartPath: c, overrides: <yaml>}]}}\n",
            "manifests: {helm: {releases: [{name: r, chartPath: c, overrides: {a: b}}]}}\nprofiles:\n- {name: p#, activation: [{env: 'A=!b'}], patches: [<copies>, <copies>, <copies>]}\n",
            "deploy: {kubectl: {defaultNamespace: '<template>'}}\nbuild: {artifacts: [<artifact>]}\nprofiles:\n<profile><profile><profile>",
            "metadata: {annotations: {a: &a '<text>', b: *a}}\n",
            "test: [{image: t, custom: [{command: '<template>'}]}]\nportForward: [{resourceType: service, resourceName: '<template>', port: 80}]\n",
        ],
    ),
    (
        "leaf",
        &["build: {artifacts: [<artifact>]}\n", "build: {artifacts: [<artifact>, <artifact>]}\nprofiles:\n<profile>"],
    ),
    // Names of images and profiles are made unique afterwards, by numbering the placeholders.
    (
        "artifact",
        &[
            "{image: a#}",
            "{image: a#, docker: {buildArgs: {A: '<template>', B: '<template>'}}}",
            "{image: a#, custom: {buildCommand: '<text>', dependencies: {paths: ['**/*']}}}",
            "{image: a#, sync: {manual: [{src: '*.js', dest: '<text>'}]}}",
        ],
    ),
    (
        "profile",
        &[
            "- {name: p#, activation: [{env: 'A=.*'}], build: {artifacts: [<artifact>]}}\n",
            "- {name: p#, activation: [{command: resolve}, {env: 'A=!b'}], patches: [<patch>, <patch>]}\n",
            "- {name: p#, activation: [{env: 'A=!(x+)+y'}, {kubeContext: '!<text>'}], deploy: {kubectl: {}}}\n",
            "- {name: p#, activation: [{env: 'A=!b'}], patches: [<patch>, <patch>, <patch>, <patch>, <patch>, <patch>]}\n",
        ],
    ),
    (
        "patch",
        &[
            "{op: add, path: /build/artifacts/0, value: {image: a#}}",
            "{op: add, path: /build/artifacts/-, value: {image: a#}}",
            "{op: add, path: /metadata, value: {annotations: {x: '<text>'}}}",
            "{op: add, path: /metadata/annotations/x, value: '<text>'}",
            "{op: copy, from: /metadata/annotations/a, path: /metadata/annotations/y}",
            "{op: replace, path: /build/artifacts/0/image, value: a#}",
            "{op: test, path: /metadata/annotations/a, value: b}",
        ],
    ),
    // Each copies everything into itself.
    ("copies", &["<copy>", "<copies>, <copies>", "<copies>, <copies>, <copies>"]),
    (
        "copy",
        &[
            "{op: copy, from: /manifests/helm/releases/0/overrides, path: /manifests/helm/releases/0/overrides/x}",
            "{op: copy, from: /manifests/helm/releases/0/overrides, path: /manifests/helm/releases/0/overrides/y}",
            "{op: add, path: /manifests/helm/releases/0/overrides/z, value: <yaml>}",
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
    let mut document = |name: &str, level: usize| {
        // The lowest has no requirements.
        let symbol = if level == 0 { "<leaf>" } else { "<config>" };
        let body = grammar.text(symbol, level, choices);
        // One of the bodies already has metadata.
        let is_named = body.starts_with("metadata");
        let head =
            if is_named { String::new() } else { format!("metadata: {{name: {name}, annotations: {{a: b}}}}\n") };
        format!(
            "---\n{HEAD}{head}{}",
            body.replace("metadata: {annotations", &format!("metadata: {{name: {name}, annotations"))
        )
    };
    let sub = document("sub", 0);
    let count = 1 + sub.len() % 16;
    let text: String = (0..=count).map(|level| document(&format!("m{level}"), level)).collect();
    vec![("skaffold.yaml".to_owned(), numbered(&text)), ("sub/skaffold.yaml".to_owned(), numbered(&sub))]
}

/// Replaces every `#` by a unique number.
fn numbered(text: &str) -> String {
    let mut pieces = text.split('#');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.enumerate().fold(first, |out, (at, piece)| format!("{out}{at}{piece}"))
}
