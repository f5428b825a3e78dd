//! A kustomization file as commands change it: its fields in written order, each with the comments above it.
//!
//! Knows the file format as written by Kustomize. Changes are in `edit.rs`; it must not know command lines.

pub mod edit;

use crate::entities::{KUSTOMIZATION, rows};
use crate::kustomization::{COMPONENT_VERSION, VERSION};
use crate::shape;
use ecow::EcoString;
use purlin_model::schema::{Kind, Shape};
use purlin_syntax::write::{Emit, GoStyle, GoYamlWriter, sort_go_keys};
use purlin_syntax::{Diagnostic, FileId, Flavor, Limits, Source, yaml};
use purlin_value::emit::{Secrets, emit};
use purlin_value::{Data, Map, MergeKeys, Value, value_of};
use std::sync::Arc;

/// The order in which fields are written that a file does not have yet. `imageTags` and the old form of charts are only
/// read.
const ORDER: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "sortOptions",
    "resources",
    "bases",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "crds",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "configMapGenerator",
    "secretGenerator",
    "helmCharts",
    "helmChartInflationGenerator",
    "helmGlobals",
    "generatorOptions",
    "vars",
    "images",
    "replacements",
    "replicas",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "components",
    "openapi",
    "buildMetadata",
];

/// A kustomization file that is changed.
pub struct KustomizationFile {
    /// Fields in the order of the file, with the comments and blank lines above each.
    written: Vec<(&'static str, String)>,
    /// Comments below the last field.
    end: String,
    value: Value,
    /// Whether it has comments behind values, where they cannot be kept.
    pub loses_comments: bool,
}

impl KustomizationFile {
    /// Reads a file. Fields that are no longer used become those that replace them.
    pub fn read(path: &str, text: &str, limits: &Limits) -> Result<KustomizationFile, Box<Diagnostic>> {
        let source = Arc::new(Source::new(FileId(0), path, text));
        let tree = yaml::parse(source, Flavor::Go, limits);
        if let Some(problem) = tree.diagnostics().iter().find(|diagnostic| diagnostic.is_error() && !tree.is_sound()) {
            return Err(Box::new(problem.clone()));
        }
        let value = match tree.root().filter(|root| root.is_map()) {
            Some(root) => {
                let differs = shape::check(root, KUSTOMIZATION).map_err(Box::new)?;
                let value = value_of(root, MergeKeys::Apply);
                if differs { shape::in_known_case(&value, KUSTOMIZATION) } else { value }
            }
            None => Value::map(Map::new()),
        };
        let (written, end) = written(text);
        let loses_comments = tree.comments().iter().any(|comment| comment.trailing);
        let mut file = KustomizationFile { written, end, value, loses_comments };
        file.modernise();
        Ok(file)
    }

    /// A file without any field.
    pub fn empty() -> KustomizationFile {
        let value = Value::map(Map::new());
        let mut file = KustomizationFile { written: Vec::new(), end: String::new(), value, loses_comments: false };
        file.modernise();
        file
    }

    /// Kustomize's own changes to every file that it reads.
    fn modernise(&mut self) {
        if self.text("kind").is_empty() {
            self.set("kind", Value::str("Kustomization"));
        }
        if self.text("apiVersion").is_empty() {
            let version = if self.text("kind") == "Component" { COMPONENT_VERSION } else { VERSION };
            self.set("apiVersion", Value::str(version));
        }
        for (old, new) in [("bases", "resources"), ("imageTags", "images")] {
            let moved = self.list(old);
            if !moved.is_empty() {
                let mut all = self.list(new);
                all.extend(moved);
                self.set_list(new, all);
                self.set_list(old, Vec::new());
            }
        }
        for field in ["configMapGenerator", "secretGenerator"] {
            let mut generators = self.list(field);
            for generator in &mut generators {
                let Some(old) = generator.get("env").filter(|old| old.as_str().is_some_and(|text| !text.is_empty()))
                else {
                    continue;
                };
                let mut all = generator.get("envs").and_then(Value::as_list).unwrap_or_default().to_vec();
                all.push(old.clone());
                crate::edit::take(generator, "env");
                crate::edit::set(generator, "envs", Value::list(all));
            }
            self.set_list(field, generators);
        }
    }

    /// The text of a field; empty if it is not set.
    pub fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The items of a field.
    pub fn list(&self, field: &str) -> Vec<Value> {
        self.value.get(field).and_then(Value::as_list).unwrap_or_default().to_vec()
    }

    /// The entries of a field, if it is set.
    pub fn pairs(&self, field: &str) -> Option<Map> {
        self.value.get(field).and_then(Value::as_map).cloned()
    }

    /// Sets a field.
    pub fn set(&mut self, field: &str, to: Value) {
        crate::edit::set(&mut self.value, field, to);
    }

    /// Sets a field; without items it is removed.
    pub fn set_list(&mut self, field: &str, to: Vec<Value>) {
        match to.is_empty() {
            true => drop(crate::edit::take(&mut self.value, field)),
            false => self.set(field, Value::list(to)),
        }
    }

    /// The file as Kustomize writes it.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for (field, comments) in &self.written {
            text.push_str(comments);
            text.push_str(&self.field(field));
        }
        for field in ORDER.iter().filter(|field| !self.written.iter().any(|(known, _)| known == *field)) {
            text.push_str(&self.field(field));
        }
        text.push_str(&self.end);
        text
    }

    /// The lines of a field; empty if it is not set.
    fn field(&self, field: &str) -> String {
        let shape = rows(KUSTOMIZATION).find(|row| row.key == field).map(|row| &row.shape);
        let value = self.value.get(field).zip(shape).and_then(|(value, shape)| full(value, shape));
        value.map(|value| go_yaml(&Value::map(Map::from_iter([(EcoString::from(field), value)])))).unwrap_or_default()
    }
}

/// The fields of a file, each with the comments and blank lines above it, and the comments below the last one. A
/// comment inside a field is moved above it.
fn written(text: &str) -> (Vec<(&'static str, String)>, String) {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let mut comments = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches(' ').trim_end_matches('\n');
        if bare.is_empty() || bare.starts_with('#') {
            comments.push_str(line);
            continue;
        }
        let key = line.split_once(':').map(|(key, _)| key);
        match key.and_then(|key| ORDER.iter().find(|field| field.eq_ignore_ascii_case(key))) {
            Some(field) => found.push((field, std::mem::take(&mut comments))),
            None => {
                if let Some((_, above)) = found.last_mut() {
                    above.push_str(&std::mem::take(&mut comments));
                }
            }
        }
    }
    let end = if comments.contains('#') { comments } else { String::new() };
    (found, end)
}

/// A value without empty parts; `None` if it is empty itself.
fn full(value: &Value, shape: &Shape) -> Option<Value> {
    let is_empty = |value: &Value| value.is_null() || value.as_str() == Some("");
    match shape {
        Shape::Text | Shape::Choice(_) => (!is_empty(value)).then(|| value.clone()),
        Shape::Bool => (value.as_bool() == Some(true)).then(|| value.clone()),
        Shape::ListOf(_) => {
            let items: Vec<Value> = value.as_list()?.iter().map(texted).collect();
            (!items.is_empty()).then(|| Value::list(items))
        }
        Shape::MapOf(_) => {
            let map: Map = value.as_map()?.iter().map(|(key, value)| (key.clone(), texted(value))).collect();
            (!map.is_empty()).then(|| Value::map(map))
        }
        Shape::One(kind) => full_map(value, *kind).filter(|map| !map.is_empty()).map(Value::map),
        Shape::List(kind) => {
            let items: Vec<Value> =
                value.as_list()?.iter().map(|item| Value::map(full_map(item, *kind).unwrap_or_default())).collect();
            (!items.is_empty()).then(|| Value::list(items))
        }
        // Numbers, and values of charts.
        _ => (!value.is_null()).then(|| value.clone()),
    }
}

/// Null becomes the empty string where strings are expected.
fn texted(value: &Value) -> Value {
    if value.is_null() { Value::str("") } else { value.clone() }
}

fn full_map(value: &Value, kind: Kind) -> Option<Map> {
    let entry = |(key, value): (&EcoString, &Value)| {
        let row = rows(kind).find(|row| row.key == key)?;
        Some((key.clone(), full(value, &row.shape)?))
    };
    Some(value.as_map()?.iter().filter_map(entry).collect())
}

/// A value as Kustomize prints it: keys in Go's order, lists flush with their key.
pub fn go_yaml(value: &Value) -> String {
    let mut writer = GoYamlWriter::new(GoStyle::Kubernetes);
    emit(&ordered(value), Secrets::Reveal, &mut writer as &mut dyn Emit);
    writer.finish().unwrap_or_default()
}

fn ordered(value: &Value) -> Value {
    match &value.data {
        Data::Map(map) => {
            let mut entries: Vec<(EcoString, Value)> =
                map.iter().map(|(key, value)| (key.clone(), ordered(value))).collect();
            sort_go_keys(&mut entries, GoStyle::Kubernetes, |(key, _)| key.as_str());
            value.clone().with(Data::Map(Arc::new(entries.into_iter().collect())))
        }
        Data::List(list) => {
            let items: Vec<Value> = list.iter().map(ordered).collect();
            value.clone().with(Data::List(Arc::new(items.into())))
        }
        _ => value.clone(),
    }
}
