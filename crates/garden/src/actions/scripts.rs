//! Scripts of providers: those run before a plugin starts, and those `exec` runs to initialize itself.
//!
//! They are only collected here. The runner executes them first and passes their outputs with the request.

use crate::phases::Phases;
use crate::resolve::begin;
use crate::varying::Varying;
use purlin_model::Request;
use purlin_value::{EcoString, Eval, Map, Session, Value};

/// A script of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The provider.
    pub provider: EcoString,
    /// The key that it is written under.
    pub key: &'static str,
    /// The script.
    pub text: String,
    /// Whether it comes from a secret.
    pub is_secret: bool,
}

/// The key of the outputs of a provider among those that are known.
pub(crate) fn outputs_key(provider: &str) -> EcoString {
    ecow::eco_format!("provider.{provider}")
}

/// The outputs in the log of `initScript`, with their key among the known outputs.
pub fn outputs(log: Value) -> (EcoString, Value) {
    let log = Value::map(Map::from_iter([("log".into(), log)]));
    (outputs_key("exec"), Value::map(Map::from_iter([("initScript".into(), log)])))
}

/// The scripts of the providers that the environment of a request uses, in the order of the providers. Most projects
/// have none, which is found without resolving anything.
pub fn scripts(session: &Session, request: &Request) -> Vec<Script> {
    // Problems are reported when the project is resolved.
    let (found, reported_later) = session.sink.apart(|| find(session, request));
    drop(reported_later);
    found
}

fn find(session: &Session, request: &Request) -> Vec<Script> {
    let Some(begun) = begin(session, request, Varying::default()) else { return Vec::new() };
    let (ground, project) = (&begun.ground, &begun.project);
    let nodes = crate::providers::enabled_nodes(ground, project);
    let has_script = |node: &crate::place::NodeRef| {
        node.get().is_some_and(|node| node.get("initScript").is_some() || node.get("preInit").is_some())
    };
    if !nodes.iter().any(has_script) {
        return Vec::new();
    }
    let phases = Phases::new(ground, project);
    crate::providers::resolve_providers(ground, project, &phases);
    let Some(layer) = phases.providers().get() else { return Vec::new() };
    let forced = Eval::new(session).force_deep(layer);
    let all = forced.get("providers").and_then(Value::as_map);
    let mut scripts = Vec::new();
    for (name, provider) in all.into_iter().flat_map(|map| map.iter()) {
        let Some(config) = provider.get("config") else { continue };
        let before = config.get("preInit").and_then(|settings| settings.get("runScript"));
        let own = config.get("initScript").filter(|_| name == "exec");
        for (key, value) in [("preInit.runScript", before), ("initScript", own)] {
            let Some(value) = value else { continue };
            let Some(text) = value.as_str().filter(|text| !text.trim().is_empty()) else { continue };
            let is_secret = value.is_tainted_deep();
            scripts.push(Script { provider: name.clone(), key, text: text.to_owned(), is_secret });
        }
    }
    scripts
}

/// The folder of the project of a request, from the world's root: where its scripts run.
pub fn folder(session: &Session, request: &Request) -> Option<String> {
    crate::project::find_root(session, request)
}
