//! Values of expressions, and how they behave: as Python's do.

pub mod arithmetic;
pub mod handle;
pub mod instance;
pub mod lazy;
pub mod moment;
pub mod object;
pub mod python;
pub mod val;
