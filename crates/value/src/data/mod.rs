//! Values: forms, origins, taint, names, laziness, scopes.

pub mod emit;
pub mod lazy;
pub mod merge;
pub mod names;
pub mod origin;
pub mod read;
pub(crate) mod scope;
pub(crate) mod taint;
pub mod value;
pub mod weight;
