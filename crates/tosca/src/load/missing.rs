//! Missing imported files: a file that several others import is reported once.

use super::{Loader, Place};
use crate::rules;
use indexmap::IndexMap;
use purlin_syntax::Diagnostic;

/// Missing files by their expected path, with the first import of each and the number of others.
pub(super) type Missing = IndexMap<String, (Diagnostic, usize)>;

impl Loader<'_> {
    /// Takes the problem of an import whose file was not found.
    pub(super) fn not_found(&mut self, from: &Place, address: &str, diagnostic: Diagnostic) {
        if diagnostic.rule != &rules::IMPORT || !self.options.quirks.are_usual() {
            self.problems.push(diagnostic); // the strict reading reports every import
            return;
        }
        let key = format!("{} {}", from.beside(address).key(), diagnostic.message);
        self.missing.entry(key).and_modify(|(_, others)| *others += 1).or_insert((diagnostic, 0));
    }

    pub(super) fn report_missing(&mut self) {
        for (_, (diagnostic, others)) in std::mem::take(&mut self.missing) {
            let hint = match others {
                0 => None,
                1 => Some("another import names it too; add the file, or correct the paths".to_owned()),
                _ => Some(format!("{others} other imports name it too; add the file, or correct the paths")),
            };
            self.problems.push(match hint {
                Some(hint) => Diagnostic { hints: vec![hint.into()], ..diagnostic },
                None => diagnostic,
            });
        }
    }
}
