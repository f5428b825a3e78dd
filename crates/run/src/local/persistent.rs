//! Processes that outlive the run that started them: found again by PID and start time, ended with all their
//! descendants.
//!
//! A process is ended only if a note with our seal names it, and it is still the same process: PIDs are reused, and a
//! repository can bring any note.

use super::process::{NoStart, Surroundings, find_program, native};
use super::tree::{self, pid_of, start_time};
use crate::action::Command;
use crate::store::{Log, Note};
use purlin_host::named;
use rustix::process::{Signal, kill_process_group, test_kill_process};
use serde_json::json;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Time limit for a process to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// A process that was started earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its PID.
    pub pid: u32,
    /// Its start time, in the system's units; PIDs are reused.
    pub since: Option<u64>,
    /// The system's boot id; start times count from boot.
    pub boot: Option<String>,
    /// The version it was started for.
    pub version: String,
    /// Marks everything it has started; notes of earlier versions have none.
    pub mark: Option<String>,
}

impl Started {
    /// Reads a note, if it is valid.
    pub fn read(note: &Note) -> Option<Started> {
        let json: serde_json::Value = serde_json::from_str(&note.read()?).ok()?;
        let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        Some(Started {
            // PID 1 is the system's init process, and -1 as a group means every process.
            pid: u32::try_from(json.get("pid")?.as_u64()?).ok().filter(|pid| *pid > 1)?,
            since: json.get("since").and_then(serde_json::Value::as_u64),
            boot: text("boot"),
            version: text("version")?,
            mark: text("mark"),
        })
    }

    fn write(&self, note: &Note) -> io::Result<()> {
        let Started { pid, since, boot, version, mark } = self;
        note.write(&json!({ "pid": pid, "since": since, "boot": boot, "version": version, "mark": mark }).to_string())
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        let Some(pid) = pid_of(self.pid) else { return false };
        if self.boot != boot() {
            return false;
        }
        match (self.since, start_time(self.pid)) {
            (Some(then), Some(now)) => then == now,
            // It had a start time, so the system reports them; now there is none.
            (Some(_), None) => false,
            (None, _) => test_kill_process(pid).is_ok(),
        }
    }

    /// Ends it and everything it has started: first with a request, then by force. Its descendants are ended even if it
    /// has ended itself before.
    pub fn end(&self) {
        if let Some(pid) = pid_of(self.pid).filter(|_| self.is_alive()) {
            // Processes that left its group are found by descent, as long as it runs.
            let family = tree::Known::now(self.pid).map(|known| tree::with_descendants(&[known].into()));
            let _ = kill_process_group(pid, Signal::TERM);
            let deadline = Instant::now() + GRACE;
            while self.is_alive() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            if self.is_alive() {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            tree::end_all(&family.unwrap_or_default());
        }
        if let Some(mark) = self.mark.as_ref().filter(|_| self.boot == boot()) {
            tree::end_marked(mark);
        }
    }
}

/// The system's boot id; `None` where it has none.
fn boot() -> Option<String> {
    Some(named::read_text(std::path::Path::new("/proc/sys/kernel/random/boot_id"), 100).ok()?.trim().to_owned())
}

/// The log and the note of a process that outlives us.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// Receives its output; only the user may read it.
    pub log: &'p Log,
    /// Identifies the process to later runs.
    pub note: &'p Note,
    /// The version it is started for.
    pub version: &'p str,
}

/// Starts a process that outlives us; `mark` marks it and everything it starts.
pub fn start(
    command: &Command,
    around: &Surroundings,
    mark: &str,
    place: Place<'_>,
) -> Result<(Started, std::process::Child), NoStart> {
    let Place { log, note, version } = place;
    let out = log.create().map_err(NoStart::Io)?;
    let err = out.try_clone().map_err(NoStart::Io)?;
    let mut plain = native(command, around)?;
    plain.env(tree::MARK, mark);
    // A session of its own, so that closing the terminal does not end it.
    let path = around.env.get("PATH").map(String::as_str);
    let mut detached = match find_program("setsid", &command.folder, path) {
        Some(setsid) => {
            let mut outer = purlin_host::process::command(setsid);
            outer.arg(plain.get_program()).args(plain.get_args()).current_dir(&command.folder).env_clear();
            outer.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
            outer
        }
        None => {
            let mut own = plain;
            own.process_group(0);
            own
        }
    };
    let child = detached.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(NoStart::Io)?;
    let (since, mark) = (start_time(child.id()), Some(mark.to_owned()));
    let started = Started { pid: child.id(), since, boot: boot(), version: version.to_owned(), mark };
    if let Err(error) = started.write(note) {
        // Later runs could not find it.
        started.end();
        return Err(NoStart::Io(error));
    }
    Ok((started, child))
}
