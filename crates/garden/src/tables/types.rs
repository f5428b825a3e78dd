//! Types of actions and modules: unknown ones, and those whose provider is missing.

use crate::action::Action;
use crate::entities::{MODULE_TYPES, REMOVED, SPEC_TYPES, spec_type};
use crate::graph::Actions;
use crate::ground::Ground;
use crate::modules::Module;
use crate::providers::Providers;
use crate::rules;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span, suggest};
use std::collections::HashSet;
use std::sync::Arc;

/// Reports unknown types, and types whose provider is missing: each once, for enabled actions.
pub(crate) fn report_types(ground: &Ground<'_>, providers: &Providers, actions: &Actions) {
    let mut seen = HashSet::new();
    for action in actions.values().filter(|action| !action.disabled && action.module.is_none()) {
        let type_name = action.type_name.as_str();
        let Some(known) = spec_type(type_name, action.kind) else {
            if seen.insert((type_name, Some(action.kind))) {
                report_unknown(ground, action);
            }
            continue;
        };
        if !providers.has_any(known.providers) && seen.insert((type_name, None)) {
            let what = format!("{} action `{}`", action.kind.name(), action.name);
            report_missing_provider(ground, &what, type_name, known.providers, type_place(ground, action));
        }
    }
}

fn type_place(ground: &Ground<'_>, action: &Action) -> Option<Span> {
    action.config.field("type").and_then(|draft| draft.span(ground.session)).or(action.span())
}

fn report_unknown(ground: &Ground<'_>, action: &Action) {
    let (name, kind) = (action.type_name.as_str(), action.kind.name());
    if name.is_empty() {
        // A missing `type` was reported as such.
        return;
    }
    let other: Vec<&str> = SPEC_TYPES.iter().filter(|known| known.type_name == name).map(|k| k.kind.name()).collect();
    let here = SPEC_TYPES.iter().filter(|known| known.kind == action.kind && known.type_name != "test");
    let hint = match (REMOVED.contains(&name), other.is_empty()) {
        (true, _) => Some(Hint::from("Garden 0.14 removed this type")),
        (_, false) => Some(format!("`{name}` exists for {}", other.join(", ")).into()),
        _ => suggest::did_you_mean(name, here.clone().map(|known| known.type_name)).or_else(|| {
            let mut names: Vec<String> = here.map(|known| format!("`{}`", known.type_name)).collect();
            names.sort_unstable();
            names.dedup();
            Some(format!("known types: {}", names.join(", ")).into())
        }),
    };
    let message = format!("unknown {kind} type `{name}`");
    ground.push(Diagnostic::nowhere(&rules::UNKNOWN_TYPE, message).maybe_hint(hint), type_place(ground, action));
}

fn report_missing_provider(ground: &Ground<'_>, what: &str, type_name: &str, wanted: &[&str], place: Option<Span>) {
    let names: Vec<String> = wanted.iter().map(|name| format!("`{name}`")).collect();
    let message =
        format!("{what} is of type `{type_name}`, and this environment has no provider {}", names.join(" or "));
    let message = what::missing_names("provider", wanted, true).words(message);
    let hint = format!("add `- name: {}` under `providers` of the project", wanted.first().unwrap_or(&""));
    ground.push(Diagnostic::nowhere(&rules::PROVIDER, message).hint(hint), place);
}

/// The same for modules, whether or not they are switched on.
pub(crate) fn report_module_types(ground: &Ground<'_>, providers: &Providers, modules: &[Arc<Module>]) {
    let mut seen = HashSet::new();
    for module in modules.iter().filter(|module| seen.insert(module.config.type_name.clone())) {
        let name = module.config.type_name.as_str();
        let place = module.config.field("type").and_then(|draft| draft.span(ground.session)).or(module.config.span);
        let known = MODULE_TYPES.iter().find(|(known, _, _)| *known == name);
        match known {
            None if name.is_empty() => {}
            None => {
                let names = MODULE_TYPES.iter().map(|(known, _, _)| *known).filter(|known| *known != "test");
                let hint = match REMOVED.contains(&name) {
                    true => Some("Garden 0.14 removed this type".into()),
                    false => suggest::did_you_mean(name, names),
                };
                let message = what::unknown("module type", name);
                ground.push(Diagnostic::nowhere(&rules::UNKNOWN_TYPE, message).maybe_hint(hint), place);
            }
            Some((_, _, wanted)) if !providers.has_any(wanted) => {
                report_missing_provider(ground, &format!("module `{}`", module.name()), name, wanted, place);
            }
            Some(_) => {}
        }
    }
}
