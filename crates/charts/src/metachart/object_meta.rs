//! The metadata of resources: names, labels, annotations.

use std::collections::BTreeMap;

use purlin_gotmpl::{Fault, Heap, Machine, Str, Val};
use purlin_value::Piece;

use super::build::{Note, Workshop, at, entries, get, text};
use crate::context::{origin_number, origin_of};

/// Longest name Kubernetes takes.
const MAX_NAME: usize = 63;

fn shortened(name: &str) -> String {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let cut = name.get(..end).unwrap_or_default();
    cut.strip_suffix('-').unwrap_or(cut).to_owned()
}

/// The release's name, or its replacement in the values.
pub fn fullname(heap: &Heap, context: &Val) -> Val {
    let chosen = at(heap, context, &["Values", "fullnameOverride"]).filter(|value| heap.truth(value));
    let given = chosen.or_else(|| at(heap, context, &["Release", "Name"])).unwrap_or(Val::NIL);
    let name = text(&given);
    // A name that is not known yet cannot be cut.
    let name = if heap.holes.within(name.as_bytes()).is_some() { name } else { shortened(&name) };
    Val::str(name).at(given.origin)
}

/// The origin of a string whose parts have origins of their own; each part is given with its end.
fn pieced(m: &Machine<'_>, step: &str, parts: &[(usize, u32)]) -> u32 {
    if !m.outside.track || parts.iter().all(|(_, origin)| *origin == 0) {
        return 0;
    }
    let mut start = 0;
    let piece = |&(end, origin): &(usize, u32)| {
        let piece = Piece { start, end: u32::try_from(end).unwrap_or(u32::MAX), origin: origin_of(origin) };
        start = piece.end;
        piece
    };
    let pieces = parts.iter().map(piece).collect();
    origin_number(m.outside.origins.derived(step, None, pieces))
}

/// The origin of the chart's additions to a resource; `from` is the location that requests them.
pub(super) fn added(m: &Machine<'_>, definition: &Val, from: u32) -> u32 {
    if !m.outside.track || definition.origin == 0 {
        return 0;
    }
    let origins = &m.outside.origins;
    let made = match from {
        0 => origins.fallback("added by Metachart", None),
        from => origin_of(from),
    };
    origin_number(origins.selected(made, "the resource is defined", None, [origin_of(definition.origin)]))
}

/// Labels every resource of the chart has.
pub(crate) fn chart_labels(m: &Machine<'_>, context: &Val) -> BTreeMap<Str, Val> {
    let heap = &m.heap;
    let of = |path: &[&str]| at(heap, context, path).unwrap_or(Val::NIL);
    let (name, version) = (of(&["Chart", "Name"]), of(&["Chart", "Version"]));
    let chart = shortened(&format!("{}-{}", text(&name), text(&version)).replace('+', "_"));
    let parts = [(text(&name).len().min(chart.len()), name.origin), (chart.len(), version.origin)];
    let origin = pieced(m, "chart name and version", &parts);
    let mut labels = BTreeMap::from([
        (Str::from("helm.sh/chart"), Val::str(chart).at(origin)),
        (Str::from("app.kubernetes.io/instance"), of(&["Release", "Name"])),
        (Str::from("app.kubernetes.io/managed-by"), of(&["Release", "Service"])),
    ]);
    let version = of(&["Chart", "AppVersion"]);
    if heap.truth(&version) {
        labels.insert(Str::from("app.kubernetes.io/version"), version);
    }
    labels
}

/// The labels that select a component's resources.
pub(crate) fn selector_labels(heap: &mut Heap, context: &Val, component: Option<&str>) -> Val {
    let name = at(heap, context, &["Release", "Name"]).unwrap_or(Val::NIL);
    let mut labels = BTreeMap::from([(Str::from("app.kubernetes.io/instance"), name)]);
    if let Some(component) = component.filter(|component| !component.is_empty()) {
        labels.insert(Str::from("app.kubernetes.io/component"), Val::str(component));
    }
    heap.any_map(labels)
}

/// Inputs of metadata.
pub struct MetaRequest<'a> {
    /// The definition with the effective `metadata`.
    pub definition: &'a Val,
    /// The kind's defaults, if they are to be seen.
    pub defaults: Option<&'a Val>,
    /// The resource's name in the values.
    pub name: Option<String>,
    /// Suffix of the name.
    pub suffix: Option<String>,
    /// Whether it has a name.
    pub with_name: bool,
    /// Whether the release's name is its prefix.
    pub with_prefix: bool,
    /// The component.
    pub component: Option<String>,
    /// The component it is related to.
    pub related: Option<String>,
}

impl Workshop {
    /// Labels: those of the chart, then global ones, then the kind's defaults, then the resource's own.
    pub fn labels(
        &self,
        m: &Machine<'_>,
        context: &Val,
        request: &MetaRequest<'_>,
    ) -> Result<BTreeMap<Str, Val>, Fault> {
        let heap = &m.heap;
        let mut labels = chart_labels(m, context);
        if let Some(component) = request.related.as_ref().or(request.component.as_ref()) {
            labels.insert(Str::from("app.kubernetes.io/component"), Val::str(component.as_str()));
        }
        let global = at(heap, context, &["Values", "settings", "global", "labels"]);
        let default = request.defaults.and_then(|defaults| at(heap, defaults, &["metadata", "labels"]));
        let own = at(heap, request.definition, &["metadata", "labels"]);
        let reserved: Vec<Str> = labels.keys().cloned().collect();
        for given in [global, default, own] {
            for (key, value) in entries(heap, given.as_ref()) {
                if reserved.contains(&key) {
                    let message =
                        format!("label `{}` is reserved: the chart sets it itself; use another key", key.text());
                    return Err(self.stop(value.origin, message));
                }
                if !value.is_nil() {
                    labels.insert(key, value);
                }
            }
        }
        Ok(labels)
    }

    /// Annotations: global ones, then the kind's defaults, then the resource's own, then checksums.
    pub fn annotations(
        &self,
        m: &mut Machine<'_>,
        context: &Val,
        request: &MetaRequest<'_>,
    ) -> Result<BTreeMap<Str, Val>, Fault> {
        let global = at(&m.heap, context, &["Values", "settings", "global", "annotations"]);
        let default = request.defaults.and_then(|defaults| at(&m.heap, defaults, &["metadata", "annotations"]));
        let own = at(&m.heap, request.definition, &["metadata", "annotations"]);
        let mut annotations = BTreeMap::new();
        for given in [global, default, own] {
            let given = entries(&m.heap, given.as_ref());
            annotations.extend(given.into_iter().filter(|(_, value)| !value.is_nil()));
        }
        for (key, digest) in self.checksums(m, request)? {
            if let Some(lost) = annotations.get(&key) {
                let message = format!("annotation `{}` is overridden by the computed checksum", key.text());
                self.notes.borrow_mut().push(Note { origin: lost.origin, message });
            }
            annotations.insert(key, digest);
        }
        Ok(annotations)
    }

    /// The metadata of a resource, or of the pods it makes.
    pub fn metadata(&self, m: &mut Machine<'_>, context: &Val, request: &MetaRequest<'_>) -> Result<Val, Fault> {
        let own = get(&m.heap, request.definition, "metadata");
        let mut metadata = entries(&m.heap, own.as_ref());
        let added = added(m, request.definition, 0);
        let given_name = metadata.remove(b"name".as_slice()).filter(|name| m.heap.truth(name));
        for key in ["labels", "annotations", "checksums"] {
            metadata.remove(key.as_bytes());
        }
        if request.with_name {
            let name = match given_name {
                Some(name) => name,
                None => self.name(m, context, request, added),
            };
            metadata.insert(Str::from("name"), name);
        }
        let labels = self.labels(m, context, request)?;
        let annotations = self.annotations(m, context, request)?;
        let known = |(key, value): (Str, Val)| {
            let is_known = value.origin != 0 || value.as_str().is_some_and(|text| text.pieces().is_some());
            (key, if is_known { value } else { value.at(added) })
        };
        let labels = m.heap.any_map(labels.into_iter().map(known).collect()).at(added);
        let annotations = m.heap.any_map(annotations.into_iter().map(known).collect()).at(added);
        metadata.insert(Str::from("labels"), labels);
        metadata.insert(Str::from("annotations"), annotations);
        Ok(m.heap.any_map(metadata).at(own.map_or(added, |own| own.origin)))
    }

    /// The generated name: if it is too long, the release's part is cut, never the part that distinguishes resources.
    fn name(&self, m: &Machine<'_>, context: &Val, request: &MetaRequest<'_>, added: u32) -> Val {
        let own: Vec<&str> = [&request.name, &request.suffix].into_iter().filter_map(|part| part.as_deref()).collect();
        let own = own.join("-");
        if !request.with_prefix {
            return Val::str(shortened(&own)).at(added);
        }
        let prefix = fullname(&m.heap, context);
        if own.is_empty() {
            return prefix;
        }
        let room = MAX_NAME.saturating_sub(own.len() + 1);
        let cut: String = text(&prefix).chars().take(room).collect();
        let cut = cut.strip_suffix('-').unwrap_or(&cut);
        let name = shortened(&if cut.is_empty() { own } else { format!("{cut}-{own}") });
        let parts = [(cut.len().min(name.len()), prefix.origin), (name.len(), added)];
        let origin = pieced(m, "name of the resource", &parts);
        Val::str(name).at(origin)
    }
}
