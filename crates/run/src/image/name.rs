//! Names of images: registry, path, tag. Pure text.

/// A name without its tag or digest.
pub fn without_tag(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    let last = name.rfind('/').map_or(0, |at| at + 1);
    let colon = name.get(last..).and_then(|part| part.find(':'));
    colon.and_then(|at| name.get(..last + at)).unwrap_or(name)
}

/// The registry of a name; `None` means the builder's own choice.
pub fn registry(name: &str) -> Option<&str> {
    let (host, _) = name.split_once('/')?;
    (host.contains(['.', ':']) || host == "localhost").then_some(host)
}

/// Whether a registry is reached without TLS: one that is listed, or one on this machine.
pub fn is_insecure(name: &str, listed: &[String]) -> bool {
    let Some(registry) = registry(name) else { return false };
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    listed.iter().any(|other| other == registry || other.trim_start_matches("http://") == registry)
        || matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        assert_eq!(without_tag("a:v1"), "a");
        assert_eq!(without_tag("localhost:5000/a"), "localhost:5000/a");
        assert_eq!(without_tag("localhost:5000/a/b:v1@sha256:00"), "localhost:5000/a/b");
        assert_eq!(registry("localhost:5000/a"), Some("localhost:5000"));
        assert_eq!(registry("library/a"), None);
        assert_eq!(registry("a"), None);
        assert!(is_insecure("127.0.0.1:5000/a", &[]) && !is_insecure("reg.example/a", &[]));
        assert!(is_insecure("reg.example/a", &["reg.example".to_owned()]));
    }
}
