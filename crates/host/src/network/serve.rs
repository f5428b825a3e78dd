//! Serves pages to the browser of the user who started the program, and to no other client.
//!
//! The address is loopback. A random token in the first address is exchanged for a cookie that only this site gets
//! back. Requests without it are refused, and so are cross-site requests and requests with another host name (DNS
//! rebinding). Only `GET` is answered. Knows nothing of the content.

use crate::secret;
use purlin_value::encoding::hex;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use ureq_proto::http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, header};
use ureq_proto::server::{RecvRequestResult, Reply, SendResponseResult, state};

/// The longest request.
const LONGEST: usize = 32 << 10;
/// Maximum number of simultaneous connections; a browser opens six.
const CONNECTIONS: usize = 64;
/// Idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(60);
/// Size of the chunks in which answers are sent.
const PIECE: usize = 64 << 10;

/// Permissions of a page: loading its own scripts, styles and data, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The path, from `/`.
    pub path: String,
    /// The query parameters, decoded.
    pub query: Vec<(String, String)>,
}

impl Asked {
    /// The first value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Served {
    /// The HTTP status.
    pub status: u16,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub body: Arc<[u8]>,
}

impl Served {
    /// A successful response.
    pub fn found(kind: &'static str, body: impl Into<Arc<[u8]>>) -> Self {
        Served { status: 200, kind, body: body.into() }
    }

    /// An error response with the reason.
    pub fn refused(status: u16, why: &str) -> Self {
        Served { status, kind: "text/plain; charset=utf-8", body: why.as_bytes().into() }
    }
}

/// The request handler.
pub type Answer = dyn Fn(&Asked) -> Served + Send + Sync;

/// A server that listens on loopback.
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
}

impl Server {
    /// Listens on a port of loopback, or on any free port.
    ///
    /// # Errors
    /// If the port is in use or not permitted.
    pub fn open(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0))))?;
        let port = listener.local_addr()?.port();
        Ok(Server { listener, port, token: hex(&secret::draw()) })
    }

    /// The address that opens the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Answers requests on threads of its own until the process ends.
    pub fn start(self, answer: Arc<Answer>) {
        let gate = Arc::new(Gate { port: self.port, token: self.token });
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
    port: u16,
    token: String,
}

/// Result of the access check.
#[derive(Debug)]
enum Verdict {
    /// It is answered.
    In,
    /// It gets the cookie, and is sent to the page.
    Cookie(String),
    /// It is refused.
    Out(Served),
}

impl Gate {
    fn judge(&self, request: &Request<()>, asked: &Asked) -> Verdict {
        let headers = request.headers();
        if request.method() != Method::GET {
            return Verdict::Out(Served::refused(405, "only GET is answered"));
        }
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let Some(host) = only(headers, &header::HOST).filter(|host| hosts.iter().any(|own| own == host)) else {
            return Verdict::Out(Served::refused(403, "this host is not served"));
        };
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if headers.contains_key(header::ORIGIN) && !only(headers, &header::ORIGIN).is_some_and(is_own) {
            return Verdict::Out(Served::refused(403, "other sites are not served"));
        }
        let site = HeaderName::from_static("sec-fetch-site");
        let is_from_here = |site: &str| matches!(site, "same-origin" | "none");
        if headers.contains_key(&site) && !only(headers, &site).is_some_and(is_from_here) {
            return Verdict::Out(Served::refused(403, "other sites are not served"));
        }
        // Cookies are shared between ports, so servers on this machine need different names.
        let name = format!("purlin-{}", self.port);
        if asked.path == "/" && asked.get("token").is_some_and(|token| is_same(token, &self.token)) {
            return Verdict::Cookie(format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.token));
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        if cookies.any(|(known, value)| known == name && is_same(value, &self.token)) {
            return Verdict::In;
        }
        Verdict::Out(Served::refused(403, "open the address that `purlin explore` has printed"))
    }
}

/// The value of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// Compares in constant time, so that timing does not reveal the correct part.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Answers what comes over one connection.
fn converse(mut stream: TcpStream, gate: &Gate, answer: &Answer) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let mut held: Vec<u8> = Vec::new();
    loop {
        let mut reply = Reply::new().map_err(io::Error::other)?;
        let Some(request) = receive(&mut stream, &mut held, &mut reply)? else { return Ok(()) };
        let asked = asked(&request);
        let (served, cookie) = match gate.judge(&request, &asked) {
            Verdict::In => (answer(&asked), None),
            Verdict::Cookie(cookie) => (Served::refused(303, ""), Some(cookie)),
            Verdict::Out(served) => (served, None),
        };
        // Data after such a request is not read.
        let (reply, is_last) = match reply.proceed() {
            Some(RecvRequestResult::ProvideResponse(reply)) => (reply, served.status >= 400),
            _ => return Ok(()),
        };
        let response = response(&served, cookie.as_deref(), is_last).map_err(io::Error::other)?;
        if send(&mut stream, reply, response, &served.body)? || is_last {
            return Ok(());
        }
    }
}

fn receive(
    stream: &mut TcpStream,
    held: &mut Vec<u8>,
    reply: &mut Reply<state::RecvRequest>,
) -> io::Result<Option<Request<()>>> {
    let mut piece = [0; 4096];
    loop {
        let (used, request) = reply.try_request(held).map_err(io::Error::other)?;
        if let Some(request) = request {
            held.drain(..used);
            return Ok(Some(request));
        }
        if held.len() > LONGEST {
            return Ok(None);
        }
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            count => held.extend_from_slice(piece.get(..count).unwrap_or_default()),
        }
    }
}

fn response(served: &Served, cookie: Option<&str>, is_last: bool) -> Result<Response<()>, ureq_proto::http::Error> {
    let status = StatusCode::from_u16(served.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, served.kind)
        .header(header::CONTENT_LENGTH, served.body.len())
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::X_FRAME_OPTIONS, "DENY")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(header::CACHE_CONTROL, "no-store")
        .header("cross-origin-resource-policy", "same-origin")
        .header("cross-origin-opener-policy", "same-origin");
    if let Some(cookie) = cookie {
        response = response.header(header::SET_COOKIE, cookie).header(header::LOCATION, "/");
    }
    if is_last {
        response = response.header(header::CONNECTION, "close");
    }
    response.body(())
}

/// Sends an answer; returns whether the connection ends with it.
fn send(
    stream: &mut TcpStream,
    reply: Reply<state::ProvideResponse>,
    response: Response<()>,
    body: &[u8],
) -> io::Result<bool> {
    let mut out = vec![0; PIECE];
    let mut reply = reply.provide(response).map_err(io::Error::other)?;
    while !reply.is_finished() {
        let count = reply.write(&mut out).map_err(io::Error::other)?;
        if count == 0 {
            return Ok(true);
        }
        stream.write_all(out.get(..count).unwrap_or_default())?;
    }
    let cleanup = match reply.proceed() {
        SendResponseResult::Cleanup(cleanup) => cleanup,
        SendResponseResult::SendBody(mut reply) => {
            let mut rest = body;
            while !reply.is_finished() {
                let (taken, count) = reply.write(rest, &mut out).map_err(io::Error::other)?;
                stream.write_all(out.get(..count).unwrap_or_default())?;
                rest = rest.get(taken..).unwrap_or_default();
                if taken == 0 && count == 0 {
                    break;
                }
            }
            reply.proceed()
        }
    };
    stream.flush()?;
    Ok(cleanup.must_close_connection())
}

fn asked(request: &Request<()>) -> Asked {
    let uri = request.uri();
    let query = uri.query().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name, true), decoded(value, true))
    });
    Asked { path: decoded(uri.path(), false), query: query.collect() }
}

/// Decodes percent-encoded text.
fn decoded(text: &str, is_query: bool) -> String {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let escaped = digit(behind.first()).zip(digit(behind.get(1))).filter(|_| byte == b'%');
        match escaped.map(|(high, low)| u8::try_from(high * 16 + low)) {
            Some(Ok(value)) => {
                out.push(value);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ if byte == b'+' && is_query => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Opens an address in the user's browser, if the system has a way to.
pub fn open_browser(address: &str) -> bool {
    let programs: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview"] };
    let null = std::process::Stdio::null;
    programs.iter().any(|program| {
        let mut command = crate::process::command(program);
        command.arg(address).stdin(null()).stdout(null()).stderr(null()).spawn().is_ok()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A server that answers everything with `secret`, its port, and its token.
    fn server() -> (u16, String) {
        let server = Server::open(None).unwrap();
        let (port, token) = (server.port, server.token.clone());
        server.start(Arc::new(|asked: &Asked| {
            Served::found("text/plain", format!("secret {} {:?}", asked.path, asked.query).into_bytes())
        }));
        (port, token)
    }

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut out = String::new();
        stream.read_to_string(&mut out).unwrap();
        out
    }

    fn status(answer: &str) -> &str {
        answer.split(' ').nth(1).unwrap_or_default()
    }

    #[test]
    fn the_token_is_exchanged_for_a_cookie_that_opens_everything() {
        let (port, token) = server();
        let host = format!("Host: 127.0.0.1:{port}\r\nConnection: close\r\n");
        let first = ask(port, &format!("GET /?token={token} HTTP/1.1\r\n{host}\r\n"));
        assert_eq!(status(&first), "303", "{first}");
        let cookie = first.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap();
        let page = ask(port, &format!("GET /a%20b?c=d+e&f HTTP/1.1\r\n{host}Cookie: x=y; {cookie}\r\n\r\n"));
        assert!(page.contains(r#"secret /a b [("c", "d e"), ("f", "")]"#), "{page}");
        assert!(page.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{page}");
        assert!(!page.contains("access-control"), "{page}");
    }

    #[test]
    fn whoever_else_asks_gets_nothing() {
        let (port, token) = server();
        let own = format!("127.0.0.1:{port}");
        let cookie = format!("Cookie: purlin-{port}={token}\r\n");
        let wrong = "0".repeat(token.len());
        let attacks = [
            ("no token", format!("GET / HTTP/1.1\r\nHost: {own}\r\n")),
            ("a wrong token", format!("GET /?token={wrong} HTTP/1.1\r\nHost: {own}\r\n")),
            ("a wrong cookie", format!("GET / HTTP/1.1\r\nHost: {own}\r\nCookie: purlin-{port}={wrong}\r\n")),
            ("a token elsewhere", format!("GET /data/project?token={token} HTTP/1.1\r\nHost: {own}\r\n")),
            ("a cookie of another port", format!("GET / HTTP/1.1\r\nHost: {own}\r\nCookie: purlin-1={token}\r\n")),
            ("a rebinding name", format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n{cookie}")),
            ("a name and no port", format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{cookie}")),
            ("two hosts", format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n{cookie}")),
            ("no host", format!("GET / HTTP/1.1\r\n{cookie}")),
            ("another origin", format!("GET / HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n{cookie}")),
            ("no origin", format!("GET / HTTP/1.1\r\nHost: {own}\r\nOrigin: null\r\n{cookie}")),
            ("another port", format!("GET / HTTP/1.1\r\nHost: {own}\r\nOrigin: http://127.0.0.1:1\r\n{cookie}")),
            ("another site", format!("GET / HTTP/1.1\r\nHost: {own}\r\nSec-Fetch-Site: cross-site\r\n{cookie}")),
            ("the same site", format!("GET / HTTP/1.1\r\nHost: {own}\r\nSec-Fetch-Site: same-site\r\n{cookie}")),
            (
                "the token by another site",
                format!("GET /?token={token} HTTP/1.1\r\nHost: {own}\r\nSec-Fetch-Site: cross-site\r\n"),
            ),
            ("POST", format!("POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n{cookie}")),
            ("OPTIONS", format!("OPTIONS / HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n{cookie}")),
            ("HEAD", format!("HEAD / HTTP/1.1\r\nHost: {own}\r\n{cookie}")),
            ("another address", format!("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n{cookie}")),
        ];
        for (attack, head) in attacks {
            let answer = ask(port, &format!("{head}Connection: close\r\n\r\n"));
            assert!(!answer.contains("secret"), "{attack}: {answer}");
            assert!(!answer.contains(&token), "{attack}: {answer}");
            assert!(!answer.to_lowercase().contains("access-control"), "{attack}: {answer}");
        }
        let long = "a".repeat(2 * LONGEST);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .and_then(|mut stream| stream.write_all(format!("GET /{long} HTTP/1.1\r\n").as_bytes()));
    }

    #[test]
    fn addresses_are_decoded_once() {
        assert_eq!(decoded("a%20b%2520c+d%zz%", true), "a b%20c d%zz%");
        assert_eq!(decoded("%ff", false), "\u{fffd}");
    }
}
