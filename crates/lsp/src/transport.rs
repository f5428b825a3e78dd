//! Messages over a pair of streams: a header with a length, an empty line, JSON.
//!
//! What a client sends is read as it comes: an announced length takes no memory by itself. Nothing here knows what messages
//! mean, but that `exit` is the last.

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

/// The largest message: the largest file, with every character escaped.
const LARGEST: u64 = 64 << 20;
/// The longest line of a header, and the most lines.
const LONGEST_LINE: u64 = 4_096;
const MOST_LINES: usize = 64;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<Result<(), String>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until both have ended; an error tells what could not be read or written.
    pub fn join(self) -> Result<(), String> {
        let gone = || "the connection has failed".to_owned();
        let written = self.writer.join().map_err(|_| gone())?;
        self.reader.join().map_err(|_| gone())??;
        written.map_err(|error| format!("cannot answer: {error}"))
    }
}

/// A connection over two streams.
pub fn connect(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> (Connection, Threads) {
    let (to_writer, answers) = bounded::<Message>(0);
    let (to_server, receiver) = bounded::<Message>(0);
    let writer = std::thread::spawn(move || answers.into_iter().try_for_each(|message| message.write(&mut output)));
    let reader = std::thread::spawn(move || {
        while let Some(message) = read(&mut input)? {
            let is_last = matches!(&message, Message::Notification(note) if note.method == "exit");
            if to_server.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    });
    (Connection { sender: to_writer, receiver }, Threads { reader, writer })
}

/// The next message; nothing if the stream has ended.
fn read(input: &mut impl BufRead) -> Result<Option<Message>, String> {
    let mut length = None;
    for count in 0.. {
        let mut line = Vec::new();
        let taken = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if taken.map_err(|error| format!("cannot read what the client sends: {error}"))? == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n").filter(|_| count < MOST_LINES) else {
            return Err("the client sends a header that is too long".to_owned());
        };
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or("the client sends a message without its length")?;
    if length > LARGEST {
        return Err(format!("the client sends a message of more than the {LARGEST} bytes allowed"));
    }
    let mut text = Vec::new();
    let taken = input.by_ref().take(length).read_to_end(&mut text);
    taken.map_err(|error| format!("cannot read what the client sends: {error}"))?;
    if (text.len() as u64) < length {
        return Err("the client's message ends too early".to_owned());
    }
    serde_json::from_slice(&text).map(Some).map_err(|error| format!("the client's message cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &[u8]) -> Result<Option<Message>, String> {
        read(&mut io::Cursor::new(text.to_vec()))
    }

    #[test]
    fn messages_are_read_and_nothing_else_is() {
        assert!(matches!(said(b""), Ok(None)));
        let note = said(b"content-length: 33\r\nContent-Type: x\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
        assert!(matches!(note, Ok(Some(Message::Notification(_)))), "{note:?}");
        for (text, why) in [
            ("Content-Length: 4000000000\r\n\r\n{}", "more than"),
            ("Content-Length: -1\r\n\r\n{}", "without its length"),
            ("\r\n{}", "without its length"),
            ("Content-Length: 9\r\n\r\n{}", "too early"),
            ("Content-Length: 2\r\n\r\n{}", "cannot be read"),
            (&"A".repeat(5_000), "too long"),
            (&"A: B\r\n".repeat(100), "too long"),
            (&format!("Content-Length: 3000\r\n\r\n{}", "[".repeat(3_000)), "cannot be read"),
        ] {
            assert!(said(text.as_bytes()).is_err_and(|error| error.contains(why)), "{text}");
        }
    }
}
