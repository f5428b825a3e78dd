//! Arguments, the disk World, printing.
//!
//! A library with a thin `main`, so that tests and the conformance runner call it in process.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // Tests make the files that they read.

mod arguments;
mod commands;
mod csar;
mod ignores;
mod invocation;
mod output;
pub mod personality;
mod policies;
mod remote;
mod settings;
mod settings_policy;
mod settings_remote;
mod watch;

use arguments::{args, completions, declared, duration, help, options, project, reach, read_args, run_args, steering};
pub use invocation::{Exit, Invocation};
use output::{pager, paint, printable, report, rule_page, traced, veil, viewpoint};
pub use project::{Setup, open_session};
use purlin_host::{border, fetch, native};
pub use purlin_host::{disk, seed};
pub use report::report;
pub use veil::Veil;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use printable::{Passing, Printable};
use purlin_value::stack::NoAnswer;
use std::io::{IsTerminal, Read, Write};

/// The options that only some dialects use: their names, and the dialects.
pub fn option_table() -> Vec<(&'static str, &'static [&'static str])> {
    let some = options::OPTIONS.iter().filter(|row| !row.dialects.is_empty());
    some.map(|row| (row.name, row.dialects)).collect()
}

/// Whether this process was started to evaluate policies.
pub use purlin_host::evaluator::is_evaluator;

/// Evaluates policies, as the process that was started for it.
pub fn serve_evaluations() {
    purlin_host::evaluator::serve(purlin_policy::answer);
}

/// Runs the program and returns its exit code.
pub fn run(invocation: Invocation<'_>) -> i32 {
    purlin_run::touched::begin();
    let Some(first) = invocation.args.first().map(String::as_str) else { return print_first_steps(invocation).code() };
    // The quickest answers need neither an argument parser nor a thread.
    if first == "--version" || first == "-V" || first == "version" {
        return print_version(invocation).code();
    }
    let Invocation { args, cwd, env, project_env, stdin, stdout, stderr, terminal, last, given, veil } = invocation;
    let stdin = stdin.map(|input| -> &mut (dyn std::io::Read + Send) { input });
    let answer = {
        let passing = |is_terminal: bool| if last && is_terminal { Passing::Colours } else { Passing::Everything };
        let mut stdout = Printable::new(stdout, passing(std::io::stdout().is_terminal()));
        let mut stderr = Printable::new(&mut *stderr, passing(std::io::stderr().is_terminal()));
        let (mut stdout, mut stderr) = (veil.over(&mut stdout), veil.over(&mut stderr));
        let (stdout, stderr) = (&mut stdout, &mut stderr);
        let inner = Invocation { args, cwd, env, project_env, stdin, stdout, stderr, terminal, last, given, veil };
        purlin_value::stack::with_stack(purlin_value::stack::EVALUATION, || dispatch(inner))
    };
    match answer {
        Ok(exit) => exit.code(),
        Err(NoAnswer::Panicked) => Exit::Other(101).code(),
        Err(NoAnswer::NoStack) => {
            let need = purlin_value::stack::EVALUATION >> 20;
            // If even this cannot be written, the exit code remains.
            let _ = writeln!(stderr, "error: the system gives no stack of {need} MiB; allow more memory (`ulimit -v`)");
            Exit::Io.code()
        }
    }
}

fn print_version(invocation: Invocation<'_>) -> Exit {
    match writeln!(invocation.stdout, "purlin {}", env!("CARGO_PKG_VERSION")) {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Io,
    }
}

fn print_first_steps(invocation: Invocation<'_>) -> Exit {
    match write!(invocation.stdout, "{}", help::first_steps()) {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Io,
    }
}

fn dispatch(mut invocation: Invocation<'_>) -> Exit {
    help::rewrite(&mut invocation.args);
    let Some(at) = personality_place(&invocation.args) else { return run_native(invocation) };
    let rest = invocation.args.split_off(at + 1);
    let name = invocation.args.pop().unwrap_or_default();
    if let Err(exit) = take_global_options(&mut invocation) {
        return exit;
    }
    match personality::PERSONALITIES.iter().find(|personality| personality.name == name) {
        Some(personality) => as_personality(personality, invocation, &rest),
        None => run_native(invocation),
    }
}

/// Runs a personality. Output of charts is printed unchanged, but never to a terminal.
fn as_personality(personality: &personality::Personality, invocation: Invocation<'_>, rest: &[String]) -> Exit {
    let Invocation { args, cwd, env, project_env, stdin, stdout, stderr, terminal, given, last, veil } = invocation;
    let is_of_charts = last && matches!(personality.name, "helm" | "metachart");
    let passing = |is_terminal: bool| if is_of_charts && is_terminal { Passing::Text } else { Passing::Everything };
    let mut stdout = Printable::new(stdout, passing(std::io::stdout().is_terminal()));
    let mut stderr = Printable::new(stderr, passing(std::io::stderr().is_terminal()));
    let (stdout, stderr) = (&mut stdout, &mut stderr);
    // Borrowed for as long as the two others.
    let stdin = stdin.map(|stdin| stdin as &mut (dyn Read + Send));
    let mut invocation = Invocation { args, cwd, env, project_env, stdin, stdout, stderr, terminal, given, last, veil };
    personality::run(personality, &mut invocation, rest)
}

/// The index of a personality's name among the arguments: first, or after global options.
fn personality_place(args: &[String]) -> Option<usize> {
    let mut at = 0;
    loop {
        let arg = args.get(at)?;
        if personality::PERSONALITIES.iter().any(|personality| personality.name == arg) {
            return Some(at);
        }
        if !arg.starts_with('-') {
            return None;
        }
        let takes_value = args::takes_value(arg);
        at += if takes_value { 2 } else { 1 };
    }
}

/// Reads the options before the name of a personality; they apply to it as to native commands.
fn take_global_options(invocation: &mut Invocation<'_>) -> Result<(), Exit> {
    if invocation.args.is_empty() {
        return Ok(());
    }
    let args = std::iter::once("purlin".to_owned()).chain(invocation.args.iter().cloned());
    let global = args::Early::try_parse_from(args).map_err(|error| usage(invocation, &error))?.global;
    if let Some(folder) = &global.chdir {
        invocation.cwd = invocation.cwd.join(folder);
    }
    let setup = Setup::from_flags(std::path::Path::new("."), &global);
    let setup = setup.map_err(|message| invocation.refuse(&message, Exit::Usage))?;
    let style = report::Style::new(invocation, &global);
    invocation.given = Some(Setup { style, ..setup });
    Ok(())
}

/// Reads a native command line.
fn parse(args: &[String]) -> Result<args::Cli, clap::Error> {
    let words = |args: &[String]| std::iter::once("purlin".to_owned()).chain(args.iter().cloned()).collect::<Vec<_>>();
    let read_all = |command: clap::Command, args: &[String]| {
        command.try_get_matches_from(words(args)).and_then(|matches| args::Cli::from_arg_matches(&matches))
    };
    // Help is printed by clap itself.
    if help::is_wanted(args) {
        let mut args = args.to_vec();
        let command = help::shown(&mut args);
        return read_all(command, &args);
    }
    let read = |command: clap::Command| read_all(command, args);
    // With one command alone there is much less to set up; an error message is built from all commands.
    let alone = args.first().and_then(|name| args::alone(name));
    match alone.map(read) {
        Some(Ok(cli)) => Ok(cli),
        _ => read(args::Cli::command()),
    }
}

fn run_native(mut invocation: Invocation<'_>) -> Exit {
    commands::rewrite_why(&mut invocation.args, &invocation.cwd);
    let cli = match parse(&invocation.args) {
        Ok(cli) => cli,
        Err(error) => return usage(&mut invocation, &error),
    };
    let mut cli = cli;
    cli.global.fill_from(&invocation.env);
    if let Some(folder) = &cli.global.chdir {
        invocation.cwd = invocation.cwd.join(folder);
    }
    commands::run(&mut invocation, cli)
}

/// Runs a native command inside a personality, with the options before the name of the personality.
pub(crate) fn run_inside(invocation: &mut Invocation<'_>, words: &[String]) -> Exit {
    let mut args = words.to_vec();
    if let Some(given) = &invocation.given {
        args.extend(given.permissions.exec.then(|| "--allow-exec".to_owned()));
        args.extend(given.trust.then(|| "--trust".to_owned()));
    }
    match parse(&args) {
        Ok(cli) => commands::run(invocation, cli),
        Err(error) => usage(invocation, &error),
    }
}

/// A command of another tool is answered with our equivalent.
fn name_our_command(invocation: &mut Invocation<'_>, error: &clap::Error) -> Option<Exit> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let names: Vec<String> = args::Cli::command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let known = names.iter().map(String::as_str).chain(personality::PERSONALITIES.iter().map(|own| own.name));
    let hint = match help::called_elsewhere(name) {
        Some((command, does)) => format!("`{command}` {does}"),
        None => match purlin_syntax::suggest::did_you_mean(name, known) {
            Some(hint) => hint.to_string(),
            None => "`purlin -h` lists all commands".to_owned(),
        },
    };
    Some(invocation.refuse(&format!("unknown command `{name}`; {hint}"), Exit::Usage))
}

/// Help goes to stdout, mistakes to stderr.
fn usage(invocation: &mut Invocation<'_>, error: &clap::Error) -> Exit {
    if let Some(exit) = name_our_command(invocation, error) {
        return exit;
    }
    let text = error.render();
    let is_help = !error.use_stderr();
    let stream: &mut dyn Write = if is_help { invocation.stdout } else { invocation.stderr };
    let dumb = invocation.env.get("TERM").is_some_and(|term| term == "dumb");
    let colour = invocation.terminal && !dumb && !invocation.env.contains_key("NO_COLOR");
    let written = if colour { write!(stream, "{}", text.ansi()) } else { write!(stream, "{text}") };
    match (written, is_help) {
        (Err(_), _) => Exit::Io,
        (Ok(()), true) => Exit::Ok,
        (Ok(()), false) => Exit::Usage,
    }
}
