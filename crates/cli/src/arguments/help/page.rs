//! The reference page of all commands, written from the same tables as help. `UPDATE=1` writes it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // A test may touch the disk.

use super::{EXAMPLES, command};
use crate::options::{Group, OPTIONS};
use clap::{Arg, Command};

const HEAD: &str = "# Commands\n\n\
    Generated from the tables that `purlin help COMMAND` is written from. Exit codes: 0 all is well, 1 problems were\n\
    found (or a difference, for `diff`), 2 the command line is wrong, 3 a limit was exceeded, 4 something was not\n\
    allowed, 5 reading or writing failed, 6 an action that was run failed. `purlin help garden` and the like list what is\n\
    supported of the original tools.\n";

fn page() -> String {
    let mut root = command();
    root.build();
    let mut out = HEAD.to_owned();
    for sub in root.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        describe(sub, &mut out);
    }
    out.push_str(
        "\n## Options that several commands share\n\nAn option that does not apply to a project is rejected.\n",
    );
    for group in [Group::Project, Group::Values, Group::Permissions, Group::Output] {
        out.push_str(&format!("\n**{}**\n\n| option | meaning |\n|---|---|\n", group.heading()));
        for row in OPTIONS.iter().filter(|row| row.group == group) {
            out.push_str(&format!("| `--{}` | {} |\n", row.name, cell(&row.sentence())));
        }
    }
    out
}

fn describe(sub: &Command, out: &mut String) {
    let name = sub.get_name();
    let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!("\n## {name}\n\n{about}.\n\n"));
    let is_own = |arg: &&Arg| {
        let is_shared = arg.get_long().is_some_and(|long| long == "help" || OPTIONS.iter().any(|row| row.name == long));
        !is_shared && !arg.is_hide_set()
    };
    let own: Vec<&Arg> = sub.get_arguments().filter(is_own).collect();
    if !own.is_empty() {
        out.push_str("| argument | meaning |\n|---|---|\n");
        own.iter().for_each(|arg| out.push_str(&row(arg)));
        out.push('\n');
    }
    for inner in sub.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("- `{name} {}`: {about}\n", inner.get_name()));
    }
    let examples = EXAMPLES.iter().find(|(of, _)| *of == name).into_iter().flat_map(|(_, examples)| examples);
    out.push_str("\n```text\n");
    examples.for_each(|(line, what)| out.push_str(&format!("{line}   # {what}\n")));
    out.push_str("```\n");
}

fn row(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let value = value.filter(|_| arg.get_action().takes_values());
    let shown = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        _ => String::new(),
    };
    let shown = format!("{shown} {}", value.unwrap_or_default());
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let allowed: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let is_choice = !allowed.is_empty() && arg.get_action().takes_values();
    let choice = if is_choice { format!("; one of {}", allowed.join(", ")) } else { String::new() };
    format!("| `{}` | {}{choice} |\n", shown.trim(), cell(&help))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn the_page_of_commands_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).unwrap();
        return;
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(known == page, "docs/reference/commands.md is stale; run with UPDATE=1 and read the difference");
}
