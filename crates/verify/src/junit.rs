//! Test reports in JUnit's format, which all CI systems read.

use crate::report::{Outcome, Report};
use purlin_syntax::Sources;
use std::fmt::Write;

/// A document of suites written by [`suites_xml`].
pub fn junit(suites: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

/// The suites of a report.
pub fn suites_xml(report: &Report, sources: &Sources) -> String {
    let mut out = String::new();
    for suite in &report.suites {
        let count = |is_it: &dyn Fn(&Outcome) -> bool| suite.cases.iter().filter(|case| is_it(&case.outcome)).count();
        let failed = count(&|outcome| *outcome == Outcome::Failed);
        let skipped = count(&|outcome| matches!(outcome, Outcome::Skipped(_)));
        let errors = suite.problems.iter().filter(|problem| problem.is_error()).count();
        let tests = suite.cases.len() + errors;
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" file=\"{}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\">",
            escaped(&suite.name),
            escaped(&sources.shown(&suite.file)),
        );
        for problem in suite.problems.iter().filter(|problem| problem.is_error()) {
            let message = escaped(&problem.message);
            let name = problem.rule.name;
            let _ = writeln!(out, "    <testcase name=\"{name}\"><error message=\"{message}\"/></testcase>");
        }
        for case in &suite.cases {
            let name = escaped(&case.name);
            let class = escaped(&suite.name);
            match &case.outcome {
                Outcome::Passed => {
                    let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"{class}\"/>");
                }
                Outcome::Skipped(reason) => {
                    let reason = escaped(reason);
                    let _ = writeln!(
                        out,
                        "    <testcase name=\"{name}\" classname=\"{class}\"><skipped message=\"{reason}\"/></testcase>"
                    );
                }
                Outcome::Failed => {
                    let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"{class}\">");
                    for failure in &case.failures {
                        let place = failure.span.and_then(|span| Some((sources.get(span.file)?, span)));
                        let place = place.map(|(source, span)| {
                            let line = source.position(span.start).line;
                            format!("{}:{line}: ", sources.shown(source.path()))
                        });
                        let message = escaped(&failure.message);
                        let text = escaped(&format!("{}{}", place.unwrap_or_default(), failure.message));
                        let _ = writeln!(out, "      <failure message=\"{message}\">{text}</failure>");
                    }
                    let _ = writeln!(out, "    </testcase>");
                }
            }
        }
        let _ = writeln!(out, "  </testsuite>");
    }
    out
}

/// A text in XML; characters that XML cannot represent are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            ch if u32::from(ch) < 0x20 || matches!(ch, '\u{fffe}' | '\u{ffff}') => {}
            ch => out.push(ch),
        }
    }
    out
}
