//! The best pass counts so far; a suite may never fall below its own.

use crate::Report;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The counts by suite: passing cases, stated deviations included.
pub fn load() -> BTreeMap<String, usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ratchet.toml");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let count = |value: &toml::Value| usize::try_from(value.as_integer()?).ok();
    table.iter().filter_map(|(suite, value)| Some((suite.clone(), count(value)?))).collect()
}

/// The folder of the recorded data: next to the checkout, or named by `PURLIN_CONFORMANCE`. `None` if it is absent.
pub fn data_folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let folder = std::env::var_os("PURLIN_CONFORMANCE").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The count of a suite for the ratchet.
pub fn reached(report: &Report) -> usize {
    report.passed() + report.deviations()
}
