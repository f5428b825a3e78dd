//! Whether a repository is built without Kustomize's restriction to files of a kustomization's own folder.
//!
//! Flux builds without it. Others pass an option that turns it off, so a script or a manual of the repository names
//! that option. This file searches for these two strings and must not know other contents of the files.

use purlin_value::world::FileKind;
use purlin_value::{Session, path};

/// Prefix of the `apiVersion` of objects that configure builds of Flux.
const FLUX: &[u8] = b"kustomize.toolkit.fluxcd.io/";

/// The option of Kustomize.
const OPTION: &[u8] = b"LoadRestrictionsNone";

/// Names of scripts, and how the names of scripts and manuals end.
const SCRIPTS: &[&str] = &["Makefile", "Tiltfile", "justfile", "Jenkinsfile"];
const SCRIPT_ENDS: &[&str] = &[".yaml", ".yml", ".mk", ".sh", ".bash", ".md", ".toml"];

/// Larger files are not written by hand.
const LARGEST: u64 = 1 << 20;

/// Steps per listed entry of a folder, and bytes searched per step.
const STEPS_PER_ENTRY: u64 = 20;
const BYTES_PER_STEP: u64 = 64;

/// Whether a file of the repository turns it off. Checked only where a kustomization would be rejected otherwise.
pub fn is_lifted(session: &Session) -> bool {
    session.finding_of_run("restriction", |session| Lifted(search(session))).0
}

/// The answer, for the memo of the session.
struct Lifted(bool);

fn search(session: &Session) -> bool {
    let mut folders = vec![".".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in session.world.list(&folder).unwrap_or_default() {
            if session.meter.charge(STEPS_PER_ENTRY, 0).is_err() {
                return false;
            }
            let place = path::normalize(&path::join(&folder, &entry.name));
            match entry.kind {
                FileKind::Folder if !matches!(entry.name.as_str(), ".git" | "node_modules") => folders.push(place),
                FileKind::File if is_script(&entry.name) && says_so(session, &place) => return true,
                _ => {}
            }
        }
    }
    false
}

fn is_script(name: &str) -> bool {
    SCRIPTS.contains(&name) || SCRIPT_ENDS.iter().any(|end| name.ends_with(end))
}

fn says_so(session: &Session, place: &str) -> bool {
    let size = session.world.stat(place).map_or(u64::MAX, |stat| stat.size);
    if size > LARGEST || session.meter.charge(size / BYTES_PER_STEP, 0).is_err() {
        return false;
    }
    let bytes = session.world.read(place).unwrap_or_default();
    [FLUX, OPTION].iter().any(|mark| bytes.windows(mark.len()).any(|window| window == *mark))
}
