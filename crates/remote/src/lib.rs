//! Runs actions on clusters that speak the Remote Execution API v2: a store of contents, a cache of results, workers.
//!
//! [`tree`] and [`digest`] are plain data; [`wire`] and [`message`] the encoding. [`client`] is a server: its store, its
//! cache and its executor, over one connection that one thread drives ([`connection`]). [`job`] is the whole way of one
//! action. What a server sends is hostile input: every content is checked by its digest, every list and every message
//! has a maximum size.
//!
//! Must not know dialects, actions of projects, arguments, or where results of runs are kept.

#![cfg_attr(not(feature = "net"), allow(dead_code))] // Data that only connections read.

#[cfg(feature = "net")]
mod call;
#[cfg(feature = "net")]
pub mod client;
#[cfg(feature = "net")]
pub mod connection;
pub mod digest;
#[cfg(feature = "net")]
mod execute;
#[cfg(feature = "net")]
pub mod job;
pub mod message;
pub mod settings;
pub mod source;
#[cfg(feature = "net")]
pub mod store;
#[cfg(feature = "net")]
mod stream;
pub mod tree;
pub mod trouble;
pub mod wire;
