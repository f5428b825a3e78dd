//! The supported versions of Helm: a row each, with a column for every difference. There is one engine; it reads the
//! row.

use purlin_gotmpl::func::Func;
use purlin_gotmpl::funcs;

/// A version of Helm.
#[derive(Debug)]
pub struct Helm {
    /// The version, as `.Capabilities.HelmVersion.Version` tells it.
    pub version: &'static str,
    /// The version of Kubernetes' client library, if `.Capabilities.HelmVersion` tells it.
    pub client_version: Option<&'static str>,
    /// Finds a function of templates.
    pub functions: fn(&str) -> Option<&'static Func>,
    /// Kinds that have no place in the order of installation, so that they come last, by their names.
    pub late_kinds: &'static [&'static str],
    /// Whether nulls in the defaults of a chart reach its templates.
    pub keeps_default_nulls: bool,
    /// Whether blanks and line breaks at the end of documents are cut.
    pub trims_documents: bool,
    /// Whether an error shows each level of the templates on a separate line.
    pub traces_errors: bool,
    /// Whether `.Capabilities.KubeVersion.Version` keeps the suffixes that providers add to a version.
    pub shows_whole_kube_version: bool,
    /// Text before the names of missing dependencies.
    pub missing_dependencies: &'static str,
    /// Text for a deprecated chart.
    pub deprecated: &'static str,
    /// Whether a list of releases leaves out those that are neither deployed nor failed, unless all are asked for.
    pub hides_other_releases: bool,
    /// Whether objects are merged on the client unless the server is to do it.
    pub applies_on_client: bool,
    /// Text before and behind the name of an unknown hook.
    unknown_hook: (&'static str, &'static str),
}

/// Helm 4.2, the default version.
pub const HELM_4: Helm = Helm {
    version: "v4.2",
    client_version: Some("v1.36"),
    functions: funcs::find,
    late_kinds: &[],
    keeps_default_nulls: false,
    trims_documents: false,
    traces_errors: true,
    shows_whole_kube_version: true,
    missing_dependencies: "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies",
    deprecated: "level=WARN msg=\"this chart is deprecated\"",
    hides_other_releases: false,
    applies_on_client: false,
    unknown_hook: ("level=INFO msg=\"skipping unknown hooks\" hookTypes=", ""),
};

/// Helm 3.21.
pub const HELM_3: Helm = Helm {
    version: "v3.21",
    client_version: None,
    functions: functions_of_3,
    late_kinds: &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    keeps_default_nulls: true,
    trims_documents: true,
    traces_errors: false,
    shows_whole_kube_version: false,
    missing_dependencies: "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies",
    deprecated: "WARNING: This chart is deprecated",
    hides_other_releases: true,
    applies_on_client: true,
    unknown_hook: ("info: skipping unknown hook: \"", "\""),
};

/// Functions that came with Helm 4.
const NEW_IN_4: &[&str] = &["mustToToml", "mustToYaml"];

fn functions_of_3(name: &str) -> Option<&'static Func> {
    if NEW_IN_4.contains(&name) { None } else { funcs::find(name) }
}

impl Default for &'static Helm {
    fn default() -> Self {
        &HELM_4
    }
}

impl Helm {
    /// The row for a version as users write it: `3`, `v3.17.3`, `4`.
    pub fn named(text: &str) -> Option<&'static Helm> {
        let text = text.strip_prefix('v').unwrap_or(text);
        match text.split(['.', '+', '-']).next() {
            Some("3") => Some(&HELM_3),
            Some("4") => Some(&HELM_4),
            _ => None,
        }
    }

    /// Log text for a hook of an unknown kind.
    pub(crate) fn unknown_hook(&self, hook: &str) -> String {
        let (before, behind) = self.unknown_hook;
        format!("{before}{hook}{behind}")
    }
}
