//! Hooks of charts: objects that are created at one moment of a deploy, by weight, and waited for.

use crate::apply::{Failed, How, apply_one, unknown};
use crate::client::{Client, GoOn, JSON};
use crate::delete::remove_and_wait;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::logs::output;
use crate::object::Object;
use crate::path::{below, escape};
use crate::ready::Rules;
use crate::wait::{Patience, wait_for};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;

/// Maximum number of lines shown per container of a hook.
const OUTPUT_LINES: usize = 10_000;

/// When hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the first install.
    PreInstall,
    /// After the first install.
    PostInstall,
    /// Before each later one.
    PreUpgrade,
    /// After it.
    PostUpgrade,
    /// Before everything is removed.
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

/// The moments of a hook; `None` for an ordinary object.
pub fn moments(object: &Object) -> Option<Vec<&str>> {
    let written = object.annotation("helm.sh/hook")?;
    Some(written.split(',').map(str::trim).collect())
}

fn weight(object: &Object) -> i64 {
    object.annotation("helm.sh/hook-weight").and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Whether a hook is removed in a case; by default before it is created again.
fn is_removed(object: &Object, case: &str) -> bool {
    match object.annotation("helm.sh/hook-delete-policy") {
        None => case == "before-hook-creation",
        Some(written) => written.split(',').any(|policy| policy.trim() == case),
    }
}

/// Runs the hooks of a moment, one after the other.
///
/// The order is Helm's: weight, then name, then kind.
pub fn run(
    client: &Client,
    discovery: &Discovery,
    hooks: &[Object],
    moment: Moment,
    patience: Patience<'_>,
) -> Result<(), Failed> {
    let is_due = |hook: &&Object| moments(hook).is_some_and(|all| all.contains(&moment.name()));
    let mut due: Vec<&Object> = hooks.iter().filter(is_due).collect();
    due.sort_by_key(|hook| (weight(hook), hook.id.name.clone(), hook.rank()));
    let mut made: Vec<Object> = Vec::new();
    for hook in due {
        (patience.say)(&format!("{} hook {}", moment.name(), hook.id));
        if is_removed(hook, "before-hook-creation") {
            remove_hook(client, discovery, hook, patience)?;
        }
        let hook = make(client, discovery, hook, patience)?;
        let done = until_done(client, discovery, &hook, patience);
        show_output(client, &hook, done.is_ok(), patience);
        if let Err(failed) = done {
            // Reports the failure of the hook, even if it cannot be removed either.
            if is_removed(&hook, "hook-failed") {
                let _ = remove_hook(client, discovery, &hook, patience);
            }
            let _ = remove_succeeded(client, discovery, &made, patience);
            return Err(failed);
        }
        made.push(hook);
    }
    remove_succeeded(client, discovery, &made, patience)
}

/// Removes hooks that succeeded and have that policy, the last one first.
fn remove_succeeded(
    client: &Client,
    discovery: &Discovery,
    hooks: &[Object],
    patience: Patience<'_>,
) -> Result<(), Failed> {
    let mut doomed = hooks.iter().rev().filter(|hook| is_removed(hook, "hook-succeeded"));
    doomed.try_for_each(|hook| remove_hook(client, discovery, hook, patience))
}

/// Removes a hook. One without a name was never created, and removing a definition would remove all objects of its
/// kind.
fn remove_hook(client: &Client, discovery: &Discovery, hook: &Object, patience: Patience<'_>) -> Result<(), Failed> {
    if hook.id.name.is_empty() || hook.is_definition() {
        return Ok(());
    }
    let removed = remove_and_wait(client, discovery, &hook.id, patience);
    removed.map(|_| ()).map_err(|error| Failed::of(hook, error))
}

/// Shows the output of a hook's pods, if its policy requests that.
pub(crate) fn show_output(client: &Client, hook: &Object, is_done: bool, patience: Patience<'_>) {
    let case = if is_done { "hook-succeeded" } else { "hook-failed" };
    let written = hook.annotation("helm.sh/hook-output-log-policy").unwrap_or("");
    if !written.split(',').any(|policy| policy.trim() == case) {
        return;
    }
    let label = match hook.id.kind.as_str() {
        "Job" => escape(&format!("job-name={}", hook.id.name)),
        "Pod" => String::new(),
        _ => return,
    };
    let namespace = &hook.id.namespace;
    let found = match label.is_empty() {
        true => client.get(&below(namespace, &["pods", &hook.id.name]), "", patience.go_on),
        false => client.get(&format!("{}?labelSelector={label}", below(namespace, &["pods"])), "", patience.go_on),
    };
    // A hook that succeeded does not fail because its log cannot be read.
    let Ok(found) = found else { return };
    let listed = found.get("items").and_then(Json::as_array).map_or(std::slice::from_ref(&found), Vec::as_slice);
    for pod in listed {
        for line in output(client, pod, namespace, OUTPUT_LINES, patience.go_on) {
            (patience.say)(&line);
        }
    }
}

/// Creates a hook and returns it with its final name.
fn make(client: &Client, discovery: &Discovery, hook: &Object, patience: Patience<'_>) -> Result<Object, Failed> {
    let resource = discovery.find(&hook.id.api_version, &hook.id.kind);
    let resource = resource.ok_or_else(|| Failed::of(hook, unknown(&hook.id)))?;
    if hook.id.name.is_empty() {
        return create_unnamed(client, discovery, hook, patience.go_on).map_err(|error| Failed::of(hook, error));
    }
    let how = How { force: true, dry: false };
    apply_one(client, resource, hook, how, patience.go_on).map_err(|error| Failed::of(hook, error))?;
    Ok(hook.clone())
}

/// Creates an object whose name the server chooses, and returns it with that name.
pub(crate) fn create_unnamed(
    client: &Client,
    discovery: &Discovery,
    object: &Object,
    go_on: GoOn<'_>,
) -> Result<Object, ApiError> {
    let resource = discovery.find(&object.id.api_version, &object.id.kind).ok_or_else(|| unknown(&object.id))?;
    let body = serde_json::to_vec(&object.body).unwrap_or_default();
    let path = resource.path(&object.id.namespace, None);
    let ask = Ask { method: Method::Post, path: &path, accept: JSON, body: Some((JSON, &body)) };
    let made = client.json(&ask, &object.id.kind, go_on)?;
    let mut named = object.clone();
    named.id.name = made.pointer("/metadata/name").and_then(Json::as_str).unwrap_or("").to_owned();
    Ok(named)
}

pub(crate) fn until_done(
    client: &Client,
    discovery: &Discovery,
    hook: &Object,
    patience: Patience<'_>,
) -> Result<(), Failed> {
    match hook.id.kind.as_str() {
        // Later objects may be of the kind that it defines.
        "CustomResourceDefinition" => wait_for(client, discovery, &[hook], patience),
        "Job" => wait_for(client, discovery, &[hook], Patience { rules: Rules { jobs: true }, ..patience }),
        "Pod" => until_pod_ends(client, discovery, hook, patience),
        _ => Ok(()),
    }
}

/// A hook pod is done when it has ended, not when it is ready.
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
