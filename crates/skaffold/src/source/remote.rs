//! Configurations in git repositories, through the world's one fetcher.
//!
//! It must not know git itself.

use crate::load::Loader;
use crate::requires::Git;
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_value::world::Remote;
use purlin_value::{Session, WorldError, path};
use std::sync::{Arc, Mutex, PoisonError};

/// When a copy that is here already is brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// Every time.
    Always,
    /// Only if missing.
    Missing,
    /// Never, and a missing copy is an error.
    Never,
}

/// Another way to a local copy of a repository than the world's own; returns the copy's folder, or the problem.
pub type Fetch<'x> = dyn Fn(&Git) -> Result<String, WorldError> + 'x;

/// The path of a required configuration in a local copy of its repository.
pub fn fetch(loader: &Loader<'_>, git: &Git, sync: Sync, other: Option<&Fetch<'_>>) -> Option<String> {
    let place = match inside(git) {
        Ok(place) => place,
        Err((message, hint)) => {
            let mut diagnostic = Diagnostic::nowhere(&rules::REMOTE, message);
            diagnostic.span = git.span;
            loader.sink().push(diagnostic.hint(hint));
            return None;
        }
    };
    let copy = match other {
        Some(other) => other(git),
        None => through_world(loader, git, sync),
    };
    match copy {
        Ok(folder) => Some(path::join(&folder, place)),
        Err(error) => {
            // The fetcher's error is the most precise: a permission, the network, or the lock.
            let mut diagnostic = error.diagnostic(&without_password(&git.repo));
            diagnostic.span = git.span;
            loader.sink().push(diagnostic);
            None
        }
    }
}

/// The path inside the repository, or the problem of the requirement with advice.
fn inside(git: &Git) -> Result<&str, (String, &'static str)> {
    if git.repo.is_empty() {
        return Err(("the requirement names no repository (`repo` is empty)".to_owned(), "set `git.repo`"));
    }
    if git.repo.starts_with('-') || git.revision.starts_with('-') {
        let message = format!("`{}` at `{}` would be taken for an option of git", git.repo, git.revision);
        return Err((message, "addresses and revisions do not start with `-`"));
    }
    let place = if git.path.is_empty() { "skaffold.yaml" } else { git.path.as_str() };
    if path::escapes(place) || path::is_absolute(place) {
        let message = format!("`{place}` leads out of the repository `{}`", without_password(&git.repo));
        return Err((message, "use a path inside it"));
    }
    Ok(place)
}

fn through_world(loader: &Loader<'_>, git: &Git, sync: Sync) -> Result<String, WorldError> {
    let refresh = sync == Sync::Always && git.sync != Some(false);
    let remote = Remote::Git { address: git.repo.to_string(), revision: git.revision.to_string(), refresh };
    let fetched = loader.session().world.fetch(&remote)?;
    let checkout =
        Checkout { folder: fetched.path.clone(), commit: fetched.revision, revision: git.revision.to_string() };
    checkouts(loader.session()).lock().unwrap_or_else(PoisonError::into_inner).push(checkout);
    Ok(fetched.path)
}

/// A repository that was fetched, which is a copy of files without git's own.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// Its folder.
    folder: String,
    /// The commit.
    pub commit: String,
    /// The revision as it was named; may be empty.
    pub revision: String,
}

/// The repositories that a run has fetched.
fn checkouts(session: &Session) -> Arc<Mutex<Vec<Checkout>>> {
    session.finding("skaffold:checkouts", Mutex::default)
}

/// The fetched repository that a file is in.
pub fn checkout_of(session: &Session, file: &str) -> Option<Checkout> {
    let checkouts = checkouts(session);
    let all = checkouts.lock().unwrap_or_else(PoisonError::into_inner);
    let holds = |one: &&Checkout| file.strip_prefix(one.folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
    all.iter().rev().find(holds).cloned()
}

/// An address for messages. The part before the host may be a secret.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    match host.rsplit_once('@') {
        Some((user, host)) if scheme == "ssh" && !user.contains(':') => format!("{scheme}://{user}@{host}{path}"),
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_addresses_are_not_shown() {
        for (address, shown) in [
            ("https://me:pass@host.example/a@b.git", "https://host.example/a@b.git"),
            ("https://token@host.example/a", "https://host.example/a"),
            ("ssh://git@host.example/a", "ssh://git@host.example/a"),
            ("ssh://git:pass@host.example/a", "ssh://host.example/a"),
            ("git@host.example:a.git", "git@host.example:a.git"),
            ("../lib", "../lib"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
