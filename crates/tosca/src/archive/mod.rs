//! CSAR archives, read from memory and never unpacked to a disk.
//!
//! Names that could lead out of the archive are rejected before anything is read; sizes are trusted only within the
//! limits. `zip` knows that format, the core knows tar and gzip; `meta` knows `TOSCA.meta`.

mod meta;
mod write;
mod zip;

pub use write::{Heading, create};

use crate::folder::is_yaml;
use crate::rules;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use indexmap::IndexMap;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Limits};
use purlin_value::archive::{self, Trouble};
use std::borrow::Cow;
use std::io::Read;
use std::sync::OnceLock;

/// The path of the metadata in an archive.
const META: &str = "TOSCA-Metadata/TOSCA.meta";

/// An archive in memory.
#[derive(Debug)]
pub struct Archive {
    /// The path of the archive itself.
    pub path: String,
    files: IndexMap<String, Packed>,
    entry_limit: u64,
}

/// One file of an archive, unpacked when it is first asked for.
#[derive(Debug)]
struct Packed {
    data: Data,
    bytes: OnceLock<Result<Vec<u8>, Diagnostic>>,
}

#[derive(Debug)]
enum Data {
    Plain(Vec<u8>),
    Deflated { bytes: Vec<u8>, size: u64, crc: u32 },
}

fn diagnostic(trouble: Trouble, path: &str) -> Diagnostic {
    match trouble {
        Trouble::Bad(message) => Diagnostic::nowhere(&rules::CSAR, format!("`{path}`: {message}")),
        Trouble::Large(message) => {
            Diagnostic::nowhere(&purlin_value::rules::LIMIT_ARCHIVE, format!("`{path}`: {message}"))
        }
    }
}

/// The files of a tar archive.
fn tar_entries(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Data)>, Trouble> {
    let files = archive::untar(bytes, limits)?;
    Ok(files.into_iter().map(|(name, bytes)| (name, Data::Plain(bytes.to_vec()))).collect())
}

impl Archive {
    /// Whether a path is that of an archive, by its extension.
    pub fn is_archive(path: &str) -> bool {
        let path = path.to_ascii_lowercase();
        [".csar", ".zip", ".tar", ".tar.gz", ".tgz"].iter().any(|extension| path.ends_with(extension))
    }

    /// Opens an archive.
    pub fn open(path: &str, bytes: &[u8], limits: &Limits) -> Result<Archive, Diagnostic> {
        let lower = path.to_ascii_lowercase();
        let entries = if lower.ends_with(".tar") {
            tar_entries(bytes, limits)
        } else if lower.ends_with("gz") {
            archive::gunzip(bytes, limits).and_then(|bytes| tar_entries(&bytes, limits))
        } else {
            zip::entries(bytes, limits)
        };
        let mut files = IndexMap::new();
        let mut folded = std::collections::HashSet::new();
        for (name, data) in entries.map_err(|trouble| diagnostic(trouble, path))? {
            let name = archive::safe_name(&name).map_err(|message| diagnostic(Trouble::Bad(message), path))?;
            if name.is_empty() {
                continue;
            }
            let again = files.insert(name.clone(), Packed { data, bytes: OnceLock::new() });
            if again.is_some() {
                return Err(diagnostic(Trouble::Bad(format!("it has two files called `{name}`")), path));
            }
            // On a file system that ignores case, one of the two would replace the other.
            if !folded.insert(name.to_lowercase()) {
                let message = format!("it has two files whose names differ only in case: `{name}` is the second");
                return Err(diagnostic(Trouble::Bad(message), path));
            }
        }
        Ok(Archive { path: path.to_owned(), files, entry_limit: limits.archive_entry_bytes })
    }

    /// The names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether there is such a file.
    pub fn contains(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The bytes of a file.
    pub fn bytes(&self, name: &str) -> Result<&[u8], Diagnostic> {
        let Some(packed) = self.files.get(name) else {
            return Err(Diagnostic::nowhere(
                &rules::CSAR,
                what::lacking(format!("the archive `{}`", self.path), "file", name),
            ));
        };
        let unpacked = packed.bytes.get_or_init(|| {
            unpack(&packed.data, self.entry_limit)
                .map_err(|trouble| diagnostic(trouble, &format!("{}!/{name}", self.path)))
        });
        unpacked.as_deref().map_err(Clone::clone)
    }

    /// The bytes of a file, if it is there and sound.
    pub fn read(&self, name: &str) -> Option<&[u8]> {
        self.bytes(name).ok()
    }

    /// The metadata by name, in source order; empty if the archive has none.
    pub fn metadata(&self) -> Result<Vec<(String, String)>, Diagnostic> {
        Ok(self.meta()?.map(|meta| meta.pairs).unwrap_or_default())
    }

    /// The further templates that its metadata lists.
    pub fn others(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.meta()?.map(|meta| meta.others).unwrap_or_default())
    }

    fn meta(&self) -> Result<Option<meta::Meta>, Diagnostic> {
        if !self.has_metadata() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(self.bytes(META)?).into_owned();
        let fail = |message: String| Diagnostic::nowhere(&rules::CSAR, format!("`{}`: `{META}` {message}", self.path));
        meta::parse(&text).map(Some).map_err(fail)
    }

    /// The unpacked size of a file, according to the archive.
    pub fn size(&self, name: &str) -> Option<u64> {
        Some(match &self.files.get(name)?.data {
            Data::Plain(bytes) => bytes.len() as u64,
            Data::Deflated { size, .. } => *size,
        })
    }

    /// Whether its metadata marks it as a CSAR.
    pub fn has_metadata(&self) -> bool {
        self.contains(META)
    }

    /// The template to read: the archive's entry, the n-th other definition, or a path listed in its metadata.
    pub fn entry(&self, template: &str) -> Result<String, Diagnostic> {
        let fail = |message: String| Diagnostic::nowhere(&rules::CSAR, format!("`{}`: {message}", self.path));
        let meta = self.meta()?;
        let listed = meta.as_ref().and_then(|meta| meta.entry.clone());
        let others = meta.map(|meta| meta.others).unwrap_or_default();
        let chosen = match template {
            "" | "0" => listed,
            number if number.parse::<usize>().is_ok() => {
                let index = number.parse::<usize>().unwrap_or(0);
                let found = others.get(index.saturating_sub(1)).cloned();
                Some(found.ok_or_else(|| fail(format!("it has no other definitions number {number}")))?)
            }
            path if listed.as_deref() == Some(path) || others.iter().any(|other| other == path) => {
                Some(path.to_owned())
            }
            path => return Err(fail(format!("its metadata does not list `{path}`"))),
        };
        match chosen {
            Some(path) => {
                let path = purlin_value::path::normalize(&path);
                self.contains(&path)
                    .then_some(path.clone())
                    .ok_or_else(|| fail(format!("its entry `{path}` is not in it")))
            }
            None => self.only_template().map_err(fail),
        }
    }

    /// The single template in the archive's root.
    fn only_template(&self) -> Result<String, String> {
        let mut found = self.names().filter(|name| !name.contains('/') && is_yaml(name));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.to_owned()),
            (None, _) => Err("it has no template in its root and no metadata that names one".to_owned()),
            (Some(one), Some(two)) => Err(format!("it has several templates in its root, such as `{one}` and `{two}`")),
        }
    }
}

fn unpack(data: &Data, limit: u64) -> Result<Vec<u8>, Trouble> {
    let (bytes, size, crc) = match data {
        Data::Plain(bytes) => (Cow::Borrowed(bytes.as_slice()), bytes.len() as u64, None),
        Data::Deflated { bytes, size, crc } => {
            if *size > limit {
                return Err(Trouble::Large(format!("it has {size} bytes, more than the {limit} allowed")));
            }
            // One byte more than declared is enough to detect a false size.
            let mut unpacked = Vec::new();
            let read = DeflateDecoder::new(bytes.as_slice()).take(size.saturating_add(1)).read_to_end(&mut unpacked);
            read.map_err(|_| Trouble::Bad("it cannot be unpacked".to_owned()))?;
            if unpacked.len() as u64 > *size {
                return Err(Trouble::Bad("it is larger than the archive says".to_owned()));
            }
            (Cow::Owned(unpacked), *size, Some(*crc))
        }
    };
    if bytes.len() as u64 != size {
        return Err(Trouble::Bad(format!("it has {} bytes, but the archive says {size}", bytes.len())));
    }
    if bytes.len() as u64 > limit {
        return Err(Trouble::Large(format!("it has {} bytes, more than the {limit} allowed", bytes.len())));
    }
    if crc.is_some_and(|crc| crc != checksum(&bytes)) {
        return Err(Trouble::Bad("its checksum is wrong".to_owned()));
    }
    Ok(bytes.into_owned())
}

/// The checksum of zip files.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
