//! Which type has which row, which outputs are known without running anything, and which providers bring it.

use super::{
    CHART_DEPLOY, CONTAINER_BUILD, CONTAINER_DEPLOY, CONTAINER_RUN, ENSEMBLE_DEPLOY, EXEC_BUILD, EXEC_DEPLOY, EXEC_RUN,
    HELM_DEPLOY, HELM_POD, JIB_BUILD, KUBERNETES_DEPLOY, KUBERNETES_EXEC, KUBERNETES_POD, PULUMI_DEPLOY, SKAFFOLD_SPEC,
    TERRAFORM_DEPLOY, TOSCA_DEPLOY,
};
use crate::config::ActionKind;
use crate::inner::Inside;
use purlin_model::schema::Kind;

/// Properties of one kind of action of one type.
#[derive(Clone, Copy, Debug)]
pub struct SpecType {
    /// The type.
    pub type_name: &'static str,
    /// The kind of action.
    pub kind: ActionKind,
    /// The row of its spec.
    pub row: Kind,
    /// Outputs that are known without running anything.
    pub static_outputs: &'static [&'static str],
    /// The providers that bring it, one of which must be configured; none if it is always there.
    pub providers: &'static [&'static str],
    /// The project of another dialect that it holds.
    pub inside: Option<Inside>,
}

const IMAGE_OUTPUTS: &[&str] = &[
    "localImageName",
    "localImageId",
    "deploymentImageName",
    "deploymentImageId",
    "deploymentImageTag",
    "local-image-name",
    "local-image-id",
    "deployment-image-name",
    "deployment-image-id",
    "deployment-image-tag",
];

const fn spec(
    type_name: &'static str,
    kind: ActionKind,
    row: Kind,
    static_outputs: &'static [&'static str],
) -> SpecType {
    SpecType { type_name, kind, row, static_outputs, providers: &[], inside: None }
}

impl SpecType {
    const fn by(mut self, providers: &'static [&'static str]) -> Self {
        self.providers = providers;
        self
    }

    const fn holding(mut self, inside: Inside) -> Self {
        self.inside = Some(inside);
        self
    }

    /// Whether an action needs a spec with the keys its row requires. The type of test projects allows any.
    pub(crate) fn requires_spec(&self) -> bool {
        self.providers != TESTING
    }

    /// Whether it is a project of another dialect, which answers for all its outputs.
    pub fn is_project(&self) -> bool {
        matches!(self.inside, Some(Inside::Whole(_)))
    }
}

/// The providers that deploy to Kubernetes.
const CLUSTER: &[&str] = &["kubernetes", "local-kubernetes"];
const ANY_CLUSTER: &[&str] = &["kubernetes", "local-kubernetes", "openshift"];
const TESTING: &[&str] = &["test-plugin", "test-plugin-b"];

/// All known types.
pub const SPEC_TYPES: &[SpecType] = &[
    spec("exec", ActionKind::Build, EXEC_BUILD, &[]),
    spec("exec", ActionKind::Deploy, EXEC_DEPLOY, &[]),
    spec("exec", ActionKind::Run, EXEC_RUN, &[]),
    spec("exec", ActionKind::Test, EXEC_RUN, &[]),
    spec("container", ActionKind::Build, CONTAINER_BUILD, IMAGE_OUTPUTS),
    spec("container", ActionKind::Deploy, CONTAINER_DEPLOY, &["deployedImageId"]).holding(Inside::Objects),
    spec("container", ActionKind::Run, CONTAINER_RUN, &[]).holding(Inside::Pod),
    spec("container", ActionKind::Test, CONTAINER_RUN, &[]).holding(Inside::Pod),
    spec("jib-container", ActionKind::Build, JIB_BUILD, IMAGE_OUTPUTS).by(&["jib"]),
    spec("kubernetes", ActionKind::Deploy, KUBERNETES_DEPLOY, &["manifests"]).by(CLUSTER).holding(Inside::Objects),
    spec("kubernetes-exec", ActionKind::Run, KUBERNETES_EXEC, &[]).by(ANY_CLUSTER),
    spec("kubernetes-exec", ActionKind::Test, KUBERNETES_EXEC, &[]).by(ANY_CLUSTER),
    spec("kubernetes-pod", ActionKind::Run, KUBERNETES_POD, &[]).by(CLUSTER).holding(Inside::Pod),
    spec("kubernetes-pod", ActionKind::Test, KUBERNETES_POD, &[]).by(CLUSTER).holding(Inside::Pod),
    spec("helm", ActionKind::Deploy, HELM_DEPLOY, &["release-name", "manifests"]).by(CLUSTER).holding(Inside::Objects),
    spec("helm-pod", ActionKind::Run, HELM_POD, &[]).by(CLUSTER).holding(Inside::Pod),
    spec("helm-pod", ActionKind::Test, HELM_POD, &[]).by(CLUSTER).holding(Inside::Pod),
    spec("terraform", ActionKind::Deploy, TERRAFORM_DEPLOY, &[]).by(&["terraform"]),
    spec("pulumi", ActionKind::Deploy, PULUMI_DEPLOY, &[]).by(&["pulumi"]),
    // Projects of other dialects.
    spec("tosca", ActionKind::Deploy, TOSCA_DEPLOY, &[]).holding(Inside::Whole("tosca")),
    spec("ensemble", ActionKind::Deploy, ENSEMBLE_DEPLOY, &[]).holding(Inside::Whole("ensemble")),
    spec("chart", ActionKind::Deploy, CHART_DEPLOY, &[]).holding(Inside::Whole("chart")),
    spec("skaffold", ActionKind::Build, SKAFFOLD_SPEC, &[]).holding(Inside::Whole("skaffold")),
    spec("skaffold", ActionKind::Deploy, SKAFFOLD_SPEC, &[]).holding(Inside::Whole("skaffold")),
    // The type of the original's own test projects: like `exec`, with one output that is always there.
    spec("test", ActionKind::Build, EXEC_BUILD, &["foo"]).by(TESTING),
    spec("test", ActionKind::Deploy, EXEC_DEPLOY, &[]).by(TESTING),
    spec("test", ActionKind::Run, EXEC_RUN, &[]).by(TESTING),
    spec("test", ActionKind::Test, EXEC_RUN, &[]).by(TESTING),
];

/// Properties of a type, if it is known.
pub fn spec_type(type_name: &str, kind: ActionKind) -> Option<&'static SpecType> {
    SPEC_TYPES.iter().find(|spec| spec.type_name == type_name && spec.kind == kind)
}
