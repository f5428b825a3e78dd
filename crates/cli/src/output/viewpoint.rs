//! Paths as the user sees them: relative to the working directory, whatever the project's root is.

use crate::native;
use purlin_host::named;
use purlin_value::path;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Converts paths of a world to the user's view.
#[derive(Clone, Debug)]
pub(crate) struct Viewpoint {
    /// The location of the files.
    files: PathBuf,
    /// The displayed root (the folder itself, or the one it is a copy of) and the working directory, both as absolute
    /// paths.
    root: String,
    cwd: String,
}

impl Viewpoint {
    pub(crate) fn new(files: &Path, copy_of: Option<&Path>, cwd: &Path) -> Self {
        let cwd = native::canonical_or_same(cwd.to_owned());
        let root = native::world_text(copy_of.unwrap_or(files));
        Viewpoint { files: files.to_owned(), root, cwd: native::world_text(&cwd) }
    }

    /// A path of the world, relative to the working directory.
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

    /// The name of a source in messages. Names that are not files (`expression`, `purlin:/…`) stay unchanged.
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        let seen = self.seen(name);
        let plain = native::shown(seen.as_deref().unwrap_or(name));
        match plain {
            Cow::Borrowed(_) => seen,
            Cow::Owned(plain) => Some(plain),
        }
    }

    fn seen(&self, name: &str) -> Option<String> {
        if self.root == self.cwd && !path::is_absolute(name) {
            return None;
        }
        named::itself(&self.on_disk(name)).is_ok().then(|| self.path(name))
    }

    /// The first part of a path that is on disk: a file in an archive is not, but the archive is.
    fn on_disk(&self, name: &str) -> PathBuf {
        if path::is_absolute(name) {
            return PathBuf::from(name);
        }
        let up = name.split('/').take_while(|part| *part == "..").count();
        name.split('/').take(up + 1).fold(self.files.clone(), |place, part| place.join(part))
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
