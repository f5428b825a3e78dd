//! Connections to servers that the user named.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Maximum number of addresses of one host that are tried.
const MOST: usize = 4;

/// The addresses of a host.
pub fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.take(MOST).collect())
}

/// Opens a connection.
pub fn open(address: &SocketAddr, within: Duration) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(address, within)
}

/// Maximum number of ports that are tried.
const MOST_PORTS: u16 = 20;

/// The first port that users without rights may listen on.
const FIRST_FREE: u16 = 1024;

/// Listens on a port of loopback, or on one of the next, or on any free one. A port that needs rights is replaced by
/// one that is 8000 higher, as people choose for `80`.
pub fn listen_near(port: u16) -> io::Result<TcpListener> {
    let first = if port > 0 && port < FIRST_FREE { port + 8000 } else { port };
    let near = (0..MOST_PORTS).filter_map(|more| first.checked_add(more)).filter(|_| first > 0);
    for port in near {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return Ok(listener);
        }
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}
