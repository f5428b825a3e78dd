//! A small process that cleans up if the run it guards is killed.
//!
//! It reads the marks of actions that begin (`+MARK`) and end (`-MARK`), and the processes that were started for them
//! (`=MARK PID`), from a pipe that only the run holds. A run that ends well sends a farewell; if the pipe closes
//! without one, everything with a mark of an open action is ended, and so are its process, that process's group, and
//! all its descendants. A mark is written before its process starts, so no process can be missed.

use super::tree::{self, Known};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The argument that makes the program a guard.
pub const ARGUMENT: &str = "--guard-a-run";

/// Sent by a run before it ends.
const FAREWELL: &str = ".";

/// The guard of a run.
#[derive(Debug)]
pub struct Guard {
    pipe: Mutex<ChildStdin>,
    child: Child,
}

impl Guard {
    /// Starts one; `program` is this program.
    pub fn start(program: &Path) -> std::io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut command = purlin_host::process::command(program);
        // In a group of its own it survives signals to ours.
        command.arg(ARGUMENT).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A nested run is ended by the mark of the outer one; its guard is not, and ends the processes that the nested
        // run has started.
        command.env_remove(tree::MARK);
        let mut child = command.current_dir("/").spawn()?;
        let pipe = child.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Guard { pipe: Mutex::new(pipe), child })
    }

    fn say(&self, line: &str) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a guard everything works except cleaning up after a killed run.
        let _ = pipe.write_all(line.as_bytes());
    }

    /// An action begins.
    pub fn open(&self, mark: &str) {
        self.say(&format!("+{mark}\n"));
    }

    /// The process of an action has started.
    pub fn name(&self, mark: &str, pid: u32) {
        self.say(&format!("={mark} {pid}\n"));
    }

    /// An action has ended.
    pub fn close(&self, mark: &str) {
        self.say(&format!("-{mark}\n"));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.say(&format!("{FAREWELL}\n"));
        let _ = self.child.wait();
    }
}

/// The main loop of the guard.
pub fn watch(input: impl std::io::Read) {
    let mut open: BTreeMap<String, Option<Known>> = BTreeMap::new();
    for line in std::io::BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..)) {
            (Some("+"), Some(mark)) => {
                open.insert(mark.to_owned(), None);
            }
            (Some("="), Some(named)) => {
                if let Some((mark, pid)) = named.split_once(' ')
                    && let Some(process) = open.get_mut(mark)
                {
                    *process = pid.parse().ok().and_then(Known::now);
                }
            }
            (Some("-"), Some(mark)) => {
                open.remove(mark);
            }
            (Some(FAREWELL), _) => return,
            _ => {}
        }
    }
    let roots: BTreeSet<Known> = open.values().flatten().copied().collect();
    let family = tree::with_descendants(&roots);
    roots.iter().for_each(|root| root.signal_group(Signal::KILL));
    tree::end_all(&family);
    let marks: Vec<String> = open.into_keys().collect();
    // A process between fork and exec still has our environment: look again.
    for pause in [0, 20, 100, 300, 600] {
        std::thread::sleep(Duration::from_millis(pause));
        for pid in if marks.is_empty() { Vec::new() } else { tree::marked(&marks) } {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}
