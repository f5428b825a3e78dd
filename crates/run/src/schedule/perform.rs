//! Performs one action from beginning to end: its earlier result, its status command, its files, its command, its
//! outputs.

use crate::action::{Action, Command, Reuse};
use crate::apart::{Apart, Slots};
use crate::capture::{Capture, Printed};
use crate::event::{Cause, End, Event, Failure};
use crate::executor::Executor;
use crate::local::here::{self, Call, Here};
use crate::local::persistent::{self, Started};
use crate::local::process::{Ended, NoStart, Stream};
use crate::local::stage::Fetched;
use crate::mask::Mask;
use crate::outputs::Outputs;
use crate::request::{NoOutcome, Observer, Place, Progress, Request};
use crate::stop::{Level, Stop};
use crate::store::made::Made;
use crate::store::{Ending, Lock, Log, Record, Store};
use crate::work::{Deadline, Doing, Trouble};
use purlin_host::named;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How often results are synced to disk during a run: one sync covers all results since the last.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// How often a starting process is checked for readiness.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// How often a lock held by another process is tried.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Maximum length of the output of a result that is shared.
pub(crate) const LONGEST_SHARED: usize = 8 << 20;

/// Receives events.
pub type Report<'e> = &'e (dyn Fn(&Event<'_>) + Sync);

/// The result of an action: its end, its outputs, and the names of the secret ones.
pub type Performed = (End, Outputs, Vec<String>);

/// Performs actions.
pub struct Performer<'r> {
    pub(crate) store: &'r Store,
    pub(crate) executor: &'r dyn Executor,
    pub(crate) stop: &'r Stop,
    /// Limits the actions that run on this machine at once.
    pub(crate) slots: Slots,
    /// Products that are not on this machine, by their folders.
    pub(crate) apart: Mutex<HashMap<PathBuf, Apart>>,
    prepared: OnceLock<Result<(), String>>,
    synced: Mutex<Instant>,
}

/// Options for performing an action.
#[derive(Clone, Copy)]
pub struct How<'h> {
    /// Even if it is done.
    pub force: bool,
    /// The folders in which Builds that it depends on, directly or not, leave their results.
    pub needs: &'h dyn Fn() -> Vec<PathBuf>,
    /// After an action that used files that do not match its version.
    pub is_unsure: bool,
}

/// The result of an action's work.
pub(crate) struct Worked {
    pub(crate) performed: Performed,
    /// Files that others use.
    made: Made,
    /// Whether files did not match the version.
    is_unsure: bool,
    /// Whether its product is not on this machine.
    pub(crate) is_apart: bool,
}

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    printed: Printed,
    outputs: Outputs,
}

impl<'r> Performer<'r> {
    /// A performer for one run.
    pub fn new(store: &'r Store, executor: &'r dyn Executor, stop: &'r Stop) -> Self {
        let (prepared, synced) = (OnceLock::new(), Mutex::new(Instant::now()));
        Performer { store, executor, stop, slots: Slots::default(), apart: Mutex::default(), prepared, synced }
    }

    /// The same, with a limit of what runs on this machine at once.
    pub fn limited(self, most: Option<usize>) -> Self {
        Performer { slots: Slots::of(most), ..self }
    }

    /// A failure of an action.
    pub fn failure(&self, action: &Action, cause: Cause) -> Failure {
        Failure { id: action.id.clone(), cause, command: None, tail: Vec::new(), span: action.span }
    }

    /// The result to reuse for an action, if any: its status command decides, or an earlier result.
    pub fn is_done(&self, action: &Action, report: Report<'_>) -> Result<Option<Performed>, Failure> {
        if let Some(work) = action.work.as_ref().filter(|_| action.reuse == Reuse::Never) {
            let _outside = work.is_remote().then(|| self.stop.outside());
            let done = work.is_done(Doing::looking(self.stop));
            let done = done.map_err(|trouble| self.trouble(action, trouble))?;
            let is_known = |_: &Outputs| self.is_kept(action) || !work.leaves_nothing(Doing::looking(self.stop));
            return Ok(done.filter(is_known).map(|outputs| (End::Ready, outputs, Vec::new())));
        }
        if action.persistent.is_some() && !self.is_running(action) {
            return Ok(None);
        }
        if let Some(status) = &action.status {
            return self.ask_status(action, status, report);
        }
        if action.persistent.is_some() {
            return Ok(Some((End::Ready, Outputs::new(), Vec::new())));
        }
        if let Some(image) = &action.image {
            self.prepare(action)?;
            return self.image_is_there(action, image, &mask_of(action), report);
        }
        Ok(self.earlier(action))
    }

    /// Whether the last result of an action is of this version.
    fn is_kept(&self, action: &Action) -> bool {
        let last = self.store.last(&action.subject);
        last.is_some_and(|last| last.version == action.key && last.ending == Ending::Done)
    }

    /// Whether the process of an action runs, at this version.
    fn is_running(&self, action: &Action) -> bool {
        let started = Started::read(&self.store.deploy_note(&action.subject));
        started.is_some_and(|started| started.version == action.key && started.is_alive())
    }

    pub(crate) fn earlier(&self, action: &Action) -> Option<Performed> {
        let record = match &action.reuse {
            Reuse::Never => return None,
            Reuse::Version => {
                let found = self.store.find(&action.subject, &action.key)?;
                self.store.is_intact(&found).then_some(found)?
            }
            Reuse::Last(folder) => {
                let last = self.store.last(&action.subject)?;
                (last.version == action.key
                    && last.is_reusable()
                    && named::is_folder(folder)
                    && self.store.is_intact(&last))
                .then_some(last)?
            }
        };
        Some((End::Cached, self.store.outputs(&record)?, Vec::new()))
    }

    fn ask_status(&self, action: &Action, status: &Command, report: Report<'_>) -> Result<Option<Performed>, Failure> {
        self.prepare(action)?;
        let mask = mask_of(action);
        if !named::is_folder(&status.folder) {
            return Ok(None);
        }
        let outcome = self.command(action, status, action.timeout, &mask, None, report)?;
        match outcome.ended {
            Ended::Exit(0) => {
                let secret = secret_names(&outcome.outputs, &mask);
                Ok(Some((End::Ready, outcome.outputs, secret)))
            }
            Ended::Stopped => Err(self.failure(action, Cause::Stopped)),
            _ => Ok(None),
        }
    }

    /// Creates the folders of results, once.
    fn prepare(&self, action: &Action) -> Result<(), Failure> {
        let prepare = || {
            let root = self.store.root().display();
            self.store.prepare().map_err(|error| format!("could not write to `{root}`: {error}"))
        };
        self.prepared.get_or_init(prepare).clone().map_err(|why| self.failure(action, Cause::Other(why)))
    }

    /// Runs an action.
    pub fn perform(&self, action: &Action, how: How<'_>, report: Report<'_>) -> Result<(Performed, bool), Failure> {
        self.prepare(action)?;
        let _lock = self.lock(action, report)?;
        // Another process may have done it while we waited.
        self.store.refresh().map_err(|error| self.io(action, "read the journal", &error))?;
        if !how.force
            && action.status.is_none()
            && let Some(earlier) = self.earlier(action)
        {
            match &action.image {
                None => return Ok((earlier, false)),
                Some(image) => {
                    if let Some(there) = self.image_is_there(action, image, &mask_of(action), report)? {
                        return Ok((there, false));
                    }
                }
            }
        }
        let began = SystemTime::now();
        let worked = self.work(action, how, report);
        let took = began.elapsed().unwrap_or_default();
        let is_unsure = how.is_unsure || worked.as_ref().is_ok_and(|worked| worked.is_unsure);
        self.keep(action, &worked, is_unsure, began, took)?;
        self.note_apart(action, &worked, is_unsure, (began, took));
        worked.map(|worked| (worked.performed, is_unsure))
    }

    /// Checks whether files still match the version, and reports a difference.
    fn is_changed(&self, action: &Action, report: Report<'_>) -> bool {
        let changed = action.sources.as_ref().and_then(|sources| sources.changed());
        if let Some(file) = &changed {
            self.warn_of_change(action, file, report);
        }
        changed.is_some()
    }

    fn warn_of_change(&self, action: &Action, file: &str, report: Report<'_>) {
        let text = format!("`{file}` changed during the run, so this result is not kept");
        report(&Event::Warning { id: &action.id, text: &mask_of(action).text(&text) });
    }

    pub(crate) fn io(&self, action: &Action, what: &str, error: &io::Error) -> Failure {
        self.failure(action, Cause::Other(format!("could not {what}: {error}")))
    }

    fn lock(&self, action: &Action, report: Report<'_>) -> Result<Lock, Failure> {
        let mut told = false;
        loop {
            match self.store.try_lock(&action.subject) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if self.stop.level() != Level::Going => return Err(self.failure(action, Cause::Stopped)),
                Ok(None) => {
                    if !std::mem::replace(&mut told, true) {
                        report(&Event::Warning { id: &action.id, text: "waiting for another process that runs it" });
                    }
                    std::thread::sleep(TRY_EVERY);
                }
                Err(error) => return Err(self.io(action, "lock it", &error)),
            }
        }
    }

    fn work(&self, action: &Action, how: How<'_>, report: Report<'_>) -> Result<Worked, Failure> {
        let (id, kind, version) = (action.id.as_str(), action.kind, action.version.as_str());
        report(&Event::Started { id, kind, version });
        let is_unsure = action.reuse != Reuse::Never && self.is_changed(action, report);
        let mask = mask_of(action);
        match &action.command {
            Some(command) if action.is_request() => self.request((action, command), how, is_unsure, &mask, report),
            _ => {
                self.bring_needed(action, how, report)?;
                if let Some(why) = self.executor.elsewhere().and_then(|_| action.stay()) {
                    report(&Event::Stays { id, why: &why });
                }
                let _slot = self.slots.take();
                self.work_at_home(action, is_unsure, &mask, report)
            }
        }
    }

    /// Runs an action that is a command with an end, here or elsewhere.
    fn request(
        &self,
        (action, command): (&Action, &Command),
        how: How<'_>,
        mut is_unsure: bool,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Worked, Failure> {
        let request = Request { is_cacheable: !how.force, ..Request::of(action, command, self.stop) };
        let log = self.store.log(&action.subject);
        let mut watching =
            Watching { performer: self, action, report, capture: Capture::new(mask, Some(log)), raw: None };
        let outcome = self.somewhere(action, &request, how, &mut watching);
        let outcome = outcome.map_err(|why| self.no_outcome(action, command, mask, why))?;
        is_unsure |= outcome.is_unsure;
        if outcome.place != Place::Here {
            report(&Event::Placed { id: &action.id, place: &outcome.place });
        }
        let printed = self.printed(action, watching.capture, report);
        let outputs = outcome.outputs.map_err(|why| self.failure(action, Cause::Other(why)))?;
        let outputs = self.named_outputs(action, outputs, &printed, report);
        if let Some(cause) = cause_of(outcome.ended, action.timeout) {
            let (tail, command) = (printed.tail, Some(mask.text(&command.line())));
            return Err(Failure { command, tail, ..self.failure(action, cause) });
        }
        let fetched = outcome.fetched.map_err(|why| self.failure(action, Cause::Other(mask.text(&why))))?;
        fetched.missing.iter().for_each(|text| report(&Event::Warning { id: &action.id, text }));
        is_unsure |= !is_unsure && action.reuse != Reuse::Never && self.is_changed(action, report);
        let secret = secret_names(&outputs, mask);
        let mut made = outcome.made;
        fetched.files.into_iter().for_each(|file| made.add(file));
        let end = if outcome.place == Place::Cache { End::Shared } else { End::Done };
        Ok(Worked { performed: (end, outputs, secret), made, is_unsure, is_apart: outcome.is_apart })
    }

    /// Runs an action that only this machine can run.
    fn work_at_home(
        &self,
        action: &Action,
        mut is_unsure: bool,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Worked, Failure> {
        let log = None;
        let mut watching = Watching { performer: self, action, report, capture: Capture::new(mask, log), raw: None };
        let here = Here { executor: self.executor, store: self.store };
        let staged = here.stage(action.stage.as_ref(), &mut watching);
        is_unsure |= staged.map_err(|why| self.no_outcome(action, &Command::nothing(), mask, why))?;
        let sure = |performed: Performed| Worked { performed, made: Made::default(), is_unsure, is_apart: false };
        if let Some(work) = &action.work {
            let _outside = work.is_remote().then(|| self.stop.outside());
            let outputs = self.work_here(action, report, |doing| work.perform(doing))?;
            let secret = secret_names(&outputs, mask);
            return Ok(sure((End::Done, outputs, secret)));
        }
        if let Some(image) = &action.image {
            let performed = self.build_image(action, image, mask, report)?;
            is_unsure |= !is_unsure && self.is_changed(action, report);
            return Ok(Worked { performed, made: Made::default(), is_unsure, is_apart: false });
        }
        let nothing = Command::nothing();
        let request = Request::of(action, action.command.as_ref().unwrap_or(&nothing), self.stop);
        let before = here::before(&request);
        let (Some(command), Some(persistent)) = (&action.command, &action.persistent) else {
            return Ok(Worked { made: here::made(&request, &before), ..sure((End::Done, Outputs::new(), Vec::new())) });
        };
        let outcome = self.start(action, command, persistent.patience, mask, report)?;
        if let Some(cause) = cause_of(outcome.ended, action.timeout) {
            let command = Some(mask.text(&command.line()));
            return Err(Failure { command, tail: outcome.printed.tail, ..self.failure(action, cause) });
        }
        let fetched = match action.artifacts.is_empty() {
            true => Ok(Fetched::default()),
            false => self.executor.fetch(&action.artifacts, &command.folder),
        };
        let fetched = fetched.map_err(|why| self.failure(action, Cause::Other(mask.text(&why))))?;
        fetched.missing.iter().for_each(|text| report(&Event::Warning { id: &action.id, text }));
        let secret = secret_names(&outcome.outputs, mask);
        let mut made = here::made(&request, &before);
        fetched.files.into_iter().for_each(|file| made.add(file));
        Ok(Worked { made, ..sure((End::Done, outcome.outputs, secret)) })
    }

    /// Does the work of an action in this process; its messages are masked, shown and logged like the output of a
    /// command.
    fn work_here<T>(
        &self,
        action: &Action,
        report: Report<'_>,
        work: impl FnOnce(Doing<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Failure> {
        let mask = mask_of(action);
        let shown = |text: &str| report(&Event::Line { id: &action.id, stream: Stream::Out, text });
        let capture = Mutex::new(Capture::new(&mask, Some(self.store.log(&action.subject))));
        let say = |line: &str| {
            let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
            capture.push(Stream::Out, format!("{line}\n").as_bytes(), &mut |text| shown(text));
        };
        let deadline = action.timeout.and_then(Deadline::after);
        let done = work(Doing { stop: self.stop, say: &say, executor: Some(self.executor), deadline });
        let printed = capture.into_inner().unwrap_or_else(PoisonError::into_inner).finish(&mut |text| shown(text));
        if let Some(error) = &printed.log_error {
            report(&Event::Warning { id: &action.id, text: &format!("could not write its log: {error}") });
        }
        done.map_err(|trouble| self.trouble(action, trouble))
    }

    /// A failure of work, without secrets.
    fn trouble(&self, action: &Action, trouble: Trouble) -> Failure {
        let mask = mask_of(action);
        let cause = match trouble.cause {
            Cause::Other(why) => Cause::Other(mask.text(&why)),
            cause => cause,
        };
        let tail = trouble.tail.iter().map(|line| mask.text(line)).collect();
        Failure { tail, ..self.failure(action, cause) }
    }

    /// Runs one command; with `logged` its output is the action's log.
    pub(crate) fn command(
        &self,
        action: &Action,
        command: &Command,
        timeout: Option<Duration>,
        mask: &Mask,
        logged: Option<&Command>,
        report: Report<'_>,
    ) -> Result<Ran, Failure> {
        let log = logged.map(|_| self.store.log(&action.subject));
        let mut capture = Capture::new(mask, log);
        let shown = |stream: Stream| {
            move |text: &str| {
                if logged.is_some() {
                    report(&Event::Line { id: &action.id, stream, text });
                }
            }
        };
        let (output_folder, output_file) = (action.output_folder, action.output_file);
        let call = Call { command, output_folder, output_file, timeout, stop: self.stop };
        let here = Here { executor: self.executor, store: self.store };
        let called = here.call(&call, &mut |stream, bytes| capture.push(stream, bytes, &mut shown(stream)));
        let (ended, left) = called.map_err(|why| self.no_outcome(action, command, mask, why))?;
        let printed = capture.finish(&mut shown(Stream::Out));
        self.warn_of_print(action, &printed, report);
        let left = left.map_err(|why| self.failure(action, Cause::Other(why)))?;
        let outputs = self.named_outputs(action, left, &printed, report);
        Ok(Ran { ended, printed, outputs })
    }

    /// Ends the output of an action that is shown.
    fn printed(&self, action: &Action, capture: Capture<'_>, report: Report<'_>) -> Printed {
        let stream = Stream::Out;
        let printed = capture.finish(&mut |text| report(&Event::Line { id: &action.id, stream, text }));
        self.warn_of_print(action, &printed, report);
        printed
    }

    fn warn_of_print(&self, action: &Action, printed: &Printed, report: Report<'_>) {
        let warn = |text: &str| report(&Event::Warning { id: &action.id, text });
        if let Some(error) = &printed.log_error {
            warn(&format!("could not write its log: {error}"));
        }
        if printed.overflow {
            warn("its output is longer than 1 MiB; `outputs.log` has only the beginning");
        }
    }

    /// The outputs of an action with what it printed.
    fn named_outputs(
        &self,
        action: &Action,
        (mut found, skipped): (Outputs, Vec<String>),
        printed: &Printed,
        report: Report<'_>,
    ) -> Outputs {
        for text in &skipped {
            report(&Event::Warning { id: &action.id, text: &format!("{text}; it is left out") });
        }
        let joined = format!("{}\n{}", printed.out, printed.err);
        found.insert("log".into(), Json::from(joined.trim()));
        found.insert("stdout".into(), Json::from(printed.out.as_str()));
        found.insert("stderr".into(), Json::from(printed.err.as_str()));
        found
    }

    fn no_outcome(&self, action: &Action, command: &Command, mask: &Mask, why: NoOutcome) -> Failure {
        match why {
            NoOutcome::NoStart(why) => self.not_started(action, command, mask, why),
            NoOutcome::Stays(why) => self.failure(action, Cause::Other(format!("it runs on this machine only: {why}"))),
            NoOutcome::Missed => self.failure(action, Cause::Other("no result of it is shared".to_owned())),
            NoOutcome::Files(why) | NoOutcome::Elsewhere { why, .. } => {
                self.failure(action, Cause::Other(mask.text(&why)))
            }
            NoOutcome::Scratch(error) => self.io(action, "create a folder for outputs", &error),
        }
    }

    pub(crate) fn not_started(&self, action: &Action, command: &Command, mask: &Mask, why: NoStart) -> Failure {
        let cause = match why {
            NoStart::Missing(name) => Cause::NoProgram(mask.text(&name)),
            NoStart::NoFolder(folder) => {
                Cause::Other(mask.text(&format!("the folder `{}` does not exist", folder.display())))
            }
            NoStart::Empty => Cause::Other("its command is empty".to_owned()),
            NoStart::Io(error) => Cause::Other(format!("could not start its command: {error}")),
        };
        Failure { command: Some(mask.text(&command.line())), ..self.failure(action, cause) }
    }

    /// Starts a process that keeps running, replacing an earlier one, and waits until it is ready.
    fn start(
        &self,
        action: &Action,
        command: &Command,
        patience: Duration,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Ran, Failure> {
        let note = self.store.deploy_note(&action.subject);
        if let Some(earlier) = Started::read(&note) {
            earlier.end();
        }
        let log = self.store.log(&action.subject);
        let place = persistent::Place { log: &log, note: &note, version: &action.key };
        let started = self.executor.start(command, place);
        let (started, mut child) = started.map_err(|why| self.not_started(action, command, mask, why))?;
        let deadline = Instant::now() + patience;
        let failed = |cause: Cause| {
            let tail = tail_of(&log, mask);
            Failure { command: Some(mask.text(&command.line())), tail, ..self.failure(action, cause) }
        };
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                note.remove();
                return Err(failed(Cause::Other(format!("it ended instead of running on ({status})"))));
            }
            let Some(status) = &action.status else {
                let printed = Printed {
                    out: String::new(),
                    err: String::new(),
                    overflow: false,
                    tail: Vec::new(),
                    log_error: None,
                };
                return Ok(Ran { ended: Ended::Exit(0), printed, outputs: Outputs::new() });
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stop.level() != Level::Going {
                let cause = if left.is_zero() { Cause::NotReady(patience) } else { Cause::Stopped };
                started.end();
                let _ = child.wait();
                note.remove();
                return Err(failed(cause));
            }
            let outcome = self.command(action, status, Some(left), mask, None, report)?;
            if outcome.ended == Ended::Exit(0) {
                return Ok(outcome);
            }
            std::thread::sleep(ASK_EVERY.min(left));
        }
    }

    /// Records the end of an action. Outputs that contain a secret are not written, so that such an action runs again.
    fn keep(
        &self,
        action: &Action,
        worked: &Result<Worked, Failure>,
        is_unsure: bool,
        began: SystemTime,
        took: Duration,
    ) -> Result<(), Failure> {
        let (ending, outputs, made) = match worked {
            Ok(Worked { performed: (_, outputs, secret), made, is_apart, .. }) => {
                // A product that is not on this machine cannot be reused here.
                let is_kept = secret.is_empty() && !is_unsure && !is_apart;
                (Ending::Done, is_kept.then(|| outputs.clone()), is_kept.then_some(made))
            }
            Err(failure) => (Ending::Failed(mask_of(action).text(&failure.cause.to_string())), None, None),
        };
        let made = made.map(|made| self.store.keep_made(made)).transpose();
        let made = made.map_err(|error| self.io(action, "write its result", &error))?.flatten();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let record = Record {
            id: action.subject.clone(),
            version: action.key.clone(),
            ending,
            outputs,
            object: None,
            made,
            started: millis(began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            took: millis(took),
        };
        self.store.keep(record).map_err(|error| self.io(action, "write its result", &error))?;
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.elapsed() >= SYNC_EVERY {
            *synced = Instant::now();
            drop(synced);
            self.store.sync_soon().map_err(|error| self.io(action, "write its result to disk", &error))?;
        }
        Ok(())
    }

    /// Undoes an action: ends its process, runs its cleanup command, forgets its results. Returns whether there was
    /// anything to do.
    pub fn undo(&self, action: &Action, report: Report<'_>) -> Result<bool, Failure> {
        self.prepare(action)?;
        let _lock = self.lock(action, report)?;
        let mut undone = false;
        if let Some(started) = Started::read(&self.store.deploy_note(&action.subject)) {
            undone = started.is_alive();
            started.end();
        }
        if let Some(work) = &action.work {
            let _outside = work.is_remote().then(|| self.stop.outside());
            undone |= self.work_here(action, report, |doing| work.undo(doing))?;
        }
        if let Some(cleanup) = &action.cleanup {
            let mask = mask_of(action);
            let outcome = self.command(action, cleanup, action.timeout, &mask, Some(cleanup), report)?;
            if let Some(cause) = cause_of(outcome.ended, action.timeout) {
                let (command, tail) = (Some(mask.text(&cleanup.line())), outcome.printed.tail);
                return Err(Failure { command, tail, ..self.failure(action, cause) });
            }
            undone = true;
        }
        self.store.forget(&action.subject).map_err(|error| self.io(action, "write its result", &error))?;
        Ok(undone)
    }
}

/// Shows what happens while a request runs.
pub(crate) struct Watching<'w> {
    performer: &'w Performer<'w>,
    action: &'w Action,
    pub(crate) report: Report<'w>,
    capture: Capture<'w>,
    /// Standard output and error as they were printed, if they are shared with others.
    pub(crate) raw: Option<(Vec<u8>, Vec<u8>)>,
}

impl Observer for Watching<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let (id, report) = (self.action.id.as_str(), self.report);
        if let Some((out, err)) = &mut self.raw {
            let kept = if stream == Stream::Out { out } else { err };
            // More than this is not worth sharing.
            if kept.len() <= LONGEST_SHARED {
                kept.extend_from_slice(bytes);
            }
        }
        self.capture.push(stream, bytes, &mut |text| report(&Event::Line { id, stream, text }));
    }

    fn warn(&mut self, text: &str) {
        (self.report)(&Event::Warning { id: &self.action.id, text });
    }

    fn changed(&mut self, file: &str) {
        self.performer.warn_of_change(self.action, file, self.report);
    }

    fn progress(&mut self, progress: Progress) {
        (self.report)(&Event::Progress { id: &self.action.id, progress: &progress });
    }
}

/// The cause of a failure by the end of the command; `None` if it ended well.
pub(crate) fn cause_of(ended: Ended, timeout: Option<Duration>) -> Option<Cause> {
    match ended {
        Ended::Exit(0) => None,
        Ended::Exit(code) => Some(Cause::Exit(code)),
        Ended::Signal(signal) => Some(Cause::Signal(signal)),
        Ended::TimedOut => Some(Cause::TimedOut(timeout.unwrap_or_default())),
        Ended::Stopped => Some(Cause::Stopped),
    }
}

fn mask_of(action: &Action) -> Mask {
    Mask::new(action.secrets.iter().map(String::as_str))
}

/// The names of outputs that contain a secret.
pub(crate) fn secret_names(outputs: &Outputs, mask: &Mask) -> Vec<String> {
    let is_secret = |value: &Json| value.as_str().is_some_and(|text| mask.finds(text));
    outputs.iter().filter(|(_, value)| is_secret(value)).map(|(name, _)| name.clone()).collect()
}

/// The last lines of a log that a process writes itself.
fn tail_of(log: &Log, mask: &Mask) -> Vec<String> {
    let text = log.read().unwrap_or_default();
    let text =
        String::from_utf8_lossy(text.get(text.len().saturating_sub(16 << 10)..).unwrap_or_default()).into_owned();
    let text = mask.text(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(20)).map(|line| (*line).to_owned()).collect()
}
