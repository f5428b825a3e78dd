//! Checks whether git tracks files in the folder of results: those came with the repository, so they are not results.
//!
//! Reads the index of the repository and runs nothing. An unreadable index counts as untracked: results are sealed, so
//! this only explains early what would be ignored later.

use purlin_host::named;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A larger index is not read.
const LONGEST_INDEX: u64 = 256 << 20;

/// Paths that only this program writes. Other files below `.purlin` may well be part of a repository.
const OWN: [&str; 7] = [
    ".purlin/journal",
    ".purlin/objects",
    ".purlin/logs",
    ".purlin/locks",
    ".purlin/deploys",
    ".purlin/tmp",
    ".garden/build",
];

/// The first file that git tracks in these paths, relative to the project's folder.
pub fn tracked(project: &Path) -> Option<String> {
    if !OWN.iter().any(|own| named::itself(&project.join(own)).is_ok()) {
        return None;
    }
    let (top, index) = project.ancestors().find_map(|top| Some((top, index_file(top)?)))?;
    let within = project.strip_prefix(top).ok()?.to_str()?;
    let prefixes = OWN.map(|folder| if within.is_empty() { folder.to_owned() } else { format!("{within}/{folder}") });
    let bytes = read(&index)?;
    let is_ours = |path: &[u8]| {
        let below = |prefix: &String| {
            path.strip_prefix(prefix.as_bytes()).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        };
        prefixes.iter().any(below)
    };
    // Repositories with SHA-256 differ in the size of their digests only.
    let found = [20, 32].into_iter().find_map(|digest| find(&bytes, digest, is_ours))??;
    let found = String::from_utf8_lossy(&found).into_owned();
    Some(found.get(within.len()..).unwrap_or(&found).trim_start_matches('/').to_owned())
}

/// Which of these paths a tracked file is, or is below.
pub fn own_part(file: &str) -> &str {
    OWN.into_iter().find(|own| file.starts_with(own)).unwrap_or(file)
}

/// The index of the repository with this top folder.
fn index_file(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let found = named::itself(&git).ok()?;
    if found.is_dir() {
        return Some(git.join("index"));
    }
    // A worktree or a submodule names its own folder.
    let text = String::from_utf8(read(&git)?).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()).join("index"))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let file = named::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST_INDEX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(size)?)?;
    Some(part.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// Searches the paths of an index with digests of a given size. `None` if the index is not of that kind.
fn find(bytes: &[u8], digest: usize, is_wanted: impl Fn(&[u8]) -> bool) -> Option<Option<Vec<u8>>> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(bytes, 4, 4)?, number(bytes, 8, 4)?);
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        // Ten numbers come before the digest; the seventh is the file mode.
        if !matches!(number(bytes, at + 24, 4)? >> 12, 0o10 | 0o12 | 0o16 | 0o4) {
            return None;
        }
        let flags = at + 40 + digest;
        let is_extended = version >= 3 && number(bytes, flags, 2)? & 0x4000 != 0;
        let mut name = flags + if is_extended { 4 } else { 2 };
        if version >= 4 {
            let (cut, next) = offset(bytes, name)?;
            path.truncate(path.len().checked_sub(cut)?);
            name = next;
        } else {
            path.clear();
        }
        let rest = bytes.get(name..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(rest.get(..length)?);
        if is_wanted(&path) {
            return Some(Some(path));
        }
        // Entries of older versions are padded to a multiple of eight bytes.
        let end = name + length + 1;
        at = if version >= 4 { end } else { at + (end - at).next_multiple_of(8) };
    }
    Some(None)
}

/// A number in git's offset encoding, and its end.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut found = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        found = found.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
    }
    Some((found, at + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) {
        let done = Command::new("git").args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
        assert!(done.unwrap().status.success(), "{args:?}");
    }

    fn repository(name: &str, format: &str, version: &str) -> PathBuf {
        let top = std::env::temp_dir().join(format!("purlin-tracked-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("sub/.garden/build/b")).unwrap();
        std::fs::write(top.join("sub/.garden/build/b/out"), "x").unwrap();
        for file in 0..300 {
            std::fs::write(top.join(format!("sub/a-long-name-{file}-{}", "y".repeat(file % 200))), "x").unwrap();
        }
        git(&top, &["init", "-q", "--object-format", format, "."]);
        git(&top, &["config", "index.version", version]);
        git(&top, &["add", "sub/a-long*"]);
        top
    }

    #[test]
    fn tracked_files_are_found_in_every_kind_of_index() {
        for (name, format, version) in
            [("two", "sha1", "2"), ("four", "sha1", "4"), ("long", "sha256", "4"), ("long2", "sha256", "2")]
        {
            let top = repository(name, format, version);
            assert_eq!(tracked(&top.join("sub")), None, "{name}");
            git(&top, &["add", "-f", "sub/.garden"]);
            assert_eq!(tracked(&top.join("sub")).as_deref(), Some(".garden/build/b/out"), "{name}");
            assert_eq!(tracked(&top), None, "{name}");
            let _ = std::fs::remove_dir_all(&top);
        }
    }

    #[test]
    fn an_index_that_is_cut_or_changed_is_no_trouble() {
        let top = repository("broken", "sha1", "2");
        let whole = std::fs::read(top.join(".git/index")).unwrap();
        for cut in 0..whole.len().min(2_000) {
            let _ = find(&whole[..cut], 20, |_| false);
            let mut changed = whole.clone();
            changed[cut] ^= 0xff;
            let _ = find(&changed, 20, |_| false);
            let _ = find(&changed, 32, |_| false);
        }
        let _ = std::fs::remove_dir_all(&top);
    }
}
