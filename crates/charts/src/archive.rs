//! Chart archives: a folder with the chart's name, in gzip and tar. What every archive may hold the core decides.

use purlin_syntax::Limits;
use purlin_value::archive::{Trouble, gunzip, safe_name, untar};

pub use purlin_value::archive::is_gzip as is_archive;

/// What a message on an archive that is too large starts with.
pub(crate) const TOO_LARGE: &str = "the chart archive is too large: ";

/// The files of a chart archive, the first path component stripped.
pub fn unpack(packed: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    let tell = |trouble: Trouble| match trouble {
        Trouble::Bad(message) => format!("the chart archive cannot be read: {message}"),
        Trouble::Large(message) => format!("{TOO_LARGE}{message}"),
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
