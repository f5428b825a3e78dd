//! HTTP on a connection of its own: the request, the head of the answer, and a body that arrives in pieces.

use super::poll::{Awaited, wait};
use super::{Duplex, Line, STEP};
use crate::client::{Client, GoOn};
use crate::error::ApiError;
use crate::foreign;
use crate::path::unsafe_part;
use rustix::fd::AsFd;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// Maximum size of the head of an answer, and of an answer that refuses.
const LARGEST_HEAD: usize = 64 << 10;

/// Maximum number of headers.
const MOST_HEADERS: usize = 64;

/// Time limit for the head of an answer.
const HEAD: Duration = Duration::from_secs(30);

/// How much is read at a time.
const PIECE: usize = 32 << 10;

/// An answer whose head was read.
pub(crate) struct Opened {
    pub bytes: Box<dyn Duplex>,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// What was read behind the head.
    pub rest: Vec<u8>,
}

impl Opened {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Sends a request and reads the head of its answer; an answer other than `expected` is an error.
pub(crate) fn open(
    client: &Client,
    path: &str,
    more: &[(&str, &str)],
    (expected, object): (u16, &str),
    go_on: GoOn<'_>,
) -> Result<Opened, ApiError> {
    if let Some(why) = unsafe_part(path) {
        return Err(ApiError::Other(format!("{}: it cannot be asked for: {why}", foreign::line(object))));
    }
    let Line { mut bytes, base, headers } = client.line(path)?;
    let lost = |error: &std::io::Error| client.lost(error);
    let given = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(more.iter().copied());
    let mut head = format!("GET {base}{path} HTTP/1.1\r\n");
    for (name, value) in given {
        if value.bytes().any(|byte| byte < b' ') {
            return Err(ApiError::Other("a header is not valid".to_owned()));
        }
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    let begun = Instant::now();
    let mut unsent = head.as_bytes();
    let mut read: Vec<u8> = Vec::new();
    loop {
        if !go_on() {
            return Err(ApiError::Stopped);
        }
        if begun.elapsed() > HEAD {
            return Err(client.late(path));
        }
        while !unsent.is_empty() {
            match bytes.write(unsent) {
                Ok(count) => unsent = unsent.get(count..).unwrap_or_default(),
                Err(error) if is_pause(&error) => break,
                Err(error) => return Err(lost(&error)),
            }
        }
        match bytes.flush() {
            Err(error) if !is_pause(&error) => return Err(lost(&error)),
            _ => {}
        }
        match fill(bytes.as_mut(), &mut read) {
            Ok(Came::End) => return Err(lost(&ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(error) => return Err(lost(&error)),
        }
        if let Some((status, headers, length)) = parsed(&read)? {
            let rest = read.split_off(length);
            let opened = Opened { bytes, status, headers, rest };
            return if status == expected { Ok(opened) } else { Err(refusal(client, opened, object, go_on)) };
        }
        if read.len() > LARGEST_HEAD {
            return Err(ApiError::Malformed("the head of an answer is too large".to_owned()));
        }
        let awaited = [Awaited::both(bytes.as_fd(), !unsent.is_empty() || bytes.has_unsent())];
        wait(&awaited, STEP).map_err(|error| lost(&error))?;
    }
}

type Head = (u16, Vec<(String, String)>, usize);

/// The status, the headers and the length of a head, once it is complete.
fn parsed(bytes: &[u8]) -> Result<Option<Head>, ApiError> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let not_http = |_| ApiError::Malformed("the answer is not HTTP".to_owned());
    let httparse::Status::Complete(length) = response.parse(bytes).map_err(not_http)? else { return Ok(None) };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let found = response.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect();
    Ok(Some((response.code.unwrap_or(0), found, length)))
}

/// The error in an answer that refuses.
fn refusal(client: &Client, opened: Opened, object: &str, go_on: GoOn<'_>) -> ApiError {
    let status = opened.status;
    let mut body = Body::of(opened);
    let mut text = Vec::new();
    let begun = Instant::now();
    while go_on() && text.len() < LARGEST_HEAD && begun.elapsed() < Duration::from_secs(2) {
        match body.read(&mut text) {
            Ok(Came::End) | Err(_) => break,
            Ok(_) => drop(wait(&[Awaited::both(body.bytes.as_fd(), false)], STEP)),
        }
    }
    client.refusal(status, &text, object)
}

/// What became of a look at a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Something,
    Nothing,
    End,
}

/// Whether an operation only has to be tried later.
pub(crate) fn is_pause(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Appends what has arrived.
pub(crate) fn fill(from: &mut (impl Read + ?Sized), into: &mut Vec<u8>) -> std::io::Result<Came> {
    let mut buffer = vec![0; PIECE];
    match from.read(&mut buffer) {
        Ok(0) => Ok(Came::End),
        Ok(count) => {
            into.extend_from_slice(buffer.get(..count).unwrap_or_default());
            Ok(Came::Something)
        }
        Err(error) if is_pause(&error) => Ok(Came::Nothing),
        // Servers close without a farewell of the encryption.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Came::End),
        Err(error) => Err(error),
    }
}

/// How the end of a body is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// So many bytes are left.
    Length(u64),
    /// By the end of the connection.
    Open,
    /// In chunks; the size of the next one follows.
    Size,
    /// In chunks: the number of bytes left of this one, with its line break.
    Chunk(u64),
    /// It is over.
    Over,
}

/// The body of an answer, read as it arrives.
pub(crate) struct Body {
    pub bytes: Box<dyn Duplex>,
    raw: Vec<u8>,
    form: Form,
}

impl Body {
    pub(crate) fn of(opened: Opened) -> Body {
        let is_chunked = opened.header("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked"));
        let length = opened.header("content-length").and_then(|text| text.trim().parse().ok());
        let form = match (is_chunked, length) {
            (true, _) => Form::Size,
            (false, Some(length)) => Form::Length(length),
            (false, None) => Form::Open,
        };
        Body { bytes: opened.bytes, raw: opened.rest, form }
    }

    /// Appends what has arrived of the body.
    pub(crate) fn read(&mut self, into: &mut Vec<u8>) -> Result<Came, ApiError> {
        let before = into.len();
        let is_over = self.decode(into)?;
        if !is_over && into.len() == before {
            let end = fill(self.bytes.as_mut(), &mut self.raw);
            let ended = end.map_err(|error| ApiError::Other(error.to_string()))? == Came::End;
            let is_over = self.decode(into)? || ended;
            return Ok(came(is_over, into.len() > before));
        }
        Ok(came(is_over, into.len() > before))
    }

    /// Decodes what was read. Returns whether the body is over.
    fn decode(&mut self, into: &mut Vec<u8>) -> Result<bool, ApiError> {
        loop {
            match self.form {
                Form::Over => return Ok(true),
                Form::Open => {
                    into.append(&mut self.raw);
                    return Ok(false);
                }
                Form::Length(left) => {
                    let left = left - self.take(left, into);
                    self.form = if left == 0 { Form::Over } else { Form::Length(left) };
                    if left > 0 {
                        return Ok(false);
                    }
                }
                Form::Size => match httparse::parse_chunk_size(&self.raw) {
                    Ok(httparse::Status::Complete((head, size))) => {
                        self.raw.drain(..head);
                        self.form = if size == 0 { Form::Over } else { Form::Chunk(size.saturating_add(2)) };
                    }
                    Ok(httparse::Status::Partial) if self.raw.len() < LARGEST_HEAD => return Ok(false),
                    _ => return Err(ApiError::Malformed("a chunk of an answer has no size".to_owned())),
                },
                Form::Chunk(left) => {
                    // The last two bytes are a line break.
                    let taken = if left > 2 { self.take(left - 2, into) } else { 0 };
                    let left = left - taken;
                    if left > 2 || self.raw.len() < 2 {
                        self.form = Form::Chunk(left);
                        return Ok(false);
                    }
                    self.raw.drain(..2);
                    self.form = Form::Size;
                }
            }
        }
    }

    fn take(&mut self, most: u64, into: &mut Vec<u8>) -> u64 {
        let count = self.raw.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        into.extend(self.raw.drain(..count));
        count as u64
    }
}

fn came(is_over: bool, has_bytes: bool) -> Came {
    match (has_bytes, is_over) {
        (true, _) => Came::Something,
        (false, true) => Came::End,
        (false, false) => Came::Nothing,
    }
}
