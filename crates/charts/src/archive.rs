//! Chart archives: gzip and tar read in memory, never unpacked to disk. Names that lead out of the chart, links and
//! sizes that lie are refused.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use purlin_syntax::Limits;

/// Archives smaller than this are not suspicious, however well they are packed.
const SMALL: u64 = 1 << 20;

/// The files of a chart archive, the first path component stripped.
pub fn unpack(packed: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    let by_ratio = (packed.len() as u64).saturating_mul(limits.archive_ratio).max(SMALL);
    let bound = limits.archive_bytes.min(by_ratio);
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed)
        .take(bound + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("the chart archive cannot be unpacked: {error}"))?;
    if bytes.len() as u64 > bound {
        return Err(format!("the chart archive unpacks to more than {bound} bytes"));
    }
    entries(&bytes, limits)
}

/// Whether bytes look like a gzip archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn entries(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    let mut at = 0usize;
    let mut long_name: Option<String> = None;
    let mut extended_size: Option<u64> = None;
    while let Some(header) = bytes.get(at..at + 512) {
        if header.iter().all(|b| *b == 0) {
            break;
        }
        at += 512;
        let kind = header.get(156).copied().unwrap_or(0);
        let size = match extended_size.take() {
            Some(size) if !matches!(kind, b'x' | b'g' | b'L') => size,
            _ => number(header.get(124..136).unwrap_or_default())?,
        };
        let most = limits.archive_entry_bytes;
        if size > most {
            return Err(format!("a file in the chart archive has {size} bytes, more than the {most} allowed"));
        }
        let size = size as usize;
        let Some(content) = bytes.get(at..at + size) else {
            return Err("the chart archive ends in the middle of a file".to_owned());
        };
        at += size.div_ceil(512) * 512;
        match kind {
            b'L' => long_name = Some(text(content)),
            b'x' => {
                let (path, size) = extended(content);
                long_name = path.or(long_name);
                extended_size = size;
            }
            b'g' | b'5' => long_name = None,
            0 | b'0' | b'7' => {
                let name = long_name.take().unwrap_or_else(|| header_name(header));
                if let Some(name) = chart_name(&name)? {
                    found.push((name, content.to_vec()));
                }
            }
            _ => return Err("the chart archive contains a link or a device".to_owned()),
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

fn header_name(header: &[u8]) -> String {
    let name = text(header.get(..100).unwrap_or_default());
    let prefix = text(header.get(345..500).unwrap_or_default());
    let is_ustar = header.get(257..262) == Some(b"ustar");
    if prefix.is_empty() || !is_ustar { name } else { format!("{prefix}/{name}") }
}

/// An octal or base-256 number.
fn number(field: &[u8]) -> Result<u64, String> {
    if field.first().is_some_and(|b| b & 0x80 != 0) {
        return Ok(field.iter().skip(4).fold(0, |sum, b| sum << 8 | u64::from(*b)));
    }
    let digits = text(field);
    let digits = digits.trim();
    if digits.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(digits, 8).map_err(|_| "the chart archive has a malformed header".to_owned())
}

/// Path and size of a PAX header.
fn extended(content: &[u8]) -> (Option<String>, Option<u64>) {
    let (mut path, mut size) = (None, None);
    for line in text(content).lines() {
        let Some((key, value)) = line.split_once(' ').and_then(|(_, pair)| pair.split_once('=')) else { continue };
        match key {
            "path" => path = Some(value.to_owned()),
            "size" => size = value.parse().ok(),
            _ => {}
        }
    }
    (path, size)
}

/// The name inside the chart; `None` for what is not in the chart's folder.
fn chart_name(name: &str) -> Result<Option<String>, String> {
    let name = name.replace('\\', "/");
    let bad = name.starts_with('/')
        || name.contains('\0')
        || name.split('/').any(|part| part == "..")
        || name.get(1..3) == Some(":/");
    if bad {
        return Err(format!("the chart archive contains the illegal path `{name}`"));
    }
    let mut parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.len() < 2 {
        return Ok(None);
    }
    parts.remove(0);
    Ok(Some(parts.join("/")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use std::io::Write;

    /// A tar header and content; `size` may lie.
    fn entry(name: &str, kind: u8, content: &[u8], size: usize) -> Vec<u8> {
        let mut header = vec![0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        let digits = format!("{size:011o}");
        header[124..124 + digits.len()].copy_from_slice(digits.as_bytes());
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        let mut out = header;
        out.extend_from_slice(content);
        out.resize(512 + content.len().div_ceil(512) * 512, 0);
        out
    }

    fn opened(packed: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
        unpack(packed, &Limits::default())
    }

    fn packed(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&entries.concat()).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn files_lose_their_first_folder() {
        let files = opened(&packed(&[entry("web/Chart.yaml", b'0', b"name: web", 9)])).unwrap();
        assert_eq!(files, [("Chart.yaml".to_owned(), b"name: web".to_vec())]);
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for name in ["web/../../x", "/etc/x", "web\\..\\..\\x", "C:/x"] {
            assert!(opened(&packed(&[entry(name, b'0', b"a", 1)])).is_err(), "{name}");
        }
    }

    #[test]
    fn links_and_devices_are_refused() {
        for kind in *b"1234" {
            assert!(opened(&packed(&[entry("web/x", kind, b"", 0)])).is_err());
        }
    }

    #[test]
    fn sizes_that_lie_are_refused() {
        assert!(opened(&packed(&[entry("web/x", b'0', b"a", 100_000)])).is_err());
        assert!(opened(&packed(&[entry("web/x", b'0', b"a", 6 << 20)])).is_err());
    }

    #[test]
    fn bombs_are_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..200 {
            gzip.write_all(&vec![0u8; 1 << 20]).unwrap();
        }
        assert!(opened(&gzip.finish().unwrap()).is_err());
    }
}
