//! Kubernetes objects that belong to no project: a kustomization, or files with only objects, as for `kubectl apply`.

use crate::dialects::DIALECTS;
use crate::inner::ENGINES;
use purlin_kubernetes::{is_built_in, is_incomplete};
use purlin_model::{Ask, Detection, Glance, Manifest, Request};
use purlin_syntax::Flavor;
use purlin_value::world::FileKind;
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// The endings of files that `kubectl apply` reads in a folder.
const ENDINGS: &[&str] = &[".yaml", ".yml", ".json"];

/// The folder of a kustomization, or the file or folder with objects, at a path that no dialect recognises.
pub fn loose_objects(session: &Session, request: &Request, detection: &Detection) -> Option<String> {
    if request.file.is_some() {
        return None;
    }
    let start = path::normalize(if request.path.is_empty() { "." } else { &request.path });
    let is_own = |file: &String| *file == start || path::normalize(path::parent(file)) == start;
    let is_above = match detection {
        Detection::Project(file, dialect) => dialect.yields || !is_own(file),
        Detection::Several(_) => return None,
        Detection::Stray(_) | Detection::Nothing => true,
    };
    if let Some(folder) = yielding(session, &start).filter(|_| is_above) {
        return Some(folder);
    }
    // Files are only taken for objects where no project is near.
    let is_free = matches!(detection, Detection::Stray(_) | Detection::Nothing);
    let has_objects = || files(session, &start).iter().any(|file| read(session, file).iter().any(is_object));
    (is_free && has_objects()).then_some(start)
}

/// The folder of the project at a path, if its dialect yields to others.
fn yielding(session: &Session, start: &str) -> Option<String> {
    let is_usual = |name: &str| DIALECTS.iter().any(|dialect| dialect.yields && (dialect.is_usual)(name));
    if is_usual(path::file_name(start)) {
        return Some(path::normalize(path::parent(start)));
    }
    let entries = session.world.list(start).ok()?;
    entries.iter().any(|entry| is_usual(&entry.name)).then(|| start.to_owned())
}

fn is_object(manifest: &Manifest) -> bool {
    let is_text = |key: &str| manifest.value.get(key).is_some_and(|value| value.as_str().is_some());
    ["apiVersion", "kind"].iter().all(|key| is_text(key)) || is_incomplete(&manifest.value)
}

/// The files of a folder, or the file itself.
fn files(session: &Session, start: &str) -> Vec<String> {
    if session.world.stat(start).is_ok_and(|stat| stat.kind != FileKind::Folder) {
        return vec![start.to_owned()];
    }
    let entries = session.world.list(start).unwrap_or_default();
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.kind != FileKind::Folder && ENDINGS.iter().any(|end| entry.name.ends_with(end)))
        .map(|entry| path::join(start, &entry.name))
        .collect();
    names.sort();
    names
}

/// Whether a file, or one directly in a folder, begins with an object of a built-in kind. Nothing is parsed.
pub(crate) fn holds_objects(session: &Session, place: &str) -> bool {
    let is_object = |file: &String| {
        let glance = Glance::found(session, file);
        glance.head().documents().iter().any(|document| {
            let has_metadata = document.keys().any(|key| key == "metadata");
            is_built_in(document.get("apiVersion"), document.get("kind"), has_metadata)
        })
    };
    files(session, &path::normalize(place)).iter().any(is_object)
}

fn read(session: &Session, file: &str) -> Vec<Manifest> {
    let tree = match session.read_yaml(file, Flavor::GoObjects) {
        Ok(tree) => tree,
        Err(diagnostic) => {
            session.sink.push(diagnostic);
            return Vec::new();
        }
    };
    let roots = tree.roots().filter(|root| !root.is_null());
    roots.map(|root| Manifest::new(file, value_of(root, MergeKeys::Apply))).collect()
}

/// The objects at a path that [`loose_objects`] has found. Problems are reported.
pub fn read_objects(session: &Session, found: &str) -> Vec<Manifest> {
    if yielding(session, found).is_none() {
        return files(session, found).iter().flat_map(|file| read(session, file)).collect();
    }
    let ask = Ask {
        path: found,
        request: Request { engines: ENGINES, ..Request::default() },
        values: Value::null(),
        span: None,
    };
    let built = ENGINES.get("kustomization").and_then(|engine| (engine.resolve)(session, &ask));
    built.map(|built| built.manifests).unwrap_or_default()
}
