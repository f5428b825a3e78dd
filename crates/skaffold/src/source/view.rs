//! A view of a value, either in its tree or opened for changes.
//!
//! Reads [`Item`]s and nodes alike and never changes anything. It must not know the schema.

use crate::item::{Data, Entry, Item};
use ecow::EcoString;
use purlin_syntax::tree::{Entries, Items};
use purlin_syntax::{Kind, Node, Scalar, Span};
use std::borrow::Cow;

/// Kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Null, or an empty node.
    Null,
    /// A single value.
    Scalar,
    /// A list.
    List,
    /// A map.
    Map,
    /// Could not be read; already reported.
    Broken,
}

/// A read-only view of a value, owned or not.
#[derive(Clone, Copy)]
pub enum View<'a, 'f> {
    /// A node of a tree.
    Node(Node<'f>),
    /// An owned value that is not a node.
    Item(&'a Item<'f>),
}

impl<'a, 'f> From<&'a Item<'f>> for View<'a, 'f> {
    fn from(item: &'a Item<'f>) -> Self {
        item.view()
    }
}

impl<'a, 'f: 'a> View<'a, 'f> {
    /// The same without its history, for reading.
    #[inline]
    pub(crate) fn bare(self) -> View<'a, 'f> {
        match self {
            View::Item(Item { data: Data::Node(node), .. }) => View::Node(*node),
            other => other,
        }
    }

    /// Its kind.
    #[inline]
    pub fn form(self) -> Form {
        match self.bare() {
            View::Node(node) => match node.kind() {
                Kind::Map => Form::Map,
                Kind::List => Form::List,
                Kind::Scalar if node.is_null() => Form::Null,
                Kind::Scalar => Form::Scalar,
                Kind::Alias | Kind::Error => Form::Broken,
            },
            View::Item(item) => match &item.data {
                Data::Node(_) => Form::Broken,
                Data::Null => Form::Null,
                Data::Bool(_) | Data::Int(_) | Data::Text(_) => Form::Scalar,
                Data::List(_) => Form::List,
                Data::Map(_) => Form::Map,
            },
        }
    }

    /// Whether the key is written, even without a value.
    pub fn has(self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// The value under a key; `None` if it is absent or null.
    pub fn get(self, key: &str) -> Option<View<'a, 'f>> {
        self.raw(key).filter(|value| value.form() != Form::Null)
    }

    /// The value under a key, null included.
    pub fn raw(self, key: &str) -> Option<View<'a, 'f>> {
        match self.bare() {
            View::Node(node) => node.get(key).map(View::Node),
            View::Item(item) => match &item.data {
                Data::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.view()),
                _ => None,
            },
        }
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Option<View<'a, 'f>> {
        path.iter().try_fold(self, |view, key| view.get(key))
    }

    /// The entries of a map; empty for other values.
    pub fn entries(self) -> Pairs<'a, 'f> {
        match self.bare() {
            View::Node(node) => Pairs::Node(node.entries()),
            View::Item(Item { data: Data::Map(entries), .. }) => Pairs::Owned(entries.iter()),
            View::Item(_) => Pairs::Owned([].iter()),
        }
    }

    /// The items of a list; empty for other values.
    pub fn items(self) -> impl Iterator<Item = View<'a, 'f>> + use<'a, 'f> {
        self.all_items().filter(|item| item.form() != Form::Null)
    }

    /// The items of a list, including empty ones.
    pub fn all_items(self) -> Members<'a, 'f> {
        match self.bare() {
            View::Node(node) => Members::Node(node.items()),
            View::Item(Item { data: Data::List(items), .. }) => Members::Owned(items.iter()),
            View::Item(_) => Members::Owned([].iter()),
        }
    }

    /// The text of a scalar, as written; empty for anything else.
    pub fn text(self) -> Cow<'a, str> {
        match self.bare() {
            View::Node(node) if node.is_null() => Cow::Borrowed(""),
            View::Node(node) => Cow::Borrowed(node.text()),
            View::Item(item) => match &item.data {
                Data::Text(text) => Cow::Borrowed(text.as_str()),
                Data::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
                Data::Int(value) => Cow::Owned(value.to_string()),
                _ => Cow::Borrowed(""),
            },
        }
    }

    /// The string under a key; empty if it is missing.
    pub fn text_of(self, key: &str) -> Cow<'a, str> {
        self.raw(key).map(View::text).unwrap_or_default()
    }

    /// The text as an owned string, shared where the tree shares it.
    pub(crate) fn eco(self) -> EcoString {
        match self.bare() {
            View::Node(node) if node.is_null() => EcoString::new(),
            View::Node(node) => node.eco_text(),
            View::Item(Item { data: Data::Text(text), .. }) => text.clone(),
            View::Item(_) => self.text().into(),
        }
    }

    /// The switch it is, if it is one; the spellings of YAML 1.1 count.
    pub fn bool(self) -> Option<bool> {
        match self.bare() {
            View::Node(node) => match node.scalar() {
                Scalar::Bool(value) => Some(value),
                Scalar::Str => match node.text() {
                    "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
                    "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
                    _ => None,
                },
                _ => None,
            },
            View::Item(Item { data: Data::Bool(value), .. }) => Some(*value),
            View::Item(_) => None,
        }
    }

    /// The whole number it is, if it is one.
    pub fn int(self) -> Option<i64> {
        match self.bare() {
            View::Node(node) => match node.scalar() {
                Scalar::Int(value) => Some(value),
                Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
                _ => None,
            },
            View::Item(Item { data: Data::Int(value), .. }) => Some(*value),
            View::Item(_) => None,
        }
    }

    /// Its location, if it is written.
    pub fn span(self) -> Option<Span> {
        match self {
            View::Node(node) => Some(node.span()),
            View::Item(item) if item.place.is_some() => item.place,
            View::Item(item) => match &item.data {
                Data::Node(node) => Some(node.span()),
                Data::Map(entries) => entries.iter().find_map(|entry| entry.written).map(Node::span),
                Data::List(items) => items.iter().find_map(|item| item.view().span()),
                _ => item.trail.as_ref().and_then(|trail| trail.at),
            },
        }
    }

    /// An item with the same value.
    pub(crate) fn to_item(self) -> Item<'f> {
        match self {
            View::Node(node) => Item::node(node),
            View::Item(item) => item.clone(),
        }
    }

    pub(crate) fn owned_entries(self) -> Vec<Entry<'f>> {
        match self.bare() {
            View::Node(node) => {
                // Maps are opened in order to add keys; spare room avoids moving all entries at once.
                let mut entries = Vec::with_capacity(node.entries().count() + 2);
                entries.extend(node.entries().map(|entry| Entry {
                    key: entry.key.eco_text(),
                    written: Some(entry.key),
                    value: Item::node(entry.value),
                }));
                entries
            }
            View::Item(Item { data: Data::Map(entries), .. }) => entries.to_vec(),
            View::Item(_) => Vec::new(),
        }
    }
}

/// Iterator over the entries of a map: key, where the key is written, value.
pub enum Pairs<'a, 'f> {
    /// Of a node.
    Node(Entries<'f>),
    /// Of an owned map.
    Owned(std::slice::Iter<'a, Entry<'f>>),
}

/// A key of a map that is read.
#[derive(Clone, Copy)]
pub struct Pair<'a, 'f> {
    /// The key.
    pub key: &'a str,
    /// Location of the key, if it is written.
    pub written: Option<Node<'f>>,
    /// The value.
    pub value: View<'a, 'f>,
}

impl<'a, 'f: 'a> Iterator for Pairs<'a, 'f> {
    type Item = Pair<'a, 'f>;

    #[inline]
    fn next(&mut self) -> Option<Pair<'a, 'f>> {
        match self {
            Pairs::Node(entries) => {
                let entry = entries.next()?;
                Some(Pair { key: entry.key.text(), written: Some(entry.key), value: View::Node(entry.value) })
            }
            Pairs::Owned(entries) => {
                let entry = entries.next()?;
                Some(Pair { key: entry.key.as_str(), written: entry.written, value: entry.value.view() })
            }
        }
    }
}

/// Iterator over the items of a list.
pub enum Members<'a, 'f> {
    /// Of a node.
    Node(Items<'f>),
    /// Of an owned list.
    Owned(std::slice::Iter<'a, Item<'f>>),
}

impl<'a, 'f: 'a> Iterator for Members<'a, 'f> {
    type Item = View<'a, 'f>;

    #[inline]
    fn next(&mut self) -> Option<View<'a, 'f>> {
        match self {
            Members::Node(items) => items.next().map(View::Node),
            Members::Owned(items) => items.next().map(Item::view),
        }
    }
}
