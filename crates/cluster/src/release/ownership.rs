//! Whose objects are: the label and annotations by which Helm knows the objects of a release.

use super::objects::resource;
use super::{Engine, Trouble};
use crate::apply::on_threads;
use crate::client::METADATA;
use crate::discovery::Discovery;
use crate::object::Object;
use serde_json::{Value as Json, json};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const HELM: &str = "Helm";
const NAME: &str = "meta.helm.sh/release-name";
const NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Marks an object as one of a release.
pub(super) fn mark(object: &mut Object, release: &str, namespace: &str) {
    let Some(body) = object.body.as_object_mut() else { return };
    let metadata = body.entry("metadata").or_insert_with(|| json!({}));
    for (part, entries) in
        [("labels", &[(MANAGED_BY, HELM)][..]), ("annotations", &[(NAME, release), (NAMESPACE, namespace)][..])]
    {
        let Some(metadata) = metadata.as_object_mut() else { return };
        let slot = metadata.entry(part).or_insert_with(|| json!({}));
        if !slot.is_object() {
            *slot = json!({});
        }
        if let Some(map) = slot.as_object_mut() {
            map.extend(entries.iter().map(|(key, value)| ((*key).to_owned(), Json::from(*value))));
        }
    }
}

/// Why an object of the cluster is not one of a release; `None` if it is.
fn foreign(live: &Json, release: &str, namespace: &str) -> Option<String> {
    let wanted = [
        ("label", "labels", MANAGED_BY, HELM),
        ("annotation", "annotations", NAME, release),
        ("annotation", "annotations", NAMESPACE, namespace),
    ];
    let problem = |(what, part, key, value): &(&str, &str, &str, &str)| {
        let found = live.pointer(&format!("/metadata/{part}")).and_then(|map| map.get(*key)).and_then(Json::as_str);
        match found {
            None => Some(format!("{what} validation error: missing key {key:?}: must be set to {value:?}")),
            Some(found) if found != *value => {
                Some(format!("{what} validation error: key {key:?} must equal {value:?}: current value is {found:?}"))
            }
            Some(_) => None,
        }
    };
    let problems: Vec<String> = wanted.iter().filter_map(problem).collect();
    (!problems.is_empty()).then(|| format!("invalid ownership metadata; {}", problems.join("; ")))
}

impl Engine<'_> {
    /// Those of some objects that the cluster has already. If they are not to be taken over, each must be one of the
    /// release.
    pub(super) fn existing(
        &self,
        kinds: &Discovery,
        objects: &[Object],
        release: &str,
        takes_over: bool,
    ) -> Result<Vec<Object>, Trouble> {
        let found = on_threads(objects, |object| self.is_existing(kinds, object, release, takes_over))?;
        Ok(objects.iter().zip(found).filter(|(_, is_there)| *is_there).map(|(object, _)| object.clone()).collect())
    }

    fn is_existing(
        &self,
        kinds: &Discovery,
        object: &Object,
        release: &str,
        takes_over: bool,
    ) -> Result<bool, Trouble> {
        let has_generated = object.body.pointer("/metadata/generateName").is_some_and(|name| !name.is_null());
        match (object.id.name.is_empty(), has_generated) {
            (true, _) => return Ok(false),
            (false, true) => {
                return Err(Trouble::said("metadata.name and metadata.generateName cannot both be set"));
            }
            _ => {}
        }
        let path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        let shown = || format!("{} {:?} in namespace {:?}", object.id.kind, object.id.name, object.id.namespace);
        let live = self.client.find(&path, METADATA, &object.id.to_string(), self.around.go_on).map_err(|error| {
            Trouble::from(error).within(&format!("could not get information about the resource {}", shown()))
        })?;
        let Some(live) = live else { return Ok(false) };
        match foreign(&live, release, &self.namespace).filter(|_| !takes_over) {
            None => Ok(true),
            Some(why) => {
                Err(Trouble::said(format!("{} exists and cannot be imported into the current release: {why}", shown())))
            }
        }
    }
}
