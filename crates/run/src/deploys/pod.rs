//! A pod that runs once as the work of an action. Its output is the action's output, its exit code the result.

use crate::cluster::{Clusters, Place};
use crate::event::Cause;
use crate::outputs::Outputs;
use crate::past::StateOf;
use crate::store::Note;
use crate::work::{Doing, Trouble, Work};
use purlin_cluster::ApiError;
use purlin_cluster::deploy::Observer;
use purlin_cluster::pod::{self, Once};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of last lines shown when it fails.
const TAIL: usize = 20;

/// A pod that runs once.
#[derive(Debug)]
pub struct PodRun {
    /// The user's cluster options.
    pub clusters: Arc<Clusters>,
    /// The cluster.
    pub place: Place,
    /// The pod; its name gets a unique suffix for every run.
    pub once: Once,
    /// Records the running pod, so that the pod of a killed run is found.
    pub note: Note,
    /// Unsupported settings, reported when it begins.
    pub warnings: Vec<String>,
}

impl PodRun {
    fn fresh(&self) -> Once {
        let mut once = self.once.clone();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let digest = Sha256::digest(format!("{} {now} {}", once.name(), std::process::id()));
        let end: String = crate::store::hex(&digest).chars().take(6).collect();
        once.pod["metadata"]["name"] = format!("{}-{end}", once.name()).into();
        once
    }

    /// Removes the pod of an earlier run that was killed.
    fn remove_earlier(&self, client: &purlin_cluster::Client, doing: Doing<'_>) {
        let Some(text) = self.note.read() else { return };
        if let Some((namespace, name)) = text.trim().split_once('/') {
            // A pod that cannot be removed ends at its deadline.
            if pod::remove(client, namespace, name, &|| doing.goes_on()).is_ok() {
                self.note.remove();
            }
        }
    }
}

fn trouble(error: &ApiError) -> Trouble {
    crate::cluster::trouble(error)
}

impl Work for PodRun {
    fn is_done(&self, _doing: Doing<'_>) -> Result<Option<Outputs>, Trouble> {
        Ok(None)
    }

    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble> {
        let client = self.clusters.client(&self.place).map_err(|error| trouble(&error))?;
        for warning in &self.warnings {
            (doing.say)(&format!("warning: {warning}"));
        }
        self.remove_earlier(&client, doing);
        let once = self.fresh();
        let namespace = if once.namespace.is_empty() { client.namespace() } else { &once.namespace };
        // If the note cannot be written, a killed run leaves its pod until its deadline; nothing else is affected.
        let _ = self.note.write(&format!("{namespace}/{}", once.name()));
        let observer = Observer { go_on: &|| doing.goes_on(), say: doing.say };
        let ended = pod::run(&client, &once, observer);
        self.note.remove();
        let ended = ended.map_err(|error| trouble(&error))?;
        if ended.is_cut {
            (doing.say)("warning: its output is longer than 1 MiB; `outputs.log` has only the beginning");
        }
        let cause = match ended.code {
            Some(0) if ended.reason != "OOMKilled" => None,
            _ if ended.reason == "OOMKilled" => Some(Cause::Other("it used more memory than its limit".to_owned())),
            Some(code) => Some(Cause::Exit(i32::try_from(code).unwrap_or(i32::MAX))),
            None => Some(Cause::TimedOut(once.timeout.unwrap_or_default())),
        };
        if let Some(cause) = cause {
            let lines: Vec<&str> = ended.log.lines().collect();
            let tail = lines.iter().skip(lines.len().saturating_sub(TAIL)).map(|line| (*line).to_owned()).collect();
            return Err(Trouble { cause, tail });
        }
        Ok(Outputs::from_iter([("log".to_owned(), Json::from(ended.log))]))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn undo(&self, _doing: Doing<'_>) -> Result<bool, Trouble> {
        Ok(false)
    }

    fn state(&self, _doing: Doing<'_>) -> StateOf {
        StateOf::NeverRun
    }
}
