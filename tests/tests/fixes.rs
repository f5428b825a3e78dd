//! A word is misspelt at random; if the problem suggests a correction, applying it removes the problem and causes no
//! new one. Runs over the examples of the repository and small projects of all dialects; `PURLIN_EDITS` sets the number
//! of edits.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_compiler::survey;
use purlin_ide::{Mended, mend};
use purlin_model::Request;
use purlin_suite::edits::{Dice, rounds};
use purlin_suite::projects::{Files, projects};
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use std::collections::BTreeMap;
use std::sync::Arc;

fn opened(files: &Files) -> Session {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        world = world.file(path, text);
    }
    Session::new(Arc::new(world))
}

fn request() -> Request {
    Request { path: ".".to_owned(), ..Request::default() }
}

fn checked(files: &Files) -> (Session, Vec<Diagnostic>) {
    let session = opened(files);
    survey(&session, &request(), &[".".to_owned()]);
    let found = session.sink.since(0);
    (session, found)
}

/// Number of occurrences of each problem.
fn counts(found: &[Diagnostic]) -> BTreeMap<(&'static str, String), usize> {
    let mut counts = BTreeMap::new();
    for problem in found {
        *counts.entry((problem.rule.name, problem.message.clone())).or_insert(0) += 1;
    }
    counts
}

/// A text with one of its words misspelt.
fn misspelt(dice: &mut Dice, text: &str) -> Option<String> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_ascii_alphabetic() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend((at - from >= 5).then_some((from, at)));
                start = None;
            }
            _ => {}
        }
    }
    let (from, to) = *words.get(dice.roll(words.len()))?;
    let word: Vec<char> = text.get(from..to)?.chars().collect();
    let at = 1 + dice.roll(word.len() - 2);
    let mut wrong = word.clone();
    match dice.roll(3) {
        0 => wrong.swap(at, at + 1),
        1 => drop(wrong.remove(at)),
        _ => wrong.insert(at, word[at]),
    }
    let wrong: String = wrong.into_iter().collect();
    (wrong != text[from..to]).then(|| format!("{}{wrong}{}", &text[..from], &text[to..]))
}

#[test]
fn a_correction_takes_its_problem_away_and_makes_no_other() {
    let projects = projects();
    let mut dice = Dice(7);
    let (mut draws, mut corrected, mut refused, mut restored) = (0, BTreeMap::new(), 0, 0);
    let wanted = rounds(120);
    let clean: Vec<_> = projects.iter().map(|(_, files)| counts(&checked(files).1)).collect();
    while draws < wanted {
        let number = draws % projects.len();
        draws += 1;
        let (name, files) = &projects[number];
        let paths: Vec<&String> = files.keys().filter(|path| path.ends_with("yaml") || path.ends_with("yml")).collect();
        let path = paths[dice.roll(paths.len())];
        let Some(text) = misspelt(&mut dice, &files[path]) else { continue };
        let mut broken = files.clone();
        broken.insert(path.clone(), text.clone());
        let (_, found) = checked(&broken);
        let Mended { session, files: mended, refused: kept } = mend(&opened(&broken), &request());
        refused += kept.len();
        let context = || format!("draw {draws} in {path} of {name}:\n{text}\n{kept:?}");
        let (before, after) = (counts(&found), counts(&session.sink.since(0)));
        for (problem, count) in &after {
            assert!(before.get(problem).is_some_and(|known| known >= count), "new: {problem:?}, {}", context());
        }
        let applied: usize = mended.values().map(|file| file.count).sum();
        let (sum_before, sum_after): (usize, usize) = (before.values().sum(), after.values().sum());
        if applied == 0 {
            assert!(mended.is_empty() && sum_before == sum_after, "{}", context());
            continue;
        }
        assert!(sum_after < sum_before, "nothing is gone, {}", context());
        *corrected.entry(*name).or_insert(0) += 1;
        // The word is restored, or replaced by another word that is valid there too.
        restored += usize::from(after == clean[number]);
    }
    let total: usize = corrected.values().sum();
    eprintln!("{draws} draws, {total} corrected {corrected:?}, {restored} as before, {refused} refused");
    assert!(total * 10 >= draws, "too few mistakes can be corrected: {total} of {draws}");
    assert!(restored * 10 >= total * 9, "{restored} of {total} are as before");
    assert!(corrected.len() + 1 >= projects.len() || draws < 100, "{corrected:?}");
}
