//! Writes CSAR archives. The same files give the same bytes: names are sorted, times and modes are fixed.
//!
//! It must not know where files come from or where the archive goes.

use super::META;
use crate::folder::is_yaml;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::fmt::Write;
use std::io::Write as _;

/// The earliest date of a zip archive, 1 January 1980.
const FIRST_DAY: u16 = 0b0000_0000_0010_0001;
/// The compression level.
const LEVEL: u32 = 6;
/// Names are UTF-8.
const UTF_8: u16 = 1 << 11;
/// Written on a system with modes; 2.0 of the format.
const MADE_BY: u16 = 3 << 8 | 20;
const NEEDED: u16 = 20;
/// A plain file that its owner may write and all may read.
const MODE: u32 = 0o100_644 << 16;

/// The contents of `TOSCA.meta`.
#[derive(Clone, Debug)]
pub struct Heading {
    /// `TOSCA-Meta-File-Version`.
    pub file_version: String,
    /// `CSAR-Version`.
    pub csar_version: String,
    /// `Created-By`.
    pub created_by: String,
    /// `Entry-Definitions`; if not set, the only YAML file in the root.
    pub entry: Option<String>,
    /// `Other-Definitions`.
    pub others: Vec<String>,
}

impl Default for Heading {
    fn default() -> Self {
        let version = "1.1".to_owned();
        Heading {
            file_version: version.clone(),
            csar_version: version,
            created_by: "purlin".to_owned(),
            entry: None,
            others: Vec::new(),
        }
    }
}

/// The bytes of a zip archive with these files and a `TOSCA.meta`, or why they make no CSAR.
pub fn create(mut files: Vec<(String, Vec<u8>)>, heading: &Heading) -> Result<Vec<u8>, String> {
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let meta = heading.text(&names)?;
    files.retain(|(name, _)| name != META);
    files.push((META.to_owned(), meta.into_bytes()));
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    zip(&files)
}

impl Heading {
    /// The text of `TOSCA.meta` for an archive with these files.
    fn text(&self, names: &[&str]) -> Result<String, String> {
        for (key, value, known) in [
            ("TOSCA-Meta-File-Version", &self.file_version, ["1.0", "1.1"]),
            ("CSAR-Version", &self.csar_version, ["1.0", "1.1"]),
        ] {
            if !known.contains(&value.as_str()) {
                return Err(format!("unknown `{key}` `{value}`: expected {}", known.join(" or ")));
            }
        }
        if self.created_by.trim().is_empty() || self.created_by.contains(['\n', '\r']) {
            return Err("`Created-By` must be one line that is not empty".to_owned());
        }
        let entry = match &self.entry {
            Some(entry) => entry.clone(),
            None => only_template(names)?,
        };
        for named in std::iter::once(&entry).chain(&self.others) {
            if !names.contains(&named.as_str()) {
                return Err(format!("no file `{named}` in the folder"));
            }
        }
        let mut text = String::new();
        let _ = writeln!(text, "TOSCA-Meta-File-Version: {}", self.file_version);
        let _ = writeln!(text, "CSAR-Version: {}", self.csar_version);
        let _ = writeln!(text, "Created-By: {}", self.created_by.trim());
        let _ = writeln!(text, "Entry-Definitions: {entry}");
        if !self.others.is_empty() {
            let others: Vec<String> = self.others.iter().map(|name| quoted(name)).collect();
            let _ = writeln!(text, "Other-Definitions: {}", others.join(" "));
        }
        Ok(text)
    }
}

/// The only YAML file in the root.
fn only_template(names: &[&str]) -> Result<String, String> {
    let mut found = names.iter().filter(|name| !name.contains('/') && is_yaml(name));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok((*only).to_owned()),
        (None, _) => Err("no YAML file in the folder: name the template with `--entry FILE`".to_owned()),
        (Some(first), Some(second)) => {
            Err(format!("`{first}` and `{second}` may both be the template: name it with `--entry FILE`"))
        }
    }
}

/// A name quoted for a list of names.
fn quoted(name: &str) -> String {
    if name.contains([' ', '"', '\\']) {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        name.to_owned()
    }
}

fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    packed.write_all(bytes)?;
    packed.finish()
}

fn zip(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let too_large = || "the archive would be too large: a zip file has at most 4 GiB and 65,535 files".to_owned();
    let long = |n: usize| u32::try_from(n).map_err(|_| too_large());
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let packed = deflated(bytes).map_err(|error| error.to_string())?;
        // Content that does not compress is stored as it is.
        let (method, content) = if packed.len() < bytes.len() { (8u16, &packed) } else { (0u16, bytes) };
        let name_length = u16::try_from(name.len()).map_err(|_| format!("the name `{name}` is too long"))?;
        let offset = long(out.len())?;
        let mut common = Vec::new();
        for word in [NEEDED, UTF_8, method, 0, FIRST_DAY] {
            common.extend(word.to_le_bytes());
        }
        for number in [super::checksum(bytes), long(content.len())?, long(bytes.len())?] {
            common.extend(number.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend(0u16.to_le_bytes()); // no extra field
        out.extend(super::zip::LOCAL);
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(content);
        directory.extend(super::zip::ENTRY);
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&common);
        for word in [0u16, 0, 0] {
            directory.extend(word.to_le_bytes()); // no comment, first disk, no internal attributes
        }
        directory.extend(MODE.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).map_err(|_| too_large())?;
    let start = long(out.len())?;
    let length = long(directory.len())?;
    out.extend(directory);
    out.extend(super::zip::END);
    for word in [0u16, 0, count, count] {
        out.extend(word.to_le_bytes());
    }
    out.extend(length.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::archive::Archive;
    use purlin_syntax::Limits;

    fn heading() -> Heading {
        Heading::default()
    }

    fn files(names: &[&str]) -> Vec<(String, Vec<u8>)> {
        names.iter().map(|name| ((*name).to_owned(), format!("{name}\n").repeat(9).into_bytes())).collect()
    }

    #[test]
    fn what_is_written_can_be_read_and_does_not_depend_on_order() {
        let one = create(files(&["service.yaml", "lib/types.yaml", "Über.txt"]), &heading()).unwrap();
        let other = create(files(&["Über.txt", "lib/types.yaml", "service.yaml"]), &heading()).unwrap();
        assert_eq!(one, other);
        let archive = Archive::open("a.csar", &one, &Limits::default()).unwrap();
        let names: Vec<&str> = archive.names().collect();
        assert_eq!(names, ["TOSCA-Metadata/TOSCA.meta", "lib/types.yaml", "service.yaml", "Über.txt"]);
        assert_eq!(archive.bytes("lib/types.yaml").unwrap(), "lib/types.yaml\n".repeat(9).as_bytes());
        assert_eq!(archive.entry("").unwrap(), "service.yaml");
    }

    #[test]
    fn an_archive_needs_one_entry_and_known_versions() {
        assert!(create(files(&["a.yaml", "b.yaml"]), &heading()).is_err());
        assert!(create(files(&["a.txt"]), &heading()).is_err());
        assert!(create(files(&["a.yaml"]), &Heading { csar_version: "3.0".to_owned(), ..heading() }).is_err());
        assert!(create(files(&["a.yaml"]), &Heading { entry: Some("b.yaml".to_owned()), ..heading() }).is_err());
        let named = Heading { entry: Some("b.yaml".to_owned()), others: vec!["my a.yaml".to_owned()], ..heading() };
        let bytes = create(files(&["my a.yaml", "b.yaml"]), &named).unwrap();
        let archive = Archive::open("a.csar", &bytes, &Limits::default()).unwrap();
        assert_eq!(archive.entry("").unwrap(), "b.yaml");
        assert_eq!(archive.entry("1").unwrap(), "my a.yaml");
    }
}
