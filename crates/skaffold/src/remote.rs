//! Configurations in git repositories, through the world's one fetcher.
//!
//! It must not know git itself.

use crate::load::Loader;
use crate::requires::Git;
use crate::rules;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::world::Remote;
use purlin_value::{WorldError, path};

/// When a copy that is here already is brought up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// Every time.
    Always,
    /// Only if there is no copy.
    Missing,
    /// Never, and a missing copy is an error.
    Never,
}

/// Another way to a local copy of a repository than the world's own; gives the copy's folder, or what is wrong.
pub type Fetch<'x> = dyn Fn(&Git) -> Result<String, String> + 'x;

/// The path of a required configuration in a local copy of its repository.
pub fn fetch(
    loader: &Loader<'_>,
    git: &Git,
    sync: Sync,
    other: Option<&Fetch<'_>>,
    span: Option<Span>,
) -> Option<String> {
    let report = |message: String, hint: &str| {
        let mut diagnostic = Diagnostic::nowhere(&rules::REMOTE, message);
        diagnostic.span = span;
        loader.sink().push(diagnostic.hint(hint));
    };
    if git.repo.is_empty() {
        report("the requirement names no repository (`repo` is empty)".to_owned(), "set `git.repo`");
        return None;
    }
    if git.repo.starts_with('-') || git.revision.starts_with('-') {
        let message = format!("`{}` at `{}` would be taken for an option of git", git.repo, git.revision);
        report(message, "addresses and revisions do not start with `-`");
        return None;
    }
    let inside = if git.path.is_empty() { "skaffold.yaml" } else { git.path.as_str() };
    if path::escapes(inside) || path::is_absolute(inside) {
        report(format!("`{inside}` leads out of the repository `{}`", git.repo), "use a path inside it");
        return None;
    }
    let copy = match other {
        Some(other) => other(git),
        None => through_world(loader, git, sync),
    };
    match copy {
        Ok(folder) => Some(path::join(&folder, inside)),
        Err(why) => {
            let message = format!("`{}` cannot be fetched: {why}", git.repo);
            report(message, "allow its host with `--allow-net`, or use a copy that is here already");
            None
        }
    }
}

fn through_world(loader: &Loader<'_>, git: &Git, sync: Sync) -> Result<String, String> {
    let refresh = sync == Sync::Always && git.sync != Some(false);
    let remote = Remote::Git { address: git.repo.to_string(), revision: git.revision.to_string(), refresh };
    let copy = loader.session().world.fetch(&remote).map_err(|error| reason(&error, &git.repo))?;
    Ok(copy.path)
}

/// Why something could not be fetched, without its address, which the message names already.
pub fn reason(error: &WorldError, address: &str) -> String {
    match error {
        WorldError::Denied(why) | WorldError::Failed(why) | WorldError::FetchFailed(why) => why.clone(),
        error => error.diagnostic(address).message,
    }
}
