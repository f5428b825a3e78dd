//! `helm template`: from a chart and flags to manifests, as Helm 4 does it.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use purlin_gotmpl::{Limits, Machine, Outside, Set, SpareKey, Val};
use purlin_model::validate::{Fault, Problem, Stopped, outside as outside_schema};
use purlin_model::{SetFlag, SetSource};
use purlin_syntax::Rule;
use purlin_value::glob::{Glob, Notation};
use purlin_value::{EcoString, Origin, Seed, Session, Value};

use crate::capabilities::{Capabilities, KubeVersion};
use crate::chart::Chart;
use crate::context::Release;
use crate::edition::Helm;
use crate::engine::{self, Compiled, Inputs, RenderError, Rendered};
use crate::files;
use crate::given::user_values;
use crate::guessable;
use crate::load::{About, LoadError};
use crate::manifest::{self, Document, Manifests};
use crate::schema;
use crate::values::{Account, Coalescer, Trouble, Warning};
use crate::{dependencies, load, metadata, rules};

/// Options of `helm template`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The release's name; a default if empty.
    pub name: String,
    /// `--name-template`
    pub name_template: Option<String>,
    /// `--namespace`
    pub namespace: String,
    /// Origin of the release's name, if not an option.
    pub name_from: Option<Origin>,
    /// Origin of the namespace, if not an option.
    pub namespace_from: Option<Origin>,
    /// `-f`, as paths the world reads, with the names the user gave.
    pub values: Vec<(String, String)>,
    /// The `--set` family.
    pub sets: Vec<SetFlag>,
    /// Turns the path of a `--set-file` into one the world reads.
    pub here: String,
    /// `--api-versions`
    pub api_versions: Vec<String>,
    /// `--kube-version`
    pub kube_version: Option<String>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--no-hooks`
    pub no_hooks: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// `--is-upgrade`
    pub is_upgrade: bool,
    /// `--show-only`
    pub show_only: Vec<String>,
    /// `--skip-schema-validation`
    pub skip_schema: bool,
    /// Whether origins are recorded.
    pub track: bool,
    /// Values a host gives, over those of files and under those of flags.
    pub inline: Value,
    /// Values a host gives, over those of files and flags; some may be pending.
    pub given: Value,
    /// `--pending`: paths of values that are not known yet, with their dependencies.
    pub pending: Vec<(String, String)>,
    /// Whether as much as possible is checked: library charts, charts with missing dependencies, and the files beside
    /// one that fails. Helm stops at each of these.
    pub lenient: bool,
    /// Whether the output is only checked and not shown.
    pub is_rehearsal: bool,
    /// The source of each of `sets`, if a project gives them.
    pub sets_from: Vec<SetSource>,
    /// Whether the chart is linted: `required` and `fail` only leave a note, and neither library charts nor missing
    /// dependencies stop it.
    pub is_lint: bool,
    /// Whether missing dependencies are fetched before the chart is deployed.
    pub is_fetched_later: bool,
    /// The version of Helm.
    pub helm: &'static Helm,
}

impl From<Trouble> for TemplateError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Subchart { name, found, helm_text } => {
                let about = About::Subchart { name, found: found.to_owned() };
                TemplateError { about, ..TemplateError::from(helm_text) }
            }
            Trouble::Exceeded(exceeded) => {
                let stopped = Stopped::Exceeded(exceeded);
                TemplateError { message: stopped.message(), about: About::Schema(stopped), ..TemplateError::default() }
            }
        }
    }
}

/// Reason why nothing was rendered.
#[derive(Debug, Default)]
pub struct TemplateError {
    /// Helm's text.
    pub message: String,
    /// Whether the chart was being rendered, in which case Helm adds a hint.
    pub while_rendering: bool,
    /// The failed template, if one failed.
    pub render: Option<RenderError>,
    /// Values that do not fit their schema, with the chart each belongs to.
    pub problems: Vec<(String, Problem)>,
    /// Its subject.
    pub about: About,
    /// The rule it falls under, if it is not simply a chart that cannot be loaded.
    pub rule: Option<&'static Rule>,
    /// Advice, if it differs from the rule's.
    pub hint: Option<&'static str>,
    /// The rendered files, if one of them is not valid YAML.
    pub rendered: Option<String>,
}

impl From<String> for TemplateError {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

impl From<LoadError> for TemplateError {
    fn from(error: LoadError) -> Self {
        Self { message: error.message, rule: error.rule, hint: error.hint, about: error.about, ..Self::default() }
    }
}

impl From<metadata::Flaw> for TemplateError {
    fn from(flaw: metadata::Flaw) -> Self {
        Self { about: About::Metadata(flaw.key, flaw.message), ..Self::under(&rules::METADATA, flaw.helm_text) }
    }
}

impl From<RenderError> for TemplateError {
    fn from(error: RenderError) -> Self {
        Self { message: error.helm_text(), while_rendering: true, render: Some(error), ..Self::default() }
    }
}

/// A chart rendered.
#[derive(Debug)]
pub struct Output {
    /// The chart, after conditions, tags and imports.
    pub chart: Chart,
    /// The documents, sorted.
    pub manifests: Manifests,
    /// Custom resource definitions: path and text.
    pub crds: Vec<(String, String)>,
    /// Warnings that Helm would log.
    pub warnings: Vec<String>,
}

/// Two releases of a chart must not have the same passwords. With a public seed, they are only viewed: comparing two
/// releases then shows the differences caused by configuration.
fn seed_of(run: Seed, release: &Release) -> Seed {
    if run.is_secret() { run.of_part(&[&release.namespace, &release.name]) } else { run }
}

/// Clock and seed of the run.
pub fn outside(session: &Session, track: bool) -> Outside {
    let (now, seed) = (session.world.now().0, session.world.seed());
    let sources = track.then(|| session.sources.clone());
    Outside { now, seed, track, origins: session.origins.clone(), sources, ..Outside::default() }
}

/// The engine's limits, from those of the run.
pub fn engine_limits(session: &Session) -> Limits {
    Limits::of(&session.meter)
}

pub(crate) fn release_name(session: &Session, options: &Options) -> Result<String, String> {
    let name = match &options.name_template {
        Some(template) => name_from_template(session, template)?,
        None if options.name.is_empty() => "release-name".to_owned(),
        None => options.name.clone(),
    };
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit();
    let good = name.len() <= 53
        && name.split('.').all(|part| {
            part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|ch| plain(ch) || ch == '-')
        });
    if good {
        return Ok(name);
    }
    Err(format!("release name {name:?} is not a DNS name of at most 53 characters"))
}

fn name_from_template(session: &Session, template: &str) -> Result<String, String> {
    let mut set = Set::new();
    set.add("name-template", template).map_err(|error| error.go_text())?;
    let set = Arc::new(set);
    let (outside, limits) = (outside(session, false), engine_limits(session));
    let work = || {
        let mut machine = Machine::new(set.namespace(), &outside, &limits);
        machine.execute(&"name-template".into(), Val::NIL).map_err(RenderError::Exec)
    };
    let rope = engine::on_deep_stack(work).map_err(|error| error.helm_text())?;
    Ok(String::from_utf8_lossy(&rope.bytes).into_owned())
}

/// Results of checking values against schemas.
#[derive(Default)]
pub(crate) struct Judgement {
    /// Values that do not fit, with the chart each belongs to.
    pub(crate) problems: Vec<(String, Problem)>,
    /// External references of schemas, with the chart.
    elsewhere: Vec<(String, EcoString)>,
}

/// Everything in the values that does not fit a schema.
pub(crate) fn judge(session: &Session, chart: &Chart, values: &Value) -> Result<Judgement, TemplateError> {
    let mut judgement = Judgement::default();
    match schema_problems(session, chart, values, &mut judgement) {
        Ok(()) => Ok(judgement),
        Err(stopped) => {
            Err(TemplateError { message: stopped.message(), about: About::Schema(stopped), ..TemplateError::default() })
        }
    }
}

/// Helm's error about values that do not fit.
pub(crate) fn refuse(problems: Vec<(String, Problem)>) -> Result<(), TemplateError> {
    if problems.is_empty() {
        return Ok(());
    }
    let mut message = "values don't meet the specifications of the schema(s) in the following chart(s):".to_owned();
    let mut last = "";
    for (name, problem) in &problems {
        if name != last {
            let _ = write!(message, "\n{name}:");
            last = name;
        }
        let _ = write!(message, "\n{}", schema::report(problem, 0));
    }
    Err(TemplateError { problems, ..TemplateError::under(&rules::SCHEMA, message) })
}

fn schema_problems(session: &Session, chart: &Chart, values: &Value, found: &mut Judgement) -> Result<(), Stopped> {
    if let Some(text) = &chart.schema {
        let name = || chart.name().to_owned();
        let problems = match schema::parse(text) {
            Ok(schema) => {
                found.elsewhere.extend(schema.elsewhere().iter().map(|reference| (name(), reference.clone())));
                schema.check(values, &session.meter)?
            }
            Err(message) => vec![Problem::new("", Fault::Schema(message), values)],
        };
        found.problems.extend(problems.into_iter().map(|problem| (name(), problem)));
    }
    for child in &chart.dependencies {
        if let Some(section) = values.get(child.name()).filter(|section| section.as_map().is_some()) {
            schema_problems(session, child, section, found)?;
        }
    }
    Ok(())
}

/// A chart ready to be rendered: loaded, dependencies decided, values coalesced and checked.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The chart, after conditions, tags and imports.
    pub chart: Chart,
    /// Its values.
    pub values: Value,
    /// The release.
    pub release: Release,
    /// The cluster as the chart sees it.
    pub capabilities: Capabilities,
    /// Warnings that Helm would log.
    pub warnings: Vec<Warning>,
    /// Dependencies that `Chart.yaml` names and that are not there; Helm would have stopped.
    pub missing: Vec<String>,
    /// Values that do not fit their schema, with the chart each belongs to; Helm would have stopped.
    pub problems: Vec<(String, Problem)>,
    /// External references of schemas, with the chart; Helm would have fetched them.
    pub elsewhere: Vec<(String, EcoString)>,
    track: bool,
    lenient: bool,
    is_rehearsal: bool,
    is_lint: bool,
    /// Its templates, once they are parsed.
    compiled: OnceLock<Arc<Compiled>>,
}

impl TemplateError {
    /// The message that a version of Helm prints.
    pub fn message_of(&self, helm: &Helm) -> String {
        match &self.render {
            Some(render) => render.text_of(helm),
            None => self.message.clone(),
        }
    }

    /// A failure that falls under a rule.
    fn under(rule: &'static Rule, message: String) -> Self {
        Self { rule: Some(rule), ..Self::from(message) }
    }

    /// A failure while rendering.
    pub fn rendering(message: String) -> Self {
        Self { message, while_rendering: true, ..Self::default() }
    }
}

/// Renders the chart at a path.
pub fn template(session: &Session, path: &str, options: &Options) -> Result<Output, TemplateError> {
    finish(session, prepare(session, path, options)?, options)
}

/// Loads a chart and everything it needs to be rendered.
pub fn prepare(session: &Session, path: &str, options: &Options) -> Result<Prepared, TemplateError> {
    prepare_loaded(session, open(session, path)?, options)
}

/// Loads a chart.
pub fn open(session: &Session, path: &str) -> Result<Chart, TemplateError> {
    load::load(session, path).map_err(TemplateError::from)
}

/// Prepares a loaded chart, with everything needed to render it.
pub(crate) fn prepare_loaded(session: &Session, chart: Chart, options: &Options) -> Result<Prepared, TemplateError> {
    let name = release_name(session, options)?;
    let values = user_values(session, options)?;
    prepare_chart(session, chart, values, name, options)
}

pub(crate) fn prepare_chart(
    session: &Session,
    mut chart: Chart,
    values: Value,
    name: String,
    options: &Options,
) -> Result<Prepared, TemplateError> {
    metadata::validate(&chart.metadata)?;
    if chart.is_library() && !options.lenient && !options.is_lint {
        return Err(TemplateError::under(&rules::METADATA, "library charts are not installable".to_owned()));
    }
    let missing = dependencies::missing(&chart);
    if !missing.is_empty() && !options.lenient && !options.is_lint {
        let message = options.helm.missing_dependencies;
        let names = missing.join(", ");
        let message = format!("{message}: found in Chart.yaml, but missing in charts/ directory: {names}");
        return Err(TemplateError::under(&rules::DEPENDENCY, message));
    }
    let mut capabilities = Capabilities { helm: options.helm, ..Capabilities::default() };
    if let Some(version) = &options.kube_version {
        let kube = KubeVersion::parse(version).map_err(|_| format!("invalid kube version '{version}': {version}"))?;
        capabilities.kube = kube.shown_by(options.helm);
    }
    capabilities.api_versions.extend(options.api_versions.iter().cloned());
    let given = |option: &str, is_given: bool| match options.track && is_given {
        true => session.origins.flag(option),
        false => Origin::NONE,
    };
    capabilities.kube_from = given("--kube-version", options.kube_version.is_some());
    capabilities.more_from = given("--api-versions", !options.api_versions.is_empty());
    let account = Account::new(&session.meter);
    let origins = options.track.then_some(&session.origins);
    let processed = dependencies::process(&mut chart, &values, &account, origins, options.helm);
    let mut warnings = processed.map_err(|trouble| {
        let is_about_values = matches!(trouble, Trouble::Subchart { .. });
        let error = TemplateError::from(trouble);
        match is_about_values {
            true => TemplateError {
                message: format!("chart dependencies processing failed: {}", error.message),
                rule: Some(&rules::DEPENDENCY),
                ..error
            },
            false => error,
        }
    })?;
    let mut coalescer = Coalescer::new(origins, &account, options.helm);
    let values = coalescer.coalesce(&chart, &values)?;
    warnings.append(&mut coalescer.warnings);
    let judgement = if options.skip_schema { Judgement::default() } else { judge(session, &chart, &values)? };
    let Judgement { mut problems, elsewhere } = judgement;
    if !options.lenient {
        let unread = |(name, reference): &(String, EcoString)| {
            (name.clone(), Problem::new("", Fault::Schema(outside_schema(reference)), &values))
        };
        refuse(elsewhere.iter().map(unread).chain(std::mem::take(&mut problems)).collect())?;
    }
    let kube = &chart.metadata.kube_version;
    if !kube.is_empty() && !options.is_lint && !dependencies::is_compatible(kube, &capabilities.kube.version) {
        let have = &capabilities.kube.version;
        let message = format!("chart requires kubeVersion: {kube} which is incompatible with Kubernetes {have}");
        let about = About::Version { wanted: kube.clone(), have: have.clone() };
        return Err(TemplateError { about, rule: Some(&rules::METADATA), ..TemplateError::rendering(message) });
    }
    let namespace = if options.namespace.is_empty() { "default" } else { &options.namespace };
    // A value that was not given is the engine's own, with the template that reads it as its origin.
    let from = |given: Option<Origin>, option: &str, text: &str| match given {
        Some(origin) => origin,
        None if options.track && !text.is_empty() => session.origins.flag(option),
        None => Origin::NONE,
    };
    let release = Release {
        name,
        namespace: namespace.to_owned(),
        name_from: from(options.name_from, "--release-name", &options.name),
        namespace_from: from(options.namespace_from, "--namespace", &options.namespace),
        upgrade: options.is_upgrade,
        revision: 1,
    };
    if options.track {
        files::locate(session, &mut chart);
    }
    let (track, lenient, is_rehearsal) = (options.track, options.lenient, options.is_rehearsal);
    Ok(Prepared {
        chart,
        values,
        release,
        capabilities,
        warnings,
        missing,
        problems,
        elsewhere,
        track,
        lenient,
        is_rehearsal,
        is_lint: options.is_lint,
        compiled: OnceLock::new(),
    })
}

impl Prepared {
    /// The inputs of the engine.
    pub fn inputs<'a>(&'a self, outside: &'a Outside, limits: &'a Limits) -> Inputs<'a> {
        let (chart, values, release, capabilities) = (&self.chart, &self.values, &self.release, &self.capabilities);
        Inputs { chart, values, release, capabilities, outside, limits, keep_going: self.lenient }
    }

    /// Clock, seed and spare key of the run.
    pub fn outside(&self, session: &Session, track: bool) -> Outside {
        let spare_key = self.is_rehearsal.then(|| session.finding_of_run("keys", |_| SpareKey::default()));
        let run = outside(session, track);
        let seed = seed_of(run.seed, &self.release);
        Outside { seed, spare_key, guessable: Some(guessable::noted(session)), is_lint: self.is_lint, ..run }
    }

    /// Its templates, parsed once.
    fn compiled(&self, session: &Session) -> Result<Arc<Compiled>, RenderError> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled.clone());
        }
        let compiled = engine::compile_for(session, &self.chart, self.capabilities.helm)?;
        Ok(self.compiled.get_or_init(|| compiled).clone())
    }

    /// Its templates, if they were parsed.
    pub(crate) fn known_templates(&self) -> Option<&Compiled> {
        self.compiled.get().map(AsRef::as_ref)
    }

    /// The options that decide how templates are rendered, as a text.
    pub(crate) fn switches(&self) -> String {
        format!("{} {} {} {}", self.track, self.lenient, self.is_rehearsal, self.is_lint)
    }

    /// Renders the templates that are wanted, and records what each has read of the values.
    pub(crate) fn render_recorded(
        &self,
        session: &Session,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Rendered, TemplateError> {
        let (outside, limits) = (self.outside(session, self.track), engine_limits(session));
        let rendered = self
            .compiled(session)
            .and_then(|compiled| engine::render_recorded(&compiled, self.inputs(&outside, &limits), is_wanted));
        rendered.map_err(TemplateError::from)
    }

    /// Renders all templates.
    pub fn render(&self, session: &Session) -> Result<Rendered, TemplateError> {
        let (outside, limits) = (self.outside(session, self.track), engine_limits(session));
        let rendered =
            self.compiled(session).and_then(|compiled| engine::render(&compiled, self.inputs(&outside, &limits)));
        rendered.map_err(TemplateError::from)
    }
}

fn finish(session: &Session, prepared: Prepared, options: &Options) -> Result<Output, TemplateError> {
    let rendered = prepared.render(session)?;
    let crds = if options.include_crds { definitions(&prepared.chart, prepared.chart.name()) } else { Vec::new() };
    let texts: Vec<(&str, std::borrow::Cow<'_, str>)> = rendered
        .files
        .iter()
        .filter(|(path, _)| !path.ends_with("NOTES.txt"))
        .map(|(path, rope)| (path.as_str(), String::from_utf8_lossy(&rope.bytes)))
        .collect();
    let files = texts.iter().map(|(path, text)| (*path, text.as_ref()));
    let manifests = manifest::sort(files, &rendered.holes, &session.limits);
    let mut manifests = manifests.map_err(|broken| broken_manifest(broken, &texts))?;
    manifests.as_of(options.helm);
    drop(texts);
    let mut warnings: Vec<String> = prepared.warnings.iter().map(ToString::to_string).collect();
    for hook in &manifests.unknown_hooks {
        warnings.push(options.helm.unknown_hook(hook));
    }
    Ok(Output { chart: prepared.chart, manifests, crds, warnings })
}

/// The error for rendered files of which one is not valid YAML.
pub(crate) fn broken_manifest(broken: manifest::Broken, texts: &[(&str, std::borrow::Cow<'_, str>)]) -> TemplateError {
    let filled = texts.iter().filter(|(_, text)| !text.trim().is_empty());
    let text: String = filled.map(|(path, text)| format!("---\n# Source: {path}\n{text}\n")).collect();
    TemplateError { rendered: Some(text), rule: Some(&rules::MANIFEST), ..TemplateError::rendering(broken.helm_text()) }
}

/// The custom resource definitions of a chart and of those inside it.
pub(crate) fn definitions(chart: &Chart, path: &str) -> Vec<(String, String)> {
    let is_manifest = |name: &str| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    let own = chart.files.iter().filter(|file| file.name.starts_with("crds/") && is_manifest(&file.name));
    let mut found: Vec<(String, String)> =
        own.map(|file| (format!("{path}/{}", file.name), String::from_utf8_lossy(&file.bytes).into_owned())).collect();
    for child in &chart.dependencies {
        found.extend(definitions(child, &format!("{path}/charts/{}", child.name())));
    }
    found
}

fn is_test(document: &Document) -> bool {
    document.events.iter().any(|event| event == "test" || event == "test-success")
}

impl Output {
    /// The text `helm template` prints.
    pub fn text(&self, options: &Options) -> Result<String, String> {
        let mut body = String::new();
        for (path, text) in &self.crds {
            let _ = write!(body, "---\n# Source: {path}\n{text}\n");
        }
        for document in &self.manifests.resources {
            let _ = write!(body, "---\n# Source: {}\n{}\n", document.path, document.text);
        }
        let mut out = String::with_capacity(body.len() + 1);
        let _ = writeln!(out, "{}", body.trim());
        if !options.no_hooks {
            for hook in &self.manifests.hooks {
                if options.skip_tests && is_test(hook) {
                    continue;
                }
                let _ = write!(out, "---\n# Source: {}\n{}\n", hook.path, hook.text);
            }
        }
        if options.show_only.is_empty() {
            return Ok(out);
        }
        show_only(&out, &options.show_only, options.helm)
    }
}

/// Only the documents whose path matches one of the globs.
fn show_only(text: &str, wanted: &[String], helm: &Helm) -> Result<String, String> {
    let mut pieces = manifest::split(text);
    if helm.trims_documents {
        pieces.iter_mut().for_each(|(_, piece)| *piece = piece.trim_end());
    }
    let mut out = String::new();
    for wanted in wanted {
        let glob = Glob::read(wanted, Notation::GO);
        let mut found = false;
        for (_, piece) in &pieces {
            let source = piece.lines().find_map(|line| line.split_once("# Source: "));
            let path = source.and_then(|(_, path)| path.split_once('/')).map(|(_, path)| path);
            if path.is_some_and(|path| glob.as_ref().is_some_and(|glob| glob.matches(path))) {
                found = true;
                let _ = write!(out, "---\n{piece}\n");
            }
        }
        if !found {
            return Err(format!("could not find template {wanted} in chart"));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_secrets_of_their_own() {
        let release = |name: &str| Release {
            name: name.to_owned(),
            namespace: "default".to_owned(),
            name_from: Origin::NONE,
            namespace_from: Origin::NONE,
            upgrade: false,
            revision: 1,
        };
        let drawn = |seed: Seed| [seed_of(seed, &release("blue")), seed_of(seed, &release("green"))];
        let [blue, green] = drawn(Seed::secret([1; 32]));
        assert_ne!(blue, green);
        let [blue, green] = drawn(Seed::from(1));
        assert_eq!(blue, green, "what is only looked at can be compared");
    }
}
