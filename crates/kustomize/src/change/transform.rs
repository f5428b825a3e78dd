//! Changes of a kustomization to its resources, step by step in the original's order.

use crate::config::Config;
use crate::index::Index;
use crate::kustomization::{Kustomization, Problem, wrong};
use crate::names::{Affix, Subjects, add_namespace, affix};
use crate::patch::{self, Entry};
use crate::resource::{Resource, duplicate};
use crate::{images, labels, replacements, rules};
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{MergeKeys, Session, Value, value_of};

/// A step: the original's name of its transformer, its keys, and whether it runs once for each item of them.
pub struct Step {
    /// The name.
    pub kind: &'static str,
    keys: &'static [&'static str],
    each: bool,
    /// Whether resources have another name or namespace after it.
    pub renames: bool,
}

/// The steps in their order.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step { kind: "PatchStrategicMergeTransformer", keys: &["patchesStrategicMerge"], each: true, renames: false },
    Step { kind: "PatchTransformer", keys: &["patches"], each: true, renames: false },
    Step { kind: "NamespaceTransformer", keys: &["namespace"], each: false, renames: true },
    Step { kind: "PrefixTransformer", keys: &["namePrefix"], each: false, renames: true },
    Step { kind: "SuffixTransformer", keys: &["nameSuffix"], each: false, renames: true },
    Step { kind: "LabelTransformer", keys: &["labels", "commonLabels"], each: false, renames: false },
    Step { kind: "AnnotationsTransformer", keys: &["commonAnnotations"], each: false, renames: false },
    Step { kind: "PatchJson6902Transformer", keys: &["patchesJson6902"], each: true, renames: false },
    Step { kind: "ReplicaCountTransformer", keys: &["replicas"], each: true, renames: false },
    Step { kind: "ImageTagTransformer", keys: &["images", "imageTags"], each: true, renames: false },
    Step { kind: "ReplacementTransformer", keys: &["replacements"], each: true, renames: false },
];

impl Step {
    /// The items it runs for.
    pub fn items(&self, kustomization: &Kustomization) -> Vec<Value> {
        let set = self.keys.iter().filter_map(|key| kustomization.value.get(key)).filter(|value| !value.is_null());
        match self.each {
            true => self.keys.iter().flat_map(|key| kustomization.list(key)).collect(),
            false => set.take(1).cloned().collect(),
        }
    }

    /// How often the original notes that it has run for an item, of which `left` follow: labels are a step for each entry
    /// and one for `commonLabels`; all of `patchesStrategicMerge` are one step.
    pub fn noted(&self, kustomization: &Kustomization, left: usize) -> usize {
        match self.kind {
            "LabelTransformer" => kustomization.list("labels").len() + 1,
            "PatchStrategicMergeTransformer" => usize::from(left == 0),
            _ => 1,
        }
    }

    /// Whether it checks every resource for an item; otherwise only those found by an index, which charges for them.
    pub fn goes_through_all(&self) -> bool {
        matches!(self.kind, "NamespaceTransformer" | "PrefixTransformer" | "SuffixTransformer")
    }

    /// Runs it for an item.
    pub fn run(
        &self,
        session: &Session,
        kustomization: &Kustomization,
        config: &Config,
        item: &Value,
        index: &mut Index,
        resources: &mut Vec<Resource>,
    ) -> Result<(), Problem> {
        let origins = &session.origins;
        let done = match self.kind {
            "PatchStrategicMergeTransformer" => {
                return patch::strategic(session, kustomization, item, index, resources);
            }
            "PatchTransformer" => return patch::entry(session, kustomization, item, Entry::Any, index, resources),
            "PatchJson6902Transformer" => {
                return patch::entry(session, kustomization, item, Entry::Json, index, resources);
            }
            "ReplacementTransformer" => return replace(session, kustomization, item, index, resources),
            "NamespaceTransformer" => put_into(item, config, resources),
            "PrefixTransformer" => affix(origins, Affix::Prefix, item, &config.name_prefix, resources),
            "SuffixTransformer" => affix(origins, Affix::Suffix, item, &config.name_suffix, resources),
            "LabelTransformer" => return labels::labels(session, kustomization, config, resources),
            "AnnotationsTransformer" => return labels::annotations(session, kustomization, config, resources),
            "ReplicaCountTransformer" => return images::replicas(session, item, &config.replicas, index, resources),
            _ => {
                let is_used = images::image(session, item, &config.images, index, resources)?;
                if !is_used {
                    let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
                    no_effect(session, kustomization, item, format!("no resource has the image `{name}`"));
                }
                return Ok(());
            }
        };
        done.map_err(|why| wrong(session, item, why).into())
    }
}

/// Warns of an entry that concerns no resource. A component may be meant for resources that only some of those have
/// that name it.
pub fn no_effect(session: &Session, kustomization: &Kustomization, item: &Value, message: String) {
    if kustomization.is_component() {
        return;
    }
    let mut warning =
        Diagnostic::nowhere(&rules::NO_EFFECT, message).hint("remove the entry, or correct what it names");
    let place = item.get("target").or_else(|| item.get("name")).unwrap_or(item);
    warning.span = session
        .origins
        .span(place.origin, &session.sources)
        .or_else(|| session.origins.span(item.origin, &session.sources));
    session.sink.push(warning);
}

fn put_into(namespace: &Value, config: &Config, resources: &mut [Resource]) -> Result<(), String> {
    add_namespace(namespace, &config.namespace, Subjects::Default, false, resources)?;
    match duplicate(resources) {
        Some(twice) => Err(format!("in one namespace there are two of {} `{}`", twice.kind(), twice.name())),
        None => Ok(()),
    }
}

/// An entry of `replacements`: written in place, or the path of a file with one or several.
pub fn replace(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let mut apply = |rule: &Value| {
        for target in replacements::replace(session, rule, index, resources)? {
            let message = "this target of a replacement selects no resource";
            let mut warning = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).warning();
            warning.span = session.origins.span(target, &session.sources);
            session.sink.push(warning);
        }
        Ok(())
    };
    let Some(file) = item.get("path").and_then(Value::as_str).filter(|file| !file.is_empty()) else {
        return apply(item);
    };
    if item.get("source").or_else(|| item.get("targets")).is_some_and(|part| !part.is_null()) {
        let message = "a replacement has both a `path` and rules of its own".to_owned();
        return Err(wrong(session, item, message).into());
    }
    let place = kustomization.own_file(session, item, file)?;
    let tree = session.read_yaml(&place, Flavor::CoreGo)?;
    let Some(root) = tree.root() else { return Ok(()) };
    let value = value_of(root, MergeKeys::Apply);
    match value.as_list() {
        Some(rules) => rules.iter().try_for_each(apply),
        None => apply(&value),
    }
}
