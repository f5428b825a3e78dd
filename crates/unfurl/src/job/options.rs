//! What a user asks of a job.

use crate::val::Val;

/// What a job brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Workflow {
    /// Everything is there and works.
    #[default]
    Deploy,
    /// Nothing is left.
    Undeploy,
    /// Nothing runs.
    Stop,
    /// The stored status is right.
    Check,
    /// What others made is known.
    Discover,
    /// A connection is ready.
    Connect,
}

impl Workflow {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Workflow::Deploy => "deploy",
            Workflow::Undeploy => "undeploy",
            Workflow::Stop => "stop",
            Workflow::Check => "check",
            Workflow::Discover => "discover",
            Workflow::Connect => "connect",
        }
    }

    /// Whether templates without an instance get one.
    pub(crate) fn makes_instances(self) -> bool {
        !matches!(self, Workflow::Undeploy | Workflow::Stop)
    }
}

/// Which instances that do not work are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Repair {
    /// Those with an error.
    #[default]
    Error,
    /// Those that are degraded, too.
    Degraded,
    /// None.
    None,
}

/// When the configuration of an instance counts as changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ChangeDetection {
    /// When the values that its last configuration used have changed.
    #[default]
    Evaluate,
    /// Always looked at, even if the instance was changed by hand.
    Always,
    /// Never.
    Skip,
}

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is to be brought about.
    pub workflow: Workflow,
    /// Run operations whatever state instances are in.
    pub force: bool,
    /// Run only what changes nothing.
    pub dry_run: bool,
    /// Nothing is to run: the plan is only shown.
    pub plan_only: bool,
    /// Check new instances first.
    pub check: bool,
    /// Delete instances that no template needs.
    pub prune: bool,
    /// Delete instances that the ensemble did not make, too.
    pub destroy_unmanaged: bool,
    /// Make no instances of new templates.
    pub skip_new: bool,
    /// Only these instances; all if empty.
    pub instances: Vec<String>,
    /// Only instances of this template.
    pub template: Option<String>,
    /// What is repaired.
    pub repair: Repair,
    /// What counts as changed.
    pub change_detection: ChangeDetection,
    /// Options that differ from the usual, as they are stored.
    pub stored: Vec<(&'static str, Val)>,
}
