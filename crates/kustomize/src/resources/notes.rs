//! Notes on the origins and changes of resources, as requested by `buildMetadata` and written into annotations.

use crate::edit::{set, visit};
use crate::kustomization::Kustomization;
use crate::resource::Resource;
use purlin_value::{Value, path};

/// The version whose behaviour this engine has, for the label that names a resource's builder.
const MANAGER: &str = "kustomize-v5.5.0";

/// The notes requested by a kustomization.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    origins: bool,
    transformations: bool,
    manager: bool,
}

impl Wanted {
    /// Reads `buildMetadata` of the kustomization that is built. The caller may request the label of its manager too.
    pub fn read(kustomization: &Kustomization, is_managed: bool) -> Wanted {
        let options = kustomization.list("buildMetadata");
        let has = |name: &str| options.iter().any(|option| option.as_str() == Some(name));
        Wanted {
            origins: has("originAnnotations"),
            transformations: has("transformerAnnotations"),
            manager: is_managed || has("managedByLabel"),
        }
    }

    /// Writes notes into resources that are finished.
    pub fn write(self, resources: &mut [Resource]) {
        for resource in resources {
            if self.manager {
                note(resource, "labels", "app.kubernetes.io/managed-by", MANAGER.to_owned());
            }
            if let Some(origin) = resource.origin.clone().filter(|_| self.origins) {
                note(resource, "annotations", "config.kubernetes.io/origin", origin);
            }
            if self.transformations && !resource.changes.is_empty() {
                let changes = resource.changes.concat();
                note(resource, "annotations", "alpha.config.kubernetes.io/transformations", changes);
            }
        }
    }
}

fn note(resource: &mut Resource, field: &str, key: &str, text: String) {
    visit(&mut resource.value, &["metadata", field], true, &mut |notes| set(notes, key, Value::str(text.as_str())));
}

/// The note of a resource that was read from a file.
pub fn read_from(trail: &str, file: &str) -> String {
    format!("path: {}\n", path::normalize(&path::join(trail, file)))
}

/// The note of a generator or transformer that a file below a kustomization's folder configures.
pub fn configured(trail: &str, file: &str, kind: &str, names: [&str; 2]) -> String {
    let file = path::normalize(&path::join(trail, file));
    let keys = ["name", "namespace"].into_iter().zip(names).filter(|(_, name)| !name.is_empty());
    let names: String = keys.map(|(key, name)| format!("  {key}: {name}\n")).collect();
    format!("configuredIn: {file}\nconfiguredBy:\n  apiVersion: builtin\n  kind: {kind}\n{names}")
}

/// Notes that a transformer has seen resources.
pub fn changed(note: &str, resources: &mut [Resource]) {
    let mut lines = note.lines();
    let first = lines.next().map(|line| format!("- {line}\n")).unwrap_or_default();
    let entry = lines.fold(first, |entry, line| entry + "  " + line + "\n");
    for resource in resources {
        match resource.origin {
            // A resource without origin was made by this kustomization.
            None => resource.origin = Some(note.to_owned()),
            Some(_) => resource.changes.push(entry.clone()),
        }
    }
}
