//! Profiles of a document with inline modules: sections and patches are distributed to the modules they name.
//!
//! Such a document and its modules are a family with one table of profiles. A list of a profile's section names items
//! by identity (the image of an artifact, the name of a release): each is applied to the module that has it, and the
//! rest to the document itself. A patch is applied to the modules it fits; `/modules/NAME=…` or `/modules/0` in front
//! of its path names one. It must not know files.

use crate::item::{Form, Item, View};
use crate::load::{Document, File};
use ecow::EcoString;
use purlin_syntax::Span;
use std::collections::HashMap;

/// Lists whose items have an identity, with its key; an empty key means the string itself.
const NAMED: &[(&[&str], &str)] = &[
    (&["build", "artifacts"], "image"),
    (&["test"], "image"),
    (&["manifests", "rawYaml"], ""),
    (&["manifests", "kpt"], ""),
    (&["manifests", "kustomize", "paths"], ""),
    (&["manifests", "helm", "releases"], "name"),
    (&["deploy", "helm", "releases"], "name"),
    (&["deploy", "docker", "images"], ""),
    (&["portForward"], "resourceName"),
    (&["verify"], "name"),
    (&["customActions"], "name"),
];

/// A document's place in its family.
pub struct Member<'a, 'f> {
    file: &'a File<'f>,
    document: &'a Document<'f>,
}

impl<'a, 'f> Member<'a, 'f> {
    /// The position of a document; `None` if no modules are written in or around it.
    pub fn of(file: &'a File<'f>, document: &'a Document<'f>) -> Option<Self> {
        let is_owner = || file.documents.iter().any(|other| other.owner == Some(document.index));
        (document.owner.is_some() || is_owner()).then_some(Member { file, document })
    }

    fn modules(&self) -> impl Iterator<Item = &'a Document<'f>> {
        let owner = self.document.owner.unwrap_or(self.document.index);
        self.file.documents.iter().filter(move |other| other.owner == Some(owner))
    }

    /// The part of a profile that is meant for this member.
    pub fn share(&self, profile: View<'_, 'f>) -> Item<'f> {
        let mut share = profile.to_item();
        for (path, key) in NAMED {
            if share.view().at(path).is_none() {
                continue;
            }
            let has = |document: &Document<'f>, wanted: View<'_, 'f>| {
                let own = document.item.view().at(path).into_iter().flat_map(View::items);
                own.into_iter().any(|item| identity(item, key) == identity(wanted, key))
            };
            let is_meant = |item: View<'_, 'f>| match self.document.owner {
                Some(_) => has(self.document, item),
                None => !self.modules().any(|module| has(module, item)),
            };
            retain(&mut share, path, &is_meant);
        }
        share
    }

    /// The path of a patch for this member: the same path, the rest behind the `/modules/…` that names it, or `None`.
    pub(crate) fn own_path(&self, path: &str) -> Option<EcoString> {
        let Some(rest) = path.strip_prefix("/modules/") else {
            return (path != "/modules").then(|| path.into());
        };
        let owner = self.document.owner?;
        let (first, rest) = rest.split_once('/')?;
        let entries = &self.file.documents.get(owner)?.modules;
        let at = entries.iter().position(|entry| entry.path.is_empty() && entry.name == self.document.name)?;
        let by_name = first.strip_prefix("name=").is_some_and(|name| name == self.document.name);
        (by_name || first.parse() == Ok(at)).then(|| format!("/{rest}").into())
    }
}

fn identity(item: View<'_, '_>, key: &str) -> String {
    if key.is_empty() { item.text().into_owned() } else { item.text_of(key).into_owned() }
}

/// Keeps some items of a list; a list and sections that become empty go.
fn retain<'f>(item: &mut Item<'f>, path: &[&str], keep: &dyn Fn(View<'_, 'f>) -> bool) {
    let [key, rest @ ..] = path else { return };
    let Some(inner) = item.get_mut(key) else { return };
    let emptied = match rest {
        [] => {
            inner.list().retain(|item| keep(item.view()));
            inner.list().is_empty()
        }
        _ => {
            retain(inner, rest, keep);
            inner.view().form() == Form::Map && inner.view().entries().next().is_none()
        }
    };
    if emptied {
        item.take(key);
    }
}

/// Patches of families: whether each applied anywhere, and otherwise why it did not.
#[derive(Default)]
pub struct Patched {
    tried: HashMap<Span, Option<purlin_syntax::Diagnostic>>,
    order: Vec<Span>,
}

impl Patched {
    /// Records an attempt; `None` is a success.
    pub fn push(&mut self, at: Span, problem: Option<purlin_syntax::Diagnostic>) {
        match self.tried.get_mut(&at) {
            Some(known) if problem.is_none() => *known = None,
            Some(_) => {}
            None => {
                self.tried.insert(at, problem);
                self.order.push(at);
            }
        }
    }

    /// Patches that applied nowhere, in the order of attempts.
    pub fn failed(self) -> Vec<purlin_syntax::Diagnostic> {
        let Patched { mut tried, order } = self;
        order.into_iter().filter_map(|at| tried.remove(&at).flatten()).collect()
    }
}
