//! Go's deep equality: type and content, maps and lists by content.

use crate::value::{Data, Heap, Val};

const MAX_DEPTH: u32 = purlin_syntax::limits::COLLECTION_LEVELS;

/// Whether two values have the same type and content.
pub fn deep_equal(heap: &Heap, a: &Val, b: &Val) -> bool {
    same(heap, a, b, 0)
}

fn same(heap: &Heap, a: &Val, b: &Val, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match (&a.data, &b.data) {
        (Data::Nil, Data::Nil) => true,
        (Data::Bool(x), Data::Bool(y)) => x == y,
        (Data::Int(x), Data::Int(y)) | (Data::Int64(x), Data::Int64(y)) | (Data::Duration(x), Data::Duration(y)) => {
            x == y
        }
        (Data::Uint64(x), Data::Uint64(y)) => x == y,
        (Data::Uint8(x), Data::Uint8(y)) => x == y,
        (Data::Float(x), Data::Float(y)) => x == y,
        (Data::Complex(x), Data::Complex(y)) => x == y,
        (Data::Str(x), Data::Str(y)) | (Data::Bytes(x), Data::Bytes(y)) => x == y,
        (Data::List(x), Data::List(y)) => {
            let (x, y) = (heap.get_list(*x), heap.get_list(*y));
            x.kind == y.kind
                && x.nil == y.nil
                && x.items.len() == y.items.len()
                && x.items.iter().zip(&y.items).all(|(x, y)| same(heap, x, y, depth + 1))
        }
        (Data::Map(x), Data::Map(y)) => {
            if x.kind != y.kind {
                return false;
            }
            if x.is_same(*y) {
                return true;
            }
            let (x, y) = (heap.get_map(*x), heap.get_map(*y));
            x.entries.len() == y.entries.len()
                && x.entries.iter().all(|(key, x)| y.entries.get(key).is_some_and(|y| same(heap, x, y, depth + 1)))
        }
        (Data::Object(x), Data::Object(y)) => x.type_name() == y.type_name() && x.text() == y.text(),
        _ => false,
    }
}
