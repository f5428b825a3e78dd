//! `purlin verify`: everything that `check` does, and unit tests.

use crate::args::{AnswerFormat, ClusterTerms, DiagnosticFormat, Target, TestTerms};
use crate::commands::Context;
use crate::commands::check::{Opened, Total, plural, print_for_programs, refuse_unused, sessions, worse};
use crate::commands::unchanged::Since;
use crate::invocation::Exit;
use crate::report::{report, settle};
use purlin_compiler::{survey_declared, survey_variants};
use purlin_syntax::Severity;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::world::FileKind;
use purlin_value::{EcoString, Map, Secrets, Session, Value, path};
use purlin_verify::{
    Options, Outcome, Report, SuiteReport, chart_folders, junit, project_suites, run_chart, run_project_suite,
    suites_xml,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub(in crate::commands) fn run(
    cx: &mut Context<'_, '_>,
    paths: &[PathBuf],
    (target, cluster): (&Target, &ClusterTerms),
    terms: &TestTerms,
    (output, out): (Option<AnswerFormat>, Option<&Path>),
) -> Result<Exit, Exit> {
    if out.is_some() && cx.style.format == DiagnosticFormat::Human {
        return Err(cx.usage("`--out` needs a format for programs: add `--diagnostics sarif`, `json` or `github`"));
    }
    let mut opened = sessions(cx, paths, target, cluster)?;
    let mut total = Total::default();
    for Opened { session, request, paths, .. } in &opened {
        let paths: Vec<String> = paths.iter().filter(|path| !is_suite(path)).cloned().collect();
        if !terms.only_tests && !paths.is_empty() {
            let survey = if target.env.is_none() { survey_variants } else { survey_declared };
            total.add(survey(session, request, &paths));
        }
    }
    if !terms.only_tests {
        refuse_unused(cx, target, &total.projects)?;
    }
    let options = Options { patterns: terms.patterns.clone(), updates_snapshots: terms.update_snapshots };
    let mut tested = Report::default();
    let mut reports = String::new();
    let mut exit = Exit::Ok;
    let mut left_out = 0;
    for Opened { session, settings, paths, .. } in &mut opened {
        let named = paths.first().map(|path| Path::new(session.world.root()).join(path));
        let mut since = match terms.since.as_deref().zip(named) {
            Some((revision, named)) => Since::open(cx, &named, revision)?,
            None => None,
        };
        cx.settings = std::mem::take(settings);
        let mut runs = |folder: &str| since.as_mut().is_none_or(|since| since.has_changed(session, folder));
        let suites = paths.iter().flat_map(|path| run_suites(session, path, &options, &mut runs));
        let own = Report { suites: suites.collect() };
        left_out += since.map_or(0, |since| since.left_out);
        session.sink.extend(own.findings().cloned());
        exit = worse(exit, store_snapshots(cx, session, &own));
        reports.push_str(&suites_xml(&own, &session.sources));
        tested.suites.extend(own.suites);
        settle(session, &cx.settings, cx.style, !terms.only_tests);
        total.files += session.sources.len();
        total.errors += session.sink.count(Severity::Error);
        total.warnings += session.sink.count(Severity::Warning);
        cx.tell_read(session);
        if cx.style.format == DiagnosticFormat::Human {
            exit = worse(exit, report(cx.invocation, session, cx.style));
        }
    }
    if cx.style.format != DiagnosticFormat::Human {
        exit = worse(exit, print_for_programs(cx, &opened, output, out));
    }
    if let Some(file) = &terms.junit {
        exit = worse(exit, cx.print(&junit(&reports), Some(file)));
    }
    cx.let_go(opened);
    if output == Some(AnswerFormat::Json) {
        let text = to_json(&value(&total, &tested), Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
        cx.print(&format!("{text}\n"), None);
        return Ok(exit);
    }
    if (cx.style.format == DiagnosticFormat::Human || out.is_some()) && !cx.style.quiet {
        let checked = if terms.only_tests { String::new() } else { total.text() };
        let unchanged = match left_out {
            0 => String::new(),
            count => format!(" · {} unchanged", plural(count, "chart")),
        };
        let _ = writeln!(cx.invocation.stderr, "{checked}{}{unchanged}", text(&tested));
    }
    Ok(exit)
}

/// Whether a path has the name of a suite file.
fn is_suite(path: &str) -> bool {
    let name = path::file_name(path);
    ["_test.yaml", "_test.yml", ".purlin-test.yaml", ".purlin-test.yml"].iter().any(|end| name.ends_with(end))
}

/// Runs the suites at and below a path, or the one that it names.
fn run_suites(
    session: &Session,
    named: &str,
    options: &Options,
    runs: &mut dyn FnMut(&str) -> bool,
) -> Vec<SuiteReport> {
    if is_suite(named) {
        if named.contains(".purlin-test.") {
            return run_project_suite(session, named, options);
        }
        let mut folder = path::parent(named);
        while !session.world.exists(&path::join(folder, "Chart.yaml")) {
            match path::parent(folder) {
                above if above == folder || folder == "." => return Vec::new(),
                above => folder = above,
            }
        }
        let pattern = path::relative(folder, named);
        return run_chart(session, folder, &Options { patterns: vec![pattern], ..options.clone() });
    }
    let is_folder = session.world.stat(named).is_ok_and(|stat| stat.kind == FileKind::Folder);
    let folder = if is_folder { named } else { path::parent(named) };
    let mut charts = chart_folders(session, folder);
    charts.retain(|folder| runs(folder));
    let mut suites: Vec<_> = charts.iter().flat_map(|folder| run_chart(session, folder, options)).collect();
    for file in project_suites(session, folder) {
        suites.extend(run_project_suite(session, &file, options));
    }
    suites
}

/// Writes snapshots, if requested.
fn store_snapshots(cx: &mut Context<'_, '_>, session: &Session, tested: &Report) -> Exit {
    let mut exit = Exit::Ok;
    for file in tested.suites.iter().filter_map(|suite| suite.snapshots.as_ref()) {
        let root = PathBuf::from(session.world.root());
        let shown = session.sources.shown(&file.path).to_string();
        let written = crate::border::write_below(&root, &file.path, file.text.as_bytes());
        match written {
            Ok(()) => {
                let _ = writeln!(cx.invocation.stderr, "wrote {shown}");
            }
            Err(error) => exit = worse(exit, cx.io(&format!("could not write `{shown}`: {error}"))),
        }
    }
    exit
}

fn has_tests(suite: &&SuiteReport) -> bool {
    !suite.cases.is_empty()
}

/// The summary as text.
fn text(tested: &Report) -> String {
    let count = |is_it: &dyn Fn(&Outcome) -> bool| tested.count(is_it);
    let passed = count(&|outcome| *outcome == Outcome::Passed);
    let failed = count(&|outcome| *outcome == Outcome::Failed);
    let skipped = count(&|outcome| matches!(outcome, Outcome::Skipped(_)));
    if tested.suites.is_empty() {
        return "no unit tests".to_owned();
    }
    // A file with problems is reported beside its suites.
    let with_tests: HashSet<&str> = tested.suites.iter().filter(has_tests).map(|suite| suite.file.as_str()).collect();
    let counts = |suite: &&SuiteReport| has_tests(suite) || !with_tests.contains(suite.file.as_str());
    let suites = tested.suites.iter().filter(counts).count();
    let mut parts = vec![plural(suites, "suite"), format!("{} passed", plural(passed, "test"))];
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if skipped > 0 {
        parts.push(format!("{skipped} skipped"));
    }
    let stored = tested.suites.iter().filter_map(|suite| suite.snapshots.as_ref());
    let stored: usize = stored.map(|file| file.created + file.changed).sum();
    if stored > 0 {
        parts.push(format!("{} stored", plural(stored, "snapshot")));
    }
    let obsolete: usize = tested.suites.iter().map(|suite| suite.obsolete).sum();
    if obsolete > 0 {
        parts.push(format!("{} no longer used", plural(obsolete, "snapshot")));
    }
    parts.join(" · ")
}

/// The summary as data.
fn value(total: &Total, tested: &Report) -> Value {
    let text = |text: &str| Value::str(EcoString::from(text));
    let map = |entries: Vec<(&str, Value)>| {
        Value::map(entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
    };
    let case = |case: &purlin_verify::Case| {
        let outcome = match &case.outcome {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Skipped(_) => "skipped",
        };
        let mut entries = vec![("name", text(&case.name)), ("outcome", text(outcome))];
        if let Outcome::Skipped(reason) = &case.outcome {
            entries.push(("reason", text(reason)));
        }
        let messages: Vec<Value> = case.failures.iter().map(|failure| text(&failure.message)).collect();
        if !messages.is_empty() {
            entries.push(("failures", Value::list(messages)));
        }
        map(entries)
    };
    let suites = tested.suites.iter().map(|suite| {
        let tests = Value::list(suite.cases.iter().map(case).collect());
        map(vec![("name", text(&suite.name)), ("file", text(&suite.file)), ("tests", tests)])
    });
    let mut whole = total.value().as_map().cloned().unwrap_or_default();
    whole.insert("suites".into(), Value::list(suites.collect()));
    Value::map(whole)
}
