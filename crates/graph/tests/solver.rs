//! The solver on real threads: random task graphs against a slow and obvious model, and the limits of its contract.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use purlin_graph::{Cancel, Deps, NAMED_ROOTS, Outcome, Solver, State, Step};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A task of the random graphs: its dependencies, one list after the other, and whether it finally fails.
#[derive(Clone, Debug)]
struct Plan {
    needs: Vec<Vec<u16>>,
    fails: bool,
}

type Plans = Vec<Plan>;

fn plans(most: u16) -> impl Strategy<Value = Plans> {
    (1..most).prop_flat_map(|count| {
        // Mostly forward dependencies, so that large parts are free of cycles.
        let need = move |at: u16| prop_oneof![12 => (at + 1).min(count - 1)..count, 1 => 0..count];
        let plan = move |at: u16| {
            let needs = prop::collection::vec(prop::collection::vec(need(at), 0..4), 0..3);
            (needs, prop::bool::weighted(0.08)).prop_map(|(needs, fails)| Plan { needs, fails })
        };
        (0..count).map(plan).collect::<Vec<_>>()
    })
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum End {
    Done(u64),
    Failed,
    Aborted(Vec<u16>),
    Cyclic(Vec<u16>),
    Stalled,
    Cancelled,
}

fn value(at: u16, plan: &Plan, result: impl Fn(u16) -> u64) -> u64 {
    let needs = plan.needs.iter().flatten();
    needs.fold(u64::from(at) + 1, |sum, &need| sum.wrapping_mul(31).wrapping_add(result(need)))
}

/// The expected states, computed by repeating everything until nothing changes.
fn expected(plans: &Plans, roots: &[u16]) -> BTreeMap<u16, End> {
    let mut ends: BTreeMap<u16, Option<End>> = roots.iter().map(|&root| (root, None)).collect();
    // The dependencies that each unfinished task waits for.
    let mut waits: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    loop {
        let before = (ends.clone(), waits.clone());
        for at in before.0.iter().filter(|(_, end)| end.is_none()).map(|(&at, _)| at) {
            advance(at, plans, &mut ends, &mut waits);
        }
        if before == (ends.clone(), waits.clone()) {
            break;
        }
    }
    let unfinished: Vec<u16> = ends.iter().filter(|(_, end)| end.is_none()).map(|(&at, _)| at).collect();
    let onward =
        |at: u16| -> Vec<u16> { waits[&at].iter().copied().filter(|need| unfinished.contains(need)).collect() };
    let reach = |from: u16| {
        let mut seen = BTreeSet::new();
        let mut open = onward(from);
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(onward(at));
            }
        }
        seen
    };
    let reached: BTreeMap<u16, BTreeSet<u16>> = unfinished.iter().map(|&at| (at, reach(at))).collect();
    for &at in unfinished.iter().filter(|at| reached[at].contains(at)) {
        let ring = reached[&at].iter().copied().filter(|other| reached[other].contains(&at)).collect();
        ends.insert(at, Some(End::Cyclic(ring)));
    }
    loop {
        let before = ends.clone();
        for at in before.iter().filter(|(_, end)| end.is_none()).map(|(&at, _)| at) {
            if waits[&at].iter().all(|need| ends[need].is_some()) {
                let end = aborted(&waits[&at], &ends);
                ends.insert(at, Some(end));
            }
        }
        if before == ends {
            break;
        }
    }
    ends.into_iter().map(|(at, end)| (at, end.expect("the model ends every task"))).collect()
}

fn advance(at: u16, plans: &Plans, ends: &mut BTreeMap<u16, Option<End>>, waits: &mut BTreeMap<u16, Vec<u16>>) {
    for needs in &plans[at as usize].needs {
        for &need in needs {
            ends.entry(need).or_insert(None);
        }
        if needs.iter().all(|need| matches!(ends[need], Some(End::Done(_)))) {
            continue;
        }
        let asked: BTreeSet<u16> = needs.iter().copied().collect();
        waits.insert(at, asked.into_iter().collect());
        if waits[&at].iter().all(|need| ends[need].is_some()) {
            let end = aborted(&waits[&at], ends);
            ends.insert(at, Some(end));
        }
        return;
    }
    let result = |need: u16| match ends[&need] {
        Some(End::Done(result)) => result,
        _ => panic!("a need that is not done"),
    };
    let plan = &plans[at as usize];
    let end = if plan.fails { End::Failed } else { End::Done(value(at, plan, result)) };
    ends.insert(at, Some(end));
}

fn aborted(needs: &[u16], ends: &BTreeMap<u16, Option<End>>) -> End {
    let mut roots = BTreeSet::new();
    for need in needs {
        match &ends[need] {
            Some(End::Done(_)) | None => {}
            Some(End::Aborted(behind)) => roots.extend(behind),
            Some(End::Cyclic(ring)) => roots.extend(ring.first()),
            Some(_) => roots.extend([need]),
        }
    }
    End::Aborted(roots.into_iter().take(NAMED_ROOTS).collect())
}

/// One run of the real solver, with a log of its events.
struct Run {
    outcome: Outcome<u16, u64, ()>,
    /// Tasks in the order of their final answers.
    finished: Vec<u16>,
    most_in_group: usize,
}

fn run(plans: &Plans, roots: &[u16], threads: usize, limit: Option<usize>, cancel_at: Option<usize>) -> Run {
    let finished = Mutex::new(Vec::new());
    let (entries, now, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let cancel = Cancel::new();
    let solver = Solver::new(|&at: &u16, deps: &Deps<u16, u64>| {
        if at % 3 == 0 {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        }
        if Some(entries.fetch_add(1, Ordering::SeqCst)) == cancel_at {
            cancel.cancel();
        }
        let plan = &plans[at as usize];
        let missing = plan.needs.iter().find_map(|needs| deps.missing(needs.iter().copied()));
        let step = match missing {
            Some(missing) => Step::Needs(missing),
            None => {
                finished.lock().unwrap().push(at);
                if plan.fails { Step::Fail(()) } else { Step::Done(value(at, plan, |need| *deps.get(&need).unwrap())) }
            }
        };
        if at % 3 == 0 {
            now.fetch_sub(1, Ordering::SeqCst);
        }
        step
    });
    let limits: Vec<usize> = limit.into_iter().collect();
    let solver = solver.threads(threads).cancel(&cancel).groups(limits, |at| (at % 3 == 0).then_some(0));
    let outcome = solver.solve(roots.iter().copied());
    drop(solver);
    Run { outcome, finished: finished.into_inner().unwrap(), most_in_group: most.into_inner() }
}

fn ends(outcome: &Outcome<u16, u64, ()>) -> BTreeMap<u16, End> {
    let end = |state: &State<u16, u64, ()>| match state {
        State::Done(result) => End::Done(**result),
        State::Failed(()) => End::Failed,
        State::Aborted { roots } => End::Aborted(roots.to_vec()),
        State::Cyclic(cycle) => End::Cyclic(cycle.members.clone()),
        State::Stalled => End::Stalled,
        State::Cancelled => End::Cancelled,
    };
    outcome.iter().map(|(&at, state)| (at, end(state))).collect()
}

/// Each task finished once, after all its dependencies; each reported cycle is one.
fn check_run(plans: &Plans, run: &Run) {
    let mut before = HashSet::new();
    for &at in &run.finished {
        assert!(plans[at as usize].needs.iter().flatten().all(|need| before.contains(need)), "{at} ran too early");
        assert!(before.insert(at), "{at} ran twice");
    }
    for (at, state) in run.outcome.iter() {
        assert_eq!(before.contains(at), matches!(state, State::Done(_) | State::Failed(())), "{at}");
    }
    for cycle in run.outcome.cycles() {
        assert_eq!(cycle.path.first(), cycle.members.first());
        let unique: HashSet<_> = cycle.path.iter().collect();
        assert_eq!(unique.len(), cycle.path.len());
        for (at, next) in cycle.path.iter().zip(cycle.path.iter().cycle().skip(1)) {
            assert!(plans[*at as usize].needs.iter().flatten().any(|need| need == next));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_end_as_the_model_says(plans in plans(40), limit in prop::option::of(1..3_usize)) {
        let roots: Vec<u16> = (0..plans.len() as u16).step_by(5).collect();
        let expected = expected(&plans, &roots);
        let mut cycles = Vec::new();
        for threads in [1, 2, 8] {
            let run = run(&plans, &roots, threads, limit, None);
            check_run(&plans, &run);
            prop_assert_eq!(&ends(&run.outcome), &expected);
            prop_assert!(run.most_in_group <= limit.unwrap_or(usize::MAX));
            cycles.push(format!("{:?}", run.outcome.cycles()));
        }
        prop_assert!(cycles.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn cancelled_graphs_lose_nothing(plans in plans(40), at in 0..60_usize, threads in 1..5_usize) {
        let run = run(&plans, &[0], threads, Some(2), Some(at));
        check_run(&plans, &run);
        let expected = expected(&plans, &[0]);
        for (at, end) in ends(&run.outcome) {
            // Stopping may leave a task unfinished; it may not change its final state.
            prop_assert!(end == End::Cancelled || Some(&end) == expected.get(&at), "{}: {:?}", at, end);
        }
    }
}

#[test]
fn a_hundred_thousand_in_a_chain() {
    const LAST: u32 = 100_000;
    for threads in [1, 4] {
        let solver = Solver::new(|at: &u32, deps: &Deps<u32, u32>| match deps.get(&(at + 1)) {
            Some(below) => Step::<_, _, ()>::Done(below + 1),
            None if *at == LAST => Step::Done(0),
            None => Step::Needs(vec![at + 1]),
        });
        assert_eq!(solver.threads(threads).solve([0]).result(&0), Some(&LAST));
    }
}

#[test]
fn a_hundred_thousand_side_by_side() {
    for threads in [1, 4] {
        let solver = Solver::new(|at: &u32, deps: &Deps<u32, u32>| {
            if *at > 0 {
                return Step::<_, _, ()>::Done(*at);
            }
            match deps.missing(1..=100_000) {
                Some(missing) => Step::Needs(missing),
                None => Step::Done(0),
            }
        });
        let outcome = solver.threads(threads).solve([0]);
        assert!(outcome.is_complete());
        assert_eq!(outcome.len(), 100_001);
        assert_eq!(outcome.needs(&0).len(), 100_000);
    }
}

#[test]
fn a_failure_under_a_hundred_thousand_names_itself_everywhere() {
    let solver = Solver::new(|at: &u32, _: &Deps<u32, ()>| match *at {
        100_000 => Step::Fail("no"),
        at => Step::Needs(vec![at + 1]),
    });
    let outcome = solver.solve([0]);
    assert_eq!(outcome.failures().collect::<Vec<_>>(), [(&100_000, &"no")]);
    for (_, state) in outcome.iter().take(100_000) {
        assert!(matches!(state, State::Aborted { roots } if **roots == [100_000]));
    }
}

#[test]
fn a_ring_of_ten_thousand_is_reported_whole() {
    let solver = Solver::new(|at: &u32, _: &Deps<u32, ()>| Step::<_, _, ()>::Needs(vec![(at + 1) % 10_000]));
    let outcome = solver.threads(2).solve([77]);
    assert_eq!(outcome.cycles().len(), 1);
    assert_eq!(outcome.cycles()[0].path, (0..10_000).collect::<Vec<_>>());
}

#[test]
fn a_task_that_needs_itself_is_a_ring_of_one() {
    let solver = Solver::new(|at: &&str, _: &Deps<&str, ()>| Step::<_, _, ()>::Needs(vec![*at]));
    assert_eq!(solver.solve(["me"]).cycles()[0].to_string(), "me → me");
}

#[test]
fn one_thread_means_the_calling_one_and_a_chain_starts_no_other() {
    for (threads, width) in [(1, 50), (8, 1)] {
        let seen = Mutex::new(HashSet::new());
        let solver = Solver::new(|at: &u32, deps: &Deps<u32, ()>| {
            seen.lock().unwrap().insert(std::thread::current().id());
            if *at < 1_000 && deps.get(&(at + width)).is_none() {
                return Step::<_, _, ()>::Needs(vec![at + width]);
            }
            Step::Done(())
        });
        assert!(solver.threads(threads).solve(0..width).is_complete());
        assert_eq!(seen.into_inner().unwrap(), HashSet::from([std::thread::current().id()]));
    }
}

#[test]
fn a_task_that_asks_for_what_it_has_is_stopped() {
    let solver = Solver::new(|at: &u32, _: &Deps<u32, ()>| match at {
        0 => Step::<_, _, ()>::Needs(vec![1]),
        2 => Step::Needs(vec![]),
        _ => Step::Done(()),
    });
    let outcome = solver.solve([0, 2]);
    assert!(matches!(outcome.get(&0), Some(State::Stalled)));
    assert!(matches!(outcome.get(&2), Some(State::Stalled)));
}

#[test]
fn tasks_that_never_end_hit_the_limit() {
    for threads in [1, 4] {
        let solver = Solver::new(|at: &u64, _: &Deps<u64, ()>| Step::<_, _, ()>::Needs(vec![at + 1]));
        let outcome = solver.threads(threads).task_limit(5_000).solve([0]);
        assert!(outcome.exhausted());
        assert_eq!(outcome.len(), 5_000);
        assert!(outcome.iter().all(|(_, state)| matches!(state, State::Cancelled)));
    }
}

#[test]
fn a_panic_is_passed_on_and_holds_nobody_up() {
    let solver = Solver::new(|at: &u32, deps: &Deps<u32, ()>| {
        if *at == 7 {
            panic!("a bug in a task");
        }
        match deps.missing((*at < 7).then_some(7)) {
            Some(missing) => Step::<_, _, ()>::Needs(missing),
            None => Step::Done(()),
        }
    });
    let solver = solver.threads(4);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| solver.solve(0..50).len()));
    assert!(caught.is_err());
}

#[test]
fn at_most_so_many_failures_are_named() {
    let solver = Solver::new(|at: &u32, _: &Deps<u32, ()>| match at {
        0 => Step::Needs((1..=100).rev().collect()),
        _ => Step::Fail(()),
    });
    let outcome = solver.solve([0]);
    assert!(matches!(outcome.get(&0), Some(State::Aborted { roots }) if **roots == [1, 2, 3, 4, 5, 6, 7, 8]));
}
