//! A chart rendered as a release: its manifests, hooks and notes, its values, and the form in which Helm stores it.
//!
//! The cluster is handed in: its version, its kinds, and what `lookup` answers. It must not know how a cluster is asked.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use purlin_gotmpl::Lookup;
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use purlin_value::encoding::base64;
use purlin_value::{Map, Origin, Session, Value};

use crate::chart::{Chart, ChartFile, Dependency, Metadata, Word};
use crate::context::import;
use crate::edition::Helm;
use crate::engine;
use crate::given::user_values;
use crate::json;
use crate::manifest::{self, Document};
use crate::repository::read_lock;
use crate::template::{
    Options, Prepared, TemplateError, broken_manifest, definitions, engine_limits, open, prepare_chart, release_name,
};
use crate::values::{Account, Coalescer};

/// What an upgrade takes over from the revision before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// The user's values if none are given now.
    #[default]
    Usual,
    /// Nothing: `--reset-values`.
    Nothing,
    /// All values, those of its chart too: `--reuse-values`.
    All,
    /// The user's values under those given now: `--reset-then-reuse-values`.
    Given,
}

/// The revision before.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// The default values of its chart.
    pub values: Value,
    /// The user's values.
    pub config: Value,
    /// The name of its chart.
    pub chart: String,
}

/// Answers `lookup`: version, kind, namespace and name; an empty mapping for what does not exist.
pub type Asked = dyn Fn([&str; 4]) -> Result<Value, String> + Send + Sync;

/// A cluster as templates see it.
#[derive(Clone)]
pub struct Cluster {
    /// The version of its server.
    pub version: String,
    /// Versions of groups, and kinds as `apps/v1/Deployment`.
    pub api_versions: Vec<String>,
    /// Answers `lookup`.
    pub lookup: Arc<Asked>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cluster {}", self.version)
    }
}

/// Conditions of a release.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The options of rendering.
    pub options: Options,
    /// The revision.
    pub revision: i64,
    /// What is taken over from the revision before.
    pub reuse: Reuse,
    /// The revision before.
    pub previous: Option<Previous>,
    /// The cluster, unless it is not to be asked.
    pub cluster: Option<Cluster>,
    /// `--render-subchart-notes`
    pub sub_notes: bool,
    /// `--hide-secret`
    pub hide_secret: bool,
}

/// A rendered release.
#[derive(Debug, Default)]
pub struct Made {
    /// Its name.
    pub name: String,
    /// The chart as Helm stores it, in JSON.
    pub chart: String,
    /// The user's values, in JSON.
    pub config: String,
    /// The text of all manifests that are not hooks.
    pub manifest: String,
    /// The hooks.
    pub hooks: Vec<Document>,
    /// The notes.
    pub notes: String,
    /// Warnings that Helm would log.
    pub warnings: Vec<String>,
    /// Whether the chart is deprecated.
    pub is_deprecated: bool,
}

/// The custom resource definitions of a chart and of the enabled ones inside, each with its path.
pub fn definitions_of(session: &Session, path: &str, terms: &Terms) -> Result<Vec<(String, String)>, TemplateError> {
    let chart = open(session, path)?;
    if definitions(&chart, chart.name()).is_empty() {
        return Ok(Vec::new());
    }
    let values = user_values(session, &terms.options)?;
    // Whether the chart can be installed is decided with the cluster's kinds, which these definitions add to.
    let options = Options { is_lint: true, lenient: true, skip_schema: true, ..terms.options.clone() };
    let prepared = prepare_chart(session, chart, values, "release-name".to_owned(), &options)?;
    Ok(definitions(&prepared.chart, prepared.chart.name()))
}

/// Renders a chart as a release.
pub fn make(session: &Session, path: &str, terms: &Terms) -> Result<Made, TemplateError> {
    let mut chart = open(session, path)?;
    let name = release_name(session, &terms.options)?;
    let lock = read_lock(session, &chart).ok().flatten();
    let given = user_values(session, &terms.options)?;
    let config = reused(session, &mut chart, given, terms)?;
    let mut options = terms.options.clone();
    if let Some(cluster) = &terms.cluster {
        options.kube_version = Some(cluster.version.clone());
        options.api_versions.clear();
    }
    let mut prepared = prepare_chart(session, chart, config.clone(), name.clone(), &options)?;
    prepared.release.revision = terms.revision;
    if let Some(cluster) = &terms.cluster {
        prepared.capabilities.api_versions.clone_from(&cluster.api_versions);
    }
    let rendered = render(session, &prepared, terms.cluster.as_ref())?;
    let (notes, texts): (Vec<_>, Vec<_>) = rendered
        .files
        .iter()
        .map(|(path, rope)| (path.as_str(), String::from_utf8_lossy(&rope.bytes)))
        .partition(|(path, _)| path.ends_with(NOTES));
    let files = texts.iter().map(|(path, text)| (*path, text.as_ref()));
    let mut manifests =
        manifest::sort(files, &rendered.holes, &session.limits).map_err(|broken| broken_manifest(broken, &texts))?;
    manifests.as_of(options.helm);
    let mut warnings: Vec<String> = prepared.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(manifests.unknown_hooks.iter().map(|hook| options.helm.unknown_hook(hook)));
    let own = format!("{}/templates/{NOTES}", prepared.chart.name());
    let notes = notes.iter().filter(|(path, _)| terms.sub_notes || **path == own).map(|(_, text)| text.as_ref());
    let chart = stored(&prepared.chart, lock).map_err(TemplateError::from)?;
    Ok(Made {
        name,
        chart,
        config: written(&config).map_err(TemplateError::from)?,
        manifest: manifests.resources.iter().map(|document| section(document, terms.hide_secret)).collect(),
        hooks: manifests.hooks,
        notes: notes.collect::<Vec<&str>>().join("\n"),
        warnings,
        is_deprecated: prepared.chart.metadata.deprecated,
    })
}

const NOTES: &str = "NOTES.txt";

fn section(document: &Document, hides_secrets: bool) -> String {
    let mut text = format!("---\n# Source: {}\n", document.path);
    let is_hidden = hides_secrets && document.kind == "Secret" && document.api_version == "v1";
    let body = if is_hidden { "# HIDDEN: The Secret output has been suppressed" } else { &document.text };
    let _ = writeln!(text, "{body}");
    text
}

/// Renders with the answers of a cluster. The first one that could not be had is the error.
fn render(
    session: &Session,
    prepared: &Prepared,
    cluster: Option<&Cluster>,
) -> Result<engine::Rendered, TemplateError> {
    let failure: Arc<Mutex<Option<String>>> = Arc::default();
    let mut outside = prepared.outside(session, false);
    if let Some(cluster) = cluster {
        let (lookup, failure) = (cluster.lookup.clone(), failure.clone());
        outside.lookup = Some(Lookup(Arc::new(move |heap, asked| match lookup(asked) {
            Ok(value) => import(heap, &value),
            Err(why) => {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                heap.any_map(Default::default())
            }
        })));
    }
    let limits = engine_limits(session);
    let rendered = engine::compile_for(session, &prepared.chart, prepared.capabilities.helm)
        .and_then(|compiled| engine::render(&compiled, prepared.inputs(&outside, &limits)));
    if let Some(why) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(TemplateError::rendering(format!("error calling lookup: {why}")));
    }
    rendered.map_err(TemplateError::from)
}

/// The user's values with those that are taken over from the revision before.
fn reused(session: &Session, chart: &mut Chart, given: Value, terms: &Terms) -> Result<Value, TemplateError> {
    let Some(previous) = &terms.previous else { return Ok(given) };
    let is_empty = |value: &Value| value.as_map().is_none_or(|map| map.is_empty());
    match terms.reuse {
        Reuse::Nothing => Ok(given),
        Reuse::Usual if is_empty(&given) && !is_empty(&previous.config) => Ok(previous.config.clone()),
        Reuse::Usual => Ok(given),
        Reuse::Given => filled(session, given, &previous.config, terms.options.helm),
        Reuse::All => {
            chart.values = coalesced(session, previous, terms.options.helm)?;
            filled(session, given, &previous.config, terms.options.helm)
        }
    }
}

/// A mapping with what it lacks from a weaker one.
fn filled(session: &Session, strong: Value, weak: &Value, helm: &'static Helm) -> Result<Value, TemplateError> {
    let Some(weak) = weak.as_map() else { return Ok(strong) };
    let account = Account::new(&session.meter);
    let mut map = strong.as_map().cloned().unwrap_or_default();
    Coalescer::new(None, &account, helm).fill(&mut map, weak).map_err(crate::values::Trouble::from)?;
    Ok(strong.with(map.into()))
}

/// All values of an earlier revision: the user's over those of its chart, as it was stored.
pub fn coalesced(session: &Session, previous: &Previous, helm: &'static Helm) -> Result<Value, TemplateError> {
    let chart = Chart {
        metadata: Metadata { name: previous.chart.clone(), ..Metadata::default() },
        values: previous.values.clone(),
        merged: None,
        schema: None,
        written: Vec::new(),
        templates: Vec::new(),
        files: Vec::new(),
        dependencies: Vec::new(),
        folder: String::new(),
    };
    let account = Account::new(&session.meter);
    let values = match previous.config.as_map() {
        Some(_) => previous.config.clone(),
        None => Value::map(Map::new()),
    };
    Coalescer::new(None, &account, helm).coalesce(&chart, &values).map_err(TemplateError::from)
}

/// A value from JSON, as records have it.
pub fn read(text: &str) -> Result<Value, String> {
    json::parse(text.as_bytes(), Origin::NONE)
}

/// A value as JSON, with its keys in order.
pub fn written(value: &Value) -> Result<String, String> {
    let mut out = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    json::write(value, &mut out, 0)?;
    out.finish().map_err(|_| "the values are too large".to_owned())
}

/// The metadata of a chart as Helm's JSON.
pub fn metadata_json(data: &Metadata) -> Result<String, String> {
    let mut out = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    write_metadata(data, &mut out)?;
    out.finish().map_err(|_| "the metadata is too large".to_owned())
}

/// Go's time of nothing, which Helm writes where a lock file tells no time.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// A chart as Helm stores it: without the charts inside.
fn stored(chart: &Chart, lock: Option<crate::repository::Lock>) -> Result<String, String> {
    let mut out = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Go);
    out.begin_map(7);
    out.key("metadata");
    write_metadata(&chart.metadata, &mut out)?;
    out.key("lock");
    match lock {
        None => out.null(),
        Some(lock) => {
            out.begin_map(3);
            text(&mut out, "generated", NO_TIME);
            text(&mut out, "digest", &lock.digest);
            out.key("dependencies");
            out.begin_list(lock.dependencies.len());
            for one in &lock.dependencies {
                out.begin_map(3);
                text(&mut out, "name", &one.name);
                text(&mut out, "version", &one.version);
                text(&mut out, "repository", &one.repository);
                out.end_map();
            }
            out.end_list();
            out.end_map();
        }
    }
    out.key("templates");
    write_files(&chart.templates, &mut out);
    out.key("values");
    json::write(chart.defaults(), &mut out, 0)?;
    out.key("schema");
    match &chart.schema {
        Some(schema) => out.string(&base64(schema)),
        None => out.null(),
    }
    text(&mut out, "schemamodtime", NO_TIME);
    out.key("files");
    write_files(&chart.files, &mut out);
    out.end_map();
    out.finish().map_err(|_| "the chart is too large".to_owned())
}

fn text(out: &mut JsonWriter, key: &str, value: &str) {
    out.key(key);
    out.string(value);
}

fn write_files(files: &[ChartFile], out: &mut JsonWriter) {
    out.begin_list(files.len());
    for file in files {
        out.begin_map(2);
        text(out, "name", &file.name);
        text(out, "data", &base64(&file.bytes));
        out.end_map();
    }
    out.end_list();
}

/// The fields that are not empty, in the order of Helm's type.
fn write_metadata(data: &Metadata, out: &mut JsonWriter) -> Result<(), String> {
    out.begin_map(17);
    let filled = |out: &mut JsonWriter, key: &str, value: &str| {
        if !value.is_empty() {
            text(out, key, value);
        }
    };
    filled(out, "name", &data.name);
    filled(out, "home", &data.home);
    write_words("sources", &data.sources, out);
    filled(out, "version", &data.version);
    filled(out, "description", &data.description);
    write_words("keywords", &data.keywords, out);
    if !data.maintainers.is_empty() {
        out.key("maintainers");
        out.begin_list(data.maintainers.len());
        for [name, email, url] in &data.maintainers {
            out.begin_map(3);
            filled(out, "name", &name.text);
            filled(out, "email", &email.text);
            filled(out, "url", &url.text);
            out.end_map();
        }
        out.end_list();
    }
    filled(out, "icon", &data.icon);
    filled(out, "apiVersion", &data.api_version);
    filled(out, "condition", &data.condition);
    filled(out, "tags", &data.tags);
    filled(out, "appVersion", &data.app_version);
    if data.deprecated {
        out.key("deprecated");
        out.bool(true);
    }
    if !data.annotations.is_empty() {
        out.key("annotations");
        out.begin_map(data.annotations.len());
        data.annotations.iter().for_each(|(key, word)| text(out, key, &word.text));
        out.end_map();
    }
    filled(out, "kubeVersion", &data.kube_version);
    if !data.dependencies.is_empty() {
        out.key("dependencies");
        out.begin_list(data.dependencies.len());
        data.dependencies.iter().try_for_each(|one| write_dependency(one, out))?;
        out.end_list();
    }
    filled(out, "type", &data.kind);
    out.end_map();
    Ok(())
}

fn write_words(key: &str, words: &[Word], out: &mut JsonWriter) {
    if words.is_empty() {
        return;
    }
    out.key(key);
    out.begin_list(words.len());
    words.iter().for_each(|word| out.string(&word.text));
    out.end_list();
}

fn write_dependency(one: &Dependency, out: &mut JsonWriter) -> Result<(), String> {
    out.begin_map(8);
    let filled = |out: &mut JsonWriter, key: &str, value: &str| {
        if !value.is_empty() {
            text(out, key, value);
        }
    };
    text(out, "name", &one.name);
    filled(out, "version", &one.version);
    text(out, "repository", &one.repository);
    filled(out, "condition", &one.condition);
    if !one.tags.is_empty() {
        out.key("tags");
        out.begin_list(one.tags.len());
        one.tags.iter().for_each(|tag| out.string(tag));
        out.end_list();
    }
    if one.enabled {
        out.key("enabled");
        out.bool(true);
    }
    if !one.import_values.is_empty() {
        out.key("import-values");
        out.begin_list(one.import_values.len());
        one.import_values.iter().try_for_each(|value| json::write(value, out, 0))?;
        out.end_list();
    }
    filled(out, "alias", &one.alias);
    out.end_map();
    Ok(())
}
