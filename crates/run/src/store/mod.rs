//! Persistent results: a journal of finished actions, contents by digest, and locks held by the kernel.
//!
//! Everything is below one folder (`.purlin` in the project):
//!
//! | | |
//! |---|---|
//! | `journal` | one line per result, only ever appended to |
//! | `objects/` | outputs too large for a line, lists of files that were made; named by their SHA-256 |
//! | `logs/` | the last output of each action |
//! | `locks/` | files that are locked while an action runs; what they hold does not matter |
//! | `deploys/` | processes that keep running |
//! | `tmp/` | what running actions write |
//!
//! A repository can bring this folder with any content. So nothing is reached through a link ([`folder`]), records and
//! notes count only with a seal that this user has made for this checkout ([`seal`]), and file names contain a part
//! that others cannot guess.

mod journal;
pub mod made;
mod note;
mod seal;
mod tracked;

pub use journal::{Ending, Record};
pub use note::{Log, Note};
pub use seal::Key;

use crate::outputs::Outputs;
use journal::Journal;
use made::Made;
use purlin_host::folder::{Access, Folder};
use purlin_host::named;
use seal::Seal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The name of the folder in a project.
pub const FOLDER: &str = ".purlin";

/// Longer outputs are kept apart from the journal, which every run reads.
const INLINE: usize = 4 << 10;

/// Larger outputs and lists are not ours.
const LONGEST_OBJECT: u64 = 1 << 30;

/// The results of a project.
#[derive(Debug)]
pub struct Store {
    project: PathBuf,
    root: PathBuf,
    seal: Seal,
    is_kept: bool,
    /// The folder of results, once something is kept.
    opened: OnceLock<Folder>,
    journal: Mutex<Journal>,
    dirty: AtomicBool,
    syncing: Arc<Syncing>,
    spare: Arc<Spare>,
}

/// A sync that runs in parallel with actions.
#[derive(Debug, Default)]
struct Syncing {
    is_busy: AtomicBool,
    /// The error of a failed sync; the next may succeed.
    error: Mutex<Option<io::Error>>,
}

/// Empty folders of finished actions, to be reused under another name: on a disk that costs less than half of creating
/// and removing one. They are removed with the last store that may use them.
#[derive(Debug, Default)]
struct Spare {
    /// Their location.
    tmp: OnceLock<Folder>,
    names: Mutex<Vec<String>>,
}

impl Spare {
    fn list(&self) -> MutexGuard<'_, Vec<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let Some(tmp) = self.tmp.get() else { return };
        for name in self.names.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = tmp.remove_empty(name);
        }
    }
}

/// Held while an action runs; other processes wait. The kernel releases it with the process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File);

impl Store {
    /// Opens the results of a project, which are empty if there is no folder yet. Creates nothing. Files of the
    /// repository in the place of results are refused.
    pub fn open(project: &Path, key: &Key) -> io::Result<Self> {
        let project = named::canonical(project)?;
        if let Some(file) = tracked::tracked(&project) {
            let own = tracked::own_part(&file);
            let why = format!(
                "`{file}` is part of the repository, but only Purlin may write there; run `git rm -r --cached {own}` and \
                 delete it"
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let seal = key.seal(&project);
        let folder = match Folder::open(&project)?.child(FOLDER) {
            Ok(folder) => Some(folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let journal = Mutex::new(Journal::read(folder.as_ref(), seal.clone())?);
        Ok(Store {
            root: project.join(FOLDER),
            project,
            seal,
            is_kept: key.is_kept(),
            opened: OnceLock::new(),
            journal,
            dirty: AtomicBool::new(false),
            syncing: Arc::default(),
            spare: Arc::default(),
        })
    }

    /// A warning for the user, if any: why some results do not count, or will not.
    pub fn warning(&self) -> Option<String> {
        let root = self.root.display();
        if !self.is_kept {
            let hint = "set `HOME` or `XDG_STATE_HOME` to a folder of yours";
            return Some(format!("results are not kept for later runs, because there is no place for a key; {hint}"));
        }
        match self.journal().foreign() {
            0 => None,
            count => Some(format!("{count} results in `{root}` are of another user or folder and are ignored")),
        }
    }

    /// Creates the folders for results. Their content is private and not part of the repository.
    pub fn prepare(&self) -> io::Result<()> {
        let root = Folder::open(&self.project)?.make_child(FOLDER, Access::Private)?;
        for part in ["objects", "logs", "locks", "deploys"] {
            root.make_child(part, Access::Private)?;
        }
        let tmp = root.make_child("tmp", Access::Private)?;
        if root.stat(".gitignore").is_err() {
            root.replace(".gitignore", b"*\n", 0o600)?;
        }
        self.journal().open_for_writing(&root)?;
        let _ = self.spare.tmp.set(tmp);
        let _ = self.opened.set(root);
        self.sweep();
        Ok(())
    }

    /// A part of the folder of results.
    fn part(&self, name: &str) -> io::Result<Folder> {
        match self.opened.get() {
            Some(root) => root.child(name),
            None => Folder::open(&self.project)?.child(FOLDER)?.child(name),
        }
    }

    /// Removes leftovers of killed runs.
    pub(crate) fn sweep(&self) {
        let Ok(tmp) = self.part("tmp") else { return };
        for name in tmp.names().unwrap_or_default() {
            let owner = name.to_str().and_then(|name| name.split('-').next()?.parse::<u32>().ok());
            let owner = owner.and_then(crate::local::tree::pid_of);
            if owner.is_none_or(|pid| rustix::process::test_kill_process(pid).is_err()) {
                let _ = tmp.remove(name);
            }
        }
    }

    /// The folder of all results.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of an action at a version.
    pub fn find(&self, id: &str, version: &str) -> Option<Arc<Record>> {
        self.journal().find(id, version)
    }

    /// Whether an action has a reusable result at a matching version.
    pub fn has_done(&self, id: &str, is_meant: impl Fn(&str) -> bool) -> bool {
        self.journal().has_done(id, is_meant)
    }

    /// The last result of an action, whatever its version.
    pub fn last(&self, id: &str) -> Option<Arc<Record>> {
        self.journal().last(id)
    }

    /// All actions that have a result.
    pub fn ids(&self) -> Vec<String> {
        self.journal().ids()
    }

    /// Reads the records that other processes have written since.
    pub fn refresh(&self) -> io::Result<()> {
        self.journal().refresh()
    }

    /// The outputs of a result.
    pub fn outputs(&self, record: &Record) -> Option<Outputs> {
        match (&record.outputs, &record.object) {
            (Some(outputs), _) => Some(outputs.clone()),
            (None, Some(digest)) => serde_json::from_slice(&self.object(digest)?).ok(),
            (None, None) => None,
        }
    }

    /// The content of a digest. A file whose content does not match its name is ignored.
    fn object(&self, digest: &str) -> Option<Vec<u8>> {
        let bytes = self.part("objects").ok()?.read(digest, LONGEST_OBJECT).ok()?;
        (hex(&Sha256::digest(&bytes)) == *digest).then_some(bytes)
    }

    /// Stores a content under its digest.
    fn keep_object(&self, bytes: &[u8]) -> io::Result<String> {
        let digest = hex(&Sha256::digest(bytes));
        let objects = self.part("objects")?;
        if self.object(&digest).is_none() {
            objects.replace(&digest, bytes, 0o600)?;
        }
        Ok(digest)
    }

    /// Stores the list of files that an action made.
    pub fn keep_made(&self, made: &Made) -> io::Result<Option<String>> {
        (!made.is_empty()).then(|| self.keep_object(&made.to_bytes())).transpose()
    }

    /// Whether the files that an action made are unchanged.
    pub fn is_intact(&self, record: &Record) -> bool {
        let Some(digest) = &record.made else { return true };
        self.object(digest).is_some_and(|list| Made::is_as_listed(&list))
    }

    /// Stores a result. When this returns, it survives this process; [`Store::sync`] makes it survive a crash of the
    /// machine.
    pub fn keep(&self, mut record: Record) -> io::Result<Arc<Record>> {
        if let Some(outputs) = &record.outputs {
            let text = serde_json::to_vec(outputs).map_err(io::Error::other)?;
            if text.len() > INLINE {
                record.object = Some(self.keep_object(&text)?);
                record.outputs = None;
            }
        }
        let record = Arc::new(record);
        self.journal().append(record.clone())?;
        self.dirty.store(true, Ordering::Release);
        Ok(record)
    }

    /// Syncs everything stored so far to the disk; one call covers all results since the last.
    pub fn sync(&self) -> io::Result<()> {
        let earlier = self.syncing.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        if !self.dirty.swap(false, Ordering::AcqRel) && !self.syncing.is_busy.load(Ordering::Acquire) {
            return earlier.map_or(Ok(()), Err);
        }
        let file = self.journal().file()?;
        file.map_or(Ok(()), |file| file.sync_data())?;
        earlier.map_or(Ok(()), Err)
    }

    /// Starts the same without waiting for it. A failure is returned by the next [`Store::sync`].
    pub fn sync_soon(&self) -> io::Result<()> {
        if self.syncing.is_busy.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let is_dirty = self.dirty.swap(false, Ordering::AcqRel);
        let file = self.journal().file();
        let Ok(Some(file)) = file else {
            self.syncing.is_busy.store(false, Ordering::Release);
            return file.map(|_| ());
        };
        if !is_dirty {
            self.syncing.is_busy.store(false, Ordering::Release);
            return Ok(());
        }
        let syncing = self.syncing.clone();
        let work = move || {
            if let Err(error) = file.sync_data() {
                *syncing.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            syncing.is_busy.store(false, Ordering::Release);
        };
        let started = std::thread::Builder::new().name("sync".into()).spawn(work);
        if started.is_err() {
            self.syncing.is_busy.store(false, Ordering::Release);
            self.dirty.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Keeps other processes from running an action; `None` if one of them is running it.
    pub fn try_lock(&self, id: &str) -> io::Result<Option<Lock>> {
        let file = self.part("locks")?.open_own(self.file_name(id))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// The last output of an action.
    pub fn log(&self, id: &str) -> Log {
        Log::new(&self.project, format!("{}.log", self.file_name(id)))
    }

    /// The note of a process that keeps running.
    pub fn deploy_note(&self, id: &str) -> Note {
        Note::new(&self.project, self.seal.clone(), &format!("process of {id}"), format!("{}.json", self.file_name(id)))
    }

    /// The note about the execution of an action on another machine, as long as it is under way.
    pub fn remote_note(&self, id: &str) -> Note {
        let about = format!("execution of {id}");
        Note::new(&self.project, self.seal.clone(), &about, format!("{}.remote", self.file_name(id)))
    }

    /// A fresh folder for one action, removed when dropped.
    pub fn scratch(&self) -> io::Result<Scratch> {
        let tmp = self.spare.tmp.get().ok_or(io::ErrorKind::NotConnected)?;
        loop {
            let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}", std::process::id());
            let folder = tmp.path().join(&name);
            let spare = self.spare.list().pop();
            // Under a new name, unknown to processes that an earlier action has left running.
            if spare.is_some_and(|spare| tmp.rename(spare, &name).is_ok()) {
                return Ok(Scratch { name, folder, spare: self.spare.clone() });
            }
            match tmp.make_new(&name) {
                Ok(()) => return Ok(Scratch { name, folder, spare: self.spare.clone() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Forgets an action: its results and its output.
    pub fn forget(&self, id: &str) -> io::Result<()> {
        self.journal().append(Arc::new(Record::forgotten(id)))?;
        self.dirty.store(true, Ordering::Release);
        self.log(id).remove();
        self.deploy_note(id).remove();
        Ok(())
    }

    fn file_name(&self, id: &str) -> String {
        file_name(&self.seal, id)
    }
}

/// The note of the pod that an action runs in.
pub(crate) fn pod_note(project: &Path, key: &Key, id: &str) -> Note {
    let project = named::canonical(project).unwrap_or_else(|_| project.to_owned());
    let seal = key.seal(&project);
    let name = format!("{}.pod", file_name(&seal, id));
    Note::new(&project, seal, &format!("pod of {id}"), name)
}

/// Numbers of fresh folders: a process may have opened the same results several times.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// A folder that is removed with its content.
#[derive(Debug)]
pub struct Scratch {
    name: String,
    folder: PathBuf,
    spare: Arc<Spare>,
}

impl Scratch {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(tmp) = self.spare.tmp.get() else { return };
        match is_untouched(tmp, &self.name) {
            true => self.spare.list().push(std::mem::take(&mut self.name)),
            false => {
                let _ = tmp.remove(&self.name);
            }
        }
    }
}

/// Whether a folder is unchanged since its creation: a folder, writable for us, and empty.
fn is_untouched(tmp: &Folder, name: &str) -> bool {
    let is_ours = tmp.stat(name).is_ok_and(|found| found.st_mode & 0o777 == 0o700);
    is_ours && tmp.child(name).and_then(|folder| folder.names()).is_ok_and(|names| names.is_empty())
}

/// A file name for an id: readable, unique, and unpredictable for authors of a repository.
fn file_name(seal: &Seal, id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let readable: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).take(100).collect();
    let tag = seal.tag("name", id.as_bytes());
    format!("{}~{}", readable.trim_start_matches('.'), tag.get(..16).unwrap_or_default())
}

/// Writes a file named by the user as a whole: it has its old content, or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}-{number}", std::process::id()));
    let written = named::create_private(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()?;
        named::rename(&beside, path)
    });
    written.inspect_err(|_| {
        let _ = named::remove_file(&beside);
    })
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    purlin_value::encoding::hex(bytes)
}
