//! The flags of the Skaffold command line, read as it reads them: `--name=value`, `--name value`, `-n value`, and an
//! environment variable `SKAFFOLD_NAME` for each.

use std::collections::BTreeMap;

/// What a flag takes.
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

/// All flags: long name, short name, what they take.
const FLAGS: &[(&str, char, Takes)] = &[
    ("filename", 'f', Text),
    ("profile", 'p', List),
    ("module", 'm', List),
    ("output", 'o', Text),
    ("yaml-only", ' ', Switch),
    ("enable-templating", ' ', Switch),
    ("profile-auto-activation", ' ', Switch),
    ("propagate-profiles", ' ', Switch),
    ("kube-context", ' ', Text),
    ("kubeconfig", ' ', Text),
    ("sync-remote-cache", ' ', Text),
    ("remote-cache-dir", ' ', Text),
    ("offline", ' ', Switch),
    ("digest-source", ' ', Text),
    ("images", 'i', List),
    ("build-artifacts", 'a', Text),
    ("namespace", 'n', Text),
    ("label", 'l', List),
    ("default-repo", 'd', Text),
    ("version", ' ', Text),
    ("overwrite", ' ', Switch),
    ("build-env", ' ', Text),
    ("strict", ' ', Switch),
    ("all", ' ', Switch),
    ("verbosity", 'v', Text),
    ("color", ' ', Text),
    ("interactive", ' ', Switch),
    ("update-check", ' ', Switch),
    ("timestamps", ' ', Switch),
    ("assume-yes", ' ', Switch),
    ("env-file", ' ', Text),
    ("format", ' ', Text),
    ("loud", ' ', Switch),
    ("load-images", ' ', Switch),
    ("platform", ' ', List),
    ("quiet", 'q', Switch),
    ("file-output", ' ', Text),
    ("dry-run", ' ', Switch),
    ("push", ' ', Switch),
    ("tag", 't', Text),
    ("build-image", 'b', List),
    ("cache-artifacts", ' ', Switch),
    ("build-concurrency", ' ', Text),
    ("insecure-registry", ' ', List),
    ("skip-tests", ' ', Switch),
    ("status-check", ' ', Switch),
    ("allow-path", ' ', List),
    ("allow-net", ' ', List),
    ("allow-exec", ' ', Switch),
];

/// The words and flags of a command line.
#[derive(Debug, Default)]
pub struct Flags {
    /// Words that are no flags, in order.
    pub words: Vec<String>,
    values: BTreeMap<String, Vec<String>>,
    /// Flags of a build environment, by key of its settings.
    pub settings: Vec<(String, String)>,
}

impl Flags {
    /// Reads a command line. `settings` knows the further flags that set something, and whether they need a value.
    pub fn read(
        args: &[String],
        env: &BTreeMap<String, String>,
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
                _ => name.as_str(),
            };
            let known = FLAGS.iter().find(|(long, ..)| *long == name);
            let Some((long, _, takes)) = known.copied() else { return Err(format!("unknown flag: --{name}")) };
            let value = match (takes, value) {
                (Switch, None) => "true".to_owned(),
                (_, Some(value)) => value,
                (_, None) => rest.next().cloned().ok_or_else(|| format!("flag needs an argument: --{long}"))?,
            };
            flags.push(long, takes, value);
        }
        flags.fill_from_env(env);
        Ok(flags)
    }

    fn push(&mut self, long: &str, takes: Takes, value: String) {
        let values = self.values.entry(long.to_owned()).or_default();
        match takes {
            List => values.extend(value.split(',').filter(|part| !part.is_empty()).map(str::to_owned)),
            Switch | Text => *values = vec![value],
        }
    }

    /// A flag that is not given is taken from the environment, if the command has it.
    fn fill_from_env(&mut self, env: &BTreeMap<String, String>) {
        let inspects = self.word(0) == "inspect";
        for (long, _, takes) in FLAGS.iter().filter(|(long, ..)| !(inspects && *long == "remote-cache-dir")) {
            let name = format!("SKAFFOLD_{}", long.to_uppercase().replace('-', "_"));
            if let Some(value) = env.get(&name)
                && !self.values.contains_key(*long)
            {
                self.push(long, *takes, value.clone());
            }
        }
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

/// The name and value of a flag; `None` for a word.
fn split(arg: &str) -> Option<(String, Option<String>)> {
    if let Some(long) = arg.strip_prefix("--") {
        return Some(match long.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (long.to_owned(), None),
        });
    }
    let short = arg.strip_prefix('-').filter(|short| !short.is_empty())?;
    let letter = short.chars().next()?;
    let rest = short.get(letter.len_utf8()..).unwrap_or_default();
    let value = match rest {
        "" => None,
        rest => Some(rest.strip_prefix('=').unwrap_or(rest).to_owned()),
    };
    let long = FLAGS.iter().find(|(_, known, _)| *known == letter).map_or("__short__", |(long, ..)| long);
    Some((long.to_owned(), value))
}
