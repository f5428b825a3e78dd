//! Flags as Go's programs read them: `--name=value`, `--name value`, `-n value`, `-ab`.

use crate::personality::split_flag;
use std::collections::{BTreeMap, VecDeque};

/// The number of values of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `--flag`, `--flag=false`.
    Switch,
    /// One value.
    Text,
    /// Several values, each with a flag of its own.
    List,
    /// One value, only after `=`; without it, this one.
    Bare(&'static str),
}

/// Words and flags of a command line.
#[derive(Default)]
pub(super) struct Arguments {
    /// Words that are not flags, in order.
    pub words: Vec<String>,
    values: BTreeMap<&'static str, Vec<String>>,
}

impl Arguments {
    /// Reads a command line with these flags: long name, short name, number of values.
    pub fn read(args: &[String], known: &[(&'static str, char, Takes)]) -> Result<Arguments, String> {
        let mut read = Arguments::default();
        let mut rest: VecDeque<String> = args.iter().cloned().collect();
        while let Some(arg) = rest.pop_front() {
            if arg == "--" {
                read.words.extend(rest);
                break;
            }
            if arg == "-" || !arg.starts_with('-') {
                read.words.push(arg);
                continue;
            }
            let (name, value) = split_flag(&arg);
            let is_long = arg.starts_with("--");
            let fits = |(long, short, _): &&(&'static str, char, Takes)| match is_long {
                true => *long == name,
                false => *short != ' ' && name.starts_with(*short),
            };
            let Some((long, _, takes)) = known.iter().find(fits) else { return Err(format!("unknown flag: {arg}")) };
            let value = match (takes, value) {
                (Takes::Switch, None) => "true".to_owned(),
                // Several short switches in one word.
                (Takes::Switch, Some(more)) if !is_long && !arg.contains('=') => {
                    rest.push_front(format!("-{more}"));
                    "true".to_owned()
                }
                (Takes::Bare(usual), None) => (*usual).to_owned(),
                (_, Some(value)) => value,
                (_, None) => rest.pop_front().ok_or_else(|| format!("flag needs an argument: {arg}"))?,
            };
            let values = read.values.entry(long).or_default();
            if *takes != Takes::List {
                values.clear();
            }
            values.push(value);
        }
        Ok(read)
    }

    /// Whether a flag is given.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of a flag.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.list(name).last().map(String::as_str)
    }

    /// The values of a flag.
    pub fn list(&self, name: &str) -> &[String] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a switch is on.
    pub fn switch(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| matches!(value, "true" | "1" | "t" | "T" | "TRUE" | "True"))
    }
}
