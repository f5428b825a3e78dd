//! The `purlin` program.

fn main() {}
