//! Runs the tests of a release: its hooks for the event `test`.

use super::hooks::{Finished, Terms, due, has};
use super::record::Record;
use super::{Apply, Engine, Trouble, is_release_name};
use crate::path::below;
use serde_json::Value as Json;
use std::time::Duration;

/// Options of `helm test`.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    /// Names of tests that are run; all if empty.
    pub only: Vec<String>,
    /// Names of tests that are not run.
    pub without: Vec<String>,
    /// `--timeout`
    pub timeout: Duration,
}

impl Tests {
    fn holds(&self, hook: &Json) -> bool {
        let name = hook.get("name").and_then(Json::as_str).unwrap_or("");
        let lists = |names: &[String]| names.iter().any(|known| known == name);
        !lists(&self.without) && (self.only.is_empty() || lists(&self.only))
    }

    fn terms(&self, record: &Record) -> Terms {
        Terms { timeout: self.timeout, apply: Apply { server_side: record.is_server_side(), ..Apply::default() } }
    }
}

/// Tests that ran, until their objects are removed.
#[derive(Debug)]
pub struct Ran {
    /// The record with the results.
    pub record: Record,
    /// Why one failed.
    pub trouble: Option<Trouble>,
    finished: Finished,
}

impl Engine<'_> {
    /// Runs the tests of a release; their objects are left until [`Engine::end_tests`].
    pub fn test(&self, name: &str, tests: &Tests) -> Result<Ran, Trouble> {
        if !is_release_name(name) {
            return Err(Trouble::said(format!("releaseTest: Release name is invalid: {name}")));
        }
        let mut record = self.last(name)?;
        let mut places = due(&record, "test");
        places.retain(|at| record.hooks().get(*at).is_some_and(|hook| tests.holds(hook)));
        let terms = tests.terms(&record);
        let (finished, result) = self.run_hooks_at(&mut record, "test", &places, terms);
        let stored = self.update(&record);
        Ok(Ran { record, trouble: result.and(stored).err(), finished })
    }

    /// Removes the objects of tests by their policies.
    pub fn end_tests(&self, ran: &Ran, tests: &Tests) -> Result<(), Trouble> {
        self.remove_finished(&ran.record, &ran.finished, tests.terms(&ran.record))
    }

    /// The output of the pods that ran as tests, by pod and container.
    pub fn test_logs(&self, record: &Record, tests: &Tests) -> Result<Vec<(String, String)>, Trouble> {
        let mut found = Vec::new();
        for at in due(record, "test") {
            let Some(hook) = record.hooks().get(at).filter(|hook| tests.holds(hook) && has(hook, "events", "test"))
            else {
                continue;
            };
            let name = hook.get("name").and_then(Json::as_str).unwrap_or("");
            let path = below(record.namespace(), &["pods", name]);
            let Ok(pod) = self.client().get(&path, name, self.around.go_on) else {
                let why = format!("unable to get pod logs for {name}: pods {name:?} not found");
                return Err(Trouble::said(why));
            };
            let containers = pod.pointer("/spec/containers").and_then(Json::as_array).into_iter().flatten();
            for container in containers.filter_map(|one| one.get("name").and_then(Json::as_str)) {
                let lines = crate::explain::tail(
                    self.client,
                    record.namespace(),
                    name,
                    container,
                    LINES,
                    false,
                    self.around.go_on,
                );
                found.push((format!("{name} ({container})"), lines.unwrap_or_default()));
            }
        }
        Ok(found)
    }
}

/// Lines that are shown of a test.
const LINES: usize = 10_000;
