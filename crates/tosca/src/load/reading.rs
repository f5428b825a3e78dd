//! The content of one file, read once for all services of a run that import it.

use crate::edition::Edition;
use crate::entity::Entity;
use crate::host::Host;
use crate::problem::Problems;
use crate::quirks::Quirks;
use crate::read::{Reader, Role};
use crate::scripts::Own;
use purlin_syntax::{FileId, Node};
use purlin_value::Session;
use std::sync::Arc;

/// How a file is read.
pub(super) struct Reading<'a> {
    pub(super) edition: Edition,
    pub(super) role: Role,
    pub(super) substitutes: bool,
    pub(super) quirks: &'a Quirks,
    pub(super) host: Option<&'static Host>,
}

/// The content of a file and its problems.
struct Found {
    entity: Option<Arc<Entity>>,
    problems: Problems,
}

impl Reading<'_> {
    /// The entity at a node of a file. Problems are reported each time, since earlier reports may have been discarded.
    pub(super) fn entity(
        &self,
        session: &Session,
        file: FileId,
        root: Node<'_>,
        problems: &mut Problems,
    ) -> Option<Arc<Entity>> {
        // A service template is seldom read twice.
        if self.role == Role::Root {
            return self.read(root, problems).map(Arc::new);
        }
        let find = || {
            let mut problems = Problems::new();
            Found { entity: self.read(root, &mut problems).map(Arc::new), problems }
        };
        let key = self.key(file, root);
        let found = match session.sources.is_shared(file) {
            true => session.finding_in_shared(&key, find),
            false => session.finding(&key, find),
        };
        problems.absorb(&found.problems);
        found.entity.clone()
    }

    fn read(&self, root: Node<'_>, problems: &mut Problems) -> Option<Entity> {
        let Reading { edition, role, substitutes, quirks, host } = *self;
        let own = if host.is_some() { Own::default() } else { Own::of(root) };
        Reader { edition, role, substitutes, quirks, host, own, problems }.file(root)
    }

    /// The inputs that determine the result; hosts are distinguished by their editions.
    fn key(&self, file: FileId, root: Node<'_>) -> String {
        let Reading { edition, role, substitutes, quirks, .. } = self;
        format!("{file:?} {:?} {edition:?} {role:?} {substitutes} {quirks:?}", root.span())
    }
}
