//! Single files over https, or over http where the user allowed that.
//!
//! Every hop is checked: its host must be allowed, and the machine behind the name is checked between the look-up and
//! the connection, so that no name leads to a private network.

use super::address::{Address, Allowed, RemoteAddress, Transport, parse};
use purlin_value::world::WorldError;
use std::time::{Duration, Instant};

/// Time limit for a file, redirects included.
const LONGEST: Duration = Duration::from_secs(10);

/// Maximum number of redirects.
const MOST_REDIRECTS: usize = 5;

/// A server's response.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) location: Option<String>,
    /// The authentication that the server asks for (`WWW-Authenticate`).
    pub(super) challenge: Option<String>,
    /// The address of the next page of a list (`Link`).
    pub(super) next: Option<String>,
    pub(super) body: Vec<u8>,
}

/// A request: an address with headers.
#[cfg_attr(not(feature = "net"), allow(dead_code))]
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    pub(super) address: &'a str,
    pub(super) headers: &'a [(&'a str, String)],
    pub(super) body: Option<&'a [u8]>,
}

/// Sends requests; tests have an implementation of their own.
pub(super) trait Web {
    /// One request, no redirects. The body is cut off after `most` bytes.
    fn send(&self, ask: Ask<'_>, most: u64, time: Duration) -> Result<Answer, WorldError>;

    /// Refuses a host whose name leads to a machine that was not allowed, before another program connects to it.
    fn check_machines(&self, _address: &RemoteAddress) -> Result<(), WorldError> {
        Ok(())
    }
}

/// Gets a file, following redirects.
pub(super) fn get(web: &dyn Web, allowed: &Allowed, first: &RemoteAddress, most: u64) -> Result<Vec<u8>, WorldError> {
    let answer = ask(web, allowed, first, &[], most)?;
    match answer.status {
        200 => Ok(answer.body),
        status => Err(failed(format!("the server answered with status {status}"))),
    }
}

/// Sends a request, following redirects. Headers are sent to the first host only: they may identify the user.
pub(super) fn ask(
    web: &dyn Web,
    allowed: &Allowed,
    first: &RemoteAddress,
    headers: &[(&str, String)],
    most: u64,
) -> Result<Answer, WorldError> {
    let start = Instant::now();
    let mut address = first.clone();
    for _ in 0..=MOST_REDIRECTS {
        match (address.transport, first.transport) {
            (Transport::Ssh, _) => {
                return Err(WorldError::Denied("single files are fetched over https only".to_owned()));
            }
            (Transport::Http, Transport::Https) => {
                return Err(WorldError::Denied("it was redirected from https to http".to_owned()));
            }
            _ => allowed.check(&address)?,
        }
        let left = LONGEST.checked_sub(start.elapsed()).ok_or_else(|| failed("it took too long"))?;
        let is_first = (&address.host, address.port) == (&first.host, first.port);
        let headers = if is_first { headers } else { &[] };
        let ask = Ask { method: "GET", address: &address.full, headers, body: None };
        let answer = web.send(ask, most, left)?;
        match (answer.status, &answer.location) {
            (200, _) if answer.body.len() as u64 > most => {
                return Err(WorldError::TooLarge(format!("has more than the {most} bytes allowed")));
            }
            (301 | 302 | 303 | 307 | 308, Some(location)) => match parse(&absolute(&address.full, location))? {
                Address::Remote(next) => address = next,
                Address::Local(_) => return Err(failed("it was redirected to something that is not an address")),
            },
            _ => return Ok(answer),
        }
    }
    Err(failed(format!("it was redirected more than {MOST_REDIRECTS} times")))
}

pub(super) fn failed(why: impl Into<String>) -> WorldError {
    WorldError::FetchFailed(why.into())
}

/// Resolves an address relative to the page that contains it.
pub(super) fn absolute(from: &str, location: &str) -> String {
    if location.contains("://") {
        return location.to_owned();
    }
    let (scheme, rest) = from.split_once("://").unwrap_or(("https", from));
    if location.starts_with("//") {
        return format!("{scheme}:{location}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if location.starts_with('/') {
        return format!("{scheme}://{authority}{location}");
    }
    let path = path.split(['?', '#']).next().unwrap_or("");
    let folder = path.rfind('/').and_then(|at| path.get(..at)).unwrap_or("");
    format!("{scheme}://{authority}{folder}/{location}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use std::sync::Mutex;

    #[cfg(feature = "net")]
    use crate::fetch::internet::Internet;

    /// A network with some known pages that records its requests.
    struct Fake {
        pages: Vec<(&'static str, u16, &'static str)>,
        asked: Mutex<Vec<String>>,
    }

    impl Web for Fake {
        fn send(&self, ask: Ask<'_>, most: u64, _time: Duration) -> Result<Answer, WorldError> {
            self.asked.lock().unwrap().push(ask.address.to_owned());
            let (_, status, text) = self.pages.iter().find(|(page, ..)| *page == ask.address).unwrap();
            let location = (*status >= 300 && *status < 400).then(|| (*text).to_owned());
            let body = text.bytes().take(most as usize + 1).collect();
            Ok(Answer { status: *status, location, challenge: None, next: None, body })
        }
    }

    fn request(pages: &[(&'static str, u16, &'static str)], first: &str) -> (Result<Vec<u8>, WorldError>, Vec<String>) {
        let fake = Fake { pages: pages.to_vec(), asked: Mutex::default() };
        let allowed = Allowed::new(&["a.example".to_owned(), "b.example".to_owned()]);
        let Ok(Address::Remote(first)) = parse(first) else { panic!("{first}") };
        let result = get(&fake, &allowed, &first, 10);
        (result, fake.asked.into_inner().unwrap())
    }

    #[test]
    fn redirects_are_followed_where_they_may_lead() {
        let pages = [
            ("https://a.example/x", 302, "/y/z"),
            ("https://a.example/y/z", 301, "w"),
            ("https://a.example/y/w", 307, "https://b.example/end"),
            ("https://b.example/end", 200, "text"),
        ];
        let (result, asked) = request(&pages, "https://a.example/x");
        assert_eq!(result.unwrap(), b"text");
        assert_eq!(asked.len(), 4);
    }

    #[test]
    fn redirects_elsewhere_are_refused_before_anything_is_asked_there() {
        for target in
            ["https://evil.example/x", "//evil.example/x", "http://b.example/x", "file:///x", "ssh://b.example/x"]
        {
            let (result, asked) = request(&[("https://a.example/x", 302, target)], "https://a.example/x");
            assert!(matches!(result, Err(WorldError::Denied(_) | WorldError::FetchFailed(_))), "{target}");
            assert_eq!(asked, ["https://a.example/x"], "{target}");
        }
    }

    #[test]
    fn circles_large_answers_and_errors_end() {
        let (result, asked) = request(&[("https://a.example/x", 302, "/x")], "https://a.example/x");
        assert!(matches!(result, Err(WorldError::FetchFailed(_))));
        assert_eq!(asked.len(), MOST_REDIRECTS + 1);
        let (result, _) = request(&[("https://a.example/x", 200, "more than ten bytes")], "https://a.example/x");
        assert!(matches!(result, Err(WorldError::TooLarge(_))));
        let (result, _) = request(&[("https://a.example/x", 404, "gone")], "https://a.example/x");
        assert_eq!(result, Err(WorldError::FetchFailed("the server answered with status 404".to_owned())));
    }

    /// The listener must see no connection, though its port is open.
    #[cfg(feature = "net")]
    #[test]
    fn this_machine_is_refused_before_connecting() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        for (host, allow) in [("localhost", "localhost"), ("127.1", "127.1"), ("2130706433", "2130706433")] {
            let allowed = Allowed::new(&[allow.to_owned()]);
            let Ok(Address::Remote(address)) = parse(&format!("https://{host}:{port}/x")) else { panic!("{host}") };
            let result = get(&Internet::new(allowed.clone()), &allowed, &address, 10);
            assert!(matches!(result, Err(WorldError::Denied(_) | WorldError::FetchFailed(_))), "{host}: {result:?}");
            assert!(listener.accept().is_err(), "{host} was connected to");
        }
    }
}
