//! Kustomizations: bases upon bases, generators, patches of both kinds, replacements.

use super::grammar::{Choices, Grammar};
use super::{Files, NUMBERS, TEXTS, YAML_ROWS};

const ROWS: &[(&str, &[&str])] = &[
    (
        "part",
        &[
            "namePrefix: '<text>'\n",
            "nameSuffix: -<n>\n",
            "namespace: ns<lower>\n",
            "labels: [{pairs: {a: '<text>'}, includeSelectors: true}]\n",
            "commonAnnotations: {a: '<text>', b: '<text>'}\n",
            "images: [{name: i<lower>, newName: '<text>', newTag: '<n>'}]\n",
            "replicas: [{name: d<lower>, count: <n>}]\n",
            "configMapGenerator: [{name: c<lower>, literals: ['a=<text>', 'b=<text>']}, {name: e, files: [r.yaml]}]\n",
            "secretGenerator: [{name: s<lower>, literals: ['a=<text>']}]\n",
            "patches: [<patch>, <patch>]\n",
            "patches: [<patch>, <patch>, <patch>]\n",
            "generatorOptions: {disableNameSuffixHash: true}\n",
        ],
    ),
    (
        "patch",
        &[
            "{target: {kind: Deployment}, patch: '[{\"op\": \"add\", \"path\": \"/metadata/x\", \"value\": <json>}]'}",
            "{target: {kind: Deployment, name: 'd.*'}, patch: '[{\"op\": \"copy\", \"from\": \"/spec\", \"path\": \"/spec/y\"}]'}",
            "{target: {name: '(x+)+y'}, patch: '[{\"op\": \"move\", \"from\": \"/spec\", \"path\": \"/metadata/z\"}]'}",
            "{patch: '{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"d<lower>\"}, \"spec\": <json>}'}",
            "{target: {kind: Deployment}, patch: '{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"x\"}, \"spec\": <json>}'}",
        ],
    ),
    (
        "json",
        &[
            "1",
            "\"x\"",
            "[<json>, <json>]",
            "{\"a\": <json>, \"b\": <json>}",
            "{\"template\": <json>, \"$patch\": \"delete\"}",
            "null",
        ],
    ),
];

/// A chain of kustomizations, each with the previous one as its base, once or twice.
pub fn make(choices: &mut Choices<'_>) -> Files {
    let mut grammar = Grammar::new(ROWS);
    for rows in [YAML_ROWS, &[("n", NUMBERS), ("text", TEXTS)]] {
        rows.iter().for_each(|(symbol, all)| grammar.add(symbol, all.iter().map(|&text| text.to_owned())));
    }
    let depth = 1 + choices.below(10);
    let mut files = Vec::new();
    for level in 0..=depth {
        let folder = if level == depth { String::new() } else { format!("l{level}/") };
        let mut text =
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- r.yaml\n".to_owned();
        let below = if level == depth { "" } else { "../" };
        if level > 0 {
            text.push_str(&format!("- {below}l{}\n", level - 1));
        }
        if level > 1 && choices.below(2) == 1 {
            // A second path to the same base doubles the resources, or collides.
            text.push_str(&format!("- {below}l{}\n", level - 2));
        }
        let mut parts: Vec<String> = Vec::new();
        for _ in 0..choices.below(4) {
            let part = grammar.text("<part>", level, choices);
            // No key twice.
            let key = |part: &str| part.split(':').next().unwrap_or_default().to_owned();
            if !parts.iter().any(|known| key(known) == key(&part)) {
                parts.push(part);
            }
        }
        text.push_str(&parts.concat());
        let extra = grammar.text("<yaml>", level, choices);
        let resource = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{level}}}\nspec:\n  x: {extra}\n  template: {{spec: {{containers: [{{name: c, image: i{level}}}]}}}}\n"
        );
        files.push((format!("{folder}kustomization.yaml"), text));
        files.push((format!("{folder}r.yaml"), resource));
    }
    files
}
