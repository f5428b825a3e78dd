//! Paths as text: `/` between the parts, nothing asked of a disk.

/// Whether a path starts at a root (`/…`, `C:\…`, `\\…`).
pub fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || path.starts_with('\\')
        || (bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic))
}

/// The path without `.`, `..` and doubled slashes, as far as that can be told from the text. A relative path that
/// leads out of where it starts keeps its leading `..`; the empty path is `.`.
pub fn normalize(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|&last| last != "..") => {
                parts.pop();
            }
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

/// A path as seen from a folder.
pub fn join(folder: &str, path: &str) -> String {
    if is_absolute(path) || folder.is_empty() || folder == "." {
        return normalize(path);
    }
    normalize(&format!("{folder}/{path}"))
}

/// The folder a path is in; `.` for a bare name.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(at) => path.get(..at).unwrap_or("."),
        None => ".",
    }
}

/// The last part.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a relative path leads out of the folder it starts in.
pub fn escapes(path: &str) -> bool {
    let normal = normalize(path);
    normal == ".." || normal.starts_with("../")
}

/// What is left of a path behind a folder that contains it; the path itself if none does.
pub fn within<'p>(folder: &str, full: &'p str) -> &'p str {
    if folder == "." {
        return full;
    }
    full.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(full)
}

/// The way from a folder to a path; both from the same start.
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
        assert_eq!(join("a", "/c"), "/c");
        assert_eq!(relative("a/b", "a/c/d"), "../c/d");
        assert_eq!(relative("a", "a"), ".");
        assert!(escapes("a/../../b") && !escapes("a/../b"));
        assert_eq!((parent("a/b"), parent("a"), parent("/a")), ("a", ".", "/"));
    }
}
