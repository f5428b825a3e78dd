//! Commands that write files.

pub(crate) mod csar;
pub(crate) mod files;
pub(crate) mod fix;
pub(crate) mod fmt;
pub(crate) mod folder;
pub(crate) mod init;
pub(crate) mod rename;
