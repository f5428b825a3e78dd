//! From files to parsed configurations: what is read, from where, in which version.

pub mod editions;
pub mod forest;
pub mod item;
pub mod load;
pub mod remote;
pub mod requires;
pub mod view;
