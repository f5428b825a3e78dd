//! Where the contents of this machine are, until a server has them. They are checked again when they are sent.

use crate::digest::{Digest, Function};
use crate::tree::{Folder, Seen};
use crate::trouble::{Tried, Trouble, What};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the bytes of a content are.
#[derive(Clone, Debug)]
pub enum Source {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// In a file, which may have changed since it was hashed: it is checked again.
    File(PathBuf),
}

impl Source {
    pub(crate) fn open(&self, digest: Digest) -> Tried<Box<dyn Bytes + '_>> {
        match self {
            Source::Bytes(bytes) => Ok(Box::new(std::io::Cursor::new(&bytes[..]))),
            Source::File(path) => {
                let failed = |error: std::io::Error| unreadable(path, &error);
                let file = purlin_host::named::open_itself(path).map_err(failed)?;
                if file.metadata().map_err(failed)?.len() != digest.size {
                    return Err(changed(path));
                }
                Ok(Box::new(file))
            }
        }
    }

    /// All bytes, checked.
    pub(crate) fn read(&self, digest: Digest, function: Function) -> Tried<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(digest.size).unwrap_or(0));
        let mut reader = self.open(digest)?.take(digest.size.saturating_add(1));
        reader.read_to_end(&mut bytes).map_err(|error| self.failed(&error))?;
        if function.digest(&bytes) == digest { Ok(bytes) } else { Err(self.different()) }
    }

    pub(crate) fn failed(&self, error: &std::io::Error) -> Trouble {
        match self {
            Source::Bytes(_) => What::Input(String::new(), error.to_string()).into(),
            Source::File(path) => unreadable(path, error),
        }
    }

    pub(crate) fn different(&self) -> Trouble {
        match self {
            Source::Bytes(_) => What::Malformed("a content of ours does not match its digest").into(),
            Source::File(path) => changed(path),
        }
    }
}

/// Bytes that are read in any order.
pub(crate) trait Bytes: Read + Seek {}

impl<T: Read + Seek> Bytes for T {}

fn unreadable(path: &Path, error: &std::io::Error) -> Trouble {
    What::Input(path.display().to_string(), format!("could not be read: {error}")).into()
}

fn changed(path: &Path) -> Trouble {
    What::Input(path.display().to_string(), "changed while it was sent".to_owned()).into()
}

/// Contents by digest.
pub type Sources = HashMap<Digest, Source>;

/// The contents of the messages of a tree, to be sent with it.
pub fn messages(folder: &Folder, function: Function, sources: &mut Sources) -> (Digest, Vec<Digest>) {
    let mut digests = Vec::new();
    let root = folder.encode(function, &mut |digest, bytes| {
        digests.push(digest);
        sources.insert(digest, Source::Bytes(bytes.into()));
    });
    (root, digests)
}

/// All contents of the files of a tree, each once.
pub fn contents(folder: &Folder) -> Vec<Digest> {
    let digest = |(_, seen): (String, Seen<'_>)| if let Seen::File(file) = seen { Some(file.digest) } else { None };
    let found: BTreeSet<Digest> = folder.walk().into_iter().filter_map(digest).collect();
    found.into_iter().collect()
}
