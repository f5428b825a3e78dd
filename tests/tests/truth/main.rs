//! Answers of `why` are true: a named literal is changed, and exactly the outputs that name it change.
//!
//! Projects are the examples and, if available next to the checkout, the recorded ones of every dialect. Each draw
//! edits a copy in memory, resolves it again and compares. `PURLIN_TRUTH=N` sets the number of draws,
//! `PURLIN_TRUTH_SEED=N` the seed, `PURLIN_TRUTH_SHOW=1` prints failures.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod corpus;
mod edit;
mod named;
#[path = "../canaries/random.rs"]
#[allow(dead_code)]
mod random;

use corpus::{Project, Side};
use edit::Way;
use named::{Place, names, places};
use purlin_compiler::{affects, diff};
use random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Draws in every run; few, because every one resolves a project.
const FEW: usize = 60;

/// Maximum number of consecutive attempts to find an edit that keeps the project valid.
const PATIENCE: usize = 100;

/// Number of projects tried for one draw.
const PROJECTS: usize = 10;

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn show(what: &str) {
    if std::env::var_os("PURLIN_TRUTH_SHOW").is_some() {
        println!("{what}");
    }
}

/// The results for one dialect.
#[derive(Default)]
struct Count {
    draws: usize,
    invalid: usize,
    held: usize,
    others: usize,
    others_held: usize,
}

/// A drawn leaf, and a literal that `why` names for it.
struct Drawn {
    whole: String,
    field: String,
    literal: Place,
}

fn draw(side: &Side, random: &mut Random) -> Option<Drawn> {
    let leaves = side.leaves();
    let (whole, field) = random.pick(&leaves).clone();
    let literals: Vec<Place> = places(side, &whole, &field).into_iter().filter(|place| place.is_literal).collect();
    if literals.is_empty() {
        return None;
    }
    Some(Drawn { whole, field, literal: random.pick(&literals).clone() })
}

/// Whether a leaf changed, ignoring hashes of the whole project.
fn is_change(before: Option<&purlin_value::Value>, after: Option<&purlin_value::Value>) -> bool {
    before.map(corpus::shown) != after.map(corpus::shown)
}

/// One draw from a project; false if it has nothing to edit.
fn try_literal(project: &Project, random: &mut Random, count: &mut Count) -> bool {
    for _ in 0..PATIENCE {
        let before = &project.side;
        let Some(drawn) = draw(before, random) else { continue };
        let Some(text) = project.text(&drawn.literal.file) else { continue };
        let edited = |way| {
            let Place { file, start, end, .. } = &drawn.literal;
            Some(project.with(file, &edit::at(&text, *start, *end, way)?))
        };
        let Some(after) = edited(Way::First) else { continue };
        let Some(after) = after else {
            count.invalid += 1;
            continue;
        };
        count.draws += 1;
        let was = before.at(&drawn.whole, &drawn.field);
        let changes = |after: &Side| is_change(was.as_ref(), after.at(&drawn.whole, &drawn.field).as_ref());
        let told = format!("{}: {} {} ← {}", project.name, drawn.whole, drawn.field, drawn.literal);
        match changes(&after) || edited(Way::Second).flatten().is_some_and(|after| changes(&after)) {
            true => count.held += 1,
            false => show(&format!("does not change: {told}")),
        }
        for difference in diff((&before.session, &before.resolved), (&after.session, &after.resolved)) {
            // A whole node that appears or disappears has no field to ask about.
            let is_whole = difference.field.is_empty() && !difference.node.is_empty();
            if is_whole || !is_change(difference.before.as_ref(), difference.after.as_ref()) {
                continue;
            }
            let node = if difference.node.is_empty() { "variables" } else { &difference.node };
            let knows = |side: &Side| names(side, node, &difference.field, &drawn.literal);
            count.others += 1;
            if knows(before) || knows(&after) {
                count.others_held += 1;
            } else {
                show(&format!("is not named: {node} {} after the edit of {told}", difference.field));
            }
        }
        return true;
    }
    false
}

#[test]
fn literals_that_why_names_change_what_names_them() {
    let mut random = Random::new(number("PURLIN_TRUTH_SEED", 1) as u64);
    let corpus = corpus::corpus();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let dialects: Vec<&str> = corpus.keys().copied().collect();
    for round in 0..number("PURLIN_TRUTH", FEW) {
        let dialect = dialects[round % dialects.len()];
        // Some projects contain no literals.
        for _ in 0..PROJECTS {
            let project = random.pick(&corpus[dialect]);
            if try_literal(project, &mut random, counts.entry(dialect).or_default()) {
                break;
            }
        }
    }
    let (mut held, mut all) = (0, 0);
    for (dialect, count) in &counts {
        let Count { draws, invalid, held: own, others, others_held } = count;
        println!(
            "{dialect}: {own} of {draws} literals change their output ({invalid} edits were invalid), {others_held} of {others} outputs that changed name the literal"
        );
        (held, all) = (held + own + others_held, all + draws + others);
    }
    println!("together {held} of {all}");
    assert!(all > 0, "nothing was drawn");
    assert!(held * 100 >= all * LITERALS_HOLD, "only {held} of {all} hold; PURLIN_TRUTH_SHOW=1 shows the others");
}

/// Percentage of draws that hold today. It only rises.
const LITERALS_HOLD: usize = 99;

#[test]
fn lines_change_the_nodes_that_they_name() {
    let mut random = Random::new(1_000 + number("PURLIN_TRUTH_SEED", 1) as u64);
    let corpus = corpus::corpus();
    let dialects: Vec<&str> = corpus.keys().copied().collect();
    // Lines, invalid edits, named nodes, named nodes that changed, changed nodes, changed nodes that were not named.
    let mut counts: BTreeMap<&str, [usize; 6]> = BTreeMap::new();
    for round in 0..number("PURLIN_TRUTH", FEW) / 2 {
        let dialect = dialects[round % dialects.len()];
        let project = random.pick(&corpus[dialect]);
        try_line(project, &mut random, counts.entry(dialect).or_default());
    }
    let (mut wrong, mut all) = (0, 0);
    for (dialect, [lines, invalid, named, kept, changed, missed]) in &counts {
        println!(
            "{dialect}: {lines} lines ({invalid} edits were invalid), {kept} of {named} named nodes changed, {missed} of {changed} changed nodes were not named"
        );
        wrong += missed + named - kept;
        all += changed + named;
    }
    println!("together {} of {all}", all - wrong);
    assert!((all - wrong) * 100 >= all * LINES_HOLD, "{wrong} of {all} do not hold; PURLIN_TRUTH_SHOW=1 shows them");
}

/// The same for lines.
const LINES_HOLD: usize = 95;

fn try_line(project: &Project, random: &mut Random, count: &mut [usize; 6]) {
    let before = &project.side;
    let files = project.read_files();
    for _ in 0..PATIENCE {
        let file = random.pick(&files).clone();
        let Some(text) = project.text(&file) else { continue };
        let lines = text.lines().count();
        if lines == 0 {
            continue;
        }
        let line = random.below(lines);
        let Some(edited) = edit::line(&text, line) else { continue };
        // A line with several values is edited as a whole, if the project stays valid.
        let whole = edit::whole_line(&text, line).and_then(|edited| project.with(&file, &edited));
        let Some(after) = whole.or_else(|| project.with(&file, &edited)) else {
            count[1] += 1;
            continue;
        };
        let number = u32::try_from(line + 1).unwrap();
        let named: BTreeSet<String> =
            affects(&before.session, &before.resolved, &file, number).into_iter().map(|one| one.node).collect();
        let mut changed = BTreeSet::new();
        for difference in diff((&before.session, &before.resolved), (&after.session, &after.resolved)) {
            let is_whole = difference.field.is_empty() && !difference.node.is_empty();
            if is_whole || is_change(difference.before.as_ref(), difference.after.as_ref()) {
                let node = if difference.node.is_empty() { "variables".to_owned() } else { difference.node };
                changed.insert(difference.renamed_from.unwrap_or(node));
            }
        }
        changed.retain(|node| before.has(node));
        let told = format!("{}: {file}:{number} `{}`", project.name, text.lines().nth(line).unwrap_or_default().trim());
        for node in changed.difference(&named) {
            show(&format!("changed without being named: {node} by {told}"));
        }
        for node in named.difference(&changed).filter(|node| *node != "outputs") {
            show(&format!("named without a change: {node} by {told}"));
        }
        count[0] += 1;
        count[5] += changed.difference(&named).count();
        let named: BTreeSet<String> = named.into_iter().filter(|node| node != "outputs").collect();
        count[2] += named.len();
        count[3] += named.intersection(&changed).count();
        count[4] += changed.len();
        return;
    }
}
