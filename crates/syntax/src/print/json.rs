//! Diagnostics as JSON lines, one object for each.

use super::{Files, Place, edit_of, severity_name};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{Position, Span};
use crate::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};

/// Prints each diagnostic as a line of JSON.
pub fn json_lines<'d, F: Files + ?Sized>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, files: &F) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let mut writer = JsonWriter::new(JsonLayout::Compact, JsonFlavor::Plain);
        write_diagnostic(&mut writer, diagnostic, files);
        // Without a limit it cannot fail.
        out.push_str(&writer.finish().unwrap_or_default());
        out.push('\n');
    }
    out
}

fn write_diagnostic<F: Files + ?Sized>(writer: &mut JsonWriter, diagnostic: &Diagnostic, files: &F) {
    writer.begin_map(8);
    field(writer, "rule", diagnostic.rule.name);
    field(writer, "severity", severity_name(diagnostic.severity));
    field(writer, "message", &diagnostic.message);
    write_place(writer, diagnostic.span, files);
    write_labels(writer, "labels", &diagnostic.labels, files);
    writer.key("hints");
    writer.begin_list(diagnostic.hints.len());
    diagnostic.hints.iter().for_each(|hint| writer.string(hint));
    writer.end_list();
    write_labels(writer, "trace", &diagnostic.trace, files);
    if let Some(edit) = edit_of(diagnostic, files) {
        writer.key("fix");
        writer.begin_map(3);
        write_place(writer, Some(edit.span), files);
        field(writer, "text", &edit.text);
        writer.end_map();
    }
    writer.end_map();
}

fn write_labels<F: Files + ?Sized>(writer: &mut JsonWriter, key: &str, labels: &[Label], files: &F) {
    writer.key(key);
    writer.begin_list(labels.len());
    for label in labels {
        writer.begin_map(3);
        field(writer, "message", &label.message);
        write_place(writer, Some(label.span), files);
        writer.end_map();
    }
    writer.end_list();
}

/// Writes `file` and `range`, both null without a location.
fn write_place<F: Files + ?Sized>(writer: &mut JsonWriter, span: Option<Span>, files: &F) {
    let place = span.and_then(|span| Place::of(span, files));
    writer.key("file");
    match &place {
        Some(place) => writer.string(&place.path),
        None => writer.null(),
    }
    writer.key("range");
    let Some(place) = place else { return writer.null() };
    writer.begin_map(2);
    write_position(writer, "start", place.start);
    write_position(writer, "end", place.end);
    writer.end_map();
}

fn write_position(writer: &mut JsonWriter, key: &str, position: Position) {
    writer.key(key);
    writer.begin_map(2);
    writer.key("line");
    writer.int(position.line.into());
    writer.key("column");
    writer.int(position.column.into());
    writer.end_map();
}

fn field(writer: &mut JsonWriter, key: &str, text: &str) {
    writer.key(key);
    writer.string(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Rule;
    use crate::source::{FileId, Source};
    use std::sync::Arc;

    const RULE: Rule = Rule::error("unknown-key", "A key is not known.");

    #[test]
    fn the_documented_form() {
        let files = [Arc::new(Source::new(FileId(0), "a.yaml", "a: 1\nbé: 2\n"))];
        let span = |start, end| Span::new(FileId(0), start, end);
        let full = Diagnostic::at(&RULE, span(5, 8), "not \u{1b}\"known\"")
            .label(span(0, 1), "first")
            .hint("try")
            .through(span(3, 4), "from here");
        let bare = Diagnostic::nowhere(&RULE, "m");
        let range = |l1: u32, c1: u32, l2: u32, c2: u32| {
            format!(r#"{{"start":{{"line":{l1},"column":{c1}}},"end":{{"line":{l2},"column":{c2}}}}}"#)
        };
        let expected = [
            r#"{"rule":"unknown-key","severity":"error","message":"not \u001b\"known\"","file":"a.yaml","range":"#,
            &range(2, 1, 2, 3),
            r#","labels":[{"message":"first","file":"a.yaml","range":"#,
            &range(1, 1, 1, 2),
            r#"}],"hints":["try"],"trace":[{"message":"from here","file":"a.yaml","range":"#,
            &range(1, 4, 1, 5),
            "}]}\n",
            r#"{"rule":"unknown-key","severity":"error","message":"m","file":null,"range":null,"#,
            "\"labels\":[],\"hints\":[],\"trace\":[]}\n",
        ];
        assert_eq!(json_lines([&full, &bare], &files[..]), expected.concat());
    }
}
