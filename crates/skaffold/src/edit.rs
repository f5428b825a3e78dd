//! Changes `inspect … add` and `modify` make to files: only the documents concerned, comments kept.
//!
//! Gives back new texts; writing them is the caller's business.

use crate::editions::LATEST;
use crate::entities::{Entity, Shape, build};
use crate::item::{Data, Form, Item, View};
use crate::load::File;
use crate::walk::Config;
use crate::{rewrite, rules};
use purlin_syntax::{Diagnostic, Flavor, Sink, Span};
use purlin_value::Session;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A file's path and its new text.
pub type NewText = (String, String);

/// What is set in a build environment.
pub struct Environment<'a> {
    /// `local`, `googleCloudBuild` or `cluster`.
    pub kind: &'a str,
    /// Settings by key, as given on the command line.
    pub settings: &'a [(String, String)],
    /// The profile that gets it; the configuration itself if `None`.
    pub profile: Option<&'a str>,
    /// Whether it must exist already.
    pub modify: bool,
}

/// The table of a build environment's settings.
pub fn environment_entity(kind: &str) -> Option<&'static Entity> {
    match kind {
        "local" => Some(&build::LOCAL_BUILD),
        "googleCloudBuild" => Some(&build::GOOGLE_CLOUD_BUILD),
        "cluster" => Some(&build::CLUSTER_DETAILS),
        _ => None,
    }
}

/// Adds or changes a build environment in the configurations of a run. `None` if it cannot be, which is reported.
pub fn build_environment(configs: &[Config<'_>], wanted: &Environment<'_>, sink: &Sink) -> Option<Vec<NewText>> {
    let mut edits = Edits::default();
    for config in configs {
        // Without a profile only the files the user named are changed; those they require are somebody else's.
        if (wanted.profile.is_none() && config.is_dependency) || config.is_remote {
            continue;
        }
        let document = config.file.documents.get(config.index)?;
        let mut item = document.item.clone();
        let target = match wanted.profile {
            None => &mut item,
            Some(name) => profile_named(&mut item, name),
        };
        if !set_environment(target, wanted, config, sink) {
            return None;
        }
        edits.push(&config.file, config.index, item);
    }
    Some(edits.finish())
}

fn set_environment(target: &mut Item<'_>, wanted: &Environment<'_>, config: &Config<'_>, sink: &Sink) -> bool {
    let existing = target.view().at(&["build", wanted.kind]).is_some();
    if existing != wanted.modify {
        let (what, hint) = if existing {
            ("exists already", "use `modify`, or put the new one into a profile with `--profile`")
        } else {
            ("does not exist", "use `add` to create it")
        };
        let message = format!("a \"{}\" build environment {what} in `{}`", wanted.kind, config.file.path);
        sink.push(Diagnostic::at(&rules::VALUE, config.span, message).hint(hint));
        return false;
    }
    let Some(entity) = environment_entity(wanted.kind) else { return false };
    let section = target.slot("build");
    if !wanted.modify {
        for other in ["local", "googleCloudBuild", "cluster"] {
            section.take(other);
        }
    }
    let section = section.slot(wanted.kind);
    section.map();
    for (key, text) in wanted.settings {
        let Some(row) = entity.field(key, LATEST) else { continue };
        section.set(key, typed(text, row.shape));
    }
    true
}

fn typed<'f>(text: &str, shape: Shape) -> Item<'f> {
    match (shape, text.parse::<i64>()) {
        (Shape::Bool | Shape::OptBool, _) => Data::Bool(text == "true").into(),
        (Shape::Int | Shape::OptInt, Ok(number)) => Data::Int(number).into(),
        _ => Item::text(text),
    }
}

fn profile_named<'a, 'f>(item: &'a mut Item<'f>, name: &str) -> &'a mut Item<'f> {
    let profiles = item.slot("profiles").list();
    let at = match profiles.iter().position(|profile| profile.view().text_of("name") == name) {
        Some(at) => at,
        None => {
            profiles.push(Item::single("name", Item::text(name)));
            profiles.len() - 1
        }
    };
    &mut profiles[at]
}

/// Adds the dependencies of a JSON file to the configurations of the root file.
pub fn dependencies(configs: &[Config<'_>], path: &str, text: &str, session: &Session) -> Option<Vec<NewText>> {
    let source = session.sources.insert(path, text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let list = tree.root().and_then(|root| root.get("dependencies")).filter(|list| list.is_list());
    let Some(list) = list else {
        let message = format!("`{path}` has no list `dependencies`");
        session.sink.push(Diagnostic::nowhere(&rules::WRONG_TYPE, message));
        return None;
    };
    let mut edits = Edits::default();
    for config in configs.iter().filter(|config| !config.is_dependency) {
        let document = config.file.documents.get(config.index)?;
        let mut item = document.item.clone();
        let requires = item.slot("requires").list();
        requires.extend(list.items().map(detached));
        edits.push(&config.file, config.index, item);
    }
    Some(edits.finish())
}

/// Sets the job manifest of checks and actions by name, from a JSON file of the form `… list` prints.
pub fn job_manifest_paths(configs: &[Config<'_>], path: &str, text: &str, session: &Session) -> Option<Vec<NewText>> {
    let source = session.sources.insert(path, text);
    let tree = session.parse_yaml(source, Flavor::CoreGo);
    let root = tree.root()?;
    let mut edits = Edits::default();
    for config in configs.iter().filter(|config| !config.is_remote) {
        let document = config.file.documents.get(config.index)?;
        let mut item = document.item.clone();
        let mut changed = false;
        for (key, section) in [("verifyJobManifestPaths", "verify"), ("customActionJobManifestPaths", "customActions")]
        {
            let Some(paths) = root.get(key) else { continue };
            let Some(list) = item.get_mut(section).filter(|list| list.view().form() == Form::List) else { continue };
            for entry in list.list().iter_mut() {
                let Some(path) = paths.get(&entry.view().text_of("name")) else { continue };
                let mode = entry.slot("executionMode").slot("kubernetesCluster");
                mode.set("jobManifestPath", Item::text(path.eco_text()));
                changed = true;
            }
        }
        if changed {
            edits.push(&config.file, config.index, item);
        }
    }
    Some(edits.finish())
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
        Form::List => Data::List(node.items().map(detached).collect()).into(),
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

/// A file and what is new in it.
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
