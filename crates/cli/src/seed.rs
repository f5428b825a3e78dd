//! Where the seed of random functions comes from: the user, the system, or a file that keeps it for the next run.
//!
//! What is only shown is drawn from a number, so that a run can be repeated. What is deployed is drawn from a secret that
//! is kept in the user's own folder: it cannot be guessed, and the next deploy draws the same.

use purlin_value::Seed;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a seed comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSource {
    /// A number.
    Number(u64),
    /// The system, for this run alone.
    Fresh,
    /// The user's own file; made when it is first needed.
    Kept,
}

impl Default for SeedSource {
    fn default() -> Self {
        SeedSource::Number(0)
    }
}

/// What `--seed` takes.
impl FromStr for SeedSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => Ok(SeedSource::Fresh),
            number => number.parse().map(SeedSource::Number).map_err(|_| "expected a number or `random`".to_owned()),
        }
    }
}

impl SeedSource {
    /// The seed of a run over a folder.
    pub(crate) fn seed(self, env: &BTreeMap<String, String>, root: &str) -> Seed {
        match self {
            SeedSource::Number(number) => Seed::from(number),
            SeedSource::Fresh => Seed::secret(draw()),
            // Without a place to keep it, what is drawn changes from run to run, but still cannot be guessed.
            SeedSource::Kept => {
                let kept = file(env).and_then(|file| kept(&file).ok());
                Seed::secret(kept.unwrap_or_else(draw)).of_part(&[root])
            }
        }
    }
}

/// Bytes that nobody can guess.
fn draw() -> [u8; 32] {
    let mut bytes = [0; 32];
    if getrandom::fill(&mut bytes).is_err() {
        // The keys of hash tables come from the system as well.
        use std::hash::{BuildHasher, Hasher, RandomState};
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
        }
    }
    bytes
}

/// Where the kept seed is.
fn file(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    Some(state.or_else(|| folder("LOCALAPPDATA"))?.join("purlin/seed"))
}

/// Reads the kept seed, or creates one and keeps it. If several runs create one at once, all use the first.
fn kept(file: &Path) -> io::Result<[u8; 32]> {
    if let Ok(seed) = read(file) {
        return Ok(seed);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let written = folder.join(format!("seed.{}", purlin_value::encoding::hex(&draw())));
    write(&written, &draw())?;
    let linked = std::fs::hard_link(&written, file);
    let found = read(file);
    let settled = match (linked, found) {
        (_, Ok(seed)) => Ok(seed),
        // What is there is no seed, or links cannot be made here.
        _ => std::fs::rename(&written, file).and_then(|()| read(file)),
    };
    let _ = std::fs::remove_file(&written);
    settled
}

fn read(file: &Path) -> io::Result<[u8; 32]> {
    let bytes = std::fs::read(file)?;
    bytes.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// Writes a new file that only its owner may read.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file)?;
    opened.write_all(bytes)?;
    opened.sync_all()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_seed_is_the_same_in_every_run_and_the_users_own() {
        let home = std::env::temp_dir().join(format!("purlin-seed-{}", std::process::id()));
        let env = BTreeMap::from([("HOME".to_owned(), home.to_string_lossy().into_owned())]);
        let seeds: Vec<Seed> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| SeedSource::Kept.seed(&env, "/a"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        assert!(seeds.iter().all(|seed| Some(seed) == seeds.first() && seed.is_secret()));
        assert_ne!(SeedSource::Kept.seed(&env, "/b"), SeedSource::Kept.seed(&env, "/a"), "each project has its own");
        let folder = home.join(".local/state/purlin");
        assert_eq!(std::fs::read_dir(&folder).expect("the folder was made").count(), 1, "nothing else is left there");
        let _ = std::fs::remove_dir_all(&home);
    }

    #[test]
    fn without_a_home_it_cannot_be_guessed_either() {
        let env = BTreeMap::new();
        let (one, other) = (SeedSource::Kept.seed(&env, "/a"), SeedSource::Kept.seed(&env, "/a"));
        assert!(one.is_secret() && one != other);
    }

    #[test]
    fn numbers_and_random_are_seeds() {
        assert_eq!("7".parse(), Ok(SeedSource::Number(7)));
        assert_eq!("random".parse(), Ok(SeedSource::Fresh));
        assert!("often".parse::<SeedSource>().is_err());
    }
}
