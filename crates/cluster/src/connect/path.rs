//! Paths of requests. Every segment and every value of a query is escaped here; anything that does not look like a path
//! of the API is refused before it is sent.

/// Escapes all characters except those allowed unescaped in a path or a query.
pub fn escape(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// The path of an object in a namespace of the core API: `below("shop", &["pods", name])`.
pub(crate) fn below(namespace: &str, segments: &[&str]) -> String {
    let mut path = format!("/api/v1/namespaces/{}", escape(namespace));
    for segment in segments {
        path.push('/');
        path.push_str(&escape(segment));
    }
    path
}

/// The parameter of a dry run.
pub(crate) const DRY_RUN: &str = "dryRun=All";

/// Why a path cannot be sent. A `#` would cut off the query, and `dryRun` with it; an empty segment or `..` would
/// address other objects.
pub(crate) fn unsafe_part(path: &str) -> Option<&'static str> {
    let (names, query) = path.split_once('?').unwrap_or((path, ""));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~%/".contains(&byte);
    let is_query = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~%=&".contains(&byte);
    if !names.starts_with('/') || !names.bytes().all(is_plain) {
        return Some("a name has characters that a path cannot have");
    }
    if names.split('/').skip(1).any(|segment| matches!(segment, "" | "." | "..")) {
        return Some("a name is empty, `.` or `..`");
    }
    if !query.bytes().all(is_query) {
        return Some("its query has characters that a query cannot have");
    }
    None
}

/// Whether a request is a dry run.
pub(crate) fn is_dry(path: &str) -> bool {
    path.split_once('?').is_some_and(|(_, query)| query.split('&').any(|part| part == DRY_RUN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_change_what_a_path_means() {
        for name in ["a#", "a?b=c", "a/b", "a b", "a%2fb", "ä", "a\n", "a&dryRun=None", "a\u{0}"] {
            let path = format!("{}?{DRY_RUN}", below(name, &["pods", name]));
            assert_eq!(unsafe_part(&path), None, "{path}");
            assert_eq!(path.matches('/').count(), 6, "{path}");
            assert!(is_dry(&path), "{path}");
        }
    }

    #[test]
    fn paths_that_mean_something_else_are_refused() {
        for path in
            ["/api/v1/namespaces/a#/pods?dryRun=All", "/a/../b", "/a/./b", "/a//b", "/a b", "/a?b?c", "a", "/a?b#c"]
        {
            assert!(unsafe_part(path).is_some(), "{path}");
        }
        assert!(below("..", &["pods"]).contains("/../") && unsafe_part(&below("..", &["pods"])).is_some());
        assert!(unsafe_part(&below("", &["pods"])).is_some());
        assert!(!is_dry("/a/dryRun=All") && !is_dry("/a?xdryRun=All"));
    }
}
