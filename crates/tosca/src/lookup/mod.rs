//! Phase 2: names, what each means in each file, and whether everything that is referred to exists.

pub(crate) mod link;
pub mod names;
pub(crate) mod namespace;
