//! Evaluation: phase `resolve`. Values come from the tree and the expression, everything else from the `World`.

pub mod attributes;
pub mod context;
mod costs;
pub mod each;
pub mod engine;
pub mod form;
pub mod frame;
pub mod lazy;
pub mod path;
pub mod show;
pub mod solve;
pub mod special;
pub mod status;
pub mod trace;

pub(crate) use costs::exceeded;
pub use engine::{Ctx, Engine, Settings};
