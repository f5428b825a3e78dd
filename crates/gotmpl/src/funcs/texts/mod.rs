//! Functions on texts: patterns, words, paths, encodings.

pub mod encoding;
pub mod paths;
pub mod regexes;
pub mod strings;
pub mod words;
