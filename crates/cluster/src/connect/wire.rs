//! Requests, answers, and their transport. Tests have a transport of their own.

use crate::kubeconfig::Access;
use crate::stream::Line;
use std::time::Duration;

/// Time limit for establishing a connection.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// Time limit of a request.
pub(crate) const REQUEST: Duration = Duration::from_secs(30);

/// Maximum size of an answer. No request comes near it: kinds of a cluster, one deploy's objects, pods and logs of one
/// workload.
pub(crate) const LARGEST: u64 = 32 << 20;

/// The HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Applies.
    Patch,
    /// Replaces.
    Put,
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
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The method.
    pub method: Method,
    /// Path and query, relative to the server's address.
    pub path: &'a str,
    /// The accepted content types.
    pub accept: &'a str,
    /// The content type and the body.
    pub body: Option<(&'a str, &'a [u8])>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The requested pause before a retry.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The connection could not be established.
    Connect(String),
    /// It took too long.
    Time,
    /// The answer exceeds the maximum size.
    TooLarge,
    /// The connection broke.
    Lost(String),
    /// The credentials or addresses are unusable; a retry does not help.
    Unusable(String),
}

/// Sends requests. Used by several threads at once.
pub trait Wire: Send + Sync {
    /// One request.
    fn send(&self, ask: &Ask<'_>) -> Result<Answer, Broken>;

    /// A connection of its own, for a request whose answer has no end.
    fn line(&self) -> Result<Line, Broken> {
        Err(Broken::Unusable("this connection has no streams".to_owned()))
    }
}

/// The transport to a cluster.
#[cfg(feature = "net")]
pub fn open(access: &Access) -> Result<Box<dyn Wire>, String> {
    Ok(Box::new(crate::net::Connection::new(access)?))
}

/// The transport to a cluster.
#[cfg(not(feature = "net"))]
pub fn open(_access: &Access) -> Result<Box<dyn Wire>, String> {
    Err("this program was built without network support (feature `net`)".to_owned())
}
