//! Policies about the operation of containers: resources, probes, and image tags.

use super::{Judge, each_container};
use crate::here::{Here, known};
use crate::rules::{FLOATING_IMAGE, MISSING_PROBE, MISSING_RESOURCES};
use crate::values::short;

/// Requests and limits of containers. Without a memory limit one container may use up the memory of all.
pub(super) fn resources(judge: &mut Judge<'_>, spec: &Here<'_, '_>) {
    each_container(spec, &["containers"], &mut |container| {
        let resources = container.set("resources");
        if resources.as_ref().is_some_and(|resources| known(resources.value).is_none()) {
            return;
        }
        let mut wanted = Vec::new();
        for (part, key) in [("requests", "cpu"), ("requests", "memory"), ("limits", "memory")] {
            let part_of = resources.as_ref().and_then(|resources| resources.set(part));
            let is_there = part_of.is_some_and(|part| known(part.value).is_none() || part.set(key).is_some());
            // A limit without a request also sets the request.
            let limits = resources.as_ref().and_then(|resources| resources.set("limits"));
            let is_limited = part == "requests" && limits.is_some_and(|limits| limits.set(key).is_some());
            if !is_there && !is_limited {
                wanted.push(format!("resources.{part}.{key}"));
            }
        }
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        judge.want(&MISSING_RESOURCES, container, &wanted);
    });
}

/// Kinds whose pods run until they are stopped.
const LASTING: &[&str] = &["Deployment", "StatefulSet", "DaemonSet"];

/// Containers that serve requests have a readiness probe, and all have a liveness probe.
pub(super) fn probes(judge: &mut Judge<'_>, spec: &Here<'_, '_>) {
    if !LASTING.contains(&judge.kind) {
        return;
    }
    each_container(spec, &["containers"], &mut |container| {
        let serves = container.set("ports").is_some_and(|ports| ports.items().next().is_some());
        let wanted = [("readinessProbe", serves), ("livenessProbe", true)];
        let missing = wanted.iter().filter(|(probe, is_wanted)| *is_wanted && container.set(probe).is_none());
        let missing: Vec<&str> = missing.map(|(probe, _)| *probe).collect();
        judge.want(&MISSING_PROBE, container, &missing);
    });
}

/// An image without a tag, or with `latest`, may change between deployments.
pub(super) fn images(judge: &mut Judge<'_>, spec: &Here<'_, '_>) {
    each_container(spec, &super::CONTAINERS, &mut |container| {
        let Some(image) = container.set("image") else { return };
        let Some(text) = image.text().filter(|text| !text.is_empty() && !text.contains('@')) else { return };
        let name = text.rsplit('/').next().unwrap_or(text);
        match name.split_once(':') {
            None => judge.refuse(&FLOATING_IMAGE, &image, &format!("`{}` has no tag", short(text))),
            Some((_, "latest")) => judge.refuse(&FLOATING_IMAGE, &image, "the tag `latest` moves"),
            Some(_) => {}
        }
    });
}
