//! One run of the program: arguments, surroundings and streams, all passed in, so that tests call it in process.

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
    /// The working directory of the user.
    pub cwd: PathBuf,
    /// The environment of the process, the only one that Purlin itself uses.
    pub env: BTreeMap<String, String>,
    /// Variables that files of the project set for its own templates and commands.
    pub project_env: BTreeMap<String, String>,
    /// Standard input for commands that read it; the process's own if `None`.
    pub stdin: Option<&'io mut (dyn Read + Send)>,
    /// Standard output, for data.
    pub stdout: &'io mut (dyn Write + Send),
    /// Standard error, for everything else.
    pub stderr: &'io mut (dyn Write + Send),
    /// Whether the two are terminals.
    pub terminal: bool,
    /// Options before the name of a personality; `None` for native commands, which read them themselves.
    pub given: Option<crate::project::Setup>,
    /// Whether the process ends with this run: its memory need not be freed.
    pub last: bool,
    /// The secrets that both streams hide.
    pub veil: Veil,
}

/// Exit codes; documented, never changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Success.
    Ok,
    /// The configuration is invalid, or `diff` found differences.
    Invalid,
    /// The command line is wrong.
    Usage,
    /// A limit was exceeded.
    Limit,
    /// Something was not allowed.
    Denied,
    /// Reading or writing failed.
    Io,
    /// An action that was run failed.
    Failed,
    /// An exit code of the tool that a personality imitates.
    Other(i32),
}

impl Exit {
    /// The exit with this number.
    pub(crate) fn of(code: i32) -> Exit {
        let known = [Exit::Ok, Exit::Invalid, Exit::Usage, Exit::Limit, Exit::Denied, Exit::Io, Exit::Failed];
        known.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Other(code))
    }

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
    /// The environment for templates of the project: the user's variables and the project's own.
    pub(crate) fn template_env(&self) -> BTreeMap<String, String> {
        self.joined(|_| true)
    }

    /// The environment for commands of the project. A file of the project must not choose which programs are found, nor
    /// which configuration they read: Purlin starts its own programs with the same variables.
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

    /// Prints to standard output. What prevents it is told once, at the end of the program; a reader that has closed
    /// the pipe has what it wanted.
    pub(crate) fn print(&mut self, answer: &(impl AsRef<[u8]> + ?Sized)) -> Exit {
        match self.stdout.write_all(answer.as_ref()) {
            Ok(()) => Exit::Ok,
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Ok,
            Err(_) => Exit::Io,
        }
    }

    /// Reports why a command ends here, and returns the exit code.
    pub(crate) fn refuse(&mut self, message: &str, exit: Exit) -> Exit {
        let _ = writeln!(self.stderr, "error: {message}");
        exit
    }
}
