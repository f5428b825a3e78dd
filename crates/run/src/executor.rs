//! Runs the commands of this machine. An action that may run on others is a [`crate::request::Request`].

use crate::action::{Artifact, Command, Stage};
use crate::image::builder::Builder;
use crate::local::guard::Guard;
use crate::local::persistent::{self, Started};
use crate::local::process::{self, Ended, NoStart, Stream, Surroundings, Watch};
use crate::local::stage::{self, Fetched, Staged};
use crate::request::Execution;
use crate::stop::Stop;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time limit for a tool's availability check.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// One command to run.
pub struct Job<'j> {
    /// The command.
    pub command: &'j Command,
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// The request to stop.
    pub stop: &'j Stop,
}

/// Runs commands.
pub trait Executor: Sync {
    /// Lays out files; returns missing files, and a file with unexpected content.
    fn stage(&self, stage: &Stage) -> Result<Staged, String>;
    /// Runs a command to its end, which comes early if it is cancelled.
    fn execute(&self, job: &Job<'_>, output: &mut dyn FnMut(Stream, &[u8])) -> Result<Ended, NoStart>;
    /// Starts a command that outlives the run.
    fn start(&self, command: &Command, place: persistent::Place<'_>) -> Result<(Started, Child), NoStart>;
    /// The tool that builds images, or why it is missing.
    fn builder(&self) -> Result<Builder, String>;
    /// The surroundings of every command.
    fn surroundings(&self) -> &Surroundings;
    /// Retrieves artifacts of a command; returns patterns without matches.
    fn fetch(&self, artifacts: &[Artifact], folder: &Path) -> Result<Fetched, String>;
    /// Where requests may run instead, if the user asked for that.
    fn elsewhere(&self) -> Option<&dyn Execution> {
        None
    }
}

/// This machine.
pub struct Local {
    around: Surroundings,
    /// This program, which also runs the guard.
    program: Option<PathBuf>,
    guard: OnceLock<Option<Guard>>,
    builder: OnceLock<Result<Builder, String>>,
    /// The prefix of the marks of this run's processes.
    name: String,
    count: AtomicU64,
    elsewhere: Option<Box<dyn Execution + Send>>,
}

impl Local {
    /// This machine; with `program`, processes of a killed run are ended.
    pub fn new(around: Surroundings, program: Option<PathBuf>) -> Self {
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("{}-{nanos:x}", std::process::id());
        let (guard, builder, count) = (OnceLock::new(), OnceLock::new(), AtomicU64::new(0));
        Local { around, program, guard, builder, name, count, elsewhere: None }
    }

    /// The same, with another place for requests that may leave this machine.
    pub fn with_elsewhere(self, elsewhere: Option<Box<dyn Execution + Send>>) -> Self {
        Local { elsewhere, ..self }
    }

    fn guard(&self) -> Option<&Guard> {
        let start = || self.program.as_deref().and_then(|program| Guard::start(program).ok());
        self.guard.get_or_init(start).as_ref()
    }

    /// Does something with a new mark; if the run is killed meanwhile, everything with the mark is ended.
    fn guarded<T>(&self, work: impl FnOnce(&str) -> T) -> T {
        let mark = format!("{}.{}", self.name, self.count.fetch_add(1, Ordering::Relaxed));
        let guard = self.guard();
        if let Some(guard) = guard {
            guard.open(&mark);
        }
        let done = work(&mark);
        if let Some(guard) = guard {
            guard.close(&mark);
        }
        done
    }

    /// Whether a command ends well; its output is ignored.
    fn answers(&self, words: &[&str]) -> bool {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let command = Command { words, shell: false, folder: "/".into(), env: Vec::new() };
        let Ok(stop) = Stop::new() else { return false };
        let job = Job { command: &command, timeout: Some(ANSWER_WITHIN), stop: &stop };
        matches!(self.execute(&job, &mut |_, _| {}), Ok(Ended::Exit(0)))
    }
}

impl Executor for Local {
    fn stage(&self, wanted: &Stage) -> Result<Staged, String> {
        stage::stage(wanted).map_err(|error| error.to_string())
    }

    fn execute(&self, job: &Job<'_>, output: &mut dyn FnMut(Stream, &[u8])) -> Result<Ended, NoStart> {
        self.guarded(|mark| {
            let announce = |pid: u32| {
                if let Some(guard) = self.guard() {
                    guard.name(mark, pid);
                }
            };
            let watch = Watch { timeout: job.timeout, stop: job.stop, mark, announce: &announce };
            process::execute(job.command, &self.around, &watch, output)
        })
    }

    /// The process is guarded until it is noted: a run that is killed in between leaves no unknown process.
    fn start(&self, command: &Command, place: persistent::Place<'_>) -> Result<(Started, Child), NoStart> {
        self.guarded(|mark| persistent::start(command, &self.around, mark, place))
    }

    fn builder(&self) -> Result<Builder, String> {
        self.builder.get_or_init(|| Builder::find(&self.around.env, &|words| self.answers(words))).clone()
    }

    fn surroundings(&self) -> &Surroundings {
        &self.around
    }

    fn fetch(&self, artifacts: &[Artifact], folder: &Path) -> Result<Fetched, String> {
        stage::keep_artifacts(artifacts, folder).map_err(|error| error.to_string())
    }

    fn elsewhere(&self) -> Option<&dyn Execution> {
        self.elsewhere.as_deref().map(|elsewhere| elsewhere as &dyn Execution)
    }
}
