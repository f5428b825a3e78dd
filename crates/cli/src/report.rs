//! Prints the problems of a session and decides the exit code.

use crate::args::{DiagnosticFormat, Global, When};
use crate::invocation::{Exit, Invocation};
use purlin_syntax::{Diagnostic, RuleClass, Severity};
use purlin_value::Session;

/// How problems are printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Format.
    pub(crate) format: DiagnosticFormat,
    /// Whether colours are used.
    pub(crate) colour: bool,
}

impl Style {
    pub(crate) fn new(invocation: &Invocation<'_>, global: &Global) -> Self {
        let colour = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                invocation.terminal && !invocation.env.contains_key("NO_COLOR") && !invocation.env.contains_key("CI")
            }
        };
        Style { format: global.diagnostics, colour }
    }
}

/// Prints everything found so far, sorted by place, and says what it means for the exit code.
pub fn report(invocation: &mut Invocation<'_>, session: &Session, style: Style) -> Exit {
    let found = sorted(session);
    let exit = exit_of(&found);
    if print(invocation, session, &found, style).is_err() {
        return Exit::Io;
    }
    exit
}

/// The problems by file, line and column; file ids depend on the order of reading, so paths decide.
fn sorted(session: &Session) -> Vec<Diagnostic> {
    let mut found: Vec<(Option<(String, u32)>, Diagnostic)> = session
        .sink
        .take()
        .into_iter()
        .map(|diagnostic| {
            let place =
                diagnostic.span.and_then(|span| Some((session.sources.get(span.file)?.path().to_owned(), span.start)));
            (place, diagnostic)
        })
        .collect();
    found.sort_by(|(a, x), (b, y)| {
        a.cmp(b).then_with(|| x.rule.name.cmp(y.rule.name)).then_with(|| x.message.cmp(&y.message))
    });
    found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

/// The worst class decides: a broken disk before a missing permission before a limit before a mistake.
fn exit_of(found: &[Diagnostic]) -> Exit {
    let has = |class: RuleClass| found.iter().any(|d| d.is_error() && d.rule.class == class);
    match () {
        () if has(RuleClass::Io) => Exit::Io,
        () if has(RuleClass::Denied) => Exit::Denied,
        () if has(RuleClass::Limit) => Exit::Limit,
        () if has(RuleClass::Invalid) => Exit::Invalid,
        () => Exit::Ok,
    }
}

fn print(
    invocation: &mut Invocation<'_>,
    session: &Session,
    found: &[Diagnostic],
    _style: Style,
) -> std::io::Result<()> {
    for diagnostic in found {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(invocation.stderr, "{severity}[{}]: {}", diagnostic.rule.name, diagnostic.message)?;
        if let Some(span) = diagnostic.span
            && let Some(source) = session.sources.get(span.file)
        {
            let at = source.position(span.start);
            writeln!(invocation.stderr, "  --> {}:{}:{}", source.path(), at.line, at.column)?;
        }
    }
    Ok(())
}
