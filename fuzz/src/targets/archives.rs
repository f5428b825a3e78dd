//! Targets that unpack archives. Inputs are raw bytes, or a list of files that is packed correctly first, so that the
//! contents are tested as well as the packing.

use super::dialects::files_of;
use super::{Target, about, kind_of, plain};
use purlin_model::Request;
use purlin_syntax::Limits;
use purlin_tosca::archive::Archive;
use purlin_value::{MemoryWorld, Session};
use std::sync::Arc;

/// TOSCA archives.
pub(super) const CSAR: Target = Target {
    name: "csar",
    summary: "open a CSAR and resolve the service in it",
    run: |input| {
        let is_list = input.starts_with(b"=== ");
        let bytes = if is_list { zip_of(&files_of("TOSCA-Metadata/TOSCA.meta", input)) } else { input.to_vec() };
        let tar = if is_list { tar_of(&files_of("", input)) } else { input.to_vec() };
        let mut kinds = Vec::new();
        for (name, bytes) in [("s.csar", &bytes), ("s.tar", &tar), ("s.tar.gz", &packed(&tar))] {
            match Archive::open(name, bytes, &Limits::default()) {
                Ok(archive) => {
                    let names: Vec<&str> = archive.names().collect();
                    let sizes = names.iter().map(|name| archive.read(name).map_or(0, |bytes| about(bytes.len())));
                    let sum: u32 = sizes.sum();
                    kinds.push((about(names.len()) + sum, archive.entry("").map_err(|d| plain(&d.message)).err()));
                }
                Err(problem) => kinds.push((0, Some(plain(&problem.message)))),
            }
        }
        if is_list {
            let session = Session::new(Arc::new(MemoryWorld::new().bytes("s.csar", &bytes)));
            let request = Request { path: "s.csar".to_owned(), ..Request::default() };
            let _ = (purlin_tosca::DIALECT.resolve)(&session, &request);
            kinds.extend(session.sink.take().iter().take(3).map(|problem| (1, Some(plain(&problem.message)))));
        }
        kind_of(kinds)
    },
    seeds: &[
        "=== TOSCA-Metadata/TOSCA.meta\nTOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: x\nEntry-Definitions: s.yaml\nOther-Definitions: \"a.yaml\" b.yaml\n=== s.yaml\ntosca_definitions_version: tosca_simple_yaml_1_3\nimports: [t.yaml]\n=== t.yaml\ntosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: {N: {derived_from: tosca.nodes.Root}}\n",
        "=== s.yaml\ntosca_definitions_version: tosca_2_0\nmetadata: {template_name: x}\n=== ../evil\nx\n",
        "PK\u{5}\u{6}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "PK\u{3}\u{4}\u{14}\0\0\0\0\0\0\0\0\0\0\0\0\0\u{5}\0\0\0\u{5}\0\0\0\u{1}\0\0\0ahello",
    ],
    words: &[
        "=== ",
        "=== ../x\n",
        "=== /x\n",
        "=== a\\b\n",
        "TOSCA-Meta-File-Version: 1.0\n",
        "CSAR-Version: 2.0\n",
        "Entry-Definitions: ",
        "Other-Definitions: ",
        "PK\u{1}\u{2}",
        "PK\u{3}\u{4}",
        "PK\u{5}\u{6}",
        "PK\u{6}\u{6}",
        "PK\u{7}\u{8}",
        "\0\0\0\0",
        "\u{1f}",
        "\u{8}\0",
        "ustar\0",
        "imports: [x.yaml]\n",
        "s.yaml",
    ],
    suite: &[],
};

/// Chart archives.
pub(super) const CHART_ARCHIVE: Target = Target {
    name: "chart-archive",
    summary: "unpack a chart archive",
    run: |input| match purlin_charts::archive::unpack(&packed(input), &Limits::default()) {
        Ok(files) => kind_of((about(files.len()), about(files.iter().map(|(_, bytes)| bytes.len()).sum()))),
        Err(error) => kind_of(plain(&error.message)),
    },
    seeds: &["\u{1f}", "ustar"],
    words: &[
        "\u{1f}",
        "\u{8}",
        "\0\0\0\0",
        "ustar\0",
        "ustar  \0",
        "00000000644\0",
        "../x",
        "x/Chart.yaml",
        "././@PaxHeader",
    ],
    suite: &[],
};

/// A gzip file: of a tar archive with the listed files, or of the bytes themselves.
fn packed(input: &[u8]) -> Vec<u8> {
    let inner = if input.starts_with(b"=== ") { tar_of(&files_of("", input)) } else { input.to_vec() };
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    let chunks = inner.chunks(0xffff).count();
    for (at, chunk) in inner.chunks(0xffff).enumerate() {
        let len = chunk.len() as u16;
        out.push(u8::from(at + 1 == chunks));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend(chunk);
    }
    if inner.is_empty() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    out.extend(crc32(&inner).to_le_bytes());
    out.extend((inner.len() as u32).to_le_bytes());
    out
}

/// A tar archive in the ustar format.
fn tar_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in files.iter().filter(|(name, _)| !name.is_empty()) {
        let mut header = name.as_bytes().to_vec();
        header.resize(100, 0);
        header.extend(b"0000644\x00000000\x00000000\x00");
        header.resize(124, 0);
        header.extend(format!("{:011o}\0{:011o}\0        0", bytes.len(), 0).as_bytes());
        header.resize(257, 0);
        header.extend(b"ustar\x0000");
        header.resize(512, 0);
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header.splice(148..156, format!("{sum:06o}\0 ").into_bytes());
        out.extend(header);
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1_024, 0);
    out
}

/// A zip archive with uncompressed files.
fn zip_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let offset = out.len() as u32;
        let mut common = Vec::new();
        common.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        common.extend(crc32(bytes).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, count) = (out.len() as u32, files.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |mut crc: u32, byte: &u8| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
        crc
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_packed_here_is_sound() {
        let zipped = zip_of(&[("s.yaml".to_owned(), b"a: 1\n".to_vec()), ("d/t".to_owned(), Vec::new())]);
        let archive = Archive::open("s.csar", &zipped, &Limits::default()).unwrap();
        assert_eq!(archive.read("s.yaml"), Some(&b"a: 1\n"[..]));
        assert_eq!(archive.names().count(), 2);
        let unpacked =
            purlin_charts::archive::unpack(&packed(b"=== x/Chart.yaml\nname: x\n"), &purlin_syntax::Limits::default())
                .unwrap();
        assert_eq!(unpacked, [("Chart.yaml".to_owned(), b"name: x\n".to_vec())]);
    }
}
