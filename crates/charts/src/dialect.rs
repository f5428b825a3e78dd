//! The dialect for the native commands: recognises charts, renders them and says where every field comes from.

use std::collections::HashMap;
use std::sync::Arc;

use purlin_gotmpl::{ExecError, Limit, Val};
use purlin_model::{Answer, Dialect, Manifest, Node, Question, Recognised, Request, Resolved};
use purlin_syntax::{Diagnostic, Rule, Source, Span, Tree};
use purlin_value::world::FileKind;
use purlin_value::{Data, EcoString, Pending, Session, Value, path};

use crate::chart::Chart;
use crate::checks;
use crate::context::{Contexts, import, origin_of};
use crate::engine::{self, RenderError};
use crate::manifest::{self, Document};
use crate::metachart::pipeline;
use crate::rules::{self, RULES};
use crate::template::{self, Options, TemplateError};
use crate::trace::{Tracer, node_id, span_in, template_path};

/// The dialect of charts.
pub const DIALECT: Dialect = Dialect {
    name: "charts",
    summary: "Helm charts and Metachart charts: values, templates, manifests.",
    detect,
    resolve,
    eval,
    rules: RULES,
};

/// Most levels of a chain of templates that a message shows.
const MAX_TRACE: usize = 20;

/// The folder or archive of the chart a request names.
fn chart_path(session: &Session, request: &Request) -> Option<String> {
    let start = if request.path.is_empty() { "." } else { request.path.as_str() };
    let stat = session.world.stat(start).ok()?;
    if stat.kind == FileKind::Folder {
        return session.world.exists(&path::join(start, "Chart.yaml")).then(|| path::normalize(start));
    }
    if path::file_name(start) == "Chart.yaml" {
        return Some(path::normalize(path::parent(start)));
    }
    start.ends_with(".tgz").then(|| start.to_owned())
}

fn detect(session: &Session, request: &Request) -> Option<Recognised> {
    let folder = chart_path(session, request)?;
    let file = if folder.ends_with(".tgz") { folder } else { path::join(&folder, "Chart.yaml") };
    Some(Recognised { file, strength: 40 })
}

fn options(session: &Session, request: &Request) -> Options {
    let here = session.world.here();
    let values = request.values.iter().map(|file| (path::join(here, file), file.clone())).collect();
    let list = |name: &str| {
        let texts = request.extra.iter().filter(|(key, _)| key == name);
        texts.flat_map(|(_, text)| text.split(',')).map(str::to_owned).collect()
    };
    Options {
        name: request.extra("release-name").unwrap_or_default().to_owned(),
        namespace: request.namespace.clone().unwrap_or_default(),
        values,
        sets: request.sets.clone(),
        here: here.to_owned(),
        api_versions: list("api-versions"),
        kube_version: request.extra("kube-version").map(str::to_owned),
        include_crds: request.extra("include-crds").is_some(),
        pending: request.extra.iter().filter(|(key, _)| key == "pending").map(|(_, text)| pending_flag(text)).collect(),
        track: true,
        ..Options::default()
    }
}

/// `PATH=WHAT`, or a path alone, which then is what is waited for.
fn pending_flag(text: &str) -> (String, String) {
    let (path, what) = text.split_once('=').unwrap_or((text, text));
    (path.to_owned(), what.to_owned())
}

/// A document on its way to a node.
struct Piece {
    document: Document,
    pieces: Arc<[purlin_gotmpl::Piece]>,
    offset: usize,
    /// Whether what was rendered before it may have been left out.
    is_unsure: bool,
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let folder = chart_path(session, request)?;
    resolve_chart(session, &folder, &options(session, request))
}

/// Resolves the chart at a path. A host with a chart inside gives its values in the options; those that are pending
/// become holes, and what depends on them is pending in the nodes.
pub fn resolve_chart(session: &Session, folder: &str, options: &Options) -> Option<Resolved> {
    let prepared = match template::prepare(session, folder, options) {
        Ok(prepared) => prepared,
        Err(error) => {
            report(session, None, &error);
            return None;
        }
    };
    for warning in &prepared.warnings {
        session.sink.push(Diagnostic::nowhere(&rules::WARNING, warning.trim_start_matches("warning: ")));
    }
    let chart = prepared.chart.clone();
    let mut resolved = Resolved::new(chart.name());
    resolved.variables = prepared.values.clone();
    let rendered = match pipeline::kinds(session, &chart) {
        Some(kinds) => {
            checks::unknown_keys(session, &chart, &prepared.values);
            render_metachart(session, &prepared, &kinds)
        }
        None => render_helm(session, &prepared),
    };
    let (tracer, pieces) = match rendered {
        Ok(rendered) => rendered,
        Err(error) => {
            report(session, Some(&chart), &error);
            return Some(resolved);
        }
    };
    for piece in pieces {
        let (node, manifest) = finish(session, &chart, &tracer, &piece);
        resolved.manifests.push(manifest);
        resolved.nodes.extend(node);
    }
    checks::check(session, &chart, &resolved.nodes);
    Some(resolved)
}

type Documents<'s> = (Tracer<'s>, Vec<Piece>);

fn render_helm<'s>(session: &'s Session, prepared: &template::Prepared) -> Result<Documents<'s>, TemplateError> {
    let rendered = prepared.render(session)?;
    let texts: Vec<(String, String)> = rendered
        .files
        .iter()
        .filter(|(path, _)| !path.ends_with("NOTES.txt"))
        .map(|(path, rope)| (path.clone(), String::from_utf8_lossy(&rope.bytes).into_owned()))
        .collect();
    let files = texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let manifests = manifest::sort(files, &rendered.holes, &session.limits).map_err(TemplateError::rendering)?;
    // Documents of one file share its pieces.
    let ropes: HashMap<String, Arc<[purlin_gotmpl::Piece]>> =
        rendered.files.into_iter().map(|(path, rope)| (path, rope.pieces.into())).collect();
    let mut pieces = Vec::new();
    for document in manifests.resources.into_iter().chain(manifests.hooks) {
        let is_unsure = rendered.unsure.contains(&document.path);
        let rope = ropes.get(&document.path).cloned().unwrap_or_default();
        pieces.push(Piece { offset: document.start, document, pieces: rope, is_unsure });
    }
    Ok((Tracer::new(session, &prepared.chart, rendered.sources, rendered.calls, rendered.holes), pieces))
}

fn render_metachart<'s>(
    session: &'s Session,
    prepared: &template::Prepared,
    kinds: &[crate::metachart::build::Kind],
) -> Result<Documents<'s>, TemplateError> {
    let failed = |error: RenderError| TemplateError {
        message: error.helm_text(),
        while_rendering: true,
        render: Some(error),
        problems: Vec::new(),
    };
    let compiled = engine::compile(&prepared.chart).map_err(failed)?;
    let (outside, limits) = (template::outside(session, true), template::engine_limits(session));
    let made =
        pipeline::render(&compiled, prepared.inputs(&outside, &limits), kinds, session.threads).map_err(failed)?;
    let mut pieces = Vec::new();
    for resource in made.resources {
        let path = format!("{}/templates/resources.yaml", prepared.chart.name());
        let sorted = manifest::sort([(path.as_str(), resource.text.as_str())], &made.holes, &session.limits)
            .map_err(TemplateError::rendering)?;
        let rope: Arc<[purlin_gotmpl::Piece]> = resource.pieces.into();
        for document in sorted.resources.into_iter().chain(sorted.hooks) {
            let (offset, is_unsure) = (document.start, made.is_unsure);
            pieces.push(Piece { offset, document, pieces: rope.clone(), is_unsure });
        }
    }
    pieces.sort_by_cached_key(|piece| manifest::place(&piece.document));
    Ok((Tracer::new(session, &prepared.chart, made.sources, made.calls, made.holes), pieces))
}

/// The node and manifest of a document.
fn finish(session: &Session, chart: &Chart, tracer: &Tracer<'_>, piece: &Piece) -> (Option<Node>, Manifest) {
    let document = &piece.document;
    let tree: Tree = purlin_gotmpl::yaml::parse(&document.text, &session.limits);
    let value = tree.root().map(|root| tracer.value(root, &piece.pieces, piece.offset)).unwrap_or_default();
    let open = still_open(tracer, tree.root(), piece);
    let text = Some(EcoString::from(document.text.trim_end()));
    let manifest = Manifest { source: EcoString::from(document.path.as_str()), text, value: value.clone() };
    if value.as_map().is_none() && open.is_none() {
        return (None, manifest);
    }
    // A document that may have no name yet goes by the template that will make it.
    let (kind, name) = match (document.kind.as_str(), document.name.as_str()) {
        ("", _) | (_, "") if open.is_some() => ("pending", document.path.as_str()),
        known => known,
    };
    let mut node = Node::new(node_id(kind, name), kind, "charts");
    node.type_name = EcoString::from(document.api_version.as_str());
    node.source = session.origins.span(value.origin, &session.sources).or_else(|| first_span(session, chart, document));
    node.resolved = match open {
        Some(pending) => Value::new(Data::Pending(Arc::new(pending))).with_origin(value.origin),
        None => value,
    };
    (Some(node), manifest)
}

/// What a document as a whole waits for: what decides on its contents or on its keys, or on what was rendered before.
fn still_open(tracer: &Tracer<'_>, root: Option<purlin_syntax::Node<'_>>, piece: &Piece) -> Option<Pending> {
    let holes = &tracer.holes;
    if holes.is_empty() {
        return None;
    }
    if piece.is_unsure {
        let what = "what a template left open changes".into();
        return Some(holes.within(piece.document.text.as_bytes()).unwrap_or(Pending { tasks: Vec::new(), what }));
    }
    let deciding = holes.deciding(piece.document.text.as_bytes());
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
    let options = options(session, request);
    let prepared = match template::prepare(session, &folder, &options) {
        Ok(prepared) => prepared,
        Err(error) => {
            report(session, None, &error);
            return None;
        }
    };
    let text = if question.expression.contains("{{") {
        question.expression.clone()
    } else {
        format!("{{{{ {} }}}}", question.expression)
    };
    match evaluate(session, &prepared, &text) {
        Ok(output) => Some(Answer { value: Value::str(output), trace: Vec::new() }),
        Err(error) => {
            let error = TemplateError {
                message: error.helm_text(),
                while_rendering: false,
                render: Some(error),
                problems: Vec::new(),
            };
            report(session, Some(&prepared.chart), &error);
            None
        }
    }
}

/// Renders an expression with the chart's templates in sight.
fn evaluate(session: &Session, prepared: &template::Prepared, text: &str) -> Result<String, RenderError> {
    let compiled = engine::compile(&prepared.chart)?;
    let (outside, limits) = (template::outside(session, false), template::engine_limits(session));
    let inputs = prepared.inputs(&outside, &limits);
    engine::on_deep_stack(|| {
        let namespace = compiled.namespace();
        let layer = namespace.layer(text.into(), namespace.end_of_sources()).map_err(RenderError::Parse)?;
        let main = layer.main.clone();
        let mut machine = purlin_gotmpl::Machine::new(namespace, inputs.outside, inputs.limits);
        let values = import(&mut machine.heap, inputs.values);
        let mut contexts = Vec::new();
        let mut builder = Contexts::new(&mut machine.heap, inputs.release, inputs.capabilities);
        let root: Val = builder.build(inputs.chart, values, true, inputs.chart.name(), &mut contexts);
        let Some(tree) = main else { return Ok(String::new()) };
        let rope = machine.execute_tree(&tree, root).map_err(RenderError::Exec)?;
        Ok(String::from_utf8_lossy(&rope.bytes).replace("<no value>", ""))
    })
}

/// Reports why a chart cannot be rendered.
fn report(session: &Session, chart: Option<&Chart>, error: &TemplateError) {
    for (name, problem) in &error.problems {
        let field = problem.at.trim_start_matches('/').replace('/', ".");
        let place = if field.is_empty() { format!("the values of `{name}`") } else { format!("`{field}` of `{name}`") };
        let mut diagnostic = Diagnostic::nowhere(&rules::SCHEMA, format!("{place}: {}", problem.message));
        diagnostic.span = session.origins.span(problem.origin, &session.sources);
        for cause in &problem.causes {
            diagnostic.message.push_str(&format!("; {}", cause.message));
        }
        session.sink.push(diagnostic);
    }
    if !error.problems.is_empty() {
        return;
    }
    match (&error.render, chart) {
        (Some(RenderError::Exec(failed)), Some(chart)) => report_exec(session, chart, failed),
        (Some(RenderError::Parse(problem)), Some(chart)) => {
            let text = template_text(chart, &problem.file);
            let offset = text.split_inclusive('\n').take(problem.line.saturating_sub(1) as usize).map(str::len).sum();
            let span = span_in(session, chart, &problem.file, &text, offset);
            session.sink.push(Diagnostic::at(&rules::SYNTAX, span, problem.message.clone()));
        }
        _ => {
            let rule = rule_of(&error.message);
            session.sink.push(Diagnostic::nowhere(rule, error.message.clone()));
        }
    }
}

/// The rule a plain message falls under.
fn rule_of(message: &str) -> &'static Rule {
    if message.contains("aliases expand this document") {
        return &purlin_syntax::rules::LIMIT_ALIAS;
    }
    const STARTS: &[(&str, &Rule)] = &[
        ("values don't meet", &rules::SCHEMA),
        ("validation:", &rules::METADATA),
        ("library charts", &rules::METADATA),
        ("an error occurred while checking for chart dependencies", &rules::DEPENDENCY),
        ("chart dependencies processing failed", &rules::DEPENDENCY),
        ("failed pars", &rules::VALUES),
        ("failed to parse", &rules::VALUES),
        ("YAML parse error", &rules::MANIFEST),
        ("chart requires kubeVersion", &rules::METADATA),
    ];
    STARTS.iter().find(|(start, _)| message.starts_with(start)).map_or(&rules::LOAD, |(_, rule)| rule)
}

fn template_text(chart: &Chart, name: &str) -> String {
    fn find<'c>(chart: &'c Chart, path: &str, name: &str) -> Option<&'c [u8]> {
        let inner = name.strip_prefix(path)?.strip_prefix('/')?;
        if let Some(file) = chart.templates.iter().find(|file| file.name == inner) {
            return Some(&file.bytes);
        }
        chart.dependencies.iter().find_map(|child| find(child, &format!("{path}/charts/{}", child.name()), name))
    }
    find(chart, chart.name(), name).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// Spans of levels of a chain, each file registered once.
struct Levels<'s> {
    session: &'s Session,
    chart: &'s Chart,
    files: HashMap<String, Option<Arc<Source>>>,
}

impl Levels<'_> {
    fn span(&mut self, level: &ExecError) -> Option<Span> {
        let (session, chart) = (self.session, self.chart);
        let known = self.files.entry(level.file.clone()).or_insert_with(|| {
            let text = template_text(chart, &level.file);
            (!text.is_empty()).then(|| session.sources.insert(&template_path(chart, &level.file), text))
        });
        let source = known.as_ref()?;
        let offset = level.offset as usize;
        let end = source
            .text()
            .get(offset..)
            .and_then(|rest| rest.find('\n'))
            .map_or(source.text().len(), |len| offset + len);
        Some(source.span(offset, end.min(offset + 200)))
    }
}

fn report_exec(session: &Session, chart: &Chart, error: &ExecError) {
    let levels = error.chain();
    let last = error.innermost();
    let rule = match (error.limit(), error.stop_message()) {
        (Some(limit), _) => limit_rule(limit),
        (None, Some(_)) => &rules::FAILED,
        (None, None) if last.fault.go_text().starts_with("rendering template has a nested reference name") => {
            &purlin_syntax::rules::LIMIT_DEPTH
        }
        (None, None) => &rules::TEMPLATE,
    };
    let calling = last
        .function
        .as_ref()
        .filter(|_| error.stop_message().is_none())
        .map(|name| format!("`{name}`: "))
        .unwrap_or_default();
    let mut diagnostic = Diagnostic::nowhere(rule, format!("{calling}{}", last.fault.go_text()));
    // The innermost level that lies in a file; texts of `tpl` do not.
    let mut places = Levels { session, chart, files: HashMap::new() };
    diagnostic.span = levels.iter().rev().find_map(|level| places.span(level));
    if last.line == 0 {
        diagnostic.message = format!("{}: {}", last.file, diagnostic.message);
    }
    let placed =
        levels.iter().rev().filter(|level| level.line > 0).filter_map(|level| Some((level, places.span(level)?)));
    for (level, span) in placed.take(MAX_TRACE) {
        diagnostic = diagnostic.through(span, format!("in `{}` at `{}`", level.template, level.node));
    }
    let value = levels.iter().rev().map(|level| level.origin).find(|origin| *origin != 0);
    if let Some(span) = value.and_then(|origin| session.origins.span(origin_of(origin), &session.sources)) {
        diagnostic = diagnostic.label(span, "this value");
    }
    session.sink.push(diagnostic);
}

fn limit_rule(limit: Limit) -> &'static Rule {
    match limit {
        Limit::Fuel | Limit::Heap => &purlin_value::rules::LIMIT_FUEL,
        Limit::Depth => &purlin_syntax::rules::LIMIT_DEPTH,
        Limit::Output | Limit::Text => &purlin_value::rules::LIMIT_STRING,
        Limit::Items => &purlin_value::rules::LIMIT_LIST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_messages_have_rules() {
        assert_eq!(rule_of("validation: chart.metadata.name is required").name, "chart-metadata");
        assert_eq!(rule_of("no such file").name, "chart-load");
    }
}
