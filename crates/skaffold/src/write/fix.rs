//! `fix`: brings the documents of a file up to date in place, keeping comments and everything that need not change.

use crate::check::Check;
use crate::editions::{self, Edition};
use crate::emit::normalised;
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::Item;
use crate::profile::patch::same;
use crate::{rewrite, rules, upgrade};
use purlin_syntax::{Diagnostic, Node, Sink, Span, Tree};

/// Result for a file.
pub enum Fixed {
    /// Every document has the wanted version already.
    Already,
    /// The new text.
    Text(String),
}

/// Upgrades a file's documents to an edition. `None` if one cannot be upgraded, which is reported.
pub fn fix(tree: &Tree, to: Edition, sink: &Sink) -> Option<Fixed> {
    let mut changes: Vec<(Span, String)> = Vec::new();
    let mut older = false;
    for root in tree.roots().filter(|root| !root.is_null()) {
        let version = root.get("apiVersion")?;
        let from = editions::parse(version.text())?;
        if from > to {
            let message = format!(
                "`{}` is newer than the requested `{}`",
                editions::api_version(from),
                editions::api_version(to)
            );
            let hint = "documents are only brought to newer versions";
            sink.push(Diagnostic::at(&rules::UPGRADE, version.span(), message).hint(hint));
            return None;
        }
        if from == to {
            continue;
        }
        older = true;
        changes.push(document(root, version, from, to, sink)?);
    }
    if !older {
        return Some(Fixed::Already);
    }
    Some(Fixed::Text(rewrite::replace(tree.source().text(), changes)))
}

fn document(root: Node<'_>, version: Node<'_>, from: Edition, to: Edition, sink: &Sink) -> Option<(Span, String)> {
    let mut item = Item::node(root);
    if !upgrade::upgrade(&mut item, from, to, sink, root.span()) {
        return None;
    }
    if only_version_differs(root, &item, to) {
        return Some((version.span(), editions::api_version(to)));
    }
    let mut text = rewrite::document(root, &item, to);
    // The document's own last line break may be outside its span.
    let extent = rewrite::extent(root);
    if !root.tree().source().slice(extent).ends_with('\n') {
        text.truncate(text.trim_end_matches('\n').len());
    }
    Some((extent, text))
}

/// Whether the document needs no change except its `apiVersion`.
fn only_version_differs(root: Node<'_>, item: &Item<'_>, to: Edition) -> bool {
    let strict = Sink::new();
    let check = Check { edition: to, founding: true, sink: &strict, fallback: root.span(), marks: None };
    let mut before = Item::node(root);
    check.section(before.view(), &SKAFFOLD_CONFIG);
    if !strict.is_empty() {
        return false;
    }
    before.set("apiVersion", Item::text(editions::api_version(to)));
    same(normalised(before.view(), &SKAFFOLD_CONFIG).view(), normalised(item.view(), &SKAFFOLD_CONFIG).view())
}
