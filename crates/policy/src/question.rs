//! The question to an evaluation, and the lines of its answer. Both travel as JSON between processes.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Policies and inputs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Question {
    /// Steps that each evaluation of one input may take.
    pub steps: u64,
    /// The name of the environment; empty if there is none.
    pub environment: String,
    /// The policies.
    pub policies: Vec<Policy>,
    /// Everything that they are evaluated over.
    pub inputs: Vec<Input>,
}

/// What a policy is evaluated over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Each object by itself.
    #[default]
    Object,
    /// All objects of an environment.
    Objects,
    /// The resolved graph.
    Graph,
}

impl Over {
    /// All of them, by the name that settings use.
    pub const NAMES: &'static [(&'static str, Over)] =
        &[("object", Over::Object), ("objects", Over::Objects), ("graph", Over::Graph)];

    /// The one of a name.
    pub fn named(name: &str) -> Option<Over> {
        Over::NAMES.iter().find(|(known, _)| *known == name).map(|(_, over)| *over)
    }

    /// Its name, which is also that of the variable in CEL.
    pub fn name(self) -> &'static str {
        Over::NAMES.iter().find(|(_, over)| *over == self).map(|(name, _)| *name).unwrap_or_default()
    }
}

/// A policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Its inputs.
    pub over: Over,
    /// Its rules.
    pub body: Body,
}

/// The rules of a policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// Modules of Rego with conftest's conventions.
    Rego {
        /// The modules.
        files: Vec<File>,
        /// Documents under `data`.
        data: Vec<Json>,
        /// Packages whose rules count; `*` for all.
        namespaces: Vec<String>,
    },
    /// An assertion in CEL.
    Cel {
        /// The inputs that it concerns; all if not set.
        when: Option<String>,
        /// What must be true.
        assert: String,
        /// The message, with expressions in braces.
        message: Option<String>,
    },
}

/// A module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    /// Its path, as messages show it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Policies that are evaluated over it.
    pub over: Over,
    /// Its content.
    pub value: Json,
    /// The file it comes from.
    pub file: String,
}

/// The severity of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Something is wrong.
    Error,
    /// Something may be wrong.
    Warning,
    /// It would be, but an exception of the policy allows it.
    Exception,
}

/// A rule by its package and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Name {
    /// `main`; empty for assertions.
    pub namespace: String,
    /// `deny_root`; empty for assertions.
    pub rule: String,
}

/// The verdict of a rule about an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The rule.
    pub name: Name,
    /// Its severity.
    pub level: Level,
    /// Its message.
    pub message: String,
    /// The path that the policy itself names as the cause.
    pub path: Option<Vec<Step>>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// An item of a list.
    Item(usize),
    /// A key of a mapping.
    Key(String),
}

/// A verdict with its policy, its input and its causes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// The index of the policy.
    pub policy: usize,
    /// The index of the input among those of the policy.
    pub input: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// Paths of values without which it would not hold, the most telling first.
    pub causes: Vec<Vec<Step>>,
}

/// Numbers of conftest's summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rules that hold.
    pub passed: usize,
    /// Warnings.
    pub warnings: usize,
    /// Failures.
    pub failures: usize,
    /// Exceptions.
    pub exceptions: usize,
}

impl Counts {
    /// Adds those of another input.
    pub fn add(&mut self, more: Counts) {
        self.passed += more.passed;
        self.warnings += more.warnings;
        self.failures += more.failures;
        self.exceptions += more.exceptions;
    }
}

/// Why a policy was not evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopKind {
    /// It cannot be read.
    Invalid,
    /// Its evaluation failed.
    Failed,
    /// It takes too many steps.
    Steps,
}

/// The reason, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Its kind.
    pub kind: StopKind,
    /// The reason.
    pub message: String,
    /// The file, line and column, both from 1.
    pub at: Option<(String, u32, u32)>,
}

/// One line of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The evaluation of a policy begins.
    Began {
        /// Its index.
        policy: usize,
    },
    /// A verdict.
    Found(Found),
    /// A policy has ended early.
    Stopped {
        /// Its index.
        policy: usize,
        /// The reason.
        stop: Stop,
    },
    /// A policy has ended.
    Counted {
        /// Its index.
        policy: usize,
        /// The numbers over all its inputs.
        counts: Counts,
    },
    /// Everything was evaluated.
    Ended,
}
