//! Values of a configuration while it is processed: mostly views of the tree, owned only where changed.
//!
//! An [`Item`] starts as a node of a tree. Upgrades, profiles, patches, defaults and path rewriting open the few maps
//! and lists they change; everything else stays a reference. [`View`] reads both alike. It must not know the schema.

pub use crate::view::{Form, Members, Pair, Pairs, View};
use ecow::EcoString;
use purlin_syntax::{Node, Span};
use purlin_value::Origin;
use std::rc::Rc;

/// A value: data, and its history if it was not simply written.
#[derive(Clone)]
pub struct Item<'f> {
    /// The value itself.
    pub data: Data<'f>,
    /// Its changes, newest first.
    pub trail: Option<Rc<Trail>>,
    /// Its location, if it was opened for changes since.
    pub place: Option<Span>,
}

/// The value of an [`Item`].
#[derive(Clone)]
pub enum Data<'f> {
    /// As written in a file.
    Node(Node<'f>),
    /// Null.
    Null,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(EcoString),
    /// A list. Copies share its items until one of them is changed.
    List(Rc<Vec<Item<'f>>>),
    /// A map, in order. Copies share its entries until one of them is changed.
    Map(Rc<Vec<Entry<'f>>>),
}

impl<'f> Data<'f> {
    /// A list of items.
    pub fn list(items: Vec<Item<'f>>) -> Self {
        Data::List(Rc::new(items))
    }

    /// A map of entries, in order.
    pub fn map(entries: Vec<Entry<'f>>) -> Self {
        Data::Map(Rc::new(entries))
    }
}

/// One key of an opened map.
#[derive(Clone)]
pub struct Entry<'f> {
    /// The key.
    pub key: EcoString,
    /// Location of the key, if it was written.
    pub written: Option<Node<'f>>,
    /// The value.
    pub value: Item<'f>,
}

/// One step in the life of a value.
#[derive(Clone, Debug)]
pub struct Trail {
    /// The kind of change.
    pub step: Step,
    /// The replaced value.
    pub over: Option<Span>,
    /// The location that requested the step.
    pub at: Option<Span>,
    /// The steps before.
    pub before: Option<Rc<Trail>>,
}

/// A kind of change to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A default for a missing value.
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
    /// Reason for the step: an origin that names what activated it.
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
        Data::list(texts.into_iter().map(Item::text).collect()).into()
    }

    /// A map with one key.
    pub fn single(key: &str, value: Item<'f>) -> Self {
        Data::map(vec![Entry { key: key.into(), written: None, value }]).into()
    }

    /// An empty map.
    pub fn empty_map() -> Self {
        Data::map(Vec::new()).into()
    }

    /// A view of it.
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

    /// Opens it as a map, creating one if needed.
    pub fn map(&mut self) -> &mut Vec<Entry<'f>> {
        if !matches!(self.data, Data::Map(_)) {
            self.place = self.view().span();
            self.data = Data::map(self.view().owned_entries());
        }
        match &mut self.data {
            Data::Map(entries) => Rc::make_mut(entries),
            _ => unreachable!("the map was just stored"),
        }
    }

    /// Opens it as a list, creating one if needed.
    pub fn list(&mut self) -> &mut Vec<Item<'f>> {
        if !matches!(self.data, Data::List(_)) {
            self.place = self.view().span();
            self.data = Data::list(self.view().all_items().map(View::to_item).collect());
        }
        match &mut self.data {
            Data::List(items) => Rc::make_mut(items),
            _ => unreachable!("the list was just stored"),
        }
    }

    /// The value under a key, opened for changes; null values count as absent.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item<'f>> {
        self.view().get(key)?;
        self.map().iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
    }

    /// The value under a key, opened for changes, created empty if missing.
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

    /// Removes a key and returns its value; null values count as absent but are removed all the same.
    pub fn take(&mut self, key: &str) -> Option<Item<'f>> {
        self.view().has(key).then_some(())?;
        let entries = self.map();
        let at = entries.iter().position(|entry| entry.key == key)?;
        let value = entries.remove(at).value;
        (value.view().form() != Form::Null).then_some(value)
    }

    /// Moves a key elsewhere under another name, together with its comments.
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
