//! Cycles among imports, found on the finished graph without recursion.
//!
//! Every file is read once, however often it is imported. Imports that close a cycle are set apart, so that later
//! phases see no cycles.

use super::{Import, Loader};
use crate::quirks;
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_syntax::what;

/// Marks the file of an import that closes a cycle, until it is set apart.
const CLOSING: usize = usize::MAX;

impl Loader<'_> {
    /// Finds cycles among imports, each reported where it closes.
    pub(super) fn report_rings(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.files.list.len()];
        let mut stack: Vec<(usize, usize)> = Vec::new();
        let mut starts = 0..self.files.list.len();
        loop {
            let Some((file, next)) = stack.last().copied() else {
                let Some(start) = starts.find(|start| states.get(*start) == Some(&State::New)) else { break };
                stack.push((start, 0));
                continue;
            };
            if let Some(state) = states.get_mut(file) {
                *state = State::Open;
            }
            let Some(import) = self.files.list.get(file).and_then(|file| file.imports.get(next)).cloned() else {
                if let Some(state) = states.get_mut(file) {
                    *state = State::Done;
                }
                stack.pop();
                continue;
            };
            if let Some(top) = stack.last_mut() {
                top.1 += 1;
            }
            match states.get(import.file) {
                Some(State::New) => stack.push((import.file, 0)),
                Some(State::Open) => self.report_ring(&stack, &import),
                _ => {}
            }
        }
        self.files.list.iter_mut().for_each(|file| file.imports.retain(|import| import.file != CLOSING));
    }

    /// Whether cycles are only worth a warning.
    fn allows_cycles(&self) -> bool {
        self.files.edition.is_some_and(|edition| self.options.quirks.allow(quirks::IMPORT_CYCLES, edition))
    }

    fn report_ring(&mut self, stack: &[(usize, usize)], import: &Import) {
        let start = stack.iter().position(|(file, _)| *file == import.file).unwrap_or(0);
        let members = stack.get(start..).unwrap_or(&[]).iter().map(|(file, _)| *file).chain([import.file]);
        let names: Vec<String> =
            members.filter_map(|file| self.files.list.get(file)).map(|file| format!("`{}`", file.path)).collect();
        let message = what::cycle(names).under("circular import: ");
        let diagnostic = Diagnostic::at(&rules::IMPORT_LOOP, import.at, message);
        let allowed = self.allows_cycles();
        self.problems.push(if allowed { diagnostic.warning().hint("each file is read once") } else { diagnostic });
        let Some((importer, next)) = stack.last().copied() else { return };
        let Some(file) = self.files.list.get_mut(importer) else { return };
        if !allowed {
            file.unread.push(import.prefix.clone()); // what it would bring is not known
        }
        self.files.closing.push((importer, import.clone()));
        if let Some(closing) = next.checked_sub(1).and_then(|at| file.imports.get_mut(at)) {
            closing.file = CLOSING;
        }
    }
}
