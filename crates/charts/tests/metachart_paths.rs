//! The native pipeline and the templates that `metachart gen` writes for Helm make the same manifests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use purlin_charts::metachart::generate::{Inputs, generate};
use purlin_charts::metachart::{config, skeleton};
use purlin_charts::resolve_chart;
use purlin_charts::template::{Options, template};
use purlin_charts::yaml::value_of_tree;
use purlin_syntax::Limits;
use purlin_value::{MemoryWorld, Session};

const CONFIG: &str = "resources:
  configmaps: {apiVersion: v1, kind: ConfigMap}
  secrets: {apiVersion: v1, kind: Secret}
  services: {apiVersion: v1, kind: Service}
  deployments: {apiVersion: apps/v1, kind: Deployment}
  things: {kind: Thing}
";

const DEPLOYMENTS: &str = r#"{{- define "metachart.preprocess.deployments" -}}
{{- $definition := $.params.definition -}}
{{- $plain := omit $ "params" -}}
{{- $spec := default dict $definition.spec -}}
{{- $template := default dict $spec.template -}}
{{- $selector := include "metachart.selectorLabels" (merge (dict "params" (dict "component" $.params.component)) $plain) | fromJson -}}
{{- $meta := include "metachart.resourceMeta" (merge (dict "params" (dict "definition" $template "name" $.params.name "nameSuffix" "pod" "component" $.params.component)) $plain) | fromJson -}}
{{- $_ := set $template "metadata" $meta -}}
{{- $template = include "metachart.setDefaults" (merge (dict "params" (dict "definition" $template "kind" "things")) $plain) | fromJson -}}
{{- $_ := set $spec "template" $template -}}
{{- $_ := set $spec "selector" (dict "matchLabels" $selector "name" $.params.name "key" $.params.key) -}}
{{- $_ := set $definition "spec" $spec -}}
{{- toJson $definition -}}
{{- end -}}
"#;

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len() as u64) as usize]
    }
}

/// Values in flow style.
fn values(dice: &mut Dice) -> String {
    let mut out = String::from("context: {color: blue, n: 3}\n");
    let long = "a-very-long-override-of-the-name-that-leaves-no-room-for-anything";
    let name = dice.one_of(&["", "short", long]).to_owned();
    let _ = writeln!(out, "fullnameOverride: {name:?}");
    out.push_str("settings:\n");
    if dice.roll(2) == 0 {
        out.push_str("  global: {labels: {team: shop, tier: global}, annotations: {note: global, mark: \"1\"}}\n");
    }
    for kind in ["configmaps", "secrets", "services", "deployments", "things"] {
        let mut parts = Vec::new();
        if dice.roll(6) == 0 {
            parts.push("disabled: true".to_owned());
        }
        if dice.roll(2) == 0 {
            parts.push(format!("defaults: {}", definition(dice, kind, true)));
        }
        let _ = writeln!(out, "  {kind}: {{{}}}", parts.join(", "));
    }
    for (kind, names) in
        [("configmaps", ["a", "b"]), ("secrets", ["s", "t"]), ("things", ["x", "y"]), ("deployments", ["web", "api"])]
    {
        let _ = writeln!(out, "{kind}:");
        for name in names.into_iter().take(1 + dice.roll(2) as usize) {
            let _ = writeln!(out, "  {name}: {}", definition(dice, kind, false));
        }
    }
    out
}

fn definition(dice: &mut Dice, kind: &str, default: bool) -> String {
    let mut parts = Vec::new();
    if dice.roll(5) == 0 {
        parts.push(format!("enabled: {}", dice.roll(2) == 0));
    }
    let mut metadata = Vec::new();
    if dice.roll(2) == 0 {
        metadata.push(dice.one_of(&["labels: {tier: own}", "labels: {tier: \"\", extra: e}", "labels: {}"]).to_owned());
    }
    if dice.roll(2) == 0 {
        metadata.push("annotations: {note: own, checksum-configmaps: fixed}".to_owned());
    }
    if dice.roll(3) == 0 {
        metadata.push("namespace: apps".to_owned());
    }
    if !default && dice.roll(4) == 0 {
        metadata.push("name: \"{{ .Release.Name }}-given\"".to_owned());
    }
    // Only later kinds refer to earlier ones, so that there are no cycles.
    if matches!(kind, "deployments" | "things") && dice.roll(2) == 0 {
        metadata.push(dice.one_of(&["checksums: {configmaps: \"*\"}", "checksums: {secrets: \"*\"}"]).to_owned());
    }
    if !metadata.is_empty() {
        parts.push(format!("metadata: {{{}}}", metadata.join(", ")));
    }
    parts.push(
        dice.one_of(&[
            "data: {color: \"{{ .Values.context.color }}\", n: 9007199254740993, f: 1.50, list: [1, two]}",
            "data: {color: red, list: []}",
            "data: {list: [{a: ~}, \"{{ .Values.context.n }}\"], deep: {er: {x: 1}}}",
            "data: plain",
        ])
        .to_owned(),
    );
    if kind == "deployments" {
        if dice.roll(2) == 0 {
            let pods = "metadata: {labels: {pod: p}, checksums: {configmaps: \"*\"}}";
            parts.push(format!("spec: {{replicas: 2, template: {{{pods}}}}}"));
        }
        let name = if default { "all".to_owned() } else { format!("own-{}", dice.roll(1_000_000)) };
        if dice.roll(if default { 8 } else { 2 }) == 0 {
            parts.push(format!("related: {{services: {{{name}: {{spec: {{type: ClusterIP}}}}}}}}"));
        }
    }
    format!("{{{}}}", parts.join(", "))
}

fn world(values: &str) -> MemoryWorld {
    let tree = purlin_gotmpl::yaml::parse(CONFIG, &Limits::default());
    let resources = config::resources(&value_of_tree(&tree, 0).unwrap());
    let inputs = Inputs {
        resources: &resources,
        schema: &config::SchemaConfig::default(),
        definitions: &[],
        preprocessors: &["deployments".to_owned()].into(),
    };
    let settings = generate(&inputs).unwrap().settings;
    MemoryWorld::new()
        .file("shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0+b\nappVersion: \"7\"\n")
        .file("shop/config/resources.yaml", CONFIG)
        .file("shop/values.yaml", values)
        .file("shop/templates/preprocess/_deployments.tpl", DEPLOYMENTS)
        .file(
            "shop/templates/extra.yaml",
            "apiVersion: v1\nkind: Extra\nmetadata: {name: \"{{ include \"metachart.fullname\" . }}\"}\n",
        )
        .file("shop/templates/generated/_settings.tpl", settings.as_str())
        .file("shop/templates/_metachart.tpl", skeleton::LIBRARY)
        .file("shop/templates/resources.yaml", skeleton::RESOURCES)
}

/// Documents in order, or `None` if there are none.
fn natively(values: &str) -> Option<Vec<String>> {
    let session = Session::new(Arc::new(world(values)));
    let options = Options { track: true, lenient: true, ..Options::default() };
    let resolved = resolve_chart(&session, "shop", &options).expect("a chart");
    let failed = session.sink.take().iter().any(|problem| problem.rule.name == "chart-failed");
    let text = |manifest: &purlin_model::Manifest| manifest.text.as_ref().unwrap().trim_end().to_owned();
    (!failed).then(|| resolved.manifests.iter().map(text).collect())
}

fn through_helm(values: &str) -> Result<Vec<String>, String> {
    let session = Session::new(Arc::new(world(values)));
    let output = template(&session, "shop", &Options::default()).map_err(|error| error.message)?;
    let text = |text: &str| text.trim_end().trim_end_matches("...").trim_end().to_owned();
    Ok(output.manifests.resources.iter().map(|document| text(&document.text)).collect())
}

#[test]
fn both_ways_make_the_same_manifests() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..100 {
        let values = values(&mut Dice(seed));
        match (natively(&values), through_helm(&values)) {
            (Some(native), Ok(helm)) => {
                assert_eq!(native, helm, "seed {seed}\n{values}");
                *kinds.entry(if native.len() > 1 { "filled" } else { "empty" }).or_default() += 1;
            }
            (None, Err(_)) => *kinds.entry("refused").or_default() += 1,
            (Some(_), Err(message)) => panic!("seed {seed}: only Helm refuses: {message}\n{values}"),
            (None, Ok(_)) => panic!("seed {seed}: only the native way refuses\n{values}"),
        }
    }
    // Most cases have documents, and rejected ones (two parents with one related resource) are among them.
    assert!(kinds.get("filled").is_some_and(|count| *count > 60), "{kinds:?}");
    assert!(kinds.contains_key("refused"), "{kinds:?}");
}
