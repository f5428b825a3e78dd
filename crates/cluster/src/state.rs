//! Compares a deployment with the cluster: nothing missing, nothing changed since, everything ready.

use crate::apply::{Mark, on_threads};
use crate::client::{Client, GoOn, JSON, METADATA};
use crate::deploy::Deployment;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::inventory::{Inventory, Item};
use crate::ready::{Ready, Rules, has_status, ready};

/// The state of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// None of it exists.
    Missing,
    /// Another version is deployed, or objects were changed; which.
    Outdated(String),
    /// This version is deployed, but not ready; the reason.
    NotReady(String),
    /// This version is deployed and ready.
    Ready,
}

/// Reads the state from the cluster, and changes nothing.
pub fn standing(client: &Client, deployment: &Deployment, go_on: GoOn<'_>) -> Result<Standing, ApiError> {
    let namespace = if deployment.namespace.is_empty() { client.namespace() } else { &deployment.namespace };
    let Some(inventory) = Inventory::read(client, namespace, &deployment.name, go_on)? else {
        return Ok(Standing::Missing);
    };
    if inventory.version != deployment.version {
        return Ok(Standing::Outdated("another version is deployed".to_owned()));
    }
    if !deployment.content.is_empty() && inventory.content != deployment.content {
        return Ok(Standing::Outdated("its objects are not those that were deployed".to_owned()));
    }
    if !inventory.is_ready {
        return Ok(Standing::NotReady("its last deploy did not come to its end".to_owned()));
    }
    let needed = inventory.items.iter().map(|item| item.id.api_version.clone()).collect();
    let discovery = Discovery::read(client, &needed, go_on)?;
    let looks = on_threads(&inventory.items, |item| look(client, &discovery, item, deployment.jobs, go_on))?;
    Ok(looks.into_iter().find(|look| *look != Standing::Ready).unwrap_or(Standing::Ready))
}

fn look(
    client: &Client,
    discovery: &Discovery,
    item: &Item,
    jobs: bool,
    go_on: GoOn<'_>,
) -> Result<Standing, ApiError> {
    let Some(resource) = discovery.find_any(&item.id.api_version, &item.id.kind) else {
        return Ok(Standing::Outdated(format!("the cluster no longer knows the kind of {}", item.id)));
    };
    let path = resource.path(&item.id.namespace, Some(&item.id.name));
    let accept = if has_status(&item.id.kind) { JSON } else { METADATA };
    let Some(found) = client.find(&path, accept, &item.id.to_string(), go_on)? else {
        return Ok(Standing::Outdated(format!("{} is missing", item.id)));
    };
    if Mark::of(&found) != item.mark {
        return Ok(Standing::Outdated(format!("{} was changed since", item.id)));
    }
    match ready(&found, Rules { jobs }) {
        Ready::Yes => Ok(Standing::Ready),
        Ready::Waits(why) | Ready::Failed(why) => Ok(Standing::NotReady(format!("{}: {why}", item.id))),
    }
}
