//! What listens or connects: only to servers that the user named, and only for clients that know a token.

pub mod connection;
pub mod loopback;
pub mod serve;
