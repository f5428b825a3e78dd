//! The real wire. The only file of this crate that knows the HTTP client; left out of builds without `net`.
//!
//! One agent keeps connections open for all threads. Its resolver looks the server up once, and returns this address
//! whatever name the certificate is checked against.

use crate::foreign;
use crate::kubeconfig::{Access, Proof};
use crate::stream::Line;
use crate::stream::socket::{self, Socket};
use crate::wire::{Answer, Ask, Broken, CONNECT, LARGEST, REQUEST, Wire};
use purlin_value::encoding::base64;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use std::io::Read;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// Maximum number of idle connections; one per thread.
const KEPT: usize = 32;

/// Maximum number of addresses of one host that are tried.
const MOST_ADDRESSES: usize = 4;

/// A cluster, with the headers of every request.
pub(crate) struct Connection {
    agent: ureq::Agent,
    /// Scheme, host and port as requests use them, and the base path of the API.
    base: String,
    headers: Vec<(String, String)>,
    direct: Direct,
}

/// What a connection of its own is opened with.
struct Direct {
    /// Host and port.
    authority: String,
    /// The base path of the API.
    base: String,
    encryption: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Connection {
    pub(crate) fn new(access: &Access) -> Result<Self, String> {
        let no_address = || format!("`{}` is not an address of a server", foreign::address(&access.server));
        let uri: Uri = access.server.parse().map_err(|_| no_address())?;
        let (Some(host), Some(scheme)) =
            (uri.host(), uri.scheme_str().filter(|name| matches!(*name, "http" | "https")))
        else {
            return Err(no_address());
        };
        let written =
            uri.authority().and_then(|all| all.as_str().rsplit(']').next()?.rsplit('@').next()?.split_once(':'));
        let port = match written.map(|(_, port)| port).filter(|port| !port.is_empty()) {
            None => {
                if scheme == "http" {
                    80
                } else {
                    443
                }
            }
            Some(port) => port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| {
                format!("the server `{}` has the port `{port}`, expected 1 to 65535", foreign::address(&access.server))
            })?,
        };
        let authority = format!("{host}:{port}");
        let name = access.server_name.as_deref().unwrap_or(host);
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(access.request_timeout.unwrap_or(REQUEST)))
            .max_idle_connections(KEPT)
            .max_idle_connections_per_host(KEPT)
            .max_idle_age(Duration::from_secs(60))
            .proxy(None)
            .user_agent(concat!("purlin/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls(access)?)
            .build();
        let encryption = match scheme {
            "https" => {
                let plain = name.trim_start_matches('[').trim_end_matches(']').to_owned();
                let name = ServerName::try_from(plain).map_err(|_| no_address())?;
                Some((socket::encryption(access)?, name))
            }
            _ => None,
        };
        let base = uri.path().trim_end_matches('/').to_owned();
        let direct = Direct { authority: authority.clone(), base, encryption };
        let resolver = Fixed { authority: authority.clone(), found: OnceLock::new() };
        let mut headers = access.impersonate.clone();
        match &access.proof {
            Proof::None => {}
            Proof::Token(token) => headers.push(("Authorization".to_owned(), format!("Bearer {}", token.reveal()))),
            Proof::Basic(user, password) => {
                let packed = base64(format!("{user}:{}", password.reveal()).as_bytes());
                headers.push(("Authorization".to_owned(), format!("Basic {packed}")));
            }
        }
        if access.server_name.is_some() {
            headers.push(("Host".to_owned(), authority));
        }
        Ok(Connection {
            agent: ureq::Agent::with_parts(config, DefaultConnector::default(), resolver),
            base: format!("{scheme}://{name}:{port}{}", uri.path().trim_end_matches('/')),
            headers,
            direct,
        })
    }
}

fn tls(access: &Access) -> Result<TlsConfig, String> {
    let mut tls = TlsConfig::builder().disable_verification(access.insecure);
    if let Some(pem) = &access.authority {
        let authorities = certificates(pem);
        if authorities.is_empty() {
            return Err("the certificate authority of the kubeconfig has no certificate".to_owned());
        }
        tls = tls.root_certs(RootCerts::new_with_certs(&authorities));
    }
    if let Some((certificate, key)) = &access.identity {
        let chain = certificates(certificate);
        let key = PrivateKey::from_pem(key.reveal().as_bytes());
        let key = key.map_err(|_| format!("the client key of user `{}` is not a PEM key", access.user))?;
        if chain.is_empty() {
            return Err(format!("the client certificate of user `{}` is not a PEM certificate", access.user));
        }
        check_identity(&chain, &access.user, access.identity.as_ref().map_or("", |(_, key)| key.reveal()))?;
        tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(tls.build())
}

/// Checks that TLS accepts a certificate and its key: otherwise the HTTP client would panic.
fn check_identity(chain: &[Certificate<'_>], user: &str, key: &str) -> Result<(), String> {
    let chain = chain.iter().map(|certificate| CertificateDer::from(certificate.der().to_vec())).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
    let key = key.map_err(|_| format!("the client key of user `{user}` is not a PEM key"))?;
    let made = CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider());
    made.map(|_| ()).map_err(|error| format!("the client certificate of user `{user}` cannot be used: {error}"))
}

fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem).filter_map(Result::ok);
    let certificate = |item: PemItem<'static>| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    };
    items.filter_map(certificate).collect()
}

impl Wire for Connection {
    fn send(&self, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let address = format!("{}{}", self.base, ask.path);
        let mut request =
            ureq::http::Request::builder().method(ask.method.name()).uri(address).header("Accept", ask.accept);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some((kind, _)) = ask.body {
            request = request.header("Content-Type", kind);
        }
        // The client's message could repeat a header, so it is not shown.
        let unusable = |_| Broken::Unusable("a header is not valid".to_owned());
        let sent = match ask.body {
            Some((_, body)) => self.agent.run(request.body(body).map_err(unusable)?),
            None => self.agent.run(request.body(()).map_err(unusable)?),
        };
        let mut response = sent.map_err(|error| broken(&error))?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = header("retry-after").and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let read = response.body_mut().as_reader().take(LARGEST + 1).read_to_end(&mut body);
        // A body that arrives too slowly is a timeout, which the client reports as a nested error.
        read.map_err(|error| match error.get_ref().and_then(|inside| inside.downcast_ref::<ureq::Error>()) {
            Some(inside) => broken(inside),
            None if error.kind() == std::io::ErrorKind::TimedOut => Broken::Time,
            None => Broken::Lost(error.to_string()),
        })?;
        if body.len() as u64 > LARGEST {
            return Err(Broken::TooLarge);
        }
        Ok(Answer { status, retry_after, body })
    }

    fn line(&self) -> Result<Line, Broken> {
        let Direct { authority, base, encryption } = &self.direct;
        let found = authority.to_socket_addrs().map_err(|_| Broken::Connect("unknown host".to_owned()))?;
        let addresses: Vec<SocketAddr> = found.take(MOST_ADDRESSES).collect();
        let socket = Socket::connect(&addresses, encryption.clone())?;
        let agent = concat!("purlin/", env!("CARGO_PKG_VERSION")).to_owned();
        let own = [("Host".to_owned(), authority.clone()), ("User-Agent".to_owned(), agent)];
        let more = self.headers.iter().filter(|(name, _)| name != "Host").cloned();
        Ok(Line { bytes: Box::new(socket), base: base.clone(), headers: own.into_iter().chain(more).collect() })
    }
}

fn broken(error: &ureq::Error) -> Broken {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            Broken::Connect(format!("no connection within {} s", CONNECT.as_secs()))
        }
        ureq::Error::Timeout(_) => Broken::Time,
        ureq::Error::HostNotFound => Broken::Connect("unknown host".to_owned()),
        ureq::Error::ConnectionFailed => Broken::Connect("connection failed".to_owned()),
        ureq::Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                Broken::Connect(plain(error))
            }
            ErrorKind::TimedOut => Broken::Time,
            ErrorKind::InvalidData => Broken::Unusable(plain(error)),
            _ => Broken::Lost(plain(error)),
        },
        ureq::Error::Tls(what) => Broken::Unusable((*what).to_owned()),
        error => Broken::Unusable(error.to_string()),
    }
}

/// The system's message, without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Resolves to one server, looked up once.
#[derive(Debug)]
struct Fixed {
    authority: String,
    found: OnceLock<Vec<SocketAddr>>,
}

impl Resolver for Fixed {
    fn resolve(&self, _uri: &Uri, _config: &Config, _timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = match self.found.get() {
            Some(found) => found,
            None => {
                let looked_up: Vec<SocketAddr> =
                    self.authority.to_socket_addrs().map_err(|_| ureq::Error::HostNotFound)?.collect();
                self.found.get_or_init(|| looked_up)
            }
        };
        let mut result = self.empty();
        for address in found.iter().take(MOST_ADDRESSES) {
            result.push(*address);
        }
        if result.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(result) }
    }
}
