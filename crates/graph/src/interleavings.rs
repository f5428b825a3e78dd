//! The solver under a scheduler that explores interleavings: nothing hangs, is lost, or runs twice, and the outcome
//! does not depend on the scheduling of threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::{Cancel, Deps, Solver, State, Step};
use shuttle::sync::atomic::{AtomicUsize, Ordering};

type Answer = Step<&'static str, String, &'static str>;

/// A small project: a diamond, a late dependency, a failure, a cycle, and dependents of both.
fn small_project(key: &&'static str, deps: &Deps<&'static str, String>) -> Answer {
    let wait = |keys: &[&'static str]| deps.missing(keys.iter().copied());
    let missing = match *key {
        "all" => wait(&["top", "behind", "ring"]),
        "top" => wait(&["left", "right"]),
        "left" => wait(&["base"]).or_else(|| wait(&["late"])),
        "right" => wait(&["base"]),
        "behind" => wait(&["bad", "base"]),
        "ring" => wait(&["gnir"]),
        "gnir" => wait(&["ring", "base"]),
        _ => None,
    };
    match missing {
        Some(missing) => Step::Needs(missing),
        None if *key == "bad" => Step::Fail("broken"),
        None => Step::Done(key.to_uppercase()),
    }
}

fn ends(threads: usize) -> String {
    let outcome = Solver::new(small_project).threads(threads).solve(["all"]);
    let mut text = String::new();
    for (key, state) in outcome.iter() {
        let state = match state {
            State::Done(result) => result.to_string(),
            State::Failed(error) => format!("failed: {error}"),
            State::Aborted { roots } => format!("aborted by {roots:?}"),
            State::Cyclic(cycle) => format!("cycle {cycle}"),
            State::Stalled => "stalled".to_owned(),
            State::Cancelled => "cancelled".to_owned(),
        };
        text += &format!("{key}: {state}\n");
    }
    text
}

const ENDS: &str = "\
all: aborted by [\"bad\", \"gnir\"]
bad: failed: broken
base: BASE
behind: aborted by [\"bad\"]
gnir: cycle gnir → ring → gnir
late: LATE
left: LEFT
right: RIGHT
ring: cycle gnir → ring → gnir
top: TOP
";

#[test]
fn every_interleaving_ends_the_same() {
    shuttle::check_random(|| assert_eq!(ends(3), ENDS), 500);
    shuttle::check_pct(|| assert_eq!(ends(2), ENDS), 500, 3);
}

#[test]
fn two_threads_systematically() {
    let test = || {
        let entered = AtomicUsize::new(0);
        let solver = Solver::new(|key: &u8, deps: &Deps<u8, u8>| {
            if *key == 0 && deps.get(&1).is_none() {
                return Step::<u8, u8, ()>::Needs(vec![1]);
            }
            entered.fetch_add(1, Ordering::SeqCst);
            Step::Done(*key)
        });
        let outcome = solver.threads(2).solve([0, 2]);
        assert!(outcome.is_complete());
        assert_eq!(outcome.len(), 3);
        assert_eq!(entered.load(Ordering::SeqCst), 3);
    };
    shuttle::check_dfs(test, Some(3_000));
}

#[test]
fn groups_keep_their_limit() {
    let test = || {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let solver = Solver::new(|key: &u8, _: &Deps<u8, ()>| {
            if key.is_multiple_of(2) {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                shuttle::thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
            }
            Step::<u8, (), ()>::Done(())
        });
        let solver = solver.threads(4).groups([1], |key| key.is_multiple_of(2).then_some(0));
        assert!(solver.solve(0..6).is_complete());
        assert_eq!(most.load(Ordering::SeqCst), 1);
    };
    shuttle::check_random(test, 500);
}

#[test]
fn cancelling_ends_everything() {
    let test = || {
        let cancel = Cancel::new();
        let solver = Solver::new(|key: &u8, deps: &Deps<u8, u8>| {
            if *key == 2 {
                cancel.cancel();
            }
            if *key < 4 && deps.get(&(key + 1)).is_none() {
                return Step::<u8, u8, ()>::Needs(vec![key + 1]);
            }
            Step::Done(*key)
        });
        let outcome = solver.threads(3).cancel(&cancel).solve([0, 10, 11]);
        assert!(matches!(outcome.get(&0), Some(State::Cancelled)));
        for (_, state) in outcome.iter() {
            assert!(matches!(state, State::Done(_) | State::Cancelled));
        }
    };
    shuttle::check_random(test, 500);
}

#[test]
fn idle_threads_are_called() {
    // Two tasks at first, so that there are two threads; then one dependency of both; then two that only end
    // together.
    let test = || {
        let met = AtomicUsize::new(0);
        let solver = Solver::new(|key: &u8, deps: &Deps<u8, ()>| {
            if *key < 2 {
                if deps.get(&9).is_none() {
                    return Step::<u8, (), ()>::Needs(vec![9]);
                }
                met.fetch_add(1, Ordering::SeqCst);
                while met.load(Ordering::SeqCst) < 2 {
                    shuttle::thread::yield_now();
                }
            }
            Step::Done(())
        });
        assert!(solver.threads(2).solve([0, 1]).is_complete());
    };
    shuttle::check_random(test, 500);
}
