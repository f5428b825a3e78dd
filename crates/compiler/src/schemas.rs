//! The JSON Schemas of all dialects and editions, made from their tables.

use purlin_model::json_schema;
use purlin_model::schema::Edition;
use purlin_syntax::{Diagnostic, Node, suggest};
use purlin_value::{Session, Value, path};

/// Subject of a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SchemaOf {
    /// A document of a Garden configuration file.
    Garden,
    /// A document of a `skaffold.yaml` in one edition.
    Skaffold(purlin_skaffold::editions::Edition),
    /// A TOSCA file in one edition.
    Tosca(Edition),
    /// An Unfurl ensemble.
    Ensemble,
    /// `Chart.yaml`.
    Chart,
    /// The values of one chart.
    ChartValues,
    /// A kustomization.
    Kustomization,
    /// A Kubernetes object, by its `apiVersion` and `kind`.
    Object(&'static str, &'static str),
}

/// The names that need no version, each with one sentence.
pub const SCHEMA_NAMES: &[(&str, &str)] = &[
    ("garden", "documents of Garden configuration files"),
    ("skaffold", "documents of `skaffold.yaml`; `skaffold/VERSION` for another version than the newest"),
    ("tosca-1.0", "TOSCA 1.0 files"),
    ("tosca-1.1", "TOSCA 1.1 files"),
    ("tosca-1.2", "TOSCA 1.2 files"),
    ("tosca-1.3", "TOSCA 1.3 files"),
    ("tosca-2.0", "TOSCA 2.0 files"),
    ("ensemble", "Unfurl ensembles"),
    ("chart", "`Chart.yaml`"),
    ("kustomization", "`kustomization.yaml`"),
    ("chart-values", "the values of a chart, from its `values.yaml` and `values.schema.json`"),
];

impl SchemaOf {
    /// The schema of a name; the error is a suggestion.
    pub fn named(name: &str) -> Result<SchemaOf, String> {
        if let Some(edition) = skaffold_edition(name) {
            return Ok(SchemaOf::Skaffold(edition));
        }
        if let Some(number) = name.strip_prefix("tosca-")
            && let Some(edition) = purlin_tosca::entities::SCHEMA.edition(number)
            && SCHEMA_NAMES.iter().any(|(known, _)| *known == name)
        {
            return Ok(SchemaOf::Tosca(edition));
        }
        match name {
            "garden" => Ok(SchemaOf::Garden),
            "ensemble" => Ok(SchemaOf::Ensemble),
            "chart" => Ok(SchemaOf::Chart),
            "chart-values" => Ok(SchemaOf::ChartValues),
            "kustomization" => Ok(SchemaOf::Kustomization),
            _ => {
                let names = SCHEMA_NAMES.iter().map(|(name, _)| *name);
                let hint = suggest::did_you_mean(name, names.clone());
                let hint = hint.unwrap_or_else(|| format!("there are {}", names.collect::<Vec<_>>().join(", ")).into());
                Err(format!("unknown schema `{name}`; {hint}"))
            }
        }
    }

    /// Whether it describes one project rather than a format, so that a path is needed.
    pub fn needs_path(self) -> bool {
        self == SchemaOf::ChartValues
    }

    /// The schema of a format.
    pub fn schema(self) -> Value {
        match self {
            SchemaOf::Garden => purlin_garden::json_schema::json_schema(),
            SchemaOf::Skaffold(edition) => purlin_skaffold::json_schema::json_schema(edition),
            SchemaOf::Tosca(edition) => {
                json_schema(&purlin_tosca::entities::SCHEMA, purlin_tosca::entities::FILE, edition)
            }
            SchemaOf::Ensemble => purlin_unfurl::entities::json_schema(),
            SchemaOf::Chart => purlin_charts::json_schema::chart(),
            SchemaOf::Kustomization => {
                use purlin_kustomize::entities::{KUSTOMIZATION, SCHEMA};
                json_schema(&SCHEMA, KUSTOMIZATION, Edition(0))
            }
            SchemaOf::Object(version, kind) => {
                purlin_kubernetes::json_schema::schema(version, kind).unwrap_or_else(|| Value::from(true))
            }
            // Without a chart its values are unknown.
            SchemaOf::ChartValues => Value::from(true),
        }
    }

    /// The schema of a format, or of the project in a folder.
    pub fn schema_at(self, session: &Session, folder: &str) -> Result<Value, Diagnostic> {
        match self {
            SchemaOf::ChartValues => purlin_charts::json_schema::values(session, folder),
            other => Ok(other.schema()),
        }
    }
}

/// `skaffold` is the newest edition, `skaffold/v2beta29` and `skaffold-v2beta29` are that one.
fn skaffold_edition(name: &str) -> Option<purlin_skaffold::editions::Edition> {
    use purlin_skaffold::editions::{self, GROUP, LATEST};
    if name == "skaffold" {
        return Some(LATEST);
    }
    let version = name.strip_prefix("skaffold-").or_else(|| name.strip_prefix(GROUP))?;
    editions::parse(&format!("{GROUP}{version}"))
}

/// The schema of a document in a file: by its contents, or by the file's name.
pub fn schema_of(file: &str, root: Node<'_>) -> Option<SchemaOf> {
    schema_by(file, |key| root.get(key).filter(|value| value.is_scalar()).map(Node::text))
}

/// The same for callers with access to only some scalars of the document's root.
pub fn schema_by<'t>(file: &str, scalar: impl Fn(&str) -> Option<&'t str>) -> Option<SchemaOf> {
    let version = scalar("apiVersion").unwrap_or_default();
    let name = path::file_name(file);
    if let Some(keyword) = scalar("tosca_definitions_version") {
        return purlin_tosca::profile::version(keyword).map(|version| SchemaOf::Tosca(version.edition));
    }
    if version.starts_with(purlin_skaffold::editions::GROUP) {
        use purlin_skaffold::editions::{self, LATEST};
        return Some(SchemaOf::Skaffold(editions::parse(version).unwrap_or(LATEST)));
    }
    if version.starts_with("unfurl/") {
        return scalar("kind").filter(|kind| matches!(*kind, "Ensemble" | "Manifest")).map(|_| SchemaOf::Ensemble);
    }
    if purlin_garden::files::is_config_file(name) && (version.is_empty() || version.starts_with("garden.io/")) {
        return Some(SchemaOf::Garden);
    }
    if name == "Chart.yaml" {
        return Some(SchemaOf::Chart);
    }
    if purlin_kustomize::FILES.contains(&name) || version.starts_with(purlin_kustomize::GROUP) {
        return Some(SchemaOf::Kustomization);
    }
    let (version, kind) = purlin_kubernetes::json_schema::kind(version, scalar("kind")?)?;
    Some(SchemaOf::Object(version, kind))
}
