//! Texts that mean something: patterns, paths, names of images, encodings.

pub mod encoding;
pub mod glob;
pub mod go_pattern;
pub mod ignore;
pub mod image;
pub mod path;
pub mod pattern;
pub mod python_text;
