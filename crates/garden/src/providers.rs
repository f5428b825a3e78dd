//! Providers: their configurations, each seeing those it mentions.
//!
//! Configurations of the same name are laid upon each other as merge patches. Nothing is started; outputs that need a
//! provider to run are pending.

use crate::bind::Binder;
use crate::ground::{Ground, fill};
use crate::phases::Phases;
use crate::place::NodeRef;
use crate::project::Project;
use crate::scan::texts;
use ecow::EcoString;
use purlin_value::{Eval, Map, Strategy, Value, merge};
use std::collections::BTreeMap;

/// Providers every project has.
const ALWAYS: &[&str] = &["exec", "container", "templated"];

/// Fills the cell that `${providers.…}` is read from.
pub fn resolve_providers(ground: &Ground<'_>, project: &Project, phases: &Phases) {
    let mut configs: Vec<(EcoString, Value)> = ALWAYS.iter().map(|name| ((*name).into(), named(name))).collect();
    let scope = phases.provider_scope(&project.vars);
    let env = ground.env(scope);
    for node in enabled_nodes(ground, project) {
        let bound = Binder::new(&env).bind(&node);
        let Some(name) = bound.get("name").and_then(Value::as_str).map(EcoString::from) else { continue };
        match configs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, config)) => *config = merge(config, &bound, Strategy::Patch, &ground.session.origins),
            None => configs.push((name, bound)),
        }
    }
    let providers: Map = configs.into_iter().map(|(name, config)| (name.clone(), provider(&name, config))).collect();
    let value = Value::map(Map::from_iter([("providers".into(), Value::map(providers))]));
    fill(phases.providers(), value.clone());
    // A mistake in a provider is reported whether or not anything uses it.
    Eval::new(ground.session).force_deep(&value);
}

fn named(name: &str) -> Value {
    Value::map(Map::from_iter([("name".into(), Value::str(name))]))
}

/// The provider entries that the environment uses.
fn enabled_nodes(ground: &Ground<'_>, project: &Project) -> Vec<NodeRef> {
    let Some(list) = project.document.field("providers") else { return Vec::new() };
    let env = ground.env(project.full_scope());
    let Some(view) = list.get() else { return Vec::new() };
    let enabled = |item: &purlin_syntax::Node<'_>| {
        let Some(environments) = item.get("environments").filter(|e| !e.is_null()) else { return true };
        let value = crate::project::force(ground, &env, &list.other(environments));
        texts(&value).iter().any(|name| *name == project.environment)
    };
    view.items().filter(enabled).map(|item| list.other(item)).collect()
}

fn provider(name: &EcoString, config: Value) -> Value {
    let outputs = provider_outputs(name, &config);
    Value::map(Map::from_iter([("config".into(), config), ("outputs".into(), outputs)]))
}

/// What is known of a provider's outputs without running it.
fn provider_outputs(name: &str, config: &Value) -> Value {
    let known: BTreeMap<&str, &[(&str, &str)]> = BTreeMap::from([
        ("exec", &[] as &[(&str, &str)]),
        ("container", &[]),
        ("templated", &[]),
        // The provider of the original's own test projects.
        ("test-plugin", &[("testKey", "testValue")]),
        ("test-plugin-b", &[]),
    ]);
    if name == "exec" && config.get("initScript").is_some() {
        let what = "providers.exec.outputs.initScript.log";
        let log = Map::from_iter([("log".into(), Value::pending("provider.exec", what))]);
        return Value::map(Map::from_iter([("initScript".into(), Value::map(log))]));
    }
    match known.get(name) {
        Some(outputs) => Value::map(outputs.iter().map(|(key, text)| ((*key).into(), Value::str(*text))).collect()),
        None => Value::pending(ecow::eco_format!("provider.{name}"), ecow::eco_format!("providers.{name}.outputs")),
    }
}
