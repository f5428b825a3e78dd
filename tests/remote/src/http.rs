//! Connections of the server: one thread drives each, one more answers each call.

use crate::call::Call;
use crate::{Identity, State};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How often a connection looks whether it has to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The encryption of a server.
pub(crate) fn encryption(identity: &Identity) -> io::Result<Arc<ServerConfig>> {
    let wrong = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&identity.certificate).collect();
    let key = PrivateKeyDer::from_pem_slice(&identity.key).map_err(|error| wrong(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong(&error))?;
    let config = match &identity.clients {
        None => config.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                roots.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
            }
            let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            config.with_client_cert_verifier(verifier.build().map_err(|error| wrong(&error))?)
        }
    };
    let chain = chain.map_err(|error| wrong(&error))?;
    let mut config = config.with_single_cert(chain, key).map_err(|error| wrong(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// Takes connections until the server is closed.
pub(crate) fn listen(listener: &TcpListener, state: &Arc<State>, encryption: Option<Arc<ServerConfig>>) {
    for tcp in listener.incoming().flatten() {
        if state.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let (state, encryption) = (state.clone(), encryption.clone());
        let _ = std::thread::Builder::new().name("serve".into()).spawn(move || {
            let _ = serve(tcp, &state, encryption);
        });
    }
}

/// Wakes the thread of a connection.
struct Bell(OwnedFd);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = rustix::io::write(&self.0, b"!");
    }
}

fn serve(tcp: TcpStream, state: &Arc<State>, encryption: Option<Arc<ServerConfig>>) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    tcp.set_nonblocking(true)?;
    let socket = tcp.try_clone()?;
    let tls = encryption.map(ServerConnection::new).transpose().map_err(io::Error::other)?.map(Box::new);
    let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
    let (heard, rope) = rustix::pipe::pipe_with(flags)?;
    let waker = Waker::from(Arc::new(Bell(rope)));
    let mut cx = Context::from_waker(&waker);
    let epoch = state.epoch.load(Ordering::Relaxed);
    let mut builder = h2::server::Builder::new();
    builder.initial_window_size(1 << 20).initial_connection_window_size(16 << 20).max_concurrent_streams(1000);
    let mut shaking = Box::pin(builder.handshake::<_, bytes::Bytes>(Stream { tcp, tls }));
    let is_over = || state.is_closed.load(Ordering::Relaxed) || state.epoch.load(Ordering::Relaxed) != epoch;
    let mut connection = loop {
        match shaking.as_mut().poll(&mut cx) {
            Poll::Ready(done) => break done.map_err(io::Error::other)?,
            Poll::Pending if is_over() => return Ok(()),
            Poll::Pending => sleep(&socket, &heard),
        }
    };
    loop {
        match connection.poll_accept(&mut cx) {
            Poll::Ready(Some(Ok((request, respond)))) => {
                let (head, body) = request.into_parts();
                let call = Call::new(state.clone(), epoch, body, respond);
                std::thread::Builder::new()
                    .name("call".into())
                    .spawn(move || call.run(head.uri.path(), &head.headers))?;
            }
            Poll::Ready(Some(Err(_)) | None) => return Ok(()),
            Poll::Pending if is_over() => {
                let _ = socket.shutdown(std::net::Shutdown::Both);
                return Ok(());
            }
            Poll::Pending => sleep(&socket, &heard),
        }
    }
}

fn sleep(socket: &TcpStream, heard: &OwnedFd) {
    let mut fds = [
        PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(heard.as_fd(), PollFlags::IN),
    ];
    let timeout = Timespec::try_from(LOOK_UP).ok();
    let _ = poll(&mut fds, timeout.as_ref());
    while rustix::io::read(heard, &mut [0_u8; 64][..]).is_ok_and(|count| count > 0) {}
}

/// TCP, with encryption or without. A write that finds no room is tried again when the thread looks up.
struct Stream {
    tcp: TcpStream,
    tls: Option<Box<ServerConnection>>,
}

impl Stream {
    fn flush_tls(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
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
            let count = tls.read_tls(&mut self.tcp)?;
            let processed =
                tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
            // An alert leaves even if what arrived cannot be used.
            while tls.wants_write() && tls.write_tls(&mut self.tcp).is_ok_and(|count| count > 0) {}
            processed?;
            if count == 0 {
                return Ok(0);
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.read_some(buffer.initialize_unfilled()) {
            Ok(count) => {
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.flush_tls()? {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let written = match &mut self.tls {
            Some(tls) => tls.writer().write(bytes),
            None => self.tcp.write(bytes),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(count) => {
                self.flush_tls()?;
                Poll::Ready(Ok(count))
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.flush_tls()? {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        let _ = self.flush_tls();
        Poll::Ready(self.tcp.shutdown(std::net::Shutdown::Write))
    }
}
