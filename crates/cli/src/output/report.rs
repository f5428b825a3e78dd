//! Prints the problems of a session and decides the exit code.

use crate::args::{DiagnosticFormat, Global, When};
use crate::ignores;
use crate::invocation::{Exit, Invocation};
use crate::settings::Settings;
use purlin_compiler::{advise, narrow, once};
use purlin_syntax::{Diagnostic, FileId, Limits, RuleClass, Severity, Sources, print};
use purlin_value::Session;
use std::collections::HashMap;
use std::io::IsTerminal;

/// The address of the repository, which the workflow of a release knows: findings link to pages of their rules there.
const HOME: &str = match option_env!("PURLIN_ADDRESS") {
    Some(address) => address,
    None => env!("CARGO_PKG_REPOSITORY"),
};

/// Options for printing problems.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Format.
    pub(crate) format: DiagnosticFormat,
    /// Whether colours are used.
    pub(crate) colour: bool,
    /// Whether answers on standard output have colours.
    pub(crate) colour_answers: bool,
    /// Whether only errors are shown.
    pub(crate) quiet: bool,
    /// Whether warnings are errors.
    pub(crate) strict: bool,
}

impl Style {
    pub(crate) fn new(invocation: &Invocation<'_>, global: &Global) -> Self {
        let dumb = || invocation.env.get("TERM").is_some_and(|term| term == "dumb");
        let plain = || invocation.env.contains_key("NO_COLOR") || invocation.env.contains_key("CI") || dumb();
        let colour = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => invocation.terminal && !plain(),
        };
        let colour_answers = colour && (global.color == When::Always || std::io::stdout().is_terminal());
        Style { format: global.diagnostics, colour, colour_answers, quiet: global.quiet, strict: global.strict }
    }

    /// The options before the name of a personality.
    pub(crate) fn given(invocation: &Invocation<'_>) -> Self {
        invocation.given.as_ref().map(|given| given.style).unwrap_or_default()
    }
}

/// Applies settings, comments and options to all problems found so far; the result stays in the session's sink. If all
/// files were examined, comments without effect are reported too.
pub(crate) fn settle(session: &Session, settings: &Settings, style: Style, everything: bool) {
    let all = || (0..u32::try_from(session.sources.len()).unwrap_or(u32::MAX)).map(FileId).collect();
    let ids: Option<Vec<FileId>> = everything.then(all);
    let found = judged(session.sink.take(), &session.sources, settings, style, ids.as_deref());
    session.sink.extend(found);
}

/// Applies settings, comments and options to diagnostics. With the examined files, comments without effect are reported
/// too.
pub(crate) fn judged(
    mut found: Vec<Diagnostic>,
    sources: &Sources,
    settings: &Settings,
    style: Style,
    ids: Option<&[FileId]>,
) -> Vec<Diagnostic> {
    let path = |diagnostic: &Diagnostic| {
        let source = sources.get(diagnostic.span?.file)?;
        Some(source.path().to_owned())
    };
    let judge = |diagnostic: Diagnostic| {
        let path = path(&diagnostic).unwrap_or_default();
        settings.judge(diagnostic, &path)
    };
    if settings.file.is_some() {
        found = found.into_iter().filter_map(judge).collect();
    }
    ignores::apply(&mut found, sources, ids);
    if style.strict {
        let warnings = found.iter_mut().filter(|diagnostic| diagnostic.severity == Severity::Warning);
        warnings.for_each(|diagnostic| diagnostic.severity = Severity::Error);
    }
    found.iter_mut().for_each(|problem| advise(problem, sources));
    narrow(&mut found, sources);
    print::sort(&mut found, sources);
    once(&mut found, sources);
    found
}

/// Prints all problems found so far, sorted by location, and returns the exit code.
pub fn report(invocation: &mut Invocation<'_>, session: &Session, style: Style) -> Exit {
    let found = findings(session, style);
    let files = &session.sources;
    let text = match style.format {
        DiagnosticFormat::Human => {
            let colors = if style.colour { print::Colors::On } else { print::Colors::Off };
            let shown = worth_printing(&found, &session.limits);
            let hidden = found.len() - shown.len();
            let more = if invocation.terminal { explain(&shown) } else { String::new() };
            print::human(shown, files, colors) + &told_hidden(hidden) + &more
        }
        format => document(&[(&found, files)], format),
    };
    match invocation.stderr.write_all(text.as_bytes()) {
        Ok(()) => exit_of(&found),
        Err(_) => Exit::Io,
    }
}

/// Takes all problems out of the session's sink, sorted by location, without duplicates.
pub(crate) fn findings(session: &Session, style: Style) -> Vec<Diagnostic> {
    let mut found = session.sink.take();
    print::sort(&mut found, &session.sources);
    once(&mut found, &session.sources);
    if style.quiet {
        found.retain(Diagnostic::is_error);
    }
    found
}

/// Findings of several sessions as one JSON or SARIF text.
pub(crate) fn document(all: &[(&[Diagnostic], &Sources)], format: DiagnosticFormat) -> String {
    match format {
        DiagnosticFormat::Human => String::new(),
        DiagnosticFormat::Json => all.iter().map(|(found, files)| print::json_lines(*found, *files)).collect(),
        DiagnosticFormat::Github => all.iter().map(|(found, files)| print::github(*found, *files)).collect(),
        DiagnosticFormat::Sarif => {
            let version = env!("CARGO_PKG_VERSION");
            print::sarif(all, &print::Tool { name: "purlin", version, home: HOME })
        }
    }
}

/// Limits a very long list to the worst problems of each file, in order.
fn worth_printing<'d>(found: &'d [Diagnostic], limits: &Limits) -> Vec<&'d Diagnostic> {
    let most = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let (most_of_file, most_of_all) = (most(limits.diagnostics_per_file), most(limits.diagnostics));
    let mut of_file: HashMap<Option<FileId>, usize> = HashMap::new();
    let mut chosen: Vec<usize> = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        for (at, diagnostic) in found.iter().enumerate().filter(|(_, diagnostic)| diagnostic.severity == severity) {
            let of_this = of_file.entry(diagnostic.span.map(|span| span.file)).or_default();
            if *of_this < most_of_file && chosen.len() < most_of_all {
                *of_this += 1;
                chosen.push(at);
            }
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| found.get(at)).collect()
}

/// A pointer to the pages of the shown rules; only for people.
fn explain(shown: &[&Diagnostic]) -> String {
    let mut names: Vec<&str> = shown.iter().map(|diagnostic| diagnostic.rule.name).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("`purlin explain {one}` says more.\n"),
        [first, rest @ ..] => format!("`purlin explain {first}` says more; see also {}.\n", rest.join(", ")),
    }
}

fn told_hidden(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        1 => "… and 1 more that is not shown (`purlin limits`: `diagnostics`)\n".to_owned(),
        more => format!("… and {more} more that are not shown (`purlin limits`: `diagnostics`)\n"),
    }
}

/// The worst class decides: I/O errors, then missing permissions, then limits, then mistakes.
pub(crate) fn exit_of(found: &[Diagnostic]) -> Exit {
    let has = |class: RuleClass| found.iter().any(|d| d.is_error() && d.rule.class == class);
    let classes = [
        (RuleClass::Io, Exit::Io),
        (RuleClass::Denied, Exit::Denied),
        (RuleClass::Limit, Exit::Limit),
        (RuleClass::Invalid, Exit::Invalid),
    ];
    classes.into_iter().find(|(class, _)| has(*class)).map_or(Exit::Ok, |(_, exit)| exit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use purlin_syntax::{Rule, Span};

    const MISTAKE: Rule = Rule::error("mistake", "A mistake.");
    const DOUBT: Rule = Rule::warning("doubt", "A doubt.");

    fn at(rule: &'static Rule, file: u32, start: u32) -> Diagnostic {
        Diagnostic::at(rule, Span { file: FileId(file), start, end: start }, "x")
    }

    #[test]
    fn very_many_problems_are_cut_short_the_worst_first() {
        let limits = Limits { diagnostics: 5, diagnostics_per_file: 3, ..Limits::default() };
        let mut found: Vec<Diagnostic> = (0..10).map(|start| at(&DOUBT, 0, start)).collect();
        found.push(at(&MISTAKE, 0, 10));
        found.extend((0..10).map(|start| at(&MISTAKE, 1, start)));
        let shown: Vec<(u32, u32)> =
            worth_printing(&found, &limits).iter().map(|d| (d.span.unwrap().file.0, d.span.unwrap().start)).collect();
        assert_eq!(shown, [(0, 0), (0, 10), (1, 0), (1, 1), (1, 2)]);
        assert_eq!(worth_printing(&found, &Limits::default()).len(), found.len());
        assert_eq!(exit_of(&found), Exit::Invalid);
    }
}
