//! The server's side of one gRPC call.

use crate::faults::Fault;
use crate::{State, locked};
use bytes::{Buf, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Response};
use purlin_remote::message::{Any, Status};
use purlin_remote::wire::Message;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Why a call has no good end.
pub(crate) enum Broken {
    /// It was refused.
    Status(Status),
    /// Its stream is cut.
    Cut,
    /// The other side or the whole server is gone.
    Gone,
}

impl Broken {
    pub(crate) fn status(code: i64, message: &str) -> Self {
        Broken::Status(Status { code, message: message.to_owned(), details: Vec::new() })
    }

    pub(crate) fn with_details(code: i64, message: &str, details: Vec<Any>) -> Self {
        Broken::Status(Status { code, message: message.to_owned(), details })
    }
}

/// One call.
pub(crate) struct Call {
    state: Arc<State>,
    epoch: u64,
    body: RecvStream,
    respond: SendResponse<Bytes>,
    stream: Option<SendStream<Bytes>>,
    buffer: BytesMut,
    /// Messages until the stream is cut.
    left: Option<usize>,
    is_read: bool,
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Call {
    pub(crate) fn new(state: Arc<State>, epoch: u64, body: RecvStream, respond: SendResponse<Bytes>) -> Self {
        Call { state, epoch, body, respond, stream: None, buffer: BytesMut::new(), left: None, is_read: false }
    }

    /// Answers the call to its end.
    pub(crate) fn run(mut self, method: &str, headers: &HeaderMap) {
        *locked(&self.state.calls).entry(method.to_owned()).or_default() += 1;
        self.note(headers);
        let fault = locked(&self.state.nature).take(method);
        let served = match fault {
            None => self.serve(method, headers),
            Some(fault) => self.go_wrong(fault, method, headers),
        };
        match served {
            Ok(()) => self.end(&Status::default()),
            Err(Broken::Status(status)) => self.end(&status),
            Err(Broken::Cut) => match &mut self.stream {
                Some(stream) => stream.send_reset(Reason::INTERNAL_ERROR),
                None => self.respond.send_reset(Reason::INTERNAL_ERROR),
            },
            Err(Broken::Gone) => {}
        }
    }

    fn note(&self, headers: &HeaderMap) {
        let line = |(name, value): (&http::HeaderName, &HeaderValue)| {
            format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
        };
        let mut noted = locked(&self.state.headers);
        for line in headers.iter().map(line) {
            if !noted.contains(&line) {
                noted.push(line);
            }
        }
    }

    fn serve(&mut self, method: &str, headers: &HeaderMap) -> Result<(), Broken> {
        let token = locked(&self.state.nature).token.clone();
        if let Some(token) = token
            && headers.get("authorization").is_none_or(|value| value.as_bytes() != token.as_bytes())
        {
            return Err(Broken::status(16, "the token is missing or has expired"));
        }
        let state = self.state.clone();
        state.serve(method, self)
    }

    fn go_wrong(&mut self, fault: Fault, method: &str, headers: &HeaderMap) -> Result<(), Broken> {
        match fault {
            Fault::Refuse(code, message) => {
                self.drain();
                Err(Broken::status(code, message))
            }
            Fault::Cut(left) => {
                self.left = Some(left);
                self.serve(method, headers)
            }
            Fault::Stall => loop {
                if self.is_gone() {
                    return Err(Broken::Gone);
                }
                std::thread::sleep(Duration::from_millis(20));
            },
            Fault::Late(time) => {
                std::thread::sleep(time);
                self.serve(method, headers)
            }
            Fault::Raw(bytes) => {
                self.drain();
                self.send(Bytes::from(bytes))
            }
            Fault::Disconnect => {
                self.state.epoch.fetch_add(1, Ordering::Relaxed);
                Err(Broken::Gone)
            }
            Fault::Http(status) => {
                let response = Response::builder().status(status).body(()).map_err(|_| Broken::Gone)?;
                let _ = self.respond.send_response(response, true);
                Err(Broken::Gone)
            }
            Fault::Silent => {
                self.drain();
                Ok(())
            }
        }
    }

    fn drain(&mut self) {
        while !self.is_read && self.more().is_ok_and(|more| more) {
            self.buffer.clear();
        }
    }

    /// Whether nobody waits for the answer any longer.
    pub(crate) fn is_gone(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let is_reset = match &mut self.stream {
            Some(stream) => stream.poll_reset(&mut cx).is_ready(),
            None => self.respond.poll_reset(&mut cx).is_ready(),
        };
        is_reset || self.is_over()
    }

    fn is_over(&self) -> bool {
        self.state.is_closed.load(Ordering::Relaxed) || self.state.epoch.load(Ordering::Relaxed) != self.epoch
    }

    fn wait<T>(&mut self, mut ready: impl FnMut(&mut Self, &mut Context<'_>) -> Poll<T>) -> Result<T, Broken> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(done) = ready(self, &mut cx) {
                return Ok(done);
            }
            if self.is_over() {
                return Err(Broken::Gone);
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// Reads more bytes; false at the end.
    fn more(&mut self) -> Result<bool, Broken> {
        match self.wait(|call, cx| call.body.poll_data(cx))? {
            Some(Ok(data)) => {
                let _ = self.body.flow_control().release_capacity(data.len());
                self.buffer.extend_from_slice(&data);
                Ok(true)
            }
            Some(Err(_)) => Err(Broken::Gone),
            None => {
                self.is_read = true;
                Ok(false)
            }
        }
    }

    fn count(&mut self) -> Result<(), Broken> {
        match &mut self.left {
            Some(0) => Err(Broken::Cut),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The next message; none after the last.
    pub(crate) fn next<M: Message>(&mut self) -> Result<Option<M>, Broken> {
        loop {
            if let &[_, a, b, c, d, ..] = &self.buffer[..] {
                let length = u32::from_be_bytes([a, b, c, d]) as usize;
                if locked(&self.state.nature).largest_message.is_some_and(|most| length > most) {
                    return Err(Broken::status(8, "received message larger than max"));
                }
                if self.buffer.len() >= 5 + length {
                    self.count()?;
                    self.buffer.advance(5);
                    let bytes = self.buffer.split_to(length);
                    return M::decode(&bytes).map(Some).map_err(|_| Broken::status(13, "a message cannot be read"));
                }
            }
            if self.is_read || !self.more()? {
                return Ok(None);
            }
        }
    }

    /// The only message.
    pub(crate) fn ask<M: Message>(&mut self) -> Result<M, Broken> {
        self.next()?.ok_or_else(|| Broken::status(3, "no message"))
    }

    /// Sends a message.
    pub(crate) fn answer(&mut self, message: &impl Message) -> Result<(), Broken> {
        self.count()?;
        let body = message.to_bytes();
        let mut bytes = BytesMut::with_capacity(5 + body.len());
        bytes.extend_from_slice(&[0]);
        bytes.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(&body);
        self.send(bytes.freeze())
    }

    fn send(&mut self, mut left: Bytes) -> Result<(), Broken> {
        self.begin()?;
        while !left.is_empty() {
            let room = self.wait(|call, cx| {
                let Some(stream) = &mut call.stream else { return Poll::Ready(None) };
                stream.reserve_capacity(left.len());
                match stream.poll_capacity(cx) {
                    Poll::Ready(Some(Ok(0))) => Poll::Pending,
                    other => other,
                }
            })?;
            let Some(Ok(room)) = room else { return Err(Broken::Gone) };
            let piece = left.split_to(room.min(left.len()));
            let Some(stream) = &mut self.stream else { return Err(Broken::Gone) };
            stream.send_data(piece, false).map_err(|_| Broken::Gone)?;
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Broken> {
        if self.stream.is_none() {
            let response = Response::builder().status(200).header("content-type", "application/grpc").body(());
            let response = response.map_err(|_| Broken::Gone)?;
            self.stream = Some(self.respond.send_response(response, false).map_err(|_| Broken::Gone)?);
        }
        Ok(())
    }

    /// Ends the call with a status.
    fn end(&mut self, status: &Status) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from(status.code));
        if !status.message.is_empty()
            && let Ok(message) = HeaderValue::from_str(&escaped(&status.message))
        {
            trailers.insert("grpc-message", message);
        }
        if !status.details.is_empty() {
            let packed = purlin_value::encoding::base64(&status.to_bytes());
            if let Ok(packed) = HeaderValue::from_str(packed.trim_end_matches('=')) {
                trailers.insert("grpc-status-details-bin", packed);
            }
        }
        if self.stream.is_none() && status.code != 0 {
            // Only headers, as servers do that have nothing else to say.
            let mut response = Response::new(());
            response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
            response.headers_mut().extend(trailers);
            let _ = self.respond.send_response(response, true);
            return;
        }
        if self.begin().is_ok()
            && let Some(stream) = &mut self.stream
        {
            let _ = stream.send_trailers(trailers);
        }
    }
}

fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if byte != b'%' => (byte as char).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}
