//! Insertions into rendered manifests: tags of built images, labels, a namespace.
//!
//! Only in kinds that are known to hold images and labels, or that `resourceSelector` allows, and there only at allowed
//! paths. It must not know the source of manifests.

use crate::image;
use crate::item::View;
use crate::render::Settings;
use crate::walk::Config;
use ecow::EcoString;
use purlin_value::{Data, Map, Session, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A kind: group and name.
type GroupKind = (String, String);

/// Changeable paths of a kind, such as `.spec.image`, or `.*`.
#[derive(Clone, Debug, Default)]
struct Filter {
    image: Vec<String>,
    labels: Vec<String>,
}

/// Kinds whose images and labels are changed, with their group.
const ANYWHERE: &[(&str, &str)] = &[
    ("", "Pod"),
    ("", "Service"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("extensions", "DaemonSet"),
    ("extensions", "Deployment"),
    ("extensions", "ReplicaSet"),
    ("serving.knative.dev", "Service"),
    ("agones.dev", "Fleet"),
    ("agones.dev", "GameServer"),
    ("argoproj.io", "Rollout"),
    ("argoproj.io", "Workflow"),
    ("argoproj.io", "CronWorkflow"),
    ("argoproj.io", "WorkflowTemplate"),
    ("argoproj.io", "ClusterWorkflowTemplate"),
    ("run.googleapis.com", "Job"),
    ("run.googleapis.com", "WorkerPool"),
];

/// Kinds with images at known paths.
const AT_PLACES: &[(&str, &[&str], &[&str])] = &[
    (
        "platform.confluent.io",
        &["Connect", "ControlCenter", "Kafka", "KsqlDB", "SchemaRegistry", "Zookeeper"],
        &[".spec.image.application", ".spec.image.init"],
    ),
    ("kafka.strimzi.io", &["KafkaConnect"], &[".spec.image"]),
    (
        "kafka.strimzi.io",
        &["Kafka"],
        &[
            ".spec.kafka.image",
            ".spec.zookeeper.image",
            ".spec.entityOperator.topicOperator.image",
            ".spec.entityOperator.userOperator.image",
        ],
    ),
];

/// Labels that must not change once a resource exists.
const KEPT: &[(&str, &str, &str)] = &[
    ("apps", "StatefulSet", ".spec.volumeClaimTemplates.metadata.labels"),
    ("batch", "Job", ".spec.template.metadata.labels"),
];

const ALL: &str = ".*";

/// Which resources may be changed, in all configurations of a run.
pub struct Selector {
    allowed: HashMap<GroupKind, Filter>,
    denied: HashMap<GroupKind, Filter>,
}

impl Selector {
    /// The usual kinds, with the configurations' own settings.
    pub fn of(configs: &[Config<'_>]) -> Self {
        let everywhere = || Filter { image: vec![ALL.to_owned()], labels: vec![ALL.to_owned()] };
        let pair = |group: &str, kind: &str| (group.to_owned(), kind.to_owned());
        let mut allowed: HashMap<GroupKind, Filter> =
            ANYWHERE.iter().map(|(group, kind)| (pair(group, kind), everywhere())).collect();
        for (group, kinds, places) in AT_PLACES {
            let image: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
            let filter = Filter { image, labels: vec![ALL.to_owned()] };
            allowed.extend(kinds.iter().map(|kind| (pair(group, kind), filter.clone())));
        }
        let kept = |place: &str| Filter { image: Vec::new(), labels: vec![place.to_owned()] };
        let mut denied: HashMap<GroupKind, Filter> =
            KEPT.iter().map(|(group, kind, place)| (pair(group, kind), kept(place))).collect();
        for config in configs {
            for (kind, filter) in filters(config, "allow") {
                denied.remove(&kind);
                allowed.insert(kind, filter);
            }
        }
        for config in configs {
            for (kind, filter) in filters(config, "deny") {
                allowed.remove(&kind);
                denied.insert(kind, filter);
            }
        }
        Selector { allowed, denied }
    }

    /// Inserts images, labels and perhaps a namespace into a resource. `None` if it may not be changed.
    pub fn apply(&self, session: &Session, value: &Value, settings: &Settings) -> Option<Value> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (version, kind) = (text("apiVersion")?, text("kind")?);
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let place = (group.to_owned(), kind.to_owned());
        let denied = self.denied.get(&place);
        let blocked = denied.is_some_and(|filter| filter.image.iter().chain(&filter.labels).any(|path| path == ALL));
        let connector = is_connector(group);
        if !connector && (blocked || !self.allowed.contains_key(&place)) {
            return None;
        }
        let work = Work { session, settings, allowed: self.allowed.get(&place), denied, connector };
        let mut changed = value.clone();
        if !settings.images.is_empty() || !settings.labels.is_empty() {
            changed = work.walk(changed, "");
        }
        if let Some(namespace) = &settings.namespace {
            changed = in_namespace(session, changed, namespace);
        }
        Some(changed)
    }
}

/// Resources of Google's Config Connector are changed whatever their kind.
fn is_connector(group: &str) -> bool {
    let before = group.find("cnrm.cloud.google.com").and_then(|at| group.get(..at));
    before
        .and_then(|before| before.strip_suffix('.'))
        .is_some_and(|part| part.ends_with(|c: char| c.is_ascii_alphabetic()))
}

fn filters<'c>(config: &'c Config<'_>, list: &'c str) -> Vec<(GroupKind, Filter)> {
    let rules = config.item.view().at(&["resourceSelector", list]).into_iter().flat_map(View::items);
    let paths = |rule: View<'_, '_>, key: &str| -> Vec<String> {
        let written = rule.get(key).into_iter().flat_map(View::items).map(|path| path.text().into_owned());
        written.map(|path| if path == ALL { path } else { path.replace(ALL, "") }).collect()
    };
    let rule = |rule: View<'_, '_>| {
        let written = rule.text_of("groupKind");
        let (kind, group) = written.split_once('.').unwrap_or((&written, ""));
        let filter = Filter { image: paths(rule, "image"), labels: paths(rule, "labels") };
        ((group.to_owned(), kind.to_owned()), filter)
    };
    rules.map(rule).collect()
}

struct Work<'a> {
    session: &'a Session,
    settings: &'a Settings,
    allowed: Option<&'a Filter>,
    denied: Option<&'a Filter>,
    connector: bool,
}

impl Work<'_> {
    /// Walks a resource; `way` is the path of keys to this value. Depth is bounded by the reader's limit.
    fn walk(&self, value: Value, way: &str) -> Value {
        let data = match &value.data {
            Data::Map(map) => {
                let mut entries = (**map).clone();
                for (key, entry) in entries.iter_mut() {
                    let old = std::mem::replace(entry, Value::null());
                    *entry = self.field(old, &format!("{way}.{key}"), key);
                }
                Data::Map(Arc::new(entries))
            }
            Data::List(list) => {
                let items = list.iter().map(|item| self.walk(item.clone(), way)).collect::<Vec<_>>();
                Data::List(Arc::new(items.into()))
            }
            _ => return value,
        };
        value.with(data)
    }

    fn field(&self, value: Value, way: &str, key: &str) -> Value {
        if value.as_str().is_some() && self.is_image(way, key) {
            return self.tagged(value);
        }
        match self.labels_key(way, key).filter(|_| value.as_map().is_some()) {
            // Images are looked for behind labels too, but labels are not.
            Some(labels) => self.labelled(value, labels),
            None => self.walk(value, way),
        }
    }

    fn is_image(&self, way: &str, key: &str) -> bool {
        let named = |filter: &Filter| filter.image.iter().any(|path| path == way || (path == ALL && key == "image"));
        let denied = self.denied.is_some_and(|filter| filter.image.iter().any(|path| path == way || path == ALL));
        !denied && self.allowed.map_or(self.connector && key == "image", named)
    }

    /// The key of labels under a key, if labels go there.
    fn labels_key(&self, way: &str, key: &str) -> Option<&str> {
        if self.settings.labels.is_empty() {
            return None;
        }
        if self.connector {
            return (key == "metadata").then_some("labels");
        }
        let parent = |path: &str| path.rsplit_once('.').is_some_and(|(parent, _)| parent == way);
        if self.denied.is_some_and(|filter| filter.labels.iter().any(|path| parent(path))) {
            return None;
        }
        self.allowed?.labels.iter().find_map(|path| match path.as_str() {
            ALL => (key == "metadata").then_some("labels"),
            path => parent(path).then(|| path.rsplit_once('.').map_or("labels", |(_, last)| last)),
        })
    }

    fn tagged(&self, value: Value) -> Value {
        let text = value.as_str().unwrap_or_default();
        let Some(built) = built_image(&self.settings.images, text) else { return value };
        let flag = self.session.origins.flag("--images");
        let origin = self.session.origins.chosen(flag, "built image", vec![value.origin]);
        Value::str(built).with_origin(origin)
    }

    fn labelled(&self, value: Value, key: &str) -> Value {
        let mut map: Map = value.as_map().cloned().unwrap_or_default();
        let mut labels: Map = map.get(key).and_then(Value::as_map).cloned().unwrap_or_default();
        for (name, text) in &self.settings.labels {
            if !labels.contains_key(name.as_str()) || name == "skaffold.dev/run-id" {
                let origin = self.session.origins.flag(format!("--label {name}"));
                labels.insert(EcoString::from(name), Value::str(text.as_str()).with_origin(origin));
            }
        }
        map.insert(key.into(), Value::map(labels));
        value.with(Data::Map(Arc::new(map)))
    }
}

/// The built image for a name, if any. Images with a digest are kept.
fn built_image<'s>(images: &'s HashMap<String, String>, text: &str) -> Option<&'s str> {
    match image::parse(text) {
        Ok(parts) if !parts.digest.is_empty() => None,
        Ok(parts) => {
            // A chart with registry and repository turns one name into `NAME/NAME:TAG`.
            let twice = parts.name.split_once('/').filter(|(first, second)| first == second).map(|(first, _)| first);
            let found = images.get(&parts.name).or_else(|| twice.and_then(|name| images.get(name)));
            found.map(String::as_str)
        }
        Err(_) => {
            // `NAME:NAME` is treated likewise as repository and tag, if the name has a registry.
            let (_, tag) = text.split_once(':').filter(|(name, tag)| !tag.contains(':') && name.starts_with(tag))?;
            images.get(tag).map(String::as_str)
        }
    }
}

/// Sets the namespace if it is missing; an existing one is kept.
fn in_namespace(session: &Session, value: Value, namespace: &str) -> Value {
    let mut map: Map = value.as_map().cloned().unwrap_or_default();
    let metadata = map.get("metadata").cloned().unwrap_or_else(|| Value::map(Map::new()));
    let Some(entries) = metadata.as_map() else { return value };
    let known = entries.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if !known.is_empty() {
        return value;
    }
    let mut entries = entries.clone();
    let origin = session.origins.flag("--namespace");
    entries.insert("namespace".into(), Value::str(namespace).with_origin(origin));
    map.insert("metadata".into(), metadata.with(Data::Map(Arc::new(entries))));
    value.with(Data::Map(Arc::new(map)))
}
