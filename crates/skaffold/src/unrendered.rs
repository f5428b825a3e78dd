//! Names the manifests that need another tool, so that they are not left out in silence.
//!
//! Beside [`crate::render`], which renders the rest. It must not render anything.

use crate::item::View;
use crate::paths::is_address;
use crate::render::from_file;
use crate::rules;
use crate::walk::Config;
use purlin_syntax::{Diagnostic, Sink, Span};
use std::collections::HashSet;

/// Something that is not rendered: where it is written, what it is, what helps.
struct Unrendered {
    span: Option<Span>,
    what: String,
    hint: String,
}

/// Reports everything of a configuration that is not rendered.
pub fn report(config: &Config<'_>, sink: &Sink) {
    let module = if config.name.is_empty() { String::new() } else { format!(" of module `{}`", config.name) };
    for Unrendered { span, what, hint } in all(config) {
        let message = format!("{what}{module} is not rendered");
        sink.push(Diagnostic::at(&rules::NOT_RENDERED, span.unwrap_or(config.span), message).hint(hint));
    }
}

fn all(config: &Config<'_>) -> Vec<Unrendered> {
    let view = config.item.view();
    let items = |path: &[&str]| view.at(path).into_iter().flat_map(View::items);
    // Documents of older versions have their releases in both places once they are up to date.
    let rendered: Vec<_> = items(&["manifests", "helm", "releases"]).collect();
    let known: HashSet<_> = rendered.iter().map(|item| item.text_of("name")).collect();
    let is_new = |item: &View<'_, '_>| !known.contains(&item.text_of("name"));
    let deployed = items(&["deploy", "helm", "releases"]).filter(is_new);
    let mut found: Vec<Unrendered> =
        rendered.iter().copied().chain(deployed).map(|item| release(config, item)).collect();
    found.extend(items(&["manifests", "kustomize", "paths"]).map(|item| kustomization(item, &item.text())));
    if let Some(section) = view.at(&["manifests", "kustomize"]).filter(|section| section.get("paths").is_none()) {
        found.push(kustomization(section, "."));
    }
    found.extend(items(&["manifests", "kpt"]).map(|item| {
        let hint = "run `kpt fn render` into a folder and name that under `rawYaml`";
        unrendered(item, format!("the kpt package `{}`", item.text()), hint)
    }));
    let named = items(&["manifests", "remoteManifests"]).filter_map(|item| item.get("manifest"));
    found.extend(named.chain(items(&["deploy", "kubectl", "remoteManifests"])).map(|name| {
        unrendered(name, format!("`{}` in the cluster", name.text()), "keep a copy of it under `rawYaml`")
    }));
    let addresses = items(&["manifests", "rawYaml"]).filter(|item| is_address(&item.text()));
    found.extend(addresses.map(|item| unrendered(item, format!("`{}`", item.text()), "download it and name the file")));
    found
}

fn unrendered(item: View<'_, '_>, what: String, hint: impl Into<String>) -> Unrendered {
    Unrendered { span: item.span(), what, hint: hint.into() }
}

fn release(config: &Config<'_>, item: View<'_, '_>) -> Unrendered {
    let (name, chart) = (item.text_of("name"), item.text_of("chartPath"));
    let hint = if chart.is_empty() {
        "fetch its chart and run `purlin render` on the chart's folder".to_owned()
    } else {
        format!("run `purlin render {} --release-name {name}` with the release's values", from_file(config, &chart))
    };
    unrendered(item, format!("the helm release `{name}`"), hint)
}

fn kustomization(item: View<'_, '_>, path: &str) -> Unrendered {
    let hint = "run `kustomize build` into a file and name that under `rawYaml`";
    unrendered(item, format!("the kustomization `{path}`"), hint)
}
