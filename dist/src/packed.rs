//! Writers of archives whose bytes depend only on their contents: not on time, user or directory order.

use crate::contents::File;
use flate2::{Compression, GzBuilder};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

/// Why a package could not be written.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A tar archive; `above` is the prefix of every path.
pub fn tar(files: &[File], above: &str) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for folder in folders(files, above) {
        let mut header = header(0, 0o755);
        header.set_entry_type(tar::EntryType::Directory);
        archive.append_data(&mut header, format!("{folder}/"), std::io::empty())?;
    }
    for file in files {
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let mut header = header(file.bytes.len() as u64, mode);
        archive.append_data(&mut header, format!("{above}{}", file.path), file.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

fn header(size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(EPOCH);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// The time of every entry: the earliest time of a zip archive.
pub const EPOCH: u64 = 315_532_800;

/// Folders that contain files, each before its contents.
fn folders(files: &[File], above: &str) -> Vec<String> {
    let mut all = std::collections::BTreeSet::new();
    for file in files {
        let path = format!("{above}{}", file.path);
        let ends = path.match_indices('/').map(|(end, _)| end).filter(|end| *end > 0);
        all.extend(ends.filter_map(|end| path.get(..end)).filter(|folder| *folder != ".").map(str::to_owned));
    }
    all.into_iter().collect()
}

/// Compresses with gzip, without a name and a time.
pub fn gzip(bytes: &[u8], level: u32) -> Result<Vec<u8>> {
    let mut writer = GzBuilder::new().operating_system(255).write(Vec::new(), Compression::new(level));
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// A zip archive.
pub fn zip(files: &[File], above: &str, level: u32) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(i64::from(level)))
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(mode);
        archive.start_file(format!("{above}{}", file.path), options)?;
        archive.write_all(&file.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// An `ar` archive, the format of Debian packages.
pub fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let fields = format!("{name:<16}{EPOCH:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, bytes.len());
        out.extend(fields.as_bytes());
        out.extend(*bytes);
        if bytes.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

/// The SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
