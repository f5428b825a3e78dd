//! Whether Flux deploys a repository: it builds kustomizations without Kustomize's restriction on files of other folders.
//!
//! Looks for the objects that tell Flux what to build. What they say is of no interest here.

use purlin_value::world::FileKind;
use purlin_value::{Session, path};

/// What such an object has as its `apiVersion`, up to the version.
const MARK: &[u8] = b"kustomize.toolkit.fluxcd.io/";

/// Larger files hold no such object.
const LARGEST: u64 = 1 << 20;

/// Steps of looking at one entry of a folder, and of looking through so many bytes.
const STEPS_PER_ENTRY: u64 = 20;
const BYTES_PER_STEP: u64 = 64;

/// Whether anything in the repository says so. Asked only where a kustomization would be refused otherwise.
pub fn deploys(session: &Session) -> bool {
    session.finding("flux", || Deploys(search(session))).0
}

/// The answer, for the memo of the session.
struct Deploys(bool);

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
                FileKind::File if is_yaml(&entry.name) && has_mark(session, &place) => return true,
                _ => {}
            }
        }
    }
    false
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

fn has_mark(session: &Session, place: &str) -> bool {
    let size = session.world.stat(place).map_or(u64::MAX, |stat| stat.size);
    if size > LARGEST || session.meter.charge(size / BYTES_PER_STEP, 0).is_err() {
        return false;
    }
    let bytes = session.world.read(place).unwrap_or_default();
    bytes.windows(MARK.len()).any(|window| window == MARK)
}
