//! Starts a worker for each target and watches it; the end of a worker is a finding.

use crate::arguments::Arguments;
use crate::findings::Findings;
use crate::worker::HUNG;
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs all targets one after the other; returns 1 if there are findings.
pub fn run(arguments: &Arguments) -> i32 {
    let Ok(program) = std::env::current_exe() else { return 2 };
    let mut findings = Findings::new(&arguments.findings);
    let before = kept(arguments);
    for target in &arguments.targets {
        let start = Instant::now();
        let mut seed = arguments.seed;
        // A worker that died is replaced by another with a new seed, for the remaining time.
        while let Some(left) = Duration::from_secs(arguments.seconds).checked_sub(start.elapsed()) {
            let mut command = Command::new(&program);
            command.arg(target.name).args(["--worker", "--seed", &seed.to_string()]);
            command.args(["--seconds", &left.as_secs().max(1).to_string()]);
            command.arg("--findings").arg(&arguments.findings);
            if let Some(corpus) = &arguments.corpus {
                command.arg("--corpus").arg(corpus);
            }
            let status = match command.status() {
                Ok(status) => status,
                Err(error) => {
                    eprintln!("cannot start a worker: {error}");
                    return 2;
                }
            };
            if status.success() {
                break;
            }
            seed = seed.wrapping_add(1_000_003);
            let current = findings.current(target.name);
            let input = std::fs::read(&current).unwrap_or_default();
            let what = if status.code() == Some(HUNG) { "does not end".to_owned() } else { format!("dies: {status}") };
            let place = findings.keep(target.name, &what, &input);
            println!("{} {what} ({} bytes, {})", target.name, input.len(), place.display());
            if !findings.is_new(&format!("{} {what} {seed}", target.name)) {
                break;
            }
        }
        let _ = std::fs::remove_file(findings.current(target.name));
    }
    i32::from(kept(arguments) > before)
}

fn kept(arguments: &Arguments) -> usize {
    std::fs::read_dir(&arguments.findings).map_or(0, |entries| {
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|ending| ending == "input")).count()
    })
}
