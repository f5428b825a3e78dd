//! JavaScript in the metadata of files: the functions and constraints it defines.
//!
//! Phases: read (the names of one file), link (the texts of all files). Calls are in `evaluate/script.rs`.

use crate::load::Files;
use crate::problem::Problems;
use crate::read::Role;
use crate::rules;
use crate::val::Data;
use ecow::EcoString;
use purlin_script::Modules;
use purlin_syntax::{Diagnostic, Node, what};
use purlin_value::{Session, WorldError, path};
use std::sync::Arc;

/// Metadata whose value is the text of a scriptlet.
const TEXT: &str = "puccini.scriptlet:";
/// Metadata whose value is the path of a file with the text.
const IMPORT: &str = "puccini.scriptlet.import:";

/// Prefixes of scriptlets that define functions and constraints.
pub(crate) const FUNCTION: &str = "tosca.function.";
pub(crate) const CONSTRAINT: &str = "tosca.constraint.";

/// The name of a scriptlet, if a key of metadata is one.
pub fn name_of(key: &str) -> Option<&str> {
    key.strip_prefix(TEXT).or_else(|| key.strip_prefix(IMPORT))
}

/// The functions and constraints that a file defines for itself.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// Names of functions.
    pub functions: Vec<EcoString>,
    /// Names of constraints.
    pub constraints: Vec<EcoString>,
}

impl Own {
    /// The scriptlets of a file, from its metadata.
    pub fn of(root: Node<'_>) -> Self {
        let mut own = Own::default();
        let notes = root.get("metadata");
        for name in notes.iter().flat_map(|notes| notes.entries()).filter_map(|entry| name_of(entry.key.text())) {
            own.functions.extend(name.strip_prefix(FUNCTION).map(EcoString::from));
            own.constraints.extend(name.strip_prefix(CONSTRAINT).map(EcoString::from));
        }
        own
    }
}

/// The scriptlets of all files of a service.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    pub(crate) modules: Modules,
}

impl Scripts {
    /// The scriptlets of all files; imported texts are read.
    pub fn gather(session: &Session, files: &Files, problems: &mut Problems) -> Self {
        let mut scripts = Scripts::default();
        for file in files.list.iter().filter(|file| file.role != Role::Profile) {
            let Some(Data::Map(notes)) = file.entity.value("metadata").map(|notes| &notes.data) else { continue };
            for (key, value) in notes.iter() {
                let (Some(written), Some(text)) = (key.as_str(), value.as_str()) else { continue };
                if let Some(name) = written.strip_prefix(TEXT) {
                    scripts.modules.insert(name, text.into());
                } else if let Some(name) = written.strip_prefix(IMPORT) {
                    let place = path::join(path::parent(&file.path), text);
                    match session.load_text(&place, &place) {
                        Ok(loaded) => scripts.modules.insert(name, loaded.source.text().into()),
                        Err(WorldError::NotFound) => {
                            let message = what::unknown("file", text).words(format!("`{text}` does not exist"));
                            let hint = "correct the path; it is relative to this file";
                            problems.push(Diagnostic::at(&rules::IMPORT, value.span, message).hint(hint));
                        }
                        Err(error) => {
                            let mut diagnostic = error.diagnostic(text);
                            diagnostic.span = Some(value.span);
                            problems.push(diagnostic);
                        }
                    }
                }
            }
        }
        scripts
    }

    /// Whether one of them defines a function, or a constraint, of this name.
    pub fn defines(&self, name: &str) -> bool {
        !self.modules.is_empty()
            && [FUNCTION, CONSTRAINT].iter().any(|prefix| self.modules.has(&format!("{prefix}{name}")))
    }

    /// Their names and texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.modules.iter()
    }
}
