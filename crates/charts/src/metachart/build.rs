//! Builds one resource: component, name, labels, annotations with checksums, defaults, preprocessor, deep render, YAML.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use purlin_gotmpl::emit::{KeyOrder, emit};
use purlin_gotmpl::rope::Rope;
use purlin_gotmpl::{Data, Fault, Heap, Machine, Str, Val};
use purlin_syntax::write::{GoStyle, GoYamlWriter};
use purlin_value::encoding::hex;
use sha2::{Digest, Sha256};

use super::merge::over_defaults;

/// Deepest nesting rendered.
const MAX_DEPTH: u32 = 500;

/// Longest name Kubernetes takes.
const MAX_NAME: usize = 63;

/// What the pipeline knows of one kind.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// The key in the values.
    pub key: String,
    /// `apiVersion` of its manifests.
    pub api_version: String,
    /// `kind` of its manifests.
    pub kind: String,
    /// Whether the chart has a preprocessor for it.
    pub preprocess: bool,
}

/// A resource as the values describe it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its kind's key.
    pub kind: String,
    /// Its name in the values.
    pub name: String,
    /// What the values say.
    pub definition: Val,
    /// The component of the resource it is related to.
    pub related: Option<String>,
}

/// A resource ready to be printed.
#[derive(Clone, Debug)]
pub struct Built {
    /// The manifest.
    pub value: Val,
    /// The manifest as YAML, without the last line break.
    pub yaml: Str,
}

/// Everything builds share: kinds, what was discovered, what is already built.
#[derive(Debug)]
pub struct Workshop {
    /// The root context, without `params`.
    pub root: Val,
    /// Kinds by key.
    pub kinds: BTreeMap<String, Kind>,
    /// Resources by kind and name.
    pub found: BTreeMap<String, BTreeMap<String, Found>>,
    /// What is built already.
    built: RefCell<HashMap<(String, String), Rc<Built>>>,
    /// The steps each resource took, those of resources it needed not counted.
    pub costs: RefCell<HashMap<(String, String), u64>>,
    /// The sum of these.
    counted: Cell<u64>,
    /// Digests of whole kinds.
    digests: RefCell<HashMap<String, String>>,
    /// What is being built, to find checksums that lead in a circle.
    open: RefCell<Vec<(String, String)>>,
}

/// The value under a key of a map.
pub fn get(heap: &Heap, value: &Val, key: &str) -> Option<Val> {
    heap.lookup(value.as_map()?, key.as_bytes()).map(Val::unboxed)
}

/// The value under a path of keys.
pub fn at(heap: &Heap, value: &Val, path: &[&str]) -> Option<Val> {
    let mut current = value.clone();
    for key in path {
        current = get(heap, &current, key)?;
    }
    Some(current)
}

fn entries(heap: &Heap, value: Option<&Val>) -> BTreeMap<Str, Val> {
    value.and_then(Val::as_map).map(|map| heap.get_map(map).entries.clone()).unwrap_or_default()
}

/// A text of the heap's value.
pub fn text(value: &Val) -> String {
    value.as_str().map(|text| text.text().into_owned()).unwrap_or_default()
}

fn shortened(name: &str) -> String {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let cut = name.get(..end).unwrap_or_default();
    cut.strip_suffix('-').unwrap_or(cut).to_owned()
}

/// The release's name, or what the values put in its place.
pub fn fullname(heap: &Heap, context: &Val) -> String {
    let chosen = at(heap, context, &["Values", "fullnameOverride"]).filter(|value| heap.truth(value));
    let name = chosen.or_else(|| at(heap, context, &["Release", "Name"])).unwrap_or(Val::NIL);
    let name = text(&name);
    // What is not known yet cannot be cut.
    if heap.holes.within(name.as_bytes()).is_some() { name } else { shortened(&name) }
}

/// Labels every resource of the chart has.
pub fn chart_labels(heap: &Heap, context: &Val) -> BTreeMap<Str, Val> {
    let of = |path: &[&str]| at(heap, context, path).unwrap_or(Val::NIL);
    let chart = format!("{}-{}", text(&of(&["Chart", "Name"])), text(&of(&["Chart", "Version"]))).replace('+', "_");
    let mut labels = BTreeMap::from([
        (Str::from("helm.sh/chart"), Val::str(shortened(&chart))),
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
pub fn selector_labels(heap: &mut Heap, context: &Val, component: Option<&str>) -> Val {
    let name = at(heap, context, &["Release", "Name"]).unwrap_or(Val::NIL);
    let mut labels = BTreeMap::from([(Str::from("app.kubernetes.io/instance"), name)]);
    if let Some(component) = component.filter(|component| !component.is_empty()) {
        labels.insert(Str::from("app.kubernetes.io/component"), Val::str(component));
    }
    heap.any_map(labels)
}

/// What metadata is built from.
pub struct MetaRequest<'a> {
    /// The definition whose `metadata` counts.
    pub definition: &'a Val,
    /// The kind's defaults, if they are to be seen.
    pub defaults: Option<&'a Val>,
    /// The resource's name in the values.
    pub name: Option<String>,
    /// What is put behind the name.
    pub suffix: Option<String>,
    /// Whether there is a name at all.
    pub with_name: bool,
    /// Whether the release's name is put before it.
    pub with_prefix: bool,
    /// The component.
    pub component: Option<String>,
    /// The component it is related to.
    pub related: Option<String>,
}

impl Workshop {
    /// A workshop with nothing built yet.
    pub fn new(root: Val, kinds: BTreeMap<String, Kind>, found: BTreeMap<String, BTreeMap<String, Found>>) -> Self {
        let (built, costs, counted, digests, open) = Default::default();
        Self { root, kinds, found, built, costs, counted, digests, open }
    }

    /// Labels: those of the chart, then global ones, then the kind's defaults, then the resource's own.
    pub fn labels(&self, heap: &Heap, context: &Val, request: &MetaRequest<'_>) -> Result<BTreeMap<Str, Val>, Fault> {
        let mut labels = chart_labels(heap, context);
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
                    return Err(Fault::Stop(message));
                }
                if !value.is_nil() {
                    labels.insert(key, value);
                }
            }
        }
        Ok(labels)
    }

    /// Annotations: checksums, then global ones, then the kind's defaults, then the resource's own.
    pub fn annotations(
        &self,
        m: &mut Machine<'_>,
        context: &Val,
        request: &MetaRequest<'_>,
    ) -> Result<BTreeMap<Str, Val>, Fault> {
        let mut wanted = BTreeMap::new();
        if let Some(defaults) = request.defaults {
            wanted = entries(&m.heap, at(&m.heap, defaults, &["metadata", "checksums"]).as_ref());
        }
        wanted.extend(entries(&m.heap, at(&m.heap, request.definition, &["metadata", "checksums"]).as_ref()));
        let mut annotations = BTreeMap::new();
        for (kind, names) in wanted {
            let kind = kind.text().into_owned();
            match &names.data {
                Data::List(list) => {
                    let names: Vec<String> = m.heap.items(*list).iter().map(text).collect();
                    for name in names {
                        let digest = self.digest_one(m, &kind, &name)?;
                        annotations.insert(Str::from(format!("checksum-{kind}-{name}")), Val::str(digest));
                    }
                }
                Data::Str(star) if star.bytes() == b"*" => {
                    let digest = self.digest_kind(m, &kind)?;
                    annotations.insert(Str::from(format!("checksum-{kind}")), Val::str(digest));
                }
                _ => {}
            }
        }
        let global = at(&m.heap, context, &["Values", "settings", "global", "annotations"]);
        let default = request.defaults.and_then(|defaults| at(&m.heap, defaults, &["metadata", "annotations"]));
        let own = at(&m.heap, request.definition, &["metadata", "annotations"]);
        for given in [global, default, own] {
            let given = entries(&m.heap, given.as_ref());
            annotations.extend(given.into_iter().filter(|(_, value)| !value.is_nil()));
        }
        Ok(annotations)
    }

    /// The metadata of a resource, or of the pods it makes.
    pub fn metadata(&self, m: &mut Machine<'_>, context: &Val, request: &MetaRequest<'_>) -> Result<Val, Fault> {
        let own = get(&m.heap, request.definition, "metadata");
        let mut metadata = entries(&m.heap, own.as_ref());
        let given_name = metadata.remove(b"name".as_slice()).filter(|name| m.heap.truth(name));
        for key in ["labels", "annotations", "checksums"] {
            metadata.remove(key.as_bytes());
        }
        if request.with_name {
            let name = match given_name {
                Some(name) => name,
                None => Val::str(self.name(&m.heap, context, request)),
            };
            metadata.insert(Str::from("name"), name);
        }
        let labels = self.labels(&m.heap, context, request)?;
        let annotations = self.annotations(m, context, request)?;
        let (labels, annotations) = (m.heap.any_map(labels), m.heap.any_map(annotations));
        metadata.insert(Str::from("labels"), labels);
        metadata.insert(Str::from("annotations"), annotations);
        Ok(m.heap.any_map(metadata))
    }

    /// The generated name: where it is too long, the release's part is cut, never what tells resources apart.
    fn name(&self, heap: &Heap, context: &Val, request: &MetaRequest<'_>) -> String {
        let own: Vec<&str> = [&request.name, &request.suffix].into_iter().filter_map(|part| part.as_deref()).collect();
        let own = own.join("-");
        if !request.with_prefix {
            return shortened(&own);
        }
        let prefix = fullname(heap, context);
        if own.is_empty() {
            return prefix;
        }
        let room = MAX_NAME.saturating_sub(own.len() + 1);
        let cut: String = prefix.chars().take(room).collect();
        shortened(&format!("{}-{own}", cut.trim_end_matches('-')))
    }

    fn defaults(&self, heap: &Heap, kind: &str) -> Option<Val> {
        at(heap, &self.root, &["Values", "settings", kind, "defaults"]).filter(|value| value.as_map().is_some())
    }

    /// A kind's defaults without what is not part of a manifest.
    fn plain_defaults(heap: &mut Heap, defaults: &Val) -> Val {
        let mut plain = entries(heap, Some(defaults));
        for key in ["enabled", "related", "relatedComponent", "apiVersion", "kind"] {
            plain.remove(key.as_bytes());
        }
        if let Some(metadata) = plain.get(b"metadata".as_slice()).cloned() {
            let mut inner = entries(heap, Some(&metadata));
            for key in ["labels", "annotations", "checksums", "name"] {
                inner.remove(key.as_bytes());
            }
            let inner = heap.any_map(inner);
            plain.insert(Str::from("metadata"), inner);
        }
        heap.any_map(plain).at(defaults.origin)
    }

    /// A resource with its kind's defaults below it.
    pub fn with_defaults(&self, heap: &mut Heap, kind: &str, resource: &Val) -> Val {
        match self.defaults(heap, kind) {
            Some(defaults) => {
                let plain = Self::plain_defaults(heap, &defaults);
                over_defaults(heap, &plain, resource)
            }
            None => resource.clone(),
        }
    }

    /// Builds a resource, or takes it from what was built before.
    pub fn build(&self, m: &mut Machine<'_>, kind: &str, name: &str) -> Result<Rc<Built>, Fault> {
        let key = (kind.to_owned(), name.to_owned());
        if let Some(built) = self.built.borrow().get(&key) {
            return Ok(built.clone());
        }
        let Some(found) = self.found.get(kind).and_then(|resources| resources.get(name)) else {
            return Err(Fault::Stop(format!("can not find resource {kind}/{name}")));
        };
        if self.open.borrow().contains(&key) {
            let path: Vec<String> =
                self.open.borrow().iter().chain([&key]).map(|(kind, name)| format!("{kind}/{name}")).collect();
            return Err(Fault::Stop(format!("checksums lead in a circle: {}", path.join(" → "))));
        }
        self.open.borrow_mut().push(key.clone());
        let salt = std::mem::replace(&mut m.salt, format!("{kind}/{name}").into_bytes());
        let draws = std::mem::take(&mut m.draws);
        let (before, others) = (m.spent(), self.counted.get());
        let built = self.make(m, found);
        let cost = (m.spent() - before).saturating_sub(self.counted.get() - others);
        self.counted.set(self.counted.get() + cost);
        self.costs.borrow_mut().insert(key.clone(), cost);
        m.salt = salt;
        m.draws = draws;
        self.open.borrow_mut().pop();
        let built = Rc::new(built?);
        self.built.borrow_mut().insert(key, built.clone());
        Ok(built)
    }

    fn make(&self, m: &mut Machine<'_>, found: &Found) -> Result<Built, Fault> {
        m.spend(50)?;
        let kind = self.kinds.get(&found.kind).cloned().unwrap_or_default();
        let component = format!("{}-{}", found.kind, found.name);
        let defaults = self.defaults(&m.heap, &found.kind);
        let mut resource = entries(&m.heap, Some(&found.definition));
        for key in ["enabled", "metadata", "related", "relatedComponent"] {
            resource.remove(key.as_bytes());
        }
        for (key, value) in [("apiVersion", &kind.api_version), ("kind", &kind.kind)] {
            if !value.is_empty() {
                resource.insert(Str::from(key), Val::str(value.as_str()));
            }
        }
        let request = MetaRequest {
            definition: &found.definition,
            defaults: defaults.as_ref(),
            name: Some(found.name.clone()),
            suffix: None,
            with_name: true,
            with_prefix: true,
            component: Some(component.clone()),
            related: found.related.clone(),
        };
        let root = self.root.clone();
        let metadata = self.metadata(m, &root, &request)?;
        resource.insert(Str::from("metadata"), metadata);
        let resource = m.heap.any_map(resource).at(found.definition.origin);
        let mut resource = self.with_defaults(&mut m.heap, &found.kind, &resource);
        if kind.preprocess {
            resource = self.preprocess(m, found, &component, resource)?;
        }
        let before = BTreeMap::from([(Str::from("ResourcePreRendered"), resource.clone())]);
        let before = m.heap.any_map(before);
        let context = self.context(m, &[("Metachart", before)]);
        let value = deep_render(m, &resource, &context, 0)?;
        let yaml = to_yaml(m, &value)?;
        Ok(Built { value, yaml })
    }

    /// The root context with further entries.
    fn context(&self, m: &mut Machine<'_>, more: &[(&str, Val)]) -> Val {
        let mut all = entries(&m.heap, Some(&self.root));
        for (key, value) in more {
            all.insert(Str::from(*key), value.clone());
        }
        m.heap.map(purlin_gotmpl::MapType::Values, all)
    }

    fn preprocess(&self, m: &mut Machine<'_>, found: &Found, component: &str, resource: Val) -> Result<Val, Fault> {
        // Preprocessors change what they are given; the original stays to compare with.
        let copy = purlin_gotmpl::funcs::dicts::deep_copy(m, &resource, 0)?;
        let related = found.related.as_deref().map_or(Val::NIL, Val::str);
        let params = m.heap.any_map(BTreeMap::from([
            (Str::from("definition"), copy),
            (Str::from("name"), Val::str(found.name.as_str())),
            (Str::from("component"), Val::str(component)),
            (Str::from("relatedComponent"), related),
        ]));
        let context = self.context(m, &[("params", params)]);
        let template = Str::from(format!("metachart.preprocess.{}", found.kind));
        let rope: Rope = m.execute(&template, context).map_err(Fault::Inner)?;
        let made = purlin_gotmpl::json::parse(&mut m.heap, &rope.bytes).map_err(|error| {
            Fault::new(format!("the preprocessor `{}` printed no JSON object: {error}", template.text()))
        })?;
        if made.as_map().is_none() {
            return Err(Fault::new(format!("the preprocessor `{}` printed no JSON object", template.text())));
        }
        Ok(reattach(&mut m.heap, &made, &resource, 0))
    }

    fn digest_one(&self, m: &mut Machine<'_>, kind: &str, name: &str) -> Result<String, Fault> {
        let built = self.build(m, kind, name)?;
        if let Some(pending) = m.heap.holes.within(built.yaml.bytes()) {
            return Ok(text(&m.heap.pending(&pending)));
        }
        Ok(hex(&Sha256::digest([b"\n", built.yaml.bytes()].concat())))
    }

    fn digest_kind(&self, m: &mut Machine<'_>, kind: &str) -> Result<String, Fault> {
        if let Some(digest) = self.digests.borrow().get(kind) {
            return Ok(digest.clone());
        }
        let names: Vec<String> =
            self.found.get(kind).map(|resources| resources.keys().cloned().collect()).unwrap_or_default();
        let mut hash = Sha256::new();
        for name in names {
            let built = self.build(m, kind, &name)?;
            if let Some(pending) = m.heap.holes.within(built.yaml.bytes()) {
                return Ok(text(&m.heap.pending(&pending)));
            }
            hash.update(b"---\n");
            hash.update(built.yaml.bytes());
            hash.update(b"\n...\n");
        }
        let digest = hex(&hash.finalize());
        self.digests.borrow_mut().insert(kind.to_owned(), digest.clone());
        Ok(digest)
    }
}

/// Renders every text of a value once.
fn deep_render(m: &mut Machine<'_>, value: &Val, context: &Val, depth: u32) -> Result<Val, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::new("the resource is nested too deeply"));
    }
    let made = match &value.data {
        Data::Str(text) => {
            if !text.text().contains("{{") {
                return Ok(value.clone());
            }
            let Some(tpl) = purlin_gotmpl::funcs::find("tpl") else { return Ok(value.clone()) };
            return m.call(tpl, &[value.clone(), context.clone()]);
        }
        Data::List(list) => {
            let items = m.heap.items(*list).to_vec();
            let items =
                items.iter().map(|item| deep_render(m, item, context, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            m.heap.any_list(items)
        }
        Data::Map(map) => {
            let mut rendered = BTreeMap::new();
            for (key, item) in m.heap.get_map(*map).entries.clone() {
                let item = deep_render(m, &item, context, depth + 1)?;
                rendered.insert(key, item);
            }
            m.heap.any_map(rendered)
        }
        _ => return Ok(value.clone()),
    };
    Ok(made.at(value.origin))
}

/// A value as YAML, with pieces when origins are recorded.
fn to_yaml(m: &mut Machine<'_>, value: &Val) -> Result<Str, Fault> {
    let steps = m.weigh(value)?;
    m.spend(steps)?;
    let mut text = written(m, value)?;
    m.hold_text(&mut text)?;
    Ok(text)
}

fn written(m: &mut Machine<'_>, value: &Val) -> Result<Str, Fault> {
    if m.outside.track {
        let text = purlin_gotmpl::yaml::write_tracked(m, value)?;
        return Ok(text.as_str().cloned().unwrap_or_else(|| Str::from("")));
    }
    let mut writer = GoYamlWriter::with_limit(GoStyle::Kubernetes, m.limits.text);
    emit(&m.heap, value, KeyOrder::Natural(GoStyle::Kubernetes), &mut writer, &mut |_, _| {})
        .map_err(|error| Fault::new(error.message()))?;
    let written = writer.finish().map_err(|_| Fault::new("the resource cannot be written as YAML"))?;
    Ok(Str::from(written.strip_suffix('\n').unwrap_or(&written)))
}

/// Gives what came back through JSON the origins it had before, where it is unchanged.
fn reattach(heap: &mut Heap, made: &Val, known: &Val, depth: u32) -> Val {
    if depth > MAX_DEPTH {
        return made.clone();
    }
    match (&made.data, &known.data) {
        (Data::Map(new), Data::Map(old)) => {
            let mut all = BTreeMap::new();
            for (key, item) in heap.get_map(*new).entries.clone() {
                let before = heap.get_map(*old).entries.get(&key).cloned();
                let item = match before {
                    Some(before) => reattach(heap, &item, &before, depth + 1),
                    None => item,
                };
                all.insert(key, item);
            }
            heap.any_map(all).at(known.origin)
        }
        (Data::List(new), Data::List(old)) => {
            let (new, old) = (heap.items(*new).to_vec(), heap.items(*old).to_vec());
            let mut all = Vec::with_capacity(new.len());
            for (index, item) in new.iter().enumerate() {
                all.push(match old.get(index) {
                    Some(before) => reattach(heap, item, before, depth + 1),
                    None => item.clone(),
                });
            }
            heap.any_list(all).at(known.origin)
        }
        _ if purlin_gotmpl::equal::deep_equal(heap, made, known) => known.clone(),
        _ => made.clone(),
    }
}
