//! Options that concern one dialect, each in the struct of that dialect: an option of another one cannot be given.

use purlin_syntax::Span;
use purlin_value::Origin;

/// Options of charts, as `helm template` has them.
#[derive(Clone, Debug, Default)]
pub struct ChartOptions {
    /// `--release-name`
    pub release_name: Option<String>,
    /// Where the release's name is from, if not from the option.
    pub release_from: Option<Origin>,
    /// Where the namespace is from, if not from the option.
    pub namespace_from: Option<Origin>,
    /// The template that the release's name is made from, if it has no name.
    pub name_template: Option<String>,
    /// The version of Helm to follow, if not the usual one.
    pub helm_version: Option<String>,
    /// `--kube-version`
    pub kube_version: Option<String>,
    /// `--api-versions`
    pub api_versions: Vec<String>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// Whether the values files that a chart has for its tests are checked, too.
    pub ci_values: bool,
    /// Whether what is rendered is judged and not shown, so that random keys need not differ.
    pub is_rehearsal: bool,
    /// Where each of the request's `--set` values is written, if a project gives them.
    pub sets_from: Vec<Option<Span>>,
    /// Whether whoever deploys the chart fetches its dependencies first, so that it is not wrong if they are missing now.
    pub is_fetched_later: bool,
}

/// Options of Skaffold configurations.
#[derive(Clone, Debug)]
pub struct SkaffoldOptions {
    /// `--kube-context`: the context that conditions of profiles are tested against.
    pub kube_context: Option<String>,
    /// `--profile-auto-activation`: whether profiles may activate themselves.
    pub auto_activation: bool,
    /// `--propagate-profiles`: whether chosen profiles reach required configurations.
    pub propagate_profiles: bool,
    /// Where the request's profiles are from, if not from options.
    pub profiles_from: Vec<Origin>,
}

impl Default for SkaffoldOptions {
    fn default() -> Self {
        SkaffoldOptions {
            kube_context: None,
            auto_activation: true,
            propagate_profiles: true,
            profiles_from: Vec::new(),
        }
    }
}

/// Options of TOSCA service templates.
#[derive(Clone, Debug, Default)]
pub struct ToscaOptions {
    /// `--quirk`: notations outside the standard that are accepted.
    pub quirks: Vec<String>,
    /// `--template`: the service template of an archive with several.
    pub template: String,
    /// `--profile-path`: folders with profiles.
    pub profile_paths: Vec<String>,
}
