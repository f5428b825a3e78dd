//! Arguments of Garden's commands.

use crate::duration::duration;
use crate::personality::{belongs_to, option};
use std::time::Duration;

/// Options without effect: their behaviour is the default, or they only affect Garden's own log.
const WITHOUT_EFFECT: &[&str] = &[
    "silent",
    "s",
    "force-refresh",
    "yes",
    "y",
    "offline",
    "show-timestamps",
    "emoji",
    "full",
    "skip-detail",
    "dependants-first",
    "disable-port-forwards",
    "skip-watch",
    "skip-dependants",
];

/// Unsupported options of Garden.
const UNSUPPORTED: &[&str] = &[
    "cmd",
    "dev",
    "dev-mode",
    "filter-actions",
    "format",
    "ids",
    "include-project",
    "module",
    "port",
    "sync",
    "w",
    "watch",
];

const LISTS: &[&str] = &["get actions", "get builds", "get deploys", "get runs", "get tests"];

/// Options with the commands that have them. All other options are accepted by every command.
const OPTIONS: &[(&str, &[&str])] = &[
    ("detail", LISTS),
    ("sort", LISTS),
    ("include-state", LISTS),
    ("kind", &["get actions"]),
    (
        "exclude-disabled",
        &[
            "get actions",
            "get builds",
            "get deploys",
            "get runs",
            "get tests",
            "get config",
            "get modules",
            "get variables",
        ],
    ),
    ("resolve", &["get config", "get variables", "validate"]),
    ("full", &["get modules"]),
    ("only-deploys", &["get status"]),
    ("skip-detail", &["get status"]),
    ("force", &["build", "deploy", "plan", "run", "test", "cleanup deploy", "cleanup namespace"]),
    ("force-build", &["deploy", "publish", "run", "test"]),
    ("name", &["test", "create project"]),
    ("n", &["test"]),
    ("with-dependants", &["build", "deploy", "cleanup deploy"]),
    ("skip-dependencies", &["deploy", "run", "test"]),
    ("nodeps", &["deploy", "run", "test"]),
    ("skip", &["deploy", "plan", "run", "test"]),
    ("disable-port-forwards", &["deploy"]),
    ("dependants-first", &["cleanup deploy", "cleanup namespace"]),
    ("skip-watch", &["deploy"]),
    ("skip-dependants", &["test"]),
    ("tail", &["logs"]),
    ("t", &["logs"]),
    ("follow", &["logs"]),
    ("since", &["logs"]),
    ("show-tags", &["logs"]),
    ("tag", &["logs", "publish"]),
    ("timestamps", &["logs", "deploy"]),
    ("forward", &["deploy"]),
    ("logs", &["deploy"]),
    ("plan", &["deploy"]),
    ("interactive", &["exec", "create project"]),
    ("i", &["exec", "create project"]),
    ("target", &["exec"]),
    ("dir", &["create project"]),
    ("filename", &["create project"]),
    ("hide-name", &["logs"]),
    ("hide-service", &["logs"]),
];

/// The command under its primary name.
fn alias(command: &str) -> &str {
    let words = command.split_once(' ').filter(|(group, _)| CLEANUP.contains(group));
    match words.map(|(_, what)| what) {
        Some(what) if DEPLOYS.contains(&what) => "cleanup deploy",
        Some(what) if NAMESPACES.contains(&what) => "cleanup namespace",
        _ => command,
    }
}

/// Names of the command that takes Deploys down, and of its objects.
pub(super) const CLEANUP: &[&str] = &["cleanup", "delete", "del"];
pub(super) const DEPLOYS: &[&str] = &["deploy", "deploys", "service", "services"];
pub(super) const NAMESPACES: &[&str] = &["namespace", "environment", "env", "ns"];

/// The parsed arguments.
#[derive(Default, Debug)]
pub(super) struct Flags {
    pub words: Vec<String>,
    pub root: Option<String>,
    pub environment: Option<String>,
    pub vars: Vec<(String, String)>,
    pub output: Option<String>,
    pub detail: bool,
    pub kind: Option<String>,
    pub sort: String,
    pub exclude_disabled: bool,
    pub resolve: Vec<String>,
    pub pending: Vec<String>,
    pub only_deploys: bool,
    pub state: bool,
    pub force: bool,
    pub force_build: bool,
    pub with_dependants: bool,
    pub skip: Vec<String>,
    pub skip_dependencies: bool,
    pub tail: Option<usize>,
    pub hide_name: bool,
    /// Tests by the last part of their names, as used by modules.
    pub names: Vec<String>,
    pub follow: bool,
    pub since: Option<Duration>,
    pub timestamps: bool,
    pub show_tags: bool,
    /// Values of `--tag`.
    pub tags: Vec<String>,
    pub forward: bool,
    pub logs: bool,
    pub plan: bool,
    pub interactive: Option<bool>,
    pub target: Option<String>,
    pub dir: Option<String>,
    pub filename: Option<String>,
    /// What follows `--`.
    pub rest: Vec<String>,
    /// Names of the given options.
    pub given: Vec<String>,
}

impl Flags {
    /// Reads the arguments.
    pub(super) fn read(args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags { sort: "name".to_owned(), ..Flags::default() };
        let mut rest = args.iter();
        let first = args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str).unwrap_or_default();
        while let Some(arg) = rest.next() {
            if arg == "--" {
                flags.rest = rest.cloned().collect();
                break;
            }
            let Some((name, given)) = option(arg) else {
                flags.words.push(arg.clone());
                continue;
            };
            // `-f` follows logs with `logs`, and means `--force` elsewhere.
            let name = match name {
                "f" if first == "logs" => "follow",
                "f" => "force",
                "dry-run" => "plan",
                name => name,
            };
            flags.given.push(name.to_owned());
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`--{name}` needs a value"));
            match name {
                "root" => flags.root = Some(value()?),
                "e" | "env" => flags.environment = Some(value()?),
                "o" | "output" => flags.output = Some(value()?),
                "var" => {
                    for pair in split_unquoted(&value()?) {
                        flags.vars.push(variable(pair)?);
                    }
                }
                "kind" => flags.kind = Some(one_of("kind", value()?, &["build", "deploy", "run", "test"])?),
                "sort" => flags.sort = one_of("sort", value()?, &["name", "kind", "type"])?,
                "resolve" => flags.resolve.push(value()?),
                "detail" => flags.detail = true,
                "exclude-disabled" => flags.exclude_disabled = true,
                "l" | "log-level" | "logger-type" => {
                    value()?;
                }
                name if WITHOUT_EFFECT.contains(&name) => {}
                "pending" => flags.pending.push(value()?),
                "only-deploys" => flags.only_deploys = true,
                "include-state" => flags.state = true,
                "force" => flags.force = true,
                "force-build" => flags.force_build = true,
                "hide-name" | "hide-service" => flags.hide_name = true,
                "follow" => flags.follow = true,
                "since" => flags.since = Some(duration(&value()?)?),
                "timestamps" => flags.timestamps = true,
                "show-tags" => flags.show_tags = true,
                "tag" => flags.tags.push(value()?),
                "forward" => flags.forward = true,
                "logs" => flags.logs = true,
                "plan" => flags.plan = true,
                "i" | "interactive" if matches!(first, "test" | "run") => {
                    return Err(
                        "`--interactive` is not supported by Purlin: `exec` runs commands in Deploys".to_owned()
                    );
                }
                "i" | "interactive" => flags.interactive = Some(given.as_deref() != Some("false")),
                "no-interactive" if first == "exec" => flags.interactive = Some(false),
                "target" => flags.target = Some(value()?),
                "dir" => flags.dir = Some(value()?),
                "filename" => flags.filename = Some(value()?),
                "n" | "name" if first == "create" => flags.names.push(value()?),
                "n" | "name" => flags.names.extend(value()?.split(',').map(|name| format!("*-{name}"))),
                "with-dependants" => flags.with_dependants = true,
                "skip-dependencies" | "nodeps" => flags.skip_dependencies = true,
                "skip" => flags.skip.extend(value()?.split(',').map(str::to_owned)),
                "t" | "tail" => {
                    let text = value()?;
                    flags.tail = Some(text.parse().map_err(|_| format!("`--tail {text}`: expected a number"))?);
                }
                other if UNSUPPORTED.contains(&other) => return Err(format!("`--{other}` is not supported by Purlin")),
                other => return Err(format!("unknown option `--{other}`; `purlin help garden` lists them")),
            }
        }
        flags.belong()?;
        if flags.words.first().is_some_and(|word| word == "get") {
            for how in &flags.resolve {
                one_of("resolve", how.clone(), &["full", "partial"])?;
            }
        }
        Ok(flags)
    }

    /// The command without its arguments, under its primary name: `command.name` in templates.
    pub(super) fn command_name(&self) -> String {
        let Some(first) = self.words.first() else { return String::new() };
        let is_group = is_group(first);
        match self.words.get(1).filter(|_| is_group) {
            Some(second) => alias(&format!("{first} {second}")).to_owned(),
            None if first == "run-workflow" => "workflow".to_owned(),
            None => first.clone(),
        }
    }

    /// Refuses an option that Garden's command does not have.
    fn belong(&self) -> Result<(), String> {
        let Some(first) = self.words.first() else { return Ok(()) };
        let is_group = is_group(first);
        let second = self.words.get(1).filter(|_| is_group);
        let command = second.map_or_else(|| first.clone(), |second| format!("{first} {second}"));
        for option in &self.given {
            let Some((_, commands)) = OPTIONS.iter().find(|(name, _)| name == option) else { continue };
            // `get action` is `get actions`.
            let is = |known: &&str| alias(&command).trim_end_matches('s') == known.trim_end_matches('s');
            if !commands.iter().any(is) {
                return Err(belongs_to(option, &command, commands.iter().copied()));
            }
        }
        Ok(())
    }
}

/// Whether a word is followed by another that completes the command.
fn is_group(word: &str) -> bool {
    matches!(word, "get" | "create" | "set") || CLEANUP.contains(&word)
}

/// The value of an option that accepts only these words, in any case.
fn one_of(option: &str, value: String, words: &[&str]) -> Result<String, String> {
    match words.iter().any(|word| word.eq_ignore_ascii_case(&value)) {
        true => Ok(value),
        false => Err(format!("`--{option} {value}`: expected {}", words.join(", "))),
    }
}

/// Splits at commas that are not between double quotes.
fn split_unquoted(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(text.get(start..at).unwrap_or(""));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or(""));
    parts
}

/// A variable, parsed like a line of a `.env` file, as in Garden: quotes around the value are not part of it.
fn variable(pair: &str) -> Result<(String, String), String> {
    let (key, text) = pair.split_once('=').ok_or_else(|| format!("`--var {pair}`: expected NAME=VALUE"))?;
    let line = format!("NAME={text}");
    let read = purlin_garden::dotenv::parse(&line).into_iter().next();
    Ok((key.trim().to_owned(), read.map_or_else(|| text.to_owned(), |variable| variable.value)))
}
