//! The size and depth of a value when written out.
//!
//! Shared parts count at each occurrence, but are walked once: a collection caches its size until it is changed. So a
//! value that is small in memory and huge when written out is recognised before any walk over it.

use crate::lazy::{ENTRY_BYTES, ITEM_BYTES};
use crate::value::{Data, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Size of a scalar beside its text: quotes, separators, indentation.
const LEAF: u64 = 4;
/// The same for a collection.
const COLLECTION: u64 = 4;

/// Cached size of a collection; empty as long as something in it is not computed.
#[derive(Debug, Default)]
pub struct Memo {
    weight: AtomicU64,
    height: AtomicU32,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        let (weight, height) = (self.weight.load(Ordering::Relaxed), self.height.load(Ordering::Relaxed));
        Memo { weight: AtomicU64::new(weight), height: AtomicU32::new(height) }
    }
}

impl Memo {
    /// Whether the size is known; then nothing in it is left to compute.
    pub(crate) fn is_known(&self) -> bool {
        self.weight.load(Ordering::Acquire) != 0
    }

    /// Number of levels of collections in it, itself included; 0 if unknown.
    pub(crate) fn height(&self) -> u32 {
        self.height.load(Ordering::Relaxed)
    }

    /// Clears the cache: the collection is about to be changed.
    pub(crate) fn forget(&mut self) {
        *self.weight.get_mut() = 0;
        *self.height.get_mut() = 0;
    }

    fn set(&self, size: Size) {
        self.height.store(size.height, Ordering::Relaxed);
        self.weight.store(size.weight, Ordering::Release);
    }

    fn get(&self) -> Option<Size> {
        let weight = self.weight.load(Ordering::Acquire);
        (weight != 0).then(|| Size { weight, height: self.height(), known: true })
    }
}

/// Weight and height of a value.
#[derive(Clone, Copy)]
struct Size {
    weight: u64,
    height: u32,
    /// Whether everything in it is computed.
    known: bool,
}

impl Size {
    fn leaf(weight: u64) -> Self {
        Size { weight: weight.saturating_add(LEAF), height: 0, known: true }
    }

    fn take(&mut self, part: Size) {
        self.weight = self.weight.saturating_add(part.weight);
        self.height = self.height.max(part.height.saturating_add(1));
        self.known &= part.known;
    }
}

/// Approximate size of a value in bytes when written out.
pub fn weight(value: &Value) -> u64 {
    size(value).weight
}

/// The size of a value alone: its text, or its parts without their content.
pub fn surface(value: &Value) -> u64 {
    match &value.data {
        Data::Str(text) | Data::BigInt(text) => text.len() as u64,
        Data::Bytes(bytes) => bytes.len() as u64,
        Data::List(list) => list.len() as u64 * ITEM_BYTES,
        Data::Map(map) => map.len() as u64 * ENTRY_BYTES,
        _ => LEAF,
    }
}

/// Number of levels of collections in a value, itself included.
pub(crate) fn height(value: &Value) -> u32 {
    size(value).height
}

/// A collection whose parts are being walked.
struct Open<'v> {
    value: &'v Value,
    parts: Parts<'v>,
    size: Size,
}

enum Parts<'v> {
    List(std::slice::Iter<'v, Value>),
    Map(indexmap::map::Values<'v, ecow::EcoString, Value>),
}

impl<'v> Iterator for Parts<'v> {
    type Item = &'v Value;
    fn next(&mut self) -> Option<&'v Value> {
        match self {
            Parts::List(items) => items.next(),
            Parts::Map(values) => values.next(),
        }
    }
}

fn size(value: &Value) -> Size {
    // A collection with uncomputed parts has no cached size, but may be shared, too.
    let mut unknown: HashMap<usize, Size, foldhash::fast::RandomState> = HashMap::default();
    let mut open = match immediate(value, &unknown) {
        Ok(size) => return size,
        Err(entered) => vec![entered],
    };
    let mut whole = Size::leaf(0);
    while let Some(innermost) = open.last_mut() {
        if let Some(part) = innermost.parts.next() {
            match immediate(part, &unknown) {
                Ok(size) => innermost.size.take(size),
                Err(entered) => open.push(entered),
            }
            continue;
        }
        let (value, size) = (innermost.value, innermost.size);
        open.pop();
        remember(value, size, &mut unknown);
        match open.last_mut() {
            Some(around) => around.size.take(size),
            None => whole = size,
        }
    }
    whole
}

/// The size if no walk is needed, or else the collection to walk.
fn immediate<'v>(
    value: &'v Value,
    unknown: &HashMap<usize, Size, foldhash::fast::RandomState>,
) -> Result<Size, Open<'v>> {
    let mut value = value;
    while let Data::Lazy(lazy) = &value.data {
        match lazy.known() {
            Some(known) => value = known,
            None => return Ok(Size { known: false, ..Size::leaf(0) }),
        }
    }
    let text = match &value.data {
        Data::List(list) => {
            if let Some(size) = list.memo().get().or_else(|| unknown.get(&(Arc::as_ptr(list) as usize)).copied()) {
                return Ok(size);
            }
            let size = Size { weight: COLLECTION, height: 1, known: true };
            return Err(Open { value, parts: Parts::List(list.iter()), size });
        }
        Data::Map(map) => {
            if let Some(size) = map.memo().get().or_else(|| unknown.get(&(Arc::as_ptr(map) as usize)).copied()) {
                return Ok(size);
            }
            let keys = map.keys().map(|key| key.len() as u64 + LEAF).sum::<u64>();
            let size = Size { weight: keys + COLLECTION, height: 1, known: true };
            return Err(Open { value, parts: Parts::Map(map.values()), size });
        }
        Data::Str(text) | Data::BigInt(text) => text.len() as u64,
        Data::Bytes(bytes) => bytes.len() as u64,
        Data::Pending(pending) => pending.what.len() as u64,
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Lazy(_) | Data::Poison => LEAF,
    };
    Ok(Size::leaf(text))
}

fn remember(value: &Value, size: Size, unknown: &mut HashMap<usize, Size, foldhash::fast::RandomState>) {
    let (memo, address) = match &value.data {
        Data::List(list) => (list.memo(), Arc::as_ptr(list) as usize),
        Data::Map(map) => (map.memo(), Arc::as_ptr(map) as usize),
        _ => return,
    };
    if size.known {
        memo.set(size);
    } else {
        unknown.insert(address, size);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::value::Map;

    #[test]
    fn what_is_shared_counts_as_often_as_it_is_met() {
        let mut value = Value::list(vec![Value::from("text")]);
        let one = weight(&value);
        for _ in 0..20 {
            value = Value::list(vec![value.clone(), value]);
        }
        assert!(weight(&value) > one << 20);
        for _ in 0..60 {
            value = Value::map(Map::from_iter([("a".into(), value.clone()), ("b".into(), value)]));
        }
        assert_eq!(weight(&value), u64::MAX);
        assert_eq!(height(&value), 81);
    }

    #[test]
    fn a_change_is_noticed() {
        let mut list = crate::value::List::from(vec![Value::from("text")]);
        let value = Value::new(Data::List(Arc::new(list.clone())));
        let before = weight(&value);
        assert!(value.as_list().is_some());
        let Data::List(shared) = value.data else { return };
        list = (*shared).clone();
        list.push(Value::from("longer text"));
        assert!(weight(&Value::new(Data::List(Arc::new(list)))) > before);
    }

    #[test]
    fn deep_values_are_weighed_without_recursion() {
        let mut value = Value::from(1);
        for _ in 0..100_000 {
            value = Value::list(vec![value]);
        }
        assert_eq!(height(&value), 100_000);
    }
}
