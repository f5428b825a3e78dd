//! Patches: strategic merges and JSON patches, from files or inline, for targets or for the resources they name.

use crate::edit::{as_list, as_map, over, text, visit};
use crate::index::Index;
use crate::kustomization::{BYTES_PER_WRITTEN, Kustomization, Problem, spend, wrong};
use crate::names::scalar_text;
use crate::noted;
use crate::repeated::drop_repeated;
use crate::resource::Resource;
use crate::rules;
use crate::select::Target;
use crate::strategic::{self, Lists};
use crate::transform::no_effect;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, Flavor, Source};
use purlin_value::lazy::ENTRY_BYTES;
use purlin_value::rules::LIMIT_OUTPUT;
use purlin_value::weight::weight;
use purlin_value::{Map, MergeKeys, Origins, Session, Value, path, value_of};
use std::sync::Arc;

/// Groups whose lists are joined by key.
fn is_native(resource: &Resource) -> bool {
    let group = resource.group();
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// One object after one patch of a type of `kubectl patch --type`: `strategic`, `merge` or `json`.
pub fn patched(session: &Session, object: &Value, patch: &Value, kind: &str) -> Result<Value, Problem> {
    let mut resource = Resource::new(object.clone(), "".into());
    match kind {
        "json" if patch.as_list().is_some() => apply_operations(session, patch, &mut resource)?,
        "json" => return Err(wrong(session, patch, "a patch of type `json` is a list of operations".to_owned()).into()),
        "merge" => drop(strategic::merge(&mut resource.value, patch, Lists::Replaced, &session.origins)),
        "strategic" if is_native(&resource) => {
            strategic::merge(&mut resource.value, patch, Lists::Interleaved, &session.origins);
        }
        "strategic" => {
            let message =
                format!("{} is not a kind of Kubernetes itself, so it has no strategic patches", resource.kind());
            return Err(Problem::Wrong(wrong(session, patch, message).hint("use `strategy: merge`")));
        }
        other => return Err(wrong(session, patch, format!("`{other}` is not a way to patch")).into()),
    }
    Ok(resource.value)
}

/// `patchesStrategicMerge`: files, or texts written in place.
pub fn strategic(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    index: &mut Index,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let written = item.as_str().unwrap_or_default();
    if written.contains('\n') || written.trim_start().starts_with('{') {
        return self::written(session, kustomization, item, written, index, resources);
    }
    let patches = read(session, kustomization, item, written)?;
    if patches.is_empty() {
        return Err(wrong(session, item, format!("the patch `{written}` is empty")).into());
    }
    as_resources(session, item, patches, index, resources)
}

/// Strategic merges that are written in place.
pub fn written(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    text: &str,
    index: &mut Index,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    as_resources(session, item, parse(session, kustomization, text), index, resources)
}

/// Applies patches that the original reads as resources: their labels and annotations are texts, and so is a null.
fn as_resources(
    session: &Session,
    item: &Value,
    patches: Vec<Value>,
    index: &mut Index,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    patches.into_iter().try_for_each(|mut patch| {
        for key in ["labels", "annotations"] {
            visit(&mut patch, &["metadata", key], false, &mut |notes| nulls_as_texts(session, item, key, notes));
        }
        apply_to_named(session, item, &patch, (true, true), index, resources)
    })
}

fn nulls_as_texts(session: &Session, item: &Value, key: &str, notes: &mut Value) {
    let Some(map) = as_map(notes) else { return };
    for (name, value) in map.iter_mut().filter(|(_, value)| value.is_null()) {
        let one = key.trim_end_matches('s');
        let message =
            format!("a `null` in `patchesStrategicMerge` does not remove the {one} `{name}`, it sets it to `null`");
        let mut warning = Diagnostic::nowhere(&rules::KUSTOMIZATION, message).warning();
        warning.span = session.origins.span(item.origin, &session.sources);
        session.sink.push(warning.hint("move the patch to `patches`, where a `null` removes"));
        *value = over(&session.origins, Value::str("null"), value, "patchesStrategicMerge");
    }
}

/// The kind of entry that contains a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// `patches`.
    Any,
    /// `patchesJson6902`, which does not keep a resource's earlier names.
    Json,
}

/// An entry of `patches` or `patchesJson6902`.
pub fn entry(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    kind: Entry,
    index: &mut Index,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let (file, written) = (text(item, &["path"]), text(item, &["patch"]).trim());
    let documents = match (file.is_empty(), written.is_empty()) {
        (false, false) => {
            return Err(wrong(session, item, "a patch has both `path` and `patch`".to_owned()).into());
        }
        (true, _) => parse(session, kustomization, written),
        (false, true) => read(session, kustomization, item, file)?,
    };
    if documents.is_empty() {
        return Err(wrong(session, item, "a patch needs a `path` or a `patch`".to_owned()).into());
    }
    let target = match item.get("target").filter(|target| !target.is_null()) {
        None => None,
        Some(target) => match Target::read(session, target) {
            Ok(target) => Some(target),
            Err((rule, message)) => {
                return Err(Diagnostic { rule, ..wrong(session, target, message) }.into());
            }
        },
    };
    if kind == Entry::Json && text(item, &["target", "name"]).is_empty() {
        return Err(wrong(session, item, "`patchesJson6902` needs a `target` with a `name`".to_owned()).into());
    }
    if let Some(problem) = written_in_flow(session, item, &documents, written) {
        return Err(problem.into());
    }
    // All operations of a JSON patch are one list.
    let operations = documents.iter().all(|document| document.as_list().is_some());
    let may = |key: &str| item.get("options").and_then(|options| options.get(key)).and_then(Value::as_bool);
    let keeps = (may("allowNameChange") != Some(true), may("allowKindChange") != Some(true));
    let Some(target) = target else {
        if operations {
            return Err(wrong(session, item, "a JSON patch needs a `target`".to_owned()).into());
        }
        return documents.iter().try_for_each(|patch| apply_to_named(session, item, patch, keeps, index, resources));
    };
    if !operations && documents.len() > 1 {
        let message = "a patch with a `target` must be one document".to_owned();
        return Err(wrong(session, item, message).hint("give each patch an entry of its own").into());
    }
    let Some(document) = documents.first() else { return Ok(()) };
    let concerned = concerned(session, item, &target, index, resources)?;
    if concerned.is_empty() {
        no_effect(session, kustomization, item, "the target of this patch selects no resource".to_owned());
    }
    if !operations && is_removal(document) {
        index.forget();
        let mut places = 0..;
        resources.retain(|_| places.next().is_none_or(|at| concerned.binary_search(&at).is_err()));
        return Ok(());
    }
    for at in concerned {
        let Some(resource) = resources.get_mut(at) else { continue };
        let name = EcoString::from(resource.name());
        note_target(session, item, &target, resource);
        if !operations {
            apply_strategic(session, document, resource, keeps)?;
        } else {
            if kind == Entry::Any {
                resource.remember();
            }
            if resource.has_notes() {
                resource.have_annotations();
            }
            apply_operations(session, document, resource)?;
        }
        if resource.name() != name {
            index.forget();
        }
    }
    Ok(())
}

/// Notes that the target of a patch means a resource by its name.
fn note_target(session: &Session, item: &Value, target: &Target, resource: &Resource) {
    let name = item.get("target").and_then(|target| target.get("name"));
    match target.name() {
        Some(_) => noted::uses(session, resource, name),
        None => {
            noted::in_text(session, resource, name.filter(|name| name.as_str().is_some_and(|text| !text.is_empty())))
        }
    }
}

/// The message that operations starting with a bracket are not JSON: the original accepts no other format there.
fn written_in_flow(session: &Session, item: &Value, documents: &[Value], written: &str) -> Option<Diagnostic> {
    let is_list = documents.first().is_some_and(|document| document.as_list().is_some());
    if !is_list || !written.starts_with('[') {
        return None;
    }
    let source = session.sources.insert("patch (JSON)", written.to_owned());
    if purlin_syntax::json::parse(source, &session.limits).is_sound() {
        return None;
    }
    let message = "a JSON patch that begins with `[` must be JSON, with all names in quotes".to_owned();
    Some(wrong(session, item, message).hint("quote the keys and values, or write each operation on a line with `- `"))
}

/// The resources that a target fits, in their order.
fn concerned(
    session: &Session,
    item: &Value,
    target: &Target,
    index: &mut Index,
    resources: &[Resource],
) -> Result<Vec<usize>, Problem> {
    let mut found = index.named_or_all(session, item, target.name().unwrap_or_default(), resources)?;
    found.retain(|at| resources.get(*at).is_some_and(|resource| target.fits(resource)));
    Ok(found)
}

/// The documents of a patch that is written in place.
pub fn parse(session: &Session, kustomization: &Kustomization, written: &str) -> Vec<Value> {
    let name = format!("{} (patch)", path::join(&kustomization.folder, "kustomization.yaml"));
    documents(session, session.sources.insert(&name, written.to_owned()))
}

/// The documents of a text. Operations are read as Go reads JSON's YAML, objects as Kubernetes' are.
fn documents(session: &Session, source: Arc<Source>) -> Vec<Value> {
    let mut tree = session.parse_yaml(source.clone(), Flavor::GoObjects);
    if tree.root().is_some_and(|root| root.is_list()) && tree.is_sound() {
        tree = session.parse_yaml(source, Flavor::Go);
    }
    tree.roots().filter(|root| !root.is_null()).map(|root| value_of(root, MergeKeys::Apply)).collect()
}

fn read(session: &Session, kustomization: &Kustomization, item: &Value, file: &str) -> Result<Vec<Value>, Problem> {
    let full = kustomization.own_file(session, item, file)?;
    let source = session.read_text(&full).map_err(|mut problem| {
        problem.span = session.origins.span(item.origin, &session.sources);
        problem
    })?;
    Ok(documents(session, source))
}

fn is_removal(patch: &Value) -> bool {
    text(patch, &["$patch"]) == "delete"
}

/// A strategic merge without a target applies to the resource it names.
fn apply_to_named(
    session: &Session,
    item: &Value,
    patch: &Value,
    keeps: (bool, bool),
    index: &mut Index,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let wanted = Resource::new(patch.clone(), "".into());
    let (gvk, id) = (wanted.gvk(), wanted.id());
    let called_so = index.named(session, item, &id.name, resources)?;
    let fits = |at: &usize| resources.get(*at).is_some_and(|resource| resource.answers_to(&gvk, &id));
    let mut found = called_so.into_iter().filter(fits);
    let (at, another) = (found.next(), found.next());
    let Some(at) = at else {
        let words = format!("no resource matches the patch for {} `{}`", wanted.kind(), wanted.name());
        let message = Message::advising(words, "correct the kind and name of the target");
        let near = |one: &&Resource| one.kind() == wanted.kind() && one.name() == wanted.name();
        let hint = resources.iter().find(near).map(|near| match near.gvk() == gvk {
            false => format!("its `apiVersion` is `{}`", text(&near.value, &["apiVersion"])),
            true => format!("its namespace is `{}`", near.id().namespace),
        });
        return Err(Problem::Unmatched(wrong(session, item, message).maybe_hint(hint)));
    };
    if another.is_some() {
        let message = format!("several resources match the patch for {} `{}`", wanted.kind(), wanted.name());
        return Err(wrong(session, item, message).into());
    }
    if let Some(resource) = resources.get(at) {
        noted::uses(session, resource, wanted.metadata("name"));
        let texts = [Some(item), item.get("patch")].into_iter().flatten().filter(|text| text.as_str().is_some());
        texts
            .filter(|text| text.as_str().is_some_and(|text| text.contains('\n') || text.contains('{')))
            .for_each(|text| noted::in_text(session, resource, Some(text)));
    }
    if is_removal(patch) {
        index.forget();
        resources.remove(at);
        return Ok(());
    }
    if let Some(resource) = resources.get_mut(at) {
        let name = EcoString::from(resource.name());
        apply_strategic(session, patch, resource, keeps)?;
        if resource.name() != name {
            index.forget();
        }
    }
    Ok(())
}

/// Merges a patch; the name and kind stay unless they may change. Its additions are charged for each resource.
fn apply_strategic(
    session: &Session,
    patch: &Value,
    resource: &mut Resource,
    (keep_name, keep_kind): (bool, bool),
) -> Result<(), Problem> {
    let added = weight(patch);
    spend(session, patch, 1 + added / BYTES_MERGED, added.saturating_mul(BYTES_PER_WRITTEN))?;
    let lists = if is_native(resource) { Lists::PatchFirst } else { Lists::Replaced };
    let old = resource.clone();
    if !keep_name || !keep_kind {
        resource.remember();
    }
    let lost = strategic::merge(&mut resource.value, patch, lists, &session.origins);
    lost.iter().for_each(|item| warn_of_lost(session, item, resource));
    strategic::drop_unwritten(session, &mut resource.value, "", lists);
    if lists == Lists::PatchFirst {
        drop_repeated(&mut resource.value);
    }
    if keep_name {
        resource.set_metadata_like("name", old.metadata("name"));
    }
    for (key, stays) in [("kind", keep_kind), ("apiVersion", true)] {
        if let Some(own) = old.value.get(key).filter(|_| stays) {
            crate::edit::set(&mut resource.value, key, own.clone());
        }
    }
    let namespace = old.metadata("namespace").filter(|_| !old.namespace().is_empty());
    resource.set_metadata_like("namespace", namespace);
    Ok(())
}

/// Warns of an item of a patch that Kustomize loses, because only one of two ports has a protocol.
fn warn_of_lost(session: &Session, item: &Value, resource: &Resource) {
    let port = ["containerPort", "port"].into_iter().find_map(|key| item.get(key)).and_then(scalar_text);
    let message = format!(
        "Kustomize does not apply this port of the patch to {} `{}`: only one of the two says its `protocol`",
        resource.kind(),
        resource.name()
    );
    let mut warning = wrong(session, item, message).warning();
    warning = warning.hint(format!("write `protocol` for port {} in both or in none", port.unwrap_or_default()));
    session.sink.push(warning);
}

/// Bytes of a patch that are merged in one step.
const BYTES_MERGED: u64 = 2;

fn apply_operations(session: &Session, operations: &Value, resource: &mut Resource) -> Result<(), Problem> {
    let before = resource.clone();
    for operation in operations.as_list().unwrap_or_default() {
        charge(session, operation, &resource.value)?;
        if let Err(why) = operate(&mut resource.value, operation, &session.origins) {
            let name = format!("{} `{}`", before.kind(), before.name());
            let message =
                format!("`{}` of `{}` fails in {name}: {why}", text(operation, &["op"]), text(operation, &["path"]));
            return Err(wrong(session, operation, message).into());
        }
        // Only copying increases the size; copies of copies are shared until they are written.
        let most = session.meter.most_output();
        if text(operation, &["op"]) == "copy" && weight(&resource.value) > most {
            let message = format!("this resource has more than the {most} bytes allowed when it is written out");
            let limit = wrong(session, operation, message).hint("raise it with `--limit output-size=BYTES`");
            return Err(Diagnostic { rule: &LIMIT_OUTPUT, ..limit }.into());
        }
    }
    Ok(())
}

/// Charges an operation by the length of the lists whose items it moves, and by all that is measured again after a
/// copy.
fn charge(session: &Session, operation: &Value, value: &Value) -> Result<(), Problem> {
    let is_copy = text(operation, &["op"]) == "copy";
    let length = |key: &str| {
        let path = pointer(text(operation, &[key])).unwrap_or_default();
        let parents = path.split_last().map_or(&[][..], |(_, parents)| parents);
        let (mut parent, mut weighed) = (Some(value), entries(value));
        for part in parents {
            parent = parent.and_then(|value| match value.as_list() {
                Some(list) => list.get(part.parse::<usize>().ok()?),
                None => value.get(part),
            });
            weighed += parent.map_or(0, entries);
        }
        let moved = parent.and_then(Value::as_list).map_or(0, <[Value]>::len) as u64;
        if is_copy { moved + weighed / ENTRIES_PER_STEP } else { moved }
    };
    let steps = STEPS_PER_OPERATION + length("path") + length("from");
    spend(session, operation, steps, ENTRY_BYTES)
}

/// Steps for reading an operation and following its paths.
const STEPS_PER_OPERATION: u64 = 60;

/// Number of entries of collections measured in one step.
const ENTRIES_PER_STEP: u64 = 4;

fn entries(value: &Value) -> u64 {
    let items = value.as_list().map(<[Value]>::len);
    items.or_else(|| value.as_map().map(|map| map.len())).unwrap_or_default() as u64
}

/// The name of a JSON patch's rule, which `why` shows.
const OPERATION: &str = "JSON patch";

/// One operation of RFC 6902.
fn operate(value: &mut Value, operation: &Value, origins: &Origins) -> Result<(), String> {
    let path = pointer(text(operation, &["path"]))?;
    let given = || operation.get("value").cloned().ok_or_else(|| "it has no `value`".to_owned());
    match text(operation, &["op"]) {
        "add" => add(value, &path, given()?, origins),
        "replace" => replace(value, &path, given()?, origins),
        "remove" => remove(value, &path).map(|_| ()),
        "move" => {
            let taken = remove(value, &pointer(text(operation, &["from"]))?)?;
            add(value, &path, taken, origins)
        }
        "copy" => {
            let copied = at(value, &pointer(text(operation, &["from"]))?)?.clone();
            add(value, &path, copied, origins)
        }
        "test" => {
            let wanted = given()?;
            let found = match path.split_last() {
                // A missing key is null in the original's library.
                Some((last, parents)) if wanted.is_null() => {
                    let parent = at(value, parents)?;
                    match as_map(parent).is_some_and(|map| !map.contains_key(last.as_str())) {
                        true => Value::null(),
                        false => at(value, &path)?.clone(),
                    }
                }
                _ => at(value, &path)?.clone(),
            };
            if found == wanted { Ok(()) } else { Err("the value is another one".to_owned()) }
        }
        other => Err(format!("unknown operation `{other}`")),
    }
}

fn pointer(path: &str) -> Result<Vec<String>, String> {
    match path.strip_prefix('/') {
        Some(rest) => Ok(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()),
        None => Err(format!("the path `{path}` does not start with `/`")),
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> Result<&'v mut Value, String> {
    path.iter().try_fold(value, |value, part| {
        let missing = || format!("`{part}` is not there");
        if value.as_list().is_some() {
            let index = part.parse::<usize>().map_err(|_| missing())?;
            return as_list(value).and_then(|list| list.get_mut(index)).ok_or_else(missing);
        }
        as_map(value).and_then(|map| map.get_mut(part.as_str())).ok_or_else(missing)
    })
}

fn add(value: &mut Value, path: &[String], given: Value, origins: &Origins) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else { return Err("it names everything".to_owned()) };
    let parent = at(value, parents)?;
    if let Some(list) = as_list(parent) {
        let index = if last == "-" { Some(list.len()) } else { last.parse().ok() };
        let index = index
            .filter(|index| *index <= list.len())
            .ok_or_else(|| format!("`{last}` is not an index of the list"))?;
        list.insert(index, given);
        return Ok(());
    }
    let map = as_map(parent).ok_or_else(|| "its parent is neither a mapping nor a list".to_owned())?;
    set_over(map, last, given, origins);
    Ok(())
}

/// Replaces an item of a list, or sets a key: the original's library does not check that it exists.
fn replace(value: &mut Value, path: &[String], given: Value, origins: &Origins) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else {
        *value = given;
        return Ok(());
    };
    let parent = at(value, parents)?;
    if parent.as_list().is_some() {
        let item = at(parent, std::slice::from_ref(last))?;
        *item = over(origins, given, item, OPERATION);
        return Ok(());
    }
    let map = as_map(parent).ok_or_else(|| "its parent is neither a mapping nor a list".to_owned())?;
    set_over(map, last, given, origins);
    Ok(())
}

/// Sets a key; the value's origin keeps the one that it replaces.
fn set_over(map: &mut Map, key: &str, given: Value, origins: &Origins) {
    let given = match map.get(key) {
        Some(old) => over(origins, given, old, OPERATION),
        None => given,
    };
    map.insert(key.into(), given);
}

fn remove(value: &mut Value, path: &[String]) -> Result<Value, String> {
    let Some((last, parents)) = path.split_last() else { return Err("it names everything".to_owned()) };
    let parent = at(value, parents)?;
    let missing = || format!("`{last}` is not there");
    if let Some(list) = as_list(parent) {
        let index = last.parse::<usize>().ok().filter(|index| *index < list.len()).ok_or_else(missing)?;
        return Ok(list.remove(index));
    }
    as_map(parent).and_then(|map| map.shift_remove(last.as_str())).ok_or_else(missing)
}
