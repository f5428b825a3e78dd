//! The values of expressions.
//!
//! A [`Val`] is a configuration value while it is being evaluated: in addition to plain data it can be an instance of
//! the ensemble, a handle to a file, an enumeration, or a collection whose items are still unevaluated. It carries its
//! taint and its origin everywhere. This must not evaluate, read files or know locations of values.

use crate::handle::External;
use crate::instance::{NodeId, Priority, State, Status};
use crate::lazy::Lazy;
use crate::object::Object;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_value::{Origin, Pending, Taint};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Insertion-ordered map of evaluated values.
pub type ValMap = IndexMap<MapKey, Val, foldhash::fast::RandomState>;

/// Shown in place of a secret.
pub const REDACTED: &str = "<<REDACTED>>";

/// Collections searched before visited ones are remembered.
const NEAR: usize = 200;

/// A value with its taint and origin.
#[derive(Clone, Debug)]
pub struct Val {
    /// The value itself.
    pub data: Data,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it is, or was computed from, a secret. Private, so that deriving a value from another one cannot forget
    /// it.
    taint: Taint,
}

/// The forms a value takes.
#[derive(Clone, Debug)]
pub enum Data {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Str(EcoString),
    /// Bytes that are not text.
    Bytes(Rc<[u8]>),
    /// Evaluated items.
    List(Rc<Items>),
    /// Evaluated entries.
    Map(Rc<ValMap>),
    /// A list or map whose items are evaluated on access.
    Lazy(Rc<Lazy>),
    /// An instance.
    Node(NodeId),
    /// The attributes of an instance, by name.
    Attributes(NodeId),
    /// Attributes, requirements and capabilities of an instance, by name.
    Names(NodeId),
    /// All instances of the topology, by name.
    AllNodes(NodeId),
    /// Attributes of all instances, by name.
    AllAttributes(NodeId),
    /// The template an instance was made from.
    Template(NodeId),
    /// A handle to something outside: a file, a path, an image.
    External(Rc<External>),
    /// An instance's status.
    Status(Status),
    /// An instance's state.
    State(State),
    /// An instance's priority.
    Priority(Priority),
    /// A missing name in a template, with the form of the access.
    Undefined(Rc<Undefined>),
    /// A template's own objects: functions, macros, loops, namespaces.
    Object(Rc<Object>),
    /// Given from outside and not known yet. Values computed from it are pending too.
    Pending(Arc<Pending>),
    /// Given from outside and broken, which was reported there.
    Broken,
}

/// The items of a list, or of a tuple, which differs only in how templates print and compare it.
#[derive(Clone, Debug)]
pub struct Items {
    values: Vec<Val>,
    /// Whether it is a tuple.
    pub tuple: bool,
}

impl std::ops::Deref for Items {
    type Target = Vec<Val>;

    fn deref(&self) -> &Vec<Val> {
        &self.values
    }
}

impl From<Vec<Val>> for Items {
    fn from(values: Vec<Val>) -> Self {
        Items { values, tuple: false }
    }
}

impl FromIterator<Val> for Items {
    fn from_iter<I: IntoIterator<Item = Val>>(values: I) -> Self {
        Items::from(Vec::from_iter(values))
    }
}

impl Items {
    /// Other items in the same kind of collection.
    pub fn with(&self, values: Vec<Val>) -> Self {
        Items { values, tuple: self.tuple }
    }

    /// The items to be changed, which makes a list of them.
    pub fn values_mut(&mut self) -> &mut Vec<Val> {
        self.tuple = false;
        &mut self.values
    }
}

/// A missing variable or attribute of a template.
#[derive(Debug, Clone)]
pub struct Undefined {
    /// The missing name.
    pub name: EcoString,
    /// Whether it is missing in another value rather than among the variables.
    pub attribute: bool,
    /// The expression text, printed back where undefined values are tolerated.
    pub text: EcoString,
    /// Whether it may be used: the missing branch of `a if b` is empty rather than an error.
    pub lenient: bool,
}

/// A map's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapKey {
    /// Text.
    Str(EcoString),
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A fraction, by its bits.
    Float(u64),
    /// Null.
    Null,
}

impl MapKey {
    /// The key as text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            MapKey::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The key as a value.
    pub fn to_val(&self) -> Val {
        match self {
            MapKey::Str(text) => Val::str(text.clone()),
            MapKey::Int(n) => Val::int(*n),
            MapKey::Bool(b) => Val::bool(*b),
            MapKey::Float(bits) => Val::float(f64::from_bits(*bits)),
            MapKey::Null => Val::null(),
        }
    }
}

impl From<&str> for MapKey {
    fn from(text: &str) -> Self {
        MapKey::Str(text.into())
    }
}

impl Default for Val {
    fn default() -> Self {
        Val::null()
    }
}

impl From<Data> for Val {
    fn from(data: Data) -> Self {
        Val::of(data, Origin::NONE, Taint::NONE)
    }
}

impl Val {
    /// Null.
    pub fn null() -> Self {
        Data::Null.into()
    }

    /// A boolean.
    pub fn bool(b: bool) -> Self {
        Data::Bool(b).into()
    }

    /// An integer.
    pub fn int(n: i64) -> Self {
        Data::Int(n).into()
    }

    /// A length as a number.
    pub fn len(n: usize) -> Self {
        Val::int(i64::try_from(n).unwrap_or(i64::MAX))
    }

    /// A fraction.
    pub fn float(x: f64) -> Self {
        Data::Float(x).into()
    }

    /// Text.
    pub fn str(text: impl Into<EcoString>) -> Self {
        Data::Str(text.into()).into()
    }

    /// Bytes, as text if they are text.
    pub fn bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Val::str(text),
            Err(_) => Data::Bytes(bytes.into()).into(),
        }
    }

    /// A list.
    pub fn list(items: Vec<Val>) -> Self {
        Data::List(Rc::new(items.into())).into()
    }

    /// A tuple.
    pub fn tuple(values: Vec<Val>) -> Self {
        Data::List(Rc::new(Items { values, tuple: true })).into()
    }

    /// A map.
    pub fn map(entries: ValMap) -> Self {
        Data::Map(Rc::new(entries)).into()
    }

    /// A map from names to values.
    pub fn record<'k>(entries: impl IntoIterator<Item = (&'k str, Val)>) -> Self {
        Val::map(entries.into_iter().map(|(key, value)| (MapKey::from(key), value)).collect())
    }

    /// An instance.
    pub fn node(id: NodeId) -> Self {
        Data::Node(id).into()
    }

    /// Several instances.
    pub fn nodes(ids: &[NodeId]) -> Self {
        Val::list(ids.iter().map(|id| Val::node(*id)).collect())
    }

    /// The same value, marked as a secret; null has nothing to hide.
    pub fn taint(mut self) -> Self {
        self.taint |= Taint::secret_if(!matches!(self.data, Data::Null));
        self
    }

    /// A value made from others: where it comes from, and whether one of them is a secret. Conversions use this one.
    pub fn of(data: Data, origin: Origin, taint: Taint) -> Self {
        let taint = if matches!(data, Data::Null) { Taint::NONE } else { taint };
        Val { data, origin, taint }
    }

    /// Replaces the data of a value, for results made from it alone.
    pub fn with(self, data: Data) -> Self {
        Val { data, ..self }
    }

    /// Whether it must not be shown.
    pub fn is_tainted(&self) -> bool {
        self.taint.is_secret()
    }

    /// Its taint, for values made from it.
    pub fn taint_of(&self) -> Taint {
        self.taint
    }

    /// The same value, marked as a secret if `tainted`.
    pub fn taint_if(self, tainted: bool) -> Self {
        if tainted { self.taint() } else { self }
    }

    /// The same value with an origin.
    pub fn from_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Str(text) => Some(text),
            Data::External(external) => external.value.as_str(),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// The plain value behind a handle.
    pub fn plain(self) -> Val {
        match &self.data {
            Data::External(external) => {
                let mut value = external.value.clone().taint_if(self.is_tainted());
                // An origin derived from the plain value is more precise.
                if !value.origin.is_known() || self.origin.is_derived() {
                    value.origin = self.origin;
                }
                value
            }
            _ => self,
        }
    }

    /// The address of a shared collection.
    pub fn shared_at(&self) -> Option<usize> {
        match &self.data {
            Data::List(items) if Rc::strong_count(items) > 1 => Some(Rc::as_ptr(items) as usize),
            Data::Map(entries) if Rc::strong_count(entries) > 1 => Some(Rc::as_ptr(entries) as usize),
            Data::Lazy(lazy) if Rc::strong_count(lazy) > 1 => Some(Rc::as_ptr(lazy) as *const () as usize),
            _ => None,
        }
    }

    /// The items, if it is an evaluated list.
    pub fn as_list(&self) -> Option<&[Val]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is an evaluated map.
    pub fn as_map(&self) -> Option<&ValMap> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value under a name of an evaluated map.
    pub fn get(&self, key: &str) -> Option<&Val> {
        self.as_map().and_then(|entries| entries.get(&MapKey::Str(key.into())))
    }

    /// Whether it or any part of it is a secret. Unevaluated lazy items do not count.
    pub fn tainted_within(&self) -> bool {
        self.tainted_counting(&mut 0)
    }

    /// The same; adds the number of visited values to `looked`.
    pub fn tainted_counting(&self, looked: &mut usize) -> bool {
        // Most values are small. A large one may hold the same collection many times, or itself.
        self.tainted_near(&mut { NEAR }, looked).unwrap_or_else(|| self.tainted_far(looked))
    }

    /// The same for a value with few collections; `None` if there are more than `left`.
    fn tainted_near(&self, left: &mut usize, looked: &mut usize) -> Option<bool> {
        *looked += 1;
        if self.is_tainted() {
            return Some(true);
        }
        if !self.holds_others() {
            return Some(false);
        }
        *left = left.checked_sub(1)?;
        let mut found = Some(false);
        self.each_inside(&mut |inside| {
            found = inside.tainted_near(left, looked);
            found == Some(false)
        });
        found
    }

    /// The same for any value: every collection is visited once, at any depth.
    fn tainted_far(&self, looked: &mut usize) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![self.clone()]);
        while let Some(value) = open.pop() {
            // The list of waiting values holds it as well, so every collection counts as shared.
            if value.shared_at().is_some_and(|address| !seen.insert(address)) {
                continue;
            }
            let mut found = value.is_tainted();
            value.each_inside(&mut |inside| {
                *looked += 1;
                found |= inside.is_tainted();
                if inside.holds_others() {
                    open.push(inside.clone());
                }
                !found
            });
            if found {
                return true;
            }
        }
        false
    }

    /// Whether it can contain other values.
    fn holds_others(&self) -> bool {
        matches!(self.data, Data::List(_) | Data::Map(_) | Data::External(_) | Data::Lazy(_))
    }

    /// Calls `go_on` with each value directly inside it, as far as evaluated, while it returns true.
    fn each_inside(&self, go_on: &mut dyn FnMut(&Val) -> bool) {
        let _ = match &self.data {
            Data::List(items) => items.iter().all(go_on),
            Data::Map(entries) => entries.values().all(go_on),
            Data::External(external) => go_on(&external.value),
            Data::Lazy(lazy) => lazy.each_evaluated(go_on),
            _ => true,
        };
    }

    /// The value as a map key, if it can be one.
    pub fn to_key(&self) -> Option<MapKey> {
        Some(match &self.data {
            Data::Str(text) => MapKey::Str(text.clone()),
            Data::Int(n) => MapKey::Int(*n),
            Data::Bool(b) => MapKey::Bool(*b),
            Data::Float(x) if x.fract() == 0.0 && x.abs() < 9e15 => MapKey::Int(*x as i64),
            Data::Float(x) => MapKey::Float(x.to_bits()),
            Data::Null => MapKey::Null,
            Data::External(external) => return external.value.to_key(),
            _ => return None,
        })
    }

    /// The kind of value, in words for messages.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Int(_) => "an integer",
            Data::Float(_) => "a float",
            Data::Str(_) => "a string",
            Data::Bytes(_) => "binary data",
            Data::List(_) => "a list",
            Data::Map(_) | Data::AllNodes(_) | Data::AllAttributes(_) | Data::Attributes(_) | Data::Names(_) => "a map",
            Data::Lazy(lazy) => lazy.kind(),
            Data::Node(_) => "an instance",
            Data::Template(_) => "a template",
            Data::External(_) => "a file handle",
            Data::Status(_) => "a status",
            Data::State(_) => "a state",
            Data::Priority(_) => "a priority",
            Data::Undefined(_) => "undefined",
            Data::Object(_) => "a function",
            Data::Pending(_) => "not known yet",
            Data::Broken => "broken",
        }
    }
}

/// Whether a value is a list; a handle never is.
pub fn is_list(value: &Val) -> bool {
    match &value.data {
        Data::List(_) => true,
        Data::Lazy(lazy) => lazy.is_list(),
        _ => false,
    }
}

/// A place in a sequence; negative counts from the end.
pub fn place(index: i64, len: usize) -> Option<usize> {
    let len = i64::try_from(len).ok()?;
    let at = if index < 0 { index + len } else { index };
    (0..len).contains(&at).then_some(at).and_then(|at| usize::try_from(at).ok())
}

/// The matches as one value: null for none, the value for one, a list for several.
pub fn as_one(mut matches: Vec<Val>) -> Val {
    match matches.len() {
        0 => Val::null(),
        1 => matches.pop().unwrap_or_else(Val::null),
        _ => Val::list(matches),
    }
}
