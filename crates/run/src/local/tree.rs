//! Ends whole process trees: by group, by a mark in their environment that survives `setsid`, and by descent, which
//! also finds processes with a cleared environment.

use purlin_host::named;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Child;

/// The environment variable that marks everything an action starts.
pub const MARK: &str = "PURLIN_ACTION_MARK";

/// A file descriptor that becomes readable when a process ends, where the system has one.
#[cfg(target_os = "linux")]
pub fn watch_process(child: &Child) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid_of(child.id())?, rustix::process::PidfdFlags::empty()).ok()
}

/// Other systems are polled.
#[cfg(not(target_os = "linux"))]
pub fn watch_process(_child: &Child) -> Option<OwnedFd> {
    None
}

/// A process by its PID.
pub fn pid_of(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Sends a signal to the group that a process leads.
pub fn signal_group(child: &Child, signal: Signal) {
    if let Some(pid) = pid_of(child.id()) {
        // A group that has ended is the goal.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// Ends every process whose environment has a mark, with a signal that cannot be ignored.
pub fn end_marked(mark: &str) {
    // Processes that start meanwhile are found by looking again.
    for _ in 0..5 {
        let found = marked(&[mark.to_owned()]);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

/// A process and its start time: its PID alone may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Known {
    pid: u32,
    since: u64,
}

impl Known {
    /// A process as it is now.
    pub fn now(pid: u32) -> Option<Known> {
        look(pid).map(|(_, since)| Known { pid, since })
    }

    /// Sends it a signal, if it is still the same.
    fn signal(self, signal: Signal) {
        if let Some(pid) = pid_of(self.pid).filter(|_| Known::now(self.pid) == Some(self)) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

impl Known {
    /// Sends a signal to the group that it leads, if it is still the same.
    pub fn signal_group(self, signal: Signal) {
        if let Some(pid) = pid_of(self.pid).filter(|_| Known::now(self.pid) == Some(self)) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

/// The parent of a process, and its start time; `None` if it has ended.
fn look(pid: u32) -> Option<(u32, u64)> {
    let stat = named::read_text(Path::new(&format!("/proc/{pid}/stat")), named::LARGEST).ok()?;
    // The name is in parentheses and may contain any characters.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if *fields.first()? == "Z" {
        return None;
    }
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// The start time of a process; a zombie counts as gone.
pub fn start_time(pid: u32) -> Option<u64> {
    look(pid).map(|(_, since)| since)
}

/// Some processes and all their descendants, as far as they are running.
pub fn with_descendants(roots: &BTreeSet<Known>) -> BTreeSet<Known> {
    let mut children: BTreeMap<u32, Vec<Known>> = BTreeMap::new();
    for pid in numbers() {
        if let Some((parent, since)) = look(pid) {
            children.entry(parent).or_default().push(Known { pid, since });
        }
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<Known> = roots.iter().copied().filter(|known| Known::now(known.pid) == Some(*known)).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(children.get(&next.pid).into_iter().flatten().filter(|child| child.since >= next.since));
        }
    }
    found
}

/// Ends processes and all their descendants. They are stopped first, so that none starts another one meanwhile.
pub fn end_all(roots: &BTreeSet<Known>) {
    let mut found = with_descendants(roots);
    for _ in 0..5 {
        found.iter().for_each(|known| known.signal(Signal::STOP));
        let more = with_descendants(&found);
        if more.is_subset(&found) {
            break;
        }
        found.extend(more);
    }
    found.iter().for_each(|known| known.signal(Signal::KILL));
}

fn numbers() -> Vec<u32> {
    let Ok(entries) = named::list(Path::new("/proc")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The processes whose environment contains one of the marks.
pub fn marked(marks: &[String]) -> Vec<Pid> {
    let needles: Vec<Vec<u8>> = marks.iter().map(|mark| format!("{MARK}={mark}").into_bytes()).collect();
    let own = std::process::id();
    let is_marked = |number: &u32| {
        let Ok(environ) = named::read(Path::new(&format!("/proc/{number}/environ")), named::LARGEST) else {
            return false;
        };
        environ.split(|byte| *byte == 0).any(|entry| needles.iter().any(|needle| entry == needle.as_slice()))
    };
    numbers().into_iter().filter(|number| *number != own).filter(is_marked).filter_map(pid_of).collect()
}
