//! Changes `inspect … add` and `modify` make to files: only the documents concerned, comments kept.
//!
//! Gives back new texts, or configurations; writing them is the caller's business.

use crate::editions::LATEST;
use crate::environment::{self, KINDS};
use crate::item::{Data, Form, Item, View};
use crate::load::File;
use crate::rewrite;
use crate::walk::Config;
use purlin_syntax::what;
use purlin_syntax::{Flavor, Span};
use purlin_value::Session;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A file's path and its new text.
pub type NewText = (String, String);

/// Why a change is not made.
pub struct Refusal {
    /// The code tools look for.
    pub code: &'static str,
    /// The problem and its solution.
    pub message: String,
}

fn refusal(code: &'static str, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into() }
}

/// Settings of a build environment.
pub struct Environment<'a> {
    /// `local`, `googleCloudBuild` or `cluster`.
    pub kind: &'a str,
    /// Settings by flag, as given on the command line.
    pub settings: &'a [(String, String)],
    /// The profile to change; the configuration itself if `None`.
    pub profile: Option<&'a str>,
    /// The kind of change.
    pub change: Change,
}

/// Whether an environment is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It must not be there with any setting.
    Add,
    /// It must be there everywhere.
    Modify,
    /// Only an existing one is changed.
    ModifyExisting,
}

/// Adds or changes a build environment in the configurations of a run.
pub fn build_environment(configs: &[Config<'_>], wanted: &Environment<'_>) -> Result<Vec<NewText>, Refusal> {
    let mut edits = Edits::default();
    let mut found = wanted.change == Change::Add || wanted.profile.is_none();
    // Without a profile only the files the user named are changed; the files they require have other owners.
    let concerned = |config: &&Config<'_>| !config.is_remote && (wanted.profile.is_some() || !config.is_dependency);
    for config in configs.iter().filter(concerned) {
        let Some(document) = config.file.documents.get(config.index) else { continue };
        let mut item = document.item.clone();
        let has_profile = wanted.profile.is_some_and(|name| profile_at(&item, name).is_some());
        if wanted.change != Change::Add && wanted.profile.is_some() && !has_profile {
            continue;
        }
        found = true;
        if set_environment(&mut item, wanted, &config.file.path)? {
            edits.push(&config.file, config.index, item);
        }
    }
    if !found {
        let name = wanted.profile.unwrap_or_default();
        let message = format!("no configuration has a profile `{name}` to modify; use `add` to create it");
        return Err(refusal("INSPECT_PROFILE_NOT_FOUND_ERR", message));
    }
    Ok(edits.finish())
}

/// Changes one configuration. False if it needs no change.
fn set_environment(item: &mut Item<'_>, wanted: &Environment<'_>, file: &str) -> Result<bool, Refusal> {
    let kind = wanted.kind;
    // A profile's cluster starts from the configuration's own, since it takes the place of all of it.
    let base = item.view().at(&["build", kind]).filter(|_| kind == "cluster").map(View::to_item);
    let target = match wanted.profile {
        None => &mut *item,
        Some(name) => profile_named(item, name),
    };
    let build = target.view().get("build");
    let place = match wanted.profile {
        None => format!("in `{file}`"),
        Some(name) => format!("in profile `{name}` in `{file}`"),
    };
    match wanted.change {
        Change::Add if build.is_some_and(|build| environment::is_used(build, kind)) => {
            let message = format!("a `{kind}` build environment already exists {place}");
            let hint = "use `modify` to change it, or `--profile NAME` to add one to a new profile";
            return Err(refusal("INSPECT_BUILD_ENV_ALREADY_EXISTS_ERR", format!("{message}; {hint}")));
        }
        Change::Modify if build.and_then(|build| build.get(kind)).is_none() => {
            let message = format!("there is no `{kind}` build environment {place}; use `add` to create it");
            return Err(refusal("INSPECT_BUILD_ENV_INCORRECT_TYPE_ERR", message));
        }
        Change::ModifyExisting if build.and_then(|build| build.get(kind)).is_none() => return Ok(false),
        _ => {}
    }
    let build = target.slot("build");
    for other in KINDS.iter().filter(|other| **other != kind) {
        build.take(other);
    }
    if let Some(base) = base.filter(|_| wanted.profile.is_some()) {
        build.set(kind, base);
    }
    environment::set(build.slot(kind), kind, wanted.settings).map_err(|why| refusal("INSPECT_UNKNOWN_ERR", why))?;
    if let Some(name) = wanted.profile.filter(|_| wanted.change == Change::Add && kind != "local") {
        activate_in_requirements(item, name);
    }
    Ok(true)
}

/// Passes a new profile on to the local configurations that are required, where it was created as well.
fn activate_in_requirements(item: &mut Item<'_>, name: &str) {
    let Some(requires) = item.get_mut("requires").filter(|list| list.view().form() == Form::List) else { return };
    for dependency in requires.list().iter_mut().filter(|dependency| dependency.view().get("git").is_none()) {
        let active = dependency.slot("activeProfiles").list();
        let known = active.iter_mut().find(|profile| profile.view().text_of("name") == name);
        match known {
            Some(profile) => {
                let by = profile.slot("activatedBy").list();
                if !by.iter().any(|known| known.view().text() == name) {
                    by.push(Item::text(name));
                }
            }
            None => {
                let mut profile = Item::single("name", Item::text(name));
                profile.set("activatedBy", Item::texts([name]));
                active.push(profile);
            }
        }
    }
}

fn profile_at(item: &Item<'_>, name: &str) -> Option<usize> {
    let mut profiles = item.view().get("profiles").into_iter().flat_map(View::items);
    profiles.position(|profile| profile.text_of("name") == name)
}

/// The profile of this name, created if missing.
fn profile_named<'a, 'f>(item: &'a mut Item<'f>, name: &str) -> &'a mut Item<'f> {
    let known = profile_at(item, name);
    let profiles = item.slot("profiles").list();
    let at = known.unwrap_or_else(|| {
        profiles.push(Item::single("name", Item::text(name)));
        profiles.len() - 1
    });
    &mut profiles[at]
}

/// Adds the dependencies of a JSON file to every configuration of a run that is not remote.
pub fn dependencies(
    configs: &[Config<'_>],
    path: &str,
    text: &str,
    session: &Session,
) -> Result<Vec<NewText>, Refusal> {
    let source = session.sources.insert(path, text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let list = tree.root().and_then(|root| root.get("dependencies").or_else(|| root.get("Dependencies")));
    let Some(list) = list.filter(|list| list.is_list()) else {
        return Err(refusal("INSPECT_UNKNOWN_ERR", what::lacking(format!("`{path}`"), "list", "dependencies")));
    };
    let mut edits = Edits::default();
    for config in configs.iter().filter(|config| !config.is_remote) {
        let Some(document) = config.file.documents.get(config.index) else { continue };
        let mut item = document.item.clone();
        item.slot("requires").list().extend(list.items().map(dependency));
        edits.push(&config.file, config.index, item);
    }
    Ok(edits.finish())
}

/// One dependency; a remote source always states whether its copy is updated.
fn dependency<'f>(node: purlin_syntax::Node<'_>) -> Item<'f> {
    let mut item = detached(node);
    for source in ["git", "googleCloudStorage", "googleCloudBuildRepoV2"] {
        if let Some(section) = item.get_mut(source)
            && section.view().get("sync").is_none()
        {
            section.set("sync", Data::Bool(false).into());
        }
    }
    item
}

/// Sets the job manifest of checks and actions by name, from a JSON file of the form `… list` prints.
pub fn job_manifest_paths(
    configs: &mut [Config<'_>],
    path: &str,
    text: &str,
    session: &Session,
) -> Result<(), Refusal> {
    let source = session.sources.insert(path, text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let Some(root) = tree.root().filter(|root| root.is_map()) else {
        return Err(refusal("INSPECT_UNKNOWN_ERR", format!("`{path}` holds no JSON object")));
    };
    for config in configs {
        for (key, section) in [("verifyJobManifestPaths", "verify"), ("customActionJobManifestPaths", "customActions")]
        {
            let Some(paths) = root.get(key) else { continue };
            let list = config.item.get_mut(section).filter(|list| list.view().form() == Form::List);
            for entry in list.into_iter().flat_map(|list| list.list().iter_mut()) {
                let Some(path) = paths.get(&entry.view().text_of("name")) else { continue };
                let mode = entry.slot("executionMode").slot("kubernetesCluster");
                mode.set("jobManifestPath", Item::text(path.eco_text()));
            }
        }
    }
    Ok(())
}

/// A copy that does not borrow from its tree.
fn detached<'f>(node: purlin_syntax::Node<'_>) -> Item<'f> {
    let view = View::Node(node);
    match view.form() {
        Form::Map => {
            let mut item = Item::empty_map();
            for pair in view.entries() {
                if let View::Node(value) = pair.value {
                    item.set(pair.key, detached(value));
                }
            }
            item
        }
        Form::List => Data::list(node.items().map(detached).collect()).into(),
        Form::Null | Form::Broken => Data::Null.into(),
        Form::Scalar => match (node.as_bool(), node.as_int()) {
            (Some(value), _) => Data::Bool(value).into(),
            (_, Some(value)) => Data::Int(value).into(),
            _ => Item::text(node.eco_text()),
        },
    }
}

/// Changed documents, by file.
#[derive(Default)]
struct Edits<'f> {
    files: BTreeMap<String, Edited<'f>>,
}

/// A file and its new contents.
struct Edited<'f> {
    file: Rc<File<'f>>,
    changes: Vec<(Span, String)>,
}

impl<'f> Edits<'f> {
    fn push(&mut self, file: &Rc<File<'f>>, index: usize, item: Item<'f>) {
        let Some(document) = file.documents.get(index) else { return };
        let root = document.root;
        let mut text = rewrite::document(root, &item, LATEST);
        let extent = rewrite::extent(root);
        if !file.source.slice(extent).ends_with('\n') {
            text.truncate(text.trim_end_matches('\n').len());
        }
        let fresh = || Edited { file: file.clone(), changes: Vec::new() };
        self.files.entry(file.path.to_string()).or_insert_with(fresh).changes.push((extent, text));
    }

    fn finish(self) -> Vec<NewText> {
        let new = |(path, edited): (String, Edited<'f>)| {
            let text = rewrite::replace(edited.file.source.text(), edited.changes);
            (path, text)
        };
        self.files.into_iter().map(new).collect()
    }
}
