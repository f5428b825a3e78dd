//! The user's own secret: 256 bits in their state folder, made when first needed.
//!
//! With it, results could be forged and random values guessed, so only its owner may read the file. Knows nothing of
//! what is derived from it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Length of a secret in bytes.
const LENGTH: usize = 32;

/// Unpredictable bytes.
pub fn draw() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    if getrandom::fill(&mut bytes).is_err() {
        // The keys of hash tables come from the system as well.
        use std::hash::{BuildHasher, Hasher, RandomState};
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
        }
    }
    bytes
}

/// The secret of the user that this environment belongs to. `None` if there is no folder to keep one in.
pub fn of_user(env: &BTreeMap<String, String>) -> Option<[u8; LENGTH]> {
    file(env).and_then(|file| kept(&file).ok())
}

/// The file of the secret.
fn file(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    Some(state.or_else(|| folder("LOCALAPPDATA"))?.join("purlin/seed"))
}

/// Reads the kept secret, or creates one and keeps it. If several runs create one at once, all use the first.
fn kept(file: &Path) -> io::Result<[u8; LENGTH]> {
    match read(file) {
        Ok(secret) => return Ok(secret),
        // Another user's file is neither used nor replaced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
        Err(_) => {}
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let written = folder.join(format!("seed.{}", purlin_value::encoding::hex(&draw())));
    write(&written, &draw())?;
    let linked = std::fs::hard_link(&written, file);
    let found = read(file);
    let settled = match (linked, found) {
        (_, Ok(secret)) => Ok(secret),
        // The existing file is not a secret, or links are not supported here.
        _ => std::fs::rename(&written, file).and_then(|()| read(file)),
    };
    let _ = std::fs::remove_file(&written);
    settled
}

/// Reads a secret that belongs to the user. If others could read or write it, their access is removed first.
fn read(file: &Path) -> io::Result<[u8; LENGTH]> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(file)?;
    let found = opened.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    if found.mode() & 0o077 != 0 {
        opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    let mut bytes = Vec::with_capacity(LENGTH + 1);
    opened.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// Writes a new file that only its owner may read.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut opened = File::options().write(true).create_new(true).mode(0o600).open(file)?;
    opened.write_all(bytes)?;
    opened.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn home(name: &str) -> (PathBuf, BTreeMap<String, String>) {
        let home = std::env::temp_dir().join(format!("purlin-secret-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&home);
        let env = BTreeMap::from([("HOME".to_owned(), home.to_string_lossy().into_owned())]);
        (home, env)
    }

    #[test]
    fn a_secret_is_made_once_and_only_its_owner_can_read_it() {
        let (home, env) = home("once");
        let first = of_user(&env).unwrap();
        let file = home.join(".local/state/purlin/seed");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(of_user(&env), Some(first));
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        let _ = std::fs::remove_dir_all(&home);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let (home, env) = home("link");
        let folder = home.join(".local/state/purlin");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(home.join("known"), [7; LENGTH]).unwrap();
        std::os::unix::fs::symlink(home.join("known"), folder.join("seed")).unwrap();
        assert_ne!(of_user(&env), Some([7; LENGTH]));
        let _ = std::fs::remove_dir_all(&home);
    }

    #[test]
    fn without_a_home_there_is_none() {
        assert_eq!(of_user(&BTreeMap::new()), None);
    }
}
