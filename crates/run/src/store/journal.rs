//! The journal: one line per result, each sealed, appended and never changed.
//!
//! A broken line, after a full disk or a power failure, is skipped, and so is one without our seal; every append begins
//! with a line break, so that the record after a broken line is intact. Every writer holds a shared lock on the file; a
//! writer that gets it exclusively may replace the journal with a shorter one.

use super::seal::Seal;
use crate::outputs::Outputs;
use purlin_host::folder::Folder;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// The name of the file.
const NAME: &str = "journal";

/// The purpose of the seal of lines.
const USE: &str = "journal";

/// A journal shorter than this is never rewritten.
const WORTH_REWRITING: u64 = 4 << 20;

/// The end of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Well.
    Done,
    /// It failed; the reason, in one line.
    Failed(String),
    /// It was undone, or its results were removed: nothing before this counts.
    Forgotten,
}

/// One result.
#[derive(Clone, Debug)]
pub struct Record {
    /// The action.
    pub id: String,
    /// Its version.
    pub version: String,
    /// The end.
    pub ending: Ending,
    /// Its outputs, if they are short and may be kept.
    pub outputs: Option<Outputs>,
    /// The digest of its outputs, if they are long.
    pub object: Option<String>,
    /// The digest of the list of its files, if other actions use them.
    pub made: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started: u64,
    /// Duration in milliseconds.
    pub took: u64,
}

impl Record {
    /// A record that invalidates everything before it.
    pub fn forgotten(id: &str) -> Self {
        let (id, version, ending) = (id.to_owned(), String::new(), Ending::Forgotten);
        Record { id, version, ending, outputs: None, object: None, made: None, started: 0, took: 0 }
    }

    /// Whether it can be reused: it ended well and its outputs are known.
    pub fn is_reusable(&self) -> bool {
        self.ending == Ending::Done && (self.outputs.is_some() || self.object.is_some())
    }

    fn to_json(&self) -> Json {
        let mut json = json!({ "id": self.id, "version": self.version, "started": self.started, "took": self.took });
        let Json::Object(map) = &mut json else { return json };
        let (state, why) = match &self.ending {
            Ending::Done => ("done", None),
            Ending::Failed(why) => ("failed", Some(why)),
            Ending::Forgotten => ("forgotten", None),
        };
        map.insert("state".into(), state.into());
        map.extend(why.map(|why| ("why".to_owned(), Json::from(why.as_str()))));
        map.extend(self.outputs.as_ref().map(|outputs| ("outputs".to_owned(), Json::Object(outputs.clone()))));
        map.extend(self.object.as_ref().map(|digest| ("object".to_owned(), Json::from(digest.as_str()))));
        map.extend(self.made.as_ref().map(|digest| ("made".to_owned(), Json::from(digest.as_str()))));
        json
    }

    fn from_json(json: Json) -> Option<Record> {
        let Json::Object(mut map) = json else { return None };
        let number = |key: &str| map.get(key).and_then(Json::as_u64).unwrap_or(0);
        let (started, took) = (number("started"), number("took"));
        let mut text = |key: &str| match map.remove(key) {
            Some(Json::String(text)) => Some(text),
            _ => None,
        };
        let ending = match text("state")?.as_str() {
            "done" => Ending::Done,
            "failed" => Ending::Failed(text("why").unwrap_or_default()),
            "forgotten" => Ending::Forgotten,
            // Written by a later version of this program.
            _ => return None,
        };
        let (id, version, object) = (text("id")?, text("version")?, text("object"));
        let made = text("made");
        let outputs = match map.remove("outputs") {
            Some(Json::Object(outputs)) => Some(outputs),
            _ => None,
        };
        Some(Record { id, version, ending, outputs, object, made, started, took })
    }
}

fn line_of(seal: &Seal, record: &Record) -> String {
    format!("\n{}\n", seal.sealed(USE, &record.to_json().to_string()))
}

fn parse_line(seal: &Seal, line: &str) -> Option<Record> {
    serde_json::from_str(seal.open(USE, line)?).ok().and_then(Record::from_json)
}

/// Whether a line is a complete record, with any seal.
fn is_record(line: &str) -> bool {
    let Some((tag, text)) = line.split_once(' ') else { return false };
    tag.bytes().all(|byte| byte.is_ascii_hexdigit()) && serde_json::from_str::<Json>(text).is_ok()
}

/// The results of one action.
#[derive(Debug, Default)]
struct History {
    last: Option<Arc<Record>>,
    done: HashMap<String, Arc<Record>>,
}

/// The journal, read.
#[derive(Debug)]
pub struct Journal {
    seal: Seal,
    file: Option<File>,
    /// The position up to which it was read.
    read_to: u64,
    lines: usize,
    /// Number of records with another seal.
    foreign: usize,
    histories: BTreeMap<String, History>,
}

impl Journal {
    /// Reads the journal of a folder; a missing one is empty.
    pub fn read(folder: Option<&Folder>, seal: Seal) -> io::Result<Self> {
        let mut journal =
            Journal { seal, file: None, read_to: 0, lines: 0, foreign: 0, histories: BTreeMap::default() };
        match folder.map(|folder| folder.open_file(NAME)) {
            Some(Ok(file)) => journal.take_in(&file)?,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(journal)
    }

    /// Number of ignored records, made by another user or in another checkout.
    pub fn foreign(&self) -> usize {
        self.foreign
    }

    /// Opens it for appending. It is rewritten if most of it is obsolete, or some records have another seal, and no
    /// other process has it open.
    pub fn open_for_writing(&mut self, folder: &Folder) -> io::Result<()> {
        loop {
            let file = folder.open_own(NAME)?;
            let is_long = file.metadata()?.len() > WORTH_REWRITING;
            if (is_long || self.foreign > 0) && file.try_lock().is_ok() {
                if is_current(folder, &file)? {
                    self.take_in(&file)?;
                    if self.foreign > 0 || self.lines > 2 * self.live_lines() {
                        self.rewrite(folder)?;
                        continue;
                    }
                }
                file.unlock()?;
            }
            file.lock_shared()?;
            if is_current(folder, &file)? {
                self.take_in(&file)?;
                self.file = Some(file);
                return Ok(());
            }
        }
    }

    fn live_lines(&self) -> usize {
        self.histories.values().map(|history| history.done.len() + 1).sum()
    }

    /// Replaces the journal with the records that count.
    fn rewrite(&mut self, folder: &Folder) -> io::Result<()> {
        let mut text = String::new();
        for history in self.histories.values() {
            let last = history.last.as_ref();
            let is_older = |record: &&Arc<Record>| last.is_none_or(|last| !Arc::ptr_eq(last, record));
            for record in history.done.values().filter(is_older).chain(last) {
                text.push_str(&line_of(&self.seal, record));
            }
        }
        folder.replace(NAME, text.as_bytes(), 0o600)?;
        (self.read_to, self.lines, self.foreign) = (0, 0, 0);
        self.histories.clear();
        Ok(())
    }

    /// Reads the records that others have written since.
    pub fn refresh(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let taken = self.take_in(&file);
        self.file = Some(file);
        taken
    }

    fn take_in(&mut self, mut file: &File) -> io::Result<()> {
        if file.metadata()?.len() == self.read_to {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line without its end is incomplete or broken; it is read again later.
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        self.read_to += end as u64 + 1;
        for line in bytes.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            match parse_line(&self.seal, line) {
                Some(record) => self.index(Arc::new(record)),
                None => self.foreign += usize::from(is_record(line)),
            }
        }
        Ok(())
    }

    fn index(&mut self, record: Arc<Record>) {
        self.lines += 1;
        let history = self.histories.entry(record.id.clone()).or_default();
        match record.ending {
            Ending::Forgotten => history.done.clear(),
            Ending::Done if record.is_reusable() => {
                history.done.insert(record.version.clone(), record.clone());
            }
            // A later failure at the same version means that it is not done.
            Ending::Done | Ending::Failed(_) => {
                history.done.remove(&record.version);
            }
        }
        history.last = Some(record);
    }

    /// Appends a record in one call, so that lines of several writers cannot be mixed.
    pub fn append(&mut self, record: Arc<Record>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotConnected.into()) };
        let line = line_of(&self.seal, &record);
        file.write_all(line.as_bytes())?;
        // An append leaves the position after the written line. Without other writers, that need not be read again.
        if file.stream_position()? == self.read_to + line.len() as u64 {
            self.read_to += line.len() as u64;
        }
        self.index(record);
        Ok(())
    }

    /// The file, for a sync on another thread.
    pub fn file(&self) -> io::Result<Option<File>> {
        self.file.as_ref().map(File::try_clone).transpose()
    }

    /// The result of an action at a version.
    pub fn find(&self, id: &str, version: &str) -> Option<Arc<Record>> {
        self.histories.get(id)?.done.get(version).cloned()
    }

    /// Whether an action has a result at a matching version.
    pub fn has_done(&self, id: &str, is_meant: impl Fn(&str) -> bool) -> bool {
        self.histories.get(id).is_some_and(|history| history.done.keys().any(|version| is_meant(version)))
    }

    /// The last result of an action.
    pub fn last(&self, id: &str) -> Option<Arc<Record>> {
        let last = self.histories.get(id)?.last.clone()?;
        (last.ending != Ending::Forgotten).then_some(last)
    }

    /// All actions that have a result.
    pub fn ids(&self) -> Vec<String> {
        self.histories.keys().filter(|id| self.last(id).is_some()).cloned().collect()
    }
}

/// Whether a file still has the journal's name.
fn is_current(folder: &Folder, file: &File) -> io::Result<bool> {
    let (opened, named) = (file.metadata()?, folder.stat(NAME)?);
    Ok(opened.ino() == named.st_ino && opened.dev() == named.st_dev)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn folder(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("purlin-journal-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder::open(&folder).unwrap()
    }

    fn seal(user: &str) -> Seal {
        static KEYS: std::sync::Mutex<BTreeMap<String, super::super::Key>> = std::sync::Mutex::new(BTreeMap::new());
        let mut keys = KEYS.lock().unwrap();
        let key = keys.entry(user.to_owned()).or_insert_with(|| super::super::Key::of_user(&BTreeMap::new()));
        key.seal(std::path::Path::new("/project"))
    }

    fn read(folder: &Folder) -> Journal {
        Journal::read(Some(folder), seal("me")).unwrap()
    }

    fn done(id: &str, version: &str) -> Arc<Record> {
        let outputs = Some(Outputs::from_iter([("log".to_owned(), Json::from("a\nb"))]));
        let (id, version, ending) = (id.to_owned(), version.to_owned(), Ending::Done);
        Arc::new(Record { id, version, ending, outputs, object: None, made: None, started: 1, took: 2 })
    }

    fn failed(id: &str, version: &str) -> Arc<Record> {
        let ending = Ending::Failed("no".to_owned());
        Arc::new(Record { ending, outputs: None, ..(*done(id, version)).clone() })
    }

    fn open(folder: &Folder) -> Journal {
        let mut journal = read(folder);
        journal.open_for_writing(folder).unwrap();
        journal
    }

    #[test]
    fn a_cut_at_any_byte_loses_only_the_line_it_is_in() {
        let folder = folder("cut");
        let path = folder.path().join("journal");
        let mut journal = open(&folder);
        for version in ["1", "2", "3"] {
            journal.append(done("run.a", version)).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = open(&folder);
            journal.append(done("run.b", "x")).unwrap();
            let again = read(&folder);
            assert!(again.find("run.b", "x").is_some(), "cut at {cut}");
            let kept = ["1", "2", "3"].iter().filter(|version| again.find("run.a", version).is_some()).count();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            // A line that only lacks its end is complete again once another one follows.
            assert!(kept >= lines / 2 && kept <= lines / 2 + 1, "cut at {cut}: {kept} of {lines}");
        }
    }

    #[test]
    fn a_changed_byte_loses_only_its_line() {
        let folder = folder("flip");
        let path = folder.path().join("journal");
        let mut journal = open(&folder);
        journal.append(done("run.a", "1")).unwrap();
        journal.append(done("run.a", "2")).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for at in 1..whole.len() / 2 - 1 {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let again = read(&folder);
            assert!(again.find("run.a", "1").is_none() && again.find("run.a", "2").is_some(), "byte {at}");
        }
    }

    #[test]
    fn two_writers_see_each_other() {
        let folder = folder("two");
        let (mut one, mut two) = (open(&folder), open(&folder));
        one.append(done("run.a", "1")).unwrap();
        two.append(done("run.b", "1")).unwrap();
        assert!(two.find("run.a", "1").is_none());
        two.refresh().unwrap();
        one.refresh().unwrap();
        assert!(two.find("run.a", "1").is_some() && one.find("run.b", "1").is_some());
    }

    #[test]
    fn a_forgotten_action_has_no_result() {
        let folder = folder("forgotten");
        let mut journal = open(&folder);
        journal.append(done("run.a", "1")).unwrap();
        journal.append(Arc::new(Record::forgotten("run.a"))).unwrap();
        let again = read(&folder);
        assert!(again.find("run.a", "1").is_none() && again.last("run.a").is_none());
    }

    #[test]
    fn a_long_journal_of_repeated_results_is_rewritten() {
        let folder = folder("rewrite");
        let path = folder.path().join("journal");
        let mut journal = open(&folder);
        let count = WORTH_REWRITING as usize / line_of(&seal("me"), &done("run.a", "1")).len() + 10;
        for _ in 0..count {
            journal.append(done("run.a", "1")).unwrap();
        }
        journal.append(done("run.b", "1")).unwrap();
        drop(journal);
        let journal = open(&folder);
        assert!(journal.find("run.a", "1").is_some() && journal.find("run.b", "1").is_some());
        assert!(std::fs::metadata(&path).unwrap().len() < 1000);
    }

    #[test]
    fn what_failed_since_is_not_done() {
        let folder = folder("failed");
        let mut journal = open(&folder);
        for record in [done("run.a", "1"), done("run.a", "2"), failed("run.a", "1")] {
            journal.append(record).unwrap();
        }
        let again = read(&folder);
        assert!(again.find("run.a", "1").is_none() && again.find("run.a", "2").is_some());
        journal.append(done("run.a", "1")).unwrap();
        assert!(read(&folder).find("run.a", "1").is_some());
    }

    #[test]
    fn records_of_others_do_not_count_and_are_dropped() {
        let folder = folder("foreign");
        let mut other = Journal::read(Some(&folder), seal("somebody else")).unwrap();
        other.open_for_writing(&folder).unwrap();
        other.append(done("run.a", "1")).unwrap();
        drop(other);
        let mine = read(&folder);
        assert!(mine.find("run.a", "1").is_none() && mine.last("run.a").is_none());
        assert_eq!(mine.foreign(), 1);
        let mut mine = open(&folder);
        mine.append(done("run.b", "1")).unwrap();
        let again = read(&folder);
        assert!(again.find("run.b", "1").is_some() && again.foreign() == 0);
    }

    #[test]
    fn a_line_of_one_record_is_not_sealed_as_another() {
        let folder = folder("swapped");
        let mut journal = open(&folder);
        journal.append(done("test.a", "1")).unwrap();
        drop(journal);
        let path = folder.path().join("journal");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("test.a", "test.b")).unwrap();
        let again = read(&folder);
        assert!(again.find("test.b", "1").is_none() && again.find("test.a", "1").is_none());
    }
}
