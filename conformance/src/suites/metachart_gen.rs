//! `metachart-gen`: settings, schemas and documentation generated from a chart's configuration.

use crate::{Context, Report, Suite, Verdict};
use purlin_charts::json;
use purlin_charts::metachart::config;
use purlin_charts::metachart::generate::{Inputs, generate};
use purlin_charts::yaml::value_of_tree;
use purlin_syntax::Limits;
use purlin_value::{Origin, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The suite.
pub const SUITE: Suite = Suite { name: "metachart-gen", run };

fn run(context: &Context) -> Report {
    let folders = std::fs::read_dir(&context.folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = folders
        .filter(|entry| entry.path().join("input").is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    context.run_cases(&names, Clone::clone, |name| judge(context, name))
}

fn yaml(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    value_of_tree(&purlin_gotmpl::yaml::parse(&text, &Limits::default()), 0)
}

fn answer(case: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let input = case.join("input");
    let resources = config::resources(&yaml(&input.join("config/resources.yaml"))?);
    let schema = config::schema(&yaml(&input.join("config/schema.yaml"))?);
    let mut definitions = Vec::new();
    let own = input.join("config/values.schema.custom.json");
    for path in schema.definitions.iter().map(|file| case.join(&file.name)).chain([own]) {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        definitions.push(json::parse(&bytes, Origin::NONE)?);
    }
    let files = std::fs::read_dir(input.join("preprocess")).into_iter().flatten().flatten();
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let preprocessors: BTreeSet<String> =
        names.filter_map(|name| Some(name.strip_prefix('_')?.strip_suffix(".tpl")?.to_owned())).collect();
    let inputs =
        Inputs { resources: &resources, schema: &schema, definitions: &definitions, preprocessors: &preprocessors };
    let made = generate(&inputs)?;
    Ok(vec![
        ("_settings.tpl", made.settings),
        ("resources.md", made.documentation),
        ("values.schema.json", made.schema),
        ("values.schema.full.json", made.full_schema),
    ])
}

fn judge(context: &Context, name: &str) -> Verdict {
    let case = context.folder.join(name);
    let files = match answer(&case) {
        Ok(files) => files,
        Err(message) => return context.judge(name, false, &message, || message.clone()),
    };
    let mut differences = String::new();
    for (file, ours) in &files {
        let theirs = std::fs::read_to_string(case.join("expected").join(file)).unwrap_or_default();
        if *ours != theirs {
            differences.push_str(&format!("{file}\n{}\n", crate::report::first_difference(ours, &theirs)));
        }
    }
    context.judge(name, differences.is_empty(), &differences, || differences.clone())
}
