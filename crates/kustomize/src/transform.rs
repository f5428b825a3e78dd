//! What a kustomization changes in its resources, step by step in the original's order.

use crate::config::Config;
use crate::kustomization::{Kustomization, Problem};
use crate::names::{Affix, Subjects, add_namespace, affix};
use crate::patch::{self, Entry};
use crate::resource::{Resource, duplicate};
use crate::{images, labels, replacements, rules};
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{MergeKeys, Session, Value, value_of};

/// A step.
pub struct Step {
    /// The original's name for what does it.
    pub kind: &'static str,
    /// The keys it is about.
    keys: &'static [&'static str],
    /// Whether it runs once for each item of the keys, or once for all.
    each: bool,
    /// Does it for an item.
    pub run: Run,
}

type Run = fn(&Session, &Kustomization, &Config, &Value, &mut Vec<Resource>) -> Result<(), Problem>;

/// The steps in their order.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step { kind: "PatchStrategicMergeTransformer", keys: &["patchesStrategicMerge"], each: true, run: strategic },
    Step { kind: "PatchTransformer", keys: &["patches"], each: true, run: patches },
    Step { kind: "NamespaceTransformer", keys: &["namespace"], each: false, run: namespace },
    Step { kind: "PrefixTransformer", keys: &["namePrefix"], each: false, run: prefix },
    Step { kind: "SuffixTransformer", keys: &["nameSuffix"], each: false, run: suffix },
    Step { kind: "LabelTransformer", keys: &["labels", "commonLabels"], each: false, run: add_labels },
    Step { kind: "AnnotationsTransformer", keys: &["commonAnnotations"], each: false, run: add_annotations },
    Step { kind: "PatchJson6902Transformer", keys: &["patchesJson6902"], each: true, run: json },
    Step { kind: "ReplicaCountTransformer", keys: &["replicas"], each: true, run: replicas },
    Step { kind: "ImageTagTransformer", keys: &["images", "imageTags"], each: true, run: image },
    Step { kind: "ReplacementTransformer", keys: &["replacements"], each: true, run: replacement },
];

impl Step {
    /// What it runs for.
    pub fn items(&self, kustomization: &Kustomization) -> Vec<Value> {
        let set = self.keys.iter().filter_map(|key| kustomization.value.get(key)).filter(|value| !value.is_null());
        match self.each {
            true => self.keys.iter().flat_map(|key| kustomization.list(key)).collect(),
            false => set.take(1).cloned().collect(),
        }
    }
}

fn strategic(
    session: &Session,
    kustomization: &Kustomization,
    _: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    patch::strategic(session, kustomization, item, resources)
}

fn patches(
    session: &Session,
    kustomization: &Kustomization,
    _: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    patch::entry(session, kustomization, item, Entry::Any, resources)
}

fn json(
    session: &Session,
    kustomization: &Kustomization,
    _: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    patch::entry(session, kustomization, item, Entry::Json, resources)
}

fn namespace(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let namespace = kustomization.text("namespace");
    let added = add_namespace(namespace, &config.namespace, Subjects::Default, false, resources);
    let added = added.and_then(|()| match duplicate(resources) {
        Some(twice) => Err(format!("in one namespace there are two of {} `{}`", twice.kind(), twice.name())),
        None => Ok(()),
    });
    added.map_err(|why| wrong(session, item, why))
}

fn prefix(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let added = affix(Affix::Prefix, kustomization.text("namePrefix"), &config.name_prefix, resources);
    added.map_err(|why| wrong(session, item, why))
}

fn suffix(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let added = affix(Affix::Suffix, kustomization.text("nameSuffix"), &config.name_suffix, resources);
    added.map_err(|why| wrong(session, item, why))
}

fn add_labels(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    labels::labels(kustomization, config, resources).map_err(|why| wrong(session, item, why))
}

fn add_annotations(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    labels::annotations(kustomization, config, resources).map_err(|why| wrong(session, item, why))
}

fn replicas(
    session: &Session,
    _: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    images::replicas(item, &config.replicas, resources).map_err(|why| wrong(session, item, why))
}

fn image(
    session: &Session,
    _: &Kustomization,
    config: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    images::image(item, &config.images, resources).map_err(|why| wrong(session, item, why))
}

fn replacement(
    session: &Session,
    kustomization: &Kustomization,
    _: &Config,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    replace(session, kustomization, item, resources)
}

/// An entry of `replacements`: written in place, or the path of a file with one or several.
pub fn replace(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let most = session.meter.most_output();
    let apply = |rule: &Value, resources: &mut [Resource]| {
        session.meter.charge(resources.len() as u64, 0).map_err(|exceeded| {
            let Problem::Wrong(problem) = wrong(session, rule, exceeded.message()) else { unreachable!("made here") };
            Problem::Wrong(Diagnostic { rule: exceeded.rule(), ..problem.hint(exceeded.hint()) })
        })?;
        let idle = replacements::replace(rule, resources, most).map_err(|why| wrong(session, rule, why))?;
        for target in idle {
            let message = "this target of a replacement selects no resource";
            let mut warning = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).warning();
            warning.span = session.origins.span(target, &session.sources);
            session.sink.push(warning);
        }
        Ok(())
    };
    let Some(file) = item.get("path").and_then(Value::as_str).filter(|file| !file.is_empty()) else {
        return apply(item, resources);
    };
    if item.get("source").or_else(|| item.get("targets")).is_some_and(|part| !part.is_null()) {
        let message = "a replacement has both a `path` and rules of its own".to_owned();
        return Err(wrong(session, item, message));
    }
    let place = kustomization.own_file(session, item, file)?;
    let tree = session.read_yaml(&place, Flavor::CoreGo)?;
    let Some(root) = tree.root() else { return Ok(()) };
    let value = value_of(root, MergeKeys::Apply);
    match value.as_list() {
        Some(rules) => rules.iter().try_for_each(|rule| apply(rule, resources)),
        None => apply(&value, resources),
    }
}

/// A problem with an item of a kustomization.
pub fn wrong(session: &Session, item: &Value, message: String) -> Problem {
    let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
    diagnostic.span = session.origins.span(item.origin, &session.sources);
    Problem::Wrong(diagnostic)
}
