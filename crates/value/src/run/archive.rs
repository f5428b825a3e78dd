//! Archives read and written in memory, never unpacked to disk: gzip, tar, and the names allowed in any archive.
//!
//! Declared sizes are trusted only within the limits. The meaning of the files is unknown here.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use purlin_syntax::Limits;
use std::io::{Read, Write};

/// Archives smaller than this are not suspicious, whatever their compression ratio.
const SMALL: u64 = 1 << 20;

/// The block size of tar.
const BLOCK: usize = 512;

/// Why an archive, or a file in it, cannot be used. The message continues after the archive's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is broken or forbidden.
    Bad(String),
    /// It is too large.
    Large(String),
}

fn bad(message: &str) -> Trouble {
    Trouble::Bad(message.to_owned())
}

/// Whether bytes look like a gzip file.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The content of a gzip file.
pub fn gunzip(packed: &[u8], limits: &Limits) -> Result<Vec<u8>, Trouble> {
    let by_ratio = (packed.len() as u64).saturating_mul(limits.archive_ratio).max(SMALL);
    let most = limits.archive_bytes.min(by_ratio);
    let mut bytes = Vec::new();
    let read = MultiGzDecoder::new(packed).take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|_| bad("it is not a valid gzip file"))?;
    if bytes.len() as u64 > most {
        return Err(Trouble::Large(format!("unpacked it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// A gzip file without a timestamp, so that the same bytes make the same file.
pub fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes)?;
    out.finish()
}

/// The longest name that fits in a tar header; a longer one is the content of an entry of its own.
const LONGEST_NAME: usize = 100;

/// A tar archive of files, without times and owners.
pub fn tar(files: &[(String, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut add = |header: [u8; BLOCK], content: &[u8]| {
        out.extend_from_slice(&header);
        out.extend_from_slice(content);
        out.resize(out.len().div_ceil(BLOCK) * BLOCK, 0);
    };
    for (name, content) in files {
        if name.len() > LONGEST_NAME {
            let long = [name.as_bytes(), b"\0"].concat();
            add(header("././@LongLink", long.len(), b'L'), &long);
        }
        add(header(name, content.len(), b'0'), content);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn header(name: &str, size: usize, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| {
        for (place, byte) in block.iter_mut().skip(at).zip(text) {
            *place = *byte;
        }
    };
    put(0, name.as_bytes().get(..LONGEST_NAME).unwrap_or(name.as_bytes()));
    for (at, field) in [(100, b"0000644"), (108, b"0000000"), (116, b"0000000")] {
        put(at, field);
    }
    put(124, format!("{size:011o}\0").as_bytes());
    // The checksum counts itself as spaces.
    put(136, b"00000000000\0        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    for (place, byte) in block.iter_mut().skip(148).zip(format!("{sum:06o}\0 ").as_bytes()) {
        *place = *byte;
    }
    block
}

/// The files of a tar archive with their names as written; folders are skipped. A header with a wrong checksum, a
/// duplicate size, and links are rejected: two readers must not see two different archives.
pub fn untar<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Vec<(String, &'b [u8])>, Trouble> {
    let (size, most) = (bytes.len(), limits.archive_bytes);
    if size as u64 > most {
        return Err(Trouble::Large(format!("unpacked it has {size} bytes, more than the {most} allowed")));
    }
    let mut out: Vec<(String, &[u8])> = Vec::new();
    let mut at = 0;
    let mut long_name: Option<String> = None;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        if !checksum_fits(header) {
            return Err(bad("it is not a valid tar file"));
        }
        let size = number(header.get(124..136).unwrap_or(&[])).ok_or_else(|| bad("a size in it is broken"))?;
        let most = limits.archive_entry_bytes;
        if size as u64 > most {
            return Err(Trouble::Large(format!("a file in it has {size} bytes, more than the {most} allowed")));
        }
        let start = at + BLOCK;
        let content = start.checked_add(size).and_then(|end| bytes.get(start..end));
        let content = content.ok_or_else(|| bad("it ends in the middle of a file"))?;
        let name = long_name.take().unwrap_or_else(|| name_of(header));
        match header.get(156).copied().unwrap_or(0) {
            b'0' | b'7' | 0 => out.push((name, content)),
            b'L' => long_name = Some(text(content)),
            b'x' => long_name = extended_name(content)?,
            b'5' | b'g' => {}
            _ => {
                let name = name.escape_default();
                return Err(bad(&format!("`{name}` is a link or device, which is not allowed in an archive")));
            }
        }
        if out.len() as u64 > limits.archive_entries {
            return Err(Trouble::Large(format!("it has more than the {} files allowed", limits.archive_entries)));
        }
        at = start + size.div_ceil(BLOCK) * BLOCK;
    }
    Ok(out)
}

/// The name of a file in an archive, normalized. Names that lead out of the archive on any system are rejected.
pub fn safe_name(name: &str) -> Result<String, String> {
    let is_bad = name.starts_with('/')
        || name.contains(['\\', '\0'])
        || name.split('/').any(|part| part == "..")
        || name.as_bytes().get(1) == Some(&b':');
    if is_bad {
        return Err(format!("the name `{}` is not allowed in an archive", name.escape_default()));
    }
    Ok(name.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/"))
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

/// A number in octal digits, or in bytes if the first one is marked.
fn number(field: &[u8]) -> Option<usize> {
    if let Some((first, rest)) = field.split_first().filter(|(first, _)| **first & 0x80 != 0) {
        let add = |sum: usize, byte: &u8| sum.checked_mul(256)?.checked_add(usize::from(*byte));
        return rest.iter().try_fold(usize::from(*first & 0x7f), add);
    }
    let digits = text(field);
    let digits = digits.trim();
    if digits.is_empty() { Some(0) } else { usize::from_str_radix(digits, 8).ok() }
}

fn checksum_fits(header: &[u8]) -> bool {
    let byte = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { 32 } else { usize::from(*byte) };
    number(header.get(148..156).unwrap_or(&[])) == Some(header.iter().enumerate().map(byte).sum())
}

/// The name in an extended header, which has lines of `length key=value`.
fn extended_name(content: &[u8]) -> Result<Option<String>, Trouble> {
    let mut name = None;
    for line in String::from_utf8_lossy(content).lines() {
        match line.split_once(' ').and_then(|(_, pair)| pair.split_once('=')) {
            Some(("path", value)) => name = Some(value.to_owned()),
            // The size of the file is in its own header, too.
            Some(("size", _)) => return Err(bad("a size in it is given twice")),
            _ => {}
        }
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use std::io::Write;

    /// A header with its checksum, and content; `size` may be false.
    fn entry(name: &str, kind: u8, content: &[u8], size: usize) -> Vec<u8> {
        let mut out = vec![0u8; BLOCK];
        out[..name.len()].copy_from_slice(name.as_bytes());
        let digits = format!("{size:011o}");
        out[124..124 + digits.len()].copy_from_slice(digits.as_bytes());
        out[156] = kind;
        out[257..262].copy_from_slice(b"ustar");
        out[148..156].fill(b' ');
        let sum: usize = out.iter().map(|byte| usize::from(*byte)).sum();
        out[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(content);
        out.resize(BLOCK + content.len().div_ceil(BLOCK) * BLOCK, 0);
        out
    }

    fn read(entries: &[Vec<u8>]) -> Result<Vec<(String, Vec<u8>)>, Trouble> {
        let bytes = entries.concat();
        Ok(untar(&bytes, &Limits::default())?.into_iter().map(|(name, bytes)| (name, bytes.to_vec())).collect())
    }

    #[test]
    fn files_and_long_names() {
        let long = "deep/".repeat(60) + "file";
        let pax = format!("{} path={long}\n", long.len() + 10);
        let read = read(&[
            entry("web/", b'5', b"", 0),
            entry("web/a", b'0', b"one", 3),
            entry("long", b'L', long.as_bytes(), long.len()),
            entry("cut", b'0', b"two", 3),
            entry("pax", b'x', pax.as_bytes(), pax.len()),
            entry("cut", b'0', b"three", 5),
        ]);
        let files = read.unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["web/a", &long, &long]);
        assert_eq!(files[2].1, b"three");
    }

    #[test]
    fn what_is_broken_or_forbidden_is_refused() {
        for kind in *b"123456" {
            let refused = kind != b'5';
            assert_eq!(read(&[entry("x", kind, b"", 0)]).is_err(), refused, "{kind}");
        }
        assert!(matches!(read(&[entry("x", b'0', b"a", 100_000)]), Err(Trouble::Bad(_))));
        assert!(matches!(read(&[entry("x", b'0', b"a", 1 << 30)]), Err(Trouble::Large(_))));
        let mut wrong = entry("x", b'0', b"a", 1);
        wrong[0] = b'y';
        assert!(matches!(read(&[wrong]), Err(Trouble::Bad(_))));
        assert!(read(&[entry("x", b'x', b"9 size=1\n", 9), entry("y", b'0', b"a", 1)]).is_err());
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in ["a/../../x", "/etc/x", "a\\..\\..\\x", "C:/x", "a\0b"] {
            assert!(safe_name(name).is_err(), "{name}");
        }
        assert_eq!(safe_name("./a//b").unwrap(), "a/b");
    }

    #[test]
    fn bombs_are_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..200 {
            gzip.write_all(&vec![0u8; 1 << 20]).unwrap();
        }
        assert!(matches!(gunzip(&gzip.finish().unwrap(), &Limits::default()), Err(Trouble::Large(_))));
        assert!(matches!(gunzip(b"\x1f\x8bnothing", &Limits::default()), Err(Trouble::Bad(_))));
    }
}
