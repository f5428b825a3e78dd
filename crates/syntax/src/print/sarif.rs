//! Diagnostics as SARIF 2.1.0, the format that code-scanning services read.

use super::{Files, Place, edit_of};
use crate::diagnostic::{Diagnostic, Label, Rule, Severity};
use crate::hint::Edit;
use crate::source::Span;
use crate::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use std::collections::HashMap;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The program that reports the results.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its version.
    pub version: &'t str,
    /// Address of its documentation.
    pub home: &'t str,
}

/// Prints diagnostics as one SARIF log. Each list of diagnostics, with the files that its spans point into, is a run;
/// a run describes the rules that occur in it.
pub fn sarif<F: Files + ?Sized>(runs: &[(&[Diagnostic], &F)], tool: &Tool<'_>) -> String {
    let writer = JsonWriter::new(JsonLayout::Pretty, JsonFlavor::Plain);
    let mut log: Log<'_, F> = Log { writer, files: None, alike: HashMap::new() };
    log.map(|log| {
        log.text("$schema", SCHEMA);
        log.text("version", "2.1.0");
        log.list_of("runs", runs.iter().copied(), |log, (diagnostics, files)| log.run(tool, diagnostics, files));
    });
    // Without a limit it cannot fail.
    log.writer.finish().unwrap_or_default() + "\n"
}

struct Log<'f, F: ?Sized> {
    writer: JsonWriter,
    /// The files of the current run.
    files: Option<&'f F>,
    /// Number of results of the run per identity, so that equal ones are told apart.
    alike: HashMap<u64, usize>,
}

impl<'f, F: Files + ?Sized> Log<'f, F> {
    fn run(&mut self, tool: &Tool<'_>, diagnostics: &[Diagnostic], files: &'f F) {
        let mut rules: Vec<&'static Rule> = diagnostics.iter().map(|diagnostic| diagnostic.rule).collect();
        rules.sort_by_key(|rule| rule.name);
        rules.dedup_by_key(|rule| rule.name);
        self.files = Some(files);
        self.alike.clear();
        self.map(|log| {
            log.field("tool", |log| {
                log.map(|log| log.field("driver", |log| log.driver(tool, &rules)));
            });
            log.text("columnKind", "unicodeCodePoints");
            log.list_of("results", diagnostics, |log, diagnostic| log.result(diagnostic, &rules));
        });
    }

    fn driver(&mut self, tool: &Tool<'_>, rules: &[&'static Rule]) {
        self.map(|log| {
            log.text("name", tool.name);
            log.text("version", tool.version);
            if !tool.home.is_empty() {
                log.text("informationUri", tool.home);
            }
            log.list_of("rules", rules, |log, rule| log.rule(rule, tool));
        });
    }

    fn rule(&mut self, rule: &Rule, tool: &Tool<'_>) {
        self.map(|log| {
            log.text("id", rule.name);
            if !tool.home.is_empty() {
                log.text("helpUri", &format!("{}/blob/v{}/docs/rules/{}.md", tool.home, tool.version, rule.name));
            }
            log.message("shortDescription", rule.summary);
            log.message("help", &format!("{} `purlin explain {}` says more.", rule.summary, rule.name));
            log.field("defaultConfiguration", |log| log.map(|log| log.text("level", level(rule.severity))));
        });
    }

    fn result(&mut self, diagnostic: &Diagnostic, rules: &[&'static Rule]) {
        let index = rules.binary_search_by_key(&diagnostic.rule.name, |rule| rule.name).unwrap_or(0);
        self.map(|log| {
            log.text("ruleId", diagnostic.rule.name);
            log.number("ruleIndex", index);
            log.text("level", level(diagnostic.severity));
            log.message("message", &without_links(&message_text(diagnostic)));
            log.list_of("locations", diagnostic.span, |log, span| log.map(|log| log.physical(span)));
            if !diagnostic.labels.is_empty() {
                let labels = diagnostic.labels.iter().enumerate();
                log.list_of("relatedLocations", labels, |log, (at, label)| log.labelled(label, Some(at)));
            }
            if let Some(edit) = log.files.and_then(|files| edit_of(diagnostic, files)) {
                log.list_of("fixes", [edit], |log, edit| log.map(|log| log.fix(&edit)));
            }
            if !diagnostic.trace.is_empty() {
                log.list_of("codeFlows", [()], |log, ()| log.code_flow(diagnostic));
            }
            let fingerprint = log.fingerprint(diagnostic);
            log.field("partialFingerprints", |log| log.map(|log| log.text("purlin/v1", &fingerprint)));
        });
    }

    /// Identifies a result across commits: by rule, file and message, not by its line, whose number changes with
    /// every edit above it, and whose text may be a secret.
    fn fingerprint(&mut self, diagnostic: &Diagnostic) -> String {
        let place = diagnostic.span.zip(self.files).and_then(|(span, files)| Place::of(span, files));
        let path = place.map(|place| place.path).unwrap_or_default();
        let identity = fnv(&[diagnostic.rule.name, &path, &diagnostic.message]);
        let nth = self.alike.entry(identity).or_default();
        *nth += 1;
        format!("{identity:016x}:{nth}")
    }

    /// The edit that fixes a problem.
    fn fix(&mut self, edit: &Edit) {
        let Some(place) = self.files.and_then(|files| Place::of(edit.span, files)) else { return };
        self.message("description", &without_links(&format!("change to `{}`", edit.text)));
        self.list_of("artifactChanges", [()], |log, ()| {
            log.map(|log| {
                log.artifact(&place);
                log.list_of("replacements", [()], |log, ()| {
                    log.map(|log| {
                        log.region("deletedRegion", &place);
                        log.message("insertedContent", &edit.text);
                    });
                });
            });
        });
    }

    fn artifact(&mut self, place: &Place) {
        self.field("artifactLocation", |log| log.map(|log| log.text("uri", &uri(&place.path))));
    }

    fn region(&mut self, key: &str, place: &Place) {
        self.field(key, |log| {
            log.map(|log| {
                log.number("startLine", place.start.line as usize);
                log.number("startColumn", place.start.column as usize);
                log.number("endLine", place.end.line as usize);
                log.number("endColumn", place.end.column as usize);
            });
        });
    }

    /// The trace of the problem: from the outermost step to the location itself.
    fn code_flow(&mut self, diagnostic: &Diagnostic) {
        let own = diagnostic.span.map(|span| Label::note(span, diagnostic.message.clone()));
        let steps: Vec<&Label> = diagnostic.trace.iter().rev().chain(own.as_ref()).collect();
        self.map(|log| {
            log.list_of("threadFlows", [()], |log, ()| {
                log.map(|log| {
                    log.list_of("locations", &steps, |log, step| {
                        log.map(|log| log.field("location", |log| log.labelled(step, None)));
                    });
                });
            });
        });
    }

    fn labelled(&mut self, label: &Label, id: Option<usize>) {
        self.map(|log| {
            if let Some(id) = id {
                log.number("id", id);
            }
            log.message("message", &without_links(&label.message));
            log.physical(label.span);
        });
    }

    /// Writes the member that locates a span; nothing if its file is unknown.
    fn physical(&mut self, span: Span) {
        let Some(place) = self.files.and_then(|files| Place::of(span, files)) else { return };
        self.field("physicalLocation", |log| {
            log.map(|log| {
                log.artifact(&place);
                log.region("region", &place);
            });
        });
    }

    fn message(&mut self, key: &str, text: &str) {
        self.field(key, |log| log.map(|log| log.text("text", text)));
    }

    fn text(&mut self, key: &str, text: &str) {
        self.field(key, |log| log.writer.string(text));
    }

    fn number(&mut self, key: &str, number: usize) {
        self.field(key, |log| log.writer.int(i64::try_from(number).unwrap_or(i64::MAX)));
    }

    fn field(&mut self, key: &str, value: impl FnOnce(&mut Self)) {
        self.writer.key(key);
        value(self);
    }

    fn map(&mut self, entries: impl FnOnce(&mut Self)) {
        self.writer.begin_map(1);
        entries(self);
        self.writer.end_map();
    }

    fn list_of<T>(&mut self, key: &str, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.writer.key(key);
        self.writer.begin_list(1);
        items.into_iter().for_each(|value| item(self, value));
        self.writer.end_list();
    }
}

/// The hash FNV-1a of several texts: small, and the same in every version of the program.
fn fnv(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn message_text(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for hint in &diagnostic.hints {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    text
}

/// `[text](target)` would be read as a link.
fn without_links(text: &str) -> String {
    if text.contains("](") {
        text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
    } else {
        text.to_owned()
    }
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut out = String::with_capacity(path.len());
    let first_segment = path.split('/').next().unwrap_or("");
    if path.starts_with('/') {
        out.push_str("file://");
    } else if first_segment.contains(':') {
        // Otherwise it would pass for a scheme.
        out.push_str("./");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' => out.push(char::from(byte)),
            b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let cases = [
            ("a/b.yaml", "a/b.yaml"),
            ("a b#c?.yaml", "a%20b%23c%3F.yaml"),
            ("é%.yaml", "%C3%A9%25.yaml"),
            ("c:x/y", "./c:x/y"),
            ("/etc/x", "file:///etc/x"),
            ("a\\b", "a/b"),
        ];
        for (path, expected) in cases {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn messages_hold_no_links() {
        assert_eq!(without_links("a [b] c"), "a [b] c");
        assert_eq!(without_links("[a](b)\\"), "\\[a\\](b)\\\\");
    }
}
