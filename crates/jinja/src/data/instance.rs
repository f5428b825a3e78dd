//! Instances of the host, as far as values of templates show them: a number for each, statuses, states, priorities.
//!
//! What an instance is, only the host knows; it answers through [`Instances`].

use ecow::EcoString;

/// Identifies an instance in its host's tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// The status of an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Status {
    /// Not known.
    Unknown = 0,
    /// Working.
    Ok = 1,
    /// Working, with something wrong.
    Degraded = 2,
    /// Not working.
    Error = 3,
    /// Not created yet.
    Pending = 4,
    /// Does not exist.
    Absent = 5,
}

impl Status {
    /// All, in order.
    pub const ALL: [Status; 6] =
        [Status::Unknown, Status::Ok, Status::Degraded, Status::Error, Status::Pending, Status::Absent];

    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Status::Unknown => "unknown",
            Status::Ok => "ok",
            Status::Degraded => "degraded",
            Status::Error => "error",
            Status::Pending => "pending",
            Status::Absent => "absent",
        }
    }

    /// The status of that name.
    pub fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Ok or degraded.
    pub fn is_operational(self) -> bool {
        matches!(self, Status::Ok | Status::Degraded)
    }
}

/// The state of an instance in its life cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct State(pub u8);

/// Names of states; a state's number is its place here plus one.
pub const STATES: [&str; 12] = [
    "initial",
    "creating",
    "created",
    "configuring",
    "configured",
    "starting",
    "started",
    "stopping",
    "stopped",
    "deleting",
    "deleted",
    "error",
];

impl State {
    /// The state of that name.
    pub fn parse(name: &str) -> Option<State> {
        let at = STATES.iter().position(|state| *state == name)?;
        u8::try_from(at + 1).ok().map(State)
    }

    /// The name people write.
    pub fn name(self) -> &'static str {
        STATES.get(usize::from(self.0).wrapping_sub(1)).copied().unwrap_or("initial")
    }
}

/// The effect of an instance's failure on others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Priority {
    /// Not at all.
    Ignore = 0,
    /// A little.
    Optional = 1,
    /// Its dependants fail.
    Required = 2,
    /// A failure stops everything.
    Critical = 3,
}

impl Priority {
    /// All, in order.
    pub const ALL: [Priority; 4] = [Priority::Ignore, Priority::Optional, Priority::Required, Priority::Critical];

    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Ignore => "ignore",
            Priority::Optional => "optional",
            Priority::Required => "required",
            Priority::Critical => "critical",
        }
    }

    /// The priority of that name.
    pub fn parse(name: &str) -> Option<Priority> {
        Priority::ALL.into_iter().find(|priority| priority.name() == name)
    }
}

/// What values ask of the instances they refer to.
pub trait Instances {
    /// An instance as Python shows it: `NodeInstance('db')`.
    fn repr(&self, id: NodeId) -> String;
    /// The query that finds an instance.
    fn key(&self, id: NodeId) -> EcoString;
    /// The names of its attributes.
    fn attributes(&self, id: NodeId) -> Vec<EcoString>;
    /// Whether it has any attribute.
    fn has_attributes(&self, id: NodeId) -> bool;
    /// Whether it has this attribute.
    fn has_attribute(&self, id: NodeId, name: &str) -> bool;
    /// The names of all instances in the topology of one.
    fn named_in(&self, id: NodeId) -> Vec<EcoString>;
}

/// No instances, for values that refer to none.
#[derive(Debug, Clone, Copy)]
pub struct NoInstances;

impl Instances for NoInstances {
    fn repr(&self, _: NodeId) -> String {
        "<an instance>".to_owned()
    }

    fn key(&self, _: NodeId) -> EcoString {
        EcoString::new()
    }

    fn attributes(&self, _: NodeId) -> Vec<EcoString> {
        Vec::new()
    }

    fn has_attributes(&self, _: NodeId) -> bool {
        false
    }

    fn has_attribute(&self, _: NodeId, _: &str) -> bool {
        false
    }

    fn named_in(&self, _: NodeId) -> Vec<EcoString> {
        Vec::new()
    }
}
