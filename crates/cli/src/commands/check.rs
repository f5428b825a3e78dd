//! `purlin check`: read and resolve everything, print all problems.

use super::Context;
use crate::args::{AnswerFormat, DiagnosticFormat, Target};
use crate::invocation::Exit;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{EcoString, Map, Secrets, Value};
use std::path::Path;

pub(super) fn run(
    cx: &mut Context<'_, '_>,
    path: &Path,
    target: &Target,
    output: Option<AnswerFormat>,
) -> Result<Exit, Exit> {
    let (session, request) = cx.open(path, target, &[])?;
    let (files, nodes) = match purlin_compiler::detect(&session, &request) {
        Some(dialect) => {
            let resolved = (dialect.resolve)(&session, &request);
            let counts = (session.sources.len(), resolved.as_ref().map_or(0, |resolved| resolved.nodes.len()));
            cx.let_go(resolved);
            counts
        }
        None => {
            let survey = purlin_compiler::survey(&session, &request);
            (survey.files, survey.nodes)
        }
    };
    let errors = session.sink.count(purlin_syntax::Severity::Error);
    let warnings = session.sink.count(purlin_syntax::Severity::Warning);
    let exit = cx.report(&session);
    if output == Some(AnswerFormat::Json) {
        let number = |n: usize| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
        let counts = [("files", files), ("nodes", nodes), ("errors", errors), ("warnings", warnings)];
        let map: Map = counts.into_iter().map(|(key, n)| (EcoString::from(key), number(n))).collect();
        let text = to_json(&Value::map(map), Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
        cx.print(&format!("{text}\n"), None);
        return Ok(exit);
    }
    // Whoever reads problems line by line does not want a line of another kind among them.
    if cx.style.format != DiagnosticFormat::Human {
        return Ok(exit);
    }
    let plural = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    let mut parts = vec![plural(files, "file")];
    if nodes > 0 {
        parts.push(plural(nodes, "node"));
    }
    parts.push(if errors == 0 { "no errors".to_owned() } else { plural(errors, "error") });
    if warnings > 0 {
        parts.push(plural(warnings, "warning"));
    }
    let _ = writeln!(cx.invocation.stderr, "checked {}", parts.join(", "));
    Ok(exit)
}
