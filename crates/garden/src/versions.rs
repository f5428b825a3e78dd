//! Versions of actions: short hashes of their files, their configuration and what they depend on.
//!
//! Files count by their git blob hash, so that a version is the same inside and outside a repository. Everything is
//! computed only when it is asked for.

use crate::action::Action;
use crate::config::ActionKind;
use crate::files::{FileTree, Selection};
use crate::graph::Graph;
use crate::json::{self, KeyOrder};
use crate::scan::texts;
use ecow::EcoString;
use purlin_value::encoding::hex;
use purlin_value::world::WorldError;
use purlin_value::{Data, Session, Value, path};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Fields that do not count in a version.
const OMITTED: &[&str] =
    &["internal", "source", "include", "exclude", "description", "disabled", "variables", "varfiles", "version"];

/// What stands in the place of a text that does not count.
const EXCLUDED: &str = "<excluded>";

/// The version of no files at all.
const NO_SOURCE: &str = "0000000000";

/// A version with its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Of the configuration.
    pub config: EcoString,
    /// Of the files.
    pub source: EcoString,
    /// The version.
    pub string: EcoString,
    /// The whole hash.
    pub full: EcoString,
    /// The versions it depends on, by action.
    pub dependencies: Vec<(EcoString, EcoString)>,
    /// The files, from the project's folder.
    pub files: Vec<String>,
}

/// SHA-256 of texts joined by dots, in hexadecimal digits.
pub fn hash(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            hasher.update(b".");
        }
        hasher.update(text.as_bytes());
    }
    hex(&hasher.finalize())
}

/// The first ten digits of a hash.
pub fn short(texts: &[&str]) -> EcoString {
    hash(texts).get(..10).unwrap_or("").into()
}

/// Git's name for a file with this content.
pub fn blob_hash(content: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(content);
    hex(&hasher.finalize())
}

/// Git's name for a file of any size.
fn file_hash(session: &Session, path: &str) -> Result<String, WorldError> {
    let mut hasher: Option<Sha1> = None;
    session.world.read_in_pieces(path, &mut |size, piece| {
        let begin = || Sha1::new_with_prefix(format!("blob {size}\0").as_bytes());
        hasher.get_or_insert_with(begin).update(piece);
    })?;
    Ok(hasher.map_or_else(|| blob_hash(b""), |hasher| hex(&hasher.finalize())))
}

/// The files of something, with the hash over all of them.
pub struct SourceVersion {
    /// The hash.
    pub hash: EcoString,
    /// The files, from the world's root.
    pub files: Vec<String>,
}

/// What counts as source of an action or module.
pub struct SourceScope<'a> {
    /// The folder of the files.
    pub folder: &'a str,
    /// The folder that paths are hashed relative to.
    pub base: &'a str,
    /// The configuration file, which is not source.
    pub config_file: &'a str,
    /// Patterns of files.
    pub include: Option<&'a [String]>,
    /// Patterns of files to leave out.
    pub exclude: &'a [String],
    /// Patterns of files that are source but do not count in the version.
    pub uncounted: &'a [String],
}

/// Hashes the files of something.
pub fn source_version(session: &Session, tree: &FileTree, scope: &SourceScope<'_>) -> SourceVersion {
    if scope.include.is_some_and(<[String]>::is_empty) {
        return SourceVersion { hash: NO_SOURCE.into(), files: Vec::new() };
    }
    let selection = Selection::new(scope.include, scope.exclude);
    let uncounted = Selection::new(Some(scope.uncounted), &[]);
    let mut files = Vec::new();
    let mut parts = Vec::new();
    for file in tree.under(scope.folder) {
        let within = path::within(scope.folder, &file.path);
        if file.path == scope.config_file || !selection.takes(within) {
            continue;
        }
        let hash = match file.is_link {
            true => link_hash(session, &file.path),
            false => file_hash(session, &file.path).map(Some),
        };
        let hash = match hash {
            Ok(Some(hash)) => hash,
            Ok(None) => continue,
            // A version that left a file out would say that nothing changed when it does.
            Err(error) => {
                session.report_world(&error, &file.path, None);
                continue;
            }
        };
        files.push(file.path.clone());
        if !uncounted.takes(within) {
            parts.push(format!("{}-{hash}", path::relative(scope.base, &file.path)));
        }
    }
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    SourceVersion { hash: short(&texts), files }
}

/// A link counts by where it leads; one that leads to a fixed place on this machine does not count at all.
fn link_hash(session: &Session, path: &str) -> Result<Option<String>, WorldError> {
    let target = session.world.read_link(path)?;
    Ok((!purlin_value::path::is_absolute(&target)).then(|| blob_hash(target.as_bytes())))
}

/// The configuration of an action as it counts in its version.
pub fn config_version(action: &Action, spec: &Value, project_exclusions: &[String]) -> EcoString {
    let counted = action.fields.iter().filter(|(key, _)| !OMITTED.contains(&key.as_str()) && *key != "spec");
    let counted = counted.map(|(key, value)| (key.clone(), value.clone()));
    let mut config = Value::map(counted.chain([("spec".into(), spec.clone())]).collect());
    let version = action.fields.get("version");
    for path in version.and_then(|v| v.get("excludeFields")).and_then(Value::as_list).unwrap_or(&[]) {
        let steps: Vec<EcoString> = path.as_list().unwrap_or(&[]).iter().map(crate::expr::text_of).collect();
        config = without_path(&config, &steps);
    }
    let own = version.and_then(|v| v.get("excludeValues")).map(texts).unwrap_or_default();
    let exclusions: Vec<&String> = own.iter().chain(project_exclusions).filter(|text| !text.is_empty()).collect();
    if !exclusions.is_empty() {
        config = without_texts(&config, &exclusions);
    }
    ecow::eco_format!("v-{}", short(&[&json::write(&config, KeyOrder::Sorted)]))
}

/// A value without what lies at a path; `*` stands for any one step.
fn without_path(value: &Value, steps: &[EcoString]) -> Value {
    let Some((step, rest)) = steps.split_first() else { return value.clone() };
    let Some(map) = value.as_map() else { return value.clone() };
    let kept = map.iter().filter_map(|(key, item)| {
        let hit = step == "*" || step == key;
        match (hit, rest.is_empty()) {
            (true, true) => None,
            (true, false) => Some((key.clone(), without_path(item, rest))),
            (false, _) => Some((key.clone(), item.clone())),
        }
    });
    Value::map(kept.collect())
}

/// A value with texts replaced, literally.
fn without_texts(value: &Value, texts: &[&String]) -> Value {
    match &value.data {
        Data::Str(text) => {
            let replaced = texts.iter().fold(text.to_string(), |text, gone| text.replace(gone.as_str(), EXCLUDED));
            Value::str(replaced)
        }
        Data::List(list) => Value::list(list.iter().map(|item| without_texts(item, texts)).collect()),
        Data::Map(map) => Value::map(map.iter().map(|(key, item)| (key.clone(), without_texts(item, texts))).collect()),
        _ => value.clone(),
    }
}

/// Puts a version together.
pub fn combine(
    config: EcoString,
    source: EcoString,
    files: Vec<String>,
    dependencies: Vec<(EcoString, EcoString)>,
) -> Version {
    let mut sorted: Vec<&(EcoString, EcoString)> = dependencies.iter().collect();
    sorted.sort();
    let mut parts = vec![config.as_str(), source.as_str()];
    for (key, version) in sorted {
        parts.extend([key.as_str(), version.as_str()]);
    }
    let hash = hash(&parts);
    let string = ecow::eco_format!("v-{}", hash.get(..10).unwrap_or(""));
    Version { string, full: ecow::eco_format!("v-{hash}"), config, source, dependencies, files }
}

/// The keys of the dependencies that count in an action's version.
pub fn counted_dependencies(graph: &Graph, action: &Action) -> Vec<EcoString> {
    let version = action.fields.get("version");
    let excluded: Vec<String> = version
        .and_then(|v| v.get("excludeDependencies"))
        .and_then(Value::as_list)
        .unwrap_or(&[])
        .iter()
        .filter_map(|item| {
            let kind = item.get("kind").and_then(Value::as_str).and_then(ActionKind::named)?;
            Some(format!("{}.{}", kind.lower(), item.get("name").and_then(Value::as_str)?))
        })
        .collect();
    let counts = |key: &EcoString| {
        let other = graph.actions.get(key);
        other.is_some_and(|other| !other.disabled) && !excluded.iter().any(|name| name == key)
    };
    graph.needs(&action.key).iter().map(|need| need.key.clone()).filter(counts).collect()
}
