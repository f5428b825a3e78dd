//! The values that a verdict depends on: those without which the policy does not reach it.
//!
//! A value is left out of the input, and the policy is evaluated again: if the verdict is gone, it depends on the value,
//! and the same is asked of each part. This needs no knowledge of the language of the policy.

use crate::question::{Step, Verdict};
use serde_json::Value as Json;

/// Evaluations for the verdicts about one input.
const MOST_TRIALS: usize = 400;

/// Evaluates a policy over a changed input; `None` if that fails.
pub(crate) type Again<'a> = dyn FnMut(&Json) -> Option<Vec<Verdict>> + 'a;

/// The causes of each verdict, the most telling first.
pub(crate) fn causes(input: &Json, verdicts: &[Verdict], again: &mut Again<'_>) -> Vec<Vec<Vec<Step>>> {
    let mut found = vec![Vec::new(); verdicts.len()];
    let open: Vec<usize> = (0..verdicts.len()).filter(|at| verdicts[*at].path.is_none()).collect();
    let mut trials = Trials { input, changed: input.clone(), verdicts, again, left: MOST_TRIALS, found: &mut found };
    if !open.is_empty() {
        trials.below(&mut Vec::new(), &open);
    }
    for (verdict, causes) in verdicts.iter().zip(&mut found) {
        causes.sort_by_key(|path| (is_identity(path), std::cmp::Reverse(path.len())));
        if let Some(path) = &verdict.path {
            causes.insert(0, path.clone());
        }
    }
    found
}

/// Where a value is missing: the deepest part that is there, of the paths that a policy names and the input lacks.
/// It counts if a verdict depends on nothing but which object it is.
pub(crate) fn missing(input: &Json, causes: &[Vec<Step>], mentions: &[Vec<Step>]) -> Option<Vec<Step>> {
    if !causes.iter().all(|path| is_identity(path)) {
        return None;
    }
    let absent = mentions.iter().filter(|path| at(input, path).is_none());
    let there = absent.map(|path| {
        let depth = (0..path.len()).rev().find(|end| at(input, path.get(..*end).unwrap_or_default()).is_some());
        path.get(..depth.unwrap_or(0)).unwrap_or_default()
    });
    there.filter(|path| !path.is_empty()).max_by_key(|path| path.len()).map(<[Step]>::to_vec)
}

/// Values that say which object it is: most policies ask for them, and they are rarely wrong.
fn is_identity(path: &[Step]) -> bool {
    let is = |step: Option<&Step>, name: &str| matches!(step, Some(Step::Key(key)) if key == name);
    match path {
        [one] => is(Some(one), "apiVersion") || is(Some(one), "kind"),
        [first, second] if is(Some(first), "metadata") => is(Some(second), "name") || is(Some(second), "namespace"),
        _ => is(path.last(), "name"),
    }
}

struct Trials<'t, 'a> {
    input: &'t Json,
    /// The input, with one value left out at a time.
    changed: Json,
    verdicts: &'t [Verdict],
    again: &'t mut Again<'a>,
    left: usize,
    found: &'t mut Vec<Vec<Vec<Step>>>,
}

impl Trials<'_, '_> {
    /// Finds the parts below a path that each verdict depends on; the path itself counts if none of its parts does.
    fn below(&mut self, path: &mut Vec<Step>, open: &[usize]) {
        let mut has_part = vec![false; open.len()];
        for step in steps(at(self.input, path)) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            path.push(step);
            let gone = self.gone_without(path, open);
            if !gone.is_empty() {
                for (index, verdict) in open.iter().enumerate() {
                    has_part[index] |= gone.contains(verdict);
                }
                self.below(path, &gone);
            }
            path.pop();
        }
        for (index, verdict) in open.iter().enumerate() {
            if !has_part[index] && !path.is_empty() {
                self.found[*verdict].push(path.clone());
            }
        }
    }

    /// The verdicts that are gone without a value.
    fn gone_without(&mut self, path: &[Step], open: &[usize]) -> Vec<usize> {
        let Some(removed) = take(&mut self.changed, path) else { return Vec::new() };
        let now = (self.again)(&self.changed);
        restore(&mut self.changed, path, removed);
        let Some(now) = now else { return open.to_vec() };
        open.iter().copied().filter(|verdict| !now.contains(&self.verdicts[*verdict])).collect()
    }
}

fn at<'j>(value: &'j Json, path: &[Step]) -> Option<&'j Json> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Item(index) => value.get(index),
    })
}

fn at_mut<'j>(value: &'j mut Json, path: &[Step]) -> Option<&'j mut Json> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Item(index) => value.get_mut(index),
    })
}

fn steps(value: Option<&Json>) -> Vec<Step> {
    match value {
        Some(Json::Object(map)) => map.keys().cloned().map(Step::Key).collect(),
        Some(Json::Array(items)) => (0..items.len()).map(Step::Item).collect(),
        _ => Vec::new(),
    }
}

/// Leaves a value out: a key is removed, and an item is null, so that the others keep their places.
fn take(value: &mut Json, path: &[Step]) -> Option<Json> {
    let (last, above) = path.split_last()?;
    let above = at_mut(value, above)?;
    match last {
        Step::Key(key) => above.as_object_mut()?.remove(key),
        Step::Item(index) => above.get_mut(index).map(Json::take),
    }
}

fn restore(value: &mut Json, path: &[Step], removed: Json) {
    let Some((last, above)) = path.split_last() else { return };
    let Some(above) = at_mut(value, above) else { return };
    match last {
        Step::Key(key) => {
            if let Some(map) = above.as_object_mut() {
                map.insert(key.clone(), removed);
            }
        }
        Step::Item(index) => {
            if let Some(item) = above.get_mut(index) {
                *item = removed;
            }
        }
    }
}
