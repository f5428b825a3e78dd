//! Dependencies from repositories: indexes, versions, the lock file and its digest. Fetches and writes nothing itself.

use std::cmp::Ordering;

use purlin_gotmpl::semver::{Range, Version};
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use purlin_syntax::{Flavor, Node};
use purlin_value::encoding::hex;
use purlin_value::{Session, path};
use sha2::{Digest, Sha256};

use crate::chart::{Chart, Dependency};
use crate::json;

/// A dependency with the version that was chosen for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// Its source, as declared.
    pub repository: String,
    /// The exact version.
    pub version: String,
}

/// `Chart.lock`, or `requirements.lock` of a chart of the first format.
#[derive(Clone, Debug)]
pub struct Lock {
    /// The selected versions.
    pub dependencies: Vec<Locked>,
    /// The digest of the declared and the selected dependencies.
    pub digest: String,
}

/// The names of the lock file and of the file it locks.
pub fn lock_names(chart: &Chart) -> (&'static str, &'static str) {
    match chart.metadata.api_version.as_str() {
        "v1" => ("requirements.lock", "requirements.yaml"),
        _ => ("Chart.lock", "Chart.yaml"),
    }
}

/// Reads the lock file of a chart, if it has one.
pub fn read_lock(session: &Session, chart: &Chart) -> Result<Option<Lock>, String> {
    let (name, _) = lock_names(chart);
    let path = path::join(&chart.folder, name);
    if !session.world.exists(&path) {
        return Ok(None);
    }
    let text = session.load_text(&path, &path).map_err(|error| error.diagnostic(&path).message)?;
    let tree = session.load_tree(&text.source, Flavor::Go);
    let root = tree.root().filter(|root| root.is_map()).ok_or_else(|| format!("`{path}` is not a mapping"))?;
    let field = |node: Node<'_>, key: &str| node.get(key).map(|value| value.text().to_owned()).unwrap_or_default();
    let one = |node: Node<'_>| Locked {
        name: field(node, "name"),
        repository: field(node, "repository"),
        version: field(node, "version"),
    };
    let dependencies = root.get("dependencies").map(|list| list.items().map(one).collect()).unwrap_or_default();
    Ok(Some(Lock { dependencies, digest: field(root, "digest") }))
}

/// Whether a lock file matches the chart's declarations.
pub fn is_in_sync(chart: &Chart, lock: &Lock) -> bool {
    let declared = &chart.metadata.dependencies;
    let is_old = chart.metadata.api_version == "v1" && lock.digest == old_digest(declared);
    lock.digest == digest(declared, &lock.dependencies) || is_old
}

/// The digest of the declared and the selected dependencies.
pub fn digest(declared: &[Dependency], chosen: &[Locked]) -> String {
    let mut out = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    out.begin_list(2);
    write_declared(declared, &mut out);
    out.begin_list(chosen.len());
    for one in chosen {
        let whole = Dependency {
            name: one.name.clone(),
            version: one.version.clone(),
            repository: one.repository.clone(),
            ..Dependency::default()
        };
        write_dependency(&whole, &mut out);
    }
    out.end_list();
    out.end_list();
    hashed(out)
}

/// The digest that Helm 2 wrote: of the declared dependencies alone.
fn old_digest(declared: &[Dependency]) -> String {
    let mut out = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    out.begin_map(1);
    out.key("dependencies");
    write_declared(declared, &mut out);
    out.end_map();
    hashed(out)
}

fn hashed(out: JsonWriter) -> String {
    let text = out.finish().unwrap_or_default();
    format!("sha256:{}", hex(&Sha256::digest(text.trim_end().as_bytes())))
}

fn write_declared(declared: &[Dependency], out: &mut JsonWriter) {
    out.begin_list(declared.len());
    declared.iter().for_each(|one| write_dependency(one, out));
    out.end_list();
}

/// A dependency as Go writes Helm's record of it: empty fields are left out, except the name and the repository.
fn write_dependency(dependency: &Dependency, out: &mut JsonWriter) {
    out.begin_map(8);
    let text = |key: &str, value: &str, out: &mut JsonWriter| {
        out.key(key);
        out.string(value);
    };
    text("name", &dependency.name, out);
    if !dependency.version.is_empty() {
        text("version", &dependency.version, out);
    }
    text("repository", &dependency.repository, out);
    if !dependency.condition.is_empty() {
        text("condition", &dependency.condition, out);
    }
    if !dependency.tags.is_empty() {
        out.key("tags");
        out.begin_list(dependency.tags.len());
        dependency.tags.iter().for_each(|tag| out.string(tag));
        out.end_list();
    }
    if !dependency.import_values.is_empty() {
        out.key("import-values");
        out.begin_list(dependency.import_values.len());
        for value in &dependency.import_values {
            // Excessively nested values have no matching digest.
            let _ = json::write(value, out, 0);
        }
        out.end_list();
    }
    if !dependency.alias.is_empty() {
        text("alias", &dependency.alias, out);
    }
    out.end_map();
}

/// The text of a lock file.
pub fn write_lock(lock: &Lock, generated: &str) -> String {
    use purlin_syntax::write::{GoStyle, GoYamlWriter};
    let mut out = GoYamlWriter::with_limit(GoStyle::Kubernetes, usize::MAX);
    out.begin_map(3);
    out.key("dependencies");
    out.begin_list(lock.dependencies.len());
    for one in &lock.dependencies {
        out.begin_map(3);
        for (key, value) in [("name", &one.name), ("repository", &one.repository), ("version", &one.version)] {
            out.key(key);
            out.string(value);
        }
        out.end_map();
    }
    out.end_list();
    for (key, value) in [("digest", lock.digest.as_str()), ("generated", generated)] {
        out.key(key);
        out.string(value);
    }
    out.end_map();
    out.finish().unwrap_or_default()
}

/// One version of a chart in an index.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The version.
    pub version: String,
    /// Locations of its archive; the first one is used.
    pub urls: Vec<String>,
    /// The hash of the archive, if the index has it.
    pub digest: String,
}

/// The versions of a chart that an index lists, the newest first.
pub fn index_entries(session: &Session, index: &str, chart: &str) -> Result<Vec<Entry>, String> {
    let bytes = session.load_bytes(index).map_err(|error| error.reason().to_owned())?;
    let tree = purlin_gotmpl::yaml::parse(&String::from_utf8_lossy(&bytes), &session.limits);
    if let Some(problem) = purlin_gotmpl::yaml::first_problem(&tree) {
        return Err(format!("its index is not valid YAML: {}", problem.message));
    }
    let entries = tree.root().and_then(|root| root.get("entries")?.get(chart));
    let one = |node: Node<'_>| Entry {
        version: node.get("version").map(|value| value.text().to_owned()).unwrap_or_default(),
        urls: node.get("urls").map(|list| list.items().map(|url| url.text().to_owned()).collect()).unwrap_or_default(),
        digest: node.get("digest").map(|value| value.text().to_owned()).unwrap_or_default(),
    };
    let mut found: Vec<Entry> = entries.map(|list| list.items().map(one).collect()).unwrap_or_default();
    found.retain(|entry| !entry.urls.is_empty());
    sort_newest_first(&mut found, |entry| &entry.version);
    Ok(found)
}

/// Sorts by version, the newest first; invalid versions are last.
pub fn sort_newest_first<T>(items: &mut [T], version: impl Fn(&T) -> &str) {
    items.sort_by(|a, b| match (Version::parse(version(a)), Version::parse(version(b))) {
        (Some(a), Some(b)) => b.compare(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
}

/// The first version of a list that satisfies a range.
pub fn choose<'v>(range: &str, versions: impl IntoIterator<Item = &'v str>) -> Option<&'v str> {
    let range = Range::parse(range).ok()?;
    versions.into_iter().find(|version| Version::parse(version).is_some_and(|version| range.contains(&version)))
}

/// Whether two strings are the same version.
pub fn is_same_version(a: &str, b: &str) -> bool {
    match (Version::parse(a), Version::parse(b)) {
        (Some(a), Some(b)) => a.compare(&b) == Ordering::Equal,
        _ => a == b,
    }
}

/// The address of the index of a repository.
pub fn index_address(repository: &str) -> String {
    let (base, query) = repository.find('?').map_or((repository, ""), |at| repository.split_at(at));
    format!("{}/index.yaml{query}", base.trim_end_matches('/'))
}

/// The address of an archive, which may be relative to the index.
pub fn archive_address(repository: &str, url: &str) -> String {
    if url.contains("://") {
        return url.to_owned();
    }
    let (base, query) = repository.find('?').map_or((repository, ""), |at| repository.split_at(at));
    let base = base.trim_end_matches('/');
    match url.strip_prefix('/') {
        Some(rest) => {
            let start = base.find("://").map_or(0, |at| at + 3);
            let end = base.get(start..).and_then(|rest| rest.find('/')).map_or(base.len(), |at| start + at);
            format!("{}/{rest}{query}", base.get(..end).unwrap_or(base))
        }
        None => format!("{base}/{url}{query}"),
    }
}

/// Status of a dependency in `helm dependency list`. Archives are those in `charts/` with its name.
pub fn status(chart: &Chart, dependency: &Dependency, archives: &[Result<Chart, String>]) -> &'static str {
    let own: Vec<&Chart> = archives.iter().flatten().filter(|inner| inner.name() == dependency.name).collect();
    match (archives, own.as_slice()) {
        (_, [_, _, ..]) => return "too many matches",
        (_, [one]) => return version_status(&dependency.version, &one.metadata.version).unwrap_or("ok"),
        ([Err(_)], _) => return "corrupt",
        ([Ok(_)], []) => return "misnamed",
        _ => {}
    }
    match chart.dependencies.iter().rev().find(|inner| inner.name() == dependency.name) {
        None => "missing",
        Some(inner) if inner.metadata.version == dependency.version => "unpacked",
        Some(inner) => version_status(&dependency.version, &inner.metadata.version).unwrap_or("unpacked"),
    }
}

/// Reason why a version is invalid; `None` if it is valid.
fn version_status(range: &str, version: &str) -> Option<&'static str> {
    if range.is_empty() {
        return None;
    }
    match (Range::parse(range), Version::parse(version)) {
        (Ok(range), Some(version)) if range.contains(&version) => None,
        (Ok(_), Some(_)) => Some("wrong version"),
        _ => Some("invalid version"),
    }
}
