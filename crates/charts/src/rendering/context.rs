//! Builds the root object of templates: `.Values`, `.Release`, `.Chart`, `.Capabilities`, `.Files`, `.Subcharts`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use purlin_gotmpl::hole::Hole;
use purlin_gotmpl::object::{Object, Struct};
pub use purlin_gotmpl::rope::{origin_number, origin_of};
use purlin_gotmpl::{Data, Heap, ListType, MapType, Str, Val};
use purlin_value::{Origin, Origins, Pending, Piece, Value};

use crate::capabilities::{API_VERSIONS, Capabilities};
use crate::chart::{Chart, Metadata, Word};
use crate::edition::Helm;

/// Contents of `.Release`.
#[derive(Clone, Debug)]
pub struct Release {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Origin of its name.
    pub name_from: Origin,
    /// Origin of its namespace.
    pub namespace_from: Origin,
    /// Whether it is an upgrade rather than an installation.
    pub upgrade: bool,
    /// The revision.
    pub revision: i64,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            name_from: Origin::NONE,
            namespace_from: Origin::NONE,
            upgrade: false,
            revision: 1,
        }
    }
}

/// Copies a value into the heap.
pub fn import(heap: &mut Heap, value: &Value) -> Val {
    use purlin_value::Data as D;
    let made = match &value.data {
        D::Null => Val::NIL,
        // A broken value was reported; treated as unknown, it causes no second message.
        D::Poison => heap.hole(&Hole::Broken),
        D::Lazy(lazy) => match lazy.known() {
            Some(known) => import(heap, known),
            None => heap.pending(&Pending { tasks: Vec::new(), what: "a value that nobody asked for".into() }),
        },
        D::Pending(pending) => heap.pending(pending),
        D::Bool(truth) => Val::bool(*truth),
        D::Int(number) => Val::new(Data::Int64(*number)),
        D::BigInt(text) => Val::float(text.parse().unwrap_or(0.0)),
        D::Float(number) => Val::float(*number),
        D::Str(text) => Val::str(text.as_str()),
        D::Bytes(bytes) => Val::new(Data::Bytes(Str::from(bytes.as_ref()))),
        D::List(items) => {
            let items = items.iter().map(|item| import(heap, item)).collect();
            heap.any_list(items)
        }
        D::Map(map) => {
            let entries = map.iter().map(|(key, item)| (Str::from(key.as_str()), import(heap, item))).collect();
            heap.any_map(entries)
        }
    };
    made.at(origin_number(value.origin)).taint(value.is_tainted())
}

/// Builds root contexts.
pub struct Contexts<'h> {
    /// The heap they are built in.
    pub heap: &'h mut Heap,
    release: Val,
    capabilities: Val,
    /// Records the origins of decisions on the charts inside, if enabled.
    origins: Option<Origins>,
}

impl<'h> Contexts<'h> {
    /// Starts with the parts all charts share.
    pub fn new(heap: &'h mut Heap, release: &Release, capabilities: &Capabilities) -> Self {
        let release = release_value(heap, release);
        let capabilities = capabilities_value(heap, capabilities);
        Self { heap, release, capabilities, origins: None }
    }

    /// The same, recording the decisions on the charts inside.
    pub fn noting(self, origins: Option<Origins>) -> Self {
        Self { origins, ..self }
    }

    /// The origin of the list of charts inside: their names, and what their conditions and tags are, also of those that
    /// are off.
    fn decided(&self, chart: &Chart) -> u32 {
        let decided = chart.metadata.dependencies.iter().flat_map(|one| &one.decided);
        let names = chart.dependencies.iter().map(|child| child.metadata.origin("name"));
        let all = decided.chain(&chart.metadata.switched_off).copied().chain(names);
        let pieces: Vec<Piece> = all.filter(|origin| origin.is_known()).map(Piece::whole).collect();
        match &self.origins {
            Some(origins) if !pieces.is_empty() => origin_number(origins.derived("charts inside", None, pieces)),
            _ => 0,
        }
    }

    /// The root context of a chart, and those of the charts inside it, each with its path.
    pub fn build(
        &mut self,
        chart: &Chart,
        values: Val,
        is_root: bool,
        path: &str,
        out: &mut Vec<(String, Val)>,
    ) -> Val {
        let values = match values.data {
            Data::Map(map) => {
                Val::new(Data::Map(map.seen_as(MapType::Values))).at(values.origin).taint(values.is_tainted())
            }
            _ if self.heap.is_undecided(&values) => values,
            _ => self.heap.map(MapType::Values, BTreeMap::new()),
        };
        let files = chart
            .files
            .iter()
            .map(|file| (file, Val::new(Data::Bytes(Str::from(file.bytes.as_ref()))).at(origin_number(file.origin))))
            .map(|(file, value)| (Str::from(file.name.as_str()), value));
        let files = files.collect();
        let files = self.heap.map(MapType::Files, files);
        let chart_value = chart_value(self.heap, &chart.metadata, is_root);
        let mut subcharts = BTreeMap::new();
        let subcharts_value = self.heap.any_map(BTreeMap::new()).at(self.decided(chart));
        let mut entries: BTreeMap<Str, Val> = BTreeMap::new();
        for (name, value) in [
            ("Chart", chart_value),
            ("Files", files),
            ("Release", self.release.clone()),
            ("Capabilities", self.capabilities.clone()),
            ("Values", values.clone()),
            ("Subcharts", subcharts_value.clone()),
        ] {
            entries.insert(Str::from(name), value);
        }
        let root = self.heap.map(MapType::Values, entries);
        out.push((path.to_owned(), root.clone()));
        for child in &chart.dependencies {
            let section =
                values.as_map().and_then(|map| self.heap.lookup(map, child.name().as_bytes())).unwrap_or(Val::NIL);
            let child_path = format!("{path}/charts/{}", child.name());
            let context = self.build(child, section.unboxed(), false, &child_path, out);
            subcharts.insert(Str::from(child.name()), context);
        }
        if let Some(map) = subcharts_value.as_map() {
            for (name, context) in subcharts {
                self.heap.set(map, name, context);
            }
        }
        root
    }
}

fn word(word: &Word) -> Val {
    Val::str(word.text.as_str()).at(word.from.map_or(0, origin_number))
}

fn words(heap: &mut Heap, items: &[Word]) -> Val {
    let items = items.iter().map(word).collect();
    heap.any_list(items)
}

fn record(heap: &mut Heap, entries: Vec<(&str, Val)>) -> Val {
    let entries = entries.into_iter().map(|(name, value)| (Str::from(name), value)).collect();
    heap.any_map(entries)
}

fn release_value(heap: &mut Heap, release: &Release) -> Val {
    record(
        heap,
        vec![
            ("Name", Val::str(release.name.as_str()).at(origin_number(release.name_from))),
            ("Namespace", Val::str(release.namespace.as_str()).at(origin_number(release.namespace_from))),
            ("IsUpgrade", Val::bool(release.upgrade)),
            ("IsInstall", Val::bool(!release.upgrade)),
            ("Revision", Val::int(release.revision)),
            ("Service", Val::str("Helm")),
        ],
    )
}

fn chart_value(heap: &mut Heap, metadata: &Metadata, is_root: bool) -> Val {
    let keywords = words(heap, &metadata.keywords);
    let sources = words(heap, &metadata.sources);
    let mut maintainers = Vec::new();
    for [name, email, url] in &metadata.maintainers {
        let fields = vec![("Name", word(name)), ("Email", word(email)), ("URL", word(url))];
        maintainers.push(record(heap, fields));
    }
    let maintainers = heap.any_list(maintainers);
    let mut dependencies = Vec::new();
    for dependency in &metadata.dependencies {
        let from = |key: &str| origin_number(dependency.origin(key));
        let tags = dependency.tags.iter().map(|tag| Val::str(tag.as_str()).at(from("tags"))).collect();
        let tags = heap.any_list(tags);
        let imports = dependency.import_values.iter().map(|value| import(heap, value)).collect();
        let imports = heap.any_list(imports);
        let fields = vec![
            ("Name", Val::str(dependency.name.as_str()).at(from("name"))),
            ("Version", Val::str(dependency.version.as_str()).at(from("version"))),
            ("Repository", Val::str(dependency.repository.as_str()).at(from("repository"))),
            ("Condition", Val::str(dependency.condition.as_str()).at(from("condition"))),
            ("Alias", Val::str(dependency.alias.as_str()).at(from("alias"))),
            ("Enabled", Val::bool(dependency.enabled)),
            ("Tags", tags),
            ("ImportValues", imports),
        ];
        dependencies.push(record(heap, fields));
    }
    let dependencies = heap.any_list(dependencies);
    let annotations = metadata.annotations.iter().map(|(key, value)| (Str::from(key.as_str()), word(value)));
    let annotations = annotations.collect();
    let annotations = heap.map(MapType::Strings, annotations);
    let at = |key: &str, value: Val| match metadata.origin(key) {
        origin if origin.is_known() => value.at(origin_number(origin)),
        _ => value,
    };
    let text = |key: &str, text: &str| at(key, Val::str(text));
    record(
        heap,
        vec![
            ("Name", text("name", &metadata.name)),
            ("Version", text("version", &metadata.version)),
            ("AppVersion", text("appVersion", &metadata.app_version)),
            ("Description", text("description", &metadata.description)),
            ("Type", text("type", &metadata.kind)),
            ("KubeVersion", text("kubeVersion", &metadata.kube_version)),
            ("APIVersion", text("apiVersion", &metadata.api_version)),
            ("Home", text("home", &metadata.home)),
            ("Icon", text("icon", &metadata.icon)),
            ("Condition", text("condition", &metadata.condition)),
            ("Tags", text("tags", &metadata.tags)),
            ("Deprecated", at("deprecated", Val::bool(metadata.deprecated))),
            ("Keywords", keywords),
            ("Sources", sources),
            ("Maintainers", maintainers),
            ("Dependencies", dependencies),
            ("Annotations", annotations),
            ("IsRoot", Val::bool(is_root)),
        ],
    )
}

fn object(known: Struct) -> Val {
    Val::new(Data::Object(Arc::new(Object::Struct(known))))
}

/// The usual API versions as texts that all renders share.
static USUAL_VERSIONS: OnceLock<Vec<Str>> = OnceLock::new();

/// `.Capabilities.HelmVersion`
pub(crate) fn helm_version(helm: &Helm) -> Val {
    let mut fields = vec![
        ("Version", Val::str(helm.version)),
        ("GitCommit", Val::str("")),
        ("GitTreeState", Val::str("")),
        ("GoVersion", Val::str("")),
    ];
    fields.extend(helm.client_version.map(|version| ("KubeClientVersion", Val::str(version))));
    object(Struct { name: "version.BuildInfo", fields, text: None })
}

fn capabilities_value(heap: &mut Heap, capabilities: &Capabilities) -> Val {
    let kube = &capabilities.kube;
    let given = |text: &str| Val::str(text).at(origin_number(capabilities.kube_from));
    let kube_version = object(Struct {
        name: "common.KubeVersion",
        fields: vec![("Version", given(&kube.version)), ("Major", given(&kube.major)), ("Minor", given(&kube.minor))],
        text: Some(Str::from(kube.normalized.as_str())),
    });
    let helm_version = helm_version(capabilities.helm);
    let usual = USUAL_VERSIONS.get_or_init(|| API_VERSIONS.iter().map(|version| Str::from(*version)).collect());
    let version = |(at, version): (usize, &String)| match usual.get(at) {
        // A described cluster has other versions at the beginning.
        Some(usual) if usual.bytes() == version.as_bytes() => Val::str(usual.clone()),
        _ => Val::str(version.as_str()).at(origin_number(capabilities.more_from)),
    };
    let versions = capabilities.api_versions.iter().enumerate().map(version).collect();
    let versions = heap.list(ListType::VersionSet, versions);
    object(Struct {
        name: "*common.Capabilities",
        fields: vec![("KubeVersion", kube_version), ("APIVersions", versions), ("HelmVersion", helm_version)],
        text: None,
    })
}
