//! Tables with a fast hash, seeded at random: for frequent lookups.
//!
//! Nothing may depend on the order of [`FastMap`] and [`FastSet`]; [`FastIndex`] keeps the order of insertion.

use foldhash::fast::RandomState;

/// A table without an order.
pub type FastMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set without an order.
pub type FastSet<K> = std::collections::HashSet<K, RandomState>;

/// A table in the order of insertion.
pub type FastIndex<K, V> = indexmap::IndexMap<K, V, RandomState>;
