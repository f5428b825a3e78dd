//! The Kubernetes objects of a project, judged by `purlin-kubernetes` when it is checked.
//!
//! Objects come from charts, kustomizations, Garden, Skaffold; definitions of custom resources from the objects
//! themselves, from `crds/` of charts, and from the folders that the user names.

use crate::policies::{Source, Subject, judged_by_policies, sources};
use crate::survey::Claim;
use purlin_kubernetes::table::{Minor, table};
use purlin_kubernetes::{Object, Policy, Sound, Terms, judge, judge_beside, judge_incomplete, minor};
use purlin_model::{Manifest, Request, Resolved};
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::world::FileKind;
use purlin_value::{Data, Map, MergeKeys, Session, Value, path, value_of};

/// Problems with the objects of a project. If the project has other problems, some objects may be missing.
pub(crate) fn judged(
    session: &Session,
    request: &Request,
    claim: &Claim,
    resolved: &Resolved,
    is_partial: bool,
) -> Vec<Diagnostic> {
    judged_at(session, request, (claim.dialect().name, claim.file()), resolved, is_partial)
}

/// The same for one of several variants of a project, whose terms are the same.
pub(crate) fn judged_beside(
    session: &Session,
    request: &Request,
    claim: &Claim,
    resolved: &Resolved,
    (is_partial, sound): (bool, &mut Sound),
) -> Vec<Diagnostic> {
    let place = (claim.dialect().name, claim.file());
    judged_with(session, request, place, resolved, (is_partial, sound))
}

/// The same for a project of a dialect in a file.
pub(crate) fn judged_at(
    session: &Session,
    request: &Request,
    place: (&str, &str),
    resolved: &Resolved,
    is_partial: bool,
) -> Vec<Diagnostic> {
    judged_with(session, request, place, resolved, (is_partial, &mut Sound::default()))
}

fn judged_with(
    session: &Session,
    request: &Request,
    (dialect, file): (&str, &str),
    resolved: &Resolved,
    (is_partial, sound): (bool, &mut Sound),
) -> Vec<Diagnostic> {
    if request.is_part {
        return Vec::new();
    }
    let mut found = Vec::new();
    if !request.own_policies.is_empty() {
        let subject = Subject { objects: sources(resolved), resolved: Some(resolved), is_partial };
        found = judged_by_policies(session, request, &subject);
    }
    // Kustomizations make templates of other tools, too; in charts a marker that is left is a mistake.
    let filled_in_later: Vec<Value> = match dialect {
        "kustomize" => resolved.manifests.iter().map(|manifest| without_markers(&manifest.value)).collect(),
        _ => Vec::new(),
    };
    let all = match dialect {
        "kustomize" => filled_in_later.iter().filter_map(Object::of).collect(),
        _ => objects(resolved),
    };
    if all.is_empty() {
        return found;
    }
    let definitions = definitions(session, &folders(session, request, dialect, file), &all);
    let policies = policies(request);
    let terms = Terms { version: version(request), definitions: &definitions, is_partial, policies: &policies };
    found.extend(judge_beside(session, &all, terms, sound));
    found
}

/// Problems that policies find in documents which are no objects, and the number of documents.
pub(crate) fn judged_documents(
    session: &Session,
    request: &Request,
    manifests: &[Manifest],
) -> (Vec<Diagnostic>, usize) {
    let name = |manifest: &Manifest| {
        Object::of(&manifest.value).map_or_else(|| manifest.source.to_string(), |object| object.id)
    };
    let source = |manifest| Source { id: name(manifest), value: &manifest.value, file: &manifest.source };
    let objects: Vec<Source<'_>> = manifests.iter().map(source).collect();
    let count = objects.len();
    (judged_by_policies(session, request, &Subject { objects, resolved: None, is_partial: false }), count)
}

/// Problems with objects that belong to no project, and the number of objects.
pub(crate) fn judged_alone(session: &Session, request: &Request, manifests: &[Manifest]) -> (Vec<Diagnostic>, usize) {
    let all: Vec<Object<'_>> = manifests.iter().filter_map(|manifest| Object::of(&manifest.value)).collect();
    let definitions = definitions(session, &request.schema_folders, &all);
    let policies = policies(request);
    let terms = Terms { version: version(request), definitions: &definitions, is_partial: false, policies: &policies };
    let mut objects = Vec::new();
    for manifest in manifests {
        if let Some(object) = Object::of(&manifest.value) {
            objects.push(Source { id: object.id, value: object.value, file: &manifest.source });
        }
    }
    let mut found = judged_by_policies(session, request, &Subject { objects, resolved: None, is_partial: false });
    found.extend(judge_incomplete(session, manifests.iter().map(|manifest| &manifest.value)));
    found.extend(judge(session, &all, terms));
    (found, all.len())
}

/// Whether a text names a version of Kubernetes.
pub fn is_kube_version(text: &str) -> bool {
    minor(table(), text).is_some()
}

/// The requested built-in policies.
fn policies(request: &Request) -> Vec<Policy> {
    request.policies.iter().filter_map(|name| Policy::named(name)).collect()
}

/// The names of built-in policies.
pub fn policy_names() -> Vec<&'static str> {
    purlin_kubernetes::POLICIES.iter().map(|(name, _)| *name).collect()
}

/// The requested version of Kubernetes.
fn version(request: &Request) -> Option<Minor> {
    minor(table(), request.chart.kube_version.as_deref()?)
}

/// An object with its strings that are templates of another tool as values that are not known yet.
fn without_markers(value: &Value) -> Value {
    let is_marked = |value: &Value| value.as_str().is_some_and(has_marker);
    if !value.any(is_marked) {
        return value.clone();
    }
    match &value.data {
        Data::Str(_) => value.clone().with(Value::pending("template", "filled in by another tool").data),
        Data::List(items) => value.clone().with(Value::list(items.iter().map(without_markers).collect()).data),
        Data::Map(map) => {
            let kept: Map = map.iter().map(|(key, item)| (key.clone(), without_markers(item))).collect();
            value.clone().with(kept.into())
        }
        _ => value.clone(),
    }
}

/// Whether a text has `{{ … }}` in it.
fn has_marker(text: &str) -> bool {
    text.find("{{").is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains("}}")))
}

/// The objects of a project.
fn objects(resolved: &Resolved) -> Vec<Object<'_>> {
    resolved.manifests.iter().filter_map(|manifest| Object::of(&manifest.value)).collect()
}

/// Endings of files that hold definitions.
const ENDINGS: &[&str] = &[".yaml", ".yml", ".json"];

/// Definitions of the kinds that objects have and that are not built in.
fn definitions(session: &Session, folders: &[String], objects: &[Object<'_>]) -> Vec<Value> {
    let mut wanted: Vec<(&str, &str)> = objects.iter().filter_map(|object| custom_kind(object.value)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for folder in folders {
        for file in files(session, folder) {
            let Ok(text) = session.load_text(&file, &file) else { continue };
            let text = text.source.text();
            // Definitions are long: those of other kinds are not parsed.
            if !wanted.iter().any(|(group, kind)| text.contains(group) && text.contains(kind)) {
                continue;
            }
            let Ok(tree) = session.read_yaml(&file, Flavor::GoObjects) else { continue };
            found.extend(tree.roots().map(|root| value_of(root, MergeKeys::Apply)));
        }
    }
    found
}

/// The group and kind of an object that is not in any table.
fn custom_kind(object: &Value) -> Option<(&str, &str)> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let (version, kind) = (text("apiVersion")?, text("kind")?);
    let (group, _) = version.split_once('/')?;
    (group.contains('.') && table().kind(version, kind).is_none()).then_some((group, kind))
}

/// Folders of definitions: the user's, then those of a chart and of the charts inside it.
fn folders(session: &Session, request: &Request, dialect: &str, file: &str) -> Vec<String> {
    let mut found = request.schema_folders.clone();
    if dialect != "charts" {
        return found;
    }
    let mut charts = vec![path::parent(file).to_owned()];
    while let Some(chart) = charts.pop() {
        found.push(path::join(&chart, "crds"));
        let inside = path::join(&chart, "charts");
        let entries = session.world.list(&inside).unwrap_or_default();
        let folders = entries.into_iter().filter(|entry| entry.kind == FileKind::Folder);
        charts.extend(folders.map(|entry| path::join(&inside, &entry.name)));
    }
    found
}

fn files(session: &Session, folder: &str) -> Vec<String> {
    let entries = session.world.list(folder).unwrap_or_default();
    let is_data = |name: &str| ENDINGS.iter().any(|end| name.ends_with(end));
    let names = entries.iter().filter(|entry| entry.kind != FileKind::Folder && is_data(&entry.name));
    let mut found: Vec<String> = names.map(|entry| path::join(folder, &entry.name)).collect();
    found.sort();
    found
}
