//! Walks a configuration in the order of the table and hands every value that is set to an [`Out`].
//!
//! What "set" means follows the format: empty texts, zeros and empty lists are left out unless their row says
//! otherwise. This is where loose notations become typed values. It must not know what receives them.

use crate::editions::LATEST;
use crate::entities::{Entity, Field, Shape};
use crate::item::{Data, Entry, Form, Item, Trail, View};
use purlin_syntax::{Node, Scalar};
use std::rc::Rc;

/// Receives the values of a configuration, in order.
pub trait Out<'f> {
    /// A map begins.
    fn begin_map(&mut self, from: View<'_, 'f>);
    /// A key of the map, followed by its value.
    fn key(&mut self, key: &str, written: Option<Node<'f>>);
    /// The map ends.
    fn end_map(&mut self);
    /// A list begins; each item is one value.
    fn begin_list(&mut self, from: View<'_, 'f>);
    /// The list ends.
    fn end_list(&mut self);
    /// A text.
    fn text(&mut self, text: &str, from: View<'_, 'f>);
    /// A switch.
    fn bool(&mut self, value: bool, from: View<'_, 'f>);
    /// A whole number.
    fn int(&mut self, value: i64, from: View<'_, 'f>);
    /// A number with a fraction.
    fn float(&mut self, value: f64, from: View<'_, 'f>);
    /// Nothing.
    fn null(&mut self, from: View<'_, 'f>);
}

/// Whether a value counts as set.
pub fn is_set<'a, 'f: 'a>(view: View<'a, 'f>, shape: Shape) -> bool {
    match shape {
        Shape::Text => view.form() == Form::Scalar && !view.text().is_empty(),
        Shape::Bool => view.bool() == Some(true),
        Shape::Int => view.int().is_some_and(|value| value != 0),
        Shape::Port => view.form() == Form::Scalar && !view.text().is_empty() && view.int() != Some(0),
        Shape::Texts | Shape::Many(_) => view.items().next().is_some(),
        Shape::TextMap | Shape::OptTextMap | Shape::Flat => view.entries().next().is_some(),
        Shape::One(entity) => {
            if entity.is_open() {
                return view.entries().next().is_some();
            }
            view.entries()
                .any(|pair| entity.field(pair.key, LATEST).is_some_and(|row| is_set(pair.value, row.shape)))
        }
        Shape::OptText | Shape::OptBool | Shape::OptInt | Shape::Any | Shape::Maybe(_) | Shape::OptMany(_) => {
            view.form() != Form::Null
        }
    }
}

/// Hands out a section.
pub fn section<'a, 'f: 'a>(view: View<'a, 'f>, entity: &'static Entity, out: &mut impl Out<'f>) {
    section_without(view, entity, &[], out);
}

/// Hands out a section, some keys left out.
pub fn section_without<'a, 'f: 'a>(view: View<'a, 'f>, entity: &'static Entity, without: &[&str], out: &mut impl Out<'f>) {
    if entity.is_open() {
        return any(view, out);
    }
    if view.form() == Form::Null {
        return out.null(view);
    }
    out.begin_map(view);
    for row in entity.fields(LATEST) {
        if without.contains(&row.key) {
            continue;
        }
        match entry(view, row.key) {
            Some((written, value)) if is_set(value, row.shape) => {
                out.key(row.key, written);
                field(value, row, out);
            }
            _ if row.always => {
                out.key(row.key, None);
                empty(view, row, out);
            }
            _ => {}
        }
    }
    out.end_map();
}

fn entry<'a, 'f: 'a>(view: View<'a, 'f>, key: &str) -> Option<(Option<Node<'f>>, View<'a, 'f>)> {
    match view {
        View::Node(node) => node.entry(key).map(|entry| (Some(entry.key), View::Node(entry.value))),
        View::Item(Item { data: Data::Map(entries), .. }) => {
            entries.iter().find(|entry| entry.key == key).map(|entry| (entry.written, entry.value.view()))
        }
        View::Item(_) => None,
    }
}

/// What an always-written key shows when nothing is set.
fn empty<'f>(from: View<'_, 'f>, row: &Field, out: &mut impl Out<'f>) {
    match row.shape {
        Shape::Texts | Shape::Many(_) => {
            out.begin_list(from);
            out.end_list();
        }
        Shape::One(entity) => section(Item::empty_map().view(), entity, out),
        _ => out.text("", from),
    }
}

fn field<'a, 'f: 'a>(view: View<'a, 'f>, row: &Field, out: &mut impl Out<'f>) {
    match row.shape {
        Shape::Text | Shape::OptText => out.text(&view.text(), view),
        Shape::Bool | Shape::OptBool => out.bool(view.bool().unwrap_or_default(), view),
        Shape::Int | Shape::OptInt => out.int(view.int().unwrap_or_default(), view),
        Shape::Port => match view.int() {
            Some(value) if !view.is_text() => out.int(value, view),
            _ => out.text(&view.text(), view),
        },
        Shape::Texts => list(view, out, |item, out| out.text(&item.text(), item)),
        Shape::TextMap => map(view, out, |value, out| out.text(&value.text(), value)),
        Shape::OptTextMap => map(view, out, |value, out| match value.form() {
            Form::Null => out.null(value),
            _ => out.text(&value.text(), value),
        }),
        Shape::Flat => {
            out.begin_map(view);
            flatten(view, String::new(), out);
            out.end_map();
        }
        Shape::Any => any(view, out),
        Shape::One(entity) | Shape::Maybe(entity) => section(view, entity, out),
        Shape::Many(entity) | Shape::OptMany(entity) => list(view, out, |item, out| section(item, entity, out)),
    }
}

fn list<'a, 'f: 'a, O: Out<'f>>(view: View<'a, 'f>, out: &mut O, each: impl Fn(View<'a, 'f>, &mut O)) {
    out.begin_list(view);
    view.items().for_each(|item| each(item, out));
    out.end_list();
}

fn map<'a, 'f: 'a, O: Out<'f>>(view: View<'a, 'f>, out: &mut O, each: impl Fn(View<'a, 'f>, &mut O)) {
    out.begin_map(view);
    for pair in view.entries() {
        out.key(pair.key, pair.written);
        each(pair.value, out);
    }
    out.end_map();
}

/// Nested values become dotted keys, items of lists indexed ones.
fn flatten<'a, 'f: 'a>(view: View<'a, 'f>, prefix: String, out: &mut impl Out<'f>) {
    match view.form() {
        Form::Map => {
            for pair in view.entries() {
                let key = if prefix.is_empty() { pair.key.to_owned() } else { format!("{prefix}.{}", pair.key) };
                flatten(pair.value, key, out);
            }
        }
        Form::List => view.items().enumerate().for_each(|(at, item)| flatten(item, format!("{prefix}[{at}]"), out)),
        _ => {
            out.key(&prefix, None);
            out.text(&view.text(), view);
        }
    }
}

/// Hands out a value whose shape nobody knows.
pub fn any<'a, 'f: 'a>(view: View<'a, 'f>, out: &mut impl Out<'f>) {
    match view.form() {
        Form::Map => map(view, out, |value, out| any(value, out)),
        Form::List => list(view, out, |item, out| any(item, out)),
        Form::Null | Form::Broken => out.null(view),
        Form::Scalar => scalar(view, out),
    }
}

fn scalar<'a, 'f: 'a>(view: View<'a, 'f>, out: &mut impl Out<'f>) {
    match view {
        View::Node(node) => match node.scalar() {
            Scalar::Null => out.null(view),
            Scalar::Bool(value) => out.bool(value, view),
            Scalar::Int(value) => out.int(value, view),
            Scalar::Float(value) => out.float(value, view),
            Scalar::BigInt | Scalar::Timestamp | Scalar::Str => out.text(node.text(), view),
        },
        View::Item(item) => match &item.data {
            Data::Bool(value) => out.bool(*value, view),
            Data::Int(value) => out.int(*value, view),
            _ => out.text(&view.text(), view),
        },
    }
}

/// Collects what is handed out into an owned [`Item`], typed and complete: what patches work on.
#[derive(Default)]
pub struct ItemOut<'f> {
    open: Vec<(Item<'f>, Option<(String, Option<Node<'f>>)>)>,
    key: Option<(String, Option<Node<'f>>)>,
    /// The finished value.
    pub done: Option<Item<'f>>,
}

impl<'f> ItemOut<'f> {
    fn put(&mut self, item: Item<'f>) {
        let key = self.key.take();
        match (self.open.last_mut(), key) {
            (Some((Item { data: Data::Map(entries), .. }, _)), Some((key, written))) => {
                entries.push(Entry { key: key.into(), written, value: item });
            }
            (Some((Item { data: Data::List(items), .. }, _)), _) => items.push(item),
            _ => self.done = Some(item),
        }
    }

    fn close(&mut self) {
        if let Some((item, key)) = self.open.pop() {
            self.key = key;
            self.put(item);
        }
    }

    fn leaf(&mut self, data: Data<'f>, from: View<'_, 'f>) {
        // A node that already means the same keeps its place in the file.
        let data = match (from, &data) {
            (View::Node(node), Data::Text(text)) if node.as_str() == Some(text.as_str()) => Data::Node(node),
            (View::Node(node), Data::Bool(value)) if node.as_bool() == Some(*value) => Data::Node(node),
            (View::Node(node), Data::Int(value)) if node.as_int() == Some(*value) => Data::Node(node),
            _ => data,
        };
        self.put(Item { data, trail: trail(from) });
    }
}

fn trail(from: View<'_, '_>) -> Option<Rc<Trail>> {
    match from {
        View::Node(_) => None,
        View::Item(item) => item.trail.clone(),
    }
}

impl<'f> Out<'f> for ItemOut<'f> {
    fn begin_map(&mut self, from: View<'_, 'f>) {
        let key = self.key.take();
        self.open.push((Item { data: Data::Map(Vec::new()), trail: trail(from) }, key));
    }
    fn key(&mut self, key: &str, written: Option<Node<'f>>) {
        self.key = Some((key.to_owned(), written));
    }
    fn end_map(&mut self) {
        self.close();
    }
    fn begin_list(&mut self, from: View<'_, 'f>) {
        let key = self.key.take();
        self.open.push((Item { data: Data::List(Vec::new()), trail: trail(from) }, key));
    }
    fn end_list(&mut self) {
        self.close();
    }
    fn text(&mut self, text: &str, from: View<'_, 'f>) {
        self.leaf(Data::Text(text.into()), from);
    }
    fn bool(&mut self, value: bool, from: View<'_, 'f>) {
        self.leaf(Data::Bool(value), from);
    }
    fn int(&mut self, value: i64, from: View<'_, 'f>) {
        self.leaf(Data::Int(value), from);
    }
    fn float(&mut self, value: f64, from: View<'_, 'f>) {
        match from {
            View::Node(node) => self.put(Item::node(node)),
            View::Item(_) => self.put(Item::text(value.to_string())),
        }
    }
    fn null(&mut self, from: View<'_, 'f>) {
        self.leaf(Data::Null, from);
    }
}

/// A section with every value typed and everything empty left out.
pub fn normalised<'f>(view: View<'_, 'f>, entity: &'static Entity) -> Item<'f> {
    let mut out = ItemOut::default();
    section(view, entity, &mut out);
    out.done.unwrap_or_else(Item::empty_map)
}
