//! Patches: strategic merges and JSON patches, from files or written in place, for targets or for what they name.

use crate::edit::{as_list, as_map, text};
use crate::kustomization::{Kustomization, Problem};
use crate::resource::Resource;
use crate::rules;
use crate::select::Target;
use crate::strategic::{self, Lists};
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::rules::LIMIT_OUTPUT;
use purlin_value::weight::weight;
use purlin_value::{MergeKeys, Session, Value, path, value_of};

/// Groups whose lists are joined by key.
fn is_native(resource: &Resource) -> bool {
    let group = resource.group();
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// One object after one patch of a kind that `kubectl patch --type` knows: `strategic`, `merge` or `json`.
pub fn patched(session: &Session, object: &Value, patch: &Value, kind: &str) -> Result<Value, Problem> {
    let mut resource = Resource::new(object.clone(), "".into());
    match kind {
        "json" if patch.as_list().is_some() => apply_operations(session, patch, &mut resource)?,
        "json" => return Err(wrong(session, patch, "a patch of type `json` is a list of operations".to_owned()).into()),
        "merge" => strategic::merge(&mut resource.value, patch, "", Lists::Replaced),
        "strategic" if is_native(&resource) => strategic::merge(&mut resource.value, patch, "", Lists::Interleaved),
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
pub fn strategic_files(
    session: &Session,
    kustomization: &Kustomization,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    for item in kustomization.list("patchesStrategicMerge") {
        let written = item.as_str().unwrap_or_default();
        let patches = match written.contains('\n') {
            true => parse(session, kustomization, written),
            false => read(session, kustomization, &item, written)?,
        };
        for patch in patches {
            apply_to_named(session, &item, &patch, resources)?;
        }
    }
    Ok(())
}

/// `patchesJson6902`.
pub fn json_files(
    session: &Session,
    kustomization: &Kustomization,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    for item in kustomization.list("patchesJson6902") {
        one(session, kustomization, &item, resources)?;
    }
    Ok(())
}

/// `patches`.
pub fn patches(session: &Session, kustomization: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Problem> {
    for item in kustomization.list("patches") {
        one(session, kustomization, &item, resources)?;
    }
    Ok(())
}

fn one(
    session: &Session,
    kustomization: &Kustomization,
    item: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let (file, written) = (text(item, &["path"]), text(item, &["patch"]));
    let documents = match file.is_empty() {
        true => parse(session, kustomization, written),
        false => read(session, kustomization, item, file)?,
    };
    if documents.is_empty() {
        return Err(wrong(session, item, "a patch needs a `path` or a `patch`".to_owned()).into());
    }
    let target = match item.get("target").filter(|target| !target.is_null()) {
        None => None,
        Some(target) => match Target::read(target) {
            Ok(target) => Some(target),
            Err(pattern) => return Err(wrong(session, target, format!("`{pattern}` is no regular expression")).into()),
        },
    };
    // All operations of a JSON patch are one list.
    let operations = documents.iter().all(|document| document.as_list().is_some());
    let Some(target) = target else {
        if operations {
            return Err(wrong(session, item, "a JSON patch needs a `target`".to_owned()).into());
        }
        return documents.iter().try_for_each(|patch| apply_to_named(session, item, patch, resources));
    };
    let rename = |key: &str| item.get("options").and_then(|options| options.get(key)).and_then(Value::as_bool);
    let keeps = (rename("allowNameChange") != Some(true), rename("allowKindChange") != Some(true));
    for document in &documents {
        resources.retain(|resource| !(is_removal(document) && target.fits(resource)));
        for resource in resources.iter_mut().filter(|resource| target.fits(resource)) {
            if operations {
                resource.have_annotations();
                apply_operations(session, document, resource)?;
            } else {
                apply_strategic(session, document, resource, keeps);
            }
        }
    }
    Ok(())
}

fn parse(session: &Session, kustomization: &Kustomization, written: &str) -> Vec<Value> {
    let name = format!("{} (patch)", path::join(&kustomization.folder, "kustomization.yaml"));
    let tree = session.parse_yaml(session.sources.insert(&name, written.to_owned()), Flavor::GoObjects);
    tree.roots().filter(|root| !root.is_null()).map(|root| value_of(root, MergeKeys::Apply)).collect()
}

fn read(session: &Session, kustomization: &Kustomization, item: &Value, file: &str) -> Result<Vec<Value>, Problem> {
    let full = kustomization.own_file(session, item, file)?;
    let tree = session.read_yaml(&full, Flavor::GoObjects).map_err(|mut problem| {
        problem.span = session.origins.span(item.origin, &session.sources);
        problem
    })?;
    Ok(tree.roots().filter(|root| !root.is_null()).map(|root| value_of(root, MergeKeys::Apply)).collect())
}

fn wrong(session: &Session, item: &Value, message: String) -> Diagnostic {
    let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
    diagnostic.span = session.origins.span(item.origin, &session.sources);
    diagnostic
}

fn is_removal(patch: &Value) -> bool {
    text(patch, &["$patch"]) == "delete"
}

/// A strategic merge without a target is for the resource it names.
fn apply_to_named(
    session: &Session,
    item: &Value,
    patch: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Problem> {
    let wanted = Resource::new(patch.clone(), "".into());
    let fits = |resource: &Resource| {
        resource.kind() == wanted.kind()
            && resource.group() == wanted.group()
            && resource.answers_to(wanted.name())
            && resource.was_in(wanted.effective_namespace())
    };
    let Some(at) = resources.iter().position(fits) else {
        let message = format!("no resource matches the patch for {} `{}`", wanted.kind(), wanted.name());
        return Err(wrong(session, item, message).into());
    };
    if is_removal(patch) {
        resources.retain(|resource| !fits(resource));
        return Ok(());
    }
    if let Some(resource) = resources.get_mut(at) {
        apply_strategic(session, patch, resource, (true, true));
    }
    Ok(())
}

/// Merges a patch; the name and kind stay unless they may change.
fn apply_strategic(session: &Session, patch: &Value, resource: &mut Resource, (keep_name, keep_kind): (bool, bool)) {
    let lists = if is_native(resource) { Lists::PatchFirst } else { Lists::Replaced };
    let old = resource.clone();
    if !keep_name {
        resource.remember();
    }
    strategic::merge(&mut resource.value, patch, "", lists);
    strategic::drop_unwritten(session, &mut resource.value, "", lists);
    if keep_name {
        resource.set_metadata("name", old.name());
    }
    if keep_kind && let Some(kind) = old.value.get("kind") {
        crate::edit::set(&mut resource.value, "kind", kind.clone());
    }
    if old.namespace().is_empty() && keep_name {
        crate::edit::visit(&mut resource.value, &["metadata"], false, &mut |metadata| {
            crate::edit::take(metadata, "namespace");
        });
    } else if keep_name {
        resource.set_metadata("namespace", old.namespace());
    }
}

fn apply_operations(session: &Session, operations: &Value, resource: &mut Resource) -> Result<(), Problem> {
    let before = resource.clone();
    for operation in operations.as_list().unwrap_or_default() {
        charge(session, operation, &resource.value)?;
        if let Err(why) = operate(&mut resource.value, operation) {
            let name = format!("{} `{}`", before.kind(), before.name());
            let message =
                format!("`{}` of `{}` fails in {name}: {why}", text(operation, &["op"]), text(operation, &["path"]));
            return Err(wrong(session, operation, message).into());
        }
        // Only copying makes more of what there is; copies of copies are shared until they are written.
        let most = session.meter.most_output();
        if text(operation, &["op"]) == "copy" && weight(&resource.value) > most {
            let message = format!("this resource has more than the {most} bytes allowed when it is written out");
            let limit = wrong(session, operation, message).hint("raise it with `--limit output-size=BYTES`");
            return Err(Diagnostic { rule: &LIMIT_OUTPUT, ..limit }.into());
        }
    }
    if resource.name() != before.name() {
        let name = resource.name().to_owned();
        *resource = Resource { before: before.before.clone(), ..resource.clone() };
        resource.before.push((before.name().to_owned(), before.effective_namespace().to_owned()));
        resource.set_metadata("name", &name);
    }
    Ok(())
}

/// Charges an operation by the length of the lists whose items it moves.
fn charge(session: &Session, operation: &Value, value: &Value) -> Result<(), Problem> {
    let length = |key: &str| {
        let path = pointer(text(operation, &[key])).unwrap_or_default();
        let parents = path.split_last().map_or(&[][..], |(_, parents)| parents);
        let parent = parents.iter().try_fold(value, |value, part| match value.as_list() {
            Some(list) => list.get(part.parse::<usize>().ok()?),
            None => value.get(part),
        });
        parent.and_then(Value::as_list).map_or(0, <[Value]>::len) as u64
    };
    let steps = 1 + length("path") + length("from");
    session.meter.charge(steps, 0).map_err(|exceeded| {
        let limit = wrong(session, operation, exceeded.message()).hint(exceeded.hint());
        Diagnostic { rule: exceeded.rule(), ..limit }.into()
    })
}

/// One operation of RFC 6902.
fn operate(value: &mut Value, operation: &Value) -> Result<(), String> {
    let path = pointer(text(operation, &["path"]))?;
    let given = || operation.get("value").cloned().ok_or_else(|| "it has no `value`".to_owned());
    match text(operation, &["op"]) {
        "add" => add(value, &path, given()?),
        "replace" => {
            *at(value, &path)? = given()?;
            Ok(())
        }
        "remove" => remove(value, &path).map(|_| ()),
        "move" => {
            let taken = remove(value, &pointer(text(operation, &["from"]))?)?;
            add(value, &path, taken)
        }
        "copy" => {
            let copied = at(value, &pointer(text(operation, &["from"]))?)?.clone();
            add(value, &path, copied)
        }
        "test" => {
            let (found, wanted) = (at(value, &path)?.clone(), given()?);
            if found == wanted { Ok(()) } else { Err("the value is another one".to_owned()) }
        }
        other => Err(format!("`{other}` is no operation")),
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

fn add(value: &mut Value, path: &[String], given: Value) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else { return Err("it names everything".to_owned()) };
    let parent = at(value, parents)?;
    if let Some(list) = as_list(parent) {
        let index = if last == "-" { Some(list.len()) } else { last.parse().ok() };
        let index =
            index.filter(|index| *index <= list.len()).ok_or_else(|| format!("`{last}` is no place of the list"))?;
        list.insert(index, given);
        return Ok(());
    }
    let map = as_map(parent).ok_or_else(|| "its parent is neither a mapping nor a list".to_owned())?;
    map.insert(last.as_str().into(), given);
    Ok(())
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
