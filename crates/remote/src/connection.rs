//! One HTTP/2 connection, driven by one thread that sleeps in `poll` until the socket or a caller has something.
//!
//! No runtime is started: the threads that run actions wait for their own call, as they would for a process. The thread
//! answers the server's pings while nobody calls, and asks for a sign of life while somebody waits.

use crate::settings::Settings;
use crate::stream::{self, Needs, Stream};
use crate::trouble::{Tried, Trouble, What};
use bytes::Bytes;
use h2::PingPong;
use h2::client::{Connection as Http, SendRequest};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use std::future::Future;
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How much a server may send before we have read it, per call.
const WINDOW: u32 = 1 << 20;

/// The same for all calls together.
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Maximum size of the headers of an answer.
const HEADERS: u32 = 64 << 10;

/// How long a connection may be silent before a sign of life is asked for.
const SILENT: Duration = Duration::from_secs(20);

/// How long the sign of life is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// Time for the first frames of a connection.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How often a waiting caller looks whether the run has to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// A connection that callers share.
pub struct Connection {
    send: SendRequest<Bytes>,
    bell: Arc<Bell>,
    state: Arc<State>,
    /// `https` or `http`, and the authority of every call.
    pub(crate) origin: String,
}

/// What the driving thread says about itself.
#[derive(Debug, Default)]
struct State {
    is_dead: AtomicBool,
    why: Mutex<Option<String>>,
}

impl State {
    fn die(&self, why: String) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.is_dead.store(true, Ordering::Release);
    }
}

/// Wakes the driving thread.
struct Bell {
    is_rung: AtomicBool,
    is_closed: AtomicBool,
    rope: OwnedFd,
}

impl Bell {
    fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::AcqRel) {
            let _ = rustix::io::write(&self.rope, b"!");
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl Connection {
    /// Connects to a server.
    pub fn open(settings: &Settings) -> Tried<Connection> {
        let (stream, socket, needs) = stream::open(settings)?;
        let lost = |error: rustix::io::Errno| Trouble::from(What::Lost(error.to_string()));
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (heard, rope) = rustix::pipe::pipe_with(flags).map_err(lost)?;
        let bell = Arc::new(Bell { is_rung: AtomicBool::new(false), is_closed: AtomicBool::new(false), rope });
        let state = Arc::new(State::default());
        let (answer, answered) = mpsc::channel();
        let driver = Driver { socket, heard, bell: bell.clone(), needs, state: state.clone() };
        let spawned = std::thread::Builder::new().name("remote".into()).spawn(move || driver.run(stream, &answer));
        spawned.map_err(|error| What::Connect(error.to_string()))?;
        let send = answered.recv_timeout(HANDSHAKE * 2).map_err(|_| What::Silent(HANDSHAKE))??;
        let address = &settings.address;
        let scheme = if address.is_secure { "https" } else { "http" };
        let host = if address.host.contains(':') { format!("[{}]", address.host) } else { address.host.clone() };
        let origin = format!("{scheme}://{host}:{}", address.port);
        Ok(Connection { send, bell, state, origin })
    }

    /// Whether it can no longer be used.
    pub fn is_dead(&self) -> bool {
        self.state.is_dead.load(Ordering::Acquire)
    }

    /// A handle for one call.
    pub(crate) fn sender(&self) -> SendRequest<Bytes> {
        self.send.clone()
    }

    /// Why a call failed on this connection.
    pub(crate) fn broken(&self, error: &h2::Error) -> Trouble {
        let known = self.state.why.lock().unwrap_or_else(PoisonError::into_inner).clone();
        What::Lost(known.unwrap_or_else(|| words(error))).into()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.bell.is_closed.store(true, Ordering::Release);
        self.bell.is_rung.store(false, Ordering::Release);
        self.bell.ring();
    }
}

/// An error of the connection, in words.
pub(crate) fn words(error: &h2::Error) -> String {
    if let Some(io) = error.get_io() {
        let text = io.to_string();
        return text.split(" (os error").next().unwrap_or(&text).to_lowercase();
    }
    match error.reason() {
        Some(reason) if error.is_go_away() => format!("the server closed it ({})", reason.description()),
        Some(reason) => reason.description().to_owned(),
        None => error.to_string(),
    }
}

/// The thread of a connection.
struct Driver {
    socket: TcpStream,
    heard: OwnedFd,
    bell: Arc<Bell>,
    needs: Arc<Needs>,
    state: Arc<State>,
}

type Http2 = Http<Stream, Bytes>;

impl Driver {
    fn run(&self, stream: Stream, answer: &mpsc::Sender<Tried<SendRequest<Bytes>>>) {
        match self.shake_hands(stream) {
            Err(trouble) => {
                self.state.die(trouble.to_string());
                let _ = answer.send(Err(trouble));
            }
            Ok((send, http)) => {
                let _ = answer.send(Ok(send));
                drop(self.drive(http));
            }
        }
    }

    fn shake_hands(&self, stream: Stream) -> Tried<(SendRequest<Bytes>, Http2)> {
        let mut builder = h2::client::Builder::new();
        builder
            .initial_window_size(WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEADERS)
            .max_frame_size(64 << 10)
            .enable_push(false);
        let mut shaking = std::pin::pin!(builder.handshake::<_, Bytes>(stream));
        let until = Instant::now() + HANDSHAKE;
        let waker = Waker::from(self.bell.clone());
        loop {
            match shaking.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(done) => return done.map_err(|error| What::Lost(words(&error)).into()),
                Poll::Pending => {}
            }
            if Instant::now() >= until {
                return Err(What::Silent(HANDSHAKE).into());
            }
            self.sleep(until);
        }
    }

    /// Moves the connection on until it ends; what ends it is what callers are told.
    fn drive(&self, mut http: Http2) -> Http2 {
        let waker = Waker::from(self.bell.clone());
        let mut life = Life::new(http.ping_pong());
        loop {
            // A ring between this line and the sleep is heard in the pipe.
            self.bell.is_rung.store(false, Ordering::Release);
            let mut cx = Context::from_waker(&waker);
            match Pin::new(&mut http).poll(&mut cx) {
                Poll::Ready(Ok(())) => {
                    self.state.die("the server closed it".to_owned());
                    return http;
                }
                Poll::Ready(Err(error)) => {
                    self.state.die(words(&error));
                    return http;
                }
                Poll::Pending => {}
            }
            if self.bell.is_closed.load(Ordering::Acquire) {
                self.state.die("closed".to_owned());
                return http;
            }
            if !life.look(&mut cx) {
                self.state.die(format!("the server was silent for {} s", (SILENT + PATIENCE).as_secs()));
                let _ = self.socket.shutdown(std::net::Shutdown::Both);
                let _ = Pin::new(&mut http).poll(&mut cx);
                return http;
            }
            if self.sleep(life.next()) {
                life.heard();
            }
        }
    }

    /// Sleeps until something happens; returns whether bytes arrived.
    fn sleep(&self, until: Instant) -> bool {
        let mut flags = PollFlags::IN;
        if self.needs.writing.load(Ordering::Acquire) {
            flags |= PollFlags::OUT;
        }
        let mut fds = [
            PollFd::from_borrowed_fd(self.socket.as_fd(), flags),
            PollFd::from_borrowed_fd(self.heard.as_fd(), PollFlags::IN),
        ];
        let left = until.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        let timeout = Timespec::try_from(left).ok();
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return false;
        }
        let [socket, bell] = &fds;
        if bell.revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(&self.heard, &mut [0_u8; 16][..]);
        }
        socket.revents().contains(PollFlags::IN)
    }
}

/// Whether the server still lives.
struct Life {
    ping: Option<PingPong>,
    heard: Instant,
    asked: Option<Instant>,
}

impl Life {
    fn new(ping: Option<PingPong>) -> Self {
        Life { ping, heard: Instant::now(), asked: None }
    }

    /// Something arrived.
    fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// When to look again.
    fn next(&self) -> Instant {
        self.asked.map_or(self.heard + SILENT, |asked| asked + PATIENCE)
    }

    /// Asks for a sign of life if it is time to; false if there was none.
    fn look(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(ping) = &mut self.ping else { return true };
        let now = Instant::now();
        if let Some(asked) = self.asked {
            if ping.poll_pong(cx).is_ready() {
                self.asked = None;
                self.heard = now;
                return true;
            }
            // Anything that arrives is a sign of life.
            let last = asked.max(self.heard);
            self.asked = Some(last);
            return now < last + PATIENCE;
        }
        if now >= self.heard + SILENT && ping.send_ping(h2::Ping::opaque()).is_ok() {
            self.asked = Some(now);
            // The frame leaves with the next turn of the connection.
            cx.waker().wake_by_ref();
        }
        true
    }
}

/// Wakes a caller.
struct Caller(Thread);

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// When a wait ends without a result.
#[derive(Clone, Copy)]
pub struct Patience<'p> {
    /// The longest time without anything arriving.
    pub silence: Duration,
    /// The end of all patience, if there is one.
    pub until: Option<Instant>,
    /// Whether the run has to stop.
    pub stop: &'p (dyn Fn() -> bool + Sync),
}

impl Patience<'_> {
    /// Waits until something is ready.
    pub(crate) fn wait<T>(&self, mut ready: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Tried<T> {
        let waker = Waker::from(Arc::new(Caller(std::thread::current())));
        let mut cx = Context::from_waker(&waker);
        let begun = Instant::now();
        loop {
            if let Poll::Ready(done) = ready(&mut cx) {
                return Ok(done);
            }
            if (self.stop)() {
                return Err(What::Stopped.into());
            }
            let now = Instant::now();
            if now >= begun + self.silence || self.until.is_some_and(|until| now >= until) {
                return Err(What::Silent(now.saturating_duration_since(begun)).into());
            }
            let end = self.until.map_or(begun + self.silence, |until| until.min(begun + self.silence));
            std::thread::park_timeout(LOOK_UP.min(end.saturating_duration_since(now)));
        }
    }
}
