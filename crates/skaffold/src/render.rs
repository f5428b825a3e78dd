//! Turns configurations into Kubernetes manifests, as far as that needs no cluster: raw files, in order.
//!
//! Images that were built get their tags, labels are added. Works on values, so that every part of the result still
//! knows its file. It must not know how the result is printed.

use crate::item::View;
use crate::walk::Config;
use crate::{glob, image};
use ecow::EcoString;
use purlin_model::Manifest;
use purlin_syntax::Flavor;
use purlin_value::{Data, Map, MergeKeys, Session, Value, path, value_of};
use std::collections::HashMap;
use std::sync::Arc;

/// What a single configuration without any source of manifests renders.
pub const DEFAULT_MANIFESTS: &str = "k8s/*.yaml";

/// What is put into manifests.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Built images by name: what manifests should use instead.
    pub images: HashMap<String, String>,
    /// Labels for every resource.
    pub labels: Vec<(String, String)>,
}

/// Kinds whose images and labels may be changed.
const WORKLOADS: &[&str] = &[
    "Pod",
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Service",
    "Config",
    "Namespace",
    "Rollout",
    "WorkerPool",
];

/// A path as seen from a configuration's file: from its folder if it was required, else from where the user stands.
pub fn from_file(config: &Config<'_>, text: &str) -> String {
    match &config.base {
        Some(base) => path::join(base, text),
        None => path::join(&config.here, text),
    }
}

/// All manifests of all configurations, in order.
pub fn render(session: &Session, configs: &[Config<'_>], settings: &Settings) -> Vec<Manifest> {
    let mut found = Vec::new();
    let single = configs.len() == 1;
    for config in configs {
        for pattern in patterns(config, single) {
            let full = from_file(config, &pattern);
            for file in glob::expand(session.world.as_ref(), &full).into_iter().filter(|file| is_manifest(file)) {
                read(session, &file, config, settings, &mut found);
            }
        }
    }
    found
}

fn is_manifest(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
}

fn patterns(config: &Config<'_>, single: bool) -> Vec<String> {
    let view = config.item.view();
    let raw = view.at(&["manifests", "rawYaml"]);
    let written: Vec<String> = raw.into_iter().flat_map(View::items).map(|item| item.text().into_owned()).collect();
    let sources = ["kustomize", "helm", "kpt", "remoteManifests"];
    let other = sources.iter().any(|key| view.at(&["manifests", key]).is_some());
    let deployer = ["docker", "cloudrun", "helm"].iter().any(|key| view.at(&["deploy", key]).is_some());
    if single && written.is_empty() && !other && !deployer {
        return vec![DEFAULT_MANIFESTS.to_owned()];
    }
    written.into_iter().filter(|pattern| !crate::paths::is_address(pattern)).collect()
}

fn read(session: &Session, file: &str, config: &Config<'_>, settings: &Settings, found: &mut Vec<Manifest>) {
    let tree = match session.read_yaml(file, Flavor::CoreGo) {
        Ok(tree) => tree,
        Err(mut diagnostic) => {
            diagnostic.span = Some(config.span);
            return session.sink.push(diagnostic);
        }
    };
    for root in tree.roots().filter(|root| !root.is_null()) {
        let mut value = value_of(root, MergeKeys::Apply);
        if is_workload(&value, config) {
            value = finish(session, value, settings);
        }
        found.push(Manifest { source: tree.source().path().into(), text: None, value });
    }
}

fn is_workload(value: &Value, config: &Config<'_>) -> bool {
    let Some(kind) = value.get("kind").and_then(Value::as_str) else { return false };
    let group = value.get("apiVersion").and_then(Value::as_str).and_then(|v| v.split_once('/')).map_or("", |(g, _)| g);
    let selects = |list: &str| {
        let rules = config.item.view().at(&["resourceSelector", list]);
        rules.into_iter().flat_map(View::items).any(|rule| {
            let pattern = rule.text_of("groupKind");
            let (wanted_kind, wanted_group) = pattern.split_once('.').unwrap_or((&pattern, ""));
            wanted_kind == "*" || (wanted_kind == kind && (wanted_group.is_empty() || wanted_group == group))
        })
    };
    !selects("deny") && (WORKLOADS.contains(&kind) || selects("allow"))
}

/// Puts images and labels into a resource. Depth is bounded by the reader's limit.
fn finish(session: &Session, value: Value, settings: &Settings) -> Value {
    if settings.images.is_empty() && settings.labels.is_empty() {
        return value;
    }
    let (origin, taint) = (value.origin, value.taint());
    let data = match value.data {
        Data::Map(map) => {
            let mut entries = (*map).clone();
            for (key, entry) in entries.iter_mut() {
                let old = std::mem::replace(entry, Value::null());
                *entry = match key.as_str() {
                    "image" => tagged(session, old, settings),
                    "metadata" => finish(session, labelled(session, old, settings), settings),
                    _ => finish(session, old, settings),
                };
            }
            Data::Map(Arc::new(entries))
        }
        Data::List(list) => {
            let items = list.iter().map(|item| finish(session, item.clone(), settings)).collect::<Vec<_>>();
            Data::List(Arc::new(items.into()))
        }
        other => other,
    };
    Value::of(data, origin, taint)
}

fn tagged(session: &Session, value: Value, settings: &Settings) -> Value {
    let Some(text) = value.as_str() else { return finish(session, value, settings) };
    let Ok(parts) = image::parse(text) else { return value };
    if !parts.digest.is_empty() {
        return value;
    }
    match settings.images.get(&parts.name) {
        Some(built) => {
            let flag = session.origins.flag("--images");
            let origin = session.origins.chosen(flag, "built image", vec![value.origin]);
            Value::str(built.as_str()).with_origin(origin)
        }
        None => value,
    }
}

fn labelled(session: &Session, value: Value, settings: &Settings) -> Value {
    if settings.labels.is_empty() || value.as_map().is_none() {
        return value;
    }
    let mut map: Map = value.as_map().cloned().unwrap_or_default();
    let mut labels: Map = map.get("labels").and_then(Value::as_map).cloned().unwrap_or_default();
    for (name, text) in &settings.labels {
        if !labels.contains_key(name.as_str()) {
            let origin = session.origins.flag(format!("--label {name}"));
            labels.insert(EcoString::from(name), Value::str(text.as_str()).with_origin(origin));
        }
    }
    map.insert("labels".into(), Value::map(labels));
    value.with(Data::Map(Arc::new(map)))
}

/// Reads the images of `--build-artifacts`: what a build said it made. `None` if it is not such a file.
pub fn built(text: &str, session: &Session) -> Option<Vec<(String, String)>> {
    let source = session.sources.insert("build artifacts", text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let builds = tree.root()?.get("builds")?;
    let pair = |item: purlin_syntax::Node<'_>| {
        Some((item.get("imageName")?.text().to_owned(), item.get("tag")?.text().to_owned()))
    };
    Some(builds.items().filter_map(pair).collect())
}
