//! One request and its answer, and what carries them. Tests have a wire of their own.

use crate::kubeconfig::Access;
use std::time::Duration;

/// How long a connection may take to come about.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// How long a request may take.
pub(crate) const REQUEST: Duration = Duration::from_secs(30);

/// The most that an answer may have. Nothing is listed that comes near: kinds of a cluster, one deploy's objects, pods
/// and logs of one workload.
pub(crate) const LARGEST: u64 = 32 << 20;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes something new.
    Post,
    /// Changes; here: applies.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// Its name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// What is done.
    pub method: Method,
    /// Path and query, from the server's address on.
    pub path: &'a str,
    /// What kind of answer is wanted.
    pub accept: &'a str,
    /// The kind of the body, and the body.
    pub body: Option<(&'a str, &'a [u8])>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// How long to wait before asking again.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection came about.
    Connect(String),
    /// It took too long.
    Time,
    /// The answer is longer than one may be.
    TooLarge,
    /// The connection broke.
    Lost(String),
    /// The credentials or addresses cannot be used; asking again does not help.
    Unusable(String),
}

/// Carries requests. Used by several threads at once.
pub trait Wire: Send + Sync {
    /// One request.
    fn send(&self, ask: &Ask<'_>) -> Result<Answer, Broken>;
}

/// The wire to a cluster.
#[cfg(feature = "net")]
pub fn open(access: &Access) -> Result<Box<dyn Wire>, String> {
    Ok(Box::new(crate::net::Connection::new(access)?))
}

/// The wire to a cluster.
#[cfg(not(feature = "net"))]
pub fn open(_access: &Access) -> Result<Box<dyn Wire>, String> {
    Err("this program was built without network support (feature `net`)".to_owned())
}
