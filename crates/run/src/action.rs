//! An action as the engine sees it: plain data, made just before it runs. Knows no dialect.

use crate::image::Image;
use crate::work::Work;
use purlin_syntax::Span;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The kind of an action, for messages and for how its result is kept.
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

    /// Its name, as used at the beginning of node ids.
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

/// A program with its arguments and surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; with `shell`, joined by spaces and interpreted by a shell.
    pub words: Vec<String>,
    /// Whether a shell interprets it.
    pub shell: bool,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Environment variables that override those of this process.
    pub env: Vec<(String, String)>,
}

impl Command {
    /// A command that does nothing, for actions without one.
    pub fn nothing() -> Self {
        Command { words: Vec::new(), shell: false, folder: PathBuf::new(), env: Vec::new() }
    }

    /// The command as one line for display. May contain secrets: mask it.
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
    /// The project's folder; paths within it are reached without following links.
    pub root: PathBuf,
    /// The source folder; nothing is laid out if it is empty.
    pub source: PathBuf,
    /// Files, relative to it, each with git's digest of the expected content.
    pub files: Vec<(PathBuf, Option<[u8; 20]>)>,
    /// The target folder; afterwards it holds these files and nothing else.
    pub target: PathBuf,
    /// Outputs of other Builds, copied on top.
    pub copies: Vec<Copy>,
}

/// Files of one folder that are copied into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The folder of the other Build.
    pub from: PathBuf,
    /// A file, a folder or a pattern in it.
    pub source: String,
    /// The target path.
    pub target: String,
}

/// Files that an action leaves for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// A pattern, relative to the command's folder.
    pub source: String,
    /// The project's folder.
    pub root: PathBuf,
    /// The target folder, relative to it.
    pub target: PathBuf,
}

/// The source files of an action, to be checked again: a result belongs to the files that were read.
pub trait Sources: Send + Sync + std::fmt::Debug {
    /// A file that no longer matches the version.
    fn changed(&self) -> Option<String>;
}

/// When the result of an earlier run replaces a new run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// A result of the same version.
    Version,
    /// A result of the same version, if it is the last one and this folder, which it created, still exists.
    Last(PathBuf),
    /// Never: its effects are outside, and only its status command knows them.
    Never,
}

/// A process that keeps running after the action is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persistent {
    /// How long its status command may report that it is not ready.
    pub patience: Duration,
}

/// Whether an action may run on another machine.
#[derive(Clone, Debug)]
pub enum Travel {
    /// It stays, for this reason.
    Stays(Stay),
    /// It may, with this.
    Goes(Box<Baggage>),
}

/// Why an action runs on this machine only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stay {
    /// Actions of this kind and type change something outside, or use programs and services of this machine.
    Effects,
    /// It keeps running.
    Persistent,
    /// It works in the folder of its sources.
    InPlace,
    /// Its status command looks at this machine.
    Status,
    /// It reads a secret: where, in the words of its configuration.
    Secret(String),
    /// A secret is in what would be sent: where.
    SecretIn(String),
    /// The user's settings keep it here.
    Settings,
    /// It builds an image with tools of this machine.
    Image,
    /// It is done by this program.
    Work,
    /// A file is no longer what its version says.
    Changed(String),
}

impl std::fmt::Display for Stay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stay::Effects => f.write_str("its effects are outside of its files"),
            Stay::Persistent => f.write_str("it keeps running"),
            Stay::InPlace => f.write_str("it builds in the folder of its sources"),
            Stay::Status => f.write_str("its `statusCommand` looks at this machine"),
            Stay::Secret(place) => write!(f, "it uses a secret (`{place}`), and `--remote-secrets` does not name it"),
            Stay::SecretIn(place) => write!(f, "{place} contains a secret, and `--remote-secrets` does not name it"),
            Stay::Settings => f.write_str("`[remote] stay` in the settings names it"),
            Stay::Image => f.write_str("it builds an image with a tool of this machine"),
            Stay::Work => f.write_str("this program does it"),
            Stay::Changed(file) => write!(f, "`{file}` changed during the run"),
        }
    }
}

/// Everything that an action reads, for its execution on another machine. The paths of what it leaves are those of its
/// request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baggage {
    /// The folder that its files are relative to.
    pub source: PathBuf,
    /// Its files, each with git's digest of the expected content.
    pub files: Vec<(PathBuf, Option<[u8; 20]>)>,
    /// The folder of a Build that it works in, instead of files of its own.
    pub base: Option<PathBuf>,
    /// Outputs of other Builds, copied on top.
    pub copies: Vec<Copy>,
    /// Whether the folder that it works in is its result.
    pub is_product: bool,
    /// Where its configuration has a secret, if it does.
    pub secret: Option<String>,
}

impl Baggage {
    /// The folders of Builds whose results it reads.
    pub fn products(&self) -> impl Iterator<Item = &PathBuf> {
        self.base.iter().chain(self.copies.iter().map(|copy| &copy.from))
    }
}

/// A resolved action.
#[derive(Clone, Debug)]
pub struct Action {
    /// The node's id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// The key of results, logs and notes: the node's id, with the environment where it matters.
    pub subject: String,
    /// Its version, as its dialect computes it.
    pub version: String,
    /// Must match for a result to be reused: the version, and everything else that decides what is done and where.
    pub key: String,
    /// When an earlier result is reused.
    pub reuse: Reuse,
    /// Files that it reads in place; files that are laid out are checked at that time.
    pub sources: Option<Arc<dyn Sources>>,
    /// Files that are laid out first.
    pub stage: Option<Stage>,
    /// The command that reports whether there is nothing to do.
    pub status: Option<Command>,
    /// The command; without one, nothing is run.
    pub command: Option<Command>,
    /// The command that undoes it.
    pub cleanup: Option<Command>,
    /// The image that is built, instead of running a command.
    pub image: Option<Box<Image>>,
    /// Work that is done in this process instead of running commands.
    pub work: Option<Arc<dyn Work>>,
    /// Whether the command keeps running.
    pub persistent: Option<Persistent>,
    /// The files it leaves.
    pub artifacts: Vec<Artifact>,
    /// Environment variables that name the folder in which commands leave outputs.
    pub output_folder: &'static [&'static str],
    /// Environment variables that name the file in which commands leave several outputs.
    pub output_file: &'static [&'static str],
    /// Time limit of the command.
    pub timeout: Option<Duration>,
    /// Texts that are never shown.
    pub secrets: Vec<String>,
    /// Whether it may run on another machine.
    pub travel: Travel,
    /// Its source location.
    pub span: Option<Span>,
}

impl Action {
    /// Why it runs on this machine only, if it does and does anything.
    pub fn stay(&self) -> Option<Stay> {
        match &self.travel {
            _ if self.work.is_some() => Some(Stay::Work),
            _ if self.image.is_some() => Some(Stay::Image),
            Travel::Stays(why) if self.command.is_some() => Some(why.clone()),
            _ => None,
        }
    }

    /// Whether it is a command with an end: only such an action can be a request.
    pub fn is_request(&self) -> bool {
        self.command.is_some() && self.work.is_none() && self.image.is_none() && self.persistent.is_none()
    }

    /// An action that does nothing and is never reused. Callers set the fields they need.
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
            travel: Travel::Stays(Stay::Effects),
            span,
        }
    }
}
