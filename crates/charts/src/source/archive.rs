//! Chart archives: a folder with the chart's name, in gzip and tar. Limits of archives are in the core.

use purlin_syntax::Limits;
use purlin_value::archive::{Trouble, gunzip, gzip, safe_name, tar, untar};

use crate::chart::ChartFile;
use crate::load::LoadError;

pub use purlin_value::archive::is_gzip as is_archive;

/// The files of a chart archive, the first path component stripped.
pub fn unpack(packed: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, LoadError> {
    let tell = |trouble: Trouble| match trouble {
        Trouble::Bad(message) => LoadError::archive(format!("the chart archive cannot be read: {message}")),
        Trouble::Large(message) => LoadError {
            rule: Some(&purlin_value::rules::LIMIT_ARCHIVE),
            ..LoadError::from(format!("the chart archive is too large: {message}"))
        },
    };
    let bytes = gunzip(packed, limits).map_err(tell)?;
    let mut found = Vec::new();
    for (name, content) in untar(&bytes, limits).map_err(tell)? {
        // Some tools write the separator of Windows.
        let name = safe_name(&name.replace('\\', "/")).map_err(|message| tell(Trouble::Bad(message)))?;
        if let Some((_, inside)) = name.split_once('/') {
            found.push((inside.to_owned(), content.to_vec()));
        }
    }
    Ok(found)
}

/// Packs a chart: its files below a folder of its name. The same files make the same bytes.
pub fn pack(name: &str, files: &[ChartFile]) -> Result<Vec<u8>, String> {
    let named: Vec<(String, &[u8])> =
        files.iter().map(|file| (format!("{name}/{}", file.name), file.bytes.as_ref())).collect();
    gzip(&tar(&named)).map_err(|error| format!("the chart archive cannot be written: {error}"))
}
