//! Built-in policies: settings that a cluster accepts but an operator may not want. Off unless a project names them.
//!
//! The two profiles are those of Kubernetes' Pod Security Standards; the required value is a row of a table where
//! possible. Unknown or secret values are not checked.

mod hygiene;
mod security;

use crate::Object;
use crate::finding::{Finding, Spot};
use crate::here::{Here, known};
use crate::pods::way_to_pod;
use purlin_syntax::Rule;
use purlin_syntax::what::listed;
use purlin_value::Value;

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The profile `baseline` of the Pod Security Standards.
    Baseline,
    /// The profile `restricted`, which includes `baseline`.
    Restricted,
    /// Containers declare their resources.
    Resources,
    /// Containers have probes.
    Probes,
    /// Images have a tag that does not move by definition, as `latest` does.
    Images,
}

/// All of them, by name.
pub const POLICIES: &[(&str, Policy)] = &[
    ("baseline", Policy::Baseline),
    ("images", Policy::Images),
    ("probes", Policy::Probes),
    ("resources", Policy::Resources),
    ("restricted", Policy::Restricted),
];

impl Policy {
    /// The policy of a name.
    pub fn named(name: &str) -> Option<Policy> {
        POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }
}

/// Checks an object against policies.
pub(crate) fn check(object: &Object<'_>, policies: &[Policy], found: &mut Vec<Finding>) {
    if policies.is_empty() {
        return;
    }
    let Some(kind) = known(object.value).and_then(|value| value.get("kind")).and_then(known).and_then(Value::as_str)
    else {
        return;
    };
    let Some(way) = way_to_pod(kind) else { return };
    let top = Here::top(object.value);
    walk(&top, way, &mut |pod| {
        let Some(spec) = pod.set("spec").filter(|spec| known(spec.value).is_some_and(|spec| spec.as_map().is_some()))
        else {
            return;
        };
        let mut judge = Judge { object: &object.id, kind, found: &mut *found };
        let has = |policy: Policy| policies.contains(&policy);
        if has(Policy::Baseline) || has(Policy::Restricted) {
            security::baseline(&mut judge, pod, &spec);
        }
        if has(Policy::Restricted) {
            security::restricted(&mut judge, &spec);
        }
        for (policy, check) in [
            (Policy::Resources, hygiene::resources as fn(&mut Judge<'_>, &Here<'_, '_>)),
            (Policy::Probes, hygiene::probes),
            (Policy::Images, hygiene::images),
        ] {
            if has(policy) {
                check(&mut judge, &spec);
            }
        }
    });
}

/// Follows keys, and passes each value at the end to a callback, if everything along the path is known.
fn walk(here: &Here<'_, '_>, way: &[&'static str], each: &mut dyn FnMut(&Here<'_, '_>)) {
    if known(here.value).is_none() {
        return;
    }
    match way.split_first() {
        None => each(here),
        Some((key, rest)) => {
            if let Some(next) = here.set(key) {
                walk(&next, rest, each);
            }
        }
    }
}

/// The findings of one object.
pub(crate) struct Judge<'j> {
    object: &'j str,
    kind: &'j str,
    found: &'j mut Vec<Finding>,
}

impl Judge<'_> {
    /// Reports a value that a policy does not allow.
    fn refuse(&mut self, rule: &'static Rule, here: &Here<'_, '_>, why: &str) {
        self.found.push(Finding::value(rule, here, self.object, format!(": {why}")));
    }

    /// Reports missing keys that a policy requires under a path, each with its value, as one finding.
    fn want(&mut self, rule: &'static Rule, here: &Here<'_, '_>, keys: &[&str]) {
        if keys.is_empty() {
            return;
        }
        let name = here.set("name").map(|name| Spot::Value(name.value.origin));
        let spot = name.unwrap_or_else(|| match here.last_key() {
            Some((key, value)) => Spot::Key(key.to_owned(), value.origin),
            None => Spot::Value(here.value.origin),
        });
        let names: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let all = listed(&names, "and");
        let subject = format!("missing {all} under `{here}`");
        let finding = Finding::of(rule, spot, subject, self.object, String::new());
        self.found.push(finding.hint(format!("add {all}")));
    }
}

/// The lists of containers in a pod.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Every container of a pod, in the given lists.
fn each_container(spec: &Here<'_, '_>, lists: &[&'static str], each: &mut dyn FnMut(&Here<'_, '_>)) {
    for list in lists {
        let Some(containers) = spec.set(list).filter(|list| known(list.value).is_some()) else { continue };
        for container in containers.items().filter(|one| known(one.value).is_some_and(|one| one.as_map().is_some())) {
            each(&container);
        }
    }
}
