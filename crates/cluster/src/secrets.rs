//! Secrets that a deploy needs in its namespace: copied from another one.

use crate::apply::MANAGER;
use crate::client::{APPLY, Client, GoOn, JSON};
use crate::error::ApiError;
use crate::object::named;
use crate::path::below;
use crate::wire::{Ask, Method};
use serde_json::Value as Json;

/// A secret of another namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Its name in both namespaces.
    pub name: String,
    /// The namespace it is copied from.
    pub from: String,
}

/// Ensures that secrets exist in a namespace.
pub(crate) fn copy_all(client: &Client, copies: &[Copy], namespace: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
    for copy in copies {
        let object = format!("Secret/{}", copy.name);
        let path = below(&copy.from, &["secrets", &copy.name]);
        let Some(found) = client.find(&path, JSON, &object, go_on)? else {
            let Copy { name, from } = copy;
            return Err(ApiError::Other(format!("the Secret `{name}` to copy does not exist in namespace `{from}`")));
        };
        if copy.from == namespace {
            continue;
        }
        let mut body = named("v1", "Secret", namespace, &copy.name);
        for key in ["labels", "annotations"] {
            if let Some(value) = found.pointer(&format!("/metadata/{key}")).filter(|value| value.is_object()) {
                body["metadata"][key] = value.clone();
            }
        }
        for key in ["type", "data"] {
            if let Some(value) = found.get(key) {
                body[key] = value.clone();
            }
        }
        write(client, &body, namespace, &copy.name, go_on)?;
    }
    Ok(())
}

fn write(client: &Client, body: &Json, namespace: &str, name: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
    let path = format!("{}?fieldManager={MANAGER}&force=true", below(namespace, &["secrets", name]));
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    let ask = Ask { method: Method::Patch, path: &path, accept: JSON, body: Some((APPLY, &bytes)) };
    client.ask(&ask, &format!("Secret/{name}"), go_on).map(|_| ())
}
