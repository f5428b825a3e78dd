//! The flags of the Skaffold command line, in its own syntax: `--name=value`, `--name value`, `-n value`, and an
//! environment variable `SKAFFOLD_NAME` for each.

use crate::personality::{belongs_to, split_flag};
use purlin_skaffold::validate::Tags;
use std::collections::BTreeMap;

/// The number of values of a flag.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// `--flag`, `--flag=false`.
    Switch,
    /// One value.
    Text,
    /// Several values, with commas or by repetition.
    List,
}

use Takes::{List, Switch, Text};

/// Commands that read a configuration.
const READING: &[&str] = &["build", "delete", "deploy", "dev", "diagnose", "inspect", "render", "run", "test"];

/// Commands that have an option for the Kubernetes context.
const WITH_CONTEXT: &[&str] =
    &["apply", "build", "config", "delete", "deploy", "dev", "inspect", "render", "run", "test"];

/// All flags: long name, short name, number of values, and the commands that have them; an empty list means all.
#[rustfmt::skip]
const FLAGS: &[(&str, char, Takes, &[&str])] = &[
    ("filename", 'f', Text, &[]),
    ("profile", 'p', List, READING),
    ("module", 'm', List, &[]),
    ("output", 'o', Text, &["build", "diagnose", "find-configs", "fix", "inspect", "render", "schema"]),
    ("directory", ' ', Text, &["find-configs"]),
    ("yaml-only", ' ', Switch, &["diagnose"]),
    ("enable-templating", ' ', Switch, &["diagnose"]),
    ("profile-auto-activation", ' ', Switch, READING),
    ("propagate-profiles", ' ', Switch, READING),
    ("kube-context", ' ', Text, WITH_CONTEXT),
    ("config", 'c', Text, &["build", "config", "delete", "deploy", "diagnose", "render", "run", "test"]),
    ("global", 'g', Switch, &["config"]),
    ("kubeconfig", ' ', Text, &["apply", "build", "delete", "deploy", "dev", "diagnose", "inspect", "render", "run", "test"]),
    ("sync-remote-cache", ' ', Text, &[]),
    ("remote-cache-dir", ' ', Text, &[]),
    ("offline", ' ', Switch, &["render"]),
    ("digest-source", ' ', Text, &["render", "run"]),
    ("images", 'i', List, &["deploy", "render", "test"]),
    ("build-artifacts", 'a', Text, &["deploy", "render", "test"]),
    ("namespace", 'n', Text, &["apply", "build", "delete", "deploy", "dev", "inspect", "render", "run"]),
    ("label", 'l', List, &["deploy", "render", "run"]),
    ("default-repo", 'd', Text, &["build", "delete", "deploy", "render", "run", "test"]),
    ("version", ' ', Text, &["fix"]),
    ("overwrite", ' ', Switch, &["fix"]),
    ("build-env", ' ', Text, &["inspect"]),
    ("strict", ' ', Switch, &["inspect"]),
    ("all", ' ', Switch, &["inspect", "config"]),
    ("verbosity", 'v', Text, &[]),
    ("color", ' ', Text, &[]),
    ("interactive", ' ', Switch, &[]),
    ("update-check", ' ', Switch, &[]),
    ("timestamps", ' ', Switch, &[]),
    ("assume-yes", ' ', Switch, &[]),
    ("format", ' ', Text, &["inspect"]),
    ("loud", ' ', Switch, &["render"]),
    ("load-images", ' ', Switch, &["deploy"]),
    ("platform", ' ', List, &["build", "render", "run"]),
    ("quiet", 'q', Switch, &["build"]),
    ("file-output", ' ', Text, &["build", "run"]),
    ("dry-run", ' ', Switch, &["build", "delete"]),
    ("set", ' ', List, &["delete", "render"]),
    ("set-value-file", ' ', Text, &["delete", "render"]),
    ("push", ' ', Switch, &["build", "run"]),
    ("tag", 't', Text, &["build", "deploy", "render", "run"]),
    ("build-image", 'b', List, &["build", "run"]),
    ("cache-artifacts", ' ', Switch, &["build", "render", "run"]),
    ("build-concurrency", ' ', Text, &["build", "deploy", "dev", "run"]),
    ("insecure-registry", ' ', List, &["build", "run"]),
    ("skip-tests", ' ', Switch, &["build", "dev", "run"]),
    ("status-check", ' ', Switch, &["apply", "deploy", "run"]),
    ("auto-create-config", ' ', Switch, &["dev", "run"]),
    ("check-cluster-node-platforms", ' ', Switch, &["build", "dev", "run"]),
    ("cleanup", ' ', Switch, &["dev", "run"]),
    ("detect-minikube", ' ', Switch, &["build", "delete", "deploy", "dev", "run"]),
    ("enable-rpc", ' ', Switch, &["build", "deploy", "render", "run", "test"]),
    ("event-log-file", ' ', Text, &["build", "deploy", "render", "run", "test"]),
    ("fast-fail-status-check", ' ', Switch, &["deploy", "run"]),
    ("iterative-status-check", ' ', Switch, &["apply", "deploy", "dev", "run"]),
    ("last-log-file", ' ', Text, &["build", "deploy", "render", "run", "test"]),
    ("mute-logs", ' ', List, &["build", "deploy", "dev", "run"]),
    ("no-prune", ' ', Switch, &["dev", "run"]),
    ("no-prune-children", ' ', Switch, &["dev", "run"]),
    ("rpc-http-port", ' ', Text, &["apply", "build", "deploy", "dev", "run", "test"]),
    ("rpc-port", ' ', Text, &["apply", "build", "deploy", "dev", "run", "test"]),
    ("toot", ' ', Switch, &["build", "deploy", "dev", "run"]),
    ("user", 'u', Text, &[]),
    ("wait-for-connection", ' ', Switch, &["apply", "build", "deploy", "dev", "render", "run", "test"]),
    ("port-forward", ' ', Switch, &["deploy", "dev", "run"]),
    ("tail", ' ', Switch, &["apply", "deploy", "dev", "run"]),
    ("tolerate-failures-until-deadline", ' ', Switch, &["apply", "deploy", "run"]),
    ("wait-for-deletions", ' ', Switch, &["deploy", "dev", "run"]),
    ("wait-for-deletions-delay", ' ', Text, &["deploy", "dev", "run"]),
    ("wait-for-deletions-max", ' ', Text, &["deploy", "dev", "run"]),
    ("allow-path", ' ', List, &[]),
    ("allow-net", ' ', List, &[]),
    ("allow-exec", ' ', Switch, &[]),
];

/// Flags without effect here: they concern logs, events, clean-up of images and the loop of `dev`.
#[rustfmt::skip]
const NO_EFFECT: &[&str] = &[
    "auto-create-config", "check-cluster-node-platforms", "cleanup",
    "detect-minikube", "enable-rpc", "event-log-file", "fast-fail-status-check", "iterative-status-check",
    "last-log-file", "load-images", "loud", "mute-logs", "no-prune", "no-prune-children", "rpc-http-port", "rpc-port",
    "timestamps", "toot", "user", "wait-for-connection", "wait-for-deletions", "wait-for-deletions-delay",
    "wait-for-deletions-max",
];

/// Unsupported flags of the original, with the value that disables them; `None` means that every value is unsupported.
const UNSUPPORTED: &[(&str, Option<&str>)] = &[
    ("auto", Some("false")),
    ("auto-build", Some("true")),
    ("auto-deploy", Some("true")),
    ("auto-sync", Some("false")),
    ("trigger", Some("notify")),
    ("watch-image", None),
    ("watch-poll-interval", None),
    ("cache-file", None),
    ("cloud-run-location", None),
    ("cloud-run-project", None),
    ("disable-multi-platform-build", Some("false")),
    ("enable-gke-arm-node-toleration", Some("false")),
    ("enable-platform-node-affinity", Some("false")),
    ("force", Some("false")),
    ("hydration-dir", None),
    ("keep-running-on-failure", Some("false")),
    ("minikube-profile", None),
    ("render-only", Some("false")),
    ("render-output", None),
    ("resource-selector-rules-file", None),
    ("status-check-selectors", None),
];

/// Flags of the original that one of its commands has and ours has not, though other commands here do.
const MISSING: &[(&str, &[&str])] = &[
    ("apply", &["config", "label", "profile"]),
    (
        "dev",
        &[
            "cache-artifacts",
            "config",
            "default-repo",
            "digest-source",
            "insecure-registry",
            "label",
            "platform",
            "status-check",
            "tag",
            "tolerate-failures-until-deadline",
        ],
    ),
];

/// Flags that every command of `inspect` has.
const ALL_INSPECT: &[&str] = &[
    "allow-exec",
    "allow-net",
    "allow-path",
    "color",
    "filename",
    "format",
    "interactive",
    "remote-cache-dir",
    "timestamps",
    "update-check",
    "verbosity",
];

/// Flags that select configurations in `inspect`.
const CHOOSING: &[&str] = &["module", "profile", "propagate-profiles"];

/// Further flags of the commands of `inspect`.
const INSPECT: &[(&str, &str, &[&str])] = &[
    ("modules", "list", &["all"]),
    ("profiles", "list", &["module", "build-env"]),
    ("build-env", "list", CHOOSING),
    ("build-env", "add", &["module", "profile"]),
    ("build-env", "modify", &["module", "profile", "strict"]),
    ("tests", "list", CHOOSING),
    ("namespaces", "list", CHOOSING),
    ("jobManifestPaths", "list", CHOOSING),
    ("jobManifestPaths", "modify", &["module", "user", "sync-remote-cache", "assume-yes", "output"]),
    ("config-dependencies", "add", &["module"]),
];

/// Flags that grant permissions, or name files outside the configuration: a project cannot set them.
const OF_USER: &[&str] = &[
    "allow-exec",
    "allow-net",
    "allow-path",
    "assume-yes",
    "build-artifacts",
    "file-output",
    "filename",
    "insecure-registry",
    "kubeconfig",
    "offline",
    "output",
    "overwrite",
    "remote-cache-dir",
    "set-value-file",
    "sync-remote-cache",
];

/// The environment variable of a flag.
fn variable(long: &str) -> String {
    format!("SKAFFOLD_{}", long.to_uppercase().replace('-', "_"))
}

/// Whether a variable belongs to a flag that only the user can set.
pub fn is_users_own(name: &str) -> bool {
    OF_USER.iter().any(|long| variable(long) == name)
}

/// The words and flags of a command line.
#[derive(Debug, Default)]
pub struct Flags {
    /// Words that are no flags, in order.
    pub words: Vec<String>,
    values: BTreeMap<String, Vec<String>>,
    /// Flags of a build environment, by settings key.
    pub settings: Vec<(String, String)>,
}

impl Flags {
    /// Reads a command line. `settings` knows further flags that set something, and whether they need a value.
    pub fn read(
        args: &[String],
        env: &BTreeMap<String, String>,
        project_env: &BTreeMap<String, String>,
        settings: &dyn Fn(&str) -> Option<bool>,
    ) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let (name, value) = match split(arg) {
                Some(split) => split,
                None => {
                    flags.words.push(arg.clone());
                    continue;
                }
            };
            if name == "__short__" {
                return Err(format!("unknown shorthand flag: {arg}"));
            }
            if let Some(needs_value) = settings(&name) {
                let value = match value {
                    Some(value) => value,
                    None if !needs_value => "true".to_owned(),
                    None => rest.next().cloned().ok_or_else(|| format!("flag needs an argument: --{name}"))?,
                };
                flags.settings.push((name, value));
                continue;
            }
            let inspects = flags.words.first().is_some_and(|word| word == "inspect");
            let name = match arg.as_bytes() {
                // `inspect … -a` means all and `-o` the format; elsewhere `-a` and `-o` name files.
                [b'-', b'a', ..] if inspects => "all",
                [b'-', b'o', ..] if inspects => "format",
                // `-d` means the image registry elsewhere.
                [b'-', b'd', ..] if flags.words.first().is_some_and(|word| word == "find-configs") => "directory",
                _ => name.as_str(),
            };
            if let Some((long, idle)) = UNSUPPORTED.iter().find(|(long, _)| *long == name) {
                let is_idle = |value: &String| *idle == Some(value.as_str()) || (idle.is_some() && value == "false");
                match value.as_ref().is_some_and(is_idle) {
                    true => continue,
                    false => return Err(format!("`--{long}` is not supported by Purlin")),
                }
            }
            let known = FLAGS.iter().find(|(long, ..)| *long == name);
            let Some((long, _, takes, _)) = known.copied() else { return Err(format!("unknown flag: --{name}")) };
            let value = match (takes, value) {
                (Switch, None) => "true".to_owned(),
                (_, Some(value)) => value,
                (_, None) => rest.next().cloned().ok_or_else(|| format!("flag needs an argument: --{long}"))?,
            };
            flags.push(long, takes, value);
        }
        flags.belong()?;
        flags.fill_from_env(|name| env.get(name).or_else(|| project_env.get(name).filter(|_| !is_users_own(name))));
        Ok(flags)
    }

    /// Refuses a flag that the command does not have, if the command exists.
    fn belong(&self) -> Result<(), String> {
        let command = self.word(0);
        if command == "inspect" {
            return self.belong_to_inspect();
        }
        if !FLAGS.iter().any(|(.., commands)| commands.contains(&command)) {
            return Ok(());
        }
        let foreign = |(long, _, _, commands): &&(&str, char, Takes, &[&str])| {
            self.values.contains_key(*long) && !commands.is_empty() && !commands.contains(&command)
        };
        let missing = MISSING.iter().filter(|(of, _)| *of == command).flat_map(|(_, flags)| flags.iter());
        match FLAGS.iter().find(foreign) {
            Some((long, ..)) if missing.clone().any(|flag| flag == long) => {
                Err(format!("`--{long}` is not supported by Purlin in `{command}`"))
            }
            Some((long, _, _, commands)) => Err(belongs_to(long, command, commands.iter().copied())),
            None => Ok(()),
        }
    }

    /// Refuses a flag that a command of `inspect` does not have, if the command exists.
    fn belong_to_inspect(&self) -> Result<(), String> {
        let (what, verb) = (self.word(1), self.word(2));
        let Some((.., own)) = INSPECT.iter().find(|(known, with, _)| *known == what && *with == verb) else {
            return Ok(());
        };
        let is_own = |name: &&String| own.contains(&name.as_str()) || ALL_INSPECT.contains(&name.as_str());
        let Some(foreign) = self.values.keys().find(|name| !is_own(name)) else { return Ok(()) };
        let others = INSPECT.iter().filter(|(.., flags)| flags.contains(&foreign.as_str()));
        let others: Vec<String> = others.map(|(what, verb, _)| format!("`inspect {what} {verb}`")).collect();
        let command = format!("inspect {what} {verb}");
        Err(match others.is_empty() {
            true => format!("`--{foreign}` is not an option of `{command}`"),
            false => format!("`--{foreign}` is not an option of `{command}`, but of {}", others.join(", ")),
        })
    }

    fn push(&mut self, long: &str, takes: Takes, value: String) {
        let values = self.values.entry(long.to_owned()).or_default();
        match takes {
            List => values.extend(fields(&value).into_iter().filter(|part| !part.is_empty())),
            Switch | Text => *values = vec![value],
        }
    }

    /// Takes a missing flag from the environment, if the command has it. Skaffold reads environment variables for the
    /// flags of its commands, but not for those of their subcommands.
    fn fill_from_env<'e>(&mut self, lookup: impl Fn(&str) -> Option<&'e String>) {
        let command = self.word(0).to_owned();
        if ["inspect", "config", "schema"].contains(&command.as_str()) {
            return;
        }
        let has = |commands: &[&str]| commands.is_empty() || commands.contains(&command.as_str());
        for (long, _, takes, _) in FLAGS.iter().filter(|(.., commands)| has(commands)) {
            if let Some(value) = lookup(&variable(long))
                && !self.values.contains_key(*long)
            {
                self.push(long, *takes, value.clone());
            }
        }
    }

    /// Sets a missing flag, if the command has it.
    pub fn or_text(&mut self, name: &str, value: &str) {
        let command = self.word(0).to_owned();
        let has = |(long, _, _, commands): &&(&str, char, Takes, &[&str])| {
            *long == name && commands.contains(&command.as_str())
        };
        if let Some((long, _, takes, _)) = FLAGS.iter().find(has)
            && !self.values.contains_key(*long)
        {
            self.push(long, *takes, value.to_owned());
        }
    }

    /// Given flags with a value that would have an effect in the original, but not here.
    pub fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        NO_EFFECT.iter().copied().filter(|name| self.text(name).is_some_and(|value| value != "false"))
    }

    /// The source of image tags.
    pub fn tags(&self) -> Tags {
        if self.text("tag").is_some_and(|tag| !tag.is_empty()) { Tags::Named } else { Tags::Made }
    }

    /// The value of a flag.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(|values| values.last()).map(String::as_str)
    }

    /// The values of a flag that may be repeated.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.values.get(name).cloned().unwrap_or_default()
    }

    /// Whether a switch is on.
    pub fn switch(&self, name: &str, default: bool) -> bool {
        self.text(name).map_or(default, |value| matches!(value, "true" | "1" | "t" | "T" | "TRUE" | "True"))
    }

    /// A word after the command.
    pub fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }
}

/// The fields of a line with commas; quotes around a field protect commas, and a doubled quote means one.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let Some(field) = found.last_mut() else { break };
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                field.push('"');
            }
            '"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(String::new()),
            other => field.push(other),
        }
    }
    found
}

/// The name and value of a flag; `None` for a word.
fn split(arg: &str) -> Option<(String, Option<String>)> {
    if arg == "-" || !arg.starts_with('-') {
        return None;
    }
    let (name, value) = split_flag(arg);
    let is_short = |known: char| name.starts_with(known);
    let long = match arg.starts_with("--") {
        true => name,
        false => FLAGS.iter().find(|(_, known, ..)| is_short(*known)).map_or("__short__", |(long, ..)| long),
    };
    Some((long.to_owned(), value))
}
