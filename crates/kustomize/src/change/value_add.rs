//! The transformer that writes one value to fields of several resources.

use crate::edit::text;
use crate::fieldspec::{split, visit};
use crate::index::Index;
use crate::kustomization::{Kustomization, Problem, wrong};
use crate::names::{Subjects, add_namespace, scalar_text};
use crate::resource::Resource;
use crate::select::Target;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Flavor};
use purlin_value::{Data, MergeKeys, Session, Value, path, value_of};

/// Runs it as an object of `transformers` configures it.
pub fn run(
    session: &Session,
    kustomization: &Kustomization,
    config: &Value,
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let mut targets = config.get("targets").and_then(Value::as_list).unwrap_or_default().to_vec();
    let file = text(config, &["targetFilePath"]);
    if !file.is_empty() {
        let place = kustomization.own_file(session, config, file)?;
        let tree = session.read_yaml(&place, Flavor::CoreGo)?;
        let value = tree.root().map(|root| value_of(root, MergeKeys::Apply)).unwrap_or_default();
        targets.extend(value.get("targets").and_then(Value::as_list).unwrap_or_default().iter().cloned());
    }
    if targets.is_empty() {
        return Err(wrong(session, config, "`targets` is missing".to_owned()).into());
    }
    let mut value = config.get("value").cloned().unwrap_or_default();
    let trimmed = scalar_text(&value).unwrap_or_default();
    let folder = path::normalize(&path::join(session.world.root(), &kustomization.folder));
    value.data = Data::Str(match trimmed.trim() {
        "" => path::file_name(&folder).into(),
        written => written.into(),
    });
    for target in &targets {
        write(session, target, &value, index, resources)?;
    }
    index.forget();
    Ok(())
}

fn write(
    session: &Session,
    target: &Value,
    value: &Value,
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let field = text(target, &["fieldPath"]);
    if field.is_empty() {
        return Err(wrong(session, target, "this target has no `fieldPath`".to_owned()).into());
    }
    let position = target.get("filePathPosition").and_then(Value::as_int).unwrap_or(0);
    let Ok(position) = usize::try_from(position) else {
        return Err(wrong(session, target, "`filePathPosition` cannot be negative".to_owned()).into());
    };
    let selector = match target.get("selector").filter(|selector| !selector.is_null()) {
        None => None,
        Some(selector) => {
            let read = Target::read(session, selector);
            let read = read.map_err(|(rule, message)| Diagnostic { rule, ..wrong(session, selector, message) })?;
            Some(read)
        }
    };
    let path = split(field, '/');
    for at in index.named_or_all(session, target, "", resources)? {
        let Some(resource) = resources.get_mut(at) else { continue };
        if selector.as_ref().is_some_and(|selector| !selector.fits(resource)) {
            continue;
        }
        let done = match field {
            "metadata/namespace" => add_namespace(value, &[], Subjects::Default, false, std::slice::from_mut(resource)),
            _ => visit(&mut resource.value, &path, true, &mut |old| {
                let before = scalar_text(old).ok_or_else(|| format!("expected a scalar, found {}", old.kind_name()))?;
                let mut new = value.clone();
                if position > 0 {
                    new.data = Data::Str(inserted(&before, position - 1, value.as_str().unwrap_or_default()));
                }
                *old = new;
                Ok(())
            }),
        };
        done.map_err(|why| wrong(session, target, why))?;
    }
    Ok(())
}

/// A path with an additional part, at its end if the path is shorter than `at`.
fn inserted(path: &str, at: usize, part: &str) -> EcoString {
    if path.is_empty() {
        return part.into();
    }
    let (root, inner) = path.strip_prefix('/').map_or(("", path), |inner| ("/", inner));
    let mut parts: Vec<&str> = inner.split('/').filter(|known| !known.is_empty()).collect();
    parts.insert(at.min(parts.len()), part);
    format!("{root}{}", parts.join("/")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths() {
        let cases = [
            ("", 0, "P"),
            ("/", 0, "/P"),
            ("pie", 0, "P/pie"),
            ("/pie", 0, "/P/pie"),
            ("raw", 1, "raw/P"),
            ("a/nice/warm/pie", 3, "a/nice/warm/P/pie"),
            ("/raw", 99, "/raw/P"),
        ];
        for (path, at, expected) in cases {
            assert_eq!(inserted(path, at, "P"), expected);
        }
    }
}
