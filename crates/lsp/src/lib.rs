//! The language server: reads messages of the protocol, asks [`purlin_ide`], writes answers.
//!
//! Only this crate knows the protocol. Messages are JSON as the specification has it; there are no mirror types,
//! because every member is named in one place only.

mod answers;
mod edits;
mod server;
mod transport;
mod uri;
mod worker;

pub use lsp_server::Connection;
pub use server::{Opened, serve};
pub use transport::connect;
pub use uri::{path_of, uri_of};
