//! Messages over a pair of streams: a header with a length, an empty line, JSON.
//!
//! Input is read as it arrives: an announced length allocates no memory by itself. Nothing here knows the meaning of
//! messages, except that `exit` is the last.

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Waits until both have ended; an error names what could not be read or written.
    pub fn join(self) -> Result<(), String> {
        let gone = || "the connection has failed".to_owned();
        let written = self.writer.join().map_err(|_| gone())?;
        self.reader.join().map_err(|_| gone())??;
        written.map_err(|error| format!("cannot answer: {error}"))
    }
}

/// A connection over two streams.
pub fn connect(mut input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> (Connection, Threads) {
    let output = Arc::new(Mutex::new(output));
    let complaints = output.clone();
    let (to_writer, answers) = bounded::<Message>(0);
    let (to_server, receiver) = bounded::<Message>(0);
    let writer = std::thread::spawn(move || {
        answers
            .into_iter()
            .try_for_each(|message| message.write(&mut *output.lock().unwrap_or_else(PoisonError::into_inner)))
    });
    let reader = std::thread::spawn(move || {
        while let Some(message) = read(&mut input)? {
            let message = match message {
                Ok(message) => message,
                // The request is unknown; the next one may be well formed.
                Err(garbled) => {
                    let mut output = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                    garbled.answer(&mut *output).map_err(|error| format!("cannot answer: {error}"))?;
                    continue;
                }
            };
            let is_last = matches!(&message, Message::Notification(note) if note.method == "exit");
            if to_server.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    });
    (Connection { sender: to_writer, receiver }, Threads { reader, writer })
}

/// A message of the announced length that is not valid in the protocol.
#[derive(Debug, PartialEq, Eq)]
enum Garbled {
    NotJson,
    NotAMessage,
}

impl Garbled {
    /// Reports it to the client, with the codes of JSON-RPC.
    fn answer(&self, output: &mut impl Write) -> io::Result<()> {
        let (code, why) = match self {
            Garbled::NotJson => (-32700, "the message is not JSON"),
            Garbled::NotAMessage => (-32600, "the message is neither a request nor a notification nor a response"),
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"{why}"}}}}"#);
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        output.flush()
    }
}

/// The next message; `None` at the end of the stream. If the start of the next message cannot be found, that is an
/// error.
fn read(input: &mut impl BufRead) -> Result<Option<Result<Message, Garbled>>, String> {
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
    let message = serde_json::from_slice(&text).map_err(|_| match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(_) => Garbled::NotAMessage,
        Err(_) => Garbled::NotJson,
    });
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &[u8]) -> Result<Option<Result<Message, Garbled>>, String> {
        read(&mut io::Cursor::new(text.to_vec()))
    }

    #[test]
    fn messages_are_read_and_nothing_else_is() {
        assert!(matches!(said(b""), Ok(None)));
        let note = said(b"content-length: 33\r\nContent-Type: x\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
        assert!(matches!(note, Ok(Some(Ok(Message::Notification(_))))), "{note:?}");
        for (text, why) in [
            ("Content-Length: 4000000000\r\n\r\n{}", "more than"),
            ("Content-Length: -1\r\n\r\n{}", "without its length"),
            ("\r\n{}", "without its length"),
            ("Content-Length: 9\r\n\r\n{}", "too early"),
            (&"A".repeat(5_000), "too long"),
            (&"A: B\r\n".repeat(100), "too long"),
        ] {
            assert!(said(text.as_bytes()).is_err_and(|error| error.contains(why)), "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_told_from_what_cannot_be_framed() {
        let deep = format!("Content-Length: 3000\r\n\r\n{}", "[".repeat(3_000));
        for (text, garbled) in [
            ("Content-Length: 2\r\n\r\n{}", Garbled::NotAMessage),
            ("Content-Length: 2\r\n\r\n[]", Garbled::NotAMessage),
            ("Content-Length: 5\r\n\r\n{{{{{", Garbled::NotJson),
            ("Content-Length: 0\r\n\r\n", Garbled::NotJson),
            (&deep, Garbled::NotJson),
        ] {
            assert!(matches!(said(text.as_bytes()), Ok(Some(Err(found))) if found == garbled), "{text}");
        }
    }

    #[test]
    fn one_garbled_message_does_not_end_the_connection() {
        let input = io::Cursor::new(
            b"Content-Length: 5\r\n\r\n{{{{{Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}"
                .to_vec(),
        );
        let told = Arc::new(Mutex::new(Vec::new()));
        let (connection, threads) = connect(input, Shared(told.clone()));
        let next = connection.receiver.recv();
        assert!(matches!(&next, Ok(Message::Notification(note)) if note.method == "exit"), "{next:?}");
        drop(connection);
        assert_eq!(threads.join(), Ok(()));
        let told = String::from_utf8_lossy(&told.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        assert!(told.contains("\"id\":null") && told.contains("-32700"), "{told}");
    }

    /// Output that a test reads afterwards.
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
