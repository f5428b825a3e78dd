//! One gRPC call: messages out, messages in, a status at the end.

use crate::connection::{Connection, Patience};
use crate::message::Status;
use crate::trouble::{Code, Tried, Trouble, What};
use crate::wire::Message;
use bytes::{Buf, Bytes, BytesMut};
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Method, Request, Version};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// Maximum size of a message of a server.
pub const LARGEST_MESSAGE: usize = 16 << 20;

/// Bytes before each message: whether it is compressed, and its length.
const HEAD: usize = 5;

/// A running call. Dropping it tells the server that nobody waits any longer.
pub struct Call<'p> {
    connection: Arc<Connection>,
    patience: Patience<'p>,
    send: SendStream<Bytes>,
    answer: Option<ResponseFuture>,
    receive: Option<RecvStream>,
    buffer: BytesMut,
    is_over: bool,
}

impl<'p> Call<'p> {
    /// Begins a call.
    pub fn open(
        connection: Arc<Connection>,
        method: &str,
        headers: &[(String, HeaderValue)],
        patience: Patience<'p>,
    ) -> Tried<Call<'p>> {
        let request = Request::builder().method(Method::POST).version(Version::HTTP_2);
        let request = request.uri(format!("{}{method}", connection.origin));
        let mut request = request
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("user-agent", concat!("purlin/", env!("CARGO_PKG_VERSION")));
        for (name, value) in headers {
            request = request.header(name.as_str(), value.clone());
        }
        let request = request.body(()).map_err(|_| What::Settings("a header is not valid".to_owned()))?;
        let mut sender = connection.sender();
        let ready = patience.wait(|cx| sender.poll_ready(cx))?;
        ready.map_err(|error| connection.broken(&error))?;
        let (answer, send) = sender.send_request(request, false).map_err(|error| connection.broken(&error))?;
        let (answer, buffer) = (Some(answer), BytesMut::new());
        Ok(Call { connection, patience, send, answer, receive: None, buffer, is_over: false })
    }

    /// Waits from now on with other limits.
    pub fn be_patient(&mut self, patience: Patience<'p>) {
        self.patience = patience;
    }

    /// Sends a message.
    pub fn send(&mut self, message: &impl Message, is_last: bool) -> Tried<()> {
        let body = message.to_bytes();
        let length = u32::try_from(body.len()).map_err(|_| What::TooLarge)?;
        let mut bytes = BytesMut::with_capacity(HEAD + body.len());
        bytes.extend_from_slice(&[0]);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&body);
        let mut left = bytes.freeze();
        while !left.is_empty() {
            self.send.reserve_capacity(left.len());
            let send = &mut self.send;
            let room = self.patience.wait(|cx| match send.poll_capacity(cx) {
                Poll::Ready(Some(Ok(0))) => Poll::Pending,
                other => other,
            })?;
            let room = match room {
                Some(Ok(room)) => room,
                // The server has answered without reading on: its answer says why.
                Some(Err(_)) | None => return Ok(()),
            };
            let piece = left.split_to(room.min(left.len()));
            let is_end = is_last && left.is_empty();
            if self.send.send_data(piece, is_end).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next message; none after the last.
    pub fn next<M: Message>(&mut self) -> Tried<Option<M>> {
        while !self.is_over {
            if let Some(message) = self.take()? {
                let decoded = M::decode(&message);
                return decoded.map(Some).map_err(|_| What::Malformed("a message cannot be read").into());
            }
            self.fill()?;
        }
        Ok(None)
    }

    /// The only message of an answer.
    pub fn only<M: Message>(mut self) -> Tried<M> {
        let message = self.next()?.ok_or(What::Malformed("it has no message"))?;
        // The status comes after the message.
        while !self.is_over {
            if self.take()?.is_some() {
                return Err(What::Malformed("it has more than one message").into());
            }
            self.fill()?;
        }
        Ok(message)
    }

    /// A whole message from what has arrived.
    fn take(&mut self) -> Tried<Option<Bytes>> {
        let &[compression, a, b, c, d, ..] = &self.buffer[..] else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if compression != 0 {
            return Err(What::Malformed("a message is compressed, which was not offered").into());
        }
        if length > LARGEST_MESSAGE {
            return Err(What::TooLarge.into());
        }
        if self.buffer.len() < HEAD + length {
            return Ok(None);
        }
        self.buffer.advance(HEAD);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }

    /// Waits for more bytes, or for the end.
    fn fill(&mut self) -> Tried<()> {
        if let Some(answer) = &mut self.answer {
            let arrived = self.patience.wait(|cx| Pin::new(&mut *answer).poll(cx))?;
            let response = arrived.map_err(|error| self.failed(&error))?;
            self.answer = None;
            let (head, body) = response.into_parts();
            if head.status != 200 {
                return Err(http_status(head.status.as_u16()));
            }
            if head.headers.contains_key("grpc-status") {
                self.is_over = true;
                return status(&head.headers);
            }
            let kind = head.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            if !kind.starts_with("application/grpc") {
                return Err(What::Malformed("the server does not speak gRPC").into());
            }
            self.receive = Some(body);
            return Ok(());
        }
        let Some(receive) = &mut self.receive else { return Err(What::Malformed("it ended early").into()) };
        match self.patience.wait(|cx| receive.poll_data(cx))? {
            Some(Ok(data)) => {
                let _ = receive.flow_control().release_capacity(data.len());
                self.buffer.extend_from_slice(&data);
                Ok(())
            }
            Some(Err(error)) => Err(self.failed(&error)),
            None => {
                let trailers = self.patience.wait(|cx| receive.poll_trailers(cx))?;
                let trailers = trailers.map_err(|error| self.failed(&error))?;
                if !self.buffer.is_empty() {
                    return Err(What::Lost("it ended within a message".to_owned()).into());
                }
                self.is_over = true;
                match trailers {
                    Some(trailers) => status(&trailers),
                    None => Err(What::Lost("it ended without a status".to_owned()).into()),
                }
            }
        }
    }

    /// A stream that was reset or whose connection broke.
    fn failed(&self, error: &h2::Error) -> Trouble {
        match error.reason() {
            Some(h2::Reason::REFUSED_STREAM | h2::Reason::ENHANCE_YOUR_CALM) if error.is_remote() => {
                What::Refused(Code::Unavailable, "the server takes no more calls".to_owned()).into()
            }
            _ => self.connection.broken(error),
        }
    }
}

/// What an HTTP status other than 200 means.
fn http_status(status: u16) -> Trouble {
    let code = match status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    };
    What::Refused(code, format!("HTTP status {status}")).into()
}

/// The status of a call.
fn status(headers: &HeaderMap) -> Tried<()> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code: i64 = text("grpc-status").and_then(|code| code.parse().ok()).unwrap_or(2);
    if code == 0 {
        return Ok(());
    }
    let details = text("grpc-status-details-bin").and_then(|packed| {
        let padding = "===".get(..packed.len().wrapping_neg() % 4).unwrap_or_default();
        let bytes = purlin_value::encoding::from_base64(format!("{packed}{padding}").as_bytes()).ok()?;
        Status::decode(&bytes).ok()
    });
    let message = text("grpc-message").map(unescaped).unwrap_or_default();
    let details = details.unwrap_or_default().details;
    Err(Trouble::of(&Status { code, message, details }))
}

/// A text with `%XX` for bytes.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
