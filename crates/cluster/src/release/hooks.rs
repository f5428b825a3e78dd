//! The hooks of a release: which run at a moment, in which order, and what is removed when.

use super::objects::{documents, kind_name};
use super::record::Record;
use super::{Apply, Engine, Trouble};
use crate::delete::remove_and_wait;
use crate::discovery::Discovery;
use crate::hooks::{show_output, until_done};
use crate::object::Object;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// A rendered document with hook annotations: its template and its text.
pub fn hook(path: &str, text: &str, events: &[String]) -> Result<Json, String> {
    let document = documents(text)?.into_iter().next().unwrap_or(Json::Null);
    let pointer = |path: &str| document.pointer(path).and_then(Json::as_str).unwrap_or("");
    let annotation = |name: &str| pointer(&format!("/metadata/annotations/{}", name.replace('/', "~1")));
    let list = |name: &str| -> Vec<String> {
        annotation(name).split(',').map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()).collect()
    };
    let events: Vec<&str> = events.iter().map(|event| if event == "test-success" { "test" } else { event }).collect();
    let mut hook = json!({
        "name": pointer("/metadata/name"),
        "kind": pointer("/kind"),
        "path": path,
        "manifest": text,
        "events": events,
        "last_run": { "phase": "" },
    });
    if let Some(weight) = annotation("helm.sh/hook-weight").trim().parse::<i64>().ok().filter(|weight| *weight != 0) {
        hook["weight"] = weight.into();
    }
    for (key, name) in
        [("delete_policies", "helm.sh/hook-delete-policy"), ("output_log_policies", "helm.sh/hook-output-log-policy")]
    {
        let policies = list(name);
        if !policies.is_empty() {
            hook[key] = policies.into();
        }
    }
    Ok(hook)
}

fn text<'j>(hook: &'j Json, key: &str) -> &'j str {
    hook.get(key).and_then(Json::as_str).unwrap_or("")
}

/// Whether a list of a hook has a word.
pub fn has(hook: &Json, key: &str, word: &str) -> bool {
    let words = hook.get(key).and_then(Json::as_array).into_iter().flatten();
    words.filter_map(Json::as_str).any(|known| known == word)
}

/// The places of the hooks of an event, in the order in which they run.
pub(super) fn due(record: &Record, event: &str) -> Vec<usize> {
    let hooks = record.hooks();
    let mut due: Vec<usize> =
        hooks.iter().enumerate().filter(|(_, hook)| has(hook, "events", event)).map(|(at, _)| at).collect();
    let key = |at: &usize| {
        let hook = hooks.get(*at).unwrap_or(&Json::Null);
        (hook.get("weight").and_then(Json::as_i64).unwrap_or(0), text(hook, "name").to_owned())
    };
    due.sort_by_key(key);
    due
}

/// How hooks are run.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) timeout: Duration,
    pub(super) apply: Apply,
}

/// Hooks that have run and are still there.
#[derive(Debug, Default)]
pub struct Finished {
    /// Those that succeeded, by their place.
    succeeded: Vec<usize>,
    /// The one that failed.
    failed: Option<usize>,
}

impl Engine<'_> {
    /// Runs the hooks of an event and removes those that are to go.
    pub(super) fn run_hooks(&self, record: &mut Record, event: &str, terms: Terms) -> Result<(), Trouble> {
        let places = due(record, event);
        let (finished, result) = self.run_hooks_at(record, event, &places, terms);
        let removed = self.remove_finished(record, &finished, terms);
        result.and(removed)
    }

    /// Runs hooks and leaves them where they are, so that their output can be read.
    pub(super) fn run_hooks_at(
        &self,
        record: &mut Record,
        event: &str,
        places: &[usize],
        terms: Terms,
    ) -> (Finished, Result<(), Trouble>) {
        let mut finished = Finished::default();
        for at in places {
            let result = self.run_hook(record, event, *at, terms);
            match result {
                Ok(()) => finished.succeeded.push(*at),
                Err((is_running, trouble)) => {
                    finished.failed = is_running.then_some(*at);
                    // A hook that was never made leaves the others alone, as in Helm.
                    if !is_running {
                        finished.succeeded.clear();
                    }
                    return (finished, Err(trouble));
                }
            }
        }
        (finished, Ok(()))
    }

    /// Runs a hook; an error tells whether it had been made.
    fn run_hook(&self, record: &mut Record, event: &str, at: usize, terms: Terms) -> Result<(), (bool, Trouble)> {
        let early = |trouble: Trouble| (false, trouble);
        let Some(hook) = record.hook_mut(at) else { return Ok(()) };
        if hook.get("delete_policies").and_then(Json::as_array).is_none_or(Vec::is_empty) {
            hook["delete_policies"] = json!(["before-hook-creation"]);
        }
        let (path, kind, hook) = (text(hook, "path").to_owned(), text(hook, "kind").to_owned(), hook.clone());
        self.remove_hook(&hook, "before-hook-creation", terms).map_err(early)?;
        let (objects, kinds) = self.objects(text(&hook, "manifest")).map_err(|trouble| {
            early(trouble.within(&format!("unable to build kubernetes object for {event} hook {path}")))
        })?;
        self.note_run(record, at, "Running", true);
        self.note(record);
        (self.around.say)(&format!("{event} hook {kind}/{}", text(&hook, "name")));
        let mut made = Vec::new();
        for object in &objects {
            match self.make_hook(&kinds, object, terms) {
                Ok(object) => made.push(object),
                Err(trouble) => {
                    self.note_run(record, at, "Failed", false);
                    return Err(early(trouble.within(&format!("warning: Hook {event} {path} failed"))));
                }
            }
        }
        let patience = self.patience(terms.timeout, true);
        let done = made.iter().try_for_each(|object| until_done(self.client, &kinds, object, patience));
        self.note_run(record, at, if done.is_ok() { "Succeeded" } else { "Failed" }, false);
        if let Err(failed) = done {
            made.iter().for_each(|object| show_output(self.client, object, false, patience));
            return Err((true, Trouble::from(failed.error)));
        }
        Ok(())
    }

    fn make_hook(&self, kinds: &Discovery, object: &Object, terms: Terms) -> Result<Object, Trouble> {
        if !object.id.name.is_empty() {
            return self.create_one(kinds, object, terms.apply).map(|()| object.clone());
        }
        crate::hooks::create_unnamed(self.client, kinds, object, self.around.go_on)
            .map_err(|error| Trouble::from(error).within(&kind_name(&object.id)))
    }

    fn note_run(&self, record: &mut Record, at: usize, phase: &str, begins: bool) {
        let now = self.now();
        let Some(hook) = record.hook_mut(at) else { return };
        if begins {
            hook["last_run"] = json!({ "started_at": now, "phase": phase });
        } else {
            hook["last_run"]["completed_at"] = now.into();
            hook["last_run"]["phase"] = phase.into();
        }
    }

    /// Removes hooks that have run, by their policies.
    pub(super) fn remove_finished(&self, record: &Record, finished: &Finished, terms: Terms) -> Result<(), Trouble> {
        let hook = |at: &usize| record.hooks().get(*at).cloned().unwrap_or(Json::Null);
        if let Some(failed) = &finished.failed {
            if let Err(trouble) = self.remove_hook(&hook(failed), "hook-failed", terms) {
                (self.around.say)(&format!("error deleting the hook resource on hook failure: {trouble}"));
            }
            return finished.succeeded.iter().try_for_each(|at| self.remove_hook(&hook(at), "hook-succeeded", terms));
        }
        for at in finished.succeeded.iter().rev() {
            let hook = hook(at);
            if has(&hook, "output_log_policies", "hook-succeeded")
                && let Ok((objects, _)) = self.objects(text(&hook, "manifest"))
            {
                let patience = self.patience(terms.timeout, true);
                objects.iter().for_each(|object| show_output(self.client, object, true, patience));
            }
            self.remove_hook(&hook, "hook-succeeded", terms)?;
        }
        Ok(())
    }

    /// Removes a hook if it has the policy. Removing a definition would remove all objects of its kind.
    fn remove_hook(&self, hook: &Json, policy: &str, terms: Terms) -> Result<(), Trouble> {
        if text(hook, "kind") == "CustomResourceDefinition" || !has(hook, "delete_policies", policy) {
            return Ok(());
        }
        let (objects, kinds) = self.objects(text(hook, "manifest")).map_err(|trouble| {
            let path = text(hook, "path");
            trouble.within(&format!("unable to build kubernetes object for deleting hook {path}"))
        })?;
        for object in objects.iter().filter(|object| !object.id.name.is_empty()) {
            remove_and_wait(self.client, &kinds, &object.id, self.patience(terms.timeout, true))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn hooks_are_read_as_helm_records_them() {
        let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations:\n    \
                        helm.sh/hook: test-success\n    helm.sh/hook-weight: \"-3\"\n    \
                        helm.sh/hook-delete-policy: Hook-Succeeded, hook-failed\n";
        let made = hook("shop/templates/job.yaml", manifest, &["test-success".to_owned()]).unwrap();
        let expected = json!({ "name": "migrate", "kind": "Job", "path": "shop/templates/job.yaml", "manifest": manifest,
            "events": ["test"], "last_run": { "phase": "" }, "weight": -3,
            "delete_policies": ["hook-succeeded", "hook-failed"] });
        assert_eq!(made, expected);
    }

    #[test]
    fn hooks_run_by_weight_and_name() {
        let one = |name: &str, weight: i64| json!({ "name": name, "weight": weight, "events": ["pre-install"] });
        let body = json!({ "hooks": [one("b", 0), one("a", 0), one("z", -1), { "name": "x", "events": ["test"] }] });
        assert_eq!(due(&Record { body, ..Record::default() }, "pre-install"), [2, 1, 0]);
    }
}
