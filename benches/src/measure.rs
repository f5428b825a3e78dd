//! Clocks, counters and rows of the table.

use purlin_cli::Invocation;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::{Duration, Instant};

/// One row of the table.
pub(crate) struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    remark: String,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, figure: f64, unit: &'static str) -> Self {
        Row { what: what.into(), figure, unit, remark: String::new() }
    }

    pub(crate) fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = remark.into();
        self
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:<44} {:>14.3} {:>10}  {}", self.what, self.figure, self.unit, self.remark)
    }
}

/// The shortest of several runs: the least disturbed.
pub(crate) fn shortest(rounds: usize, mut work: impl FnMut()) -> Duration {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds.max(1)).map(|_| once(&mut work)).min().unwrap_or_default()
}

/// The median of several runs.
pub(crate) fn median(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut all: Vec<Duration> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Wall and processor time of a command in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub wall: f64,
    pub cpu: f64,
}

impl Timed {
    /// The processor time as a row; other work may run at the same time, which wall time would show.
    pub(crate) fn row(self, what: String) -> Row {
        Row::new(what, self.cpu, "ms").remark(format!("processor time; wall {:.0} ms", self.wall))
    }
}

/// The processor time of this process in milliseconds.
fn processor_time() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 * 1e3 + spent.tv_nsec as f64 / 1e6
}

/// Runs the program in this process; of several rounds the least of each.
pub(crate) fn timed(folder: &Path, args: &[&str], rounds: usize) -> Timed {
    let mut best = Timed { wall: f64::MAX, cpu: f64::MAX };
    for _ in 0..rounds.max(1) {
        let (start, before) = (Instant::now(), processor_time());
        run_in(folder, args);
        best.wall = best.wall.min(ms(start.elapsed()));
        best.cpu = best.cpu.min(processor_time() - before);
    }
    best
}

/// Writes a file, and the folders it is in.
pub(crate) fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

/// An invocation of the program in a folder, without environment and input.
pub(crate) fn typed<'a>(
    folder: &Path,
    args: &[&str],
    stdout: &'a mut Vec<u8>,
    stderr: &'a mut Vec<u8>,
) -> Invocation<'a> {
    Invocation {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: folder.to_owned(),
        env: std::collections::BTreeMap::new(),
        stdin: None,
        stdout,
        stderr,
        terminal: false,
        project_env: std::collections::BTreeMap::default(),
        given: None,
        last: false,
        veil: purlin_cli::Veil::default(),
    }
}

/// Runs the program and returns the length of its output.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> usize {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    purlin_cli::run(typed(folder, args, &mut stdout, &mut stderr));
    stdout.len()
}
