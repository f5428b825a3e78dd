//! Propagates unread imports: declarations unknown to a file are unknown to its importers too.

use super::Files;
use crate::val::Text;
use ecow::EcoString;

impl Files {
    /// Whether a name may come from an import that could not be read.
    pub fn may_be_unread(&self, text: &Text) -> bool {
        if !self.any_unread {
            return false;
        }
        let file = self.of(text.span.file).and_then(|index| self.list.get(index));
        let within = |prefix: &EcoString| {
            text.text.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with(['.', ':']))
        };
        file.is_some_and(|file| file.unread.iter().any(|prefix| prefix.is_empty() || within(prefix)))
    }

    /// Marks importers of files with unread imports as incomplete too.
    pub(super) fn spread_unread(&mut self) {
        let mut importers: Vec<Vec<(usize, EcoString)>> = vec![Vec::new(); self.list.len()];
        for (index, file) in self.list.iter().enumerate() {
            for import in &file.imports {
                if let Some(list) = importers.get_mut(import.file) {
                    list.push((index, import.prefix.clone()));
                }
            }
        }
        let is_unread = |index: &usize| self.list.get(*index).is_some_and(|file| !file.unread.is_empty());
        let mut waiting: Vec<usize> = (0..self.list.len()).filter(is_unread).collect();
        self.any_unread = !waiting.is_empty();
        while let Some(index) = waiting.pop() {
            for (importer, prefix) in importers.get_mut(index).map(std::mem::take).unwrap_or_default() {
                let Some(file) = self.list.get_mut(importer) else { continue };
                if file.unread.is_empty() {
                    waiting.push(importer);
                }
                if !file.unread.contains(&prefix) {
                    file.unread.push(prefix);
                }
            }
        }
    }
}
