//! Builds one resource: component, name, labels, annotations with checksums, defaults, preprocessor, deep render, YAML.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use purlin_gotmpl::emit::{KeyOrder, emit};
use purlin_gotmpl::rope::Rope;
use purlin_gotmpl::{Data, ExecError, Fault, Heap, Machine, Str, Val};
use purlin_syntax::write::{GoStyle, GoYamlWriter};

use super::checksums::{Computed, stopped};
use super::defaults::{self, Metadata, OWN_KEYS};
use super::discover::Resources;
use super::object_meta::{MetaRequest, added};

/// Deepest nesting rendered.
const MAX_DEPTH: u32 = purlin_syntax::limits::MERGE_LEVELS;

/// Properties of a kind in the pipeline.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// The key in the values.
    pub key: String,
    /// `apiVersion` of its manifests.
    pub api_version: String,
    /// `kind` of its manifests.
    pub kind: String,
    /// The origins of these two; 0 means unknown.
    pub identity: [u32; 2],
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
    /// Its values.
    pub definition: Val,
    /// The component of the resource it is related to.
    pub related: Option<String>,
}

/// A warning: its message, and the origin of the value it concerns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The origin; 0 means unknown.
    pub origin: u32,
    /// The kind and name of the resource, and the message.
    pub message: String,
}

/// Result of building a resource.
type Attempt = Result<Str, Box<ExecError>>;

/// State shared by all builds: kinds, discovered resources, finished builds.
#[derive(Debug)]
pub struct Workshop {
    /// The root context, without `params`.
    pub root: Val,
    /// Kinds by key.
    pub kinds: BTreeMap<String, Kind>,
    /// Resources by kind and name.
    pub found: Resources,
    /// Origins of checksums.
    pub computed: Arc<Computed>,
    /// Resources built so far, and errors.
    built: RefCell<HashMap<(String, String), Attempt>>,
    /// The steps each resource took, those of resources it needed not counted.
    pub costs: RefCell<HashMap<(String, String), u64>>,
    /// The sum of these.
    counted: Cell<u64>,
    /// Digests of whole kinds, and whether they are secret.
    pub digests: RefCell<HashMap<String, (String, bool)>>,
    /// Resources being built, to find circular checksums.
    pub open: RefCell<Vec<(String, String)>>,
    /// Warnings.
    pub notes: RefCell<Vec<Note>>,
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

/// The entries of a map; empty for other values.
pub fn entries(heap: &Heap, value: Option<&Val>) -> BTreeMap<Str, Val> {
    value.and_then(Val::as_map).map(|map| heap.get_map(map).entries.clone()).unwrap_or_default()
}

/// A text of the heap's value.
pub fn text(value: &Val) -> String {
    value.as_str().map(|text| text.text().into_owned()).unwrap_or_default()
}

impl Workshop {
    /// A workshop without built resources.
    pub fn new(root: Val, kinds: BTreeMap<String, Kind>, found: Resources, computed: Arc<Computed>) -> Self {
        let (built, costs, counted, digests, open, notes) = Default::default();
        Self { root, kinds, found, computed, built, costs, counted, digests, open, notes }
    }

    /// The defaults of a kind.
    pub fn defaults(&self, heap: &Heap, kind: &str) -> Option<Val> {
        defaults::of_kind(heap, &get(heap, &self.root, "Values")?, kind)
    }

    /// Builds a resource as YAML without the last line break, or returns an earlier result. Errors are repeated for
    /// each request; `asked` is the origin of the request.
    pub fn build(&self, m: &mut Machine<'_>, kind: &str, name: &str, asked: u32) -> Result<Str, Fault> {
        let key = (kind.to_owned(), name.to_owned());
        if let Some(built) = self.built.borrow().get(&key) {
            return built.clone().map_err(Fault::Inner);
        }
        let Some(found) = self.found.get(kind).and_then(|resources| resources.get(name)) else {
            return Err(self.stop(asked, format!("`{kind}/{name}` is not rendered")));
        };
        if self.open.borrow().contains(&key) {
            return Err(self.cycle(&key, asked));
        }
        self.open.borrow_mut().push(key.clone());
        let (before, others) = (m.spent(), self.counted.get());
        let built = m.drawing_as(format!("{kind}/{name}").as_bytes(), |m| self.make(m, found));
        let cost = (m.spent() - before).saturating_sub(self.counted.get() - others);
        self.counted.set(self.counted.get() + cost);
        self.costs.borrow_mut().insert(key.clone(), cost);
        self.open.borrow_mut().pop();
        let built = built.map_err(|fault| match fault {
            Fault::Inner(inner) => inner,
            fault => Box::new(stopped(&format!("{kind}/{name}"), fault, found.definition.origin)),
        });
        self.built.borrow_mut().insert(key, built.clone());
        built.map_err(Fault::Inner)
    }

    fn make(&self, m: &mut Machine<'_>, found: &Found) -> Result<Str, Fault> {
        m.spend(50)?;
        let kind = self.kinds.get(&found.kind).cloned().unwrap_or_default();
        let component = format!("{}-{}", found.kind, found.name);
        let defaults = self.defaults(&m.heap, &found.kind);
        let mut resource = entries(&m.heap, Some(&found.definition));
        for key in OWN_KEYS.iter().chain(&["metadata"]) {
            resource.remove(key.as_bytes());
        }
        let identity = [("apiVersion", &kind.api_version), ("kind", &kind.kind)];
        for ((key, value), origin) in identity.into_iter().zip(kind.identity) {
            if !value.is_empty() {
                let origin = added(m, &found.definition, origin);
                resource.insert(Str::from(key), Val::str(value.as_str()).at(origin));
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
        let mut resource = defaults::apply(&mut m.heap, defaults, &resource, Metadata::Rest);
        if kind.preprocess {
            resource = self.preprocess(m, found, &component, resource)?;
        }
        let before = BTreeMap::from([(Str::from("ResourcePreRendered"), resource.clone())]);
        let before = m.heap.any_map(before);
        let context = self.context(m, &[("Metachart", before)]);
        let place = format!("{}/{}", found.kind, found.name);
        let value = Deep { place: &place, context: &context }.render(m, &resource, 0)?;
        to_yaml(m, &value)
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
        // Preprocessors modify their argument; the original is needed for comparison.
        let copy = purlin_gotmpl::funcs::dicts::deep_copy(m, &resource, 0)?;
        let name = at(&m.heap, &copy, &["metadata", "name"]).unwrap_or(Val::NIL);
        let mut params = BTreeMap::from([
            (Str::from("definition"), copy),
            (Str::from("name"), name),
            (Str::from("key"), Val::str(found.name.as_str())),
            (Str::from("component"), Val::str(component)),
        ]);
        // As with the templates, only related resources have the key.
        params.extend(found.related.as_deref().map(|related| (Str::from("relatedComponent"), Val::str(related))));
        let params = m.heap.any_map(params);
        let context = self.context(m, &[("params", params)]);
        let template = Str::from(format!("metachart.preprocess.{}", found.kind));
        let rope: Rope = m.execute(&template, context).map_err(Fault::Inner)?;
        let made = purlin_gotmpl::json::parse(&mut m.heap, &rope.bytes).map_err(|error| {
            Fault::new(format!("the preprocessor `{}` did not print a JSON object: {error}", template.text()))
        })?;
        if made.as_map().is_none() {
            return Err(Fault::new(format!("the preprocessor `{}` did not print a JSON object", template.text())));
        }
        Ok(reattach(&mut m.heap, &made, &resource, 0))
    }
}

/// Renders every string of a resource once.
struct Deep<'a> {
    /// The kind and name of the resource.
    place: &'a str,
    context: &'a Val,
}

impl Deep<'_> {
    fn render(&self, m: &mut Machine<'_>, value: &Val, depth: u32) -> Result<Val, Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::new("the resource is nested too deeply"));
        }
        let made = match &value.data {
            Data::Str(text) => {
                if !text.text().contains("{{") {
                    return Ok(value.clone());
                }
                let Some(tpl) = purlin_gotmpl::funcs::find("tpl") else { return Ok(value.clone()) };
                let rendered = m.call(tpl, &[value.clone(), self.context.clone()]);
                return rendered.map_err(|fault| Fault::Inner(Box::new(stopped(self.place, fault, value.origin))));
            }
            Data::List(list) => {
                let items = m.heap.items(*list).to_vec();
                let items = items.iter().map(|item| self.render(m, item, depth + 1)).collect::<Result<Vec<_>, _>>()?;
                m.heap.any_list(items)
            }
            Data::Map(map) => {
                let mut rendered = BTreeMap::new();
                for (key, item) in m.heap.get_map(*map).entries.clone() {
                    let item = self.render(m, &item, depth + 1)?;
                    rendered.insert(key, item);
                }
                m.heap.any_map(rendered)
            }
            _ => return Ok(value.clone()),
        };
        Ok(made.at(value.origin))
    }
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

/// Restores the origins of values that passed through JSON unchanged.
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
