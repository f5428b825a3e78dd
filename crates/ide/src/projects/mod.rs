//! The projects of an editor: open texts, resolutions that follow them, settings.

pub(crate) mod buffers;
pub(crate) mod house;
pub(crate) mod workspace;
