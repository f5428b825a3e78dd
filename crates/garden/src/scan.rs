//! Scans a project: lists its files, reads every configuration file, and sorts the documents by what they are.

use crate::config::{ActionKind, ConfigKind, Document, read_file};
use crate::entities::{self, SCHEMA};
use crate::files::{FileTree, Selection, is_config_file};
use crate::ground::Ground;
use crate::project::Project;
use crate::rules;
use purlin_model::Reader;
use purlin_model::schema::{Edition, Kind};
use purlin_syntax::Span;
use purlin_value::path::within;
use purlin_value::world::Remote;
use purlin_value::{Session, Value, path};
use std::collections::HashSet;
use std::sync::Arc;

/// Everything a project's files say, unevaluated.
pub struct Scanned {
    /// All files of the project.
    pub files: Arc<FileTree>,
    /// All documents but the project's own, in the order of their files.
    pub documents: Vec<Document>,
}

/// Reads all configuration of a project.
pub fn scan(ground: &Ground<'_>, project: &Project) -> Scanned {
    let scope = project.full_scope();
    let ignore = project.field(ground, "dotIgnoreFile", &scope);
    let files = FileTree::walk(ground.session, &ground.root, ignore.as_str().unwrap_or(".gardenignore"));
    let settings = project.field(ground, "scan", &scope);
    let include = settings.get("include").map(texts);
    let exclude = settings.get("exclude").map(texts).unwrap_or_default();
    let selection = Selection::new(include.as_deref(), &exclude);
    let mut documents = Vec::new();
    for file in files.all().iter().filter(|file| is_config_file(path::file_name(&file.path))) {
        if selection.takes(within(&ground.root, &file.path)) {
            documents.extend(read_once(ground, project, &file.path));
        }
    }
    for folder in remote_sources(ground, project) {
        let remote = FileTree::walk(ground.session, &folder, ".gardenignore");
        for file in remote.all().iter().filter(|file| is_config_file(path::file_name(&file.path))) {
            documents.extend(read_once(ground, project, &file.path));
        }
    }
    documents.retain(|document| document.kind != ConfigKind::Project);
    for document in &documents {
        check_document(ground.session, document);
    }
    Scanned { files: Arc::new(files), documents }
}

/// Files beside the project were read with it.
fn read_once(ground: &Ground<'_>, project: &Project, file: &str) -> Vec<Document> {
    if let Some((_, documents)) = project.nearby.iter().find(|(known, _)| known == file) {
        return documents.clone();
    }
    let mut trees = Vec::new();
    let documents = read_file(ground.session, &ground.templates, file, &mut trees);
    ground.keep_trees(trees);
    documents
}

/// The texts of a list.
pub fn texts(value: &Value) -> Vec<String> {
    value.as_list().unwrap_or(&[]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Folders of the project's remote sources, fetched.
fn remote_sources(ground: &Ground<'_>, project: &Project) -> Vec<String> {
    let sources = project.field(ground, "sources", &project.full_scope());
    let mut folders = Vec::new();
    for source in sources.as_list().unwrap_or(&[]) {
        let Some(address) = source.get("repositoryUrl") else { continue };
        if let Some(url) = address.as_str() {
            folders.extend(fetch(ground, url, ground.span_of(address)));
        }
    }
    folders
}

/// Fetches a repository; the revision stands after `#`.
pub fn fetch(ground: &Ground<'_>, url: &str, span: Option<Span>) -> Option<String> {
    let (address, revision) = url.split_once('#').unwrap_or((url, ""));
    let remote = Remote::Git { address: address.to_owned(), revision: revision.to_owned(), refresh: false };
    match ground.session.world.fetch(&remote) {
        Ok(fetched) => Some(fetched.path),
        Err(error) => {
            ground.session.report_world(&error, url, span);
            None
        }
    }
}

/// The row of a kind of configuration.
fn row(kind: ConfigKind) -> Kind {
    match kind {
        ConfigKind::Project => entities::PROJECT,
        ConfigKind::Action(ActionKind::Build) => entities::BUILD,
        ConfigKind::Action(ActionKind::Deploy) => entities::DEPLOY,
        ConfigKind::Action(ActionKind::Run) => entities::RUN,
        ConfigKind::Action(ActionKind::Test) => entities::TEST,
        ConfigKind::Module => entities::MODULE,
        ConfigKind::Workflow => entities::WORKFLOW,
        ConfigKind::Command => entities::COMMAND,
        ConfigKind::ConfigTemplate => entities::CONFIG_TEMPLATE,
        ConfigKind::RenderTemplate => entities::RENDER_TEMPLATE,
    }
}

/// Checks a document against its row, and the spec of a known type against its own.
fn check_document(session: &Session, document: &Document) {
    let Some(node) = document.node.get() else { return };
    let tree = document.node.tree();
    let reader = Reader { schema: &SCHEMA, edition: Edition(0), tree, sink: &session.sink };
    reader.read(node, row(document.kind));
    if let (ConfigKind::Action(kind), Some(type_name)) = (document.kind, document.plain("type"))
        && let Some(spec) = entities::spec_type(&type_name, kind)
        && let Some(written) = node.get("spec").filter(|spec| spec.is_map())
    {
        reader.read(written, spec.row);
    }
}

/// Reports configurations of one kind that share a name.
pub fn report_duplicates<'d>(ground: &Ground<'_>, what: &str, documents: impl Iterator<Item = &'d Document>) {
    let mut seen: Vec<&Document> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for document in documents {
        let name = document.plain("name").unwrap_or_default();
        if !names.insert(name.clone()) {
            let first = seen.iter().find(|other| other.plain("name").as_deref() == Some(&name));
            let place = first.map(|other| other.file.clone()).unwrap_or_default();
            let message = format!("{what} `{name}` is declared twice, in `{place}` and in `{}`", document.file);
            let mut diagnostic = purlin_syntax::Diagnostic::nowhere(&rules::DUPLICATE, message);
            if let Some(span) = first.and_then(|other| other.span()) {
                diagnostic = diagnostic.label(span, "the first one");
            }
            ground.push(diagnostic, document.span());
        }
        seen.push(document);
    }
}
