//! Inputs given from outside: `name=value` on the command line, or a file of them.
//!
//! Values are YAML, as in a template; their origins are kept.

use crate::edition;
use crate::problem::Problems;
use crate::render::Inputs;
use crate::rules;
use crate::val::{self, Val};
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Flavor, yaml};
use purlin_value::Session;

/// Reads inputs; those of the command line override those of files.
pub fn read(session: &Session, files: &[String], flags: &[(String, String)], problems: &mut Problems) -> Inputs {
    let mut inputs = Inputs::new();
    for path in files {
        read_file(session, path, &mut inputs, problems);
    }
    for (name, text) in flags {
        if let Some(mut value) = read_text(session, &format!("--input {name}"), text, problems) {
            // Without the value, which may be secret.
            value.origin = session.origins.flag(EcoString::from(format!("--input {name}")));
            inputs.insert(name.as_str().into(), value);
        }
    }
    inputs
}

fn read_file(session: &Session, path: &str, inputs: &mut Inputs, problems: &mut Problems) {
    let source = match session.read_text(path) {
        Ok(source) => source,
        Err(diagnostic) => return problems.push(diagnostic),
    };
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    tree.diagnostics().iter().for_each(|diagnostic| problems.push(diagnostic.clone()));
    let Some(root) = tree.root().filter(|_| tree.is_sound()) else { return };
    if !root.is_map() {
        return problems.push(Diagnostic::at(
            &rules::INPUT,
            root.span(),
            "a file of inputs must be a map of names to values",
        ));
    }
    for entry in root.entries() {
        inputs.insert(entry.key.eco_text(), val::read(entry.value, edition::V1_3));
    }
}

fn read_text(session: &Session, name: &str, text: &str, problems: &mut Problems) -> Option<Val> {
    let source = session.sources.insert(name, text);
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    tree.diagnostics().iter().for_each(|diagnostic| problems.push(diagnostic.clone()));
    let root = tree.root().filter(|_| tree.is_sound())?;
    Some(val::read(root, edition::V1_3))
}
