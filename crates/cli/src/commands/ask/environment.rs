//! The environment variables that projects read, for `check --show-env`. It must not show a value.

use purlin_syntax::credentials::is_secret_variable;
use purlin_value::{EcoString, Map, Read, Session, Value};
use std::collections::BTreeMap;

/// Whether a project can see a variable that it reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Set,
    /// It is set, but `--env-allow` or the user's settings keep it from projects.
    NotAllowed,
    NotSet,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Set => "set",
            State::NotAllowed => "not allowed",
            State::NotSet => "not set",
        }
    }
}

/// The variables that were read.
#[derive(Default)]
pub(in crate::commands) struct Environment {
    variables: BTreeMap<String, State>,
    /// Whether something read all variables: a command that was started, an expression over the whole environment.
    is_whole: bool,
}

impl Environment {
    /// Adds what a session has read. `set` are the variables that the user has set.
    pub(in crate::commands) fn add(&mut self, session: &Session, set: &BTreeMap<String, String>) {
        for read in session.reads() {
            let name = match read {
                Read::Variable(name) => name,
                Read::Environment => {
                    self.is_whole = true;
                    continue;
                }
                _ => continue,
            };
            let state = match (session.world.env(&name), set.contains_key(&name)) {
                (Some(_), _) => State::Set,
                (None, true) => State::NotAllowed,
                (None, false) => State::NotSet,
            };
            let known = self.variables.entry(name).or_insert(state);
            *known = state.min(*known);
        }
    }

    /// A line for each variable.
    pub(in crate::commands) fn text(&self) -> String {
        let whole = if self.is_whole { "all environment variables are read as a whole\n" } else { "" };
        if self.variables.is_empty() {
            return if self.is_whole { whole.to_owned() } else { "no environment variables are read\n".to_owned() };
        }
        let width = self.variables.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        let line = |(name, state): (&String, &State)| {
            let allow = if *state == State::NotAllowed { format!(": add `--env-allow {name}`") } else { String::new() };
            let secret = if is_secret_variable(name) { ", secret" } else { "" };
            format!("  {name:width$}  {}{secret}{allow}\n", state.name())
        };
        let lines: String = self.variables.iter().map(line).collect();
        format!("environment variables that are read:\n{lines}{whole}")
    }

    /// The same as data.
    pub(in crate::commands) fn value(&self) -> Value {
        let variable = |(name, state): (&String, &State)| {
            let members = [
                ("name", Value::str(name.as_str())),
                ("state", Value::str(state.name())),
                ("secret", Value::from(is_secret_variable(name))),
            ];
            Value::map(members.map(|(key, value)| (EcoString::from(key), value)).into_iter().collect::<Map>())
        };
        let variables = Value::list(self.variables.iter().map(variable).collect::<Vec<_>>());
        let members = [("variables", variables), ("whole", Value::from(self.is_whole))];
        Value::map(members.map(|(key, value)| (EcoString::from(key), value)).into_iter().collect::<Map>())
    }
}
