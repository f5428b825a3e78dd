//! All artifacts of all configurations as one graph, by the name of their image.
//!
//! Collects requirements, finds cycles and determines the build order. It must not know builders.

use crate::item::View;
use crate::modules::{self, ModuleEntry};
use crate::rules;
use crate::walk::Config;
use purlin_graph::Digraph;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Sink, Span};
use purlin_value::FastMap;

/// One artifact.
pub struct Artifact<'a, 'f> {
    /// The configuration it belongs to.
    pub config: usize,
    /// Its section.
    pub view: View<'a, 'f>,
    /// Name of the image.
    pub image: String,
    /// Its requirements.
    pub requires: Vec<Requirement>,
}

/// An image another one is built from.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Name of the image.
    pub image: String,
    /// Its name for the builder.
    pub alias: String,
    /// Its location.
    pub span: Option<Span>,
    /// The module that must build it, if the requirement names one.
    pub module: Option<ModuleEntry>,
}

impl Artifact<'_, '_> {
    /// Location of the image's name.
    pub fn span(&self) -> Option<Span> {
        self.view.get("image").and_then(View::span).or(self.view.span())
    }
}

/// All artifacts, in the order of the configurations.
pub fn collect<'a, 'f>(configs: &'a [Config<'f>]) -> Vec<Artifact<'a, 'f>> {
    let mut found = Vec::new();
    for (config, owner) in configs.iter().enumerate() {
        let list = owner.item.view().at(&["build", "artifacts"]);
        for view in list.into_iter().flat_map(View::items) {
            let requires = view.get("requires").into_iter().flat_map(View::items).map(|item| {
                let image = item.text_of("image").into_owned();
                let alias = item.get("alias").map_or_else(|| image.clone(), |alias| alias.text().into_owned());
                Requirement { image, alias, span: item.span(), module: modules::reference(item) }
            });
            found.push(Artifact {
                config,
                view,
                image: view.text_of("image").into_owned(),
                requires: requires.collect(),
            });
        }
    }
    found
}

/// Checks that required artifacts exist and form no cycle. Reports only the first problem, since the rest tends to
/// follow from it.
pub fn check(configs: &[Config<'_>], artifacts: &[Artifact<'_, '_>], sink: &Sink, fallback: Span) -> bool {
    if artifacts.iter().all(|artifact| artifact.requires.is_empty()) {
        return true;
    }
    let known = by_image(artifacts);
    for artifact in artifacts {
        let unknown = |needed: &&Requirement| !known.contains_key(needed.image.as_str());
        if let Some(needed) = artifact.requires.iter().find(unknown) {
            let words = format!("artifact `{}` requires `{}`, which no artifact builds", artifact.image, needed.image);
            let message = what::unknown("artifact", &needed.image).words(words);
            let hint = did_you_mean(&needed.image, artifacts.iter().map(|artifact| artifact.image.as_str()))
                .unwrap_or_else(|| "require or select the configuration that builds it".into());
            let span = needed.span.unwrap_or(fallback);
            sink.push(Diagnostic::at(&rules::BUILD_DEPENDENCY, span, message).hint(hint));
            return false;
        }
    }
    if !check_owners(configs, artifacts, &known, sink, fallback) {
        return false;
    }
    let cycles = graph(artifacts).cycles();
    for cycle in &cycles {
        report_cycle(artifacts, &cycle.path, sink, fallback);
    }
    cycles.is_empty()
}

/// Reports artifacts that require each other, each at its reference to the next.
fn report_cycle(artifacts: &[Artifact<'_, '_>], cycle: &[usize], sink: &Sink, fallback: Span) {
    let members: Vec<_> = cycle.iter().filter_map(|at| artifacts.get(*at)).collect();
    let following = members.iter().cycle().skip(1);
    let placed = members.iter().zip(following).map(|(artifact, next)| {
        let needed = artifact.requires.iter().find(|needed| needed.image == next.image);
        (&artifact.image, needed.and_then(|needed| needed.span).or_else(|| artifact.span()))
    });
    let mut diagnostic =
        Diagnostic::cycle(&rules::BUILD_DEPENDENCY, "circular artifact dependencies", &placed.collect::<Vec<_>>());
    diagnostic.span = diagnostic.span.or(Some(fallback));
    sink.push(diagnostic);
}

/// A requirement that names a module means that module's artifact, not one of the same name elsewhere.
fn check_owners(
    configs: &[Config<'_>],
    artifacts: &[Artifact<'_, '_>],
    known: &FastMap<&str, usize>,
    sink: &Sink,
    fallback: Span,
) -> bool {
    for artifact in artifacts {
        for needed in &artifact.requires {
            let owner = known.get(needed.image.as_str()).and_then(|at| artifacts.get(*at));
            let owner = owner.and_then(|owner| configs.get(owner.config));
            let (Some(module), Some(owner), Some(from)) = (&needed.module, owner, configs.get(artifact.config)) else {
                continue;
            };
            let target = purlin_value::path::join(&from.file.folder, &module.path);
            // Names are unique in a run, and a file may refer to further files: the name is sufficient.
            let in_file = owner.file.path == target.as_str() || owner.file.folder == target.as_str();
            let fits = if module.name.is_empty() { in_file } else { module.name == owner.name };
            if fits {
                continue;
            }
            let wanted = if module.name.is_empty() { &module.path } else { &module.name };
            let words = format!(
                "module `{wanted}` does not build `{}`, which `{}` requires of it",
                needed.image, artifact.image
            );
            let message = what::about([wanted], words);
            let hint = format!("module `{}` builds it", owner.label());
            sink.push(Diagnostic::at(&rules::BUILD_DEPENDENCY, needed.span.unwrap_or(fallback), message).hint(hint));
            return false;
        }
    }
    true
}

fn by_image<'a>(artifacts: &'a [Artifact<'_, '_>]) -> FastMap<&'a str, usize> {
    artifacts.iter().enumerate().rev().map(|(at, artifact)| (artifact.image.as_str(), at)).collect()
}

/// The build order: requirements come first, otherwise the order of the list.
pub fn order(artifacts: &[Artifact<'_, '_>]) -> Vec<usize> {
    let graph = graph(artifacts);
    graph.depth_first(graph.keys()).into_iter().copied().collect()
}

/// Which artifact, by its place in the list, requires which.
fn graph(artifacts: &[Artifact<'_, '_>]) -> Digraph<usize> {
    let known = by_image(artifacts);
    let mut graph = Digraph::new();
    for at in 0..artifacts.len() {
        graph.add(at);
    }
    for (at, artifact) in artifacts.iter().enumerate() {
        for needed in artifact.requires.iter().filter_map(|needed| known.get(needed.image.as_str())) {
            graph.connect(at, *needed);
        }
    }
    graph
}
