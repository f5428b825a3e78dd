//! Options that concern one dialect, each in the struct of that dialect, so that an option of another one cannot be
//! set.

use purlin_syntax::Span;
use purlin_value::Origin;

/// Options of charts, as `helm template` has them.
#[derive(Clone, Debug, Default)]
pub struct ChartOptions {
    /// `--release-name`
    pub release_name: Option<String>,
    /// Origin of the release's name, if not the option.
    pub release_from: Option<Origin>,
    /// Origin of the namespace, if not the option.
    pub namespace_from: Option<Origin>,
    /// The template of the release's name, if it has no name.
    pub name_template: Option<String>,
    /// The version of Helm to follow, if not the default.
    pub helm_version: Option<String>,
    /// `--kube-version`
    pub kube_version: Option<String>,
    /// `--api-versions`
    pub api_versions: Vec<String>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// Whether the values files of a chart's tests are checked, too.
    pub ci_values: bool,
    /// Whether the rendered text is only checked and not shown, so that random keys need not differ.
    pub is_rehearsal: bool,
    /// The source of each of the request's `--set` values, if they come from a project.
    pub sets_from: Vec<SetSource>,
    /// Whether the deploying tool fetches the chart's dependencies first, so that missing ones are not an error.
    pub is_fetched_later: bool,
}

/// The source of a `--set` value that a project gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetSource {
    /// Its location.
    pub span: Option<Span>,
    /// Whether the value is made from a secret.
    pub is_secret: bool,
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
    /// Origins of the request's profiles, if not options.
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
