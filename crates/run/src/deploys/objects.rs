//! Kubernetes objects as a project of their own with one Deploy: a chart, a kustomization, files with objects.

use crate::action::{Action, Kind};
use crate::cluster::{ClusterDeploy, Clusters, Place, digest, objects, point_at};
use crate::engine::{Node, Project};
use crate::event::{Cause, Failure};
use crate::garden::collect_secrets;
use crate::outputs::Outputs;
use crate::since::Content;
use purlin_cluster::Deployment;
use purlin_model::Manifest;
use purlin_value::Session;
use std::path::PathBuf;
use std::sync::Arc;

/// A project of one Deploy.
pub struct ObjectsProject<'s> {
    session: &'s Session,
    root: PathBuf,
    nodes: Vec<Node>,
    manifests: Vec<Manifest>,
    /// The deploy, or why it is missing.
    deploy: Result<Arc<ClusterDeploy>, Cause>,
    version: String,
    secrets: Vec<String>,
}

/// Information about a deploy apart from its objects.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// The name of the deploy.
    pub name: String,
    /// The namespace of objects that name none; it is created. If not set, the namespace of the context.
    pub namespace: Option<String>,
    /// Whether hook annotations are interpreted.
    pub is_chart: bool,
    /// Whether objects that are applied are not waited for.
    pub is_hasty: bool,
    /// Whether a failure is only one once the time for waiting has passed.
    pub tolerant: bool,
}

impl<'s> ObjectsProject<'s> {
    /// A project of some objects, with the folder of its results.
    pub fn new(
        session: &'s Session,
        root: PathBuf,
        manifests: Vec<Manifest>,
        release: Release,
        clusters: Arc<Clusters>,
    ) -> Self {
        let mut secrets = Vec::new();
        manifests.iter().for_each(|manifest| collect_secrets(&manifest.value, &mut secrets));
        let version = digest(&manifests);
        let deploy = objects(&manifests).map(|(once, objects)| {
            let deployment = Deployment {
                name: release.name.clone(),
                new_namespace: release.namespace.is_some().then(|| serde_json::json!({})),
                namespace: release.namespace.unwrap_or_default(),
                version: version.clone(),
                objects,
                once,
                hooks: release.is_chart,
                wait: !release.is_hasty,
                tolerant: release.tolerant,
                ..Deployment::default()
            };
            Arc::new(ClusterDeploy::new(clusters, Place::default(), deployment))
        });
        let id = format!("deploy.{}", release.name);
        let node = Node { id, kind: Kind::Deploy, disabled: false, needs: Vec::new(), span: None };
        ObjectsProject { session, root, nodes: vec![node], manifests, deploy, version, secrets }
    }
}

impl Project for ObjectsProject<'_> {
    fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn secrets(&self) -> &[String] {
        &self.secrets
    }

    fn cluster_deploy(&self, _: usize) -> Option<Arc<ClusterDeploy>> {
        self.deploy.as_ref().ok().cloned()
    }

    fn locate(&self, failure: &mut Failure) {
        if let Ok(deploy) = &self.deploy {
            point_at(self.session, &self.manifests, deploy, failure);
        }
    }

    fn prepare(&self, _: usize) -> Result<Action, Failure> {
        let id = self.nodes.first().map(|node| node.id.clone()).unwrap_or_default();
        match &self.deploy {
            Ok(deploy) => Ok(Action {
                work: Some(deploy.clone()),
                secrets: self.secrets.clone(),
                ..Action::new(id, Kind::Deploy, self.version.as_str(), None)
            }),
            Err(cause) => Err(Failure { id, cause: cause.clone(), command: None, tail: Vec::new(), span: None }),
        }
    }

    fn content(&self, _: usize) -> Content {
        Content { settings: self.version.clone(), ..Content::default() }
    }

    fn takes_all(&self, _: usize) -> bool {
        true
    }

    fn learn(&self, _: usize, _: &Outputs, _: &[String]) {}
}
