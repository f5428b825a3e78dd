//! Problems as data in Puccini's form: a section (the file), an item (the path in it), a message and a location.

use purlin_syntax::write::Emit;
use purlin_syntax::{Diagnostic, Sources};
use purlin_tosca::compile::Compiled;
use purlin_tosca::locate::locate;
use purlin_tosca::problem::Problem;

/// One problem.
struct Row {
    section: String,
    item: String,
    message: String,
    row: i64,
    column: i64,
}

/// Writes the errors among the problems in Puccini's order.
pub(super) fn emit(compiled: &Compiled, found: &[Diagnostic], sources: &Sources, emit: &mut dyn Emit) {
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    let mut rows: Vec<Row> = errors.map(|diagnostic| row(compiled, diagnostic, sources)).collect();
    rows.sort_by(|a, b| (&a.section, &a.item, &a.message).cmp(&(&b.section, &b.item, &b.message)));
    emit.begin_map(1);
    emit.key("problems");
    emit.begin_list(rows.len());
    for row in &rows {
        emit.begin_map(6);
        for (key, text) in [("section", &row.section), ("item", &row.item), ("message", &row.message)] {
            emit.key(key);
            emit.string(text);
        }
        for (key, number) in [("row", row.row), ("column", row.column)] {
            emit.key(key);
            emit.int(number);
        }
        // Puccini shows lines of its own source code here.
        emit.key("callers");
        emit.begin_list(0);
        emit.end_list();
        emit.end_map();
    }
    emit.end_list();
    emit.end_map();
}

fn row(compiled: &Compiled, diagnostic: &Diagnostic, sources: &Sources) -> Row {
    let known = compiled.problems.list().iter().find(|problem| {
        problem.diagnostic.span == diagnostic.span && problem.diagnostic.rule.name == diagnostic.rule.name
    });
    let beyond = known.map(|problem| problem.beyond.clone()).unwrap_or_default();
    let problem = Problem { diagnostic: diagnostic.clone(), beyond };
    let location = locate(&compiled.model.files, &problem);
    let source = diagnostic.span.and_then(|span| Some((sources.get(span.file)?, span)));
    let place = source.as_ref().map(|(source, span)| source.position(span.start));
    Row {
        section: source.map(|(source, _)| format!("file:{}", source.path())).unwrap_or_default(),
        item: location.map(|location| location.path).unwrap_or_default(),
        message: diagnostic.message.clone(),
        row: place.map_or(-1, |place| i64::from(place.line)),
        column: place.map_or(-1, |place| i64::from(place.column)),
    }
}
