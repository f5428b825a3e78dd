//! Editor features for projects: diagnostics, completion, hovers, definitions, references, renames, symbols.
//!
//! Plain data in, plain data out: paths, byte offsets and texts. It knows no protocol. A [`Workspace`] resolves
//! projects, possibly on another thread; an [`Ide`] answers from the current texts and from the last [`Picture`] of a
//! workspace, so that no answer waits for a resolution.

mod changes;
mod cursor;
mod facts;
mod hover;
mod projects;
mod proposals;
mod tokens;

pub use actions::Fix;
pub use buffers::{Buffers, Desk};
use changes::{actions, mend, names, rename, same};
pub use complete::{Proposal, ProposalKind};
use cursor::{context, flow, outline, place, scan};
pub use facts::Mark;
pub use functions::Signature;
pub use house::{House, Judge, Keeper};
pub use hover::{Hover, Inlay, Lens};
pub use mend::{Corrected, Correction, Mended, Refused, mend};
pub use names::{Edit, Symbol};
pub use place::{Place, Point, offset_chars, offset_utf16};
use projects::{buffers, house, workspace};
use proposals::{complete, functions, likely, shapes, tosca};
pub use rename::{Refusal, Renamed, apply, place_of};
pub use tokens::{TOKEN_KINDS, Token};
pub use workspace::{Change, Choice, Outcome, Picture, Problem, Workspace};

use facts::Facts;
use purlin_compiler::{NamedProjects, SchemaOf};
use purlin_syntax::Limits;
use purlin_value::{Value, World, path};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Answers requests about texts and projects.
pub struct Ide {
    desk: Arc<Desk>,
    buffers: Arc<Buffers>,
    limits: Limits,
    picture: RwLock<Arc<Picture>>,
    facts: Mutex<HashMap<String, Arc<Facts>>>,
    schemas: Mutex<HashMap<SchemaOf, Arc<Value>>>,
    /// The names of some projects, by their files, as of the last request.
    names: Mutex<Option<(Vec<String>, Arc<NamedProjects>)>>,
}

impl Ide {
    /// Answers for the files of a world with open texts on top.
    pub fn new(desk: Arc<Desk>, buffers: Arc<Buffers>, limits: Limits) -> Self {
        Ide {
            desk,
            buffers,
            limits,
            picture: RwLock::default(),
            facts: Mutex::default(),
            schemas: Mutex::default(),
            names: Mutex::default(),
        }
    }

    /// Shows a new picture of the projects, and returns the previous one: dropping a large picture takes time, which
    /// must not delay answers.
    pub fn show(&self, picture: Picture) -> Arc<Picture> {
        let mut shown = self.picture.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *shown, Arc::new(picture))
    }

    /// The last resolution of the projects.
    pub fn picture(&self) -> Arc<Picture> {
        self.picture.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text of a file: from an editor, or from the disk.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        if let Some(text) = self.buffers.get(file) {
            return Some(text);
        }
        let bytes = self.desk.read(file).ok()?;
        Some(String::from_utf8_lossy(&bytes).into())
    }

    /// Declarations and mentions of a file. Texts are compared as bytes, so that unchanged ones are not copied.
    fn facts(&self, file: &str) -> Option<Arc<Facts>> {
        let file = path::normalize(file);
        let bytes: Arc<[u8]> = match self.buffers.get(&file) {
            Some(text) => text.into(),
            None => self.desk.read(&file).ok()?,
        };
        if let Some(known) = lock(&self.facts).get(&file)
            && known.source.text().as_bytes() == &*bytes
        {
            return Some(known.clone());
        }
        if bytes.len() as u64 > self.limits.file_bytes {
            return None;
        }
        let facts = Arc::new(Facts::of(&file, &String::from_utf8_lossy(&bytes), &self.limits));
        lock(&self.facts).insert(file, facts.clone());
        Some(facts)
    }

    /// The files in which names of a file are looked up: those of the projects that have read it.
    fn related(&self, file: &str) -> Vec<Arc<Facts>> {
        let file = path::normalize(file);
        let mut files: BTreeSet<String> = BTreeSet::from([file.clone()]);
        let picture = self.picture();
        for outcome in picture.outcomes.iter().filter(|outcome| outcome.concerns(&file)) {
            files.extend(outcome.texts());
        }
        files.iter().filter(|file| is_known(file)).filter_map(|file| self.facts(file)).collect()
    }

    /// The schema of a format, made once.
    fn schema(&self, of: SchemaOf) -> Arc<Value> {
        lock(&self.schemas).entry(of).or_insert_with(|| Arc::new(of.schema())).clone()
    }

    /// The problems of a file.
    pub fn problems(&self, file: &str) -> Vec<Problem> {
        self.picture().problems.get(&path::normalize(file)).cloned().unwrap_or_default()
    }
}

/// Whether files of this type are analysed.
fn is_known(file: &str) -> bool {
    [".yaml", ".yml", ".tpl", ".txt", ".json"].iter().any(|ending| file.ends_with(ending))
}

impl Outcome {
    /// Whether a file is part of this project: it was read, or is in the folder of a chart that was.
    pub(crate) fn concerns(&self, file: &str) -> bool {
        self.files.contains(file) || self.has_file(file)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
