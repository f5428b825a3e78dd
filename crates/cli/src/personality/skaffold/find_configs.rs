//! `find-configs`: the files below a folder that are configurations, with their versions.

use super::{Look, flags::Flags, open, usage};
use crate::invocation::{Exit, Invocation};
use purlin_skaffold::forest::Forest;
use purlin_skaffold::load::Loader;
use purlin_skaffold::remote::Sync;
use purlin_skaffold::walk::Bases;
use purlin_syntax::write::{JsonFlavor, json::quote};
use purlin_value::path;
use purlin_value::world::FileKind;

/// Widths of the two columns of the table.
const COLUMNS: (usize, usize) = (70, 30);

/// Runs `find-configs`.
pub fn find_configs(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let look = Look {
        command: "find-configs",
        bases: Bases::None,
        defaults: false,
        auto_activation: false,
        sync: Sync::Missing,
    };
    let opened = open(invocation, flags, &look)?;
    let session = &opened.session;
    let forest = Forest::new();
    let loader = Loader::new(session, &forest, opened.wanted.format, None);
    let directory = flags.text("directory").unwrap_or(".");
    let mut files = Vec::new();
    collect(&loader, &path::normalize(directory), &mut files);
    // A file that cannot be read as a configuration is skipped.
    let (found, _) = session.sink.apart(|| {
        let version = |file: &String| {
            let before = session.sink.len();
            let read = loader.file(&path::join(loader.here(), file)).ok().flatten();
            let failed = session.sink.since(before).iter().any(purlin_syntax::Diagnostic::is_error);
            let first = read.as_ref().filter(|_| !failed)?.documents.first()?.root.get("apiVersion")?;
            Some((file.clone(), first.text().to_owned()))
        };
        files.iter().filter_map(version).collect::<Vec<_>>()
    });
    let text = match flags.text("output").unwrap_or("table") {
        "table" => found
            .iter()
            .map(|(file, version)| {
                format!("{file:<first$}\t{version:<second$}\n", first = COLUMNS.0, second = COLUMNS.1)
            })
            .collect(),
        "json" => json(&found),
        other => return Err(usage(invocation, &format!("`--output {other}`: expected `json` or `table`"))),
    };
    Ok(invocation.print(&text))
}

/// The YAML files below a folder, in the order of their names. Links are not followed.
fn collect(loader: &Loader<'_>, folder: &str, files: &mut Vec<String>) {
    let full = path::join(loader.here(), folder);
    for entry in loader.session().listed(&full).entries() {
        let name = path::join(folder, &entry.name);
        match entry.kind {
            FileKind::Folder => collect(loader, &name, files),
            _ if name.ends_with(".yaml") || name.ends_with(".yml") => files.push(name),
            _ => {}
        }
    }
}

fn json(found: &[(String, String)]) -> String {
    let line = |(file, version): &(String, String)| {
        format!("\t{}: {}", quote(file, JsonFlavor::Go), quote(version, JsonFlavor::Go))
    };
    match found {
        [] => "{}\n".to_owned(),
        found => format!("{{\n{}\n}}\n", found.iter().map(line).collect::<Vec<_>>().join(",\n")),
    }
}
