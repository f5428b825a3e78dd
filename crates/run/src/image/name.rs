//! Registries that are reached without TLS. Works on text only.

use purlin_value::image::registry;

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
    fn insecure_registries() {
        assert!(is_insecure("127.0.0.1:5000/a", &[]) && !is_insecure("reg.example/a", &[]));
        assert!(is_insecure("reg.example/a", &["reg.example".to_owned()]));
    }
}
