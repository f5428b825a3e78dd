//! Values of a configuration while it is worked on: mostly views of the tree, owned only where something changed.
//!
//! An [`Item`] starts as a node of a tree. Upgrades, profiles, patches, defaults and path rewriting open the few maps
//! and lists they change; everything else stays a reference. [`View`] reads both alike. It must not know the schema.

pub use crate::view::{Form, Members, Pair, Pairs, View};
use ecow::EcoString;
use purlin_syntax::{Node, Span};
use purlin_value::Origin;
use std::rc::Rc;

/// A value: data, and how it came to be if it is not simply written there.
#[derive(Clone)]
pub struct Item<'f> {
    /// The value itself.
    pub data: Data<'f>,
    /// What happened to it, newest first.
    pub trail: Option<Rc<Trail>>,
    /// Where it is written, if it was opened for changes since.
    pub place: Option<Span>,
}

/// The value of an [`Item`].
#[derive(Clone)]
pub enum Data<'f> {
    /// As written in a file.
    Node(Node<'f>),
    /// Nothing.
    Null,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(EcoString),
    /// A list.
    List(Vec<Item<'f>>),
    /// A map, in order.
    Map(Vec<Entry<'f>>),
}

/// One key of an opened map.
#[derive(Clone)]
pub struct Entry<'f> {
    /// The key.
    pub key: EcoString,
    /// Where the key was written, if it was.
    pub written: Option<Node<'f>>,
    /// The value.
    pub value: Item<'f>,
}

/// One step in the life of a value.
#[derive(Clone, Debug)]
pub struct Trail {
    /// What was done.
    pub step: Step,
    /// What the step replaced.
    pub over: Option<Span>,
    /// Where the step was asked for.
    pub at: Option<Span>,
    /// The steps before.
    pub before: Option<Rc<Trail>>,
}

/// What can happen to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Filled in because nothing was written.
    Default,
    /// Set by a profile's section.
    Profile(Active),
    /// Set by a patch of a profile.
    Patch(Active),
    /// Joined from a module.
    Merge(EcoString),
}

/// A profile that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// Its name.
    pub name: EcoString,
    /// Why it is: an origin that says who activated it.
    pub because: Origin,
}

impl<'f> Item<'f> {
    /// The value of a node.
    pub fn node(node: Node<'f>) -> Self {
        Data::Node(node).into()
    }

    /// A text.
    pub fn text(text: impl Into<EcoString>) -> Self {
        Data::Text(text.into()).into()
    }

    /// A list of texts.
    pub fn texts<T: Into<EcoString>>(texts: impl IntoIterator<Item = T>) -> Self {
        Data::List(texts.into_iter().map(Item::text).collect()).into()
    }

    /// A map with one key.
    pub fn single(key: &str, value: Item<'f>) -> Self {
        Data::Map(vec![Entry { key: key.into(), written: None, value }]).into()
    }

    /// An empty map.
    pub fn empty_map() -> Self {
        Data::Map(Vec::new()).into()
    }

    /// A look at it.
    #[inline]
    pub fn view(&self) -> View<'_, 'f> {
        match &self.data {
            Data::Node(node) if self.trail.is_none() => View::Node(*node),
            _ => View::Item(self),
        }
    }

    /// Remembers a step.
    pub(crate) fn stepped(mut self, step: Step, over: Option<Span>, at: Option<Span>) -> Self {
        self.trail = Some(Rc::new(Trail { step, over, at, before: self.trail.take() }));
        self
    }

    /// Opens it as a map, making one where there is none.
    pub fn map(&mut self) -> &mut Vec<Entry<'f>> {
        if !matches!(self.data, Data::Map(_)) {
            self.place = self.view().span();
            self.data = Data::Map(self.view().owned_entries());
        }
        match &mut self.data {
            Data::Map(entries) => entries,
            _ => unreachable!("the map was just stored"),
        }
    }

    /// Opens it as a list, making one where there is none.
    pub fn list(&mut self) -> &mut Vec<Item<'f>> {
        if !matches!(self.data, Data::List(_)) {
            self.place = self.view().span();
            self.data = Data::List(self.view().all_items().map(View::to_item).collect());
        }
        match &mut self.data {
            Data::List(items) => items,
            _ => unreachable!("the list was just stored"),
        }
    }

    /// The value under a key, opened for changes; null values count as absent.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item<'f>> {
        self.view().get(key)?;
        self.map().iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
    }

    /// The value under a key, opened for changes, made empty where there is none.
    pub fn slot(&mut self, key: &str) -> &mut Item<'f> {
        let entries = self.map();
        let at = match entries.iter().position(|entry| entry.key == key) {
            Some(at) => at,
            None => {
                // Sections that are made here have very few keys.
                if entries.len() < 8 && entries.len() == entries.capacity() {
                    entries.reserve_exact(2);
                }
                entries.push(Entry { key: key.into(), written: None, value: Data::Null.into() });
                entries.len() - 1
            }
        };
        &mut entries[at].value
    }

    /// Sets a key.
    pub fn set(&mut self, key: &str, value: Item<'f>) {
        *self.slot(key) = value;
    }

    /// Takes a key out; null values count as absent but are removed all the same.
    pub fn take(&mut self, key: &str) -> Option<Item<'f>> {
        self.view().has(key).then_some(())?;
        let entries = self.map();
        let at = entries.iter().position(|entry| entry.key == key)?;
        let value = entries.remove(at).value;
        (value.view().form() != Form::Null).then_some(value)
    }

    /// Takes a key out and puts it under another one elsewhere, so that its comments go with it.
    pub(crate) fn move_entry(&mut self, key: &str, to: &str) -> Option<Entry<'f>> {
        self.view().get(key)?;
        let entries = self.map();
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(Entry { key: to.into(), ..entries.remove(at) })
    }

    /// Adds an entry, in the place of one with the same key.
    pub(crate) fn put_entry(&mut self, entry: Entry<'f>) {
        let entries = self.map();
        entries.retain(|known| known.key != entry.key);
        entries.push(entry);
    }

    /// Renames a key, keeping its place and comments.
    pub fn rename(&mut self, from: &str, to: &str) {
        if !self.view().has(from) {
            return;
        }
        if let Some(entry) = self.map().iter_mut().find(|entry| entry.key == from) {
            entry.key = to.into();
        }
    }
}

impl<'f> From<Data<'f>> for Item<'f> {
    fn from(data: Data<'f>) -> Self {
        Item { data, trail: None, place: None }
    }
}
