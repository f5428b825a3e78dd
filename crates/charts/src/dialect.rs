//! The dialect for the native commands: recognises charts, renders them and reports the origin of every field.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use purlin_gotmpl::ExecError;
use purlin_gotmpl::hole::Hole;
use purlin_model::{
    Answer, Dialect, Glance, Manifest, Node, Question, Request, Resolved, Role, Sign, Usual, Variant, Variants,
};
use purlin_syntax::rules::DUPLICATE_KEY;
use purlin_syntax::{Diagnostic, Flavor, MergeKeys, Span, Tree, What};
use purlin_value::{Data, EcoString, Map, Origin, Origins, Session, Value, path, value_of};

use crate::again::{Finished, Known, Renders, put_together};
use crate::chart::Chart;
use crate::checks;
use crate::ci;
use crate::context::origin_of;
use crate::dependencies::decided_on;
use crate::edition::Helm;
use crate::engine::{self, Part, RenderError, Rendered};
use crate::json;
use crate::manifest::{self, Document};
use crate::metachart::build::Kind;
use crate::metachart::check::Reported;
use crate::metachart::kinds::{Kinds, RESOURCES};
use crate::metachart::{self, checksums, current, kinds, pipeline, review};
use crate::report::{
    ChartYaml, missing_dependencies, report, report_broken, report_elsewhere, report_failed, report_values,
};
use crate::rules::{self, RULES};
use crate::template::{self, Options, TemplateError};
use crate::trace::{Tracer, Woven, node_id, template_path};
use crate::values::Warning;
use crate::{guessable, nearby, schema_file, unread, unset, unused, words};

/// The dialect of charts.
pub const DIALECT: Dialect = Dialect {
    name: "charts",
    summary: "Helm charts and Metachart charts: values, templates, manifests.",
    noun: "chart",
    has_name: true,
    unit: "object",
    recognise,
    is_usual: |name| name == CHART_FILE,
    usual: &[Usual { name: CHART_FILE, version: Some("v2"), kind: None }],
    inside: &[],
    reaches_below: true,
    yields: false,
    composes: false,
    is_listed: true,
    renders: true,
    resolve,
    together: None,
    prepare: None,
    apart: None,
    resuming: None,
    variants: Variants {
        noun: "values file",
        list: variants,
        is_chosen: |request| !request.values.is_empty(),
        in_company: &[],
        resolve: None,
    },
    eval,
    rules: RULES,
};

/// The file that makes a folder a chart.
const CHART_FILE: &str = "Chart.yaml";

/// Files of a chart that a user may name when the chart is meant.
const MEMBERS: &[&str] = &["values.yaml", "values.schema.json", "Chart.lock", "requirements.yaml", ".helmignore"];

/// The folder or archive of the chart a request names.
fn chart_path(session: &Session, request: &Request) -> Option<String> {
    let file = DIALECT.file_of(session, request)?;
    Some(if path::file_name(&file) == CHART_FILE { path::normalize(path::parent(&file)) } else { file })
}

fn recognise(file: &Glance<'_>) -> Option<Sign> {
    let name = file.name();
    if name == CHART_FILE {
        return Some(Sign::new(Role::Project, 48));
    }
    if name.ends_with(".tgz") {
        return Some(Sign::new(Role::Named, 40));
    }
    let is_member = MEMBERS.contains(&name) || file.path().split('/').any(|part| part == "templates");
    (file.is_named() && is_member).then_some(Sign::new(Role::Member, 5))
}

/// The `helm template` options of a request.
pub(crate) fn options(session: &Session, request: &Request) -> Options {
    let here = session.world.here();
    let values = request.values.iter().map(|file| (path::join(here, file), file.clone())).collect();
    let versions = request.chart.api_versions.iter().flat_map(|text| text.split(',')).map(str::to_owned);
    Options {
        name: request.chart.release_name.clone().unwrap_or_default(),
        namespace: request.namespace.clone().unwrap_or_default(),
        name_template: request.chart.name_template.clone(),
        helm: request.chart.helm_version.as_deref().and_then(Helm::named).unwrap_or_default(),
        name_from: request.chart.release_from,
        namespace_from: request.chart.namespace_from,
        values,
        sets: request.sets.clone(),
        here: here.to_owned(),
        api_versions: versions.collect(),
        kube_version: request.chart.kube_version.clone(),
        include_crds: request.chart.include_crds,
        lenient: true,
        pending: request.pending.iter().map(|text| pending_flag(text)).collect(),
        track: purlin_value::origin::NOTED,
        is_rehearsal: request.chart.is_rehearsal,
        sets_from: request.chart.sets_from.clone(),
        is_fetched_later: request.chart.is_fetched_later,
        ..Options::default()
    }
}

/// `PATH=WHAT`, or a path alone, which is then used for both.
fn pending_flag(text: &str) -> (String, String) {
    let (path, what) = text.split_once('=').unwrap_or((text, text));
    (path.to_owned(), what.to_owned())
}

/// Mistakes in `Chart.yaml` of charts inside. They often have other authors, so only errors that stop Helm and
/// misspellings are reported.
fn report_odd(session: &Session, chart: &Chart) {
    let is_misspelt = |found: &Diagnostic| matches!(found.what(), What::Unknown { kind, .. } if kind == "key");
    let worst = chart.metadata.odd.iter().filter(|found| found.is_error() || is_misspelt(found));
    session.sink.extend(worst.cloned());
    chart.dependencies.iter().for_each(|inner| report_odd(session, inner));
}

/// A document on its way to a node.
struct Piece {
    document: Document,
    text: Arc<Woven>,
    offset: usize,
    /// Decides whether a value visible here was changed, if that is not known yet.
    unsure: Option<Hole>,
}

/// The chart with its own values, and with each values file beside them and in `ci/`.
fn variants(session: &Session, request: &Request) -> Vec<Variant> {
    let mut found = vec![Variant { name: EcoString::new(), request: request.clone() }];
    let Some(folder) = chart_path(session, request) else { return found };
    let beside = session.world.list(&folder).unwrap_or_default().into_iter().map(|entry| entry.name);
    // If the values files of tests are rendered with the chart itself, they are not variants.
    let tests = if request.chart.ci_values { Vec::new() } else { ci::files(session, &folder) };
    for file in beside.filter(|name| is_values_file(name)).chain(tests) {
        let mut request = request.clone();
        request.chart.ci_values = false;
        request.values.push(seen_from_here(session, &path::join(&folder, &file)));
        found.push(Variant { name: file.into(), request });
    }
    found
}

/// A path of the world as a user in its working folder would write it.
fn seen_from_here(session: &Session, file: &str) -> String {
    let (here, file) = (session.world.here(), path::normalize(file));
    let below = file.strip_prefix(here).and_then(|rest| rest.strip_prefix('/'));
    match below {
        _ if here == "." => file,
        Some(below) => below.to_owned(),
        None => path::join(session.world.root(), &file),
    }
}

/// Whether a file has the name of a values file for the chart beside it: `values-production.yaml`, `dev.values.yml`.
pub(crate) fn is_values_file(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")) else { return false };
    let before = ["values-", "values.", "values_"].iter().any(|start| stem.starts_with(start));
    before || ["-values", ".values", "_values"].iter().any(|end| stem.ends_with(end))
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let folder = chart_path(session, request)?;
    let options = options(session, request);
    let has_values = !options.values.is_empty() || !options.sets.is_empty() || !options.pending.is_empty();
    let tests = if request.chart.ci_values && !has_values { ci::files(session, &folder) } else { Vec::new() };
    let (resolved, found) = session.sink.apart(|| resolve_chart(session, &folder, &options));
    if tests.is_empty() {
        session.sink.extend(found);
    } else {
        ci::check(session, &folder, &options, &tests, found);
    }
    resolved
}

/// Resolves the chart at a path. A host with a chart inside gives its values in the options; those that are pending
/// become holes, and what depends on them is pending in the nodes.
pub fn resolve_chart(session: &Session, folder: &str, options: &Options) -> Option<Resolved> {
    let opened = template::open(session, folder).and_then(|mut chart| {
        let contained = contained(&chart);
        if options.lenient {
            nearby::check_declared(session, folder, &chart);
        }
        let nearby = if options.lenient { nearby::fill(session, &mut chart) } else { Vec::new() };
        let is_readable = review::review(session, &chart);
        let kinds = kinds::kinds(session, &chart).or_else(|| (!is_readable).then(Kinds::default));
        let definitions = match &kinds {
            Some(kinds) => current::refresh(session, &mut chart, kinds),
            None => current::named(session, &chart),
        };
        let definitions = definitions.unwrap_or_default();
        Ok((template::prepare_loaded(session, chart, options)?, kinds, definitions, nearby, contained))
    });
    let (prepared, kinds, definitions, nearby, contained) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            report(session, folder, None, &error);
            return None;
        }
    };
    if session.names.is_on() {
        crate::names::note(session, folder, &prepared.chart, options);
    }
    let job = Job {
        session,
        folder,
        kinds,
        definitions,
        nearby,
        is_fetched_later: options.is_fetched_later,
        is_rehearsal: options.is_rehearsal,
    };
    let (mut resolved, mut found) = session.sink.apart(|| {
        let mut resolved = job.resolve(&prepared);
        guessable::keep(session, &prepared.chart);
        if options.include_crds {
            resolved.manifests.splice(0..0, brought_along(session, &prepared.chart));
        }
        resolved
    });
    resolved.contained = contained;
    let looks_for_unset = job.kinds.is_none() && options.lenient;
    if looks_for_unset {
        unset::check(session, &prepared.chart, &prepared.values, prepared.missing.is_empty(), &mut found);
    }
    let is_sound = !found.has_errors();
    session.sink.extend(found);
    if looks_for_unset {
        unset::check_conditions(session, folder, &prepared.chart, &prepared.values);
        unread::check(session, &prepared.chart, &prepared.values);
        // A broken chart reads no values.
        if options.is_rehearsal && is_sound {
            unused::check(session, folder, &prepared, options);
        }
    }
    if let Some(kinds) = job.kinds.as_ref().filter(|_| options.lenient) {
        let mut rendered: Vec<&str> = kinds.rendered.iter().map(|kind| kind.key.as_str()).collect();
        rendered.push("settings");
        unset::check_strings(session, &prepared.values);
        unread::check_metachart(session, &prepared.chart, &prepared.values, &rendered);
    }
    Some(resolved)
}

/// Whether a dependency names a repository from which it can be fetched; one with `file://` would have been found.
fn can_be_fetched(chart: &Chart, name: &str) -> bool {
    const REMOTE: &[&str] = &["https://", "http://", "oci://", "@", "alias:"];
    let mut declared = chart.metadata.dependencies.iter().filter(|one| one.name == name);
    declared.any(|one| REMOTE.iter().any(|start| one.repository.starts_with(start)))
}

/// Number of charts in `charts/`, at any depth, which the loader bounds.
fn contained(chart: &Chart) -> usize {
    chart.dependencies.iter().map(|inner| 1 + contained(inner)).sum()
}

/// A chart that is loaded, on its way to nodes and manifests.
struct Job<'s> {
    session: &'s Session,
    folder: &'s str,
    /// The kinds of a Metachart chart.
    kinds: Option<Kinds>,
    /// The available definitions of Kubernetes objects.
    definitions: Vec<Value>,
    /// Dependencies that are not in `charts/`, with the folders they were read from.
    nearby: Vec<(String, String)>,
    /// Whether missing dependencies are fetched before the chart is deployed.
    is_fetched_later: bool,
    /// Whether the result is only checked.
    is_rehearsal: bool,
}

impl Job<'_> {
    /// Reports dependencies that are not in `charts/`. In a clone they often are not, and as long as a command can fetch
    /// them, the rest is checked and they are a warning.
    fn report_missing(&self, prepared: &template::Prepared, failed: usize) {
        let place = ChartYaml { session: self.session, folder: self.folder };
        let Some(found) = missing_dependencies(self.session, &place, &prepared.missing, &self.nearby, failed) else {
            return;
        };
        let is_warning = self.is_fetched_later
            || (self.is_rehearsal && prepared.missing.iter().all(|name| can_be_fetched(&prepared.chart, name)));
        self.session.sink.push(if is_warning { found.warning() } else { found });
    }

    fn resolve(&self, prepared: &template::Prepared) -> Resolved {
        let Self { session, folder, .. } = *self;
        let place = ChartYaml { session, folder };
        for warning in &prepared.warnings {
            // An import from a missing chart fails as a consequence.
            if matches!(warning, Warning::NoImport(_)) && !prepared.missing.is_empty() {
                continue;
            }
            let said = words::warning(warning);
            session
                .sink
                .push(place.locate(Diagnostic::nowhere(&rules::WARNING, said.message).hint(said.hint), &["name"]));
        }
        let chart = &prepared.chart;
        session.sink.extend(chart.metadata.odd.iter().cloned());
        chart.dependencies.iter().for_each(|inner| report_odd(session, inner));
        let mut resolved = Resolved::new(chart.name());
        resolved.variables = under_names(&session.origins, chart, whole_numbers(prepared.values.clone()));
        let reported = match &self.kinds {
            Some(kinds) => metachart::check::check(session, chart, kinds, &prepared.values),
            None => Reported::new(),
        };
        if schema_file::check(session, folder, chart) {
            return resolved;
        }
        report_values(session, &place, chart.name(), &prepared.problems, &reported);
        report_elsewhere(session, &place, chart, &prepared.elsewhere);
        if !prepared.problems.is_empty() {
            self.report_missing(prepared, 0);
            return resolved;
        }
        if chart.is_library() {
            // Only its definitions can be wrong; their output depends on the including charts.
            if let Err(error) = engine::compile(chart) {
                report(session, folder, Some(chart), &error.into());
            }
            self.report_missing(prepared, 0);
            return resolved;
        }
        let rendered = match &self.kinds {
            Some(kinds) => render_metachart(session, prepared, &kinds.rendered, &reported),
            None => render_helm(session, prepared),
        };
        let Documents { tracer, pieces, failed, shared } = match rendered {
            Ok(rendered) => rendered,
            Err(error) => {
                self.report_missing(prepared, 0);
                report(session, folder, Some(chart), &error);
                return resolved;
            }
        };
        // Failures without the missing charts may be caused by their absence.
        let is_whole = prepared.missing.is_empty();
        self.report_missing(prepared, if is_whole { 0 } else { failed.len() });
        if is_whole {
            report_failed(session, chart, &prepared.values, &failed);
        }
        let finished = pieces.into_iter().map(|piece| finish(session, chart, &tracer, piece)).collect();
        let finished = shared.completed(prepared, finished);
        // Also for what another variant has rendered.
        finished.iter().for_each(|one| session.sink.extend(one.twice.iter().cloned()));
        let finished = finished.into_iter().map(|one| (one.node, one.manifest));
        let (nodes, mut manifests): (Vec<Option<Node>>, Vec<Manifest>) = finished.unzip();
        Manifest::tell_apart(&mut manifests);
        let named = nodes.into_iter().zip(&manifests);
        resolved.nodes.extend(named.filter_map(|(node, manifest)| Some(Node { id: manifest.node.clone(), ..node? })));
        resolved.manifests.extend(manifests);
        checks::check(session, &resolved.nodes, &self.definitions);
        resolved
    }
}

/// The definitions of kinds that a chart and those inside it bring along.
fn brought_along(session: &Session, chart: &Chart) -> Vec<Manifest> {
    let mut found = Vec::new();
    for (path, text) in template::definitions(chart, chart.name()) {
        let source = session.sources.insert(&path, text);
        let tree = session.parse_yaml(source, Flavor::Core);
        let roots = tree.roots().filter(|root| !root.is_null());
        found.extend(roots.map(|root| Manifest::new(path.as_str(), value_of(root, MergeKeys::Apply))));
    }
    found
}

/// Rendered documents.
struct Documents<'s> {
    tracer: Tracer<'s>,
    pieces: Vec<Piece>,
    /// The templates that could not be.
    failed: Vec<ExecError>,
    /// What other variants of the project share with this one.
    shared: Shared,
}

/// Files that need not be rendered for each variant of a project.
#[derive(Default)]
struct Shared {
    renders: Option<Arc<Renders>>,
    /// Files that were not rendered for this variant.
    known: Known,
    /// Files that were, and whose documents can all be read.
    parts: Vec<Part>,
}

impl Shared {
    /// All documents of the chart; those of files that were rendered are kept for other variants.
    fn completed(self, prepared: &template::Prepared, finished: Vec<Finished>) -> Vec<Finished> {
        if let Some(renders) = &self.renders {
            renders.keep(prepared, self.parts, &finished);
        }
        put_together(finished, &self.known, prepared.capabilities.helm)
    }
}

/// Renders the files of which no other variant of the project shows what comes of them.
fn render_rest(session: &Session, prepared: &template::Prepared) -> Result<(Rendered, Shared), TemplateError> {
    let Some(renders) = Renders::of(session, prepared) else {
        return Ok((prepared.render(session)?, Shared::default()));
    };
    let known = renders.known(session, prepared);
    let mut rendered = prepared.render_recorded(session, &|path| !known.contains_key(path))?;
    if rendered.has_changed {
        renders.stop();
        if !known.is_empty() {
            rendered = prepared.render(session)?;
        }
        return Ok((rendered, Shared::default()));
    }
    let parts = std::mem::take(&mut rendered.parts);
    Ok((rendered, Shared { renders: Some(renders), known, parts }))
}

fn render_helm<'s>(session: &'s Session, prepared: &template::Prepared) -> Result<Documents<'s>, TemplateError> {
    let (mut rendered, mut shared) = render_rest(session, prepared)?;
    let (sources, calls) = (std::mem::take(&mut rendered.sources), std::mem::take(&mut rendered.calls));
    let holes = std::mem::take(&mut rendered.holes);
    let tracer = Tracer::new(session, &prepared.chart, sources, calls, holes);
    let failed = std::mem::take(&mut rendered.failed);
    let (mut pieces, hooks, broken) = documents(session, &tracer, rendered, prepared.capabilities.helm);
    pieces.extend(hooks);
    shared.parts.retain(|part| !broken.contains(&part.path));
    Ok(Documents { tracer, pieces, failed, shared })
}

/// The documents of rendered files, resources and hooks, in the order of the files; documents that are not manifests
/// are reported, and their files returned.
fn documents(
    session: &Session,
    tracer: &Tracer<'_>,
    rendered: Rendered,
    helm: &Helm,
) -> (Vec<Piece>, Vec<Piece>, HashSet<String>) {
    let texts: Vec<(String, String)> = rendered
        .files
        .iter()
        .filter(|(path, _)| !path.ends_with("NOTES.txt"))
        .map(|(path, rope)| (path.clone(), String::from_utf8_lossy(&rope.bytes).into_owned()))
        .collect();
    let files = texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let (mut manifests, broken) = manifest::sort_readable(files, &tracer.holes, &session.limits);
    manifests.order_as(helm);
    // Documents of one file share its text.
    let woven = |rope: purlin_gotmpl::Rope| Arc::new(Woven::new(rope.bytes, rope.pieces));
    let files: HashMap<String, Arc<Woven>> =
        rendered.files.into_iter().map(|(path, rope)| (path, woven(rope))).collect();
    for broken in &broken {
        report_broken(session, tracer, files.get(&broken.path), broken);
    }
    let piece = |document: Document| {
        let unsure = rendered.unsure.get(&document.path).cloned();
        let text = files.get(&document.path).cloned().unwrap_or_default();
        Piece { offset: document.start, document, text, unsure }
    };
    let resources = manifests.resources.into_iter().map(piece).collect();
    let hooks = manifests.hooks.into_iter().map(piece).collect();
    (resources, hooks, broken.into_iter().map(|broken| broken.path).collect())
}

fn render_metachart<'s>(
    session: &'s Session,
    prepared: &template::Prepared,
    kinds: &[Kind],
    reported: &Reported,
) -> Result<Documents<'s>, TemplateError> {
    let compiled =
        engine::compile_for(session, &prepared.chart, prepared.capabilities.helm).map_err(TemplateError::from)?;
    let (outside, limits) = (prepared.outside(session, true), template::engine_limits(session));
    let computed = Arc::new(checksums::computed(session, &prepared.values, kinds));
    let job = pipeline::Job { compiled: &compiled, kinds, computed: &computed };
    let mut made =
        pipeline::render(job, prepared.inputs(&outside, &limits), session.threads).map_err(TemplateError::from)?;
    for note in &made.notes {
        let mut diagnostic = Diagnostic::nowhere(&rules::WARNING, note.message.clone());
        diagnostic.span = session.origins.span(origin_of(note.origin), &session.sources);
        session.sink.push(diagnostic);
    }
    let mut failed = made.take_failed();
    failed.retain(|error| !reported.contains(&origin_of(error.innermost().origin)));
    let path = format!("{}/{RESOURCES}", prepared.chart.name());
    let (mut pieces, mut hooks) = (Vec::new(), Vec::new());
    for resource in made.resources {
        let (sorted, broken) =
            manifest::sort_readable([(path.as_str(), resource.text.as_str())], &made.holes, &session.limits);
        if let Some(broken) = broken.first() {
            let rule = Some(&rules::MANIFEST);
            return Err(TemplateError { rule, ..TemplateError::rendering(broken.helm_text()) });
        }
        let text = Arc::new(Woven::new(resource.text.into_bytes(), resource.pieces));
        let unsure = &made.unsure;
        let piece = |document: Document| {
            let (offset, text, unsure) = (document.start, text.clone(), unsure.clone());
            Piece { offset, document, text, unsure }
        };
        pieces.extend(sorted.resources.into_iter().map(piece));
        hooks.extend(sorted.hooks.into_iter().map(piece));
    }
    let tracer = Tracer::new(session, &prepared.chart, made.sources, made.calls, made.holes);
    let (other_pieces, other_hooks, _) = documents(session, &tracer, made.rendered, prepared.capabilities.helm);
    let helm = prepared.capabilities.helm;
    let order = |piece: &Piece| (manifest::place(&piece.document, helm), piece.document.path.clone());
    for (all, others) in [(&mut pieces, other_pieces), (&mut hooks, other_hooks)] {
        all.extend(others);
        all.sort_by_cached_key(order);
    }
    pieces.extend(hooks);
    Ok(Documents { tracer, pieces, failed, shared: Shared::default() })
}

/// Whether the name of a resource is a secret, so that it cannot identify it.
fn has_secret_name(value: &Value) -> bool {
    value.is_tainted()
        || value.get("metadata").and_then(|metadata| metadata.get("name")).is_some_and(|name| name.is_tainted())
}

/// The node and manifest of a document.
fn finish(session: &Session, chart: &Chart, tracer: &Tracer<'_>, mut piece: Piece) -> Finished {
    let parsed = || Arc::new(purlin_gotmpl::yaml::parse(&piece.document.text, &session.limits));
    let tree = piece.document.tree.take().unwrap_or_else(parsed);
    let (node, manifest) = node_and_manifest(session, chart, tracer, &piece, &tree);
    let twice = keys_twice(tracer, &piece, &tree);
    let is_hook = !piece.document.events.is_empty();
    (piece.document.text, piece.document.tree) = (String::new(), None);
    Finished { document: piece.document, is_hook, node, manifest, twice }
}

fn node_and_manifest(
    session: &Session,
    chart: &Chart,
    tracer: &Tracer<'_>,
    piece: &Piece,
    tree: &Tree,
) -> (Option<Node>, Manifest) {
    let document = &piece.document;
    let value = tree.root().map(|root| tracer.value(root, &piece.text, piece.offset)).unwrap_or_default();
    let value = Manifest::with_hidden_data(value);
    let open = still_open(tracer, tree.root(), piece);
    // A secret may also be in a comment or a key, which are not part of the value.
    let secret = crate::trace::range_taint(&piece.text, piece.offset, piece.offset + document.text.len()).is_secret();
    let text = (!secret).then(|| EcoString::from(document.text.as_str()));
    let source = EcoString::from(document.path.as_str());
    let mut manifest = Manifest { source, text, value: value.clone(), node: EcoString::new() };
    if value.as_map().is_none() && open.is_none() {
        return (None, manifest);
    }
    // A document whose name is not known yet is identified by its template.
    let (kind, name) = match (document.kind.as_str(), document.name.as_str()) {
        ("", _) | (_, "") if open.is_some() => ("pending", document.path.as_str()),
        (kind, _) if has_secret_name(&value) => (kind, document.path.as_str()),
        known => known,
    };
    let mut node = Node::new(node_id(kind, name), kind, "charts");
    manifest.node = node.id.clone();
    node.type_name = EcoString::from(document.api_version.as_str());
    node.source = session.origins.span(value.origin, &session.sources).or_else(|| first_span(session, chart, document));
    let decided = decided_on(chart, &document.path);
    let origin = session.origins.selected(value.origin, "the dependency is enabled", None, decided);
    let value = value.with_origin(origin);
    node.resolved = match open {
        Some(pending) => value.with(pending.data()),
        None => value,
    };
    (Some(node), manifest)
}

/// Keys that a manifest has twice: Helm takes the last one without a word, `kubectl apply` refuses the manifest.
fn keys_twice(tracer: &Tracer<'_>, piece: &Piece, tree: &Tree) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    let twice = tree.diagnostics().iter().filter(|problem| problem.rule == &DUPLICATE_KEY);
    for (problem, span) in twice.filter_map(|problem| Some((problem, problem.span?))) {
        let of_first = problem.labels.first().and_then(|label| text_behind(tree, label.span));
        let is_same = of_first.is_some() && of_first == text_behind(tree, span);
        let outcome = if is_same { "with the same value" } else { "of which the last one counts" };
        let (start, end) = (piece.offset + span.start as usize, piece.offset + span.end as usize);
        let is_secret = crate::trace::range_taint(&piece.text, start, end).is_secret();
        let name = piece.document.text.get(span.start as usize..span.end as usize).filter(|_| !is_secret);
        let name = name.map(|name| format!(" `{name}`")).unwrap_or_default();
        let mut found = Diagnostic::nowhere(&DUPLICATE_KEY, format!("duplicate key{name}, {outcome}"));
        found.span = tracer.span_of_text(&piece.text, start);
        let first = problem.labels.first().map(|label| piece.offset + label.span.start as usize);
        let first = first.and_then(|first| tracer.span_of_text(&piece.text, first));
        if let Some(first) = first.filter(|first| Some(*first) != found.span) {
            found = found.label(first, "first here");
        }
        all.push(found.warning().hint("remove one of the two"));
    }
    all
}

/// The text of the value behind a key.
fn text_behind(tree: &Tree, key: Span) -> Option<&str> {
    let count = u32::try_from(tree.len()).ok()?;
    let at = (0..count).find(|index| tree.node(*index).is_some_and(|node| node.is_scalar() && node.span() == key))?;
    let value = tree.node(at + 1)?.span();
    tree.source().text().get(value.start as usize..value.end as usize).map(str::trim_end)
}

/// The hole that a whole document waits for: one that decides on its contents or keys, or on the text rendered before.
fn still_open(tracer: &Tracer<'_>, root: Option<purlin_syntax::Node<'_>>, piece: &Piece) -> Option<Hole> {
    let holes = &tracer.holes;
    if holes.is_empty() {
        return None;
    }
    let deciding = piece.unsure.clone().or_else(|| holes.deciding(piece.document.text.as_bytes()));
    deciding.or_else(|| {
        let mut stack: Vec<_> = root.into_iter().collect();
        while let Some(node) = stack.pop() {
            for entry in node.entries() {
                if let Some(pending) = holes.within(entry.key.text().as_bytes()) {
                    return Some(pending);
                }
                stack.push(entry.value);
            }
            stack.extend(node.items());
        }
        None
    })
}

fn first_span(session: &Session, chart: &Chart, document: &Document) -> Option<Span> {
    let source = session.sources.insert(&template_path(chart, &document.path), String::new());
    Some(source.span(0, 0))
}

fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let folder = chart_path(session, request)?;
    eval_chart(session, &folder, &options(session, request), question)
}

/// Evaluates an expression with the values and templates of the chart at a path.
pub(crate) fn eval_chart(session: &Session, folder: &str, options: &Options, question: &Question) -> Option<Answer> {
    let prepared = match template::prepare(session, folder, options) {
        Ok(prepared) => prepared,
        Err(error) => {
            report(session, folder, None, &error);
            return None;
        }
    };
    let template = match &question.on {
        Some(on) => Some(template_of(session, folder, options, question, on)?),
        None => None,
    };
    let template = template.as_deref();
    let text = question.expression.trim();
    let found = match text.contains("{{") {
        true => evaluate(session, &prepared, text, template).map(|(text, taint)| (Value::str(text), taint)),
        // For an expression alone, the value is needed, not its printed form.
        false => evaluate(session, &prepared, &format!("{{{{ {text} | toJson }}}}"), template).map(|(json, taint)| {
            let read = json::parse(json.as_bytes(), Origin::NONE).ok().map(whole_numbers);
            (read.unwrap_or_else(|| Value::str(json)), taint)
        }),
    };
    match found {
        Ok((value, is_secret)) => Some(Answer { value: value.tainted_if(is_secret), trace: Vec::new() }),
        Err(error) => {
            let is_own = error.file() == Some(EXPRESSION);
            let said = || report(session, folder, Some(&prepared.chart), &error.into());
            let ((), own) = session.sink.apart(said);
            let source = session.sources.insert("expression", question.expression.as_str());
            session.sink.extend(own.into_iter().map(|mut problem| {
                if is_own || problem.span.is_none() {
                    problem.span = Some(source.span(0, question.expression.len()));
                }
                problem
            }));
            None
        }
    }
}

/// Name of templates without a file.
const EXPRESSION: &str = "gotpl";

/// The values of the charts inside are under their names, so they depend on them.
fn under_names(origins: &Origins, chart: &Chart, values: Value) -> Value {
    let Some(map) = values.as_map().filter(|_| !chart.dependencies.is_empty()) else { return values };
    let mut map = map.clone();
    for child in &chart.dependencies {
        let Some(section) = map.get(child.name()).cloned() else { continue };
        let section = under_names(origins, child, section);
        let step = format!("chart `{}`", child.name());
        let origin = origins.selected(section.origin, step, None, [child.metadata.origin("name")]);
        map.insert(child.name().into(), section.with_origin(origin));
    }
    values.with(map.into())
}

/// Charts have one kind of numbers; those without a fraction are shown as integers.
fn whole_numbers(value: Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match &value.data {
        #[allow(clippy::cast_possible_truncation)]
        Data::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            let data = Data::Int(*number as i64);
            value.with(data)
        }
        Data::List(items) => {
            let items: Vec<Value> = items.iter().cloned().map(whole_numbers).collect();
            value.with(Value::list(items).data)
        }
        Data::Map(entries) => {
            let entries: Map = entries.iter().map(|(key, item)| (key.clone(), whole_numbers(item.clone()))).collect();
            value.with(Value::map(entries).data)
        }
        _ => value,
    }
}

/// The template of an object; unknown ones are reported.
fn template_of(session: &Session, folder: &str, options: &Options, question: &Question, on: &str) -> Option<String> {
    // In a session of its own: problems of other templates are not reported.
    let sibling = session.twin();
    let (resolved, found) = sibling.sink.apart(|| resolve_chart(&sibling, folder, options));
    let Some(resolved) = resolved else {
        session.sink.extend(found);
        return None;
    };
    let found = resolved.manifests.iter().find(|manifest| manifest.node == on);
    if found.is_none() {
        question.unknown_node(session, resolved.manifests.iter().map(|manifest| manifest.node.as_str()));
    }
    found.map(|manifest| manifest.source.to_string())
}

/// Renders an expression with access to the chart's templates, and returns whether a secret was used. With a template,
/// `.` has its value there: values of the subchart that the template belongs to.
fn evaluate(
    session: &Session,
    prepared: &template::Prepared,
    text: &str,
    template: Option<&str>,
) -> Result<(String, bool), RenderError> {
    let compiled = engine::compile(&prepared.chart)?;
    // Secrets are only found if origins are tracked.
    let (outside, limits) = (prepared.outside(session, true), template::engine_limits(session));
    let inputs = prepared.inputs(&outside, &limits);
    engine::on_deep_stack(|| {
        let namespace = compiled.namespace();
        let layer = namespace.layer(text.into(), namespace.end_of_sources()).map_err(RenderError::Parse)?;
        let main = layer.main.clone();
        let (mut machine, root, contexts) = engine::prepare(namespace, inputs);
        // Of charts around a template, the innermost counts.
        let own = template.and_then(|template| {
            let is_around =
                |chart: &&String| template.strip_prefix(chart.as_str()).is_some_and(|rest| rest.starts_with('/'));
            contexts.keys().filter(is_around).max_by_key(|chart| chart.len())
        });
        let root = match (template, own.and_then(|chart| Some((chart, contexts.get(chart)?.clone())))) {
            (Some(template), Some((chart, context))) => {
                let named = engine::named_by(&machine, &contexts, chart);
                engine::set_template(&mut machine, &context, &template.into(), chart, named);
                context
            }
            _ => root,
        };
        let Some(tree) = main else { return Ok((String::new(), false)) };
        let rope = machine.execute_tree(&tree, root).map_err(RenderError::Exec)?;
        let is_secret = rope.pieces.iter().any(|piece| piece.tainted);
        Ok((String::from_utf8_lossy(&rope.bytes).replace("<no value>", ""), is_secret))
    })
}
