//! Scores a name at the cursor: by the key of the line, by the name of the file, and by nearby text. It knows texts
//! only.

use crate::context::Context;
use std::ops::Range;

/// Scores of the same name nearby, by distance in bytes.
const NEARBY: &[(usize, u32)] = &[(120, 500), (300, 350), (800, 200)];

/// Scores of an equal key and of a similar one.
const SAME: u32 = 450;
const PARTLY: u32 = 250;
/// The divisor of these scores for the keys of the lines around, and for the name of the file.
const AROUND: u32 = 2;
/// Words of conditions, and the names that are usually used there.
const QUESTIONS: &[&str] = &["if ", "and ", "or ", "not "];
const SWITCHES: &[&str] = &["enabled", "create"];
/// Shorter words are parts of too many others.
const SHORTEST: usize = 3;

/// The surroundings of the cursor.
pub(crate) struct Surroundings {
    offset: usize,
    /// The key of the line.
    key: Option<String>,
    /// Keys of the lines before and after it.
    around: Vec<String>,
    /// The file's name without folder and ending.
    stem: String,
    /// Whether the line is a condition.
    asks: bool,
}

impl Surroundings {
    pub fn of(context: &Context) -> Self {
        let (text, offset) = (context.text.as_ref(), context.offset.min(context.text.len()));
        let start = text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let (before, line) = (text.get(..start).unwrap_or(""), text.get(start..).unwrap_or(""));
        let behind = line.split_once('\n').map_or("", |(_, rest)| rest);
        let above = before.lines().rev().find_map(key_of);
        let below = behind.lines().take(3).find_map(key_of);
        let name = context.file.rsplit('/').next().unwrap_or("");
        let stem = plain(name.split('.').next().unwrap_or(""));
        let key = line.lines().next().and_then(key_of);
        let asks = text.get(start..offset).is_some_and(|line| QUESTIONS.iter().any(|word| line.contains(word)));
        Surroundings { offset, asks, key, around: above.into_iter().chain(below).collect(), stem }
    }

    /// Whether the cursor is in a mention.
    pub fn touches(&self, mention: &Range<usize>) -> bool {
        mention.start <= self.offset && self.offset <= mention.end
    }

    /// The score of a mention of the same name in this file.
    pub fn nearby(&self, mention: &Range<usize>) -> u32 {
        let away = mention.start.saturating_sub(self.offset).max(self.offset.saturating_sub(mention.end));
        NEARBY.iter().find(|(most, _)| away <= *most).map_or(0, |(_, worth)| *worth)
    }

    /// The score of the name itself here.
    pub fn fits(&self, name: &str) -> u32 {
        let name = name.rsplit('.').next().unwrap_or(name);
        if self.asks && SWITCHES.contains(&name) {
            return SAME;
        }
        let word = plain(name);
        let alike = |key: &str| match () {
            () if key == word => SAME,
            () if key.len() >= SHORTEST && word.len() >= SHORTEST && (key.contains(&word) || word.contains(key)) => {
                PARTLY
            }
            () => 0,
        };
        let of_key = self.key.as_deref().map_or(0, alike);
        let of_around = self.around.iter().map(|key| alike(key) / AROUND).max().unwrap_or(0);
        let is_short = self.stem.len() > 1 && initials(name) == self.stem;
        let of_file = if is_short { SAME / AROUND } else { alike(&self.stem) / AROUND };
        of_key.max(of_around).max(of_file)
    }
}

/// The key at the beginning of a line, as far as the line alone shows it.
fn key_of(line: &str) -> Option<String> {
    let line = line.trim_start().trim_start_matches("- ");
    let end = line.find(':')?;
    let key = line.get(..end)?.trim_matches('"');
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    is_plain.then(|| plain(key.rsplit(['/', '.']).next().unwrap_or(key)))
}

/// Letters and digits alone, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The first letters of the words of a name: `pdb` of `podDisruptionBudget`.
fn initials(name: &str) -> String {
    let mut found = String::new();
    let mut starts = true;
    for c in name.chars() {
        if starts || c.is_uppercase() {
            found.extend(c.to_lowercase());
        }
        starts = !c.is_alphanumeric();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_initials_are_read_from_texts() {
        assert_eq!(key_of("  - imagePullPolicy: {{ .Values.x }}").as_deref(), Some("imagepullpolicy"));
        assert_eq!(key_of("  {{- if .Values.a }}"), None);
        assert_eq!(key_of("app.kubernetes.io/name: x").as_deref(), Some("name"));
        assert_eq!(initials("podDisruptionBudget"), "pdb");
        assert_eq!(initials("service-account"), "sa");
    }
}
