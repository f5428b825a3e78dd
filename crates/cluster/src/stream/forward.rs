//! A port of this machine that leads to a port of a pod. Every connection finds its pod anew, so that a forward
//! survives the pods behind it.

use super::STEP;
use super::answer::is_pause;
use super::channels::{Came, Channels};
use super::poll::{Awaited, wait};
use crate::client::{Client, GoOn};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::explain::{is_ready, pods, selected};
use crate::object::Id;
use crate::path::below;
use rustix::fd::AsFd;
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The protocol of this connection: two channels for a port, one for bytes and one for errors.
const PROTOCOL: &str = "v4.channel.k8s.io";

const DATA: u8 = 0;
const ERROR: u8 = 1;

/// How much is read from the local side at a time.
const PIECE: usize = 32 << 10;

/// Maximum number of connections through one forward at a time.
const MOST: usize = 64;

/// How long the other side may be silent once this side has sent everything: the end of one side alone cannot be told.
const LINGER: Duration = Duration::from_secs(30);

/// How long open connections are awaited at the end.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where a forward leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A Service, a workload or a pod.
    pub id: Id,
    /// Its port: of a Service the port of the Service, by number or name.
    pub port: String,
}

/// A forwarded port, until it is dropped.
pub struct Forward {
    local: u16,
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Receives messages of a forward.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

impl Forward {
    /// Listens on `port` of loopback, or on the next free one.
    ///
    /// # Errors
    /// If no port can be opened.
    pub fn start(client: Arc<Client>, target: Target, port: u16, say: Say) -> Result<Forward, ApiError> {
        let listener = purlin_host::connection::listen_near(port)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = listener.map_err(|error| ApiError::Other(format!("no port could be opened: {error}")))?;
        let local = listener.local_addr().map_or(0, |address| address.port());
        let is_ended = Arc::new(AtomicBool::new(false));
        let side = Side { client, target, say, is_ended: is_ended.clone(), open: Arc::default() };
        let thread = std::thread::Builder::new().name("forward".into()).spawn(move || side.accept(&listener));
        let thread = thread.map_err(|error| ApiError::Other(error.to_string()))?;
        Ok(Forward { local, is_ended, thread: Some(thread) })
    }

    /// The port of this machine.
    pub fn local(&self) -> u16 {
        self.local
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the threads of a forward share.
#[derive(Clone)]
struct Side {
    client: Arc<Client>,
    target: Target,
    say: Say,
    is_ended: Arc<AtomicBool>,
    open: Arc<AtomicUsize>,
}

impl Side {
    fn goes_on(&self) -> bool {
        !self.is_ended.load(Ordering::SeqCst)
    }

    fn accept(&self, listener: &TcpListener) {
        while self.goes_on() {
            match listener.accept() {
                Ok((local, _)) => self.converse_apart(local),
                Err(error) if is_pause(&error) => drop(wait(&[Awaited::both(listener.as_fd(), false)], STEP)),
                Err(_) => std::thread::sleep(STEP),
            }
        }
        // The threads of connections look at the same flag; one that waits for a silent server is left to its time limit.
        let ended = Instant::now();
        while self.open.load(Ordering::SeqCst) > 0 && ended.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn converse_apart(&self, local: TcpStream) {
        if self.open.fetch_add(1, Ordering::SeqCst) >= MOST {
            self.open.fetch_sub(1, Ordering::SeqCst);
            (self.say)(&format!("more than {MOST} connections at once; one was closed"));
            return;
        }
        let side = self.clone();
        let work = move || {
            if let Err(error) = side.converse(local)
                && side.goes_on()
            {
                (side.say)(&error.to_string());
            }
            side.open.fetch_sub(1, Ordering::SeqCst);
        };
        if std::thread::Builder::new().name("forward".into()).spawn(work).is_err() {
            self.open.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Passes bytes on in both directions until one side ends.
    fn converse(&self, mut local: TcpStream) -> Result<(), ApiError> {
        let go_on = || self.goes_on();
        let local_error = |error: std::io::Error| ApiError::Other(format!("the local connection broke: {error}"));
        local.set_nonblocking(true).and_then(|()| local.set_nodelay(true)).map_err(local_error)?;
        let (namespace, pod, port) = end_of(&self.client, &self.target, &go_on)?;
        let path = format!("{}?ports={port}", below(&namespace, &["pods", &pod, "portforward"]));
        let mut channels = Channels::open(&self.client, &path, PROTOCOL, &format!("Pod/{pod}"), &go_on)?;
        let mut sides = Sides::default();
        let mut ended: Option<Instant> = None;
        while self.goes_on() {
            let is_over = sides.take(&mut channels)?;
            sides.deliver(&mut local).map_err(local_error)?;
            if is_over && sides.undelivered.is_empty() {
                let _ = local.shutdown(Shutdown::Both);
                break;
            }
            if channels.is_full {
                channels.flush()?;
            } else if ended.is_none() && sides.give(&mut local, &mut channels)? {
                ended = Some(Instant::now());
            }
            if sides.has_news {
                ended = ended.map(|_| Instant::now());
            }
            if ended.is_some_and(|since| since.elapsed() > LINGER) {
                break;
            }
            self.pause(&channels, &local, ended.is_some(), &sides)?;
        }
        channels.close();
        Ok(())
    }

    fn pause(&self, channels: &Channels, local: &TcpStream, is_read: bool, sides: &Sides) -> Result<(), ApiError> {
        let has_undelivered = !sides.undelivered.is_empty();
        let own = Awaited { fd: local.as_fd(), reads: !is_read && !channels.is_full, writes: has_undelivered };
        channels.wait(&[own])
    }
}

/// What is on its way.
#[derive(Default)]
struct Sides {
    /// Bytes of the pod that the local side has not taken yet.
    undelivered: Vec<u8>,
    /// Bytes of the first messages, which repeat the port.
    seen: [usize; 2],
    has_news: bool,
}

/// Length of the port that a channel begins with.
const PORT: usize = 2;

impl Sides {
    /// Takes what the pod has sent. Returns whether it has ended.
    fn take(&mut self, channels: &mut Channels) -> Result<bool, ApiError> {
        self.has_news = false;
        while self.undelivered.len() < PIECE * 8 {
            match channels.receive()? {
                Came::Bytes(channel @ (DATA | ERROR), bytes) => {
                    let seen = self.seen.get_mut(usize::from(channel));
                    let port = seen.map_or(0, |seen| {
                        let port = (PORT - *seen).min(bytes.len());
                        *seen += port;
                        port
                    });
                    let rest = bytes.get(port..).unwrap_or_default();
                    if channel == ERROR && !rest.is_empty() {
                        let why = crate::foreign::line(&String::from_utf8_lossy(rest));
                        return Err(ApiError::Other(format!("the pod does not accept the connection: {why}")));
                    }
                    self.has_news |= !rest.is_empty();
                    self.undelivered.extend_from_slice(rest);
                }
                Came::Bytes(..) => {}
                Came::Nothing => return Ok(false),
                Came::End => return Ok(true),
            }
        }
        Ok(false)
    }

    fn deliver(&mut self, local: &mut TcpStream) -> std::io::Result<()> {
        while !self.undelivered.is_empty() {
            match local.write(&self.undelivered) {
                Ok(count) => drop(self.undelivered.drain(..count)),
                Err(error) if is_pause(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends what the local side has written. Returns whether it has ended.
    fn give(&mut self, local: &mut TcpStream, channels: &mut Channels) -> Result<bool, ApiError> {
        let mut buffer = vec![0; PIECE];
        match local.read(&mut buffer) {
            Ok(0) => Ok(true),
            Ok(count) => channels.send(DATA, buffer.get(..count).unwrap_or_default()).map(|()| false),
            Err(error) if is_pause(&error) => Ok(false),
            Err(_) => Ok(true),
        }
    }
}

/// The pod and the port that a forward leads to now.
fn end_of(client: &Client, target: &Target, go_on: GoOn<'_>) -> Result<(String, String, u16), ApiError> {
    let id = &target.id;
    let discovery = Discovery::read(client, &std::iter::once(id.api_version.clone()).collect(), go_on)?;
    let unknown = || ApiError::UnknownKind(id.kind.clone());
    let resource = discovery.find(&id.api_version, &id.kind).ok_or_else(unknown)?;
    let live = client.get(&resource.path(&id.namespace, Some(&id.name)), &id.to_string(), go_on)?;
    let found = match id.kind.as_str() {
        "Service" => selected(client, &id.namespace, live.pointer("/spec/selector"), go_on),
        _ => pods(client, &live, go_on),
    };
    let is_running = |pod: &&Json| {
        pod.pointer("/status/phase").and_then(Json::as_str) == Some("Running")
            && pod.pointer("/metadata/deletionTimestamp").is_none()
    };
    let pod = found.iter().find(|pod| is_ready(pod)).or_else(|| found.iter().find(is_running));
    let pod = pod.ok_or_else(|| ApiError::Other(format!("{id} has no running pod")))?;
    let wanted = match id.kind.as_str() {
        "Service" => port_of_service(&live, &target.port),
        _ => Some(Json::from(target.port.as_str())),
    };
    let port = wanted.as_ref().and_then(|port| port_of_pod(pod, port));
    let port = port.ok_or_else(|| ApiError::Other(format!("{id} has no port `{}`", target.port)))?;
    let name = pod.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default();
    let namespace = pod.pointer("/metadata/namespace").and_then(Json::as_str).unwrap_or(&id.namespace);
    Ok((namespace.to_owned(), name.to_owned(), port))
}

/// The port of the pods behind a port of a Service.
fn port_of_service(service: &Json, port: &str) -> Option<Json> {
    let ports = service.pointer("/spec/ports").and_then(Json::as_array)?;
    let is_meant = |one: &&Json| {
        one.get("port").and_then(Json::as_u64).is_some_and(|number| number.to_string() == port)
            || one.get("name").and_then(Json::as_str) == Some(port)
    };
    let found = ports.iter().find(is_meant)?;
    found.get("targetPort").or_else(|| found.get("port")).cloned()
}

/// A port of a pod, by number or by the name that a container gives it.
fn port_of_pod(pod: &Json, port: &Json) -> Option<u16> {
    let number = port.as_u64().or_else(|| port.as_str()?.parse().ok());
    if let Some(number) = number {
        return u16::try_from(number).ok().filter(|number| *number > 0);
    }
    let containers = pod.pointer("/spec/containers").and_then(Json::as_array)?;
    let ports = containers.iter().filter_map(|container| container.get("ports")?.as_array()).flatten();
    let named = ports.filter(|one| one.get("name").and_then(Json::as_str) == port.as_str());
    named.filter_map(|one| one.get("containerPort")?.as_u64()).find_map(|number| u16::try_from(number).ok())
}
