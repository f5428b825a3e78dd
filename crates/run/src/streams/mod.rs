//! Bytes that flow during a run: output, logs, forwarded ports, the terminal. Secrets are hidden here.

pub mod capture;
pub mod follow;
pub mod forwards;
pub mod mask;
pub mod tails;
pub mod terminal;
