//! `helm dependency list|build|update`: charts from folders, repositories and registries into `charts/`, through the
//! one fetcher.

use super::super::arguments::Arguments;
use super::connected::Homes;
use super::registry::logins;
use crate::border::{remove_file_below, write_below};
use crate::disk::Permissions;
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use purlin_charts::archive;
use purlin_charts::chart::{Chart, Dependency};
use purlin_charts::load::{folder_files, load, load_archive};
use purlin_charts::repository::{
    Lock, Locked, archive_address, choose, digest, index_address, index_entries, is_in_sync, is_same_version,
    lock_names, read_lock, sort_newest_first, status, write_lock,
};
use purlin_host::named;
use purlin_syntax::calendar::Date;
use purlin_value::world::{FileKind, Remote, WorldError};
use purlin_value::{Session, path};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The parsed flags.
#[derive(Default)]
struct Parsed {
    chart: Option<String>,
    hosts: Vec<String>,
    offline: bool,
    repositories: Option<String>,
    registry: Option<String>,
}

/// Runs one of the commands.
pub(super) fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else {
        return Err(super::fail(invocation, "\"helm dependency\" requires `list`, `build` or `update`"));
    };
    let parsed = parse(rest).map_err(|message| super::fail(invocation, &message))?;
    let result = match command.as_str() {
        "list" | "ls" => list(invocation, &parsed),
        "build" => fetch(invocation, &parsed, Wish::Build),
        "update" | "up" => fetch(invocation, &parsed, Wish::Update),
        other => Err(Failure::text(format!("unknown command {other:?} for \"helm dependency\""))),
    };
    result.map(|()| Exit::Ok).map_err(|failure| finish(invocation, &failure))
}

/// `--dependency-update`: fetches dependencies if some are missing. Messages go to standard error, because manifests
/// follow.
pub(super) fn update_missing(invocation: &mut Invocation<'_>, chart: &str, hosts: &[String]) -> Result<(), Exit> {
    let parsed = Parsed { chart: Some(chart.to_owned()), hosts: hosts.to_vec(), ..Parsed::default() };
    let work = (|| {
        let (session, folder) = open(invocation, &parsed)?;
        let loaded = load(&session, &folder).map_err(|error| Failure::text(error.message))?;
        if purlin_charts::dependencies::missing(&loaded).is_empty() {
            return Ok(());
        }
        let mut told = Vec::new();
        let place = invocation.cwd.join(chart);
        let mut job = Job { session: &session, chart: loaded, place, told: &mut told, repositories: BTreeMap::new() };
        let result = job.update();
        let _ = invocation.stderr.write_all(&told);
        result
    })();
    work.map_err(|failure| finish(invocation, &failure))
}

/// Why a command failed.
struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    fn text(message: impl Into<String>) -> Self {
        Failure { message: message.into(), exit: Exit::Invalid }
    }

    /// A failure to fetch something.
    fn world(what: &str, error: &WorldError) -> Self {
        let exit = match error {
            WorldError::Denied(_) => Exit::Denied,
            WorldError::TooLarge(_) | WorldError::TooMuch(_) => Exit::Limit,
            _ => Exit::Invalid,
        };
        Failure { message: format!("could not fetch {what}: {}", error.reason()), exit }
    }
}

fn finish(invocation: &mut Invocation<'_>, failure: &Failure) -> Exit {
    if !failure.message.is_empty() {
        let _ = writeln!(invocation.stderr, "Error: {}", failure.message);
    }
    failure.exit
}

fn parse(args: &[String]) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if !arg.starts_with('-') {
            if parsed.chart.replace(arg.clone()).is_some() {
                return Err("expected at most one chart".to_owned());
            }
            continue;
        }
        let (name, inline) = super::split_flag(arg);
        let mut value =
            || inline.clone().or_else(|| args.next().cloned()).ok_or_else(|| format!("flag needs an argument: {arg}"));
        match name {
            "allow-net" => parsed.hosts.push(value()?),
            "offline" => parsed.offline = true,
            "repository-config" => parsed.repositories = Some(value()?),
            "verify" => return Err("`--verify` is not supported: it checks a signature".to_owned()),
            // Indexes are always fetched afresh, `--plain-http` is `--allow-net http://HOST`.
            "skip-refresh" | "debug" => {}
            "plain-http" => return Err("`--plain-http` is not supported: use `--allow-net http://HOST`".to_owned()),
            "registry-config" => parsed.registry = Some(value()?),
            "max-col-width" | "keyring" | "repository-cache" => drop(value()?),
            _ => return Err(format!("unknown flag: {arg}")),
        }
    }
    Ok(parsed)
}

/// A session on the chart. `Chart.lock` records the expected digests, so `purlin.lock` is not used.
fn open(invocation: &mut Invocation<'_>, parsed: &Parsed) -> Result<(Session, String), Failure> {
    let chart = parsed.chart.as_deref().unwrap_or(".");
    if !named::exists(&invocation.cwd.join(chart)) {
        return Err(Failure::text(format!("path {chart:?} not found")));
    }
    let mut setup = Setup::of(chart);
    let named = parsed.repositories.iter().map(|file| invocation.cwd.join(file)).collect();
    let registry = match &parsed.registry {
        Some(file) => invocation.cwd.join(file),
        None => Homes::of(invocation, &Arguments::default()).registry,
    };
    setup.permissions = Permissions {
        logins: logins(invocation, &registry),
        hosts: parsed.hosts.clone(),
        offline: parsed.offline,
        frozen: true,
        update: true,
        paths: named,
        ..Permissions::default()
    };
    open_session(invocation, &setup).map_err(|exit| Failure { message: String::new(), exit })
}

fn list(invocation: &mut Invocation<'_>, parsed: &Parsed) -> Result<(), Failure> {
    let (session, folder) = open(invocation, parsed)?;
    let chart = load(&session, &folder).map_err(|error| Failure::text(error.message))?;
    let named = parsed.chart.as_deref().unwrap_or(".");
    let mut out = String::new();
    if chart.metadata.dependencies.is_empty() {
        out = format!("WARNING: no dependencies at {}\n", path::join(named, "charts"));
    } else {
        let mut rows = vec![["NAME", "VERSION", "REPOSITORY", "STATUS"].map(str::to_owned)];
        for one in &chart.metadata.dependencies {
            let archives = archives_of(&session, &folder, &one.name);
            let status = status(&chart, one, &archives).to_owned();
            rows.push([one.name.clone(), one.version.clone(), one.repository.clone(), status]);
        }
        out.push_str(&table(&rows));
        out.push('\n');
        for name in undeclared(&session, &folder, &chart) {
            out.push_str(&format!("WARNING: {name:?} is in charts/ but not in Chart.yaml\n"));
        }
    }
    let _ = invocation.stdout.write_all(out.as_bytes());
    Ok(())
}

/// Columns as wide as their widest cell.
fn table(rows: &[[String; 4]]) -> String {
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
            format!("{cell:width$}")
        });
        out.push_str(&cells.collect::<Vec<_>>().join("\t"));
        out.push('\n');
    }
    out
}

/// The archives in `charts/` whose names start with a dependency's.
fn archives_of(session: &Session, folder: &str, name: &str) -> Vec<Result<Chart, String>> {
    let start = format!("{name}-");
    let found = archives(session, folder).into_iter().filter(|file| file.starts_with(&start));
    found
        .map(|file| load(session, &path::join(folder, &format!("charts/{file}"))).map_err(|error| error.message))
        .collect()
}

fn archives(session: &Session, folder: &str) -> Vec<String> {
    let entries = session.world.list(&path::join(folder, "charts")).unwrap_or_default();
    let files = entries.into_iter().filter(|entry| entry.kind != FileKind::Folder && entry.name.ends_with(".tgz"));
    files.map(|entry| entry.name).collect()
}

/// Charts in `charts/` that are not declared.
fn undeclared(session: &Session, folder: &str, chart: &Chart) -> Vec<String> {
    let entries = session.world.list(&path::join(folder, "charts")).unwrap_or_default();
    let is_known = |name: &str| {
        let name = name.strip_suffix(".tgz").unwrap_or(name);
        let mut declared = chart.metadata.dependencies.iter();
        declared.any(|one| name == one.name || name.strip_prefix(&one.name).is_some_and(|rest| rest.starts_with('-')))
    };
    let names = entries.into_iter().map(|entry| entry.name).filter(|name| !name.starts_with(['.', '_']));
    names.filter(|name| !is_known(name)).map(|name| path::join("charts", &name)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Build,
    Update,
}

fn fetch(invocation: &mut Invocation<'_>, parsed: &Parsed, wish: Wish) -> Result<(), Failure> {
    let (session, folder) = open(invocation, parsed)?;
    let chart = load(&session, &folder).map_err(|error| Failure::text(error.message))?;
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let repositories = match &parsed.repositories {
        Some(file) => named_repositories(&session, &crate::project::named(invocation, &session, file))?,
        None => BTreeMap::new(),
    };
    let place = invocation.cwd.join(parsed.chart.as_deref().unwrap_or("."));
    let mut told = Vec::new();
    let mut job = Job { session: &session, chart, place, told: &mut told, repositories };
    let result = if wish == Wish::Build { job.build() } else { job.update() };
    let _ = invocation.stdout.write_all(&told);
    result
}

/// The addresses in Helm's own list of repositories.
fn named_repositories(session: &Session, file: &str) -> Result<BTreeMap<String, String>, Failure> {
    let bytes = session.load_bytes(file).map_err(|error| Failure::text(error.diagnostic(file).message))?;
    let tree = purlin_gotmpl::yaml::parse(&String::from_utf8_lossy(&bytes), &session.limits);
    let list = tree.root().and_then(|root| root.get("repositories"));
    let text = |node: purlin_syntax::Node<'_>, key: &str| node.get(key).map(|value| value.text().to_owned());
    Ok(list
        .into_iter()
        .flat_map(|list| list.items())
        .filter_map(|one| Some((text(one, "name")?, text(one, "url")?)))
        .collect())
}

/// An archive for `charts/`.
struct Archive {
    file: String,
    bytes: Vec<u8>,
}

/// A job that fetches the dependencies of one chart.
struct Job<'a> {
    session: &'a Session,
    chart: Chart,
    /// The chart's folder on disk.
    place: PathBuf,
    told: &'a mut Vec<u8>,
    repositories: BTreeMap<String, String>,
}

impl Job<'_> {
    fn tell(&mut self, line: &str) {
        self.told.extend_from_slice(line.as_bytes());
        self.told.push(b'\n');
    }

    /// Fetches the charts of the lock file; without one, the declared ones.
    fn build(&mut self) -> Result<(), Failure> {
        let Some(lock) = read_lock(self.session, &self.chart).map_err(Failure::text)? else { return self.update() };
        // The digest is computed with addresses in the place of repository names.
        self.name_repositories()?;
        if !is_in_sync(&self.chart, &lock) {
            let (lock_file, file) = lock_names(&self.chart);
            let message = format!(
                "the lock file ({lock_file}) is out of sync with the dependencies file ({file}). Please update the dependencies"
            );
            return Err(Failure::text(message));
        }
        self.save(lock.dependencies)
    }

    /// Chooses versions, fetches them and writes the lock file.
    fn update(&mut self) -> Result<(), Failure> {
        self.name_repositories()?;
        let chosen = self.resolve()?;
        self.save(chosen.clone())?;
        let digest = digest(&self.chart.metadata.dependencies, &chosen);
        let known = read_lock(self.session, &self.chart).ok().flatten();
        if known.is_some_and(|known| known.digest == digest) {
            return Ok(());
        }
        let generated = timestamp(self.session.world.now().0);
        let text = write_lock(&Lock { dependencies: chosen, digest }, &generated);
        let (name, _) = lock_names(&self.chart);
        write_below(&self.place, name, text.as_bytes())
            .map_err(|error| Failure { message: format!("could not write {name}: {error}"), exit: Exit::Io })
    }

    /// Replaces repository names by addresses.
    fn name_repositories(&mut self) -> Result<(), Failure> {
        for one in &mut self.chart.metadata.dependencies {
            let named = one.repository.strip_prefix('@').or_else(|| one.repository.strip_prefix("alias:"));
            let Some(name) = named.map(str::to_owned) else { continue };
            let Some(address) = self.repositories.get(&name) else {
                let message = format!(
                    "no repository definition for {}: give Helm's list of repositories with `--repository-config FILE`",
                    one.repository
                );
                return Err(Failure::text(message));
            };
            one.repository = address.clone();
        }
        Ok(())
    }

    fn resolve(&mut self) -> Result<Vec<Locked>, Failure> {
        let declared = self.chart.metadata.dependencies.clone();
        let (mut chosen, mut missing) = (Vec::new(), Vec::new());
        for one in &declared {
            check_name(&one.name)?;
            if purlin_gotmpl::semver::Range::parse(&one.version).is_err() {
                let message = format!("dependency {:?} has an invalid version/constraint format", one.name);
                return Err(Failure::text(message));
            }
            match self.version_of(one)? {
                Some(version) => {
                    chosen.push(Locked { name: one.name.clone(), repository: one.repository.clone(), version })
                }
                None => {
                    missing.push(format!("{:?} (repository {:?}, version {:?})", one.name, one.repository, one.version))
                }
            }
        }
        if missing.is_empty() {
            return Ok(chosen);
        }
        Err(Failure::text(format!(
            "can't get a valid version for {} subchart(s): {}. Make sure a matching chart version exists in the repo, or change the version constraint in Chart.yaml",
            missing.len(),
            missing.join(", ")
        )))
    }

    /// The newest version that satisfies a declaration.
    fn version_of(&mut self, one: &Dependency) -> Result<Option<String>, Failure> {
        if one.repository.is_empty() {
            let inner = path::join(&self.chart.folder, &format!("charts/{}", one.name));
            if !self.session.world.exists(&inner) {
                let message = format!("directory {inner} not found: `{}` has no repository", one.name);
                return Err(Failure::text(message));
            }
            return Ok(Some(one.version.clone()));
        }
        if let Some(folder) = one.repository.strip_prefix("file://") {
            let version = self.local(folder)?.metadata.version;
            return Ok(choose(&one.version, [version.as_str()]).map(str::to_owned));
        }
        if one.repository.starts_with("oci://") {
            let mut versions = self.tags(one)?;
            sort_newest_first(&mut versions, |version| version);
            return Ok(choose(&one.version, versions.iter().map(String::as_str)).map(str::to_owned));
        }
        let entries = self.entries(one)?;
        if entries.is_empty() {
            return Err(Failure::text(format!("{} chart not found in repo {}", one.name, one.repository)));
        }
        Ok(choose(&one.version, entries.iter().map(|entry| entry.version.as_str())).map(str::to_owned))
    }

    fn local(&self, folder: &str) -> Result<Chart, Failure> {
        let place = self.local_path(folder);
        load(self.session, &place).map_err(|error| Failure::text(format!("could not load {place}: {}", error.message)))
    }

    fn local_path(&self, folder: &str) -> String {
        path::join(&self.chart.folder, folder)
    }

    fn tags(&self, one: &Dependency) -> Result<Vec<String>, Failure> {
        let address = registry_address(one.repository.as_str(), &one.name);
        let fetched = self.session.world.fetch(&Remote::Versions { address: address.clone() });
        let fetched = fetched.map_err(|error| Failure::world(&address, &error))?;
        let bytes = self.session.load_bytes(&fetched.path).map_err(|error| Failure::world(&address, &error))?;
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }

    fn entries(&self, one: &Dependency) -> Result<Vec<purlin_charts::repository::Entry>, Failure> {
        let index = self.file(&index_address(&one.repository), &one.repository)?;
        index_entries(self.session, &index, &one.name)
            .map_err(|message| Failure::text(format!("could not read {}: {message}", one.repository)))
    }

    /// A fetched file, as a path of the world.
    fn file(&self, address: &str, shown: &str) -> Result<String, Failure> {
        let fetched = self.session.world.fetch(&Remote::File { address: address.to_owned() });
        fetched.map(|fetched| fetched.path).map_err(|error| Failure::world(shown, &error))
    }

    /// Fetches everything first, and only then changes `charts/`.
    fn save(&mut self, chosen: Vec<Locked>) -> Result<(), Failure> {
        let count = chosen.len();
        self.tell(&format!("Saving {count} charts"));
        let mut archives = Vec::new();
        for one in &chosen {
            check_name(&one.name)?;
            archives.extend(self.archive(one)?);
        }
        self.tell("Deleting outdated charts");
        for archive in &archives {
            let name = format!("charts/{}", archive.file);
            write_below(&self.place, &name, &archive.bytes)
                .map_err(|error| Failure { message: format!("could not write {name}: {error}"), exit: Exit::Io })?;
        }
        self.delete_outdated(&chosen, &archives)
    }

    fn archive(&mut self, one: &Locked) -> Result<Option<Archive>, Failure> {
        if one.repository.is_empty() {
            let line = "did not declare a repository. Assuming it exists in the charts directory";
            self.tell(&format!("Dependency {} {line}", one.name));
            let inner = self.local(&format!("charts/{}", one.name))?;
            if choose(&one.version, [inner.metadata.version.as_str()]).is_none() {
                let found = &inner.metadata.version;
                let message = format!(
                    "dependency {} at version {found} does not satisfy the constraint {}",
                    one.name, one.version
                );
                return Err(Failure::text(message));
            }
            return Ok(None);
        }
        if let Some(folder) = one.repository.strip_prefix("file://") {
            self.tell(&format!("Archiving {} from repo {}", one.name, one.repository));
            let place = self.local_path(folder);
            let inner = self.local(folder)?;
            if choose(&one.version, [inner.metadata.version.as_str()]).is_none() {
                let message = format!("can't get a valid version for dependency {:?}", one.name);
                return Err(Failure::text(message));
            }
            let files = folder_files(self.session, &place).map_err(|error| Failure::text(error.message))?;
            let bytes = archive::pack(inner.name(), &files).map_err(Failure::text)?;
            return Ok(Some(Archive { file: format!("{}-{}.tgz", inner.name(), inner.metadata.version), bytes }));
        }
        self.tell(&format!("Downloading {} from repo {}", one.name, one.repository));
        let place = match one.repository.starts_with("oci://") {
            true => self.pull_from_registry(one)?,
            false => self.pull_from_repository(one)?,
        };
        let what = format!("{} {}", one.name, one.version);
        let bytes = self.session.load_bytes(&place).map_err(|error| Failure::world(&what, &error))?;
        // Only charts are written to `charts/`.
        let inner = load_archive(self.session, &place, &bytes).map_err(|error| Failure::text(error.message))?;
        if inner.name() != one.name || !is_same_version(&inner.metadata.version, &one.version) {
            let (name, version) = (inner.name(), &inner.metadata.version);
            return Err(Failure::text(format!("expected the chart {what}, found {name} {version}")));
        }
        Ok(Some(Archive { file: format!("{}-{}.tgz", one.name, one.version), bytes: bytes.to_vec() }))
    }

    fn pull_from_registry(&self, one: &Locked) -> Result<String, Failure> {
        let address = registry_address(&one.repository, &one.name);
        let remote = Remote::Chart { address: address.clone(), version: one.version.clone() };
        let fetched = self.session.world.fetch(&remote).map_err(|error| Failure::world(&address, &error))?;
        Ok(fetched.path)
    }

    fn pull_from_repository(&self, one: &Locked) -> Result<String, Failure> {
        let declared =
            Dependency { name: one.name.clone(), repository: one.repository.clone(), ..Dependency::default() };
        let entries = self.entries(&declared)?;
        let entry = entries.iter().find(|entry| is_same_version(&entry.version, &one.version));
        let not_found = || Failure::text(format!("could not find {} {} in {}", one.name, one.version, one.repository));
        let entry = entry.ok_or_else(not_found)?;
        let address = archive_address(&one.repository, entry.urls.first().ok_or_else(not_found)?);
        let remote = match address.strip_prefix("oci://").and_then(|rest| rest.rsplit_once(':')) {
            Some((rest, version)) => {
                Remote::Chart { address: format!("oci://{rest}"), version: version.replace('_', "+") }
            }
            None => Remote::File { address: address.clone() },
        };
        let fetched = self.session.world.fetch(&remote).map_err(|error| Failure::world(&address, &error))?;
        let wanted = entry.digest.trim_start_matches("sha256:");
        if !wanted.is_empty() && fetched.hash.trim_start_matches("sha256:") != wanted {
            let message = format!("{address} has the digest {}, the index says {wanted}", fetched.hash);
            return Err(Failure::text(message));
        }
        Ok(fetched.path)
    }

    /// Removes archives of other versions and of charts that are not declared any more.
    fn delete_outdated(&mut self, chosen: &[Locked], saved: &[Archive]) -> Result<(), Failure> {
        for file in archives(self.session, &self.chart.folder) {
            if saved.iter().any(|archive| archive.file == file) {
                continue;
            }
            let inner = path::join(&self.chart.folder, &format!("charts/{file}"));
            let loaded = match load(self.session, &inner) {
                Ok(loaded) => loaded,
                Err(error) => {
                    self.tell(&format!("Could not verify {inner} for deletion: {} (Skipping)", error.message));
                    continue;
                }
            };
            if chosen.iter().any(|one| one.repository.is_empty() && one.name == loaded.name()) {
                continue;
            }
            remove_file_below(&self.place, &format!("charts/{file}"))
                .map_err(|error| Failure { message: format!("could not remove {inner}: {error}"), exit: Exit::Io })?;
        }
        Ok(())
    }
}

/// A time in nanoseconds since 1970 in Go's format.
fn timestamp(moment: i128) -> String {
    let (seconds, nanos) = (moment.div_euclid(1_000_000_000), moment.rem_euclid(1_000_000_000));
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let Date { year, month, day } = Date::from_days(i64::try_from(days).unwrap_or_default());
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

fn registry_address(repository: &str, name: &str) -> String {
    format!("{}/{name}", repository.trim_end_matches('/'))
}

/// The name becomes part of a file name.
fn check_name(name: &str) -> Result<(), Failure> {
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(Failure::text(format!("dependency {name:?} has an invalid name")));
    }
    Ok(())
}
