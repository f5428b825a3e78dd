//! The pass counts that were reached; a suite may never fall below its own.

use crate::Report;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The counts by suite: cases that pass, stated deviations included.
pub fn load() -> BTreeMap<String, usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ratchet.toml");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let count = |value: &toml::Value| usize::try_from(value.as_integer()?).ok();
    table.iter().filter_map(|(suite, value)| Some((suite.clone(), count(value)?))).collect()
}

/// Where the recorded data lies: beside the checkout, or where `PURLIN_CONFORMANCE` says. `None` if it is absent.
pub fn data_folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let folder = std::env::var_os("PURLIN_CONFORMANCE").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// What a suite reached that counts for the ratchet.
pub fn reached(report: &Report) -> usize {
    report.passed() + report.deviations()
}
