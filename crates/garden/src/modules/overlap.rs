//! Modules that would fight over files: in the same folder, or one inside the other, without saying which files.

use super::Module;
use crate::ground::Ground;
use crate::rules;
use purlin_syntax::Diagnostic;
use std::sync::Arc;

/// Reports modules that overlap with another.
pub fn report_overlaps(ground: &Ground<'_>, modules: &[Arc<Module>]) {
    let mut enabled: Vec<&Arc<Module>> = modules.iter().filter(|module| !module.disabled).collect();
    enabled.sort_by(|a, b| (&a.config.folder, a.name()).cmp(&(&b.config.folder, b.name())));
    for (index, module) in enabled.iter().enumerate() {
        // Commands work on whatever is there; only what is copied or built into something can clash.
        if module.files.0.is_some() || !module.files.1.is_empty() || module.config.type_name == "exec" {
            continue;
        }
        let folder = module.config.folder.as_str();
        let inside = |other: &str| folder == "." || other == folder || other.starts_with(&format!("{folder}/"));
        // Sorted by folder, so everything inside follows directly; modules of the same folder may stand before.
        let after = enabled.iter().skip(index + 1).take_while(|other| inside(&other.config.folder));
        let before = enabled.iter().take(index).rev().take_while(|other| other.config.folder == folder);
        let before = before.filter(|other| other.files.0.is_some() || !other.files.1.is_empty());
        for other in after.chain(before) {
            report(ground, module, other);
        }
    }
}

fn report(ground: &Ground<'_>, module: &Module, other: &Module) {
    let same = module.config.folder == other.config.folder;
    let how = if same { "has the same folder as" } else { "contains" };
    let message = format!("module `{}` {how} module `{}`", module.name(), other.name());
    let mut diagnostic = Diagnostic::nowhere(&rules::MODULE_OVERLAP, message);
    if let Some(span) = other.config.span {
        diagnostic = diagnostic.label(span, "the other module");
    }
    ground.push(diagnostic.hint("say with `include` or `exclude` which files belong to it"), module.config.span);
}
