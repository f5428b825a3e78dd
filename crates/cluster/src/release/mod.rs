//! Releases of charts as Helm keeps them: install, upgrade, rollback, uninstall, test, and the Secrets that record them.
//!
//! Helm 3 and 4 read what is written here and continue it, and the other way round. A release is handed in rendered; nothing
//! here knows charts, templates or arguments.

mod change;
mod history;
pub mod hooks;
mod install;
mod managed;
mod objects;
mod ownership;
mod rollback;
mod seen;
mod tests_of;
mod three_way;
mod uninstall;
mod upgrade;

pub use history::record;
use history::{listed, store, time};

pub use change::Apply;
pub use install::{Install, Namespace};
pub use listed::{Shown, Sorted, States};
pub use record::{Record, Status};
pub use rollback::Rollback;
pub use seen::{Detail, Lookups, Section};
pub use tests_of::Tests;
pub use time::rfc3339;
pub use uninstall::{Removed, Uninstall};
pub use upgrade::Upgrade;

use crate::client::{Client, GoOn};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::ready::Rules;
use crate::wait::Patience;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The field manager and the value of the managed-by label: objects belong to the release, whichever tool changes them.
pub(crate) const MANAGER: &str = "helm";

/// Why an operation on a release did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no such release, or no such revision.
    NotFound,
    /// The release has no revision that is deployed.
    NoDeployed(String),
    /// A record of this revision exists: another operation was quicker.
    Exists,
    /// Another operation is in progress, or was interrupted.
    Pending,
    /// The run was stopped.
    Stopped,
    /// Anything else, in the words for the user, with further lines.
    Said(String, Vec<String>),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::NotFound => f.write_str("release: not found"),
            Trouble::NoDeployed(name) => write!(f, "{name:?} has no deployed releases"),
            Trouble::Exists => f.write_str("release: already exists"),
            Trouble::Pending => f.write_str("another operation (install/upgrade/rollback) is in progress"),
            Trouble::Stopped => f.write_str("context canceled"),
            Trouble::Said(message, _) => f.write_str(message),
        }
    }
}

impl From<ApiError> for Trouble {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Stopped => Trouble::Stopped,
            error => Trouble::Said(error.to_string(), error.details().to_vec()),
        }
    }
}

impl Trouble {
    /// A trouble in the words for the user.
    pub fn said(message: impl Into<String>) -> Self {
        Trouble::Said(message.into(), Vec::new())
    }

    /// The same with a text before it.
    #[must_use]
    pub fn within(self, before: &str) -> Self {
        match self {
            Trouble::Said(message, details) => Trouble::Said(format!("{before}: {message}"), details),
            other => Trouble::Said(format!("{before}: {other}"), Vec::new()),
        }
    }

    /// Further lines with reasons.
    pub fn details(&self) -> &[String] {
        match self {
            Trouble::Said(_, details) => details,
            _ => &[],
        }
    }
}

/// Surroundings of the operations.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Returns whether to continue.
    pub go_on: GoOn<'a>,
    /// Receives what is being done.
    pub say: &'a (dyn Fn(&str) + Sync),
    /// The clock: nanoseconds since 1970, UTC.
    pub now: &'a (dyn Fn() -> i128 + Sync),
}

/// Operations on the releases of one namespace.
pub struct Engine<'e> {
    client: &'e Client,
    namespace: String,
    around: Around<'e>,
    discovery: Mutex<Option<Arc<Discovery>>>,
}

impl<'e> Engine<'e> {
    /// Operations on the releases of a namespace; on all of them if it is empty.
    pub fn new(client: &'e Client, namespace: &str, around: Around<'e>) -> Self {
        Engine { client, namespace: namespace.to_owned(), around, discovery: Mutex::new(None) }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The cluster.
    pub fn client(&self) -> &Client {
        self.client
    }

    /// The time as records have it.
    fn now(&self) -> String {
        time::rfc3339((self.around.now)())
    }

    /// Whether the cluster answers.
    pub fn reach(&self) -> Result<(), Trouble> {
        let answer = self.client.get("/version", "the version of the cluster", self.around.go_on);
        answer.map(drop).map_err(|error| Trouble::from(error).within("kubernetes cluster unreachable"))
    }

    /// The kinds of the cluster; those of these versions at least.
    fn kinds(&self, needed: &BTreeSet<String>) -> Result<Arc<Discovery>, Trouble> {
        let mut known = self.discovery.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = match known.take() {
            Some(found) => Arc::unwrap_or_clone(found),
            None => Discovery::read(self.client, needed, self.around.go_on)?,
        };
        found.need(self.client, needed, self.around.go_on)?;
        let found = Arc::new(found);
        *known = Some(found.clone());
        Ok(found)
    }

    /// Forgets the kinds: definitions were installed.
    fn forget_kinds(&self) {
        *self.discovery.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn patience(&self, timeout: Duration, jobs: bool) -> Patience<'_> {
        let (go_on, say) = (self.around.go_on, self.around.say);
        Patience { timeout, rules: Rules { jobs }, tolerant: false, go_on, say }
    }
}

/// Whether a name can be one of a release: a DNS name of at most 53 characters.
pub fn is_release_name(name: &str) -> bool {
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit();
    let is_part =
        |part: &str| part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|ch| plain(ch) || ch == '-');
    !name.is_empty() && name.len() <= 53 && name.split('.').all(is_part)
}
