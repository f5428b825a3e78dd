//! The tree of instances an expression is evaluated against.
//!
//! Plain data: hosts, requirements, and the unevaluated attributes of each instance. It is built by
//! [`crate::ensemble`] (or by a test) and never changed by evaluation, except for the memo cells of attributes.

use crate::eval::lazy::Memo;
use crate::val::Val;
use ecow::{EcoString, eco_format};
use indexmap::IndexMap;
use purlin_jinja::instance::Instances;
pub use purlin_jinja::instance::{NodeId, Priority, STATES, State, Status};
use std::cell::RefCell;
use std::rc::Rc;

/// The kind of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// The root of a topology.
    Root,
    /// Made from a node template.
    Node,
    /// A capability of a node.
    Capability,
    /// A requirement's relationship.
    Relationship,
    /// An artifact of a node.
    Artifact,
    /// The inputs or the outputs of a topology, which are evaluated on its root.
    Values,
}

/// One attribute or property of an instance: its source, and its evaluated value.
#[derive(Debug)]
pub struct Attribute {
    /// As written, unevaluated.
    pub raw: Val,
    /// Whether the value is a secret, whatever the result.
    pub sensitive: bool,
    /// Its declaration in the template's type.
    pub schema: Option<Rc<Schema>>,
    /// Whether it is a property of the template, declared or not.
    pub property: bool,
    /// The template's value of a property, where the instance has stored a different one.
    pub template: Option<Box<Val>>,
    /// The folder of the file it is written in, where that is not the template's.
    pub dir: Option<EcoString>,
    /// The evaluated value.
    pub memo: RefCell<Memo>,
}

impl Attribute {
    /// An attribute without a schema.
    pub fn new(raw: Val) -> Self {
        Attribute {
            raw,
            sensitive: false,
            schema: None,
            property: false,
            template: None,
            dir: None,
            memo: RefCell::new(Memo::Empty),
        }
    }
}

impl Attribute {
    /// The template's value of a property.
    pub fn written(&self) -> Option<&Val> {
        self.template.as_deref().or(self.property.then_some(&self.raw))
    }
}

/// Attributes by name.
pub type Attributes = IndexMap<EcoString, Attribute, foldhash::fast::RandomState>;

/// The problems of an evaluated value.
type Problems = dyn Fn(&Val) -> Vec<String>;

/// Checks an evaluated value and returns its problems.
#[derive(Clone)]
pub struct Check(pub Rc<Problems>);

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Check")
    }
}

/// The declaration of a property or attribute in a type.
#[derive(Debug, Default, Clone)]
pub struct Schema {
    /// Declared type name.
    pub type_name: EcoString,
    /// Whether null is refused.
    pub required: bool,
    /// An expression applied to the value, with `$value`.
    pub transform: Option<Val>,
    /// The same for parts of the value, by its data type: the keys that lead to each, innermost first.
    pub part_transforms: Vec<(Vec<EcoString>, Val)>,
    /// An expression that must hold, with `$value`.
    pub validation: Option<Val>,
    /// Whether it is an attribute (may be null) rather than a property.
    pub attribute: bool,
    /// Whether the value is a secret.
    pub sensitive: bool,
    /// Parts of the value that are secrets, by its data type.
    pub sensitive_parts: Vec<EcoString>,
    /// Type and constraints.
    pub check: Option<Check>,
}

/// The declarations of a type, for lookups in templates before anything is evaluated.
#[derive(Debug, Default)]
pub struct Declared {
    /// Names of properties, whether or not they have a value.
    pub properties: Vec<EcoString>,
    /// Names of attributes, each with its type.
    pub attributes: Vec<(EcoString, EcoString)>,
}

/// The requirement that a relationship meets.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// Its name, which may differ from that of the relationship.
    pub name: EcoString,
    /// Whether the template assigns it, rather than only its type.
    pub assigned: bool,
}

/// An instance.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: EcoString,
    /// Its kind.
    pub kind: NodeKind,
    /// Its host or owner.
    pub parent: Option<NodeId>,
    /// The instances it hosts.
    pub children: Vec<NodeId>,
    /// Name of its template.
    pub template: EcoString,
    /// Its type and the types that derives from, nearest first.
    pub types: Rc<Vec<EcoString>>,
    /// Properties and attributes by name.
    pub attributes: Attributes,
    /// Its own status, before its dependencies are considered.
    pub local_status: Option<Status>,
    /// Its state.
    pub state: Option<State>,
    /// Its priority.
    pub priority: Priority,
    /// Whether operations could change it; without any its status is that of its dependencies.
    pub has_operations: bool,
    /// Capabilities of a node.
    pub capabilities: Vec<NodeId>,
    /// Relationships of a node to others.
    pub requirements: Vec<NodeId>,
    /// Relationships that target this capability.
    pub relationships: Vec<NodeId>,
    /// The node a relationship starts at.
    pub source: Option<NodeId>,
    /// The requirement that a relationship meets.
    pub requirement: Option<Requirement>,
    /// Artifacts by name.
    pub artifacts: Vec<NodeId>,
    /// Directory of the file the template is written in, relative to the project.
    pub source_dir: EcoString,
    /// Defaults of its type, as written, for `.super`.
    pub defaults: Option<Val>,
    /// The declarations of its type, if it was made from a template.
    pub declared: Option<Rc<Declared>>,
    /// Free-form fields shown as special keys: `created`, `protected`, `imported`.
    pub fields: Vec<(&'static str, Val)>,
    /// Its topology, by its place in the tree.
    topology: usize,
    /// The node of another topology that represents it, and has its values.
    pub shadow: Option<NodeId>,
}

impl Node {
    /// An empty instance of a kind.
    pub fn new(name: impl Into<EcoString>, kind: NodeKind) -> Self {
        Node {
            name: name.into(),
            kind,
            parent: None,
            children: Vec::new(),
            template: "_default".into(),
            types: Rc::new(vec!["tosca.nodes.Root".into()]),
            attributes: IndexMap::default(),
            local_status: None,
            state: None,
            priority: Priority::Required,
            has_operations: false,
            capabilities: Vec::new(),
            requirements: Vec::new(),
            relationships: Vec::new(),
            source: None,
            requirement: None,
            artifacts: Vec::new(),
            source_dir: EcoString::new(),
            defaults: None,
            declared: None,
            fields: Vec::new(),
            topology: 0,
            shadow: None,
        }
    }

    /// Name of its type.
    pub fn type_name(&self) -> &str {
        self.types.first().map_or("", EcoString::as_str)
    }
}

/// The inputs or outputs of a topology, none yet.
fn values(name: &str, root: NodeId) -> Node {
    let mut node = Node::new(name, NodeKind::Values);
    node.parent = Some(root);
    node
}

/// A topology: the ensemble's own, or one that replaces a node of another.
#[derive(Debug)]
pub struct Topology {
    /// Its root.
    pub root: NodeId,
    /// The node with its inputs as attributes.
    pub inputs: NodeId,
    /// The node with its outputs as attributes.
    pub outputs: NodeId,
    /// The node that represents it as a whole, if it can substitute one.
    pub substitution_node: Option<NodeId>,
    /// The node of another topology that it replaces.
    pub outer: Option<NodeId>,
    /// The prefix of its nodes' names outside of it.
    prefix: EcoString,
}

/// All instances of an ensemble.
#[derive(Debug)]
pub struct Tree {
    root: Node,
    others: Vec<Node>,
    by_name: IndexMap<EcoString, NodeId, foldhash::fast::RandomState>,
    /// Directory of the ensemble file.
    pub base_dir: EcoString,
    /// Address of the ensemble, shown in `.uri`.
    pub uri: EcoString,
    /// Name of the deployment, shown in `.deployment`.
    pub deployment: EcoString,
    /// Its topologies, the ensemble's own first.
    topologies: Vec<Topology>,
}

impl Tree {
    /// A tree of a root alone.
    pub fn new(root: Node) -> Self {
        let mut by_name = IndexMap::default();
        by_name.insert(root.name.clone(), NodeId(0));
        Tree {
            root,
            others: vec![values("inputs", NodeId(0)), values("outputs", NodeId(0))],
            by_name,
            base_dir: EcoString::new(),
            uri: EcoString::new(),
            deployment: EcoString::new(),
            topologies: vec![Topology {
                root: NodeId(0),
                inputs: NodeId(1),
                outputs: NodeId(2),
                substitution_node: None,
                outer: None,
                prefix: EcoString::new(),
            }],
        }
    }

    /// Begins another topology, whose nodes have names with a prefix outside of it. Nodes added from now on are part
    /// of it.
    pub fn begin_topology(&mut self, mut root: Node, prefix: EcoString) -> NodeId {
        let at = self.topologies.len();
        let first = u32::try_from(self.others.len() + 1).unwrap_or(u32::MAX);
        let [root_id, inputs, outputs] = [0, 1, 2].map(|further| NodeId(first.saturating_add(further)));
        root.topology = at;
        let mut parts = vec![root, values("inputs", root_id), values("outputs", root_id)];
        parts.iter_mut().for_each(|part| part.topology = at);
        self.others.extend(parts);
        self.topologies.push(Topology { root: root_id, inputs, outputs, substitution_node: None, outer: None, prefix });
        root_id
    }

    /// The topology that an instance is part of.
    pub fn topology_of(&self, id: NodeId) -> &Topology {
        let own = self.topologies.get(self.node(id).topology).or(self.topologies.first());
        own.unwrap_or_else(|| unreachable!("a tree has a topology from the start"))
    }

    /// The index of an instance's topology: the ensemble's own is the first, others follow in order of creation.
    pub fn topology_index(&self, id: NodeId) -> usize {
        self.node(id).topology
    }

    /// All topologies, the ensemble's own first.
    pub fn topologies(&self) -> &[Topology] {
        &self.topologies
    }

    /// The holder of an input that an instance reads: its own topology. A node that represents one of another topology
    /// has values that were written there, so inputs that its own topology lacks are looked up there.
    pub fn inputs_for(&self, id: NodeId, name: &str) -> NodeId {
        let own = self.topology_of(id);
        let (mut at, mut topology) = (self.node(id).source.unwrap_or(id), own);
        while !self.node(topology.inputs).attributes.contains_key(name) {
            let Some(outer) = topology.outer.filter(|_| topology.substitution_node == Some(at)) else {
                return own.inputs;
            };
            (at, topology) = (outer, self.topology_of(outer));
        }
        topology.inputs
    }

    /// Sets the node that represents a topology, given by its root, and the outer node that it replaces.
    pub fn set_substitution_node(&mut self, root: NodeId, id: Option<NodeId>, outer: Option<NodeId>) {
        let at = self.node(root).topology;
        if let Some(topology) = self.topologies.get_mut(at) {
            topology.substitution_node = id;
            topology.outer = outer;
        }
    }

    /// The node of a name, as one of the same topology calls it.
    pub fn find(&self, from: NodeId, name: &str) -> Option<NodeId> {
        let topology = self.topology_of(from);
        if topology.prefix.is_empty() {
            return self.by_name(name);
        }
        if name == self.node(topology.root).name {
            return Some(topology.root);
        }
        self.by_name(&format!("{}{name}", topology.prefix))
    }

    /// The name of a node with the prefix of its topology.
    pub fn full_name(&self, id: NodeId) -> EcoString {
        let (prefix, name) = (&self.topology_of(id).prefix, &self.node(id).name);
        if prefix.is_empty() { name.clone() } else { eco_format!("{prefix}{name}") }
    }

    /// The node instances of a topology in order, its root first.
    pub fn named_in(&self, from: NodeId) -> impl Iterator<Item = (&EcoString, NodeId)> {
        let (at, root) = (self.node(from).topology, self.topology_of(from).root);
        let nested = Some(root).filter(|_| at > 0);
        let others = self.by_name.values().copied().filter(move |id| self.node(*id).topology == at);
        nested.into_iter().chain(others).map(|id| (&self.node(id).name, id))
    }

    /// Adds an instance of a topology under its parent and returns its id.
    pub fn add_to(&mut self, root: NodeId, mut node: Node) -> NodeId {
        node.topology = self.node(root).topology;
        let id = NodeId(u32::try_from(self.others.len() + 1).unwrap_or(u32::MAX));
        if matches!(node.kind, NodeKind::Root | NodeKind::Node) {
            let prefix = &self.topology_of(root).prefix;
            let name = if prefix.is_empty() { node.name.clone() } else { eco_format!("{prefix}{}", node.name) };
            self.by_name.insert(name, id);
            if let Some(parent) = node.parent.and_then(|parent| self.node_mut(parent)) {
                parent.children.push(id);
            }
        }
        self.others.push(node);
        id
    }

    /// Puts an instance under another parent.
    pub fn move_to(&mut self, id: NodeId, parent: NodeId) {
        let Some(node) = self.node_mut(id) else { return };
        let former = node.parent.replace(parent);
        if former == Some(parent) {
            return;
        }
        if let Some(former) = former.and_then(|former| self.node_mut(former)) {
            former.children.retain(|child| *child != id);
        }
        if let Some(parent) = self.node_mut(parent) {
            parent.children.push(id);
        }
    }

    /// Sorts all node instances for display: each topology after the one before it, hosts right before the instances
    /// they host.
    pub fn put_hosts_first(&mut self) {
        let mut places: Vec<usize> = vec![usize::MAX; self.others.len() + 1];
        let mut count = 0;
        for topology in &self.topologies {
            let mut open = vec![topology.root];
            while let Some(id) = open.pop() {
                let Some(place @ &mut usize::MAX) = places.get_mut(id.0 as usize) else { continue };
                *place = count;
                count += 1;
                open.extend(self.node(id).children.iter().rev());
            }
        }
        let place = |id: &NodeId| places.get(id.0 as usize).copied();
        self.by_name.sort_by(|_, a, _, b| place(a).cmp(&place(b)));
    }

    /// Adds an instance of the ensemble's own topology.
    pub fn add(&mut self, node: Node) -> NodeId {
        self.add_to(NodeId(0), node)
    }

    /// The root instance.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The node with the topology's inputs as attributes.
    pub fn inputs(&self) -> NodeId {
        NodeId(1)
    }

    /// The node with the topology's outputs as attributes.
    pub fn outputs(&self) -> NodeId {
        NodeId(2)
    }

    /// An instance; an id of another tree shows the root.
    pub fn node(&self, id: NodeId) -> &Node {
        match (id.0 as usize).checked_sub(1) {
            Some(at) => self.others.get(at).unwrap_or(&self.root),
            None => &self.root,
        }
    }

    /// An instance, to be completed while the tree is built.
    pub fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        match (id.0 as usize).checked_sub(1) {
            Some(at) => self.others.get_mut(at),
            None => Some(&mut self.root),
        }
    }

    /// The node instance of that name, with the prefix of its topology.
    pub fn by_name(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// All node instances in order, the root first.
    pub fn named(&self) -> impl Iterator<Item = (&EcoString, NodeId)> {
        self.by_name.iter().map(|(name, id)| (name, *id))
    }

    /// All instances of any kind.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..=u32::try_from(self.others.len()).unwrap_or(u32::MAX)).map(NodeId)
    }
}

impl Instances for Tree {
    fn repr(&self, id: NodeId) -> String {
        let node = self.node(id);
        let class = match node.kind {
            NodeKind::Root | NodeKind::Values => "TopologyInstance",
            NodeKind::Node => "NodeInstance",
            NodeKind::Capability => "CapabilityInstance",
            NodeKind::Relationship => "RelationshipInstance",
            NodeKind::Artifact => "ArtifactInstance",
        };
        format!("{class}('{}')", node.name)
    }

    fn key(&self, id: NodeId) -> EcoString {
        crate::eval::special::key_of(self, id)
    }

    fn attributes(&self, id: NodeId) -> Vec<EcoString> {
        self.node(id).attributes.keys().cloned().collect()
    }

    fn has_attributes(&self, id: NodeId) -> bool {
        !self.node(id).attributes.is_empty()
    }

    fn has_attribute(&self, id: NodeId, name: &str) -> bool {
        self.node(id).attributes.contains_key(name)
    }

    fn named_in(&self, id: NodeId) -> Vec<EcoString> {
        Tree::named_in(self, id).map(|(name, _)| name.clone()).collect()
    }
}
