//! A service or an ensemble as a project of its own: one Deploy.

use super::{EnsembleDeploy, Place, ServiceDeploy};
use crate::action::{Action, Kind};
use crate::engine::{Node, Project};
use crate::event::Failure;
use crate::outputs::Outputs;
use crate::since::{Content, files_below};
use crate::store::hex;
use crate::work::Work;
use purlin_model::Ask;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_tosca::operate::Service;
use purlin_unfurl::job::Job;
use purlin_unfurl::job::options::Options;
use purlin_value::{MergeKeys, Secrets, Session, Value, emit, path, value_of};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;

/// A project of one Deploy.
pub struct ServiceProject<'s> {
    session: &'s Session,
    nodes: Vec<Node>,
    work: Arc<dyn Work>,
    place: Place,
    is_ensemble: bool,
}

impl<'s> ServiceProject<'s> {
    /// A project of a service, or of an ensemble.
    pub fn new(session: &'s Session, place: Place, is_ensemble: bool) -> Self {
        let node = Node { id: place.id.clone(), kind: Kind::Deploy, disabled: false, needs: Vec::new(), span: None };
        let work: Arc<dyn Work> = match is_ensemble {
            true => Arc::new(EnsembleDeploy(place.clone())),
            false => Arc::new(ServiceDeploy(place.clone())),
        };
        ServiceProject { session, nodes: vec![node], work, place, is_ensemble }
    }

    /// Plans its operations; problems go to the session's sink.
    fn plan(&self) {
        let session = self.session;
        let (asked, inputs) = (self.place.request(), self.place.inputs.clone());
        if self.is_ensemble {
            if let Some(mut job) = Job::open_given(session, &asked, &inputs, Options::default()) {
                job.plan();
            }
            return;
        }
        let ask = Ask { path: &self.place.path, request: asked, values: inputs, span: None };
        if let Some(service) = Service::open(session, &ask) {
            service.up(session);
        }
    }
}

/// The sections of an ensemble that its jobs write.
const OF_JOBS: &[&str] = &["status", "lastJob", "jobsLog"];

/// The folder of the records of jobs.
const RECORDS: &str = "changes";

/// The log of jobs, unless the ensemble names another.
const LOG: &str = "jobs.tsv";

impl ServiceProject<'_> {
    /// A digest of all files beside it, except for what its own jobs write.
    fn version(&self) -> String {
        let world = self.place.world.as_ref();
        let folder = path::parent(&self.place.path);
        let own = self.is_ensemble.then(|| self.written()).flatten();
        let log = own.as_ref().and_then(|own| own.get("jobsLog")?.as_str().map(str::to_owned));
        let records = [path::join(folder, log.as_deref().unwrap_or(LOG)), path::join(folder, RECORDS)];
        let is_record = |file: &str| {
            records.iter().any(|record| {
                file.strip_prefix(record.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut digest = Sha256::new();
        for (file, content) in files_below(world, folder) {
            if own.is_some() && (file == self.place.path || is_record(&file)) {
                continue;
            }
            for part in [file, content] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        }
        let entries = own.as_ref().and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        let kept = entries.filter(|(key, _)| !OF_JOBS.contains(&key.as_str()));
        let kept = Value::map(kept.map(|(key, value)| (key.clone(), value.clone())).collect());
        digest.update(emit::to_yaml(&kept, Secrets::Reveal).unwrap_or_default());
        hex(&digest.finalize())
    }

    /// The file of an ensemble; `None` if it cannot be read.
    fn written(&self) -> Option<Value> {
        let read = || self.session.read_yaml(&self.place.path, Flavor::Core).ok();
        let (tree, reported_elsewhere) = self.session.sink.apart(read);
        drop(reported_elsewhere);
        Some(value_of(tree?.root()?, MergeKeys::Apply))
    }
}

impl Project for ServiceProject<'_> {
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn root(&self) -> PathBuf {
        self.place.state.clone()
    }

    /// Operations that cannot be run.
    fn check(&self, _: &[usize]) -> Vec<Diagnostic> {
        let ((), is_sound) = self.session.sink.succeeds(|| self.plan());
        if is_sound { Vec::new() } else { self.session.sink.hand_on() }
    }

    fn prepare(&self, _: usize) -> Result<Action, Failure> {
        let id = self.nodes.first().map(|node| node.id.clone()).unwrap_or_default();
        Ok(Action { work: Some(self.work.clone()), ..Action::new(id, Kind::Deploy, self.version(), None) })
    }

    fn content(&self, _: usize) -> Content {
        let folder = path::parent(&self.place.path);
        Content { files: files_below(self.place.world.as_ref(), folder), ..Content::default() }
    }

    fn takes_all(&self, _: usize) -> bool {
        true
    }

    fn learn(&self, _: usize, _: &Outputs, _: &[String]) {}
}
