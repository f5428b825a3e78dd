//! Keys and certificates.

use crate::func::Func;

/// The rows.
pub static FUNCS: &[Func] = &[];
