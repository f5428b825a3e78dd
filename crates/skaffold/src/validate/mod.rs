//! Preconditions for using a configuration: each problem is reported once, at its own location.
//!
//! Runs on configurations with profiles and defaults. Structure comes from the table; the other rules each have a
//! function. It must not change anything.

mod build;
mod run;
mod slips;
mod structure;
mod tags;

pub(crate) use slips::unused_images;

use crate::again::{self, Judgement, Marks, Spot};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::glob::Finder;
use crate::item::View;
use crate::walk::Config;
use crate::{artifacts, glob};
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, Hint, Rule, Sink, Span, suggest};
use purlin_value::world::{FileKind, Stat};
use purlin_value::{FastSet, Session, WorldError, path};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Which rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Checks of the configuration itself.
    Configuration,
    /// Also that the manifests it names exist, and its tags can be made.
    Manifests,
    /// The same; a pattern without matches is no error yet.
    Project,
}

/// Source of image tags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tags {
    /// They are made by the policies of the configurations.
    Made,
    /// One tag given for all of them: policies are not used.
    Named,
}

/// An image as variables of templates name it.
fn variable_name(image: &str) -> String {
    image.replace(['.', '-', '/', ':'], "_")
}

/// A check of one configuration.
struct Check<'a, 'f> {
    config: &'a Config<'f>,
    sink: &'a Sink,
    /// The images that artifacts of all configurations build, in the order of their names: hints name the first of
    /// several that are equally near.
    built: &'a BTreeSet<String>,
    /// Those that artifacts of profiles build.
    profile_images: &'a BTreeSet<String>,
    /// Both as named by template variables, computed on first use.
    variable_names: &'a OnceCell<FastSet<String>>,
    /// The names of the profiles of all configurations.
    profiles: &'a BTreeSet<String>,
}

impl Check<'_, '_> {
    /// Whether a profile builds an image, active or not.
    fn in_profile(&self, image: &str) -> bool {
        self.profile_images.contains(image)
    }

    /// Whether an image is built, by its name in template variables.
    fn has_variable(&self, image: &str) -> bool {
        let all = || self.built.iter().chain(self.profile_images).map(|image| variable_name(image)).collect();
        self.variable_names.get_or_init(all).contains(image)
    }

    /// What other variants of the project have found out about parts of the configuration.
    fn marks(&self) -> Option<&Marks> {
        self.config.file.known.as_deref().map(|known| &known.marks)
    }

    /// Where the configuration's relative paths start.
    fn spot(&self) -> Spot {
        (self.config.number(), self.config.is_dependency)
    }

    fn stat(&self, session: &Session, full: &str) -> Result<Stat, WorldError> {
        again::stat(self.marks(), session, full)
    }

    fn exists(&self, session: &Session, full: &str) -> bool {
        self.stat(session, full).is_ok()
    }

    fn report(&self, rule: &'static Rule, span: Option<Span>, message: impl Into<Message>) {
        self.push(Diagnostic::at(rule, span.unwrap_or(self.config.span), message));
    }

    /// Adds the module of a problem if the file holds several.
    fn push(&self, mut diagnostic: Diagnostic) {
        let name = &self.config.name;
        if self.config.file.documents.len() > 1 && !name.is_empty() {
            diagnostic.message.push_str(&format!(" (module `{name}`)"));
        }
        self.sink.push(diagnostic);
    }
}

/// Checks all configurations. True if there are no errors.
pub fn validate(session: &Session, configs: &[Config<'_>], scope: Scope, tags: Tags) -> bool {
    session.sink.succeeds(|| check_all(session, configs, scope, tags)).1
}

fn check_all(session: &Session, configs: &[Config<'_>], scope: Scope, tags: Tags) {
    let sink = &session.sink;
    let built = built(configs);
    let (none, variable_names) = (BTreeSet::new(), OnceCell::new());
    for config in configs {
        let check = Check {
            config,
            sink,
            built: &built,
            profile_images: &none,
            variable_names: &variable_names,
            profiles: &none,
        };
        structure::section(&check, config.item.view(), &SKAFFOLD_CONFIG);
        build::check(&check);
        run::check(&check);
        if scope != Scope::Configuration && tags == Tags::Made {
            tags::check(&check, session);
        }
        if scope != Scope::Configuration && !config.is_remote {
            manifests(&check, scope, session);
        }
        if scope == Scope::Project && !config.is_remote {
            folders(&check, config.item.view(), session);
        }
    }
    let all = artifacts::collect(configs);
    build::unique_images(configs, &all, sink);
    run::unique_names(configs, sink);
    if let Some(first) = configs.first() {
        artifacts::check(configs, &all, sink, first.span);
    }
}

/// Warns of likely mistakes that Skaffold reports only when it builds or deploys, or never.
pub fn suspicious(session: &Session, configs: &[Config<'_>]) {
    let (built, profile_images, profiles) = (built(configs), slips::profile_images(configs), slips::profiles(configs));
    let has_sources = configs.iter().any(|config| has_context(config, session));
    let variable_names = &OnceCell::new();
    for config in configs.iter().filter(|config| !config.is_remote) {
        let (sink, profile_images, profiles) = (&session.sink, &profile_images, &profiles);
        let check = Check { config, sink, built: &built, profile_images, variable_names, profiles };
        slips::check(&check, session);
        // Where no context is there at all, the sources are kept elsewhere.
        if has_sources {
            contexts(&check, session);
        }
    }
}

/// Whether the context of some artifact is there.
fn has_context(config: &Config<'_>, session: &Session) -> bool {
    let artifacts = config.item.view().at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    let mut contexts = artifacts.map(|artifact| artifact.get("context").map(|context| context.text()));
    let marks = config.file.known.as_deref().map(|known| &known.marks);
    let is_there = |path: &str| again::stat(marks, session, &crate::render::from_file(config, path)).is_ok();
    contexts.any(|context| context.is_none_or(|path| is_there(&path)))
}

fn built(configs: &[Config<'_>]) -> BTreeSet<String> {
    let artifacts = configs.iter().filter_map(|config| config.item.view().at(&["build", "artifacts"]));
    artifacts.flat_map(View::items).map(|artifact| artifact.text_of("image").into_owned()).collect()
}

/// A path that is close to an existing one: its first missing part is corrected.
fn near_path(check: &Check<'_, '_>, session: &Session, path: &str) -> Option<String> {
    match check.marks() {
        Some(marks) => marks.near(check.spot(), path, || corrected(check, session, path)),
        None => corrected(check, session, path),
    }
}

fn corrected(check: &Check<'_, '_>, session: &Session, path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let mut known = String::new();
    let mut parts = path.split('/');
    for part in parts.by_ref() {
        let next = if known.is_empty() { part.to_owned() } else { format!("{known}/{part}") };
        if part.is_empty() || check.exists(session, &crate::render::from_file(check.config, &next)) {
            known = next;
            continue;
        }
        let folder = crate::render::from_file(check.config, if known.is_empty() { "." } else { &known });
        let listing = session.listed(&folder);
        let near = suggest::nearest(part, listing.names())?;
        let rest = parts.map(|part| format!("/{part}")).collect::<String>();
        let front = if known.is_empty() { String::new() } else { format!("{known}/") };
        return Some(format!("{front}{near}{rest}"));
    }
    None
}

/// Named folders must exist: kustomizations, charts, and build contexts.
fn folders(check: &Check<'_, '_>, view: View<'_, '_>, session: &Session) {
    let missing = |named: View<'_, '_>| {
        let text = named.text();
        let is_plain = !text.is_empty() && !text.contains(['{', '$']) && !crate::paths::is_address(&text);
        let stat = || check.stat(session, &crate::render::from_file(check.config, &text));
        (is_plain && matches!(stat(), Err(WorldError::NotFound)))
            .then(|| (text.to_string(), named.span().unwrap_or(check.config.span)))
    };
    let near = |path: &str| near_path(check, session, path).map(|near| Hint::meant(path, near));
    let hint = |path: &str| {
        let further_up =
            run_in(check, |full| check.exists(session, full), path).map(|folder| run_there(&folder).into());
        let fallback = || "correct the path; it starts at the folder of `skaffold.yaml`".into();
        further_up.or_else(|| near(path)).unwrap_or_else(fallback)
    };
    let kustomizations = kustomizations(view).filter_map(missing).map(|found| ("kustomization", found));
    let charts = charts(view).filter_map(missing).map(|found| ("chart", found));
    let all: Vec<_> = kustomizations.chain(charts).collect();
    let runs_above = !all.is_empty() && runs_above(check, session);
    for (what, (path, span)) in all {
        let is_above = || run_in(check, |full| check.exists(session, full), &path).is_some();
        if !(runs_above && is_above()) {
            let message = format!("no {what} is found at `{path}`");
            check.push(Diagnostic::at(&crate::rules::MANIFEST, span, message).warning().hint(hint(&path)));
        }
    }
    let artifacts = view.at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    for artifact in artifacts {
        again::judge(check.marks(), Judgement::Folder(check.spot()), artifact, check.sink, || {
            // A similar name is a misspelling, whatever else is wrong.
            let lost = artifact.get("context").and_then(missing);
            if let Some((hint, (path, span))) = lost.and_then(|lost| Some((near(&lost.0)?, lost))) {
                check.push(no_folder(&path, span).hint(hint));
            }
        });
    }
}

fn no_folder(path: &str, span: Span) -> Diagnostic {
    Diagnostic::at(&crate::rules::FILE, span, format!("the folder `{path}` does not exist")).warning()
}

/// Build contexts that do not exist. Those with a similar name are reported with the folders.
fn contexts(check: &Check<'_, '_>, session: &Session) {
    let artifacts = check.config.item.view().at(&["build", "artifacts"]).into_iter().flat_map(View::items);
    for artifact in artifacts {
        let question = Judgement::Context(check.spot());
        again::judge(check.marks(), question, artifact, check.sink, || context(check, session, artifact));
    }
}

fn context(check: &Check<'_, '_>, session: &Session, artifact: View<'_, '_>) {
    if let Some(context) = artifact.get("context") {
        let path = context.text();
        let is_plain = !path.is_empty() && !path.contains(['{', '$']) && !crate::paths::is_address(&path);
        let stat = || check.stat(session, &crate::render::from_file(check.config, &path));
        let is_above = || run_in(check, |full| check.exists(session, full), &path).is_some();
        let is_missing = is_plain && matches!(stat(), Err(WorldError::NotFound)) && !is_above();
        if is_missing && near_path(check, session, &path).is_none() {
            let hint = "correct the path; it starts at the folder of `skaffold.yaml`";
            check.push(no_folder(&path, context.span().unwrap_or(check.config.span)).hint(hint));
        }
    }
}

/// The build contexts that are no folders, of the images that are to be built. Nothing is tagged or built then.
pub fn missing_contexts(
    session: &Session,
    configs: &[Config<'_>],
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    for config in configs.iter().filter(|config| !config.is_remote) {
        let artifacts = config.item.view().at(&["build", "artifacts"]).into_iter().flat_map(View::items);
        for artifact in artifacts.filter(|artifact| is_wanted(&artifact.text_of("image"))) {
            let Some(context) = artifact.get("context").filter(|context| !context.text().is_empty()) else { continue };
            let (path, image) = (context.text(), artifact.text_of("image"));
            let problem = match session.world.stat(&crate::render::from_file(config, &path)) {
                Ok(stat) if stat.kind == FileKind::Folder => continue,
                Ok(_) => "is not a folder",
                Err(WorldError::NotFound) => "does not exist",
                Err(_) => continue,
            };
            let message = format!("the context `{path}` of the image `{image}` {problem}");
            let span = context.span().unwrap_or(config.span);
            let hint = "correct the path; it starts at the folder of `skaffold.yaml`";
            problems.push(Diagnostic::at(&crate::rules::FILE, span, message).hint(hint));
        }
    }
    problems
}

/// The sections that configure deployment.
const DEPLOYED: [&str; 2] = ["manifests", "deploy"];

/// The folders of kustomizations that a configuration names.
fn kustomizations<'v, 'f>(view: View<'v, 'f>) -> impl Iterator<Item = View<'v, 'f>> {
    let paths = move |section| view.at(&[section, "kustomize", "paths"]);
    DEPLOYED.into_iter().filter_map(paths).flat_map(View::items)
}

/// The charts in this repository that a configuration names.
fn charts<'v, 'f>(view: View<'v, 'f>) -> impl Iterator<Item = View<'v, 'f>> {
    let releases = move |section| view.at(&[section, "helm", "releases"]);
    let releases = DEPLOYED.into_iter().filter_map(releases).flat_map(View::items);
    releases.filter(|release| release.get("repo").is_none()).filter_map(|release| release.get("chartPath"))
}

/// Whether a configuration is meant to run in a folder above its own: only `-f` finds a file that is not called
/// `skaffold.yaml`, and more of its paths exist relative to a folder further up, and none are lost.
fn runs_above(check: &Check<'_, '_>, session: &Session) -> bool {
    if crate::dialect::is_usual(path::file_name(&check.config.file.path)) {
        return false;
    }
    let view = check.config.item.view();
    let manifests = view.at(&["manifests", "rawYaml"]).into_iter().flat_map(View::items);
    let named = kustomizations(view).chain(charts(view)).chain(manifests).map(|named| named.text().to_string());
    let named: Vec<String> = named.filter(|text| !text.contains(['{', '$']) && starts_where_it_runs(text)).collect();
    let finder = Finder::kept(session, check.config.span);
    let is_there = |full: &str| session.world.exists(full) || !glob::manifests(finder, full).is_empty();
    let here: Vec<&String> =
        named.iter().filter(|text| is_there(&crate::render::from_file(check.config, text))).collect();
    let is_better = |folder: String| {
        let found = |text: &String| is_there(&path::join(&folder, text));
        here.iter().all(|text| found(text)) && named.iter().filter(|text| found(text)).count() > here.len()
    };
    folders_above(check).any(is_better)
}

/// Whether a path may be relative to another folder than that of its file.
fn starts_where_it_runs(text: &str) -> bool {
    !text.is_empty() && !path::is_absolute(text) && !text.starts_with("..") && !crate::paths::is_address(text)
}

/// The folders above a configuration in which Skaffold may run. Paths of a configuration that is not required by others
/// are relative to the working folder, and `-f` names files further down.
fn folders_above(check: &Check<'_, '_>) -> impl Iterator<Item = String> {
    let base = check.config.base.as_ref().filter(|_| !check.config.is_dependency);
    let is_below = |folder: &String| folder != "." && !folder.starts_with("..") && !path::is_absolute(folder);
    let up = move |folder: &String| is_below(folder).then(|| path::normalize(path::parent(folder)));
    std::iter::successors(base.map(|base| path::normalize(base)), up).skip(1)
}

/// The first of them in which a path exists.
fn run_in(check: &Check<'_, '_>, is_there: impl Fn(&str) -> bool, text: &str) -> Option<String> {
    if !starts_where_it_runs(text) {
        return None;
    }
    folders_above(check).find(|folder| is_there(&path::join(folder, text)))
}

fn run_there(folder: &str) -> String {
    let place = if folder == "." { "the top of the repository".to_owned() } else { format!("`{folder}`") };
    format!("it is found if Skaffold runs in {place}, with `-f` naming this file")
}

/// Each pattern of raw manifests must have a match.
fn manifests(check: &Check<'_, '_>, scope: Scope, session: &Session) {
    let world = session.world.as_ref();
    let list = check.config.item.view().at(&["manifests", "rawYaml"]);
    let patterns: Vec<_> = list.into_iter().flat_map(crate::item::View::items).collect();
    if patterns.len() == 1 && patterns.iter().all(|pattern| pattern.text() == crate::render::DEFAULT_MANIFESTS) {
        return;
    }
    let mut above: Vec<(Diagnostic, String)> = Vec::new();
    for pattern in patterns {
        let text = pattern.text();
        if crate::paths::is_address(&text) || text.contains("{{") {
            continue;
        }
        let full = crate::render::from_file(check.config, &text);
        let span = pattern.span().unwrap_or(check.config.span);
        if world.stat(&full).is_ok_and(|stat| stat.kind == FileKind::Folder) {
            let message = format!("`{text}` is a folder, from which Skaffold reads no manifests");
            let hint = format!("write `{}/*` for all files in it", text.trim_end_matches('/'));
            check.push(Diagnostic::at(&crate::rules::MANIFEST, span, message).warning().hint(hint));
            continue;
        }
        let finder = Finder::kept(session, span);
        if glob::manifests(finder, &full).is_empty() {
            let message = format!("no manifest is found at `{text}`");
            let problem = Diagnostic::at(&crate::rules::MANIFEST, span, message);
            let is_there = |full: &str| !glob::manifests(finder, full).is_empty();
            if scope == Scope::Project
                && let Some(folder) = run_in(check, is_there, &text)
            {
                above.push((problem, folder));
                continue;
            }
            let is_left_out = || session.is_left_out(&full);
            let is_pattern = text.contains(['*', '?', '[']);
            let may_come = scope == Scope::Project && (is_pattern || is_left_out());
            let near = (scope == Scope::Project).then(|| near_path(check, session, &text)).flatten();
            let near = near.filter(|near| is_there(&crate::render::from_file(check.config, near)));
            let hint = match near {
                Some(near) => Hint::meant(text.as_ref(), near),
                None if text.contains('{') && !glob::expand(finder, &full).is_empty() => {
                    "name each file: braces mean themselves in Skaffold's patterns".into()
                }
                None if may_come && is_left_out() => {
                    "`.gitignore` names it, so it has to be made first, or come from somewhere else".into()
                }
                None if may_come => {
                    "correct the pattern, or add the manifests; it starts at the folder of `skaffold.yaml`".into()
                }
                None => "correct the path; it starts at the folder of `skaffold.yaml`".into(),
            };
            check.push(if may_come { problem.warning().hint(hint) } else { problem.hint(hint) });
        }
    }
    let more = above.len().saturating_sub(1);
    if let Some((mut problem, folder)) = above.into_iter().next().filter(|_| !runs_above(check, session)) {
        match more {
            0 => {}
            1 => problem.message.push_str(", nor at one more path"),
            more => problem.message.push_str(&format!(", nor at {more} more paths")),
        }
        check.push(problem.warning().hint(run_there(&folder)));
    }
}
