//! The order of Helm releases: `dependsOn` must name releases of the list and be free of cycles.

use crate::item::View;
use crate::rules;
use purlin_graph::Digraph;
use purlin_syntax::{Diagnostic, Sink, Span};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Checks the releases of one section. A single release is not checked.
pub fn check(helm: View<'_, '_>, sink: &Sink, fallback: Span) -> bool {
    let Some(releases) = helm.get("releases").filter(|list| list.items().count() > 1) else { return true };
    let before = sink.len();
    let report = |span: Option<Span>, message: String| {
        sink.push(Diagnostic::at(&rules::RELEASES, span.unwrap_or(fallback), message));
    };
    let mut names: HashMap<String, usize> = HashMap::new();
    for (at, release) in releases.items().enumerate() {
        let name = release.text_of("name").into_owned();
        match names.entry(name) {
            Entry::Occupied(known) => {
                let message = format!("two releases are named `{}`", known.key());
                report(release.get("name").and_then(View::span), message);
            }
            Entry::Vacant(free) => {
                free.insert(at);
            }
        }
    }
    let mut graph: Digraph<usize> = Digraph::new();
    for (from, release) in releases.items().enumerate() {
        for needed in release.get("dependsOn").into_iter().flat_map(View::items) {
            match names.get(needed.text().as_ref()) {
                Some(to) => graph.connect(from, *to),
                None => report(
                    needed.span(),
                    format!(
                        "release `{}` depends on `{}`, which is not a release",
                        release.text_of("name"),
                        needed.text()
                    ),
                ),
            }
        }
    }
    let all: Vec<View<'_, '_>> = releases.items().collect();
    for cycle in graph.cycles() {
        let members = cycle.path.iter().filter_map(|at| all.get(*at));
        let placed: Vec<_> =
            members.map(|one| (one.text_of("name"), one.get("dependsOn").and_then(|needs| needs.span()))).collect();
        let mut diagnostic = Diagnostic::cycle(&rules::RELEASES, "circular `dependsOn` of releases", &placed);
        diagnostic.span = diagnostic.span.or(Some(fallback));
        sink.push(diagnostic);
    }
    sink.len() == before
}
