//! Mutates inputs and calls a target with them, for a limited time.
//!
//! A panic is caught, its input shrunk and kept. A stack overflow ends the process, and the supervisor finds the input
//! in a file. An input that takes very long is kept too, and ends the process.

use crate::arguments::Arguments;
use crate::corpus::{Corpus, files_below};
use crate::findings::Findings;
use crate::mutate::Mutator;
use crate::shrink::shrink;
use crate::targets::Target;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The stack that the program gives to evaluation.
const STACK: usize = 256 << 20;

/// A slower input is reported.
const SLOW: Duration = Duration::from_millis(500);

/// An input that takes longer counts as one that never ends.
const NEVER: Duration = Duration::from_secs(30);

/// The exit code of a worker that was stopped by such an input.
pub const HUNG: i32 = 97;

/// The location and message of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Works on the first target that was named.
pub fn run(arguments: &Arguments) -> i32 {
    let Some(target) = arguments.targets.first().copied() else { return 2 };
    let arguments = arguments.clone();
    on_stack(move || work(target, &arguments))
}

/// Calls the targets once for every file of the corpus, or with standard input.
pub fn run_once(arguments: &Arguments) -> i32 {
    let arguments = arguments.clone();
    on_stack(move || {
        for target in &arguments.targets {
            for file in arguments.corpus.iter().flat_map(|folder| only_inputs(folder)) {
                let input = std::fs::read(&file).unwrap_or_default();
                let start = Instant::now();
                (target.run)(&input);
                println!("{} {} in {:?}", target.name, file.display(), start.elapsed());
            }
        }
        0
    })
}

fn only_inputs(path: &Path) -> Vec<std::path::PathBuf> {
    if path.is_file() { vec![path.to_owned()] } else { files_below(path) }
}

fn on_stack(work: impl FnOnce() -> i32 + Send + 'static) -> i32 {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.ok().and_then(|thread| thread.join().ok()).unwrap_or(101)
}

struct Watch {
    begun: Instant,
    /// Start time of the current input in milliseconds plus one; 0 between inputs.
    since: AtomicU64,
}

fn work(target: &'static Target, arguments: &Arguments) -> i32 {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let message = info.payload().downcast_ref::<&str>().copied().unwrap_or("").to_owned();
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{place}: {message}");
    }));
    let mut findings = Findings::new(&arguments.findings);
    let current = findings.current(target.name);
    let Ok(mut note) = File::create(&current) else {
        eprintln!("cannot write {}", current.display());
        return 2;
    };
    let watch = Arc::new(Watch { begun: Instant::now(), since: AtomicU64::new(0) });
    guard(watch.clone());

    let mut corpus = Corpus::new(target, arguments.corpus.as_deref());
    let mut mutator = Mutator::new(arguments.seed, target.words);
    let mut tally = Tally::default();
    let first: Vec<Vec<u8>> = corpus.all().to_vec();
    let mut first = first.into_iter();
    while watch.begun.elapsed() < Duration::from_secs(arguments.seconds) {
        let input = first.next().unwrap_or_else(|| next_input(&mut mutator, &corpus));
        remember(&mut note, &input);
        match timed(target, &input, &watch) {
            (Ok(signature), mut time) => {
                // A busy machine makes any input slow; only a repeatedly slow one counts.
                if time > SLOW {
                    time = time.min(timed(target, &input, &watch).1);
                }
                corpus.consider(&input, signature, mutator.random());
                tally.took(time, &input, target, &mut findings);
            }
            (Err(what), _) => {
                tally.panics += 1;
                if findings.is_new(place_of(&what)) {
                    let mut fails =
                        |smaller: &[u8]| call(target, smaller).is_err_and(|w| place_of(&w) == place_of(&what));
                    let smaller = shrink(&input, &mut fails);
                    let kept = findings.keep(target.name, &format!("panic at {what}"), &smaller);
                    println!("panic {} {what} ({})", target.name, kept.display());
                }
            }
        }
    }
    let _ = std::fs::remove_file(&current);
    tally.tell(target, &corpus, watch.begun.elapsed());
    0
}

fn next_input(mutator: &mut Mutator<'_>, corpus: &Corpus) -> Vec<u8> {
    let input = corpus.pick(mutator.random()).to_vec();
    let other = corpus.pick(mutator.random()).to_vec();
    mutator.change(&input, &other)
}

/// Records the input before it is tried; a process that dies cannot do so any more.
fn remember(note: &mut File, input: &[u8]) {
    let written = note.seek(SeekFrom::Start(0)).and_then(|_| note.write_all(input));
    let _ = written.and_then(|()| note.set_len(input.len() as u64));
}

fn call(target: &Target, input: &[u8]) -> Result<u64, String> {
    let told = || LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| told())
}

fn timed(target: &Target, input: &[u8], watch: &Watch) -> (Result<u64, String>, Duration) {
    let start = Instant::now();
    watch.since.store(watch.begun.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    let result = call(target, input);
    watch.since.store(0, Ordering::Relaxed);
    (result, start.elapsed())
}

/// Ends the process when an input does not end.
fn guard(watch: Arc<Watch>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(250));
            let since = watch.since.load(Ordering::Relaxed);
            if since > 0 && watch.begun.elapsed().saturating_sub(Duration::from_millis(since)) > NEVER {
                std::process::exit(HUNG);
            }
        }
    });
}

/// The file and line of a panic, without its message.
fn place_of(what: &str) -> &str {
    what.split(": ").next().unwrap_or(what)
}

/// Totals so far.
#[derive(Default)]
struct Tally {
    runs: u64,
    bytes: u64,
    panics: u64,
    slow: u64,
    slowest: Duration,
}

impl Tally {
    fn took(&mut self, time: Duration, input: &[u8], target: &Target, findings: &mut Findings) {
        self.runs += 1;
        self.bytes += input.len() as u64;
        if time > self.slowest {
            self.slowest = time;
            if time > SLOW {
                findings.keep(target.name, &format!("slow: {time:?}"), input);
            }
        }
        self.slow += u64::from(time > SLOW);
    }

    fn tell(&self, target: &Target, corpus: &Corpus, time: Duration) {
        println!(
            "{:<18} {} runs in {} s ({:.0}/s, {} MB), {} kinds of outcome, {} inputs kept, {} panics, {} slow, slowest {:?}",
            target.name,
            self.runs,
            time.as_secs(),
            self.runs as f64 / time.as_secs_f64().max(0.001),
            self.bytes / 1_000_000,
            corpus.kinds(),
            corpus.len(),
            self.panics,
            self.slow,
            self.slowest
        );
    }
}
