//! Names of images: their parts, and what they become under another registry.
//!
//! Pure text; taking them apart is `purlin_value::image`.

use purlin_value::image;

/// The parts of an image's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Registry and path, without tag or digest.
    pub name: String,
    /// Tag; empty if there is none.
    pub tag: String,
    /// Digest; empty if there is none.
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

/// What an image is called in another registry (`--default-repo`).
pub fn in_registry(image: &str, registry: &str) -> String {
    let last = image.rfind('/').map_or(0, |at| at + 1);
    let end = image.get(last..).and_then(|part| part.find(['@', ':'])).map_or(image.len(), |at| last + at);
    let (name, rest) = image.split_at(end);
    let google =
        |text: &str| text.starts_with("gcr.io/") || text.contains(".gcr.io/") || text.contains("-docker.pkg.dev/");
    if google(registry) {
        // Inside Google's registries, paths may nest: what the two have in common is not repeated.
        let shared = name.split('/').zip(registry.split('/')).take_while(|(a, b)| a == b).count();
        let own: Vec<&str> = name.split('/').skip(if google(name) { shared } else { 0 }).collect();
        return format!("{registry}/{}{rest}", own.join("/"));
    }
    let flat: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    let mut whole = format!("{registry}/{flat}");
    whole.truncate(255);
    whole.push_str(rest);
    whole
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
        assert_eq!(in_registry("gcr.io/x/app:v1", "reg.example/team"), "reg.example/team/gcr_io_x_app:v1");
        assert_eq!(in_registry("gcr.io/x/app", "gcr.io/y"), "gcr.io/y/x/app");
        assert_eq!(in_registry("localhost:5000/app:1", "r"), "r/localhost_5000_app:1");
    }
}
