//! Which files git tracks, from the index of a repository.
//!
//! An ignore file applies only to untracked files: a tracked file is part of the repository whatever `.gitignore`
//! has. Reads the index alone; objects, commits and configuration are not read.

use crate::world::World;

/// The index of a repository whose root is the world's.
const INDEX: &str = ".git/index";

/// The paths of the index, sorted as bytes.
#[derive(Debug, Default)]
pub struct Tracked {
    paths: Vec<Vec<u8>>,
}

impl Tracked {
    /// The tracked files of the repository. Empty if there is no index, or one in an unknown format.
    pub fn of(world: &dyn World) -> Self {
        let bytes = world.read(INDEX).ok();
        Tracked { paths: bytes.and_then(|bytes| paths(&bytes)).unwrap_or_default() }
    }

    /// Whether a file is tracked, or any file below a folder.
    pub fn holds(&self, path: &str) -> bool {
        let path = path.as_bytes();
        let is_path = self.paths.binary_search_by(|known| known.as_slice().cmp(path)).is_ok();
        is_path || self.holds_below(path)
    }

    fn holds_below(&self, folder: &[u8]) -> bool {
        let folder: Vec<u8> = folder.iter().copied().chain([b'/']).collect();
        let first = self.paths.partition_point(|known| known.as_slice() < folder.as_slice());
        self.paths.get(first).is_some_and(|known| known.starts_with(&folder))
    }
}

/// The bytes of an entry before its flags: times, numbers, mode, owners, size and the object's name.
const FIXED: usize = 60;

/// The paths of an index of version 2, 3 or 4. Entries are sorted by path.
fn paths(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let version = number(bytes, 4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let count = usize::try_from(number(bytes, 8)?).ok()?;
    // Every entry is larger than its fixed part, so a false count does not cost memory.
    let mut found: Vec<Vec<u8>> = Vec::with_capacity(count.min(bytes.len() / FIXED));
    let mut at = 12;
    for _ in 0..count {
        let flags = bytes.get(at + FIXED..at + FIXED + 2)?;
        let is_extended = version > 2 && flags.first()? & 0x40 != 0;
        let start = at + FIXED + if is_extended { 4 } else { 2 };
        let (path, end) = if version == 4 {
            let (dropped, start) = length(bytes, start)?;
            let end = start + memchr(bytes.get(start..)?)?;
            let known = found.last().map_or(&[][..], Vec::as_slice);
            let kept = known.get(..known.len().checked_sub(dropped)?)?;
            ([kept, bytes.get(start..end)?].concat(), end + 1)
        } else {
            let end = start + memchr(bytes.get(start..)?)?;
            // Entries are padded to a multiple of eight bytes, with at least one zero.
            (bytes.get(start..end)?.to_vec(), at + (end - at + 8) / 8 * 8)
        };
        found.push(path);
        at = end;
    }
    found.is_sorted().then_some(found)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == 0)
}

/// Number of bytes of the previous path that are dropped, and the start of the rest: groups of seven bits, each but
/// the last marked, with one added for every group that follows.
fn length(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(path: &str) -> Vec<u8> {
        let mut bytes = vec![0; FIXED];
        bytes.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
        bytes.extend(path.bytes());
        let padding = 8 - bytes.len() % 8;
        bytes.extend(vec![0; padding]);
        bytes
    }

    fn index(version: u8, entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0".to_vec();
        bytes.push(version);
        bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    #[test]
    fn tracked_files_and_their_folders_are_known() {
        let bytes = index(2, &["a", "charts/web/Chart.yaml", "charts/webs"].map(entry));
        let tracked = Tracked { paths: paths(&bytes).unwrap() };
        for path in ["a", "charts", "charts/web", "charts/web/Chart.yaml", "charts/webs"] {
            assert!(tracked.holds(path), "{path}");
        }
        for path in ["b", "chart", "charts/we", "charts/web/Chart", "a/b"] {
            assert!(!tracked.holds(path), "{path}");
        }
    }

    #[test]
    fn paths_that_share_a_start_are_joined() {
        let short = |dropped: u8, rest: &str| {
            let mut bytes = vec![0; FIXED + 2];
            bytes.push(dropped);
            bytes.extend(rest.bytes());
            bytes.push(0);
            bytes
        };
        let bytes = index(4, &[short(0, "charts/a"), short(1, "b"), short(8, "d")]);
        assert_eq!(paths(&bytes).unwrap(), [&b"charts/a"[..], b"charts/b", b"d"]);
        assert_eq!(paths(&index(4, &[short(1, "a")])), None);
    }

    #[test]
    fn what_is_cut_or_unknown_tells_nothing() {
        let bytes = index(2, &["a", "b"].map(entry));
        for end in 0..bytes.len() - 1 {
            // The padding of the last entry may be missing.
            assert!(paths(&bytes[..end]).is_none() || end > 12 + 72 + FIXED, "{end}");
        }
        assert_eq!(paths(&index(5, &[])), None);
        assert_eq!(paths(b"nothing of the kind"), None);
        assert_eq!(length(&[0x81, 0x00], 0), Some((256, 2)));
    }
}
