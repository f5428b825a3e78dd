//! The native pipeline: kinds, resources, builds. Parallel over resources; the result does not depend on how many
//! threads work, since each resource draws its own randomness and is a function of values and templates alone. Of
//! several errors the one of the first resource is told, in the order of kinds and names. Running out of steps is the
//! exception: whether it happens does not depend on the threads, but one thread alone may run out at a resource where
//! several come further, so what is told then may differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use purlin_gotmpl::ast::File;
use purlin_gotmpl::hole::Holes;
use purlin_gotmpl::machine::{Call, SourceFile};
use purlin_gotmpl::rope::Piece;
use purlin_gotmpl::{Data, Fault, Heap, Limit, Machine, Val};
use purlin_value::{Pending, Session, Value};

use super::build::{Built, Found, Kind, Workshop, at, get};
use super::config;
use super::natives::Helpers;
use crate::chart::Chart;
use crate::context::{Contexts, import};
use crate::engine::{Compiled, Inputs, RenderError, on_deep_stack, set_template};

/// A resource the pipeline made.
#[derive(Debug)]
pub struct Made {
    /// Its kind's key in the values.
    pub kind: String,
    /// Its name in the values.
    pub name: String,
    /// The manifest as YAML.
    pub text: String,
    /// Where its parts come from, if that was recorded.
    pub pieces: Vec<Piece>,
}

/// What the pipeline makes.
#[derive(Debug, Default)]
pub struct Output {
    /// Resources by kind, then name.
    pub resources: Vec<Made>,
    /// The files that places refer to.
    pub sources: Vec<SourceFile>,
    /// The calls that pieces refer to.
    pub calls: Vec<Call>,
    /// Texts that stand for values not known yet.
    pub holes: Holes,
    /// What decides whether a collection was changed, where that is not known yet.
    pub unsure: Option<Pending>,
    /// The number of the resource whose build made that unsure.
    unsure_at: usize,
    /// The steps each resource took, by kind and name.
    pub costs: HashMap<(String, String), u64>,
}

/// The kinds of a Metachart chart; `None` if it is none. Read from its configuration where that is at hand, so that
/// nothing has to be generated first.
pub fn kinds(session: &Session, chart: &Chart) -> Option<Vec<Kind>> {
    let has_settings = chart.templates.iter().any(|file| file.name == "templates/generated/_settings.tpl");
    let path = format!("{}/config/resources.yaml", chart.folder);
    let preprocessors: BTreeSet<&str> = chart
        .templates
        .iter()
        .filter_map(|file| file.name.strip_prefix("templates/preprocess/_")?.strip_suffix(".tpl"))
        .collect();
    if let Ok(bytes) = session.load_bytes(&path) {
        let tree = purlin_gotmpl::yaml::parse(&String::from_utf8_lossy(&bytes), &session.limits);
        let value = crate::yaml::value_of_tree(&tree, 0).ok()?;
        let resources = config::resources(&value);
        if !resources.is_empty() || has_settings {
            let kind = |resource: config::Resource| Kind {
                preprocess: preprocessors.contains(resource.key.as_str()),
                key: resource.key,
                api_version: resource.api_version,
                kind: resource.kind,
            };
            return Some(resources.into_iter().filter(|resource| resource.template).map(kind).collect());
        }
    }
    if !has_settings {
        return None;
    }
    let file = chart.templates.iter().find(|file| file.name == "templates/generated/_settings.tpl")?;
    let text = String::from_utf8_lossy(&file.bytes);
    // The body between the define and its end is plain YAML.
    let (_, body) = text.split_once("{{- define \"metachart.settings\" }}")?;
    let (body, _) = body.split_once("{{- end }}")?;
    let tree = purlin_gotmpl::yaml::parse(body, &session.limits);
    let root = tree.root()?;
    let field = |node: purlin_syntax::Node<'_>, key: &str| {
        node.get(key).map(|value| value.text().to_owned()).unwrap_or_default()
    };
    let kind = |entry: purlin_syntax::tree::Entry<'_>| Kind {
        key: entry.name().to_owned(),
        api_version: field(entry.value, "apiVersion"),
        kind: field(entry.value, "kindCamelCase"),
        preprocess: preprocessors.contains(entry.name()),
    };
    Some(root.entries().map(kind).collect())
}

/// Renders all resources.
pub fn render(compiled: &Compiled, inputs: Inputs<'_>, kinds: &[Kind], threads: usize) -> Result<Output, RenderError> {
    let wanted = count(inputs.values, kinds) / MIN_SHARE;
    let threads = threads.min(wanted).clamp(1, MAX_THREADS);
    if threads == 1 {
        let whole = on_deep_stack(|| Ok(render_share(compiled, inputs, kinds, 0, 1)))?;
        return within_fuel(whole.map_err(|failed| failed.error)?, inputs);
    }
    let shares: Vec<Result<Output, Failed>> = std::thread::scope(|scope| {
        let render = |share: usize| {
            on_deep_stack(|| Ok(render_share(compiled, inputs, kinds, share, threads)))
                .unwrap_or_else(|error| Err(Failed { at: 0, error }))
        };
        let workers: Vec<_> = (0..threads).map(|share| scope.spawn(move || render(share))).collect();
        let no_thread = |_| Err(Failed { at: 0, error: RenderError::Thread });
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(no_thread)).collect()
    });
    let mut all = Output { calls: vec![Call { site: 0, parent: 0 }], ..Output::default() };
    let common = compiled.namespace().end_of_sources();
    let mut first: Option<Failed> = None;
    for share in shares {
        match share {
            Ok(share) => all.join(share, common),
            Err(failed) if first.as_ref().is_none_or(|first| failed.at < first.at) => first = Some(failed),
            Err(_) => {}
        }
    }
    if let Some(failed) = first {
        return Err(failed.error);
    }
    all.resources.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    within_fuel(all, inputs)
}

/// Why a share was not rendered to its end.
struct Failed {
    /// The number of the resource that failed, among all.
    at: usize,
    error: RenderError,
}

/// Most threads that work at the same time.
const MAX_THREADS: usize = 16;

/// Fewer resources than this are not worth a thread, which has to copy the values first.
const MIN_SHARE: usize = 200;

/// How many resources the values hold, those that are related to others not counted.
fn count(values: &Value, kinds: &[Kind]) -> usize {
    kinds.iter().filter_map(|kind| values.get(&kind.key)?.as_map()).map(|resources| resources.len()).sum()
}

/// The output, unless its resources together took more steps than allowed. Each counts once, whoever built it, so that
/// the answer does not depend on the number of threads.
fn within_fuel(output: Output, inputs: Inputs<'_>) -> Result<Output, RenderError> {
    if output.costs.values().sum::<u64>() > inputs.limits.fuel {
        return Err(stopped("resources", Fault::Limit(Limit::Fuel), 0));
    }
    Ok(output)
}

impl Output {
    /// Adds another share. Places behind the templates that all have in common are moved behind those already here.
    fn join(&mut self, share: Output, common: u32) {
        let end = |source: &SourceFile| source.file.base.saturating_add(source.file.text.len() as u32 + 1);
        let moved = self.sources.last().map_or(0, |last| end(last).max(common) - common);
        let earlier = self.calls.len() as u32 - 1;
        let site = |site: u32| if site < common { site } else { site.saturating_add(moved) };
        let call = |call: u32| if call == 0 { 0 } else { call + earlier };
        let is_first = self.sources.is_empty();
        for source in share.sources {
            if source.file.base < common {
                self.sources.extend(is_first.then_some(source));
                continue;
            }
            let File { name, text, base } = source.file.as_ref();
            let file = Arc::new(File { name: name.clone(), text: text.clone(), base: site(*base) });
            self.sources.push(SourceFile { file, origin: source.origin });
        }
        let calls = share.calls.into_iter().skip(1);
        self.calls.extend(calls.map(|made| Call { site: site(made.site), parent: call(made.parent) }));
        for mut resource in share.resources {
            for piece in &mut resource.pieces {
                (piece.site, piece.call) = (site(piece.site), call(piece.call));
            }
            self.resources.push(resource);
        }
        self.holes.extend(share.holes);
        if share.unsure.is_some() && (self.unsure.is_none() || share.unsure_at < self.unsure_at) {
            (self.unsure, self.unsure_at) = (share.unsure, share.unsure_at);
        }
        self.costs.extend(share.costs);
    }
}

/// Builds every n-th resource.
fn render_share(
    compiled: &Compiled,
    inputs: Inputs<'_>,
    kinds: &[Kind],
    share: usize,
    of: usize,
) -> Result<Output, Failed> {
    let mut machine = Machine::new(compiled.namespace(), inputs.outside, inputs.limits);
    let values = import(&mut machine.heap, inputs.values);
    let mut contexts = Vec::new();
    let mut builder = Contexts::new(&mut machine.heap, inputs.release, inputs.capabilities);
    let root = builder.build(inputs.chart, values, true, inputs.chart.name(), &mut contexts);
    let template = format!("{}/templates/resources.yaml", inputs.chart.name());
    set_template(&mut machine, &root, &template.as_str().into(), inputs.chart.name());
    let found =
        discover(&machine.heap, &root, kinds).map_err(|fault| Failed { at: 0, error: stopped(&template, fault, 0) })?;
    let order: Vec<(String, String)> =
        found.iter().flat_map(|(kind, resources)| resources.keys().map(|name| (kind.clone(), name.clone()))).collect();
    let kinds = kinds.iter().map(|kind| (kind.key.clone(), kind.clone())).collect();
    let workshop = Rc::new(Workshop::new(root, kinds, found));
    machine.natives = Some(Rc::new(Helpers { workshop: workshop.clone() }));
    let mut resources = Vec::new();
    let mut unsure_at = 0;
    for (at, (kind, name)) in order.into_iter().enumerate().skip(share).step_by(of) {
        let was_sure = machine.unsure.is_none();
        let built: Rc<Built> = workshop.build(&mut machine, &kind, &name).map_err(|fault| {
            let origin =
                workshop.found.get(&kind).and_then(|all| all.get(&name)).map_or(0, |one| one.definition.origin);
            Failed { at, error: stopped(&format!("{kind}/{name}"), fault, origin) }
        })?;
        if was_sure && machine.unsure.is_some() {
            unsure_at = at;
        }
        let pieces = built.yaml.pieces().map(<[Piece]>::to_vec).unwrap_or_default();
        resources.push(Made { kind, name, text: built.yaml.text().into_owned(), pieces });
    }
    // The helpers hold the workshop, which outlives the machine otherwise.
    machine.natives = None;
    let (sources, calls) = (std::mem::take(&mut machine.sources), std::mem::take(&mut machine.calls));
    let holes = std::mem::take(&mut machine.heap.holes);
    let costs = workshop.costs.take();
    Ok(Output { resources, sources, calls, holes, unsure: machine.unsure.take(), unsure_at, costs })
}

/// A fault of the pipeline itself, as an error of the resource it happened in.
fn stopped(place: &str, fault: Fault, origin: u32) -> RenderError {
    if let Fault::Inner(inner) = fault {
        return RenderError::Exec(inner);
    }
    RenderError::Exec(Box::new(purlin_gotmpl::ExecError {
        file: place.to_owned(),
        line: 0,
        column: 0,
        offset: 0,
        template: place.to_owned(),
        node: String::new(),
        function: None,
        fault,
        origin,
    }))
}

/// Whether a definition is not switched off.
fn is_enabled(heap: &Heap, definition: &Val) -> bool {
    get(heap, definition, "enabled").is_none_or(|enabled| heap.truth(&enabled))
}

/// Finds standalone resources and those related to them.
fn discover(heap: &Heap, root: &Val, kinds: &[Kind]) -> Result<BTreeMap<String, BTreeMap<String, Found>>, Fault> {
    let empty = Val::NIL;
    let values = at(heap, root, &["Values"]).unwrap_or(empty);
    let is_on =
        |kind: &str| at(heap, &values, &["settings", kind, "disabled"]).is_none_or(|disabled| !heap.truth(&disabled));
    let mut found: BTreeMap<String, BTreeMap<String, Found>> = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| is_on(&kind.key)) {
        for (name, definition) in named(heap, get(heap, &values, &kind.key)) {
            if is_enabled(heap, &definition) {
                let resource = Found { kind: kind.key.clone(), name: name.clone(), definition, related: None };
                found.entry(kind.key.clone()).or_default().insert(name, resource);
            }
        }
    }
    for parent in kinds.iter().filter(|kind| is_on(&kind.key)) {
        for (parent_name, parent_definition) in named(heap, get(heap, &values, &parent.key)) {
            if !is_enabled(heap, &parent_definition) {
                continue;
            }
            let Some(related) = get(heap, &parent_definition, "related") else { continue };
            for kind in kinds.iter().filter(|kind| is_on(&kind.key)) {
                for (name, definition) in named(heap, get(heap, &related, &kind.key)) {
                    if !is_enabled(heap, &definition) {
                        continue;
                    }
                    let component = format!("{}-{parent_name}", parent.key);
                    let resource =
                        Found { kind: kind.key.clone(), name: name.clone(), definition, related: Some(component) };
                    let known = found.entry(kind.key.clone()).or_default().insert(name.clone(), resource);
                    if known.is_some() {
                        let message = format!("Resource {}/{name} defined in global and related scopes", kind.key);
                        return Err(Fault::Stop(message));
                    }
                }
            }
        }
    }
    Ok(found)
}

fn named(heap: &Heap, map: Option<Val>) -> Vec<(String, Val)> {
    match map.map(|value| value.data) {
        Some(Data::Map(map)) => {
            heap.get_map(map).entries.iter().map(|(name, value)| (name.text().into_owned(), value.clone())).collect()
        }
        _ => Vec::new(),
    }
}
