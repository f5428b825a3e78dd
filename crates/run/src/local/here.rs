//! Requests on this machine: files are laid out in a folder, a process runs in it, what it leaves is read from there.

use crate::action::{Command, Stage};
use crate::executor::{Executor, Job};
use crate::local::process::{Ended, Stream};
use crate::local::stage::Fetched;
use crate::outputs::{self, Outputs};
use crate::request::{Execution, NoOutcome, Observer, Outcome, Place, Request};
use crate::stop::Stop;
use crate::store::Store;
use crate::store::made::Made;
use std::time::Duration;

/// This machine, with a folder for results.
pub struct Here<'h> {
    /// Runs commands.
    pub executor: &'h dyn Executor,
    /// Where folders for outputs are made.
    pub store: &'h Store,
}

/// One command with its outputs.
pub struct Call<'c> {
    /// The command.
    pub command: &'c Command,
    /// Environment variables that name the folder of outputs.
    pub output_folder: &'static [&'static str],
    /// Environment variables that name the file of several outputs.
    pub output_file: &'static [&'static str],
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// The request to stop.
    pub stop: &'c Stop,
}

/// The end of a command, its outputs, and those that were left out with the reasons.
pub type Called = (Ended, Result<(Outputs, Vec<String>), String>);

impl Here<'_> {
    /// Runs one command and reads its outputs.
    pub fn call(&self, call: &Call<'_>, output: &mut dyn FnMut(Stream, &[u8])) -> Result<Called, NoOutcome> {
        let scratch = self.store.scratch().map_err(NoOutcome::Scratch)?;
        let mut command = call.command.clone();
        let folder = scratch.path().to_string_lossy().into_owned();
        let file = scratch.path().join(outputs::JSON_FILE).to_string_lossy().into_owned();
        command.env.extend(call.output_folder.iter().map(|name| ((*name).to_owned(), folder.clone())));
        command.env.extend(call.output_file.iter().map(|name| ((*name).to_owned(), file.clone())));
        let job = Job { command: &command, timeout: call.timeout, stop: call.stop };
        let ended = self.executor.execute(&job, output).map_err(NoOutcome::NoStart)?;
        let left = match ended {
            Ended::Exit(0) => outputs::read(scratch.path()),
            _ => Ok(Default::default()),
        };
        Ok((ended, left))
    }

    /// Lays out files; returns whether one of them did not match the version.
    pub fn stage(&self, stage: Option<&Stage>, observer: &mut dyn Observer) -> Result<bool, NoOutcome> {
        let Some(stage) = stage else { return Ok(false) };
        let staged = self.executor.stage(stage).map_err(NoOutcome::Files)?;
        staged.missing.iter().for_each(|text| observer.warn(text));
        staged.changed.iter().for_each(|file| observer.changed(file));
        Ok(staged.changed.is_some())
    }
}

/// The files of a folder that is shared with others, before an action changes it.
pub fn before(request: &Request<'_>) -> Made {
    match request.product.filter(|product| product.is_shared) {
        Some(product) => Made::below(product.folder).unwrap_or_default(),
        None => Made::default(),
    }
}

/// The files that an action has made: all in its own folder, or only new ones. Files copied from others belong to it in
/// their state at that time.
pub fn made(request: &Request<'_>, before: &Made) -> Made {
    let Some(product) = request.product else { return Made::default() };
    let own = Made::below(product.folder).unwrap_or_default().since(before);
    let copies = request.stage.iter().flat_map(|stage| &stage.copies);
    copies.fold(own, |made, copy| made.and(Made::below(&copy.from).unwrap_or_default()))
}

impl Execution for Here<'_> {
    fn run(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<Outcome, NoOutcome> {
        let is_unsure = self.stage(request.stage, observer)?;
        let before = before(request);
        let call = Call {
            command: request.command,
            output_folder: request.output_folder,
            output_file: request.output_file,
            timeout: request.timeout,
            stop: request.stop,
        };
        let (ended, outputs) = self.call(&call, &mut |stream, bytes| observer.output(stream, bytes))?;
        // The artifacts of a failed test are what its user wants to see.
        let fetched = match request.artifacts.is_empty() {
            true => Ok(Fetched::default()),
            false => self.executor.fetch(request.artifacts, &request.command.folder),
        };
        let made = if ended == Ended::Exit(0) { made(request, &before) } else { Made::default() };
        Ok(Outcome { ended, outputs, fetched, made, is_apart: false, is_unsure, place: Place::Here })
    }
}
