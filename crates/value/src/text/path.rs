//! Paths as text: `/` between the parts, without access to a disk.

/// Whether a path starts at a root (`/…`, `C:\…`, `\\…`).
pub fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/') || path.starts_with('\\') || bytes.get(..2).is_some_and(is_drive)
}

/// Whether this is the root of a drive, `C:`.
fn is_drive(bytes: &[u8]) -> bool {
    matches!(bytes, [letter, b':'] if letter.is_ascii_alphabetic())
}

/// The path without `.`, `..` and doubled slashes, as far as the text allows. A relative path that leads out of its
/// starting folder keeps its leading `..`; the empty path is `.`.
pub fn normalize(path: &str) -> String {
    if is_normal(path) && !is_drive(path.as_bytes()) {
        return path.to_owned();
    }
    walked("", path)
}

/// A path as seen from a folder.
pub fn join(folder: &str, path: &str) -> String {
    if is_absolute(path) || folder.is_empty() || folder == "." {
        return normalize(path);
    }
    walked(folder, path)
}

/// Whether a path certainly needs no normalization: no empty part, and none that starts with a dot.
fn is_normal(path: &str) -> bool {
    let mut at_start = true;
    for byte in path.bytes() {
        if at_start && (byte == b'.' || byte == b'/') {
            return false;
        }
        at_start = byte == b'/';
    }
    !at_start
}

/// The part of a path that `..` cannot leave: `/`, `C:`, or nothing.
fn root(path: &str) -> &str {
    let drive = path.split('/').next().unwrap_or("");
    match path.strip_prefix('/') {
        Some(_) => "/",
        None if is_drive(drive.as_bytes()) => drive,
        None => "",
    }
}

/// The result of following a path from a folder, both as text.
fn walked(folder: &str, path: &str) -> String {
    let mut out = String::with_capacity(folder.len() + path.len() + 1);
    let root = root(if folder.is_empty() { path } else { folder });
    out.push_str(root);
    let rest = folder.strip_prefix('/').unwrap_or(folder);
    // Most folders are normalized already.
    if is_normal(rest) {
        out.clear();
        out.push_str(folder);
        if !folder.is_empty() && is_normal(path) {
            out.push('/');
            out.push_str(path);
            return out;
        }
    } else {
        folder.get(root.len()..).unwrap_or("").split('/').for_each(|part| step(&mut out, root, part));
    }
    let path = if folder.is_empty() { path.get(root.len()..).unwrap_or("") } else { path };
    path.split('/').for_each(|part| step(&mut out, root, part));
    if out.is_empty() {
        out.push('.');
    } else if root.is_empty() && !self::root(&out).is_empty() {
        // The name would otherwise be parsed as a drive.
        out.insert_str(0, "./");
    } else if out == root && root != "/" {
        // Without the slash it would be the current folder of that drive.
        out.push('/');
    }
    out
}

/// Appends one part to `out`.
fn step(out: &mut String, root: &str, part: &str) {
    match part {
        "" | "." => {}
        ".." if !root.is_empty() && out == root => {}
        ".." if !out.is_empty() && out != ".." && !out.ends_with("/..") => {
            let above = out.rfind('/').map_or(0, |at| at.max(usize::from(root == "/")));
            out.truncate(above);
        }
        part => {
            if !out.is_empty() && !out.ends_with('/') {
                out.push('/');
            }
            out.push_str(part);
        }
    }
}

/// The folder a path is in; `.` for a bare name.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(2) if path.as_bytes().get(..2).is_some_and(is_drive) => path.get(..3).unwrap_or("/"),
        Some(at) => path.get(..at).unwrap_or("."),
        None => ".",
    }
}

/// The last part.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a relative path leads out of its starting folder.
pub fn escapes(path: &str) -> bool {
    let normal = normalize(path);
    normal == ".." || normal.starts_with("../")
}

/// The rest of a path after a folder that contains it; the path itself if it is elsewhere.
pub fn within<'p>(folder: &str, full: &'p str) -> &'p str {
    if folder == "." {
        return full;
    }
    full.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(full)
}

/// The relative path from a folder to a path; both relative to the same folder.
pub fn relative(from: &str, to: &str) -> String {
    let (from, to) = (normalize(from), normalize(to));
    let split = |path: &str| -> Vec<String> {
        path.split('/').filter(|p| !p.is_empty() && *p != ".").map(str::to_owned).collect()
    };
    let (from, to) = (split(&from), split(&to));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - same);
    let parts: Vec<String> = up.chain(to.into_iter().skip(same)).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised() {
        for (path, expected) in
            [("a/./b//c", "a/b/c"), ("a/../..", ".."), ("", "."), ("/..", "/"), ("../a/..", ".."), ("/a/b/..", "/a")]
        {
            assert_eq!(normalize(path), expected, "{path}");
        }
        assert_eq!(join("a/b", "../c"), "a/c");
        assert_eq!(join("/a", "../../c"), "/c");
        assert_eq!(join("../a", "../../c"), "../../c");
        assert_eq!(join("a", "/c"), "/c");
        assert_eq!(relative("a/b", "a/c/d"), "../c/d");
        assert_eq!(relative("a", "a"), ".");
        assert!(escapes("a/../../b") && !escapes("a/../b"));
        assert_eq!((parent("a/b"), parent("a"), parent("/a")), ("a", ".", "/"));
    }

    #[test]
    fn drives_are_roots() {
        for (path, expected) in [
            ("C:/a/../../b", "C:/b"),
            ("C:/", "C:/"),
            ("C:/..", "C:/"),
            ("c:/a//b/.", "c:/a/b"),
            ("ab:/..", "."),
            ("C:", "C:/"),
            ("./C:", "./C:"),
            ("./C:/..", "."),
            ("a/../C:/x", "./C:/x"),
        ] {
            assert_eq!(normalize(path), expected, "{path}");
        }
        assert_eq!(join("C:/work", "../../x"), "C:/x");
        assert_eq!(join("C:/work", "D:/x"), "D:/x");
        assert_eq!(
            (join("C:", "x"), join("C:/", ".."), join("a", "./C:")),
            ("C:/x".into(), "C:/".into(), "a/C:".into())
        );
        assert_eq!((parent("C:/a/b"), parent("C:/a"), parent("C:/")), ("C:/a", "C:/", "C:/"));
        assert_eq!(relative("C:/a/b", "C:/a/c"), "../c");
    }

    /// The same with a list of parts, without shortcuts.
    fn by_parts(path: &str) -> String {
        let rooted = path.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
            match part {
                ".." if parts.last().is_some_and(|&last| last != "..") => drop(parts.pop()),
                ".." if rooted => {}
                part => parts.push(part),
            }
        }
        let joined = parts.join("/");
        match (rooted, joined.is_empty()) {
            (true, _) => format!("/{joined}"),
            (false, true) => ".".to_owned(),
            (false, false) => joined,
        }
    }

    #[test]
    fn short_cuts_change_nothing() {
        let parts = ["", ".", "..", "a", "bc", ".d", "..e"];
        let mut paths: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        for _ in 0..3 {
            let longer: Vec<String> =
                paths.iter().flat_map(|path| parts.iter().map(move |part| format!("{path}/{part}"))).collect();
            paths = longer;
            for path in &paths {
                assert_eq!(normalize(path), by_parts(path), "{path}");
            }
        }
        for folder in &paths {
            for path in ["x", "b/c.yaml", "../x", "../../..", ".", "a//b/", "./..", "/abs/../y"] {
                let expected = if is_absolute(path) || folder.is_empty() || folder == "." {
                    by_parts(path)
                } else {
                    by_parts(&format!("{folder}/{path}"))
                };
                assert_eq!(join(folder, path), expected, "{folder} {path}");
            }
        }
    }
}
