//! Rings among imports, found on the finished graph without recursion.

use super::{Import, Loader};
use crate::rules;
use purlin_syntax::Diagnostic;

impl Loader<'_> {
    /// Finds rings among imports, each reported where it closes.
    pub(super) fn report_rings(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.files.list.len()];
        let mut stack: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((file, next)) = stack.last().copied() {
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
        // A ring's closing import is dropped, so that later phases see no ring; what it would bring is not known.
        for (index, file) in self.files.list.iter_mut().enumerate() {
            let dropped = file.imports.iter().filter(|import| import.file == usize::MAX);
            file.unread.extend(dropped.map(|import| import.prefix.clone()));
            file.imports.retain(|import| import.file != index && import.file != usize::MAX);
        }
    }

    pub(super) fn report_ring(&mut self, stack: &[(usize, usize)], import: &Import) {
        let start = stack.iter().position(|(file, _)| *file == import.file).unwrap_or(0);
        let members = stack.get(start..).unwrap_or(&[]).iter().map(|(file, _)| *file).chain([import.file]);
        let names: Vec<String> =
            members.filter_map(|file| self.files.list.get(file)).map(|file| format!("`{}`", file.path)).collect();
        let message = format!("these files import each other in a ring: {}", names.join(" → "));
        self.problems.push(Diagnostic::at(&rules::IMPORT_LOOP, import.at, message));
        let closing =
            stack.last().and_then(|(file, next)| self.files.list.get_mut(*file)?.imports.get_mut(next.checked_sub(1)?));
        if let Some(closing) = closing {
            closing.file = usize::MAX;
        }
    }
}
