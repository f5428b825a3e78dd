//! Problems: collected, located, and presented where people look.

pub mod locate;
pub mod present;
pub mod problem;
