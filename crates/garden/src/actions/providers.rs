//! Providers: their configurations, checked against the row of their plugin, each with access to its dependencies.
//!
//! Configurations of the same name are applied to each other as merge patches. Nothing is started; outputs that need a
//! provider to run are pending.

use crate::bind::{Binder, Env};
use crate::check::{check_provider, says_missing};
use crate::draft::Draft;
use crate::entities::{PROVIDER, PROVIDERS, REMOVED};
use crate::graph::report_dependency_cycle;
use crate::ground::{Ground, fill};
use crate::inner::{CLUSTER_PROVIDERS, Provider as Cluster};
use crate::phases::Phases;
use crate::place::NodeRef;
use crate::project::Project;
use crate::references::references;
use crate::rules;
use crate::scan::texts;
use crate::scripts::outputs_key;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_graph::Digraph;
use purlin_model::schema::Kind;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Sink, Span, suggest};
use purlin_value::{Data, Eval, Lazy, Map, Thunk, Value, merge_patch};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Providers every project has.
const ALWAYS: &[&str] = &["exec", "container", "templated"];

/// The providers that the environment uses.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    names: Vec<EcoString>,
    /// Dependencies of each: its plugin's, those it lists, and those its templates mention; sorted.
    needs: Vec<Vec<EcoString>>,
    /// Whether one of them is unknown, which was reported: a missing provider may be that one.
    unknown: bool,
}

impl Providers {
    /// The providers with those that each depends on.
    pub fn with_needs(&self) -> impl Iterator<Item = (&EcoString, &[EcoString])> {
        self.names.iter().zip(self.needs.iter().map(Vec::as_slice))
    }

    /// Whether one of some providers is configured, or none is needed.
    pub fn has_any(&self, wanted: &[&str]) -> bool {
        wanted.is_empty() || self.unknown || self.names.iter().any(|name| wanted.contains(&name.as_str()))
    }
}

/// One provider, from all entries of its name.
struct Provider {
    row: Kind,
    nodes: Vec<NodeRef>,
    /// Dependencies, with their locations.
    needs: Vec<(EcoString, Option<Span>)>,
}

impl Provider {
    fn of(row: Kind) -> Self {
        Provider { row, nodes: Vec::new(), needs: Vec::new() }
    }
}

/// Fills the cell that `${providers.…}` is read from.
pub fn resolve_providers(ground: &Ground<'_>, project: &Project, phases: &Phases) -> Providers {
    let (providers, varies) = ground.watched(|| resolve_all(ground, project, phases));
    if varies || chooses_by_environment(project) {
        ground.varying.with_providers();
    }
    providers
}

/// Whether an entry is limited to some environments.
fn chooses_by_environment(project: &Project) -> bool {
    let list = project.document.field("providers");
    let items = list.as_ref().and_then(NodeRef::get).into_iter().flat_map(|list| list.items());
    items.into_iter().any(|item| crate::bind::entry(item, "environments").is_some())
}

fn resolve_all(ground: &Ground<'_>, project: &Project, phases: &Phases) -> Providers {
    let env = ground.env(phases.provider_scope(&project.vars));
    let mut found = Providers::default();
    let always = ALWAYS.iter().map(|name| ((*name).into(), Provider::of(row_of(name).unwrap_or(PROVIDER))));
    let mut providers: IndexMap<EcoString, Provider> = always.collect();
    report_unknown_environments(ground, project);
    check_others(ground, project);
    for node in enabled_nodes(ground, project) {
        let Some(name) = plain_name(&node) else { continue };
        let row = row_of(&name);
        if row.is_none() {
            report_unknown(ground, &node, &name);
        }
        found.unknown |= row.is_none();
        let row = row.unwrap_or(PROVIDER);
        check_provider(&ground.session.sink, &node, row);
        let provider = providers.entry(name).or_insert_with(|| Provider::of(row));
        provider.needs.extend(needs(ground, &env, &node));
        provider.nodes.push(node);
    }
    let cyclic = report_order(ground, &providers);
    let resolve = |(name, provider): (&EcoString, &Provider)| {
        let config = match cyclic.contains(name) {
            true => Value::poison(),
            false => config(ground, &env, name, provider),
        };
        (name.clone(), resolved(ground, project, name, config))
    };
    let map: Map = providers.iter().map(resolve).collect();
    let value = Value::map(Map::from_iter([("providers".into(), Value::map(map))]));
    fill(phases.providers(), value.clone());
    // A mistake in a provider is reported whether or not anything uses it.
    let mut eval = Eval::new(ground.session);
    eval.force_deep(&value);
    ground.note(&eval);
    found.needs = providers.iter().map(|(name, provider)| all_needs(name, provider, &providers)).collect();
    found.names = providers.into_keys().collect();
    found
}

fn plain_name(node: &NodeRef) -> Option<EcoString> {
    let name = node.get()?.get("name").filter(|name| name.is_scalar() && !crate::entities::is_expression(*name))?;
    Some(name.eco_text())
}

fn row_of(name: &str) -> Option<Kind> {
    PROVIDERS.iter().find(|(known, _, _)| *known == name).map(|(_, row, _)| *row)
}

fn report_unknown(ground: &Ground<'_>, node: &NodeRef, name: &str) {
    let place = node.get().and_then(|node| node.get("name")).map(|name| name.span());
    let diagnostic = if REMOVED.contains(&name) {
        let message = format!("the provider `{name}` was removed in Garden 0.14");
        Diagnostic::nowhere(&rules::PROVIDER, message).hint("remove it from `providers`")
    } else {
        let names = PROVIDERS.iter().map(|(known, _, _)| *known).filter(|known| !known.starts_with("test-"));
        let hint = suggest::did_you_mean(name, names);
        Diagnostic::nowhere(&rules::PROVIDER, what::unknown("provider", name)).maybe_hint(hint)
    };
    ground.push(diagnostic, place);
}

/// The providers under `dependencies` of an entry, and those its templates mention.
fn needs(ground: &Ground<'_>, env: &Arc<Env>, node: &NodeRef) -> Vec<(EcoString, Option<Span>)> {
    let draft = Draft::Node(node.clone());
    let listed = draft.get("dependencies").map(|list| list.settle(ground.session, env));
    let listed = listed.iter().flat_map(Draft::items).filter_map(|item| {
        let name = item.as_value()?.as_str().map(EcoString::from)?;
        Some((name, item.span(ground.session)))
    });
    let mentioned = references(ground, env, &["providers"], &[&draft]).into_iter();
    let mentioned = mentioned.filter_map(|reference| Some((reference.name(1)?.clone(), reference.span)));
    listed.chain(mentioned).collect()
}

/// Reports providers that are missing, and those that depend on each other; returns the latter.
fn report_order(ground: &Ground<'_>, providers: &IndexMap<EcoString, Provider>) -> Vec<EcoString> {
    let mut graph: Digraph<EcoString> = Digraph::new();
    for (name, provider) in providers {
        graph.add(name.clone());
        for (need, span) in &provider.needs {
            if providers.contains_key(need) {
                graph.connect(name.clone(), need.clone());
            } else {
                report_missing(ground, name, need, *span, providers);
            }
        }
    }
    let mut cyclic = Vec::new();
    for cycle in graph.cycles() {
        let what = "circular dependency between providers";
        report_dependency_cycle(ground, &rules::PROVIDER, what, &cycle.path, |name, next| {
            providers.get(name)?.needs.iter().find(|(need, _)| need == next)?.1
        });
        cyclic.extend(cycle.path.iter().cloned());
    }
    cyclic
}

fn report_missing(
    ground: &Ground<'_>,
    name: &str,
    need: &str,
    span: Option<Span>,
    providers: &IndexMap<EcoString, Provider>,
) {
    let hint = suggest::did_you_mean(need, providers.keys().map(EcoString::as_str));
    let hint = hint.unwrap_or_else(|| format!("add `- name: {need}` under `providers`").into());
    let message = format!("provider `{name}` depends on `{need}`, which is not configured for this environment");
    ground.push(Diagnostic::nowhere(&rules::PROVIDER, message).hint(hint), span);
}

/// The configuration of a provider: its entries, the later over the earlier, and the defaults of its row.
fn config(ground: &Ground<'_>, env: &Arc<Env>, name: &EcoString, provider: &Provider) -> Value {
    let named = Value::map(Map::from_iter([("name".into(), Value::str(name.clone()))]));
    let bound = provider.nodes.iter().map(|node| Binder::new(env).bind(node));
    let merged = bound.reduce(|below, over| merge_patch(&below, &over, ground.session));
    let merged = merged.unwrap_or(named);
    let Some(map) = merged.as_map() else { return merged };
    let mut completed = map.clone();
    for (key, default) in ground.defaults().of(provider.row, ground.session).iter() {
        completed.entry(key.clone()).or_insert_with(|| default.clone());
    }
    merged.with(Data::Map(completed.into()))
}

/// Reports names of environments that the project does not have: Garden leaves such a provider out without a word.
fn report_unknown_environments(ground: &Ground<'_>, project: &Project) {
    let list = project.document.field("providers");
    for item in list.as_ref().and_then(NodeRef::get).into_iter().flat_map(|list| list.items()) {
        if let Some(names) = crate::bind::entry(item, "environments") {
            crate::project::report_unknown_names(ground, project, names);
        }
    }
}

/// Entries for other environments, whose keys can be checked without resolving anything. They are errors only there, so
/// problems are warnings here.
fn check_others(ground: &Ground<'_>, project: &Project) {
    let Some(list) = project.document.field("providers") else { return };
    let enabled: HashSet<Span> =
        enabled_nodes(ground, project).iter().filter_map(|node| Some(node.get()?.span())).collect();
    let Some(view) = list.get() else { return };
    let nodes: Vec<NodeRef> = view.items().map(|item| list.other(item)).collect();
    let names: Vec<Option<EcoString>> = nodes.iter().map(plain_name).collect();
    let mut count: BTreeMap<&EcoString, usize> = BTreeMap::new();
    names.iter().flatten().for_each(|name| *count.entry(name).or_default() += 1);
    for (node, name) in nodes.iter().zip(&names) {
        let is_enabled = node.get().is_none_or(|node| enabled.contains(&node.span()));
        let Some(row) = name.as_ref().filter(|_| !is_enabled).and_then(|name| row_of(name)) else { continue };
        let found = Sink::new();
        check_provider(&found, node, row);
        // Entries of one name are merged, so a key missing in one may be in another.
        let is_alone = name.as_ref().and_then(|name| count.get(name)) == Some(&1);
        let found = found.take().into_iter().filter(|problem| is_alone || !says_missing(problem));
        ground.session.sink.extend(found.map(Diagnostic::warning));
    }
}

/// The provider entries that the environment uses.
pub(crate) fn enabled_nodes(ground: &Ground<'_>, project: &Project) -> Vec<NodeRef> {
    let Some(list) = project.document.field("providers") else { return Vec::new() };
    // Which environment it is does not count here, as in Garden.
    let env = ground.env(project.vars.over(&project.early));
    let Some(view) = list.get() else { return Vec::new() };
    let enabled = |item: &purlin_syntax::Node<'_>| {
        let Some(environments) = item.get("environments").filter(|e| !e.is_null()) else { return true };
        let value = crate::project::force(ground, &env, &list.other(environments));
        texts(&value).iter().any(|name| *name == project.environment)
    };
    view.items().filter(enabled).map(|item| list.other(item)).collect()
}

/// Whether the environment uses one of some providers.
pub(crate) fn uses_any(ground: &Ground<'_>, project: &Project, wanted: &[&str]) -> bool {
    let is_wanted = |node: &NodeRef| {
        let name = node.get().and_then(|item| item.get("name"));
        name.and_then(|name| name.as_str().map(|name| wanted.contains(&name))).unwrap_or(false)
    };
    enabled_nodes(ground, project).iter().any(is_wanted)
}

/// All dependencies of a provider, direct and indirect.
fn all_needs(name: &str, provider: &Provider, known: &IndexMap<EcoString, Provider>) -> Vec<EcoString> {
    let of_plugin = PROVIDERS.iter().find(|(plugin, _, _)| *plugin == name).map_or(&[] as &[&str], |found| found.2);
    let of_plugin = of_plugin.iter().map(|name| EcoString::from(*name));
    let all = of_plugin.chain(provider.needs.iter().map(|(need, _)| need.clone()));
    let mut all: Vec<EcoString> = all.filter(|need| known.contains_key(need)).collect();
    all.sort();
    all.dedup();
    all
}

fn resolved(ground: &Ground<'_>, project: &Project, name: &EcoString, config: Value) -> Value {
    let known = ground.outputs.get(&outputs_key(name)).cloned();
    let outputs = known.unwrap_or_else(|| provider_outputs(project, name, &config));
    Value::map(Map::from_iter([("config".into(), config), ("outputs".into(), outputs)]))
}

/// Outputs of a provider that are known without running it.
fn provider_outputs(project: &Project, name: &str, config: &Value) -> Value {
    if CLUSTER_PROVIDERS.contains(&name) && config.as_map().is_some() {
        return cluster_outputs(project, name, config);
    }
    if name == "terraform" && config.get("initRoot").is_none() {
        return Value::map(Map::new());
    }
    let known: BTreeMap<&str, &[(&str, &str)]> = BTreeMap::from([
        ("exec", &[] as &[(&str, &str)]),
        ("container", &[]),
        ("templated", &[]),
        ("jib", &[]),
        ("pulumi", &[]),
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

/// Outputs of a cluster's provider: they follow from its configuration, so no cluster is asked.
fn cluster_outputs(project: &Project, name: &str, config: &Value) -> Value {
    let output = |key: &'static str| {
        let (config, project) = (config.clone(), (project.name.clone(), project.namespace.clone()));
        (EcoString::from(key), Lazy::value(ClusterOutput { key, provider: name.into(), config, project }))
    };
    Value::map([APP_NAMESPACE, DEFAULT_HOSTNAME].into_iter().map(output).collect())
}

const APP_NAMESPACE: &str = "app-namespace";
const DEFAULT_HOSTNAME: &str = "default-hostname";

/// One output of a cluster's provider. Its configuration may refer to other providers, so it is evaluated late.
struct ClusterOutput {
    key: &'static str,
    provider: EcoString,
    config: Value,
    /// The project and its namespace.
    project: (EcoString, EcoString),
}

impl Thunk for ClusterOutput {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        // The namespace is the environment's.
        eval.vary();
        let given = |key: &str, eval: &mut Eval<'_>| {
            let value = self.config.get(key).map(|value| eval.force_deep(value))?;
            Some((EcoString::from(key), value))
        };
        let keys = ["name", "namespace", "context", "defaultHostname"];
        let config: Map = keys.into_iter().filter_map(|key| given(key, eval)).collect();
        let cluster = Cluster::of(Value::map(config), self.project.0.clone(), self.project.1.clone());
        match self.key {
            APP_NAMESPACE => cluster.namespace(&Value::null()),
            _ => cluster.default_hostname().unwrap_or_else(|| match cluster.finds_hostname() {
                true => Value::pending(ecow::eco_format!("provider.{}", self.provider), self.name()),
                false => Value::null(),
            }),
        }
    }

    fn span(&self) -> Option<Span> {
        None
    }

    fn name(&self) -> String {
        format!("providers.{}.outputs.{}", self.provider, self.key)
    }
}
