//! What stays of a job: changes, records, files.

pub mod change;
pub mod record;
pub mod store;
