//! Texts and bytes: encodings, formats, literals, YAML text, vaults, times.

pub mod codecs;
pub mod convert;
pub mod format;
pub(crate) mod literal;
pub(crate) mod time;
pub mod vault;
pub mod yaml_text;
