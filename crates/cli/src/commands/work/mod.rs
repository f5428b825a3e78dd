//! Commands that run actions, and show what runs and what ran.

pub(crate) mod demo;
pub(crate) mod exec;
pub(crate) mod logs;
pub(crate) mod provider_scripts;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod since;
pub(crate) mod status;
pub(crate) mod stay;
