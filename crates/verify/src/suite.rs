//! Reads test suites: the content of a file, with locations. One form for helm-unittest's suites and for those of
//! projects; they differ in the keys for given values, and a job is never run here.

use crate::assertion::{Assertion, Selector, read_assertion, read_selector};
use crate::keys::{Keys, Problems};
use purlin_charts::trial::{Cluster, KnownKind, value_of_node};
use purlin_compiler::rules::TEST_SUITE;
use purlin_syntax::{Diagnostic, Flavor, Node, Source, Span, Tree};
use purlin_value::{Session, Value, path};
use std::sync::Arc;

/// The kind of a suite file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `tests/*_test.yaml` of a chart.
    Chart,
    /// `*.purlin-test.yaml` of any project.
    Project,
}

/// A suite.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    pub(crate) name: String,
    /// The file, as the world reads it.
    pub(crate) file: String,
    pub(crate) given: Given,
    pub(crate) templates: Vec<String>,
    pub(crate) excluded: Vec<String>,
    pub(crate) with_definitions: bool,
    pub(crate) skip: Option<String>,
    /// The suffix of the snapshot file's name.
    pub(crate) snapshot_id: String,
    pub(crate) jobs: Vec<Job>,
}

/// A test.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) given: Given,
    pub(crate) templates: Vec<String>,
    pub(crate) document: Option<i64>,
    pub(crate) selector: Option<Selector>,
    pub(crate) skip: Option<String>,
    pub(crate) assertions: Vec<Assertion>,
}

/// Given values of a suite or a test; those of a test override those of its suite.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) values: Vec<(String, Span)>,
    pub(crate) sets: Vec<(String, Span, Value)>,
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) revision: Option<i64>,
    pub(crate) is_upgrade: bool,
    pub(crate) major: Option<String>,
    pub(crate) minor: Option<String>,
    /// `None` if the key is missing; empty if it is null.
    pub(crate) api_versions: Option<Vec<String>>,
    pub(crate) forgets_api_versions: bool,
    pub(crate) version: Option<String>,
    pub(crate) app_version: Option<String>,
    pub(crate) cluster: Cluster,
    /// Given values of a project.
    pub(crate) project: ProjectGiven,
}

/// Given values of a project.
#[derive(Debug, Default, Clone)]
pub(crate) struct ProjectGiven {
    pub(crate) path: Option<(String, Span)>,
    pub(crate) environment: Option<String>,
    pub(crate) profiles: Vec<String>,
    pub(crate) modules: Vec<String>,
    pub(crate) variables: Vec<(String, Value)>,
    pub(crate) inputs: Vec<(String, Value)>,
}

/// The plugin version that is imitated, for `skip.minimumVersion`.
const PLUGIN: &str = "1.1.0";

/// The suites of a file; none if it is not valid YAML.
pub(crate) fn read(session: &Session, file: &str, form: Form) -> (Vec<Suite>, Vec<Diagnostic>) {
    let mut problems = Problems::default();
    let tree = match session.read_yaml(file, Flavor::GoObjects) {
        Ok(tree) => tree,
        Err(problem) => return (Vec::new(), vec![problem]),
    };
    let tree = match tree.is_sound() {
        true => tree,
        false => match with_escapes(session, file, &tree) {
            Some(tree) => tree,
            None => return (Vec::new(), tree.diagnostics().to_vec()),
        },
    };
    let is_something = |root: &Node<'_>| !(root.is_scalar() && root.is_null());
    let suites = tree.roots().filter(is_something).filter_map(|root| suite(root, file, form, &mut problems)).collect();
    (suites, problems.0)
}

/// A text with patterns such as `"\d"` is not valid YAML; helm-unittest reads it with the backslashes doubled.
fn with_escapes(session: &Session, file: &str, tree: &Tree) -> Option<Arc<Tree>> {
    let text = tree.source().text();
    let mut doubled = String::with_capacity(text.len() + 16);
    let mut run = 0;
    for ch in text.chars() {
        if ch == '\\' {
            run += 1;
        } else {
            if run % 2 == 1 {
                doubled.push('\\');
            }
            run = 0;
        }
        doubled.push(ch);
    }
    if doubled.len() == text.len() {
        return None;
    }
    let source: Arc<Source> = session.sources.insert(file, doubled);
    let again = session.parse_yaml(source, Flavor::GoObjects);
    again.is_sound().then_some(again)
}

fn suite(root: Node<'_>, file: &str, form: Form, problems: &mut Problems) -> Option<Suite> {
    let before = problems.0.len();
    let mut keys = Keys::of(root, problems);
    let mut suite = Suite { file: file.to_owned(), ..Suite::default() };
    suite.name = keys.text("suite", problems).unwrap_or_default();
    suite.given = given(&mut keys, form, problems);
    if form == Form::Chart {
        let plain = |texts: Option<Vec<(String, Span)>>| texts.unwrap_or_default().into_iter().map(|(text, _)| text);
        suite.templates = plain(keys.texts("templates", problems)).collect();
        suite.excluded = plain(keys.texts("excludeTemplates", problems)).collect();
        suite.with_definitions = keys.truth("includeCrds", problems).unwrap_or_default();
    }
    suite.snapshot_id = keys.text("snapshotId", problems).unwrap_or_default();
    suite.skip = skip(&mut keys, problems);
    let items = keys.items("tests", problems);
    if items.is_empty() {
        problems.say(root.span(), "this suite has no `tests`", "add `tests:` with at least one test");
    }
    suite.jobs = items.into_iter().filter_map(|item| job(item, form, problems)).collect();
    if !suite.jobs.is_empty() && suite.jobs.iter().all(|job| job.skip.is_some()) && suite.skip.is_none() {
        suite.skip = Some("all tests are skipped".to_owned());
    }
    keys.finish(problems);
    // Problems of one suite of a file do not affect the others.
    let is_broken = problems.0.iter().skip(before).any(Diagnostic::is_error);
    (!is_broken).then_some(suite)
}

fn job(node: Node<'_>, form: Form, problems: &mut Problems) -> Option<Job> {
    if node.is_scalar() && node.is_null() {
        return None;
    }
    let mut keys = Keys::of(node, problems);
    let name = keys.text("it", problems).unwrap_or_default();
    let span = keys.get("it").map_or(node.span(), Node::span);
    let given = given(&mut keys, form, problems);
    let mut templates = Vec::new();
    if form == Form::Chart {
        let list = keys.texts("templates", problems).unwrap_or_default();
        templates.extend(list.into_iter().map(|(text, _)| text));
        let one = keys.text("template", problems).filter(|name| !name.is_empty());
        if templates.is_empty() {
            templates.extend(one);
        }
    }
    let document = keys.number("documentIndex", problems);
    let selector = keys.get("documentSelector").and_then(|node| read_selector(node, problems));
    let skip = skip(&mut keys, problems);
    let items = keys.items("asserts", problems);
    if items.is_empty() {
        problems.say(span, format!("the test `{name}` has no `asserts`"), "add `asserts:` with what has to hold");
    }
    let assertions = items.into_iter().filter_map(|item| read_assertion(item, form, problems)).collect();
    keys.finish(problems);
    Some(Job { name, span, given, templates, document, selector, skip, assertions })
}

fn given(keys: &mut Keys<'_>, form: Form, problems: &mut Problems) -> Given {
    let mut given = Given {
        values: keys.texts("values", problems).unwrap_or_default(),
        sets: sets(keys, problems),
        ..Given::default()
    };
    if let Some(mut release) = keys.inner("release", problems) {
        given.name = release.text("name", problems).filter(|name| !name.is_empty());
        given.namespace = release.text("namespace", problems).filter(|name| !name.is_empty());
        given.revision = release.number("revision", problems);
        given.is_upgrade = release.truth("upgrade", problems).unwrap_or_default();
        release.finish(problems);
    }
    if let Some(mut capabilities) = keys.inner("capabilities", problems) {
        given.major = capabilities.text("majorVersion", problems).filter(|text| !text.is_empty());
        given.minor = capabilities.text("minorVersion", problems).filter(|text| !text.is_empty());
        let is_there = capabilities.get("apiVersions").is_some();
        let versions = capabilities.texts("apiVersions", problems);
        given.forgets_api_versions = is_there && versions.is_none();
        given.api_versions = versions.map(|list| list.into_iter().map(|(text, _)| text).collect());
        capabilities.finish(problems);
    }
    match form {
        Form::Chart => chart_given(keys, &mut given, problems),
        Form::Project => given.project = project_given(keys, problems),
    }
    if let Some(node) = keys.get("postRenderer") {
        let hint = "remove it, and test what the templates print";
        problems.say(node.span(), "post-renderers are not supported: tests run no commands", hint);
    }
    given
}

fn chart_given(keys: &mut Keys<'_>, given: &mut Given, problems: &mut Problems) {
    if let Some(mut chart) = keys.inner("chart", problems) {
        given.version = chart.text("version", problems).filter(|text| !text.is_empty());
        given.app_version = chart.text("appVersion", problems).filter(|text| !text.is_empty());
        chart.finish(problems);
    }
    let Some(mut provider) = keys.inner("kubernetesProvider", problems) else { return };
    for (name, _, node) in provider.entries("scheme", problems) {
        let mut kind = Keys::of(node, problems);
        let mut resource = [String::new(), String::new(), String::new()];
        if let Some(mut keys) = kind.inner("gvr", problems) {
            for (part, key) in resource.iter_mut().zip(["group", "version", "resource"]) {
                *part = keys.text(key, problems).unwrap_or_default();
            }
            keys.finish(problems);
        }
        let is_namespaced = kind.truth("namespaced", problems).unwrap_or_default();
        if let Some(node) = kind.get("should_err") {
            problems.say(
                node.span(),
                "`should_err` is not supported",
                "remove it; an object that is not listed is not found",
            );
        }
        kind.finish(problems);
        given.cluster.kinds.push(KnownKind { name, resource, is_namespaced });
    }
    given.cluster.objects = provider.items("objects", problems).into_iter().map(value_of_node).collect();
    provider.finish(problems);
}

fn project_given(keys: &mut Keys<'_>, problems: &mut Problems) -> ProjectGiven {
    let texts =
        |list: Option<Vec<(String, Span)>>| list.unwrap_or_default().into_iter().map(|(text, _)| text).collect();
    let path = keys.get("project").map(Node::span);
    let path = keys.text("project", problems).zip(path);
    let values = |entries: Vec<(String, Span, Node<'_>)>| {
        let value = |node| purlin_value::value_of(node, purlin_value::MergeKeys::Apply);
        entries.into_iter().map(|(name, _, node)| (name, value(node))).collect()
    };
    ProjectGiven {
        path,
        environment: keys.text("environment", problems),
        profiles: texts(keys.texts("profiles", problems)),
        modules: texts(keys.texts("modules", problems)),
        variables: values(keys.entries("variables", problems)),
        inputs: values(keys.entries("inputs", problems)),
    }
}

fn sets(keys: &mut Keys<'_>, problems: &mut Problems) -> Vec<(String, Span, Value)> {
    let entries = keys.entries("set", problems).into_iter();
    entries.map(|(path, span, node)| (path, span, value_of_node(node))).collect()
}

/// Why a suite or a test is skipped, if it is.
fn skip(keys: &mut Keys<'_>, problems: &mut Problems) -> Option<String> {
    let mut skip = keys.inner("skip", problems)?;
    let reason = skip.text("reason", problems).filter(|reason| !reason.is_empty());
    let least = skip.text("minimumVersion", problems).filter(|version| !version.is_empty());
    skip.finish(problems);
    let too_new = least.filter(|least| !is_at_least(PLUGIN, least));
    let version = too_new.map(|least| format!("needs helm-unittest {least}, and {PLUGIN} is followed"));
    reason.or(version)
}

fn is_at_least(version: &str, least: &str) -> bool {
    use purlin_gotmpl::semver::Version;
    match (Version::parse(version), Version::parse(least)) {
        (Some(version), Some(least)) => version.compare(&least).is_ge(),
        _ => false,
    }
}

impl Suite {
    /// The name to show: the suite's own, or that of its file.
    pub(crate) fn title(&self) -> &str {
        if self.name.is_empty() { path::file_name(&self.file) } else { &self.name }
    }

    /// The file with the snapshots of this suite.
    pub(crate) fn snapshot_file(&self) -> String {
        let id = if self.snapshot_id.is_empty() { String::new() } else { format!("_{}", self.snapshot_id) };
        let name = format!("__snapshot__/{}{id}.snap", path::file_name(&self.file));
        path::join(path::parent(&self.file), &name)
    }
}

/// A problem of a suite that concerns the whole file.
pub(crate) fn about_file(session: &Session, file: &str, message: String) -> Diagnostic {
    let mut found = Diagnostic::nowhere(&TEST_SUITE, message);
    found.span =
        session.read_text(file).ok().map(|source| source.span(0, source.text().lines().next().map_or(0, str::len)));
    found
}
