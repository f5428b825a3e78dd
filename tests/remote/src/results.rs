//! The cache of results.

use crate::call::{Broken, Call};
use crate::{State, locked};
use purlin_remote::digest::Digest;
use purlin_remote::message::{ActionResult, GetResult, UpdateResult};
use purlin_remote::wire::Fields;

pub(crate) fn get(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: GetResult = call.ask()?;
    let action = question.action.ok_or_else(|| Broken::status(3, "no action"))?;
    match result(state, &action) {
        Some(result) => call.answer(&result),
        None => Err(Broken::status(5, "no result")),
    }
}

pub(crate) fn update(state: &State, call: &mut Call) -> Result<(), Broken> {
    let question: UpdateResult = call.ask()?;
    if !state.nature().takes_results {
        return Err(Broken::status(12, "results are not taken"));
    }
    let action = question.action.ok_or_else(|| Broken::status(3, "no action"))?;
    let result = question.result.unwrap_or_default();
    locked(&state.results).insert(action, result.clone());
    call.answer(&result)
}

/// The result of an action whose contents are there.
pub(crate) fn result(state: &State, action: &Digest) -> Option<ActionResult> {
    let result = locked(&state.results).get(action).cloned()?;
    (state.nature().keeps_stale_results || named(state, &result).iter().all(|digest| state.blob(digest).is_some()))
        .then_some(result)
}

/// All contents that a result names.
pub(crate) fn named(state: &State, result: &ActionResult) -> Vec<Digest> {
    let mut found: Vec<Digest> = result.files.iter().filter_map(|file| file.digest).collect();
    found.extend(result.stdout_digest.iter().chain(&result.stderr_digest));
    for folder in &result.folders {
        if let Some(tree) = folder.tree {
            found.push(tree);
            found.extend(state.blob(&tree).iter().flat_map(|bytes| files(bytes)));
        }
        found.extend(folder.root);
    }
    found
}

/// The digests of files in a tree message.
fn files(tree: &[u8]) -> Vec<Digest> {
    let directories = Fields::of(tree).flatten().filter_map(|(_, field)| field.bytes().ok());
    let nodes = directories.flat_map(|bytes| Fields::of(bytes).flatten().collect::<Vec<_>>());
    let node = |(number, field): (u32, purlin_remote::wire::Field<'_>)| {
        let file: purlin_remote::message::FileNode = (number == 1).then(|| field.message().ok())??;
        file.digest
    };
    nodes.filter_map(node).collect()
}
