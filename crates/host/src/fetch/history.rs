//! The history of the user's own repository: in which commit a line was written, by whom and when.
//!
//! `git` works in a repository of our own that borrows the objects, so that no setting of the repository is obeyed.

use super::cache::{Cache, Scratch};
use super::git::{From, Git};
use purlin_syntax::calendar::Date;
use purlin_value::world::WorldError;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Digits of a commit that are shown.
const SHORT: usize = 9;

/// A repository as it was last committed.
pub struct History {
    git: Git,
    repository: PathBuf,
    commit: String,
    /// Removed when it is dropped.
    _scratch: Scratch,
}

/// The author and commit of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authored {
    /// The abbreviated id of the commit.
    pub commit: String,
    /// Its author.
    pub author: String,
    /// The day on which it was written, in the author's time zone: `2026-11-18`.
    pub date: String,
    /// The time in seconds since 1970.
    pub time: i64,
    /// The first line of the commit message.
    pub summary: String,
    /// Whether the line may be older, because this clone has no earlier commits.
    pub is_oldest: bool,
}

impl History {
    /// The history up to the checked-out commit, or up to a revision.
    pub fn open(
        env: &BTreeMap<String, String>,
        repository: &Path,
        revision: Option<&str>,
    ) -> Result<History, WorldError> {
        let revision = revision.unwrap_or("HEAD");
        super::address::check_revision(revision)?;
        let git = Git::find(env)?;
        let scratch = Cache::of(env)?.scratch()?;
        let own = scratch.path().join("history.git");
        let commit = git.fetch(&own, From::Folder(repository), revision)?;
        Ok(History { git, repository: own, commit, _scratch: scratch })
    }

    /// The text of a file as it was committed; `None` if it was not.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.git.bytes(Some(&self.repository), &["cat-file", "blob", &format!("{}:{path}", self.commit)]);
        String::from_utf8(bytes.ok()?).ok()
    }

    /// The authors of some lines of a file, counted from 1 in the committed version. All lines must exist.
    pub fn authors(&self, path: &str, lines: &[u32]) -> Result<HashMap<u32, Authored>, WorldError> {
        let ranges: Vec<String> = lines.iter().map(|line| format!("-L{line},{line}")).collect();
        let mut arguments = vec!["-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--root", "--no-textconv"];
        arguments.extend(ranges.iter().map(String::as_str));
        arguments.extend([self.commit.as_str(), "--", path]);
        let told = self.git.bytes(Some(&self.repository), &arguments)?;
        let oldest = std::fs::read_to_string(self.repository.join("shallow")).unwrap_or_default();
        Ok(authors(&String::from_utf8_lossy(&told), &oldest))
    }
}

/// Parses `git blame --porcelain`, which describes a commit where it first appears.
fn authors(told: &str, oldest: &str) -> HashMap<u32, Authored> {
    let mut commits: HashMap<&str, Commit<'_>> = HashMap::new();
    let mut lines: Vec<(u32, &str)> = Vec::new();
    for line in told.lines().filter(|line| !line.starts_with('\t')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let number = rest.split(' ').nth(1).and_then(|number| number.parse().ok());
            lines.extend(number.map(|number| (number, word)));
            continue;
        }
        let Some((_, id)) = lines.last() else { continue };
        let commit = commits.entry(id).or_default();
        match word {
            "author" => commit.author = rest,
            "author-time" => commit.time = rest.parse().unwrap_or_default(),
            "author-tz" => commit.zone = rest,
            "summary" => commit.summary = rest,
            _ => {}
        }
    }
    let authored = |(line, id): (u32, &str)| {
        let commit = commits.get(id)?;
        let is_oldest = oldest.lines().any(|known| known == id);
        Some((line, commit.authored(id, is_oldest)))
    };
    lines.into_iter().filter_map(authored).collect()
}

/// The description of a commit.
#[derive(Default)]
struct Commit<'t> {
    author: &'t str,
    time: i64,
    /// The author's UTC offset: `+0130`.
    zone: &'t str,
    summary: &'t str,
}

impl Commit<'_> {
    fn authored(&self, id: &str, is_oldest: bool) -> Authored {
        let zone: i64 = self.zone.parse().unwrap_or_default();
        let seconds = (zone / 100 * 60 + zone % 100) * 60;
        // Dates out of range are not worth an error.
        let days = self.time.saturating_add(seconds).div_euclid(86_400).clamp(-1_000_000, 3_000_000);
        let Date { year, month, day } = Date::from_days(days);
        Authored {
            commit: id.chars().take(SHORT).collect(),
            author: self.author.to_owned(),
            date: format!("{year:04}-{month:02}-{day:02}"),
            time: self.time,
            summary: self.summary.to_owned(),
            is_oldest,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_commit_is_described_once() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let told = format!(
            "{one} 3 3 1\nauthor Ada\nauthor-mail <a@example.com>\nauthor-time 1700000000\nauthor-tz -1130\n\
             committer Bob\nsummary raise replicas\nfilename a\n\treplicas: 2\n{two} 9 5 1\nauthor \nauthor-time 0\n\
             author-tz +0000\nsummary \n\tauthor Eve\n{one} 4 4 1\n\tx\n"
        );
        let found = authors(&told, &two);
        let ada = &found[&3];
        assert_eq!((ada.author.as_str(), ada.date.as_str(), ada.is_oldest), ("Ada", "2023-11-14", false));
        assert_eq!((ada.commit.as_str(), ada.summary.as_str()), ("111111111", "raise replicas"));
        assert_eq!(found[&4], *ada);
        assert_eq!((found[&5].date.as_str(), found[&5].is_oldest), ("1970-01-01", true));
        assert_eq!(found.len(), 3);
    }
}
