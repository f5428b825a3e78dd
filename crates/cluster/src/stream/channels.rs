//! Channels over one WebSocket, as Kubernetes speaks them: the first byte of a message is the number of its channel.

use super::answer::open;
use super::poll::{Awaited, wait};
use super::{Duplex, STEP};
use crate::client::{Client, GoOn};
use crate::error::ApiError;
use purlin_value::encoding::base64;
use rustix::fd::AsFd;
use sha1::{Digest, Sha1};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, WebSocket};

/// What the server appends to our key to show that it speaks WebSocket (RFC 6455).
const PROOF: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Maximum size of a message; servers send pieces of 32 KiB.
const LARGEST: usize = 4 << 20;

/// What has arrived.
#[derive(Debug)]
pub(super) enum Came {
    Bytes(u8, Bytes),
    Nothing,
    /// The other side has closed.
    End,
}

/// A connection with channels.
pub(super) struct Channels {
    socket: WebSocket<Box<dyn Duplex>>,
    /// The protocol that the server chose.
    pub protocol: String,
    /// Whether a message waits for room in the connection.
    pub is_full: bool,
}

impl Channels {
    /// Opens a connection that speaks one of some protocols.
    pub(super) fn open(
        client: &Client,
        path: &str,
        protocols: &str,
        object: &str,
        go_on: GoOn<'_>,
    ) -> Result<Channels, ApiError> {
        let random = purlin_host::secret::draw();
        let key = base64(random.get(..16).unwrap_or(&random));
        let more = [
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key.as_str()),
            ("Sec-WebSocket-Protocol", protocols),
        ];
        let opened = open(client, path, &more, (101, object), go_on)?;
        let proof = base64(&Sha1::digest(format!("{key}{PROOF}")));
        if opened.header("sec-websocket-accept") != Some(proof.as_str()) {
            return Err(ApiError::Malformed("its answer to an upgrade to WebSocket is not one".to_owned()));
        }
        let protocol = opened.header("sec-websocket-protocol").unwrap_or_default().to_owned();
        if !protocols.split(", ").any(|offered| offered == protocol) {
            let why = format!("it speaks the protocol `{protocol}`, expected {protocols}");
            return Err(ApiError::Malformed(why));
        }
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let socket = WebSocket::from_partially_read(opened.bytes, opened.rest, Role::Client, Some(config));
        Ok(Channels { socket, protocol, is_full: false })
    }

    /// What has arrived, one message at a time.
    pub(super) fn receive(&mut self) -> Result<Came, ApiError> {
        loop {
            let bytes = match self.socket.read() {
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Text(text)) => Bytes::from(text),
                Ok(_) => continue,
                Err(error) => return ended(error),
            };
            if let Some(channel) = bytes.first().copied() {
                return Ok(Came::Bytes(channel, bytes.slice(1..)));
            }
        }
    }

    /// Sends bytes to a channel. A caller looks at `is_full` before it sends more.
    pub(super) fn send(&mut self, channel: u8, bytes: &[u8]) -> Result<(), ApiError> {
        let mut message = Vec::with_capacity(bytes.len() + 1);
        message.push(channel);
        message.extend_from_slice(bytes);
        let sent = self.socket.send(Message::Binary(message.into()));
        self.note(sent)
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> Result<(), ApiError> {
        let flushed = self.socket.flush();
        self.note(flushed)
    }

    fn note(&mut self, done: Result<(), Error>) -> Result<(), ApiError> {
        self.is_full = matches!(&done, Err(Error::Io(error)) if super::answer::is_pause(error));
        match done {
            Err(error) if !self.is_full => ended(error).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Says goodbye; the answer is not awaited.
    pub(super) fn close(&mut self) {
        let _ = self.socket.close(None);
        let _ = self.socket.flush();
    }

    /// Waits until there is something to do here or at one of `others`.
    pub(super) fn wait(&self, others: &[Awaited<'_>]) -> Result<(), ApiError> {
        let bytes = self.socket.get_ref();
        let own = Awaited::both(bytes.as_fd(), self.is_full || bytes.has_unsent());
        let awaited: Vec<Awaited<'_>> = std::iter::once(own).chain(others.iter().copied()).collect();
        wait(&awaited, STEP).map_err(|error| ApiError::Other(error.to_string()))
    }
}

/// An error that is an end or a pause, and no failure.
fn ended(error: Error) -> Result<Came, ApiError> {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => Ok(Came::End),
        Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => Ok(Came::End),
        Error::Io(error) if super::answer::is_pause(&error) => Ok(Came::Nothing),
        Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(Came::End),
        Error::Io(error) => Err(ApiError::Other(format!("the connection broke: {error}"))),
        _ => Err(ApiError::Malformed("a message that is not WebSocket".to_owned())),
    }
}
