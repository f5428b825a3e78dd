//! Removes objects: in the reverse order of installing, each with its dependents, until they are gone.

use crate::apply::{Failed, on_threads};
use crate::client::{Client, GoOn, JSON, METADATA, wait};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::inventory::Item;
use crate::object::{Id, rank};
use crate::wait::Patience;
use crate::wire::{Ask, Method};
use std::time::{Duration, Instant};

/// Pause between checks whether an object is gone.
const PAUSE: Duration = Duration::from_millis(200);

/// Requests the removal of an object. Returns whether it existed.
pub fn remove(client: &Client, discovery: &Discovery, id: &Id, go_on: GoOn<'_>) -> Result<bool, ApiError> {
    // If the cluster no longer has the kind, it has no objects of it either.
    let Some(resource) = discovery.find_any(&id.api_version, &id.kind) else { return Ok(false) };
    let path = format!("{}?propagationPolicy=Background", resource.path(&id.namespace, Some(&id.name)));
    let ask = Ask { method: Method::Delete, path: &path, accept: JSON, body: None };
    match client.ask(&ask, &id.to_string(), go_on) {
        Ok(_) => Ok(true),
        Err(ApiError::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The same, and waits until it is gone.
pub fn remove_and_wait(
    client: &Client,
    discovery: &Discovery,
    id: &Id,
    patience: Patience<'_>,
) -> Result<bool, ApiError> {
    let was_there = remove(client, discovery, id, patience.go_on)?;
    if was_there {
        until_gone(client, discovery, &[id], patience)?;
    }
    Ok(was_there)
}

fn until_gone(client: &Client, discovery: &Discovery, ids: &[&Id], patience: Patience<'_>) -> Result<(), ApiError> {
    let begun = Instant::now();
    let mut open: Vec<&Id> = ids.to_vec();
    loop {
        let there = on_threads(&open, |id| {
            let Some(resource) = discovery.find_any(&id.api_version, &id.kind) else { return Ok(false) };
            let path = resource.path(&id.namespace, Some(&id.name));
            client.find(&path, METADATA, &id.to_string(), patience.go_on).map(|found| found.is_some())
        })?;
        open = open.into_iter().zip(there).filter(|(_, there)| *there).map(|(id, _)| id).collect();
        let Some(first) = open.first() else { return Ok(()) };
        if begun.elapsed() >= patience.timeout {
            let more = if open.len() > 1 { format!(" and {} more", open.len() - 1) } else { String::new() };
            let line =
                format!("{first}{more} still exists after {} s; is a finalizer left?", patience.timeout.as_secs());
            return Err(ApiError::NotReady(vec![line]));
        }
        wait(PAUSE, patience.go_on)?;
    }
}

/// Removes objects, those installed last first. Objects with a keep policy are left. Returns the removed ones.
pub fn remove_all(
    client: &Client,
    discovery: &Discovery,
    items: &[Item],
    patience: Patience<'_>,
) -> Result<Vec<Id>, Failed> {
    let mut doomed: Vec<&Id> = items.iter().filter(|item| !item.keep).map(|item| &item.id).collect();
    doomed.sort_by_key(|id| std::cmp::Reverse(rank(&id.kind)));
    let mut removed = Vec::new();
    for wave in doomed.chunk_by(|a, b| rank(&a.kind) == rank(&b.kind)) {
        let gone = on_threads(wave, |id| {
            let failed = |error| Failed { error, manifest: None };
            remove(client, discovery, id, patience.go_on).map_err(failed)
        })?;
        let there = wave.iter().zip(gone).filter(|(_, was_there)| *was_there);
        removed.extend(there.map(|(id, _)| (*id).clone()));
    }
    let ids: Vec<&Id> = removed.iter().collect();
    until_gone(client, discovery, &ids, patience)?;
    for item in items.iter().filter(|item| item.keep) {
        (patience.say)(&format!("{} is kept (`helm.sh/resource-policy: keep`)", item.id));
    }
    Ok(removed)
}
