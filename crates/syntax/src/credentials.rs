//! Passwords and tokens in addresses, such as `https://user:password@host` and `https://host/x?token=…`, which are
//! hidden wherever an address is shown; and names that mark a value as a credential.
//!
//! Nothing here knows what an address is for.

use std::ops::Range;

/// Endings of parameter names that mark credentials, word by word. `key` alone is not one of them: it names the
/// requested object more often than a credential.
const CREDENTIALS: &[&str] = &[
    "access key",
    "access key id",
    "accesskey",
    "account key",
    "api key",
    "apikey",
    "auth",
    "auth key",
    "authorization",
    "bearer",
    "code",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "private key",
    "pwd",
    "secret",
    "secret id",
    "secret key",
    "session",
    "session id",
    "sessionid",
    "sig",
    "signature",
    "subscription key",
    "token",
];

/// Whether a parameter of an address is a credential, by its name.
pub fn is_credential(name: &str) -> bool {
    let words = words_of(name);
    let ends = |known: &&str| words.strip_suffix(*known).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '));
    CREDENTIALS.iter().any(ends)
}

/// The words of a name in lower case: `X-Amz-Signature`, `private_token` and `AWSAccessKeyId` have three, two and four.
fn words_of(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_start =
            letter.is_uppercase() && (!before.is_uppercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
        if is_start && !words.ends_with(' ') && !words.is_empty() {
            words.push(' ');
        }
        match letter.is_alphanumeric() {
            true => words.extend(letter.to_lowercase()),
            false if words.is_empty() || words.ends_with(' ') => {}
            false => words.push(' '),
        }
        before = letter;
    }
    words
}

/// Words that mark the value of an environment variable as a credential.
const OF_VARIABLES: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "key",
    "keys",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// Whether an environment variable holds a credential, by its name: `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`.
pub fn is_secret_variable(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| OF_VARIABLES.contains(&word.to_lowercase().as_str()))
}

/// Ranges of the values of such parameters in an address.
fn parameters(address: &str) -> Vec<Range<usize>> {
    let end = address.find(|c: char| c.is_whitespace() || "\"'`<>|\\".contains(c)).unwrap_or(address.len());
    let address = address.get(..end).unwrap_or(address);
    let mut found = Vec::new();
    let Some(mut at) = address.find(['?', '#']).map(|at| at + 1) else { return found };
    while let Some(rest) = address.get(at..) {
        let length = rest.find(['&', '#', ';']).unwrap_or(rest.len());
        let parameter = rest.get(..length).unwrap_or(rest);
        if let Some((name, value)) = parameter.split_once('=')
            && is_credential(name)
            && !value.is_empty()
            && value != "***"
            && !value.contains(['$', '{', '('])
        {
            found.push(at + name.len() + 1..at + length);
        }
        if length == rest.len() {
            break;
        }
        at += length + 1;
    }
    found
}

/// Ranges of the passwords and tokens of addresses in a text. A user name without a password (`ssh://git@host`) is
/// not one of them, nor is an expression (`${…}`), which reveals nothing.
pub(crate) fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").flat_map(|(at, mark)| {
        let start = at + mark.len();
        let behind = parameters(text.get(start..).unwrap_or_default());
        let behind = behind.into_iter().map(move |range| start + range.start..start + range.end);
        password(text, at, start).into_iter().chain(behind)
    })
}

/// Range of the password or token before a host.
fn password(text: &str, at: usize, start: usize) -> Option<Range<usize>> {
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
}

/// A text with the passwords and tokens of its addresses replaced; `None` if it has none.
pub fn without_credentials(text: &str, instead: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    for range in credentials(text).filter(|range| !range.is_empty()) {
        // An address in a parameter of another is hidden with it.
        if range.start < kept {
            continue;
        }
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
            ("`https://h/x?a=1&token=T&b=2` no", "`https://h/x?a=1&token=*&b=2` no"),
            ("http://u:p@h/x?X-Amz-Signature=S#access_token=T", "http://u:*@h/x?X-Amz-Signature=*#access_token=*"),
            ("https://h/?token=https://u:p@i", "https://h/?token=*"),
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
            "https://host/x?token=${var.token}&page=2",
            "https://host/x?token=",
            "mail@host https://é",
        ] {
            assert_eq!(without_credentials(plain, "*"), None, "{plain}");
        }
    }

    #[test]
    fn names_of_secret_variables() {
        for name in
            ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "ApiKey", "NPM_TOKENS", "MY_SECRET_1", "API_KEY"]
        {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["HOME", "PWD", "KEYBOARD", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "MONKEY", "GIT_AUTHOR", "CI"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
