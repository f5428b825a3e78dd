//! The keys of a kustomization file with their types, and the check of a file against them.
//!
//! Kustomize reads the file strictly: a key it does not know and a value of another kind end the build. Case does not
//! matter in keys.

use crate::rules;
use purlin_syntax::scalar::Scalar;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::{Diagnostic, Node};
use purlin_value::{Data, Value};
use std::sync::Arc;

/// Content of a key.
pub enum Shape {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A mapping of strings.
    Pairs,
    /// A boolean.
    Flag,
    /// An integer.
    Number,
    /// A mapping with known keys.
    Map(&'static Keys),
    /// A list of mappings with known keys.
    Maps(&'static Keys),
    /// Anything.
    Any,
}

use Shape::{Any, Flag, Map, Maps, Number, Pairs, Text, Texts};
use purlin_syntax::what;

/// Keys and their types.
pub type Keys = [(&'static str, Shape)];

/// The keys of a kustomization.
pub const KUSTOMIZATION: &Keys = &[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", Map(METADATA)),
    ("openapi", Pairs),
    ("namePrefix", Text),
    ("nameSuffix", Text),
    ("namespace", Text),
    ("commonLabels", Pairs),
    ("labels", Maps(LABEL)),
    ("commonAnnotations", Pairs),
    ("patchesStrategicMerge", Texts),
    ("patchesJson6902", Maps(PATCH)),
    ("patches", Maps(PATCH)),
    ("images", Maps(IMAGE)),
    ("imageTags", Maps(IMAGE)),
    ("replacements", Maps(REPLACEMENT)),
    ("replicas", Maps(&[("name", Text), ("count", Number)])),
    ("vars", Maps(VAR)),
    ("sortOptions", Map(&[("order", Text), ("legacySortOptions", Map(ORDER))])),
    ("resources", Texts),
    ("components", Texts),
    ("crds", Texts),
    ("bases", Texts),
    ("configMapGenerator", Maps(GENERATOR)),
    ("secretGenerator", Maps(SECRET)),
    ("helmGlobals", Map(&[("chartHome", Text), ("configHome", Text)])),
    ("helmCharts", Maps(CHART)),
    ("helmChartInflationGenerator", Maps(OLD_CHART)),
    ("generatorOptions", Map(OPTIONS)),
    ("configurations", Texts),
    ("generators", Texts),
    ("transformers", Texts),
    ("validators", Texts),
    ("buildMetadata", Texts),
];

const CHART: &Keys = &[
    ("name", Text),
    ("version", Text),
    ("repo", Text),
    ("releaseName", Text),
    ("namespace", Text),
    ("additionalValuesFiles", Texts),
    ("valuesFile", Text),
    ("valuesInline", Any),
    ("valuesMerge", Text),
    ("includeCRDs", Flag),
    ("skipHooks", Flag),
    ("apiVersions", Texts),
    ("kubeVersion", Text),
    ("nameTemplate", Text),
    ("skipTests", Flag),
    ("debug", Flag),
];

const OLD_CHART: &Keys = &[
    ("chartName", Text),
    ("chartVersion", Text),
    ("chartRepoUrl", Text),
    ("chartHome", Text),
    ("chartRepoName", Text),
    ("helmBin", Text),
    ("helmHome", Text),
    ("values", Text),
    ("valuesLocal", Any),
    ("valuesMerge", Text),
    ("releaseName", Text),
    ("releaseNamespace", Text),
    ("extraArgs", Texts),
];

const METADATA: &Keys = &[("name", Text), ("namespace", Text), ("labels", Pairs), ("annotations", Pairs)];

const FIELD: &Keys = &[("group", Text), ("version", Text), ("kind", Text), ("path", Text), ("create", Flag)];

const LABEL: &Keys =
    &[("pairs", Pairs), ("includeSelectors", Flag), ("includeTemplates", Flag), ("fields", Maps(FIELD))];

const SELECTOR: &Keys = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("annotationSelector", Text),
    ("labelSelector", Text),
];

const PATCH: &Keys = &[
    ("path", Text),
    ("patch", Text),
    ("target", Map(SELECTOR)),
    ("options", Map(&[("allowNameChange", Flag), ("allowKindChange", Flag)])),
];

const IMAGE: &Keys = &[("name", Text), ("newName", Text), ("tagSuffix", Text), ("newTag", Text), ("digest", Text)];

const REFINED: &Keys = &[("delimiter", Text), ("index", Number), ("encoding", Text), ("create", Flag)];

const REPLACEMENT: &Keys = &[("path", Text), ("source", Map(SOURCE)), ("targets", Maps(TARGET))];

const SOURCE: &Keys = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("fieldPath", Text),
    ("options", Map(REFINED)),
];

const TARGET: &Keys =
    &[("select", Map(SELECTOR)), ("reject", Maps(SELECTOR)), ("fieldPaths", Texts), ("options", Map(REFINED))];

const VAR: &Keys = &[("name", Text), ("objref", Map(OBJECT)), ("fieldref", Map(&[("fieldpath", Text)]))];

const OBJECT: &Keys =
    &[("apiVersion", Text), ("group", Text), ("version", Text), ("kind", Text), ("name", Text), ("namespace", Text)];

const ORDER: &Keys = &[("orderFirst", Texts), ("orderLast", Texts)];

const OPTIONS: &Keys =
    &[("labels", Pairs), ("annotations", Pairs), ("disableNameSuffixHash", Flag), ("immutable", Flag)];

const GENERATOR: &Keys = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Map(OPTIONS)),
];

const SECRET: &Keys = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Map(OPTIONS)),
    ("type", Text),
];

/// Checks a mapping. Whether a key is written in other case than the table's is the answer.
pub fn check(node: Node<'_>, keys: &Keys) -> Result<bool, Diagnostic> {
    let mut differs = false;
    for entry in node.entries() {
        let key = entry.key.text();
        let Some((name, shape)) = keys.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)) else {
            let message = what::unknown("key", key).and(" in a kustomization");
            let hint = did_you_mean(key, keys.iter().map(|(name, _)| *name));
            return Err(Diagnostic::at(&rules::KUSTOMIZATION, entry.key.span(), message).maybe_hint(hint));
        };
        differs |= *name != key;
        differs |= check_value(entry.value, name, shape)?;
    }
    Ok(differs)
}

fn check_value(node: Node<'_>, key: &str, shape: &Shape) -> Result<bool, Diagnostic> {
    if node.is_null() {
        return Ok(false);
    }
    let is_text = |node: Node<'_>| node.as_str().is_some();
    let expected = match shape {
        Any => return Ok(false),
        Text if is_text(node) => return Ok(false),
        Text => "a string",
        Flag if node.as_bool().is_some() => return Ok(false),
        Flag => "a boolean",
        Number if node.as_int().is_some() => return Ok(false),
        Number => "an integer",
        Texts if node.is_list() => {
            return node
                .items()
                .filter(|item| !item.is_null())
                .try_fold(false, |_, item| check_value(item, key, &Text));
        }
        Texts => "a list of strings",
        Pairs if node.is_map() => {
            return node.entries().try_fold(false, |_, entry| check_value(entry.value, entry.key.text(), &Text));
        }
        Pairs => "a mapping of strings",
        Map(keys) if node.is_map() => return check(node, keys),
        Map(_) => "a mapping",
        Maps(keys) if node.is_list() => {
            let mut differs = false;
            for item in node.items().filter(|item| !item.is_null()) {
                match item.is_map() {
                    true => differs |= check(item, keys)?,
                    false => return Err(unexpected(item, key, "a mapping")),
                }
            }
            return Ok(differs);
        }
        Maps(_) => "a list of mappings",
    };
    Err(unexpected(node, key, expected))
}

fn unexpected(node: Node<'_>, key: &str, expected: &str) -> Diagnostic {
    let found = match node.scalar() {
        _ if node.is_list() => "a list",
        _ if node.is_map() => "a mapping",
        Scalar::Bool(_) => "a boolean",
        Scalar::Int(_) | Scalar::BigInt => "an integer",
        Scalar::Float(_) => "a number",
        _ => "a string",
    };
    let message = what::expected(expected, found).under(format!("`{key}`: "));
    let is_scalar = !node.is_list() && !node.is_map();
    let hint = (expected == "a string" && is_scalar).then(|| format!("write `\"{}\"`", node.text()));
    Diagnostic::at(&rules::KUSTOMIZATION, node.span(), message).maybe_hint(hint)
}

/// The value with all keys in the table's case. Of keys that differ in case alone the last one counts.
pub fn in_known_case(value: &Value, keys: &Keys) -> Value {
    let Data::Map(map) = &value.data else { return value.clone() };
    let renamed = map.iter().map(|(key, value)| {
        let Some((name, shape)) = keys.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)) else {
            return (key.clone(), value.clone());
        };
        let value = match (shape, value.as_list()) {
            (Map(keys), _) => in_known_case(value, keys),
            (Maps(keys), Some(list)) => {
                let items: Vec<Value> = list.iter().map(|item| in_known_case(item, keys)).collect();
                value.clone().with(Data::List(Arc::new(items.into())))
            }
            _ => value.clone(),
        };
        ((*name).into(), value)
    });
    value.clone().with(Data::Map(Arc::new(renamed.collect())))
}
