//! The engines on a small dialect of two editions, in which every shape, notation and merge rule occurs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod anything;
mod checking;
mod describing;
mod dialect;
mod editions;
mod reading;
mod validating;
