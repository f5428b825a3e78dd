//! A service or an ensemble as a project of its own: one Deploy.

use super::{EnsembleDeploy, Place, ServiceDeploy};
use crate::action::{Action, Kind};
use crate::engine::{Node, Project};
use crate::event::Failure;
use crate::outputs::Outputs;
use crate::since::{Content, files_below};
use crate::work::Work;
use purlin_model::Ask;
use purlin_tosca::operate::Service;
use purlin_unfurl::job::Job;
use purlin_unfurl::job::options::Options;
use purlin_syntax::Diagnostic;
use purlin_value::{Session, path};
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
        Ok(Action { work: Some(self.work.clone()), ..Action::new(id, Kind::Deploy, "", None) })
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
