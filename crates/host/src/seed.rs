//! The source of the seed for random functions: the user, the system, or a file that keeps it for the next run.
//!
//! Output that is only shown uses a number, so that a run can be repeated. Deployments use a secret from the user's own
//! folder: it cannot be guessed, and the next deploy gets the same values.

use crate::secret;
use purlin_value::Seed;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The source of a seed.
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

/// Values of `--seed`.
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
    pub fn seed(self, env: &BTreeMap<String, String>, root: &str) -> Seed {
        match self {
            SeedSource::Number(number) => Seed::from(number),
            SeedSource::Fresh => Seed::secret(secret::draw()),
            // Without a folder to keep it, random values change from run to run, but still cannot be guessed.
            SeedSource::Kept => Seed::secret(secret::of_user(env).unwrap_or_else(secret::draw)).of_part(&[root]),
        }
    }
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
