//! Changes to a kustomization file by `edit`, with the rules of Kustomize. Errors state the reason.

use super::KustomizationFile;
use crate::edit::{set, take};
use ecow::EcoString;
use purlin_value::{Map, Value, image};
use std::collections::BTreeMap;

/// Parts of a change that were skipped: the file is written anyway.
pub type Notes = Vec<String>;

/// Keeps a part of an image as it is.
const KEPT: &str = "*";

/// Kinds of metadata of a build.
const BUILD_METADATA: &[&str] = &["managedByLabel", "originAnnotations", "transformerAnnotations"];

/// `KEY:VALUE` arguments.
pub fn pairs(items: &[String], kind: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for item in items {
        let (key, value) = item.split_once(':').unwrap_or((item, ""));
        if key.is_empty() && item.starts_with(':') {
            return Err(format!("invalid {kind} `{item}`: expected `KEY:VALUE`"));
        }
        let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| value.len() > 1);
        found.retain(|(known, _)| known != key);
        found.push((key.to_owned(), unquoted.unwrap_or(value).to_owned()));
    }
    Ok(found)
}

/// Adds entries to a field. An existing one is an error without `force`.
pub fn add_pairs(
    file: &mut KustomizationFile,
    field: &str,
    kind: &str,
    pairs: &[(String, String)],
    force: bool,
) -> Result<(), String> {
    let mut map = file.pairs(field).unwrap_or_default();
    for (key, value) in pairs {
        put(&mut map, kind, key, value, force)?;
    }
    file.set(field, Value::map(map));
    Ok(())
}

fn put(map: &mut Map, kind: &str, key: &str, value: &str, force: bool) -> Result<(), String> {
    if map.contains_key(key) && !force {
        return Err(format!("{kind} `{key}` is already in the kustomization file; use `--force` to replace it"));
    }
    map.insert(EcoString::from(key), Value::str(value));
    Ok(())
}

/// Adds labels that selectors do not get.
pub fn add_labels(
    file: &mut KustomizationFile,
    pairs: &[(String, String)],
    force: bool,
    in_templates: bool,
) -> Result<(), String> {
    let mut labels = file.list("labels");
    for (key, value) in pairs {
        let flag = |label: &Value, key: &str| label.get(key).and_then(Value::as_bool).unwrap_or_default();
        let fits = |label: &Value| !flag(label, "includeSelectors") && flag(label, "includeTemplates") == in_templates;
        let at = match labels.iter().position(fits) {
            Some(at) => at,
            None => {
                let mut label = Value::map(Map::new());
                if in_templates {
                    set(&mut label, "includeTemplates", Value::from(true));
                }
                labels.push(label);
                labels.len() - 1
            }
        };
        let Some(label) = labels.get_mut(at) else { continue };
        let mut map = label.get("pairs").and_then(Value::as_map).cloned().unwrap_or_default();
        put(&mut map, "label", key, value, force)?;
        set(label, "pairs", Value::map(map));
    }
    file.set_list("labels", labels);
    Ok(())
}

/// Removes entries of a field.
pub fn remove_pairs(
    file: &mut KustomizationFile,
    field: &str,
    kind: &str,
    keys: &[String],
    ignores_missing: bool,
) -> Result<(), String> {
    let Some(mut map) = file.pairs(field) else {
        return if ignores_missing { Ok(()) } else { Err(format!("the kustomization file has no `{field}`")) };
    };
    for key in keys {
        if map.shift_remove(key.as_str()).is_none() && !ignores_missing {
            return Err(format!("{kind} `{key}` is not in the kustomization file"));
        }
    }
    file.set(field, Value::map(map));
    Ok(())
}

/// Adds items to a list of names, except existing ones.
pub fn add_items(file: &mut KustomizationFile, field: &str, kind: &str, items: &[String]) -> Notes {
    let mut list = file.list(field);
    let mut notes = Notes::new();
    for item in items {
        match list.iter().any(|known| known.as_str() == Some(item)) {
            true => notes.push(format!("{kind} `{item}` is already in the kustomization file")),
            false => list.push(Value::str(item.as_str())),
        }
    }
    file.set_list(field, list);
    notes
}

/// Adds bases: an existing one is an error.
pub fn add_bases(file: &mut KustomizationFile, paths: &[String]) -> Result<(), String> {
    match add_items(file, "resources", "base", paths).into_iter().next() {
        Some(note) => Err(note),
        None => Ok(()),
    }
}

/// Removes the items of a list of names that match a pattern. Whether there were any.
pub fn remove_items(file: &mut KustomizationFile, field: &str, matches: impl Fn(&str) -> bool) -> bool {
    let list = file.list(field);
    let kept: Vec<Value> = list.iter().filter(|item| !item.as_str().is_some_and(&matches)).cloned().collect();
    let has_removed = kept.len() < list.len();
    file.set_list(field, kept);
    has_removed
}

/// The items of a comma-separated list of metadata of a build.
pub fn build_metadata(given: &str) -> Result<Vec<String>, String> {
    let options: Vec<String> = given.split(',').map(str::to_owned).collect();
    match options.iter().find(|option| !BUILD_METADATA.contains(&option.as_str())) {
        Some(option) => {
            Err(format!("unknown `buildMetadata` option `{option}`: expected one of {}", BUILD_METADATA.join(", ")))
        }
        None => Ok(options),
    }
}

/// Adds metadata of a build: existing entries are an error.
pub fn add_build_metadata(file: &mut KustomizationFile, options: &[String]) -> Result<(), String> {
    match add_items(file, "buildMetadata", "`buildMetadata` option", options).into_iter().next() {
        Some(note) => Err(note),
        None => Ok(()),
    }
}

/// Sets images: `NAME=NEW:TAG@DIGEST`, `NAME:TAG`, `NAME@DIGEST`, with `*` for unchanged parts.
pub fn set_images(file: &mut KustomizationFile, items: &[String]) -> Result<(), String> {
    let mut images: BTreeMap<String, Value> = BTreeMap::new();
    for item in items {
        let (name, image) = image_of(item)?;
        images.insert(name, image);
    }
    for known in file.list("images") {
        let name = known.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        match images.get_mut(&name) {
            Some(image) => keep(image, Some(&known)),
            None => drop(images.insert(name, known)),
        }
    }
    images.values_mut().for_each(|image| keep(image, None));
    file.set_list("images", images.into_values().collect());
    Ok(())
}

/// Copies the unchanged parts of an image from its old value.
fn keep(image: &mut Value, known: Option<&Value>) {
    for key in ["newName", "newTag", "digest"] {
        if image.get(key).and_then(Value::as_str) != Some(KEPT) {
            continue;
        }
        match known.and_then(|known| known.get(key)).cloned() {
            Some(old) => set(image, key, old),
            None => drop(take(image, key)),
        }
    }
}

fn image_of(item: &str) -> Result<(String, Value), String> {
    let (own, new) = item.split_once('=').map_or((None, item), |(own, new)| (Some(own), new));
    let parts = image::parts(new);
    if own.is_none() && parts.name == item {
        let forms = "NAME=NEW:TAG, NAME=NEW@DIGEST, NAME=NEW, NAME:TAG or NAME@DIGEST";
        return Err(format!("invalid image `{item}`: expected {forms}"));
    }
    let mut image = Value::map(Map::new());
    set(&mut image, "name", Value::str(own.unwrap_or(parts.name)));
    if own.is_some() {
        set(&mut image, "newName", Value::str(parts.name));
    }
    for (key, part) in [("newTag", parts.tag), ("digest", parts.digest)] {
        if let Some(part) = part {
            set(&mut image, key, Value::str(part));
        }
    }
    Ok((own.unwrap_or(parts.name).to_owned(), image))
}

/// Sets numbers of replicas: `NAME=COUNT`.
pub fn set_replicas(file: &mut KustomizationFile, items: &[String]) -> Result<(), String> {
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for known in file.list("replicas") {
        let name = known.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        all.insert(name, known);
    }
    for item in items {
        let count = item.split_once('=').and_then(|(name, count)| Some((name, count.parse::<i64>().ok()?)));
        let (name, count) = count.ok_or_else(|| format!("invalid replicas `{item}`: expected `NAME=COUNT`"))?;
        let entries = [("name".into(), Value::str(name)), ("count".into(), Value::from(count))];
        all.insert(name.to_owned(), Value::map(Map::from_iter(entries)));
    }
    file.set_list("replicas", all.into_values().collect());
    Ok(())
}

/// Adds a patch. Returns a note if it exists already.
pub fn add_patch(file: &mut KustomizationFile, patch: Value) -> Notes {
    let mut patches = file.list("patches");
    if patches.contains(&patch) {
        return vec!["this patch is already in the kustomization file".to_owned()];
    }
    patches.push(patch);
    file.set_list("patches", patches);
    Notes::new()
}

/// Removes a patch. Returns a note if it does not exist.
pub fn remove_patch(file: &mut KustomizationFile, patch: &Value) -> Notes {
    let patches = file.list("patches");
    let kept: Vec<Value> = patches.iter().filter(|known| *known != patch).cloned().collect();
    if kept.len() == patches.len() {
        return vec!["this patch is not in the kustomization file".to_owned()];
    }
    file.set_list("patches", kept);
    Notes::new()
}

/// Contents of a generated ConfigMap or Secret.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// `KEY=FILE`, or a file.
    pub files: Vec<String>,
    /// `KEY=VALUE`.
    pub literals: Vec<String>,
    /// A file of `KEY=VALUE` lines.
    pub env: String,
    /// Behavior with an existing one of a base.
    pub behavior: String,
    /// The type of a Secret.
    pub kind: String,
    /// Whether its name has no digest.
    pub is_plain: bool,
}

/// Whether a generator has this name and namespace. An empty namespace is `default`.
fn is_meant(generator: &Value, name: &str, namespace: &str) -> bool {
    let text = |key: &str| generator.get(key).and_then(Value::as_str).unwrap_or_default();
    let full = |namespace: &str| if namespace.is_empty() { "default".to_owned() } else { namespace.to_owned() };
    text("name") == name && full(text("namespace")) == full(namespace)
}

/// Adds a generator, or sources to the one of this name.
pub fn add_generated(file: &mut KustomizationFile, field: &str, new: &Generated) {
    let mut all = file.list(field);
    let at = all.iter().position(|one| is_meant(one, &new.name, &new.namespace)).unwrap_or_else(|| {
        let mut one = Value::map(Map::new());
        set(&mut one, "name", Value::str(new.name.as_str()));
        set(&mut one, "namespace", Value::str(new.namespace.as_str()));
        set(&mut one, "type", Value::str(new.kind.as_str()));
        all.push(one);
        all.len() - 1
    });
    let envs: Vec<String> = Some(new.env.clone()).filter(|env| !env.is_empty()).into_iter().collect();
    if let Some(one) = all.get_mut(at) {
        for (key, items) in [("literals", &new.literals), ("files", &new.files), ("envs", &envs)] {
            let mut list = one.get(key).and_then(Value::as_list).unwrap_or_default().to_vec();
            list.extend(items.iter().map(|item| Value::str(item.as_str())));
            set(one, key, Value::list(list));
        }
        if new.is_plain {
            let options = Map::from_iter([("disableNameSuffixHash".into(), Value::from(true))]);
            set(one, "options", Value::map(options));
        }
        if !new.behavior.is_empty() {
            set(one, "behavior", Value::str(new.behavior.as_str()));
        }
    }
    file.set_list(field, all);
    with_options(file, field, at);
}

/// Options for all generators become those of one that was changed.
fn with_options(file: &mut KustomizationFile, field: &str, at: usize) {
    let Some(common) = file.pairs("generatorOptions") else { return };
    let mut all = file.list(field);
    let Some(one) = all.get_mut(at) else { return };
    let mut own = one.get("options").and_then(Value::as_map).cloned().unwrap_or_default();
    for (key, value) in common.iter() {
        let merged = match (value.as_map(), own.get(key).and_then(Value::as_map)) {
            (Some(common), Some(known)) => {
                let mut both = known.clone();
                common.iter().filter(|(key, _)| !known.contains_key(key.as_str())).for_each(|(key, value)| {
                    both.insert(key.clone(), value.clone());
                });
                Value::map(both)
            }
            (None, _) if value.as_bool() != Some(true) => continue,
            _ => value.clone(),
        };
        own.insert(key.clone(), merged);
    }
    set(one, "options", Value::map(own));
    file.set_list(field, all);
}

/// Changes values of a generator that it has, or its namespace.
pub fn set_generated(
    file: &mut KustomizationFile,
    field: &str,
    new: &Generated,
    new_namespace: &str,
) -> Result<(), String> {
    let mut all = file.list(field);
    let at = all.iter().position(|one| is_meant(one, &new.name, &new.namespace));
    let Some(one) = at.and_then(|at| all.get_mut(at)) else {
        return Err(format!("`{field}` has no item named `{}`", new.name));
    };
    let known = one.get("literals").and_then(Value::as_list).unwrap_or_default().to_vec();
    let mut literals: Vec<(String, String)> = Vec::new();
    for literal in known.iter().filter_map(Value::as_str) {
        literals.push(literal_of(literal)?);
    }
    for literal in &new.literals {
        let (key, value) = literal_of(literal)?;
        match literals.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => return Err(format!("`{}` has no value named `{key}`", new.name)),
        }
    }
    if !new.literals.is_empty() {
        let items = literals.into_iter().map(|(key, value)| Value::from(format!("{key}={value}"))).collect();
        set(one, "literals", Value::list(items));
    }
    if !new_namespace.is_empty() {
        set(one, "namespace", Value::str(new_namespace));
    }
    file.set_list(field, all);
    with_options(file, field, at.unwrap_or_default());
    Ok(())
}

fn literal_of(text: &str) -> Result<(String, String), String> {
    let parts: Vec<&str> = text.split('=').collect();
    match parts.as_slice() {
        [key, value] => Ok(((*key).to_owned(), (*value).to_owned())),
        _ => Err(format!("invalid literal `{text}`: expected `KEY=VALUE` with one `=`")),
    }
}

/// Removes generators by name. Unknown names give notes; if all are unknown, that is an error.
pub fn remove_generated(
    file: &mut KustomizationFile,
    field: &str,
    names: &[String],
    namespace: &str,
) -> Result<Notes, String> {
    let all = file.list(field);
    let is_removed = |one: &Value| names.iter().any(|name| is_meant(one, name, namespace));
    let is_there = |name: &&String| all.iter().any(|one| is_meant(one, name, namespace));
    if !names.iter().any(|name| is_there(&name)) {
        return Err(format!("`{field}` has no item named `{}`", names.join("`, `")));
    }
    let missing = names.iter().filter(|name| !is_there(name));
    let notes = missing.map(|name| format!("`{field}` has no item named `{name}`")).collect();
    file.set_list(field, all.iter().filter(|one| !is_removed(one)).cloned().collect());
    Ok(notes)
}

/// Replaces deprecated fields. `is_file` tests whether a string is the path of a file.
pub fn fix(file: &mut KustomizationFile, is_file: impl Fn(&str) -> bool) -> Result<(), String> {
    let mut patches = file.list("patches");
    patches.extend(file.list("patchesJson6902"));
    for patch in file.list("patchesStrategicMerge") {
        let text = patch.as_str().unwrap_or_default();
        let key = if is_file(text) { "path" } else { "patch" };
        patches.push(Value::map(Map::from_iter([(key.into(), patch.clone())])));
    }
    file.set_list("patches", patches);
    file.set_list("patchesJson6902", Vec::new());
    file.set_list("patchesStrategicMerge", Vec::new());
    let common = file.pairs("commonLabels").filter(|common| !common.is_empty());
    let Some(common) = common else { return Ok(()) };
    let mut labels = file.list("labels");
    let in_labels = |key: &str| {
        let pairs = labels.iter().filter_map(|label| label.get("pairs").and_then(Value::as_map));
        pairs.into_iter().any(|pairs| pairs.contains_key(key))
    };
    if let Some(key) = common.keys().find(|key| in_labels(key)) {
        return Err(format!("label `{key}` is in both `commonLabels` and `labels`"));
    }
    let entries = [("includeSelectors".into(), Value::from(true)), ("pairs".into(), Value::map(common))];
    labels.push(Value::map(Map::from_iter(entries)));
    file.set_list("labels", labels);
    file.set_list("commonLabels", Vec::new());
    Ok(())
}
