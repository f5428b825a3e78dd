//! Hooks of charts: objects that are made at one moment of a deploy, by weight, and waited for.

use crate::apply::{Failed, How, apply_one, unknown};
use crate::client::{Client, JSON};
use crate::delete::remove_and_wait;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::object::Object;
use crate::ready::Rules;
use crate::wait::{Patience, wait_for};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;

/// When hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before or after the first install.
    PreInstall,
    /// After it.
    PostInstall,
    /// Before or after each later one.
    PreUpgrade,
    /// After it.
    PostUpgrade,
    /// Before or after everything is removed.
    PreDelete,
    /// After it.
    PostDelete,
}

impl Moment {
    /// Its name in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Moment::PreInstall => "pre-install",
            Moment::PostInstall => "post-install",
            Moment::PreUpgrade => "pre-upgrade",
            Moment::PostUpgrade => "post-upgrade",
            Moment::PreDelete => "pre-delete",
            Moment::PostDelete => "post-delete",
        }
    }
}

/// The moments of a hook; none of an ordinary object.
pub fn moments(object: &Object) -> Option<Vec<&str>> {
    let written = object.annotation("helm.sh/hook")?;
    Some(written.split(',').map(str::trim).collect())
}

fn weight(object: &Object) -> i64 {
    object.annotation("helm.sh/hook-weight").and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Whether a hook is removed in a case; before it is made again, if it does not say.
fn is_removed(object: &Object, case: &str) -> bool {
    match object.annotation("helm.sh/hook-delete-policy") {
        None => case == "before-hook-creation",
        Some(written) => written.split(',').any(|policy| policy.trim() == case),
    }
}

/// Runs the hooks of a moment, one after the other.
pub fn run(
    client: &Client,
    discovery: &Discovery,
    hooks: &[Object],
    moment: Moment,
    patience: Patience<'_>,
) -> Result<(), Failed> {
    let is_due = |hook: &&Object| moments(hook).is_some_and(|all| all.contains(&moment.name()));
    let mut due: Vec<&Object> = hooks.iter().filter(is_due).collect();
    due.sort_by_key(|hook| (weight(hook), hook.rank(), hook.id.name.clone()));
    for hook in &due {
        (patience.say)(&format!("{} hook {}", moment.name(), hook.id));
        if is_removed(hook, "before-hook-creation") && !hook.id.name.is_empty() {
            remove_and_wait(client, discovery, &hook.id, patience).map_err(|error| Failed::of(hook, error))?;
        }
        if let Err(failed) = make(client, discovery, hook, patience) {
            if is_removed(hook, "hook-failed") {
                let _ = remove_and_wait(client, discovery, &hook.id, patience);
            }
            return Err(failed);
        }
    }
    for hook in due.iter().filter(|hook| is_removed(hook, "hook-succeeded")) {
        remove_and_wait(client, discovery, &hook.id, patience).map_err(|error| Failed::of(hook, error))?;
    }
    Ok(())
}

/// Makes a hook and waits until a Job or Pod among them has done its work.
fn make(client: &Client, discovery: &Discovery, hook: &Object, patience: Patience<'_>) -> Result<(), Failed> {
    let resource = discovery.find(&hook.id.api_version, &hook.id.kind);
    let resource = resource.ok_or_else(|| Failed::of(hook, unknown(&hook.id)))?;
    if hook.id.name.is_empty() {
        let body = serde_json::to_vec(&hook.body).unwrap_or_default();
        let path = resource.path(&hook.id.namespace, None);
        let ask = Ask { method: Method::Post, path: &path, accept: JSON, body: Some((JSON, &body)) };
        let made = client.json(&ask, &hook.id.kind, patience.go_on).map_err(|error| Failed::of(hook, error))?;
        let mut named = hook.clone();
        named.id.name = made.pointer("/metadata/name").and_then(Json::as_str).unwrap_or("").to_owned();
        return until_done(client, discovery, &named, patience);
    }
    let how = How { force: true, dry: false };
    apply_one(client, resource, hook, how, patience.go_on).map_err(|error| Failed::of(hook, error))?;
    until_done(client, discovery, hook, patience)
}

fn until_done(client: &Client, discovery: &Discovery, hook: &Object, patience: Patience<'_>) -> Result<(), Failed> {
    match hook.id.kind.as_str() {
        "Job" => wait_for(client, discovery, &[hook], Patience { rules: Rules { jobs: true }, ..patience }),
        "Pod" => until_pod_ends(client, discovery, hook, patience),
        _ => Ok(()),
    }
}

/// A pod that is a hook has done its work when it has ended, not when it is ready.
fn until_pod_ends(client: &Client, discovery: &Discovery, hook: &Object, patience: Patience<'_>) -> Result<(), Failed> {
    let begun = std::time::Instant::now();
    let Some(resource) = discovery.find(&hook.id.api_version, &hook.id.kind) else { return Ok(()) };
    let path = resource.path(&hook.id.namespace, Some(&hook.id.name));
    loop {
        let found = client.find(&path, JSON, &hook.id.to_string(), patience.go_on)?;
        let phase = found.as_ref().and_then(|pod| pod.pointer("/status/phase")).and_then(Json::as_str).unwrap_or("");
        match phase {
            "Succeeded" => return Ok(()),
            "Failed" => return wait_for(client, discovery, &[hook], patience),
            _ if begun.elapsed() >= patience.timeout => {
                let mut lines = vec![format!("{} has not ended after {} s", hook.id, patience.timeout.as_secs())];
                lines.extend(crate::explain::explain(client, discovery, hook, patience.go_on));
                return Err(Failed::of(hook, ApiError::NotReady(lines)));
            }
            _ => crate::client::wait(std::time::Duration::from_millis(500), patience.go_on)?,
        }
    }
}
