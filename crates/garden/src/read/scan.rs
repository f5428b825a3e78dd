//! Scans a project: lists its files, reads every configuration file, and sorts the documents by kind.

use crate::config::{ConfigKind, Document, check_file, read_file};
use crate::files::{FileTree, Selection, is_config_file};
use crate::ground::Ground;
use crate::project::Project;
use crate::remote::{Namer, fetch};
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_syntax::Message;
use purlin_value::path::within;
use purlin_value::{Value, path};
use std::collections::HashSet;
use std::sync::Arc;

/// Files to read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    ignore_file: String,
    include: Option<Vec<String>>,
    exclude: Vec<String>,
    /// Folders of remote sources.
    remote: Vec<String>,
}

/// Contents of a project's files, unevaluated.
pub struct Scanned {
    choice: Choice,
    /// Problems of the files.
    problems: Vec<Diagnostic>,
    /// All files of the project.
    pub files: Arc<FileTree>,
    /// All documents but the project's own, in the order of their files.
    pub documents: Vec<Document>,
    /// The files they are in, and those without any, in the same order.
    pub config_files: Vec<String>,
}

/// Reads all configuration of a project. Files already read for another environment are not read again.
pub fn scan(ground: &Ground<'_>, project: &Project, before: Option<&Arc<Scanned>>) -> Arc<Scanned> {
    let scope = project.full_scope();
    let ignore = project.field(ground, "dotIgnoreFile", &scope);
    let settings = project.field(ground, "scan", &scope);
    let choice = Choice {
        ignore_file: ignore.as_str().unwrap_or(".gardenignore").to_owned(),
        include: settings.get("include").map(texts),
        exclude: settings.get("exclude").map(texts).unwrap_or_default(),
        remote: remote_sources(ground, project),
    };
    if let Some(before) = before.filter(|before| before.choice == choice) {
        ground.session.sink.extend(before.problems.iter().cloned());
        return before.clone();
    }
    let found = ground.session.sink.len();
    let mut scanned = read_all(ground, project, choice);
    scanned.problems = ground.session.sink.since(found);
    Arc::new(scanned)
}

fn read_all(ground: &Ground<'_>, project: &Project, choice: Choice) -> Scanned {
    let files = FileTree::walk(ground.session, &ground.root, &choice.ignore_file);
    let selection = Selection::new(choice.include.as_deref(), &choice.exclude);
    let mut documents = Vec::new();
    let mut config_files = Vec::new();
    for file in files.all().iter().filter(|file| is_config_file(path::file_name(&file.path))) {
        if selection.takes(within(&ground.root, &file.path)) {
            config_files.push(file.path.clone());
            documents.extend(read_once(ground, project, &file.path));
        }
    }
    for folder in &choice.remote {
        let remote = files.remote(ground.session, folder);
        for file in remote.all().iter().filter(|file| is_config_file(path::file_name(&file.path))) {
            config_files.push(file.path.clone());
            documents.extend(read_once(ground, project, &file.path));
        }
    }
    documents.retain(|document| document.kind != ConfigKind::Project && is_read(ground, document));
    for file in documents.chunk_by(|one, next| one.file == next.file) {
        check_file(ground.session, file);
    }
    Scanned { choice, problems: Vec::new(), files: Arc::new(files), documents, config_files }
}

/// Whether Garden reads a document: it looks for commands beside the project only.
fn is_read(ground: &Ground<'_>, document: &Document) -> bool {
    if document.kind != ConfigKind::Command || document.folder() == ground.root {
        return true;
    }
    let name = document.plain("name").unwrap_or_default();
    let message = format!("command `{name}` is not available: commands are read in the project's folder only");
    let diagnostic = Diagnostic::nowhere(&rules::UNREAD_COMMAND, message);
    ground.push(diagnostic.hint("move it to a file beside the project's"), document.span());
    false
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
        let name = source.get("name").and_then(Value::as_str).unwrap_or_default();
        match source.get("repositoryUrl").and_then(|address| fetch(ground, address, Namer::Source(name))) {
            Some(checkout) => folders.push(checkout.folder),
            None => ground.miss_source(),
        }
    }
    folders
}

/// The message for two configurations that share a name; a file with both is named once.
pub fn declared_twice(what: &str, name: &str, [first, second]: [&str; 2]) -> Message {
    let words = match first == second {
        true => format!("{what} `{name}` is declared twice in `{first}`"),
        false => format!("{what} `{name}` is declared twice, in `{first}` and in `{second}`"),
    };
    purlin_syntax::what::duplicate(what, name).words(words)
}

/// Reports configurations of one kind that share a name.
pub fn report_duplicates<'d>(ground: &Ground<'_>, what: &str, documents: impl Iterator<Item = &'d Document>) {
    let mut seen: Vec<&Document> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for document in documents {
        let name = document.plain("name").unwrap_or_default();
        if !names.insert(name.clone()) {
            let first = seen.iter().find(|other| other.plain("name").as_deref() == Some(&name));
            let place = first.map(|other| other.file.as_str()).unwrap_or_default();
            let message = declared_twice(what, &name, [place, &document.file]);
            let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, message);
            if let Some(span) = first.and_then(|other| other.span()) {
                diagnostic = diagnostic.label(span, "the first one");
            }
            ground.push(diagnostic, document.span());
        }
        seen.push(document);
    }
}
