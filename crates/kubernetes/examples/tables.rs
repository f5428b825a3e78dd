//! Makes `src/table/api.txt` from the public descriptions of the Kubernetes API. It must not copy their sentences.
//!
//! `cargo run -p purlin-kubernetes --example tables -- FOLDER > crates/kubernetes/src/table/api.txt`, where `FOLDER` holds
//! `swagger/1.NN.json` (`api/openapi-spec/swagger.json` of each version) and `types/*.go` (the `types.go` of the newest
//! one, named by their paths with `+` for `/`), from which the values of enumerations and the marks of deprecation come.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// A field in all versions that have it.
struct Field {
    shape: String,
    is_required: bool,
    first: u32,
    last: u32,
}

struct Kind {
    of: String,
    is_namespaced: bool,
    first: u32,
    last: u32,
}

#[derive(Default)]
struct Tables {
    kinds: BTreeMap<(String, String), Kind>,
    types: BTreeMap<String, BTreeMap<String, Field>>,
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let folder = Path::new(&folder);
    let mut versions: Vec<u32> = std::fs::read_dir(folder.join("swagger"))
        .expect("a folder `swagger`")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("1.")?.strip_suffix(".json")?.parse().ok())
        .collect();
    versions.sort_unstable();
    let mut tables = Tables::default();
    for version in &versions {
        let text = std::fs::read_to_string(folder.join(format!("swagger/1.{version}.json"))).unwrap();
        tables.add(*version, &serde_json::from_str(&text).expect("JSON"));
    }
    let mut go = Go::default();
    for entry in std::fs::read_dir(folder.join("types")).expect("a folder `types`").flatten() {
        go.read(&entry.file_name().to_string_lossy(), &std::fs::read_to_string(entry.path()).unwrap());
    }
    print!("{}", tables.write(&go, versions[0], versions[versions.len() - 1]));
}

/// `io.k8s.api.core.v1.Pod` is `core.v1.Pod` here.
fn short(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let prefixes = [
        "io.k8s.api.",
        "io.k8s.apimachinery.pkg.apis.",
        "io.k8s.apiextensions-apiserver.pkg.apis.",
        "io.k8s.kube-aggregator.pkg.apis.",
        "io.k8s.apimachinery.pkg.",
    ];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name).to_owned()
}

/// Types that are written as scalars, or that accept any value.
fn scalar(name: &str) -> Option<&'static str> {
    Some(match name {
        "api.resource.Quantity" => "q",
        "util.intstr.IntOrString" => "p",
        "meta.v1.Time" => "t",
        "meta.v1.MicroTime" => "u",
        "runtime.RawExtension" | "meta.v1.FieldsV1" | "apiextensions.v1.JSON" => "*",
        "apiextensions.v1.JSONSchemaPropsOrArray"
        | "apiextensions.v1.JSONSchemaPropsOrBool"
        | "apiextensions.v1.JSONSchemaPropsOrStringArray" => "*",
        _ => return None,
    })
}

fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = short(name);
        return scalar(&name).map_or_else(|| format!(".{name}"), str::to_owned);
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("byte")) => "y".to_owned(),
        (Some("string"), _) => "s".to_owned(),
        (Some("integer"), Some("int64")) => "l".to_owned(),
        (Some("integer"), _) => "i".to_owned(),
        (Some("number"), _) => "n".to_owned(),
        (Some("boolean"), _) => "b".to_owned(),
        (Some("array"), _) => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array();
            let keys: Vec<&str> = keys.into_iter().flatten().filter_map(Value::as_str).collect();
            let is_set = schema["x-kubernetes-list-type"] == "set";
            let mark = if is_set { "=".to_owned() } else { keys.join(",") };
            format!("[{mark}]{}", shape(&schema["items"]))
        }
        (Some("object"), _) if schema["additionalProperties"].is_object() => {
            format!("{{}}{}", shape(&schema["additionalProperties"]))
        }
        _ => "*".to_owned(),
    }
}

impl Tables {
    fn add(&mut self, version: u32, swagger: &Value) {
        let namespaced: BTreeSet<String> = namespaced(swagger);
        for (name, definition) in swagger["definitions"].as_object().expect("definitions") {
            let name = short(name);
            let required: Vec<&str> =
                definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let Some(properties) = definition["properties"].as_object() else { continue };
            let fields = self.types.entry(name.clone()).or_default();
            for (key, schema) in properties {
                let field = fields.entry(key.clone()).or_insert_with(|| Field {
                    shape: String::new(),
                    is_required: false,
                    first: version,
                    last: version,
                });
                field.shape = shape(schema);
                field.is_required = required.contains(&key.as_str());
                field.last = version;
            }
            let is_kind = properties.contains_key("apiVersion") && properties.contains_key("kind");
            if !is_kind || name.starts_with("meta.") || name.ends_with("List") {
                continue;
            }
            for entry in definition["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
                let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
                let group = if text("group").is_empty() { String::new() } else { format!("{}/", text("group")) };
                let key = (format!("{group}{}", text("version")), text("kind"));
                let is_namespaced = namespaced.contains(&format!("{} {}", key.0, key.1));
                let kind = self.kinds.entry(key).or_insert_with(|| Kind {
                    of: name.clone(),
                    is_namespaced,
                    first: version,
                    last: version,
                });
                kind.last = version;
            }
        }
    }

    /// Types that are reachable from kinds.
    fn reached(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<String> = self.kinds.values().map(|kind| kind.of.clone()).collect();
        while let Some(name) = open.pop() {
            if !found.insert(name.clone()) {
                continue;
            }
            for field in self.types.get(&name).into_iter().flat_map(BTreeMap::values) {
                open.extend(field.shape.find('.').map(|at| field.shape[at + 1..].to_owned()));
            }
        }
        found
    }

    fn write(&self, go: &Go, oldest: u32, newest: u32) -> String {
        let mut out =
            String::from("# Made by examples/tables.rs from the public descriptions of the Kubernetes API.\n");
        writeln!(out, "V {oldest} {newest}").unwrap();
        let range = |first: u32, last: u32| match (first == oldest, last == newest) {
            (true, true) => String::new(),
            (false, true) => format!("@{first}-"),
            (true, false) => format!("@-{last}"),
            (false, false) => format!("@{first}-{last}"),
        };
        for ((version, name), kind) in &self.kinds {
            let scope = if kind.is_namespaced { 'n' } else { 'c' };
            let deprecated = go.deprecated.get(&kind.of).map(|at| format!(" ~{at}")).unwrap_or_default();
            let range = range(kind.first, kind.last);
            writeln!(out, "K {version} {name}{range} {scope} {}{deprecated}", kind.of).unwrap();
        }
        let mut enums: BTreeMap<String, usize> = BTreeMap::new();
        let mut types = String::new();
        for name in self.reached() {
            let Some(fields) = self.types.get(&name) else { continue };
            write!(types, "T {name}").unwrap();
            for (key, field) in fields {
                let mark = if field.is_required { "!" } else { "" };
                let range = range(field.first, field.last);
                write!(types, " {key}{mark}{range}:{}", field.shape).unwrap();
                if let Some(values) = go.values_of(&name, key).filter(|_| field.shape.ends_with('s')) {
                    let next = enums.len();
                    write!(types, "={}", enums.entry(values.join(" ")).or_insert(next)).unwrap();
                }
            }
            types.push('\n');
        }
        let mut ordered: Vec<(&String, &usize)> = enums.iter().collect();
        ordered.sort_by_key(|(_, number)| **number);
        for (values, number) in ordered {
            writeln!(out, "E {number} {values}").unwrap();
        }
        out + &types
    }
}

/// Kinds whose API paths contain a namespace.
fn namespaced(swagger: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, operations) in swagger["paths"].as_object().expect("paths") {
        if !path.contains("/namespaces/{namespace}/") {
            continue;
        }
        for operation in operations.as_object().into_iter().flat_map(|all| all.values()) {
            let kind = &operation["x-kubernetes-group-version-kind"];
            let text = |key: &str| kind[key].as_str().unwrap_or_default().to_owned();
            let group = if text("group").is_empty() { String::new() } else { format!("{}/", text("group")) };
            found.insert(format!("{group}{} {}", text("version"), text("kind")));
        }
    }
    found
}

/// Facts from the Go sources that the schemas lack.
#[derive(Default)]
struct Go {
    /// The values of enumerations, by package and name.
    enums: BTreeMap<String, Vec<String>>,
    marked: BTreeSet<String>,
    /// The type of a field, by type and key.
    fields: BTreeMap<(String, String), String>,
    /// The version in which a kind was deprecated.
    deprecated: BTreeMap<String, u32>,
}

impl Go {
    fn read(&mut self, file: &str, text: &str) {
        let mut parts: Vec<&str> = file.split('+').filter(|part| !matches!(*part, "pkg" | "apis")).collect();
        parts.pop();
        let package = parts.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join(".");
        let (mut is_enum, mut introduced, mut deprecated) = (false, None, None);
        let mut inside: Option<String> = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let mark = |name: &str| {
                let (_, version) = line.split_once(&format!("prerelease-lifecycle-gen:{name}="))?;
                version.trim().strip_prefix("1.")?.parse::<u32>().ok()
            };
            introduced = mark("introduced").or(introduced);
            deprecated = mark("deprecated").or(deprecated);
            is_enum |= line.trim() == "// +enum";
            match words.as_slice() {
                ["type", name, "string", ..] if is_enum => {
                    self.marked.insert(format!("{package}.{name}"));
                    is_enum = false;
                }
                ["type", name, "struct", "{"] => {
                    let name = format!("{package}.{name}");
                    let is_beta = package.contains("beta");
                    let at = deprecated.or(introduced.filter(|_| is_beta).map(|at: u32| at + 3));
                    self.deprecated.extend(at.map(|at| (name.clone(), at)));
                    inside = Some(name);
                    (is_enum, introduced, deprecated) = (false, None, None);
                }
                ["}"] => inside = None,
                [_, kind, "=", value, ..] if value.starts_with('"') => {
                    let value = line.split('"').nth(1).unwrap_or(value).to_owned();
                    self.enums.entry(format!("{package}.{kind}")).or_default().push(value);
                }
                [_, kind, tag, ..] => {
                    let key = tag.strip_prefix("`json:\"").and_then(|tag| tag.split(['"', ',']).next());
                    if let (Some(owner), Some(key)) = (&inside, key) {
                        let kind = kind.trim_start_matches(['*', '[', ']']);
                        let kind = match kind.split_once('.') {
                            Some(("v1", name)) => format!("core.v1.{name}"),
                            Some(("metav1", name)) => format!("meta.v1.{name}"),
                            _ => format!("{package}.{kind}"),
                        };
                        self.fields.insert((owner.clone(), key.to_owned()), kind);
                    }
                }
                _ => {}
            }
        }
    }

    fn values_of(&self, owner: &str, key: &str) -> Option<Vec<String>> {
        let kind = self.fields.get(&(owner.to_owned(), key.to_owned()))?;
        let is_enum = self.marked.contains(kind) || kind == "meta.v1.LabelSelectorOperator";
        let values = self.enums.get(kind).filter(|_| is_enum && !kind.ends_with(".FinalizerName"))?;
        let values: BTreeSet<&String> = values.iter().filter(|value| !value.is_empty()).collect();
        // Values with spaces belong to a language of their own, which validation reads differently.
        let is_word = values.iter().all(|value| !value.contains(' '));
        is_word.then(|| values.into_iter().cloned().collect())
    }
}
