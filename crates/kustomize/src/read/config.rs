//! Known fields of a build: those of Kustomize itself and those that `configurations` and `crds` add.

use crate::defaults;
use crate::edit::text;
use crate::fieldspec::{FieldSpec, merge_all, read_all};
use crate::identity::Gvk;
use crate::order;
use purlin_value::meter::{Exceeded, Meter};
use purlin_value::{FastMap, Value};
use std::sync::Arc;

/// Fields by the changes made to them.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Names that get a prefix.
    pub name_prefix: Vec<FieldSpec>,
    /// Names that get a suffix.
    pub name_suffix: Vec<FieldSpec>,
    /// Namespaces, besides that of the metadata.
    pub namespace: Vec<FieldSpec>,
    /// Labels and label selectors.
    pub common_labels: Vec<FieldSpec>,
    /// Fields that every entry of `labels` is written to.
    pub labels: Vec<FieldSpec>,
    /// Labels of resources and of pods that are made later.
    pub template_labels: Vec<FieldSpec>,
    /// Annotations.
    pub common_annotations: Vec<FieldSpec>,
    /// Names of other resources.
    pub name_reference: Vec<References>,
    /// Fields that may hold variables.
    pub var_reference: Vec<FieldSpec>,
    /// Images, besides those of containers.
    pub images: Vec<FieldSpec>,
    /// Numbers of replicas.
    pub replicas: Vec<FieldSpec>,
}

/// Steps for following a reference to a type, besides checking it for recursion.
const STEPS_PER_TYPE: u64 = 8;

/// Steps for reading a property.
const STEPS_PER_PROPERTY: u64 = 16;

/// The fields that name resources of a kind.
#[derive(Clone, Debug)]
pub struct References {
    /// The kind that is named.
    pub target: Gvk,
    /// The fields that name it.
    pub referrers: Vec<FieldSpec>,
}

impl Config {
    /// Reads a file of `configurations`. An unknown key is the error.
    pub fn read(value: &Value) -> Result<Config, String> {
        let mut config = Config::default();
        for (key, value) in value.as_map().into_iter().flat_map(|map| map.iter()) {
            let specs = || read_all(Some(value));
            match key.as_str() {
                "namePrefix" => config.name_prefix = specs(),
                "nameSuffix" => config.name_suffix = specs(),
                "namespace" => config.namespace = specs(),
                "commonLabels" => config.common_labels = specs(),
                "labels" => config.labels = specs(),
                "templateLabels" => config.template_labels = specs(),
                "commonAnnotations" => config.common_annotations = specs(),
                "varReference" => config.var_reference = specs(),
                "images" => config.images = specs(),
                "replicas" => config.replicas = specs(),
                "nameReference" => {
                    let list = value.as_list().unwrap_or_default().iter();
                    config.name_reference = list.map(References::read).collect();
                }
                unknown => return Err(unknown.to_owned()),
            }
        }
        Ok(config)
    }

    /// Reads the annotations of a file of `crds`: OpenAPI definitions by the names of their types.
    pub fn of_definitions(meter: &Meter, definitions: &Value) -> Result<Config, Exceeded> {
        let mut config = Config::default();
        for (name, definition) in definitions.as_map().into_iter().flat_map(|map| map.iter()) {
            let properties = properties(definition);
            let is_resource =
                ["kind", "apiVersion", "metadata"].iter().all(|key| properties.is_some_and(|p| p.get(key).is_some()));
            if is_resource {
                let kind = name.rsplit('.').next().unwrap_or_default();
                let of = Gvk { kind: kind.into(), ..Gvk::default() };
                config.add_properties(meter, definitions, name, &of, &mut Vec::new(), &mut Vec::new())?;
            }
        }
        Ok(config)
    }

    /// Adds the fields in the properties of a type, following references. Recursive types are followed once; others as
    /// often and as deep as they are referred to, which is charged.
    fn add_properties(
        &mut self,
        meter: &Meter,
        definitions: &Value,
        name: &str,
        of: &Gvk,
        path: &mut Vec<String>,
        open: &mut Vec<String>,
    ) -> Result<(), Exceeded> {
        meter.charge(STEPS_PER_TYPE + open.len() as u64, 0)?;
        if open.iter().any(|known| known == name) {
            return Ok(());
        }
        open.push(name.to_owned());
        let all = definitions.get(name).and_then(properties).and_then(Value::as_map);
        for (key, property) in all.into_iter().flat_map(|map| map.iter()) {
            meter.charge(STEPS_PER_PROPERTY, 0)?;
            path.push(key.to_string());
            let field = |suffix: Option<&str>| {
                let whole = path.iter().map(String::as_str).chain(suffix).collect::<Vec<_>>().join("/");
                FieldSpec::new(of.clone(), &whole, false)
            };
            let says = |what: &str| property.get(&format!("x-kubernetes-{what}")).and_then(Value::as_str);
            if says("annotation").is_some() {
                self.common_annotations.push(field(None));
            }
            if says("label-selector").is_some() {
                self.common_labels.push(field(None));
            }
            if says("identity").is_some() {
                self.name_prefix.push(field(None));
            }
            if let (Some(version), Some(kind)) = (says("object-ref-api-version"), says("object-ref-kind")) {
                let target = Gvk { group: "".into(), version: version.into(), kind: kind.into() };
                let name = says("object-ref-name-key").unwrap_or("name");
                self.name_reference.push(References { target, referrers: vec![field(Some(name))] });
            }
            if let Some(inner) = property.get("$ref").and_then(Value::as_str) {
                self.add_properties(meter, definitions, inner, of, path, open)?;
            }
            path.pop();
        }
        open.pop();
        Ok(())
    }

    /// Number of fields.
    pub fn fields(&self) -> u64 {
        let lists = [
            &self.name_prefix,
            &self.name_suffix,
            &self.namespace,
            &self.common_labels,
            &self.labels,
            &self.template_labels,
            &self.common_annotations,
            &self.var_reference,
            &self.images,
            &self.replicas,
        ];
        let named = self.name_reference.iter().map(|references| &references.referrers);
        lists.into_iter().chain(named).map(|list| list.len() as u64).sum()
    }

    /// The fields of Kustomize itself and these, as the original puts them together: in the order of their kinds, and
    /// without a field that an earlier one covers. A field of one kind so covers one of all kinds.
    fn with_defaults(&self) -> Result<Config, String> {
        let mut all = Config::clone(defaults::config());
        all.absorb(self)?;
        let lists = [
            &mut all.name_prefix,
            &mut all.name_suffix,
            &mut all.namespace,
            &mut all.common_labels,
            &mut all.labels,
            &mut all.template_labels,
            &mut all.common_annotations,
            &mut all.var_reference,
            &mut all.images,
            &mut all.replicas,
        ];
        lists.into_iter().for_each(|list| list.sort_by_cached_key(|spec| order::place(&spec.of)));
        let mut merged = Config::default();
        merged.absorb(&all)?;
        Ok(merged)
    }

    /// Adds the fields of another configuration.
    fn absorb(&mut self, other: &Config) -> Result<(), String> {
        merge_all(&mut self.name_prefix, &other.name_prefix)?;
        merge_all(&mut self.name_suffix, &other.name_suffix)?;
        merge_all(&mut self.namespace, &other.namespace)?;
        merge_all(&mut self.common_labels, &other.common_labels)?;
        merge_all(&mut self.labels, &other.labels)?;
        merge_all(&mut self.template_labels, &other.template_labels)?;
        merge_all(&mut self.common_annotations, &other.common_annotations)?;
        merge_all(&mut self.var_reference, &other.var_reference)?;
        merge_all(&mut self.images, &other.images)?;
        merge_all(&mut self.replicas, &other.replicas)?;
        let known = self.name_reference.iter().enumerate().map(|(at, known)| (known.target.clone(), at));
        let mut places: FastMap<Gvk, usize> = FastMap::default();
        known.for_each(|(target, at)| {
            places.entry(target).or_insert(at);
        });
        for references in &other.name_reference {
            let at = *places.entry(references.target.clone()).or_insert(self.name_reference.len());
            match self.name_reference.get_mut(at) {
                Some(known) => merge_all(&mut known.referrers, &references.referrers)?,
                None => self.name_reference.push(references.clone()),
            }
        }
        Ok(())
    }
}

fn properties(definition: &Value) -> Option<&Value> {
    definition.get("Schema").or_else(|| definition.get("schema"))?.get("properties")
}

impl References {
    fn read(value: &Value) -> References {
        References { target: Gvk::read(value), referrers: read_all(value.get("fieldSpecs")) }
    }
}

/// Known fields of a build: Kustomize's own, shared until others are added.
#[derive(Clone)]
pub struct Known(Option<Arc<Config>>);

impl Known {
    /// Only Kustomize's own fields.
    pub fn new() -> Known {
        Known(None)
    }

    /// The fields.
    pub fn fields(&self) -> &Arc<Config> {
        self.0.as_ref().unwrap_or_else(|| defaults::config())
    }

    /// Adds fields; an error names the specifications that conflict.
    pub fn add(&mut self, config: &Config) -> Result<(), String> {
        let mut fields = self.0.as_deref().cloned().unwrap_or_default();
        fields.absorb(&config.with_defaults()?)?;
        self.0 = Some(Arc::new(fields));
        Ok(())
    }

    /// Adds the known fields of another build.
    pub fn add_known(&mut self, other: &Known) -> Result<(), String> {
        match (&self.0, &other.0) {
            (_, None) => Ok(()),
            (None, Some(_)) => {
                self.0.clone_from(&other.0);
                Ok(())
            }
            (Some(own), Some(theirs)) => {
                let mut fields = Config::clone(own);
                fields.absorb(theirs)?;
                self.0 = Some(Arc::new(fields));
                Ok(())
            }
        }
    }
}

/// The text of a key that may be written in other case, as Go reads keys.
pub fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    match text(value, &[key]) {
        "" => part_of(value, key).and_then(Value::as_str).unwrap_or_default(),
        found => found,
    }
}

/// The value of a key that may be written in other case.
pub fn part_of<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let entries = || value.as_map().into_iter().flat_map(|map| map.iter());
    value.get(key).or_else(|| entries().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, value)| value))
}
