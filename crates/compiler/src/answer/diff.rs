//! Compares two resolved projects, and gives each difference with its causes.
//!
//! Items of lists are matched by their names, removed nodes with similar added ones.

use crate::matching::{items, renamed};
use crate::why::{Because, Cause, cause, origin_text, why};
use purlin_model::{Node, Resolved};
use purlin_syntax::Source;
use purlin_value::encoding::from_base64;
use purlin_value::value::below;
use purlin_value::{Data, Session, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One difference.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The node; `variables` and `outputs` are those of the project.
    pub node: String,
    /// The field's dotted path; empty where the whole node was added, removed or renamed.
    pub field: String,
    /// The former name of the node, if only its name differs.
    pub renamed_from: Option<String>,
    /// Its former value; `None` if it is new.
    pub before: Option<Value>,
    /// Its new value; `None` if it was removed.
    pub after: Option<Value>,
    /// Causes of the former value: the inputs that the other side does not share.
    pub before_causes: Vec<Cause>,
    /// Causes of the new value, likewise.
    pub after_causes: Vec<Cause>,
    /// The variants of the project with this difference, if several were compared and not all have it.
    pub variants: Vec<String>,
}

/// The differences of several variants in one list: each once, with the variants that have it unless all do.
pub fn in_variants(found: Vec<(String, Vec<Difference>)>) -> Vec<Difference> {
    let all = found.len();
    let mut merged: Vec<Difference> = Vec::new();
    let mut known: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (variant, differences) in found {
        for mut difference in differences {
            let alike = known.entry((difference.node.clone(), difference.field.clone())).or_default();
            let is_same = |at: &&usize| {
                let other = &merged[**at];
                (&other.before, &other.after, &other.renamed_from)
                    == (&difference.before, &difference.after, &difference.renamed_from)
            };
            match alike.iter().find(is_same).copied() {
                Some(at) => merged[at].variants.push(variant.clone()),
                None => {
                    alike.push(merged.len());
                    difference.variants = vec![variant.clone()];
                    merged.push(difference);
                }
            }
        }
    }
    for difference in merged.iter_mut().filter(|difference| difference.variants.len() == all) {
        difference.variants.clear();
    }
    merged
}

/// Causes of a difference, on both sides, in one line; empty if it has none in a line, option or variable.
pub fn cause_text(difference: &Difference) -> String {
    let side = |causes: &[Cause]| {
        let texts: Vec<String> = causes.iter().map(origin_text).filter(|text| !text.is_empty()).collect();
        texts.join(", ")
    };
    match (side(&difference.before_causes), side(&difference.after_causes)) {
        (before, after) if before == after => after,
        (before, after) if before.is_empty() => format!("+ {after}"),
        (before, after) if after.is_empty() => format!("- {before}"),
        (before, after) => format!("{before} → {after}"),
    }
}

/// One side of a comparison: the resolved project, and the session with its origins.
pub type Side<'a> = (&'a Session, &'a Resolved);

/// All differences: the variables, then the nodes in the order before, added ones last, then the outputs.
pub fn diff(before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let sessions = (before.0, after.0);
    let sides = Sides { before: before.0, after: after.0, have_same_files: have_same_files(before.0, after.0) };
    let mut out = Vec::new();
    compare(&sides, "variables", &before.1.variables, &after.1.variables, &mut out);
    let gone: Vec<&Node> = before.1.nodes.iter().filter(|node| after.1.node(&node.id).is_none()).collect();
    let came: Vec<&Node> = after.1.nodes.iter().filter(|node| before.1.node(&node.id).is_none()).collect();
    let renamed = renamed(&gone, &came);
    for node in &before.1.nodes {
        let new_name = renamed.iter().find(|(old, _)| old.id == node.id).map(|(_, new)| *new);
        match after.1.node(&node.id).or(new_name) {
            Some(other) => {
                out.extend(new_name.map(|new| named_anew(node, new, sessions)));
                compare(&sides, &other.id, &compared(node), &compared(other), &mut out);
            }
            None => out.push(whole(&node.id, Some(&compared(node)), None, before.0)),
        }
    }
    for node in came.into_iter().filter(|node| !renamed.iter().any(|(_, new)| new.id == node.id)) {
        out.push(whole(&node.id, None, Some(&compared(node)), after.0));
    }
    compare(&sides, "outputs", &before.1.outputs, &after.1.outputs, &mut out);
    hide_copies(&mut out);
    out
}

/// A node as it is compared. What a Secret of Kubernetes holds is compared and never shown: differences are sent
/// around.
pub fn compared(node: &Node) -> Value {
    let whole = node.whole();
    let Some(fields) = whole.as_map().filter(|_| node.kind == "Secret" && node.type_name == "v1") else { return whole };
    let mut fields = fields.clone();
    for part in ["data", "stringData"] {
        let Some(held) = fields.get(part).and_then(Value::as_map) else { continue };
        let hidden = held.iter().map(|(key, value)| (key.clone(), value.clone().tainted_if(true))).collect();
        let hidden = fields.get(part).cloned().unwrap_or_default().with(Data::Map(Arc::new(hidden)));
        fields.insert(part.into(), hidden);
    }
    whole.with(Data::Map(fields.into()))
}

/// Hides the values of hidden differences in all others: a value that a Secret takes over is one.
fn hide_copies(found: &mut [Difference]) {
    let sides = |difference: &Difference| [difference.before.clone(), difference.after.clone()];
    let hidden = found.iter().flat_map(sides).flatten().filter(Value::is_tainted);
    let texts: HashSet<String> = hidden.filter_map(|value| value.as_str().map(str::to_owned)).collect();
    let decoded = texts.iter().filter_map(|text| String::from_utf8(from_base64(text.as_bytes()).ok()?).ok());
    let known: HashSet<String> = decoded.chain(texts.iter().cloned()).filter(|text| !text.is_empty()).collect();
    for difference in found.iter_mut() {
        if let (Some(before), Some(after)) = (&mut difference.before, &mut difference.after) {
            let (was, is) = hidden_alike(before, after);
            (*before, *after) = (was, is);
        }
    }
    for side in found.iter_mut().flat_map(|difference| [&mut difference.before, &mut difference.after]).flatten() {
        if side.as_str().is_some_and(|text| known.contains(text)) {
            *side = std::mem::take(side).tainted_if(true);
        }
    }
}

/// Both sides, with all values hidden that are secret on either of them: the other side has another secret in its
/// place. Items of lists are matched as in the comparison.
pub fn hidden_alike(before: &Value, after: &Value) -> (Value, Value) {
    alike(before, after, 0)
}

/// Deeper values are hidden as a whole if there is a secret in them.
const MOST_LEVELS: usize = purlin_syntax::limits::MERGE_LEVELS as usize;

fn alike(before: &Value, after: &Value, level: usize) -> (Value, Value) {
    let secrets = (before.is_tainted_deep(), after.is_tainted_deep());
    if secrets == (false, false) {
        return (before.clone(), after.clone());
    }
    let is_open = level < MOST_LEVELS && !before.is_tainted() && !after.is_tainted();
    match (&before.data, &after.data) {
        (Data::Map(low), Data::Map(high)) if is_open => {
            let mut sides = ((**low).clone(), (**high).clone());
            for (key, value) in low.iter() {
                if let Some(other) = high.get(key) {
                    let (was, is) = alike(value, other, level + 1);
                    sides.0.insert(key.clone(), was);
                    sides.1.insert(key.clone(), is);
                }
            }
            (before.clone().with(Data::Map(Arc::new(sides.0))), after.clone().with(Data::Map(Arc::new(sides.1))))
        }
        (Data::List(low), Data::List(high)) if is_open => {
            let mut sides = (low.to_vec(), high.to_vec());
            for (old, new) in items(low, high).into_iter().filter_map(|(old, new)| old.zip(new)) {
                if let (Some(was), Some(is)) = (sides.0.get_mut(old), sides.1.get_mut(new)) {
                    (*was, *is) = alike(was, is, level + 1);
                }
            }
            (before.clone().with(Value::list(sides.0).data), after.clone().with(Value::list(sides.1).data))
        }
        // A collection that contains a secret hides it itself. The value on the other side may be the same secret in
        // clear, and is hidden as a whole.
        _ => {
            let whole = !is_open || secrets == (true, true);
            (before.clone().tainted_if(whole || !secrets.0), after.clone().tainted_if(whole || !secrets.1))
        }
    }
}

fn named_anew(old: &Node, new: &Node, sessions: (&Session, &Session)) -> Difference {
    let causes = |session: &Session, node: &Node| cause(session, node.resolved.origin).into_iter().collect();
    Difference {
        node: new.id.to_string(),
        field: String::new(),
        renamed_from: Some(old.id.to_string()),
        before: None,
        after: None,
        before_causes: causes(sessions.0, old),
        after_causes: causes(sessions.1, new),
        variants: Vec::new(),
    }
}

fn whole(node: &str, before: Option<&Value>, after: Option<&Value>, session: &Session) -> Difference {
    let causes = |side: Option<&Value>| side.and_then(|value| cause(session, value.origin)).into_iter().collect();
    Difference {
        node: node.to_owned(),
        field: String::new(),
        renamed_from: None,
        before: before.cloned(),
        after: after.cloned(),
        before_causes: causes(before),
        after_causes: causes(after),
        variants: Vec::new(),
    }
}

/// The two sides of a comparison.
struct Sides<'s> {
    before: &'s Session,
    after: &'s Session,
    /// Whether both were read from the same texts: then text at the same location is equal on both sides.
    have_same_files: bool,
}

fn have_same_files(before: &Session, after: &Session) -> bool {
    let mut texts: HashMap<String, Vec<Arc<Source>>> = HashMap::new();
    for source in after.sources.all() {
        texts.entry(source.path().to_owned()).or_default().push(source);
    }
    before.sources.all().iter().all(|source| {
        let others = texts.get(source.path());
        others.is_none_or(|others| others.iter().any(|other| other.text() == source.text()))
    })
}

/// A piece of a value: its text, unless it is secret, and its origin.
type Input = (Option<String>, Cause);

/// The causes of a difference. Where the files are the same, what is written at a place is no cause: another place was
/// taken, and what decided on that is the cause, if it is known.
fn causes(sides: &Sides<'_>, was: Option<&Value>, is: Option<&Value>) -> (Vec<Cause>, Vec<Cause>) {
    let (before, after) = (inputs(sides.before, was), inputs(sides.after, is));
    if sides.have_same_files {
        let conditions = (conditions(sides.before, was), conditions(sides.after, is));
        let deciding = (deciding(&conditions.0, &conditions.1), deciding(&conditions.1, &conditions.0));
        let missing = |mine: &[Cause], theirs: &[Cause]| -> Vec<Cause> {
            mine.iter().filter(|cause| !theirs.contains(cause)).cloned().collect()
        };
        let own = (missing(&deciding.0, &deciding.1), missing(&deciding.1, &deciding.0));
        if !own.0.is_empty() && !own.1.is_empty() {
            return own;
        }
        let only = |side: &[Input]| -> Vec<Cause> { side.iter().map(|(_, cause)| cause.clone()).collect() };
        let (before, after) = (only(&before), only(&after));
        let own = (missing(&before, &after), missing(&after, &before));
        if before.len() > 1 && after.len() > 1 && !own.0.is_empty() && !own.1.is_empty() {
            return own;
        }
    }
    (own(&before, &after), own(&after, &before))
}

/// The conditions that a value was taken by.
fn conditions(session: &Session, value: Option<&Value>) -> Vec<Because> {
    let Some(value) = value.filter(|value| !value.is_tainted_deep()) else { return Vec::new() };
    let why = why(session, value);
    why.because.into_iter().chain(why.pieces.into_iter().flat_map(|piece| piece.because)).collect()
}

/// Inputs of those conditions that gave another result on the other side.
fn deciding(mine: &[Because], theirs: &[Because]) -> Vec<Cause> {
    let is_same = |one: &Because| theirs.iter().any(|other| other.text == one.text && other.place == one.place);
    let mut found: Vec<Cause> = Vec::new();
    for cause in mine.iter().filter(|one| !is_same(one)).flat_map(|one| &one.inputs) {
        if !found.contains(cause) {
            found.push(cause.clone());
        }
    }
    found
}

/// Inputs of a value: the ends of its pieces, each once. A collection without origin consists of its parts.
fn inputs(session: &Session, value: Option<&Value>) -> Vec<Input> {
    let Some(value) = value else { return Vec::new() };
    let found = pieces(session, value);
    if !found.is_empty() || value.is_tainted_deep() {
        return found;
    }
    let mut found: Vec<Input> = Vec::new();
    for input in value.leaves().take(MOST_PARTS).flat_map(|(_, leaf)| pieces(session, leaf)) {
        if !found.iter().any(|(_, cause)| *cause == input.1) {
            found.push(input);
        }
    }
    found
}

/// Number of parts of a collection whose origins are examined.
const MOST_PARTS: usize = 8;

fn pieces(session: &Session, value: &Value) -> Vec<Input> {
    let mut found: Vec<Input> = Vec::new();
    for piece in why(session, value).pieces {
        let says_nothing = piece.cause.place.is_none() && piece.cause.detail.is_empty();
        let input = (piece.text, piece.cause);
        if !says_nothing && !found.contains(&input) {
            found.push(input);
        }
    }
    found
}

/// Causes that the other side does not share; all of them if that leaves none. A piece of the same text is no cause,
/// even if it has moved within or between files.
fn own(mine: &[Input], theirs: &[Input]) -> Vec<Cause> {
    let is_same = |(text, cause): &Input| {
        theirs.iter().any(|(other, from)| match (text, other) {
            (Some(text), Some(other)) => text == other && cause.kind == from.kind,
            _ => cause == from,
        })
    };
    let is_there = |(_, cause): &Input| theirs.iter().any(|(_, from)| from == cause);
    let kept = |is_shared: &dyn Fn(&Input) -> bool| -> Vec<Cause> {
        let mut kept: Vec<Cause> = Vec::new();
        for (_, cause) in mine.iter().filter(|input| !is_shared(input)) {
            if !kept.contains(cause) {
                kept.push(cause.clone());
            }
        }
        kept
    };
    let differing = kept(&is_same);
    if !differing.is_empty() {
        return differing;
    }
    let elsewhere = kept(&is_there);
    if elsewhere.is_empty() { kept(&|_| false) } else { elsewhere }
}

fn compare<'v>(sides: &Sides<'_>, node: &str, before: &'v Value, after: &'v Value, out: &mut Vec<Difference>) {
    let mut stack = vec![(String::new(), Some(before), Some(after))];
    while let Some((path, a, b)) = stack.pop() {
        let below = |key: &str| below(&path, key);
        // A value that is secret as a whole is compared as a whole: its keys are secret too.
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
                // A place that is gone is named as it was, any other as it is: that is where `why` finds it.
                let part = |(old, new): (Option<usize>, Option<usize>)| {
                    let at = new.or(old).unwrap_or_default();
                    (below(&at.to_string()), old.and_then(|at| low.get(at)), new.and_then(|at| high.get(at)))
                };
                let all: Vec<_> = items(low, high).into_iter().map(part).collect();
                stack.extend(all.into_iter().rev());
            }
            _ if a == b => {}
            _ => {
                let (before_causes, after_causes) = causes(sides, a, b);
                out.push(Difference {
                    node: node.to_owned(),
                    field: path,
                    renamed_from: None,
                    before: a.cloned(),
                    after: b.cloned(),
                    before_causes,
                    after_causes,
                    variants: Vec::new(),
                });
            }
        }
    }
}
