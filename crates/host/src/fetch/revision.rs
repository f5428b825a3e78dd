//! A revision of a repository on disk, laid out in the cache so that it can be read like any other folder.
//!
//! Needs no permission: it is the user's own repository, and `git` sees nothing of it but objects and names of commits.

use super::address::check_revision;
use super::cache::Cache;
use super::git::{From, Git};
use super::unpack;
use purlin_value::world::WorldError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder with the files of a revision.
pub fn lay_out(env: &BTreeMap<String, String>, repository: &Path, revision: &str) -> Result<PathBuf, WorldError> {
    check_revision(revision)?;
    let git = Git::find(env)?;
    let cache = Cache::of(env)?;
    let scratch = cache.scratch()?;
    let data = scratch.path().join("data");
    let commit = git.fetch(&data, From::Folder(repository), revision)?;
    let place = cache.commit(&repository.to_string_lossy(), &commit);
    // No lock file vouches for this copy, but the repository does: every file must match the commit.
    if place.is_dir() && !unpack::is_faithful(&git, &data, &commit, &place)? {
        std::fs::remove_dir_all(&place)
            .map_err(|error| WorldError::FetchFailed(format!("its damaged copy cannot be removed: {error}")))?;
    }
    if !place.is_dir() {
        let files = scratch.path().join("files");
        unpack::unpack(&git, &data, &commit, &files)?;
        cache.keep_folder(&files, &place)?;
    }
    Ok(place)
}
