//! Runs the server of the tests until it is ended, for trying things out and for measuring.
//!
//!     cargo run --release -p purlin-remote-suite --example serve -- PORT

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

use purlin_remote_suite::{Nature, Server};

fn main() {
    let port = std::env::args().nth(1).map_or(8980, |port| port.parse().unwrap());
    let server = Server::start_with(Nature::default(), None, port).unwrap();
    println!("{}", server.address());
    loop {
        std::thread::park();
    }
}
