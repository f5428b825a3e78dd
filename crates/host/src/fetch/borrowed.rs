//! A repository on disk, read without obeying it.
//!
//! `git` takes settings, hooks and the locations of more objects from the repository that it reads, and a project can
//! bring one along. So `git` works in a repository of our own that borrows the objects; names of commits are read here.
//! In the foreign repository `git` opens object files and nothing else.

use super::git::failed;
use purlin_value::lock::is_commit;
use purlin_value::world::WorldError;
use std::path::{Path, PathBuf};

/// The largest list of names that is read.
const MOST_BYTES: u64 = 16 << 20;

/// The most names.
const MOST_NAMES: usize = 100_000;

/// Maximum nesting of folders of names.
const DEEPEST: usize = 32;

/// The data of a repository: objects, and names of commits.
pub(super) struct Borrowed {
    /// Objects and names.
    folder: PathBuf,
    /// The git folder of the checkout: a separate one in a linked work tree.
    own: PathBuf,
}

impl Borrowed {
    /// The data of the repository in a folder: a bare one, or a checkout with `.git` in it.
    pub(super) fn of(folder: &Path) -> Result<Self, WorldError> {
        let place = folder.join(".git");
        let places = [place.clone(), folder.to_owned()];
        let is_data = |place: &&PathBuf| is_folder(&place.join("objects")) && is_file(&place.join("HEAD"));
        let found = places.iter().filter(|place| is_folder(place)).find(is_data).cloned();
        let borrowed = match found {
            Some(found) => Borrowed { own: found.clone(), folder: found },
            None if is_file(&place) => Self::elsewhere(folder)?,
            None => return Err(failed("it is not a git repository")),
        };
        if is_folder(&borrowed.folder.join("reftable")) {
            return Err(failed("its branches are kept as reftables, which is not supported"));
        }
        borrowed.check_objects()?;
        Ok(borrowed)
    }

    /// The data of a linked work tree or a submodule, whose `.git` is a file that names another folder. That file alone
    /// is not trusted: the folder it names must name this one in turn.
    fn elsewhere(folder: &Path) -> Result<Self, WorldError> {
        let place = folder.join(".git");
        let text = read(&place)?;
        let named = text.trim().strip_prefix("gitdir:").map(str::trim).filter(|named| !named.is_empty());
        let own = folder.join(named.ok_or_else(|| failed("it is not a git repository"))?);
        let is_same = |other: &Path, this: &Path| {
            other.canonicalize().is_ok_and(|other| this.canonicalize().is_ok_and(|this| this == other))
        };
        let text_of = |name: &str| {
            let file = own.join(name);
            is_file(&file).then(|| read(&file)).transpose().map(|text| text.unwrap_or_default().trim().to_owned())
        };
        let common = text_of("commondir")?;
        let (data, is_ours) = match common.is_empty() {
            // The repository must have created that folder: otherwise a project could lead to any repository of its
            // user.
            false => {
                let data = own.join(&common);
                let is_known = own.parent().is_some_and(|trees| is_same(trees, &data.join("worktrees")));
                let names_us = is_same(&own.join(text_of("gitdir")?), &place);
                (data, is_known && names_us)
            }
            true => (own.clone(), work_tree(&text_of("config")?).is_some_and(|tree| is_same(&own.join(tree), folder))),
        };
        if !is_ours {
            return Err(failed("its `.git` is a file that names the repository of another folder"));
        }
        Ok(Borrowed { folder: data, own })
    }

    /// Objects must be in the folder itself: no links, no lists of alternates.
    fn check_objects(&self) -> Result<(), WorldError> {
        let objects = self.folder.join("objects");
        for further in ["info/alternates", "info/http-alternates"] {
            if objects.join(further).symlink_metadata().is_ok() {
                return Err(failed(
                    "it takes objects from other repositories, which is not supported; `git repack -a -d` copies them",
                ));
            }
        }
        let mut folders = vec![objects];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(|error| failed(error.to_string()))? {
                let entry = entry.map_err(|error| failed(error.to_string()))?;
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => {}
                    _ => return Err(failed("its objects hold links, which are not followed")),
                }
            }
        }
        Ok(())
    }

    /// Lets a repository of our own use the objects, under the names that commits have here. Returns the length of ids.
    pub(super) fn lend(&self, repository: &Path) -> Result<(), WorldError> {
        let written = |path: PathBuf, text: String| {
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, text)).map_err(|error| failed(error.to_string()))
        };
        let objects = self.folder.join("objects");
        let Some(objects) = objects.to_str().filter(|path| !path.contains('\n')) else {
            return Err(failed("its path cannot be handed to `git`"));
        };
        // A path that begins with a quote is read as a quoted one.
        written(repository.join("objects/info/alternates"), format!("{objects}\n"))?;
        let mut text = String::from("# pack-refs with: sorted\n");
        let mut left = MOST_BYTES;
        for (name, id) in self.names()? {
            text.push_str(&format!("{id} {name}\n"));
            self.lend_log(&self.folder, &name, repository, &mut left)?;
        }
        self.lend_log(&self.own, "HEAD", repository, &mut left)?;
        written(repository.join("packed-refs"), text)?;
        if let Some(head) = self.head()? {
            written(repository.join("HEAD"), format!("{head}\n"))?;
        }
        // In an incomplete clone, the oldest commits are those without parents.
        let oldest = self.folder.join("shallow");
        if is_file(&oldest) {
            let text = read(&oldest)?;
            let commits: String = text.lines().filter(|line| is_commit(line)).map(|id| format!("{id}\n")).collect();
            written(repository.join("shallow"), commits)?;
        }
        Ok(())
    }

    /// Copies the log of a name, for revisions such as `HEAD@{1}`, as far as the limit allows.
    fn lend_log(&self, from: &Path, name: &str, repository: &Path, left: &mut u64) -> Result<(), WorldError> {
        let file = from.join("logs").join(name);
        let size = file.symlink_metadata().ok().filter(std::fs::Metadata::is_file).map(|there| there.len());
        let Some(size) = size.filter(|size| size <= left) else { return Ok(()) };
        let Ok(bytes) = crate::border::read_below(from, &file, *left) else { return Ok(()) };
        *left -= size;
        let to = repository.join("logs").join(name);
        let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&to, bytes)).map_err(|error| failed(error.to_string()))
    }

    /// The content of `HEAD`: a name or a commit.
    fn head(&self) -> Result<Option<String>, WorldError> {
        let text = read(&self.own.join("HEAD"))?;
        let text = text.trim();
        let name = text.strip_prefix("ref:").map(str::trim);
        Ok(match name {
            Some(name) if is_name(name) => Some(format!("ref: {name}")),
            None if is_commit(text) => Some(text.to_owned()),
            _ => None,
        })
    }

    /// Whether ids are SHA-256.
    pub(super) fn is_sha256(&self) -> bool {
        self.names().is_ok_and(|names| names.iter().any(|(_, id)| id.len() == 64))
    }

    /// Names of commits and tags, sorted; one in a file of its own overrides the list.
    fn names(&self) -> Result<std::collections::BTreeMap<String, String>, WorldError> {
        let mut found = std::collections::BTreeMap::new();
        let listed = self.folder.join("packed-refs");
        if is_file(&listed) {
            for line in read(&listed)?.lines().filter(|line| !line.starts_with(['#', '^'])) {
                if let Some((id, name)) = line.split_once(' ').filter(|(id, name)| is_commit(id) && is_name(name)) {
                    found.insert(name.to_owned(), id.to_owned());
                }
            }
        }
        let mut folders = vec![("refs".to_owned(), 0)];
        folders.retain(|(refs, _)| is_folder(&self.folder.join(refs)));
        while let Some((folder, depth)) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(self.folder.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < DEEPEST => folders.push((name, depth + 1)),
                    Ok(kind) if kind.is_file() && is_name(&name) => {
                        let id = read(&entry.path())?.trim().to_owned();
                        if is_commit(&id) {
                            found.insert(name, id);
                        }
                    }
                    _ => {}
                }
                if found.len() > MOST_NAMES {
                    return Err(failed(format!("it has more than {MOST_NAMES} branches and tags")));
                }
            }
        }
        Ok(found)
    }
}

/// The work tree named in a repository's settings. It is only compared with our location, never opened.
fn work_tree(settings: &str) -> Option<&str> {
    let mut is_core = false;
    let mut found = None;
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=')
            && is_core
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            found = Some(value.trim());
        }
    }
    found
}

/// Whether a text is a name below `refs` that cannot mean anything else.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"~^:?*[\\".contains(&byte) || !byte.is_ascii();
    name.starts_with("refs/")
        && name.bytes().all(is_plain)
        && !name.contains("..")
        && !name.split('/').any(|part| part.is_empty() || part.starts_with('.') || part.ends_with(".lock"))
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_dir())
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_file())
}

/// The text of a regular file, not through a link.
fn read(path: &Path) -> Result<String, WorldError> {
    let folder = path.parent().unwrap_or(path);
    let bytes = match is_file(path) {
        true => crate::border::read_below(folder, path, MOST_BYTES).map_err(|error| failed(error.to_string()))?,
        false => return Err(failed("its names of commits are not in regular files")),
    };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed("its list of branches and tags is too long"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
