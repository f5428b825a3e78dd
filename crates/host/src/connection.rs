//! Connections to servers that the user named.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
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
