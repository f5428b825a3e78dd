//! Runs suites of helm-unittest: finds them, renders the chart for each test as the plugin does, and checks the result.

use crate::assertion::{Assertion, Selector};
use crate::judge::{Judge, RAW, prepared, selected, shown};
use crate::pattern::Pattern;
use crate::report::{Case, Outcome, SnapshotFile, SuiteReport};
use crate::snapshot::{self, Snapshots, Stored, Taken};
use crate::suite::{Form, Given, Job, Suite, about_file, read};
use crate::{Options, Stop};
use purlin_charts::chart::Chart;
use purlin_charts::trial::{Bench, Cluster, Failure, RenderedFile, Terms, merge_values, value_of_node};
use purlin_compiler::rules::{SNAPSHOT_MISSING, TEST_FAILED};
use purlin_gotmpl::yaml::{first_problem, go_message};
use purlin_syntax::{Diagnostic, FileId, Flavor, Node, Source, Span};
use purlin_value::glob::Glob;
use purlin_value::world::FileKind;
use purlin_value::{Data, Map, MergeKeys, Meter, Session, Value, path, value_of};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Maximum depth of the search for charts.
const DEEPEST: usize = 32;

/// Maximum number of files of a chart's folder that are searched.
const MOST_FILES: usize = 100_000;

/// The folders of charts at and below a folder, except those in `charts/` of another.
pub fn chart_folders(session: &Session, folder: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    below(session, folder, "", 0, &mut |file| {
        if path::file_name(file) == "Chart.yaml" {
            found.push(path::join(folder, path::parent(file)));
        }
    });
    let is_inside = |folder: &String| {
        let charts = found.iter().map(|other| path::normalize(&path::join(other, "charts")));
        charts.into_iter().any(|charts| folder.strip_prefix(&charts).is_some_and(|rest| rest.starts_with('/')))
    };
    found.iter().filter(|folder| !is_inside(folder)).cloned().collect()
}

/// Every file below a folder, by its path from there.
pub(crate) fn below(session: &Session, folder: &str, prefix: &str, depth: usize, each: &mut dyn FnMut(&str)) {
    let here = path::join(folder, prefix);
    let mut count = 0;
    for entry in session.world.list(&here).unwrap_or_default() {
        let name = if prefix.is_empty() { entry.name.clone() } else { format!("{prefix}/{}", entry.name) };
        count += 1;
        if count > MOST_FILES {
            return;
        }
        match entry.kind {
            FileKind::Folder if depth < DEEPEST && entry.name != ".git" && entry.name != "node_modules" => {
                below(session, folder, &name, depth + 1, each);
            }
            FileKind::File => each(&name),
            _ => {}
        }
    }
}

/// The files with suites of the chart in a folder.
pub fn chart_suites(session: &Session, folder: &str, options: &Options) -> Vec<String> {
    if options.patterns.is_empty() {
        let folder = path::join(folder, "tests");
        let entries = session.world.list(&folder).unwrap_or_default();
        let names =
            entries.into_iter().filter(|entry| entry.kind != FileKind::Folder && entry.name.ends_with("_test.yaml"));
        return names.map(|entry| path::join(&folder, &entry.name)).collect();
    }
    let globs: Vec<Glob> = options.patterns.iter().map(|pattern| Glob::new(pattern)).collect();
    let mut found = Vec::new();
    below(session, folder, "", 0, &mut |file| {
        if globs.iter().any(|glob| glob.matches(file)) {
            found.push(path::join(folder, file));
        }
    });
    found
}

/// A suite to run: the chart's path within the outermost one, as templates name it.
struct Planned {
    suite: Suite,
    route: String,
    stored: Stored,
    has_file: bool,
}

/// Runs the suites of the chart in a folder, and those of its subcharts.
pub fn run_chart(session: &Session, folder: &str, options: &Options) -> Vec<SuiteReport> {
    let Some(any) = first_suite(session, folder, options) else { return Vec::new() };
    let bench = match Bench::open(session, folder) {
        Ok(bench) => bench,
        Err(error) => {
            let problem = about_file(session, &any, format!("the chart cannot be loaded: {}", error.message));
            return vec![SuiteReport {
                name: any.clone(),
                file: any,
                problems: vec![problem],
                ..SuiteReport::default()
            }];
        }
    };
    let mut reports = Vec::new();
    let mut planned = Vec::new();
    let route = bench.chart().name().to_owned();
    plan(session, bench.chart(), folder, &route, options, (&mut planned, &mut reports));
    reports.extend(run_all(session, &bench, &planned, options));
    reports.sort_by(|one, other| one.file.cmp(&other.file));
    reports
}

/// A chart without suites need not be loaded.
fn first_suite(session: &Session, folder: &str, options: &Options) -> Option<String> {
    let own = chart_suites(session, folder, options).into_iter().next();
    own.or_else(|| {
        let inside = path::join(folder, "charts");
        let entries = session.world.list(&inside).unwrap_or_default();
        let mut folders = entries.into_iter().filter(|entry| entry.kind == FileKind::Folder);
        folders.find_map(|entry| first_suite(session, &path::join(&inside, &entry.name), options))
    })
}

fn plan(
    session: &Session,
    chart: &Chart,
    folder: &str,
    route: &str,
    options: &Options,
    (planned, reports): (&mut Vec<Planned>, &mut Vec<SuiteReport>),
) {
    for file in chart_suites(session, folder, options) {
        let (suites, problems) = read(session, &file, Form::Chart);
        if !problems.is_empty() {
            let name = path::file_name(&file).to_owned();
            reports.push(SuiteReport { name, file: file.clone(), problems, ..SuiteReport::default() });
        }
        for suite in suites {
            let snapshots = suite.snapshot_file();
            let has_file = session.world.exists(&snapshots);
            let tree = has_file.then(|| session.read_yaml(&snapshots, snapshot::FLAVOR).ok()).flatten();
            let stored = tree.map(|tree| snapshot::read(&tree)).unwrap_or_default();
            planned.push(Planned { suite, route: route.to_owned(), stored, has_file });
        }
    }
    for child in &chart.dependencies {
        let folder = path::join(folder, &format!("charts/{}", child.name()));
        // Under an alias its tests would find nothing; they are written for the chart by itself.
        if chart.metadata.dependencies.iter().any(|one| one.name == child.name() && !one.alias.is_empty()) {
            reports.extend(run_chart(session, &folder, options));
            continue;
        }
        if is_enabled(chart, child) {
            plan(session, child, &folder, &format!("{route}/charts/{}", child.name()), options, (planned, reports));
        }
    }
}

/// Whether the defaults of a chart enable a subchart; tests of a disabled one are not run.
fn is_enabled(chart: &Chart, child: &Chart) -> bool {
    let declared = chart.metadata.dependencies.iter();
    let mut declared = declared.filter(|one| one.name == child.name());
    let Some(declared) = declared.next() else { return true };
    let at = |path: &str| purlin_charts::dependencies::lookup(&chart.values, path).and_then(Value::as_bool);
    if !declared.condition.is_empty() {
        return at(&declared.condition).unwrap_or(true);
    }
    let tags: Vec<Option<bool>> = declared.tags.iter().map(|tag| at(&format!("tags.{tag}"))).collect();
    tags.is_empty() || chart.values.get("tags").is_none() || tags.contains(&Some(true))
}

/// The result of one test, and its snapshots.
pub(crate) struct Done {
    pub(crate) case: Case,
    pub(crate) taken: Vec<Taken>,
}

/// Runs all tests on all available threads; results are in the order of the files.
fn run_all(session: &Session, bench: &Bench, planned: &[Planned], options: &Options) -> Vec<SuiteReport> {
    let files = values_files(session, planned);
    let run = Run { session, bench, options, files: &files };
    let tasks: Vec<(&Planned, &Job)> =
        planned.iter().flat_map(|plan| plan.suite.jobs.iter().map(move |job| (plan, job))).collect();
    let results: Vec<Mutex<Option<Done>>> = tasks.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let claimed = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < tasks.len());
        while let Some(at) = claimed() {
            let (Some((plan, job)), Some(slot)) = (tasks.get(at), results.get(at)) else { return };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.job(plan, job));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..session.threads.min(tasks.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    planned
        .iter()
        .map(|plan| {
            report(
                &plan.suite,
                (&plan.stored, plan.has_file),
                results.by_ref().take(plan.suite.jobs.len()).collect(),
                options,
            )
        })
        .collect()
}

/// Values files of tests, each read once, by the path in the world; or why one cannot be used.
fn values_files(session: &Session, planned: &[Planned]) -> BTreeMap<String, Result<Value, String>> {
    let mut files = BTreeMap::new();
    for plan in planned {
        let given = std::iter::once(&plan.suite.given).chain(plan.suite.jobs.iter().map(|job| &job.given));
        for (name, _) in given.flat_map(|given| &given.values) {
            let file = beside(&plan.suite, name);
            files.entry(file.clone()).or_insert_with(|| values_of(session, &file));
        }
    }
    files
}

/// The path of a file that a suite names.
fn beside(suite: &Suite, name: &str) -> String {
    if path::is_absolute(name) { name.to_owned() } else { path::join(path::parent(&suite.file), name) }
}

fn values_of(session: &Session, file: &str) -> Result<Value, String> {
    let tree = session.read_yaml(file, Flavor::GoObjects).map_err(|problem| problem.message)?;
    if let Some(problem) = first_problem(&tree) {
        return Err(format!("failed to parse {file}: yaml: {}", go_message(&tree, problem)));
    }
    match tree.root().map(Node::target).filter(|root| !(root.is_scalar() && root.is_null())) {
        None => Ok(Value::map(Map::new())),
        Some(root) if root.is_map() => Ok(value_of_node(root)),
        Some(_) => Err(format!("failed to parse {file}: expected a mapping")),
    }
}

/// The result of a suite.
pub(crate) fn report(
    suite: &Suite,
    (stored, has_file): (&Stored, bool),
    done: Vec<Done>,
    options: &Options,
) -> SuiteReport {
    let mut current = Stored::new();
    let (mut created, mut changed) = (0, 0);
    let mut cases = Vec::new();
    let mut problems = Vec::new();
    for (job, done) in suite.jobs.iter().zip(done) {
        for taken in done.taken {
            created += usize::from(taken.is_new);
            changed += usize::from(taken.is_changed);
            if taken.is_new && !options.updates_snapshots {
                let message = format!("snapshot {} of `{}` is not stored", taken.number, job.name);
                problems.push(Diagnostic::at(&SNAPSHOT_MISSING, job.span, message));
            }
            current.entry(job.name.clone()).or_default().insert(taken.number, taken.text);
        }
        cases.push(done.case);
    }
    let kept = |test: &String, number: &u64| current.get(test).is_some_and(|texts| texts.contains_key(number));
    let obsolete = stored.iter().flat_map(|(test, texts)| texts.keys().map(move |number| (test, number)));
    let obsolete = obsolete.filter(|(test, number)| !kept(test, number)).count();
    let is_other = created > 0 || changed > 0 || obsolete > 0;
    let is_wanted = options.updates_snapshots && is_other && (has_file || !current.is_empty());
    let text = is_wanted.then(|| snapshot::text_of(&current)).flatten();
    let snapshots = text.map(|text| SnapshotFile { path: suite.snapshot_file(), text, created, changed });
    SuiteReport { name: suite.title().to_owned(), file: suite.file.clone(), cases, problems, snapshots, obsolete }
}

/// The rendered output of a test.
struct Output {
    /// Documents by the full name of their template.
    documents: BTreeMap<String, Vec<Value>>,
    /// The rendered templates, or the one that failed.
    names: Vec<String>,
    is_success: bool,
    /// Why nothing was rendered.
    failure: Option<String>,
}

/// State shared by the tests of a chart.
struct Run<'r> {
    session: &'r Session,
    bench: &'r Bench,
    options: &'r Options,
    files: &'r BTreeMap<String, Result<Value, String>>,
}

impl Run<'_> {
    fn job(&self, plan: &Planned, job: &Job) -> Done {
        let name = job.name.clone();
        let case = |outcome: Outcome, failures: Vec<Diagnostic>| Case { name: name.clone(), outcome, failures };
        if let Some(reason) = plan.suite.skip.as_ref().or(job.skip.as_ref()) {
            return Done { case: case(Outcome::Skipped(reason.clone()), Vec::new()), taken: Vec::new() };
        }
        // Each test has its own evaluation budget.
        let own = self.session.sibling();
        let meter = &own.meter;
        let run = Run { session: &own, ..*self };
        let snapshots = Snapshots::new(&plan.stored, &job.name, self.options.updates_snapshots, meter);
        let output = match run.rendered(plan, job) {
            Ok(output) => output,
            Err(problem) => return Done { case: case(Outcome::Failed, vec![problem]), taken: Vec::new() },
        };
        let mut failures = Vec::new();
        for assertion in &job.assertions {
            match run.assertion((plan, job), assertion, &output, &snapshots) {
                Ok(wrong) => {
                    let found = wrong.into_iter().map(|message| failure(job, assertion.span, message));
                    failures.extend(found.map(|found| if assertion.is_unnoticed() { found.warning() } else { found }));
                }
                Err(Stop::Failed(message)) => failures.push(failure(job, assertion.span, message)),
                Err(Stop::Exceeded(exceeded)) => {
                    let mut problem = exceeded.diagnostic();
                    problem.span = Some(assertion.span);
                    failures.push(problem);
                }
            }
        }
        let is_failed = failures.iter().any(Diagnostic::is_error);
        let outcome = if is_failed { Outcome::Failed } else { Outcome::Passed };
        Done { case: case(outcome, failures), taken: snapshots.taken.into_inner() }
    }

    /// Renders the templates of a test. Anything that prevents checking is an error.
    fn rendered(&self, plan: &Planned, job: &Job) -> Result<Output, Diagnostic> {
        let at_job = |message: String| failure(job, job.span, message);
        let values = self.values(plan, job).map_err(|(span, message)| failure(job, span, message))?;
        let terms = terms(&plan.suite.given, &job.given, values);
        let meter = &self.session.meter;
        let compile = |patterns: &[String]| -> Result<Vec<Pattern>, Diagnostic> {
            let compiled = patterns.iter().map(|name| Pattern::new(meter, &template_pattern(&plan.route, name)));
            compiled
                .collect::<Result<_, Stop>>()
                .map_err(|_| at_job("a pattern of `templates` cannot be used".to_owned()))
        };
        let chosen = compile(templates(&plan.suite))?;
        let left_out = compile(&plan.suite.excluded)?;
        let fits =
            |patterns: &[Pattern], name: &str| patterns.iter().any(|one| one.is_in(meter, name).unwrap_or(false));
        let is_chosen = |name: &str| fits(&chosen, name) && !fits(&left_out, name);
        let needs_success = job.assertions.iter().all(|assertion| assertion.needs_success);
        let mut output = match self.bench.render(self.session, &terms, &is_chosen) {
            Ok(files) => self.documents(files).map_err(at_job)?,
            Err(failure) => self.failed(plan, failure, needs_success)?,
        };
        if plan.suite.with_definitions {
            let definitions = self.documents(self.bench.definitions()).map_err(at_job)?;
            output.names.extend(definitions.names);
            output.documents.extend(definitions.documents);
        }
        Ok(output)
    }

    /// The documents of rendered files.
    fn documents(&self, files: Vec<RenderedFile>) -> Result<Output, String> {
        let mut output = Output { documents: BTreeMap::new(), names: Vec::new(), is_success: true, failure: None };
        for (name, text) in files {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            let documents = match ending {
                "yaml" | "yml" | "tpl" => Some(self.parsed(&text).map_err(|why| format!("`{name}`: {why}"))?),
                "txt" => Some(vec![raw_document(text)]),
                _ => None,
            };
            output.documents.extend(documents.map(|documents| (name.clone(), documents)));
            output.names.push(name);
        }
        Ok(output)
    }

    fn parsed(&self, text: &str) -> Result<Vec<Value>, String> {
        let text = splitter().replace_all(text, "\n---\n");
        let source = Arc::new(Source::new(FileId(0), "text", text.as_ref()));
        let tree = purlin_syntax::yaml::parse(source, Flavor::GoObjects, &self.session.limits);
        if let Some(problem) = tree.diagnostics().iter().find(|problem| problem.is_error()) {
            return Err(format!("yaml: {}", go_message(&tree, problem)));
        }
        let mut documents = Vec::new();
        for root in tree.roots() {
            let value = value_of(root, MergeKeys::Apply);
            match &value.data {
                Data::Null => {}
                Data::Map(map) if map.is_empty() => {}
                Data::Map(_) => documents.push(prepared(value)),
                _ => return Err(format!("expected a mapping, found {}", shown(&value))),
            }
        }
        Ok(documents)
    }

    /// The output of a failed rendering: the message, as the document of the template that failed.
    fn failed(&self, plan: &Planned, failure: Failure, needs_success: bool) -> Result<Output, Diagnostic> {
        if let Some(stopped) = failure.stopped {
            return Err(*stopped);
        }
        let mut output = Output { documents: BTreeMap::new(), names: Vec::new(), is_success: false, failure: None };
        let parsed = error_pattern().captures(&failure.message).filter(|_| failure.while_rendering && !needs_success);
        let (Some(parsed), Some(root)) = (parsed, plan.route.split('/').next()) else {
            output.failure = Some(failure.message);
            return Ok(output);
        };
        let part = |at: usize| parsed.get(at).map_or("", |part| part.as_str());
        let message = match failure.message.split_once('\n') {
            Some((_, rest)) => rest,
            None => part(2),
        };
        let failed = part(1);
        let documents = vec![raw_document(message.trim_start_matches('\n').to_owned())];
        let names = match path::file_name(failed).starts_with('_') {
            true => templates(&plan.suite).iter().map(|name| full_name(&plan.route, name)).collect(),
            false if failed.starts_with(root) => vec![failed.to_owned()],
            false => vec![format!("{root}/{failed}")],
        };
        output.documents = names.iter().map(|name: &String| (name.clone(), documents.clone())).collect();
        output.names = names;
        Ok(output)
    }

    /// The values of a test: files, then values of the suite, then values of the test.
    fn values(&self, plan: &Planned, job: &Job) -> Result<Value, (Span, String)> {
        let own = [&plan.suite.given, &job.given];
        let mut values = Value::map(Map::new());
        for (name, span) in own.iter().flat_map(|given| &given.values) {
            match self.files.get(&beside(&plan.suite, name)) {
                Some(Ok(more)) => values = merge_values(values, routed(&plan.route, more.clone())),
                Some(Err(why)) => return Err((*span, why.clone())),
                None => {}
            }
        }
        for (path, span, value) in own.iter().flat_map(|given| &given.sets) {
            let built =
                built(path, value.clone()).map_err(|why| (*span, format!("`{path}` is no path of a value: {why}")))?;
            values = merge_values(values, routed(&plan.route, built));
        }
        Ok(values)
    }

    fn assertion(
        &self,
        (plan, job): (&Planned, &Job),
        assertion: &Assertion,
        output: &Output,
        snapshots: &Snapshots,
    ) -> Result<Vec<String>, Stop> {
        let meter = &self.session.meter;
        let names = asked_templates(plan, job, assertion, output);
        let index = job.document.or(assertion.document).filter(|index| *index != -1);
        let selector = assertion.selector.as_ref().or(job.selector.as_ref()).filter(|one| !one.path.is_empty());
        let mut meant: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut total = 0;
        for name in &names {
            let documents = output.documents.get(name).map(Vec::as_slice).unwrap_or_default();
            let chosen = choose(documents, selector, index, meter)?;
            total += chosen.len();
            let is_left_out = chosen.is_empty() && selector.is_some_and(|selector| selector.skips_empty);
            if !is_left_out {
                meant.insert(name, chosen);
            }
        }
        if selector.is_some_and(|selector| !selector.matches_many) && total > 1 {
            return Err(Stop::Failed("`documentSelector` selects several documents".to_owned()));
        }
        let judge = |all: &[Value], meant: &[Value]| {
            let failure = output.failure.as_deref();
            Judge { all, meant, is_negative: assertion.is_negative, failure, snapshots, meter }.judge(&assertion.check)
        };
        if meant.is_empty() {
            if job.selector.as_ref().is_some_and(|selector| selector.skips_empty) {
                return Ok(Vec::new());
            }
            return match assertion.needs_success == output.is_success {
                true => judge(&[], &[]),
                false => Ok(vec![not_rendered(output)]),
            };
        }
        let mut wrong = Vec::new();
        for (name, chosen) in &meant {
            let documents = output.documents.get(*name);
            if documents.is_none() && assertion.needs_success {
                wrong.push(match &output.failure {
                    Some(_) => not_rendered(output),
                    None => format!("the template `{name}` does not exist or is not selected by the suite"),
                });
                continue;
            }
            let all = documents.map(Vec::as_slice).unwrap_or_default();
            if assertion.needs_success != output.is_success {
                let text = all.first().and_then(|document| document.get(RAW)).and_then(Value::as_str);
                wrong.push(text.map_or_else(|| not_rendered(output), |text| format!("rendering failed: {text}")));
                continue;
            }
            let of_template = |message| format!("{message} ({name})");
            wrong.extend(judge(all, chosen)?.into_iter().map(of_template));
        }
        Ok(wrong)
    }
}

fn not_rendered(output: &Output) -> String {
    match (&output.failure, output.is_success) {
        (Some(failure), _) => format!("rendering failed: {failure}"),
        (None, false) => "rendering failed".to_owned(),
        (None, true) => "expected rendering to fail, and it did not".to_owned(),
    }
}

/// A failed assertion as a diagnostic, with its test.
pub(crate) fn failure(job: &Job, span: Span, message: String) -> Diagnostic {
    let found = Diagnostic::at(&TEST_FAILED, span, message);
    if span == job.span { found } else { found.label(job.span, "in this test") }
}

fn raw_document(text: String) -> Value {
    let entry = [(purlin_value::EcoString::from(RAW), Value::str(text))];
    Value::map(entry.into_iter().collect::<Map>())
}

/// The documents of a template that an assertion selects.
pub(crate) fn choose(
    documents: &[Value],
    selector: Option<&Selector>,
    index: Option<i64>,
    meter: &Meter,
) -> Result<Vec<Value>, Stop> {
    match (selector, index) {
        (Some(selector), _) => selected(documents, selector, meter),
        (None, Some(index)) => {
            let found = usize::try_from(index).ok().and_then(|index| documents.get(index));
            let missing =
                || Stop::Failed(format!("no document has the index {index}: {} were rendered", documents.len()));
            found.cloned().map(|document| vec![document]).ok_or_else(missing)
        }
        (None, None) => Ok(documents.to_vec()),
    }
}

/// All templates, for suites that name none.
static ALL: OnceLock<Vec<String>> = OnceLock::new();

fn templates(suite: &Suite) -> &[String] {
    if suite.templates.is_empty() { ALL.get_or_init(|| vec!["**".to_owned()]) } else { &suite.templates }
}

/// The full names of the templates that an assertion concerns.
fn asked_templates(plan: &Planned, job: &Job, assertion: &Assertion, output: &Output) -> Vec<String> {
    let named = |names: &[String]| names.iter().map(|name| full_name(&plan.route, name)).collect();
    if let Some(template) = &assertion.template {
        return named(std::slice::from_ref(template));
    }
    if !job.templates.is_empty() {
        return named(&job.templates);
    }
    let of_suite = templates(&plan.suite);
    if of_suite.iter().any(|name| name.contains('*')) { output.names.clone() } else { named(of_suite) }
}

/// A template as a suite names it, with the optional folder added.
fn in_chart(name: &str) -> String {
    let is_whole = ["templates", "charts", "crds", "**"].iter().any(|start| name.starts_with(start));
    if is_whole { name.to_owned() } else { path::join("templates", name) }
}

fn full_name(route: &str, name: &str) -> String {
    path::normalize(&format!("{route}/{}", in_chart(name)))
}

/// The pattern for names of templates; as in the plugin it may match anywhere in a name.
fn template_pattern(route: &str, name: &str) -> String {
    let name = full_name(route, name);
    let mut pattern = String::with_capacity(name.len() * 2);
    let mut rest = name.as_str();
    while let Some(ch) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("**") {
            pattern.push_str(r"[0-9a-zA-Z_\-/\.]+");
            rest = behind;
            continue;
        }
        match ch {
            '*' => pattern.push_str(r"[0-9a-zA-Z_\-/\.]*"),
            ch if r".+[]?()|{}^$\".contains(ch) => pattern.extend(['\\', ch]),
            ch => pattern.push(ch),
        }
        rest = rest.get(ch.len_utf8()..).unwrap_or_default();
    }
    pattern
}

/// Values of a subchart, under its name in the parent; globals apply to all.
fn routed(route: &str, values: Value) -> Value {
    let inside: Vec<&str> = route.split('/').step_by(2).skip(1).collect();
    inside.iter().rev().fold(values, |values, name| {
        let global = values.get("global").cloned().map(|global| ("global".into(), global));
        let entries = global.into_iter().chain([((*name).into(), values)]);
        Value::map(entries.collect::<Map>())
    })
}

/// A step in the path of a value that is set.
enum Part {
    Key(String),
    Index(usize),
}

/// Maximum length of a list created by setting one item.
const LONGEST: usize = 65_536;

/// A value under its path: `a.b[0].c`, `a.[x.y/z]`.
fn built(path: &str, value: Value) -> Result<Value, String> {
    let parts = parts(path)?;
    Ok(parts.into_iter().rev().fold(value, |value, part| match part {
        Part::Key(key) => Value::map([(key.into(), value)].into_iter().collect::<Map>()),
        Part::Index(index) => {
            let mut items = vec![Value::null(); index];
            items.push(value);
            Value::list(items)
        }
    }))
}

fn parts(path: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = path;
    let mut needs_key = true;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('[') {
            let (inside, after) = behind.split_once(']').ok_or("`[` is not closed")?;
            match needs_key {
                true => parts.push(Part::Key(inside.to_owned())),
                false => {
                    let index: usize = inside.parse().map_err(|_| format!("`{inside}` is no index"))?;
                    if index >= LONGEST {
                        return Err(format!("the index {index} is too large"));
                    }
                    parts.push(Part::Index(index));
                }
            }
            (rest, needs_key) = (after, false);
        } else if let Some(behind) = rest.strip_prefix('.').filter(|_| !needs_key) {
            (rest, needs_key) = (behind, true);
        } else if needs_key {
            let end = rest.find(['.', '[', ']', ',', '{', '}', '=']).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(end);
            if behind.starts_with([']', ',', '{', '}', '=']) {
                return Err(format!("unexpected `{}`", behind.chars().next().unwrap_or_default()));
            }
            parts.push(Part::Key(key.to_owned()));
            (rest, needs_key) = (behind, false);
        } else {
            return Err(format!("unexpected `{rest}`"));
        }
    }
    if parts.is_empty() || needs_key { Err("a key is missing".to_owned()) } else { Ok(parts) }
}

/// The version of Kubernetes in the plugin's Helm library.
const KUBE: [&str; 2] = ["1", "20"];

/// The terms of a suite and a test; those of the test take precedence.
fn terms(suite: &Given, job: &Given, values: Value) -> Terms {
    let either = |one: &Option<String>, other: &Option<String>| one.clone().or_else(|| other.clone());
    let name = either(&job.name, &suite.name);
    let mut api_versions = job.api_versions.clone().unwrap_or_default();
    if !job.forgets_api_versions {
        api_versions.extend(suite.api_versions.iter().flatten().cloned());
    }
    let kinds = suite.cluster.kinds.iter().chain(&job.cluster.kinds);
    let objects = job.cluster.objects.iter().chain(&suite.cluster.objects);
    let cluster = Cluster { kinds: kinds.cloned().collect(), objects: objects.cloned().collect() };
    let [major, minor] = KUBE.map(str::to_owned);
    Terms {
        values,
        is_named: name.is_some(),
        name: name.unwrap_or_else(|| "RELEASE-NAME".to_owned()),
        namespace: either(&job.namespace, &suite.namespace).unwrap_or_else(|| "NAMESPACE".to_owned()),
        revision: job.revision.filter(|number| *number != 0).or(suite.revision).unwrap_or_default(),
        is_upgrade: job.is_upgrade || suite.is_upgrade,
        kube: [either(&job.major, &suite.major).unwrap_or(major), either(&job.minor, &suite.minor).unwrap_or(minor)],
        api_versions,
        version: either(&job.version, &suite.version),
        app_version: either(&job.app_version, &suite.app_version),
        cluster: (!cluster.objects.is_empty()).then(|| Arc::new(cluster)),
    }
}

/// The separator of documents.
#[allow(clippy::expect_used)]
fn splitter() -> &'static Regex {
    static FOUND: OnceLock<Regex> = OnceLock::new();
    FOUND.get_or_init(|| Regex::new(r"(?:^|\s*\n)---\s*").expect("a constant"))
}

/// The template and the message in an error of Helm.
#[allow(clippy::expect_used)]
fn error_pattern() -> &'static Regex {
    static FOUND: OnceLock<Regex> = OnceLock::new();
    FOUND.get_or_init(|| Regex::new(r"(?msU)^(?:.+: |.+ \()(?:(.+):\d+:\d+).+(?:.+>)*: (.+)$").expect("a constant"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn errors_name_their_template() {
        let parts = |text: &str| {
            let found = error_pattern().captures(text)?;
            Some((found.get(1)?.as_str().to_owned(), found.get(2)?.as_str().to_owned()))
        };
        let text = "execution error at (app/templates/a.yaml:3:4): no image";
        assert_eq!(parts(text), Some(("app/templates/a.yaml".to_owned(), "no image".to_owned())));
        let text = "template: app/templates/b.yaml:1:12: executing \"app/templates/b.yaml\" at <fail .Values.x>: error calling fail: stop";
        assert_eq!(parts(text).unwrap().0, "app/templates/b.yaml");
        assert_eq!(parts("values don't meet"), None);
    }

    #[test]
    fn paths_of_values_are_read_as_the_plugin_reads_them() {
        let shown = |path: &str| built(path, Value::str("x")).map(|value| shown(&value));
        assert_eq!(shown("a.b").unwrap(), r#"{"a":{"b":"x"}}"#);
        assert_eq!(shown("a[1].b").unwrap(), r#"{"a":[null,{"b":"x"}]}"#);
        assert_eq!(shown("a.[b.c/d].e").unwrap(), r#"{"a":{"b.c/d":{"e":"x"}}}"#);
        for wrong in ["", "a.", "a[", "a[x]", "a]b", "a=b", "a[99999999]"] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_of_inner_charts_go_below_their_names() {
        let value = built("a", Value::str("x")).unwrap();
        assert_eq!(shown(&routed("app/charts/db/charts/log", value.clone())), r#"{"db":{"log":{"a":"x"}}}"#);
        assert_eq!(shown(&routed("app", value)), r#"{"a":"x"}"#);
    }
}
