//! Waits for several connections at once.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use std::io;
use std::time::Duration;

/// A descriptor, and what is awaited of it.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'f> {
    pub fd: BorrowedFd<'f>,
    pub reads: bool,
    pub writes: bool,
}

impl<'f> Awaited<'f> {
    /// Waits for bytes, and for room if some wait to be sent.
    pub(crate) fn both(fd: BorrowedFd<'f>, writes: bool) -> Self {
        Awaited { fd, reads: true, writes }
    }
}

/// Waits until something happens to one of them, or the time has passed.
pub(crate) fn wait(awaited: &[Awaited<'_>], time: Duration) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = awaited
        .iter()
        .map(|one| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, one.reads);
            flags.set(PollFlags::OUT, one.writes);
            PollFd::from_borrowed_fd(one.fd, flags)
        })
        .collect();
    let nanoseconds = i64::from(time.subsec_nanos());
    let limit = Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: nanoseconds };
    match poll(&mut fds, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
