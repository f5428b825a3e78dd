//! Runs one process with everything it starts: reads its output, applies its time limit, ends the whole tree.

use super::tree;
use crate::action::Command;
use crate::stop::{Level, Stop};
use purlin_host::named;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Time for a process to end by itself after it was asked to stop.
pub const GRACE: Duration = Duration::from_secs(5);

/// The same after its time limit, which it has used up.
pub const GRACE_AFTER_TIMEOUT: Duration = Duration::from_millis(500);

/// How long output is read after the process has ended, if a descendant holds the pipe open.
const AFTERGLOW: Duration = Duration::from_millis(100);

/// The same if it does not stop printing.
const LONGEST_AFTERGLOW: Duration = Duration::from_secs(2);

/// How often a process is polled where the system cannot report its end.
const TICK: Duration = Duration::from_millis(20);

/// The stream that a piece of output comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exit(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It exceeded its time limit.
    TimedOut,
    /// The run was stopped.
    Stopped,
}

/// Why a process could not be started.
#[derive(Debug)]
pub enum NoStart {
    /// The program does not exist.
    Missing(String),
    /// Its working folder does not exist.
    NoFolder(PathBuf),
    /// The command is empty.
    Empty,
    /// The system refused.
    Io(io::Error),
}

/// The surroundings that every process of a run gets.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Environment variables.
    pub env: BTreeMap<String, String>,
}

/// The path of a program, found as the shell would find it.
pub fn find_program(word: &str, folder: &Path, path: Option<&str>) -> Option<PathBuf> {
    if word.contains('/') {
        let full = folder.join(word);
        return named::exists(&full).then_some(full);
    }
    let folders = path.unwrap_or("/usr/local/bin:/usr/bin:/bin").split(':');
    let candidates = folders.map(|part| folder.join(if part.is_empty() { "." } else { part }).join(word));
    let mut found = candidates.filter(|full| named::is_file(full));
    found.find(|full| rustix::fs::access(full, rustix::fs::Access::EXEC_OK).is_ok())
}

/// Converts our command to one of the standard library.
pub fn native(command: &Command, around: &Surroundings) -> Result<std::process::Command, NoStart> {
    let first = command.words.first().filter(|word| !word.is_empty()).ok_or(NoStart::Empty)?;
    if !named::is_folder(&command.folder) {
        return Err(NoStart::NoFolder(command.folder.clone()));
    }
    let own = |name: &str| command.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let path = own("PATH").or_else(|| around.env.get("PATH").map(String::as_str));
    let mut native = if command.shell {
        let mut shell = purlin_host::process::command("/bin/sh");
        shell.arg("-c").arg(command.words.join(" "));
        shell
    } else {
        // Found here rather than by the system: the message can name it, and the child need not search.
        let program = find_program(first, &command.folder, path).ok_or_else(|| NoStart::Missing(first.clone()))?;
        let mut native = purlin_host::process::command(program);
        native.arg0(first).args(command.words.get(1..).unwrap_or_default());
        native
    };
    native.current_dir(&command.folder).env_clear().envs(&around.env);
    native.envs(command.env.iter().map(|(key, value)| (key, value)));
    Ok(native)
}

/// How a process is supervised.
pub struct Watch<'a> {
    /// Its time limit.
    pub timeout: Option<Duration>,
    /// The request to stop.
    pub stop: &'a Stop,
    /// The mark of everything it starts, which is ended with it.
    pub mark: &'a str,
    /// Receives the PID.
    pub announce: &'a dyn Fn(u32),
}

/// Runs a command to its end and passes on its output.
pub fn execute(
    command: &Command,
    around: &Surroundings,
    watch: &Watch<'_>,
    output: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ended, NoStart> {
    let mut native = native(command, around)?;
    let _running = watch.stop.command();
    native.env(tree::MARK, watch.mark);
    // A group of its own: signals of the terminal reach only us, and one signal reaches the whole group.
    native.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = native.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => NoStart::Missing(command.words.first().cloned().unwrap_or_default()),
        _ => NoStart::Io(error),
    })?;
    (watch.announce)(child.id());
    let pipes = [
        child.stdout.take().map(|pipe| (Stream::Out, File::from(OwnedFd::from(pipe)))),
        child.stderr.take().map(|pipe| (Stream::Err, File::from(OwnedFd::from(pipe)))),
    ];
    let mut running = Running {
        pipes: pipes.into_iter().flatten().collect(),
        ended: tree::watch_process(&child),
        buffer: vec![0; 64 << 10],
        started: Instant::now(),
        ending: None,
        family: BTreeSet::new(),
        exit: None,
        child,
    };
    let ended = running.attend(watch, output);
    ended.map_err(NoStart::Io)
}

/// Why a process is being ended, and its deadline.
#[derive(Clone, Copy)]
struct Ending {
    why: Ended,
    hard_at: Instant,
    is_hard: bool,
}

struct Running {
    child: Child,
    pipes: Vec<(Stream, File)>,
    /// Becomes readable when the process ends.
    ended: Option<OwnedFd>,
    buffer: Vec<u8>,
    started: Instant,
    ending: Option<Ending>,
    /// Its descendants at the time it was asked to end: after its end they can no longer be found.
    family: BTreeSet<tree::Known>,
    exit: Option<(std::process::ExitStatus, Instant)>,
}

impl Running {
    fn attend(&mut self, watch: &Watch<'_>, output: &mut dyn FnMut(Stream, &[u8])) -> io::Result<Ended> {
        loop {
            let now = Instant::now();
            self.look_at_clock(watch, now);
            if let Some((status, at)) = self.exit
                && (self.pipes.is_empty() || now >= at + LONGEST_AFTERGLOW)
            {
                return Ok(self.verdict(status, watch));
            }
            let ready = self.wait(watch, now)?;
            // Output from before the end is in the pipe by now, so silence means that nothing is left.
            if let Some((status, at)) = self.exit
                && ready.is_empty()
                && now >= at + AFTERGLOW
            {
                return Ok(self.verdict(status, watch));
            }
            for stream in ready {
                self.read(stream, output);
            }
            if self.exit.is_none()
                && let Some(status) = self.child.try_wait()?
            {
                self.exit = Some((status, Instant::now()));
            }
        }
    }

    /// Sleeps until something happens; returns the pipes that are readable.
    fn wait(&self, watch: &Watch<'_>, now: Instant) -> io::Result<Vec<Stream>> {
        let mut fds: Vec<PollFd<'_>> =
            self.pipes.iter().map(|(_, pipe)| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
        let pipes = fds.len();
        let others: [Option<BorrowedFd<'_>>; 2] =
            [self.ended.as_ref().filter(|_| self.exit.is_none()).map(AsFd::as_fd), watch.stop.next()];
        fds.extend(others.into_iter().flatten().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let until = self.next_moment(watch);
        let timeout = until.map(|until| until.saturating_duration_since(now));
        let timeout = match (timeout, &self.ended) {
            (timeout, None) => Some(timeout.unwrap_or(TICK).min(TICK)),
            (timeout, _) => timeout,
        };
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout + Duration::from_millis(1)).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let ready = fds.iter().take(pipes).zip(&self.pipes).filter(|(fd, _)| is_ready(fd));
        Ok(ready.map(|(_, (stream, _))| *stream).collect())
    }

    /// The next time at which something is due even without events.
    fn next_moment(&self, watch: &Watch<'_>) -> Option<Instant> {
        if let Some((_, at)) = self.exit {
            return Some(at + AFTERGLOW);
        }
        match self.ending {
            Some(ending) if !ending.is_hard => Some(ending.hard_at),
            Some(_) => Some(Instant::now() + TICK),
            None => watch.timeout.map(|timeout| self.started + timeout),
        }
    }

    /// Ends a process that took too long or was asked to stop.
    fn look_at_clock(&mut self, watch: &Watch<'_>, now: Instant) {
        if self.exit.is_some() {
            return;
        }
        let level = watch.stop.level();
        if self.ending.is_none() {
            let timed_out = watch.timeout.is_some_and(|timeout| now >= self.started + timeout);
            let (why, grace) = match (timed_out, level) {
                (true, _) => (Ended::TimedOut, GRACE_AFTER_TIMEOUT),
                (false, Level::Going) => return,
                (false, _) => (Ended::Stopped, GRACE),
            };
            if let Some(known) = tree::Known::now(self.child.id()) {
                self.family = tree::with_descendants(&[known].into());
            }
            tree::signal_group(&self.child, Signal::TERM);
            self.ending = Some(Ending { why, hard_at: now + grace, is_hard: false });
        }
        if let Some(ending) = &mut self.ending
            && !ending.is_hard
            && (now >= ending.hard_at || level == Level::Now)
        {
            ending.is_hard = true;
            tree::end_all(&self.family);
            tree::signal_group(&self.child, Signal::KILL);
            tree::end_marked(watch.mark);
        }
    }

    /// Reads from a pipe; one that has ended is dropped.
    fn read(&mut self, stream: Stream, output: &mut dyn FnMut(Stream, &[u8])) {
        let Some((_, pipe)) = self.pipes.iter_mut().find(|(own, _)| *own == stream) else { return };
        match pipe.read(&mut self.buffer) {
            Ok(count) if count > 0 => output(stream, self.buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.pipes.retain(|(own, _)| *own != stream),
        }
    }

    fn verdict(&self, status: std::process::ExitStatus, watch: &Watch<'_>) -> Ended {
        if let Some(ending) = self.ending {
            // The process has ended; its descendants may have ignored the signal.
            tree::end_all(&self.family);
            tree::signal_group(&self.child, Signal::KILL);
            tree::end_marked(watch.mark);
            return ending.why;
        }
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        }
    }
}
