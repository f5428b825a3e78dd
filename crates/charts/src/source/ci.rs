//! `ci/*-values.yaml`: the values that a chart's own tests use. Where there are any, the chart is checked with each of
//! them, as chart-testing does, and what fails without them is only a warning.

use std::collections::HashSet;

use purlin_syntax::{Diagnostic, Findings, Rule, Severity};
use purlin_value::{Session, path};

use crate::chart::Chart;
use crate::manifest;
use crate::metachart::kinds;
use crate::nearby;
use crate::report::{ChartYaml, report, report_elsewhere, report_failed, report_values};
use crate::rules;
use crate::template::{self, Options};

/// The values files for tests, sorted.
pub fn files(session: &Session, folder: &str) -> Vec<String> {
    let entries = session.world.list(&path::join(folder, "ci")).unwrap_or_default();
    let names = entries.into_iter().map(|entry| entry.name).filter(|name| name.ends_with("-values.yaml"));
    names.map(|name| format!("ci/{name}")).collect()
}

/// Rules that depend on values; problems of others occur with any values.
const OF_VALUES: &[&Rule] = &[&rules::TEMPLATE, &rules::FAILED, &rules::SCHEMA, &rules::MANIFEST, &rules::KUBERNETES];

/// Identity of a problem across runs.
type Identity = (&'static str, String, String);

/// Checks a chart with each of the files. A problem that was found without them and is found again stays an
/// error; one that is not found again is a warning.
pub fn check(session: &Session, folder: &str, options: &Options, files: &[String], without: Findings) {
    // Why it cannot be loaded was reported.
    let Ok(mut chart) = template::open(session, folder) else { return session.sink.extend(without) };
    nearby::fill(session, &mut chart);
    let found = errors(session, &chart, folder, options, files);
    let mut known = HashSet::new();
    for mut diagnostic in without {
        let is_of_values = OF_VALUES.iter().any(|rule| rule.name == diagnostic.rule.name);
        if diagnostic.severity == Severity::Error {
            let identity = identity(session, &diagnostic);
            if is_of_values && !found.iter().any(|(other, _)| *other == identity) {
                diagnostic.severity = Severity::Warning;
                diagnostic.message.push_str(" (without the values files in `ci/`)");
            }
            known.insert(identity);
        }
        session.sink.push(diagnostic);
    }
    for (identity, diagnostic) in found {
        if known.insert(identity) {
            session.sink.push(diagnostic);
        }
    }
}

/// The errors of the chart with each of the files, with the first file that shows each.
fn errors(
    session: &Session,
    chart: &Chart,
    folder: &str,
    options: &Options,
    files: &[String],
) -> Vec<(Identity, Diagnostic)> {
    let is_metachart = kinds::kinds(session, chart).is_some();
    let mut found = Vec::new();
    for file in files {
        let mut options = Options { track: is_metachart, ..options.clone() };
        options.values.push((path::join(folder, file), file.clone()));
        let ((), mut problems) = session.beside(|own| match is_metachart {
            true => drop(crate::resolve_chart(own, folder, &options)),
            false => check_one(own, chart.clone(), &options),
        });
        // The location of a document is only known in a run that records origins, which costs more.
        if problems.iter().any(|problem| problem.rule.name == rules::MANIFEST.name && problem.span.is_none()) {
            options.track = true;
            let (resolved, again) = session.beside(|own| crate::resolve_chart(own, folder, &options));
            drop(resolved);
            problems = again;
        }
        for mut diagnostic in problems {
            let identity = identity(session, &diagnostic);
            if diagnostic.severity == Severity::Error && !found.iter().any(|(other, _)| *other == identity) {
                diagnostic.message.push_str(&format!(" (with `{file}`)"));
                found.push((identity, diagnostic));
            }
        }
    }
    found
}

fn identity(session: &Session, diagnostic: &Diagnostic) -> Identity {
    let place = diagnostic.span.and_then(|span| {
        let source = session.sources.get(span.file)?;
        Some(format!("{}:{}", source.path(), span.start))
    });
    (diagnostic.rule.name, diagnostic.message.clone(), place.unwrap_or_default())
}

fn check_one(session: &Session, chart: Chart, options: &Options) {
    let folder = chart.folder.clone();
    let prepared = match template::prepare_loaded(session, chart, options) {
        Ok(prepared) => prepared,
        Err(error) => return report(session, &folder, None, &error),
    };
    let place = ChartYaml { session, folder: &folder };
    report_values(session, &place, prepared.chart.name(), &prepared.problems, &HashSet::new());
    report_elsewhere(session, &place, &prepared.chart, &prepared.elsewhere);
    if !prepared.problems.is_empty() || !prepared.missing.is_empty() || prepared.chart.is_library() {
        return;
    }
    let rendered = match prepared.render(session) {
        Ok(rendered) => rendered,
        Err(error) => return report(session, &folder, Some(&prepared.chart), &error),
    };
    report_failed(session, &prepared.chart, &prepared.values, &rendered.failed);
    let texts = rendered.files.iter().filter(|(path, _)| !path.ends_with("NOTES.txt"));
    let texts: Vec<(&str, _)> =
        texts.map(|(path, rope)| (path.as_str(), String::from_utf8_lossy(&rope.bytes))).collect();
    let files = texts.iter().map(|(path, text)| (*path, text.as_ref()));
    let (_, broken) = manifest::sort_readable(files, &rendered.holes, &session.limits);
    for broken in broken {
        let message = format!("{} renders to invalid YAML: {}", broken.path, broken.message);
        session.sink.push(Diagnostic::nowhere(&rules::MANIFEST, message));
    }
}
