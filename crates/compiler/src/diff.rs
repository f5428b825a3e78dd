//! Two resolved projects compared, each difference with its causes.

use crate::why::{Cause, cause, why};
use purlin_model::Resolved;
use purlin_value::value::below;
use purlin_value::{Data, Session, Value};

/// One difference.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The node; empty for a variable of the project.
    pub node: String,
    /// The field's dotted path; empty where the whole node was added or removed.
    pub field: String,
    /// What it was; `None` if it was not there.
    pub before: Option<Value>,
    /// What it is; `None` if it is gone.
    pub after: Option<Value>,
    /// Where what it was comes from: the inputs that the other side does not share.
    pub before_causes: Vec<Cause>,
    /// Where what it is comes from, likewise.
    pub after_causes: Vec<Cause>,
}

/// One side of a comparison: what was resolved, and the session that knows where it came from.
pub type Side<'a> = (&'a Session, &'a Resolved);

/// All differences, in the order of the nodes before, added ones last.
pub fn diff(before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let mut out = Vec::new();
    compare((before.0, after.0), "", &before.1.variables, &after.1.variables, &mut out);
    for node in &before.1.nodes {
        match after.1.node(&node.id) {
            Some(other) => compare((before.0, after.0), &node.id, &node.resolved, &other.resolved, &mut out),
            None => out.push(whole(&node.id, Some(&node.resolved), None, before.0)),
        }
    }
    for node in after.1.nodes.iter().filter(|node| before.1.node(&node.id).is_none()) {
        out.push(whole(&node.id, None, Some(&node.resolved), after.0));
    }
    out
}

fn whole(node: &str, before: Option<&Value>, after: Option<&Value>, session: &Session) -> Difference {
    let causes = |side: Option<&Value>| side.and_then(|value| cause(session, value.origin)).into_iter().collect();
    Difference {
        node: node.to_owned(),
        field: String::new(),
        before: before.cloned(),
        after: after.cloned(),
        before_causes: causes(before),
        after_causes: causes(after),
    }
}

/// What went into a value: the ends of its pieces, each once.
fn inputs(session: &Session, value: Option<&Value>) -> Vec<Cause> {
    let Some(value) = value else { return Vec::new() };
    let mut found: Vec<Cause> = Vec::new();
    for piece in why(session, value).pieces {
        let says_nothing = piece.cause.place.is_none() && piece.cause.detail.is_empty();
        if !says_nothing && !found.contains(&piece.cause) {
            found.push(piece.cause);
        }
    }
    found
}

/// Causes that the other side does not share; all of them if that leaves none.
fn own(mine: &[Cause], theirs: &[Cause]) -> Vec<Cause> {
    let kept: Vec<Cause> = mine.iter().filter(|cause| !theirs.contains(cause)).cloned().collect();
    if kept.is_empty() { mine.to_vec() } else { kept }
}

fn compare<'v>(
    sessions: (&Session, &Session),
    node: &str,
    before: &'v Value,
    after: &'v Value,
    out: &mut Vec<Difference>,
) {
    let mut stack = vec![(String::new(), Some(before), Some(after))];
    while let Some((path, a, b)) = stack.pop() {
        let below = |key: &str| below(&path, key);
        // What is secret as a whole is compared as a whole: its keys are secret too.
        let open = |side: Option<&'_ Value>| side.is_none_or(|value| !value.is_tainted());
        let parts = |side: Option<&'v Value>| side.map(|value| &value.data).filter(|_| open(a) && open(b));
        match (parts(a), parts(b)) {
            (Some(Data::Map(low)), Some(Data::Map(high))) => {
                let added = high
                    .iter()
                    .filter(|(key, _)| !low.contains_key(*key))
                    .map(|(key, value)| (below(key), None, Some(value)));
                let kept = low.iter().map(|(key, value)| (below(key), Some(value), high.get(key)));
                let all: Vec<_> = kept.chain(added).collect();
                stack.extend(all.into_iter().rev());
            }
            (Some(Data::List(low)), Some(Data::List(high))) => {
                let length = low.len().max(high.len());
                stack.extend((0..length).rev().map(|at| (below(&at.to_string()), low.get(at), high.get(at))));
            }
            _ if a == b => {}
            _ => {
                let (was, is) = (inputs(sessions.0, a), inputs(sessions.1, b));
                out.push(Difference {
                    node: node.to_owned(),
                    field: path,
                    before: a.cloned(),
                    after: b.cloned(),
                    before_causes: own(&was, &is),
                    after_causes: own(&is, &was),
                });
            }
        }
    }
}
