//! Code from other repositories: sources of the project, and the repositories that actions and modules name.
//!
//! A repository is read from the cache of fetched repositories. Garden clones it into the project, and the name of that
//! clone counts in versions and is shown in lists of files, so it is kept beside the folder.

use crate::ground::Ground;
use crate::versions::short;
use ecow::EcoString;
use purlin_value::world::Remote;
use purlin_value::{Value, path};

/// A repository that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Folder of its files, as a path of the world.
    pub folder: String,
    /// Folder of Garden's clone, relative to the project.
    pub clone: String,
}

/// The reference to a repository.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Namer<'n> {
    /// A source of the project.
    Source(&'n str),
    /// An action, by its key.
    Action(&'n str),
    /// A module.
    Module(&'n str),
}

impl Checkout {
    fn new(folder: String, namer: Namer<'_>, url: &str) -> Self {
        let (kind, name) = match namer {
            Namer::Source(name) => ("project", name),
            Namer::Action(name) => ("action", name),
            Namer::Module(name) => ("module", name),
        };
        Checkout { folder, clone: format!(".garden/sources/{kind}/{name}--{}", short(&[url])) }
    }

    /// Whether it holds a path.
    pub fn holds(&self, path: &str) -> bool {
        path == self.folder || path.strip_prefix(self.folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path of a file in Garden's clone, from the world's root.
    pub fn cloned(&self, root: &str, file: &str) -> String {
        let clone = path::join(root, &self.clone);
        match file == self.folder {
            true => clone,
            false => path::join(&clone, path::within(&self.folder, file)),
        }
    }
}

/// Fetches a repository; the revision is behind `#`.
pub(crate) fn fetch(ground: &Ground<'_>, url: &Value, namer: Namer<'_>) -> Option<Checkout> {
    let text = url.as_str()?;
    let (address, revision) = text.split_once('#').unwrap_or((text, ""));
    let remote = Remote::Git { address: address.to_owned(), revision: revision.to_owned(), refresh: false };
    match ground.session.world.fetch(&remote) {
        Ok(fetched) => {
            let checkout = Checkout::new(fetched.path, namer, text);
            if matches!(namer, Namer::Source(_)) {
                ground.note_source(&checkout);
            }
            Some(checkout)
        }
        // The error may quote the address, which may hold a password.
        Err(error) if url.is_tainted() => {
            let message = "this repository, whose address holds a secret, cannot be fetched";
            ground.report(error.diagnostic("").rule, ground.span_of(url), message);
            None
        }
        Err(error) => {
            ground.session.report_world(&error, text, ground.span_of(url));
            None
        }
    }
}

impl Ground<'_> {
    /// The full path under which Garden shows a configuration file: that of its clone, if it is in a source of the project.
    pub fn shown_path(&self, file: &str) -> EcoString {
        self.shown_within(self.source_of(file).as_ref(), file)
    }

    /// The full path under which Garden shows a file of an action or module, whose files may come from a repository.
    /// Several of them may name one repository; Garden clones it for each.
    pub fn shown_within(&self, checkout: Option<&Checkout>, file: &str) -> EcoString {
        match checkout.filter(|checkout| checkout.holds(file)) {
            Some(checkout) => self.full_path(&checkout.cloned(&self.root, file)),
            None => self.full_path(file),
        }
    }
}
