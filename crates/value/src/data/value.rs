//! Values: the result of resolution in every dialect.
//!
//! A value is data plus its origin and whether it is secret. Collections are shared: cloning a value never copies its
//! parts. Nothing here recurses without a bound: dropping and comparing use their own stacks.

use crate::lazy::Lazy;
use crate::origin::Origin;
use crate::taint::Taint;
use crate::weight::Memo;
use ecow::EcoString;
use indexmap::IndexMap;
use std::cell::Cell;
use std::sync::Arc;

/// Keys in the order they were written, with their values.
pub type Entries = IndexMap<EcoString, Value, foldhash::fast::RandomState>;

/// A value with its origin and taint.
#[derive(Clone, Debug)]
pub struct Value {
    /// The data.
    pub data: Data,
    /// Its origin.
    pub origin: Origin,
    /// Whether it must not be shown. Private, so that it cannot be forgotten when a value is made of another.
    taint: Taint,
}

/// The data of a value.
#[derive(Clone, Debug)]
pub enum Data {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer too large for 64 signed bits, as its decimal text.
    BigInt(EcoString),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A string.
    Str(EcoString),
    /// A sequence.
    List(Arc<List>),
    /// A mapping.
    Map(Arc<Map>),
    /// Bytes that are not text.
    Bytes(Arc<[u8]>),
    /// Not computed yet; see [`crate::Eval::force`].
    Lazy(Arc<Lazy>),
    /// Known only once a task has run.
    Pending(Arc<Pending>),
    /// Invalid, and already reported.
    Poison,
}

/// What a pending value depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The tasks that must run, in order of discovery.
    pub tasks: Vec<EcoString>,
    /// The future value, as the user wrote it (`actions.deploy.db.outputs.url`).
    pub what: EcoString,
}

/// The items of a sequence. A type of its own for dropping without recursion, and for caching its size.
#[derive(Clone, Debug, Default)]
pub struct List(Vec<Value>, Memo);

/// The entries of a mapping. A type of its own for dropping without recursion, and for caching its size.
#[derive(Clone, Debug, Default)]
pub struct Map(Entries, Memo);

impl std::ops::Deref for List {
    type Target = Vec<Value>;
    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl std::ops::DerefMut for List {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        self.1.forget();
        &mut self.0
    }
}

impl std::ops::Deref for Map {
    type Target = Entries;
    fn deref(&self) -> &Entries {
        &self.0
    }
}

impl std::ops::DerefMut for Map {
    fn deref_mut(&mut self) -> &mut Entries {
        self.1.forget();
        &mut self.0
    }
}

impl Map {
    /// An empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty mapping with room for entries.
    pub fn with_capacity(entries: usize) -> Self {
        Map(Entries::with_capacity_and_hasher(entries, foldhash::fast::RandomState::default()), Memo::default())
    }

    pub(crate) fn memo(&self) -> &Memo {
        &self.1
    }

    /// Takes the entries out.
    pub fn into_entries(mut self) -> Entries {
        std::mem::take(&mut self.0)
    }
}

impl FromIterator<(EcoString, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (EcoString, Value)>>(iter: I) -> Self {
        Map(iter.into_iter().collect(), Memo::default())
    }
}

impl List {
    pub(crate) fn memo(&self) -> &Memo {
        &self.1
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        List(items, Memo::default())
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if self.0.iter().any(Value::holds_alone) && !dropped_nested(|| self.0.clear()) {
            drop_flat(std::mem::take(&mut self.0));
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.0.values().any(Value::holds_alone) && !dropped_nested(|| self.0.clear()) {
            drop_flat(std::mem::take(&mut self.0).into_values().collect());
        }
    }
}

/// Nesting depth of collections that are dropped recursively; deeper ones are taken apart first.
const DROP_DEPTH: u32 = 32;

thread_local! {
    /// Number of collections being dropped, one inside the other.
    static DROPPING: Cell<u32> = const { Cell::new(0) };
}

/// Drops the parts of a collection in place. False if the nesting is too deep already.
fn dropped_nested(drop_parts: impl FnOnce()) -> bool {
    let depth = DROPPING.get();
    if depth >= DROP_DEPTH {
        return false;
    }
    DROPPING.set(depth + 1);
    drop_parts();
    DROPPING.set(depth);
    true
}

/// Drops values with an explicit stack, so that depth costs heap memory instead of machine stack.
fn drop_flat(mut stack: Vec<Value>) {
    while let Some(value) = stack.pop() {
        match value.data {
            Data::List(list) => {
                if let Some(mut list) = Arc::into_inner(list) {
                    stack.append(&mut list.0);
                }
            }
            Data::Map(map) => {
                if let Some(mut map) = Arc::into_inner(map) {
                    stack.extend(std::mem::take(&mut map.0).into_values());
                }
            }
            _ => {}
        }
    }
}

impl From<Map> for Data {
    fn from(map: Map) -> Self {
        Data::Map(Arc::new(map))
    }
}

impl From<Vec<Value>> for Data {
    fn from(items: Vec<Value>) -> Self {
        Data::List(Arc::new(items.into()))
    }
}

impl Default for Value {
    fn default() -> Self {
        Value::null()
    }
}

impl Value {
    /// A value without an origin.
    pub fn new(data: Data) -> Self {
        Value::of(data, Origin::NONE, Taint::NONE)
    }

    /// A value made from others: with its origin, and whether one of them is a secret. Conversions use this one.
    pub fn of(data: Data, origin: Origin, taint: Taint) -> Self {
        Value { data, origin, taint }
    }

    /// The same origin and taint with other data: for a value made from this one alone.
    pub fn with(self, data: Data) -> Self {
        Value { data, ..self }
    }

    /// Null.
    pub fn null() -> Self {
        Value::new(Data::Null)
    }

    /// An invalid value that is already reported.
    pub fn poison() -> Self {
        Value::new(Data::Poison)
    }

    /// An absent value: reads as null, but a mapping omits its key.
    pub fn absent() -> Self {
        Value::null().with_origin(Origin::ABSENT)
    }

    /// A string.
    pub fn str(text: impl Into<EcoString>) -> Self {
        Value::new(Data::Str(text.into()))
    }

    /// A sequence.
    pub fn list(items: Vec<Value>) -> Self {
        Value::new(Data::List(Arc::new(items.into())))
    }

    /// A mapping.
    pub fn map(map: Map) -> Self {
        Value::new(Data::Map(Arc::new(map)))
    }

    /// A value that waits for a task.
    pub fn pending(task: impl Into<EcoString>, what: impl Into<EcoString>) -> Self {
        Value::new(Data::Pending(Arc::new(Pending { tasks: vec![task.into()], what: what.into() })))
    }

    /// The same with another origin.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// The same, secret if `tainted` is.
    pub fn tainted_if(self, tainted: bool) -> Self {
        self.tainted_by(Taint::secret_if(tainted))
    }

    /// The same, secret if its source is.
    pub fn tainted_by(mut self, taint: Taint) -> Self {
        self.taint |= taint;
        self
    }

    /// Whether it must not be shown.
    pub fn is_tainted(&self) -> bool {
        self.taint.is_secret()
    }

    /// Its taint, for values made from it.
    pub fn taint(&self) -> Taint {
        self.taint
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// Whether it is absent; see [`Value::absent`].
    pub fn is_absent(&self) -> bool {
        self.is_null() && self.origin == Origin::ABSENT
    }

    /// Whether it is invalid and reported.
    pub fn is_poison(&self) -> bool {
        matches!(self.data, Data::Poison)
    }

    /// Whether it waits for a task.
    pub fn is_pending(&self) -> bool {
        matches!(self.data, Data::Pending(_))
    }

    /// Whether it is a sequence or mapping.
    pub fn is_collection(&self) -> bool {
        matches!(self.data, Data::List(_) | Data::Map(_))
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    pub fn as_int(&self) -> Option<i64> {
        match self.data {
            Data::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match &self.data {
            Data::Int(value) => Some(*value as f64),
            Data::Float(value) => Some(*value),
            Data::BigInt(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The items, if it is a sequence.
    pub fn as_list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(list) => Some(list.as_slice()),
            _ => None,
        }
    }

    /// The entries, if it is a mapping.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The value under a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// The value at a dotted path; sequence items by number (`spec.ports.0` or `spec.ports[0]`). A part of a secret is
    /// a secret.
    pub fn at(&self, path: &str) -> Option<Value> {
        self.chain(path)?.pop()
    }

    /// The same with all enclosing values, the outermost first. Keys may contain dots.
    pub fn chain(&self, path: &str) -> Option<Vec<Value>> {
        let strip = |step: &'_ str| step.trim_end_matches(']').trim_matches(['"', '\'']).to_owned();
        let steps: Vec<String> = path.split(['.', '[']).map(strip).filter(|step| !step.is_empty()).collect();
        let mut found = vec![self.clone()];
        walk_steps(&mut found, &steps).then_some(found)
    }

    /// The same as a part of a whole: secret if the whole is, and with the origin of the whole unless it has its own.
    pub fn part_of(self, whole: &Value) -> Value {
        let origin = if self.origin.is_known() || self.is_absent() { self.origin } else { whole.origin };
        self.with_origin(origin).tainted_by(whole.taint)
    }

    /// Every scalar and empty collection below a value with its dotted path, in order. A collection that is secret as
    /// a whole is not entered: its keys are secret too.
    pub fn leaves(&self) -> Leaves<'_> {
        Leaves { stack: vec![(String::new(), self)] }
    }

    /// The kind of value, in a user's words.
    pub fn kind_name(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "boolean",
            Data::Int(_) | Data::BigInt(_) => "integer",
            Data::Float(_) => "number",
            Data::Str(_) => "string",
            Data::List(_) => "list",
            Data::Map(_) => "map",
            Data::Bytes(_) => "binary data",
            Data::Lazy(_) => "expression",
            Data::Pending(_) => "value that is not known yet",
            Data::Poison => "invalid value",
        }
    }

    /// Whether this or anything in it is secret. Lazy parts count by their own flag only.
    pub fn is_tainted_deep(&self) -> bool {
        self.any(Value::is_tainted)
    }

    /// Whether this is a collection with a single owner.
    fn holds_alone(&self) -> bool {
        match &self.data {
            Data::List(list) => Arc::strong_count(list) == 1,
            Data::Map(map) => Arc::strong_count(map) == 1,
            _ => false,
        }
    }

    /// Address of a collection, if it may be shared.
    pub fn shared_at(&self) -> Option<usize> {
        match &self.data {
            Data::List(list) if Arc::strong_count(list) > 1 => Some(Arc::as_ptr(list) as usize),
            Data::Map(map) if Arc::strong_count(map) > 1 => Some(Arc::as_ptr(map) as usize),
            _ => None,
        }
    }

    /// Whether a predicate holds for this value or anything in it.
    pub fn any(&self, question: impl Fn(&Value) -> bool) -> bool {
        if !self.is_collection() {
            return question(self);
        }
        let mut stack = vec![self];
        // Shared parts are tested once; looking that up pays off in large values only.
        let mut seen = 0u32;
        let mut asked: std::collections::HashSet<usize, foldhash::fast::RandomState> = Default::default();
        while let Some(value) = stack.pop() {
            if question(value) {
                return true;
            }
            seen = seen.saturating_add(1);
            if seen > 1_000
                && let Some(address) = value.shared_at()
                && !asked.insert(address)
            {
                continue;
            }
            match &value.data {
                Data::List(list) => stack.extend(list.iter()),
                Data::Map(map) => stack.extend(map.values()),
                _ => {}
            }
        }
        false
    }

    /// Visits every scalar in this value that is secret, or part of something secret. Shared parts are visited once.
    pub fn each_secret(&self, each: &mut dyn FnMut(&Value)) {
        let mut open = vec![(self, false)];
        let mut gone: std::collections::HashSet<(usize, bool), foldhash::fast::RandomState> = Default::default();
        while let Some((value, inside)) = open.pop() {
            let is_secret = inside || value.is_tainted();
            if value.shared_at().is_some_and(|address| !gone.insert((address, is_secret))) {
                continue;
            }
            match &value.data {
                Data::List(list) => open.extend(list.iter().map(|item| (item, is_secret))),
                Data::Map(map) => open.extend(map.values().map(|item| (item, is_secret))),
                Data::Null | Data::Pending(_) | Data::Poison | Data::Lazy(_) => {}
                _ if is_secret => each(value),
                _ => {}
            }
        }
    }
}

/// The leaves of a value; see [`Value::leaves`].
pub struct Leaves<'v> {
    stack: Vec<(String, &'v Value)>,
}

/// Continues from the last value found; false if a step leads nowhere. Steps are joined where a key contains dots.
fn walk_steps(found: &mut Vec<Value>, steps: &[String]) -> bool {
    let (Some(here), false) = (found.last().cloned(), steps.is_empty()) else { return true };
    for count in 1..=steps.len() {
        let (key, rest) = steps.split_at(count);
        let part = match &here.data {
            Data::Map(map) if count == 1 => map.get(key[0].as_str()),
            Data::Map(map) => map.get(key.join(".").as_str()),
            Data::List(list) if count == 1 => key[0].parse::<usize>().ok().and_then(|at| list.get(at)),
            _ => return false,
        };
        if let Some(part) = part {
            found.push(part.clone().part_of(&here));
            if walk_steps(found, rest) {
                return true;
            }
            found.pop();
        }
    }
    false
}

/// A dotted path with one more step.
pub fn below(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

impl<'v> Iterator for Leaves<'v> {
    type Item = (String, &'v Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (path, value) = self.stack.pop()?;
            match &value.data {
                Data::Map(map) if !map.is_empty() && !value.is_tainted() => {
                    self.stack.extend(map.iter().rev().map(|(key, value)| (below(&path, key), value)));
                }
                Data::List(list) if !list.is_empty() && !value.is_tainted() => {
                    let items = list.iter().enumerate().rev();
                    self.stack.extend(items.map(|(at, value)| (below(&path, &at.to_string()), value)));
                }
                _ => return Some((path, value)),
            }
        }
    }
}

/// Equal data; origin and taint do not count. Numbers of different kinds differ, mappings ignore order.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let mut stack = vec![(self, other)];
        while let Some((a, b)) = stack.pop() {
            match (&a.data, &b.data) {
                (Data::List(a), Data::List(b)) => {
                    if a.len() != b.len() {
                        return false;
                    }
                    stack.extend(a.iter().zip(b.iter()));
                }
                (Data::Map(a), Data::Map(b)) => {
                    if a.len() != b.len() {
                        return false;
                    }
                    for (key, value) in a.iter() {
                        let Some(other) = b.get(key) else { return false };
                        stack.push((value, other));
                    }
                }
                (a, b) => {
                    if !same_leaf(a, b) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

fn same_leaf(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Null, Data::Null) | (Data::Poison, Data::Poison) => true,
        (Data::Bool(a), Data::Bool(b)) => a == b,
        (Data::Int(a), Data::Int(b)) => a == b,
        (Data::BigInt(a), Data::BigInt(b)) => a == b,
        (Data::Float(a), Data::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::Bytes(a), Data::Bytes(b)) => a == b,
        (Data::Pending(a), Data::Pending(b)) => a == b,
        (Data::Lazy(a), Data::Lazy(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::new(Data::Bool(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::new(Data::Int(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::new(Data::Float(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::str(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::str(value)
    }
}

impl From<EcoString> for Value {
    fn from(value: EcoString) -> Self {
        Value::str(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Value::list(value)
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Value::map(value)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn deep_values_drop_and_compare_without_recursion() {
        let nest = || {
            let mut value = Value::from(1);
            for at in 0..200_000 {
                value = if at % 2 == 0 {
                    Value::list(vec![value])
                } else {
                    Value::map(Map::from_iter([("k".into(), value)]))
                };
            }
            value
        };
        let check = move || assert!(nest() == nest());
        std::thread::Builder::new().stack_size(64 * 1024).spawn(check).unwrap().join().unwrap();
    }

    #[test]
    fn paths_reach_into_lists() {
        let value = Value::map(Map::from_iter([("a".into(), Value::list(vec![Value::from(1), Value::from("x")]))]));
        assert_eq!(value.at("a.1"), Some(Value::from("x")));
        assert_eq!(value.at("a[0]"), Some(Value::from(1)));
        assert_eq!(value.at("a.7"), None);
    }

    #[test]
    fn integers_and_floats_differ() {
        assert_ne!(Value::from(1), Value::from(1.0));
    }
}
