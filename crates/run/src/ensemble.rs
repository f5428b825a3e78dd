//! Jobs of ensembles: their commands run through the executor, their results go into the ensemble's file.
//!
//! The file is written as a whole, after each task unless writing would take longer than the tasks, so a killed job
//! leaves its finished tasks. Other jobs on the same ensemble wait for this one.

use crate::action::{Command, Kind};
use crate::capture::{Capture, LONGEST_OUTPUT};
use crate::event::{Cause, End, Event, Failure, Reporter, Summary};
use crate::executor::{Executor, Job as Process};
use crate::local::process::{Ended, NoStart, Stream};
use crate::mask::Mask;
use crate::stop::Level;
use crate::store::{Lock, Store};
use crate::work::Doing;
use purlin_host::{border, named};
use purlin_unfurl::job::Job;
use purlin_unfurl::job::store::Files;
use purlin_unfurl::job::task::{Ran, Shell};
use purlin_unfurl::tree::Status;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a lock held by another process is tried.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// The minimum pause between two writes, as a multiple of the time that writing takes.
const SAVE_SHARE: u32 = 10;

/// Runs a job.
pub struct Runner<'r> {
    /// Logs and locks.
    pub store: &'r Store,
    /// Runs commands.
    pub executor: &'r dyn Executor,
    /// Observes the work, and may stop it.
    pub doing: Doing<'r>,
    /// The folder that paths of the job are relative to.
    pub root: &'r Path,
    /// Whether its results are stored.
    pub is_saved: bool,
}

/// The result of a command.
struct Executed {
    ran: Ran,
    failure: Option<Failure>,
    is_stopped: bool,
}

impl Runner<'_> {
    /// Keeps other jobs off an ensemble. `Err` is the reason for a failure.
    pub fn lock(&self, ensemble: &str) -> Result<Lock, String> {
        self.store
            .prepare()
            .map_err(|error| format!("could not write to `{}`: {error}", self.store.root().display()))?;
        if let Some(owner) = other_owner(&self.root.join(ensemble)) {
            return Err(format!("`{ensemble}.lock` says that process {owner} runs a job on this ensemble"));
        }
        loop {
            match self.store.try_lock(&format!("ensemble {ensemble}")) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if self.doing.stop.level() != Level::Going => return Err("stopped".to_owned()),
                Ok(None) => std::thread::sleep(TRY_EVERY),
                Err(error) => return Err(format!("could not lock the ensemble: {error}")),
            }
        }
    }

    /// Runs a planned job to its end.
    pub fn run(&self, job: &mut Job<'_>, reporter: &mut dyn Reporter) -> Result<Summary, String> {
        let begun = Instant::now();
        reporter.event(&Event::Begin { total: job.requests().len() });
        let mut progress =
            Progress { begun, told: job.tasks.len(), ends: Vec::new(), saved: begun, pause: Duration::ZERO };
        let mut failure = None;
        while self.doing.stop.level() == Level::Going {
            let Some(shell) = job.next_command() else { break };
            progress.tell(job, None, reporter);
            let executed = self.execute(&shell, job.id.as_str(), reporter);
            job.finish(executed.ran);
            progress.tell(job, executed.failure, reporter);
            if executed.is_stopped {
                break;
            }
            if self.is_saved
                && let Err(why) = progress.save(job, self)
            {
                failure = Some(why);
                break;
            }
        }
        progress.tell(job, None, reporter);
        job.drop_skipped();
        if failure.is_none() && self.is_saved && !job.tasks.is_empty() {
            failure = job.final_files().and_then(|files| self.write(&files)).err();
        }
        let mut ends = progress.ends;
        ends.extend(job.requests().iter().filter(|request| !request.is_done()).map(|request| {
            let id = format!("{}.{}", job.ensemble.tree.node(request.target).name, request.operation.name);
            (id, End::NotStarted, Duration::ZERO)
        }));
        let summary =
            Summary { ends, results: Default::default(), took: begun.elapsed(), signal: self.doing.stop.signal() };
        reporter.finish(&summary);
        match failure {
            Some(why) => Err(why),
            None => Ok(summary),
        }
    }

    fn execute(&self, shell: &Shell, version: &str, reporter: &mut dyn Reporter) -> Executed {
        let id = shell.id.as_str();
        reporter.event(&Event::Started { id, kind: Kind::Deploy, version });
        let mask = Mask::new(shell.secrets.iter().map(String::as_str));
        let command = self.command(shell);
        let own = shell.timeout.map(Duration::from_secs);
        let timeout = self.doing.patience(own);
        let mut capture = Capture::new(&mask, Some(self.store.log(id)));
        let (mut out, mut err): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
        let process = Process { command: &command, timeout, stop: self.doing.stop };
        let ended = self.executor.execute(&process, &mut |stream, bytes| {
            let kept = if stream == Stream::Out { &mut out } else { &mut err };
            let room = LONGEST_OUTPUT.saturating_sub(kept.len());
            kept.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
            capture.push(stream, bytes, &mut |text| reporter.event(&Event::Line { id, stream, text }));
        });
        let printed = capture.finish(&mut |text| reporter.event(&Event::Line { id, stream: Stream::Out, text }));
        if printed.overflow {
            let text = "its output is longer than 1 MiB; expressions see only the beginning";
            reporter.event(&Event::Warning { id, text });
        }
        let cause = match &ended {
            Ok(Ended::Exit(0)) => None,
            Ok(Ended::Exit(code)) => Some(Cause::Exit(*code)),
            Ok(Ended::Signal(signal)) => Some(Cause::Signal(*signal)),
            Ok(Ended::TimedOut) => Some(Cause::TimedOut(self.doing.passed(own))),
            Ok(Ended::Stopped) => Some(Cause::Stopped),
            Err(NoStart::Missing(name)) => Some(Cause::NoProgram(mask.text(name))),
            Err(NoStart::NoFolder(folder)) => {
                Some(Cause::Other(format!("the folder `{}` does not exist", folder.display())))
            }
            Err(NoStart::Empty) => Some(Cause::Other("its command is empty".to_owned())),
            Err(NoStart::Io(error)) => Some(Cause::Other(format!("could not start its command: {error}"))),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Ran {
            code: match ended {
                Ok(Ended::Exit(code)) => Some(code),
                Ok(Ended::Signal(signal)) => Some(-signal),
                _ => None,
            },
            stdout: text(&out),
            stderr: text(&err),
            timed_out: matches!(ended, Ok(Ended::TimedOut)),
            error: match &ended {
                Err(_) | Ok(Ended::Stopped) => cause.as_ref().map(ToString::to_string),
                _ => None,
            },
        };
        let failure = cause.map(|cause| Failure {
            id: id.to_owned(),
            cause,
            command: Some(mask.text(&command.line())),
            tail: printed.tail,
            span: Some(shell.span),
        });
        Executed { ran, failure, is_stopped: matches!(ended, Ok(Ended::Stopped)) }
    }

    fn command(&self, shell: &Shell) -> Command {
        let (mut words, mut is_line) = match shell.shell.as_deref() {
            None => (shell.words.clone(), false),
            Some("") => (shell.words.clone(), true),
            Some(program) => {
                let line = shell.words.join(" ");
                (vec![program.to_owned(), "-c".to_owned(), line], false)
            }
        };
        let removed: Vec<&String> =
            shell.env.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        if !removed.is_empty() {
            let mut outer = vec!["env".to_owned()];
            outer.extend(removed.into_iter().flat_map(|name| ["-u".to_owned(), name.clone()]));
            if is_line {
                outer.extend(["/bin/sh".to_owned(), "-c".to_owned()]);
            }
            outer.append(&mut words);
            (words, is_line) = (outer, false);
        }
        let env = shell.env.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect();
        Command { words, shell: is_line, folder: self.root.join(&shell.folder), env }
    }

    /// Writes the results of a job.
    fn write(&self, files: &Files) -> Result<(), String> {
        if let Some((file, text)) = &files.changes {
            let file = self.root.join(file);
            border::rewrite_below(self.root, &file, text.as_bytes()).map_err(|error| failed(&file, &error))?;
        }
        let ensemble = self.root.join(&files.ensemble);
        let text = named::read_text(&ensemble, named::LARGEST).map_err(|error| failed(&ensemble, &error))?;
        let text = files
            .rewritten(&text)
            .map_err(|why| format!("could not store the status in `{}`: {why}", files.ensemble))?;
        border::rewrite_below(self.root, &ensemble, text.as_bytes()).map_err(|error| failed(&ensemble, &error))?;
        if let Some((file, lines)) = &files.log {
            let file = self.root.join(file);
            border::append_below(self.root, &file, lines.as_bytes()).map_err(|error| failed(&file, &error))?;
        }
        Ok(())
    }
}

fn failed(file: &Path, error: &io::Error) -> String {
    format!("could not write `{}`: {error}", file.display())
}

/// What was reported of a job, and when it was last stored.
struct Progress {
    begun: Instant,
    /// Number of reported tasks.
    told: usize,
    ends: Vec<(String, End, Duration)>,
    saved: Instant,
    pause: Duration,
}

impl Progress {
    /// Reports tasks that ended since the last call.
    fn tell(&mut self, job: &Job<'_>, mut failure: Option<Failure>, reporter: &mut dyn Reporter) {
        while let Some(task) = job.tasks.get(self.told) {
            let Some(status) = task.status else {
                // The running task is the last; others without a status were left out.
                if self.told + 1 == job.tasks.len() {
                    break;
                }
                self.told += 1;
                continue;
            };
            self.told += 1;
            let (target, operation, _) = job.task_names(task);
            let id = format!("{target}.{operation}");
            let end = match status {
                Status::Ok => End::Done,
                _ if task.is_blocked => End::Aborted(vec![task.result.as_str().unwrap_or_default().to_owned()]),
                _ => End::Failed(failure.take().unwrap_or_else(|| Failure {
                    id: id.clone(),
                    cause: match task.is_reported {
                        true => Cause::Unresolved,
                        false => Cause::Other(task.result.as_str().unwrap_or("its result says so").to_owned()),
                    },
                    command: None,
                    tail: Vec::new(),
                    span: job.span(task),
                })),
            };
            reporter.event(&Event::Ended {
                id: &id,
                version: &job.id,
                end: &end,
                at: self.begun.elapsed(),
                took: Duration::ZERO,
            });
            self.ends.push((id, end, Duration::ZERO));
        }
    }

    /// Stores the status so far, unless that takes too large a share of the time.
    fn save(&mut self, job: &mut Job<'_>, runner: &Runner<'_>) -> Result<(), String> {
        if self.saved.elapsed() < self.pause {
            return Ok(());
        }
        let start = Instant::now();
        let files = job.status_file()?;
        runner.write(&files)?;
        self.saved = Instant::now();
        self.pause = start.elapsed() * SAVE_SHARE;
        Ok(())
    }
}

/// The process that holds an ensemble by the file that Unfurl makes, if it still runs.
fn other_owner(ensemble: &Path) -> Option<u32> {
    let mut name = ensemble.as_os_str().to_owned();
    name.push(".lock");
    let owner: u32 = named::read_text(&PathBuf::from(name), 100).ok()?.trim().parse().ok()?;
    let pid = crate::local::tree::pid_of(owner)?;
    rustix::process::test_kill_process(pid).is_ok().then_some(owner)
}
