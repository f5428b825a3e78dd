//! The terminal of the user while a command elsewhere uses it: every key is passed on.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use std::io;

/// How much is read at a time.
const PIECE: usize = 4 << 10;

/// Whether standard input and output are a terminal.
pub fn is_there() -> bool {
    isatty(std::io::stdin()) && isatty(std::io::stdout())
}

/// Width and height of the terminal.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row)).filter(|(width, height)| *width > 0 && *height > 0)
}

/// Reads what standard input has; no bytes mean its end. Waits if there is nothing yet.
pub fn read(input: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; PIECE];
    let count = rustix::io::retry_on_intr(|| rustix::io::read(input, &mut buffer[..]))?;
    buffer.truncate(count);
    Ok(buffer)
}

/// Passes every key on, until it is dropped.
pub struct Raw(Termios);

impl Raw {
    /// Begins; `None` without a terminal.
    pub fn begin() -> Option<Raw> {
        let input = std::io::stdin();
        let before = tcgetattr(input.as_fd()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(input.as_fd(), OptionalActions::Now, &raw).ok()?;
        Some(Raw(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin().as_fd(), OptionalActions::Now, &self.0);
    }
}
