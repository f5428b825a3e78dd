//! Labels and annotations: of resources, of the pods they make, and of what selects those.

use crate::config::Config;
use crate::edit::set;
use crate::fieldspec::{FieldSpec, merge_all, merge_one, read_all, visit};
use crate::identity::Gvk;
use crate::kustomization::Kustomization;
use crate::resource::Resource;
use purlin_value::{Data, Value};

/// Adds the labels of a kustomization.
pub fn labels(kustomization: &Kustomization, config: &Config, resources: &mut [Resource]) -> Result<(), String> {
    for entry in kustomization.list("labels") {
        let Some(pairs) = entry.get("pairs") else { continue };
        let on = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
        let mut specs = read_all(entry.get("fields"));
        merge_all(&mut specs, &config.labels)?;
        if on("includeSelectors") {
            merge_all(&mut specs, &config.common_labels)?;
        } else {
            if on("includeTemplates") {
                merge_all(&mut specs, &config.template_labels)?;
            }
            merge_one(&mut specs, &FieldSpec::new(Gvk::default(), "metadata/labels", true))?;
        }
        add(pairs, &specs, resources)?;
    }
    match kustomization.value.get("commonLabels") {
        Some(pairs) => add(pairs, &config.common_labels, resources),
        None => Ok(()),
    }
}

/// Adds the annotations of a kustomization.
pub fn annotations(kustomization: &Kustomization, config: &Config, resources: &mut [Resource]) -> Result<(), String> {
    match kustomization.value.get("commonAnnotations") {
        Some(pairs) => add(pairs, &config.common_annotations, resources),
        None => Ok(()),
    }
}

/// Adds pairs to the fields of all resources.
pub fn add(pairs: &Value, specs: &[FieldSpec], resources: &mut [Resource]) -> Result<(), String> {
    let Some(pairs) = pairs.as_map().filter(|pairs| !pairs.is_empty()) else { return Ok(()) };
    for resource in resources {
        let gvk = resource.gvk();
        for spec in specs.iter().filter(|spec| spec.of.selects(&gvk)) {
            visit(&mut resource.value, &spec.path, spec.create, &mut |field| {
                if !matches!(field.data, Data::Map(_) | Data::Null) {
                    return Err(format!("expected a mapping, found {}", field.kind_name()));
                }
                pairs.iter().for_each(|(key, value)| set(field, key, value.clone()));
                Ok(())
            })?;
        }
    }
    Ok(())
}
