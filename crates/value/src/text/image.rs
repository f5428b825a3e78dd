//! Names of container images split into registry and path, tag, digest. Pure text; nothing is checked.

/// The parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'n> {
    /// Registry and path.
    pub name: &'n str,
    /// The part after the colon.
    pub tag: Option<&'n str>,
    /// The part after the `@`.
    pub digest: Option<&'n str>,
}

/// Splits a name.
pub fn parts(text: &str) -> Parts<'_> {
    let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
    match tag_colon(rest) {
        Some(at) => Parts { name: rest.get(..at).unwrap_or(rest), tag: rest.get(at + 1..), digest },
        None => Parts { name: rest, tag: None, digest },
    }
}

/// Position of the colon before a tag: one before the last slash belongs to a port.
pub fn tag_colon(name: &str) -> Option<usize> {
    let last = name.rfind('/').map_or(0, |at| at + 1);
    name.get(last..)?.find(':').map(|at| last + at)
}

/// The registry at the start of a name; without one, the tool chooses.
pub fn registry(name: &str) -> Option<&str> {
    let (host, _) = name.split_once('/')?;
    (host.contains(['.', ':']) || host == "localhost").then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let shown = |text| {
            let Parts { name, tag, digest } = parts(text);
            (name, tag, digest, registry(name))
        };
        assert_eq!(shown("a"), ("a", None, None, None));
        assert_eq!(shown("library/a:v1"), ("library/a", Some("v1"), None, None));
        assert_eq!(shown("localhost:5000/a"), ("localhost:5000/a", None, None, Some("localhost:5000")));
        let whole = "reg.example:5000/a/b:v1@sha256:00";
        assert_eq!(shown(whole), ("reg.example:5000/a/b", Some("v1"), Some("sha256:00"), Some("reg.example:5000")));
        assert_eq!(shown(":@"), ("", Some(""), Some(""), None));
    }
}
