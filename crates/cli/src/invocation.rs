//! One run of the program: arguments, surroundings and streams, all handed in, so that tests call it in process.

use crate::settings::User;
use crate::steering;
use crate::veil::Veil;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;

/// Everything a run needs from outside.
pub struct Invocation<'io> {
    /// Arguments without the program's name.
    pub args: Vec<String>,
    /// The folder the user stands in.
    pub cwd: PathBuf,
    /// The environment of the process, the only one that Purlin itself obeys.
    pub env: BTreeMap<String, String>,
    /// Variables that files of the project set for its own templates and commands.
    pub project_env: BTreeMap<String, String>,
    /// What is read where a command asks for standard input; the process's own if `None`.
    pub stdin: Option<&'io mut (dyn Read + Send)>,
    /// Data.
    pub stdout: &'io mut (dyn Write + Send),
    /// Everything else.
    pub stderr: &'io mut (dyn Write + Send),
    /// Whether the two are terminals.
    pub terminal: bool,
    /// What options before the name of a personality say; nothing for native commands, which read them themselves.
    pub given: Option<crate::project::Setup>,
    /// Whether the process ends with this run: what it made in memory need not be taken apart.
    pub last: bool,
    /// What the two streams hide.
    pub veil: Veil,
}

/// Exit codes; documented, never changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All is well.
    Ok,
    /// The configuration is invalid, or `diff` found differences.
    Invalid,
    /// The command line is wrong.
    Usage,
    /// A limit was hit.
    Limit,
    /// Something was not allowed.
    Denied,
    /// Reading or writing failed.
    Io,
    /// An action that was run failed.
    Failed,
    /// A code of the tool that a personality stands for.
    Other(i32),
}

impl Exit {
    /// The number.
    pub fn code(self) -> i32 {
        match self {
            Exit::Ok => 0,
            Exit::Invalid => 1,
            Exit::Usage => 2,
            Exit::Limit => 3,
            Exit::Denied => 4,
            Exit::Io => 5,
            Exit::Failed => 6,
            Exit::Other(code) => code,
        }
    }
}

impl Invocation<'_> {
    /// What templates of the project see: the user's variables and the project's own.
    pub(crate) fn template_env(&self) -> BTreeMap<String, String> {
        self.joined(|_| true)
    }

    /// What commands of the project see. A file of the project does not choose which programs are found, nor what
    /// configuration they read: Purlin starts programs of its own with the same variables.
    pub(crate) fn command_env(&self) -> BTreeMap<String, String> {
        self.joined(|name| !steering::is_steering(name))
    }

    fn joined(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
        let mut all = self.env.clone();
        let own = self.project_env.iter().filter(|(name, _)| is_wanted(name));
        all.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        all
    }

    /// Whether the user trusts the project of the working directory.
    pub(crate) fn trusts_project(&self) -> bool {
        self.given.as_ref().is_some_and(|given| given.trust) || User::of(&self.env).0.trusts(&self.cwd)
    }

    /// Prints an answer.
    pub(crate) fn print(&mut self, text: &str) -> Exit {
        match self.stdout.write_all(text.as_bytes()) {
            Ok(()) => Exit::Ok,
            Err(_) => Exit::Io,
        }
    }

    /// Says why a command ends here, and with which code it does.
    pub(crate) fn refuse(&mut self, message: &str, exit: Exit) -> Exit {
        let _ = writeln!(self.stderr, "error: {message}");
        exit
    }
}
