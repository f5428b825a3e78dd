//! Go-typed values as templates see them, and the heap that owns lists and maps.
//!
//! Maps and lists are handles into the heap of one render, so that `set` and `merge` alias as they do in Go,
//! cyclic maps cost nothing to drop and no reference counts are touched while evaluating. Knows nothing of
//! templates, functions or files.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::hole::Holes;
use crate::object::Object;
use crate::reads::{Reads, Watch};
use crate::rope::Piece;
use purlin_value::{Exceeded, Meter};

/// A Go string: bytes, cheap to clone, optionally with the pieces it was made from.
#[derive(Clone)]
pub struct Str(Arc<Body>);

struct Body {
    /// Short texts, which most are, are stored inline.
    bytes: SmallVec<[u8; 24]>,
    pieces: Option<Box<[Piece]>>,
    /// The meter that counts it as long as it is held.
    meter: Option<Arc<Meter>>,
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(meter) = &self.meter {
            meter.release(self.bytes.len() as u64);
        }
    }
}

/// Bytes as text; those that are not UTF-8 become the replacement character.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

impl Str {
    /// Makes a string of these bytes, without pieces.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Body { bytes: SmallVec::from_vec(bytes.into()), pieces: None, meter: None }))
    }

    /// Makes a string with the origins of its parts.
    pub fn with_pieces(bytes: Vec<u8>, pieces: Vec<Piece>) -> Self {
        let pieces = if pieces.is_empty() { None } else { Some(pieces.into_boxed_slice()) };
        Self(Arc::new(Body { bytes: SmallVec::from_vec(bytes), pieces, meter: None }))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The text; bytes that are not UTF-8 become the replacement character.
    pub fn text(&self) -> Cow<'_, str> {
        text_of(&self.0.bytes)
    }

    /// Counts the text as held until it is released; a shared one was counted when it was made.
    pub(crate) fn hold(&mut self, meter: &Arc<Meter>) -> Result<(), Exceeded> {
        let Some(body) = Arc::get_mut(&mut self.0).filter(|body| body.meter.is_none()) else { return Ok(()) };
        let pieces = body.pieces.as_ref().map_or(0, |pieces| size_of_val(&**pieces));
        meter.charge(0, (body.bytes.len() + pieces) as u64)?;
        meter.release(pieces as u64);
        body.meter = Some(meter.clone());
        Ok(())
    }

    /// The bytes stored outside of its body, unless the meter counts them already.
    fn outside(&self) -> usize {
        if self.0.bytes.spilled() && self.0.meter.is_none() { self.0.bytes.len() } else { 0 }
    }

    /// The origins of its parts, if known by part.
    pub fn pieces(&self) -> Option<&[Piece]> {
        self.0.pieces.as_deref()
    }

    /// Whether a piece of it is a secret.
    pub fn is_tainted(&self) -> bool {
        self.pieces().is_some_and(|pieces| pieces.iter().any(|piece| piece.tainted))
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.bytes.is_empty()
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.0.bytes.len()
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}
impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::new(text.into_bytes())
    }
}
impl From<&[u8]> for Str {
    fn from(bytes: &[u8]) -> Self {
        Self(Arc::new(Body { bytes: SmallVec::from_slice(bytes), pieces: None, meter: None }))
    }
}
impl From<Vec<u8>> for Str {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}
impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}
impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.bytes() == other.bytes()
    }
}
impl Eq for Str {}
impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Str {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}
impl Borrow<[u8]> for Str {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

/// Handle of a list on the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef(u32);

impl ListRef {
    /// Its index on the heap.
    pub(crate) fn index(self) -> u32 {
        self.0
    }
}

/// Handle of a map on the heap, with a Go type: the same entries may be seen with several types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRef {
    index: u32,
    /// Its Go type.
    pub kind: MapType,
}

impl MapRef {
    /// The same entries with another type.
    pub fn seen_as(self, kind: MapType) -> Self {
        Self { kind, ..self }
    }

    /// Its index on the heap.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// Whether both share the same entries.
    pub fn is_same(self, other: Self) -> bool {
        self.index == other.index
    }
}

/// The content of a value, with the Go type where it is observable.
#[derive(Clone, Debug)]
pub enum Data {
    /// nil: untyped, or a nil interface when [`Val::is_interface`].
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `int64`
    Int64(i64),
    /// `uint64`
    Uint64(u64),
    /// `uint8`
    Uint8(u8),
    /// `float64`
    Float(f64),
    /// `complex128`
    Complex(Arc<(f64, f64)>),
    /// `string`
    Str(Str),
    /// `[]byte`
    Bytes(Str),
    /// a slice
    List(ListRef),
    /// a map with string keys
    Map(MapRef),
    /// `time.Duration`, nanoseconds
    Duration(i64),
    /// A struct with fields and methods.
    Object(Arc<Object>),
}

const INTERFACE: u8 = 1;
const TAINTED: u8 = 2;

impl Data {
    /// The name of a type that is its own kind; empty for all others.
    fn plain_name(&self) -> &'static str {
        match self {
            Data::Bool(_) => "bool",
            Data::Int(_) => "int",
            Data::Int64(_) => "int64",
            Data::Uint64(_) => "uint64",
            Data::Uint8(_) => "uint8",
            Data::Float(_) => "float64",
            Data::Complex(_) => "complex128",
            Data::Str(_) => "string",
            Data::Nil | Data::Bytes(_) | Data::List(_) | Data::Map(_) | Data::Duration(_) | Data::Object(_) => "",
        }
    }
}

/// A value with its origin (a number chosen by the host; 0 is none), taint and static type.
#[derive(Clone, Debug)]
pub struct Val {
    /// The content.
    pub data: Data,
    /// Its origin, 0 if unknown.
    pub origin: u32,
    flags: u8,
}

impl Val {
    /// The untyped nil.
    pub const NIL: Self = Self { data: Data::Nil, origin: 0, flags: 0 };

    /// A value without origin.
    pub fn new(data: Data) -> Self {
        Self { data, origin: 0, flags: 0 }
    }
    /// A string value.
    pub fn str(text: impl Into<Str>) -> Self {
        Self::new(Data::Str(text.into()))
    }
    /// The key of a map as a value.
    pub(crate) fn key(key: Str) -> Self {
        let tainted = key.is_tainted();
        Self::new(Data::Str(key)).taint(tainted)
    }
    /// A Go `int`.
    pub fn int(number: i64) -> Self {
        Self::new(Data::Int(number))
    }
    /// A Go `bool`.
    pub fn bool(truth: bool) -> Self {
        Self::new(Data::Bool(truth))
    }
    /// A Go `float64`.
    pub fn float(number: f64) -> Self {
        Self::new(Data::Float(number))
    }
    /// The same value with this origin.
    pub fn at(mut self, origin: u32) -> Self {
        self.origin = origin;
        self
    }
    /// The same value marked secret, or not.
    pub fn taint(mut self, tainted: bool) -> Self {
        if tainted {
            self.flags |= TAINTED;
        }
        self
    }
    /// Marks the value as a secret.
    pub(crate) fn mark_secret(&mut self) {
        self.flags |= TAINTED;
    }
    /// Whether the value is, or was made from, a secret.
    pub fn is_tainted(&self) -> bool {
        self.flags & TAINTED != 0
    }
    /// Whether the value is secret though no piece of its text is: then all of them are. If some pieces are secret,
    /// the others need not be.
    pub(crate) fn is_tainted_as_whole(&self) -> bool {
        self.is_tainted() && !self.as_str().is_some_and(Str::is_tainted)
    }
    /// The same value in an interface, as map and list elements are.
    pub(crate) fn boxed(mut self) -> Self {
        self.flags |= INTERFACE;
        self
    }
    /// The value inside the interface.
    pub fn unboxed(mut self) -> Self {
        self.flags &= !INTERFACE;
        self
    }
    /// Whether the static type is `interface {}`.
    pub(crate) fn is_interface(&self) -> bool {
        self.flags & INTERFACE != 0
    }
    /// Whether it is nil, typed as interface or not.
    pub fn is_nil(&self) -> bool {
        matches!(self.data, Data::Nil)
    }
    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&Str> {
        match &self.data {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }
    /// The map, if it is one.
    pub fn as_map(&self) -> Option<MapRef> {
        match self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }
    /// The list, if it is one.
    pub fn as_list(&self) -> Option<ListRef> {
        match self.data {
            Data::List(list) => Some(list),
            _ => None,
        }
    }
}

/// The Go type of a slice, where it is observable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Strings,
    /// `[]int`
    Ints,
    /// `[][]interface {}`
    Lists,
    /// `[]map[string]interface {}`
    Maps,
    /// The list of API versions, with its method `Has`.
    VersionSet,
}

impl ListType {
    /// The name Go prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "[]interface {}",
            Self::Strings => "[]string",
            Self::Ints => "[]int",
            Self::Lists => "[][]interface {}",
            Self::Maps => "[]map[string]interface {}",
            Self::VersionSet => "common.VersionSet",
        }
    }
    fn boxes(self) -> bool {
        self == Self::Any
    }
}

/// The Go type of a map, where it is observable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// `map[string]interface {}`
    Any,
    /// The same, but nil: empty, and `null` in JSON.
    Nil,
    /// `map[string]string`
    Strings,
    /// Chart values, with methods.
    Values,
    /// Chart files, with methods.
    Files,
}

impl MapType {
    /// The name Go prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any | Self::Nil => "map[string]interface {}",
            Self::Strings => "map[string]string",
            Self::Values => "common.Values",
            Self::Files => "engine.files",
        }
    }
    /// Whether elements are interfaces.
    pub fn boxes(self) -> bool {
        matches!(self, Self::Any | Self::Nil | Self::Values)
    }
    /// The value of a missing key.
    pub fn zero(self) -> Val {
        match self {
            Self::Any | Self::Nil | Self::Values => Val::NIL.boxed(),
            Self::Strings => Val::str(""),
            Self::Files => Val::new(Data::Bytes(Str::new(Vec::new()))),
        }
    }
}

/// A slice on the heap; immutable once the function that made it has returned.
#[derive(Debug)]
pub struct List {
    /// Its Go type.
    pub kind: ListType,
    /// Whether it is the nil slice, which JSON writes as `null`.
    pub nil: bool,
    /// The elements.
    pub items: Vec<Val>,
}

/// A map on the heap.
#[derive(Debug)]
pub struct Map {
    /// The entries in key order.
    pub entries: BTreeMap<Str, Val>,
}

/// A map for lookups during evaluation.
pub(crate) type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Memory of a text beside its bytes: its body, and its overhead.
const TEXT_BYTES: usize = size_of::<Body>() + 16;

/// Memory of a map entry: a value, and a key with a body of its own.
pub(crate) const ENTRY_BYTES: usize = 2 * size_of::<Val>() + TEXT_BYTES;

/// Memory of an element: an unshared text has a body of its own.
fn element_bytes(value: &Val) -> usize {
    let own = match &value.data {
        Data::Str(text) if Arc::strong_count(&text.0) == 1 => TEXT_BYTES + text.outside(),
        _ => 0,
    };
    size_of::<Val>() + own
}

/// Memory of an entry's texts outside of their bodies.
fn entry_outside((key, value): (&Str, &Val)) -> usize {
    let own = |text: &Str| if Arc::strong_count(&text.0) == 1 { text.outside() } else { 0 };
    own(key) + if let Data::Str(text) = &value.data { own(text) } else { 0 }
}

/// Size of a part of a value when written, beside its text.
const PART_BYTES: usize = 8;

/// Whether a collection with an index of at least `old` is visited for the first time.
fn is_first(met: &mut [bool], index: usize, old: usize) -> bool {
    let slot = index.checked_sub(old).and_then(|at| met.get_mut(at));
    slot.is_some_and(|met| !std::mem::replace(met, true))
}

/// Owns every list and map of one render.
#[derive(Debug, Default)]
pub struct Heap {
    lists: Vec<List>,
    maps: Vec<Map>,
    held: usize,
    /// Number of lists and maps when the current file began.
    old: (usize, usize),
    /// Older maps that were given younger values since.
    reached: Vec<u32>,
    /// Whether any map was ever given a secret key: until then, searches for one are skipped.
    secret_keys: bool,
    /// Texts of pending values.
    pub holes: Holes,
    /// Records what is read of the given values, if that is wanted.
    watch: Option<Box<Watch>>,
    /// Number of watched mappings, the first ones of the heap.
    watched: u32,
}

impl Heap {
    /// Records from now on what is read of these values, which are all that the heap holds. False for values that are
    /// no mapping.
    pub fn watch(&mut self, values: &Val) -> bool {
        self.watch = Watch::of(self, values).map(Box::new);
        self.watched = self.watch.as_ref().map_or(0, |watch| watch.len());
        self.watch.is_some()
    }
    /// What was read of the values since the last call; `None` if that is not recorded, or an older collection was
    /// changed: then later parts depend on earlier ones.
    pub fn take_reads(&mut self) -> Option<Reads> {
        self.watch.as_ref().filter(|watch| !watch.has_changed).map(|watch| watch.take())
    }
    /// Whether an older collection was changed since reads are recorded.
    pub fn has_changed(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.has_changed)
    }
    /// The watch over a mapping.
    fn watch_over(&self, map: MapRef) -> Option<&Watch> {
        if map.index < self.watched { self.watch.as_deref() } else { None }
    }
    /// Notes that a mapping changes.
    fn note_change(&mut self, map: MapRef) {
        let is_old = (map.index as usize) < self.old.1;
        if let Some(watch) = self.watch.as_mut().filter(|_| is_old) {
            watch.has_changed = true;
        }
    }
    pub(crate) fn count_of_maps(&self) -> usize {
        self.maps.len()
    }
    pub(crate) fn entries_at(&self, index: u32) -> impl Iterator<Item = (&Str, &Val)> {
        self.maps.get(index as usize).into_iter().flat_map(|map| &map.entries)
    }
    /// Begins a part of the render whose collections are released at its end, unless an older map holds one.
    pub fn begin(&mut self) {
        self.old = (self.lists.len(), self.maps.len());
    }
    /// Frees the collections made since [`Heap::begin`] that are not reachable from older maps. Their memory stays
    /// counted.
    pub fn end(&mut self) {
        let (lists, maps) = self.survivors();
        let unused =
            |survives: &[bool]| survives.len() - survives.iter().rposition(|survives| *survives).map_or(0, |at| at + 1);
        self.lists.truncate(self.lists.len() - unused(&lists));
        self.maps.truncate(self.maps.len() - unused(&maps));
        // Handles are indices, so freed ones in between stay as empty entries.
        for (list, _) in self.lists.iter_mut().skip(self.old.0).zip(lists).filter(|(_, survives)| !survives) {
            list.items = Vec::new();
        }
        for (map, _) in self.maps.iter_mut().skip(self.old.1).zip(maps).filter(|(_, survives)| !survives) {
            map.entries = BTreeMap::new();
        }
        self.old = (0, 0);
    }
    /// The younger lists and maps that are reachable from older maps.
    fn survivors(&mut self) -> (Vec<bool>, Vec<bool>) {
        let mut lists = vec![false; self.lists.len() - self.old.0];
        let mut maps = vec![false; self.maps.len() - self.old.1];
        let reached = std::mem::take(&mut self.reached);
        let holding = reached.iter().filter_map(|index| self.maps.get(*index as usize));
        let mut stack: Vec<&Val> = holding.flat_map(|map| map.entries.values()).collect();
        while let Some(value) = stack.pop() {
            match &value.data {
                Data::List(list) if is_first(&mut lists, list.0 as usize, self.old.0) => {
                    stack.extend(&self.get_list(*list).items);
                }
                Data::Map(map) if is_first(&mut maps, map.index as usize, self.old.1) => {
                    stack.extend(self.unread_map(*map).entries.values());
                }
                Data::Object(object) => stack.extend(object.values()),
                _ => {}
            }
        }
        (lists, maps)
    }
    /// Whether a value may refer to a collection made since the part began.
    fn is_young(&self, value: &Val) -> bool {
        match &value.data {
            Data::List(list) => list.0 as usize >= self.old.0,
            Data::Map(map) => map.index as usize >= self.old.1,
            Data::Object(_) => true,
            _ => false,
        }
    }
    /// A new list.
    pub fn list(&mut self, kind: ListType, items: Vec<Val>) -> Val {
        let nil = false;
        self.push_list(List { kind, nil, items })
    }
    /// A new `[]interface {}`.
    pub fn any_list(&mut self, items: Vec<Val>) -> Val {
        self.list(ListType::Any, items)
    }
    /// A new `[]string`.
    pub fn strings(&mut self, items: impl IntoIterator<Item = Str>) -> Val {
        let items = items.into_iter().map(|text| Val::new(Data::Str(text))).collect();
        self.list(ListType::Strings, items)
    }
    /// The nil slice of a type.
    pub(crate) fn nil_list(&mut self, kind: ListType) -> Val {
        self.push_list(List { kind, nil: true, items: Vec::new() })
    }
    fn push_list(&mut self, mut list: List) -> Val {
        // Lists never grow again: spare capacity would be uncounted memory.
        list.items.shrink_to_fit();
        self.held += list.items.iter().map(element_bytes).sum::<usize>() + size_of::<List>();
        let index = self.lists.len() as u32;
        self.lists.push(list);
        Val::new(Data::List(ListRef(index)))
    }
    /// A new map.
    pub fn map(&mut self, kind: MapType, entries: BTreeMap<Str, Val>) -> Val {
        let outside: usize = entries.iter().map(entry_outside).sum();
        self.held += entries.len() * ENTRY_BYTES + outside + size_of::<Map>();
        let index = self.maps.len() as u32;
        self.maps.push(Map { entries });
        Val::new(Data::Map(MapRef { index, kind }))
    }
    /// A new `map[string]interface {}`.
    pub fn any_map(&mut self, entries: BTreeMap<Str, Val>) -> Val {
        self.map(MapType::Any, entries)
    }
    /// The list behind a handle.
    #[allow(clippy::indexing_slicing)]
    pub(crate) fn get_list(&self, list: ListRef) -> &List {
        // Handles are made by this heap alone, and only unreferenced collections are removed from it.
        &self.lists[list.0 as usize]
    }
    /// The items of a list that is not shared yet.
    #[allow(clippy::indexing_slicing)]
    pub(crate) fn items_mut(&mut self, list: ListRef) -> &mut [Val] {
        &mut self.lists[list.0 as usize].items
    }
    /// The map behind a handle, whose entries are read.
    pub fn get_map(&self, map: MapRef) -> &Map {
        if let Some(watch) = self.watch_over(map) {
            watch.note_whole(map.index);
        }
        self.unread_map(map)
    }
    /// The map behind a handle, for what no output depends on: costs, and secrets that are not there.
    #[allow(clippy::indexing_slicing)]
    pub(crate) fn unread_map(&self, map: MapRef) -> &Map {
        &self.maps[map.index as usize]
    }
    /// The map behind a handle, mutable.
    #[allow(clippy::indexing_slicing)]
    pub(crate) fn get_map_mut(&mut self, map: MapRef) -> &mut Map {
        self.note_change(map);
        &mut self.maps[map.index as usize]
    }
    /// Puts a value under a key.
    pub fn set(&mut self, map: MapRef, key: Str, value: Val) {
        self.held += ENTRY_BYTES;
        // Lists never change, and all other changes of a map leave its values in place.
        if (map.index as usize) < self.old.1 && self.is_young(&value) && self.reached.last() != Some(&map.index) {
            self.reached.push(map.index);
        }
        self.get_map_mut(map).entries.insert(key, value.unboxed());
    }
    /// The value under a key, as seen by a template.
    pub fn lookup(&self, map: MapRef, key: &[u8]) -> Option<Val> {
        if let Some(watch) = self.watch_over(map) {
            watch.note_key(map.index, &Str::from(key));
        }
        let value = self.unread_map(map).entries.get(key)?.clone();
        Some(if map.kind.boxes() { value.boxed() } else { value })
    }
    /// The same where only something below the value is used: of a mapping nothing is read yet.
    pub(crate) fn lookup_on_way(&self, map: MapRef, key: &Str) -> Option<Val> {
        let Some(watch) = self.watch_over(map) else { return self.lookup(map, key.bytes()) };
        let value = self.unread_map(map).entries.get(key.bytes());
        match value.filter(|value| value.as_map().is_some_and(|inner| inner.index < self.watched)) {
            Some(inner) => {
                watch.note_way(map.index, key);
                Some(if map.kind.boxes() { inner.clone().boxed() } else { inner.clone() })
            }
            None => self.lookup(map, key.bytes()),
        }
    }
    /// The element at an index, as seen by a template.
    pub fn element(&self, list: ListRef, index: usize) -> Option<Val> {
        let list = self.get_list(list);
        let value = list.items.get(index)?.clone();
        Some(if list.kind.boxes() { value.boxed() } else { value })
    }
    /// Whether any map was ever given a secret key.
    pub(crate) fn has_secret_keys(&self) -> bool {
        self.secret_keys
    }
    /// Records that a map is given a secret key.
    pub(crate) fn note_secret_key(&mut self) {
        self.secret_keys = true;
    }
    /// Number of parts and bytes of a value when written out, or `None` if it has more than `most` bytes. Shared
    /// parts count, and are walked, at each occurrence: maps may change at any time, so sizes cannot be cached, but
    /// the walk ends at the limit.
    pub fn weigh(&self, value: &Val, most: usize) -> Option<(usize, usize)> {
        let (mut parts, mut bytes) = (0, 0);
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            parts += 1;
            bytes += PART_BYTES;
            match &value.data {
                Data::Str(text) | Data::Bytes(text) => bytes += text.len(),
                Data::List(list) => stack.extend(self.get_list(*list).items.iter()),
                Data::Map(map) => {
                    let entries = &self.unread_map(*map).entries;
                    bytes += entries.keys().map(Str::len).sum::<usize>();
                    stack.extend(entries.values());
                }
                _ => {}
            }
            if bytes > most || stack.len() * PART_BYTES > most {
                return None;
            }
        }
        Some((parts, bytes))
    }

    /// Counts bytes that the render holds elsewhere.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// Total number of bytes ever put on the heap, for the limit.
    pub fn held(&self) -> usize {
        self.held
    }
    /// The items of a list.
    pub fn items(&self, list: ListRef) -> &[Val] {
        &self.get_list(list).items
    }

    /// The Go type name of a value's content.
    pub fn type_name(&self, value: &Val) -> Cow<'static, str> {
        Cow::Borrowed(match &value.data {
            Data::Nil => "<nil>",
            Data::Bytes(_) => "[]uint8",
            Data::List(list) => self.get_list(*list).kind.name(),
            Data::Map(map) => map.kind.name(),
            Data::Duration(_) => "time.Duration",
            Data::Object(object) => object.type_name(),
            plain => plain.plain_name(),
        })
    }
    /// The type name Go's evaluator prints: `interface {}` if the value is in one.
    pub(crate) fn static_type(&self, value: &Val) -> Cow<'static, str> {
        if value.is_interface() { Cow::Borrowed("interface {}") } else { self.type_name(value) }
    }
    /// The Go kind name of a value's content.
    pub fn kind_name(&self, value: &Val) -> &'static str {
        match &value.data {
            Data::Nil => "invalid",
            Data::List(_) | Data::Bytes(_) => "slice",
            Data::Map(_) => "map",
            Data::Duration(_) => "int64",
            Data::Object(object) if object.type_name().starts_with('*') => "ptr",
            Data::Object(_) => "struct",
            plain => plain.plain_name(),
        }
    }
    /// Go's truth of a value: whether it is neither the zero of its type, nor empty.
    pub fn truth(&self, value: &Val) -> bool {
        match &value.data {
            Data::Nil => false,
            Data::Bool(truth) => *truth,
            Data::Int(n) | Data::Int64(n) | Data::Duration(n) => *n != 0,
            Data::Uint64(n) => *n != 0,
            Data::Uint8(n) => *n != 0,
            Data::Float(n) => *n != 0.0,
            Data::Complex(parts) => parts.0 != 0.0 || parts.1 != 0.0,
            Data::Str(text) | Data::Bytes(text) => !text.is_empty(),
            Data::List(list) => !self.items(*list).is_empty(),
            Data::Map(map) => !self.get_map(*map).entries.is_empty(),
            Data::Object(_) => true,
        }
    }
}
