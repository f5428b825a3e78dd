//! `helm lint`: all findings of Helm's linter on a chart, in its order and words.

mod chartfile;
mod deprecations;
mod objects;

use std::sync::Arc;

use purlin_gotmpl::yaml::parse;
use purlin_syntax::Tree;
use purlin_value::Session;

use crate::capabilities::Capabilities;
use crate::chart::{Chart, ChartFile};
use crate::given::user_values;
use crate::manifest;
use crate::manifest::HeadError;
use crate::template::{self, Options, TemplateError};
use crate::yaml::value_of_tree;
use crate::{load, metadata, schema};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Fails the check with `--strict`.
    Warning,
    /// Fails the check.
    Error,
}

impl Level {
    /// As Helm prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its severity.
    pub level: Level,
    /// Its file.
    pub path: String,
    /// The finding.
    pub message: String,
}

/// Result of linting a chart.
#[derive(Debug, Default)]
pub struct Linted {
    /// The findings, in Helm's order.
    pub findings: Vec<Finding>,
    /// Messages of `required` and `fail`, as Helm logs them.
    pub logged: Vec<String>,
}

impl Linted {
    fn add(&mut self, level: Level, path: &str, message: impl Into<String>) {
        self.findings.push(Finding { level, path: path.to_owned(), message: message.into() });
    }
}

/// Lints the chart at a path, which is shown to the user as `shown`.
pub fn lint(session: &Session, path: &str, shown: &str, options: &Options) -> Linted {
    let mut found = Linted::default();
    let files = match load::files(session, path) {
        Ok(files) => files,
        Err(error) => {
            found.add(Level::Error, "Chart.yaml", format!("unable to parse YAML\n\t{}", error.message));
            return found;
        }
    };
    chartfile::check(session, path, &files, &mut found);
    let loaded = loaded(session, path);
    check_values(session, path, &files, loaded.as_ref().ok(), options, &mut found);
    check_templates(session, &files, &loaded, options, &mut found);
    match &loaded {
        Ok(chart) => check_dependencies(chart, shown, &mut found),
        Err(message) => found.add(Level::Error, "", format!("unable to load chart\n\t{message}")),
    }
    if files.iter().any(|file| file.name.starts_with("crds/")) {
        check_definitions(session, &loaded, &mut found);
    }
    found
}

/// The chart, or Helm's reason why it cannot be loaded.
fn loaded(session: &Session, path: &str) -> Result<Chart, String> {
    let chart = load::load(session, path).map_err(|error| error.message)?;
    metadata::validate(&chart.metadata).map_err(|flaw| flaw.helm_text)?;
    Ok(chart)
}

/// `values.yaml`: it can be parsed, and matches the chart's own schema together with the user's values.
fn check_values(
    session: &Session,
    path: &str,
    files: &[ChartFile],
    chart: Option<&Chart>,
    options: &Options,
    found: &mut Linted,
) {
    const VALUES: &str = "values.yaml";
    let Some(file) = files.iter().find(|file| file.name == VALUES) else {
        found.add(Level::Info, VALUES, "file does not exist");
        return;
    };
    let tree = load::parse(session, path, file);
    if let Err(message) = value_of_tree(&tree, 0) {
        found.add(Level::Error, VALUES, format!("unable to parse YAML: error converting YAML to JSON: {message}"));
        return;
    }
    let Some(chart) = chart.filter(|chart| chart.schema.is_some() && !options.skip_schema) else { return };
    let Ok(given) = user_values(session, options) else { return };
    // The charts inside have schemas of their own, which are checked with templates.
    let alone = Chart { dependencies: Vec::new(), ..chart.clone() };
    let own = Options { lenient: true, is_lint: true, ..options.clone() };
    let Ok(prepared) = template::prepare_chart(session, alone, given, RELEASE.to_owned(), &own) else { return };
    if !prepared.problems.is_empty() {
        let lines = prepared.problems.iter().map(|(_, problem)| schema::report(problem, 0) + "\n");
        found.add(Level::Error, VALUES, lines.collect::<String>());
    }
}

/// The release that templates are rendered for.
const RELEASE: &str = "test-release";

/// The folder of templates, and their rendered output.
fn check_templates(
    session: &Session,
    files: &[ChartFile],
    loaded: &Result<Chart, String>,
    options: &Options,
    found: &mut Linted,
) {
    const FOLDER: &str = "templates/";
    if !files.iter().any(|file| file.name.starts_with(FOLDER)) {
        found.add(Level::Warning, FOLDER, "directory does not exist");
        return;
    }
    let chart = match loaded {
        Ok(chart) => chart,
        Err(message) => return found.add(Level::Error, FOLDER, message.clone()),
    };
    match rendered(session, chart, options) {
        Ok(rendered) => {
            found.logged = rendered.logged;
            check_rendered(session, chart, &rendered.files, options, found);
        }
        Err(error) => found.add(Level::Error, FOLDER, error.message),
    }
}

/// The templates of the chart as texts, by their full names.
struct Texts {
    files: Vec<(String, String)>,
    logged: Vec<String>,
}

fn rendered(session: &Session, chart: &Chart, options: &Options) -> Result<Texts, TemplateError> {
    let values = user_values(session, options)?;
    let options = Options { is_lint: true, ..options.clone() };
    let prepared = template::prepare_chart(session, chart.clone(), values, RELEASE.to_owned(), &options)?;
    let rendered = prepared.render(session)?;
    let text = |(path, rope): (String, purlin_gotmpl::Rope)| (path, String::from_utf8_lossy(&rope.bytes).into_owned());
    Ok(Texts { files: rendered.files.into_iter().map(text).collect(), logged: rendered.logged })
}

fn check_rendered(session: &Session, chart: &Chart, texts: &[(String, String)], options: &Options, found: &mut Linted) {
    let kube = capabilities(options).kube;
    for file in &chart.templates {
        let name = file.name.as_str();
        let base = name.rsplit('/').next().unwrap_or_default();
        let ending = base.rfind('.').and_then(|at| base.get(at..)).unwrap_or_default();
        if ![".yaml", ".yml", ".tpl", ".txt"].contains(&ending) {
            let message =
                format!("file extension '{ending}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt");
            found.add(Level::Error, name, message);
        }
        if !matches!(ending.to_ascii_lowercase().as_str(), ".yaml" | ".yml") {
            continue;
        }
        let full = format!("{}/{name}", chart.name());
        let Some((_, text)) = texts.iter().find(|(path, _)| *path == full) else { continue };
        if text.trim().is_empty() {
            continue;
        }
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if first.starts_with([' ', '\t']) {
            let message =
                format!("document starts with an illegal indent: {first:?}, which may cause parsing problems");
            found.add(Level::Warning, name, message);
        }
        for (_, document) in manifest::split(text) {
            let head = match manifest::head_as(&parse(document, &session.limits), "k8sYamlStruct") {
                Ok(head) => head,
                Err(HeadError { message, .. }) => {
                    found.add(Level::Error, name, format!("unable to parse YAML: {message}"));
                    return;
                }
            };
            if let Some(head) = head {
                objects::check(session, name, &head, text, (&kube.major, &kube.minor), found);
            }
        }
    }
}

fn capabilities(options: &Options) -> Capabilities {
    let mut known = Capabilities::default();
    let given = options.kube_version.as_deref().map(crate::capabilities::KubeVersion::parse);
    if let Some(Ok(kube)) = given {
        known.kube = kube;
    }
    known
}

/// Compares `Chart.yaml` with the contents of `charts/`.
fn check_dependencies(chart: &Chart, shown: &str, found: &mut Linted) {
    let declared = &chart.metadata.dependencies;
    let names = |missing: Vec<&str>| missing.join(",");
    let unnamed: Vec<&str> = chart
        .dependencies
        .iter()
        .map(Chart::name)
        .filter(|name| !declared.iter().any(|dependency| dependency.name == **name))
        .collect();
    if !unnamed.is_empty() {
        let message = format!("chart metadata is missing these dependencies: {}", names(unnamed));
        found.add(Level::Error, shown, message);
    }
    let known_as = |at: usize| declared.get(at).map(|one| if one.alias.is_empty() { &one.name } else { &one.alias });
    let twice = (0..declared.len()).filter(|at| (0..*at).any(|before| known_as(before) == known_as(*at)));
    let twice: Vec<&str> = twice.filter_map(known_as).map(String::as_str).collect();
    if !twice.is_empty() {
        found.add(Level::Error, shown, format!("multiple dependencies with name or alias: {}", names(twice)));
    }
    let missing: Vec<&str> = declared
        .iter()
        .map(|dependency| dependency.name.as_str())
        .filter(|name| !chart.dependencies.iter().any(|inner| inner.name() == *name))
        .collect();
    if !missing.is_empty() {
        let message = format!("chart directory is missing these dependencies: {}", names(missing));
        found.add(Level::Warning, shown, message);
    }
}

/// Files in `crds/` of the chart and of those inside it.
fn check_definitions(session: &Session, loaded: &Result<Chart, String>, found: &mut Linted) {
    let chart = match loaded {
        Ok(chart) => chart,
        Err(message) => return found.add(Level::Error, "crds/", message.clone()),
    };
    for (path, text) in template::definitions(chart, "") {
        // Helm names the file inside of its own chart.
        let name = path.rfind("crds/").and_then(|at| path.get(at..)).unwrap_or(&path);
        for (_, document) in manifest::split(&text) {
            let tree: Arc<Tree> = Arc::new(parse(document, &session.limits));
            let head = match manifest::head_as(&tree, "k8sYamlStruct") {
                Ok(Some(head)) => head,
                Ok(None) => continue,
                Err(HeadError { message, .. }) => {
                    found.add(Level::Error, name, format!("unable to parse YAML: {message}"));
                    return;
                }
            };
            if !head.api_version.starts_with("apiextensions.k8s.io") {
                found.add(Level::Error, name, "apiVersion is not in 'apiextensions.k8s.io'");
            }
            if head.kind != "CustomResourceDefinition" {
                found.add(Level::Error, name, "object kind is not 'CustomResourceDefinition'");
            }
        }
    }
}
