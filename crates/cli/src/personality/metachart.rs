//! `purlin metachart`: `init`, `generate` and `version` with Metachart's own flags.

use super::Personality;
use crate::border::{remove_folder_below, write_below};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use purlin_charts::metachart::current::{OWN_DEFINITIONS, read_definitions};
use purlin_charts::metachart::generate::{Generated, Inputs, generate, undefined};
use purlin_charts::metachart::{config, skeleton};
use purlin_charts::yaml::value_of_tree;
use purlin_host::named;
use purlin_value::{Session, Value, path};
use std::collections::BTreeSet;
use std::path::Path;

/// The personality.
pub const METACHART: Personality = Personality {
    name: "metachart",
    summary: "Starts Metachart charts and generates their parts as Metachart does.",
    commands: &[
        ("init", "start a chart in an empty folder"),
        ("generate", "write the generated templates, schema and documentation"),
        ("gen", "the same"),
        ("version", "the version of Purlin"),
    ],
    options: &[("-r, --root DIR", "folder of the chart")],
    refused: &["completion"],
    run,
};

/// Metachart's exit code for any failure.
const FAILED: Exit = Exit::Other(2);

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let (command, root) = parse(args).map_err(|message| fail(invocation, &message))?;
    match command.as_str() {
        "init" => init(invocation, &root),
        "generate" | "gen" => run_generate(invocation, &root),
        "version" => Ok(invocation.print(concat!("metachart (purlin ", env!("CARGO_PKG_VERSION"), ")\n"))),
        other => Err(super::unknown(invocation, &METACHART, other)),
    }
}

fn parse(args: &[String]) -> Result<(String, String), String> {
    let (mut command, mut root) = (String::new(), ".".to_owned());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-r" | "--root" | "--dir" => root = args.next().cloned().ok_or("flag needs an argument: -r")?,
            _ if arg.starts_with("--root=") => root = arg.trim_start_matches("--root=").to_owned(),
            _ if arg.starts_with("-r") && !arg.starts_with("--") => root = arg.trim_start_matches("-r").to_owned(),
            _ if command.is_empty() => command = arg.clone(),
            _ => return Err(format!("unknown argument {arg:?}")),
        }
    }
    Ok((command, root))
}

fn fail(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "Error: {message}");
    FAILED
}

fn write(invocation: &mut Invocation<'_>, folder: &Path, name: &str, text: &str) -> Result<(), Exit> {
    write_below(folder, name, text.as_bytes()).map_err(|error| {
        let _ = writeln!(invocation.stderr, "Error: cannot write {name}: {error}");
        FAILED
    })
}

fn init(invocation: &mut Invocation<'_>, root: &str) -> Result<Exit, Exit> {
    let folder = invocation.cwd.join(root);
    let is_empty = named::list(&folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty {
        return Err(fail(invocation, "init can be performed only in the empty directory"));
    }
    for (name, text) in skeleton::FILES {
        write(invocation, &folder, name, text)?;
    }
    Ok(Exit::Ok)
}

fn run_generate(invocation: &mut Invocation<'_>, root: &str) -> Result<Exit, Exit> {
    let (session, chart) = open_session(invocation, &Setup::of(root)).map_err(|_| FAILED)?;
    let (made, missing) = make(&session, &chart).map_err(|message| fail(invocation, &message))?;
    for name in missing {
        let _ = writeln!(invocation.stderr, "Warning: definition '{name}' does not exist");
    }
    let folder = invocation.cwd.join(root);
    if let Err(error) = remove_folder_below(&folder, "templates/generated") {
        return Err(fail(invocation, &format!("cannot remove templates/generated: {error}")));
    }
    let files = [
        ("templates/generated/_settings.tpl", made.settings.as_str()),
        ("values.schema.full.json", &made.full_schema),
        ("values.schema.json", &made.schema),
        ("docs/resources.md", &made.documentation),
        ("templates/_metachart.tpl", skeleton::LIBRARY),
        ("templates/resources.yaml", skeleton::RESOURCES),
    ];
    for (name, text) in files {
        write(invocation, &folder, name, text)?;
    }
    Ok(Exit::Ok)
}

fn read_yaml(session: &Session, file: &str) -> Result<Value, String> {
    let bytes = session.world.read(file).map_err(|error| error.diagnostic(file).message)?;
    let tree = purlin_gotmpl::yaml::parse(&String::from_utf8_lossy(&bytes), &session.limits);
    value_of_tree(&tree, 0).map_err(|message| format!("{file}: {message}"))
}

/// The generated files, and the names of unknown definitions.
fn make(session: &Session, chart: &str) -> Result<(Generated, Vec<String>), String> {
    let resources = config::resources(&read_yaml(session, &path::join(chart, "config/resources.yaml"))?);
    let schema = config::schema(&read_yaml(session, &path::join(chart, "config/schema.yaml"))?);
    let mut definitions = Vec::new();
    for name in schema.definitions.iter().map(|file| file.name.as_str()).chain([OWN_DEFINITIONS]) {
        let read = read_definitions(session, chart, name);
        definitions.push(read.map_err(|message| format!("could not read the definitions `{name}`: {message}"))?);
    }
    let files = session.world.list(&path::join(chart, "templates/preprocess")).unwrap_or_default();
    let preprocessors: BTreeSet<String> =
        files.iter().filter_map(|entry| Some(entry.name.strip_prefix('_')?.strip_suffix(".tpl")?.to_owned())).collect();
    let inputs =
        Inputs { resources: &resources, schema: &schema, definitions: &definitions, preprocessors: &preprocessors };
    let made = generate(&inputs)?;
    Ok((made, undefined(&inputs).into_iter().map(|missing| missing.name).collect()))
}
