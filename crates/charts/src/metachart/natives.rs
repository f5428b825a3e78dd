//! The helpers that preprocessors call by name, implemented here: `metachart.resourceMeta`, `metachart.selectorLabels`,
//! `metachart.setDefaults` and their parts. Each prints JSON, as the templates of the same names do.

use std::rc::Rc;

use purlin_gotmpl::emit::{KeyOrder, emit};
use purlin_gotmpl::machine::Natives;
use purlin_gotmpl::{Data, Fault, Machine, Val};
use purlin_syntax::write::{JsonFlavor, JsonLayout, JsonWriter};

use super::build::{Workshop, at, get, text};
use super::defaults::{self, Metadata};
use super::object_meta::{MetaRequest, chart_labels, fullname, selector_labels};

/// The helpers of one workshop.
pub struct Helpers {
    /// The state they read.
    pub workshop: Rc<Workshop>,
}

impl Natives for Helpers {
    fn call(&self, m: &mut Machine<'_>, name: &[u8], data: &Val) -> Option<Result<Val, Fault>> {
        let name = name.strip_prefix(b"metachart.")?;
        let result = match name {
            b"fullname" => Ok(fullname(&m.heap, data)),
            b"chart" => Ok(chart_labels(m, data).remove(b"helm.sh/chart".as_slice()).unwrap_or(Val::NIL)),
            b"chartLabels" => {
                let labels = chart_labels(m, data);
                let labels = m.heap.any_map(labels);
                to_json(m, &labels)
            }
            b"selectorLabels" => {
                let component = param(m, data, "component").map(|value| text(&value));
                let labels = selector_labels(&mut m.heap, data, component.as_deref());
                to_json(m, &labels)
            }
            b"resourceMeta" => self.with_request(m, data, |this, m, request| this.workshop.metadata(m, data, request)),
            b"resourceLabels" => self.with_request(m, data, |this, m, request| {
                let labels = this.workshop.labels(m, data, request)?;
                Ok(m.heap.any_map(labels))
            }),
            b"resourceAnnotations" => self.with_request(m, data, |this, m, request| {
                let annotations = this.workshop.annotations(m, data, request)?;
                Ok(m.heap.any_map(annotations))
            }),
            b"setDefaults" => {
                let definition = param(m, data, "definition").unwrap_or(Val::NIL);
                let kind = param(m, data, "kind").map(|value| text(&value)).unwrap_or_default();
                let defaults = self.workshop.defaults(&m.heap, &kind);
                let merged = defaults::apply(&mut m.heap, defaults, &definition, Metadata::Whole);
                to_json(m, &merged)
            }
            b"mergeConcatLists" => {
                let (source, target) = (param(m, data, "source"), param(m, data, "target"));
                let merged = defaults::over(&mut m.heap, &source.unwrap_or(Val::NIL), &target.unwrap_or(Val::NIL));
                to_json(m, &merged)
            }
            _ => return None,
        };
        Some(result)
    }
}

impl Helpers {
    fn with_request(
        &self,
        m: &mut Machine<'_>,
        data: &Val,
        make: impl FnOnce(&Self, &mut Machine<'_>, &MetaRequest<'_>) -> Result<Val, Fault>,
    ) -> Result<Val, Fault> {
        let given = |name: &str| param(m, data, name).filter(|value| m.heap.truth(value)).map(|value| text(&value));
        let switch = |name: &str| !matches!(param(m, data, name).map(|value| value.data), Some(Data::Bool(false)));
        let definition = param(m, data, "definition").unwrap_or(Val::NIL);
        let (key, built) = (given("key"), given("name"));
        // A preprocessor hands on the name it was given, which has its prefix already.
        let prefix = format!("{}-", text(&fullname(&m.heap, data)));
        let has_prefix = key.is_none() && built.as_ref().is_some_and(|name| name.starts_with(&prefix));
        let request = MetaRequest {
            definition: &definition,
            defaults: None,
            name: key.or(built),
            suffix: given("nameSuffix"),
            with_name: switch("withName"),
            with_prefix: switch("withNameFullnamePrefix") && !has_prefix,
            component: given("component"),
            related: given("relatedComponent"),
        };
        let made = make(self, m, &request)?;
        to_json(m, &made)
    }
}

fn param(m: &Machine<'_>, data: &Val, name: &str) -> Option<Val> {
    at(&m.heap, data, &["params"]).and_then(|params| get(&m.heap, &params, name))
}

fn to_json(m: &Machine<'_>, value: &Val) -> Result<Val, Fault> {
    let mut writer = JsonWriter::with_limit(JsonLayout::Compact, JsonFlavor::Go, m.limits.text);
    emit(&m.heap, value, KeyOrder::Bytes, &mut writer, &mut |_, _| {}).map_err(|error| Fault::new(error.message()))?;
    let text = writer.finish().map_err(|_| Fault::new("the value is too large"))?;
    Ok(Val::str(text))
}
