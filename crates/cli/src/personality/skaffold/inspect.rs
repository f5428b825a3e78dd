//! `inspect`: lists as JSON, and edits of files.

use super::{Look, Opened, flags::Flags, open};
use crate::disk::write_atomically;
use crate::invocation::{Exit, Invocation};
use purlin_skaffold::edit::{self, Environment, NewText};
use purlin_skaffold::editions::LATEST;
use purlin_skaffold::inspect;
use purlin_skaffold::remote::Sync;
use purlin_skaffold::rules;
use purlin_skaffold::walk::{Bases, Config};
use purlin_value::{MergeKeys, Session, value_of};
use std::path::Path;

/// Whether a further flag sets something of the build environment being added.
pub fn is_setting(args: &[String], name: &str) -> bool {
    let kinds = ["local", "googleCloudBuild", "cluster"];
    let kind = args.iter().find(|arg| kinds.contains(&arg.as_str()));
    kind.and_then(|kind| edit::environment_entity(kind)).is_some_and(|entity| entity.field(name, LATEST).is_some())
}

/// Runs `inspect …`.
pub fn run(invocation: &mut Invocation<'_>, flags: &Flags) -> Exit {
    let (what, verb) = (flags.word(1), flags.word(2));
    if what == "namespaces" && verb == "list" {
        return namespaces(invocation, flags);
    }
    let changes = matches!(verb, "add" | "modify");
    let look = Look {
        command: "inspect",
        bases: if changes { Bases::None } else { Bases::Dependencies },
        defaults: what == "build-env" && verb == "list",
        auto_activation: false,
        sync: Sync::Missing,
    };
    let mut opened = match open(invocation, flags, &look) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    if changes {
        // The profile names where the change goes, not what is active.
        opened.wanted.profiles.clear();
    }
    let exit = opened.with_configs(invocation, |invocation, session, configs| {
        let text = match (what, verb) {
            ("modules", "list") => inspect::modules(&configs, flags.switch("all", false)),
            ("profiles", "list") => inspect::profiles(&configs, flags.text("build-env")),
            ("build-env", "list") => inspect::build_environments(&configs),
            ("tests", "list") => inspect::tests(&configs),
            ("jobManifestPaths", "list") => inspect::job_manifest_paths(&configs),
            ("executionModes", "list") => inspect::execution_modes(&configs),
            (_, "add" | "modify") => return change(invocation, flags, session, &configs),
            _ => {
                let message = format!("`{}` is not known", flags.words.join(" "));
                return problem(invocation, "INSPECT_UNKNOWN_ERR", &message);
            }
        };
        match invocation.stdout.write_all(text.as_bytes()) {
            Ok(()) => Exit::Ok,
            Err(_) => Exit::Io,
        }
    });
    finish(invocation, &opened, exit)
}

/// Problems also appear as JSON, where tools look for them.
fn finish(invocation: &mut Invocation<'_>, opened: &Opened, exit: Exit) -> Exit {
    if exit != Exit::Ok || !opened.session.sink.has_errors() {
        return exit;
    }
    let found = opened.session.sink.take();
    let Some(first) = found.iter().find(|diagnostic| diagnostic.is_error()) else { return exit };
    let code = match first.rule.name {
        name if name == rules::UNKNOWN_PROFILE.name => "CONFIG_PROFILES_NOT_FOUND_ERR",
        name if name == rules::UNKNOWN_MODULE.name => "CONFIG_BAD_FILTER_ERR",
        name if name == rules::FILE.name => "CONFIG_FILE_NOT_FOUND_ERR",
        name if name == rules::DUPLICATE_NAME.name => "CONFIG_DUPLICATE_NAMES_ACROSS_FILES_ERR",
        name if name == rules::VALUE.name => "INSPECT_BUILD_ENV_ALREADY_EXISTS_ERR",
        _ => "CONFIG_FILE_PARSING_ERR",
    };
    let hints = first.hints.iter().map(|hint| format!(". {hint}")).collect::<String>();
    problem(invocation, code, &format!("{}{hints}", first.message))
}

fn problem(invocation: &mut Invocation<'_>, code: &str, message: &str) -> Exit {
    let _ = invocation.stdout.write_all(inspect::error(code, message).as_bytes());
    Exit::Invalid
}

/// `add` and `modify`: files are rewritten in place.
fn change(invocation: &mut Invocation<'_>, flags: &Flags, session: &Session, configs: &[Config<'_>]) -> Exit {
    let (what, verb, argument) = (flags.word(1), flags.word(2), flags.word(3));
    let file = |invocation: &Invocation<'_>| std::fs::read_to_string(invocation.cwd.join(argument)).unwrap_or_default();
    let profiles = flags.list("profile");
    let new = match what {
        "build-env" => {
            let wanted = Environment {
                kind: argument,
                settings: &flags.settings,
                profile: profiles.first().map(String::as_str),
                modify: verb == "modify",
            };
            edit::build_environment(configs, &wanted, &session.sink)
        }
        "config-dependencies" => edit::dependencies(configs, argument, &file(invocation), session),
        "jobManifestPaths" => edit::job_manifest_paths(configs, argument, &file(invocation), session),
        _ => return problem(invocation, "INSPECT_UNKNOWN_ERR", &format!("`inspect {what} {verb}` is not known")),
    };
    match new {
        Some(new) => write(invocation, &new),
        None => Exit::Ok,
    }
}

fn write(invocation: &mut Invocation<'_>, new: &[NewText]) -> Exit {
    for (path, text) in new {
        if let Err(error) = write_atomically(Path::new(path), text.as_bytes()) {
            let _ = writeln!(invocation.stderr, "error: cannot write `{path}`: {error}");
            return Exit::Io;
        }
    }
    Exit::Ok
}

/// `namespaces list MANIFEST`: the namespaces a file of manifests uses, sorted.
fn namespaces(invocation: &mut Invocation<'_>, flags: &Flags) -> Exit {
    let given = flags.word(3);
    let text = match std::fs::read_to_string(invocation.cwd.join(given)) {
        Ok(text) => text,
        Err(error) => return problem(invocation, "INSPECT_UNKNOWN_ERR", &format!("cannot read `{given}`: {error}")),
    };
    let source = purlin_syntax::Source::new(purlin_syntax::FileId(0), given, text);
    let tree =
        purlin_syntax::yaml::parse(source.into(), purlin_syntax::Flavor::CoreGo, &purlin_syntax::Limits::default());
    let mut found: Vec<String> = Vec::new();
    for root in tree.roots() {
        let value = value_of(root, MergeKeys::Apply);
        if let Some(name) = value.get("metadata").and_then(|m| m.get("namespace")).and_then(|n| n.as_str()) {
            found.push(name.to_owned());
        }
    }
    found.sort();
    found.dedup();
    match invocation.stdout.write_all(inspect::namespaces(&found).as_bytes()) {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Io,
    }
}
