//! Evaluation: phase `resolve`. Values come from the tree and the expression, everything else from the `World`.

pub mod attributes;
pub mod context;
pub mod each;
pub mod engine;
pub mod form;
pub mod path;
pub mod show;
pub mod solve;
pub mod special;
pub mod status;
pub mod trace;

pub use engine::{Ctx, Engine, Settings};
pub use purlin_jinja::{frame, lazy};
