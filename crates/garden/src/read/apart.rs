//! Files of Garden without a project, such as a library of actions that other projects name as a source.
//!
//! Only what each file says by itself is checked: syntax, kinds, keys and shapes. Which variables, actions and providers
//! there are is up to the project that uses them.

use crate::config::{ConfigKind, Document, check_file, read_file};
use crate::rules;
use crate::templates::Templates;
use purlin_syntax::Diagnostic;
use purlin_value::{FastMap, Session};

/// Checks files by themselves, and counts their configurations.
pub(crate) fn check_apart(session: &Session, files: &[&str]) -> usize {
    let templates = Templates::default();
    let mut trees = Vec::new();
    let mut count = 0;
    for file in files {
        let documents = read_file(session, &templates, file, &mut trees);
        check_file(session, &documents);
        report_duplicates(session, &documents);
        count += documents.len();
    }
    count
}

/// Actions of one file with the same name, unless one of them may be switched off: no project can use both.
fn report_duplicates(session: &Session, documents: &[Document]) {
    let mut known: FastMap<String, &Document> = FastMap::default();
    for document in documents {
        let ConfigKind::Action(kind) = document.kind else { continue };
        let Some(name) = document.plain("name").filter(|_| document.field("disabled").is_none()) else { continue };
        let id = format!("{} action `{name}`", kind.name());
        let Some(first) = known.get(&id) else {
            known.insert(id, document);
            continue;
        };
        let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, format!("duplicate {id}"));
        diagnostic.span = document.span();
        if let Some(span) = first.span() {
            diagnostic = diagnostic.label(span, "the first one");
        }
        session.sink.push(diagnostic);
    }
}
