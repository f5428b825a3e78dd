//! Intentional differences from the original.
//!
//! One file per suite: `deviations/<suite>.toml`, a table per case id with `reason` and `answer`. Each is also listed
//! in the dialect's `compat.md`.

use std::collections::BTreeMap;
use std::path::Path;

/// One deviation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Why it is better for users.
    pub reason: String,
    /// Our answer, in the suite's canonical form.
    pub answer: String,
}

/// The deviations of a suite.
#[derive(Clone, Debug, Default)]
pub struct Deviations {
    by_id: BTreeMap<String, Deviation>,
}

impl Deviations {
    /// Reads the file of a suite; none if it does not exist. An unreadable file is a mistake of ours.
    pub fn load(suite: &str) -> Self {
        Self::load_from("deviations", suite)
    }

    /// Reads the file of a suite in another folder than the usual one.
    pub fn load_from(folder: &str, suite: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{suite}.toml"));
        let Ok(text) = std::fs::read_to_string(&path) else { return Self::default() };
        match Self::parse(&text) {
            Ok(deviations) => deviations,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                Self::default()
            }
        }
    }

    /// Reads the text of such a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut by_id = BTreeMap::new();
        for (id, entry) in table {
            let field = |name: &str| entry.get(name).and_then(toml::Value::as_str).map(str::to_owned);
            let reason = field("reason").filter(|reason| !reason.trim().is_empty());
            let (Some(reason), Some(answer)) = (reason, field("answer")) else {
                return Err(format!("`{id}` needs a `reason` and an `answer`"));
            };
            by_id.insert(id, Deviation { reason, answer });
        }
        Ok(Deviations { by_id })
    }

    /// The deviation of a case.
    pub fn get(&self, id: &str) -> Option<&Deviation> {
        self.by_id.get(id)
    }

    /// The cases that have one.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_needs_a_reason() {
        let good = Deviations::parse("[a-1]\nreason = \"better\"\nanswer = \"1\"\n");
        assert_eq!(good.map(|d| d.len()), Ok(1));
        assert!(Deviations::parse("[a-1]\nanswer = \"1\"\n").is_err());
    }
}
