//! Remote addresses: parsing, and whether the user allowed them. Makes no network requests.

use purlin_syntax::credentials::is_credential;
use purlin_value::world::WorldError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The protocol of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transport {
    Https,
    /// Without encryption; only where the user named the host with `http://`.
    Http,
    Ssh,
}

impl Transport {
    fn default_port(self) -> u16 {
        match self {
            Transport::Https => 443,
            Transport::Http => 80,
            Transport::Ssh => 22,
        }
    }
}

/// The kinds of addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Address {
    /// A path of the world.
    Local(String),
    /// Something on another machine.
    Remote(RemoteAddress),
}

/// An address on another machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RemoteAddress {
    pub transport: Transport,
    /// Without brackets, in lower case.
    pub host: String,
    pub port: u16,
    /// As written; it may contain a password. The cache uses its hash.
    pub full: String,
    /// Without passwords: for messages and the lock file.
    pub shown: String,
}

/// Parses an address, or returns why it is refused.
pub(super) fn parse(text: &str) -> Result<Address, WorldError> {
    if text.is_empty() {
        return Err(WorldError::FetchFailed("the address is empty".to_owned()));
    }
    if text.starts_with('-') {
        return Err(refused("an address cannot start with `-`"));
    }
    if text.chars().any(char::is_control) {
        return Err(refused("an address cannot hold control characters"));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        return url(text, &scheme.to_ascii_lowercase(), rest);
    }
    let before_slash = text.split('/').next().unwrap_or(text);
    if before_slash.contains("::") && !before_slash.starts_with('[') {
        return Err(only());
    }
    match scp_like(before_slash) {
        Some((user, host)) => {
            let path = text.get(before_slash.len()..).unwrap_or("");
            let start = before_slash.rsplit(':').next().unwrap_or("");
            if start.starts_with('-') || (start.is_empty() && path.is_empty()) {
                return Err(refused("the path of an address cannot be empty or start with `-`"));
            }
            check_user(user)?;
            let host = check_host(host)?;
            let (full, shown) = (text.to_owned(), text.to_owned());
            Ok(Address::Remote(RemoteAddress { transport: Transport::Ssh, host, port: 22, full, shown }))
        }
        None => Ok(Address::Local(text.to_owned())),
    }
}

/// `user@host:path`, as git takes it; a single letter before the colon is a drive.
fn scp_like(before_slash: &str) -> Option<(&str, &str)> {
    let (user, rest) = before_slash.split_once('@').unwrap_or(("", before_slash));
    let host = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once("]:")?.0,
        None => rest.split_once(':')?.0,
    };
    (host.len() > 1 || !user.is_empty()).then_some((user, host))
}

fn url(text: &str, scheme: &str, rest: &str) -> Result<Address, WorldError> {
    let transport = match scheme {
        "https" => Transport::Https,
        "http" => Transport::Http,
        "ssh" => Transport::Ssh,
        "file" if rest.starts_with('/') => return Ok(Address::Local(rest.to_owned())),
        _ => return Err(only()),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = user_info.split(':').next().unwrap_or("");
    let (host, port) = split_port(place).ok_or_else(|| refused("the host or port of the address is not valid"))?;
    let host = check_host(host)?;
    if transport == Transport::Ssh {
        check_user(user)?;
    }
    let user = if user.is_empty() || transport != Transport::Ssh { String::new() } else { format!("{user}@") };
    Ok(Address::Remote(RemoteAddress {
        transport,
        host,
        port: port.unwrap_or_else(|| transport.default_port()),
        full: text.to_owned(),
        shown: format!("{scheme}://{user}{place}{}", without_tokens(path)),
    }))
}

/// A path, its query and its fragment, without the values of parameters that are credentials. The others are kept: they
/// identify the resource.
fn without_tokens(path: &str) -> String {
    let (rest, fragment) = path.find('#').map_or((path, ""), |at| path.split_at(at));
    let (before, query) = rest.find('?').map_or((rest, ""), |at| rest.split_at(at));
    format!("{before}{}{}", without_values(query), without_values(fragment))
}

/// Parameters after the character that introduces them.
fn without_values(announced: &str) -> String {
    let parameter = |text: &str| match text.split_once('=') {
        Some((name, _)) if is_credential(name) => format!("{name}=***"),
        _ => text.to_owned(),
    };
    let parameters: Vec<String> = announced.split('&').map(parameter).collect();
    parameters.join("&")
}

/// Host and port; brackets are for addresses with colons in them.
fn split_port(place: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => place.find(':').map_or((place, ""), |at| place.split_at(at)),
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((host, None)),
        None => None,
        Some(digits) => Some((host, Some(digits.parse().ok()?))),
    }
}

fn check_host(host: &str) -> Result<String, WorldError> {
    let is_name = host.starts_with(|c: char| c.is_ascii_alphanumeric())
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    if is_name || host.parse::<Ipv6Addr>().is_ok() {
        return Ok(host.trim_end_matches('.').to_ascii_lowercase());
    }
    Err(refused("the host of the address is not valid"))
}

fn check_user(user: &str) -> Result<(), WorldError> {
    let is_name = user.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && user.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+'));
    if user.is_empty() || is_name { Ok(()) } else { Err(refused("the user in the address is not valid")) }
}

fn refused(why: &str) -> WorldError {
    WorldError::Denied(why.to_owned())
}

fn only() -> WorldError {
    refused("only https and ssh addresses, http ones that were allowed, and allowed local paths are fetched")
}

/// Whether a revision is safe to hand to git: it cannot be taken for an option or a range.
pub(super) fn check_revision(revision: &str) -> Result<(), WorldError> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_./@{}^~-".contains(&b);
    let is_safe = revision.starts_with(|c: char| c.is_ascii_alphanumeric())
        && revision.bytes().all(is_plain)
        && !revision.contains("..");
    if revision.is_empty() || is_safe {
        return Ok(());
    }
    Err(WorldError::Denied(format!("`{}` is not a branch, tag or commit", revision.escape_debug())))
}

/// The hosts that `--allow-net` names.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    hosts: Vec<Host>,
}

/// An allowed host.
#[derive(Clone, Debug)]
struct Host {
    name: String,
    port: Option<u16>,
    /// Whether unencrypted connections are allowed too.
    plain: bool,
}

impl Allowed {
    /// Reads `HOST` or `HOST:PORT`, with `http://` before it where the connection need not be encrypted; anything else
    /// allows nothing.
    pub(super) fn new(texts: &[String]) -> Self {
        let read = |text: &String| {
            let (plain, text) = text.strip_prefix("http://").map_or((false, text.as_str()), |rest| (true, rest));
            if let Ok(bare) = text.parse::<Ipv6Addr>() {
                return Some(Host { name: bare.to_string(), port: None, plain });
            }
            let (host, port) = split_port(text.trim_end_matches('/'))?;
            let host = host.parse::<Ipv6Addr>().map_or_else(|_| host.to_ascii_lowercase(), |ip| ip.to_string());
            Some(Host { name: host.trim_end_matches('.').to_owned(), port, plain })
        };
        Allowed { hosts: texts.iter().filter_map(read).collect() }
    }

    /// Checks whether a host and port are allowed.
    pub(super) fn check(&self, address: &RemoteAddress) -> Result<(), WorldError> {
        let host = address.host.parse::<Ipv6Addr>().map_or_else(|_| address.host.clone(), |ip| ip.to_string());
        let mut known = self.hosts.iter().filter(|known| known.name == host);
        let is_plain = address.transport == Transport::Http;
        if known.any(|known| known.port.is_none_or(|port| port == address.port) && (known.plain || !is_plain)) {
            return Ok(());
        }
        let scheme = if is_plain { "http://" } else { "" };
        Err(WorldError::Denied(format!("connecting to it needs `--allow-net {scheme}{}`", address.host)))
    }

    /// The scheme for a registry: unencrypted only if the user named it so.
    pub(super) fn scheme_of(&self, place: &str) -> &'static str {
        let (name, port) = split_port(place).unwrap_or((place, None));
        let is_plain = |host: &Host| host.plain && host.name == name && (host.port.is_none() || host.port == port);
        if self.hosts.iter().any(is_plain) { "http" } else { "https" }
    }

    /// Whether a machine may be connected to: a public one, or one that was named by exactly this address.
    #[cfg_attr(not(feature = "net"), allow(dead_code))]
    pub(super) fn check_machine(&self, ip: IpAddr) -> bool {
        is_public(ip) || self.hosts.iter().any(|host| host.name.parse() == Ok(ip))
    }
}

/// Whether an address belongs to the open network: not this machine, not the local one, nothing reserved.
#[cfg_attr(not(feature = "net"), allow(dead_code))]
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

#[cfg_attr(not(feature = "net"), allow(dead_code))]
fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let reserved = match (a, b, c) {
        (0 | 240..=255, ..) | (100, 64..=127, _) | (198, 18 | 19, _) | (192, 0, 0) => true,
        // A discontinued IPv6 gateway: a machine that answers there is not the intended one.
        (192, 88, 99) => true,
        _ => false,
    };
    !(reserved
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation())
}

/// Only global unicast without another address embedded in it.
#[cfg_attr(not(feature = "net"), allow(dead_code))]
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    if let Some(inner) = ip.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let is_global = first & 0xe000 == 0x2000;
    let carries_another = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    let is_documentation = (first == 0x2001 && second == 0x0db8) || first == 0x3fff;
    is_global && !carries_another && !is_documentation
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn remote(text: &str) -> RemoteAddress {
        match parse(text) {
            Ok(Address::Remote(remote)) => remote,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn addresses_are_understood() {
        for (text, transport, host, port, shown) in [
            ("https://Example.com/a.git", Transport::Https, "example.com", 443, "https://Example.com/a.git"),
            ("HTTPS://u:p%40@h.example:8443?x", Transport::Https, "h.example", 8443, "https://h.example:8443?x"),
            ("ssh://git@h.example:2222/a", Transport::Ssh, "h.example", 2222, "ssh://git@h.example:2222/a"),
            ("git@github.com:org/repo.git", Transport::Ssh, "github.com", 22, "git@github.com:org/repo.git"),
            ("https://[2001:4860::1]:44/x", Transport::Https, "2001:4860::1", 44, "https://[2001:4860::1]:44/x"),
        ] {
            let found = remote(text);
            assert_eq!((found.transport, found.host.as_str(), found.port), (transport, host, port), "{text}");
            assert_eq!(found.shown, shown);
        }
        for (text, path) in [("../x", "../x"), ("/a b/c", "/a b/c"), ("file:///a/b", "/a/b"), ("C:/x", "C:/x")] {
            assert_eq!(parse(text), Ok(Address::Local(path.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_shown_and_recorded_holds_no_credentials() {
        for (text, shown) in [
            ("https://ghp_abc@h.example/a.git", "https://h.example/a.git"),
            ("https://ada:pw@h.example/a?ref=v1", "https://h.example/a?ref=v1"),
            ("https://h.example/a?private_token=abc&ref=v1", "https://h.example/a?private_token=***&ref=v1"),
            ("https://h.example/a?X-Amz-Signature=abc#top", "https://h.example/a?X-Amz-Signature=***#top"),
            ("https://h.example?sig=a%3D&se=2030&accessKey=b", "https://h.example?sig=***&se=2030&accessKey=***"),
            ("https://h.example/a?AWSAccessKeyId=a&x", "https://h.example/a?AWSAccessKeyId=***&x"),
            ("https://h.example/a?API-KEY=a&jwt=b", "https://h.example/a?API-KEY=***&jwt=***"),
            ("https://h.example/a#access_token=a&b=c", "https://h.example/a#access_token=***&b=c"),
            ("https://h.example/a?x=1#id.token=a?b", "https://h.example/a?x=1#id.token=***"),
            ("https://h.example/token=a/b?flag", "https://h.example/token=a/b?flag"),
            ("ssh://git:pw@h.example/a", "ssh://git@h.example/a"),
        ] {
            assert_eq!((remote(text).shown.as_str(), remote(text).full.as_str()), (shown, text));
        }
    }

    /// Otherwise different resources would be recorded as one.
    #[test]
    fn what_is_asked_for_is_shown() {
        for query in
            ["key=a.yaml", "keys=a", "design=a", "author=ada", "auth_type=x", "tokens=3", "monkey=a", "passage=2"]
        {
            let text = format!("https://h.example/a?{query}#{query}");
            assert_eq!(remote(&text).shown, text);
        }
    }

    #[test]
    fn tricks_are_refused() {
        for text in [
            "-oProxyCommand=x",
            "--upload-pack=x",
            "https://example.com/\r\nHost: x",
            "a\0b",
            "ext::sh -c x",
            "fd::7",
            "file://host/x",
            "git://example.com/x",
            "ftp://example.com/x",
            "ssh://-oProxyCommand=x/y",
            "ssh://-l@host/x",
            "-x@host:path",
            "host.example:-x",
            "git@host.example:",
            "https://",
            "https:///x",
            "https://exa mple.com/",
            "https://exam%70le.com/",
            "https://example.com:99999/",
            "https://[::1/x",
            "javascript://x",
        ] {
            assert!(matches!(parse(text), Err(WorldError::Denied(_))), "{text:?}: {:?}", parse(text));
        }
        assert!(matches!(parse(""), Err(WorldError::FetchFailed(_))));
    }

    #[test]
    fn revisions_cannot_be_options_or_ranges() {
        for good in ["", "main", "v1.0", "feature/x-1", "HEAD~2", "main@{1}", "refs/heads/x", "1a2b"] {
            assert!(check_revision(good).is_ok(), "{good}");
        }
        for bad in ["-x", "--upload-pack=x", "a b", "a..b", "a:b", "+a", "a\n", "^a", ".x", "é", "a;b", "$(x)"] {
            assert!(matches!(check_revision(bad), Err(WorldError::Denied(_))), "{bad}");
        }
    }

    #[test]
    fn only_named_hosts_are_allowed() {
        let texts = ["Example.com", "h.example:8443", "[::1]:1", "10.0.0.1"].map(str::to_owned);
        let allowed = Allowed::new(&texts);
        for (address, is_allowed) in [
            ("https://example.com/x", true),
            ("https://example.com:9/x", true),
            ("https://example.com./x", true),
            ("https://sub.example.com/x", false),
            ("https://example.com.evil.example/x", false),
            ("https://example.com@evil.example/x", false),
            ("https://h.example/x", false),
            ("https://h.example:8443/x", true),
            ("https://[::1]:1/x", true),
            ("https://[0:0:0:0:0:0:0:1]:1/x", true),
            ("https://[::1]/x", false),
        ] {
            assert_eq!(allowed.check(&remote(address)).is_ok(), is_allowed, "{address}");
        }
        assert!(allowed.check_machine("10.0.0.1".parse().unwrap()));
        assert!(!allowed.check_machine("10.0.0.2".parse().unwrap()));
    }

    #[test]
    fn private_machines_are_told_apart() {
        for ip in ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "127.0.0.1",
            "127.8.9.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:1::1",
            "2001:db8::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
