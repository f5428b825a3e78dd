//! Runs the recorded behaviour of the original tools against Purlin.
//!
//! A suite is a folder of inputs with the real tool's answers. Suites register by name in [`suites`]; this file has the
//! shared parts: cases, verdicts, deviations and totals. Recorded answers are never used to produce ours.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

pub mod deviations;
pub mod ratchet;
pub mod report;
pub mod scratch;
pub mod suites;
pub mod wrapped;

pub use deviations::{Deviation, Deviations};
pub use report::{Report, Verdict};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The settings of a suite run.
pub struct Context {
    /// The suite's folder.
    pub folder: PathBuf,
    /// Only cases whose id contains this.
    pub filter: Option<String>,
    /// Intentional differences.
    pub deviations: Deviations,
    /// Threads to use.
    pub threads: usize,
}

impl Context {
    /// Whether a case is selected.
    pub fn wants(&self, id: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| id.contains(filter))
    }

    /// The text of a file of the suite, if it exists.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.folder.join(path)).ok()
    }

    /// The lines of a JSONL file of the suite that hold a JSON object.
    pub fn json_lines(&self, path: impl AsRef<Path>) -> Vec<serde_json::Value> {
        let text = self.text(path).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Judges one case: it passes if our answer agrees with the recorded one, or equals the stated deviation.
    pub fn judge(&self, id: &str, agrees: bool, ours: &str, difference: impl FnOnce() -> String) -> Verdict {
        match (agrees, self.deviations.get(id)) {
            (true, None) => Verdict::Passed,
            (true, Some(_)) => Verdict::Failed("a deviation is stated, but we agree with the original".to_owned()),
            (false, Some(deviation)) if deviation.answer.trim() == ours.trim() => Verdict::Deviates,
            (false, Some(deviation)) => Verdict::Failed(format!(
                "a deviation is stated with another answer\n  stated: {}\n  ours:   {ours}",
                deviation.answer
            )),
            (false, None) => Verdict::Failed(difference()),
        }
    }

    /// Runs cases on all threads and returns their verdicts in order.
    pub fn run_cases<C: Sync>(
        &self,
        cases: &[C],
        id: impl Fn(&C) -> String + Sync,
        run: impl Fn(&C) -> Verdict + Sync,
    ) -> Report {
        let wanted: Vec<&C> = cases.iter().filter(|case| self.wants(&id(case))).collect();
        let one = |index: usize| wanted.get(index).map(|case| (id(case), run(case)));
        let verdicts = in_parallel(self.threads, wanted.len(), one);
        Report { cases: verdicts.into_iter().flatten().collect(), notes: Vec::new() }
    }
}

/// For fewer pieces of work a thread costs more than it saves.
const WORTH_A_THREAD: usize = 16;

/// Runs `work` for every index, on several threads if worthwhile, and returns the results in order.
pub(crate) fn in_parallel<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count / WORTH_A_THREAD + 1);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut mine = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    mine.push((index, work(index)));
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The output and exit code of the program.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: String,
}

/// Runs `purlin ARGS` in process.
pub fn purlin(args: &[String], cwd: &Path, env: &[(String, String)]) -> Ran {
    purlin_reading(args, cwd, env, &[])
}

/// Runs `purlin ARGS` in process with standard input.
pub fn purlin_reading(args: &[String], cwd: &Path, env: &[(String, String)], mut stdin: &[u8]) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = purlin_cli::run(purlin_cli::Invocation {
        args: args.to_vec(),
        cwd: cwd.to_owned(),
        env: env.iter().cloned().collect(),
        project_env: std::collections::BTreeMap::new(),
        stdin: Some(&mut stdin),
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
        given: None,
        last: false,
        veil: purlin_cli::Veil::default(),
    });
    Ran { code, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

/// A folder as the program would open it with no options: a run over it, and its path from the world's root.
pub fn open(folder: &Path) -> Option<(purlin_value::Session, String)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut invocation = purlin_cli::Invocation {
        args: Vec::new(),
        cwd: folder.to_owned(),
        env: std::collections::BTreeMap::new(),
        project_env: std::collections::BTreeMap::new(),
        stdin: None,
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
        given: None,
        last: false,
        veil: purlin_cli::Veil::default(),
    };
    let mut setup = purlin_cli::Setup::of(folder);
    setup.root = Some(folder.to_owned());
    purlin_cli::open_session(&mut invocation, &setup).ok()
}

/// One suite: its folder name, and its function.
pub struct Suite {
    /// The folder's name.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&Context) -> Report,
}

/// The suite of a folder, by the folder's name.
pub fn suite_of(folder: &Path) -> Option<&'static Suite> {
    let name = folder.file_name()?.to_str()?;
    suites::SUITES.iter().find(|suite| suite.name == name)
}

/// Runs the suite of a folder.
pub fn run_suite(folder: &Path, filter: Option<String>) -> Option<(&'static Suite, Report)> {
    let suite = suite_of(folder)?;
    let deviations = Deviations::load(suite.name);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let context = Context { folder: folder.to_owned(), filter, deviations, threads };
    let report = (suite.run)(&context);
    Some((suite, report))
}
