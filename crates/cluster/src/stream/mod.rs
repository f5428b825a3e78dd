//! Requests whose answer has no end: logs that are followed, commands in containers, forwarded ports. Each has a
//! connection of its own, which is never blocked on: one poll waits for the server, for this side, and for a stop.

mod answer;
mod channels;
pub mod exec;
pub mod follow;
pub mod forward;
mod poll;
#[cfg(feature = "net")]
pub(crate) mod socket;

use rustix::fd::AsFd;
use std::io::{Read, Write};

/// How long to wait at most before the request to stop is looked at again.
pub(crate) const STEP: std::time::Duration = std::time::Duration::from_millis(100);

/// A connection that never blocks.
pub trait Duplex: Read + Write + AsFd + Send {
    /// Whether bytes wait for room in the connection.
    fn has_unsent(&self) -> bool;
}

/// A new connection to the server, and what every request on it contains.
pub struct Line {
    /// Its bytes.
    pub bytes: Box<dyn Duplex>,
    /// The base path of the API.
    pub base: String,
    /// Headers, `Host` among them.
    pub headers: Vec<(String, String)>,
}
