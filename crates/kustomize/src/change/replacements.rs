//! Replacements: values of one resource written into others.

use crate::edit::text;
use crate::fieldpath::{Made, find, steps, visit};
use crate::identity::Gvk;
use crate::index::{Index, work};
use crate::kustomization::{Problem, spend, wrong};
use crate::names::scalar_text;
use crate::noted;
use crate::resource::Resource;
use crate::select::selects;
use ecow::EcoString;
use purlin_syntax::Flavor;
use purlin_syntax::Message;
use purlin_syntax::scalar::{Scalar, resolve_plain};
use purlin_value::origin::Piece;
use purlin_value::weight::weight;
use purlin_value::{Data, Origin, Origins, Session, Value};

/// Applies one replacement, and returns the targets without a match.
pub fn replace(
    session: &Session,
    rule: &Value,
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<Vec<Origin>, Problem> {
    let source = rule.get("source").filter(|source| !source.is_null());
    let targets = rule.get("targets").and_then(Value::as_list).filter(|targets| !targets.is_empty());
    let (Some(source), Some(targets)) = (source, targets) else {
        return Err(wrong(session, rule, "a replacement needs a `source` and `targets`".to_owned()).into());
    };
    let near = index.named_or_all(session, rule, text(source, &["name"]), resources)?;
    let value =
        taken(session, source, &near, resources).map_err(|why| Problem::Unmatched(wrong(session, rule, why)))?;
    let mut idle = Vec::new();
    for target in targets {
        if !write(session, rule, target, &value, index, resources)? {
            idle.push(target.origin);
        }
    }
    Ok(idle)
}

/// The value of a source, which is one of those `near`.
fn taken(session: &Session, source: &Value, near: &[usize], resources: &[Resource]) -> Result<Value, Message> {
    let selector = Selector::read(source);
    let near = near.iter().filter_map(|at| resources.get(*at));
    let mut found = near.filter(|resource| selector.names(resource));
    let Some(resource) = found.next() else {
        let words = format!("no resource matches the source `{}`", selector.shown());
        return Err(Message::advising(words, "correct the kind and name of the target"));
    };
    if found.next().is_some() {
        return Err(format!("several resources match the source `{}`", selector.shown()).into());
    }
    noted::uses(session, resource, source.get("name"));
    let path = Some(text(source, &["fieldPath"])).filter(|path| !path.is_empty()).unwrap_or("metadata.name");
    let value = find(&resource.value, &steps(path))?;
    let is_empty = |value: &&Value| match &value.data {
        Data::Map(map) => map.is_empty(),
        Data::List(list) => list.is_empty(),
        _ => false,
    };
    let value = value.filter(|value| !is_empty(value));
    let value = value.ok_or_else(|| format!("{} `{}` has no `{path}`", resource.kind(), resource.name()))?;
    let Some((delimiter, index)) = delimiter(source) else { return Ok(value.clone()) };
    let Some(whole) = scalar_text(value) else { return Err("`delimiter` is for scalars only".to_owned().into()) };
    let part = usize::try_from(index).ok().and_then(|index| whole.split(delimiter).nth(index));
    let part = part.ok_or_else(|| format!("`index` {index} is not in `{whole}`"))?;
    Ok(Value::of(Data::Str(part.into()), value.origin, value.taint()))
}

fn delimiter(part: &Value) -> Option<(&str, i64)> {
    let options = part.get("options")?;
    let delimiter = options.get("delimiter").and_then(Value::as_str).filter(|delimiter| !delimiter.is_empty())?;
    Some((delimiter, options.get("index").and_then(Value::as_int).unwrap_or(0)))
}

/// Writes a value to all that a target selects. Whether that is anything is the answer.
fn write(
    session: &Session,
    rule: &Value,
    target: &Value,
    value: &Value,
    index: &mut Index,
    resources: &mut [Resource],
) -> Result<bool, Problem> {
    let refused = |why: String| wrong(session, rule, why);
    let Some(select) = target.get("select").filter(|select| !select.is_null()) else {
        return Err(refused("a target of a replacement needs `select`".to_owned()).into());
    };
    let select = Selector::read(select);
    let rejected = target.get("reject").and_then(Value::as_list).unwrap_or_default();
    let rejected: Vec<Selector<'_>> = rejected.iter().map(Selector::read).collect();
    let mut found = false;
    for at in index.named_or_all(session, rule, select.name, resources)? {
        let Some(resource) = resources.get_mut(at) else { continue };
        spend(session, rule, rejected.len() as u64, 0)?;
        if !select.fits(resource) || rejected.iter().any(|selector| selector.rejects(resource)) {
            continue;
        }
        found = true;
        noted::uses(session, resource, target.get("select").and_then(|select| select.get("name")));
        let name = EcoString::from(resource.name());
        write_into(session, rule, target, value, resource)?;
        if resource.name() != name {
            index.forget();
        }
    }
    Ok(found)
}

/// Writes a value to the fields of one resource.
fn write_into(
    session: &Session,
    rule: &Value,
    target: &Value,
    value: &Value,
    resource: &mut Resource,
) -> Result<(), Problem> {
    let written = target.get("fieldPaths").and_then(Value::as_list).unwrap_or_default();
    let mut paths: Vec<&str> = written.iter().filter_map(Value::as_str).collect();
    if paths.is_empty() {
        paths.push("metadata.name");
    }
    let creates = target.get("options").and_then(|options| options.get("create")).and_then(Value::as_bool);
    let made = match (&value.data, creates) {
        (_, None | Some(false)) => Made::Nothing,
        (Data::Map(_), _) => Made::Map,
        (Data::List(_), _) => Made::List,
        _ => Made::Scalar,
    };
    if resource.has_notes() {
        resource.have_annotations();
    }
    let (origins, most) = (&session.origins, session.meter.most_output());
    for path in paths {
        let steps = steps(path);
        // Entries are found by a pattern, which is compared with all of them.
        let patterns = path.matches(['[', '*']).count() as u64;
        spend(session, rule, 1 + work(resource) + patterns * (STEPS_PER_PATTERN + work(resource) * 2), 0)?;
        let count =
            visit(&mut resource.value, &steps, made, &mut |field| put(origins, field, value, delimiter(target)))
                .map_err(|why| wrong(session, rule, why))?;
        if count == 0 {
            let message = format!("{} `{}` has no `{path}` to write to", resource.kind(), resource.name());
            return Err(wrong(session, rule, message).into());
        }
        if weight(&resource.value) > most {
            let message = format!("this resource has more than the {most} bytes allowed when it is written out");
            return Err(wrong(session, rule, message).into());
        }
    }
    Ok(())
}

/// Steps for parsing a pattern.
const STEPS_PER_PATTERN: u64 = 2_000;

/// Selector of the source or a target of a replacement: names as written, and label selectors.
struct Selector<'s> {
    gvk: Gvk,
    name: &'s str,
    namespace: &'s str,
    labels: &'s str,
    annotations: &'s str,
}

impl Selector<'_> {
    fn read(value: &Value) -> Selector<'_> {
        let part = |key: &str| text(value, &[key]);
        let (labels, annotations) = (part("labelSelector"), part("annotationSelector"));
        Selector { gvk: Gvk::read(value), name: part("name"), namespace: part("namespace"), labels, annotations }
    }

    /// Whether it matches a resource by a current or earlier identity.
    fn names(&self, resource: &Resource) -> bool {
        let own = resource.gvk();
        resource.ids().any(|id| {
            (self.name.is_empty() || id.name == self.name)
                && (self.namespace.is_empty() || id.namespace == self.namespace)
                && self.gvk.selects(&Gvk { kind: id.kind, ..own.clone() })
        })
    }

    fn has_labels(&self, resource: &Resource) -> bool {
        let metadata = |key: &str| resource.value.get("metadata").and_then(|metadata| metadata.get(key));
        selects(self.labels, metadata("labels")) && selects(self.annotations, metadata("annotations"))
    }

    fn fits(&self, resource: &Resource) -> bool {
        self.names(resource) && self.has_labels(resource)
    }

    /// Whether it excludes a resource: by its names, or by its labels.
    fn rejects(&self, resource: &Resource) -> bool {
        let has_names = !self.name.is_empty() || !self.namespace.is_empty() || self.gvk != Gvk::default();
        let has_labels = !self.labels.is_empty() || !self.annotations.is_empty();
        (has_names && self.names(resource)) || (has_labels && self.has_labels(resource))
    }

    fn shown(&self) -> String {
        [self.gvk.kind.as_str(), self.name].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Writes a value into a field. A scalar stays of its kind: a number that is replaced by the text `80` is a number.
fn put(origins: &Origins, field: &mut Value, value: &Value, delimiter: Option<(&str, i64)>) -> Result<(), String> {
    let new = match (delimiter, scalar_text(field)) {
        (None, None) => {
            *field = value.clone();
            return Ok(());
        }
        (Some(_), None) => return Err("`delimiter` is for scalars only".to_owned()),
        (None, Some(_)) => match scalar_text(value) {
            Some(text) => text,
            // A collection that was made for this; another scalar is emptied by the original.
            None if field.is_null() => {
                *field = value.clone();
                return Ok(());
            }
            None => EcoString::new(),
        },
        (Some((delimiter, index)), Some(old)) => {
            let new = scalar_text(value).unwrap_or_default();
            let mut parts: Vec<EcoString> = old.split(delimiter).map(EcoString::from).collect();
            let at = usize::try_from(index);
            match (at, at.ok().and_then(|at| parts.get_mut(at))) {
                (Err(_), _) => parts.insert(0, new),
                (Ok(_), Some(part)) => *part = new,
                (Ok(_), None) => parts.push(new),
            }
            parts.join(delimiter).into()
        }
    };
    let data = match (&field.data, plain(&new)) {
        (Data::Str(_), _) => Data::Str(new),
        // A string written without quotes is parsed again, and must keep its type.
        (Data::Null, plain)
        | (Data::Int(_), plain @ Data::Int(_))
        | (Data::Float(_), plain @ (Data::Float(_) | Data::Int(_)))
        | (Data::Bool(_), plain @ Data::Bool(_)) => plain,
        _ => return Err(format!("expected {} for the field that is replaced, found `{new}`", field.kind_name())),
    };
    let pieces = || [value.origin, field.origin].map(Piece::whole).to_vec();
    let origin = match delimiter {
        Some(_) => origins.derived("replacements", None, pieces()),
        None => origins.chosen(value.origin, "replacements", vec![field.origin]),
    };
    *field = Value::of(data, origin, value.taint() | field.taint());
    Ok(())
}

/// The value of a text written without quotes.
fn plain(text: &EcoString) -> Data {
    match resolve_plain(text, Flavor::GoObjects) {
        Scalar::Bool(flag) => Data::Bool(flag),
        Scalar::Int(number) => Data::Int(number),
        Scalar::Float(number) => Data::Float(number),
        _ => Data::Str(text.clone()),
    }
}
