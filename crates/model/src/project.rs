//! What the user asks for, and what a dialect answers: the data that every command reads.
//!
//! `resolve`, `graph`, `why`, `diff` and `check` know only these types. A dialect fills them; nothing here knows one.

use crate::inner::Engines;
use crate::options::{ChartOptions, SkaffoldOptions, ToscaOptions};
use purlin_syntax::{Span, Tree};
use purlin_value::{EcoString, Map, Value};
use std::sync::Arc;

/// What the user asked for. Flags keep one meaning in all dialects; each takes those that concern it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Folder or file to resolve, relative to the world's root.
    pub path: String,
    /// The file that makes it a project, as detection found it; a dialect that gets none looks for it itself.
    pub found: Option<String>,
    /// `-e/--env`
    pub environment: Option<String>,
    /// `-p/--profile`, in order; `-name` switches one off.
    pub profiles: Vec<String>,
    /// `-m/--module`
    pub modules: Vec<String>,
    /// `-f/--file`
    pub file: Option<String>,
    /// `--values FILE`
    pub values: Vec<String>,
    /// `--set`, `--set-string`, `--set-json`, `--set-file`, `--set-literal`, in the order they were given.
    pub sets: Vec<SetFlag>,
    /// `--var k=v`
    pub vars: Vec<(String, String)>,
    /// `--var-file`
    pub var_files: Vec<String>,
    /// `--secret-file`
    pub secret_files: Vec<String>,
    /// `--input k=v`
    pub inputs: Vec<(String, String)>,
    /// `--inputs FILE`
    pub input_files: Vec<String>,
    /// `-n/--namespace`
    pub namespace: Option<String>,
    /// The command that asks, where configuration may depend on it; `resolve` if empty.
    pub command: String,
    /// `--pending`: what is not known yet, `PATH[=WHAT]`.
    pub pending: Vec<String>,
    /// Options of charts.
    pub chart: ChartOptions,
    /// Options of Skaffold configurations.
    pub skaffold: SkaffoldOptions,
    /// Options of TOSCA service templates.
    pub tosca: ToscaOptions,
    /// Only these nodes; all if empty. Others are named in the result, but nothing of them is evaluated unless these
    /// depend on it.
    pub nodes: Vec<String>,
    /// Outputs of nodes that have run, by the node's id. References to them resolve; outputs of others are pending.
    pub known: Vec<(EcoString, Value)>,
    /// What other dialects may be asked for.
    pub engines: Engines,
}

/// One `--set…` flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFlag {
    /// Which of the flags.
    pub kind: SetKind,
    /// Its text, `a.b=c,d=e`.
    pub text: String,
}

/// The `--set` family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// `--set`
    Typed,
    /// `--set-string`
    Text,
    /// `--set-json`
    Json,
    /// `--set-file`
    File,
    /// `--set-literal`
    Literal,
}

impl Request {
    /// A request for a path and nothing else.
    pub fn of(path: &str) -> Self {
        Request { path: path.to_owned(), ..Request::default() }
    }

    /// The command that asks.
    pub fn command(&self) -> &str {
        if self.command.is_empty() { "resolve" } else { &self.command }
    }

    /// Whether a node is asked for: by its own id, or by that of a node inside it.
    pub fn wants(&self, id: &str) -> bool {
        let is_meant =
            |name: &String| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.nodes.is_empty() || self.nodes.iter().any(is_meant)
    }
}

/// How one node needs another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The node that is needed.
    pub node: EcoString,
    /// Its definition is needed (its version, its static outputs).
    pub is_static: bool,
    /// It must have run.
    pub is_runtime: bool,
    /// The user wrote the dependency down; otherwise it comes from a reference.
    pub is_explicit: bool,
    /// Where it is written.
    pub span: Option<Span>,
}

/// One node of the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// `build.api`, a module's name, `Deployment/web`.
    pub id: EcoString,
    /// What it is in its dialect (`Build`, `module`, `node template`, `Deployment`).
    pub kind: EcoString,
    /// The dialect's name.
    pub dialect: &'static str,
    /// Its type (`container`, `tosca.nodes.Compute`); empty if it has none.
    pub type_name: EcoString,
    /// Where it is defined.
    pub source: Option<Span>,
    /// What it needs.
    pub dependencies: Vec<Dependency>,
    /// Its configuration, resolved.
    pub resolved: Value,
    /// Its outputs, as far as they are known.
    pub outputs: Value,
    /// Whether it is switched off.
    pub disabled: bool,
}

impl Node {
    /// A node with nothing but a name.
    pub fn new(id: impl Into<EcoString>, kind: impl Into<EcoString>, dialect: &'static str) -> Self {
        Node {
            id: id.into(),
            kind: kind.into(),
            dialect,
            type_name: EcoString::new(),
            source: None,
            dependencies: Vec::new(),
            resolved: Value::map(Map::new()),
            outputs: Value::map(Map::new()),
            disabled: false,
        }
    }
}

/// A project, resolved.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Its name.
    pub project: EcoString,
    /// The environment it was resolved for; empty if the dialect has none.
    pub environment: EcoString,
    /// Its variables (or values, or inputs), resolved.
    pub variables: Value,
    /// Its nodes, in source order.
    pub nodes: Vec<Node>,
    /// The project's outputs.
    pub outputs: Value,
    /// What `render` prints, if the dialect renders manifests: one value per document.
    pub manifests: Vec<Manifest>,
    /// The trees it was read from; they keep what nodes' origins point to alive and countable.
    pub trees: Vec<Arc<Tree>>,
}

/// One rendered document.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Where it comes from (`web/templates/deployment.yaml`).
    pub source: EcoString,
    /// The text as rendered, if it must be printed as it is.
    pub text: Option<EcoString>,
    /// Its content.
    pub value: Value,
}

impl Resolved {
    /// An empty project.
    pub fn new(project: impl Into<EcoString>) -> Self {
        Resolved {
            project: project.into(),
            environment: EcoString::new(),
            variables: Value::map(Map::new()),
            nodes: Vec::new(),
            outputs: Value::map(Map::new()),
            manifests: Vec::new(),
            trees: Vec::new(),
        }
    }

    /// The node with an id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }
}
