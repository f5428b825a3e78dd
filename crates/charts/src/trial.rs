//! Renders a chart for unit tests: with selected templates, complete values, and a described cluster. Checks that Helm
//! makes only on installation (the version of Kubernetes, missing dependencies, libraries) are omitted. It must not
//! know the format of tests.

use crate::capabilities::{Capabilities, KubeVersion};
use crate::chart::Chart;
use crate::context::{Release, import};
use crate::dependencies;
use crate::edition::HELM_3;
use crate::engine::{self, Compiled, Inputs, RenderError};
use crate::load::{About, LoadError, load};
use crate::template::{TemplateError, definitions, engine_limits, judge, outside, refuse};
use crate::values::{Account, Coalescer, Trouble, merge_maps};
use purlin_gotmpl::{Heap, Lookup, Val};
use purlin_model::validate::Stopped;
use purlin_syntax::Node;
use purlin_value::{Data, Map, Origin, Session, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Conditions for rendering a chart.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Values as given by users.
    pub values: Value,
    /// `.Release.Name`; checked only where `is_named`.
    pub name: String,
    /// Whether the name is given, and thus must be valid.
    pub is_named: bool,
    /// `.Release.Namespace`
    pub namespace: String,
    /// `.Release.Revision`
    pub revision: i64,
    /// `.Release.IsUpgrade`
    pub is_upgrade: bool,
    /// The two numbers of `.Capabilities.KubeVersion`.
    pub kube: [String; 2],
    /// `.Capabilities.APIVersions`
    pub api_versions: Vec<String>,
    /// `.Chart.Version`, if not the chart's own.
    pub version: Option<String>,
    /// `.Chart.AppVersion`, if not the chart's own.
    pub app_version: Option<String>,
    /// The described cluster.
    pub cluster: Option<Arc<Cluster>>,
}

/// Reason why nothing was rendered.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Helm's text.
    pub message: String,
    /// Whether templates were being rendered.
    pub while_rendering: bool,
    /// The limit that stopped it, if one did.
    pub stopped: Option<Box<purlin_syntax::Diagnostic>>,
}

impl Failure {
    fn before(message: impl Into<String>) -> Self {
        Failure { message: message.into(), while_rendering: false, stopped: None }
    }
}

impl From<TemplateError> for Failure {
    fn from(error: TemplateError) -> Self {
        let stopped = match error.about {
            About::Schema(Stopped::Exceeded(exceeded)) => Some(Box::new(exceeded.diagnostic())),
            _ => None,
        };
        Failure { stopped, ..Failure::before(error.message) }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        TemplateError::from(trouble).into()
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        let message = error.text_of(&HELM_3);
        let stopped = match &error {
            RenderError::Exec(inner) => inner.limit().map(|limit| {
                let rule = crate::report::limit_rule(limit);
                Box::new(purlin_syntax::Diagnostic::nowhere(rule, message.clone()))
            }),
            _ => None,
        };
        Failure { message, while_rendering: true, stopped }
    }
}

/// A chart that is rendered many times.
#[derive(Debug)]
pub struct Bench {
    chart: Chart,
    /// Templates parsed, by the names of those that were chosen.
    compiled: Mutex<HashMap<String, Arc<Compiled>>>,
}

/// A rendered file: its full name and its text.
pub type RenderedFile = (String, String);

impl Bench {
    /// The chart at a path.
    pub fn open(session: &Session, path: &str) -> Result<Self, LoadError> {
        Ok(Bench { chart: load(session, path)?, compiled: Mutex::default() })
    }

    /// The chart.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// Its custom resource definitions, and those of the charts inside: full name and text.
    pub fn definitions(&self) -> Vec<RenderedFile> {
        definitions(&self.chart, self.chart.name())
    }

    /// Renders the files with the selected full names, with the partials of all charts.
    pub fn render(
        &self,
        session: &Session,
        terms: &Terms,
        is_chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<RenderedFile>, Failure> {
        let mut capabilities = Capabilities { helm: &HELM_3, ..Capabilities::default() };
        let [major, minor] = &terms.kube;
        let version = format!("v{major}.{minor}.0");
        let (major, minor) = (major.clone(), minor.clone());
        capabilities.kube = KubeVersion { normalized: version.clone(), version, major, minor };
        capabilities.api_versions.clone_from(&terms.api_versions);
        if terms.is_named && !is_release_name(&terms.name) {
            return Err(Failure::before(BAD_NAME));
        }
        let mut chart = self.chart.clone();
        let account = Account::new(&session.meter);
        dependencies::process(&mut chart, &terms.values, &account, None, &HELM_3)?;
        let values = Coalescer::new(None, &account, &HELM_3).coalesce(&chart, &terms.values)?;
        refuse(judge(session, &chart, &values)?.problems)?;
        rewrite_metadata(&mut chart, terms);
        let mut names = Vec::new();
        let path = chart.name().to_owned();
        choose(&mut chart, &path, is_chosen, &mut names);
        let compiled = self.compiled(&chart, &names)?;
        let release = Release {
            name: terms.name.clone(),
            namespace: terms.namespace.clone(),
            upgrade: terms.is_upgrade,
            revision: terms.revision,
            ..Release::default()
        };
        let mut outside = outside(session, false);
        outside.lookup = terms.cluster.clone().map(Cluster::answering);
        let limits = engine_limits(session);
        let inputs = Inputs {
            chart: &chart,
            values: &values,
            release: &release,
            capabilities: &capabilities,
            outside: &outside,
            limits: &limits,
            keep_going: false,
        };
        let rendered = engine::render(&compiled, inputs)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(rendered.files.into_iter().map(|(name, rope)| (name, text(&rope.bytes))).collect())
    }

    fn compiled(&self, chart: &Chart, names: &[String]) -> Result<Arc<Compiled>, Failure> {
        let key = names.join("\n");
        let known = |table: &HashMap<String, Arc<Compiled>>| table.get(&key).cloned();
        if let Some(known) = known(&self.compiled.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let compiled = Arc::new(engine::compile_as(chart, &HELM_3)?);
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).insert(key, compiled.clone());
        Ok(compiled)
    }
}

/// Removes templates that are not selected; records the rest.
fn choose(chart: &mut Chart, path: &str, is_chosen: &dyn Fn(&str) -> bool, names: &mut Vec<String>) {
    chart.templates.retain(|file| {
        let full = format!("{path}/{}", file.name);
        let is_partial = file.name.rsplit('/').next().is_some_and(|base| base.starts_with('_'));
        let stays = is_partial || is_chosen(&full);
        if stays {
            names.push(full);
        }
        stays
    });
    for child in &mut chart.dependencies {
        let path = format!("{path}/charts/{}", child.name());
        choose(child, &path, is_chosen, names);
    }
}

/// Versions that a test gives hold for the chart and for those directly inside it.
fn rewrite_metadata(chart: &mut Chart, terms: &Terms) {
    let rewrite = |chart: &mut Chart| {
        if let Some(version) = &terms.version {
            chart.metadata.version.clone_from(version);
        }
        if let Some(version) = &terms.app_version {
            chart.metadata.app_version.clone_from(version);
        }
    };
    rewrite(chart);
    chart.dependencies.iter_mut().for_each(rewrite);
}

/// Helm 3's message for an invalid name.
const BAD_NAME: &str = "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53";

fn is_release_name(name: &str) -> bool {
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit();
    let is_part =
        |part: &str| part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|ch| plain(ch) || ch == '-');
    name.len() <= 53 && name.split('.').all(is_part)
}

/// Values over others; those of the second win, mappings are merged inside.
pub fn merge_values(base: Value, over: Value) -> Value {
    merge_maps(base, over, None)
}

/// The value of a test's node for a chart: every number is a float, as in JSON.
pub fn value_of_node(node: Node<'_>) -> Value {
    as_chart_value(purlin_value::value_of(node, purlin_value::MergeKeys::Apply))
}

fn as_chart_value(value: Value) -> Value {
    let origin = value.origin;
    let data = match value.data {
        Data::Int(number) => Data::Float(number as f64),
        Data::BigInt(text) => Data::Float(text.parse().unwrap_or(f64::MAX)),
        Data::List(items) => Data::List(Arc::new(items.iter().cloned().map(as_chart_value).collect::<Vec<_>>().into())),
        Data::Map(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), as_chart_value(value.clone())));
            Data::Map(Arc::new(entries.collect::<Map>()))
        }
        other => other,
    };
    Value::new(data).with_origin(origin)
}

/// A kind served by a described cluster.
#[derive(Clone, Debug)]
pub struct KnownKind {
    /// Version and kind in the form of requests: `apps/v1/Deployment`.
    pub name: String,
    /// Group, version and resource under which its objects are kept.
    pub resource: [String; 3],
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
}

/// A described cluster, in place of a real one.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Its kinds.
    pub kinds: Vec<KnownKind>,
    /// Its objects.
    pub objects: Vec<Value>,
}

impl Cluster {
    fn answering(self: Arc<Self>) -> Lookup {
        Lookup(Arc::new(move |heap, asked| self.answer(heap, asked)))
    }

    /// The object of a name, or all of a kind; empty for a kind that is not described.
    fn answer(&self, heap: &mut Heap, [version, kind, namespace, name]: [&str; 4]) -> Val {
        let asked = format!("{version}/{kind}");
        let empty = |heap: &mut Heap| heap.any_map(Default::default());
        let Some(known) = self.kinds.iter().find(|known| known.name == asked) else { return empty(heap) };
        let namespace = if known.is_namespaced { namespace } else { "" };
        let of_kind = self.objects.iter().filter(|object| resource_of(object) == Some(known.resource.clone()));
        let at = |object: &Value, key: &str| {
            let found = object.get("metadata").and_then(|metadata| metadata.get(key));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        if !name.is_empty() {
            let mut named = of_kind.filter(|object| at(object, "name") == name && at(object, "namespace") == namespace);
            return match named.next() {
                Some(object) => import(heap, object),
                None => empty(heap),
            };
        }
        let items: Vec<Value> =
            of_kind.filter(|object| namespace.is_empty() || at(object, "namespace") == namespace).cloned().collect();
        let metadata = [("continue", Value::str("")), ("resourceVersion", Value::str(""))];
        let entries = [
            ("apiVersion", Value::str(version)),
            ("items", Value::list(items)),
            ("kind", Value::str(format!("{kind}List"))),
            ("metadata", Value::map(metadata.into_iter().map(|(key, value)| (key.into(), value)).collect())),
        ];
        let list = Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect());
        import(heap, &list.with_origin(Origin::NONE))
    }
}

/// Group, version and resource of an object, guessed from its kind as Kubernetes' client does.
fn resource_of(object: &Value) -> Option<[String; 3]> {
    let version = object.get("apiVersion")?.as_str()?;
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = object.get("kind")?.as_str()?.to_lowercase();
    let resource = match kind.as_str() {
        "endpoints" => kind,
        _ if kind.ends_with('s') => format!("{kind}es"),
        _ => match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{kind}s"),
        },
    };
    Some([group.to_owned(), version.to_owned(), resource])
}
