//! Credentials for registries, as Helm and Docker keep them in a file, and what is made of them for a request.

use super::address::{Address, RemoteAddress, parse};
use super::https::{Answer, failed};
use purlin_charts::json;
use purlin_value::encoding::{base64, from_base64};
use purlin_value::world::WorldError;
use purlin_value::{Origin, Value};
use std::collections::BTreeMap;

/// Names and passwords by host, with its port.
#[derive(Clone, Default)]
pub struct Logins(BTreeMap<String, (String, String)>);

impl std::fmt::Debug for Logins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Logins({})", self.0.len())
    }
}

impl Logins {
    /// The entries of a file such as `~/.config/helm/registry/config.json`. One that cannot be read has none.
    pub fn read(text: &str) -> Logins {
        let file = json::parse(text.as_bytes(), Origin::NONE).unwrap_or_else(|_| Value::null());
        let mut found = BTreeMap::new();
        for (host, entry) in file.get("auths").and_then(Value::as_map).into_iter().flat_map(|map| map.iter()) {
            let packed = entry.get("auth").and_then(Value::as_str).unwrap_or_default();
            let plain = from_base64(packed.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            if let Some((name, password)) = plain.as_deref().and_then(|text| text.split_once(':')) {
                found.insert(bare(host).to_owned(), (name.to_owned(), password.to_owned()));
            }
        }
        Logins(found)
    }

    /// The same with those of another file, where there are none here.
    pub fn or(mut self, other: Logins) -> Logins {
        for (host, login) in other.0 {
            self.0.entry(host).or_insert(login);
        }
        self
    }

    /// The same with one more.
    pub fn with(mut self, host: &str, name: &str, password: &str) -> Logins {
        self.0.insert(bare(host).to_owned(), (name.to_owned(), password.to_owned()));
        self
    }

    /// The passwords, which no output shows.
    pub fn secrets(&self) -> Vec<String> {
        let packed =
            |(name, password): &(String, String)| [password.clone(), base64(format!("{name}:{password}").as_bytes())];
        self.0.values().flat_map(packed).collect()
    }

    /// The header for a host that accepts a name and a password.
    pub(super) fn of(&self, host: &str) -> Option<String> {
        let (name, password) = self.0.get(bare(host))?;
        Some(format!("Basic {}", base64(format!("{name}:{password}").as_bytes())))
    }
}

/// A host without a protocol and a path, as some programs write it.
fn bare(host: &str) -> &str {
    let rest = host.split_once("://").map_or(host, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Sends a request for a token.
pub(super) type Get<'g> = &'g dyn Fn(&RemoteAddress, &[(&str, String)]) -> Result<Answer, WorldError>;

/// The header that a registry asks for: a name and a password, or a token of the server that it names.
pub(super) fn authorization(
    challenge: &str,
    scope: &str,
    basic: Option<String>,
    get: Get<'_>,
) -> Result<String, WorldError> {
    let unknown = || failed("the registry wants credentials; `helm registry login HOST` stores them");
    if challenge.get(..6).is_some_and(|kind| kind.eq_ignore_ascii_case("basic ")) {
        return basic.ok_or_else(unknown);
    }
    let field = |name: &str| {
        let rest = challenge.split_once(&format!("{name}=\""))?.1;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let realm = field("realm").filter(|_| challenge.starts_with("Bearer ")).ok_or_else(unknown)?;
    let scope = field("scope").unwrap_or_else(|| scope.to_owned());
    let mut query: Vec<String> = Vec::new();
    query.extend((!scope.is_empty()).then(|| format!("scope={scope}")));
    query.extend(field("service").map(|service| format!("service={service}")));
    let Address::Remote(address) = parse(&format!("{realm}?{}", query.join("&")))? else { return Err(unknown()) };
    let headers: Vec<(&str, String)> = basic.into_iter().map(|basic| ("authorization", basic)).collect();
    let answer = get(&address, &headers)?;
    if answer.status != 200 {
        return Err(unknown());
    }
    let token = json::parse(&answer.body, Origin::NONE);
    let token = token.map_err(|_| failed("the registry's answer is not JSON"))?;
    let text = token.get("token").or_else(|| token.get("access_token")).and_then(Value::as_str);
    text.map(|token| format!("Bearer {token}")).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FILE: &str = r#"{"auths": {"localhost:5000": {"auth": "bWU6cDp3"}, "https://index.docker.io/v1/": {"auth": "YTpi"},
        "broken": {"auth": "?"}, "helper": {}}, "credsStore": "desktop"}"#;

    #[test]
    fn files_are_read_as_docker_writes_them() {
        let logins = Logins::read(FILE);
        assert_eq!(logins.of("localhost:5000").as_deref(), Some("Basic bWU6cDp3"));
        assert_eq!(logins.of("index.docker.io").as_deref(), Some("Basic YTpi"));
        assert_eq!((logins.of("broken"), logins.of("helper"), logins.of("localhost")), (None, None, None));
        assert!(Logins::read("{").0.is_empty() && Logins::read("[]").0.is_empty());
        assert_eq!(format!("{logins:?}"), "Logins(2)");
        assert!(logins.secrets().contains(&"p:w".to_owned()));
    }

    #[test]
    fn registries_choose_how_they_are_convinced() {
        let basic = || Some("Basic eA==".to_owned());
        let none = |_: &RemoteAddress, _: &[(&str, String)]| -> Result<Answer, WorldError> { Err(failed("asked")) };
        assert_eq!(authorization("Basic realm=\"x\"", "", basic(), &none).unwrap(), "Basic eA==");
        assert!(authorization("Basic realm=\"x\"", "", None, &none).is_err());
        let token = |address: &RemoteAddress, headers: &[(&str, String)]| {
            assert_eq!(address.full, "https://auth.example/t?scope=repository:a:pull&service=s");
            assert_eq!(headers.len(), 1);
            let body = br#"{"token": "abc"}"#.to_vec();
            Ok(Answer { status: 200, location: None, challenge: None, next: None, body })
        };
        let challenge = "Bearer realm=\"https://auth.example/t\",service=\"s\",scope=\"repository:a:pull\"";
        assert_eq!(authorization(challenge, "repository:a:pull,push", basic(), &token).unwrap(), "Bearer abc");
        assert!(authorization("Digest x", "", basic(), &none).is_err());
    }
}
