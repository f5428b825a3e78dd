//! The user's request, and the dialect's result: the data that every command reads.
//!
//! `resolve`, `graph`, `why`, `diff` and `check` know only these types. A dialect fills them; nothing here knows one.

use crate::inner::Engines;
use crate::options::{ChartOptions, SkaffoldOptions, ToscaOptions};
use purlin_syntax::{Span, Tree};
use purlin_value::{Data, EcoString, Map, Origin, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The user's request. Flags keep one meaning in all dialects; each uses those that concern it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Folder or file to resolve, relative to the world's root.
    pub path: String,
    /// The project's file, as detected; without it, the dialect searches for one.
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
    /// The calling command, for configuration that depends on it; `resolve` if empty.
    pub command: String,
    /// `--pending`: values to treat as unknown, `PATH[=WHAT]`.
    pub pending: Vec<String>,
    /// Options of charts.
    pub chart: ChartOptions,
    /// Options of Skaffold configurations.
    pub skaffold: SkaffoldOptions,
    /// Options of TOSCA service templates.
    pub tosca: ToscaOptions,
    /// Folders with definitions of custom resources for validating objects.
    pub schema_folders: Vec<String>,
    /// Patterns of places below the world's root in which no projects are looked for.
    pub excluded: Vec<String>,
    /// Enabled built-in policies.
    pub policies: Vec<String>,
    /// Policies that the user or the project wrote.
    pub own_policies: Vec<OwnPolicy>,
    /// Evaluates those; without it, they are reported as not evaluated.
    pub evaluator: Option<Evaluator>,
    /// Whether to include the manifests of charts and kustomizations inside the project, at the cost of rendering
    /// them.
    pub manifests: bool,
    /// Only these nodes; all if empty. Others are named in the result, but evaluated only if these depend on them.
    pub nodes: Vec<String>,
    /// Outputs of nodes that have run, by the node's id. References to them resolve; outputs of others are pending.
    pub known: Vec<(EcoString, Value)>,
    /// Whether another project of the same run builds this one into its own and may complete it, so that its objects are
    /// judged there.
    pub is_part: bool,
    /// Engines of other dialects.
    pub engines: Engines,
    /// Programs that add to the graph of the project, in order.
    pub plugins: Vec<Plugin>,
}

/// A program that sees the graph of a project and adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name, for messages.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that it runs in, from the world's root.
    pub folder: String,
    /// Where it is named.
    pub span: Option<Span>,
}

/// Evaluates a question about policies; both it and its answer are JSON.
pub type Evaluator = fn(&str) -> Result<String, String>;

/// A policy that the user or the project wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPolicy {
    /// What it is evaluated over: `object`, `objects`, `graph`.
    pub over: String,
    /// Patterns of the environments that it holds for; all if empty.
    pub environments: Vec<String>,
    /// Whether its failures are warnings.
    pub is_warning: bool,
    /// Its rules.
    pub rules: PolicyRules,
    /// The setting that names it.
    pub at: Option<Span>,
}

/// The rules of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyRules {
    /// Modules of Rego.
    Rego {
        /// Files and folders with modules.
        paths: Vec<String>,
        /// Files and folders with documents under `data`.
        data: Vec<String>,
        /// The packages whose rules count; `*` for all.
        namespaces: Vec<String>,
    },
    /// An assertion in CEL.
    Cel {
        /// Its name.
        name: String,
        /// The inputs that it concerns; all if not set.
        when: Option<String>,
        /// What must be true.
        assert: String,
        /// The message, with expressions in braces.
        message: Option<String>,
    },
}

/// One `--set…` flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFlag {
    /// The flag's kind.
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
    /// A request with nothing but a path.
    pub fn of(path: &str) -> Self {
        Request { path: path.to_owned(), ..Request::default() }
    }

    /// The calling command.
    pub fn command(&self) -> &str {
        if self.command.is_empty() { "resolve" } else { &self.command }
    }

    /// Whether a node is requested: by its own id, or by that of a node inside it.
    pub fn wants(&self, id: &str) -> bool {
        let is_meant =
            |name: &String| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.nodes.is_empty() || self.nodes.iter().any(is_meant)
    }
}

/// A dependency of one node on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The dependency's target.
    pub node: EcoString,
    /// On the definition (version, static outputs).
    pub is_static: bool,
    /// On the execution.
    pub is_runtime: bool,
    /// Written by the user; otherwise it follows from a reference.
    pub is_explicit: bool,
    /// Its location.
    pub span: Option<Span>,
    /// The data along it: the outputs that references read, or the name of a requirement.
    pub names: Vec<EcoString>,
    /// The type of the relationship, if any.
    pub relationship: EcoString,
}

/// One node of the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// `build.api`, a module's name, `Deployment/web`.
    pub id: EcoString,
    /// Its kind in the dialect (`Build`, `module`, `node template`, `Deployment`).
    pub kind: EcoString,
    /// The dialect's name.
    pub dialect: &'static str,
    /// Its type (`container`, `tosca.nodes.Compute`); empty if it has none.
    pub type_name: EcoString,
    /// Location of its definition.
    pub source: Option<Span>,
    /// Origin of its name, if not at its definition.
    pub named: Origin,
    /// Origin of its type, if written.
    pub typed: Origin,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
    /// Its configuration, resolved.
    pub resolved: Value,
    /// Its outputs, as far as they are known.
    pub outputs: Value,
    /// Whether it is disabled.
    pub disabled: bool,
    /// The node whose inner project it belongs to; its id begins with that node's.
    pub inside: Option<EcoString>,
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
            named: Origin::NONE,
            typed: Origin::NONE,
            dependencies: Vec::new(),
            resolved: Value::map(Map::new()),
            outputs: Value::map(Map::new()),
            disabled: false,
            inside: None,
        }
    }

    /// Everything queryable: the resolved configuration, and the outputs under that name.
    pub fn whole(&self) -> Value {
        let has_outputs = self.outputs.as_map().is_none_or(|outputs| !outputs.is_empty());
        match self.resolved.as_map() {
            Some(fields) if has_outputs && !fields.contains_key("outputs") => {
                let mut fields = fields.clone();
                fields.insert("outputs".into(), self.outputs.clone());
                self.resolved.clone().with(Data::Map(fields.into()))
            }
            _ => self.resolved.clone(),
        }
    }

    /// The same as a node of the project inside `outer`.
    pub fn within(mut self, outer: &EcoString) -> Self {
        let inner = |id: &EcoString| EcoString::from(format!("{outer}/{id}"));
        self.id = inner(&self.id);
        for dependency in &mut self.dependencies {
            dependency.node = inner(&dependency.node);
        }
        self.inside = Some(self.inside.as_ref().map_or_else(|| outer.clone(), inner));
        self
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
    /// The output of `render`, if the dialect renders manifests: one value per document.
    pub manifests: Vec<Manifest>,
    /// Folders or files of included projects of other dialects, which need not be checked by themselves.
    pub inner: Vec<String>,
    /// Folders of charts whose dependencies are fetched when the project is deployed.
    pub fetched_later: Vec<String>,
    /// Number of contained projects of its own dialect that are checked with it, enabled or not.
    pub contained: usize,
    /// Declarations for its own use, and whether this variant uses them.
    pub declared: Vec<Declared>,
    /// The trees it was read from, kept so that the origins of nodes stay valid and countable.
    pub trees: Vec<Arc<Tree>>,
}

/// A declaration of a project for its own use.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its kind, in a user's words: `template`.
    pub what: &'static str,
    /// Its name.
    pub name: EcoString,
    /// Location of the name.
    pub span: Span,
    /// Whether it is used.
    pub is_used: bool,
}

/// One rendered document.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its source (`web/templates/deployment.yaml`).
    pub source: EcoString,
    /// The text as rendered, if it must be printed verbatim.
    pub text: Option<EcoString>,
    /// Its content.
    pub value: Value,
    /// The id of its node, `Deployment/web`; empty if it is not a Kubernetes object.
    pub node: EcoString,
}

impl Manifest {
    /// A document given by its content.
    pub fn new(source: impl Into<EcoString>, value: Value) -> Self {
        let source = source.into();
        let node = object_id(&value, &source);
        Manifest { source, text: None, value, node }
    }

    /// An object whose `data` and `stringData` are secret if it is a `Secret`.
    pub fn with_hidden_data(value: Value) -> Value {
        let is_secret = value.get("kind").and_then(Value::as_str) == Some("Secret");
        let Some(map) = value.as_map().filter(|_| is_secret) else { return value };
        let hidden = |(key, field): (&EcoString, &Value)| {
            let Some(data) = field.as_map().filter(|_| matches!(key.as_str(), "data" | "stringData")) else {
                return (key.clone(), field.clone());
            };
            let data: Map = data.iter().map(|(key, value)| (key.clone(), value.clone().tainted_if(true))).collect();
            (key.clone(), field.clone().with(Data::Map(data.into())))
        };
        let fields: Map = map.iter().map(hidden).collect();
        value.clone().with(Data::Map(fields.into()))
    }

    /// The text as rendered. Trailing line breaks are removed, unless they belong to its last string.
    pub fn body(&self) -> Option<&str> {
        let text = self.text.as_deref()?;
        let ends_in_lines = last_leaf(&self.value).and_then(Value::as_str).is_some_and(|last| last.ends_with('\n'));
        Some(if ends_in_lines { text } else { text.trim_end_matches('\n') })
    }

    /// Makes ids unique among objects of one kind and name: by namespace, by API group, and by number as a last
    /// resort.
    pub fn tell_apart(manifests: &mut [Manifest]) {
        type Qualify = fn(&Manifest) -> Option<EcoString>;
        let by_namespace: Qualify = |manifest| {
            let (kind, name) = manifest.node.split_once('/')?;
            let namespace = manifest.value.at("metadata.namespace").filter(|namespace| !namespace.is_tainted())?;
            Some(format!("{kind}/{}/{name}", namespace.as_str()?).into())
        };
        let by_group: Qualify = |manifest| {
            let (kind, name) = manifest.node.split_once('/')?;
            let version = value_text(&manifest.value, "apiVersion")?;
            let (group, _) = version.split_once('/')?;
            Some(format!("{kind}.{group}/{name}").into())
        };
        for qualify in [by_namespace, by_group] {
            for at in same_ids(manifests).into_iter().flatten() {
                if let Some(manifest) = manifests.get_mut(at) {
                    manifest.node = qualify(manifest).unwrap_or_else(|| manifest.node.clone());
                }
            }
        }
        for same in same_ids(manifests) {
            for (number, at) in same.into_iter().enumerate().skip(1) {
                if let Some(manifest) = manifests.get_mut(at) {
                    manifest.node = format!("{}#{}", manifest.node, number + 1).into();
                }
            }
        }
    }

    /// Sets the namespace of its object, unless it has one.
    pub fn settle_in(&mut self, namespace: &Value) {
        let (Some(object), Some(metadata)) = (self.value.as_map(), self.value.get("metadata").and_then(Value::as_map))
        else {
            return;
        };
        if metadata.contains_key("namespace") {
            return;
        }
        let mut metadata = metadata.clone();
        metadata.insert("namespace".into(), namespace.clone());
        let mut object = object.clone();
        object.insert("metadata".into(), Value::map(metadata));
        self.value = self.value.clone().with(object.into());
    }

    /// The node of its object, if it is one.
    pub fn object(&self, dialect: &'static str) -> Option<Node> {
        let kind = value_text(&self.value, "kind")?;
        let mut node = Node::new(self.node.clone(), kind, dialect);
        node.type_name = value_text(&self.value, "apiVersion").unwrap_or_default();
        node.resolved = self.value.clone();
        Some(node)
    }
}

/// Manifests with the same id, as far as they have one.
fn same_ids(manifests: &[Manifest]) -> Vec<Vec<usize>> {
    let mut known: HashMap<&EcoString, Vec<usize>> = HashMap::with_capacity(manifests.len());
    for (at, manifest) in manifests.iter().enumerate().filter(|(_, manifest)| !manifest.node.is_empty()) {
        known.entry(&manifest.node).or_default().push(at);
    }
    known.into_values().filter(|same| same.len() > 1).collect()
}

/// The id of an object: its kind and name, or the source of its manifest if the name is secret or unknown.
fn object_id(value: &Value, source: &str) -> EcoString {
    let Some(kind) = value_text(value, "kind") else { return EcoString::new() };
    let name = value.at("metadata.name").filter(|name| !value.is_tainted() && !name.is_tainted());
    match name.as_ref().and_then(Value::as_str) {
        Some(name) => format!("{kind}/{name}").into(),
        None => format!("{kind}/{source}").into(),
    }
}

/// The last value without nested values.
fn last_leaf(value: &Value) -> Option<&Value> {
    let mut value = value;
    loop {
        value = match (value.as_map(), value.as_list()) {
            (Some(map), _) => map.iter().last()?.1,
            (_, Some(list)) => list.iter().last()?,
            _ => return Some(value),
        };
    }
}

fn value_text(value: &Value, key: &str) -> Option<EcoString> {
    value.get(key).filter(|text| !text.is_tainted()).and_then(Value::as_str).map(EcoString::from)
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
            inner: Vec::new(),
            fetched_later: Vec::new(),
            contained: 0,
            declared: Vec::new(),
            trees: Vec::new(),
        }
    }

    /// The node with an id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }
}
