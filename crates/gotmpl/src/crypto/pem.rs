//! Finds a PEM block in a text as Go does: headers and any line width are allowed, text around it is skipped.
//!
//! Blocks are written by the libraries that encode their content; those libraries' readers are strict and refuse much
//! of what charts contain.

use purlin_value::encoding;

/// The label and content of the first block in a text.
pub fn read(text: &str) -> Option<(&str, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    // Headers (`Proc-Type: 4,ENCRYPTED`) end at an empty line.
    let body = match body.rsplit_once("\n\n") {
        Some((headers, body)) if headers.contains(':') => body,
        _ => body,
    };
    let plain: String = body.chars().filter(|ch| !ch.is_whitespace()).collect();
    Some((label, encoding::from_base64(plain.as_bytes()).ok()?))
}
