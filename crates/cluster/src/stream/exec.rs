//! A command in a running container: its input, its output, its exit code.

use super::channels::{Came, Channels};
use super::poll::Awaited;
use crate::client::{Client, GoOn};
use crate::error::ApiError;
use crate::foreign;
use crate::path::{below, escape};
use rustix::fd::BorrowedFd;
use serde_json::Value as Json;

/// The protocols of this connection, the newest first: since the fifth, an input can end.
const PROTOCOLS: &str = "v5.channel.k8s.io, v4.channel.k8s.io";
const NEWEST: &str = "v5.channel.k8s.io";

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const STATUS: u8 = 3;
const SIZE: u8 = 4;
const CLOSE: u8 = 255;

/// How much input is sent at a time.
const PIECE: usize = 32 << 10;

/// A command, and where it runs.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The namespace of the pod.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// The command and its arguments.
    pub words: Vec<String>,
    /// Whether it gets a terminal.
    pub terminal: bool,
}

/// The input of a command.
pub enum Input<'i> {
    /// None.
    Nothing,
    /// These bytes.
    Bytes(&'i [u8]),
    /// What can be read from a descriptor. The function reads some of it; no bytes mean the end.
    Live(BorrowedFd<'i>, &'i mut dyn FnMut() -> std::io::Result<Vec<u8>>),
}

/// What a command is connected to.
pub struct Ends<'e> {
    /// Its input.
    pub input: Input<'e>,
    /// Receives its standard output.
    pub out: &'e mut dyn FnMut(&[u8]),
    /// Receives its standard error.
    pub err: &'e mut dyn FnMut(&[u8]),
    /// The width and height of the terminal; asked again while it runs.
    pub size: &'e dyn Fn() -> Option<(u16, u16)>,
}

impl Command {
    fn path(&self, has_input: bool) -> String {
        let mut path = below(&self.namespace, &["pods", &self.pod, "exec"]);
        path.push_str("?stdout=true");
        // A terminal has one output.
        for (name, is_set) in [("stdin", has_input), ("stderr", !self.terminal), ("tty", self.terminal)] {
            if is_set {
                path.push_str(&format!("&{name}=true"));
            }
        }
        path.push_str(&format!("&container={}", escape(&self.container)));
        for word in &self.words {
            path.push_str(&format!("&command={}", escape(word)));
        }
        path
    }
}

/// Runs a command to its end, and returns its exit code.
pub fn exec(client: &Client, command: &Command, ends: Ends<'_>, go_on: GoOn<'_>) -> Result<i32, ApiError> {
    let has_input = !matches!(ends.input, Input::Nothing);
    let object = format!("Pod/{}", command.pod);
    let channels = Channels::open(client, &command.path(has_input), PROTOCOLS, &object, go_on)?;
    Running { channels, ends, is_open: has_input, size: None }.run(go_on)
}

/// A running command.
struct Running<'e> {
    channels: Channels,
    ends: Ends<'e>,
    /// Whether more input may follow.
    is_open: bool,
    size: Option<(u16, u16)>,
}

impl Running<'_> {
    fn run(mut self, go_on: GoOn<'_>) -> Result<i32, ApiError> {
        loop {
            if !go_on() {
                self.channels.close();
                return Err(ApiError::Stopped);
            }
            loop {
                match self.channels.receive()? {
                    Came::Bytes(STDOUT, bytes) => (self.ends.out)(&bytes),
                    Came::Bytes(STDERR, bytes) => (self.ends.err)(&bytes),
                    Came::Bytes(STATUS, bytes) => {
                        let code = exit_code(&bytes);
                        self.channels.close();
                        return code;
                    }
                    Came::Bytes(..) => {}
                    Came::Nothing => break,
                    Came::End => {
                        return Err(ApiError::Other("the connection ended before the command did".to_owned()));
                    }
                }
            }
            self.fit()?;
            if self.channels.is_full {
                self.channels.flush()?;
            } else {
                self.feed()?;
            }
            // Bytes that are ready to be sent do not wait for anything but room.
            let input = match &self.ends.input {
                Input::Live(fd, _) if self.is_open && !self.channels.is_full => vec![Awaited::both(*fd, false)],
                Input::Bytes(_) if self.is_open && !self.channels.is_full => continue,
                _ => Vec::new(),
            };
            self.channels.wait(&input)?;
        }
    }

    /// Tells the command the size of the terminal, if that has changed.
    fn fit(&mut self) -> Result<(), ApiError> {
        let size = (self.ends.size)();
        if size.is_none() || size == self.size || self.channels.is_full {
            return Ok(());
        }
        self.size = size;
        let (width, height) = size.unwrap_or_default();
        self.channels.send(SIZE, format!("{{\"Width\":{width},\"Height\":{height}}}").as_bytes())
    }

    /// Sends a piece of the input.
    fn feed(&mut self) -> Result<(), ApiError> {
        if !self.is_open {
            return Ok(());
        }
        let piece = match &mut self.ends.input {
            Input::Nothing => return Ok(()),
            Input::Bytes(bytes) => {
                let (piece, rest) = bytes.split_at(bytes.len().min(PIECE));
                *bytes = rest;
                piece.to_vec()
            }
            Input::Live(fd, read) => {
                if !is_readable(*fd) {
                    return Ok(());
                }
                read().map_err(|error| ApiError::Other(format!("the input could not be read: {error}")))?
            }
        };
        if !piece.is_empty() {
            return self.channels.send(STDIN, &piece);
        }
        self.is_open = false;
        match self.channels.protocol == NEWEST {
            true => self.channels.send(CLOSE, &[STDIN]),
            // Older servers cannot be told; commands that read to the end wait there.
            false => Ok(()),
        }
    }
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
}

/// The exit code in the last message of a command.
fn exit_code(bytes: &[u8]) -> Result<i32, ApiError> {
    let status: Json = serde_json::from_slice(bytes).unwrap_or(Json::Null);
    let text = |key: &str| status.get(key).and_then(Json::as_str).unwrap_or_default();
    if text("status") == "Success" {
        return Ok(0);
    }
    let causes = status.pointer("/details/causes").and_then(Json::as_array).into_iter().flatten();
    let code = causes
        .filter(|cause| cause.get("reason").and_then(Json::as_str) == Some("ExitCode"))
        .find_map(|cause| cause.get("message").and_then(Json::as_str)?.parse().ok());
    match code {
        Some(code) if text("reason") == "NonZeroExitCode" => Ok(code),
        _ if text("message").is_empty() => Err(ApiError::Malformed("a command ended without a status".to_owned())),
        _ => Err(ApiError::Other(foreign::line(text("message")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_has_the_exit_code() {
        assert_eq!(exit_code(br#"{"metadata":{},"status":"Success"}"#), Ok(0));
        let failed =
            br#"{"status":"Failure","reason":"NonZeroExitCode","message":"command terminated with non-zero exit code",
            "details":{"causes":[{"reason":"ExitCode","message":"42"}]}}"#;
        assert_eq!(exit_code(failed), Ok(42));
        let missing = br#"{"status":"Failure","reason":"InternalError","message":"exec: \"sh\": not found"}"#;
        assert_eq!(exit_code(missing), Err(ApiError::Other("exec: \"sh\": not found".to_owned())));
        for other in [&b""[..], b"{}", b"x", br#"{"status":"Failure"}"#] {
            assert!(matches!(exit_code(other), Err(ApiError::Malformed(_))), "{other:?}");
        }
    }

    #[test]
    fn words_cannot_change_what_a_path_means() {
        let words = ["sh", "-c", "echo a&stdin=true#x ä"].map(str::to_owned).to_vec();
        let command = Command { namespace: "a".into(), pod: "b".into(), container: "c".into(), words, terminal: false };
        let path = command.path(false);
        assert_eq!(crate::path::unsafe_part(&path), None, "{path}");
        assert_eq!(path.matches("stdin").count() - path.matches("stdin%3D").count(), 0, "{path}");
    }
}
