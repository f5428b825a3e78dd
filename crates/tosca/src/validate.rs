//! Whether constraints and validation clauses hold for a value.
//!
//! Values arrive evaluated and coerced; comparisons follow what the value means (quantities, versions, timestamps).

use crate::val::Val;

/// Whether a clause holds for plain data; nothing if that cannot be told.
pub fn holds_plainly(_clause: &Val, _value: &Val) -> Option<bool> {
    None
}
