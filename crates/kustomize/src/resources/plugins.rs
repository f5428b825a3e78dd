//! `generators` and `transformers`: the original's own ones, configured by objects of `apiVersion: builtin`.
//!
//! Plugins that run a program are left to the installed tool.

use crate::edit::{set, text};
use crate::fieldspec::read_all;
use crate::index::Index;
use crate::kustomization::{Kustomization, Problem, wrong};
use crate::names::{Affix, Subjects, add_namespace, affix};
use crate::patch::{self, Entry};
use crate::resource::Resource;
use crate::transform::replace;
use crate::{generate, images, labels, value_add};
use ecow::EcoString;
use purlin_syntax::what;
use purlin_value::{Map, Session, Value};

/// Resources made by a generator, with its behavior.
pub fn generate(
    session: &Session,
    kustomization: &Kustomization,
    config: &Resource,
) -> Result<Vec<(Resource, EcoString)>, Problem> {
    let kind = match config.kind() {
        "ConfigMapGenerator" if is_own(config) => "ConfigMap",
        "SecretGenerator" if is_own(config) => "Secret",
        "IAMPolicyGenerator" if is_own(config) => return account(session, config).map(|made| vec![made]),
        _ => return Err(elsewhere(session, config, "generator")),
    };
    // Name and namespace may be those of the configuration itself.
    let mut rule = config.value.clone();
    for key in ["name", "namespace"] {
        if text(&rule, &[key]).is_empty()
            && let Some(own) = config.value.get("metadata").and_then(|m| m.get(key))
        {
            crate::edit::set(&mut rule, key, own.clone());
        }
    }
    Ok(vec![generate::make_alone(session, kustomization, &rule, kind)?])
}

/// The account of a cluster in Google's cloud that acts as an account of the cloud.
fn account(session: &Session, config: &Resource) -> Result<(Resource, EcoString), Problem> {
    let value = &config.value;
    let cloud = text(value, &["cloud"]);
    if cloud != "gke" {
        return Err(wrong(session, value, format!("`cloud`: expected `gke`, found `{cloud}`")).into());
    }
    let (user, project) = (text(value, &["serviceAccount", "name"]), text(value, &["projectId"]));
    let project = if project.is_empty() { text(value, &["serviceAccount", "projectId"]) } else { project };
    let annotation = Value::str(format!("{user}@{project}.iam.gserviceaccount.com"));
    let mut metadata = Value::map(Map::new());
    let annotations = Map::from_iter([("iam.gke.io/gcp-service-account".into(), annotation)]);
    set(&mut metadata, "annotations", Value::map(annotations));
    let service = value.get("kubernetesService");
    for key in ["name", "namespace"] {
        let written = service.and_then(|service| service.get(key)).filter(|written| !written.is_null());
        written.into_iter().for_each(|written| set(&mut metadata, key, written.clone()));
    }
    let mut made = Value::map(Map::new()).with_origin(value.origin);
    set(&mut made, "apiVersion", Value::str("v1"));
    set(&mut made, "kind", Value::str("ServiceAccount"));
    set(&mut made, "metadata", metadata);
    Ok((Resource::new(made, config.source.clone()), "create".into()))
}

/// Runs a transformer.
pub fn transform(
    session: &Session,
    kustomization: &Kustomization,
    config: &Resource,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    if !is_own(config) {
        return Err(elsewhere(session, config, "transformer"));
    }
    let value = &config.value;
    let empty = Value::map(Map::new());
    let part = |key: &str| value.get(key).unwrap_or(&empty);
    let specs = read_all(value.get("fieldSpecs"));
    let (origins, index) = (&session.origins, &mut Index::default());
    let done = match config.kind() {
        "AnnotationsTransformer" => return labels::add(session, part("annotations"), &specs, resources),
        "LabelTransformer" => return labels::add(session, part("labels"), &specs, resources),
        "ImageTagTransformer" => {
            return images::image(session, part("imageTag"), &specs, index, resources).map(drop);
        }
        "ReplicaCountTransformer" => return images::replicas(session, part("replica"), &specs, index, resources),
        "PrefixTransformer" => affix(origins, Affix::Prefix, part("prefix"), &specs, resources),
        "SuffixTransformer" => affix(origins, Affix::Suffix, part("suffix"), &specs, resources),
        "PrefixSuffixTransformer" => affix(origins, Affix::Prefix, part("prefix"), &specs, resources)
            .and_then(|()| affix(origins, Affix::Suffix, part("suffix"), &specs, resources)),
        "NamespaceTransformer" => {
            let subjects = match text(value, &["setRoleBindingSubjects"]) {
                "" | "defaultOnly" => Subjects::Default,
                "allServiceAccounts" => Subjects::Accounts,
                "none" => Subjects::None,
                other => {
                    let message =
                        what::expected("`defaultOnly`", format!("`{other}`")).under("`setRoleBindingSubjects`: ");
                    return Err(wrong(session, value, message).into());
                }
            };
            let only_missing = value.get("unsetOnly").and_then(Value::as_bool) == Some(true);
            let namespace = part("metadata").get("namespace").unwrap_or(&empty);
            add_namespace(namespace, &specs, subjects, only_missing, resources)
        }
        "PatchTransformer" => return patch::entry(session, kustomization, value, Entry::Any, index, resources),
        "PatchJson6902Transformer" => {
            let mut entry = value.clone();
            if let Some(operations) = value.get("jsonOp") {
                crate::edit::set(&mut entry, "patch", operations.clone());
            }
            return patch::entry(session, kustomization, &entry, Entry::Json, index, resources);
        }
        "PatchStrategicMergeTransformer" => {
            let paths = value.get("paths").and_then(Value::as_list).unwrap_or_default();
            paths.iter().try_for_each(|item| patch::strategic(session, kustomization, item, index, resources))?;
            let written = text(value, &["patches"]);
            return patch::written(session, kustomization, value, written, index, resources);
        }
        "ValueAddTransformer" => return value_add::run(session, kustomization, value, index, resources),
        "ReplacementTransformer" => {
            let rules = value.get("replacements").and_then(Value::as_list).unwrap_or_default();
            return rules.iter().try_for_each(|rule| replace(session, kustomization, rule, index, resources));
        }
        _ => return Err(elsewhere(session, config, "transformer")),
    };
    done.map_err(|why| wrong(session, value, why).into())
}

fn is_own(config: &Resource) -> bool {
    text(&config.value, &["apiVersion"]) == "builtin"
}

fn elsewhere(session: &Session, config: &Resource, what: &str) -> Problem {
    let what = format!("the {what} `{}`", config.kind());
    Problem::Elsewhere { what, span: session.origins.span(config.value.origin, &session.sources) }
}
