//! A chart in memory: metadata, default values, templates, other files, and the charts inside it.

use std::sync::Arc;

use purlin_value::{Origin, Value};

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Contents of `Chart.yaml`.
    pub metadata: Metadata,
    /// The chart's own `values.yaml`; null if missing.
    pub values: Value,
    /// Its values with those of the charts inside and its imports from them: users' values are merged with these.
    /// Known once dependencies are processed, if there are any.
    pub merged: Option<Value>,
    /// `values.schema.json`
    pub schema: Option<Arc<[u8]>>,
    /// `Chart.yaml` and `values.yaml` as they are written.
    pub written: Vec<ChartFile>,
    /// Files under `templates/`, in the order they were loaded.
    pub templates: Vec<ChartFile>,
    /// All other files, which `.Files` shows.
    pub files: Vec<ChartFile>,
    /// The charts under `charts/`, after aliases were applied.
    pub dependencies: Vec<Chart>,
    /// The folder or archive it was read from.
    pub folder: String,
}

/// A file of a chart.
#[derive(Clone, Debug)]
pub struct ChartFile {
    /// The path inside the chart.
    pub name: String,
    /// Its bytes, without a byte order mark.
    pub bytes: Arc<[u8]>,
    /// Origin of its text, if templates may read it and origins are recorded.
    pub origin: Origin,
}

impl ChartFile {
    /// A file without recorded origin.
    pub fn new(name: impl Into<String>, bytes: Arc<[u8]>) -> Self {
        ChartFile { name: name.into(), bytes, origin: Origin::NONE }
    }
}

/// A string of `Chart.yaml`, with its location.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Its location.
    pub from: Option<Origin>,
}

/// Contents of `Chart.yaml`.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// `name`
    pub name: String,
    /// `version`
    pub version: String,
    /// `appVersion`
    pub app_version: String,
    /// `description`
    pub description: String,
    /// `type`
    pub kind: String,
    /// `kubeVersion`
    pub kube_version: String,
    /// `apiVersion`
    pub api_version: String,
    /// `home`
    pub home: String,
    /// `icon`
    pub icon: String,
    /// `condition`
    pub condition: String,
    /// `tags`
    pub tags: String,
    /// `deprecated`
    pub deprecated: bool,
    /// `keywords`
    pub keywords: Vec<Word>,
    /// `sources`
    pub sources: Vec<Word>,
    /// `maintainers`: name, email, url.
    pub maintainers: Vec<[Word; 3]>,
    /// `annotations`
    pub annotations: Vec<(String, Word)>,
    /// `dependencies`
    pub dependencies: Vec<Dependency>,
    /// Location of each key, by its name in the file.
    pub origins: Vec<(String, Origin)>,
    /// Values that disabled dependencies.
    pub switched_off: Vec<Origin>,
    /// Problems of the chart's own files, in the words of native commands.
    pub odd: Vec<purlin_syntax::Diagnostic>,
}

impl Metadata {
    /// Location of a key's value.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.iter().find(|(known, _)| known == key).map_or(Origin::NONE, |(_, origin)| *origin)
    }

    /// Notes that the chart is used under an alias, with the alias' location.
    pub fn renamed(&mut self, name: &str, from: Origin) {
        name.clone_into(&mut self.name);
        self.origins.retain(|(key, _)| key != "name");
        self.origins.push(("name".to_owned(), from));
    }
}

/// An entry of `dependencies`.
#[derive(Clone, Debug, Default)]
pub struct Dependency {
    /// `name`
    pub name: String,
    /// `version`
    pub version: String,
    /// `repository`
    pub repository: String,
    /// `alias`
    pub alias: String,
    /// `condition`
    pub condition: String,
    /// `tags`
    pub tags: Vec<String>,
    /// `import-values`
    pub import_values: Vec<Value>,
    /// Whether conditions and tags enable it.
    pub enabled: bool,
    /// Origins of its being enabled, and of its name: the value of its condition or tag, and its alias.
    pub decided: Vec<Origin>,
    /// Locations of its keys, if written.
    pub written: Vec<(&'static str, Origin)>,
}

impl Dependency {
    /// Location of a key's value.
    pub fn origin(&self, key: &str) -> Origin {
        self.written.iter().find(|(known, _)| *known == key).map_or(Origin::NONE, |(_, origin)| *origin)
    }
}

impl Chart {
    /// The chart's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The values that users' values are merged with.
    pub fn defaults(&self) -> &Value {
        self.merged.as_ref().unwrap_or(&self.values)
    }

    /// Whether it only defines templates for others.
    pub fn is_library(&self) -> bool {
        self.metadata.kind.eq_ignore_ascii_case("library")
    }
}
