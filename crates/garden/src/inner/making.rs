//! Parts of Kubernetes objects that are made from a spec: a mapping keeps the origins of its sources, and Garden's
//! additions have an origin of their own.

use crate::action::Action;
use crate::expr::text_of;
use purlin_value::{Eval, Map, Origin, Session, Value};

/// Makes values for one action.
pub(super) struct Making {
    origin: Origin,
}

impl Making {
    pub fn new(session: &Session, action: &Action) -> Self {
        let detail = format!("made by Garden for a `{}` {}", action.type_name, action.kind.name());
        Making { origin: session.origins.fallback(detail, action.span()) }
    }

    /// A mapping.
    pub fn map<const N: usize>(&self, entries: [(&str, Value); N]) -> Value {
        Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()).with_origin(self.origin)
    }

    /// A mapping of entries some of which are missing.
    pub fn given<const N: usize>(&self, entries: [(&str, Option<Value>); N]) -> Value {
        let given = entries.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Value::map(given.collect()).with_origin(self.origin)
    }

    /// A list.
    pub fn list(&self, items: Vec<Value>) -> Value {
        Value::list(items).with_origin(self.origin)
    }

    /// A value added by Garden itself.
    pub fn own(&self, value: impl Into<Value>) -> Value {
        value.into().with_origin(self.origin)
    }

    /// A number of a spec that becomes a text.
    pub fn written(&self, from: &Value, text: String) -> Value {
        Value::str(text).with_origin(from.origin).tainted_by(from.taint())
    }

    /// Entries of the environment: the version of the action, then its own.
    pub fn environment(&self, version: &Value, env: Option<&Value>) -> Vec<Value> {
        let mut all: Map = Map::new();
        for name in ["GARDEN_ACTION_VERSION", "GARDEN_MODULE_VERSION"] {
            all.insert(name.into(), version.clone());
        }
        let given = env.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        all.extend(given.map(|(name, value)| (name.clone(), value.clone())));
        all.iter().map(|(name, value)| self.variable(name, value)).collect()
    }

    fn variable(&self, name: &str, value: &Value) -> Value {
        let name = self.own(name);
        if let Some(secret) = value.get("secretRef") {
            let part = |key: &str| secret.get(key).cloned();
            let source = self.given([("name", part("name")), ("key", part("key"))]);
            return self.map([("name", name), ("valueFrom", self.map([("secretKeyRef", source)]))]);
        }
        let text = match value.is_pending() || value.is_poison() || value.as_str().is_some() {
            true => value.clone(),
            false => self.written(value, text_of(value).to_string()),
        };
        self.map([("name", name), ("value", text)])
    }

    /// Resource requests and limits of a container.
    pub fn resources(&self, spec: &Value, limits: Option<&Value>) -> Value {
        let part = |key: &str, end: &str| spec.get(key)?.get(end).filter(|value| is_set(value)).cloned();
        let most =
            |key: &str| limits.and_then(|l| l.get(key)).filter(|v| is_set(v)).cloned().or_else(|| part(key, "max"));
        let number = |value: &Value| value.as_number().unwrap_or(0.0);
        let cpu = |value: Value| self.written(&value, cpu_text(number(&value)));
        let memory = |value: Value| self.written(&value, memory_text(number(&value)));
        let least = |key: &str| spec.get(key).and_then(|range| range.get("min")).cloned();
        let requests = self.given([("cpu", least("cpu").map(cpu)), ("memory", least("memory").map(memory))]);
        let limits = self.given([("memory", most("memory").map(memory)), ("cpu", most("cpu").map(cpu))]);
        let has_limits = limits.as_map().is_some_and(|map| !map.is_empty());
        self.given([("requests", Some(requests)), ("limits", has_limits.then_some(limits))])
    }

    /// Privileges and capabilities of a container that its spec changes.
    pub fn security(&self, spec: &Value) -> Vec<(&'static str, Value)> {
        let mut all = Vec::new();
        if spec.get("privileged").and_then(Value::as_bool) == Some(true) {
            all.push(("privileged", self.own(true)));
        }
        let (add, drop) = (spec.get("addCapabilities").cloned(), spec.get("dropCapabilities").cloned());
        if add.is_some() || drop.is_some() {
            all.push(("capabilities", self.given([("add", add), ("drop", drop)])));
        }
        all
    }

    /// The volumes of a pod, and where its container sees them.
    pub fn volumes(&self, volumes: &[Value], folder: &str) -> (Value, Value) {
        let part = |volume: &Value, key: &str| volume.get(key).cloned().unwrap_or_default();
        let mount = |v: &Value| self.map([("name", part(v, "name")), ("mountPath", part(v, "containerPath"))]);
        let volume = |v: &Value| match v.get("hostPath").filter(|path| is_set(path)) {
            Some(host) => {
                let full = match host.as_str() {
                    Some(path) if !path.starts_with('/') => self.written(host, purlin_value::path::join(folder, path)),
                    _ => host.clone(),
                };
                self.map([("name", part(v, "name")), ("hostPath", self.map([("path", full)]))])
            }
            None => self.map([("name", part(v, "name")), ("emptyDir", self.map([]))]),
        };
        (self.list(volumes.iter().map(volume).collect()), self.list(volumes.iter().map(mount).collect()))
    }
}

/// Whether a value is set: null, an empty string and 0 are not.
fn is_set(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("") && value.as_number() != Some(0.0)
}

/// Thousandths of a processor.
fn cpu_text(thousandths: f64) -> String {
    let whole = thousandths.floor();
    if whole % 1000.0 == 0.0 { format!("{}", whole / 1000.0) } else { format!("{whole}m") }
}

/// Megabytes, in the largest unit that they are a multiple of.
fn memory_text(megabytes: f64) -> String {
    let kilobytes = (megabytes * 1024.0).floor();
    let unit = [("Ei", 5), ("Pi", 4), ("Ti", 3), ("Gi", 2), ("Mi", 1)]
        .into_iter()
        .find(|(_, power)| kilobytes % 1024_f64.powi(*power) == 0.0);
    match unit {
        Some((name, power)) => format!("{}{name}", kilobytes / 1024_f64.powi(power)),
        None => format!("{kilobytes}Ki"),
    }
}

/// A list of a spec. If the list is not known yet, whatever is computed from it is not known either.
pub(super) fn items<'v>(spec: &'v Value, key: &str) -> Result<&'v [Value], super::Inner> {
    let Some(list) = spec.get(key) else { return Ok(&[]) };
    if list.is_pending() {
        return Err(super::Inner::Pending(list.clone()));
    }
    if list.is_poison() {
        return Err(super::Inner::Broken);
    }
    Ok(list.as_list().unwrap_or(&[]))
}

/// The image of an action: the one its Build makes, or the one it names.
pub(super) fn image(about: &crate::live::About, action: &Action, spec: &Value, eval: &mut Eval<'_>) -> Option<Value> {
    let built = action.text("build").and_then(|build| about.built_image(build, eval));
    built.or_else(|| spec.get("image").filter(|image| is_set(image)).cloned())
}

#[cfg(test)]
mod tests {
    use super::{cpu_text, memory_text};

    #[test]
    fn amounts_have_the_largest_unit_that_fits() {
        let cpu = [(10.0, "10m"), (1000.0, "1"), (1500.0, "1500m"), (2000.0, "2"), (0.5, "0")];
        assert!(cpu.iter().all(|(amount, text)| cpu_text(*amount) == *text));
        let memory = [(90.0, "90Mi"), (1024.0, "1Gi"), (1536.0, "1536Mi"), (0.5, "512Ki"), (1048576.0, "1Ti")];
        assert!(memory.iter().all(|(amount, text)| memory_text(*amount) == *text));
    }
}
