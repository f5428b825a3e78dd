//! No secret leaks: one generator composes sources of secrets, expressions and outputs, and searches for the secrets.
//!
//! Each dialect's module generates projects whose secrets are canaries: random texts that occur nowhere else. Every
//! command with output is run on them, and everything it prints or writes is searched for the canaries in every
//! spelling that [`needles`] knows. With `--reveal` they must be found, so that a project whose secrets never reach any
//! output does not pass for a safe one.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod charts;
mod garden;
mod inner;
mod made;
mod needles;
mod outputs;
mod project;
mod random;
mod tosca;
mod unfurl;

use project::Project;
use random::Random;

/// Runs some projects of a dialect. Returns the number of tried combinations of source, expression and output.
fn run(name: &str, rounds: u64, make: fn(&mut Random) -> Project) {
    let mut tried = 0;
    for round in 0..rounds {
        let project = make(&mut Random::new(round + 1));
        let folder = project.lay_out(&format!("{name}-{round}"));
        tried += outputs::search(&project, folder.path());
    }
    println!("{name}: {tried} combinations");
    assert!(tried > 500, "{name}: the generator tried only {tried} combinations");
}

#[test]
fn garden_projects() {
    run("garden", 4, garden::sound);
}

#[test]
fn garden_projects_with_problems() {
    run("garden-broken", 4, garden::broken);
}

#[test]
fn projects_inside_actions() {
    run("inner", 3, inner::sound);
}

#[test]
fn what_is_made_and_run() {
    run("made", 3, made::sound);
}

#[test]
fn what_is_made_and_run_with_problems() {
    run("made-broken", 3, made::broken);
}

#[test]
fn services() {
    run("tosca", 6, tosca::sound);
}

#[test]
fn services_with_problems() {
    run("tosca-broken", 6, tosca::broken);
}

#[test]
fn ensembles() {
    run("unfurl", 2, unfurl::sound);
}

#[test]
fn ensembles_with_problems() {
    run("unfurl-broken", 2, unfurl::broken);
}

#[test]
fn charts() {
    charts::search();
}
