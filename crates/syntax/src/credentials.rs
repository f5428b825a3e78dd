//! Passwords and tokens in addresses: `https://user:password@host`. Wherever an address is shown, they are not.
//!
//! Nothing here knows what an address is for.

use std::ops::Range;

/// Where in a text the passwords and tokens of addresses are. A user name without a password (`ssh://git@host`) is not
/// one of them, and an expression (`${…}`) is not either, because it shows nothing.
pub(crate) fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").filter_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = text.get(start..)?;
        let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'`<>|\\,".contains(c)).unwrap_or(rest.len());
        let user = rest.get(..end)?.rsplit_once('@')?.0;
        let is_web = text.get(..at)?.ends_with("http") || text.get(..at)?.ends_with("https");
        let from = match user.split_once(':') {
            Some((name, _)) => name.len() + 1,
            None if is_web => 0,
            None => return None,
        };
        let hidden = user.get(from..).filter(|hidden| !hidden.is_empty() && !hidden.contains(['$', '{', '(']))?;
        Some(start + from..start + from + hidden.len())
    })
}

/// A text without the passwords and tokens of addresses in it; nothing if there are none.
pub(crate) fn without_credentials(text: &str, instead: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    for range in credentials(text) {
        out.push_str(text.get(kept..range.start).unwrap_or_default());
        out.push_str(instead);
        kept = range.end;
    }
    (kept > 0).then(|| out + text.get(kept..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_tokens_are_found_and_nothing_else_is() {
        for (text, without) in [
            ("`https://user:pass@host/r.git#main` may not", "`https://user:*@host/r.git#main` may not"),
            ("https://token@host and git+ssh://u:p@h", "https://*@host and git+ssh://u:*@h"),
            ("http://a:b@c@host/x@y", "http://a:*@host/x@y"),
            ("x: [\"https://:p%40q@host\"]", "x: [\"https://:*@host\"]"),
        ] {
            assert_eq!(without_credentials(text, "*").as_deref(), Some(without));
        }
        for plain in [
            "https://host/a@b",
            "ssh://git@host/r",
            "https://host:80/",
            "https://${var.user}:${var.token}@host",
            "://",
            "https://user:@host",
            "mail@host https://é",
        ] {
            assert_eq!(without_credentials(plain, "*"), None, "{plain}");
        }
    }
}
