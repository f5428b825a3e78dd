//! The helper functions of template strings.

pub(crate) mod dates;
pub(crate) mod text;
pub(crate) mod words;
