//! Identifies the programs of commands: another program under the same name does something else.

use crate::action::Command;
use crate::local::process::find_program;
use crate::store::hex;
use purlin_host::named;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Number of bytes at the beginning and at the end of a program that count. Linkers put identifying data there, and
/// scripts are shorter.
const ENDS: u64 = 64 << 10;

/// Cache of programs: many commands use the same.
#[derive(Debug, Default)]
pub(crate) struct Tools(RefCell<HashMap<PathBuf, String>>);

impl Tools {
    /// Identifies the program of a command: its path and content. Empty if it is not found, or if only a shell could
    /// resolve it.
    pub(crate) fn of(&self, command: &Command, path: Option<&str>) -> String {
        let Some(first) = first_word(command) else { return String::new() };
        let own = command.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
        let Some(found) = find_program(first, &command.folder, own.or(path)) else { return String::new() };
        self.0.borrow_mut().entry(found).or_insert_with_key(|found| identity(found)).clone()
    }
}

/// The word that names the program. In shell text, only a plain word is recognised.
fn first_word(command: &Command) -> Option<&str> {
    let first = command.words.first()?;
    if !command.shell {
        return Some(first);
    }
    let word = first.split_whitespace().next()?;
    word.chars().all(|c| c.is_ascii_alphanumeric() || "._/+-".contains(c)).then_some(word)
}

/// A program, with links resolved, and a digest of its size, its beginning and its end.
fn identity(program: &Path) -> String {
    let real = named::canonical(program).unwrap_or_else(|_| program.to_owned());
    let digest = digest(&real).unwrap_or_default();
    format!("{} {digest}", real.display())
}

fn digest(program: &Path) -> Option<String> {
    let mut file = named::open(program).ok()?;
    let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut hash = Sha256::new();
    hash.update(size.to_le_bytes());
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(ENDS).read_to_end(&mut bytes).ok()?;
    hash.update(&bytes);
    if size > ENDS {
        file.seek(SeekFrom::Start((size - ENDS).max(ENDS))).ok()?;
        bytes.clear();
        file.take(ENDS).read_to_end(&mut bytes).ok()?;
        hash.update(&bytes);
    }
    Some(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn command(line: &str, shell: bool) -> Command {
        Command { words: vec![line.to_owned()], shell, folder: "/".into(), env: Vec::new() }
    }

    #[test]
    fn the_program_is_found_where_it_is_plain() {
        let words = |line: &str, shell| first_word(&command(line, shell)).map(str::to_owned);
        assert_eq!(words("a b", false).as_deref(), Some("a b"));
        assert_eq!(words("./a.sh b | c", true).as_deref(), Some("./a.sh"));
        assert_eq!(words("$A b", true), None);
        assert_eq!(words("(a)", true), None);
        assert_eq!(words("  ", true), None);
    }

    #[test]
    fn a_program_counts_by_what_it_holds_at_both_ends() {
        let file = std::env::temp_dir().join(format!("purlin-tool-{}", std::process::id()));
        let mut bytes = vec![b'x'; 200 << 10];
        let mut seen = std::collections::BTreeSet::new();
        for at in [0, (200 << 10) - 1] {
            bytes[at] = b'y';
            std::fs::write(&file, &bytes).unwrap();
            assert!(seen.insert(identity(&file)));
            assert!(!seen.insert(identity(&file)));
        }
        std::fs::write(&file, b"").unwrap();
        assert!(seen.insert(identity(&file)));
        std::fs::remove_file(&file).unwrap();
        assert!(seen.insert(identity(&file)));
    }
}
