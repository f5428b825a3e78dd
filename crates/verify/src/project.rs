//! Runs suites of projects (`*.purlin-test.yaml`): resolves the project for each test, and checks values of nodes,
//! rendered objects, findings and origins. Independent of the dialect.

use crate::Stop;
use crate::assertion::{Assertion, Check, Subject};
use crate::chart::{below, choose, failure};
use crate::judge::{Judge, prepared};
use crate::path::Path;
use crate::report::{Case, Outcome, SuiteReport};
use crate::snapshot::{self, Snapshots, Stored};
use crate::suite::{Form, Given, Job, ProjectGiven, Suite, read};
use crate::{Options, chart};
use purlin_compiler::{Compiled, compile_and_judge};
use purlin_model::{Request, SetFlag, SetKind};
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{Diagnostic, Severity, Span, suggest};
use purlin_value::emit::to_json;
use purlin_value::{Eval, Origin, OriginKind, Secrets, Session, Value, path};

/// Suffixes of suite files of projects.
const ENDINGS: [&str; 2] = [".purlin-test.yaml", ".purlin-test.yml"];

/// The files with suites of projects at and below a folder.
pub fn project_suites(session: &Session, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    below(session, folder, "", 0, &mut |file| {
        if ENDINGS.iter().any(|end| file.ends_with(end)) {
            found.push(path::join(folder, file));
        }
    });
    found
}

/// Runs the suites of a file.
pub fn run_project_suite(session: &Session, file: &str, options: &Options) -> Vec<SuiteReport> {
    let (suites, problems) = read(session, file, Form::Project);
    let mut reports: Vec<SuiteReport> = suites.iter().map(|suite| run(session, suite, options)).collect();
    if !problems.is_empty() {
        let name = path::file_name(file).to_owned();
        reports.push(SuiteReport { name, file: file.to_owned(), problems, ..SuiteReport::default() });
    }
    reports
}

fn run(session: &Session, suite: &Suite, options: &Options) -> SuiteReport {
    let file = suite.snapshot_file();
    let has_file = session.world.exists(&file);
    let tree = has_file.then(|| session.read_yaml(&file, snapshot::FLAVOR).ok()).flatten();
    let stored = tree.map(|tree| snapshot::read(&tree)).unwrap_or_default();
    let done = suite.jobs.iter().map(|job| test(session, suite, job, (&stored, options))).collect();
    chart::report(suite, (&stored, has_file), done, options)
}

/// A project resolved for a test.
struct Seen<'s> {
    session: &'s Session,
    compiled: Option<Compiled>,
    findings: Vec<Diagnostic>,
}

fn test(session: &Session, suite: &Suite, job: &Job, (stored, options): (&Stored, &Options)) -> chart::Done {
    let case = |outcome: Outcome, failures| Case { name: job.name.clone(), outcome, failures };
    if let Some(reason) = suite.skip.as_ref().or(job.skip.as_ref()) {
        return chart::Done { case: case(Outcome::Skipped(reason.clone()), Vec::new()), taken: Vec::new() };
    }
    // Each test has its own origins, findings and evaluation budget.
    let own = session.sibling();
    let (compiled, findings) = own.sink.apart(|| compile_and_judge(&own, &request(session, suite, job)));
    let seen = Seen { session: &own, compiled, findings: findings.into_vec() };
    let snapshots = Snapshots::new(stored, &job.name, options.updates_snapshots, &own.meter);
    let mut failures = Vec::new();
    for assertion in &job.assertions {
        match seen.assertion(job, assertion, &snapshots) {
            Ok(wrong) => failures.extend(wrong.into_iter().map(|message| failure(job, assertion.span, message))),
            Err(Stop::Failed(message)) => failures.push(failure(job, assertion.span, message)),
            Err(Stop::Exceeded(exceeded)) => {
                failures.push(Diagnostic { span: Some(assertion.span), ..exceeded.diagnostic() })
            }
        }
    }
    let expects = |assertion: &Assertion| matches!(assertion.check, Check::Finding { .. } | Check::Failed { .. });
    let error = seen.findings.iter().find(|finding| finding.is_error());
    if let Some(error) = error.filter(|_| !job.assertions.iter().any(expects)) {
        let mut found = failure(job, job.span, format!("the project has an error: {}", error.message));
        if let Some(span) = error.span {
            found = found.label(span, "here");
        }
        failures.push(found);
    }
    let outcome = if failures.is_empty() { Outcome::Passed } else { Outcome::Failed };
    let taken = snapshots.taken.into_inner();
    chart::Done { case: case(outcome, failures), taken }
}

/// The request for the project; terms of the test override those of its suite.
fn request(session: &Session, suite: &Suite, job: &Job) -> Request {
    let (outer, inner) = (&suite.given, &job.given);
    let own: [&ProjectGiven; 2] = [&outer.project, &inner.project];
    let either = |part: fn(&Given) -> &Option<String>| part(inner).clone().or_else(|| part(outer).clone());
    let project = inner.project.path.as_ref().or(outer.project.path.as_ref()).map_or(".", |(path, _)| path.as_str());
    let mut request = Request::of(&path::normalize(&path::join(path::parent(&suite.file), project)));
    request.environment = inner.project.environment.clone().or_else(|| outer.project.environment.clone());
    request.profiles = own.iter().flat_map(|given| given.profiles.clone()).collect();
    request.modules = own.iter().flat_map(|given| given.modules.clone()).collect();
    request.vars =
        own.iter().flat_map(|given| &given.variables).map(|(name, value)| (name.clone(), plain(value))).collect();
    request.inputs =
        own.iter().flat_map(|given| &given.inputs).map(|(name, value)| (name.clone(), plain(value))).collect();
    let files = [outer, inner].into_iter().flat_map(|given| &given.values);
    request.values = files.map(|(name, _)| full(session, &path::join(path::parent(&suite.file), name))).collect();
    let sets = [outer, inner].into_iter().flat_map(|given| &given.sets);
    request.sets =
        sets.map(|(name, _, value)| SetFlag { kind: SetKind::Json, text: format!("{name}={}", json(value)) }).collect();
    request.namespace = either(|given| &given.namespace);
    request.chart.release_name = either(|given| &given.name);
    request.chart.kube_version = either(|given| &given.minor)
        .map(|minor| format!("{}.{minor}", either(|given| &given.major).unwrap_or_else(|| "1".to_owned())));
    let versions = [outer, inner].into_iter().flat_map(|given| given.api_versions.iter().flatten());
    request.chart.api_versions = versions.cloned().collect();
    request
}

/// The path of a file, independent of the working directory.
fn full(session: &Session, file: &str) -> String {
    if path::is_absolute(file) || session.world.here() == "." {
        file.to_owned()
    } else {
        path::join(session.world.root(), file)
    }
}

fn json(value: &Value) -> String {
    to_json(value, Secrets::Reveal, JsonLayout::Compact).unwrap_or_default()
}

/// A value in the notation of a command-line option.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| json(value), str::to_owned)
}

impl Seen<'_> {
    fn assertion(&self, job: &Job, assertion: &Assertion, snapshots: &Snapshots<'_>) -> Result<Vec<String>, Stop> {
        if let Check::Finding { .. } = &assertion.check {
            return self.finding(assertion);
        }
        let error = self.findings.iter().find(|finding| finding.is_error()).map(|finding| finding.message.as_str());
        let all = match (&self.compiled, &assertion.check) {
            (_, Check::Failed { .. }) => Vec::new(),
            (Some(compiled), _) => self.documents(compiled, assertion.subject.as_ref())?,
            (None, _) => {
                let why = error.unwrap_or("nothing was found");
                return Ok(vec![format!("the project cannot be resolved: {why}")]);
            }
        };
        let meter = &self.session.meter;
        let index = job.document.or(assertion.document).filter(|index| *index != -1);
        let selector = assertion.selector.as_ref().or(job.selector.as_ref()).filter(|one| !one.path.is_empty());
        let meant = choose(&all, selector, index, meter)?;
        if let Check::Origin { path, file, line } = &assertion.check {
            return self.origin(&meant, path, (file, *line), assertion.is_negative);
        }
        let is_negative = assertion.is_negative;
        Judge { all: &all, meant: &meant, is_negative, failure: error, snapshots, meter }.judge(&assertion.check)
    }

    /// The documents that an assertion concerns.
    fn documents(&self, compiled: &Compiled, subject: Option<&Subject>) -> Result<Vec<Value>, Stop> {
        let resolved = &compiled.resolved;
        let known = |value: &Value| prepared(Eval::new(self.session).force_deep(value));
        let missing = |kind: &str, id: &str, ids: Vec<&str>| {
            let hint = suggest::nearest(id, ids).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Stop::Failed(format!("unknown {kind} `{id}`{hint}"))
        };
        match subject {
            None => Ok(resolved.manifests.iter().map(|manifest| known(&manifest.value)).collect()),
            Some(Subject::Variables) => Ok(vec![known(&resolved.variables)]),
            Some(Subject::Outputs) => Ok(vec![known(&resolved.outputs)]),
            Some(Subject::Node(id)) => match resolved.node(id) {
                Some(node) => Ok(vec![known(&node.whole())]),
                None => Err(missing("node", id, resolved.nodes.iter().map(|node| node.id.as_str()).collect())),
            },
            Some(Subject::Object(id)) => {
                let named = resolved.manifests.iter().find(|manifest| manifest.node == id.as_str());
                let ids = || resolved.manifests.iter().map(|manifest| manifest.node.as_str()).collect();
                named.map(|manifest| vec![known(&manifest.value)]).ok_or_else(|| missing("object", id, ids()))
            }
        }
    }

    /// Checks whether there is a finding that matches an assertion.
    fn finding(&self, assertion: &Assertion) -> Result<Vec<String>, Stop> {
        let Check::Finding { rule, severity, file, line, count, message } = &assertion.check else {
            return Ok(Vec::new());
        };
        let wanted = match severity.as_str() {
            "" => None,
            "error" => Some(Severity::Error),
            "warning" => Some(Severity::Warning),
            other => return Err(Stop::Failed(format!("unknown severity `{other}`: expected `error` or `warning`"))),
        };
        let pattern = match message.as_str() {
            "" => None,
            text => Some(crate::pattern::Pattern::new(&self.session.meter, text)?),
        };
        let mut found = Vec::new();
        for finding in &self.findings {
            let says = match &pattern {
                Some(pattern) => pattern.is_in(&self.session.meter, &finding.message)?,
                None => true,
            };
            let is_rule = rule.is_empty() || finding.rule.name == rule;
            let is_there =
                (file.is_empty() && line.is_none()) || finding.span.is_some_and(|span| self.is_at(span, file, *line));
            if is_rule && says && is_there && wanted.is_none_or(|wanted| finding.severity == wanted) {
                found.push(finding);
            }
        }
        let holds = count.map_or(!found.is_empty(), |count| i64::try_from(found.len()) == Ok(count));
        if holds != assertion.is_negative {
            return Ok(Vec::new());
        }
        let what = if rule.is_empty() { "a finding".to_owned() } else { format!("a finding of `{rule}`") };
        Ok(vec![match (assertion.is_negative, found.first()) {
            (true, Some(first)) => format!("expected no such finding, found {}: {}", first.rule.name, first.message),
            (_, Some(_)) => format!("expected {} of them, found {}", count.unwrap_or_default(), found.len()),
            (_, None) => format!("expected {what}, found {}", self.others()),
        }])
    }

    /// The rules of the findings instead.
    fn others(&self) -> String {
        let mut rules: Vec<String> = self.findings.iter().map(|finding| format!("`{}`", finding.rule.name)).collect();
        rules.dedup();
        if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
    }

    fn is_at(&self, span: Span, file: &str, line: Option<i64>) -> bool {
        let Some(source) = self.session.sources.get(span.file) else { return false };
        let name = source.path();
        let is_file = file.is_empty() || name == file || name.ends_with(&format!("/{file}"));
        is_file && line.is_none_or(|line| i64::from(source.position(span.start).line) == line)
    }

    fn origin(
        &self,
        documents: &[Value],
        path: &str,
        (file, line): (&str, Option<i64>),
        is_negative: bool,
    ) -> Result<Vec<String>, Stop> {
        let read = Path::read(path, &self.session.meter)?;
        let mut wrong = Vec::new();
        for document in documents {
            let found = read.find(document, &self.session.meter)?;
            if found.is_empty() {
                wrong.push(format!("`{path}` does not exist"));
            }
            for value in found {
                let places = self.places(value.origin);
                if places.iter().any(|span| self.is_at(*span, file, line)) == is_negative {
                    let shown: Vec<String> = places.iter().map(|span| self.shown(*span)).collect();
                    let from = if shown.is_empty() { "no file".to_owned() } else { shown.join(", ") };
                    let wanted = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
                    let not = if is_negative { "NOT " } else { "" };
                    wrong.push(format!("`{path}`: expected {not}to come from {wanted}, found {from}"));
                }
            }
        }
        Ok(wrong)
    }

    fn shown(&self, span: Span) -> String {
        let Some(source) = self.session.sources.get(span.file) else { return "a file".to_owned() };
        format!("{}:{}", self.session.sources.shown(source.path()), source.position(span.start).line)
    }

    /// Every location that a value comes from, directly or indirectly.
    fn places(&self, origin: Origin) -> Vec<Span> {
        let (origins, sources) = (&self.session.origins, &self.session.sources);
        let (mut open, mut places) = (vec![origin], Vec::new());
        for _ in 0..MOST_STEPS {
            let Some(origin) = open.pop() else { break };
            let (span, next) = origins.look(origin, sources, |kind| match kind {
                OriginKind::File(span) => (Some(*span), Vec::new()),
                OriginKind::Default { span, .. } => (*span, Vec::new()),
                OriginKind::Derived { span, pieces, .. } => (*span, pieces.iter().map(|piece| piece.origin).collect()),
                OriginKind::Chosen { winner, .. } => (None, vec![*winner]),
                OriginKind::Selected { taken, .. } => (None, vec![*taken]),
                OriginKind::Parent { from, .. } => (None, vec![*from]),
                _ => (None, Vec::new()),
            });
            if let Some(span) = span.filter(|span| !places.contains(span)) {
                places.push(span);
            }
            open.extend(next.into_iter().rev());
        }
        places
    }
}

/// A value has as many origins as its expressions have parts; the bound guards against a cycle.
const MOST_STEPS: usize = 1_000;
