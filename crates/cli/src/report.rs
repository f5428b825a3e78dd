//! Prints the problems of a session and decides the exit code.

use crate::args::{DiagnosticFormat, Global, When};
use crate::invocation::{Exit, Invocation};
use purlin_syntax::{Diagnostic, RuleClass, print};
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
        let quiet = || invocation.env.contains_key("NO_COLOR") || invocation.env.contains_key("CI");
        let colour = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => invocation.terminal && !quiet(),
        };
        Style { format: global.diagnostics, colour }
    }
}

/// Prints everything found so far, sorted by place, and says what it means for the exit code.
pub fn report(invocation: &mut Invocation<'_>, session: &Session, style: Style) -> Exit {
    let mut found = session.sink.take();
    let files = &session.sources;
    print::sort(&mut found, files);
    let text = match style.format {
        DiagnosticFormat::Human => {
            let colors = if style.colour { print::Colors::On } else { print::Colors::Off };
            print::human(&found, files, colors)
        }
        DiagnosticFormat::Json => print::json_lines(&found, files),
        DiagnosticFormat::Github => print::github(&found, files),
        DiagnosticFormat::Sarif => print::sarif(&found, files, &tool(&purlin_compiler::all_rules())),
    };
    match invocation.stderr.write_all(text.as_bytes()) {
        Ok(()) => exit_of(&found),
        Err(_) => Exit::Io,
    }
}

fn tool<'r>(rules: &'r [&'static purlin_syntax::Rule]) -> print::Tool<'r> {
    print::Tool { name: "purlin", version: env!("CARGO_PKG_VERSION"), home: env!("CARGO_PKG_REPOSITORY"), rules }
}

/// The worst class decides: a broken disk before a missing permission before a limit before a mistake.
fn exit_of(found: &[Diagnostic]) -> Exit {
    let has = |class: RuleClass| found.iter().any(|d| d.is_error() && d.rule.class == class);
    let classes = [
        (RuleClass::Io, Exit::Io),
        (RuleClass::Denied, Exit::Denied),
        (RuleClass::Limit, Exit::Limit),
        (RuleClass::Invalid, Exit::Invalid),
    ];
    classes.into_iter().find(|(class, _)| has(*class)).map_or(Exit::Ok, |(_, exit)| exit)
}
