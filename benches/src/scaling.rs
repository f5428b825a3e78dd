//! How much of a command can run on several threads: wall time on one and on two, and the share that only one thread
//! can do, in instructions, from which the speed-up on any number of processors follows.
//!
//! The share comes from callgrind, which counts each thread by itself. The thread that the command runs on works on
//! projects like the others, so what it does beyond the mean of the others is what it does alone. That some threads wait
//! for the last project of a round is not in it.

use crate::Options;
use crate::count::{program, valgrind};
use crate::measure::{Row, timed};
use crate::{garden, repository, tosca};
use std::path::Path;

/// A project and a command that works on it.
struct Case {
    name: &'static str,
    write: repository::Write,
    size: usize,
    args: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case { name: "117 charts", write: repository::charts, size: 117, args: &["check"] },
    Case { name: "6 kinds, 20 of each", write: repository::mixed, size: 20, args: &["check"] },
    Case { name: "garden, 2,000 actions", write: garden::actions, size: 2_000, args: &["check"] },
    Case { name: "tosca, 2,000 nodes", write: tosca::write, size: 2_000, args: &["check", "service.yaml"] },
];

/// Threads of the run that is counted.
const THREADS: usize = 8;

/// Processors for which a speed-up is computed.
const PROCESSORS: f64 = 16.0;

/// Instructions of one run: all, and those that one thread must do.
struct Shares {
    all: u64,
    serial: f64,
}

impl Shares {
    /// From the counts of all threads. Beside the workers there are the thread of the process, which waits, and the one
    /// that the command runs on.
    fn of(mut threads: Vec<u64>) -> Self {
        let all: u64 = threads.iter().sum();
        let workers: u64 = threads.split_off(threads.len().min(2)).iter().sum();
        let at_once = workers as f64 * THREADS as f64 / (THREADS - 1) as f64;
        Shares { all, serial: (all as f64 - at_once).max(0.0) }
    }
}

fn counted(folder: &Path, case: &Case) -> Result<Shares, String> {
    let out = folder.with_extension("callgrind");
    std::fs::create_dir_all(&out).map_err(|error| error.to_string())?;
    let option = format!("--callgrind-out-file={}", out.join("out").display());
    let threads = THREADS.to_string();
    let args: Vec<&str> = case.args.iter().copied().chain(["--threads", &threads]).collect();
    valgrind(&program()?, folder, &["--separate-threads=yes", "--fair-sched=yes", &option], &args)?;
    let mut counts = Vec::new();
    for thread in 1.. {
        let Ok(text) = std::fs::read_to_string(out.join(format!("out-{thread:02}"))) else { break };
        let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
        counts
            .push(totals.and_then(|number| number.trim().parse().ok()).ok_or("callgrind did not say what it counted")?);
    }
    let _ = std::fs::remove_dir_all(&out);
    Ok(Shares::of(counts))
}

/// Measures all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for case in CASES {
        let name = case.name.replace([',', ' '], "-");
        let folder = std::env::temp_dir().join(format!("purlin-bench-scaling-{}", std::process::id())).join(name);
        if (case.write)(&folder, case.size * options.size).is_err() {
            continue;
        }
        let wall = |threads| timed(&folder, &[case.args, &["--threads", threads]].concat(), 3).wall;
        let (one, two) = (wall("1"), wall("2"));
        let what = format!("scaling: {}", case.name);
        rows.push(Row::new(&what, one / two, "×").remark(format!("wall {one:.0} ms on 1 thread, {two:.0} ms on 2")));
        match counted(&folder, case) {
            Ok(shares) => {
                let share = shares.serial / shares.all as f64;
                let most = 1.0 / (share + (1.0 - share) / PROCESSORS);
                let remark = format!("of {:.0} M instructions; at most {most:.1}× on 16", shares.all as f64 / 1e6);
                rows.push(Row::new(format!("{what}, serial"), share * 100.0, "%").remark(remark));
            }
            Err(why) => eprintln!("{what}: not counted: {why}"),
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_thread_does_beyond_the_others_is_serial() {
        let alone = Shares::of(vec![10, 990]);
        assert!((alone.serial - 1_000.0).abs() < 1e-6);
        let mut threads = vec![0, 300];
        threads.extend([100; 7]);
        let shared = Shares::of(threads);
        assert_eq!(shared.all, 1_000);
        assert!((shared.serial - 200.0).abs() < 1e-6);
    }
}
