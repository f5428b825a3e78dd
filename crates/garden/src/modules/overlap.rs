//! Modules that would fight over files: in the same folder, or one inside the other, without saying which files.

use super::Module;
use crate::ground::Ground;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Diagnostic;
use purlin_value::{FastMap, path};
use std::sync::Arc;

/// Reports modules that overlap with another.
pub fn report_overlaps(ground: &Ground<'_>, modules: &[Arc<Module>]) {
    let mut enabled: Vec<&Arc<Module>> = modules.iter().filter(|module| !module.disabled).collect();
    enabled.sort_by(|a, b| (&a.config.folder, a.name()).cmp(&(&b.config.folder, b.name())));
    report_generated(ground, &enabled);
    for (index, module) in enabled.iter().enumerate() {
        if chooses_files(module) {
            continue;
        }
        let folder = module.config.folder.as_str();
        let inside = |other: &str| folder == "." || other == folder || other.starts_with(&format!("{folder}/"));
        // Sorted by folder, so everything inside follows directly; modules of the same folder may come before.
        let after = enabled.iter().skip(index + 1).take_while(|other| inside(&other.config.folder));
        let before = enabled.iter().take(index).rev().take_while(|other| other.config.folder == folder);
        let before = before.filter(|other| chooses_files(other));
        for other in after.chain(before).filter(|other| other.checkout == module.checkout) {
            report(ground, module, other);
        }
    }
}

/// Whether a module selects its files.
fn chooses_files(module: &Module) -> bool {
    module.files.0.is_some() || !module.files.1.is_empty()
}

fn report(ground: &Ground<'_>, module: &Module, other: &Module) {
    let same = module.config.folder == other.config.folder;
    let how = if same { "has the same folder as" } else { "contains" };
    let message = format!("module `{}` {how} module `{}`", module.name(), other.name());
    let mut diagnostic = Diagnostic::nowhere(&rules::MODULE_OVERLAP, message);
    if let Some(span) = other.config.span {
        diagnostic = diagnostic.label(span, "the other module");
    }
    // For two modules without a selection, Garden only checks whether the one with the later name is inside the other.
    if !same && !chooses_files(other) && other.name() < module.name() {
        diagnostic = diagnostic.warning();
    }
    ground.push(diagnostic.hint("say with `include` or `exclude` which files belong to it"), module.config.span);
}

/// Reports files that two modules generate.
fn report_generated(ground: &Ground<'_>, modules: &[&Arc<Module>]) {
    let mut makers: FastMap<String, &Module> = FastMap::default();
    for module in modules {
        for entry in module.items("generateFiles") {
            let target = entry.get("targetPath").and_then(|draft| draft.written().as_str().map(EcoString::from));
            let Some(target) = target else { continue };
            let full = path::join(&module.config.folder, &target);
            let Some(first) = makers.get(&full).filter(|first| first.name() != module.name()) else {
                makers.insert(full, module);
                continue;
            };
            let message =
                format!("modules `{}` and `{}` generate the same file `{target}`", first.name(), module.name());
            let mut diagnostic = Diagnostic::nowhere(&rules::MODULE_OVERLAP, message);
            if let Some(span) = first.config.span {
                diagnostic = diagnostic.label(span, "the other module");
            }
            let hint = "change one `targetPath`, or switch one of the modules off with `disabled`";
            ground.push(diagnostic.hint(hint), module.config.span);
        }
    }
}
