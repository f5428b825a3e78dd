//! Differences between the environments of a project that are resolved together, or from one resolution to the next.
//!
//! Readers of them notify the evaluation ([`purlin_value::Eval::vary`]), so that results without such reads can be
//! taken over from one environment to the next.

use crate::config::ActionKind;
use crate::graph::Actions;
use ecow::EcoString;
use purlin_value::FastSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The differences. By default there are none: there is only one environment, resolved once.
#[derive(Debug, Default)]
pub struct Varying {
    between: Between,
    variables: Names,
    providers: AtomicBool,
    /// Keys of actions, once they are known.
    actions: OnceLock<FastSet<EcoString>>,
    /// Whether a value that differs over time was read.
    is_of_its_time: AtomicBool,
}

/// Kind of resolutions made one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Between {
    #[default]
    Nothing,
    Environments,
    /// The same environment, after actions have run and files have changed.
    Rounds,
}

/// Names of variables.
#[derive(Debug, Default)]
pub enum Names {
    /// None of them.
    #[default]
    None,
    /// These.
    Some(FastSet<EcoString>),
    /// Possibly all of them.
    All,
}

impl Names {
    /// These and others.
    pub fn and(self, others: Names) -> Names {
        match (self, others) {
            (Names::All, _) | (_, Names::All) => Names::All,
            (Names::None, names) | (names, Names::None) => names,
            (Names::Some(mut names), Names::Some(others)) => {
                names.extend(others);
                Names::Some(names)
            }
        }
    }
}

impl Varying {
    /// Environments that set some variables.
    pub fn between(variables: Names) -> Self {
        Varying { between: Between::Environments, variables, ..Varying::default() }
    }

    /// One environment that is resolved again and again.
    pub fn over_time() -> Self {
        Varying { between: Between::Rounds, ..Varying::default() }
    }

    /// Whether there are several environments.
    pub fn is_watched(&self) -> bool {
        self.between == Between::Environments
    }

    /// Whether outputs of action runs differ over time.
    pub fn has_outputs(&self) -> bool {
        self.between == Between::Rounds
    }

    /// Whether a value that differs over time was read: the clock, the commit, secrets.
    pub fn is_of_its_time(&self) -> bool {
        self.is_of_its_time.load(Ordering::Relaxed)
    }

    /// Notes that the providers or their configurations differ.
    pub fn with_providers(&self) {
        self.providers.store(true, Ordering::Relaxed);
    }

    /// Whether the providers or their configurations differ.
    pub fn has_providers(&self) -> bool {
        self.providers.load(Ordering::Relaxed)
    }

    /// Notes which actions are not the same.
    pub fn with_actions(&self, actions: &Actions) {
        let varying = actions.values().filter(|action| action.varies()).map(|action| action.key.clone());
        // Once per resolution, so the cell is empty.
        let _ = self.actions.set(varying.collect());
    }

    /// Whether a variable may have another value, or may be missing.
    pub fn has_variable(&self, name: &str) -> bool {
        match &self.variables {
            Names::None => false,
            Names::Some(names) => names.contains(name),
            Names::All => true,
        }
    }

    /// Whether any variable may.
    pub fn has_variables(&self) -> bool {
        !matches!(self.variables, Names::None)
    }

    /// Whether an action differs.
    pub fn has_action(&self, key: &str) -> bool {
        self.actions.get().is_some_and(|actions| actions.contains(key))
    }

    /// Whether the value at a path of names differs.
    pub fn concerns<'n>(&self, head: &str, mut rest: impl Iterator<Item = &'n str>) -> bool {
        match self.between {
            Between::Nothing => return false,
            Between::Rounds => {
                let is_read = matches!(head, "datetime" | "git" | "secrets" | "imported" | "modules");
                self.is_of_its_time.fetch_or(is_read, Ordering::Relaxed);
                return is_read;
            }
            Between::Environments => {}
        }
        match head {
            "environment" | "modules" => true,
            "var" | "variables" => match rest.next() {
                Some(name) => self.has_variable(name),
                None => self.has_variables(),
            },
            "providers" => self.has_providers(),
            "actions" | "runtime" => {
                let Some(actions) = self.actions.get() else { return false };
                match (rest.next().and_then(kind_of), rest.next()) {
                    (Some(kind), Some(name)) => {
                        !actions.is_empty() && actions.contains(ecow::eco_format!("{}.{name}", kind.lower()).as_str())
                    }
                    // Which actions there are may differ.
                    _ => true,
                }
            }
            _ => false,
        }
    }
}

/// The kind of the actions under a key of `actions` or `runtime`.
fn kind_of(key: &str) -> Option<ActionKind> {
    match key {
        "services" => Some(ActionKind::Deploy),
        "tasks" => Some(ActionKind::Run),
        other => ActionKind::named(other),
    }
}
