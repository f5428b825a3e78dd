//! `purlin explain`: the page of a rule, or the list of rules.

use crate::commands::Context;
use crate::invocation::Exit;
use crate::rule_page;
use purlin_compiler::all_rules;
use purlin_syntax::suggest;

/// The pages, embedded so that they fit the program that reports the rules.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rule_pages.rs"));

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, rule: Option<&str>) -> Exit {
    let rules = all_rules();
    let Some(name) = rule else {
        let list: String = rules.iter().map(|rule| format!("{:<28} {}\n", rule.name, rule.summary)).collect();
        return cx.print(&list, None);
    };
    if let Some((_, page)) = PAGES.iter().find(|(page, _)| *page == name) {
        // Scripts get the page unchanged.
        return match cx.style.colour_answers {
            true => cx.print(&rule_page::shown(page, columns()), None),
            false => cx.print(page, None),
        };
    }
    let hint = suggest::did_you_mean(name, rules.iter().map(|rule| rule.name));
    let hint = hint.unwrap_or_else(|| "`purlin explain` lists all rules".into());
    cx.usage(&format!("unknown rule `{name}`; {hint}"))
}

/// Columns of a terminal that does not report its width.
const USUAL_COLUMNS: usize = 80;

/// The width of the terminal.
fn columns() -> usize {
    terminal_size::terminal_size().map_or(USUAL_COLUMNS, |(width, _)| usize::from(width.0))
}
