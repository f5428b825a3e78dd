//! The part of the API in this process that keeps connections open: logs that are followed, commands in containers
//! and forwarded ports, in the protocols of Kubernetes. No container runs: a few commands are acted out.

use crate::fake::State;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

/// What a container has printed, and what was done with it.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Lines of its present instance, with their times.
    pub lines: Vec<(String, String)>,
    /// Lines of the instance before.
    pub previous: Vec<(String, String)>,
    /// How often it has restarted.
    pub instance: u64,
}

/// All of it.
#[derive(Default)]
pub struct Streams {
    /// By pod.
    pub logs: BTreeMap<String, Live>,
    /// Commands that ran, and the input that each has got.
    pub commands: Vec<(String, Vec<u8>)>,
    /// Sizes of terminals.
    pub sizes: Vec<String>,
    /// Connections that are open.
    pub open: usize,
    /// The newest protocol that is spoken, if not the fifth.
    pub old: bool,
}

fn parameters(target: &str, name: &str) -> Vec<String> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let values = query.split('&').filter_map(|part| part.split_once('=')).filter(|(key, _)| *key == name);
    values.map(|(_, value)| decoded(value)).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let code: String = rest.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&code, 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// The lines that a request for a log selects; times are compared by the second, as servers do.
pub fn selected(live: &Live, target: &str) -> Vec<(String, String)> {
    let parameter = |name: &str| parameters(target, name).pop();
    let all = if parameter("previous").as_deref() == Some("true") { &live.previous } else { &live.lines };
    let since = parameter("sinceTime").unwrap_or_default();
    let second = since.trim_end_matches('Z').to_owned();
    let mut found: Vec<(String, String)> = all.iter().filter(|(time, _)| *time >= second).cloned().collect();
    if let Some(tail) = parameter("tailLines").and_then(|text| text.parse::<usize>().ok()) {
        found.drain(..found.len().saturating_sub(tail));
    }
    found
}

pub fn written(lines: &[(String, String)]) -> String {
    lines.iter().map(|(time, line)| format!("{time} {line}\n")).collect()
}

/// Sends the log of a container until its instance ends, in chunks.
pub fn follow(mut out: TcpStream, state: &Mutex<State>, pod: &str, target: &str) {
    let instance = state.lock().unwrap().streams.logs.get(pod).map_or(0, |live| live.instance);
    state.lock().unwrap().streams.open += 1;
    let mut done = || -> std::io::Result<()> {
        out.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n")?;
        let mut sent = 0;
        let mut is_first = true;
        loop {
            let live = state.lock().unwrap().streams.logs.get(pod).cloned().unwrap_or_default();
            let is_over = live.instance != instance;
            let lines = if is_over { &live.previous } else { &live.lines };
            let chosen = match std::mem::replace(&mut is_first, false) {
                true => selected(&live, target),
                false => lines.get(sent..).unwrap_or_default().to_vec(),
            };
            sent = lines.len();
            let text = written(&chosen);
            // In two chunks, so that lines are split.
            let (one, two) = text.split_at(text.len() / 2);
            for part in [one, two].into_iter().filter(|part| !part.is_empty()) {
                out.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes())?;
                out.flush()?;
            }
            if is_over {
                return out.write_all(b"0\r\n\r\n");
            }
            // A closed connection is noticed by what is sent.
            if out.take_error()?.is_some() || is_closed(&out) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let _ = done();
    state.lock().unwrap().streams.open -= 1;
}

fn is_closed(stream: &TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    let ended = matches!(stream.peek(&mut [0]), Ok(0));
    let _ = stream.set_nonblocking(false);
    ended
}

/// Accepts a WebSocket and acts a command or a forwarded port out.
pub fn upgrade(mut out: TcpStream, state: &Mutex<State>, target: &str, key: &str, offered: &str) {
    let old = state.lock().unwrap().streams.old;
    let spoken: Vec<&str> = offered.split(", ").filter(|name| !(old && *name == "v5.channel.k8s.io")).collect();
    let proof = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {proof}\r\nSec-WebSocket-Protocol: {}\r\n\r\n",
        spoken[0]
    );
    out.write_all(head.as_bytes()).unwrap();
    out.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut socket = WebSocket::from_raw_socket(out, Role::Server, None);
    state.lock().unwrap().streams.open += 1;
    match target.contains("/portforward?") {
        true => forward(&mut socket, target),
        false => command(&mut socket, state, target, spoken[0] == "v5.channel.k8s.io"),
    }
    // The other side says goodbye, or is gone.
    let until = Instant::now() + Duration::from_secs(2);
    let _ = socket.close(None);
    while Instant::now() < until && !matches!(socket.read(), Err(error) if !is_pause(&error)) {}
    state.lock().unwrap().streams.open -= 1;
}

fn is_pause(error: &tungstenite::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error, tungstenite::Error::Io(error) if matches!(error.kind(), WouldBlock | TimedOut))
}

type Socket = WebSocket<TcpStream>;

fn send(socket: &mut Socket, channel: u8, text: &[u8]) {
    let message = [&[channel], text].concat();
    let _ = socket.send(Message::Binary(message.into()));
}

/// The next message; `None` when the other side is gone.
fn next(socket: &mut Socket) -> Option<(u8, Vec<u8>)> {
    loop {
        match socket.read() {
            Ok(Message::Binary(bytes)) => return Some((bytes[0], bytes[1..].to_vec())),
            Ok(_) => {}
            Err(error) if is_pause(&error) => {}
            Err(_) => return None,
        }
    }
}

/// `echo WORDS`, `cat`, `fail N`, `both`, `size`, `wait`; everything else is not found.
fn command(socket: &mut Socket, state: &Mutex<State>, target: &str, has_close: bool) {
    let words = parameters(target, "command");
    let container = parameters(target, "container").join("");
    let mut input = Vec::new();
    let mut status = r#"{"metadata":{},"status":"Success"}"#.to_owned();
    let words_of: Vec<&str> = words.iter().map(String::as_str).collect();
    match words_of.as_slice() {
        ["echo", rest @ ..] => send(socket, 1, format!("{}\n", rest.join(" ")).as_bytes()),
        ["where"] => send(socket, 1, format!("{container}\n").as_bytes()),
        ["both"] => {
            send(socket, 1, b"to stdout\n");
            send(socket, 2, b"to stderr\n");
        }
        ["cat"] | ["tar", ..] => {
            assert!(has_close, "the end of an input cannot be told");
            while let Some((channel, bytes)) = next(socket) {
                match channel {
                    0 => input.extend(bytes),
                    255 => break,
                    _ => {}
                }
            }
            if words_of[0] == "cat" {
                input.chunks(1000).for_each(|piece| send(socket, 1, piece));
            }
        }
        ["size"] => {
            while let Some((channel, bytes)) = next(socket) {
                if channel == 4 {
                    state.lock().unwrap().streams.sizes.push(String::from_utf8(bytes).unwrap());
                    break;
                }
            }
        }
        ["wait"] => {
            send(socket, 1, b"waiting\n");
            while next(socket).is_some() {}
            return;
        }
        ["fail", code] => {
            let causes = format!(r#"{{"causes":[{{"reason":"ExitCode","message":"{code}"}}]}}"#);
            status =
                format!(r#"{{"status":"Failure","reason":"NonZeroExitCode","message":"failed","details":{causes}}}"#);
        }
        _ => {
            let message = format!("exec: {:?}: executable file not found in $PATH", words[0]);
            status =
                serde_json::json!({ "status": "Failure", "reason": "InternalError", "message": message }).to_string();
        }
    }
    state.lock().unwrap().streams.commands.push((words.join(" "), input));
    send(socket, 3, status.as_bytes());
}

/// Port 8080 answers every line in capitals, 8081 says goodbye and closes, all others are not listened on.
fn forward(socket: &mut Socket, target: &str) {
    let port: u16 = parameters(target, "ports")[0].parse().unwrap();
    for channel in [0, 1] {
        send(socket, channel, &port.to_le_bytes());
    }
    match port {
        8080 => {
            while let Some((_, bytes)) = next(socket) {
                send(socket, 0, String::from_utf8(bytes).unwrap().to_uppercase().as_bytes());
            }
        }
        8081 => send(socket, 0, b"goodbye"),
        _ => {
            send(socket, 1, b"dial tcp4 127.0.0.1: connection refused");
            while next(socket).is_some() {}
        }
    }
}
