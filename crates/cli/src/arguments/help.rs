//! Output of `-h`, `--help` and `purlin help`: groups and sentences from the table of options, examples per command.
//!
//! The argument parser does not pay for it: the additions are made only if help is requested.

#[cfg(test)]
mod page;

use crate::args::Cli;
use crate::options::OPTIONS;
use crate::personality::PERSONALITIES;
use clap::{Arg, Command, CommandFactory};

/// Two examples per command, each with its purpose.
#[rustfmt::skip]
const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    ("check", [("purlin check", "every project in and below this folder"), ("purlin check services --diagnostics github", "annotations for a review")]),
    ("verify", [("purlin verify", "schemas and unit tests of everything in this folder"), ("purlin verify charts/web --junit report.xml", "one chart, with a report for a pipeline")]),
    ("resolve", [("purlin resolve deploy.api -e production", "one node, in one environment"), ("purlin resolve --path service.yaml -o json", "a whole service template, as JSON")]),
    ("render", [("purlin render --values prod.yaml", "the manifests of a chart"), ("purlin render --path web -p gcb --out all.yaml", "those of a Skaffold configuration, into a file")]),
    ("graph", [("purlin graph", "nodes and their dependencies"), ("purlin graph -o png --out graph.png --diff main", "a picture of what a branch changes")]),
    ("explore", [("purlin explore", "the project of this folder, in your browser"), ("purlin explore shop --no-open --port 7000", "only print the address")]),
    ("report", [("purlin report --out site/", "a folder to upload"), ("purlin report --out shop.html --single --diff main", "one file, with what a branch changes")]),
    ("why", [("purlin why deploy.api spec.image", "where one value comes from"), ("purlin why deploy.api spec.image --blame", "and who wrote each line")]),
    ("diff", [("purlin diff -e staging --to-env production", "two environments"), ("purlin diff --rev main", "what the working tree changes")]),
    ("eval", [("purlin eval 'actions.build.api.version'", "an expression of a Garden project"), ("purlin eval '::web::url' --trace", "a query of an ensemble, step by step")]),
    ("build", [("purlin build", "every Build that is not up to date"), ("purlin build api --push --builder podman", "one image, pushed")]),
    ("deploy", [("purlin deploy -e staging", "every Deploy, with its Builds"), ("purlin deploy --since main --dry-run", "what the changes of a branch would deploy")]),
    ("test", [("purlin test", "every Test whose sources changed"), ("purlin test unit --force", "one, even if it is up to date")]),
    ("run", [("purlin run migrate", "one Run and its dependencies"), ("purlin run migrate seed -o json", "two, with events as JSON")]),
    ("dev", [("purlin dev", "everything, and again after each change"), ("purlin dev deploy.api --forward --logs", "one Deploy and its dependencies, with its ports here and its logs")]),
    ("status", [("purlin status", "every action of the project"), ("purlin status deploy.api -o json", "one, as JSON")]),
    ("logs", [("purlin logs build.api", "the output of its last run"), ("purlin logs deploy.api --follow --since 5m", "what its containers print, from five minutes ago on")]),
    ("exec", [("purlin exec api -- ls /srv", "a command in a container of `deploy.api`"), ("purlin exec api -t -- sh", "a shell there, in this terminal")]),
    ("cleanup", [("purlin cleanup --yes", "delete what every Deploy has created, without asking"), ("purlin cleanup deploy.api", "one of them")]),
    ("symbols", [("purlin symbols", "everything this folder's projects declare"), ("purlin symbols -o json", "the same, as JSON")]),
    ("refs", [("purlin refs registry", "where a variable is declared and used"), ("purlin refs api -o json", "the same, as JSON")]),
    ("complete", [("purlin complete garden.yml:12:9", "completions at this location"), ("purlin complete values.yaml:3:1 -o json", "the same, as JSON")]),
    ("hover", [("purlin hover garden.yml:12:9", "documentation, value and origin"), ("purlin hover garden.yml:12:9 -e production", "in another environment")]),
    ("definition", [("purlin definition garden.yml:12:9", "where the name is declared"), ("purlin definition garden.yml:12:9 -o json", "the same, as JSON")]),
    ("lsp", [("purlin lsp", "what an editor starts"), ("purlin lsp --strict", "with warnings as errors")]),
    ("mcp", [("purlin mcp", "what an assistant's program starts, in the folder of a repository"), ("purlin -C shop mcp", "for another folder")]),
    ("schema", [("purlin schema garden", "the JSON Schema of Garden's files"), ("purlin schema chart-values web", "the JSON Schema of a chart's values")]),
    ("fmt", [("purlin fmt", "all YAML files below this folder"), ("purlin fmt --check", "only list the files that are not formatted")]),
    ("fix", [("purlin fix --diff", "show what would be corrected"), ("purlin fix", "correct it")]),
    ("rename", [("purlin rename garden.yml:12:9 replicas --dry-run", "show what would change"), ("purlin rename build.api backend", "rename an action everywhere")]),
    ("init", [("purlin init garden shop", "a Garden project in a new folder"), ("purlin init settings", "a `purlin.toml`")]),
    ("demo", [("purlin demo", "an example, unpacked and run"), ("purlin demo purlin-demo -- dev", "another command, with the same stand-ins")]),
    ("csar", [("purlin csar create shop.csar shop", "an archive of a folder"), ("purlin csar list shop.csar", "what is in it")]),
    ("explain", [("purlin explain garden-unknown-key", "the page of a rule"), ("purlin explain", "all rules")]),
    ("limits", [("purlin limits", "all limits with their values"), ("purlin --limit depth=50 check", "change one")]),
    ("completions", [("purlin completions bash > ~/.local/share/bash-completion/completions/purlin", "install for bash"), ("purlin completions zsh", "print for zsh")]),
    ("man", [("purlin man | man -l -", "read it"), ("purlin man check > purlin-check.1", "the page of a command")]),
    ("version", [("purlin version", "the version"), ("purlin --version", "the same")]),
];

/// Commands of other tools: their names, our command, and its purpose.
const ELSEWHERE: &[(&[&str], &str, &str)] = &[
    (&["lint", "validate", "vet", "doctor"], "purlin check", "finds mistakes in every project, in all environments"),
    (&["unittest", "conftest", "policy"], "purlin verify", "checks everything and runs unit tests"),
    (&["template", "manifests", "build-manifests"], "purlin render", "prints the Kubernetes manifests"),
    (
        &["plan", "preview"],
        "purlin diff --rev HEAD",
        "shows what uncommitted changes do, `purlin status` what would run",
    ),
    (&["apply", "install", "upgrade", "up", "sync"], "purlin deploy", "builds and deploys"),
    (&["delete", "destroy", "uninstall", "down", "undeploy"], "purlin cleanup", "deletes what Deploys have created"),
    (&["show", "get", "inspect", "config"], "purlin resolve", "prints the resolved configuration"),
    (&["blame", "trace", "origin"], "purlin why", "shows where a value comes from"),
    (&["tree", "deps", "dependencies", "dag"], "purlin graph", "shows nodes and their dependencies"),
    (&["format"], "purlin fmt", "formats YAML files"),
    (&["create", "new", "scaffold"], "purlin init", "starts a project"),
    (&["watch"], "purlin dev", "runs everything, and again after each change"),
    (&["ls", "list"], "purlin symbols", "lists everything that projects declare"),
];

/// Our command for another tool's command: the command, and its purpose.
pub(crate) fn called_elsewhere(name: &str) -> Option<(&'static str, &'static str)> {
    let row = ELSEWHERE.iter().find(|(names, _, _)| names.contains(&name))?;
    Some((row.1, row.2))
}

/// The output of `purlin` alone: the commands to begin with.
pub(crate) fn first_steps() -> String {
    let names: Vec<&str> = PERSONALITIES.iter().map(|personality| personality.name).collect();
    format!(
        "Purlin reads the configuration you have, resolves it, and shows where every value comes from.\n\n\
         Begin with:\n\
         \x20 purlin check                    find mistakes in every project here, in all environments\n\
         \x20 purlin why NODE FIELD           show where a value comes from\n\
         \x20 purlin diff --rev main          show what a branch changes, in all environments\n\
         \x20 purlin explore                  look around in a browser\n\
         \x20 purlin graph -o svg --out g.svg draw nodes and their dependencies\n\
         \x20 purlin deploy                   build, test and deploy what is not up to date\n\
         \x20 purlin demo                     try all of it on an example, without Docker or a cluster\n\n\
         `purlin -h` lists all commands; `purlin help COMMAND` explains one.\n\
         In the place of another tool, with its arguments: purlin {}\n",
        names.join("|")
    )
}

/// Commands that read no project, so that options of one are not shown.
const WITHOUT_PROJECT: &[&str] = &["explain", "limits", "completions", "man", "version", "csar", "fmt", "init", "demo"];

/// Options of the commands that run actions, and whether `-h` shows each.
const RUNNING: &[(&str, bool)] = &[
    ("jobs", false),
    ("force", true),
    ("since", true),
    ("skip", false),
    ("dry-run", true),
    ("with-dependants", false),
    ("skip-dependencies", false),
    ("fail-fast", false),
    ("keep-going", false),
    ("push", false),
    ("builder", false),
    ("timings", false),
    ("remote", false),
    ("remote-cache", false),
    ("no-remote", false),
    ("remote-only", false),
    ("remote-upload", false),
    ("remote-secrets", false),
    ("kubeconfig", false),
    ("force-conflicts", false),
    ("forward", false),
    ("logs", false),
];

/// Commands that connect to a cluster.
const REACHING_CLUSTERS: &[&str] = &["build", "deploy", "test", "run", "dev", "status", "logs", "exec", "cleanup"];

/// Whether arguments ask for help.
pub(crate) fn is_wanted(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "-h" || arg == "--help")
}

/// `help CMD …` means `CMD … --help`.
pub(crate) fn rewrite(args: &mut Vec<String>) {
    if args.first().is_some_and(|first| first == "help") {
        args.remove(0);
        args.push("--help".to_owned());
    }
}

/// Prepares the requested help: every option in one line, and without `--help` only the common ones.
pub(crate) fn shown(args: &mut [String]) -> Command {
    let long = args.iter().take_while(|arg| *arg != "--").position(|arg| arg == "--help");
    let Some(at) = long else { return command() };
    // The long form of clap takes three lines for an option.
    "-h".clone_into(&mut args[at]);
    command().mut_args(unhidden).mut_subcommands(|sub| {
        let about = sub.get_long_about().cloned();
        let sub = sub.mut_args(unhidden);
        match about {
            Some(about) => sub.about(about),
            None => sub,
        }
    })
}

fn unhidden(arg: Arg) -> Arg {
    let help = arg.get_id() == "help";
    let arg = arg.hide_short_help(false);
    if help { arg.help("Print help; `-h` shows the usual options") } else { arg }
}

/// The command with all its help.
pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    let names: Vec<&str> = PERSONALITIES.iter().map(|personality| personality.name).collect();
    let personalities = format!(
        "Original tools, with their own arguments (`purlin help garden`):\n  {}\n\n\
         `purlin help COMMAND` shows all options and examples of a command.",
        names.join(", ")
    );
    command.mut_args(dress_global).after_help(personalities).mut_subcommands(dress_command)
}

fn dress_command(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let without_project = WITHOUT_PROJECT.contains(&name.as_str());
    let reaches_cluster = REACHING_CLUSTERS.contains(&name.as_str());
    let command = command.mut_args(|arg| {
        let arg = match arg.get_id().as_str() {
            "kube_context" if reaches_cluster => return in_cluster(arg),
            "nodes" if name == "run" => arg.help("Run actions, by name, id (`run.migrate`) or pattern; `*` means all"),
            _ => dress(arg),
        };
        let is_about_project = arg.get_long().is_some_and(|long| OPTIONS.iter().any(|row| row.name == long));
        if without_project && is_about_project { arg.hide(true) } else { arg }
    });
    match EXAMPLES.iter().find(|(of, _)| *of == name) {
        Some((_, examples)) => command.after_help(examples_text(examples)),
        None => command,
    }
}

/// The Kubernetes context is an option of every project that deploys to clusters.
fn in_cluster(arg: Arg) -> Arg {
    arg.help_heading("Running").help("Kubernetes context to use instead of the current one")
}

fn examples_text(examples: &[(&str, &str); 2]) -> String {
    let width = examples.iter().map(|(command, _)| command.len()).max().unwrap_or(0).min(60);
    let line = |(command, what): &(&str, &str)| format!("  {command:<width$}   {what}\n");
    format!("Examples:\n{}", examples.iter().map(line).collect::<String>())
}

/// The short help of the program lists its commands; its options are those of every command.
fn dress_global(arg: Arg) -> Arg {
    let is_kept = arg.get_long().is_some_and(|long| matches!(long, "chdir" | "help" | "version" | "diagnostics"));
    let arg = dress(arg);
    if is_kept { arg } else { arg.hide_short_help(true) }
}

fn dress(arg: Arg) -> Arg {
    if let Some((_, is_common)) = RUNNING.iter().find(|(name, _)| arg.get_long() == Some(name)) {
        return arg.help_heading("Running").hide_short_help(!is_common);
    }
    let row = arg.get_long().and_then(|long| OPTIONS.iter().find(|row| row.name == long));
    match row {
        Some(row) => {
            let arg = arg.help_heading(row.group.heading()).hide_short_help(!row.is_common);
            // An option with a special meaning in a command has its own text.
            let own = arg.get_help().map(ToString::to_string).filter(|own| !own.is_empty() && own != "Format");
            let sentence = own.unwrap_or_else(|| row.sentence());
            arg.help(sentence).hide_default_value(true)
        }
        None if arg.get_long() == Some("help") => {
            arg.help_heading("Output").help("Print help; `--help` shows all options")
        }
        None if arg.get_long().is_some_and(|long| long.starts_with("to-")) => {
            let is_common = matches!(arg.get_long(), Some("to-env" | "to-path" | "to-rev"));
            arg.help_heading("Other side").hide_short_help(!is_common)
        }
        // Useful only for large graphs or old clusters.
        None if matches!(
            arg.get_long(),
            Some("dialect" | "theme" | "kube-version" | "reduce" | "page" | "date" | "direction" | "group-by")
        ) =>
        {
            arg.help_heading("Output").hide_short_help(true)
        }
        None if arg.get_long().is_some() && arg.get_long() != Some("version") => arg.help_heading("Output"),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Lines of a common terminal.
    const SCREEN: usize = 40;

    #[test]
    fn short_help_fits_one_screen_and_shows_two_examples() {
        for sub in command().get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = sub.get_name();
            let text = sub.clone().render_help().to_string();
            assert!(text.lines().count() <= SCREEN, "{name}: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{name} is too wide\n{text}");
            assert!(text.contains("Examples:"), "{name} has no examples");
        }
    }

    #[test]
    fn examples_are_commands_that_parse() {
        for (_, examples) in EXAMPLES {
            for (line, _) in examples {
                let plain = line.split([';', '|', '>']).next().unwrap_or(line);
                let words = plain.split_whitespace().map(|word| word.trim_matches('\'').to_owned());
                let parsed = Cli::command().try_get_matches_from(words);
                assert!(parsed.is_ok() || line.ends_with("--version"), "{line}");
            }
        }
    }
}
