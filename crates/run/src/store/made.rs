//! Files that an action made and other actions use: whether they are unchanged.
//!
//! A file with unchanged metadata is not read: its size, its permissions and its two times, of which the change time is
//! set only by the system. If the metadata differs, its content decides, if it was small enough to be recorded.

use super::hex;
use purlin_host::named;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders of tools, which are not results of an action.
const OF_TOOLS: [&str; 3] = [".git", ".garden", super::FOLDER];

/// Maximum size of a file whose content is recorded.
const LARGEST: u64 = 4 << 20;

/// Maximum number of bytes per action that are recorded by content.
const MOST: u64 = 64 << 20;

/// Replaces the digest of a content that is not recorded.
const UNKNOWN: &str = "-";

/// Files and their state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made(BTreeMap<PathBuf, String>);

impl Made {
    /// Everything below a folder; links are not followed.
    pub fn below(folder: &Path) -> io::Result<Made> {
        let mut found = Made::default();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for entry in named::list(&next)? {
                let entry = entry?;
                let is_tool = next == folder && OF_TOOLS.iter().any(|name| entry.file_name() == *name);
                match entry.file_type()?.is_dir() {
                    true if is_tool => {}
                    true => open.push(entry.path()),
                    false => found.add(entry.path()),
                }
            }
        }
        Ok(found)
    }

    /// Adds a file in its current state.
    pub fn add(&mut self, file: PathBuf) {
        if let Some(look) = look(&file) {
            self.0.insert(file, look);
        }
    }

    /// The files that differ from an earlier state.
    pub fn since(mut self, before: &Made) -> Made {
        self.0.retain(|file, look| before.0.get(file) != Some(look));
        self
    }

    /// The union with other files.
    pub fn and(mut self, others: Made) -> Made {
        self.0.extend(others.0);
        self
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The list as bytes: the metadata, the digest and the path of each file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut left = MOST;
        for (file, look) in &self.0 {
            bytes.extend_from_slice(look.as_bytes());
            bytes.push(b' ');
            let content = content(file, &mut left);
            bytes.extend_from_slice(content.as_deref().unwrap_or(UNKNOWN).as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(file.as_os_str().as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// Whether all files of a list are unchanged.
    pub(super) fn is_as_listed(bytes: &[u8]) -> bool {
        bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).all(|entry| {
            let mut parts = entry.splitn(3, |byte| *byte == b' ');
            let (Some(then), Some(held), Some(file)) = (parts.next(), parts.next(), parts.next()) else { return false };
            let file = Path::new(OsStr::from_bytes(file));
            let Some(now) = look(file) else { return false };
            let mut left = u64::MAX;
            let mut is_same = || content(file, &mut left).is_some_and(|content| content.as_bytes() == held);
            now.as_bytes() == then || (mode(now.as_bytes()) == mode(then) && is_same())
        })
    }
}

fn look(file: &Path) -> Option<String> {
    let found = named::itself(file).ok()?;
    let time = |seconds: i64, nanos: i64| format!("{seconds}.{nanos:09}");
    let (modified, changed) = (time(found.mtime(), found.mtime_nsec()), time(found.ctime(), found.ctime_nsec()));
    Some(format!("{:o}:{}:{modified}:{changed}", found.mode(), found.size()))
}

/// Kind and permissions, the first part of the metadata.
fn mode(look: &[u8]) -> Option<&[u8]> {
    look.split(|byte| *byte == b':').next()
}

/// A digest of a file's content, or of a link's target; `None` for large files, and for anything else.
fn content(file: &Path, left: &mut u64) -> Option<String> {
    let found = named::itself(file).ok()?;
    if found.is_symlink() {
        return Some(hex(&Sha256::digest(named::read_link(file).ok()?.as_os_str().as_bytes())));
    }
    let size = found.size();
    if !found.is_file() || size > LARGEST || size > *left {
        return None;
    }
    *left = left.saturating_sub(size);
    Some(hex(&Sha256::digest(named::read(file, LARGEST).ok()?)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn whatever_happens_to_a_file_is_noticed_and_new_files_are_not() {
        let top = std::env::temp_dir().join(format!("purlin-made-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(top.join("a/.git")).unwrap();
        let file = top.join("a/out");
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        let list = || Made::below(&top).unwrap().to_bytes();
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        write("one");
        let times = std::fs::metadata(&file).unwrap().modified().unwrap();
        for (number, change) in [
            &(|| std::fs::remove_file(&file).unwrap()) as &dyn Fn(),
            &|| write("two"),
            &|| {
                write("two");
                std::fs::File::options().append(true).open(&file).unwrap().set_modified(times).unwrap();
            },
            &|| std::fs::rename(&file, top.join("a/other")).unwrap(),
            &|| std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap(),
        ]
        .into_iter()
        .enumerate()
        {
            write("one");
            pause();
            let listed = list();
            assert!(Made::is_as_listed(&listed));
            std::fs::write(top.join(format!("new-{number}")), "x").unwrap();
            assert!(Made::is_as_listed(&listed));
            pause();
            change();
            assert!(!Made::is_as_listed(&listed));
        }
        // A file with other metadata and the same content is unchanged.
        write("one");
        let listed = list();
        pause();
        write("one");
        assert!(Made::is_as_listed(&listed));
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(Made::is_as_listed(&listed));
        let _ = std::fs::remove_dir_all(&top);
    }
}
