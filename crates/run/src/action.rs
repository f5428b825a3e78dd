//! An action as the engine sees it: plain data, made just before it runs. Knows no dialect.

use crate::image::Image;
use crate::work::Work;
use purlin_syntax::Span;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What an action does, for messages and for how its result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Makes something.
    Build,
    /// Brings something up.
    Deploy,
    /// Does something once.
    Run,
    /// Checks something.
    Test,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Build, Kind::Deploy, Kind::Run, Kind::Test];

    /// Its name, as ids of nodes begin.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Build => "build",
            Kind::Deploy => "deploy",
            Kind::Run => "run",
            Kind::Test => "test",
        }
    }

    /// The kind of a node, by its id.
    pub fn of(id: &str) -> Option<Kind> {
        let head = id.split_once('.')?.0;
        Kind::ALL.into_iter().find(|kind| kind.name() == head)
    }
}

/// A program with everything it is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; with `shell`, joined by spaces and read by a shell.
    pub words: Vec<String>,
    /// Whether a shell reads it.
    pub shell: bool,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Environment variables over those of this process.
    pub env: Vec<(String, String)>,
}

impl Command {
    /// The command as one line, for people. May hold secrets: mask it.
    pub fn line(&self) -> String {
        if self.shell {
            return self.words.join(" ");
        }
        let quoted = |word: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        };
        self.words.iter().map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// Files that are laid out before a command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The project's folder; what lies in it is reached without following links.
    pub root: PathBuf,
    /// The folder that files come from; nothing is laid out if there is none.
    pub source: PathBuf,
    /// Files, relative to it, each with git's digest of what it must hold.
    pub files: Vec<(PathBuf, Option<[u8; 20]>)>,
    /// The folder that holds these files and nothing else afterwards.
    pub target: PathBuf,
    /// What other Builds made, copied on top.
    pub copies: Vec<Copy>,
}

/// Files of one folder that are copied into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The folder of the other Build.
    pub from: PathBuf,
    /// A file, a folder or a pattern in it.
    pub source: String,
    /// Where it goes.
    pub target: String,
}

/// Files that an action leaves for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// A pattern, relative to the command's folder.
    pub source: String,
    /// The project's folder.
    pub root: PathBuf,
    /// The folder they are put in, from there.
    pub target: PathBuf,
}

/// The files that an action was given, to be looked at again: a result belongs to what was read.
pub trait Sources: Send + Sync + std::fmt::Debug {
    /// A file that is no longer what its version was made of.
    fn changed(&self) -> Option<String>;
}

/// When the result of an earlier run stands for a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// A result of the same version.
    Version,
    /// A result of the same version, if it is the last one and this folder, which it made, is still there.
    Last(PathBuf),
    /// Never: what it changed is outside, only its status command knows.
    Never,
}

/// A process that keeps running after the action is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persistent {
    /// How long its status command may say that it is not ready.
    pub patience: Duration,
}

/// What an action comes to, resolved.
#[derive(Clone, Debug)]
pub struct Action {
    /// The node's id.
    pub id: String,
    /// What it does.
    pub kind: Kind,
    /// What results, logs and notes are kept under: the node's id, and the environment where one counts.
    pub subject: String,
    /// Its version, as its dialect counts.
    pub version: String,
    /// What a result must have to stand for this run: the version, and whatever else decides what is done and where.
    pub key: String,
    /// When an earlier result stands for it.
    pub reuse: Reuse,
    /// What it reads where it lies; what is laid out for it is checked then.
    pub sources: Option<Arc<dyn Sources>>,
    /// What is laid out before.
    pub stage: Option<Stage>,
    /// The command that says whether there is nothing to do.
    pub status: Option<Command>,
    /// The command; nothing is done if there is none.
    pub command: Option<Command>,
    /// The command that undoes it.
    pub cleanup: Option<Command>,
    /// The image that is built, in the place of a command.
    pub image: Option<Box<Image>>,
    /// What is done here instead of running commands.
    pub work: Option<Arc<dyn Work>>,
    /// Whether the command keeps running.
    pub persistent: Option<Persistent>,
    /// What it leaves.
    pub artifacts: Vec<Artifact>,
    /// Environment variables that name the folder in which commands leave outputs.
    pub output_folder: &'static [&'static str],
    /// Environment variables that name the file in which commands leave several outputs.
    pub output_file: &'static [&'static str],
    /// How long the command may take.
    pub timeout: Option<Duration>,
    /// Texts that are never shown.
    pub secrets: Vec<String>,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Action {
    /// An action that does nothing, every run anew. Callers set what they need.
    pub fn new(id: impl Into<String>, kind: Kind, version: impl Into<String>, span: Option<Span>) -> Self {
        let (id, version) = (id.into(), version.into());
        Action {
            subject: id.clone(),
            id,
            kind,
            key: version.clone(),
            version,
            reuse: Reuse::Never,
            sources: None,
            stage: None,
            status: None,
            command: None,
            cleanup: None,
            image: None,
            work: None,
            persistent: None,
            artifacts: Vec::new(),
            output_folder: &[],
            output_file: &[],
            timeout: None,
            secrets: Vec::new(),
            span,
        }
    }
}
