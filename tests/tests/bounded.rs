//! Runs the programs of `bounded` one by one under a memory limit: each must end with an answer, or with exit code 3 if
//! it exceeds a limit.
//!
//! The test starts itself again as `purlin`. `PURLIN=PATH` uses another program instead, and `FIGURES=1` prints the
//! cost of each run; with `STRICT=1`, for a release build on a quiet machine, a run that takes more than a second or
//! 256 MiB fails. Inputs of `tests/bounded-slow.txt` take long in a program built for tests and run only with `PURLIN`.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use libtest_mimic::{Arguments, Failed, Trial};
use purlin_suite::bounded::{Ends, Input, inputs};
use purlin_suite::{Scratch, as_program, environment, top};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Maximum address space of a run, in KiB.
const MOST_MEMORY: u64 = 1_000_000;
/// Maximum processor time of a run, in seconds, so that a hanging run does not block the tests. Test builds are many
/// times slower than release builds; `PATIENCE=N` sets a lower limit.
const PATIENCE: &str = "120";
/// With `STRICT=1`, maximum processor time of a run, in hundredths of a second.
const MOST_TICKS: u64 = 100;
/// With `STRICT=1`, maximum memory of a run, in KiB.
const MOST_RESIDENT: u64 = 256 * 1024;
/// Tells this process to run as `purlin`.
const AS_PURLIN: &str = "as-purlin";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(AS_PURLIN) {
        return as_program(words.collect(), &mut std::io::sink());
    }
    let mut arguments = Arguments::from_args();
    // Parallel runs would disturb each other's measurements.
    arguments.test_threads = Some(1);
    let limited = can_limit();
    if !limited {
        eprintln!("no memory limit can be set here (`ulimit -v`): inputs run without one");
    }
    let list = |path: &str| std::fs::read_to_string(top().join(path)).unwrap_or_default();
    let slow = list("tests/bounded-slow.txt");
    let is_quick = std::env::var_os("PURLIN").is_some();
    let trials = inputs().into_iter().map(|input| {
        let left_out = !is_quick && slow.lines().any(|name| name == input.name);
        Trial::test(input.name.clone(), move || run(&input, limited)).with_ignored_flag(left_out)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn can_limit() -> bool {
    let probe = Command::new("sh").args(["-c", &format!("ulimit -v {MOST_MEMORY}")]).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

fn run(input: &Input, limited: bool) -> Result<(), Failed> {
    let scratch = Scratch::new(&input.name)?;
    for (path, content) in &input.files {
        let path = scratch.path().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, content)?;
    }
    let mut command = Command::new("sh");
    let patience = std::env::var("PATIENCE").unwrap_or_else(|_| PATIENCE.to_owned());
    let limit = if limited { format!("ulimit -v {MOST_MEMORY} && ulimit -t {patience} && ") } else { String::new() };
    command.args(["-c", &format!("{limit}exec \"$0\" \"$@\"")]);
    match std::env::var_os("PURLIN") {
        Some(program) => command.arg(program),
        None => command.arg(std::env::current_exe()?).arg(AS_PURLIN),
    };
    command.args(&input.args).current_dir(scratch.path());
    command.env_clear().envs(environment("")).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(std::fs::File::create(scratch.path().join(".stderr"))?);
    let mut child = command.spawn()?;
    let figures = watched(child.id());
    let status = child.wait()?;
    let said = std::fs::read(scratch.path().join(".stderr")).unwrap_or_default();
    let said: String = String::from_utf8_lossy(&said).chars().take(600).collect();
    if std::env::var_os("FIGURES").is_some() {
        let first = said.lines().next().unwrap_or_default();
        let (ticks, memory) = figures.unwrap_or_default();
        println!("FIGURES {:?} {ticks}0 ms {memory} KiB {} {first}", status.code(), input.name);
    }
    let is_strict = std::env::var_os("STRICT").is_some();
    let expected = match input.ends {
        Ends::Limit => status.code() == Some(3),
        Ends::Fine => status.code() == Some(0),
        Ends::Answered => matches!(status.code(), Some(0..=3)),
    };
    if expected {
        return if is_strict { within(figures) } else { Ok(()) };
    }
    Err(format!("expected {:?}, ended with {status}\n{said}", input.ends).into())
}

/// Whether a run stayed within its limits.
fn within(figures: Option<(u64, u64)>) -> Result<(), Failed> {
    match figures {
        Some((ticks, memory)) if ticks > MOST_TICKS || memory > MOST_RESIDENT => {
            Err(format!("took {ticks}0 ms and {memory} KiB").into())
        }
        _ => Ok(()),
    }
}

/// Waits until a process has ended, and returns its processor time in ticks and its memory in KiB.
fn watched(pid: u32) -> Option<(u64, u64)> {
    let mut memory = 0;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let held = line("VmHWM:").and_then(|text| text.split_whitespace().next()?.parse().ok());
        memory = held.unwrap_or(memory);
        if line("State:").is_none_or(|state| state.starts_with('Z')) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Some((ticks(11) + ticks(12), memory))
}
