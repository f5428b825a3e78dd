//! The bytes of a connection to a server: TCP, with encryption or without.

use super::Duplex;
use crate::kubeconfig::Access;
use crate::wire::{Broken, CONNECT};
use rustix::fd::{AsFd, BorrowedFd};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

/// A connected socket.
pub(crate) struct Socket {
    tcp: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Socket {
    /// Connects to the first address that accepts, and agrees on encryption if there is a configuration for it.
    pub(crate) fn connect(
        addresses: &[SocketAddr],
        tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    ) -> Result<Socket, Broken> {
        let mut last = Broken::Connect("unknown host".to_owned());
        for address in addresses {
            match purlin_host::connection::open(address, CONNECT) {
                Ok(tcp) => return Socket::over(tcp, tls),
                Err(error) => last = Broken::Connect(plain(&error)),
            }
        }
        Err(last)
    }

    fn over(tcp: TcpStream, tls: Option<(Arc<ClientConfig>, ServerName<'static>)>) -> Result<Socket, Broken> {
        let lost = |error: io::Error| Broken::Lost(plain(&error));
        tcp.set_nodelay(true).map_err(lost)?;
        let tls = tls.map(|(config, name)| ClientConnection::new(config, name).map(Box::new)).transpose();
        let mut socket = Socket { tcp, tls: tls.map_err(|error| Broken::Unusable(error.to_string()))? };
        socket.shake_hands()?;
        socket.tcp.set_nonblocking(true).map_err(lost)?;
        Ok(socket)
    }

    /// The handshake of the encryption, before the socket stops blocking.
    fn shake_hands(&mut self) -> Result<(), Broken> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let begun = Instant::now();
        while tls.is_handshaking() {
            let left = CONNECT.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Broken::Connect(format!("no connection within {} s", CONNECT.as_secs())));
            }
            let done = self.tcp.set_read_timeout(Some(left)).and_then(|()| tls.complete_io(&mut self.tcp));
            done.map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => Broken::Unusable(plain(&error)),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Broken::Time,
                _ => Broken::Lost(plain(&error)),
            })?;
        }
        Ok(())
    }

    /// Writes what is encrypted already, as far as there is room.
    fn send_encrypted(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What is encrypted waits in memory, so no more is taken before it has left.
        self.send_encrypted()?;
        let written = match &mut self.tls {
            Some(tls) => tls.writer().write(bytes)?,
            None => return self.tcp.write(bytes),
        };
        match self.send_encrypted() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(written),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_encrypted()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }
}

impl Duplex for Socket {
    fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }
}

fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The configuration of encryption for a cluster.
pub(crate) fn encryption(access: &Access) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    let config = match access.insecure {
        true => config.dangerous().with_custom_certificate_verifier(Arc::new(AnyServer(provider))),
        false => config.with_root_certificates(roots(access)),
    };
    let config = match &access.identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate).filter_map(Result::ok).collect();
            let key = PrivateKeyDer::from_pem_slice(key.reveal().as_bytes());
            let unusable = || format!("the client certificate of user `{}` cannot be used", access.user);
            config.with_client_auth_cert(chain, key.map_err(|_| unusable())?).map_err(|_| unusable())?
        }
    };
    Ok(Arc::new(config))
}

fn roots(access: &Access) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    match &access.authority {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).filter_map(Result::ok));
        }
    }
    roots
}

/// Accepts every certificate, for clusters with `insecure-skip-tls-verify`.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
