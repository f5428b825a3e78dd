//! Arguments of `kustomize build` passed on by the caller.

use crate::kustomization::Problem;
use purlin_value::{Session, Value};

/// Options without effect on native builds: they concern the installed tool, or Purlin's own permissions.
const WITHOUT_EFFECT: &[&str] = &[
    "--as-current-user",
    "--enable-alpha-plugins",
    "--enable_alpha_plugins",
    "--enable-exec",
    "--helm-debug",
    "--network",
    "--stack-trace",
];

/// Options that take a value.
const WITH_VALUE: &[&str] =
    &["--load-restrictor", "--load_restrictor", "--reorder", "--helm-api-versions", "--helm-kube-version"];

/// The arguments, parsed.
#[derive(Clone, Default)]
pub struct Arguments {
    /// All arguments, for the installed tool.
    pub written: Vec<String>,
    /// Whether files outside the folder of a kustomization may be used.
    pub reads_anywhere: bool,
    /// Whether charts are rendered.
    pub renders_charts: bool,
    /// Whether objects keep the order in which they are collected, unless the kustomization sets one.
    pub keeps_order: bool,
    /// Whether objects get a label that names their builder.
    pub is_managed: bool,
    /// The version of Kubernetes that charts are rendered for, unless their entry sets one.
    pub kube_version: Option<String>,
    /// Versions of Kubernetes' API for charts, unless their entry sets them.
    pub api_versions: Vec<String>,
}

impl Arguments {
    /// Reads them from the `arguments` of the request.
    pub fn read(session: &Session, values: &Value) -> Result<Arguments, (Arguments, Problem)> {
        let list = values.get("arguments").and_then(Value::as_list).unwrap_or_default();
        let mut arguments = Arguments::default();
        // One item may hold several, as on a command line.
        let words = list.iter().filter_map(|item| Some((item, item.as_str()?)));
        let mut words = words.flat_map(|(item, text)| text.split_whitespace().map(move |word| (item, word))).peekable();
        let mut unknown = None;
        while let Some((item, word)) = words.next() {
            arguments.written.push(word.to_owned());
            let (name, mut value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            if WITH_VALUE.contains(&name) && value.is_none() {
                value = words.next().map(|(_, word)| word);
                arguments.written.extend(value.map(str::to_owned));
            }
            match (name, value) {
                ("--load-restrictor" | "--load_restrictor", Some(value)) => {
                    arguments.reads_anywhere = matches!(value, "LoadRestrictionsNone" | "none");
                }
                ("--reorder", Some(order @ ("none" | "legacy"))) => arguments.keeps_order = order == "none",
                ("--enable-managedby-label", None | Some("true")) => arguments.is_managed = true,
                ("--helm-kube-version", Some(version)) => arguments.kube_version = Some(version.to_owned()),
                ("--helm-api-versions", Some(version)) => arguments.api_versions.push(version.to_owned()),
                ("--enable-helm", None | Some("true")) => arguments.renders_charts = true,
                (name, None | Some("true")) if WITHOUT_EFFECT.contains(&name) => {}
                _ => unknown = unknown.or(Some((item, word))),
            }
        }
        let Some((item, word)) = unknown else { return Ok(arguments) };
        let span = session.origins.span(item.origin, &session.sources);
        Err((arguments, Problem::Elsewhere { what: format!("the argument `{word}`"), span }))
    }
}
