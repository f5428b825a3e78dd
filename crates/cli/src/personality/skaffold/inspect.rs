//! `inspect`: lists as JSON, and edits of files.

use super::{Look, Opened, commands, flags::Flags, open};
use crate::border::write_atomically;
use crate::invocation::{Exit, Invocation};
use purlin_host::named;
use purlin_skaffold::edit::{self, Change, Environment, NewText, Refusal};
use purlin_skaffold::environment::{self, KINDS, Takes};
use purlin_skaffold::inspect::{self, Resource};
use purlin_skaffold::remote::Sync;
use purlin_skaffold::rules;
use purlin_skaffold::walk::{Bases, Config};
use purlin_syntax::{Diagnostic, FileId, Flavor, Limits, Source, yaml};
use purlin_value::{MergeKeys, Session, Value, value_of};
use std::path::Path;

/// Whether a further flag sets a property of the build environment being added or changed, and if so, whether it needs
/// a value.
pub fn setting(args: &[String], name: &str) -> Option<bool> {
    let changes = |verb: &str| args.iter().any(|arg| arg == verb);
    let kind = args.iter().find(|arg| KINDS.contains(&arg.as_str()))?;
    let flag = environment::flag_named(kind, name).filter(|_| changes("build-env") && !changes("list"))?;
    Some(!matches!(flag.takes, Takes::Switch | Takes::On))
}

/// Runs `inspect …`.
pub fn run(invocation: &mut Invocation<'_>, flags: &Flags) -> Result<Exit, Exit> {
    let (what, verb) = (flags.word(1), flags.word(2));
    if let Some(message) = misuse(flags) {
        return Err(problem(invocation, "INSPECT_UNKNOWN_ERR", &message));
    }
    let changes = matches!(verb, "add" | "modify");
    let prints = what == "jobManifestPaths" && verb == "modify";
    let look = Look {
        command: "inspect",
        bases: match changes {
            true if prints => Bases::All,
            true => Bases::None,
            false => Bases::Dependencies,
        },
        defaults: prints || (what == "build-env" && verb == "list"),
        auto_activation: false,
        sync: Sync::Missing,
    };
    let mut opened = open(invocation, flags, &look)?;
    if changes && !prints {
        // The profile names the target of the change, not an active profile.
        opened.wanted.profiles.clear();
    }
    let exit = opened.with_configs(invocation, |invocation, session, configs| {
        let text = match (what, verb) {
            ("modules", "list") => inspect::modules(&configs, flags.switch("all", false)),
            ("profiles", "list") => inspect::profiles(&configs, flags.text("build-env")),
            ("build-env", "list") => inspect::build_environments(&configs),
            ("tests", "list") => inspect::tests(&configs),
            ("namespaces", "list") => match deployments(invocation, flags.word(3)) {
                Ok(found) => inspect::namespaces(&configs, &found),
                Err(message) => return problem(invocation, "INSPECT_UNKNOWN_ERR", &message),
            },
            ("jobManifestPaths", "list") => inspect::job_manifest_paths(&configs),
            ("jobManifestPaths", "modify") => return jobs(invocation, flags, session, configs),
            ("executionModes", "list") => inspect::execution_modes(&configs),
            (_, "add" | "modify") => return change(invocation, flags, session, &configs),
            _ => {
                let message = format!("`{}` is not known", flags.words.join(" "));
                return problem(invocation, "INSPECT_UNKNOWN_ERR", &message);
            }
        };
        invocation.print(&text)
    });
    Ok(finish(invocation, &opened, exit))
}

/// Objects, and the operations on each.
const COMMANDS: &[(&str, &[&str])] = &[
    ("modules", &["list"]),
    ("profiles", &["list"]),
    ("build-env", &["list", "add", "modify"]),
    ("tests", &["list"]),
    ("namespaces", &["list"]),
    ("jobManifestPaths", &["list", "modify"]),
    ("executionModes", &["list"]),
    ("config-dependencies", &["add"]),
];

/// Checks the words of a command before anything is read.
fn misuse(flags: &Flags) -> Option<String> {
    let (what, verb) = (flags.word(1), flags.word(2));
    let Some((_, verbs)) = COMMANDS.iter().find(|(known, _)| *known == what) else {
        let known: Vec<&str> = COMMANDS.iter().map(|(known, _)| *known).collect();
        return Some(format!("unknown command `{}`; `inspect` has: {}", flags.words.join(" "), known.join(", ")));
    };
    if !verbs.contains(&verb) {
        let written = flags.words.join(" ");
        return Some(format!("unknown command `{written}`; `inspect {what}` has: {}", verbs.join(", ")));
    }
    let count = flags.words.len().saturating_sub(3);
    let takes_file = matches!(
        (what, verb),
        ("namespaces", "list") | ("jobManifestPaths", "modify") | ("config-dependencies", "add")
    );
    if takes_file && count != 1 {
        return Some(format!("`inspect {what} {verb}` expects exactly one file, found {count}"));
    }
    if what == "build-env" && matches!(verb, "add" | "modify") {
        let kinds = if verb == "add" { KINDS } else { &["googleCloudBuild"] };
        if count != 1 || !kinds.contains(&flags.word(3)) {
            return Some(format!("`inspect build-env {verb}` expects one of: {}", kinds.join(", ")));
        }
    }
    None
}

/// Problems also appear as JSON, where tools look for them.
fn finish(invocation: &mut Invocation<'_>, opened: &Opened, exit: Exit) -> Exit {
    let left = || opened.session.sink.take().into_iter().find(Diagnostic::is_error).filter(|_| exit == Exit::Ok);
    let Some(first) = opened.refused.take().or_else(left) else { return exit };
    let code = match first.rule.name {
        name if name == rules::UNKNOWN_PROFILE.name => "CONFIG_PROFILES_NOT_FOUND_ERR",
        name if name == rules::UNKNOWN_MODULE.name => "CONFIG_BAD_FILTER_ERR",
        name if name == rules::FILE.name => "CONFIG_FILE_NOT_FOUND_ERR",
        name if name == rules::DUPLICATE_NAME.name => "CONFIG_DUPLICATE_NAMES_ACROSS_FILES_ERR",
        _ => "CONFIG_FILE_PARSING_ERR",
    };
    let hints = first.hints.iter().map(|hint| format!(". {hint}")).collect::<String>();
    let refused = problem(invocation, code, &format!("{}{hints}", first.message));
    if exit == Exit::Ok { refused } else { exit }
}

fn problem(invocation: &mut Invocation<'_>, code: &str, message: &str) -> Exit {
    let _ = invocation.stdout.write_all(inspect::error(code, message).as_bytes());
    Exit::Invalid
}

/// `add` and `modify`: files are rewritten in place.
fn change(invocation: &mut Invocation<'_>, flags: &Flags, session: &Session, configs: &[Config<'_>]) -> Exit {
    let (what, verb, argument) = (flags.word(1), flags.word(2), flags.word(3));
    let profiles = flags.list("profile");
    let new = match what {
        "build-env" => {
            let change = match verb {
                "add" => Change::Add,
                _ if flags.switch("strict", true) => Change::Modify,
                _ => Change::ModifyExisting,
            };
            let profile = profiles.first().map(String::as_str);
            let wanted = Environment { kind: argument, settings: &flags.settings, profile, change };
            edit::build_environment(configs, &wanted)
        }
        "config-dependencies" => match file(invocation, argument) {
            Ok(text) => edit::dependencies(configs, argument, &text, session),
            Err(message) => return problem(invocation, "INSPECT_UNKNOWN_ERR", &message),
        },
        _ => return problem(invocation, "INSPECT_UNKNOWN_ERR", &format!("`inspect {what} {verb}` is not known")),
    };
    match new {
        Ok(new) => write(invocation, &new),
        Err(Refusal { code, message }) => problem(invocation, code, &message),
    }
}

/// `jobManifestPaths modify`: the configurations as `diagnose` shows them, with other manifests, to a file or to
/// standard output. The source is not changed.
fn jobs(invocation: &mut Invocation<'_>, flags: &Flags, session: &Session, mut configs: Vec<Config<'_>>) -> Exit {
    let path = flags.word(3);
    let text = match file(invocation, path) {
        Ok(text) => text,
        Err(message) => return problem(invocation, "INSPECT_UNKNOWN_ERR", &message),
    };
    if let Err(Refusal { code, message }) = edit::job_manifest_paths(&mut configs, path, &text, session) {
        return problem(invocation, code, &message);
    }
    let text = commands::documents(&configs, &["requires"], None);
    commands::output(invocation, flags, &text)
}

fn file(invocation: &Invocation<'_>, path: &str) -> Result<String, String> {
    let full = invocation.cwd.join(path);
    named::stream_text(&full, named::LARGEST).map_err(|error| format!("could not read `{path}`: {error}"))
}

fn write(invocation: &mut Invocation<'_>, new: &[NewText]) -> Exit {
    for (path, text) in new {
        if let Err(error) = write_atomically(Path::new(path), text.as_bytes()) {
            return invocation.refuse(&format!("could not write `{path}`: {error}"), Exit::Io);
        }
    }
    Exit::Ok
}

/// The deployments in a file of manifests. Other kinds are ignored, as in the original.
fn deployments(invocation: &Invocation<'_>, path: &str) -> Result<Vec<Resource>, String> {
    let source = Source::new(FileId(0), path, file(invocation, path)?);
    let tree = yaml::parse(source.into(), Flavor::CoreGo, &Limits::default());
    if let Some(problem) = tree.diagnostics().iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(format!("could not parse `{path}`: {}", problem.message));
    }
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let resource = |value: Value| {
        let known = text(&value, "apiVersion") == "apps/v1" && text(&value, "kind") == "Deployment";
        let metadata = value.get("metadata").cloned().unwrap_or_else(Value::null);
        known.then(|| Resource { name: text(&metadata, "name"), namespace: text(&metadata, "namespace") })
    };
    Ok(tree.roots().filter_map(|root| resource(value_of(root, MergeKeys::Apply))).collect())
}
