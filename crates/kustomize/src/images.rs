//! Images and numbers of replicas.

use crate::edit::{as_list, as_map, text};
use crate::fieldspec::{FieldSpec, visit};
use crate::names::{in_a_row, scalar_text};
use crate::resource::Resource;
use crate::select::compiled;
use purlin_value::{Data, Origin, Origins, Value};
use regex::Regex;

/// Gives containers, and what else is known to hold images, the image that a rule wants.
pub fn image(origins: &Origins, rule: &Value, specs: &[FieldSpec], resources: &mut [Resource]) -> Result<(), String> {
    let rule = Rule::read(origins, rule)?;
    for resource in resources.iter_mut().filter(|resource| resource.kind() != "CustomResourceDefinition") {
        walk(&mut resource.value, &rule);
        let gvk = resource.gvk();
        for spec in specs.iter().filter(|spec| spec.of.selects(&gvk)) {
            visit(&mut resource.value, &spec.path, false, &mut |field| match scalar_text(field) {
                Some(_) => {
                    rule.apply(field);
                    Ok(())
                }
                None => Err(format!("expected an image, found {}", field.kind_name())),
            })?;
        }
    }
    Ok(())
}

/// Finds lists of containers wherever they are. Depth is bounded by the reader's limit.
fn walk(value: &mut Value, rule: &Rule<'_>) {
    if let Some(list) = as_list(value) {
        return list.iter_mut().for_each(|item| walk(item, rule));
    }
    let Some(map) = as_map(value) else { return };
    for (key, inner) in map.iter_mut() {
        walk(inner, rule);
        if matches!(key.as_str(), "containers" | "initContainers") {
            for container in as_list(inner).into_iter().flat_map(|list| list.iter_mut()) {
                if let Some(image) = as_map(container).and_then(|container| container.get_mut("image")) {
                    rule.apply(image);
                }
            }
        }
    }
}

/// What a rule replaces, and by what.
struct Rule<'r> {
    origins: &'r Origins,
    rule: &'r Value,
    pattern: Regex,
}

impl<'r> Rule<'r> {
    fn read(origins: &'r Origins, rule: &'r Value) -> Result<Rule<'r>, String> {
        // The original takes the name for a pattern.
        let name = text(rule, &["name"]);
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        let pattern = compiled(&pattern, name).map_err(|(_, message)| message)?;
        Ok(Rule { origins, rule, pattern })
    }

    fn apply(&self, field: &mut Value) {
        let Some(image) = field.as_str().filter(|image| self.pattern.is_match(image)) else { return };
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
        // What the rule says is named by its own place, the rest by that of the image.
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

/// Name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let parts = purlin_value::image::parts(image);
    (parts.name, parts.tag.unwrap_or_default(), parts.digest.unwrap_or_default())
}

/// Sets the number of replicas of the named resources; an error if there are none.
pub fn replicas(rule: &Value, specs: &[FieldSpec], resources: &mut [Resource]) -> Result<(), String> {
    let name = text(rule, &["name"]);
    let count = rule.get("count").cloned().unwrap_or_else(|| Value::from(0));
    let mut found = false;
    for spec in specs {
        for resource in resources.iter_mut() {
            let own = resource.gvk();
            let is_meant = |id: &crate::identity::Id| {
                id.name == name && spec.of.selects(&crate::identity::Gvk { kind: id.kind.clone(), ..own.clone() })
            };
            if !resource.ids().any(|id| is_meant(&id)) {
                continue;
            }
            found = true;
            if spec.of.selects(&own) {
                visit(&mut resource.value, &spec.path, spec.create, &mut |field| {
                    *field = count.clone();
                    Ok(())
                })?;
            }
        }
    }
    if found { Ok(()) } else { Err(format!("`replicas`: no resource named `{name}` has replicas")) }
}
