//! Paths and addresses, as text only; nothing here accesses the disk or the network.

use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::funcs::{arg, bytes, row, text};
use crate::machine::Machine;
use crate::value::{Data, Str, Val};
use purlin_value::Cost;

const S: Ty = Ty::Str;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("base", &[S], "`base PATH`: the last element.", |_, args| Ok(Val::str(base(&text(args, 0))))),
    row("osBase", &[S], "`osBase PATH`: the last element.", |_, args| Ok(Val::str(base(&text(args, 0))))),
    row("dir", &[S], "`dir PATH`: all but the last element.", |_, args| Ok(Val::str(dir(&text(args, 0))))),
    row("osDir", &[S], "`osDir PATH`: all but the last element.", |_, args| Ok(Val::str(dir(&text(args, 0))))),
    row("clean", &[S], "`clean PATH`: without `.`, `..` and double slashes.", |_, args| {
        Ok(Val::str(clean(&text(args, 0))))
    }),
    row("osClean", &[S], "`osClean PATH`: without `.`, `..` and double slashes.", |_, args| {
        Ok(Val::str(clean(&text(args, 0))))
    }),
    row("ext", &[S], "`ext PATH`: the end from the last dot on.", |_, args| Ok(Val::str(ext(&text(args, 0))))),
    row("osExt", &[S], "`osExt PATH`: the end from the last dot on.", |_, args| Ok(Val::str(ext(&text(args, 0))))),
    row("isAbs", &[S], "`isAbs PATH`: whether it starts at the root.", |_, args| {
        Ok(Val::bool(bytes(args, 0).starts_with(b"/")))
    }),
    row("osIsAbs", &[S], "`osIsAbs PATH`: whether it starts at the root.", |_, args| {
        Ok(Val::bool(bytes(args, 0).starts_with(b"/")))
    }),
    row("urlParse", &[S], "`urlParse TEXT`: a dictionary of the address's parts.", url_parse).costs(Cost::Slow),
    row("urlJoin", &[Ty::Map], "`urlJoin DICT`: an address from its parts.", url_join),
    row("getHostByName", &[S], "`getHostByName NAME`: always empty; rendering asks no name server.", |_, _| {
        Ok(Val::str(""))
    }),
];

/// The last element of a path.
pub fn base(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return "/".to_owned();
    }
    trimmed.rsplit('/').next().unwrap_or_default().to_owned()
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| path.get(..=at).unwrap_or_default()))
}

/// The shortest equivalent path.
pub fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => drop(kept.pop()),
            ".." if rooted => {}
            _ => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

fn ext(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').and_then(|at| name.get(at..)).unwrap_or_default().to_owned()
}

/// Escapes a text for a query: spaces become `+`.
pub(crate) fn query_escape(text: &[u8]) -> String {
    let mut out = String::new();
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(*byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn url_parse(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let whole = text(args, 0);
    let bad = |what: &str| {
        Fault::new(format!("unable to parse url: parse {}: {what}", crate::quote::quote(whole.as_bytes())))
    };
    if whole.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return Err(bad("net/url: invalid control character in URL"));
    }
    let (rest, fragment) = whole.split_once('#').unwrap_or((&whole, ""));
    let scheme_len = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')).count();
    let has_scheme =
        rest.as_bytes().get(scheme_len) == Some(&b':') && rest.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if rest.starts_with(':') {
        return Err(bad("missing protocol scheme"));
    }
    let (scheme, rest) = if has_scheme {
        (
            rest.get(..scheme_len).unwrap_or_default().to_ascii_lowercase(),
            rest.get(scheme_len + 1..).unwrap_or_default(),
        )
    } else {
        (String::new(), rest)
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !has_scheme && !rest.starts_with('/') && rest.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err(bad("first path segment in URL cannot contain colon"));
    }
    let mut fields =
        [("opaque", String::new()), ("host", String::new()), ("path", String::new()), ("userinfo", String::new())];
    if !rest.starts_with('/') && has_scheme {
        fields[0].1 = rest.to_owned();
    } else if let Some(authority) = rest.strip_prefix("//") {
        let (authority, path) = authority.find('/').map_or((authority, ""), |at| authority.split_at(at));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        check_host(host).map_err(|what| bad(&what))?;
        check_escapes(path).map_err(|what| bad(&what))?;
        fields[1].1 = host.to_owned();
        fields[2].1 = unescape(path);
        fields[3].1 = escape_user(&unescape(user));
    } else {
        check_escapes(rest).map_err(|what| bad(&what))?;
        fields[2].1 = unescape(rest);
    }
    let host = fields[1].1.clone();
    let hostname = if let Some(rest) = host.strip_prefix('[') {
        rest.split(']').next().unwrap_or_default().to_owned()
    } else {
        host.split(':').next().unwrap_or_default().to_owned()
    };
    let mut entries: Vec<(&str, String)> = fields.into();
    entries.extend([
        ("scheme", scheme),
        ("hostname", hostname),
        ("query", query.to_owned()),
        ("fragment", unescape(fragment)),
    ]);
    let entries = entries.into_iter().map(|(key, value)| (Str::from(key), Val::str(value))).collect();
    Ok(m.heap.any_map(entries))
}

/// Checks the `%` escapes of a text.
fn check_escapes(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('%') {
        let shown: String = text.chars().skip(text.get(..at).unwrap_or_default().chars().count()).take(3).collect();
        let hex = shown.get(1..).unwrap_or_default();
        if hex.len() != 2 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("invalid URL escape {}", crate::quote::quote(shown.as_bytes())));
        }
    }
    Ok(())
}

/// Checks a host and its port.
fn check_host(host: &str) -> Result<(), String> {
    let wrong = |ch: char| ch == ' ' || matches!(ch, '\\' | '^' | '`' | '{' | '|' | '}');
    if let Some(ch) = host.chars().find(|ch| wrong(*ch)) {
        return Err(format!("invalid character {} in host name", crate::quote::quote(ch.to_string().as_bytes())));
    }
    let behind = host.rsplit_once(']').map_or(host, |(_, port)| port);
    if let Some((_, port)) = behind.rsplit_once(':')
        && !port.bytes().all(|b| b.is_ascii_digit())
    {
        return Err(format!("invalid port {} after host", crate::quote::quote(format!(":{port}").as_bytes())));
    }
    Ok(())
}

/// A user and password with every delimiter escaped.
fn escape_user(user: &str) -> String {
    let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let escape = |part: &str| {
        let mut out = String::new();
        for byte in part.bytes() {
            match byte {
                b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b',' | b';' | b'=' => out.push(char::from(byte)),
                _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
        out
    };
    match password {
        Some(password) => format!("{}:{}", escape(name), escape(password)),
        None => escape(name),
    }
}

/// A text with escapes such as `%41` decoded.
pub fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                out.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn escape_path(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'$'
            | b'&'
            | b'+'
            | b','
            | b'/'
            | b':'
            | b';'
            | b'='
            | b'@'
            | b'!'
            | b'\''
            | b'('
            | b')'
            | b'*' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn escape_host(host: &str) -> String {
    let mut out = String::new();
    for ch in host.chars() {
        match ch {
            _ if ch.is_ascii() => out.push(ch),
            _ => ch.to_string().bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}"))),
        }
    }
    out
}

fn url_join(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let map = arg(args, 0).as_map();
    let field = |name: &str| -> Result<String, Fault> {
        let found = map.and_then(|map| m.heap.lookup(map, name.as_bytes()));
        match found {
            Some(Val { data: Data::Str(text), .. }) => Ok(text.text().into_owned()),
            Some(value) if value.is_nil() => {
                Err(Fault::new("runtime error: invalid memory address or nil pointer dereference"))
            }
            Some(value) => {
                let kind = m.heap.kind_name(&value);
                Err(Fault::new(format!("unable to parse {name} key, must be of type string, but {kind} found")))
            }
            None => Ok(String::new()),
        }
    };
    let (scheme, host, path) = (field("scheme")?, escape_host(&field("host")?), field("path")?);
    let (opaque, query, fragment) = (field("opaque")?, field("query")?, field("fragment")?);
    let user = escape_user(&unescape(&field("userinfo")?));
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(&scheme);
        out.push(':');
    }
    if !opaque.is_empty() {
        out.push_str(&opaque);
    } else {
        if !scheme.is_empty() || !host.is_empty() || !user.is_empty() {
            if !host.is_empty() || !path.is_empty() || !user.is_empty() {
                out.push_str("//");
            }
            if !user.is_empty() {
                out.push_str(&user);
                out.push('@');
            }
            out.push_str(&host);
        }
        let path = escape_path(&path);
        if out.is_empty() && path.split('/').next().is_some_and(|first| first.contains(':')) {
            out.push_str("./");
        }
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        out.push_str(&path);
    }
    if !query.is_empty() {
        out.push('?');
        out.push_str(&query);
    }
    if !fragment.is_empty() {
        out.push('#');
        out.push_str(&escape_path(&fragment));
    }
    Ok(Val::str(out))
}
