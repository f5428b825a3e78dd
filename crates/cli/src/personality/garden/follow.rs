//! `purlin garden dev` and `up`: the loop of `purlin dev`, on a Garden project.

use super::Flags;
use super::execute::split_names;
use crate::invocation::{Exit, Invocation};

/// The Deploys of names, all if there are none.
pub(super) fn deploys(names: &[&str]) -> Vec<String> {
    match split_names(names).as_slice() {
        [] => vec!["deploy.*".to_owned()],
        names => names.iter().map(|name| format!("deploy.{name}")).collect(),
    }
}

/// Runs actions, and again what changes affect, until it is interrupted.
pub(super) fn run(invocation: &mut Invocation<'_>, flags: &Flags, names: &[String]) -> Exit {
    let mut words = vec!["dev".to_owned(), "--path".to_owned()];
    words.push(flags.root.clone().unwrap_or_else(|| ".".to_owned()));
    if let Some(environment) = &flags.environment {
        words.extend(["--env".to_owned(), environment.clone()]);
    }
    for (key, value) in &flags.vars {
        words.extend(["--var".to_owned(), format!("{key}={value}")]);
    }
    for path in &flags.pending {
        words.extend(["--pending".to_owned(), path.clone()]);
    }
    words.extend(names.iter().cloned());
    crate::run_inside(invocation, &words)
}
