//! The edited projects: examples of the checkout, and recorded ones if available.

use purlin_compiler::{compile, wholes};
use purlin_model::{Request, Resolved};
use purlin_suite::top;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger projects take too long to be resolved repeatedly.
const MOST_BYTES: usize = 300 << 10;
const MOST_FILES: usize = 200;
/// Maximum number of projects per dialect.
const MOST_PROJECTS: usize = 60;

/// A resolved project.
pub struct Side {
    pub session: Session,
    pub resolved: Resolved,
}

impl Side {
    fn of(files: &BTreeMap<String, Vec<u8>>, path: &str, environment: Option<&str>) -> Option<(Side, &'static str)> {
        let world = files.iter().fold(MemoryWorld::new(), |world, (path, bytes)| world.bytes(path, bytes));
        let session = Session::new(Arc::new(world));
        let mut request = Request::of(path);
        request.environment = environment.map(str::to_owned);
        request.manifests = true;
        "resolve".clone_into(&mut request.command);
        let compiled = compile(&session, &request)?;
        (!session.sink.has_errors()).then(|| (Side { session, resolved: compiled.resolved }, compiled.dialect.name))
    }

    /// All leaves: their owners, and their paths.
    pub fn leaves(&self) -> Vec<(String, String)> {
        let of = |(name, whole): (&str, Value)| -> Vec<(String, String)> {
            whole.leaves().map(|(path, _)| (name.to_owned(), path)).collect()
        };
        wholes(&self.resolved).flat_map(of).collect()
    }

    pub fn whole(&self, name: &str) -> Option<Value> {
        wholes(&self.resolved).find(|(known, _)| *known == name).map(|(_, whole)| whole)
    }

    pub fn at(&self, whole: &str, field: &str) -> Option<Value> {
        self.whole(whole)?.at(field)
    }

    pub fn has(&self, name: &str) -> bool {
        self.whole(name).is_some()
    }
}

/// A value as text without the versions of Garden's actions: they are hashes of everything.
pub fn shown(value: &Value) -> String {
    let text = to_json(value, Secrets::Reveal, JsonLayout::Compact).unwrap_or_default();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("v-") {
        let (before, from) = rest.split_at(at + 2);
        out.push_str(before);
        let is_hash = from.len() >= 10 && from.bytes().take(10).all(|byte| byte.is_ascii_hexdigit());
        rest = if is_hash { &from[10..] } else { from };
    }
    out + rest
}

/// A scalar as text.
pub fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| to_json(value, Secrets::Reveal, JsonLayout::Compact).unwrap_or_default(), str::to_owned)
}

/// A project with its resolution.
pub struct Project {
    pub name: String,
    files: BTreeMap<String, Vec<u8>>,
    /// The file or folder of the project.
    path: String,
    environment: Option<String>,
    pub side: Side,
}

impl Project {
    pub fn text(&self, file: &str) -> Option<String> {
        String::from_utf8(self.files.get(file)?.clone()).ok()
    }

    /// The same with another text of a file, if it still resolves.
    pub fn with(&self, file: &str, text: &str) -> Option<Side> {
        let mut files = self.files.clone();
        files.insert(file.to_owned(), text.as_bytes().to_vec());
        Some(Side::of(&files, &self.path, self.environment.as_deref())?.0)
    }

    /// Files that the project was read from.
    pub fn read_files(&self) -> Vec<String> {
        let all = self.side.session.sources.all();
        let mut names: Vec<String> = all.iter().map(|source| source.path().to_owned()).collect();
        names.retain(|name| self.files.contains_key(name));
        names.sort();
        names.dedup();
        names
    }
}

/// Projects by dialect.
pub fn corpus() -> BTreeMap<&'static str, Vec<Project>> {
    let mut all: BTreeMap<&'static str, Vec<Project>> = BTreeMap::new();
    let examples = top().join("examples");
    for environment in ["local", "staging", "production"] {
        add(&mut all, &examples.join("storefront"), ".", Some(environment));
    }
    for folder in ["shop", "modules"] {
        add(&mut all, &examples.join(folder), ".", None);
    }
    let data =
        std::env::var_os("PURLIN_CONFORMANCE").map_or_else(|| top().join("../shared/conformance"), PathBuf::from);
    if !data.is_dir() {
        println!("the recorded projects are not here, so only the examples are tried");
        return all;
    }
    for suite in [
        "garden-projects/projects",
        "unfurl-services",
        "charts",
        "skaffold/examples",
        "skaffold/diagnose-projects",
        "real-charts",
    ] {
        for folder in folders(&data.join(suite)) {
            let inner = ["files", "chart", "input", "project"]
                .iter()
                .map(|name| folder.join(name))
                .find(|inner| inner.is_dir());
            add(&mut all, &inner.unwrap_or(folder), ".", None);
        }
    }
    services(&mut all, &data.join("tosca/src"));
    all
}

/// Service templates: the files of each folder that are valid alone.
fn services(all: &mut BTreeMap<&'static str, Vec<Project>>, data: &Path) {
    for source in folders(data) {
        let before = all.get("tosca").map_or(0, Vec::len);
        let mut files = BTreeMap::new();
        read(&source, "", &mut files);
        for file in files.keys().filter(|file| file.ends_with(".yaml")) {
            // Limits the number of projects per source.
            if all.get("tosca").map_or(0, Vec::len) < before + 8 {
                add(all, &source, file, None);
            }
        }
    }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn add(all: &mut BTreeMap<&'static str, Vec<Project>>, folder: &Path, path: &str, environment: Option<&str>) {
    let mut files = BTreeMap::new();
    read(folder, "", &mut files);
    let size: usize = files.values().map(Vec::len).sum();
    if files.is_empty() || size > MOST_BYTES || files.len() > MOST_FILES {
        return;
    }
    let Some((side, dialect)) = Side::of(&files, path, environment) else { return };
    let list = all.entry(dialect).or_default();
    if list.len() >= MOST_PROJECTS || side.leaves().is_empty() {
        return;
    }
    let place = folder.join(path);
    let name = format!("{}{}", place.display(), environment.map(|name| format!(" ({name})")).unwrap_or_default());
    let path = path.to_owned();
    list.push(Project { name, files, path, environment: environment.map(str::to_owned), side });
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    if files.len() > MOST_FILES {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{name}/"), files);
        } else if let Ok(bytes) = std::fs::read(entry.path()) {
            files.insert(name, bytes);
        }
    }
}
