//! Results that last: a journal of what was done, contents by their digest, and locks that the kernel holds.
//!
//! Everything lies below one folder (`.purlin` in the project):
//!
//! | | |
//! |---|---|
//! | `journal` | one line per result, only ever appended to |
//! | `objects/` | outputs too large for a line, named by their SHA-256 |
//! | `logs/` | the last output of each action |
//! | `locks/` | files that are locked while an action runs; what they hold does not matter |
//! | `deploys/` | processes that keep running |
//! | `tmp/` | what running actions write |

mod journal;

pub use journal::{Ending, Record};

use crate::outputs::Outputs;
use journal::Journal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the folder in a project.
pub const FOLDER: &str = ".purlin";

/// Outputs longer than this are kept apart from the journal, which every run reads.
const INLINE: usize = 4 << 10;

/// The results of a project.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    journal: Mutex<Journal>,
    dirty: AtomicBool,
    syncing: Arc<Syncing>,
    spare: Arc<Spare>,
}

/// A sync that goes on while actions run.
#[derive(Debug, Default)]
struct Syncing {
    is_busy: AtomicBool,
    /// Why one failed; the next may well succeed.
    error: Mutex<Option<io::Error>>,
}

/// Folders of actions that left nothing in them, to be used again under another name: on a disk that costs less than half
/// of making and removing one. They go with the last of those who may use them.
#[derive(Debug, Default)]
struct Spare(Mutex<Vec<PathBuf>>);

impl Spare {
    fn list(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        for folder in self.list().drain(..) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Held while an action runs; other processes wait. The kernel lets go of it with the process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File);

impl Store {
    /// Opens the results of a project, which are empty if there is no folder yet. Creates nothing.
    pub fn open(project: &Path) -> io::Result<Self> {
        let root = project.join(FOLDER);
        let journal = Journal::read(&root.join("journal"))?;
        let (journal, dirty) = (Mutex::new(journal), AtomicBool::new(false));
        Ok(Store { root, journal, dirty, syncing: Arc::default(), spare: Arc::default() })
    }

    /// Makes the folders, so that something can be kept. What it holds is private and no part of the repository.
    pub fn prepare(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for part in ["objects", "logs", "locks", "deploys", "tmp"] {
            builder.create(self.root.join(part))?;
        }
        let ignore = self.root.join(".gitignore");
        if !ignore.exists() {
            write_whole(&ignore, b"*\n")?;
        }
        self.journal().open_for_writing(&self.root.join("journal"))?;
        self.sweep();
        Ok(())
    }

    /// Removes what runs that were killed left behind.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(self.root.join("tmp")) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = name.split('-').next().and_then(|pid| pid.parse::<u32>().ok());
            let owner = owner.and_then(crate::local::tree::pid_of);
            if owner.is_none_or(|pid| rustix::process::test_kill_process(pid).is_err()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Where everything lies.
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

    /// The last result of an action, whatever its version.
    pub fn last(&self, id: &str) -> Option<Arc<Record>> {
        self.journal().last(id)
    }

    /// All actions that have a result.
    pub fn ids(&self) -> Vec<String> {
        self.journal().ids()
    }

    /// Takes in what other processes have written since.
    pub fn refresh(&self) -> io::Result<()> {
        self.journal().refresh()
    }

    /// The outputs of a result.
    pub fn outputs(&self, record: &Record) -> Option<Outputs> {
        match (&record.outputs, &record.object) {
            (Some(outputs), _) => Some(outputs.clone()),
            (None, Some(digest)) => {
                let bytes = std::fs::read(self.object(digest)).ok()?;
                // A file that is not what its name says is as good as none.
                (hex(&Sha256::digest(&bytes)) == *digest).then(|| serde_json::from_slice(&bytes).ok()).flatten()
            }
            (None, None) => None,
        }
    }

    fn object(&self, digest: &str) -> PathBuf {
        self.root.join("objects").join(digest)
    }

    /// Keeps a result. When this returns, it outlives this process; [`Store::sync`] makes it outlive the machine.
    pub fn keep(&self, mut record: Record) -> io::Result<Arc<Record>> {
        if let Some(outputs) = &record.outputs {
            let text = serde_json::to_vec(outputs).map_err(io::Error::other)?;
            if text.len() > INLINE {
                let digest = hex(&Sha256::digest(&text));
                let file = self.object(&digest);
                if !file.exists() {
                    write_whole(&file, &text)?;
                }
                record.object = Some(digest);
                record.outputs = None;
            }
        }
        let record = Arc::new(record);
        self.journal().append(record.clone())?;
        self.dirty.store(true, Ordering::Release);
        Ok(record)
    }

    /// Makes everything kept so far outlive the machine; one call serves all results since the last.
    pub fn sync(&self) -> io::Result<()> {
        let earlier = self.syncing.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        if !self.dirty.swap(false, Ordering::AcqRel) && !self.syncing.is_busy.load(Ordering::Acquire) {
            return earlier.map_or(Ok(()), Err);
        }
        let file = self.journal().file()?;
        file.map_or(Ok(()), |file| file.sync_data())?;
        earlier.map_or(Ok(()), Err)
    }

    /// Begins the same without waiting for it. A failure is returned by the next [`Store::sync`].
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

    /// Keeps other processes from running an action; nothing if one of them runs it.
    pub fn try_lock(&self, id: &str) -> io::Result<Option<Lock>> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.root.join("locks").join(file_name(id)))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Where the last output of an action is.
    pub fn log(&self, id: &str) -> PathBuf {
        self.root.join("logs").join(format!("{}.log", file_name(id)))
    }

    /// Where a process that keeps running is noted.
    pub fn deploy_note(&self, id: &str) -> PathBuf {
        self.root.join("deploys").join(format!("{}.json", file_name(id)))
    }

    /// A fresh folder for one action, removed when dropped.
    pub fn scratch(&self) -> io::Result<Scratch> {
        let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let folder = self.root.join("tmp").join(format!("{}-{number}", std::process::id()));
        let spare = self.spare.list().pop();
        // Under a new name: what an earlier action has left running does not know it.
        if spare.is_none_or(|spare| std::fs::rename(spare, &folder).is_err()) {
            std::fs::create_dir(&folder)?;
        }
        Ok(Scratch { folder, spare: self.spare.clone() })
    }

    /// Forgets an action: its results and its output.
    pub fn forget(&self, id: &str) -> io::Result<()> {
        self.journal().append(Arc::new(Record::forgotten(id)))?;
        self.dirty.store(true, Ordering::Release);
        let _ = std::fs::remove_file(self.log(id));
        let _ = std::fs::remove_file(self.deploy_note(id));
        Ok(())
    }
}

/// Where the pod is noted that an action runs in, below the folder of results.
pub(crate) fn pod_note(root: &Path, id: &str) -> PathBuf {
    root.join("deploys").join(format!("{}.pod", file_name(id)))
}

/// Numbers of fresh folders: a process may have opened the same results several times.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// A folder that is removed with its content.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    spare: Arc<Spare>,
}

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        match is_untouched(&self.folder) {
            true => self.spare.list().push(std::mem::take(&mut self.folder)),
            false => {
                let _ = std::fs::remove_dir_all(&self.folder);
            }
        }
    }
}

/// Whether a folder is as it was made: a folder, ours to write to, and empty.
fn is_untouched(folder: &Path) -> bool {
    let is_ours = |found: &std::fs::Metadata| found.is_dir() && found.permissions().mode() & 0o700 == 0o700;
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    std::fs::symlink_metadata(folder).is_ok_and(|found| is_ours(&found)) && is_empty()
}

/// A file name for an id: readable, and different for different ids.
fn file_name(id: &str) -> String {
    let is_plain = id.len() <= 100 && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if is_plain && !id.starts_with('.') {
        return id.to_owned();
    }
    let readable: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
    let digest = hex(&Sha256::digest(id.as_bytes()));
    format!("{readable}~{}", digest.get(..16).unwrap_or_default())
}

/// Writes a file as a whole: it has its old content, or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}-{number}", std::process::id()));
    let written = File::options().create_new(true).write(true).mode(0o600).open(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()?;
        std::fs::rename(&beside, path)
    });
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    purlin_value::encoding::hex(bytes)
}
