//! `purlin puccini-csar`: create and meta with that tool's own arguments.

use super::{Format, Personality, option, usage, version};
use crate::csar;
use crate::invocation::{Exit, Invocation};
use purlin_tosca::archive::Heading;
use std::path::Path;

/// The personality.
pub(super) const PUCCINI_CSAR: Personality = Personality {
    name: "puccini-csar",
    summary: "Creates CSAR archives and prints their metadata as Puccini does.",
    commands: &[
        ("create CSAR DIRECTORY", "an archive of the files below a folder"),
        ("meta CSAR", "the metadata of an archive"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("    --entry-definitions FILE", "the service template"),
        ("    --other-definitions FILE", "a further service template"),
        ("    --created-by NAME", "who made it"),
        ("    --csar-version VERSION", "version of the archive format"),
        ("    --tosca-meta-file-version VERSION", "version of its metadata"),
        ("-a, --archive-format zip", "format of the archive"),
        ("-f, --format FORMAT", "yaml, json, xjson, xml, cbor or messagepack"),
    ],
    refused: &["completion"],
    run,
};

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else {
        return Err(usage(invocation, "name a command: create, meta or version"));
    };
    let flags = Flags::read(rest).map_err(|message| usage(invocation, &message))?;
    match (command.as_str(), flags.paths.as_slice()) {
        ("create", [archive, folder]) => {
            csar::create(invocation, Path::new(archive), Path::new(folder), &flags.heading)
        }
        ("create", _) => Err(usage(invocation, "expected `create CSAR DIRECTORY`")),
        ("meta", [archive]) => csar::meta(invocation, Path::new(archive), flags.format),
        ("meta", _) => Err(usage(invocation, "expected `meta CSAR`")),
        ("version", _) => Ok(version(invocation)),
        (other, _) => Err(super::unknown(invocation, &PUCCINI_CSAR, other)),
    }
}

struct Flags {
    paths: Vec<String>,
    heading: Heading,
    format: Format,
}

impl Flags {
    fn read(args: &[String]) -> Result<Flags, String> {
        let heading = Heading { created_by: "puccini-csar".to_owned(), ..Heading::default() };
        let mut flags = Flags { paths: Vec::new(), heading, format: Format::default() };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some((name, given)) = option(arg) else {
                flags.paths.push(arg.clone());
                continue;
            };
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`{arg}` needs a value"));
            match name {
                "tosca-meta-file-version" => flags.heading.file_version = value()?,
                "csar-version" => flags.heading.csar_version = value()?,
                "created-by" => flags.heading.created_by = value()?,
                "entry-definitions" => flags.heading.entry = Some(value()?).filter(|entry| !entry.is_empty()),
                "other-definitions" => flags.heading.others.push(value()?),
                "a" | "archive-format" => {
                    let format = value()?;
                    if !["", "zip", "csar"].contains(&format.as_str()) {
                        return Err(format!("archive format `{format}` is not supported: expected zip"));
                    }
                }
                "f" | "format" => flags.format = Format::named(&value()?)?,
                other => return Err(format!("unknown option `{other}`")),
            }
        }
        Ok(flags)
    }
}
