//! Fetches remote sources: git repositories, single files and charts in registries, into a cache, recorded in
//! `purlin.lock`.
//!
//! The only way from configuration to the network. Nothing is fetched unless the user allowed its host; readable local
//! files need no permission, and local repositories need permission to start `git`.

mod address;
mod borrowed;
mod cache;
mod git;
mod history;
mod https;
#[cfg(feature = "net")]
mod internet;
#[cfg(not(feature = "net"))]
#[path = "no_net.rs"]
mod internet;
mod ledger;
mod login;
mod push;
mod registry;
mod revision;
mod unpack;

use crate::disk::Permissions;
use crate::native;
use address::{Address, Allowed, RemoteAddress, Transport, check_revision, parse};
use cache::Cache;
use git::{From, Git};
pub use history::{Authored, History};
use https::Web;
use internet::Internet;
use ledger::Ledger;
pub use login::Logins;
use purlin_value::lock::{Locked, is_commit};
use purlin_value::world::{Fetched, Remote, WorldError};
pub use push::{Artifact, Registries};
pub use revision::lay_out;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The result of a fetch, once it is done. Other fetches run meanwhile.
type Once = Arc<OnceLock<Result<Fetched, WorldError>>>;

/// Locates a path of the world on disk, if it may be read.
pub(crate) type Locate<'a> = &'a dyn Fn(&str) -> Result<PathBuf, WorldError>;

/// Fetches, if that is allowed.
pub(crate) struct Fetcher {
    root: PathBuf,
    env: BTreeMap<String, String>,
    cache: Result<Cache, WorldError>,
    allowed: Allowed,
    web: Box<dyn Web + Send + Sync>,
    offline: bool,
    exec: bool,
    frozen: bool,
    update: bool,
    logins: Logins,
    max_file: u64,
    ledger: Ledger,
    /// Fetches of this run: nothing is requested twice, and reading there is allowed.
    done: Mutex<HashMap<Remote, Once>>,
    /// The results for addresses and revisions of the lock file, with the full address requested.
    settled: Mutex<HashMap<(String, String), (String, Locked)>>,
    places: RwLock<Vec<PathBuf>>,
}

/// A requested repository.
struct Wanted<'a> {
    /// The address as written; key of the cache.
    full: &'a str,
    /// The address without passwords; key of the lock file.
    shown: &'a str,
    revision: &'a str,
    from: From<'a>,
    /// The host that needs permission.
    remote: Option<&'a RemoteAddress>,
    refresh: bool,
}

impl Fetcher {
    /// A fetcher for a project.
    pub(crate) fn new(root: PathBuf, env: &BTreeMap<String, String>, permissions: &Permissions, max_file: u64) -> Self {
        let allowed = Allowed::new(&permissions.hosts);
        Fetcher {
            ledger: Ledger::new(&root),
            root,
            env: env.clone(),
            cache: Cache::of(env),
            web: Box::new(Internet::new(allowed.clone())),
            allowed,
            offline: permissions.offline,
            exec: permissions.exec,
            frozen: permissions.frozen,
            update: permissions.update,
            logins: permissions.logins.clone(),
            max_file,
            done: Mutex::default(),
            settled: Mutex::default(),
            places: RwLock::default(),
        }
    }

    /// The fetched folder or file that contains a path.
    pub(crate) fn place_of(&self, path: &Path) -> Option<PathBuf> {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        places.iter().find(|place| path.starts_with(place)).cloned()
    }

    /// Fetches a source, or uses the cached copy.
    pub(crate) fn fetch(&self, remote: &Remote, locate: Locate<'_>) -> Result<Fetched, WorldError> {
        let once: Once = {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.entry(remote.clone()).or_default().clone()
        };
        let result = once.get_or_init(|| match remote {
            Remote::Git { address, revision, refresh } => self.repository(address, revision, *refresh, locate),
            Remote::File { address } => self.file(address, locate),
            Remote::Versions { address } => self.versions(address),
            Remote::Chart { address, version } => self.chart(address, version),
        });
        result.clone()
    }

    fn repository(
        &self,
        address: &str,
        revision: &str,
        refresh: bool,
        locate: Locate<'_>,
    ) -> Result<Fetched, WorldError> {
        check_revision(revision)?;
        match parse(address)? {
            Address::Remote(remote) if remote.transport == Transport::Http => {
                Err(WorldError::Denied("git repositories are fetched over https or ssh only".to_owned()))
            }
            Address::Remote(remote) => {
                let from = From::Network { address: &remote.full, shown: &remote.shown };
                let (full, shown) = (&remote.full, &remote.shown);
                let wanted = Wanted { full, shown, revision, from, remote: Some(&remote), refresh };
                self.commit(&wanted, Keeping::Record)
            }
            Address::Local(path) => {
                let folder = locate(&path).map_err(|error| match error {
                    WorldError::NotFound => WorldError::FetchFailed("there is no such folder".to_owned()),
                    error => error,
                })?;
                // Files within the project are its own, and change with it.
                let keeping = if folder.starts_with(&self.root) { Keeping::Check } else { Keeping::Record };
                // A folder is read again each time: that is as quick as the copy.
                let from = From::Folder(&folder);
                let wanted = Wanted { full: address, shown: address, revision, from, remote: None, refresh: true };
                let locked = self.ledger.expected(address, revision)?.is_some();
                self.commit(&Wanted { refresh: refresh || !locked, ..wanted }, keeping)
            }
        }
    }

    fn commit(&self, wanted: &Wanted<'_>, keeping: Keeping) -> Result<Fetched, WorldError> {
        let cache = self.cache()?;
        let locked = self.ledger.expected(wanted.shown, wanted.revision)?;
        let refresh = (wanted.refresh || self.update) && !(self.offline && wanted.remote.is_some());
        let known = if is_commit(wanted.revision) {
            Some(wanted.revision.to_owned())
        } else if refresh {
            None
        } else {
            let recorded = locked.as_ref().and_then(|locked| locked.commit.clone());
            recorded.or_else(|| cache.last_commit(wanted.full, wanted.revision)).filter(|commit| is_commit(commit))
        };
        let here = known.clone().filter(|commit| cache.commit(wanted.full, commit).is_dir());
        let commit = match here {
            Some(commit) => commit,
            None => self.download(cache, wanted, known.as_deref())?,
        };
        let place = cache.commit(wanted.full, &commit);
        let place = native::canonical(&place).map_err(|error| broken_cache(&error))?;
        let hash = unpack::hash_folder(&place).map_err(|error| broken_cache(&error))?;
        let found = Locked { commit: Some(commit.clone()), hash: hash.clone() };
        let same_commit = locked.as_ref().filter(|locked| locked.commit.as_ref() == Some(&commit) || !refresh);
        compare(same_commit, &found)?;
        self.settle((wanted.full, wanted.shown), wanted.revision, found, keeping)?;
        self.allow(&place);
        Ok(Fetched { path: native::world_text(&place), revision: commit, hash })
    }

    /// Brings a commit into the cache.
    fn download(&self, cache: &Cache, wanted: &Wanted<'_>, known: Option<&str>) -> Result<String, WorldError> {
        match wanted.remote {
            Some(remote) => {
                self.may_connect(remote)?;
                self.web.check_machines(remote)?;
            }
            // Reading a repository means running `git` on files that came with the project.
            None if !self.exec => {
                return Err(WorldError::Denied("reading a git repository starts `git`; add `--allow-exec`".to_owned()));
            }
            None => {}
        }
        let git = Git::find(&self.env)?;
        let scratch = cache.scratch()?;
        let (repository, files) = (scratch.path().join("repository"), scratch.path().join("files"));
        let commit = git.fetch(&repository, wanted.from, known.unwrap_or(wanted.revision))?;
        if known.is_some_and(|known| known != commit) {
            return Err(WorldError::FetchFailed("another commit was handed out than the one asked for".to_owned()));
        }
        let place = cache.commit(wanted.full, &commit);
        if !place.is_dir() {
            unpack::unpack(&git, &repository, &commit, &files)?;
            cache.keep_folder(&files, &place)?;
        }
        cache.set_last_commit(wanted.full, wanted.revision, &commit)?;
        Ok(commit)
    }

    fn file(&self, address: &str, locate: Locate<'_>) -> Result<Fetched, WorldError> {
        match parse(address)? {
            Address::Local(path) => {
                let place = locate(&path)?;
                let bytes = read_limited(&place, self.max_file)?;
                let found = Locked { commit: None, hash: unpack::hash_bytes(&bytes) };
                let locked = self.ledger.expected(address, "")?.filter(|_| !self.update);
                compare(locked.as_ref(), &found)?;
                let keeping = if place.starts_with(&self.root) { Keeping::Check } else { Keeping::Record };
                self.settle((address, address), "", found.clone(), keeping)?;
                Ok(Fetched { path: native::world_text(&place), revision: String::new(), hash: found.hash })
            }
            Address::Remote(remote) => self.page(&remote),
        }
    }

    fn page(&self, remote: &RemoteAddress) -> Result<Fetched, WorldError> {
        self.kept(remote, &|| https::get(&*self.web, &self.allowed, remote, self.max_file))
    }

    /// A file that is cached as the lock file requires, or that is downloaded.
    fn kept(
        &self,
        remote: &RemoteAddress,
        download: &dyn Fn() -> Result<Vec<u8>, WorldError>,
    ) -> Result<Fetched, WorldError> {
        let cache = self.cache()?;
        let locked = self.ledger.expected(&remote.shown, "")?.filter(|_| self.offline || !self.update);
        let wanted = match &locked {
            Some(locked) => Some(locked.hash.clone()),
            None if self.offline => cache.last_hash(&remote.full),
            None => None,
        };
        let here = wanted.map(|hash| cache.file(&remote.full, &hash)).filter(|place| place.is_file());
        let place = match here {
            Some(place) => place,
            None => {
                self.may_connect(remote)?;
                let bytes = download()?;
                let found = Locked { commit: None, hash: unpack::hash_bytes(&bytes) };
                compare(locked.as_ref(), &found)?;
                cache.keep_file(&remote.full, &found.hash, &bytes)?
            }
        };
        // The copy is read again: the cache is trusted no more than the network.
        let hash = unpack::hash_bytes(&read_limited(&place, self.max_file)?);
        let found = Locked { commit: None, hash: hash.clone() };
        compare(locked.as_ref(), &found)?;
        self.settle((&remote.full, &remote.shown), "", found, Keeping::Record)?;
        let place = native::canonical(&place).map_err(|error| broken_cache(&error))?;
        self.allow(&place);
        Ok(Fetched { path: native::world_text(&place), revision: String::new(), hash })
    }

    fn may_connect(&self, remote: &RemoteAddress) -> Result<(), WorldError> {
        if self.offline {
            return Err(WorldError::Denied("`--offline` forbids fetching it, and there is no copy of it".to_owned()));
        }
        self.allowed.check(remote)
    }

    fn cache(&self) -> Result<&Cache, WorldError> {
        self.cache.as_ref().map_err(WorldError::clone)
    }

    /// Records the result for an address, given in full and as shown. Two addresses that differ only in hidden parts
    /// have one entry in the lock file, so both must lead to the same content.
    fn settle(
        &self,
        (full, shown): (&str, &str),
        revision: &str,
        found: Locked,
        keeping: Keeping,
    ) -> Result<(), WorldError> {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (shown.to_owned(), revision.to_owned());
        let (first, before) = settled.entry(key).or_insert_with(|| (full.to_owned(), found.clone()));
        if first != full && *before != found {
            let why =
                "an address that differs only in its credentials led to something else; one entry cannot record both";
            return Err(WorldError::LockMismatch(why.to_owned()));
        }
        match keeping {
            Keeping::Check => Ok(()),
            Keeping::Record if self.frozen => Ok(()),
            Keeping::Record => self.ledger.record(shown, revision, found),
        }
    }

    fn allow(&self, place: &Path) {
        self.places.write().unwrap_or_else(PoisonError::into_inner).push(place.to_owned());
    }
}

/// Whether a fetch is recorded in the lock file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    Record,
    Check,
}

fn compare(locked: Option<&Locked>, found: &Locked) -> Result<(), WorldError> {
    match locked {
        Some(locked) if locked.hash != found.hash || locked.commit != found.commit => {
            Err(WorldError::LockMismatch(format!("its content has the hash {}, not {}", found.hash, locked.hash)))
        }
        _ => Ok(()),
    }
}

fn broken_cache(error: &std::io::Error) -> WorldError {
    WorldError::FetchFailed(format!("its copy in the cache cannot be read: {error}"))
}

fn read_limited(place: &Path, most: u64) -> Result<Vec<u8>, WorldError> {
    use std::io::Read;
    let failed = |error: std::io::Error| WorldError::Failed(error.to_string());
    let file = std::fs::File::open(place).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(WorldError::WrongKind("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(WorldError::TooLarge(format!("has more than the {most} bytes allowed")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use https::{Answer, Ask};
    use std::time::Duration;

    /// A network where every page contains its own address.
    struct Echo;

    impl Web for Echo {
        fn send(&self, ask: Ask<'_>, _most: u64, _time: Duration) -> Result<Answer, WorldError> {
            let body = ask.address.as_bytes().to_vec();
            Ok(Answer { status: 200, location: None, challenge: None, next: None, body })
        }
    }

    fn fetcher(folder: &Path, change: impl FnOnce(&mut Permissions)) -> Fetcher {
        let mut permissions = Permissions { hosts: vec!["h.example".to_owned()], ..Permissions::default() };
        change(&mut permissions);
        let env = BTreeMap::from([("XDG_CACHE_HOME".to_owned(), folder.join("cache").to_string_lossy().into_owned())]);
        let fetcher = Fetcher::new(folder.join("project"), &env, &permissions, 1_000);
        Fetcher { web: Box::new(Echo), ..fetcher }
    }

    fn content(fetcher: &Fetcher, address: &str) -> Result<String, WorldError> {
        let remote = Remote::File { address: address.to_owned() };
        let fetched = fetcher.fetch(&remote, &|_| Err(WorldError::NotFound))?;
        Ok(std::fs::read_to_string(fetched.path).unwrap())
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("purlin-fetcher-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("project")).unwrap();
        folder.canonicalize().unwrap()
    }

    #[test]
    fn each_address_gets_its_own_content() {
        let folder = scratch("own");
        for offline in [false, true] {
            let fetcher = fetcher(&folder, |given| given.offline = offline);
            for address in ["https://h.example/f?key=a.yaml", "https://h.example/f?key=b.yaml", "https://h.example/f"] {
                assert_eq!(content(&fetcher, address), Ok(address.to_owned()));
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn credentials_that_lead_elsewhere_are_no_way_to_anothers_copy() {
        let folder = scratch("credentials");
        let first = "https://h.example/f?token=one";
        let others = ["https://h.example/f?token=two", "https://ada:pw@h.example/f?token=one"];
        for update in [false, true] {
            let fetcher = fetcher(&folder, |given| given.update = update);
            assert_eq!(content(&fetcher, first), Ok(first.to_owned()));
            for other in others {
                let result = content(&fetcher, other);
                assert!(matches!(result, Err(WorldError::LockMismatch(_))), "{other}: {result:?}");
            }
        }
        // Without the lock file and the network there is no copy for them.
        std::fs::remove_file(folder.join("project/purlin.lock")).unwrap();
        let offline = fetcher(&folder, |given| given.offline = true);
        assert_eq!(content(&offline, first), Ok(first.to_owned()));
        for other in others {
            let result = content(&fetcher(&folder, |given| given.offline = true), other);
            assert!(matches!(result, Err(WorldError::Denied(_))), "{other}: {result:?}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
