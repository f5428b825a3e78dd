//! A request to stop that reaches whoever sleeps in a system call: once to end gracefully, twice to end at once.

use purlin_graph::Cancel;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nobody asked.
    Going,
    /// Start nothing more; ask what runs to end.
    Gentle,
    /// End what runs.
    Now,
}

/// A pipe that becomes readable for everybody who watches it, and stays so.
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
        // A pipe takes one byte; where it did not, the level is still seen at the next look.
        let _ = rustix::io::write(&self.rope, b"!");
    }
}

/// The request, shared by all threads of a run.
#[derive(Debug)]
pub struct Stop {
    level: AtomicU8,
    /// The signal that asked first.
    signal: AtomicU8,
    gentle: Bell,
    now: Bell,
    cancel: Cancel,
    /// How many commands run.
    commands: AtomicUsize,
    /// How many threads wait for an answer from outside, which no signal reaches.
    outside: AtomicUsize,
}

/// How long an answer from outside is waited for once the run is to stop.
const PATIENCE: Duration = Duration::from_millis(800);

/// Counts something as long as it lives.
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
    /// Nobody has asked yet.
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

    /// Asks, because of a signal; a second time means now.
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

    /// A command runs, as long as what is returned lives.
    pub fn command(&self) -> Counted<'_> {
        Counted::new(&self.commands)
    }

    /// An answer from outside is waited for, as long as what is returned lives.
    pub fn outside(&self) -> Counted<'_> {
        Counted::new(&self.outside)
    }

    /// Whether all that is left is to wait for an answer from outside.
    fn only_waits(&self) -> bool {
        self.commands.load(Ordering::SeqCst) == 0 && self.outside.load(Ordering::SeqCst) > 0
    }

    /// Starts nothing more, and lets what runs come to its end.
    pub fn start_nothing(&self) {
        self.cancel.cancel();
    }

    /// The flag that schedulers look at.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// How urgent it is.
    pub fn level(&self) -> Level {
        match self.level.load(Ordering::SeqCst) {
            0 => Level::Going,
            1 => Level::Gentle,
            _ => Level::Now,
        }
    }

    /// The signal that asked first.
    pub fn signal(&self) -> Option<i32> {
        Some(i32::from(self.signal.load(Ordering::SeqCst))).filter(|signal| *signal != 0)
    }

    /// What to watch for the next level.
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
    /// Listens for what ends a program.
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

/// Ends the program where nothing but a server that does not answer keeps it. Results are written before and after such
/// waits, each in one call, so nothing is lost; what was begun outside is found by the next run.
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
