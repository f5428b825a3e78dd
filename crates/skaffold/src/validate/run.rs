//! Rules about what happens after the build: tests, port forwarding, logs, checks and custom actions.

use super::Check;
use crate::item::View;
use crate::rules;
use crate::walk::Config;
use purlin_syntax::suggest::nearest;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Sink, Span};
use purlin_value::FastMap;
use std::cell::OnceCell;
use std::collections::BTreeSet;

const FORWARDED: &[&str] = &[
    "container",
    "pod",
    "deployment",
    "service",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "daemonset",
    "cronjob",
    "job",
];

/// Checks one configuration.
pub fn check(check: &Check<'_, '_>) {
    let config = check.config.item.view();
    for forward in config.get("portForward").into_iter().flat_map(View::items) {
        let kind = forward.text_of("resourceType");
        if !FORWARDED.contains(&kind.to_lowercase().as_str()) {
            let span = forward.get("resourceType").or(Some(forward)).and_then(View::span);
            let message = match kind.is_empty() {
                true => "this port forward has no `resourceType`".to_owned(),
                false => format!("ports of a `{kind}` cannot be forwarded"),
            };
            let hint = match nearest(&kind.to_lowercase(), FORWARDED.iter().copied()) {
                Some(near) => Hint::meant(kind.as_ref(), near),
                None => format!("use one of `{}`", FORWARDED.join("`, `")).into(),
            };
            check.push(Diagnostic::at(&rules::VALUE, span.unwrap_or(check.config.span), message).hint(hint));
        }
    }
    if let Some(prefix) = config.at(&["deploy", "logs", "prefix"]) {
        let text = prefix.text();
        if !matches!(text.as_ref(), "" | "auto" | "container" | "podAndContainer" | "none") {
            let message = format!("log prefix `{text}` is not 'auto', 'container', 'podAndContainer' or 'none'");
            check.report(&rules::VALUE, prefix.span(), message);
        }
    }
    for test in config.get("test").into_iter().flat_map(View::items) {
        test.get("custom").into_iter().flat_map(View::items).for_each(|custom| custom_test(check, custom));
    }
    actions(check, config);
}

fn custom_test(check: &Check<'_, '_>, test: View<'_, '_>) {
    let Some(dependencies) = test.get("dependencies") else { return };
    let set = |key: &str| {
        dependencies.get(key).is_some_and(|value| !value.text().is_empty() || value.items().next().is_some())
    };
    if set("ignore") && !set("paths") {
        let message = "a custom test's `dependencies.ignore` works only with `dependencies.paths`".to_owned();
        check.report(&rules::VALUE, dependencies.get("ignore").and_then(View::span), message);
    }
}

fn actions(check: &Check<'_, '_>, config: View<'_, '_>) {
    for action in config.get("customActions").into_iter().flat_map(View::items) {
        let name = action.text_of("name");
        let modes = action
            .get("executionMode")
            .map_or(0, |mode| ["local", "kubernetesCluster"].iter().filter(|key| mode.get(key).is_some()).count());
        if modes > 1 {
            let message = format!("custom action `{name}` has more than one execution mode");
            check.report(&rules::ONE_OF, action.get("executionMode").and_then(View::span), message);
        }
    }
}

/// Names of checks, actions and their containers are unique over all configurations.
pub fn unique_names(configs: &[Config<'_>], sink: &Sink) {
    let mut tests: FastMap<String, Option<Span>> = FastMap::default();
    let mut actions: FastMap<String, Option<Span>> = FastMap::default();
    let mut containers: FastMap<String, Option<Span>> = FastMap::default();
    for config in configs {
        let (built, variable_names) = (BTreeSet::new(), &OnceCell::new());
        let check = Check { config, sink, built: &built, profile_images: &built, variable_names, profiles: &built };
        let view = config.item.view();
        for test in view.get("verify").into_iter().flat_map(View::items) {
            unique(&check, &mut tests, test, "test of `verify`");
            if let Some(container) = test.get("container") {
                unique(&check, &mut containers, container, "container");
            }
        }
        for action in view.get("customActions").into_iter().flat_map(View::items) {
            unique(&check, &mut actions, action, "custom action");
            for container in action.get("containers").into_iter().flat_map(View::items) {
                unique(&check, &mut containers, container, "container");
            }
        }
    }
}

fn unique(check: &Check<'_, '_>, seen: &mut FastMap<String, Option<Span>>, item: View<'_, '_>, what: &str) {
    let name = item.text_of("name").into_owned();
    if name.is_empty() {
        return;
    }
    let span = item.get("name").and_then(View::span).or(item.span());
    match seen.get(&name) {
        Some(first) => {
            let message = what::duplicate("name", name).and(format!(": the name of a {what} must be unique"));
            let place = span.unwrap_or(check.config.span);
            let mut diagnostic = purlin_syntax::Diagnostic::at(&rules::DUPLICATE_ACTION, place, message);
            if let Some(first) = first {
                diagnostic = diagnostic.label(*first, "the first one is here");
            }
            check.push(diagnostic);
        }
        None => {
            seen.insert(name, span);
        }
    }
}
