//! Paths as the user sees them: from the folder they are in, whatever the project's root is.

use crate::native;
use purlin_host::named;
use purlin_value::path;
use std::path::{Path, PathBuf};

/// A folder that paths of a world are seen from.
#[derive(Clone, Debug)]
pub(crate) struct Viewpoint {
    /// Where the files are.
    files: PathBuf,
    /// The folder that this is, or is a copy of, and where the user stands, both from the root of the machine.
    root: String,
    cwd: String,
}

impl Viewpoint {
    pub(crate) fn new(files: &Path, copy_of: Option<&Path>, cwd: &Path) -> Self {
        let cwd = native::canonical_or_same(cwd.to_owned());
        let root = native::world_text(copy_of.unwrap_or(files));
        Viewpoint { files: files.to_owned(), root, cwd: native::world_text(&cwd) }
    }

    /// A path of the world, seen from where the user stands.
    pub(crate) fn path(&self, path: &str) -> String {
        let full = path::join(&self.root, path);
        let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let (here, there) = (parts(&self.cwd), parts(&full));
        let shared = here.iter().zip(&there).take_while(|(here, there)| here == there).count();
        let up = std::iter::repeat_n("..", here.len() - shared);
        let down = there.iter().skip(shared).map(String::as_str);
        let seen = up.chain(down).collect::<Vec<_>>().join("/");
        if seen.is_empty() { ".".to_owned() } else { seen }
    }

    /// What a source goes by in messages. Names that stand for no file (`expression`, `purlin:/…`) stay.
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        if self.root == self.cwd && !path::is_absolute(name) {
            return None;
        }
        // A file in an archive does not exist on disk, but the archive does.
        let first = name.split('/').next().filter(|part| !part.is_empty() && *part != "..");
        let known = first.map_or_else(|| PathBuf::from(name), |first| self.files.join(first));
        named::itself(&known).is_ok().then(|| self.path(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_where_the_user_stands() {
        let seen = |root: &str, cwd: &str, path: &str| {
            Viewpoint { files: PathBuf::new(), root: root.to_owned(), cwd: cwd.to_owned() }.path(path)
        };
        assert_eq!(seen("/a/b", "/a", "c.yml"), "b/c.yml");
        assert_eq!(seen("/a", "/a/b", "b/c.yml"), "c.yml");
        assert_eq!(seen("/a", "/a/b", "c.yml"), "../c.yml");
        assert_eq!(seen("/a", "/a/b", "b"), ".");
        assert_eq!(seen("/tmp/r", "/work", "c.yml"), "../tmp/r/c.yml");
        assert_eq!(seen("/a", "/ab", "/a/c.yml"), "../a/c.yml");
    }
}
