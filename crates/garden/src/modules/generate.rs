//! Files that a module generates: evaluated, and kept in the overlay of the run for later readers.

use super::Module;
use crate::bind::Env;
use crate::draft::Draft;
use crate::expr;
use crate::ground::Ground;
use crate::place::Place;
use crate::templates::syntax_problem;
use ecow::EcoString;
use purlin_value::{Eval, Value, path};
use std::sync::Arc;

/// Evaluates the files a module generates and keeps them for later readers in this run.
pub(super) fn generate_files(ground: &Ground<'_>, env: &Arc<Env>, module: &Module) {
    // Paths of a template's files are relative to the template, not to its use.
    let folder = match &module.config.rendered {
        Some(rendered) => rendered.template_folder.as_str(),
        None => path::parent(&module.config.file),
    };
    for entry in module.config.body.get("generateFiles").map(|draft| draft.items()).unwrap_or_default() {
        let text = |key: &str| {
            let draft = entry.get(key)?.settle(ground.session, env);
            draft.as_value().and_then(Value::as_str).map(EcoString::from)
        };
        let Some(target) = text("targetPath") else { continue };
        let templated = entry.get("resolveTemplates").is_none_or(|draft| draft.written().as_bool() != Some(false));
        let content = match text("sourcePath") {
            Some(source) => file_text(ground, env, &path::join(folder, &source), templated, &entry),
            None => text("value"),
        };
        if let Some(content) = content {
            let full = path::join(&module.config.folder, &target);
            if let Err(error) = ground.session.world.write(&full, content.as_bytes()) {
                ground.session.report_world(&error, &full, entry.span(ground.session));
            }
        }
    }
}

fn file_text(ground: &Ground<'_>, env: &Arc<Env>, file: &str, templated: bool, entry: &Draft) -> Option<EcoString> {
    let source = match ground.session.read_text(file) {
        Ok(source) => source,
        Err(diagnostic) => {
            ground.push(diagnostic, entry.span(ground.session));
            return None;
        }
    };
    if !templated || !expr::is_template(source.text()) {
        return Some(source.text().into());
    }
    let place = Place::Verbatim(source.span(0, source.text().len()));
    match expr::parse(source.text()) {
        Ok(template) => {
            let mut eval = Eval::new(ground.session);
            let value = expr::Evaluator::new(&mut eval, env, &place, None).run(&template, None);
            (!value.is_poison() && !value.is_pending()).then(|| expr::text_of(&value))
        }
        Err(problems) => {
            ground.session.sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
            None
        }
    }
}
