//! Says why a chart cannot be rendered, in the user's words: the rule, the place in a template or values file, and the
//! whole chain of templates that led there.

use std::collections::HashMap;
use std::sync::Arc;

use purlin_gotmpl::{ExecError, Limit};
use purlin_syntax::{Diagnostic, Rule, Source, Span};
use purlin_value::Session;

use crate::chart::Chart;
use crate::context::origin_of;
use crate::engine::RenderError;
use crate::template::TemplateError;
use crate::trace::{span_in, template_path};
use crate::{rules, schema};

/// Longest message of a template that is shown; some quote whole values.
const MAX_MESSAGE: usize = 2_000;

/// Most levels of a chain of templates that a message shows.
const MAX_TRACE: usize = 20;

/// Reports why a chart cannot be rendered.
pub fn report(session: &Session, chart: Option<&Chart>, error: &TemplateError) {
    for (name, problem) in &error.problems {
        let field = problem.at.trim_start_matches('/').replace('/', ".");
        let place = if field.is_empty() { format!("the values of `{name}`") } else { format!("`{field}` of `{name}`") };
        let mut diagnostic = Diagnostic::nowhere(&rules::SCHEMA, format!("{place}: {}", schema::message(problem)));
        diagnostic.span = session.origins.span(problem.value.origin, &session.sources);
        for cause in &problem.causes {
            diagnostic.message.push_str(&format!("; {}", schema::message(cause)));
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
    let mut message = format!("{calling}{}", last.fault.go_text());
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    let mut diagnostic = Diagnostic::nowhere(rule, message);
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
    let value = value.and_then(|origin| session.origins.span(origin_of(origin), &session.sources));
    match (diagnostic.span, value) {
        (Some(_), Some(span)) => diagnostic = diagnostic.label(span, "this value"),
        (None, span) => diagnostic.span = span,
        (Some(_), None) => {}
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
