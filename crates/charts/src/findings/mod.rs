//! What is wrong or unused in a chart, in the words of its authors.

pub(crate) mod checks;
pub(crate) mod report;
pub(crate) mod unread;
pub(crate) mod unset;
pub(crate) mod unused;
pub(crate) mod words;
