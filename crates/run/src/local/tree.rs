//! Ends whole trees of processes: by group, and by a mark in their environment that no `setsid` takes off.

use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal};
use std::process::Child;

/// The environment variable that marks everything an action starts.
pub const MARK: &str = "PURLIN_ACTION_MARK";

/// Something that becomes readable when a process ends, where the system has it.
#[cfg(target_os = "linux")]
pub fn watch_process(child: &Child) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid_of(child.id())?, rustix::process::PidfdFlags::empty()).ok()
}

/// Other systems are asked again and again.
#[cfg(not(target_os = "linux"))]
pub fn watch_process(_child: &Child) -> Option<OwnedFd> {
    None
}

/// A process by its number.
pub fn pid_of(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Sends a signal to the group that a process leads.
pub fn signal_group(child: &Child, signal: Signal) {
    if let Some(pid) = pid_of(child.id()) {
        // A group that has ended is what we want.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// Ends every process whose environment has a mark, with a signal that cannot be ignored.
pub fn end_marked(mark: &str) {
    // What is being started while we look is found by looking again.
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

/// The processes whose environment has one of some marks.
pub fn marked(marks: &[String]) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let needles: Vec<Vec<u8>> = marks.iter().map(|mark| format!("{MARK}={mark}").into_bytes()).collect();
    let own = std::process::id();
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_marked = |number: &u32| {
        let Ok(environ) = std::fs::read(format!("/proc/{number}/environ")) else { return false };
        environ.split(|byte| *byte == 0).any(|entry| needles.iter().any(|needle| entry == needle.as_slice()))
    };
    numbers.filter(|number| *number != own).filter(is_marked).filter_map(pid_of).collect()
}
