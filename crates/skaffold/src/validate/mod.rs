//! Everything that must hold before a configuration is used: each problem once, at its own place.
//!
//! Runs on configurations with profiles and defaults. Structure comes from the table; the other rules each have a
//! function. It must not change anything.

mod build;
mod run;
mod structure;
mod tags;

use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::View;
use crate::walk::Config;
use crate::{artifacts, glob};
use purlin_syntax::{Diagnostic, Rule, Sink, Span, suggest};
use purlin_value::{World, WorldError, path};
use std::collections::HashSet;

/// Which rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// What can be said of the configuration itself.
    Configuration,
    /// Also that the manifests it names are there, and its tags can be made.
    Manifests,
    /// The same; a pattern that matches nothing yet is no error.
    Project,
}

/// A check of one configuration.
struct Check<'a, 'f> {
    config: &'a Config<'f>,
    sink: &'a Sink,
    /// The images that artifacts of all configurations build.
    built: &'a HashSet<String>,
}

impl Check<'_, '_> {
    fn report(&self, rule: &'static Rule, span: Option<Span>, message: String) {
        self.push(Diagnostic::at(rule, span.unwrap_or(self.config.span), message));
    }

    /// Says which module a problem belongs to where the file holds several.
    fn push(&self, mut diagnostic: Diagnostic) {
        let name = &self.config.name;
        if self.config.file.documents.len() > 1 && !name.is_empty() {
            diagnostic.message.push_str(&format!(" (module `{name}`)"));
        }
        self.sink.push(diagnostic);
    }
}

/// Checks all configurations. True if nothing is wrong.
pub fn validate(configs: &[Config<'_>], scope: Scope, world: &dyn World, sink: &Sink) -> bool {
    let before = sink.len();
    let artifacts = configs.iter().filter_map(|config| config.item.view().at(&["build", "artifacts"]));
    let built = artifacts.flat_map(View::items).map(|artifact| artifact.text_of("image").into_owned()).collect();
    for config in configs {
        let check = Check { config, sink, built: &built };
        structure::section(&check, config.item.view(), &SKAFFOLD_CONFIG);
        build::check(&check);
        run::check(&check);
        if scope != Scope::Configuration {
            tags::check(&check);
        }
        if scope != Scope::Configuration && !config.is_remote {
            manifests(&check, scope, world);
        }
        if scope == Scope::Project && !config.is_remote {
            folders(&check, world);
        }
    }
    let all = artifacts::collect(configs);
    build::unique_images(configs, &all, sink);
    run::unique_names(configs, sink);
    if let Some(first) = configs.first() {
        artifacts::check(configs, &all, sink, first.span);
    }
    sink.len() == before || !sink.has_errors()
}

/// Folders that are named must be there: kustomizations, charts, and what images are built from.
fn folders(check: &Check<'_, '_>, world: &dyn World) {
    let view = check.config.item.view();
    let missing = |named: View<'_, '_>| {
        let text = named.text();
        let is_plain = !text.is_empty() && !text.contains(['{', '$']) && !crate::paths::is_address(&text);
        let stat = || world.stat(&crate::render::from_file(check.config, &text));
        (is_plain && matches!(stat(), Err(WorldError::NotFound)))
            .then(|| (text.to_string(), named.span().unwrap_or(check.config.span)))
    };
    let near = |path: &str| {
        let full = crate::render::from_file(check.config, path.trim_end_matches('/'));
        let names = world.list(path::parent(&full)).ok()?;
        let name = path::file_name(&full);
        let near = suggest::nearest(name, names.iter().map(|entry| entry.name.as_str()))?;
        Some(format!(
            "did you mean `{}`?",
            path.trim_end_matches('/').strip_suffix(name).unwrap_or("").to_owned() + near
        ))
    };
    let hint = |path: &str| {
        let further_up = run_in(check, |full| world.stat(full).is_ok(), path).map(|folder| run_there(&folder));
        let fallback = || "correct the path; it starts at the folder of `skaffold.yaml`".to_owned();
        further_up.or_else(|| near(path)).unwrap_or_else(fallback)
    };
    for section in ["manifests", "deploy"] {
        let paths = view.at(&[section, "kustomize", "paths"]).into_iter().flat_map(View::items);
        for (path, span) in paths.filter_map(missing) {
            let message = format!("no kustomization is found at `{path}`");
            check.push(Diagnostic::at(&crate::rules::MANIFEST, span, message).warning().hint(hint(&path)));
        }
        let releases = view.at(&[section, "helm", "releases"]).into_iter().flat_map(View::items);
        let charts = releases.filter(|release| release.get("repo").is_none());
        for (path, span) in charts.filter_map(|release| release.get("chartPath").and_then(missing)) {
            let message = format!("no chart is found at `{path}`");
            check.push(Diagnostic::at(&crate::rules::MANIFEST, span, message).warning().hint(hint(&path)));
        }
    }
    let artifacts = view.at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    for (path, span) in artifacts.filter_map(|artifact| artifact.get("context").and_then(missing)) {
        // What is not here may come from elsewhere; what is nearly here is misspelt.
        if let Some(hint) = near(&path) {
            let message = format!("the folder `{path}` does not exist");
            check.push(Diagnostic::at(&crate::rules::FILE, span, message).warning().hint(hint));
        }
    }
}

/// The folder above a configuration in which Skaffold has to run for a path to be found. Paths of a configuration that no
/// other one requires start where Skaffold runs, and `-f` names files further down.
fn run_in(check: &Check<'_, '_>, is_there: impl Fn(&str) -> bool, text: &str) -> Option<String> {
    if check.config.is_dependency || path::is_absolute(text) || text.starts_with("..") {
        return None;
    }
    let mut folder = path::normalize(check.config.base.as_ref()?);
    while folder != "." && !folder.starts_with("..") && !path::is_absolute(&folder) {
        folder = path::normalize(path::parent(&folder));
        if is_there(&path::join(&folder, text)) {
            return Some(folder);
        }
    }
    None
}

fn run_there(folder: &str) -> String {
    let place = if folder == "." { "the top of the repository".to_owned() } else { format!("`{folder}`") };
    format!("it is found if Skaffold runs in {place}, with `-f` naming this file")
}

/// Each pattern of raw manifests must match something.
fn manifests(check: &Check<'_, '_>, scope: Scope, world: &dyn World) {
    let list = check.config.item.view().at(&["manifests", "rawYaml"]);
    let patterns: Vec<_> = list.into_iter().flat_map(crate::item::View::items).collect();
    if patterns.len() == 1 && patterns.iter().all(|pattern| pattern.text() == crate::render::DEFAULT_MANIFESTS) {
        return;
    }
    for pattern in patterns {
        let text = pattern.text();
        if crate::paths::is_address(&text) || text.contains("{{") {
            continue;
        }
        if glob::expand(world, &crate::render::from_file(check.config, &text)).is_empty() {
            let message = format!("no manifest is found at `{text}`");
            let span = pattern.span().unwrap_or(check.config.span);
            let problem = Diagnostic::at(&crate::rules::MANIFEST, span, message);
            let is_there = |full: &str| !glob::expand(world, full).is_empty();
            if scope == Scope::Project
                && let Some(folder) = run_in(check, is_there, &text)
            {
                check.push(problem.warning().hint(run_there(&folder)));
                continue;
            }
            let may_come = scope == Scope::Project && text.contains(['*', '?', '[']);
            check.push(if may_come { problem.warning() } else { problem });
        }
    }
}
