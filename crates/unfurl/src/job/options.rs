//! The options of a job.

use crate::val::Val;

/// The goal of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Workflow {
    /// All instances exist and work.
    #[default]
    Deploy,
    /// All instances are removed.
    Undeploy,
    /// All instances are stopped.
    Stop,
    /// The stored status is right.
    Check,
    /// Instances created by others are known.
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

/// The failing instances to repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Repair {
    /// Instances with an error.
    #[default]
    Error,
    /// Degraded instances, too.
    Degraded,
    /// No instances.
    None,
}

/// When the configuration of an instance counts as changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ChangeDetection {
    /// When the values that its last configuration used have changed.
    #[default]
    Evaluate,
    /// Always checked, even if the instance was changed by hand.
    Always,
    /// Never.
    Skip,
}

/// The requested options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The goal.
    pub workflow: Workflow,
    /// Run operations regardless of the state of instances.
    pub force: bool,
    /// Run only operations without effects.
    pub dry_run: bool,
    /// Only show the plan.
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
    /// The instances to repair.
    pub repair: Repair,
    /// When a configuration counts as changed.
    pub change_detection: ChangeDetection,
    /// Options that differ from the defaults, in stored form.
    pub stored: Vec<(&'static str, Val)>,
}
