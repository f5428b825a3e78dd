//! A service or an ensemble that is a project of its own: one Deploy.

use super::{EnsembleDeploy, Place, ServiceDeploy};
use crate::action::{Action, Kind};
use crate::engine::{Node, Project};
use crate::event::Failure;
use crate::outputs::Outputs;
use crate::work::Work;
use std::sync::Arc;

/// A project of one Deploy.
pub struct ServiceProject {
    nodes: Vec<Node>,
    work: Arc<dyn Work>,
}

impl ServiceProject {
    /// A project of a service, or of an ensemble.
    pub fn new(place: Place, is_ensemble: bool) -> Self {
        let node = Node { id: place.id.clone(), kind: Kind::Deploy, disabled: false, needs: Vec::new(), span: None };
        let work: Arc<dyn Work> = match is_ensemble {
            true => Arc::new(EnsembleDeploy(place)),
            false => Arc::new(ServiceDeploy(place)),
        };
        ServiceProject { nodes: vec![node], work }
    }
}

impl Project for ServiceProject {
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn prepare(&self, _: usize) -> Result<Action, Failure> {
        let id = self.nodes.first().map(|node| node.id.clone()).unwrap_or_default();
        Ok(crate::garden::service::deploy(id, String::new(), self.work.clone(), Vec::new(), None))
    }

    fn learn(&self, _: usize, _: &Outputs, _: &[String]) {}
}
