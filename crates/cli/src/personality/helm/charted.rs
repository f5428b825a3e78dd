//! The chart and the values that a command of `helm` is given: from folders, archives, repositories and registries.

use super::super::arguments::{Arguments, Takes};
use super::connected::Homes;
use super::registry::logins;
use super::repositories::{Known, known_repositories};
use super::{Parsed, fail};
use crate::disk::Permissions;
use crate::fetch::Logins;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use purlin_charts::edition::Helm;
use purlin_charts::release::Terms;
use purlin_charts::repository::{Entry, archive_address, choose, index_address, index_entries, sort_newest_first};
use purlin_charts::template::Options;
use purlin_host::named;
use purlin_model::{SetFlag, SetKind};
use purlin_value::Session;
use purlin_value::world::{Remote, WorldError};

/// Flags for values and charts.
#[rustfmt::skip]
pub(super) const CHART: &[(&str, char, Takes)] = &[
    ("values", 'f', Takes::List),
    ("set", ' ', Takes::List),
    ("set-string", ' ', Takes::List),
    ("set-json", ' ', Takes::List),
    ("set-file", ' ', Takes::List),
    ("set-literal", ' ', Takes::List),
    ("version", ' ', Takes::Text),
    ("devel", ' ', Takes::Switch),
    ("repo", ' ', Takes::Text),
    ("plain-http", ' ', Takes::Switch),
    ("seed", ' ', Takes::Text),
    ("skip-schema-validation", ' ', Takes::Switch),
    ("dependency-update", ' ', Takes::Switch),
    ("render-subchart-notes", ' ', Takes::Switch),
    ("verify", ' ', Takes::Switch),
    ("keyring", ' ', Takes::Text),
    ("username", ' ', Takes::Text),
    ("password", ' ', Takes::Text),
    ("pass-credentials", ' ', Takes::Switch),
    ("ca-file", ' ', Takes::Text),
    ("cert-file", ' ', Takes::Text),
    ("key-file", ' ', Takes::Text),
    ("insecure-skip-tls-verify", ' ', Takes::Switch),
    ("post-renderer", ' ', Takes::Text),
    ("post-renderer-args", ' ', Takes::List),
    ("enable-dns", ' ', Takes::Switch),
];

/// Flags that are not supported, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("verify", "signatures are not checked; `gpg --verify` does"),
    ("username", "credentials of repositories are not used"),
    ("password", "credentials of repositories are not used"),
    ("pass-credentials", "credentials of repositories are not used"),
    ("ca-file", "repositories are reached with the system's certificates"),
    ("cert-file", "repositories are reached without a certificate of one's own"),
    ("key-file", "repositories are reached without a certificate of one's own"),
    ("insecure-skip-tls-verify", "certificates of repositories are always checked"),
    ("post-renderer", "rendering runs no programs"),
    ("post-renderer-args", "rendering runs no programs"),
    ("enable-dns", "rendering asks no name servers"),
];

/// Refuses flags that are not supported.
pub(super) fn refuse(invocation: &mut Invocation<'_>, flags: &Arguments) -> Result<(), Exit> {
    for (name, why) in REFUSED {
        let is_off = flags.text(name) == Some("false");
        if flags.has(name) && !is_off {
            return Err(fail(invocation, &format!("`--{name}` is not supported: {why}")));
        }
    }
    Ok(())
}

/// The terms of a release, from its flags.
pub(super) fn terms(flags: &Arguments, helm: &'static Helm) -> Terms {
    let kinds = [
        ("set", SetKind::Typed),
        ("set-string", SetKind::Text),
        ("set-json", SetKind::Json),
        ("set-file", SetKind::File),
        ("set-literal", SetKind::Literal),
    ];
    let sets = kinds
        .iter()
        .flat_map(|(name, kind)| flags.list(name).iter().map(|text| SetFlag { kind: *kind, text: text.clone() }));
    let options = Options {
        sets: sets.collect(),
        skip_schema: flags.switch("skip-schema-validation"),
        helm,
        ..Options::default()
    };
    Terms { options, revision: 1, sub_notes: flags.switch("render-subchart-notes"), ..Terms::default() }
}

/// Opens a chart and the files of values, which become part of the terms. `before` begins messages about its place.
pub(super) fn open(
    invocation: &mut Invocation<'_>,
    flags: &Arguments,
    (reference, before): (&str, &str),
    terms: &mut Terms,
) -> Result<(Session, String), Exit> {
    refuse(invocation, flags)?;
    let seed = match flags.text("seed").map(str::parse) {
        Some(Err(why)) => return Err(fail(invocation, &format!("`--seed`: {why}"))),
        Some(Ok(seed)) => Some(seed),
        None => None,
    };
    let mut parsed = Parsed {
        options: std::mem::take(&mut terms.options),
        files: flags.list("values").iter().flat_map(|list| list.split(',')).map(str::to_owned).collect(),
        seed,
        ..Parsed::default()
    };
    let reference = reference.trim();
    let is_here = flags.text("repo").is_none() && named::exists(&invocation.cwd.join(reference));
    let opened = match is_here {
        true => {
            if flags.switch("dependency-update") {
                super::dependency::update_missing(invocation, reference, flags.list("allow-net"))?;
            }
            super::session(invocation, reference, &mut parsed)
        }
        false => {
            let source = Source::of(invocation, flags, (reference, before))?;
            parsed.logins = source.logins.clone();
            super::session_with(invocation, ".", &source.hosts, &mut parsed)
                .and_then(|(session, _)| fetch(invocation, session, &source, before))
        }
    };
    terms.options = parsed.options;
    opened
}

impl Source {
    /// A session that may fetch it.
    pub(super) fn session(&self, invocation: &mut Invocation<'_>) -> Result<Session, Exit> {
        fetching(invocation, &self.hosts, &self.logins)
    }
}

/// A chart that is somewhere else.
pub(super) struct Source {
    place: Place,
    version: String,
    /// The servers that the user named.
    pub(super) hosts: Vec<String>,
    /// Credentials for registries.
    logins: Logins,
}

enum Place {
    /// In a registry.
    Registry(String),
    /// A file.
    File(String),
    /// In a repository, by name; its index is in a cache, or fetched.
    Repository { address: String, chart: String, index: Option<Vec<u8>> },
}

/// The server of an address that a user wrote, as `--allow-net` names it.
pub(super) fn host_of(address: &str, plain: bool) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    Some(if scheme == "http" || plain { format!("http://{host}") } else { host.to_owned() })
}

impl Source {
    /// The chart of a reference: `oci://…`, an address, `REPOSITORY/CHART`, or a name with `--repo`. Naming a server, or
    /// adding its repository, allows the connection to it.
    pub(super) fn of(
        invocation: &mut Invocation<'_>,
        flags: &Arguments,
        (reference, before): (&str, &str),
    ) -> Result<Source, Exit> {
        let mut hosts = flags.list("allow-net").to_vec();
        let version = match flags.text("version").map(str::trim).filter(|version| !version.is_empty()) {
            Some(version) => version.to_owned(),
            None if flags.switch("devel") => ">0.0.0-0".to_owned(),
            None => String::new(),
        };
        let is_plain = flags.switch("plain-http");
        let logins = logins(invocation, &Homes::of(invocation, flags).registry);
        let source = |place: Place, hosts: Vec<String>| Source { place, version, hosts, logins };
        if reference.starts_with("oci://") {
            hosts.extend(host_of(reference, is_plain));
            return Ok(source(Place::Registry(reference.to_owned()), hosts));
        }
        if reference.starts_with("https://") || reference.starts_with("http://") {
            hosts.extend(host_of(reference, false));
            return Ok(source(Place::File(reference.to_owned()), hosts));
        }
        if let Some(repository) = flags.text("repo").filter(|repository| !repository.is_empty()) {
            hosts.extend(host_of(repository, false));
            let place = Place::Repository { address: repository.to_owned(), chart: reference.to_owned(), index: None };
            return Ok(source(place, hosts));
        }
        let absent = reference.starts_with(['.', '/']);
        let parts = reference.split_once('/').filter(|_| !absent);
        let Some((repository, chart)) = parts else {
            let message = match absent {
                true => format!("path {reference:?} not found"),
                false => format!("non-absolute URLs should be in form of repo_name/path_to_chart, got: {reference}"),
            };
            return Err(fail(invocation, &format!("{before}{message}")));
        };
        let homes = Homes::of(invocation, flags);
        let known = known_repositories(invocation, &homes)?;
        let Some(Known { url, .. }) = known.iter().find(|known| known.name == repository) else {
            return Err(fail(invocation, &format!("{before}repo {repository} not found")));
        };
        hosts.extend(host_of(url, false));
        let index = named::read(&homes.cache.join(format!("{repository}-index.yaml")), named::LARGEST).ok();
        let place = Place::Repository { address: url.clone(), chart: chart.to_owned(), index };
        Ok(source(place, hosts))
    }
}

fn fetch(
    invocation: &mut Invocation<'_>,
    session: Session,
    source: &Source,
    before: &str,
) -> Result<(Session, String), Exit> {
    match fetched(&session, source) {
        Ok(path) => Ok((session, path)),
        Err((message, exit)) => {
            fail(invocation, &format!("{before}{message}"));
            Err(exit)
        }
    }
}

type Unfetched = (String, Exit);

/// Gets a chart and returns its path in the session.
pub(super) fn fetched(session: &Session, source: &Source) -> Result<String, Unfetched> {
    match &source.place {
        Place::Registry(address) => from_registry(session, address, &source.version),
        Place::File(address) => file(session, address),
        Place::Repository { address, chart, index } => {
            let entry = entry(session, address, chart, index.as_deref(), &source.version)?;
            let absent = || (format!("chart {chart:?} has no downloadable URLs"), Exit::Invalid);
            let url = archive_address(address, entry.urls.first().ok_or_else(absent)?);
            if url.starts_with("oci://") {
                return from_registry(session, &url, &entry.version);
            }
            let remote = Remote::File { address: url.clone() };
            let found = session.world.fetch(&remote).map_err(|error| unfetched(&url, &error))?;
            let wanted = entry.digest.trim_start_matches("sha256:");
            if !wanted.is_empty() && found.hash.trim_start_matches("sha256:") != wanted {
                let message = format!("{url} has the digest {}, the index says {wanted}", found.hash);
                return Err((message, Exit::Invalid));
            }
            Ok(found.path)
        }
    }
}

fn unfetched(what: &str, error: &WorldError) -> Unfetched {
    let exit = match error {
        WorldError::Denied(_) => Exit::Denied,
        WorldError::TooLarge(_) | WorldError::TooMuch(_) => Exit::Limit,
        _ => Exit::Invalid,
    };
    (format!("could not fetch {what}: {}", error.reason()), exit)
}

fn file(session: &Session, address: &str) -> Result<String, Unfetched> {
    let remote = Remote::File { address: address.to_owned() };
    session.world.fetch(&remote).map(|found| found.path).map_err(|error| unfetched(address, &error))
}

/// A chart of a registry: by its tag, or the newest that fits.
fn from_registry(session: &Session, address: &str, version: &str) -> Result<String, Unfetched> {
    let (address, tag) = match address.rsplit_once(':') {
        Some((address, tag)) if !tag.contains('/') => (address, Some(tag.replace('_', "+"))),
        _ => (address, None),
    };
    let version = match (version, tag) {
        ("", Some(tag)) => tag,
        (version, Some(tag)) if version != tag => {
            let message = format!("chart reference and version mismatch: {version} is not {tag}");
            return Err((message, Exit::Invalid));
        }
        (version, _) => version.to_owned(),
    };
    let version = match purlin_gotmpl::semver::Version::parse(&version) {
        Some(_) => version,
        None => {
            let remote = Remote::Versions { address: address.to_owned() };
            let found = session.world.fetch(&remote).map_err(|error| unfetched(address, &error))?;
            newest(session, &found.path, &version).ok_or_else(|| {
                let message = format!("could not locate a version matching provided version string {version}");
                (message, Exit::Invalid)
            })?
        }
    };
    let remote = Remote::Chart { address: address.to_owned(), version };
    session.world.fetch(&remote).map(|found| found.path).map_err(|error| unfetched(address, &error))
}

/// The newest of the listed versions that is in a range.
fn newest(session: &Session, path: &str, range: &str) -> Option<String> {
    let bytes = session.load_bytes(path).ok()?;
    let mut versions: Vec<String> = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
    sort_newest_first(&mut versions, |version| version);
    let range = if range.is_empty() { "*" } else { range };
    choose(range, versions.iter().map(String::as_str)).map(str::to_owned)
}

/// The entry of an index that fits.
fn entry(
    session: &Session,
    repository: &str,
    chart: &str,
    index: Option<&[u8]>,
    version: &str,
) -> Result<Entry, Unfetched> {
    const CACHED: &str = ".index.yaml";
    let path = match index.filter(|bytes| session.world.write(CACHED, bytes).is_ok()) {
        Some(_) => CACHED.to_owned(),
        None => file(session, &index_address(repository))?,
    };
    let entries = index_entries(session, &path, chart).map_err(|message| (message, Exit::Invalid))?;
    let range = if version.is_empty() { "*" } else { version };
    let is_exact = entries.iter().find(|entry| !version.is_empty() && entry.version == version);
    let found = is_exact.or_else(|| {
        let chosen = choose(range, entries.iter().map(|entry| entry.version.as_str()))?.to_owned();
        entries.iter().find(|entry| entry.version == chosen)
    });
    found.cloned().ok_or_else(|| {
        let what = if version.is_empty() { String::new() } else { format!(" version {version:?}") };
        (format!("chart {chart:?}{what} not found in {repository} repository"), Exit::Invalid)
    })
}

/// A session for fetching that reads no project.
pub(super) fn fetching(invocation: &mut Invocation<'_>, hosts: &[String], logins: &Logins) -> Result<Session, Exit> {
    let mut setup = Setup::of(".");
    let (hosts, logins) = (hosts.to_vec(), logins.clone());
    setup.permissions = Permissions { hosts, logins, frozen: true, update: true, ..Permissions::default() };
    open_session(invocation, &setup).map(|(session, _)| session)
}
