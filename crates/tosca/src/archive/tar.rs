//! The tar container: headers of 512 bytes, with the extensions that carry long names.

use super::{Data, Trouble};
use purlin_syntax::Limits;

const BLOCK: usize = 512;

fn bad(message: &str) -> Trouble {
    Trouble::Bad(message.to_owned())
}

/// All files of a tar archive; folders are left out.
pub(super) fn entries(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Data)>, Trouble> {
    if bytes.len() as u64 > limits.archive_bytes {
        return Err(Trouble::Large(format!(
            "unpacked it has {} bytes, more than the {} allowed",
            bytes.len(),
            limits.archive_bytes
        )));
    }
    let mut out: Vec<(String, Data)> = Vec::new();
    let mut at = 0;
    let mut long_name: Option<String> = None;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        if !checksum_fits(header) {
            return Err(bad("it is not a valid tar file"));
        }
        let size = octal(header.get(124..136).unwrap_or(&[])).ok_or_else(|| bad("a size in it is broken"))?;
        let start = at + BLOCK;
        let content =
            start.checked_add(size).and_then(|end| bytes.get(start..end)).ok_or_else(|| bad("it ends too early"))?;
        let name = long_name.take().unwrap_or_else(|| name_of(header));
        match header.get(156).copied().unwrap_or(0) {
            b'0' | 0 => out.push((name, Data::Plain(content.to_vec()))),
            b'5' => {}
            b'L' => long_name = Some(text(content)),
            b'x' => {
                // A size that only the extension knows would let two readers see two different archives.
                if pax(content, "size").is_some_and(|other| other.parse() != Ok(size)) {
                    return Err(bad("a size in it is given twice, differently"));
                }
                long_name = pax(content, "path");
            }
            b'g' => {}
            _ => {
                return Err(bad(&format!(
                    "`{}` is a link or device, which is not allowed in an archive",
                    name.escape_default()
                )));
            }
        }
        if out.len() as u64 > limits.archive_entries {
            return Err(Trouble::Large(format!("it has more than the {} files allowed", limits.archive_entries)));
        }
        at = start + size.div_ceil(BLOCK) * BLOCK;
    }
    Ok(out)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or(&[])).into_owned()
}

fn name_of(header: &[u8]) -> String {
    let name = text(header.get(..100).unwrap_or(&[]));
    let is_ustar = header.get(257..262) == Some(b"ustar");
    let prefix = if is_ustar { text(header.get(345..500).unwrap_or(&[])) } else { String::new() };
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

fn octal(bytes: &[u8]) -> Option<usize> {
    let digits = text(bytes);
    let digits = digits.trim();
    if digits.is_empty() { Some(0) } else { usize::from_str_radix(digits, 8).ok() }
}

fn checksum_fits(header: &[u8]) -> bool {
    let sum: usize = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { usize::from(*byte) })
        .sum();
    octal(header.get(148..156).unwrap_or(&[])) == Some(sum)
}

/// A value of an extended header: lines of `length key=value`.
fn pax(content: &[u8], wanted: &str) -> Option<String> {
    let text = String::from_utf8_lossy(content);
    let line =
        text.lines().find_map(|line| line.split_once(' ')?.1.split_once('=').filter(|(key, _)| *key == wanted))?;
    Some(line.1.to_owned())
}
