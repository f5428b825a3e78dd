//! What a dialect sees of a file when it is asked whether the file is its own: its name and what its root says.
//!
//! Nothing is parsed and nothing is reported; a file that cannot be read says nothing.

use purlin_syntax::Head;
use purlin_value::{Session, path};
use std::cell::OnceCell;
use std::sync::Arc;

/// So many bytes tell what most files are; licences and descriptions come first in some.
const FIRST_BYTES: usize = 4096;

/// Names of files that may hold configuration, by their ending.
const DATA: &[&str] = &[".yaml", ".yml", ".json", ".tosca"];

/// A file before it is read.
pub struct Glance<'g> {
    session: &'g Session,
    path: &'g str,
    is_named: bool,
    first: OnceCell<(Head, bool)>,
    whole: OnceCell<Head>,
}

impl<'g> Glance<'g> {
    /// A file that was found in a folder.
    pub fn found(session: &'g Session, path: &'g str) -> Self {
        Glance { session, path, is_named: false, first: OnceCell::new(), whole: OnceCell::new() }
    }

    /// A file that the user named: it may have any name.
    pub fn named(session: &'g Session, path: &'g str) -> Self {
        Glance { is_named: true, ..Self::found(session, path) }
    }

    /// The path from the world's root.
    pub fn path(&self) -> &'g str {
        self.path
    }

    /// The bare name.
    pub fn name(&self) -> &'g str {
        path::file_name(self.path)
    }

    /// Whether the user named the file.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// The session, for archives that must be opened to see what they are.
    pub fn session(&self) -> &'g Session {
        self.session
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Option<Arc<[u8]>> {
        self.session.load_bytes(self.path).ok()
    }

    /// What the file's first lines say.
    pub fn head(&self) -> &Head {
        &self.first().0
    }

    /// What the file's root says to its end.
    pub fn whole(&self) -> &Head {
        if self.first().1 {
            return self.head();
        }
        // A file that is too large to be read is still what its first lines say; whoever reads it says why it cannot.
        self.whole.get_or_init(|| self.bytes().map_or_else(|| self.head().clone(), |bytes| Head::scan(&bytes)))
    }

    /// The first lines, and whether they are all there is.
    fn first(&self) -> &(Head, bool) {
        self.first.get_or_init(|| {
            if !self.is_named && !is_data(self.name()) {
                return (Head::default(), true);
            }
            match self.session.world.head(self.path, FIRST_BYTES) {
                Ok(bytes) => (Head::scan(&bytes), bytes.len() < FIRST_BYTES),
                Err(_) => (Head::default(), true),
            }
        })
    }
}

/// Whether a name is that of a file that may hold configuration.
pub fn is_data(name: &str) -> bool {
    let ending = |ending: &&str| {
        let start = name.len().checked_sub(ending.len());
        start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    DATA.iter().any(ending)
}
