//! What runs and when: selection, plan, order, and one action from beginning to end.

pub mod due;
pub mod engine;
pub(crate) mod perform;
pub mod plan;
pub mod select;
pub mod since;
pub mod work;
