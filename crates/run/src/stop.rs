//! A request to stop that also reaches threads in system calls: once to end gracefully, twice to end at once.

use purlin_graph::Cancel;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The urgency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No request.
    Going,
    /// Start nothing more; ask running commands to end.
    Gentle,
    /// Kill running commands.
    Now,
}

/// A pipe that becomes readable for all watchers, and stays so.
#[derive(Debug)]
struct Bell {
    heard: OwnedFd,
    rope: OwnedFd,
}

impl Bell {
    fn new() -> io::Result<Self> {
        let (heard, rope) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        Ok(Bell { heard, rope })
    }

    fn ring(&self) {
        // A pipe accepts one byte; if the write failed, the level is still seen at the next check.
        let _ = rustix::io::write(&self.rope, b"!");
    }
}

/// The request, shared by all threads of a run.
#[derive(Debug)]
pub struct Stop {
    level: AtomicU8,
    /// The signal of the first request.
    signal: AtomicU8,
    gentle: Bell,
    now: Bell,
    cancel: Cancel,
    /// Number of running commands.
    commands: AtomicUsize,
    /// Number of threads that wait for an answer from outside, which no signal reaches.
    outside: AtomicUsize,
}

/// How long an answer from outside is awaited once the run has to stop.
const PATIENCE: Duration = Duration::from_millis(800);

/// Counts something during its lifetime.
#[derive(Debug)]
pub struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Stop {
    /// A stop without a request.
    pub fn new() -> io::Result<Self> {
        Ok(Stop {
            level: AtomicU8::new(0),
            signal: AtomicU8::new(0),
            gentle: Bell::new()?,
            now: Bell::new()?,
            cancel: Cancel::new(),
            commands: AtomicUsize::new(0),
            outside: AtomicUsize::new(0),
        })
    }

    /// Requests a stop, because of a signal; a second request means now.
    pub fn ask(&self, signal: i32) {
        let number = u8::try_from(signal).unwrap_or(0);
        let _ = self.signal.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
        self.cancel.cancel();
        match self.level.fetch_add(1, Ordering::SeqCst) {
            0 => self.gentle.ring(),
            1 => self.now.ring(),
            _ => {}
        }
    }

    /// Counts a running command until dropped.
    pub fn command(&self) -> Counted<'_> {
        Counted::new(&self.commands)
    }

    /// Counts a wait for an answer from outside until dropped.
    pub fn outside(&self) -> Counted<'_> {
        Counted::new(&self.outside)
    }

    /// Whether only waits for answers from outside are left.
    fn only_waits(&self) -> bool {
        self.commands.load(Ordering::SeqCst) == 0 && self.outside.load(Ordering::SeqCst) > 0
    }

    /// Starts nothing more; running commands finish.
    pub fn start_nothing(&self) {
        self.cancel.cancel();
    }

    /// The flag for schedulers.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The urgency.
    pub fn level(&self) -> Level {
        match self.level.load(Ordering::SeqCst) {
            0 => Level::Going,
            1 => Level::Gentle,
            _ => Level::Now,
        }
    }

    /// The signal of the first request.
    pub fn signal(&self) -> Option<i32> {
        Some(i32::from(self.signal.load(Ordering::SeqCst))).filter(|signal| *signal != 0)
    }

    /// The file descriptor to watch for the next level.
    pub fn next(&self) -> Option<BorrowedFd<'_>> {
        match self.level() {
            Level::Going => Some(self.gentle.heard.as_fd()),
            Level::Gentle => Some(self.now.heard.as_fd()),
            Level::Now => None,
        }
    }
}

/// Turns signals into requests to stop, until dropped.
pub struct Signals {
    handle: signal_hook::iterator::Handle,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Signals {
    /// Listens for signals that end a program.
    pub fn listen(stop: &std::sync::Arc<Stop>) -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let stop = stop.clone();
        let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if stop.level() == Level::Going {
                    give_up_later(Arc::downgrade(&stop), signal);
                }
                stop.ask(signal);
            }
        })?;
        Ok(Signals { handle, thread: Some(thread) })
    }
}

/// Ends the program if only an unresponsive server keeps it running. Results are written before and after such waits,
/// each in one call, so nothing is lost; the next run finds what was started outside.
fn give_up_later(stop: Weak<Stop>, signal: i32) {
    let asked = Instant::now();
    let work = move || {
        while let Some(stop) = stop.upgrade() {
            if asked.elapsed() >= PATIENCE && stop.only_waits() {
                eprintln!("stopped while waiting for a server that did not answer");
                std::process::exit(128 + signal);
            }
            drop(stop);
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // Without it the wait ends with the time limit of the request.
    let _ = std::thread::Builder::new().name("give up".into()).spawn(work);
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
