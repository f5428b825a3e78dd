//! Personalities: each takes an original tool's own arguments and prints what it would print.
//!
//! A personality is a file here and a line in the list.

mod arguments;
mod garden;
mod helm;
mod kustomize;
mod metachart;
mod puccini_clout;
mod puccini_csar;
mod puccini_tosca;
pub mod skaffold;
mod unfurl;

pub(crate) use garden::steps::{Console, unknown as unknown_workflow};
pub(crate) use puccini_tosca::Format;

use crate::invocation::{Exit, Invocation};

/// One personality.
pub struct Personality {
    /// The sub-command's name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Supported commands of the original, each with its sentence.
    pub commands: &'static [(&'static str, &'static str)],
    /// Supported options.
    pub options: &'static [(&'static str, &'static str)],
    /// Unsupported commands of the original.
    pub refused: &'static [&'static str],
    /// Runs it with the arguments after its name. An error ends a command early.
    pub run: fn(&mut Invocation<'_>, &[String]) -> Result<Exit, Exit>,
}

/// All personalities.
pub const PERSONALITIES: &[Personality] = &[
    garden::GARDEN,
    helm::HELM,
    kustomize::KUSTOMIZE,
    metachart::METACHART,
    puccini_clout::PUCCINI_CLOUT,
    puccini_csar::PUCCINI_CSAR,
    puccini_tosca::PUCCINI_TOSCA,
    skaffold::SKAFFOLD,
    unfurl::UNFURL,
];

/// Runs a personality; help and unsupported commands are handled the same way in all of them.
pub(crate) fn run(personality: &Personality, invocation: &mut Invocation<'_>, args: &[String]) -> Exit {
    let asks = |arg: &String| arg == "--help" || arg == "-h";
    let first = args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str);
    if args.is_empty() || first == Some("help") || args.iter().take_while(|arg| *arg != "--").any(asks) {
        return invocation.print(&help(personality));
    }
    match first.filter(|word| personality.refused.contains(word)) {
        Some(word) => unsupported(invocation, personality, word),
        None => (personality.run)(invocation, args).unwrap_or_else(|exit| exit),
    }
}

/// Refuses arguments.
fn usage(invocation: &mut Invocation<'_>, message: &str) -> Exit {
    invocation.refuse(message, Exit::Usage)
}

/// `version`, if the original's own version does not matter.
fn version(invocation: &mut Invocation<'_>) -> Exit {
    invocation.print(concat!("purlin ", env!("CARGO_PKG_VERSION"), "\n"))
}

/// The name of an option without its dashes, and the text after `=`; `None` for a word.
fn option(arg: &str) -> Option<(&str, Option<String>)> {
    let (name, value) = assigned(arg.strip_prefix('-').filter(|name| !name.is_empty())?);
    Some((name.trim_start_matches('-'), value))
}

/// The texts before and after `=`.
fn assigned(option: &str) -> (&str, Option<String>) {
    match option.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (option, None),
    }
}

/// The name and value of a flag as Go's programs write it: `--name=value`, `-nvalue` or `-n=value`.
fn split_flag(arg: &str) -> (&str, Option<String>) {
    if let Some(long) = arg.strip_prefix("--") {
        return assigned(long);
    }
    let short = arg.trim_start_matches('-');
    let (name, rest) = short.split_at(short.chars().next().map_or(0, char::len_utf8));
    let value = rest.strip_prefix('=').unwrap_or(rest);
    (name, if rest.is_empty() { None } else { Some(value.to_owned()) })
}

/// The message for an option that only other commands have.
fn belongs_to(option: &str, command: &str, others: impl Iterator<Item = &'static str>) -> String {
    let others: Vec<String> = others.map(|other| format!("`{other}`")).collect();
    format!("`--{option}` is not an option of `{command}`, but of {}", others.join(", "))
}

/// The help of a personality: supported and unsupported commands.
fn help(personality: &Personality) -> String {
    let name = personality.name;
    let mut text = format!("{}\n\nUsage: purlin [OPTIONS] {name} COMMAND\n\nCommands:\n", personality.summary);
    text.push_str(&columns(personality.commands));
    if !personality.options.is_empty() {
        text.push_str("\nOptions:\n");
        text.push_str(&columns(personality.options));
    }
    if !personality.refused.is_empty() {
        text.push_str("\nNot supported:\n");
        text.push_str(&wrapped(&personality.refused.join(", ")));
    }
    text.push_str("\nOptions of Purlin, such as `-C` and `--allow-net`, come before the name (`purlin -h`).\n");
    text
}

fn columns(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(left, right)| format!("  {left:<width$}  {right}\n")).collect()
}

/// A list wrapped to the usual width.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if line.len() + word.len() > 90 {
            out.push_str(&format!("  {}\n", line.trim_end()));
            line.clear();
        }
        line.push_str(word);
        line.push(' ');
    }
    out + &format!("  {}\n", line.trim_end())
}

/// The message for an unsupported command of the original.
pub(crate) fn unsupported(invocation: &mut Invocation<'_>, personality: &Personality, command: &str) -> Exit {
    let name = personality.name;
    let message = format!("`{name} {command}` is not supported by Purlin");
    refuse(invocation, &message, &format!("supported: {}", supported(personality)))
}

/// The message for a command that the original does not have either.
pub(crate) fn unknown(invocation: &mut Invocation<'_>, personality: &Personality, command: &str) -> Exit {
    let start = format!("{command} ");
    let usages: Vec<&str> =
        personality.commands.iter().map(|(usage, _)| *usage).filter(|usage| usage.starts_with(&start)).collect();
    if !usages.is_empty() {
        let message = format!("`{} {command}` is incomplete", personality.name);
        return refuse(invocation, &message, &format!("write {}", usages.join(", ")));
    }
    let names = personality.commands.iter().map(|(usage, _)| command_name(usage));
    let near = purlin_syntax::suggest::did_you_mean(command, names);
    let hint = near.unwrap_or_else(|| format!("supported: {}", supported(personality)).into());
    refuse(invocation, &format!("unknown command `{command}` for `{}`", personality.name), &hint)
}

fn refuse(invocation: &mut Invocation<'_>, message: &str, hint: &str) -> Exit {
    let _ = writeln!(invocation.stderr, "error: {message}\n  = hint: {hint}");
    Exit::Usage
}

fn supported(personality: &Personality) -> String {
    let mut names: Vec<&str> = personality.commands.iter().map(|(usage, _)| command_name(usage)).collect();
    names.dedup();
    names.join(", ")
}

/// The words of a usage that name the command: those before the first argument.
fn command_name(usage: &str) -> &str {
    let is_name = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let mut end = 0;
    for word in usage.split(' ') {
        if !is_name(word) {
            break;
        }
        end += word.len() + 1;
    }
    usage.get(..end.saturating_sub(1)).unwrap_or(usage)
}
