//! `helm registry login|logout` and `helm push`: charts into registries, and the file with credentials for them.

use super::super::arguments::{Arguments, Takes};
use super::charted::host_of;
use super::connected::{Homes, arguments};
use super::fail;
use crate::fetch::{Artifact, Logins, Registries};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use purlin_charts::load::load_archive;
use purlin_charts::release::metadata_json;
use purlin_host::named;
use purlin_value::encoding::base64;
use purlin_value::world::WorldError;
use serde_json::{Map, Value as Json, json};
use std::io::{Read, Write};
use std::path::Path;

/// Media types of what is pushed.
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const SIGNATURE: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";

/// The longest password.
const LARGEST_PASSWORD: u64 = 64 << 10;

#[rustfmt::skip]
const SERVER: &[(&str, char, Takes)] = &[
    ("username", 'u', Takes::Text),
    ("password", 'p', Takes::Text),
    ("password-stdin", ' ', Takes::Switch),
    ("plain-http", ' ', Takes::Switch),
    ("insecure", ' ', Takes::Switch),
    ("insecure-skip-tls-verify", ' ', Takes::Switch),
    ("ca-file", ' ', Takes::Text),
    ("cert-file", ' ', Takes::Text),
    ("key-file", ' ', Takes::Text),
];

/// Flags that are not supported, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("insecure", "certificates of registries are always checked"),
    ("insecure-skip-tls-verify", "certificates of registries are always checked"),
    ("ca-file", "registries are reached with the system's certificates"),
    ("cert-file", "registries are reached without a certificate of one's own"),
    ("key-file", "registries are reached without a certificate of one's own"),
];

fn refuse(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<(), Exit> {
    match REFUSED.iter().find(|(name, _)| flags.has(name) && flags.text(name) != Some("false")) {
        Some((name, why)) => Err(fail(invocation, &format!("`--{name}` is not supported: {why}"))),
        None => Ok(()),
    }
}

/// The credentials that Helm or Docker have stored. No output shows them from here on.
pub(super) fn logins(invocation: &mut Invocation<'_>, registry: &Path) -> Logins {
    let read = |path: &Path| Logins::read(&named::read_text(path, named::LARGEST).unwrap_or_default());
    let env = |name: &str| invocation.env.get(name).filter(|text| !text.is_empty());
    let docker = env("DOCKER_CONFIG").map(std::path::PathBuf::from);
    let docker = docker.or_else(|| Some(Path::new(env("HOME")?).join(".docker")));
    let shared = docker.map(|folder| read(&folder.join("config.json"))).unwrap_or_default();
    let found = read(registry).or(shared);
    invocation.veil.hide(&found.secrets());
    found
}

/// `helm registry`
pub(super) fn registry(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else {
        return Err(fail(invocation, "\"helm registry\" requires `login` or `logout`"));
    };
    let flags = arguments(invocation, rest, &[SERVER])?;
    refuse(invocation, &flags)?;
    let [host] = flags.words.as_slice() else {
        let message = format!(
            "\"helm registry {command}\" requires 1 argument\n\nUsage:  helm registry {command} [host] [flags]"
        );
        return Err(fail(invocation, &message));
    };
    let host = host.trim_start_matches("oci://").trim_end_matches('/').to_owned();
    if host.is_empty() || host.contains('/') {
        return Err(fail(
            invocation,
            &format!("{host:?} is not the host of a registry, such as `ghcr.io` or `localhost:5000`"),
        ));
    }
    let file = Homes::of(invocation, &flags).registry;
    match command.as_str() {
        "login" => login(invocation, &flags, &host, &file),
        "logout" => logout(invocation, &host, &file),
        other => Err(fail(invocation, &format!("unknown command {other:?} for \"helm registry\""))),
    }
}

fn login(invocation: &mut Invocation<'_>, flags: &Arguments, host: &str, file: &Path) -> Result<Exit, Exit> {
    let password = match flags.switch("password-stdin") {
        true => Some(from_stdin(invocation)),
        false => flags.text("password").map(str::to_owned),
    };
    let (Some(name), Some(password)) = (flags.text("username"), password.filter(|text| !text.is_empty())) else {
        let message = "name the user with `--username`, and give the password with `--password-stdin`";
        return Err(fail(invocation, message));
    };
    if name.contains(':') {
        return Err(fail(invocation, "a name cannot have a colon"));
    }
    let login = Logins::default().with(host, name, &password);
    invocation.veil.hide(&login.secrets());
    let mut hosts = flags.list("allow-net").to_vec();
    hosts.extend(host_of(&format!("oci://{host}"), flags.switch("plain-http")));
    if let Err(error) = Registries::new(&hosts, login).check(host) {
        fail(invocation, &format!("login attempt to {host} failed: {}", error.reason()));
        return Err(exit_of(&error));
    }
    let packed = base64(format!("{name}:{password}").as_bytes());
    change(invocation, file, |auths| drop(auths.insert(host.to_owned(), json!({ "auth": packed }))))?;
    let _ = writeln!(invocation.stderr, "Login Succeeded");
    Ok(Exit::Ok)
}

fn from_stdin(invocation: &mut Invocation<'_>) -> String {
    let mut bytes = Vec::new();
    // A password that cannot be read is empty, which is refused.
    let _ = match invocation.stdin.as_mut() {
        Some(stdin) => stdin.take(LARGEST_PASSWORD).read_to_end(&mut bytes),
        None => std::io::stdin().lock().take(LARGEST_PASSWORD).read_to_end(&mut bytes),
    };
    String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()
}

fn logout(invocation: &mut Invocation<'_>, host: &str, file: &Path) -> Result<Exit, Exit> {
    let mut was_there = false;
    change(invocation, file, |auths| was_there = auths.remove(host).is_some())?;
    match was_there {
        true => {
            let _ = writeln!(invocation.stderr, "Removing login credentials for {host}");
            Ok(Exit::Ok)
        }
        false => Err(fail(invocation, &format!("not logged in to {host}"))),
    }
}

/// Changes the file with credentials, which only its user can read.
fn change(invocation: &mut Invocation<'_>, file: &Path, work: impl FnOnce(&mut Map<String, Json>)) -> Result<(), Exit> {
    let text = named::read_text(file, named::LARGEST).unwrap_or_default();
    let mut whole = match (text.trim(), serde_json::from_str::<Json>(&text)) {
        ("", _) => json!({}),
        (_, Ok(whole)) if whole.is_object() => whole,
        _ => return Err(fail(invocation, &format!("`{}` is not a JSON object", file.display()))),
    };
    let auths = whole["auths"].as_object().cloned().unwrap_or_default();
    whole["auths"] = Json::Object(auths);
    if let Some(auths) = whole["auths"].as_object_mut() {
        work(auths);
    }
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n";
    let written = file.parent().map_or(Ok(()), named::create_folder).and_then(|()| replace(file, text.as_bytes()));
    written.map_err(|error| {
        fail(invocation, &format!("could not write `{}`: {error}", file.display()));
        Exit::Io
    })
}

/// Replaces a private file in one step.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = file.with_extension(format!("{}.tmp", std::process::id()));
    let _ = named::remove_file(&new);
    named::create_private(&new)?.write_all(bytes)?;
    named::rename(&new, file)
}

/// `helm push`
pub(super) fn push(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let flags = arguments(invocation, args, &[SERVER])?;
    refuse(invocation, &flags)?;
    if let Some(name) = ["username", "password"].into_iter().find(|name| flags.has(name)) {
        let message = format!("`--{name}` is not supported: `helm registry login` stores credentials");
        return Err(fail(invocation, &message));
    }
    let [chart, remote] = flags.words.as_slice() else {
        let message = "\"helm push\" requires 2 arguments\n\nUsage:  helm push [chart] [remote] [flags]";
        return Err(fail(invocation, message));
    };
    let Some(rest) = remote.strip_prefix("oci://").filter(|rest| !rest.is_empty()) else {
        let scheme = remote.split_once("://").map_or("", |(scheme, _)| scheme);
        return Err(fail(
            invocation,
            &format!("scheme prefix missing from remote (e.g. \"oci://\"), found {scheme:?}"),
        ));
    };
    let place = rest.split('/').next().unwrap_or(rest).to_owned();
    let full = invocation.cwd.join(chart);
    if !named::is_file(&full) {
        return Err(fail(invocation, &format!("{chart}: no archive of a chart; `helm package` makes one")));
    }
    let (session, path) = open_session(invocation, &Setup::of(chart.as_str()))?;
    let bytes = session.load_bytes(&path).map_err(|error| fail(invocation, error.reason()))?;
    let loaded = load_archive(&session, &path, &bytes).map_err(|error| fail(invocation, &error.message))?;
    let data = &loaded.metadata;
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
    if !is_plain(loaded.name()) || !is_plain(&data.version) {
        let message =
            format!("a registry has no place for the name {:?} and the version {:?}", loaded.name(), data.version);
        return Err(fail(invocation, &message));
    }
    let config = metadata_json(data).map_err(|message| fail(invocation, &message))?;
    let signature = named::read(&full.with_file_name(format!("{}.prov", file_name(&full))), named::LARGEST).ok();
    let mut layers: Vec<(&str, &[u8])> = vec![(CHART, &bytes)];
    layers.extend(signature.as_deref().map(|signature| (SIGNATURE, signature)));
    let annotations = annotations(invocation, &config)?;
    let address = format!("oci://{}/{}", rest.trim_end_matches('/'), loaded.name());
    let tag = data.version.replace('+', "_");
    let mut hosts = flags.list("allow-net").to_vec();
    hosts.extend(host_of(remote, flags.switch("plain-http")));
    let registry = Homes::of(invocation, &flags).registry;
    let registries = Registries::new(&hosts, logins(invocation, &registry));
    let artifact = Artifact {
        address: &address,
        tag: &tag,
        config: (CONFIG, config.as_bytes()),
        layers: &layers,
        annotations: &annotations,
    };
    let digest = registries.put(&artifact).map_err(|error| {
        fail(invocation, &format!("could not push to {place}: {}", error.reason()));
        exit_of(&error)
    })?;
    let shown = address.trim_start_matches("oci://");
    let _ = writeln!(invocation.stderr, "Pushed: {shown}:{tag}\nDigest: {digest}");
    if tag.contains('_') {
        let _ = writeln!(
            invocation.stderr,
            "{shown}:{tag} contains an underscore: `+` of the version is written so in tags."
        );
    }
    Ok(Exit::Ok)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn exit_of(error: &WorldError) -> Exit {
    match error {
        WorldError::Denied(_) => Exit::Denied,
        WorldError::TooLarge(_) | WorldError::TooMuch(_) => Exit::Limit,
        _ => Exit::Invalid,
    }
}

/// What a chart says of itself, as annotations of its manifest.
fn annotations(invocation: &mut Invocation<'_>, config: &str) -> Result<Vec<(String, String)>, Exit> {
    let data: Json = serde_json::from_str(config).unwrap_or_default();
    let text = |key: &str| data.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let person = |one: &Json| {
        let part = |key: &str| one.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        let name = part("name")?;
        Some(part("email").map_or_else(|| name.to_owned(), |email| format!("{name} ({email})")))
    };
    let list = |key: &str| data.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let authors: Vec<String> = list("maintainers").iter().filter_map(person).collect();
    let source = list("sources").first().and_then(Json::as_str).unwrap_or_default().to_owned();
    let now = crate::project::clock(&invocation.env).map_err(|message| fail(invocation, &message))?;
    let standard = [
        ("title", text("name")),
        ("version", text("version")),
        ("description", text("description")),
        ("url", text("home")),
        ("source", source),
        ("authors", authors.join(", ")),
        ("created", purlin_cluster::release::rfc3339(now.0)),
    ];
    let mut all: Vec<(String, String)> = standard
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (format!("org.opencontainers.image.{name}"), value))
        .collect();
    let own = data.get("annotations").and_then(Json::as_object).into_iter().flatten();
    let fixed = ["org.opencontainers.image.title", "org.opencontainers.image.version"];
    for (name, value) in own.filter(|(name, _)| !fixed.contains(&name.as_str())) {
        all.retain(|(known, _)| known != name);
        all.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
    }
    Ok(all)
}
