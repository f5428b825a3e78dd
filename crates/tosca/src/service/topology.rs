//! The rendered service: types applied to templates, values not evaluated yet.
//!
//! The result of phase 5 and the interface for hosts such as `unfurl`: every value comes with its definition and its
//! location. Parts that a template does not set itself are shared with all templates of the same type.

use crate::entity::{Entity, Range as Bounds};
use crate::names::DeclId;
use crate::val::{Text, Val};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Span;
use std::ops::Range;
use std::sync::Arc;

/// Where a value was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// It is assigned.
    Assigned,
    /// It is the definition's default.
    Default,
    /// It was given from outside.
    Input,
    /// No value; an attribute that is not known yet.
    Nothing,
}

/// A value with its definition.
#[derive(Clone, Debug)]
pub struct Prop {
    /// The value, unevaluated.
    pub value: Val,
    /// Its definition; none for undeclared inputs.
    pub definition: Option<Arc<Entity>>,
    /// The declared data type.
    pub data_type: Option<DeclId>,
    /// Where to point.
    pub at: Span,
    /// Where it was given.
    pub given: Given,
}

/// Interfaces by name.
pub type Interfaces = IndexMap<EcoString, Arc<Interface>>;

/// Values by name.
pub type Props = IndexMap<EcoString, Prop, foldhash::fast::RandomState>;

/// A rendered service. A copy shares its nodes until they are changed.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The inputs of the service.
    pub inputs: Props,
    /// The outputs of the service.
    pub outputs: Props,
    /// The nodes, in source order.
    pub nodes: IndexMap<EcoString, Arc<Node>>,
    /// Templates with a count, and the places of their nodes.
    pub multiplied: IndexMap<EcoString, Range<usize>>,
    /// Relationships of the service as a whole, which a host uses where no requirement names another.
    pub connections: IndexMap<EcoString, Arc<Relationship>>,
    /// The groups, in source order.
    pub groups: IndexMap<EcoString, Group>,
    /// The policies, in source order.
    pub policies: IndexMap<EcoString, Policy>,
    /// The workflows, in source order.
    pub workflows: IndexMap<EcoString, Workflow>,
    /// The substitution mapping of the service.
    pub substitution: Option<Substitution>,
}

impl Topology {
    /// The places of the nodes that are made from a template.
    pub fn places(&self, template: &str) -> Range<usize> {
        if let Some(places) = self.multiplied.get(template) {
            return places.clone();
        }
        self.nodes.get_index_of(template).map_or(0..0, |place| place..place + 1)
    }
}

/// A node template with its type applied.
#[derive(Clone, Debug)]
pub struct Node {
    /// The template as written.
    pub template: Arc<Entity>,
    /// The index among the nodes of its template.
    pub index: usize,
    /// Its type.
    pub node_type: DeclId,
    /// Its properties.
    pub properties: Props,
    /// Its attributes.
    pub attributes: Props,
    /// Its capabilities.
    pub capabilities: IndexMap<EcoString, Arc<Capability>>,
    /// Its requirements, automatic ones last.
    pub requirements: Vec<Requirement>,
    /// Whether not all of its type is known, because a file could not be read.
    pub partial: bool,
    /// Its interfaces.
    pub interfaces: Interfaces,
    /// Its artifacts.
    pub artifacts: IndexMap<EcoString, Artifact>,
}

/// A capability of a node.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Its definition.
    pub definition: Arc<Entity>,
    /// Its type.
    pub capability_type: Option<DeclId>,
    /// Its properties; those of a type are shared where nothing is assigned.
    pub properties: Arc<Props>,
    /// Its attributes, shared likewise.
    pub attributes: Arc<Props>,
    /// The allowed number of incoming relationships.
    pub occurrences: Bounds,
    /// Where it is assigned, if it is.
    pub at: Option<Span>,
}

/// A requirement of a node.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its name.
    pub name: EcoString,
    /// The assignment as written; none for automatic ones.
    pub assignment: Option<Arc<Entity>>,
    /// Its definition.
    pub definition: Option<Arc<Entity>>,
    /// Its place among the assignments of the template.
    pub index: usize,
    /// Its location; for automatic ones, that of the template.
    pub at: Span,
    /// A capability of the other node, by name.
    pub capability_name: Option<Text>,
    /// The type of capability that is needed.
    pub capability_type: Option<DeclId>,
    /// The other node, by name.
    pub node_template: Option<Text>,
    /// The index among the nodes of that template.
    pub node_index: Option<Val>,
    /// The type of node that is needed.
    pub node_type: Option<DeclId>,
    /// The relationship between the two.
    pub relationship: Option<Arc<Relationship>>,
    /// Whether it may stay unmet.
    pub optional: bool,
}

/// A relationship that a requirement makes.
#[derive(Clone, Debug, Default)]
pub struct Relationship {
    /// Its type.
    pub relationship_type: Option<DeclId>,
    /// The relationship template it takes values from.
    pub template: Option<Arc<Entity>>,
    /// Its properties.
    pub properties: Props,
    /// Its attributes.
    pub attributes: Props,
    /// Its interfaces.
    pub interfaces: Interfaces,
}

/// An interface of a node, relationship or group.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its definition.
    pub definition: Arc<Entity>,
    /// Its type.
    pub interface_type: Option<DeclId>,
    /// Inputs of all its operations.
    pub inputs: Props,
    /// Its operations.
    pub operations: IndexMap<EcoString, Operation>,
    /// Its notifications.
    pub notifications: IndexMap<EcoString, Operation>,
}

/// An operation or notification.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Its description.
    pub description: EcoString,
    /// The artifact that does the work.
    pub primary: Option<Val>,
    /// Whether it has an implementation: an artifact, or a host's own means.
    pub implemented: bool,
    /// Further artifacts it depends on.
    pub dependencies: Vec<Val>,
    /// Seconds after which it has failed.
    pub timeout: Option<i64>,
    /// Where it runs.
    pub host: EcoString,
    /// Its inputs.
    pub inputs: Props,
    /// The targets of its results.
    pub outputs: Vec<(Text, Val)>,
}

/// An artifact of a node.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The entity as written, completed from the type.
    pub entity: Arc<Entity>,
    /// Its type.
    pub artifact_type: Option<DeclId>,
    /// Its properties.
    pub properties: Props,
}

/// A group of nodes.
#[derive(Clone, Debug)]
pub struct Group {
    /// The template as written.
    pub template: Arc<Entity>,
    /// Its type.
    pub group_type: DeclId,
    /// Its properties.
    pub properties: Props,
    /// Its interfaces (before TOSCA 1.3).
    pub interfaces: Interfaces,
    /// The nodes in it.
    pub members: Vec<Text>,
}

/// A policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The template as written.
    pub template: Arc<Entity>,
    /// Its type.
    pub policy_type: DeclId,
    /// Its properties.
    pub properties: Props,
    /// The nodes and groups it applies to.
    pub targets: Vec<Text>,
    /// When it acts, the type's triggers included.
    pub triggers: Vec<(EcoString, Arc<Entity>)>,
}

/// A workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// The template as written.
    pub template: Arc<Entity>,
    /// Its steps.
    pub steps: IndexMap<EcoString, Step>,
}

/// A step of a workflow.
#[derive(Clone, Debug)]
pub struct Step {
    /// The entity as written.
    pub entity: Arc<Entity>,
    /// Its activities, in order.
    pub activities: Vec<Activity>,
}

/// One thing a step does.
#[derive(Clone, Debug)]
pub enum Activity {
    /// Continues with another workflow.
    Delegate(Text),
    /// Runs another workflow here.
    Inline(Text),
    /// The node gets a state.
    SetState(Text),
    /// An operation is called.
    Call {
        /// The interface's name.
        interface: EcoString,
        /// The operation's name.
        operation: EcoString,
        /// Its inputs.
        inputs: Props,
    },
}

/// The substitution mapping of a service.
#[derive(Clone, Debug)]
pub struct Substitution {
    /// The entity as written.
    pub entity: Arc<Entity>,
    /// The node type it can replace.
    pub node_type: DeclId,
    /// The mappings of names.
    pub mappings: Vec<Mapping>,
}

/// Which part of a node is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Part {
    Property,
    Attribute,
    Capability,
    Requirement,
    Interface,
}

/// The owner of a mapped property or attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Of {
    /// The node itself.
    Node,
    /// One of its capabilities.
    Capability(EcoString),
    /// A relationship that one of its requirements makes.
    Relationship(EcoString, Which),
}

/// An index among several relationships of a requirement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The one with this index.
    At(usize),
    /// All of them, as a list.
    All,
}

impl Which {
    /// The selected items of a list.
    pub fn of<T>(self, all: &[T]) -> &[T] {
        match self {
            Which::All => all,
            Which::At(at) => all.get(at..at.saturating_add(1)).unwrap_or(&[]),
        }
    }
}

/// One mapping.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The mapped kind.
    pub part: Part,
    /// The owner.
    pub of: Of,
    /// Its name in the substituted node.
    pub name: EcoString,
    /// The index of its entry in the section; an entry may have several targets.
    pub entry: usize,
    /// How many requirements in a row it takes, if that is written.
    pub repeat: Option<u64>,
    /// Its target.
    pub target: Target,
    /// Where it is written.
    pub at: Span,
}

/// The target of a mapping.
#[derive(Clone, Debug)]
pub enum Target {
    /// To something of a node template.
    Node(EcoString, EcoString),
    /// To an input.
    Input(EcoString),
    /// From an output.
    Output(EcoString),
    /// The node that represents the outer one.
    Selected(EcoString),
    /// To a fixed value.
    Value(Val),
    /// To a target that only an orchestrator interprets.
    Other,
}
