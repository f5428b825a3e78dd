//! Versions of actions: short hashes of their files, their configuration and their dependencies.
//!
//! Files count by their git blob hash, so that a version is the same inside and outside a repository. Values are
//! computed on demand.

use crate::action::Action;
use crate::config::ActionKind;
use crate::files::{FileTree, Selection, pays};
use crate::graph::Graph;
use crate::json::{self, KeyOrder};
use crate::remote::Checkout;
use crate::scan::texts;
use ecow::EcoString;
use purlin_value::encoding::hex;
use purlin_value::pattern::{Refused, Work, compile};
use purlin_value::world::WorldError;
use purlin_value::{Data, FastMap, Session, Value, path};
use regex::{Regex, RegexBuilder};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};

/// Fields that do not count in a version.
const OMITTED: &[&str] =
    &["internal", "source", "include", "exclude", "description", "disabled", "variables", "varfiles", "version"];

/// Replaces a text that does not count. It is part of the hashed text, so it is Garden's own.
const EXCLUDED: &str = "!!!GARDEN-EXCLUDED!!!";

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
    /// The files, from the project's folder; actions with the same source share them.
    pub files: Arc<[String]>,
    /// Contents of each of them.
    pub blobs: Arc<[Blob]>,
}

/// Git's digest of a file's content, or of where a link leads.
pub type Blob = [u8; 20];

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

/// Git's digest of a file with this content.
fn blob(content: &[u8]) -> Blob {
    let mut hasher = begin_blob(content.len() as u64);
    hasher.update(content);
    hasher.finalize().into()
}

/// Begins the digest of a file of a size, to be fed with its content.
pub fn begin_blob(size: u64) -> Sha1 {
    Sha1::new_with_prefix(format!("blob {size}\0").as_bytes())
}

/// Git's digest of a file of any size.
fn file_hash(session: &Session, path: &str) -> Result<Blob, WorldError> {
    let mut hasher: Option<Sha1> = None;
    session.world.read_in_pieces(path, &mut |size, piece| {
        hasher.get_or_insert_with(|| begin_blob(size)).update(piece);
    })?;
    Ok(hasher.map_or_else(|| blob(b""), |hasher| hasher.finalize().into()))
}

/// Source files, with the hash over all of them.
pub struct SourceVersion {
    /// The hash.
    pub hash: EcoString,
    /// The files, from the world's root.
    pub files: Arc<[String]>,
    /// Contents of each of them.
    pub blobs: Arc<[Blob]>,
    /// Whether all of them could be read.
    pub is_sound: bool,
}

/// The choice of files that source is shared by: Garden hashes each once, and the first action determines which
/// configuration file and which `excludeFiles` do not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceKey {
    folder: EcoString,
    /// Garden's clone that the folder is in, whose name counts.
    clone: Option<EcoString>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
}

impl SourceKey {
    /// The key of a choice of files.
    pub fn new(
        (folder, checkout): (&str, Option<&Checkout>),
        include: Option<&[String]>,
        exclude: Option<&[String]>,
    ) -> Self {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        let clone = checkout.map(|checkout| checkout.clone.as_str().into());
        SourceKey { folder: folder.into(), clone, include: include.map(sorted), exclude: exclude.map(sorted) }
    }
}

/// Source that was hashed already.
pub type Sources = Mutex<FastMap<SourceKey, Arc<SourceVersion>>>;

/// The source that counts for an action or module.
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
    /// The repository that the folder is in, and the project's folder.
    pub remote: Option<(&'a Checkout, &'a str)>,
}

impl SourceScope<'_> {
    /// The name of a file in the hash.
    fn name_of(&self, file: &str) -> String {
        match self.remote {
            Some((checkout, root)) if !checkout.holds(self.base) => {
                path::relative(self.base, &checkout.cloned(root, file))
            }
            _ => path::relative(self.base, file),
        }
    }
}

/// Hashes source files.
pub(crate) fn source_version(session: &Session, tree: &FileTree, scope: &SourceScope<'_>) -> SourceVersion {
    if scope.include.is_some_and(<[String]>::is_empty) {
        return SourceVersion { hash: NO_SOURCE.into(), files: Arc::default(), blobs: Arc::default(), is_sound: true };
    }
    let remote = scope.remote.map(|(checkout, _)| tree.remote(session, &checkout.folder));
    let tree = remote.as_deref().unwrap_or(tree);
    let patterns = 1 + scope.include.map_or(0, <[String]>::len) + scope.exclude.len();
    let selection = Selection::new(scope.include, scope.exclude);
    let candidates = tree.candidates(scope.folder, &selection);
    if !pays(session, (1 + candidates.len() as u64).saturating_mul(patterns as u64)) {
        return SourceVersion { hash: NO_SOURCE.into(), files: Arc::default(), blobs: Arc::default(), is_sound: false };
    }
    let uncounted = Selection::new(Some(scope.uncounted), &[]);
    let mut files = Vec::new();
    let mut blobs = Vec::new();
    let mut parts = Vec::new();
    let mut is_sound = true;
    for file in candidates {
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
            // A version without the file would hide changes to it.
            Err(error) => {
                session.report_world(&error, &file.path, None);
                is_sound = false;
                continue;
            }
        };
        let bytes = (size_of::<String>() + size_of::<Blob>() + file.path.len()) as u64;
        if let Err(exceeded) = session.meter.charge(0, bytes) {
            session.report_exceeded(exceeded, None);
            is_sound = false;
            break;
        }
        files.push(file.path.clone());
        blobs.push(hash);
        if !uncounted.takes(within) {
            parts.push(format!("{}-{}", scope.name_of(&file.path), hex(&hash)));
        }
    }
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    SourceVersion { hash: short(&texts), files: files.into(), blobs: blobs.into(), is_sound }
}

/// A link counts by its target; one to an absolute path on this machine does not count at all.
fn link_hash(session: &Session, path: &str) -> Result<Option<Blob>, WorldError> {
    let target = session.world.read_link(path)?;
    Ok((!purlin_value::path::is_absolute(&target)).then(|| blob(target.as_bytes())))
}

/// The source of an action as hashed, for a later comparison.
#[derive(Clone, Debug)]
pub struct Hashed {
    /// The folder of the files.
    pub folder: String,
    /// The files, from the world's root.
    pub files: Arc<[String]>,
    pub(crate) blobs: Arc<[Blob]>,
    pub(crate) root: String,
    pub(crate) ignore_file: String,
    pub(crate) config_file: String,
    pub(crate) include: Option<Vec<String>>,
    pub(crate) exclude: Vec<String>,
}

impl Hashed {
    /// The files, each with git's digest of its contents.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &Blob)> {
        self.files.iter().map(String::as_str).zip(self.blobs.iter())
    }

    /// Whether a file is unchanged.
    pub fn is_same(&self, session: &Session, at: usize) -> bool {
        let (Some(file), Some(then)) = (self.files.get(at), self.blobs.get(at)) else { return false };
        let now = match session.world.read_link(file) {
            Ok(target) => Ok(blob(target.as_bytes())),
            Err(_) => file_hash(session, file),
        };
        now.is_ok_and(|now| now == *then)
    }

    /// A file that counts now and did not then.
    pub fn new_file(&self, session: &Session) -> Option<String> {
        let selection = Selection::new(self.include.as_deref(), &self.exclude);
        let below = |folder: &str, path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let enters = |folder: &str| {
            let is_on_the_way = folder == self.folder || below(folder, &self.folder);
            let is_inside = self.folder == "." || below(&self.folder, folder);
            is_on_the_way || (is_inside && selection.may_be_below(path::within(&self.folder, folder)))
        };
        let tree = FileTree::walk_where(session, &self.root, &self.ignore_file, &enters);
        let is_new = |file: &str| {
            file != self.config_file
                && selection.takes(path::within(&self.folder, file))
                && self.files.binary_search_by(|known| known.as_str().cmp(file)).is_err()
                && !matches!(session.world.read_link(file), Ok(target) if path::is_absolute(&target))
        };
        tree.under(&self.folder).iter().map(|file| &file.path).find(|file| is_new(file)).cloned()
    }
}

/// Patterns of texts that do not count in versions; the first match applies.
#[derive(Clone, Debug, Default)]
pub struct Exclusions(Vec<(Regex, Work)>);

impl Exclusions {
    /// Compiles patterns; invalid ones are returned with the reason.
    pub fn compile(session: &Session, patterns: &[String]) -> (Self, Vec<(String, String)>) {
        let mut broken = Vec::new();
        let most = session.limits.regex_bytes;
        let compile = |pattern: &String| {
            let build = |most: usize| match RegexBuilder::new(pattern).size_limit(most).build() {
                Ok(regex) => Ok(Some(regex)),
                Err(regex::Error::CompiledTooBig(_)) => Ok(None),
                Err(error) => Err(error.to_string()),
            };
            let why = match compile(&session.meter, most, build) {
                Ok((regex, bytes)) => return Some((regex, Work::of(pattern, bytes))),
                Err(Refused::Exceeded(exceeded)) => {
                    session.report_exceeded(exceeded, None);
                    return None;
                }
                Err(Refused::TooLarge) => format!("it needs more than the {most} bytes allowed when compiled"),
                Err(Refused::Invalid(why)) => why,
            };
            broken.push((pattern.clone(), why));
            None
        };
        let compiled = patterns.iter().filter_map(compile).collect();
        (Exclusions(compiled), broken)
    }

    fn replace(&self, session: &Session, text: &str) -> Option<String> {
        let pay = |steps: u64| session.meter.charge(steps, 0);
        let (regex, work) = self.0.iter().find(|(regex, work)| {
            pay(work.first(text.len())).map_err(|over| session.report_exceeded(over, None)).is_ok()
                && regex.is_match(text)
        })?;
        let (mut out, mut from) = (String::new(), 0);
        for found in regex.find_iter(text) {
            out.push_str(text.get(from..found.start()).unwrap_or_default());
            out.push_str(EXCLUDED);
            from = found.end();
            if let Err(exceeded) = pay(work.another(text.len() - from)) {
                session.report_exceeded(exceeded, None);
                return None;
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Some(out)
    }
}

/// The configuration of an action as it counts in its version.
pub(crate) fn config_version(
    session: &Session,
    action: &Action,
    spec: &Value,
    project_exclusions: &Exclusions,
) -> EcoString {
    let counted = action.fields.iter().filter(|(key, _)| !OMITTED.contains(&key.as_str()) && *key != "spec");
    let counted = counted.map(|(key, value)| (key.clone(), value.clone()));
    let mut config = Value::map(counted.chain([("spec".into(), spec.clone())]).collect());
    let version = action.fields.get("version");
    let path = |item: &Value| item.as_list().unwrap_or(&[]).iter().map(crate::expr::text_of).collect();
    let listed = version.and_then(|v| v.get("excludeFields")).and_then(Value::as_list).unwrap_or(&[]);
    let fields: Vec<Vec<EcoString>> = listed.iter().map(path).collect();
    if !fields.is_empty() {
        config = without_fields(&config, &fields, &mut Vec::new());
    }
    let own = version.and_then(|v| v.get("excludeValues")).map(texts).unwrap_or_default();
    let (mut exclusions, _) = Exclusions::compile(session, &own);
    exclusions.0.extend(project_exclusions.0.iter().cloned());
    if !exclusions.0.is_empty() {
        let replaced = Replaced { session, fields: &fields, exclusions: &exclusions };
        config = replaced.value(&config, &mut Vec::new());
    }
    ecow::eco_format!("v-{}", short(&[&json::write(&config, KeyOrder::Sorted)]))
}

/// A value without the fields at some paths; `*` matches any one step, also an item of a list.
///
/// The first path that is longer than the place hides those listed after it, as in Garden; versions must be equal.
fn without_fields(value: &Value, fields: &[Vec<EcoString>], path: &mut Vec<EcoString>) -> Value {
    let hidden = |path: &[EcoString]| {
        let reached = fields.iter().take_while(|field| field.len() <= path.len());
        let matches = |field: &Vec<EcoString>| {
            field.len() == path.len() && field.iter().zip(path).all(|(wanted, step)| wanted == "*" || wanted == step)
        };
        reached.into_iter().any(matches)
    };
    let mut below = |step: EcoString, item: &Value| {
        path.push(step);
        let kept = (!hidden(path)).then(|| without_fields(item, fields, path));
        path.pop();
        kept
    };
    match &value.data {
        Data::Map(map) => {
            let kept = map.iter().filter_map(|(key, item)| Some((key.clone(), below(key.clone(), item)?)));
            Value::map(kept.collect())
        }
        Data::List(list) => {
            let kept = list.iter().enumerate();
            Value::list(kept.filter_map(|(index, item)| below(ecow::eco_format!("{index}"), item)).collect())
        }
        _ => value.clone(),
    }
}

/// Replaces texts that do not count.
struct Replaced<'a> {
    session: &'a Session,
    fields: &'a [Vec<EcoString>],
    exclusions: &'a Exclusions,
}

impl Replaced<'_> {
    /// Paths are those of keys only: items of a list are at the path of the list.
    fn value(&self, value: &Value, path: &mut Vec<EcoString>) -> Value {
        match &value.data {
            Data::Str(_) if self.fields.iter().any(|field| field == path) => Value::str(EXCLUDED),
            Data::Str(text) => self.exclusions.replace(self.session, text).map_or_else(|| value.clone(), Value::str),
            Data::List(list) => Value::list(list.iter().map(|item| self.value(item, path)).collect()),
            Data::Map(map) => {
                let entry = |(key, item): (&EcoString, &Value)| {
                    path.push(key.clone());
                    let replaced = self.value(item, path);
                    path.pop();
                    (key.clone(), replaced)
                };
                Value::map(map.iter().map(entry).collect())
            }
            _ => value.clone(),
        }
    }
}

/// Puts a version together; `listed` are the keys of its dependencies as often as they are listed.
pub fn combine(
    config: EcoString,
    source: EcoString,
    (files, blobs): (Arc<[String]>, Arc<[Blob]>),
    dependencies: Vec<(EcoString, EcoString)>,
    listed: &[EcoString],
) -> Version {
    let mut sorted: Vec<&(EcoString, EcoString)> = dependencies.iter().collect();
    sorted.sort();
    let mut times: FastMap<&EcoString, usize> = FastMap::with_capacity_and_hasher(listed.len(), Default::default());
    for key in listed {
        *times.entry(key).or_default() += 1;
    }
    let mut parts = vec![config.as_str(), source.as_str()];
    for (key, version) in sorted {
        // Keys listed twice count twice, as in Garden.
        for _ in 0..times.get(key).copied().unwrap_or(1) {
            parts.extend([key.as_str(), version.as_str()]);
        }
    }
    let hash = hash(&parts);
    let string = ecow::eco_format!("v-{}", hash.get(..10).unwrap_or(""));
    Version { string, full: ecow::eco_format!("v-{hash}"), config, source, dependencies, files, blobs }
}

/// The keys of the dependencies that an action lists, as often as it does.
pub(crate) fn listed_dependencies(action: &Action) -> Vec<EcoString> {
    let key = |item: &Value| {
        let kind = ActionKind::named(item.get("kind")?.as_str()?)?;
        Some(ecow::eco_format!("{}.{}", kind.lower(), item.get("name")?.as_str()?))
    };
    let listed = action.fields.get("dependencies").and_then(Value::as_list).unwrap_or(&[]);
    listed.iter().filter_map(key).collect()
}

/// The keys of the dependencies that count in an action's version.
pub(crate) fn counted_dependencies(graph: &Graph, action: &Action) -> Vec<EcoString> {
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
