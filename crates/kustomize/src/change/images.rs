//! Images and numbers of replicas.

use crate::edit::{as_list, as_map, over, text};
use crate::fieldspec::{FieldSpec, visit};
use crate::identity::{Gvk, Id};
use crate::index::{Index, STEPS_PER_IMAGES, work_of_all};
use crate::kustomization::{Problem, spend, wrong};
use crate::names::{in_a_row, scalar_text};
use crate::noted;
use crate::resource::Resource;
use crate::select::charged;
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_value::{Data, Origin, Origins, Session, Value};
use regex::Regex;

/// Sets the image of a rule in containers and other known fields for images. Returns whether there are any.
pub fn image(
    session: &Session,
    rule: &Value,
    specs: &[FieldSpec],
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<bool, Problem> {
    if !index.knows_images() {
        spend(session, rule, work_of_all(resources, STEPS_PER_IMAGES), 0)?;
        for (at, resource) in resources.iter_mut().enumerate() {
            index.note_images(at, held(resource, specs).map_err(|why| wrong(session, rule, why))?);
        }
    }
    let rule = Rule::read(session, rule)?;
    let concerned = index.take_imaged(session, rule.rule, resources, |image| rule.is_about(image))?;
    let is_used = !concerned.is_empty();
    for at in concerned {
        let Some(resource) = resources.get_mut(at) else { continue };
        let now = each(resource, specs, &mut |field| rule.apply(field)).and_then(|()| held(resource, specs));
        index.note_images(at, now.map_err(|why| wrong(session, rule.rule, why))?);
    }
    Ok(is_used)
}

/// The images that a resource holds.
fn held(resource: &mut Resource, specs: &[FieldSpec]) -> Result<Vec<EcoString>, String> {
    let mut found = Vec::new();
    each(resource, specs, &mut |field| found.extend(field.as_str().map(EcoString::from)))?;
    Ok(found)
}

/// Calls a function with each field of a resource that holds an image; those of containers are found in two ways.
fn each(resource: &mut Resource, specs: &[FieldSpec], change: &mut dyn FnMut(&mut Value)) -> Result<(), String> {
    if resource.kind() == "CustomResourceDefinition" {
        return Ok(());
    }
    walk(&mut resource.value, change);
    let gvk = resource.gvk();
    for spec in specs.iter().filter(|spec| spec.of.selects(&gvk)) {
        visit(&mut resource.value, &spec.path, false, &mut |field| match scalar_text(field) {
            Some(_) => {
                change(field);
                Ok(())
            }
            None => Err(format!("expected an image, found {}", field.kind_name())),
        })?;
    }
    Ok(())
}

/// Finds all lists of containers. Depth is bounded by the reader's limit.
fn walk(value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    if let Some(list) = as_list(value) {
        return list.iter_mut().for_each(|item| walk(item, change));
    }
    let Some(map) = as_map(value) else { return };
    for (key, inner) in map.iter_mut() {
        walk(inner, change);
        if matches!(key.as_str(), "containers" | "initContainers") {
            for container in as_list(inner).into_iter().flat_map(|list| list.iter_mut()) {
                if let Some(image) = as_map(container).and_then(|container| container.get_mut("image")) {
                    change(image);
                }
            }
        }
    }
}

/// The replaced image of a rule, and its replacement.
struct Rule<'r> {
    origins: &'r Origins,
    rule: &'r Value,
    about: About,
}

/// The images that a rule selects. The original uses the name as a pattern.
enum About {
    /// A name with dots as the only special characters.
    Plain(EcoString),
    Pattern(Regex),
}

/// Pattern for the rest after the name of an image.
const VERSION: &str = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";

impl<'r> Rule<'r> {
    fn read(session: &'r Session, rule: &'r Value) -> Result<Rule<'r>, Problem> {
        let name = text(rule, &["name"]);
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-:@".contains(c));
        let about = match is_plain {
            true => About::Plain(name.into()),
            false => {
                let pattern = charged(session, &format!("^{name}{VERSION}"), name);
                About::Pattern(
                    pattern.map_err(|(limit, message)| Diagnostic { rule: limit, ..wrong(session, rule, message) })?,
                )
            }
        };
        Ok(Rule { origins: &session.origins, rule, about })
    }

    fn is_about(&self, image: &str) -> bool {
        match &self.about {
            About::Plain(name) => is_version_of(name, image),
            About::Pattern(pattern) => pattern.is_match(image),
        }
    }

    fn apply(&self, field: &mut Value) {
        let Some(image) = field.as_str().filter(|image| self.is_about(image)) else { return };
        let (name, tag, digest) = split(image);
        let new_name = Some(text(self.rule, &["newName"])).filter(|name| !name.is_empty()).unwrap_or(name);
        let scalar = |key: &str| self.rule.get(key).and_then(scalar_text).unwrap_or_default();
        let (new_tag, new_digest, suffix) = (scalar("newTag"), scalar("digest"), scalar("tagSuffix"));
        let (tag, digest) = match (new_tag.is_empty(), new_digest.is_empty()) {
            (true, true) if !suffix.is_empty() => (format!("{tag}{suffix}"), String::new()),
            (true, true) => (tag.to_owned(), digest.to_owned()),
            _ => (new_tag.to_string(), new_digest.to_string()),
        };
        let tag = if tag.is_empty() { tag } else { format!(":{tag}") };
        let digest = if digest.is_empty() { digest } else { format!("@{digest}") };
        let new = format!("{new_name}{tag}{digest}");
        // Containers are found in two ways; the second one changes nothing.
        if new == image {
            return;
        }
        // Values of the rule have its origin, the rest that of the image.
        let from = |key: &str| self.rule.get(key).filter(|value| !value.is_null()).map(|value| value.origin);
        let name_from = from("newName").filter(|_| new_name != name).unwrap_or(field.origin);
        let tag_from = from("newTag").or_else(|| from("tagSuffix")).unwrap_or(field.origin);
        let digest_from = from("digest").unwrap_or(field.origin);
        let pieces = [(new_name.len(), name_from), (tag.len(), tag_from), (digest.len(), digest_from)];
        let pieces: Vec<(usize, Origin)> = pieces.into_iter().filter(|(length, _)| *length > 0).collect();
        let origin = self.origins.derived("images", None, in_a_row(&pieces));
        *field = Value::of(Data::Str(new.into()), origin, field.taint());
    }
}

/// Whether an image has this name, in which a dot matches any character, followed by at most a tag and a digest.
fn is_version_of(name: &str, image: &str) -> bool {
    let mut rest = image.chars();
    let is_same = |wanted: char, found: char| found == wanted || (wanted == '.' && found != '\n');
    name.chars().all(|wanted| rest.next().is_some_and(|found| is_same(wanted, found))) && is_version(rest.as_str())
}

/// Whether a string matches [`VERSION`].
fn is_version(text: &str) -> bool {
    let (tag, digest) = match text.split_once('@') {
        Some((tag, digest)) => (tag, digest.strip_prefix("sha256:")),
        None => (text, Some("")),
    };
    let is_part = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || "_.{}-".contains(c));
    let is_tag = tag.is_empty() || tag.strip_prefix(':').is_some_and(is_part);
    is_tag && digest.is_some_and(is_part)
}

/// Name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let parts = purlin_value::image::parts(image);
    (parts.name, parts.tag.unwrap_or_default(), parts.digest.unwrap_or_default())
}

/// Sets the number of replicas of the named resources; an error if none exist.
pub fn replicas(
    session: &Session,
    rule: &Value,
    specs: &[FieldSpec],
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<(), Problem> {
    let name = text(rule, &["name"]);
    let count = rule.get("count").cloned().unwrap_or_else(|| Value::from(0));
    let called_so = index.named(session, rule, name, resources)?;
    let mut found = false;
    for spec in specs {
        for at in &called_so {
            let Some(resource) = resources.get_mut(*at) else { continue };
            let own = resource.gvk();
            let is_meant = |id: &Id| id.name == name && spec.of.selects(&Gvk { kind: id.kind.clone(), ..own.clone() });
            if !resource.ids().any(|id| is_meant(&id)) {
                continue;
            }
            found = true;
            noted::uses(session, resource, rule.get("name"));
            if spec.of.selects(&own) {
                visit(&mut resource.value, &spec.path, spec.create, &mut |field| {
                    *field = over(&session.origins, count.clone(), field, "replicas");
                    Ok(())
                })
                .map_err(|why| wrong(session, rule, why))?;
            }
        }
    }
    match found {
        true => Ok(()),
        false => Err(wrong(session, rule, format!("`replicas`: no resource named `{name}` has replicas")).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_found_as_their_pattern_finds_them() {
        let names = ["nginx", "gcr.io/a-b/c_d", "", "a:1", "a@b", "registry:5000/x"];
        let rests =
            ["", ":1.2", ":", "@sha256:abc", ":1@sha256:", "@sha1:a", ":1:2", "x", ":a@sha256:b@c", ":{}", "\n"];
        for name in names {
            let pattern = Regex::new(&format!("^{name}{VERSION}"));
            assert!(pattern.is_ok());
            for base in names.into_iter().chain(["gcrxio/a-b/c_d", "gcr\nio/a-b/c_d"]) {
                for image in rests.map(|rest| format!("{base}{rest}")) {
                    let expected = pattern.as_ref().is_ok_and(|pattern| pattern.is_match(&image));
                    assert_eq!(is_version_of(name, &image), expected, "{name} {image:?}");
                }
            }
        }
    }
}
