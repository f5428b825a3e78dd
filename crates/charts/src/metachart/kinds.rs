//! The kinds of a Metachart chart: from its configuration if available, otherwise from the output of `gen`.

use std::collections::BTreeSet;

use purlin_syntax::Flavor;
use purlin_value::{Origin, Session, Value, path};

use super::build::Kind;
use super::config::{self, Resource};
use crate::chart::Chart;
use crate::context::origin_number;
use crate::yaml::value_of_tree;

/// The template that `gen` writes the kinds into.
pub const SETTINGS: &str = "templates/generated/_settings.tpl";

/// The helpers that every chart made by `metachart init` has.
pub const LIBRARY: &str = "templates/_metachart.tpl";

/// The template that renders all resources.
pub const RESOURCES: &str = "templates/resources.yaml";

/// The kinds of a chart.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// Kinds that are rendered, by key.
    pub rendered: Vec<Kind>,
    /// All kinds, by key.
    pub resources: Vec<Resource>,
}

impl Kinds {
    /// Whether resources of this kind are rendered.
    pub(crate) fn is_rendered(&self, key: &str) -> bool {
        self.rendered.iter().any(|kind| kind.key == key)
    }

    /// The kind with this key.
    pub fn resource(&self, key: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.key == key)
    }
}

/// The kinds of a Metachart chart; `None` if it is not one.
pub fn kinds(session: &Session, chart: &Chart) -> Option<Kinds> {
    let settings = chart.templates.iter().find(|file| file.name == SETTINGS);
    let preprocessors = preprocessors(chart);
    let configured = read_config(session, chart, "config/resources.yaml").map(|value| config::resources(&value));
    // A new chart has no kinds yet.
    let is_metachart = settings.is_some() || chart.templates.iter().any(|file| file.name == LIBRARY);
    let resources = match configured.filter(|resources| !resources.is_empty() || is_metachart) {
        Some(resources) => resources,
        None => generated(session, chart, &String::from_utf8_lossy(&settings?.bytes))?,
    };
    let kind = |resource: &Resource| Kind {
        preprocess: preprocessors.contains(&resource.key),
        key: resource.key.clone(),
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
        identity: resource.identity.map(origin_number),
    };
    let rendered = resources.iter().filter(|resource| resource.template).map(kind).collect();
    Some(Kinds { rendered, resources })
}

/// Kinds that have a preprocessor.
pub fn preprocessors(chart: &Chart) -> BTreeSet<String> {
    let name = |name: &str| Some(name.strip_prefix("templates/preprocess/_")?.strip_suffix(".tpl")?.to_owned());
    chart.templates.iter().filter_map(|file| name(&file.name)).collect()
}

/// Whether a configuration file exists.
struct IsThere(bool);

/// A configuration file of the chart, if it exists and can be parsed; its values have locations.
pub(crate) fn read_config(session: &Session, chart: &Chart, name: &str) -> Option<Value> {
    let path = path::join(&chart.folder, name);
    // Most charts have none, and the check is shared by all variants of a project.
    if session.has_variants() && !session.in_common(&path, || IsThere(session.world.exists(&path))).0 {
        return None;
    }
    let text = session.load_text(&path, &path).ok()?;
    value_of_tree(&session.load_tree(&text.source, Flavor::Go), 0).ok()
}

/// The kinds in the settings of a packaged chart. Those that are only values are known from its schema.
fn generated(session: &Session, chart: &Chart, text: &str) -> Option<Vec<Resource>> {
    // The body between the define and its end is plain YAML.
    let (_, body) = text.split_once("{{- define \"metachart.settings\" }}")?;
    let (body, _) = body.split_once("{{- end }}")?;
    let tree = purlin_gotmpl::yaml::parse(body, &session.limits);
    let settings = value_of_tree(&tree, 0).ok()?;
    let field = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let resource = |key: &str, entry: &Value, template: bool| Resource {
        key: key.to_owned(),
        api_version: field(entry, "apiVersion"),
        kind: field(entry, "kindCamelCase"),
        schema: String::new(),
        template,
        root: true,
        defaults: true,
        origin: Origin::NONE,
        identity: [Origin::NONE; 2],
    };
    let entries = settings.as_map().into_iter().flat_map(|map| map.iter());
    let mut found: Vec<Resource> = entries.map(|(key, entry)| resource(key, entry, true)).collect();
    let schema = chart.schema.as_ref().and_then(|text| crate::json::parse(text, Origin::NONE).ok());
    let properties = schema.as_ref().and_then(|schema| schema.get("properties")?.as_map());
    for key in properties.into_iter().flat_map(|map| map.keys()) {
        if !super::check::ROOT_KEYS.contains(&key.as_str()) && !found.iter().any(|known| known.key == key.as_str()) {
            found.push(resource(key, &Value::null(), false));
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Some(found)
}
