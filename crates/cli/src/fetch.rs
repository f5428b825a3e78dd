//! Fetches what is remote: git repositories and single files, into a cache, recorded in `purlin.lock`.

use crate::disk::Permissions;
use purlin_value::world::{Fetched, Remote, WorldError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Fetches, if that is allowed.
pub struct Fetcher {
    cache: Option<PathBuf>,
    hosts: Vec<String>,
    offline: bool,
}

impl Fetcher {
    /// A fetcher for a project.
    pub fn new(_root: PathBuf, env: &BTreeMap<String, String>, permissions: &Permissions) -> Self {
        let home = env.get("HOME").map(|home| Path::new(home).join(".cache"));
        let cache = env.get("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|folder| folder.join("purlin"));
        Fetcher { cache, hosts: permissions.hosts.clone(), offline: permissions.offline }
    }

    /// Where fetched things are kept; reading there is allowed.
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Fetches something, or uses the copy that is here.
    pub fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        let address = match remote {
            Remote::Git { address, .. } | Remote::File { address } => address,
        };
        if self.offline {
            return Err(WorldError::Denied(format!("`--offline` forbids fetching `{address}`")));
        }
        Err(WorldError::Denied(format!("fetching it needs `--allow-net HOST` (allowed: {})", self.hosts.join(", "))))
    }
}
