//! `purlin csar`: create, list and unpack CSAR archives.

use crate::args::CsarCommand;
use crate::commands::Context;
use crate::csar;
use crate::invocation::Exit;
use purlin_tosca::archive::Heading;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, command: &CsarCommand) -> Result<Exit, Exit> {
    match command {
        CsarCommand::Create { archive, folder, entry, other, created_by, csar_version, tosca_meta_file_version } => {
            let heading = Heading {
                file_version: tosca_meta_file_version.clone(),
                csar_version: csar_version.clone(),
                created_by: created_by.clone(),
                entry: entry.clone(),
                others: other.clone(),
            };
            csar::create(cx.invocation, archive, folder, &heading)
        }
        CsarCommand::List { archive } => csar::list(cx.invocation, archive),
        CsarCommand::Unpack { archive, folder } => csar::unpack(cx.invocation, archive, folder),
    }
}
