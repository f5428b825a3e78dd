//! `file:` addresses and paths.

/// The path of a `file:` address; `None` for any other.
pub fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut at = path.bytes();
    while let Some(byte) = at.next() {
        let digits = (byte == b'%').then(|| (at.clone().next(), at.clone().nth(1)));
        match digits {
            Some((Some(high), Some(low))) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap_or(0)).unwrap_or(0);
                bytes.push(digit(high) * 16 + digit(low));
                at.nth(1);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

/// The `file:` address of a path.
pub fn uri_of(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_both_ways() {
        for path in ["/a/b.yaml", "/with space/ü.yaml", "/100%/x#y"] {
            assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        }
        assert_eq!(path_of("file:///a%2Fb").as_deref(), Some("/a/b"));
        assert_eq!(path_of("untitled:x"), None);
        assert_eq!(path_of("file:///a%zz").as_deref(), Some("/a%zz"));
    }
}
