//! Writes the files of a commit to a folder, and computes the hash of a folder.
//!
//! The commit may be hostile: paths are checked before anything is written, nothing is written through a link, and
//! anything larger than allowed is refused before it is written.

use super::git::{Git, Object};
use crate::native::HERE;
use purlin_value::encoding::hex;
use purlin_value::path;
use purlin_value::world::WorldError;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest repository that is unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// The most files of one repository.
const MOST_FILES: usize = 200_000;

/// Writes all files of a commit below a folder that does not exist yet.
pub(super) fn unpack(git: &Git, repository: &Path, commit: &str, folder: &Path) -> Result<(), WorldError> {
    let mut objects = git.objects(repository, commit)?;
    let bytes = objects.iter().fold(0u64, |sum, object| sum.saturating_add(object.size));
    if objects.len() > MOST_FILES || bytes > MOST_BYTES {
        let message = format!("has {} files of {bytes} bytes, more than allowed", objects.len());
        return Err(WorldError::TooLarge(message));
    }
    if let Some(object) = objects.iter().find(|object| !is_safe(&object.path)) {
        return Err(failed(format!("it holds the path `{}`, which is not safe", object.path.escape_debug())));
    }
    // Links come last, so that no file is written through one.
    objects.sort_by(|a, b| (a.is_link, &a.path).cmp(&(b.is_link, &b.path)));
    std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    git.contents(repository, &objects, &mut |object, bytes| {
        write_object(folder, object, &bytes).map_err(|error| failed(format!("`{}`: {error}", object.path)))
    })
}

/// Whether a path stays inside, and means the same on every system.
fn is_safe(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    path.len() < 4_096
        && !path.contains('\\')
        && HERE.to_native(path).is_ok()
        && !path::is_absolute(path)
        && path.split('/').all(is_plain)
}

fn write_object(folder: &Path, object: &Object, bytes: &[u8]) -> std::io::Result<()> {
    let place = folder.join(&object.path);
    if let Some(parent) = place.parent() {
        std::fs::create_dir_all(parent)?;
    }
    if object.is_link && make_link(object, bytes, &place)? {
        return Ok(());
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&place)?;
    file.write_all(bytes)?;
    if object.is_executable {
        make_executable(&file)?;
    }
    Ok(())
}

/// Creates a link that stays inside the folder. Any other becomes a file that contains its target.
#[cfg(unix)]
fn make_link(object: &Object, bytes: &[u8], place: &Path) -> std::io::Result<bool> {
    let Ok(target) = std::str::from_utf8(bytes) else { return Ok(false) };
    let inside = path::join(path::parent(&object.path), target);
    if path::is_absolute(target) || target.is_empty() || target.contains('\0') || path::escapes(&inside) {
        return Ok(false);
    }
    std::os::unix::fs::symlink(target, place).map(|()| true)
}

#[cfg(not(unix))]
fn make_link(_object: &Object, _bytes: &[u8], _place: &Path) -> std::io::Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn make_executable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

fn failed(why: impl Into<String>) -> WorldError {
    WorldError::FetchFailed(why.into())
}

/// Whether a folder holds exactly the files of a commit, compared by object ids.
pub(super) fn is_faithful(git: &Git, repository: &Path, commit: &str, folder: &Path) -> Result<bool, WorldError> {
    let objects = git.objects(repository, commit)?;
    let expected: HashMap<&str, &str> =
        objects.iter().map(|object| (object.path.as_str(), object.id.as_str())).collect();
    let files = files_below(folder).map_err(|error| failed(error.to_string()))?;
    let is_same = |(name, is_link, place): &(String, bool, PathBuf)| {
        let Some(id) = expected.get(name.as_str()) else { return false };
        content(*is_link, place).is_ok_and(|bytes| object_id(&bytes, id.len()) == **id)
    };
    Ok(files.len() == expected.len() && files.iter().all(is_same))
}

/// Git's object id of a content; repositories that use SHA-256 have longer ones.
fn object_id(bytes: &[u8], length: usize) -> String {
    let head = format!("blob {}\0", bytes.len());
    if length > 40 {
        return hex(&Sha256::new_with_prefix(head).chain_update(bytes).finalize());
    }
    hex(&sha1::Sha1::new_with_prefix(head).chain_update(bytes).finalize())
}

/// The hashed content of an entry: the bytes of a file, or the target of a link.
fn content(is_link: bool, place: &Path) -> std::io::Result<Vec<u8>> {
    if is_link {
        return Ok(std::fs::read_link(place)?.to_string_lossy().into_owned().into_bytes());
    }
    std::fs::read(place)
}

/// All files below a folder, with their paths in it and whether they are links, sorted.
fn files_below(folder: &Path) -> std::io::Result<Vec<(String, bool, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders: Vec<(PathBuf, String)> = vec![(folder.to_owned(), String::new())];
    while let Some((place, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(&place)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else {
                files.push((name, kind.is_symlink(), entry.path()));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// `sha256:…` of all files below a folder: their paths, kinds and contents, in the order of their paths.
pub(super) fn hash_folder(folder: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    for (name, is_link, place) in files_below(folder)? {
        let kind = if is_link { "link" } else { "file" };
        let bytes = content(is_link, &place)?;
        // Lengths come first, so that no two folders have the same encoding.
        hash.update(format!("{kind} {} {}\n{name}", name.len(), bytes.len()));
        hash.update(&bytes);
    }
    Ok(tell(hash))
}

/// `sha256:…` of bytes.
pub(super) fn hash_bytes(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes);
    tell(hash)
}

fn tell(hash: Sha256) -> String {
    format!("sha256:{}", hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_astray_are_told() {
        for good in ["a", "a/b.yaml", ".github/x", "a..b"] {
            assert!(is_safe(good), "{good}");
        }
        for bad in ["", "/a", "a//b", "../a", "a/..", "./a", ".git/config", "a/.GIT/hooks/x", "a\\b", "C:/x"] {
            assert!(!is_safe(bad), "{bad}");
        }
    }

    #[test]
    fn hashes_are_sha256() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash_bytes(b""), empty);
    }
}
