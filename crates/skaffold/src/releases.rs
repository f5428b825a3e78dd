//! The order of Helm releases: `dependsOn` must name releases of the list and form no ring.

use crate::item::View;
use crate::rules;
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
    let mut edges: Vec<Vec<usize>> = Vec::new();
    for release in releases.items() {
        let mut needs = Vec::new();
        for needed in release.get("dependsOn").into_iter().flat_map(View::items) {
            match names.get(needed.text().as_ref()) {
                Some(at) => needs.push(*at),
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
        edges.push(needs);
    }
    if let Some(at) = ring(&edges)
        && let Some(release) = releases.items().nth(at)
    {
        let message = format!("circular `dependsOn` of release `{}`", release.text_of("name"));
        report(release.get("dependsOn").and_then(View::span), message);
    }
    sink.len() == before
}

/// A member of a ring, if there is one: what is left when everything without open needs is taken away.
fn ring(edges: &[Vec<usize>]) -> Option<usize> {
    let mut open: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (at, needs) in edges.iter().enumerate() {
        for need in needs {
            if let Some(list) = needed_by.get_mut(*need) {
                list.push(at);
            }
        }
    }
    let mut ready: Vec<usize> = open.iter().enumerate().filter(|(_, n)| **n == 0).map(|(at, _)| at).collect();
    while let Some(done) = ready.pop() {
        for user in needed_by.get(done).into_iter().flatten() {
            if let Some(count) = open.get_mut(*user) {
                *count -= 1;
                if *count == 0 {
                    ready.push(*user);
                }
            }
        }
    }
    open.iter().position(|count| *count > 0)
}
