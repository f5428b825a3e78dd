//! Names the manifests that need another tool, so that they are not left out in silence.
//!
//! Beside [`crate::render`], which renders the rest. It must not render anything.

use crate::helm;
use crate::item::View;
use crate::paths::is_address;
use crate::rules;
use crate::walk::Config;
use purlin_syntax::{Diagnostic, Sink, Span};

/// A part that is not rendered: its location, its kind, advice.
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

/// The functions that process manifests of a configuration. Rendering without them would not match the configuration,
/// so rendering and deploying fail; `severe` is false where they are only reported.
pub fn report_functions(config: &Config<'_>, severe: bool, sink: &Sink) {
    let view = config.item.view();
    for key in ["transform", "validate"] {
        for item in view.at(&["manifests", key]).into_iter().flat_map(View::items) {
            let name = item.text_of("name");
            let message = format!("`manifests.{key}`: the function `{name}` is not run");
            let hint = "run it with `kpt fn eval` on a copy of the manifests, and name the copy under `rawYaml`";
            let problem = Diagnostic::at(&rules::MANIFEST_FUNCTION, item.span().unwrap_or(config.span), message);
            let problem = problem.hint(hint);
            sink.push(if severe { problem } else { problem.warning() });
        }
    }
}

fn all(config: &Config<'_>) -> Vec<Unrendered> {
    let view = config.item.view();
    let items = |path: &[&str]| view.at(path).into_iter().flat_map(View::items);
    let remote = helm::releases(config).into_iter().filter(|release| !helm::is_local(*release));
    let mut found: Vec<Unrendered> = remote.map(release).collect();
    let addresses = items(&["manifests", "kustomize", "paths"]).filter(|item| is_address(&item.text()));
    found.extend(addresses.map(|item| {
        let hint = "fetch it and name its folder";
        unrendered(item, format!("the kustomization `{}`", item.text()), hint)
    }));
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

fn release(item: View<'_, '_>) -> Unrendered {
    let hint = "fetch its chart and name its folder as `chartPath`";
    unrendered(item, format!("the helm release `{}`", item.text_of("name")), hint)
}
