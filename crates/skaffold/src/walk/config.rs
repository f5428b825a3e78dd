//! The request of a walk, and the configurations it finds.

use crate::emit::{Finish, ItemOut, section_without};
use crate::entities::config::SKAFFOLD_CONFIG;
use crate::item::Item;
use crate::load::{Document, File, Format};
use crate::remote;
use ecow::EcoString;
use purlin_syntax::Span;
use purlin_value::Origin;
use std::rc::Rc;

/// Which folder relative paths of a configuration start from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bases {
    /// Paths stay as they are written.
    None,
    /// Only required files' paths become absolute, from their own folder.
    Dependencies,
    /// All paths become absolute; those of the root file are relative to the user's working folder.
    All,
    /// All paths become relative to the project, from their own file's folder.
    Project,
}

/// The user's request.
pub struct Wanted {
    /// The root file, as given.
    pub file: String,
    /// Profiles, in order; `-name` switches one off.
    pub profiles: Vec<String>,
    /// Their origins, if not an option.
    pub profiles_from: Vec<Origin>,
    /// Configurations; all if empty.
    pub modules: Vec<String>,
    /// Whether profiles may be activated automatically.
    pub auto_activation: bool,
    /// Whether requested profiles are passed to required configurations.
    pub propagate: bool,
    /// Whether defaults are filled in.
    pub defaults: bool,
    /// Base folders of relative paths.
    pub bases: Bases,
    /// Whether `--kube-context` was given.
    pub context_given: bool,
    /// Namespace of the current kube-context.
    pub namespace: String,
    /// The user's home folder.
    pub home: String,
    /// Update policy for copies of remote repositories.
    pub sync: remote::Sync,
    /// Which keys are known, and how strictly names are taken.
    pub format: Format,
}

/// A configuration of the result.
#[derive(Clone)]
pub struct Config<'f> {
    /// The file it is in.
    pub file: Rc<File<'f>>,
    /// Its place among the file's documents.
    pub index: usize,
    /// Its name as written, before profiles.
    pub name: EcoString,
    /// The configuration with its profiles and defaults.
    pub item: Item<'f>,
    /// Folder that relative paths start from; `None` if they stay as written.
    pub base: Option<EcoString>,
    /// Its active profiles, in order.
    pub profiles: Vec<EcoString>,
    /// Whether it was reached through another file.
    pub is_dependency: bool,
    /// Whether it comes from a remote repository.
    pub is_remote: bool,
    /// Whether it is a module written inside another document.
    pub is_inline: bool,
    /// Its requirements: the numbers of documents.
    pub requires: Vec<usize>,
    /// Its start.
    pub span: Span,
    /// Full path of the user's working folder.
    pub here: Rc<str>,
}

impl<'f> Config<'f> {
    /// The configuration without the path to it, its paths starting from its base.
    pub fn placed(&self) -> Item<'f> {
        let mut out = ItemOut::default();
        let finish = Finish { base: self.base.as_deref(), ..Finish::default() };
        section_without(self.item.view(), &SKAFFOLD_CONFIG, &["requires", "profiles", "modules"], &finish, &mut out);
        out.done.unwrap_or_else(Item::empty_map)
    }

    /// Its document's number among all documents of the run.
    pub fn number(&self) -> usize {
        self.file.first + self.index
    }

    /// The name, or a description if it has no name.
    pub fn label(&self) -> String {
        if self.name.is_empty() { format!("index {}", self.index) } else { self.name.to_string() }
    }
}

/// The documents of a file as they are written, for checks that look at one file alone.
pub fn as_written<'f>(file: &Rc<File<'f>>, here: &str) -> Vec<Config<'f>> {
    let here: Rc<str> = here.into();
    let config = |document: &Document<'f>| Config {
        file: file.clone(),
        index: document.index,
        name: document.name.clone(),
        item: document.item.clone(),
        base: None,
        profiles: Vec::new(),
        is_dependency: false,
        is_remote: false,
        is_inline: document.owner.is_some(),
        requires: Vec::new(),
        span: document.span,
        here: here.clone(),
    };
    file.documents.iter().map(config).collect()
}
