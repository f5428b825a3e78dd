//! `purlin puccini-clout`: lists and prints the scriptlets of a Clout without running them.
//!
//! Scriptlets are JavaScript texts in a Clout's metadata. They are listed and printed; they are not run.

use super::{Personality, usage, version};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, open_session};
use crate::report::{Style, report};
use purlin_syntax::{Flavor, Node, yaml};

/// The personality.
pub(super) const PUCCINI_CLOUT: Personality = Personality {
    name: "puccini-clout",
    summary: "Lists and prints the scriptlets of a Clout as Puccini does.",
    commands: &[
        ("scriptlet list CLOUT", "names of all scriptlets"),
        ("scriptlet get NAME CLOUT", "the text of one"),
        ("version", "the version of Purlin"),
    ],
    options: &[],
    refused: &["completion", "scriptlet delete", "scriptlet exec", "scriptlet put"],
    run,
};

fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["scriptlet", "list", path] => scriptlets(invocation, path, None),
        ["scriptlet", "get", name, path] => scriptlets(invocation, path, Some(name)),
        ["scriptlet", "exec", rest @ ..] => {
            let native = match rest.first().copied().unwrap_or_default() {
                "tosca.resolve" => "; `purlin puccini-tosca compile` resolves by itself",
                "tosca.coerce" => "; `purlin puccini-tosca compile --coerce` does what this one does",
                _ => "",
            };
            let _ = writeln!(invocation.stderr, "note: JavaScript is not run{native}");
            Err(super::unsupported(invocation, &PUCCINI_CLOUT, "scriptlet exec"))
        }
        ["scriptlet", refused @ ("put" | "delete"), ..] => {
            Err(super::unsupported(invocation, &PUCCINI_CLOUT, &format!("scriptlet {refused}")))
        }
        ["version"] => Ok(version(invocation)),
        ["scriptlet", ..] | [] => {
            Err(usage(invocation, "expected `scriptlet list CLOUT` or `scriptlet get NAME CLOUT`"))
        }
        [other, ..] => Err(super::unknown(invocation, &PUCCINI_CLOUT, other)),
    }
}

/// Prints the names of all scriptlets, or the text of one.
fn scriptlets(invocation: &mut Invocation<'_>, path: &str, wanted: Option<&str>) -> Result<Exit, Exit> {
    let (session, path) = open_session(invocation, &Setup::of(path))?;
    let source = session.read_text(&path).map_err(|diagnostic| {
        session.sink.push(diagnostic);
        report(invocation, &session, Style::given(invocation))
    })?;
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    if !tree.is_sound() {
        session.sink.extend(tree.diagnostics().iter().cloned());
        return Err(report(invocation, &session, Style::given(invocation)));
    }
    let metadata = tree.root().and_then(|root| root.get("metadata")?.get("puccini")?.get("scriptlets"));
    let Some(scriptlets) = metadata else {
        let message = "this Clout has no scriptlets in `metadata.puccini.scriptlets`";
        return Err(invocation.refuse(message, Exit::Invalid));
    };
    let mut text = String::new();
    match wanted {
        None => names(scriptlets, &mut Vec::new(), &mut text),
        Some(name) => match name.split('.').try_fold(scriptlets, |here, part| here.get(part)) {
            Some(found) if found.is_scalar() => {
                text.push_str(found.text());
                text.push('\n');
            }
            _ => return Err(invocation.refuse(&format!("unknown scriptlet `{name}`"), Exit::Invalid)),
        },
    }
    Ok(invocation.print(&text))
}

/// The names of all texts, with dots between their parts. A Clout nests them two or three deep; a tree's own limit on
/// depth bounds this.
fn names<'t>(node: Node<'t>, path: &mut Vec<&'t str>, text: &mut String) {
    if node.is_scalar() {
        text.push_str(&path.join("."));
        text.push('\n');
        return;
    }
    for entry in node.entries() {
        path.push(entry.key.text());
        names(entry.value, path, text);
        path.pop();
    }
}
