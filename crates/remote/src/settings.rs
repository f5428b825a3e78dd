//! How a server is reached: its address, who vouches for it, who we are, and what its workers must have.

use crate::trouble::{Tried, What};
use std::fmt;
use std::time::Duration;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether the connection is encrypted.
    pub is_secure: bool,
    /// The name of the host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The instance of the server; often empty.
    pub instance: String,
}

impl Address {
    /// Reads `grpc(s)://HOST[:PORT][/INSTANCE]`.
    pub fn parse(text: &str) -> Tried<Address> {
        let wrong = |why: &str| What::Settings(format!("`{text}` {why}; expected `grpcs://HOST[:PORT][/INSTANCE]`"));
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("has no `grpc://` or `grpcs://`"))?;
        let is_secure = match scheme {
            "grpcs" => true,
            "grpc" => false,
            _ => return Err(wrong("does not begin with `grpc://` or `grpcs://`").into()),
        };
        let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return Err(What::Settings(
                "an address may not contain a user or a password; use `[remote] headers-from`".to_owned(),
            )
            .into());
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => match authority.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if host.is_empty() || !host.chars().all(is_host) {
            return Err(wrong("has no name of a host").into());
        }
        let port = match port {
            None => {
                if is_secure {
                    443
                } else {
                    80
                }
            }
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("has a port that is not 1 to 65535"))?
            }
        };
        let instance = instance.trim_end_matches('/').to_owned();
        let reserved =
            ["blobs", "uploads", "actions", "actionResults", "operations", "capabilities", "compressed-blobs"];
        if instance.split('/').any(|part| reserved.contains(&part)) || !instance.chars().all(|c| c.is_ascii_graphic()) {
            return Err(wrong("has an instance that the protocol does not allow").into());
        }
        Ok(Address { is_secure, host: host.to_owned(), port, instance })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "grpcs" } else { "grpc" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{scheme}://{host}:{}", self.port)?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "/{}", self.instance) }
    }
}

/// Headers that prove who we are. They are secret: never shown, never written.
#[derive(Clone, Default)]
pub struct Headers(pub Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_tuple("Headers").field(&names).finish()
    }
}

/// Where headers come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadersFrom {
    /// An environment variable with lines `name: value`.
    Env(String),
    /// A command that prints a JSON object `{"headers": {"name": ["value"]}}`, as credential helpers of Bazel do.
    Command(Vec<String>),
}

/// How a server is used.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its address.
    pub address: Address,
    /// Certificates of the authority that vouches for it, in PEM; those of the browsers if empty.
    pub authority: Option<Vec<u8>>,
    /// Our certificate and its key, in PEM.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in its certificate, if it is another than its host.
    pub server_name: Option<String>,
    /// Headers of every call.
    pub headers: Headers,
    /// Properties that workers must have.
    pub platform: Vec<(String, String)>,
    /// The `PATH` of commands.
    pub path: String,
    /// Whether actions are run; otherwise only results are shared.
    pub executes: bool,
    /// Whether results of this machine are written to the shared cache.
    pub uploads: bool,
    /// The urgency of executions; lower numbers run first.
    pub priority: i64,
    /// How long an action may wait for a worker.
    pub queue: Duration,
    /// Time in the queue after which the user is notified.
    pub notice: Duration,
    /// How long a call may be silent; the stream of an execution is opened again after this time.
    pub silence: Duration,
    /// The longest pause before the second try of a call; later ones are longer.
    pub pause: Duration,
}

/// The default `PATH` of commands.
pub const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The default time that an action may wait for a worker.
pub const USUAL_QUEUE: Duration = Duration::from_secs(15 * 60);

/// The default time in the queue after which the user is notified.
pub const USUAL_NOTICE: Duration = Duration::from_secs(10);

/// The default time that a call may be silent.
pub const USUAL_SILENCE: Duration = Duration::from_secs(60);

/// The default longest pause before the second try.
pub const USUAL_PAUSE: Duration = Duration::from_millis(200);

impl Settings {
    /// The settings of a server that needs no proof.
    pub fn of(address: Address) -> Self {
        Settings {
            address,
            authority: None,
            identity: None,
            server_name: None,
            headers: Headers::default(),
            platform: Vec::new(),
            path: USUAL_PATH.to_owned(),
            executes: true,
            uploads: false,
            priority: 0,
            queue: USUAL_QUEUE,
            notice: USUAL_NOTICE,
            silence: USUAL_SILENCE,
            pause: USUAL_PAUSE,
        }
    }
}

/// Reads lines `name: value`.
pub fn header_lines(text: &str) -> Tried<Headers> {
    let mut headers = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // The line is secret, so it is not shown.
        let wrong = || What::Settings("a header is not a line `name: value`".to_owned());
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        headers.push(header(name.trim(), value.trim()).ok_or_else(wrong)?);
    }
    Ok(Headers(headers))
}

/// A header, if it is valid and not one of the protocol's own.
pub fn header(name: &str, value: &str) -> Option<(String, String)> {
    let name = name.to_ascii_lowercase();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_own = ["content-type", "te", "host", "user-agent", "connection"].contains(&name.as_str());
    let is_good = !name.is_empty() && name.chars().all(is_name) && !is_own && !name.starts_with("grpc-");
    let is_value = value.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    (is_good && is_value).then(|| (name, value.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, shown) in [
            ("grpc://localhost:8980", "grpc://localhost:8980"),
            ("grpcs://build.example.com", "grpcs://build.example.com:443"),
            ("grpcs://build.example.com/a/b/", "grpcs://build.example.com:443/a/b"),
            ("grpc://[::1]:1/x", "grpc://[::1]:1/x"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown);
        }
        for text in ["build:80", "http://x", "grpc://", "grpc://:80", "grpc://x:0", "grpc://x:99999", "grpc://x/blobs"]
        {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        let refused = Address::parse("grpc://me:hunter2@x").unwrap_err().to_string();
        assert!(!refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn headers_are_checked_and_never_shown() {
        let headers = header_lines("Authorization: Bearer hunter2\n\nx-a: b").unwrap();
        assert_eq!(headers.0[0], ("authorization".to_owned(), "Bearer hunter2".to_owned()));
        assert!(!format!("{headers:?}").contains("hunter2"));
        for text in ["hunter2", "te: x", "grpc-timeout: 1", "a b: c", "a: b\u{1}"] {
            assert!(!header_lines(text).unwrap_err().to_string().contains("hunter2"), "{text}");
        }
    }
}
