//! Names the keys that have no effect when actions are built, deployed or run here.
//!
//! A table; running is implemented elsewhere. Keys that only another command of Garden uses (`sync`) are not in it: that
//! command is refused by name.

use crate::action::Action;
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::providers::enabled_nodes;
use crate::resolve::Resolution;
use crate::rules;
use purlin_syntax::{Diagnostic, Node};

/// A key without effect: whose it is, its path with `*` for every item of a list, and advice.
struct Row {
    /// The plugin of a provider, or the kind and type of an action.
    owner: &'static [&'static str],
    path: &'static [&'static str],
    hint: &'static str,
}

const fn row(owner: &'static [&'static str], path: &'static [&'static str], hint: &'static str) -> Row {
    Row { owner, path, hint }
}

const CLUSTERS: &[&str] = &["kubernetes", "local-kubernetes"];
const INSTALLED: &str = "the tool that is installed builds images on this machine; `PURLIN_BUILDER` chooses it";
const NOTHING_INSTALLED: &str = "Purlin installs nothing in the cluster";

/// Keys of providers, for actions that use them.
#[rustfmt::skip]
const PROVIDERS: &[Row] = &[
    row(&["container"], &["dockerBuildExtraFlags"], "write the flags under `spec.extraFlags` of each Build"),
    row(&["container"], &["gardenContainerBuilder", "enabled"], INSTALLED),
    row(CLUSTERS, &["buildMode"], INSTALLED),
    row(CLUSTERS, &["clusterBuildkit"], INSTALLED),
    row(CLUSTERS, &["kaniko"], INSTALLED),
    row(CLUSTERS, &["resources", "builder"], INSTALLED),
    row(CLUSTERS, &["resources", "util"], NOTHING_INSTALLED),
    row(CLUSTERS, &["utilImageRegistryDomain"], NOTHING_INSTALLED),
    row(CLUSTERS, &["gardenSystemNamespace"], NOTHING_INSTALLED),
    row(CLUSTERS, &["systemNodeSelector"], NOTHING_INSTALLED),
    row(CLUSTERS, &["ingressHttpPort"], "addresses are printed with the usual ports"),
    row(CLUSTERS, &["ingressHttpsPort"], "addresses are printed with the usual ports"),
    row(CLUSTERS, &["kubectlPath"], "kubectl is not run"),
    row(&["otel-collector"], &["exporters"], "traces go to the address in `OTEL_EXPORTER_OTLP_ENDPOINT`"),
];

/// Keys of the project, for Deploys to clusters.
const PROJECT: &[Row] =
    &[row(&[], &["proxy", "hostname"], "`--forward` opens ports on the loopback address of this machine only")];

/// Types of Deploys that go to a cluster.
const TO_CLUSTERS: &[&str] = &["container", "kubernetes", "helm"];

/// Keys of actions.
#[rustfmt::skip]
const ACTIONS: &[Row] = &[
    row(&["Deploy", "kubernetes"], &["spec", "applyArgs"], "kubectl is not run; objects are applied over the API of the cluster"),
    row(&["Deploy", "kubernetes"], &["spec", "localVolumes"], "mount the folder in the manifests"),
    row(&["Deploy", "helm"], &["spec", "localVolumes"], "mount the folder with the values of the chart"),
    row(&["Deploy", "helm"], &["spec", "waitForUnhealthyResources"], "a deploy ends when an object cannot become ready"),
];

/// The values of `buildMode` and `hostname` that say what is done anyway.
const LOCAL: &[&str] = &["local-docker", "localhost", "127.0.0.1"];

/// The keys without effect that concern some actions, by their keys.
pub fn unapplied(resolution: &Resolution<'_>, is_run: &dyn Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let graph = resolution.live.graph();
    let in_use: Vec<_> = graph.actions.values().filter(|action| is_run(&action.key)).collect();
    let has = |types: &[&str]| in_use.iter().any(|action| types.contains(&action.type_name.as_str()));
    for provider in enabled_nodes(&resolution.ground, &resolution.project) {
        let Some(node) = provider.get() else { continue };
        let name = node.get("name").map_or("", |name| name.text());
        let is_used = match name {
            "container" => has(&["container"]),
            _ => has(TO_CLUSTERS),
        };
        for row in PROVIDERS.iter().filter(|row| is_used && row.owner.contains(&name)) {
            report(node, row, &mut found);
        }
    }
    let forwards =
        |action: &Action| action.kind == ActionKind::Deploy && TO_CLUSTERS.contains(&action.type_name.as_str());
    if let Some(project) = resolution.project.document.node.get().filter(|_| in_use.iter().any(|one| forwards(one))) {
        PROJECT.iter().for_each(|row| report(project, row, &mut found));
    }
    for action in in_use {
        let of = [action.kind.name(), action.type_name.as_str()];
        let Draft::Node(written) = &action.config.body else { continue };
        let Some(node) = written.get() else { continue };
        ACTIONS.iter().filter(|row| row.owner == of).for_each(|row| report(node, row, &mut found));
    }
    found
}

fn report(node: Node<'_>, row: &Row, found: &mut Vec<Diagnostic>) {
    let Some((last, way)) = row.path.split_last() else { return };
    let mut at = node;
    for key in way {
        let Some(next) = at.get(key) else { return };
        at = next;
    }
    let Some(entry) = at.entry(last).filter(|entry| asks_for_something(entry.value)) else { return };
    let message = format!("`{}` has no effect", row.path.join("."));
    found.push(Diagnostic::at(&rules::NO_EFFECT, entry.key.span(), message).hint(row.hint));
}

/// Whether a value requests an effect: `false`, empty values and what is done anyway do not.
fn asks_for_something(value: Node<'_>) -> bool {
    if value.is_list() {
        return value.items().next().is_some();
    }
    if value.is_map() {
        return value.entries().next().is_some();
    }
    !value.is_null() && !["", "false"].contains(&value.text()) && !LOCAL.contains(&value.text())
}
