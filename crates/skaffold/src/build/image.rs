//! Names of images: their parts, and their form under another registry.
//!
//! Pure text; taking them apart is `purlin_value::image`.

use purlin_value::image;

/// The parts of an image's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Registry and path, without tag or digest.
    pub name: String,
    /// Tag; empty if not set.
    pub tag: String,
    /// Digest; empty if not set.
    pub digest: String,
}

/// Reads a name. Go import paths (`ko://…`) keep their own rules.
pub fn parse(text: &str) -> Result<Reference, String> {
    let parts = image::parts(text);
    let (name, tag, digest) = (parts.name, parts.tag.unwrap_or_default(), parts.digest.unwrap_or_default());
    if !digest.is_empty() && !is_digest(digest) {
        return Err(format!("`{digest}` is not a valid digest"));
    }
    if !tag.is_empty() && !is_tag(tag) {
        return Err(format!("`{tag}` is not a valid tag"));
    }
    if name.is_empty() {
        return Err("repository name must have at least one component".to_owned());
    }
    if !name.starts_with("ko://") {
        check_path(name)?;
    }
    Ok(Reference { name: name.to_owned(), tag: tag.to_owned(), digest: digest.to_owned() })
}

fn check_path(name: &str) -> Result<(), String> {
    if name.len() > 255 {
        return Err("the name is longer than 255 characters".to_owned());
    }
    let mut parts = name.split('/');
    let mut first = parts.next().unwrap_or_default();
    if image::registry(name).is_some() {
        if !first.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'-')) {
            return Err(format!("`{first}` is not a valid registry"));
        }
        first = parts.next().unwrap_or_default();
    }
    for part in std::iter::once(first).chain(parts) {
        if part.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err("repository name must be lowercase".to_owned());
        }
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        if !edge(part.bytes().next()) || !edge(part.bytes().last()) || !part.bytes().all(inner) {
            return Err(format!("`{part}` is not allowed in the name of an image"));
        }
    }
    Ok(())
}

fn is_tag(tag: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    tag.len() <= 128 && tag.bytes().all(allowed) && !tag.starts_with(['.', '-'])
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        !algorithm.is_empty() && hex.len() >= 32 && hex.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// The longest name of an image.
const LONGEST: usize = 255;

/// The name of an image in another registry (`--default-repo`), as in Skaffold: a name below that registry is kept,
/// Google's registries nest names, and for all others the name becomes one word.
pub fn in_registry(image: &str, registry: &str) -> String {
    let last = image.rfind('/').map_or(0, |at| at + 1);
    let end = image.get(last..).and_then(|part| part.find(['@', ':'])).map_or(image.len(), |at| last + at);
    let (name, rest) = image.split_at(end);
    if registry.is_empty() || name.starts_with(registry) {
        return image.to_owned();
    }
    let (own, other) = (project_prefix(name), project_prefix(registry));
    let nests = other.contains("gcr.io") || other.contains("-docker.pkg.dev");
    let mut whole = match nests {
        true if own == other => format!("{registry}/{}", name.get(own.len()..).unwrap_or_default()),
        true => format!("{registry}/{name}"),
        false => format!("{registry}/{}", name.replace(['/', '.', '_', ':', '@'], "_")),
    };
    if whole.len() > LONGEST && !(nests && own == other) {
        let end = (0..=LONGEST).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        whole.truncate(end);
    }
    whole + rest
}

/// The host and the Google project at the start of a name, with the following slash; empty if it has none.
fn project_prefix(name: &str) -> &str {
    let Some((host, path)) = name.split_once('/').filter(|(host, _)| is_host(host)) else { return "" };
    let Some(length) = project_length(path) else { return "" };
    let slash = usize::from(path.as_bytes().get(length) == Some(&b'/'));
    name.get(..host.len() + 1 + length + slash).unwrap_or_default()
}

fn is_host(host: &str) -> bool {
    let (labels, port) = host.split_once(':').map_or((host, None), |(labels, port)| (labels, Some(port)));
    let is_label = |label: &str| {
        let edges = [label.bytes().next(), label.bytes().last()];
        edges.iter().all(|edge| edge.is_some_and(|b| b.is_ascii_alphanumeric()))
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    labels.split('.').all(is_label) && port.is_none_or(is_port)
}

/// Length of the project at the start of a path: 6 to 30 lower-case letters, digits and dashes, a letter first and no
/// dash last.
fn project_length(path: &str) -> Option<usize> {
    let bytes = path.as_bytes();
    bytes.first().filter(|first| first.is_ascii_lowercase())?;
    let is_inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    let run = bytes.iter().take(30).take_while(|b| is_inner(b)).count();
    (6..=run).rev().find(|length| bytes.get(length - 1).is_some_and(|last| *last != b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let parts = |text: &str| parse(text).map(|r| (r.name, r.tag, r.digest));
        let hash = "0".repeat(64);
        assert_eq!(parts("a"), Ok(("a".into(), String::new(), String::new())));
        assert_eq!(parts("localhost:5000/a/b:v1"), Ok(("localhost:5000/a/b".into(), "v1".into(), String::new())));
        assert_eq!(parts(&format!("a@sha256:{hash}")), Ok(("a".into(), String::new(), format!("sha256:{hash}"))));
        assert_eq!(parts("ko://github.com/Google/x").map(|p| p.0), Ok("ko://github.com/Google/x".into()));
        for wrong in ["", "A", "a//b", "-a", "a b", "a@x", "gcr.io/"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn other_registries() {
        let cases = [
            ("gcr.io/x/app:v1", "reg.example/team", "reg.example/team/gcr_io_x_app:v1"),
            ("localhost:5000/app:1", "r", "r/localhost_5000_app:1"),
            // A name below the registry stays.
            ("localhost:5000/x.y/z", "localhost:5000", "localhost:5000/x.y/z"),
            ("gcr.io/my-project/a", "gcr.io/my-project", "gcr.io/my-project/a"),
            // Host and project are compared as one.
            ("gcr.io/k8s-skaffold/api", "gcr.io/my-project", "gcr.io/my-project/gcr.io/k8s-skaffold/api"),
            ("gcr.io/my-project/api", "gcr.io/my-project/sub", "gcr.io/my-project/sub/api"),
            ("eu.gcr.io/my-project/api", "gcr.io/my-project/sub", "gcr.io/my-project/sub/eu.gcr.io/my-project/api"),
            (
                "eu-docker.pkg.dev/my-project/r/a",
                "eu-docker.pkg.dev/my-project/s",
                "eu-docker.pkg.dev/my-project/s/r/a",
            ),
            // A project has at least six letters.
            ("gcr.io/k8s-skaffold/api", "gcr.io/mine", "gcr.io/mine/gcr_io_k8s-skaffold_api"),
            ("web", "gcr.io/my-project", "gcr.io/my-project/web"),
            ("a", "", "a"),
        ];
        for (image, registry, expected) in cases {
            assert_eq!(in_registry(image, registry), expected, "{image} in {registry}");
        }
    }

    #[test]
    fn what_is_flattened_stays_within_the_limit() {
        let long = format!("a/{}", "b".repeat(300));
        assert_eq!(in_registry(&format!("{long}:v1"), "reg.example").len(), 255 + ":v1".len());
    }
}
