//! Copies of git repositories in Skaffold's layout: one folder per address and revision.
//!
//! The world fetches; this file only decides when, and puts the files where scripts expect them.

use super::flags::Flags;
use crate::invocation::Invocation;
use crate::native;
use purlin_host::named;
use purlin_skaffold::remote::Sync;
use purlin_skaffold::requires::Git;
use purlin_value::encoding;
use purlin_value::world::Remote;
use purlin_value::{Session, WorldError};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The copies of one run.
pub struct Repositories {
    folder: PathBuf,
    sync: Sync,
    /// Whether the user requested the newest revision; otherwise the one in `purlin.lock` is used.
    update: bool,
    /// Replacements of addresses in the user's git settings: prefix, replacement.
    replaced: Vec<(String, String)>,
    /// Earlier answers; a repository is fetched only once.
    done: RefCell<HashMap<(String, String), Result<String, WorldError>>>,
}

impl Repositories {
    /// The copies according to flags and environment.
    pub fn new(invocation: &Invocation<'_>, flags: &Flags, default: Sync) -> Self {
        let home = invocation.env.get("HOME").map(PathBuf::from).unwrap_or_default();
        let folder = match flags.text("remote-cache-dir") {
            Some(folder) => invocation.cwd.join(folder),
            None => home.join(".skaffold/remote-cache"),
        };
        let sync = match flags.text("sync-remote-cache") {
            Some("always") => Sync::Always,
            Some("never") => Sync::Never,
            Some("missing") => Sync::Missing,
            _ => default,
        };
        let update = flags.text("sync-remote-cache") == Some("always");
        Repositories { folder, sync, update, replaced: replacements(invocation), done: RefCell::default() }
    }

    /// The folder that holds all copies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of a repository's copy.
    pub fn fetch(&self, git: &Git, session: &Session) -> Result<String, WorldError> {
        let key = (git.repo.to_string(), git.revision.to_string());
        if let Some(known) = self.done.borrow().get(&key) {
            return known.clone();
        }
        let answer = self.copy(git, session);
        self.done.borrow_mut().insert(key, answer.clone());
        answer
    }

    fn copy(&self, git: &Git, session: &Session) -> Result<String, WorldError> {
        let place = self.folder.join(name(&git.repo, &git.revision));
        let here = named::is_folder(&place);
        let shown = native::world_text(&place);
        if here && (self.sync != Sync::Always || git.sync == Some(false)) {
            return Ok(shown);
        }
        if self.sync == Sync::Never {
            return Err(WorldError::FetchFailed(format!(
                "there is no copy of it at `{}` in `{shown}`; clone it there, or set `--sync-remote-cache` to `always` or `missing`",
                git.revision
            )));
        }
        let replaced =
            self.replaced.iter().find_map(|(start, by)| Some(format!("{by}{}", git.repo.strip_prefix(start)?)));
        let address = replaced.unwrap_or_else(|| git.repo.to_string());
        let remote = Remote::Git { address, revision: git.revision.to_string(), refresh: self.update };
        let fetched = session.world.fetch(&remote)?;
        let failed = |error: std::io::Error| WorldError::FetchFailed(format!("its copy cannot be written: {error}"));
        if here {
            named::remove_folder(&place).map_err(failed)?;
        }
        copy_folder(Path::new(&fetched.path), &place).map_err(failed)?;
        Ok(shown)
    }
}

/// The folder name of a copy: a digest of address and revision, computed as in Skaffold.
fn name(repo: &str, revision: &str) -> String {
    let quoted = |text: &str| purlin_syntax::write::json::quote(text, purlin_syntax::write::JsonFlavor::Go);
    let digest = Sha256::digest(format!("[{},{}]\n", quoted(repo), quoted(revision)));
    encoding::base64(&digest).replace('+', "-").replace('/', "_").chars().take(32).collect()
}

/// Copies files and folders; links are left out.
fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    named::create_folder(to)?;
    for entry in named::list(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            named::copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// `url.BASE.insteadOf` settings that git reads from the environment.
fn replacements(invocation: &Invocation<'_>) -> Vec<(String, String)> {
    let count = invocation.env.get("GIT_CONFIG_COUNT").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let setting = |at: usize| {
        let key = invocation.env.get(&format!("GIT_CONFIG_KEY_{at}"))?;
        let start = invocation.env.get(&format!("GIT_CONFIG_VALUE_{at}"))?;
        let base = key.strip_prefix("url.")?;
        let base = base.strip_suffix(".insteadOf").or_else(|| base.strip_suffix(".insteadof"))?;
        Some((start.clone(), base.to_owned()))
    };
    (0..count.min(100)).filter_map(setting).collect()
}
