//! A small HTTP server on loopback for one client of the same user, which knows its token: what answers in place of a
//! remote service. Knows nothing of the content.

use crate::secret;
use purlin_value::encoding::hex;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The longest line of a request's head, and the number of its lines.
const LONGEST_LINE: u64 = 16 << 10;
const MOST_LINES: usize = 100;
/// The largest content of a request.
const LARGEST: usize = 16 << 20;
/// Maximum number of simultaneous connections.
const CONNECTIONS: usize = 64;
/// Idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(60);

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// `GET`, `PATCH` and the like.
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    /// The media types that the client accepts.
    pub accept: String,
    /// Its content.
    pub body: Vec<u8>,
}

/// The request handler: status and content, which is JSON or text.
pub type Answer = dyn Fn(&Sent) -> (u16, String) + Send + Sync;

/// A server that listens on loopback.
pub struct Loopback {
    listener: TcpListener,
    port: u16,
    token: String,
}

impl Loopback {
    /// Listens on a port of loopback, or on any free one if that port is in use.
    ///
    /// # Errors
    /// If no port can be opened.
    pub fn open(port: Option<u16>) -> io::Result<Self> {
        let bind = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = port.map_or_else(|| bind(0), |port| bind(port).or_else(|_| bind(0)))?;
        let port = listener.local_addr()?.port();
        Ok(Loopback { listener, port, token: hex(&secret::draw()) })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The token that a client sends as `Authorization: Bearer TOKEN`.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Answers requests on threads of its own until the process ends.
    pub fn start(self, answer: Arc<Answer>) {
        let gate = Arc::new(Gate { host: format!("127.0.0.1:{}", self.port), token: self.token });
        let open = Arc::new(AtomicUsize::new(0));
        let listener = self.listener;
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if open.load(Ordering::Relaxed) >= CONNECTIONS {
                    continue;
                }
                open.fetch_add(1, Ordering::Relaxed);
                let (gate, answer, open) = (gate.clone(), answer.clone(), open.clone());
                std::thread::spawn(move || {
                    // A closed connection needs no answer.
                    let _ = converse(stream, &gate, &*answer);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
    }
}

/// Access check.
struct Gate {
    host: String,
    token: String,
}

/// The head of a request.
#[derive(Default)]
struct Head {
    sent: Sent,
    host: String,
    token: String,
    length: usize,
}

impl Gate {
    fn refusal(&self, head: &Head) -> Option<(u16, &'static str)> {
        match head {
            _ if head.host != self.host => Some((403, "this host is not served")),
            _ if !is_same(&head.token, &self.token) => Some((401, "Unauthorized")),
            _ if head.length > LARGEST => Some((413, "the request is too large")),
            _ => None,
        }
    }
}

/// Compares in constant time, so that timing does not reveal the correct part.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Answers what comes over one connection.
fn converse(stream: TcpStream, gate: &Gate, answer: &Answer) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(mut head) = head(&mut reader)? {
        if let Some((status, why)) = gate.refusal(&head) {
            return respond(&mut out, status, why);
        }
        head.sent.body = vec![0; head.length];
        reader.read_exact(&mut head.sent.body)?;
        let (status, content) = answer(&head.sent);
        respond(&mut out, status, &content)?;
    }
    Ok(())
}

fn respond(out: &mut TcpStream, status: u16, content: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status} Answer\r\nContent-Type: application/json\r\nContent-Length: ");
    out.write_all(format!("{head}{}\r\n\r\n{content}", content.len()).as_bytes())
}

/// Reads a head; `None` at the end of the connection.
fn head(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Head>> {
    let Some(first) = line(reader)? else { return Ok(None) };
    let mut words = first.split_ascii_whitespace().map(str::to_owned);
    let mut head = Head::default();
    head.sent.method = words.next().unwrap_or_default();
    head.sent.target = words.next().unwrap_or_default();
    for _ in 0..MOST_LINES {
        let Some(line) = line(reader)? else { return Ok(None) };
        if line.is_empty() {
            return Ok(Some(head));
        }
        let Some((name, value)) = line.split_once(':') else { return Err(io::ErrorKind::InvalidData.into()) };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => value.clone_into(&mut head.host),
            "authorization" => value.trim_start_matches("Bearer ").clone_into(&mut head.token),
            "accept" => value.clone_into(&mut head.sent.accept),
            "content-length" => head.length = value.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?,
            // A content of unknown length is not read.
            "transfer-encoding" => return Err(io::ErrorKind::InvalidData.into()),
            _ => {}
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

fn line(reader: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut line = String::new();
    if reader.by_ref().take(LONGEST_LINE).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::InvalidData.into());
    }
    line.truncate(line.trim_end().len());
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut out = String::new();
        let _ = stream.read_to_string(&mut out);
        out
    }

    #[test]
    fn only_the_client_that_knows_the_token_is_answered() {
        let server = Loopback::open(None).unwrap();
        let (port, token) = (server.port(), server.token().to_owned());
        server.start(Arc::new(|sent: &Sent| {
            (200, format!("{} {} {}", sent.method, sent.target, String::from_utf8_lossy(&sent.body)))
        }));
        let head = format!("PATCH /a?b HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 3\r\n");
        let good = ask(port, &format!("{head}Authorization: Bearer {token}\r\n\r\nxyz"));
        assert!(good.starts_with("HTTP/1.1 200") && good.ends_with("PATCH /a?b xyz"), "{good}");
        let stranger = ask(port, &format!("{head}Authorization: Bearer {}\r\n\r\nxyz", "0".repeat(token.len())));
        assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
        let other = format!("GET / HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {token}\r\n\r\n");
        assert!(ask(port, &other).starts_with("HTTP/1.1 403"));
        let large = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n");
        assert!(ask(port, &format!("{large}Content-Length: 999999999\r\n\r\n")).starts_with("HTTP/1.1 413"));
        assert_eq!(ask(port, &format!("{large}Content-Length: x\r\n\r\n")), "");
        assert_eq!(ask(port, &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20 << 10))), "");
    }

    #[test]
    fn a_port_in_use_is_replaced_by_a_free_one() {
        let first = Loopback::open(None).unwrap();
        let second = Loopback::open(Some(first.port())).unwrap();
        assert_ne!(first.port(), second.port());
    }
}
