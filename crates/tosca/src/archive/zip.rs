//! The zip container: its central directory is the only authority on its contents.

use super::{Data, Trouble};
use purlin_syntax::Limits;

pub(super) const END: &[u8] = b"PK\x05\x06";
pub(super) const ENTRY: &[u8] = b"PK\x01\x02";
pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
/// The end record is at most this far from the end: its own size and the longest comment.
const END_REACH: usize = 22 + 65_535;

fn bad(message: &str) -> Trouble {
    Trouble::Bad(message.to_owned())
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// All files of a zip archive; folders are left out.
pub(super) fn entries(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Data)>, Trouble> {
    let start = bytes.len().saturating_sub(END_REACH);
    let tail = bytes.get(start..).unwrap_or(&[]);
    let end =
        tail.windows(END.len()).rposition(|window| window == END).ok_or_else(|| bad("it is not a valid zip file"))?;
    let end = tail.get(end..).unwrap_or(&[]);
    let broken = || bad("its list of files is broken");
    let count = word(end, 10).ok_or_else(broken)?;
    if count as u64 > limits.archive_entries {
        return Err(Trouble::Large(format!("it has {count} files, more than the {} allowed", limits.archive_entries)));
    }
    let mut at = long(end, 16).ok_or_else(broken)? as usize;
    let mut out = Vec::new();
    let mut total = 0u64;
    for _ in 0..count {
        let entry = bytes.get(at..).filter(|entry| entry.starts_with(ENTRY)).ok_or_else(broken)?;
        let field = |offset| word(entry, offset).ok_or_else(broken);
        let (name_length, extra, comment) = (field(28)?, field(30)?, field(32)?);
        let name = entry.get(46..46 + name_length).ok_or_else(broken)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let (packed, size) = (long(entry, 20).ok_or_else(broken)?, long(entry, 24).ok_or_else(broken)?);
        let mode = long(entry, 38).ok_or_else(broken)? >> 16;
        if mode & 0o170_000 == 0o120_000 {
            return Err(bad(&format!("`{}` is a link, which is not allowed in an archive", name.escape_default())));
        }
        total += u64::from(size);
        if u64::from(size) > u64::from(packed).max(64).saturating_mul(limits.archive_ratio.max(1) * 6) {
            return Err(Trouble::Large(format!("`{name}` claims to grow from {packed} to {size} bytes")));
        }
        if !name.ends_with('/') {
            let offset = long(entry, 42).ok_or_else(broken)? as usize;
            let data = data(bytes, offset, packed as usize, u64::from(size), field(10)?, long(entry, 16).unwrap_or(0))
                .ok_or_else(|| bad(&format!("`{name}` cannot be read")))?;
            out.push((name, data));
        } else {
            out.push((name.trim_end_matches('/').to_owned() + "/.", Data::Plain(Vec::new())));
        }
        at += 46 + name_length + extra + comment;
    }
    if total > limits.archive_bytes {
        return Err(Trouble::Large(format!(
            "unpacked it has {total} bytes, more than the {} allowed",
            limits.archive_bytes
        )));
    }
    // Folders were kept only so that their names are checked too.
    out.retain(|(name, _)| !name.ends_with("/.") || name.contains("..") || name.starts_with('/'));
    Ok(out)
}

fn data(bytes: &[u8], offset: usize, packed: usize, size: u64, method: usize, crc: u32) -> Option<Data> {
    let local = bytes.get(offset..).filter(|local| local.starts_with(LOCAL))?;
    let start = 30 + word(local, 26)? + word(local, 28)?;
    let content = local.get(start..start.checked_add(packed)?)?.to_vec();
    match method {
        0 => (content.len() as u64 == size).then_some(Data::Plain(content)),
        8 => Some(Data::Deflated { bytes: content, size, crc }),
        _ => None,
    }
}
