//! The view of a file that dialects use for recognition: its name and root keys.
//!
//! Nothing is parsed and nothing is reported; an unreadable file counts as empty.

use purlin_syntax::Head;
use purlin_value::{Session, path};
use std::cell::OnceCell;
use std::sync::Arc;

/// Number of bytes that suffice for most files; some begin with licences and descriptions.
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

    /// The content of the file.
    pub fn bytes(&self) -> Option<Arc<[u8]>> {
        self.session.load_bytes(self.path).ok()
    }

    /// The root keys in the file's first lines.
    pub fn head(&self) -> &Head {
        &self.first().0
    }

    /// The root keys of the whole file.
    pub fn whole(&self) -> &Head {
        if self.first().1 {
            return self.head();
        }
        // A file that is too large to read is judged by its first lines; the later attempt to read it reports why.
        self.whole.get_or_init(|| self.bytes().map_or_else(|| self.head().clone(), |bytes| Head::scan(&bytes)))
    }

    /// The first lines, and whether they are the whole file.
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

/// Whether a file of this name may hold configuration.
pub fn is_data(name: &str) -> bool {
    let ending = |ending: &&str| {
        let start = name.len().checked_sub(ending.len());
        start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    DATA.iter().any(ending)
}
