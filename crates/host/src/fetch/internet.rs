//! The real network behind [`Web`]. The only file that knows the HTTP client; left out of builds without `net`.

use super::address::{Allowed, RemoteAddress};
use super::https::{Answer, Ask, Web, failed};
use purlin_value::world::WorldError;
use std::io::Read;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// The real network.
pub(super) struct Internet {
    allowed: Allowed,
}

impl Internet {
    pub(super) fn new(allowed: Allowed) -> Self {
        Internet { allowed }
    }
}

impl Web for Internet {
    fn send(&self, ask: Ask<'_>, most: u64, time: Duration) -> Result<Answer, WorldError> {
        let config = ureq::Agent::config_builder()
            .https_only(!ask.address.to_ascii_lowercase().starts_with("http:"))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(time))
            // A proxy would resolve names for us, and the check would see the proxy's address.
            .proxy(None)
            .user_agent(concat!("purlin/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = Checked { allowed: self.allowed.clone(), inner: DefaultResolver::default() };
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), resolver);
        let request = ureq::http::Request::builder().method(ask.method).uri(ask.address);
        let request = ask.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        // The client's message could repeat a header, so it is not shown.
        let unusable = |_| failed("a header is not valid");
        let sent = match ask.body {
            Some(body) => agent.run(request.body(body).map_err(unusable)?),
            None => agent.run(request.body(()).map_err(unusable)?),
        };
        let mut response = sent.map_err(|error| told(&error))?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (location, challenge, next) = (header("location"), header("www-authenticate"), header("link"));
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let reader = response.body_mut().as_reader();
        reader.take(most + 1).read_to_end(&mut body).map_err(|error| failed(error.to_string()))?;
        Ok(Answer { status, location, challenge, next, body })
    }

    fn check_machines(&self, address: &RemoteAddress) -> Result<(), WorldError> {
        use std::net::ToSocketAddrs;
        // A name that cannot be resolved here cannot be resolved by `git` either, except through a proxy.
        let found = (address.host.as_str(), address.port).to_socket_addrs().into_iter().flatten();
        match found.map(|found| found.ip()).find(|ip| !self.allowed.check_machine(*ip)) {
            None => Ok(()),
            Some(ip) => Err(WorldError::Denied(private(ip))),
        }
    }
}

fn private(ip: std::net::IpAddr) -> String {
    format!("the name leads to {ip}, a private address; allow it with `--allow-net {ip}`")
}

fn told(error: &ureq::Error) -> WorldError {
    match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            WorldError::Denied(error.to_string())
        }
        error => failed(error.to_string()),
    }
}

/// Resolves names and refuses machines that were not allowed, before anything connects to them.
#[derive(Debug)]
struct Checked {
    allowed: Allowed,
    inner: DefaultResolver,
}

impl Resolver for Checked {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        match found.iter().find(|address| !self.allowed.check_machine(address.ip())) {
            None => Ok(found),
            Some(address) => {
                let error = std::io::Error::new(std::io::ErrorKind::PermissionDenied, private(address.ip()));
                Err(ureq::Error::Io(error))
            }
        }
    }
}
