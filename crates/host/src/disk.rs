//! The world on disk.
//!
//! One resolver for all paths: the root (the repository, or the folder that was named) and what the user allowed,
//! nothing else. Everything is opened through a [`Root`], so the target of a link decides, not its name.

use crate::border::{Root, is_escape};
use crate::bounded;
use crate::fetch::{Fetcher, Logins};
use crate::native::{self, HERE};
use crate::seed::SeedSource;
use cap_std::fs::File;
use purlin_value::Seed;
use purlin_value::path;
use purlin_value::world::{
    Bounds, Command, Entry, Fetched, FileKind, Moment, Output, Overlay, Remote, Stat, USER_VARIABLES, World, WorldError,
};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Part of a large file that is in memory at a time.
const PIECE: usize = 64 << 10;

/// Permissions given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// `--allow-path DIR`
    pub paths: Vec<PathBuf>,
    /// `--allow-net HOST`
    pub hosts: Vec<String>,
    /// `--allow-exec`
    pub exec: bool,
    /// `--allow-write`
    pub write: bool,
    /// `--offline`: nothing is fetched, whatever else is allowed.
    pub offline: bool,
    /// The project is a copy that must not change: fetches are not recorded in its lock file.
    pub frozen: bool,
    /// `--update`: entries of `purlin.lock` are looked up afresh and recorded again.
    pub update: bool,
    /// Credentials for registries, which the user has stored.
    pub logins: Logins,
}

/// The world of one run of the program.
pub struct DiskWorld {
    root_text: String,
    here: String,
    env: BTreeMap<String, String>,
    project_env: BTreeMap<String, String>,
    /// The project, and the paths the user allowed.
    roots: Vec<Arc<Root>>,
    /// Fetched copies, by location.
    fetched: RwLock<BTreeMap<PathBuf, Arc<Root>>>,
    permissions: Permissions,
    overlay: Overlay,
    fetcher: Fetcher,
    now: Moment,
    seed_source: SeedSource,
    seed: OnceLock<Seed>,
    max_file: u64,
}

/// Settings of a world.
pub struct DiskSettings {
    /// The folder that bounds the project, without links in its path.
    pub root: PathBuf,
    /// The user's working directory.
    pub cwd: PathBuf,
    /// The environment of the process: where caches and seeds are, how programs are found.
    pub env: BTreeMap<String, String>,
    /// The environment as the project sees it, with variables of its own.
    pub project_env: BTreeMap<String, String>,
    /// Permissions of this run.
    pub permissions: Permissions,
    /// The clock reading of this run.
    pub now: Moment,
    /// The source of this run's seed.
    pub seed: SeedSource,
    /// The largest file that is read.
    pub max_file: u64,
}

impl DiskWorld {
    /// A world.
    pub fn new(settings: DiskSettings) -> Self {
        let root = settings.root;
        let cwd = if settings.cwd == root { root.clone() } else { native::canonical_or_same(settings.cwd) };
        let root_text = native::world_text(&root);
        let here =
            cwd.strip_prefix(&root).map_or_else(|_| ".".to_owned(), |rest| path::normalize(&native::world_text(rest)));
        let allowed = |folder: &PathBuf| native::canonical_or_same(cwd.join(folder));
        let mut permissions = settings.permissions;
        permissions.paths = permissions.paths.iter().map(allowed).collect();
        let roots = std::iter::once(&root).chain(&permissions.paths).map(|path| Arc::new(Root::new(path.clone())));
        let roots = roots.collect();
        let fetcher = Fetcher::new(root, &settings.env, &permissions, settings.max_file);
        DiskWorld {
            root_text,
            here,
            env: settings.env,
            project_env: settings.project_env,
            roots,
            fetched: RwLock::default(),
            permissions,
            overlay: Overlay::default(),
            fetcher,
            now: settings.now,
            seed_source: settings.seed,
            seed: OnceLock::new(),
            max_file: settings.max_file,
        }
    }

    /// The path on disk by its text alone, without `.` and `..`.
    fn name_of(&self, path: &str) -> Result<PathBuf, WorldError> {
        let path = HERE.to_native(path).map_err(|why| WorldError::Failed(why.to_owned()))?;
        // The root holds no links and no `..`, so the joined text is its plain name.
        Ok(native::system_path(&path::join(&self.root_text, &path)))
    }

    /// Does something with a path below the root that holds it. A path that is not allowed even by its name is refused
    /// before the disk is asked, so that the answer does not reveal what exists.
    fn reach<T>(&self, path: &str, act: impl Fn(&Root, &Path) -> std::io::Result<T>) -> Result<T, WorldError> {
        let named = self.name_of(path)?;
        let (root, is_fetched) = self.root_of(&named).ok_or_else(denied)?;
        match act(&root, &named) {
            // Fetched content is not trusted: a link in it may not lead out of it, not even into the project.
            Err(error) if is_escape(&error) && !is_fetched => self.reach_real(&named, act),
            other => other.map_err(|error| failure(&error)),
        }
    }

    /// The same for a link that leads out of its root, perhaps to another allowed path.
    fn reach_real<T>(&self, named: &Path, act: impl Fn(&Root, &Path) -> std::io::Result<T>) -> Result<T, WorldError> {
        let real = native::canonical(named).map_err(|error| failure(&error))?;
        let (root, _) = self.root_of(&real).ok_or_else(denied)?;
        act(&root, &real).map_err(|error| failure(&error))
    }

    /// The nearest root that holds a path by its name, and whether it is a fetched copy.
    fn root_of(&self, full: &Path) -> Option<(Arc<Root>, bool)> {
        if let Some(place) = self.fetcher.place_of(full) {
            let mut fetched = self.fetched.write().unwrap_or_else(PoisonError::into_inner);
            let root = fetched.entry(place).or_insert_with_key(|place| Arc::new(Root::new(place.clone())));
            return Some((root.clone(), true));
        }
        let held = self.roots.iter().filter(|root| root.holds(full));
        held.max_by_key(|root| root.depth()).map(|root| (root.clone(), false))
    }

    /// The path on disk, for a program that opens it by name: judged by its real target.
    fn locate(&self, path: &str) -> Result<PathBuf, WorldError> {
        self.reach(path, |root, full| root.metadata(full))?;
        let real = native::canonical(&self.name_of(path)?).map_err(|error| failure(&error))?;
        if self.root_of(&real).is_some() { Ok(real) } else { Err(denied()) }
    }

    /// Opens a regular file and returns its length.
    fn open(&self, path: &str) -> Result<(File, u64), WorldError> {
        let file = self.reach(path, |root, full| root.open(full))?;
        let metadata = file.metadata().map_err(|error| failure(&error))?;
        if metadata.is_dir() {
            return Err(WorldError::WrongKind("a folder, not a file"));
        }
        if !metadata.is_file() {
            return Err(WorldError::WrongKind("not a regular file"));
        }
        Ok((file, metadata.len()))
    }

    fn overlay_key(&self, path: &str) -> String {
        // A path that the system may not be asked for is not in the overlay either.
        let normal = path::normalize(&HERE.to_native(path).unwrap_or_default());
        match normal.strip_prefix(&self.root_text).map(|rest| rest.trim_start_matches('/')) {
            Some(rest) => path::normalize(rest),
            None => normal,
        }
    }

    /// Resolves where a file may be written. Its folder may be missing; the existing part of the path is followed.
    fn may_write(&self, path: &str) -> Result<(Arc<Root>, PathBuf), WorldError> {
        let full = self.name_of(path)?;
        let writable = |path: &Path| self.root_of(path).filter(|(_, is_fetched)| !is_fetched).ok_or_else(denied);
        writable(&full)?;
        let (folder, name) = (full.parent().unwrap_or(&full), full.file_name().unwrap_or_default());
        // A dangling link counts as existing: its target may be created later, and would then decide where the path
        // leads.
        let there = folder.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(folder);
        let real = native::canonical(there).map_err(|error| failure(&error))?;
        let missing = folder.strip_prefix(there).unwrap_or(Path::new(""));
        let real = real.join(missing).join(name);
        Ok((writable(&real)?.0, real))
    }
}

/// The bytes of a file of known size. One call reads a file that has the reported length; if the file grew meanwhile,
/// the rest is read as well, up to one byte beyond the limit.
fn read_whole(mut file: File, size: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let size = usize::try_from(size).unwrap_or(usize::MAX - 1);
    let mut bytes = vec![0; size + 1];
    let read = match file.read(&mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    if read != size || size == 0 {
        let left = (most + 1).saturating_sub(read as u64);
        file.take(left).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn denied() -> WorldError {
    WorldError::Denied("it is outside the project; allow it with `--allow-path DIR`".to_owned())
}

fn failure(error: &std::io::Error) -> WorldError {
    match error.kind() {
        std::io::ErrorKind::NotFound => WorldError::NotFound,
        std::io::ErrorKind::NotADirectory => WorldError::NotFound,
        _ if is_escape(error) => denied(),
        _ => WorldError::Failed(error.to_string()),
    }
}

impl World for DiskWorld {
    fn root(&self) -> &str {
        &self.root_text
    }

    fn here(&self) -> &str {
        &self.here
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, WorldError> {
        if !self.overlay.is_empty()
            && let Some(bytes) = self.overlay.read(&self.overlay_key(path))
        {
            return Ok(bytes);
        }
        let (file, size) = self.open(path)?;
        if size > self.max_file {
            return Err(WorldError::TooLarge(format!("has {size} bytes, more than the {} allowed", self.max_file)));
        }
        let bytes = read_whole(file, size, self.max_file).map_err(|error| failure(&error))?;
        if bytes.len() as u64 > self.max_file {
            return Err(WorldError::TooLarge(format!("has more than the {} bytes allowed", self.max_file)));
        }
        Ok(bytes.into())
    }

    fn read_in_pieces(&self, path: &str, each: &mut dyn FnMut(u64, &[u8])) -> Result<(), WorldError> {
        if let Some(bytes) = self.overlay.read(&self.overlay_key(path)) {
            each(bytes.len() as u64, &bytes);
            return Ok(());
        }
        let (mut file, size) = self.open(path)?;
        let mut buffer = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE)).max(1)];
        let mut done = 0;
        loop {
            let read = match file.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| failure(&error))?,
            };
            done += read as u64;
            if read > 0 || size == 0 {
                each(size, buffer.get(..read).unwrap_or_default());
            }
            if read == 0 {
                break;
            }
        }
        // The length was part of what was handed over, so it must be true.
        if done == size { Ok(()) } else { Err(WorldError::Failed("it changed while it was read".to_owned())) }
    }

    fn head(&self, path: &str, most: usize) -> Result<Arc<[u8]>, WorldError> {
        if !self.overlay.is_empty() {
            return self.read(path).map(|bytes| bytes.get(..most).map_or_else(|| bytes.clone(), Into::into));
        }
        let (file, size) = self.open(path)?;
        let mut bytes = Vec::with_capacity(most.min(usize::try_from(size).unwrap_or(most)));
        file.take(most as u64).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
        Ok(bytes.into())
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        let mut found = Vec::new();
        for entry in self.reach(path, |root, full| root.list(full))? {
            let entry = entry.map_err(|error| failure(&error))?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => FileKind::Link,
                Ok(kind) if kind.is_dir() => FileKind::Folder,
                _ => FileKind::File,
            };
            found.push(Entry { name: native::world_text(Path::new(&entry.file_name())), kind });
        }
        for entry in self.overlay.names(&self.overlay_key(path)) {
            if !found.iter().any(|known| known.name == entry.name) {
                found.push(entry);
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn stat(&self, path: &str) -> Result<Stat, WorldError> {
        if let Some(bytes) = self.overlay.read(&self.overlay_key(path)) {
            return Ok(Stat { kind: FileKind::File, size: bytes.len() as u64, executable: false });
        }
        let metadata = self.reach(path, |root, full| root.metadata(full))?;
        let kind = if metadata.is_dir() { FileKind::Folder } else { FileKind::File };
        Ok(Stat { kind, size: metadata.len(), executable: is_executable(&metadata) })
    }

    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        let target = self.reach(path, |root, full| root.read_link(full))?;
        Ok(native::world_text(&target))
    }

    fn env(&self, name: &str) -> Option<String> {
        self.project_env.get(name).cloned()
    }

    fn env_all(&self) -> Vec<(String, String)> {
        self.project_env.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn program(&self, name: &str) -> Option<String> {
        crate::program::found(name, self.project_env.get("PATH").map(String::as_str))
    }

    fn user(&self) -> String {
        let named = USER_VARIABLES.iter().find_map(|name| self.env(name));
        // Containers and build machines often set no such variable. The list of accounts is outside the project like
        // any other file: it is read if the user allowed it. Otherwise two conventions remain.
        let listed = || account(&self.read(ACCOUNTS).ok()?);
        let home = || Some(path::file_name(&self.env("HOME")?).to_owned()).filter(|name| !name.is_empty());
        named.or_else(listed).or_else(administrator).or_else(home).unwrap_or_default()
    }

    fn now(&self) -> Moment {
        self.now
    }

    fn seed(&self) -> Seed {
        *self.seed.get_or_init(|| self.seed_source.seed(&self.env, &self.root_text))
    }

    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        if !self.permissions.exec {
            return Err(WorldError::Denied("running commands needs `--allow-exec`".to_owned()));
        }
        run_command(command, &self.name_of(&command.folder)?)
    }

    fn run_within(&self, command: &Command, bounds: Bounds) -> Result<Output, WorldError> {
        if !self.permissions.exec {
            return Err(WorldError::Denied("running commands needs `--allow-exec`".to_owned()));
        }
        bounded::run(command, &self.name_of(&command.folder)?, bounds)
    }

    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.fetcher.fetch(remote, &|path| self.locate(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        let (root, full) = self.may_write(path)?;
        if !self.permissions.write {
            self.overlay.write(&self.overlay_key(path), bytes);
            return Ok(());
        }
        root.write(&full, bytes).map_err(|error| failure(&error))
    }

    fn write_temporary(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        self.may_write(path)?;
        self.overlay.write(&self.overlay_key(path), bytes);
        Ok(())
    }

    fn create_folder(&self, path: &str) -> Result<(), WorldError> {
        if !self.permissions.write {
            return Ok(());
        }
        let (root, full) = self.may_write(path)?;
        root.create_folder(&full).map_err(|error| failure(&error))
    }

    fn keeps_writes(&self) -> bool {
        self.permissions.write
    }
}

#[cfg(unix)]
fn is_executable(metadata: &cap_std::fs::Metadata) -> bool {
    use cap_std::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &cap_std::fs::Metadata) -> bool {
    false
}

/// The list of accounts on Unix.
const ACCOUNTS: &str = "/etc/passwd";

/// The name of this process's account.
#[cfg(unix)]
fn account(list: &[u8]) -> Option<String> {
    let id = rustix::process::getuid().as_raw().to_string();
    let list = String::from_utf8_lossy(list);
    let mut accounts = list.lines().map(|line| line.split(':'));
    accounts.find_map(|mut line| {
        let name = line.next()?;
        (line.nth(1)? == id).then(|| name.to_owned())
    })
}

/// The name of the account with ID 0, which is the same everywhere.
#[cfg(unix)]
fn administrator() -> Option<String> {
    rustix::process::getuid().is_root().then(|| "root".to_owned())
}

#[cfg(not(unix))]
fn administrator() -> Option<String> {
    None
}

#[cfg(not(unix))]
fn account(_list: &[u8]) -> Option<String> {
    None
}

fn run_command(command: &Command, folder: &Path) -> Result<Output, WorldError> {
    let Some((program, arguments)) = command.argv.split_first() else {
        return Err(WorldError::Failed("there is no command to run".to_owned()));
    };
    let mut child = std::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .map_err(|error| failure(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        let bytes = command.stdin.clone();
        // A process that answers before reading all its input must not block us.
        std::thread::spawn(move || {
            let _ = stdin.write_all(&bytes);
        });
    }
    let output = child.wait_with_output().map_err(|error| failure(&error))?;
    Ok(Output { code: output.status.code().unwrap_or(-1), stdout: output.stdout, stderr: output.stderr })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("purlin-disk-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("project/sub")).unwrap();
        std::fs::write(folder.join("project/a.yaml"), "a: 1\n").unwrap();
        std::fs::write(folder.join("outside.yaml"), "secret: 1\n").unwrap();
        folder.canonicalize().unwrap()
    }

    fn world(root: PathBuf, permissions: Permissions) -> DiskWorld {
        let settings = DiskSettings {
            cwd: root.clone(),
            root,
            env: BTreeMap::new(),
            project_env: BTreeMap::new(),
            permissions,
            now: Moment(0),
            seed: SeedSource::default(),
            max_file: 1_000,
        };
        DiskWorld::new(settings)
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_is_read() {
        let base = scratch("outside");
        let root = base.join("project");
        std::os::unix::fs::symlink(base.join("outside.yaml"), root.join("link.yaml")).unwrap();
        std::os::unix::fs::symlink(&base, root.join("up")).unwrap();
        let world = world(root.clone(), Permissions::default());
        assert!(world.read("a.yaml").is_ok());
        assert!(world.read("sub/../a.yaml").is_ok());
        let full = base.join("outside.yaml").to_string_lossy().into_owned();
        for path in [
            "../outside.yaml",
            "sub/../../outside.yaml",
            "link.yaml",
            "up/outside.yaml",
            full.as_str(),
            "/etc/passwd",
            "/dev/zero",
            "a\0.yaml",
        ] {
            assert!(matches!(world.read(path), Err(WorldError::Denied(_) | WorldError::Failed(_))), "{path:?}");
            assert!(world.list(path).is_err() && world.stat(path).is_err(), "{path:?}");
        }
        let open = super::tests::world(root, Permissions { paths: vec![base.clone()], ..Permissions::default() });
        assert!(open.read("link.yaml").is_ok() && open.read("../outside.yaml").is_ok());
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn writes_stay_in_the_overlay_unless_allowed() {
        let base = scratch("writes");
        let root = base.join("project");
        let closed = world(root.clone(), Permissions::default());
        closed.write("sub/new.txt", b"x").unwrap();
        assert_eq!(&*closed.read("sub/new.txt").unwrap(), b"x");
        assert!(!root.join("sub/new.txt").exists());
        assert!(closed.write("../new.txt", b"x").is_err());
        let open = world(root.clone(), Permissions { write: true, ..Permissions::default() });
        open.write("sub/new.txt", b"y").unwrap();
        assert_eq!(std::fs::read(root.join("sub/new.txt")).unwrap(), b"y");
        std::fs::remove_dir_all(base).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_that_leads_outside() {
        let base = scratch("write-links");
        let root = base.join("project");
        std::fs::create_dir(base.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(base.join("elsewhere"), root.join("out")).unwrap();
        std::os::unix::fs::symlink(base.join("absent"), root.join("dangling")).unwrap();
        std::os::unix::fs::symlink(root.join("sub"), root.join("in")).unwrap();
        for write in [false, true] {
            let world = world(root.clone(), Permissions { write, ..Permissions::default() });
            for path in ["out/f", "out/new/f", "out/new/er/f", "dangling/f", "dangling/new/f", "../new/f"] {
                assert!(world.write(path, b"x").is_err(), "{path}");
            }
            world.write("in/new/f", b"x").unwrap();
            world.write("fresh/new/f", b"x").unwrap();
        }
        assert_eq!(std::fs::read_dir(base.join("elsewhere")).unwrap().count(), 0);
        assert!(!base.join("absent").exists() && root.join("sub/new/f").exists());
        std::fs::remove_dir_all(base).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn the_list_of_accounts_is_read_only_where_that_is_allowed() {
        let base = scratch("user");
        let mut closed = world(base.join("project"), Permissions::default());
        let is_root = rustix::process::getuid().is_root();
        assert_eq!(closed.user(), if is_root { "root" } else { "" });
        closed.project_env.insert("HOME".to_owned(), "/accounts/grace".to_owned());
        assert_eq!(closed.user(), if is_root { "root" } else { "grace" });
        closed.project_env.insert("USER".to_owned(), "ada".to_owned());
        assert_eq!(closed.user(), "ada");
        let id = rustix::process::getuid().as_raw();
        let list = format!("first:x:{}:0::/:/bin/sh\nada:x:{id}:0::/:/bin/sh\n", id.wrapping_add(1));
        assert_eq!(account(list.as_bytes()).as_deref(), Some("ada"));
        std::fs::remove_dir_all(base).unwrap();
    }

    /// A file above the limit is refused as configuration, and still counts in hashes.
    #[test]
    fn large_files_are_handed_over_in_pieces() {
        let base = scratch("pieces");
        let root = base.join("project");
        let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(root.join("large"), &bytes).unwrap();
        std::fs::write(root.join("empty"), b"").unwrap();
        let world = world(root, Permissions::default());
        let mut seen = Vec::new();
        world
            .read_in_pieces("large", &mut |size, piece| {
                assert_eq!(size, bytes.len() as u64);
                assert!(piece.len() <= PIECE);
                seen.extend_from_slice(piece);
            })
            .unwrap();
        assert_eq!(seen, bytes);
        let mut calls = 0;
        world.read_in_pieces("empty", &mut |size, piece| calls += usize::from(size == 0 && piece.is_empty())).unwrap();
        assert_eq!(calls, 1);
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn large_files_and_commands_are_refused() {
        let base = scratch("large");
        let root = base.join("project");
        std::fs::write(root.join("big.yaml"), vec![b'a'; 2_000]).unwrap();
        let world = world(root, Permissions::default());
        assert!(matches!(world.read("big.yaml"), Err(WorldError::TooLarge(_))));
        let command = Command { argv: vec!["true".to_owned()], ..Command::default() };
        assert!(matches!(world.run(&command), Err(WorldError::Denied(_))));
        std::fs::remove_dir_all(base).unwrap();
    }
}
