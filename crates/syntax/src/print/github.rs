//! Diagnostics as workflow commands that GitHub shows beside the changed lines.

use super::{Files, Place, escape};
use crate::diagnostic::{Diagnostic, Severity};

/// Prints each diagnostic as a `::error …::message` line.
pub fn github<'d, F: Files + ?Sized>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, files: &F) -> String {
    diagnostics.into_iter().map(|diagnostic| command(diagnostic, files) + "\n").collect()
}

fn command<F: Files + ?Sized>(diagnostic: &Diagnostic, files: &F) -> String {
    let name = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    if let Some(place) = diagnostic.span.and_then(|span| Place::of(span, files)) {
        properties.push(format!("file={}", property(&place.path)));
        properties.push(format!("line={}", place.start.line));
        // GitHub refuses columns of marks that span several lines.
        if place.end.line == place.start.line {
            properties.push(format!("endLine={}", place.end.line));
            properties.push(format!("col={}", place.start.column));
            properties.push(format!("endColumn={}", place.end.column));
        } else {
            properties.push(format!("endLine={}", place.end.line));
        }
    }
    properties.push(format!("title={}", property(diagnostic.rule.name)));
    let mut message = data(&diagnostic.message);
    for hint in &diagnostic.hints {
        message.push_str("%0Ahint: ");
        message.push_str(&data(hint));
    }
    format!("::{name} {}::{message}", properties.join(","))
}

/// Text after the `::`. Line breaks stay line breaks in the annotation.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| escape(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Text of a property, where `:` and `,` have a meaning too.
fn property(text: &str) -> String {
    escape(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Rule;
    use crate::source::{FileId, Source, Span};
    use std::sync::Arc;

    const BAD: Rule = Rule::error("bad-thing", "Bad.");
    const ODD: Rule = Rule::warning("odd-thing", "Odd.");

    #[test]
    fn commands() {
        let files = [Arc::new(Source::new(FileId(0), "a,b:c%.yaml", "a: 1\nb: 2\n"))];
        let span = |start, end| Span::new(FileId(0), start, end);
        let found = [
            Diagnostic::at(&BAD, span(5, 6), "100% wrong\n::error::no\r").hint("do: this, that"),
            Diagnostic::at(&ODD, span(0, 9), "m"),
            Diagnostic::nowhere(&BAD, "m"),
        ];
        let expected = "\
::error file=a%2Cb%3Ac%25.yaml,line=2,endLine=2,col=1,endColumn=2,title=bad-thing::100%25 wrong%0A::error::no\\r%0Ahint: do: this, that
::warning file=a%2Cb%3Ac%25.yaml,line=1,endLine=2,title=odd-thing::m
::error title=bad-thing::m
";
        assert_eq!(github(&found, &files[..]), expected);
    }
}
