//! Configuration files: reads them, splits them into documents, and classifies each document.

use crate::bind::entry;
use crate::check::check_config;
use crate::entities;
use crate::place::NodeRef;
use crate::rules;
use crate::structure::check_shapes;
use crate::templates::{Strings, Templates};
use purlin_model::schema::Edition;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Node, Sink, Span, Tree, suggest};
use purlin_value::{Session, path};
use std::sync::Arc;

/// The kinds of configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ConfigKind {
    /// The project itself.
    Project,
    /// One of the four kinds of actions.
    Action(ActionKind),
    /// The older form of a group of actions.
    Module,
    /// A list of steps.
    Workflow,
    /// A command of the user's own.
    Command,
    /// A template of configurations.
    ConfigTemplate,
    /// A use of a template.
    RenderTemplate,
}

/// The kinds of actions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ActionKind {
    /// Produces an artifact from source.
    Build,
    /// Deploys something.
    Deploy,
    /// Runs a task once.
    Run,
    /// Runs a test.
    Test,
}

impl ActionKind {
    /// All kinds.
    pub const ALL: [ActionKind; 4] = [ActionKind::Build, ActionKind::Deploy, ActionKind::Run, ActionKind::Test];

    /// As it is written under `kind`.
    pub fn name(self) -> &'static str {
        match self {
            ActionKind::Build => "Build",
            ActionKind::Deploy => "Deploy",
            ActionKind::Run => "Run",
            ActionKind::Test => "Test",
        }
    }

    /// As it is written in keys and references.
    pub fn lower(self) -> &'static str {
        match self {
            ActionKind::Build => "build",
            ActionKind::Deploy => "deploy",
            ActionKind::Run => "run",
            ActionKind::Test => "test",
        }
    }

    /// The kind of a name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }
}

/// The names that `kind` may have.
pub(crate) const KIND_NAMES: &[(&str, ConfigKind)] = &[
    ("Project", ConfigKind::Project),
    ("Build", ConfigKind::Action(ActionKind::Build)),
    ("Deploy", ConfigKind::Action(ActionKind::Deploy)),
    ("Run", ConfigKind::Action(ActionKind::Run)),
    ("Test", ConfigKind::Action(ActionKind::Test)),
    ("Module", ConfigKind::Module),
    ("Workflow", ConfigKind::Workflow),
    ("Command", ConfigKind::Command),
    ("ConfigTemplate", ConfigKind::ConfigTemplate),
    ("ModuleTemplate", ConfigKind::ConfigTemplate),
    ("RenderTemplate", ConfigKind::RenderTemplate),
];

/// Fields that must be known before anything is evaluated.
const NEVER_TEMPLATED: &[&str] = &["apiVersion", "kind", "type", "name"];

/// One document of a configuration file.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its kind.
    pub kind: ConfigKind,
    /// Its mapping.
    pub node: NodeRef,
    /// The file, from the world's root.
    pub file: String,
}

impl Document {
    /// The folder of the file.
    pub fn folder(&self) -> &str {
        path::parent(&self.file)
    }

    /// Where it is, shown at its name if it has one.
    pub fn span(&self) -> Option<Span> {
        self.field("name").and_then(|name| name.span()).or_else(|| self.node.span())
    }

    /// One of its fields. A key of a project that is misspelt was reported as such; it is taken for what was meant, so
    /// that all that depends on it can be looked at.
    pub fn field(&self, key: &str) -> Option<NodeRef> {
        let node = self.node.get()?;
        let found = entry(node, key).or_else(|| self.misspelt(node, key));
        Some(self.node.other(found?))
    }

    fn misspelt<'t>(&self, node: Node<'t>, key: &str) -> Option<Node<'t>> {
        if self.kind != ConfigKind::Project {
            return None;
        }
        let known = entities::SCHEMA.entity(entities::PROJECT)?;
        let means = |written: &str| {
            known.field_or_alias(written, Edition(0)).is_none()
                && suggest::nearest(written, known.fields(Edition(0)).map(|field| field.key)) == Some(key)
        };
        node.entries().find(|entry| means(entry.key.text())).map(|entry| entry.value)
    }

    /// The text of a field that is never templated.
    pub fn plain(&self, key: &str) -> Option<String> {
        let field = self.field(key)?;
        let node = field.get()?;
        node.is_scalar().then(|| node.text().to_owned()).filter(|text| !text.is_empty())
    }
}

/// Contents of a configuration file.
struct Contents {
    documents: Vec<Document>,
    strings: Arc<Strings>,
    problems: Vec<Diagnostic>,
}

impl Contents {
    fn of(tree: &Arc<Tree>, templates: &Templates, file: &str) -> Self {
        let sink = Sink::new();
        let strings = Arc::new(templates.strings(tree, &sink));
        check_shapes(tree, &sink);
        let documents = tree.roots().filter_map(|root| document(&sink, tree, root, file)).collect();
        Contents { documents, strings, problems: sink.into_findings().into_vec() }
    }
}

/// Reads a configuration file, once for all runs that share its text. Problems go to the sink; sound documents are
/// there all the same.
pub fn read_file(session: &Session, templates: &Templates, file: &str, trees: &mut Vec<Arc<Tree>>) -> Vec<Document> {
    let tree = match session.read_yaml(file, Flavor::Core) {
        Ok(tree) => tree,
        Err(diagnostic) => {
            session.sink.push(diagnostic);
            return Vec::new();
        }
    };
    trees.push(tree.clone());
    let contents = session.finding_in(tree.source(), || Contents::of(&tree, templates, file));
    templates.add(&contents.strings);
    session.sink.extend(contents.problems.iter().cloned());
    contents.documents.clone()
}

/// The problems of the documents in one file.
struct Checked(Vec<Diagnostic>);

/// Checks the documents of one file against their rows, once for all runs that share its text.
pub fn check_file(session: &Session, documents: &[Document]) {
    let Some(first) = documents.first() else { return };
    let checked = session.finding_in(first.node.tree().source(), || {
        let sink = Sink::new();
        documents.iter().for_each(|document| check_config(&sink, &document.node, document.kind));
        Checked(sink.into_findings().into_vec())
    });
    session.sink.extend(checked.0.iter().cloned());
}

fn document(sink: &Sink, tree: &Arc<Tree>, root: Node<'_>, file: &str) -> Option<Document> {
    if root.is_null() {
        return None;
    }
    if !root.is_map() {
        // A file that cannot be parsed was reported; problems of its salvaged parts are not.
        if tree.is_sound() {
            let message =
                what::must_be("a configuration", "a map").and(format!(", and this document of `{file}` is none"));
            sink.push(Diagnostic::at(&rules::CONFIG_SHAPE, root.span(), message));
        }
        return None;
    }
    let kind = document_kind(sink, root, file, tree.is_sound())?;
    for field in NEVER_TEMPLATED {
        let Some(value) = root.get(field).filter(|value| crate::expr::is_template(value.text())) else { continue };
        let hint = "write a plain value; use a `ConfigTemplate` for computed names";
        let message = Message::advising(format!("`{field}` cannot be templated"), hint);
        sink.push(Diagnostic::at(&rules::CONFIG_SHAPE, value.span(), message));
        return None;
    }
    if let Some(entry) = root.entry("internal") {
        let message = "`internal` is not a key that users can set";
        sink.push(Diagnostic::at(&rules::CONFIG_SHAPE, entry.key.span(), message));
    }
    Some(Document { kind, node: NodeRef::new(tree, root), file: file.to_owned() })
}

/// The kind of a document. A file that cannot be parsed completely gets no reports of missing keys.
fn document_kind(sink: &Sink, root: Node<'_>, file: &str, is_sound: bool) -> Option<ConfigKind> {
    let Some(kind) = root.get("kind").filter(|kind| kind.is_scalar()) else {
        if !is_sound {
            return None;
        }
        let message = what::missing("", "kind").and(format!(" in a configuration of `{file}`"));
        let place = root.entries().next().map_or(root.span(), |entry| entry.key.span());
        let diagnostic = Diagnostic::at(&rules::CONFIG_KIND, place, message);
        sink.push(diagnostic.hint("say what this is, for example `kind: Run`"));
        return None;
    };
    let found = KIND_NAMES.iter().find(|(name, _)| *name == kind.text());
    if found.is_none() && is_sound {
        let message = what::unknown("kind", kind.text()).and(format!(" in `{file}`"));
        let hint = suggest::did_you_mean(kind.text(), KIND_NAMES.iter().map(|(name, _)| *name));
        sink.push(Diagnostic::at(&rules::CONFIG_KIND, kind.span(), message).maybe_hint(hint));
    }
    found.map(|(_, kind)| *kind)
}
