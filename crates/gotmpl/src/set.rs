//! Sets of templates: all files of a render share one namespace; `tpl` texts add a layer over it.

use std::rc::Rc;
use std::sync::Arc;

use crate::ast::Tree;
use crate::error::ParseError;
use crate::funcs;
use crate::machine::SourceFile;
use crate::parse::{FindFunc, is_empty_tree, parse};
use crate::value::{Str, Table};

/// Parsed templates, made once and rendered many times.
#[derive(Debug)]
pub struct Set {
    trees: Table<Str, Arc<Tree>>,
    /// By the name of the file, including templates that another file replaces.
    by_file: Table<Str, Vec<Arc<Tree>>>,
    sources: Vec<SourceFile>,
    end: u32,
    find: FindFunc,
}

impl Default for Set {
    fn default() -> Self {
        Self::new()
    }
}

impl Set {
    /// An empty set.
    pub fn new() -> Self {
        Self::with_functions(funcs::find)
    }

    /// An empty set whose templates can only use the given functions.
    pub fn with_functions(find: FindFunc) -> Self {
        Self { trees: Table::default(), by_file: Table::default(), sources: Vec::new(), end: 1, find }
    }

    /// Parses a file into the set; its definitions replace those of the same name unless they are empty.
    pub fn add(&mut self, name: &str, text: impl Into<Str>) -> Result<(), ParseError> {
        let text = text.into();
        let base = self.end;
        self.end = self.end.saturating_add(text.len() as u32 + 1);
        let trees = parse(name, text, base, self.find)?;
        if let Some(tree) = trees.first() {
            self.sources.push(SourceFile { file: tree.file.clone(), origin: 0, digested: Vec::new() });
        }
        let mut in_file = Table::default();
        for tree in trees {
            let tree = Arc::new(tree);
            associate(&mut in_file, tree.clone());
            associate(&mut self.trees, tree);
        }
        let mut in_file: Vec<Arc<Tree>> = in_file.into_values().collect();
        in_file.sort_by(|a, b| a.name.cmp(&b.name));
        self.by_file.insert(name.into(), in_file);
        Ok(())
    }

    /// The templates that a file defines, the file itself among them.
    pub fn templates_in(&self, file: &str) -> Option<&[Arc<Tree>]> {
        self.by_file.get(file.as_bytes()).map(Vec::as_slice)
    }

    /// The set as the bottom layer of a render's namespace.
    pub fn namespace(self: &Arc<Self>) -> Rc<Namespace> {
        Rc::new(Namespace { parent: None, set: Some(self.clone()), trees: Table::default(), main: None })
    }
}

impl std::hash::Hash for Str {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Hashed like a byte slice, so that lookups by bytes work.
        self.bytes().hash(state);
    }
}

fn associate(trees: &mut Table<Str, Arc<Tree>>, tree: Arc<Tree>) {
    if trees.contains_key(&tree.name) && is_empty_tree(&tree) {
        return;
    }
    trees.insert(tree.name.clone(), tree);
}

/// The visible templates: a layer over the ones below.
#[derive(Debug)]
pub struct Namespace {
    parent: Option<Rc<Namespace>>,
    set: Option<Arc<Set>>,
    trees: Table<Str, Arc<Tree>>,
    /// The body of a `tpl` text.
    pub main: Option<Arc<Tree>>,
}

impl Namespace {
    /// Finds a template by name, the top layer first.
    pub fn get(&self, name: &Str) -> Option<Arc<Tree>> {
        let mut layer = Some(self);
        while let Some(namespace) = layer {
            if let Some(tree) = namespace.trees.get(name) {
                return Some(tree.clone());
            }
            if let Some(tree) = namespace.set.as_ref().and_then(|set| set.trees.get(name)) {
                return Some(tree.clone());
            }
            layer = namespace.parent.as_deref();
        }
        None
    }

    /// A layer with the definitions of a `tpl` text.
    pub fn layer(self: &Rc<Self>, text: Str, base: u32) -> Result<Self, ParseError> {
        let mut trees = parse("gotpl", text, base, self.find())?;
        let main = trees.iter().position(|tree| tree.name.bytes() == b"gotpl").map(|at| Arc::new(trees.remove(at)));
        let mut own = Table::default();
        for tree in trees {
            if self.get(&tree.name).is_some() && is_empty_tree(&tree) {
                continue;
            }
            own.insert(tree.name.clone(), Arc::new(tree));
        }
        Ok(Self { parent: Some(self.clone()), set: None, trees: own, main })
    }

    /// The function lookup of the bottom layer.
    fn find(&self) -> FindFunc {
        let mut layer = self;
        loop {
            match (&layer.set, layer.parent.as_deref()) {
                (Some(set), _) => return set.find,
                (None, Some(parent)) => layer = parent,
                (None, None) => return funcs::find,
            }
        }
    }

    /// Start position for further sources.
    pub fn end_of_sources(&self) -> u32 {
        self.set.as_ref().map_or(1, |set| set.end)
    }

    /// The files of the bottom layer.
    pub fn sources(&self) -> Vec<SourceFile> {
        self.set.as_ref().map(|set| set.sources.clone()).unwrap_or_default()
    }
}
