//! The command line.

use crate::targets::{TARGETS, Target};
use std::path::{Path, PathBuf};

/// The role of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Starts workers and watches them.
    Supervisor,
    /// Mutates inputs and calls targets.
    Worker,
    /// Calls the targets once for each file of the corpus.
    Once,
}

/// The parsed arguments.
#[derive(Clone)]
pub struct Arguments {
    /// The role of this process.
    pub role: Role,
    /// The targets; all if none is named.
    pub targets: Vec<&'static Target>,
    /// Time for each target.
    pub seconds: u64,
    /// The random seed.
    pub seed: u64,
    /// A folder with further inputs, or with `--once` the inputs.
    pub corpus: Option<PathBuf>,
    /// The folder of findings.
    pub findings: PathBuf,
}

const USAGE: &str = "purlin-fuzz [TARGET…] [--seconds N] [--seed N] [--corpus DIR] [--findings DIR] [--once]";

impl Arguments {
    /// Reads the words of a command line.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
        let mut found = Arguments {
            role: Role::Supervisor,
            targets: Vec::new(),
            seconds: 60,
            seed: 1,
            corpus: None,
            findings: own,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
            match word.as_str() {
                "--seconds" => found.seconds = number(value()?)?,
                "--seed" => found.seed = number(value()?)?,
                "--corpus" => found.corpus = Some(PathBuf::from(value()?)),
                "--findings" => found.findings = PathBuf::from(value()?),
                "--worker" => found.role = Role::Worker,
                "--once" => found.role = Role::Once,
                "--list" | "--help" => return Err(listing()),
                name => found.targets.push(target(name)?),
            }
        }
        if found.targets.is_empty() {
            found.targets = TARGETS.iter().collect();
        }
        Ok(found)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn target(name: &str) -> Result<&'static Target, String> {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.ok_or_else(|| format!("there is no target `{name}`\n{}", listing()))
}

fn listing() -> String {
    let lines = TARGETS.iter().map(|target| format!("  {:<18} {}\n", target.name, target.summary));
    format!("{USAGE}\ntargets:\n{}", lines.collect::<String>())
}
