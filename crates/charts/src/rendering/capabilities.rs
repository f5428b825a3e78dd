//! Properties of the cluster for a chart: its version and the API versions it serves. No cluster is ever contacted.

use std::sync::Arc;

use purlin_gotmpl::semver::Version;
use purlin_gotmpl::{Limits, Machine, Outside, Set};
use purlin_value::Origin;

use crate::context;
use crate::edition::{HELM_4, Helm};
use crate::engine::{self, RenderError};

/// The cluster as a chart sees it.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// `.Capabilities.KubeVersion`
    pub kube: KubeVersion,
    /// `.Capabilities.APIVersions`
    pub api_versions: Vec<String>,
    /// The version of Helm, which `.Capabilities.HelmVersion` tells.
    pub helm: &'static Helm,
    /// Origin of the Kubernetes version, if it was given.
    pub kube_from: Origin,
    /// Origin of the additional API versions.
    pub more_from: Origin,
}

/// A Kubernetes version.
#[derive(Clone, Debug)]
pub struct KubeVersion {
    /// As it was given, with a `v`.
    pub version: String,
    /// Without suffixes of providers, with a `v`.
    pub normalized: String,
    /// The first number.
    pub major: String,
    /// The second number.
    pub minor: String,
}

impl KubeVersion {
    /// Reads a version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let version = Version::parse(text).ok_or_else(|| format!("could not parse {text:?} as version"))?;
        let [major, minor, patch] = version.numbers;
        let given = text.strip_prefix('v').unwrap_or(text);
        Ok(Self {
            version: format!("v{given}"),
            normalized: format!("v{major}.{minor}.{patch}"),
            major: major.to_string(),
            minor: minor.to_string(),
        })
    }

    /// The version as a version of Helm shows it.
    #[must_use]
    pub fn shown_by(mut self, helm: &Helm) -> Self {
        if !helm.shows_whole_kube_version {
            self.version.clone_from(&self.normalized);
        }
        self
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            kube: KubeVersion {
                version: "v1.36.0".to_owned(),
                normalized: "v1.36.0".to_owned(),
                major: "1".to_owned(),
                minor: "36".to_owned(),
            },
            api_versions: API_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            helm: &HELM_4,
            kube_from: Origin::NONE,
            more_from: Origin::NONE,
        }
    }
}

/// The version of Helm that is followed, in a user's template.
pub fn version_text(template: &str, helm: &'static Helm) -> Result<String, String> {
    let mut set = Set::new();
    set.add("_", template).map_err(|error| error.go_text())?;
    let set = Arc::new(set);
    let (outside, limits) = (Outside::default(), Limits::default());
    let work = || {
        let mut machine = Machine::new(set.namespace(), &outside, &limits);
        let info = context::helm_version(helm);
        machine.execute(&"_".into(), info).map_err(RenderError::Exec)
    };
    let rope = engine::on_deep_stack(work).map_err(|error| error.helm_text())?;
    Ok(String::from_utf8_lossy(&rope.bytes).into_owned())
}

/// The API versions that a cluster of the default version is taken to serve.
pub(crate) const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];
