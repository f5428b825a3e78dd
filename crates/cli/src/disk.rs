//! The world on disk.
//!
//! One resolver for all paths: the root (the repository, or the folder that was named) and what the user allowed,
//! nothing else. Links are followed first and judged by where they lead.

use crate::fetch::Fetcher;
use crate::native::{self, HERE};
use purlin_value::path;
use purlin_value::world::{
    Command, Entry, Fetched, FileKind, Moment, Output, Overlay, Remote, Stat, USER_VARIABLES, World, WorldError,
};
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// What the user allowed on the command line.
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
    /// The project is a copy that stays as it is: what is fetched is not recorded in its lock file.
    pub frozen: bool,
    /// `--update`: what `purlin.lock` recorded is looked up afresh, and recorded again.
    pub update: bool,
}

/// The world of one run of the program.
pub struct DiskWorld {
    root: PathBuf,
    root_text: String,
    here: String,
    env: BTreeMap<String, String>,
    permissions: Permissions,
    overlay: Overlay,
    fetcher: Fetcher,
    now: Moment,
    seed: u64,
    max_file: u64,
    /// Folders that were followed to where they really are.
    folders: RwLock<HashMap<std::ffi::OsString, PathBuf>>,
}

/// What a world is made from.
pub struct DiskSettings {
    /// The folder that bounds the project, without links in its path.
    pub root: PathBuf,
    /// Where the user stands.
    pub cwd: PathBuf,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// What is allowed.
    pub permissions: Permissions,
    /// The clock reading of this run.
    pub now: Moment,
    /// The seed of this run.
    pub seed: u64,
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
        let fetcher = Fetcher::new(root.clone(), &settings.env, &permissions, settings.max_file);
        let folders = RwLock::new(HashMap::from([(root.clone().into_os_string(), root.clone())]));
        DiskWorld {
            root,
            root_text,
            here,
            env: settings.env,
            permissions,
            overlay: Overlay::default(),
            fetcher,
            now: settings.now,
            seed: settings.seed,
            max_file: settings.max_file,
            folders,
        }
    }

    /// The path on disk by its text alone, without `.` and `..`.
    fn name_of(&self, path: &str) -> Result<PathBuf, WorldError> {
        let path = HERE.to_native(path).map_err(|why| WorldError::Failed(why.to_owned()))?;
        // The root holds no links and no `..`, so the joined text is its plain name.
        Ok(PathBuf::from(path::join(&self.root_text, &path)))
    }

    /// The path on disk, judged by where it really leads.
    fn locate(&self, path: &str) -> Result<PathBuf, WorldError> {
        Ok(self.look(path)?.0)
    }

    /// The path on disk and, unless links had to be followed, what is there.
    fn look(&self, path: &str) -> Result<(PathBuf, Option<std::fs::Metadata>), WorldError> {
        let named = self.name_of(path)?;
        // What does not lead to a place that is allowed even by its name is refused before the disk is asked, so
        // that nobody learns from the answer what is there.
        if !self.is_allowed(&named) {
            return Err(denied());
        }
        let (real, metadata) = self.follow(&named)?;
        // What was fetched is not trusted: a link in it may not lead out of it, not even into the project.
        let is_allowed = match self.fetcher.place_of(&named) {
            Some(place) => real.starts_with(place),
            None => self.is_allowed(&real),
        };
        if is_allowed { Ok((real, metadata)) } else { Err(denied()) }
    }

    fn is_allowed(&self, full: &Path) -> bool {
        full.starts_with(&self.root)
            || self.permissions.paths.iter().any(|folder| full.starts_with(folder))
            || self.fetcher.place_of(full).is_some()
    }

    /// Follows links. The folder's answer is remembered: files of one folder are asked for together.
    fn follow(&self, full: &Path) -> Result<(PathBuf, Option<std::fs::Metadata>), WorldError> {
        let metadata = full.symlink_metadata().map_err(|error| failure(&error))?;
        let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else {
            return Ok((full.to_owned(), Some(metadata)));
        };
        if metadata.file_type().is_symlink() {
            return Ok((native::canonical(full).map_err(|error| failure(&error))?, None));
        }
        let real = self.real_folder(folder)?;
        Ok((real.join(name), Some(metadata)))
    }

    /// Where a folder really is. Sibling folders share their parents' answers, so each costs one question.
    fn real_folder(&self, folder: &Path) -> Result<PathBuf, WorldError> {
        let mut unknown: Vec<&Path> = Vec::new();
        let mut real = PathBuf::new();
        for above in folder.ancestors() {
            let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = folders.get(above.as_os_str()) {
                real.clone_from(known);
                break;
            }
            unknown.push(above);
        }
        for below in unknown.into_iter().rev() {
            match below.file_name() {
                Some(name) => real.push(name),
                None => real = below.to_owned(),
            }
            let metadata = real.symlink_metadata().map_err(|error| failure(&error))?;
            if metadata.file_type().is_symlink() {
                real = native::canonical(&real).map_err(|error| failure(&error))?;
            }
            let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
            folders.insert(below.as_os_str().to_owned(), real.clone());
        }
        Ok(real)
    }

    fn overlay_key(&self, path: &str) -> String {
        // A path that the system may not be asked for is not in the overlay either.
        let normal = path::normalize(&HERE.to_native(path).unwrap_or_default());
        match normal.strip_prefix(&self.root_text).map(|rest| rest.trim_start_matches('/')) {
            Some(rest) => path::normalize(rest),
            None => normal,
        }
    }

    /// Where a file may be written. Its folder need not be there yet: what is there of the way to it is followed.
    fn may_write(&self, path: &str) -> Result<PathBuf, WorldError> {
        let full = self.name_of(path)?;
        if !self.is_allowed(&full) {
            return Err(denied());
        }
        let folder = full.parent().unwrap_or(&self.root);
        // A link that leads nowhere is there too: whoever makes its target later decides where it leads.
        let is_there = |above: &&Path| above.symlink_metadata().is_ok();
        let there = folder.ancestors().find(is_there).unwrap_or(&self.root);
        let real = native::canonical(there).map_err(|error| failure(&error))?;
        if self.is_allowed(&real) { Ok(full) } else { Err(denied()) }
    }
}

/// The bytes of a file whose size was asked before. One call reads a file that is as long as it said; what a file
/// grew to meanwhile is read as well, up to one byte beyond the limit.
fn read_whole(full: &Path, size: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(full)?;
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
    WorldError::Denied("it lies outside the project; allow it with `--allow-path DIR`".to_owned())
}

fn failure(error: &std::io::Error) -> WorldError {
    match error.kind() {
        std::io::ErrorKind::NotFound => WorldError::NotFound,
        std::io::ErrorKind::NotADirectory => WorldError::NotFound,
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
        let (full, metadata) = self.look(path)?;
        let metadata = match metadata {
            Some(metadata) => metadata,
            None => full.metadata().map_err(|error| failure(&error))?,
        };
        // Asked before it is opened: opening a pipe would wait for somebody to write.
        if metadata.is_dir() {
            return Err(WorldError::WrongKind("a folder, not a file"));
        }
        if !metadata.is_file() {
            return Err(WorldError::WrongKind("not a regular file"));
        }
        if metadata.len() > self.max_file {
            return Err(WorldError::TooLarge(format!(
                "has {} bytes, more than the {} allowed",
                metadata.len(),
                self.max_file
            )));
        }
        let bytes = read_whole(&full, metadata.len(), self.max_file).map_err(|error| failure(&error))?;
        if bytes.len() as u64 > self.max_file {
            return Err(WorldError::TooLarge(format!("has more than the {} bytes allowed", self.max_file)));
        }
        Ok(bytes.into())
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, WorldError> {
        let full = self.locate(path)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&full).map_err(|error| failure(&error))? {
            let entry = entry.map_err(|error| failure(&error))?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => FileKind::Link,
                Ok(kind) if kind.is_dir() => FileKind::Folder,
                _ => FileKind::File,
            };
            found.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
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
        let metadata = self.locate(path)?.metadata().map_err(|error| failure(&error))?;
        let kind = if metadata.is_dir() { FileKind::Folder } else { FileKind::File };
        Ok(Stat { kind, size: metadata.len(), executable: is_executable(&metadata) })
    }

    fn read_link(&self, path: &str) -> Result<String, WorldError> {
        let full = self.name_of(path)?;
        if !self.is_allowed(&full) {
            return Err(denied());
        }
        let target = full.read_link().map_err(|error| failure(&error))?;
        Ok(native::world_text(&target))
    }

    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn env_all(&self) -> Vec<(String, String)> {
        self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn user(&self) -> String {
        let named = USER_VARIABLES.iter().find_map(|name| self.env(name));
        // Containers and build machines often say nothing in the environment.
        named.or_else(account).unwrap_or_default()
    }

    fn now(&self) -> Moment {
        self.now
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn run(&self, command: &Command) -> Result<Output, WorldError> {
        if !self.permissions.exec {
            return Err(WorldError::Denied("running commands needs `--allow-exec`".to_owned()));
        }
        run_command(command, &self.name_of(&command.folder)?)
    }

    fn fetch(&self, remote: &Remote) -> Result<Fetched, WorldError> {
        self.fetcher.fetch(remote, &|path| self.locate(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), WorldError> {
        let full = self.may_write(path)?;
        if !self.permissions.write {
            self.overlay.write(&self.overlay_key(path), bytes);
            return Ok(());
        }
        write_atomically(&full, bytes).map_err(|error| failure(&error))
    }
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    false
}

/// The name of the account that this process runs under.
#[cfg(unix)]
fn account() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let id = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut fields = accounts.lines().map(|line| line.split(':'));
    fields.find_map(|mut line| {
        let name = line.next()?;
        (line.nth(1)? == id).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn account() -> Option<String> {
    None
}

/// Writes a file so that it is there whole or not at all.
pub fn write_atomically(full: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = full.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = full.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, full)
    })();
    if written.is_err() {
        // Nothing to be done if this fails too; the first error is the one that matters.
        let _ = std::fs::remove_file(&temporary);
    }
    written
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
        // A process that answers before it has read everything must not block us.
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
            permissions,
            now: Moment(0),
            seed: 0,
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

    #[test]
    fn the_user_has_a_name_even_where_the_environment_says_none() {
        let base = scratch("user");
        let mut settings = world(base.join("project"), Permissions::default());
        assert_eq!(settings.user().is_empty(), account().is_none());
        settings.env.insert("USER".to_owned(), "ada".to_owned());
        assert_eq!(settings.user(), "ada");
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
