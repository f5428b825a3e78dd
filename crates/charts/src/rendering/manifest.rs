//! Splits rendered files into documents, tells hooks from resources, and sorts both as Helm installs them.

use crate::edition::{HELM_4, Helm};
use crate::rules;
use purlin_gotmpl::hole::Holes;
use purlin_gotmpl::yaml::{first_problem, go_message, parse};
use purlin_model::INSTALL_ORDER;
use purlin_syntax::{Diagnostic, Limits, Node, Scalar, Tree};
use std::sync::Arc;

/// One document of a rendered file.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its template.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Start of the text in the rendered file.
    pub start: usize,
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `metadata.name`
    pub name: String,
    /// The events of a hook; empty for ordinary resources.
    pub events: Vec<String>,
    /// Its parsed contents, if the caller needs them, too.
    pub tree: Option<Arc<Tree>>,
}

/// Documents, sorted.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Ordinary resources.
    pub resources: Vec<Document>,
    /// Hooks.
    pub hooks: Vec<Document>,
    /// Values of hook annotations that name an unknown event; such documents are dropped.
    pub unknown_hooks: Vec<String>,
}

const EVENTS: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// Splits at lines that start with `---`; gives the place and text of every piece that is not blank.
pub fn split(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let trimmed = |from: usize, to: usize| {
        let piece = text.get(from..to).unwrap_or_default();
        let body = piece.trim_start();
        (from + piece.len() - body.len(), body)
    };
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            pieces.push(trimmed(start, at));
            start = at + 3;
        }
        at += line.len();
    }
    pieces.push(trimmed(start, text.len()));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

const ANNOTATIONS: &str = "metadata.annotations";

/// The fields of a document that Helm reads first.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    hook: Option<String>,
}

/// A field that is read into a text: any scalar is, a collection is an error.
fn field(node: Node<'_>, key: &str, type_name: &str, path: &'static str) -> Result<String, HeadError> {
    let Some(value) = node.get(key) else { return Ok(String::new()) };
    if !value.is_scalar() {
        let go = format!("struct field {type_name}.{path} of type string");
        return Err(unmarshal(value, Into { go: &go, field: path, is_mapping: false }));
    }
    if value.is_null() {
        return Ok(String::new());
    }
    match purlin_gotmpl::yaml_tree::key_text(value) {
        Ok(text) => Ok(text.into_owned()),
        Err(message) => {
            let problem = Diagnostic::nowhere(&rules::MANIFEST, message.clone());
            Err(HeadError { message, unfit: Unfit::Yaml(Box::new(problem)), at: 0 })
        }
    }
}

/// Why a document is no manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is not YAML.
    Yaml(Box<Diagnostic>),
    /// A field of the head has another type.
    Shape {
        /// The field; empty for the document as a whole.
        field: &'static str,
        /// The kind that it has.
        found: &'static str,
        /// Whether a mapping of such values is expected, not a single one.
        is_mapping: bool,
    },
}

/// A document with an unreadable head.
#[derive(Clone, Debug)]
pub struct HeadError {
    /// Why, in Go's words.
    pub message: String,
    /// Why, as data.
    pub unfit: Unfit,
    /// Location in the document.
    pub at: usize,
}

/// Go's target type for a part of the head.
struct Into<'t> {
    /// Go's name of it.
    go: &'t str,
    field: &'static str,
    is_mapping: bool,
}

fn unmarshal(node: Node<'_>, into: Into<'_>) -> HeadError {
    let (kind, found) = kind_of(node);
    HeadError {
        message: format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go {}",
            into.go
        ),
        unfit: Unfit::Shape { field: into.field, found, is_mapping: into.is_mapping },
        at: 0,
    }
}

/// The kind of a node: for Go, and for people.
fn kind_of(node: Node<'_>) -> (&'static str, &'static str) {
    if node.is_map() {
        return ("object", "a mapping");
    }
    if node.is_list() {
        return ("array", "a list");
    }
    match node.scalar() {
        Scalar::Bool(_) => ("bool", "a boolean"),
        Scalar::Str | Scalar::Timestamp => ("string", "a string"),
        _ => ("number", "a number"),
    }
}

/// The head of a document, or the error message and its offset.
fn head(tree: &Tree) -> Result<Head, HeadError> {
    checked(tree)?;
    head_of(tree, "SimpleHead")
}

/// The same for another of Helm's types; `None` for an empty document. Annotations are not checked.
pub(crate) fn head_as(tree: &Tree, type_name: &str) -> Result<Option<Head>, HeadError> {
    checked(tree)?;
    if tree.root().is_none_or(Node::is_null) {
        return Ok(None);
    }
    head_of(tree, type_name).map(Some)
}

fn checked(tree: &Tree) -> Result<(), HeadError> {
    if let Some(problem) = first_problem(tree) {
        let at = problem.span.map_or(0, |span| span.start as usize);
        let message = format!("error converting YAML to JSON: yaml: {}", go_message(tree, problem));
        return Err(HeadError { message, unfit: Unfit::Yaml(Box::new(problem.clone())), at });
    }
    Ok(())
}

fn head_of(tree: &Tree, type_name: &str) -> Result<Head, HeadError> {
    // The type that `helm template` reads is another package's, and has annotations.
    let is_usual = type_name == "SimpleHead";
    let mut head = Head::default();
    let Some(root) = tree.root().filter(|root| !root.is_null()) else { return Ok(head) };
    if !root.is_map() {
        let package = if is_usual { "util" } else { "rules" };
        let go = format!("value of type {package}.{type_name}");
        return Err(unmarshal(root, Into { go: &go, field: "", is_mapping: true }));
    }
    head.api_version = field(root, "apiVersion", type_name, "apiVersion")?;
    head.kind = field(root, "kind", type_name, "kind")?;
    let Some(metadata) = root.get("metadata").filter(|node| !node.is_null()) else { return Ok(head) };
    if !metadata.is_map() {
        let go = format!("struct field {type_name}.metadata");
        return Err(unmarshal(metadata, Into { go: &go, field: "metadata", is_mapping: true }));
    }
    head.name = field(metadata, "name", type_name, "metadata.name")?;
    if !is_usual {
        return Ok(head);
    }
    let Some(annotations) = metadata.get("annotations").filter(|node| !node.is_null()) else { return Ok(head) };
    if !annotations.is_map() {
        let go = "struct field SimpleHead.metadata.annotations of type map[string]string";
        return Err(unmarshal(annotations, Into { go, field: ANNOTATIONS, is_mapping: true }));
    }
    for entry in annotations.entries() {
        let text = field(annotations, entry.name(), type_name, ANNOTATIONS)?;
        if entry.name() == "helm.sh/hook" {
            head.hook = Some(text);
        }
    }
    Ok(head)
}

/// As much of it as can be read.
fn readable(tree: &Tree) -> Head {
    let Some(root) = tree.root() else { return Head::default() };
    let metadata = root.get("metadata");
    let text = |node: Option<Node<'_>>, key: &str| {
        node.and_then(|node| node.get(key)).map(|value| value.text().to_owned()).unwrap_or_default()
    };
    Head {
        api_version: text(Some(root), "apiVersion"),
        kind: text(Some(root), "kind"),
        name: text(metadata, "name"),
        hook: None,
    }
}

/// A rendered document that is not a manifest.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Its template.
    pub path: String,
    /// Helm's error message.
    pub message: String,
    /// The same as data.
    pub unfit: Unfit,
    /// Start of the document in the rendered file.
    pub start: usize,
    /// Location of the problem in the document.
    pub at: usize,
}

impl Broken {
    /// Helm's text.
    pub fn helm_text(&self) -> String {
        format!("YAML parse error on {}: {}", self.path, self.message)
    }
}

/// Sorts the documents of rendered files; the first that is not a manifest is an error.
pub fn sort<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    holes: &Holes,
    limits: &Limits,
) -> Result<Manifests, Broken> {
    let (manifests, broken) = sorted(files, holes, limits, false);
    broken.into_iter().next().map_or(Ok(manifests), Err)
}

/// Sorts the documents of rendered files, and lists those that are not manifests; files are given in the order of their
/// paths. A document that depends on holes may be incomplete, so it is not checked.
pub(crate) fn sort_readable<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    holes: &Holes,
    limits: &Limits,
) -> (Manifests, Vec<Broken>) {
    sorted(files, holes, limits, true)
}

fn sorted<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    holes: &Holes,
    limits: &Limits,
    keeps_trees: bool,
) -> (Manifests, Vec<Broken>) {
    let mut manifests = Manifests::default();
    let mut broken = Vec::new();
    for (path, text) in files {
        if text.trim().is_empty() {
            continue;
        }
        for (start, piece) in split(text) {
            let tree = parse(piece, limits);
            let head = match holes.deciding(piece.as_bytes()) {
                Some(_) => Ok(readable(&tree)),
                None => head(&tree),
            };
            let head = match head {
                Ok(head) => head,
                Err(HeadError { message, unfit, at }) => {
                    broken.push(Broken { path: path.to_owned(), message, unfit, start, at });
                    continue;
                }
            };
            let mut document = Document {
                path: path.to_owned(),
                text: piece.to_owned(),
                start,
                api_version: head.api_version,
                kind: head.kind,
                name: head.name,
                events: Vec::new(),
                tree: keeps_trees.then(|| Arc::new(tree)),
            };
            let Some(hook) = head.hook else {
                manifests.resources.push(document);
                continue;
            };
            document.events = hook.split(',').map(|event| event.trim().to_lowercase()).collect();
            if document.events.iter().all(|event| EVENTS.contains(&event.as_str())) {
                manifests.hooks.push(document);
            } else {
                manifests.unknown_hooks.push(hook);
            }
        }
    }
    manifests.resources.sort_by_cached_key(|document| place(document, &HELM_4));
    manifests.hooks.sort_by_cached_key(|document| place(document, &HELM_4));
    (manifests, broken)
}

impl Manifests {
    /// The same as another version of Helm orders and prints documents.
    pub(crate) fn as_of(&mut self, helm: &Helm) {
        self.order_as(helm);
        if helm.trims_documents {
            let all = self.resources.iter_mut().chain(&mut self.hooks);
            all.for_each(|document| document.text.truncate(document.text.trim_end().len()));
        }
    }
}

impl Manifests {
    /// The same in the order of another version of Helm.
    pub(crate) fn order_as(&mut self, helm: &Helm) {
        if !helm.late_kinds.is_empty() {
            self.resources.sort_by_cached_key(|document| place(document, helm));
            self.hooks.sort_by_cached_key(|document| place(document, helm));
        }
    }
}

/// Position of a document in Helm's installation order: known kinds first, others by name.
pub fn place(document: &Document, helm: &Helm) -> (usize, String) {
    let is_known = |known: &&str| *known == document.kind && !helm.late_kinds.contains(known);
    match INSTALL_ORDER.iter().position(is_known) {
        Some(place) => (place, String::new()),
        None => (INSTALL_ORDER.len(), document.kind.clone()),
    }
}
