//! An execution as a value: a request with all that it reads, and an outcome with all that it leaves.
//!
//! Where and how a request runs is the business of an [`Execution`]: this machine lays files out, starts a process and
//! reads a folder ([`crate::local::here`]); others get the same files by their content. Nothing here knows either.

use crate::action::{Action, Artifact, Command, Reuse, Stage, Stay, Travel};
use crate::local::process::{Ended, NoStart, Stream};
use crate::local::stage::Fetched;
use crate::outputs::Outputs;
use crate::stop::Stop;
use crate::store::made::Made;
use std::path::Path;
use std::time::Duration;

/// What is run, and everything that it reads.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The action, for messages and for notes about it.
    pub id: &'r str,
    /// The key under which notes about it are kept.
    pub subject: &'r str,
    /// The command.
    pub command: &'r Command,
    /// Files that are laid out first.
    pub stage: Option<&'r Stage>,
    /// What it needs elsewhere, if it may run there.
    pub travel: &'r Travel,
    /// The folder that is its result, and whether files were in it before.
    pub product: Option<Product<'r>>,
    /// Environment variables that name the folder of outputs.
    pub output_folder: &'static [&'static str],
    /// Environment variables that name the file of several outputs.
    pub output_file: &'static [&'static str],
    /// Files that it leaves for users.
    pub artifacts: &'r [Artifact],
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// Texts that may not leave this machine.
    pub secrets: &'r [String],
    /// Whether a result of an earlier execution may be returned.
    pub is_cacheable: bool,
    /// The request to stop.
    pub stop: &'r Stop,
}

/// A folder that is the result of an action.
#[derive(Clone, Copy, Debug)]
pub struct Product<'r> {
    /// The folder.
    pub folder: &'r Path,
    /// Whether it also has files that the action did not make.
    pub is_shared: bool,
}

impl<'r> Request<'r> {
    /// The request of an action with a command.
    pub fn of(action: &'r Action, command: &'r Command, stop: &'r Stop) -> Self {
        let product = match &action.reuse {
            Reuse::Last(folder) => Some(Product { folder, is_shared: action.sources.is_some() }),
            _ => None,
        };
        Request {
            id: &action.id,
            subject: &action.subject,
            command,
            stage: action.stage.as_ref(),
            travel: &action.travel,
            product,
            output_folder: action.output_folder,
            output_file: action.output_file,
            artifacts: &action.artifacts,
            timeout: action.timeout,
            secrets: &action.secrets,
            is_cacheable: true,
            stop,
        }
    }
}

/// Where an action ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// On this machine.
    #[default]
    Here,
    /// Nowhere: a shared cache had its result.
    Cache,
    /// On a worker; its name, if the server says it.
    Worker(String),
}

/// The end of a request, and what it left.
#[derive(Debug)]
pub struct Outcome {
    /// How the command ended.
    pub ended: Ended,
    /// Its outputs, and those that were left out with the reasons; or why they cannot be read.
    pub outputs: Result<(Outputs, Vec<String>), String>,
    /// Its artifacts, or why they could not be retrieved.
    pub fetched: Result<Fetched, String>,
    /// Files that others use, if they are on this machine.
    pub made: Made,
    /// Whether its product is kept elsewhere, until something on this machine needs it.
    pub is_apart: bool,
    /// Whether files did not match the version.
    pub is_unsure: bool,
    /// Where it ran.
    pub place: Place,
}

/// What an action waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its input is sent: the number of bytes.
    Uploading(u64),
    /// It waits for a worker.
    Queued,
    /// It runs on a worker.
    Running(String),
    /// Its result is retrieved: the number of bytes.
    Downloading(u64),
}

/// Receives what happens while a request runs.
pub trait Observer {
    /// A piece of output.
    fn output(&mut self, stream: Stream, bytes: &[u8]);
    /// A warning for the user.
    fn warn(&mut self, text: &str);
    /// A file does not match the version.
    fn changed(&mut self, file: &str);
    /// What it waits for.
    fn progress(&mut self, progress: Progress);
}

/// Why a request has no outcome.
#[derive(Debug)]
pub enum NoOutcome {
    /// Its command could not be started.
    NoStart(NoStart),
    /// Its files could not be laid out.
    Files(String),
    /// A folder for its outputs could not be created.
    Scratch(std::io::Error),
    /// It stays on this machine, for this reason.
    Stays(Stay),
    /// A place that only keeps results has none of it.
    Missed,
    /// It did not run elsewhere: why, and whether this machine may run it instead.
    Elsewhere {
        /// Why.
        why: String,
        /// Whether nothing speaks against running it here.
        may_run_here: bool,
    },
}

/// Runs requests.
pub trait Execution: Sync {
    /// Runs a request to its end, which comes early if it is cancelled.
    fn run(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<Outcome, NoOutcome>;

    /// Whether the product of a folder is kept here and not on this machine.
    fn has(&self, _folder: &Path) -> bool {
        false
    }

    /// Lays out a product on this machine; none if it is not kept here.
    fn bring(&self, _folder: &Path, _stop: &Stop, _observer: &mut dyn Observer) -> Result<Option<Made>, String> {
        Ok(None)
    }

    /// Whether what fails here may run on this machine instead.
    fn falls_back(&self) -> bool {
        true
    }

    /// Forgets a product that was made on this machine after all.
    fn forget(&self, _folder: &Path) {}

    /// Offers the outcome of a request that ran on this machine to others, with standard output and error.
    fn share(&self, _request: &Request<'_>, _outcome: &Outcome, _printed: (&[u8], &[u8])) -> Result<(), String> {
        Ok(())
    }
}
