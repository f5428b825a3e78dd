//! The bytes of a connection: TCP, with encryption or without. Never blocks: whoever drives it polls the descriptor.

use crate::settings::Settings;
use crate::trouble::{Tried, Trouble, What};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Time for connecting to one address, and for the handshake.
const CONNECT: Duration = Duration::from_secs(10);

/// What the one who polls the descriptor has to know.
#[derive(Debug, Default)]
pub struct Needs {
    /// Whether bytes wait for room in the socket.
    pub writing: AtomicBool,
}

/// A connected stream.
pub struct Stream {
    tcp: TcpStream,
    tls: Option<Box<ClientConnection>>,
    needs: Arc<Needs>,
}

/// Opens a stream; returns a second handle of its socket for polling.
pub fn open(settings: &Settings) -> Tried<(Stream, TcpStream, Arc<Needs>)> {
    let address = &settings.address;
    let tls = match address.is_secure {
        true => Some(Box::new(encryption(settings)?)),
        false => None,
    };
    let tcp = connect(&address.host, address.port)?;
    let lost = |error: io::Error| Trouble::from(What::Lost(plain(&error)));
    tcp.set_nodelay(true).map_err(lost)?;
    let mut stream = Stream { tcp, tls, needs: Arc::default() };
    stream.shake_hands()?;
    stream.tcp.set_nonblocking(true).map_err(lost)?;
    let socket = stream.tcp.try_clone().map_err(lost)?;
    let needs = stream.needs.clone();
    Ok((stream, socket, needs))
}

fn connect(host: &str, port: u16) -> Tried<TcpStream> {
    let found = purlin_host::connection::addresses(host, port);
    let found = found.map_err(|_| What::Connect(format!("unknown host `{host}`")))?;
    let mut last = What::Connect(format!("unknown host `{host}`"));
    for address in found {
        match purlin_host::connection::open(&address, CONNECT) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = What::Connect(plain(&error)),
        }
    }
    Err(last.into())
}

fn encryption(settings: &Settings) -> Tried<ClientConnection> {
    let wrong = |why: String| Trouble::from(What::Settings(why));
    let mut roots = RootCertStore::empty();
    match &settings.authority {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate =
                    certificate.map_err(|_| wrong("`[remote] authority` is not a PEM file".to_owned()))?;
                roots
                    .add(certificate)
                    .map_err(|error| wrong(format!("`[remote] authority` cannot be used: {error}")))?;
            }
            if roots.is_empty() {
                return Err(wrong("`[remote] authority` has no certificate".to_owned()));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong(error.to_string()))?.with_root_certificates(roots);
    let mut config = match &settings.identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
            let chain = chain.map_err(|_| wrong("`[remote] certificate` is not a PEM file".to_owned()))?;
            let key = PrivateKeyDer::from_pem_slice(key);
            let key = key.map_err(|_| wrong("`[remote] key` is not a PEM file with a private key".to_owned()))?;
            let made = config.with_client_auth_cert(chain, key);
            made.map_err(|error| wrong(format!("`[remote] certificate` cannot be used: {error}")))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = settings.server_name.as_deref().unwrap_or(&settings.address.host);
    let name =
        ServerName::try_from(name.to_owned()).map_err(|_| wrong(format!("`{name}` is not a name of a server")))?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| wrong(error.to_string()))
}

/// The system's message, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

impl Stream {
    /// The handshake of the encryption, before the stream stops blocking.
    fn shake_hands(&mut self) -> Tried<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let until = Instant::now() + CONNECT;
        let failed = |error: io::Error| Trouble::from(tls_trouble(&error));
        while tls.is_handshaking() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(What::Silent(CONNECT).into());
            }
            self.tcp.set_read_timeout(Some(left)).map_err(failed)?;
            tls.complete_io(&mut self.tcp).map_err(failed)?;
        }
        if tls.alpn_protocol() != Some(b"h2") {
            let why = "the server does not speak HTTP/2 over this encryption; is the port right?";
            return Err(What::Tls(why.to_owned()).into());
        }
        Ok(())
    }

    fn mark_writing(&self, waits: bool) {
        self.needs.writing.store(waits, Ordering::Release);
    }

    /// Writes what is encrypted already.
    fn flush_tls(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.tcp.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if tls.read_tls(&mut self.tcp)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }
}

/// Why the encryption failed, with a hint where the reason is likely a wrong scheme.
fn tls_trouble(error: &io::Error) -> What {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(why)) => What::Tls(certificate(why)),
        Some(rustls::Error::InvalidMessage(_)) => {
            What::Tls("the server does not use encryption; is it `grpc://`?".to_owned())
        }
        Some(rustls::Error::AlertReceived(alert)) => {
            What::Tls(format!("the server refused our certificate or settings (alert {alert:?})"))
        }
        Some(other) => What::Tls(other.to_string()),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            What::Tls("the server closed the connection during the handshake; does it use encryption?".to_owned())
        }
        None => What::Lost(plain(error)),
    }
}

fn certificate(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError as Wrong;
    match why {
        Wrong::Expired | Wrong::ExpiredContext { .. } => "its certificate has expired".to_owned(),
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => "its certificate is not valid yet".to_owned(),
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            "its certificate is for another name; set `[remote] server-name` if that is right".to_owned()
        }
        Wrong::UnknownIssuer => {
            "its certificate is of an unknown authority; set `[remote] authority` to the authority's PEM file"
                .to_owned()
        }
        other => format!("its certificate is not valid: {other}"),
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.read_some(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // What is encrypted waits in memory, so no more is taken before it has left.
        if self.as_mut().poll_flush(cx)?.is_pending() {
            return Poll::Pending;
        }
        loop {
            let written = match &mut self.tls {
                Some(tls) => tls.writer().write(bytes),
                None => self.tcp.write(bytes),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.mark_writing(true);
                    return Poll::Pending;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count) => {
                    if !self.flush_tls()? {
                        self.mark_writing(true);
                    }
                    return Poll::Ready(Ok(count));
                }
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_flushed = self.flush_tls()?;
        self.mark_writing(!is_flushed);
        if is_flushed { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        let _ = self.flush_tls();
        Poll::Ready(self.tcp.shutdown(std::net::Shutdown::Write))
    }
}
