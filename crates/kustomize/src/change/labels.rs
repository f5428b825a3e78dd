//! Labels and annotations: of resources, of their pods, and of the selectors of those.

use crate::config::Config;
use crate::edit::set;
use crate::fieldspec::{FieldSpec, merge_all, merging, read_all, visit};
use crate::identity::Gvk;
use crate::index::{SPECS_PER_STEP, work_of_all};
use crate::kustomization::{Kustomization, Problem, over, spend, wrong};
use crate::resource::Resource;
use purlin_value::lazy::ENTRY_BYTES;
use purlin_value::{Data, Session, Value};

/// Adds the labels of a kustomization.
pub fn labels(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let merged = |entry: &Value, done: Result<(), String>| done.map_err(|why| wrong(session, entry, why));
    for entry in kustomization.list("labels") {
        let Some(pairs) = entry.get("pairs") else { continue };
        let on = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
        let mut specs = read_all(entry.get("fields"));
        spend(session, &entry, merging(specs.len() as u64, config.common_labels.len() as u64), 0)?;
        merged(&entry, merge_all(&mut specs, &config.labels))?;
        if on("includeSelectors") {
            merged(&entry, merge_all(&mut specs, &config.common_labels))?;
        } else {
            if on("includeTemplates") {
                merged(&entry, merge_all(&mut specs, &config.template_labels))?;
            }
            let own = FieldSpec::new(Gvk::default(), "metadata/labels", true);
            merged(&entry, merge_all(&mut specs, &[own]))?;
        }
        add(session, pairs, &specs, resources)?;
    }
    match kustomization.value.get("commonLabels") {
        Some(pairs) => add(session, pairs, &config.common_labels, resources),
        None => Ok(()),
    }
}

/// Adds the annotations of a kustomization.
pub fn annotations(
    session: &Session,
    kustomization: &Kustomization,
    config: &Config,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    match kustomization.value.get("commonAnnotations") {
        Some(pairs) => add(session, pairs, &config.common_annotations, resources),
        None => Ok(()),
    }
}

/// Adds pairs to the fields of all resources. Each resource has them for itself, so they are counted for each.
pub fn add(session: &Session, pairs: &Value, specs: &[FieldSpec], resources: &mut [Resource]) -> Result<(), Problem> {
    let Some(added) = pairs.as_map().filter(|added| !added.is_empty()) else { return Ok(()) };
    spend(session, pairs, work_of_all(resources, 1 + specs.len() as u64 / SPECS_PER_STEP), 0)?;
    let count = added.len() as u64;
    for resource in resources {
        let gvk = resource.gvk();
        for spec in specs.iter().filter(|spec| spec.of.selects(&gvk)) {
            let (mut exceeded, mut unfit) = (None, None);
            let done = visit(&mut resource.value, &spec.path, spec.create, &mut |field| {
                if !matches!(field.data, Data::Map(_) | Data::Null) {
                    unfit = Some(field.clone());
                    return Err(format!("expected a mapping, found {}", field.kind_name()));
                }
                exceeded = session.meter.charge(count, count * ENTRY_BYTES).err();
                if exceeded.is_none() {
                    added.iter().for_each(|(key, value)| set(field, key, value.clone()));
                }
                Ok(())
            });
            if let Some(limit) = exceeded {
                return Err(over(session, pairs, limit));
            }
            done.map_err(|why| wrong(session, unfit.as_ref().unwrap_or(pairs), why))?;
        }
    }
    Ok(())
}
